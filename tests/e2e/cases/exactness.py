"""What a profile says is what the program did: calls, bytes and sizes, on every rank."""

import csv
import re

from harness import Skip, case, check, differences, read_tables, same, without_start_and_end

# Functions that are deliberately not recorded (local, usable before MPI_Init): docs/coverage.md.
PASSED = re.compile(r"MPI_(Wtime|Wtick|Initialized|Finalized|Get_version|Get_library_version|Abi_\w+|Aint_add|Aint_diff|Pcontrol"
                    r"|\w+_(c2f|f2c|c2f08|f2c08|f082c|f082f|f2f08|fromint|toint)|T_\w+)", re.IGNORECASE)


@case(ranks=4)
def counts_bytes_and_sizes_are_exact(scene):
    program = scene.compile("known.c")
    for ranks in (2, 3, 4):
        directory = scene.subdir(f"ranks{ranks}")

        scene.mpirun(ranks, [program, "expected"], cwd=directory).succeeded()

        expected = read_tables(directory / "expected.*.csv")
        found = without_start_and_end(scene.export(cwd=directory))
        found = {key: value for key, value in found.items() if value != (0, 0)}
        check(found == expected, f"{ranks} ranks, (rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))


@case(ranks=3)
def fortran_counts_bytes_and_sizes_are_exact(scene):
    for flavour, flags in (("mpi", []), ("mpi_f08", ["-DF08"])):
        program = scene.compile("fortran.f90", "-cpp", *flags, name=f"fortran.{flavour}.{scene.mpi}")
        directory = scene.subdir(flavour)

        scene.mpirun(3, [program, "expected"], cwd=directory).succeeded()

        expected = read_tables(directory / "expected.*.csv")
        found = without_start_and_end(scene.export(cwd=directory))
        check(found == expected, f"use {flavour}, (rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))


@case(ranks=2)
def types_made_anew_in_fortran_have_their_own_size(scene):
    for flavour, flags in (("mpi", []), ("mpi_f08", ["-DF08"])):
        program = scene.compile("recycled.f90", "-cpp", "-ffree-line-length-none", *flags, name=f"recycled.{flavour}.{scene.mpi}")
        directory = scene.subdir(flavour)

        ran = scene.mpirun(2, [program, "expected"], cwd=directory).succeeded()

        same(ran.out, "handles came back\n", "output: else nothing is tested")
        expected = read_tables(directory / "expected.*.csv")
        found = without_start_and_end(scene.export(cwd=directory))
        check(found == expected, f"use {flavour}, (rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))


def oracle_counts(directory):
    """{(rank, call in lower case): calls} as the independent counter saw them, over all languages it counted."""
    counts = {}
    for path in directory.glob("oracle.*.csv*"):
        rank = int(path.name.split(".")[1])
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                name = re.sub(r"_f08(ts)?_large_$", "_c_", row["symbol"].lower())
                name = re.sub(r"(_f08|_f08ts)?_$", "", name)  # no name in C ends in _
                counts[rank, name] = counts.get((rank, name), 0) + int(row["calls"])
    return counts


# By name, inside: MPI-IO of MPICH 4.2. They are no calls of the program's.
CALLED_BY_MPI = ("mpi_comm_get_info",)


def compare_with_oracle(scene, languages, program, ranks, directory, timeout=250, linked=None, leaves_out=False, env=None, in_callbacks=None):
    """Counts one run twice: by the oracles of these languages ("c fortran") in front of us, and by us. `linked` is a
    program that is linked with the MPI libraries in question, if the first word of `program` is not. `leaves_out`: what we do
    not export is not counted, for programs that bring MPI in by dlopen. `in_callbacks`: {call in lower case: how many a rank
    makes in callbacks that MPI runs}: those are a part of the call that runs them, and no calls of their own."""
    oracles = [scene.oracle(language, linked or program[0], leave_out=PASSED.pattern if leaves_out else "") for language in languages.split()]
    ran = scene.mpirun(ranks, program, cwd=directory, before=oracles, profiled="ranks", env={**(env or {}), "ORACLE_DIR": directory},
                       timeout=timeout).succeeded()
    expected = {key: n for key, n in without_start_and_end(oracle_counts(directory)).items()
                if not PASSED.fullmatch(key[1]) and key[1] not in ("mpi_init", "mpi_init_thread", "mpi_finalize")}
    check(expected, "the independent counter saw nothing")
    for key in expected:
        expected[key] -= (in_callbacks or {}).get(key[1], 0)
    found = {}
    for (rank, call), n in scene.calls(cwd=directory, with_errors=True).items():
        if not call.startswith(("MPI_Init", "MPI_Finalize")):
            found[rank, call.lower()] = n
    for key in [key for key in expected if key[1] in CALLED_BY_MPI and key not in found]:
        del expected[key]
    check(found == expected, "(rank, call) -> calls, expected by the independent counter:\n" + differences(found, expected))
    return ran


@case(ranks=4)
def calls_agree_with_independent_counter(scene):
    compare_with_oracle(scene, "c", [scene.compile("known.c"), "expected", 2], 2, scene.dir)


@case(ranks=3)
def fortran_calls_agree_with_independent_counter(scene):
    for flavour, flags in (("mpi", []), ("mpi_f08", ["-DF08"])):
        program = scene.compile("fortran.f90", "-cpp", *flags, name=f"fortran.{flavour}.{scene.mpi}")
        compare_with_oracle(scene, "fortran", [program, "expected"], 3, scene.subdir(flavour))


@case(ranks=2, tier="full")
def three_gib_message_is_three_gib(scene):
    with open("/proc/meminfo") as file:
        available = next(int(line.split()[1]) for line in file if line.startswith("MemAvailable"))
    if available < 6 << 20:
        raise Skip(f"needs 6 GiB of memory, {available >> 20} GiB are free")
    program = scene.compile("three_gib.c")

    scene.mpirun(2, program).succeeded()

    gib = 1 << 30
    found = {key: value for key, value in scene.export().items() if key[1] in ("MPI_Send", "MPI_Recv")}
    expected = {(0, "MPI_Send", 4 * gib): (1, 3 * gib), (0, "MPI_Send", gib): (3, 3 * gib), (0, "MPI_Send", 4): (1, 1),
                (1, "MPI_Recv", 4 * gib): (1, 3 * gib), (1, "MPI_Recv", gib): (3, 3 * gib), (1, "MPI_Recv", 4): (1, 1)}
    same(found, expected, "(rank, call, bin) -> (calls, bytes)")
