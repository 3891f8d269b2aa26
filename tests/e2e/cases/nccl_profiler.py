"""NCCL's profiler interface: what the double of NCCL told us of its operations (tests/nccl/fake_profiler.h), linked and
statically linked, beside MPI and without it. Every operation counts once, wherever it was learned of."""

import collections

from harness import ROOT, case, check, same

from cases.nccl import SOURCES, counted, environment, program, recorded, run, run_newer, torchrun

def static_program(scene, mpi=False):
    """The program with the double inside it, as Horovod is linked with NCCL."""
    flags = ["-DWITH_MPI"] if mpi else []
    return scene.compile(SOURCES / "program.c", "-w", "-I", ROOT, *flags, "-x", "c", SOURCES / "fake_nccl.c", "-x", "none", "-lpthread", "-ldl", name=f"nccl_program.static.{scene.mpi}", compiler=None if mpi else "gcc", label="")


def told(directory, prefix="told", bcast=()):
    """{(function, size, ranks, algorithm, protocol, channels): operations} as the double told them. What it calls Broadcast is
    named as the program called it where `bcast` has its size."""
    sums = collections.Counter()
    for path in directory.glob(prefix + ".*"):
        for line in path.read_text().splitlines():
            function, size, ranks, algorithm, protocol, channels, operations = line.split()
            name = "Bcast" if function == "Broadcast" and int(size) in bcast else function
            sums["nccl" + name, int(size), int(ranks), algorithm.replace("-", ""), protocol.replace("-", ""), int(channels)] += int(operations)
    return dict(sums)


def chosen(scene, directory):
    """{(function, ranks, algorithm, protocol, channels): (operations, bytes)} as the report says."""
    sums = collections.defaultdict(lambda: (0, 0))
    text = scene.run_report("nccl", "--format", "csv", cwd=directory).succeeded().out
    table = text.split("# nccl_choices\n")
    if len(table) < 2:
        return {}
    lines = table[1].splitlines()
    header = lines[0].split(",")
    for line in lines[1:]:
        if not line:
            break
        row = dict(zip(header, line.split(",")))
        key = row["call"], int(row["comm_size"] or 0), row["algorithm"], row["protocol"], int(row["channels"] or 0)
        before = sums[key]
        sums[key] = before[0] + int(row["total_operations"]), before[1] + int(row["total_bytes"])
    return dict(sums)


def summed(operations):
    """What told() has, as chosen() has it."""
    sums = collections.defaultdict(lambda: (0, 0))
    for (function, size, ranks, *choice), n in operations.items():
        key = function, ranks, *choice
        sums[key] = sums[key][0] + n, sums[key][1] + n * size
    return dict(sums)


def by_function(operations):
    sums = collections.defaultdict(lambda: (0, 0))
    for (function, size, *_), n in operations.items():
        sums[function] = sums[function][0] + n, sums[function][1] + n * size
    return dict(sums)


@case(mpis=(), ranks=1)
def algorithms_and_protocols_are_those_that_nccl_told(scene):
    for version in range(1, 7):
        for how in ("linked", "fetched"):
            directory = scene.subdir(f"{how}.{version}")
            for rank in range(2):
                run(scene, how, "every", directory,
                    torchrun(rank, 2, count=f"rank{rank}", FAKE_NCCL_PROFILER=version, FAKE_NCCL_TOLD=directory / f"told{rank}"))
            expected = told(directory, "told*", bcast=(70,))
            check(("ncclAllReduce", 4000, 2, "RING", "LL", 2) in expected and len(expected) > 15, f"the double told {expected}")
            same(chosen(scene, directory), summed(expected), f"{how}, version {version}: operations")
            same(recorded(scene, directory), counted(directory, "rank*"), f"{how}, version {version}: call -> (calls, bytes)")


def other_plugin(scene, version):
    return scene.compile(SOURCES / "other_plugin.c", "-shared", "-fPIC", f"-DVERSION={version}", "-lpthread", name=f"libother.{version}.so", compiler="gcc", label="")


def told_to_the_other(directory):
    """{kind of event: (begun, ended)} of all processes; what the other plugin finds wrong is wrong here."""
    sums = {}
    for path in directory.glob("other.*"):
        for line in path.read_text().splitlines():
            check(not line.startswith("wrong"), line)
            kind, begun, ended = map(int, line.split())
            sums[kind] = sums.get(kind, (0, 0))[0] + begun, sums.get(kind, (0, 0))[1] + ended
    return sums


