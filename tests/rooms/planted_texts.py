#!/usr/bin/env python3
"""Plants code that reads sentences into a small reporter and sees text_as_data.py find each of it; and a clean one pass."""

import os
import sys
import tempfile

import text_as_data

TEXTS = [("report/sections/calls.cpp", r"path\.rfind", "paths of the program")]
CLEAN = {
    "report/main.cpp": "// notes are never searched: note.find(\"--wait\")\n",
    "report/sections/calls.cpp": 'const auto slash = path.rfind(\'/\');\nif (question.by == "call") return;\nif (finding.rule == Rule::waits) return;\n',
}
PLANTED = [
    ("report/main.cpp", 'if (note.find("--wait") != std::string::npos) say(note);'),
    ("report/analysis/findings.cpp", 'if (said.text.starts_with(name + " of ")) return;'),
    ("report/analysis/findings.cpp", 'if (wrong.rule != "too-many") continue;'),
    ("report/sections/hang.cpp", 'return line.state == "no profile";'),
    ("report/sections/calls.cpp", "shown = shown.substr(0, shown.find(';'));"),
    ("report/sections/wording.cpp", "text.replace(at, 3, word);"),
    ("report/views/text.cpp", "const std::size_t colon = part.find(':');"),
    ("report/merge/gpu.cpp", "std::from_chars(item.data(), item.data() + item.size(), number);"),
    ("report/exports/json.cpp", "const std::regex sentence;"),
]


def problems(planted):
    with tempfile.TemporaryDirectory() as root:
        contents = dict(CLEAN)
        for path, line in planted: contents[path] = contents.get(path, "") + line + "\n"
        for path, text in contents.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as out: out.write(text)
        return text_as_data.check(root, TEXTS)[0]


def main():
    failures = problems([])
    for path, line in PLANTED:
        said = problems([(path, line)])
        if len(said) != 1 or not said[0].startswith(path + ":") or line not in said[0]:
            failures.append("not found in %s: %s\n  said instead: %s" % (path, line, said))
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "report"))
        with open(os.path.join(root, "report/main.cpp"), "w", encoding="utf-8") as out: out.write("\n")
        if not any("any more" in line for line in text_as_data.check(root, TEXTS)[0]):
            failures.append("a row that fits no line is not named")
    print("\n".join(failures) if failures else "%d planted readings found" % len(PLANTED))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
