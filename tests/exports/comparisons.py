"""What diff, scaling, transfers and check write as JSON, against the published schema, by a validator that is not ours.

  comparisons.py REPORT WRITE_STORIES SCHEMA DEMOS MPIPROF_PY

As in sections.py no key may be written that is not described, and each that is described has to be written with a value.
The stories are compared with each other. Copies of them are changed where none has it: a trace, iterations of a job that
ended, damage.
"""

import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import workbench
from python_reader import loaded_module
from schemas import Seen, strict

jsonschema = workbench.need("jsonschema")

# What is null in each answer, or not there, and why.
NOT_IN_ANY_ANSWER = {
    "#/$defs/diff/verdict[]/because": "findings of a section alone follow from each other",
    "#/$defs/scaling/advice[]/because": "the same",
    "#/$defs/scaling/cautions[]/because": "the same",
    "#/$defs/scaling/budget[]/processor_ns": "no recorded job has accounts of the kernel; unit tests have",
    "#/$defs/transfers/distances[]/from": "a distance is of many pairs",
    "#/$defs/transfers/distances[]/to": "the same",
}


class SeenByPattern(Seen):
    """Seen, with columns whose names depend on the runs."""

    def look(self, value, schema, place):
        super().look(value, schema, place)
        if not isinstance(value, dict): return
        for pattern in schema.get("patternProperties", {}):
            if any(one is not None and re.search(pattern, key) for key, one in value.items()):
                self.places.add(place + "/" + pattern)

    def promised(self, schema, place):
        yield from super().promised(schema, place)
        for pattern in schema.get("patternProperties", {}): yield place + "/" + pattern


# ---- jobs that are no story ----

TABLE = struct.Struct("<IIQIIII")  # an entry of the directory
EVENT = struct.Struct("<QQQIiIIHHHBB")  # table 21 of docs/file-format.md
TRACE, A_CALL, SENDS, RECEIVES = 21, 1, 2, 4