@case(mpis=(), ranks=1)
def another_profiler_plugin_behind_ours_is_told_as_if_it_were_alone(scene):
    for version, act, mask in ((1, "every", 2 | 4), (4, "every", 1 | 2 | 4), (6, "every", 1 | 2 | 4 | 2048), (6, "every", 2048), (6, "every", 0),
                               (6, "nonblocking", 2 | 4 | 2048), (5, "threads", 2), (6, "split", 1), (7, "every", 1 | 2 | 4 | 2048), (7, "threads", 2)):
        def play(name, **more):
            directory = scene.subdir(f"{act}.{version}.{mask}.{name}")
            run(scene, "linked", act, directory, torchrun(0, {"threads": 1, "split": 4}.get(act, 2), FAKE_NCCL_PROFILER=version, FAKE_NCCL_TOLD=directory / "told",
                                                          OTHER_PLUGIN_MASK=mask, OTHER_PLUGIN_TOLD=directory / "other", **more))
            return directory
        named = {"NCCL_PROFILER_PLUGIN": other_plugin(scene, version)}
        alone, ours, both = play("alone", **named), play("ours"), play("both", **named, MPIPROF_NCCL_PLUGIN="forward")
        what = f"{act}, version {version}, mask {mask}"
        same(told_to_the_other(both), told_to_the_other(alone), f"{what}: what the other was told")
        check(bool(told_to_the_other(alone)) == bool(mask & (1 | 2 | 4)), f"{what}: it was told {told_to_the_other(alone)}")  # without a GPU no launches
        same((chosen(scene, alone), chosen(scene, both)), ({}, chosen(scene, ours)), f"{what}: operations")
        same(recorded(scene, both), recorded(scene, ours), f"{what}: call -> (calls, bytes)")
        check(f"plugin chained behind mpiprof: {named['NCCL_PROFILER_PLUGIN']} (version {version})" in scene.run_report("nccl", "--width", "400", cwd=both).out,
              f"{what}: the report does not name it")


@case(mpis=(), ranks=1)
def another_profiler_plugin_is_found_wherever_it_is_named(scene):
    plugin_4, conf = other_plugin(scene, 4), scene.dir / "nccl.conf"
    conf.write_text(f"NCCL_DEBUG=WARN\nNCCL_PROFILER_PLUGIN={plugin_4}\n")
    (scene.dir / "libnccl-profiler.so").symlink_to(plugin_4)
    path = {"LD_LIBRARY_PATH": f"{environment(scene, scene.dir)['LD_LIBRARY_PATH']}:{scene.dir}"}
    for name, env in (("a file of NCCL's", {"MPIPROF_NCCL_PLUGIN": "forward", "NCCL_CONF_FILE": conf}), ("our setting", {"MPIPROF_NCCL_PLUGIN": plugin_4}),
                      ("the name that NCCL tries", {"MPIPROF_NCCL_PLUGIN": "forward", **path})):
        directory = scene.subdir(name.replace(" ", "."))
        run(scene, "linked", "every", directory, torchrun(0, 2, OTHER_PLUGIN_TOLD=directory / "other", FAKE_NCCL_TOLD=directory / "told", **env))
        check(told_to_the_other(directory).get(1), f"{name}: nothing was told")
        # NCCL has version 6, but is offered what both speak.
        check("(version 4)" in scene.run_report("nccl", "--width", "400", cwd=directory).out, f"{name}: the version")
        same(chosen(scene, directory), summed(told(directory, bcast=(70,))), f"{name}: operations")


