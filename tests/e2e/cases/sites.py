"""From where MPI is called: places in the program that are the same on every rank, and who called there."""

import collections
import json
import os
import platform
import shutil
import time

from harness import Skip, case, check, differences, execute, read_tables, same


def sites_of(scene, directory, call):
    """For each rank {frames as ((path, offset), ...): calls} of one call."""
    ran = scene.run_report("export", "-f", "json", cwd=directory).succeeded()
    ranks = []
    for rank in json.loads(ran.out)["ranks"]:
        found = collections.Counter()
        for cell in rank["cells"]:
            if cell["call"] != call: continue
            frames = rank["sites"][cell["site"]]["frames"]
            found[tuple((rank["modules"][f["module"]]["path"], f["offset"]) for f in frames)] += cell["calls"]
        ranks.append(dict(found))
    return ranks


def line_of(scene, frame):
    """The line of the call that returns to this frame, as binutils find it."""
    path, offset = frame
    out = execute([scene.tool("addr2line"), "-e", path, hex(offset - 1)]).succeeded().out
    return int(out.split(":")[1].split()[0]) if out.split(":")[1][0].isdigit() else 0


def build(scene, name="callers", *flags):
    layer = scene.shared_object("callers.c", "-DLAYER", *flags, name=f"{name}_layer")
    return layer, scene.compile("callers.c", layer, f"-Wl,-rpath,{scene.bin}", "-pie", "-fPIE", "-pthread", *flags, name=f"{name}.{scene.mpi}")


def callers_are_told_apart(scene, layer, program, *arguments):
    directory = scene.subdir("deep")
    ran = scene.mpirun(3, [program, *arguments], cwd=directory).succeeded()
    said = [line.split() for line in ran.out.splitlines()]
    addresses = {words[1] for words in said if words[0] == "main"}
    check(not scene.moves_programs() or len(addresses) > 1, f"main lies at {addresses}: not a program that is moved")
    expected = sorted((int(a), int(b), int(n)) for a, b, n in (words for words in said if words[0] != "main"))

    ranks = sites_of(scene, directory, "MPI_Allreduce")

    check(all(ranks[0] == other for other in ranks[1:]), f"module and offset of the frames, per rank: {ranks}")
    found = []
    for frames, calls in ranks[0].items():
        check(len(frames) >= 3, f"frames of a site: {frames}")
        same([os.path.basename(path) for path, _ in frames[:3]], [layer.name, program.name, frames[2][0].rsplit("/", 1)[-1]], "modules")
        outer = line_of(scene, frames[2]) if frames[2][0].endswith(program.name) else 0
        found.append((line_of(scene, frames[1]), outer, calls))
    # The recursion is one place in the source, called from itself or from main: the outer line is not of interest there.
    lines = {line for line, outer, _ in expected if outer}
    merged = collections.Counter()
    for line, outer, calls in found: merged[line, outer if line in lines else 0] += calls
    same(sorted((line, outer, n) for (line, outer), n in merged.items()), expected, "(line of the caller, of its caller, calls)")


@case(ranks=3)
def callers_behind_one_function_are_told_apart_and_the_same_on_all_ranks(scene):
    callers_are_told_apart(scene, *build(scene))


@case(ranks=3)
def callers_of_a_thread_are_told_apart(scene):
    callers_are_told_apart(scene, *build(scene), "thread")


@case(ranks=3)
def callers_without_a_frame_pointer_are_told_apart(scene):
    callers_are_told_apart(scene, *build(scene, "callers_frameless", "-O2", "-fomit-frame-pointer"))


@case(ranks=2)
def without_depth_a_site_is_the_call_alone(scene):
    layer, program = build(scene)
    directory = scene.subdir("shallow")
    scene.mpirun(2, program, env={"MPIPROF_DEPTH": "1"}, cwd=directory).succeeded()

    ranks = sites_of(scene, directory, "MPI_Allreduce")

    for rank in ranks:
        same([(len(frames), os.path.basename(frames[0][0]), n) for frames, n in rank.items()], [(1, layer.name, 114)], "sites")
    same(ranks[0], ranks[1], "sites of two ranks")


