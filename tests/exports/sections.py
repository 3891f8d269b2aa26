"""What every section writes as JSON and CSV, against the published schema, by a validator that is not ours.

  sections.py REPORT WRITE_STORIES SCHEMA

The schema lets unknown keys pass, as it must while keys are only added; here none may: what is written has to be described,
and what is described has to be written by some job, so that the schema promises nothing. Columns are looked at in CSV, which
has the names of a table that is empty, too.
"""

import csv
import io
import json
import sys

import workbench
from schemas import strict

jsonschema = workbench.need("jsonschema")

# What no recorded job has: several launches in one directory, mpitrace's text, traces of time, a part of the time budget, and
# GPUs that wait for each other. Unit tests have them.
NOT_IN_ANY_JOB = {("budget", "ranks", "processor_ns"), ("summary", "job", "rounded_to_ms")}
TABLES_NOT_IN_ANY_JOB = {("summary", "other_launches"), ("time", "periods"), ("time", "ranks"), ("hang", "nccl_lags")}


def asked(section):
    """Each way to ask a section: it and what --by takes."""
    by = {"calls": ("size", "call"), "sites": ("stack", "line", "function", "file", "call"), "ranks": ("rank", "node"),
          "budget": ("part", "rank"), "comms": ("communicator", "call"), "placement": ("rank", "group")}
    return [[section, "--by", word] for word in by[section]] if section in by else [[section]]


def tables_of(text):
    """{table: names of its columns} of what --format csv writes; of one table alone its name is not there."""
    parts = [part for part in text.split("\n\n") if part.strip()]
    tables = {}
    for part in parts:
        lines = part.strip("\n").split("\n")
        name = lines.pop(0)[2:] if lines[0].startswith("# ") else None
        rows = list(csv.reader(io.StringIO("\n".join(lines))))
        tables[name] = [row[0] for row in rows[1:]] if rows[0] == ["key", "value"] else rows[0]
    return tables


def described_in(schema, section):
    """{table: {column}} that the schema describes."""
    found = {}
    for name, part in schema["$defs"][section]["properties"].items():
        if name in ("schema", "section"): continue
        found[name] = set(part["items"]["properties"] if part["type"] == "array" else part["properties"])
    return found


def main():
    report, write_stories, schema_path = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as file: schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    names = [part["$ref"].rsplit("/", 1)[1] for part in schema["oneOf"]]
    validators = {}
    for name in names:
        alone = {"$ref": "#/$defs/" + name, "$defs": strict(schema["$defs"])}
        validators[name] = jsonschema.Draft202012Validator(alone)
    jobs = workbench.Jobs(write_stories)
    wrong, seen, answers = set(), {name: {} for name in names}, 0
    for job in jobs:
        for name in names:
            for words in asked(name):
                value = json.loads(workbench.reported(report, *words, "--format", "json", jobs.directory(job)))
                answers += 1
                if list(value)[:2] != ["schema", "section"]: wrong.add("%s: schema and section are not first" % name)
                for error in validators[name].iter_errors(value):
                    wrong.add("%s: %s: %s: %s" % (job, name, error.json_path, error.message[:160]))
                tables = tables_of(workbench.reported(report, *words, "--format", "csv", jobs.directory(job)))
                for table, columns in tables.items():
                    if table is None: table = next(key for key in value if key not in ("schema", "section"))
                    seen[name].setdefault(table, set()).update(c for c in columns if not c.startswith("label."))
    for name in names:
        described = described_in(schema, name)
        for table in sorted(set(described) | set(seen[name])):
            if (name, table) in TABLES_NOT_IN_ANY_JOB: continue
            has, should = seen[name].get(table, set()), described.get(table, set())
            wrong |= {"%s: %s.%s is not described" % (name, table, column) for column in has - should}
            wrong |= {"%s: no job has %s.%s" % (name, table, column) for column in should - has
                      if (name, table, column) not in NOT_IN_ANY_JOB}
    # A validator that takes anything would say nothing above.
    if validators["summary"].is_valid({"schema": 1, "section": "summary"}): wrong.add("schema 1 is taken")
    if validators["summary"].is_valid({"schema": 2, "section": "summary", "surprise": []}): wrong.add("a surprise is taken")
    for line in sorted(wrong)[:60]: print(line)
    print("%d answers of %d jobs" % (answers, len(list(jobs))))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__": main()
