"""The rows of a calls.def, read by the compiler's own preprocessor so that no second parser can disagree."""

import collections
import subprocess

Row = collections.namedtuple("Row", "name arity treatment traffic rule words passed reason large")

MACROS = """
#define MPI(Name, name, arity, treatment, traffic, rule, words, ...) \
    @#Name@arity@#treatment@#traffic@#rule@words@0@""@0@
#define MPI_C(Name, name, arity, treatment, traffic, rule, words, ...) \
    @#Name@arity@#treatment@#traffic@#rule@words@0@""@1@
#define MPI_SPECIAL MPI
#define MPI_PASSED(Name, reason) @#Name@0@"passed"@"none"@"none"@""@1@reason@0@
"""


def read(cxx, path):
    source = MACROS + '#include "%s"\n' % path
    text = subprocess.run([cxx, "-E", "-P", "-x", "c++", "-"], input=source, text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    fields = [field.strip().strip('"') for field in text.split("@")]
    fields = [fields[i:i + 9] for i in range(1, len(fields) - 1, 10)]
    return [Row(name, int(arity), treatment, traffic, rule, words.split(), passed == "1", reason, large == "1")
            for name, arity, treatment, traffic, rule, words, passed, reason, large in fields]


def nccl_functions(cxx, path):
    """The names of the functions that the rows of NCCL's table export."""
    source = '#define NCCL(Name, ...) @#Name\n#define NCCL_SPECIAL NCCL\n#define NCCL_PASSED(...)\n#include "%s"\n' % path
    text = subprocess.run([cxx, "-E", "-P", "-x", "c++", "-"], input=source, text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    return {"nccl" + field.strip().strip('"') for field in text.split("@")[1:]}


def functions(rows):
    """Names without MPI_ of all functions that the rows stand for, large-count twins included."""
    return {row.name for row in rows} | {row.name + "_c" for row in rows if row.large}