def rows_of_sites(scene, directory, *options):
    ran = scene.run_report("sites", "--format", "json", *options, cwd=directory).succeeded()
    return json.loads(ran.out)["sites"]


@case(ranks=3)
def the_report_has_one_row_for_a_place_on_all_ranks_with_its_callers(scene):
    """A program that is moved, one that is not, the layer in a library and in the program itself."""
    layer = scene.shared_object("callers.c", "-DLAYER", name="callers_layer")
    within = scene.compile("callers.c", "-DLAYER", "-c", name=f"callers_layer.{scene.mpi}.o")
    for name, flags in (("pie", (layer, f"-Wl,-rpath,{scene.bin}", "-pie", "-fPIE")),
                        ("fixed", (layer, f"-Wl,-rpath,{scene.bin}", "-no-pie")),
                        ("alone", (within, "-pie", "-fPIE")),
                        ("alone_fixed", (within, "-no-pie"))):
        program = scene.compile("callers.c", *flags, "-pthread", name=f"callers_{name}.{scene.mpi}")
        directory = scene.subdir(name)
        ran = scene.mpirun(3, program, cwd=directory).succeeded()
        said = [tuple(map(int, line.split())) for line in ran.out.splitlines() if not line.startswith("main")]

        rows = rows_of_sites(scene, directory)

        same({row["ranks"] for row in rows}, {3}, f"{name}: ranks of each place")
        same({row["function"] for row in rows}, {"sum_up"}, f"{name}: function that calls MPI")
        found = collections.Counter()
        outer_lines = {outer for _, outer, _ in said if outer}
        for row in rows:
            lines = [int(part.split()[0].split(":")[1]) for part in row["stack"].split(" < ")]
            outer = lines[2] if len(lines) > 2 and lines[2] in outer_lines else 0
            found[lines[1], outer] += row["calls_total"]
        same(dict(found), {(line, outer): 3 * n for line, outer, n in said}, f"{name}: (caller, its caller): calls")
        by_line = rows_of_sites(scene, directory, "--by", "line")
        same([(row["function"], row["calls_total"]) for row in by_line], [("sum_up", 3 * 114)], f"{name}: --by line")


@case(ranks=2)
def a_program_without_a_build_id_that_was_built_again_is_not_believed(scene):
    """Nor an older one that was put to its place with its times (cp -p)."""
    built = scene.compile("causes.c", "-pthread", "-Wl,--build-id=none", name=f"causes_no_id.{scene.mpi}")
    program = scene.dir / "causes"
    shutil.copy(built, program)
    time.sleep(0.3)  # than clocks of files and of processes are exact
    directory = scene.subdir("job")
    scene.mpirun(2, [program, "healthy", 20, "sleep"], cwd=directory).succeeded()
    same({row["function"] for row in rows_of_sites(scene, directory)}, {"halo", "sum_up"}, "functions")
    for how in (shutil.copy, shutil.copy2):
        how(built, program)
        same({row["function"] for row in rows_of_sites(scene, directory)}, {""}, f"functions after {how.__name__}")
        out = scene.run_report("sites", "--width", 200, cwd=directory).succeeded().out
        check("binary may have changed since the run" in out, out)


