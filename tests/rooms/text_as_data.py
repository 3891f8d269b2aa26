#!/usr/bin/env python3
"""Keeps the reporter from reading its own sentences: what was made for a person is not compared, searched or cut.

text_as_data.py ROOT    every line that looks into a text has a row in TEXTS, which says whose text it is

Findings, notes and states are values until a section puts them into words; what has to be known of them later is asked of
the values. Texts of others (a path, a name that the program gave, what MPI_Get_library_version says) may be looked into:
then they have a row here. Says file:line of each place without one, names rows that fit no line any more, and ends with 1
if there is any.
"""

import os
import re
import sys

# Not report/read, whose files are texts of others, and not report/symbols, which asks another process.
ROOMS = ("report", "report/analysis", "report/commands", "report/compare", "report/exports", "report/layouts", "report/merge", "report/messages", "report/model", "report/page", "report/plots", "report/sections",
         "report/statistics", "report/views")

# Functions that look into a text, and comparisons of one with a literal.
LOOKS = re.compile(
    r"""\.(?:starts_with|ends_with|substr|rfind|find_(?:first|last)(?:_not)?_of|remove_prefix|remove_suffix|compare)\(
      | \.(?:find|contains)\(\s*["'] | \btext\.find\( | \.replace\(
      | (?:==|!=)\s*"[^"] | \bcontains\("
      | \b(?:from_chars|sscanf|strcmp|strstr|strtok|stoi|stoul|stod|strtol|strtoul|regex\w*)\b""", re.X)

# Comparisons with names that stand for things: ids of columns, what --by takes, names of settings, variables and facts.
NAMES = re.compile(r"""(?:\.|->|\b)(?:id|by|sort|name|source|color|job_part|ranks)\s*(?:==|!=)\s*"[A-Za-z_0-9.-]*\"""")

