"""mpiprof-report and files that are not what they should be: a clear line each, the right exit code, never a crash.
Exit codes: 0 something was readable, 2 usage, 3 nothing was."""

import os
import shutil
import tempfile

from harness import case, check, same


def make_job(scene, name, calls=10, ranks=2, job="4711"):
    directory = scene.subdir(name)
    scene.mpirun(ranks, [scene.compile("ring.c"), calls], env={"PBS_JOBID": job}, cwd=directory).succeeded()
    return directory, scene.profiles(directory)


def says(ran, *words):
    text = ran.out + ran.err
    for word in words:
        check(word.lower() in text.lower(), f"exit code {ran.code}, and the report does not say {word!r}:\n{text}")


def nobody():
    """Reads as somebody who may not: root may read anything."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


@case(mpis=(), ranks=1)
def empty_directory_says_what_to_do(scene):
    ran = scene.run_report()
    same(ran.code, 3, "exit code")
    says(ran, "LD_PRELOAD", "static")


@case(mpis=(), ranks=1)
def directory_that_does_not_exist_is_said(scene):
    ran = scene.run_report(scene.dir / "nowhere")
    check(ran.code in (2, 3), f"exit code {ran.code}")
    says(ran, "nowhere")


@case(ranks=2)
def usage_errors_are_exit_code_2(scene):
    directory, _ = make_job(scene, "job")
    for arguments in (["--no-such-option"], ["calls", "--sort", "taste"], ["export", "-f", "papyrus"], ["calls", "--top", "many"]):
        ran = scene.run_report(*arguments, cwd=directory)
        same(ran.code, 2, f"exit code of {arguments}\n{ran.out}{ran.err}")
        check(ran.err.strip() and not ran.out.strip(), f"{arguments}: the message belongs on stderr: {ran}")


@case(ranks=2)
def truncated_profile_is_a_line_in_the_report(scene):
    directory, (first, second) = make_job(scene, "job")
    whole = second.read_bytes()
    used = int.from_bytes(whole[120:128], "little")  # Header::image_bytes; what follows is room to grow
    for size in (0, 1, 50, 95, 96, 500, 2695, 2696, 2697, 4096, used // 2, used - 1):
        second.write_bytes(whole[:size])
        ran = scene.run_report(cwd=directory)
        same(ran.code, 0, f"exit code with rank 1 cut to {size} bytes\n{ran.out}{ran.err}")
        says(ran, second.name)
        check("MPI_Sendrecv" in ran.out, f"rank 0 is fine and must be shown:\n{ran.out}")
    first.write_bytes(b"")
    second.write_bytes(whole[:100])
    ran = scene.run_report(cwd=directory)
    same(ran.code, 3, "exit code when nothing is readable")
    says(ran, first.name, second.name)


@case(ranks=2)
def profile_of_another_version_is_said(scene):
    directory, (first, second) = make_job(scene, "job")
    data = bytearray(second.read_bytes())
    data[104:106] = (99).to_bytes(2, "little")  # Header::format_major
    second.write_bytes(data)
    ran = scene.run_report(cwd=directory)
    same(ran.code, 0, "exit code")
    says(ran, second.name, "99")


@case(ranks=2)
def unreadable_profile_is_said(scene):
    directory, (first, second) = make_job(scene, "job")
    # The reader may not be able to come here: judge it in a place that is open to all.
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        for path in (first, second):
            shutil.copy(path, place)
            os.chmod(os.path.join(place, path.name), 0o644)
        report = os.path.join(place, "reporter")
        shutil.copy(scene.report, report)
        os.chmod(os.path.join(place, second.name), 0)
        scene.report = report
        ran = scene.run_report(cwd=place, preexec=nobody)
        same(ran.code, 0, f"exit code\n{ran.out}{ran.err}")
        says(ran, second.name, "permission denied")
        os.chmod(os.path.join(place, first.name), 0)
        ran = scene.run_report(cwd=place, preexec=nobody)
        same(ran.code, 3, "exit code when no file may be read")


@case(ranks=2)
def launches_are_not_mixed(scene):
    directory = make_job(scene, "job", calls=10)[0]
    scene.mpirun(2, [scene.compile("ring.c"), 77], env={"PBS_JOBID": "4712"}, cwd=directory).succeeded()
    ran = scene.run_report(cwd=directory)
    same(ran.code, 0, "exit code")
    says(ran, "4711", "4712")  # the newest is shown, the other is listed
    calls = scene.calls(cwd=directory)
    same({n for (_, call), n in calls.items() if call == "MPI_Sendrecv"}, {77}, "calls of the newest launch")


@case(ranks=2)
def duplicate_rank_is_counted_once_and_said(scene):
    directory, (first, second) = make_job(scene, "job", calls=10)
    shutil.copy(second, directory / "mpi_profile.copy.1")
    ran = scene.run_report(cwd=directory)
    same(ran.code, 0, "exit code")
    says(ran, "rank 1", "two profiles", "mpi_profile.copy.1")
    same({key: n for key, n in scene.calls(cwd=directory).items() if key[1] == "MPI_Sendrecv"},
         {(0, "MPI_Sendrecv"): 10, (1, "MPI_Sendrecv"): 10}, "calls")


@case(ranks=2)
def what_is_no_profile_is_said(scene):
    directory, _ = make_job(scene, "job")
    (directory / "mpi_profile.4711.7").write_text("not a profile\n")
    (directory / "mpi_profile.4711.8").mkdir()
    os.mkfifo(directory / "mpi_profile.4711.9")
    os.symlink("mpi_profile.4711.10", directory / "mpi_profile.4711.10")
    ran = scene.run_report(cwd=directory)  # must not wait for a writer of the FIFO
    same(ran.code, 0, f"exit code\n{ran.out}{ran.err}")
    says(ran, "mpi_profile.4711.7")


@case(ranks=3)
def missing_rank_is_reported_not_fatal(scene):
    directory, paths = make_job(scene, "job", ranks=3)
    paths[1].unlink()
    ran = scene.run_report(cwd=directory)
    same(ran.code, 0, "exit code")
    says(ran, "2 of 3")