@case(mpis=(), ranks=1)
def another_profiler_plugin_that_cannot_be_told_costs_nothing_but_a_line(scene):
    for name, env, says in (("missing", {"MPIPROF_NCCL_PLUGIN": "/nowhere/x.so"}, "mpiprof: MPIPROF_NCCL_PLUGIN: /nowhere/x.so cannot be opened, or does not "
                             "speak version 1 to 7 of NCCL's interface; it is told nothing\n"),
                            ("refusing", {"MPIPROF_NCCL_PLUGIN": other_plugin(scene, 6), "OTHER_PLUGIN_REFUSES": 1}, ""),
                            ("ourselves", {"MPIPROF_NCCL_PLUGIN": "forward", "NCCL_PROFILER_PLUGIN": scene.library}, "")):
        directory = scene.subdir(name)
        ran = run(scene, "linked", "every", directory, torchrun(0, 2, FAKE_NCCL_TOLD=directory / "told", **env), ok=False)
        same((ran.code, ran.out, ran.err), (0, "", says), name)
        same(chosen(scene, directory), summed(told(directory, bcast=(70,))), f"{name}: operations")
        shown = scene.run_report("nccl", "--width", "400", cwd=directory).out
        same(("plugin chained behind mpiprof: none: /nowhere/x.so" in shown, "which it refused" in shown), (name == "missing", name == "refusing"), name)


@case(mpis=(), ranks=1)
def nccl_without_a_profiler_interface_is_recorded_as_before(scene):
    run(scene, "linked", "every", scene.dir, torchrun(0, 2, FAKE_NCCL_PROFILER=0))
    same(recorded(scene, scene.dir), counted(scene.dir), "call -> (calls, bytes)")
    same(chosen(scene, scene.dir), {}, "operations")


@case(mpis=(), ranks=1)
def operations_of_threads_groups_and_nonblocking_communicators_count_once(scene):
    """Communicators are made in threads, launches happen in others."""
    for act, env in (("threads", {}), ("nonblocking", torchrun(0, 2)), ("gpus", {"MPIPROF_JOB": "gpus"}), ("split", torchrun(0, 4))):
        directory = scene.subdir(act)
        run(scene, "linked", act, directory, {**env, "FAKE_NCCL_TOLD": directory / "told"})
        expected = told(directory)
        check(expected, f"{act}: the double told nothing")
        same(recorded(scene, directory), counted(directory), f"{act}: call -> (calls, bytes)")
        same(chosen(scene, directory), summed(expected), f"{act}: operations")


@case(mpis=(), ranks=1)
def statically_linked_nccl_is_counted_by_what_it_tells(scene):
    for version in (1, 2, 4, 5, 6):
        for act, size in (("every", 2), ("threads", 1), ("nonblocking", 2), ("split", 4)):
            directory = scene.subdir(f"{act}.{version}")
            env = environment(scene, directory, **torchrun(0, size, FAKE_NCCL_PROFILER=version, FAKE_NCCL_TOLD=directory / "told"))
            ran = scene.alone([static_program(scene), act], profiled=False, cwd=directory, env=env)
            same((ran.code, ran.out, ran.err), (0, "", ""), act)
            expected = told(directory)
            same(recorded(scene, directory), by_function(expected), f"{act}, version {version}: call -> (calls, bytes)")
            if version >= 4:  # older ones do not tell how many members a communicator has
                same(chosen(scene, directory), summed(expected), f"{act}, version {version}: operations")
            times = {int(row["time_ns"]) for row in scene.export_rows(cwd=directory) if row["call"] != "ncclGetUniqueId"}
            same(times, {0}, "times")
    shown = scene.run_report(cwd=scene.dir / "every.6").succeeded().out
    check("ncclAllReduce" in shown and "nan" not in shown, shown)
    check("linked statically" in scene.run_report("nccl", cwd=scene.dir / "every.6").out, "nccl does not say why there is no time")


@case(mpis=(), ranks=1)
def operations_that_static_nccl_tells_of_as_calls_alone_are_counted(scene):
    """Of Broadcast NCCL 2.30 says that it was called, and nothing more."""
    for version in (5, 6):
        for act in ("every", "nonblocking"):
            directory = scene.subdir(f"{act}.{version}")
            env = environment(scene, directory, **torchrun(0, 2, FAKE_NCCL_PROFILER=version, FAKE_NCCL_TOLD=directory / "told", FAKE_NCCL_UNTOLD="Broadcast"))
            ran = scene.alone([static_program(scene), act], profiled=False, cwd=directory, env=env)
            same((ran.code, ran.out, ran.err), (0, "", ""), act)
            expected = told(directory)
            same(recorded(scene, directory), by_function(expected), f"{act}, version {version}: call -> (calls, bytes)")
            chosen_ones = {key: sums for key, sums in summed(expected).items() if key[0] != "ncclBroadcast"}
            same(chosen(scene, directory), chosen_ones, f"{act}, version {version}: operations")


