"""Numbers 0 to 2 may be the program's data files: a line of ours goes to the standard error that the process began with, or
is told by the report instead; never into a file of the program's."""

import re
import subprocess
import time

from acts import our_lines
from harness import case, check, same

LOUD = {"MPIPROF_VERBOSE": "1"}


def reused(scene, how, ranks=2, env=None, label=""):
    place = scene.subdir(how + label)
    if how == "old":
        for rank in range(ranks):
            for number in range(3):
                (place / f"data.{rank}.{number}").touch()
        time.sleep(0.05)
    environment = {**LOUD, **(env or {})}
    ran = scene.mpirun(ranks, [scene.compile("reused.c", "-ldl"), how, place], env=environment, cwd=place, profiled="ranks").succeeded()
    same([(place / f"verdict.{rank}").read_text() for rank in range(ranks)], ["right\n"] * ranks, f"the program's files, {how}")
    return ran, re.sub(r"\s+", " ", scene.run_report(cwd=place).succeeded().out)  # without the ends of lines


@case(ranks=2)
def data_files_under_the_numbers_of_standard_descriptors_stay_the_programs(scene):
    for how in ("before", "old", "closed"):
        ran, report = reused(scene, how)
        same(our_lines(ran), [], f"lines on the standard error that the program closed, {how}")
        check(re.search(r"not said on standard error, which was a file of the program's own: mpiprof", report), f"{how}: the report says nothing\n{report}")
    for how in ("after", "over", "log", "socket"):
        ran, report = reused(scene, how)
        check(all(how == "socket" or "without a begin is ignored" not in line for line in our_lines(ran)), f"{how}: {our_lines(ran)}")
        check("without a begin is ignored" in report, f"{how}: the report does not tell the line that was not said\n{report}")
    ran, report = reused(scene, "none")
    check("not said" not in report and any("without a begin is ignored" in line for line in our_lines(ran)), f"a line is lost: {ran.err}\n{report}")


@case(ranks=1)
def a_standard_descriptor_that_the_program_closes_is_taken_by_no_thread_of_ours(scene):
    """Between close(0) and the open() whose number the program takes for granted."""
    for store in ("mapped", "written"):
        reused(scene, "long", ranks=1, env={"MPIPROF_PERIOD": "0.1", "MPIPROF_STORE": store}, label="." + store)


@case(ranks=1, mpis=("openmpi", "mpich"))
def standard_error_that_was_redirected_before_the_program_began_is_written_to(scene):
    """To a file that is older than the process, or that its parent has open, too; by a pipe; to nowhere."""
    program = scene.compile("reused.c", "-ldl")
    environment = scene.environment({**LOUD, "LD_PRELOAD": scene.preload()})
    lines = {}
    with open(scene.dir / "older", "w") as older:
        time.sleep(0.1)
        for label, stream in (("older", older), ("pipe", subprocess.PIPE), ("nowhere", subprocess.DEVNULL)):
            place = scene.subdir(label + ".d")
            ran = subprocess.run([program, "none", place], cwd=place, env=environment, stderr=stream, stdout=subprocess.DEVNULL, timeout=100)
            same(ran.returncode, 0, f"exit code, {label}")
            lines[label] = (ran.stderr or b"").decode()
    with open(scene.dir / "parents", "w") as just_made:
        place = scene.subdir("parents.d")
        subprocess.run([program, "none", place], cwd=place, env=environment, stderr=just_made, stdout=subprocess.DEVNULL, timeout=100, check=True)
    for label in ("older", "parents"):
        lines[label] = (scene.dir / label).read_text()
    for label in ("older", "parents", "pipe"):
        check("without a begin is ignored" in lines[label], f"{label}: {lines[label]!r}")
    for label in ("older", "parents", "pipe", "nowhere"):
        check("not said" not in scene.run_report(cwd=scene.dir / f"{label}.d").succeeded().out, f"{label}: the report tells a line that was said")


@case(ranks=1)
def a_function_that_is_missing_is_not_said_into_a_file_of_the_programs(scene):
    """The line that comes before exit code 127, as the loader would say it."""
    program = scene.compile("missing.c", "-ldl", compiler="gcc", label="")
    for how in ("plain", "closed"):
        ran = scene.alone([program, scene.library, how, scene.dir / how], profiled=False, timeout=60)
        same(ran.code, 127, f"exit code, {how}: {ran.err}")
        text = (scene.dir / how).read_text() if how == "closed" else ran.err
        check(("undefined symbol" in ran.err) == (how == "plain") and (how == "plain" or text == ""), f"{how}: {ran.err!r} {text!r}")