# What the lines of a file may look into, and whose text it is.
TEXTS = [
    ("report/model/named_calls.cpp", r"call\.name\.starts_with", "names of functions of MPI"),
    ("report/analysis/network_findings.cpp", r"\brate\.|port\.kind ==|e\.kind !=|\bvalue->", "the kernel's words of ports, and values of variables"),
    ("report/model/network.h", r"state ==", "the kernel's words of ports"),
    ("report/merge/facts.cpp", r"file\.substr", "names of libraries"),
    ("report/sections/network.cpp", r"counter\.starts_with", "the kernel's names of counters"),
    ("report/sections/words_of_network.cpp", r"e\.kind ==|mpi_family ==", "the kernel's words of ports, and the name of an MPI family"),
    ("report/analysis/connections.cpp", r"path\.(substr|remove_prefix)", "the kernel's paths of devices"),
    ("report/analysis/placed_nodes.cpp", r"from_chars\(visible", "CUDA_VISIBLE_DEVICES"),
    ("report/analysis/placement_findings.cpp", r"from_chars\(text->data", "OMP_NUM_THREADS"),
    ("report/compare/run_detail.cpp", r"path\.(substr|rfind)", "paths of programs and their sources"),
    ("report/compare/transfers.cpp", r"from_chars|\b(unit|text|item)\b", "the command line"),
    ("report/commands/transfers.cpp", r"by_ ==", "the command line"),
    ("report/plots/terminal_chart.cpp", r"\bline\.", "lines of a chart, while they are written"),
    ("report/commands/brief.cpp", r"path\.substr", "paths"),
    ("report/layouts/ddp.cpp", r"\bpath\.(substr|rfind)", "paths, and names of regions that the program gives"),
    ("report/layouts/ddp.cpp", r"job\.command\.substr", "the command"),
    ("report/layouts/ddp.cpp", r"\b(name|rest|around)(\.(substr|starts_with|rfind)| == )", "names of regions that the program gives"),
    ("report/layouts/ddp.cpp", r"at->second", "values of labels, several in one"),
    ("report/sections/run_headline.cpp", r"id\.starts_with", "the scheduler's ids of jobs"),
    ("report/sections/topology.cpp", r"name\.starts_with", "words of nvidia-smi's matrix"),
    ("report/layouts/mpitrace.cpp", r"host\.(find_first_not_of|substr)", "names of hosts"),
    ("report/merge/facts.cpp", r"from_chars\(text|fact\.name\.|entry\)?\.|\b(links|name|one|text)\.", "names, numbers and NVLinks of facts"),
    ("report/merge/node_counts.cpp", r"\b(domain|label|name)\.", "the kernel's counters of energy and traffic"),
    ("report/merge/origin.cpp", r"mpi_family !=|fact\.value ==|setting\.value !=|cuda_awareness_\.contains", "values of facts and settings"),
    ("report/merge/settings.cpp", r"from_chars\(text", "the values of settings"),
    ("report/merge/regions.cpp", r"path\.(rfind|substr|starts_with)", "names of regions that the program gives"),
    ("report/plots/canvas.cpp", r"\b(text|element)\b", "numbers and elements of a picture, while it is written"),
    ("report/plots/chart.cpp", r"\btext\.substr|string_view\(text\)", "names of curves, cut to a width"),
    ("report/plots/picture.cpp", r"name\.ends_with", "the end of a file's name"),
    ("report/commands/html.cpp", r"path (==|!=)", "the command line"),
    ("report/commands/merge.cpp", r"output ==|from_chars\(", "the command line"),
    ("report/model/job.h", r"mpi_family ==", "the name of an MPI family"),
    ("report/model/number_list.cpp", r"\btext\.|from_chars", "the kernel's lists of numbers"),
    ("report/model/visible.cpp", r"\b(text|plain)\.", "any text, one character after the other"),
    ("report/commands/command_line.cpp", r"word ==|\btext\.|examples\.", "the command line, and examples of it"),
    ("report/commands/full_screen.cpp", r"typed_\.", "keys"),
    ("report/commands/section.cpp", r"word\.find_first_of", "the command line"),
    ("report/exports/line.cpp", r"(text|list)\.substr", "paths, commands, labels and lists of ranks, which are as long as a job makes them"),
    ("report/commands/pager.cpp", r"command\.substr", "the user's PAGER"),
    ("report/commands/watch_screen.cpp", r"typed_\.", "keys"),
    ("report/sections/column_meanings.cpp", r"meaning\.title|known\.", "headings that the schema lists"),
    ("report/views/terminal.cpp", r"from_chars\(asked", "COLUMNS"),
    ("report/views/text.cpp", r"answer\.section !=", "the name of a section"),
    ("report/commands/manual.cpp", r"\bname\.", "names of options"),
    ("report/commands/text.cpp", r"job_part_ ==", "the command line"),
    ("report/commands/doctor.cpp", r"\b(path|name|word|interpreter)\.(find|substr|remove_prefix|starts_with)", "the command line and PATH"),
    ("report/commands/program_symptoms.cpp", r"\b(path|file|interpreter)\.(find|substr|starts_with|rfind)|base_name\(library\)\.starts_with",
     "names of programs and libraries"),
    ("report/commands/environment_symptoms.cpp", r"\b(value|path|where|name|line|set|fixed)\.(find|substr|ends_with|find_last)|variable\(\"|setting_in_force|disabled ==|string\(\)\.starts_with",
     "the environment, names of files and outputs of jobs"),
    ("report/commands/hang.cpp", r"text\.rfind", "/proc/PID/stat"),
    ("report/views/terminal.cpp", r"value\.ends_with", "the name of a locale"),
    ("report/commands/no_profile.cpp", r"filename\(\)\.string\(\)\.starts_with", "names of files"),
    ("report/commands/command_line.cpp", r"usage\.", "usage lines, as CLI11 makes them"),
    ("report/commands/diff.cpp", r"from_chars|\btext\.", "the command line"),
    ("report/commands/parse.cpp", r"\bword\.|\bword ==|\bwords\[i\]|\boption\.find", "the command line"),
    ("report/commands/say.cpp", r"\btext\.(find|substr|remove_prefix)", "lines of any message"),
    ("report/commands/say.cpp", r"path ==", "the command line"),
    ("report/commands/operands.cpp", r"\b(path|word|before|text|last)\.|from_chars", "the command line, and files of times"),
    ("report/page/card.cpp", r"text\.(find|substr)", "where lines break"),
    ("report/page/page.cpp", r"\bmarkup\)?\.(substr|find|size)", "names of commands in any text, to become links"),
    ("report/commands/page_blocks.cpp", r"row\.section", "ids of sections"),
    ("report/model/base_name.cpp", r"path\.", "paths of programs, libraries and sources"),
    ("report/model/packed.cpp", r"\b(bytes|text)\.(remove_prefix|substr|size)|substr\(0, longest_text", "bytes"),
    ("report/commands/html.cpp", r"data_ ==|data_ \"|output_\.|\bpath\.ends_with|string\(\)\.starts_with", "the command line, and names of files"),
    ("report/commands/private_job.cpp", r"\b(job|text|launcher|path|name|value)\.(substr|rfind|find|starts_with)", "what a profile says of itself, to be replaced"),
    ("report/commands/scaling.cpp", r"item\.|number\.(find|substr)|ends_with\(\".csv\"\)", "the command line"),
    ("report/sections/comm_labels.cpp", r"\bname\.(starts_with|substr)", "names of functions and communicators"),
    ("report/sections/nccl.cpp", r'find\("libmpiprof"\)', "NCCL_PROFILER_PLUGIN"),
    ("report/sections/regions.cpp", r"path\.(rfind|substr)|path\.substr", "names of regions that the program gives"),
    ("report/sections/section.cpp", r"\bid\.starts_with", "ids of columns, by the beginning that --sort takes"),
    ("report/sections/settings.cpp", r"value == \"none\"", "the value of a setting"),
    ("report/sections/site_lines.cpp", r"path\.(rfind|substr)|source\.function", "paths and functions of the program"),
    ("report/sections/run_headline.cpp", r"\b(full|text)\.(substr|find|find_first_of|replace)\(", "MPI_Get_library_version"),
    ("report/views/text.cpp", r"place\.(find_first_not_of|substr)", "lines and functions of the program"),
    ("report/views/fitting.cpp", r"\b(function|text|word)\.", "any text, cut to a width; scopes of the program's functions"),
    ("report/views/terminal.cpp", r"force|environment\(|nl_langinfo", "the environment"),
]


