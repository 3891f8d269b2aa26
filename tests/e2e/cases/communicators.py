"""Communicators: all members agree on the id of each, nobody else has it, and calls are booked where they were made."""

import csv
import io
import json

from harness import case, check, same


def communicators_of(document):
    """[(rank, communicator)] of `export -f json`, without record 0 (beyond the table)."""
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
        if not communicator["name"]: continue  # made and never used
        by_id.setdefault(communicator["id"], []).append((rank, communicator["name"]))
    found = {}
    for key, seen in by_id.items():
        check(int(key, 16) != 0, f"no id: {seen}")
        same(len({name for _, name in seen}), 1, f"names under the id {key} ({seen})")
        found[seen[0][1], tuple(sorted(rank for rank, _ in seen))] = {rank for rank, _ in seen}
    same(found, expected, "communicators with their members")


def tables(text):
    """{name: rows} of a section's --format csv; the name of a table that stands alone is ""."""
    found, name = {}, ""
    for block in text.split("\n\n"):
        if block.startswith("# "):
            first, block = block.split("\n", 1)
            name = first[2:]
        found[name] = list(csv.DictReader(io.StringIO(block)))
    return found


@case(ranks=4)
def communicators_are_added_up_over_their_members(scene):
    scene.mpirun(4, scene.compile("communicators.c")).succeeded()
    barriers, members_of = {}, {}
    for path in scene.dir.glob("expected.*.txt"):
        for line in path.read_text().splitlines():
            name = line.rstrip("0123456789 ") if not line.startswith(("again", "group")) else " ".join(line.split()[:2])
            barriers[name] = barriers.get(name, 0) + 1
            members_of.setdefault(name, set()).add(tuple(sorted(map(int, line[len(name):].split()))))

    found = tables(scene.run_report("comms", "--format", "csv").succeeded().out)
    same(found["differences"], [], "collectives that not all members entered")
    of_name = {}
    for row in found["comms"]:
        of_name.setdefault(row["name"], []).append(row)
    for name, lines in members_of.items():
        same(len(of_name[name]), len(lines), f"communicators called {name!r}")
        same(sum(int(row["members"]) for row in of_name[name]), barriers[name], "their members")
    for row in of_name["row"] + of_name["column"]:
        same((row["size"], row["made_by"], row["parent"], row["collectives"]), ("2", "MPI_Comm_split", "world", "equal"),
             f"{row['name']} was made")

    by_call = tables(scene.run_report("comms", "--by", "call", "--format", "csv").succeeded().out)[""]
    def sums(name, call):
        rows = [row for row in by_call if row["communicator"].rstrip(" *") == name and row["call"] == call]
        return tuple(sum(int(row[column]) for row in rows) for column in ("calls_total", "total_bytes"))
    for name, calls in barriers.items():
        same(sums(name, "MPI_Barrier"), (calls, 0), f"Barriers on {name}")
    same(sums("row", "MPI_Allreduce"), (4 * 100, 4 * 100 * 8), "Allreduces on the rows")
    same(sums("column", "MPI_Bcast"), (4 * 50, 4 * 50 * 1024), "Bcasts on the columns")
    same({row["bin_max_bytes"] for row in by_call if row["call"] == "MPI_Bcast"}, {"1024"}, "sizes of Bcast")

    whole = scene.export_rows()
    for column, of_comms in (("calls", "calls_total"), ("bytes", "total_bytes"), ("time_ns", "total_time_ns")):
        expected = sum(int(row[column] or 0) for row in whole)
        same(sum(int(row[of_comms]) for row in by_call), expected, f"{column} over communicators and calls")
        same(sum(int(row[of_comms]) for row in found["comms"]), expected, f"{column} over communicators")