@case(ranks=2)
def calls_on_odd_stacks_are_counted_and_harm_nobody(scene):
    """Wrong unwind information, fibers, alternate signal stacks."""
    program = scene.compile("odd_stacks.c")
    ran = scene.mpirun(2, [program, "expected"]).succeeded()
    same(ran.out.count("all returned"), 2, "ranks that came to their end")
    expected = read_tables(scene.dir / "expected.*.csv")
    booked = {call for _, call, _ in expected} | {"MPI_Comm_size"}  # which is called within MPI_Comm_dup alone
    found = {key: value for key, value in scene.export().items() if key[1] in booked}
    check(found == expected, "(rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))


def booked_alike(scene, program, *arguments):
    """The profile is what the program has booked. Returns the summary."""
    directory = scene.subdir("-".join(arguments) or "run")
    ran = scene.mpirun(2, [program, *arguments, "expected"], cwd=directory).succeeded()
    same(ran.out.count("all returned"), 2, "ranks that came to their end")
    expected = read_tables(directory / "expected.*.csv")
    booked = {call for _, call, _ in expected} | {"MPI_Comm_size"}  # which is made within calls alone
    found = {key: value for key, value in scene.export(cwd=directory).items() if key[1] in booked}
    check(found == expected, "(rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))
    return scene.run_report(cwd=directory).succeeded().out


@case(ranks=2)
def stacks_of_fibers_may_be_given_back(scene):
    """Unmapped, cut short, and others at addresses that differ in their upper halves alone."""
    booked_alike(scene, scene.compile("given_back.c"))


@case(ranks=2)
def calls_after_one_that_was_left_are_counted_wherever_they_are_made(scene):
    """In fibers whose first frame nothing describes, and a thousand frames deep."""
    program = scene.compile("abandoned.c")
    said = booked_alike(scene, program, "fibers")
    check(platform.machine() != "x86_64" or "2 calls may be internal to another MPI call" in said, f"one on each rank is not sure:\n{said}")
    said = booked_alike(scene, program, "recursion")
    check("may be internal" not in said, f"all are sure:\n{said}")


@case(ranks=2)
def calls_of_an_operator_without_description_are_parts_of_the_reduction(scene):
    said = booked_alike(scene, scene.compile("abandoned.c"), "operator")
    check(platform.machine() != "x86_64" or "may be internal" in said, f"nobody can be sure:\n{said}")


@case(ranks=2)
def plugins_that_come_to_each_others_place_have_their_own_calls(scene):
    host = scene.compile("plugins.c", "-ldl")
    plugins = [scene.shared_object("solver_plugin.c", f"-DNAME=exchange_{name}", name=f"{name}_solver") for name in ("pressure", "chemistry")]
    directory = scene.subdir("several")
    ran = scene.mpirun(2, [host, 20, *plugins], cwd=directory).succeeded()
    same(ran.out.count("same place"), 2, "ranks where each came to the place of the one before")

    rows = rows_of_sites(scene, directory)

    same(sorted((row["function"], row["calls_total"]) for row in rows),
         [("exchange_chemistry", 2 * 20 * 20), ("exchange_pressure", 2 * 20 * 10)], "(function, calls)")


def callers_of_sum_up(scene, directory):
    """{functions above sum_up that have names: calls}."""
    found = collections.Counter()
    for row in rows_of_sites(scene, directory):
        names = [name for name in ("prepare", "first", "second", "third") if name in row["stack"]]
        check("sum_up" in row["stack"], row["stack"])
        found[names[0] if names else ""] += row["calls_total"]
    return dict(found)


@case(ranks=2)
def callers_behind_frames_that_few_unwinders_pass_are_found_by_libunwind(scene):
    """Another register's, an expression's, generated code's; first met in a library's constructor, and in main."""
    if platform.machine() != "x86_64": raise Skip("libgcc follows stacks on this processor")
    if execute(["ldconfig", "-p"]).out.count("libunwind-x86_64.so.8") == 0: raise Skip("libunwind is not installed")
    program = scene.compile("strange_frames.c", "-rdynamic", "-ldl")
    plugin = scene.shared_object("strange_frames.c", "-DPLUGIN", name=f"strange_plugin.{scene.mpi}")
    in_main = {"first": 2 * 10, "second": 2 * 20, "third": 2 * 30}
    for name, arguments, expected in (("main", [], in_main), ("constructor", [plugin], in_main | {"prepare": 2 * 3})):
        directory = scene.subdir(name)
        scene.mpirun(2, [program, *arguments], cwd=directory).succeeded()
        same(callers_of_sum_up(scene, directory), expected, f"{name}: calls by who called sum_up")
    directory = scene.subdir("off")
    ran = scene.mpirun(2, program, env={"MPIPROF_LIBUNWIND": "off"}, cwd=directory).succeeded()
    same(ran.out.count("all returned"), 2, "ranks that came to their end")
    same(callers_of_sum_up(scene, directory), {"": 2 * 60}, "without libunwind")
