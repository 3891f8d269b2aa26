#!/usr/bin/env python3
"""Keeps the rooms of docs/architecture.md: who includes whom.

rooms.py ROOT            every #include "..." runs the way that the ```rooms block allows, and none in a circle of units
rooms.py ROOT --headers  every header compiles alone, and twice

Says file:line of each violation and ends with 1 if there is one.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

SOURCES = (".h", ".hpp", ".cpp", ".c", ".def", ".in")
TOP = ("libmpiprof", "report", "launcher", "tools", "tests", "bench", "examples")
WITHOUT_CIRCLES = ("libmpiprof/", "report/")
QUOTED = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
MPI_H = re.compile(r'^\s*#\s*include\s*[<"]mpi\.h[>"]')


def read_rooms(root):
    """{room: set of rooms it may include, or None for everything}"""
    with open(os.path.join(root, "docs/architecture.md"), encoding="utf-8") as page:
        block = re.search(r"^```rooms\n(.*?)^```", page.read(), re.M | re.S)
    if not block: sys.exit("docs/architecture.md has no ```rooms block")
    rooms = {}
    for line in filter(str.strip, block[1].splitlines()):
        room, _, allowed = line.partition(":")
        rooms[room.strip()] = None if allowed.strip() == "*" else set(allowed.split())
    return rooms


def problems_of_the_block(rooms):
    for room, allowed in rooms.items():
        for other in sorted((allowed or set()) - set(rooms)):
            yield "docs/architecture.md: %s may include %s, which is no room" % (room, other)
    # Downward means that no path leads back.
    for room in rooms:
        reached, todo = set(), [room]
        while todo:
            for other in rooms.get(todo.pop()) or ():
                if other not in reached: todo.append(other)
                reached.add(other)
        if room in reached: yield "docs/architecture.md: %s can reach itself, so includes do not run downward" % room


def files(root, endings):
    for top in TOP:
        for directory, subdirectories, names in os.walk(os.path.join(root, top)):
            subdirectories[:] = sorted(name for name in subdirectories if not name.startswith((".", "build", "__")))
            for name in sorted(names):
                if name.endswith(endings): yield os.path.relpath(os.path.join(directory, name), root)


def room_of(path, rooms):
    parts = path.split("/")[:-1]
    while parts:
        if "/".join(parts) in rooms: return "/".join(parts)
        # libmpiprof/new/ is not part of a room, whereas tests/new/ is part of tests.
        parts.pop()
    return None


def problems_of_a_file(root, path, rooms):
    room = room_of(path, rooms)
    if room is None:
        yield "%s: lies in no room of docs/architecture.md" % path
        return
    if room == "report" and path.count("/") > 1:
        yield "%s: lies in no room of docs/architecture.md (report/ itself is main.cpp's)" % path
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            where = "%s:%d" % (path, number)
            if MPI_H.match(line) and path.startswith(("libmpiprof/", "report/", "tools/")):
                yield "%s: the product is built without mpi.h" % where
            found = QUOTED.match(line)
            if not found: continue
            target = found[1]
            if path.endswith(".def"):
                yield "%s: a table of rows is data and includes nothing" % where
            elif target == os.path.splitext(path)[0] + ".inc":
                continue  # The build writes it for this file alone, by the .cmake of the same name.
            elif not os.path.exists(os.path.join(root, target)):
                if rooms[room] is not None: yield '%s: "%s" is not spelled from the root' % (where, target)
            else:
                other = room_of(target, rooms)
                if other != room and rooms[room] is not None and other not in rooms[room]:
                    yield "%s: %s may not include %s" % (where, room, other or os.path.dirname(target))


def unit_of(path):
    return re.sub(r"\.(h|cpp)$", "", path)


def units(root, top):
    """{a header with its source: the units of the same top folder that they include}"""
    included = {}
    for path in files(root, (".h", ".cpp")):
        if not path.startswith(top): continue
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as lines:
            targets = {unit_of(found[1]) for found in map(QUOTED.match, lines) if found and found[1].startswith(top)}
        included.setdefault(unit_of(path), set()).update(targets - {unit_of(path)})
    return included


def problems_of_circles(root):
    for top in WITHOUT_CIRCLES:
        included = units(root, top)
        for unit in sorted(included):
            reached, todo = set(), list(included[unit])
            while todo:
                other = todo.pop()
                if other in reached: continue
                reached.add(other)
                todo += included.get(other, ())
            if unit in reached: yield "%s: includes itself in a circle of units: what both need is a third" % unit


def check_includes(root):
    rooms = read_rooms(root)
    problems = list(problems_of_the_block(rooms)) + list(problems_of_circles(root))
    seen = 0
    for path in files(root, SOURCES):
        seen += 1
        problems += problems_of_a_file(root, path, rooms)
    if not seen: problems.append("%s has no sources" % root)
    return problems, "%d files keep the rooms" % seen


def compile_alone(root, cxx, path):
    command = [cxx, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", root, "-x", "c++", "-"]
    if path.startswith("libmpiprof/"): command[1:1] = ["-fno-exceptions", "-fno-rtti"]
    twice = '#include "%s"\n' % path * 2
    result = subprocess.run(command, cwd=root, input=twice, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode == 0: return None
    first = next((line for line in result.stdout.splitlines() if "error" in line), result.stdout[:200])
    return "%s: does not compile alone: %s" % (path, first)


def check_headers(root, cxx):
    headers = [path for path in files(root, (".h",)) if path.startswith(("libmpiprof/", "report/"))]
    if not headers: return ["%s has no headers" % root], ""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = list(filter(None, pool.map(lambda path: compile_alone(root, cxx, path), headers)))
    return problems, "%d headers compile alone" % len(headers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root")
    parser.add_argument("--headers", action="store_true")
    parser.add_argument("--cxx", default="c++")
    options = parser.parse_args()
    root = os.path.abspath(options.root)
    problems, summary = check_headers(root, options.cxx) if options.headers else check_includes(root)
    print("\n".join(problems) if problems else summary)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
