"""The life of MPI in a process: callbacks out of it, sessions, children, pauses, and calls before and after it."""

import json

from harness import Skip, case, check, differences, read_tables, same, without_start_and_end


def check_book(scene, pattern, *paths, cwd=None):
    """The profiles (of `paths`, or all in the directory) say what the programs booked in the files of `pattern`."""
    expected = read_tables((cwd or scene.dir) / pattern)
    rows = without_start_and_end(scene.export(*paths, cwd=cwd))
    found = {key: value for key, value in rows.items() if value != (0, 0)}
    check(found == expected, f"{pattern}, (rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))


def described(scene, *paths, cwd=None):
    """The ranks of `export -f json`."""
    return json.loads(scene.run_report("export", "-f", "json", *paths, cwd=cwd).succeeded().out)


@case(ranks=2)
def callbacks_that_call_mpi_are_part_of_their_call(scene):
    program = scene.compile("callbacks.c")
    plain = scene.mpirun(2, [program, "plain"], profiled=None).succeeded()

    ours = scene.mpirun(2, [program, "expected"]).succeeded()

    same((ours.out, ours.err), (plain.out, plain.err), "output")
    check("deleted in MPI_Finalize" in ours.out, f"stdout is {ours.out!r}")
    check_book(scene, "expected.[0-9].csv")


@case(ranks=2)
def pcontrol_pauses_and_resumes(scene):
    ran = scene.mpirun(2, [scene.compile("pcontrol.c"), "expected"]).succeeded()

    same((ran.out, ran.err), ("pcontrol: 0 wrong\n", ""), "output")
    check_book(scene, "expected.*.csv")
    text = next(scene.dir.glob("mpi_profile.*.0.txt")).read_text()
    check("exclusive elapsed time" in text, f"the text does not tell recorded from elapsed time:\n{text}")


@case(mpis=("mpich",), ranks=2)  # Debian's Open MPI has no sessions
def sessions_are_profiled(scene):
    program = scene.compile("sessions.c")
    for kind in ("alone", "nested", "world"):
        directory = scene.subdir(kind)
        plain = scene.mpirun(2, [program, kind, "plain"], profiled=None, cwd=directory).succeeded()

        ours = scene.mpirun(2, [program, kind, "expected"], cwd=directory).succeeded()

        same((ours.out, ours.err), (plain.out, plain.err), f"output with sessions {kind}")
        check_book(scene, "expected.*.csv", cwd=directory)
        same(len(scene.profiles(directory)), 2, f"profiles with sessions {kind}")
        summary = " ".join(scene.run_report(cwd=directory).succeeded().out.split())
        same("without MPI_Init" in summary, kind != "world", f"whether sessions alone are said:\n{summary}")


@case(ranks=4)
def spawned_children_are_a_world_of_their_own(scene):
    program = scene.compile("spawn.c")
    if scene.mpirun(2, [program, "plain"], profiled=None).code != 0:
        raise Skip("this MPI cannot spawn here")

    scene.mpirun(2, [program, "expected"]).succeeded()

    profiles = scene.profiles()
    same(len(profiles), 4, f"profiles of two parents and two children ({[p.name for p in profiles]})")
    launches = {}
    for profile in profiles:
        launches.setdefault(profile.name.rsplit(".", 1)[0], []).append(profile)
    for name, files in launches.items():
        is_spawned = {rank["is_spawned"] for rank in described(scene, *files)["ranks"]}
        same(is_spawned, {name.endswith("-2")}, f"is_spawned of {name}")
        check_book(scene, "expected.child.*.csv" if name.endswith("-2") else "expected.[0-9].csv", *files)
        summary = " ".join(scene.run_report(*files).succeeded().out.split())
        same("MPI_Comm_spawn started them" in summary, name.endswith("-2"), f"whether this is said of {name}:\n{summary}")