@case(mpis=(), ranks=1)
def communicators_that_are_made_later_hide_nothing_of_other_threads(scene):
    """NCCL has one mask of events for the process: the double ends it if anybody writes the mask that is right already."""
    for how, version in (("linked", 6), ("linked", 1), ("static", 6), ("static", 5), ("forward", 6)):
        directory = scene.subdir(f"{how}.{version}")
        more = {"NCCL_PROFILER_PLUGIN": other_plugin(scene, version), "MPIPROF_NCCL_PLUGIN": "forward", "OTHER_PLUGIN_MASK": 4} if how == "forward" else {}
        env = environment(scene, directory, **torchrun(0, 4, FAKE_NCCL_PROFILER=version, FAKE_NCCL_TOLD=directory / "told", FAKE_NCCL_MASK="once"), **more)
        ran = scene.alone([static_program(scene) if how == "static" else program(scene, "linked"), "split"], profiled=False, cwd=directory, env=env)
        same((ran.code, ran.out, ran.err), (0, "", ""), f"{how}, version {version}")
        same(chosen(scene, directory) if version >= 4 else {}, summed(told(directory)) if version >= 4 else {}, f"{how}, version {version}: operations")


@case(mpis=(), ranks=1)
def a_job_whose_nccl_is_static_has_the_ranks_and_communicators_that_nccl_told(scene):
    """Without a word of any launcher."""
    for rank in range(2):
        env = environment(scene, scene.dir, MPIPROF_JOB="static", RANK=rank, WORLD_SIZE=2)
        scene.alone([static_program(scene), "killed"], profiled=False, env=env)
    same([path.name for path in scene.profiles()], ["mpi_profile.static.0", "mpi_profile.static.1"], "profiles")
    for rank in range(2):
        same(recorded(scene, scene.dir, rank), {"ncclAllReduce": (50, 200000)}, f"rank {rank}")
    rows = scene.run_report("nccl", "--format", "csv").succeeded().out.split("# nccl\n")[1].splitlines()
    known = dict(zip(rows[0].split(","), rows[1].split(",")))
    same((known["size"], known["ranks"], known["total_operations"], len(known["id"])), ("2", "2", "100", 16), "communicator")


@case(mpis=(), ranks=1)
def nccl_may_open_the_library_as_a_plugin_alone(scene):
    """Without LD_PRELOAD; NCCL closes its plugin with the last communicator."""
    env = {**environment(scene, scene.dir, **torchrun(0, 2)), "NCCL_PROFILER_PLUGIN": scene.library}
    del env["LD_PRELOAD"]
    ran = scene.alone([static_program(scene), "every"], profiled=False, env=env)
    same((ran.code, ran.out, ran.err), (0, "", ""), "the program")
    calls, size = counted(scene.dir)["ncclAllReduce"]
    same(recorded(scene, scene.dir)["ncclAllReduce"], (calls - 1, size), "reductions, but for one of no bytes, of which NCCL tells nobody")


@case(ranks=2)
def static_nccl_in_an_mpi_job_is_in_the_same_file(scene):
    for act in ("mpi_first", "nccl_first"):
        directory = scene.subdir(act)
        env = environment(scene, directory, FAKE_NCCL_TOLD=directory / "told")
        preload = env.pop("LD_PRELOAD")
        scene.mpirun(2, ["env", f"LD_PRELOAD={preload}", static_program(scene, mpi=True), act], profiled=None, env=env, cwd=directory).succeeded()
        same(len(scene.profiles(directory)), 2, f"profiles of {act}")
        expected = told(directory)
        same(sum(expected.values()), 6, "operations that the double told of: those before MPI_Init are of a rank alone")
        same(recorded(scene, directory), by_function(expected), f"{act}: call -> (calls, bytes)")
        same(chosen(scene, directory), summed(expected), f"{act}: operations")
        calls = scene.calls(cwd=directory)
        same((calls[0, "MPI_Allreduce"], calls[1, "MPI_Barrier"]), (3, 1), "calls of MPI")


