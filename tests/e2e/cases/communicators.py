"""Communicators: all members agree on the id of each, nobody else has it, and calls are booked where they were made."""

import json

from harness import case, check, same


def communicators_of(document):
    """[(rank, communicator)] of `export -f json`, without record 0 (not told apart)."""
    found = []
    for profile in document["ranks"]:
        found += [(profile["rank"], c) for c in profile["communicators"][1:]]
    return found


@case(ranks=4)
def members_agree_on_their_communicators(scene):
    program = scene.compile("communicators.c")
    scene.mpirun(4, program).succeeded()
    expected = {}
    for path in scene.dir.glob("expected.*.txt"):
        rank = int(path.name.split(".")[1])
        for line in path.read_text().splitlines():
            name = line.rstrip("0123456789 ") if not line.startswith(("again", "group")) else " ".join(line.split()[:2])
            members = tuple(sorted(map(int, line[len(name):].split())))
            expected.setdefault((name, members), set()).add(rank)
    for (name, members), seen_by in expected.items():
        same(seen_by, set(members), f"who wrote of {name}")

    document = json.loads(scene.run_report("export", "-f", "json").succeeded().out)
    by_id = {}
    for rank, communicator in communicators_of(document):
        by_id.setdefault(communicator["id"], []).append((rank, communicator["name"]))
    found = {}
    for key, seen in by_id.items():
        check(int(key, 16) != 0, f"no id: {seen}")
        same(len({name for _, name in seen}), 1, f"names under the id {key} ({seen})")
        found[seen[0][1], tuple(sorted(rank for rank, _ in seen))] = {rank for rank, _ in seen}
    same(found, expected, "communicators with their members")
