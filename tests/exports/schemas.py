"""Real exports against their published schemas, by a validator that is not ours.

  schemas.py REPORT WRITE_STORIES SCHEMA FORMAT

The schema lets unknown keys pass, as it must while keys are only added; here none may: a key that is exported has to
be described. And each key that is described has to be in some export, so that the schema promises nothing.
"""

import copy
import json
import sys

import workbench

jsonschema = workbench.need("jsonschema")


def strict(schema):
    """The same schema, which takes no other keys."""
    if isinstance(schema, list): return [strict(part) for part in schema]
    if not isinstance(schema, dict): return schema
    made = {key: strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict): made.setdefault("additionalProperties", False)
    return made


# When a finding began and ended: no recorded job has ranks that are slow for a part of the run. Unit tests do.
NOT_IN_ANY_JOB = ("/since_ns", "/until_ns")


class Seen:
    """Which properties of the schema the exports have had, by the place of their definition."""

    def __init__(self, schema):
        self.schema = schema
        self.places = set()

    def look(self, value, schema, place):
        if "$ref" in schema:
            place = schema["$ref"]
            schema = self.schema["$defs"][place.rsplit("/", 1)[1]]
        if isinstance(value, dict):
            for key, part in schema.get("properties", {}).items():
                if key not in value: continue
                if value[key] is not None: self.places.add(place + "/" + key)
                self.look(value[key], part, place + "/" + key)
        elif isinstance(value, list) and isinstance(schema.get("items"), dict):
            for item in value: self.look(item, schema["items"], place + "[]")

    def promised(self, schema, place):
        for key, part in schema.get("properties", {}).items():
            yield place + "/" + key
            yield from self.promised(part, place + "/" + key)
        if isinstance(schema.get("items"), dict): yield from self.promised(schema["items"], place + "[]")

    def never(self):
        promised = set(self.promised(self.schema, "#"))
        for name, part in self.schema.get("$defs", {}).items(): promised |= set(self.promised(part, "#/$defs/" + name))
        return sorted(place for place in promised - self.places if not place.endswith(NOT_IN_ANY_JOB))


def main():
    report, write_stories, schema_path, export_format = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as file: schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(strict(schema))
    seen = Seen(schema)
    jobs = workbench.Jobs(write_stories)
    wrong, values = [], []
    for job in jobs:
        text = workbench.reported(report, "export", "-f", export_format, jobs.directory(job))
        for value in [json.loads(line) for line in text.splitlines()] if export_format == "line" else [json.loads(text)]:
            for error in validator.iter_errors(value):
                wrong.append("%s: %s: %s" % (job, error.json_path, error.message[:200]))
            seen.look(value, schema, "#")
            values.append(value)
    for place in seen.never(): wrong.append("no export has " + place)
    # A validator that takes anything would say nothing above.
    for key in schema["required"]:
        less = copy.copy(values[0])
        del less[key]
        if validator.is_valid(less): wrong.append("an export without %s is taken" % key)
    if validator.is_valid({**values[0], "surprise": 1}): wrong.append("an export with a key that nobody described is taken")
    for line in wrong[:40]: print(line)
    print("%d exports of %d jobs" % (len(values), len(list(jobs))))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__": main()