def files(root):
    for room in ROOMS:
        for name in sorted(os.listdir(os.path.join(root, room)) if os.path.isdir(os.path.join(root, room)) else ()):
            if name.endswith((".cpp", ".h")): yield "%s/%s" % (room, name)


def lines_that_look(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            code = re.sub(r"//.*", "", line)
            if LOOKS.search(NAMES.sub("", code)): yield number, code.strip()


def check(root, texts=TEXTS):
    problems, used, seen = [], set(), 0
    for path in files(root):
        seen += 1
        for number, code in lines_that_look(root, path):
            rows = [row for row in texts if row[0] == path and re.search(row[1], code)]
            used.update(rows)
            if not rows:
                problems.append("%s:%d: looks into a text; if it was made for a person, ask the values, else say in "
                                "tests/rooms/text_as_data.py whose it is: %s" % (path, number, code))
    problems += ["tests/rooms/text_as_data.py: no line of %s looks into %s any more" % (row[0], row[2])
                 for row in texts if row not in used]
    if not seen: problems.append("%s has no reporter" % root)
    return problems, "%d files read no sentence of ours" % seen


if __name__ == "__main__":
    found, summary = check(os.path.abspath(sys.argv[1]))
    print("\n".join(found) if found else summary)
    sys.exit(1 if found else 0)