class Changed:
    """Copies of stories, each with something that no story has."""

    def __init__(self, jobs, mpiprof):
        self.jobs, self.mpiprof = jobs, mpiprof
        self.temporary = tempfile.TemporaryDirectory()

    def copy(self, story, name, change):
        """`change` takes each rank's profile and its bytes, and changes these."""
        directory = os.path.join(self.temporary.name, name)
        shutil.copytree(self.jobs.directory(story), directory)
        for path in sorted(glob.glob(os.path.join(directory, "mpi_profile.*"))):
            with open(path, "rb") as file: data = bytearray(file.read())
            change(self.mpiprof.Profile(bytes(data), path), data)
            with open(path, "wb") as file: file.write(data)
        return directory

    def place(self, record, field):
        return self.mpiprof.LAYOUT[record][1][field][0]

    def add_table(self, profile, data, kind, thread, records):
        """A table of another type behind all others."""
        data.extend(bytes(-len(data) % 64))
        at = profile.header.directory_offset
        used = self.mpiprof.DIRECTORY.at(data, at).used
        TABLE.pack_into(data, at + self.mpiprof.DIRECTORY.size + used * TABLE.size, kind, len(records[0]), len(data), len(records),
                        len(records), thread, 0)
        struct.pack_into("<I", data, at + self.place("Directory", "used"), used + 1)
        data.extend(b"".join(records))
        struct.pack_into("<Q", data, self.place("Header", "image_bytes"), len(data))

    def traced(self, profile, data):
        """Rank 0 sends large and small messages to all others. The small sends return before their message has arrived."""
        calls = {name: number for number, (name, *_) in profile.calls().items()}
        events = []
        for number in range(1, 9):
            is_large, round_at = number % 2, profile.header.started.ticks + number * 2000000
            for receiver in range(1, profile.size) if profile.rank == 0 else [profile.rank]:
                sent_at = round_at + receiver * 300000
                if profile.rank == 0:
                    call, flag, peer, begin, end = "MPI_Send", SENDS, receiver, sent_at, sent_at + (290000 if is_large else 100)
                else:
                    call, flag, peer, begin, end = "MPI_Recv", RECEIVES, 0, round_at, sent_at + 300000
                size = 1 << 20 if is_large else 64
                events.append(EVENT.pack(begin, end - begin, size, peer, 0, number, 0, calls[call], 1, 0, A_CALL, flag))
        head = struct.pack("<6Q", len(events), 0, 0, 0, 0, 0)
        self.add_table(profile, data, TRACE, next(iter(profile.threads())), [head, *events])

    def ended(self, profile, data):
        """It reached MPI_Finalize when its file was last updated."""
        struct.pack_into("<I", data, self.place("Header", "state"), 2)
        if not profile.header.ended.ticks: struct.pack_into("<3Q", data, self.place("Header", "ended"), *profile.header.updated)

    def cut_off(self, profile, data):
        if profile.rank == 1: del data[len(data) // 2:]


# ---- what is asked ----

def each_question(jobs, changed, demos):
    """The words of each command that is run."""
    story = jobs.directory
    recordings = sorted(glob.glob(os.path.join(demos, "*.mpiprof")))
    traced = changed.copy("uneven_work", "traced", changed.traced)
    ended = changed.copy("every_part", "ended", changed.ended)
    cut_off = changed.copy("uneven_work", "cut-off", changed.cut_off)
    every = [story(job) for job in jobs] + recordings + [traced, ended, cut_off]

    for a, b in zip(every, every[1:]): yield ["diff", a, b]
    yield ["diff", ended, ended, "--time", "region:solve"]
    yield ["diff", "before=" + story("every_part"), "after=" + ended, "--top", "1"]
    yield ["diff", story("uneven_work"), cut_off]
    yield ["diff", *[story("uneven_work")] * 5, "--against", *[story("crowded_cores")] * 5]
    yield ["diff", *[story("gpu_training_with_cupti")] * 2, "--against", story("gpu_training_with_cupti")]
    yield ["diff", story("balanced_stencil"), "--against", story("balanced_stencil"), story("seed003_gpu")]
    yield ["diff", story("slow_node"), story("uneven_work"), "--against", story("late_messages"), traced]

    sizes = [story(job) for job in ("device_buffers", "crowded_cores", "balanced_stencil")]
    yield ["scaling", *sizes]
    yield ["scaling", *sizes, *sizes, "--weak"]
    yield ["scaling", "--unit", "node", "--time", "mpi", *sizes[1:]]
    yield ["scaling", story("file_writer"), ended, story("gpu_training")]
    yield ["scaling", *["A=" + size for size in sizes], "B=" + ended, "B=" + story("seed003_cpu"), "3=5"]
    yield ["scaling", "1=226", "2=134", "4=76"]

    for job in every: yield ["transfers", job]
    for job in (traced, story("gpu_training_with_cupti")): yield ["transfers", job, "--peak", "memory=12GB,h2d=12GB,d2h=12GB"]
    yield ["transfers", story("uneven_work"), "traced=" + traced]
    yield ["transfers", traced, traced, traced]
    yield ["transfers", story("device_buffers"), story("gpu_training"), story("balanced_stencil")]

    for job in every: yield ["check", job]
    yield ["check", *recordings]


def answer_of(report, words):
    """What is written; of check it may be that not all is well."""
    ran = subprocess.run([report, "-q", *words, "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if ran.returncode not in ((0, 1) if words[0] == "check" else (0,)):
        sys.exit("mpiprof-report %s ended with %d: %s" % (" ".join(words), ran.returncode, ran.stderr.decode()))
    return json.loads(ran.stdout)


def main():
    report, write_stories, schema_path, demos, mpiprof_py = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as file: schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    names = [part["$ref"].rsplit("/", 1)[1] for part in schema["oneOf"]]
    described = strict(schema["$defs"])
    validators = {name: jsonschema.Draft202012Validator({"$ref": "#/$defs/" + name, "$defs": described}) for name in names}
    jobs = workbench.Jobs(write_stories)
    seen, wrong, answers = SeenByPattern(schema), set(), 0
    for words in each_question(jobs, Changed(jobs, loaded_module(mpiprof_py)), demos):
        value, asked = answer_of(report, words), " ".join(os.path.basename(word) for word in words)
        answers += 1
        if list(value)[:2] != ["schema", "section"]: wrong.add("%s: schema and section are not first" % asked)
        for error in validators[words[0]].iter_errors(value):
            wrong.add("%s: %s: %s" % (asked, error.json_path, error.message[:160]))
        seen.look(value, {"$ref": "#/$defs/" + words[0]}, "#")
    never = set(seen.never())
    wrong |= {"no answer has " + place for place in never - set(NOT_IN_ANY_ANSWER)}
    wrong |= {"an answer has %s, or it is not described" % place for place in set(NOT_IN_ANY_ANSWER) - never}
    # A validator that takes anything would say nothing above.
    for name in names:
        if not validators[name].is_valid({"schema": 2, "section": name}): wrong.add("%s without tables is not taken" % name)
        for bad in ({"schema": 1, "section": name}, {"schema": 2}, {"schema": 2, "section": name, "surprise": []}):
            if validators[name].is_valid(bad): wrong.add("%s: %s is taken" % (name, bad))
    for line in sorted(wrong)[:60]: print(line)
    print("%d answers of %d commands about %d jobs" % (answers, len(names), len(list(jobs))))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__": main()