@case(mpis=(), ranks=1)
def the_environment_stays_as_it_is(scene):
    """NCCL is invited by getenv(): its variable is never set, not even by the call that makes a communicator."""
    show = scene.dir / "show"
    show.mkdir()
    user = scene.compile(SOURCES / "nothing.c", "-shared", "-fPIC", name="libtheirs.so", compiler="gcc", label="")
    for act, env, expected in (("child", {}, ""), ("child", {"NCCL_PROFILER_PLUGIN": user}, str(user)), ("looker", {}, "")):
        ran = run(scene, "linked", act, show, env, ok=False)
        same((ran.code, ran.err), (0, ""), f"{act} with {env}")
        same(ran.out.strip(), expected, f"NCCL_PROFILER_PLUGIN in a child of {act} with {env}")


@case(mpis=(), ranks=1)
def a_plugin_of_the_users_stays_in_force(scene):
    user = scene.compile(SOURCES / "nothing.c", "-shared", "-fPIC", name="libtheirs.so", compiler="gcc", label="")
    run(scene, "linked", "every", scene.dir, torchrun(0, 2, NCCL_PROFILER_PLUGIN=user))
    same(recorded(scene, scene.dir), counted(scene.dir), "call -> (calls, bytes)")
    same(chosen(scene, scene.dir), {}, "operations")
    check("names another plugin" in scene.run_report("nccl").out, scene.run_report("nccl").out)
    (scene.dir / "home").mkdir()
    (scene.dir / "home" / ".nccl.conf").write_text(f"NCCL_PROFILER_PLUGIN={user}\n")
    ran = run(scene, "linked", "child", scene.dir / "home", {"HOME": scene.dir / "home"}, ok=False)
    same(ran.out.strip(), "", "NCCL_PROFILER_PLUGIN beside a .nccl.conf that names one")


@case(mpis=(), ranks=1)
def static_nccl_is_left_alone_where_the_user_says_so(scene):
    for off in ({"MPIPROF_NCCL": "off"}, {"MPIPROF_DISABLE": "1"}):
        ran = scene.alone([static_program(scene), "every"], profiled=False, env=environment(scene, scene.dir, **torchrun(0, 2), **off))
        same((ran.code, ran.out, ran.err), (0, "", ""), "the program")
        same(scene.profiles(), [], "profiles")


@case(mpis=(), ranks=1)
def killed_static_training_keeps_every_operation(scene):
    for rank in range(2):
        env = environment(scene, scene.dir, **torchrun(rank, 2))
        ran = scene.alone([static_program(scene), "killed"], profiled=False, env=env)
        same(ran.code, -9 if rank else 0, "exit code")
    same(recorded(scene, scene.dir), {"ncclAllReduce": (100, 400000)}, "call -> (calls, bytes)")
    same(chosen(scene, scene.dir), {("ncclAllReduce", 2, "RING", "LL", 2): (100, 400000)}, "operations")


@case(mpis=(), ranks=1)
def nccl_that_is_opened_without_the_hook_counts_once(scene):
    """Its own call of ncclBroadcast comes to us all the same, alone and in a group."""
    env = {**environment(scene, scene.dir, **torchrun(0, 2, FAKE_NCCL_TOLD=scene.dir / "told")), "LD_PRELOAD": scene.library,
           "WITHOUT_HOOK": 1}
    ran = scene.alone([program(scene, "fetched"), "bcasts"], profiled=False, env=env)
    same((ran.code, ran.out, ran.err), (0, "", ""), "the program")
    same(recorded(scene, scene.dir), by_function(told(scene.dir)), "call -> (calls, bytes)")


FETCHED = "the program fetched NCCL's functions by dlsym"


@case(mpis=(), ranks=1)
def nccls_own_calls_are_not_the_programs_where_its_functions_were_fetched(scene):
    """Without the second library: nothing of what NCCL calls itself is taken for a call of the program's, and it is said."""
    silent = {"LD_PRELOAD": scene.library, "WITHOUT_HOOK": 1, "NCCL_PROFILER_PLUGIN": "none"}
    for act in ("unblocked", "bcasts"):
        directory = scene.subdir(act)
        env = {**environment(scene, directory, **torchrun(0, 2)), **silent}
        ran = scene.alone([program(scene, "fetched"), act], profiled=False, cwd=directory, env=env)
        same((ran.code, ran.out), (0, ""), act)
        same(scene.profiles(directory), [], f"profiles of {act}")
        said = [line for line in ran.err.splitlines() if line.startswith("mpiprof: ")]
        check(len(said) == 1 and FETCHED in said[0] and "libmpiprof-dlsym.so" in said[0], ran.err)
    other = scene.subdir("other_rank")
    env = {**environment(scene, other, **torchrun(1, 2)), **silent}
    check("mpiprof: " not in scene.alone([program(scene, "fetched"), "bcasts"], profiled=False, cwd=other, env=env).err, "rank 1 says it, too")
    causes = scene.run_report(cwd=other)
    check("libmpiprof-dlsym.so" in causes.out + causes.err, "the causes of no profile")


