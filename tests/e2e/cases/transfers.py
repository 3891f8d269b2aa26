"""`mpiprof-report transfers`: its times are those that the program measures itself, and it prints them while the job runs."""

import re
import statistics
import subprocess
import threading

from harness import ROOT, Skip, case, check, same

EXAMPLE = ROOT / "examples" / "transfers"
LINE = re.compile(r"Process (\d+) transferred ([\d.]+) MB in ([\d.]+) ms \(([\d.]+) MB/sec\)(.*)")
REPEATS = 41
COST_OF_CALLS_US = 5  # between the program's clock and the recorder's, on a busy machine; a rank that waits is off by 100 and more


def rates_in(text, megabytes):
    """The rate of each message of this size, as the line says."""
    found = [LINE.fullmatch(line) for line in text.splitlines()]
    check(all(found), f"lines of transfers: {text}")
    return [float(line[4]) for line in found if float(line[2]) == megabytes]


def check_against_the_program(scene, program, sizes):
    """Message by message, of each size the middle one: a turn of the scheduler between two clocks spoils single ones. What a
    program measures has the cost of its calls in it, the interpreter's and the recorder's work: so sizes of which that is little."""
    for megabytes in sizes:
        directory = scene.subdir(f"{megabytes}MB")
        ran = scene.mpirun(2, [*program, megabytes, REPEATS], env={"MPIPROF_TRACE": "on"}, cwd=directory).succeeded()
        own = rates_in(ran.out, megabytes)
        if not own:
            raise Skip("this mpi4py was built for the other MPI")
        same(len(own), REPEATS, f"lines of the program: {ran.out}")
        ours = rates_in(scene.run_report("transfers", "--messages", cwd=directory).succeeded().out, megabytes)
        same(len(ours), REPEATS, f"lines of {megabytes} MB")
        # MB by MB/s are seconds.
        longer_us = statistics.median(1e6 * megabytes * (1 / its - 1 / our) for our, its in zip(ours, own))
        took_us = 1e6 * megabytes / statistics.median(own)
        check(abs(longer_us) <= max(0.02 * took_us, COST_OF_CALLS_US), f"{megabytes} MB: the program says {longer_us} us more, of {took_us}; {ours}, {own}")


@case(ranks=2, attempts=5)
def transfers_take_as_long_as_the_program_says(scene):
    check_against_the_program(scene, [scene.compile(EXAMPLE / "transfers.c")], (1, 4, 16))


@case(mpis=("openmpi",), ranks=2, attempts=5)
def transfers_of_mpi4py_take_as_long_as_it_says(scene):
    check_against_the_program(scene, [scene.python_with("mpi4py"), EXAMPLE / "transfers.py"], (16, 64))


@case(ranks=2)
def transfers_are_printed_while_the_job_runs_and_end_with_it(scene):
    program = scene.compile("phases_of_transfers.c")
    go_on = scene.dir / "go_on"
    directory = scene.subdir("job")
    watching = subprocess.Popen([scene.report, "transfers", "--follow", "--interval", "0.2", "--wait", "200", str(directory)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    env = {"MPIPROF_TRACE": "on", "MPIPROF_STORE": "mapped"}
    job = threading.Thread(target=scene.mpirun, args=(2, [program, go_on]), kwargs={"cwd": directory, "env": env})
    job.start()
    try:
        first = watching.stdout.readline()
        check(LINE.fullmatch(first.strip()), f"the first line: {first}")
        check(job.is_alive(), "the job still runs when its first message is told of")
        go_on.write_text("")
        out, err = watching.communicate(timeout=250)
    finally:
        go_on.write_text("")
        watching.kill()
        job.join()
    lines = [LINE.fullmatch(line) for line in (first + out).splitlines()]
    check(all(lines), f"lines: {first}{out}")
    same([float(line[2]) for line in lines], [1, 2], f"each message once; {err}")
    same(watching.returncode, 0, f"exit code; {err}")


@case(ranks=2)
def transfers_without_a_trace_say_that_waiting_is_included(scene):
    program = scene.compile(EXAMPLE / "transfers.c")
    scene.mpirun(2, [program, 1, 3]).succeeded()
    ran = scene.run_report("transfers").succeeded()
    check("the receiver's time, waiting included" in ran.out, ran.out)
    check(re.search(r"MPI_Recv .* 3 ", ran.out), ran.out)
