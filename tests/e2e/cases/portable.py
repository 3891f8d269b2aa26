"""Profiles are files that others read: on another machine, of another processor, with pages of another size. These cases run here as they
are, and under an emulator of aarch64 (aarch64.py), whose profiles this machine's reporter reads."""

from harness import case, check, same

COMMANDS = ("summary", "calls", "sites", "ranks", "budget", "arrivals", "steps", "regions", "time", "hang", "comms", "nccl", "peers", "placement",
            "settings", "check", "transfers", "export -f csv", "export -f json", "export -f perfetto", "text", "html -o page.html",
            "merge -o merged")


@case(ranks=2, tier="full")
def every_command_reads_the_job(scene):
    program = scene.compile("known.c")
    scene.mpirun(2, [program, "expected"], env={"MPIPROF_TRACE": "on"}).succeeded()
    same(len(scene.profiles()), 2, "profiles")
    (aside := scene.dir / "aside").mkdir()
    for command in COMMANDS:
        words = [str(aside / word) if word in ("page.html", "merged") else word for word in command.split()]
        ran = scene.run_report(*words).succeeded()
        check(ran.out or ran.err or len(words) > 1, f"{command} says nothing")
    plain, merged = scene.run_report("calls"), scene.run_report("calls", next(aside.glob("merged*")))
    same(merged.out, plain.out, "the table of calls of the merged file")
    sites = scene.run_report("sites", "--width", 200).succeeded().out
    check("known.c:" in sites, f"lines of the program:\n{sites}")