@case(mpis=(), ranks=1)
def nccl_whose_functions_were_fetched_is_counted_by_its_word_and_the_report_says_so(scene):
    for act in ("unblocked", "bcasts"):
        directory = scene.subdir(act)
        env = {**environment(scene, directory, **torchrun(0, 2, FAKE_NCCL_TOLD=directory / "told")),
               "LD_PRELOAD": scene.library, "WITHOUT_HOOK": 1}
        ran = scene.alone([program(scene, "fetched"), act], profiled=False, cwd=directory, env=env)
        same((ran.code, ran.out, ran.err), (0, "", ""), act)
        same(recorded(scene, directory), by_function(told(directory)), f"{act}, call -> (calls, bytes)")
        text = " ".join(scene.run_report(cwd=directory).succeeded().out.split())
        same(text.count("on 1 rank " + FETCHED), 1, text)


@case(ranks=2)
def nccl_whose_functions_were_fetched_in_an_mpi_job_is_named(scene):
    """NCCL has no profiler interface there, or is told to have none: of its calls nothing is known."""
    env = {**environment(scene, scene.dir, NCCL_PROFILER_PLUGIN="none"), "LD_PRELOAD": scene.library, "WITHOUT_HOOK": 1}
    scene.mpirun(2, [program(scene, "mpi_fetched"), "bcast"], profiled=None, env=env).succeeded()
    same([row for row in scene.calls() if row[1].startswith("nccl")], [], "calls of NCCL")
    text = " ".join(scene.run_report().succeeded().out.split())
    same(text.count("on 2 ranks " + FETCHED), 1, text)


@case(mpis=(), ranks=1)
def graph_replays_do_not_become_calls(scene):
    run(scene, "linked", "replays", scene.dir, torchrun(0, 2, FAKE_NCCL_TOLD=scene.dir / "told"))
    same(recorded(scene, scene.dir)["ncclAllReduce"], (1, 4000), "calls")
    same(chosen(scene, scene.dir), {("ncclAllReduce", 2, "RING", "LL", 2): (6, 24000)}, "operations")


def tags(scene, directory):
    """{tag: operations}"""
    text = scene.run_report("nccl", "--format", "csv", cwd=directory).succeeded().out.split("# nccl_choices\n")[1].split("\n\n")[0]
    header, *rows = [line.split(",") for line in text.splitlines() if not line.startswith("# ")]
    sums = collections.Counter()
    for row in rows:
        sums[row[header.index("tag")]] += int(row[header.index("total_operations")])
    return dict(sums)


@case(mpis=(), ranks=1)
def the_tags_of_calls_are_a_column_of_what_nccl_chose(scene):
    """From version 7 of its interface on; a program that tags each step by its number makes no table of a thousand lines."""
    wanted = {7: {"7": 6, "": 2, "41": 4, "0x8000000000000005": 1}, 6: {"": 13}}
    for version, expected in wanted.items():
        directory = scene.subdir(f"version.{version}")
        run_newer(scene, "tagged", directory, torchrun(0, 2, FAKE_NCCL_PROFILER=version))
        same(tags(scene, directory), expected, f"version {version}")
        screen = scene.run_report("nccl", cwd=directory).succeeded().out
        same("TAG" in screen, version == 7, f"version {version}: the column\n{screen}")
    directory = scene.subdir("steps")
    run_newer(scene, "tagged", directory, torchrun(0, 2, FAKE_NCCL_PROFILER=7), "steps")
    told = tags(scene, directory)
    same((told["7"], told["41"], sum(told.values()), len(told), told["others"]), (6, 4, 1013, 66, 1000 - 61), "tags of each step")
