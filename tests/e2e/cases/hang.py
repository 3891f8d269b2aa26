"""Jobs that hang, looked at while they do and afterwards; and jobs that are watched."""

import csv
import io
import json
import os
import re
import signal
import threading
import time

from harness import PROGRAMS, case, check, end_who_is_left, execute, same


def in_background(scene, ranks, program, directory, timeout=250):
    thread = threading.Thread(target=scene.mpirun, args=(ranks, program), kwargs={"cwd": directory, "timeout": timeout})
    thread.start()
    return thread


def until(what, seconds=120):
    """Ranks that share cores take long to start."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.3)
    return None


def line_that_hangs(program="waits.c", how=""):
    lines = (PROGRAMS / program).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if f"the line that hangs{how}" in line)


def tables(scene, directory):
    """What `hang` says for programs: the lines of its tables."""
    text = scene.run_report("hang", "--format", "csv", cwd=directory).succeeded().out
    return [list(csv.DictReader(io.StringIO(part.split("\n", 1)[1]))) for part in text.split("# ") if part.strip()] \
        if text.startswith("# ") else [list(csv.DictReader(io.StringIO(text)))]


@case(ranks=3, slow=("mpich",))
def hang_names_the_rank_that_does_not_arrive(scene):
    directory = scene.subdir("job")
    job = in_background(scene, 3, [scene.compile("waits.c"), 6], directory)
    try:
        said = until(lambda: (text := scene.run_report("hang", cwd=directory).out) and "for rank 2" in text and text)
        check(said, "the report does not name rank 2:\n" + scene.run_report("hang", cwd=directory).out)
        said = " ".join(said.split())
        check("2 of 3 ranks wait in MPI_Barrier (waits.c:" in said and "hangs" not in said and "Deadlock" not in said, said)
        standings, arrivals = tables(scene, directory)[:2]
    finally:
        job.join()
    inside = [line for line in standings if line["inside"] == "true"]
    same([(line["ranks"], line["call"], line["state"], line["most_entered"]) for line in inside],
         [("0,1", "MPI_Barrier", "running", "6")], "who is inside")
    same((inside[0]["function"], os.path.basename(inside[0]["file"]), int(inside[0]["line"])),
         ("wait_for_all", "waits.c", line_that_hangs()), "where from")
    outside = [line for line in standings if line["inside"] == "false"]
    same([(line["ranks"], line["call"]) for line in outside], [("2", "MPI_Allreduce")], "who is in the program")
    same([(line["inside"], line["missing"], line["least_entered"]) for line in arrivals], [("0,1", "2", "5")], "arrivals")
    check("No hang: all ranks reached MPI_Finalize" in scene.run_report("hang", cwd=directory).out, "afterwards")


@case(ranks=3)
def hang_tells_afterwards_who_was_waited_for(scene):
    directory = scene.subdir("job")
    ran = scene.mpirun(3, [scene.compile("waits.c"), 3, "kill"], cwd=directory)
    check(ran.code != 0, "the job was to be killed")
    text = " ".join(scene.run_report("hang", cwd=directory).succeeded().out.split())
    check("2 of 3 ranks waited in MPI_Barrier" in text and "for rank 2: it was in the program" in text, text)
    check("waits.c:" in text, text)


@case(ranks=2, slow=("openmpi",))
def hang_names_the_line_of_a_python_program(scene):
    """While rank 1 waits, and after it was killed there. mpi4py under the MPI that it is made for, ctypes under the other."""
    directory = scene.subdir("job")
    python, how = scene.python_program()
    job = in_background(scene, 2, [*python, PROGRAMS / "waits.py", how, 8], directory)
    expected = ("receive", "waits.py", str(line_that_hangs("waits.py", f" in {how}")))
    inside = lambda: [line for line in tables(scene, directory)[0] if line["inside"] == "true" and line["ranks"] == "1" and line["call"] == "MPI_Recv"] \
        if scene.profiles(directory) else []
    place = lambda line: (line["function"], os.path.basename(line["file"]), line["line"])
    try:
        found = until(inside)
        check(found, "rank 1 is not seen in MPI_Recv")
        same(place(found[0]), expected, "where rank 1 waits")
    finally:
        job.join()
    killed = inside()
    same([(place(line), line["state"]) for line in killed], [(expected, "killed")], "afterwards")
    said = scene.run_report("hang", cwd=directory).succeeded().out
    check(f"waits.py:{expected[2]} receive" in said, said)


@case(ranks=2)
def watch_shows_a_job_until_its_end(scene):
    directory = scene.subdir("job")
    job = in_background(scene, 2, [scene.compile("waits.c"), 4], directory)
    try:
        ran = scene.run_report("watch", "--interval", "0.5", "--wait", "120", cwd=directory)
    finally:
        job.join()
    same(ran.code, 0, f"exit code\n{ran.out}{ran.err}")
    lines = ran.out.splitlines()
    check(any("2 running" in line and "rank 0 in MPI_Barrier" in line for line in lines), ran.out)
    check(lines[-1].startswith("job ") and "has ended: 2 finalized" in lines[-1], ran.out)


@case(ranks=2)
def watch_at_a_terminal_answers_keys_and_leaves_it_as_it_was(scene):
    directory, name = scene.subdir("job"), f"mpiprof-{os.getpid()}"
    tmux = [scene.tool("tmux"), "-L", name, "-f", "/dev/null"]
    call = lambda *words: execute([*tmux, *words], cwd=directory, env=scene.environment({"LC_ALL": "C.UTF-8", "TERM": "xterm"}))
    screen = lambda: call("capture-pane", "-p").out
    shows = lambda *words: until(lambda: all(word in screen() for word in words), 30)
    press = lambda *keys: call("send-keys", *keys)
    job = in_background(scene, 2, [scene.compile("waits.c"), 18], directory)
    try:
        call("new-session", "-d", "-x", "110", "-y", "20", "sh").succeeded()
        press("echo before", "Enter", f"{scene.report} watch --interval 0.5 --wait 120; echo code $?", "Enter")
        check(shows("2 running", "rank 0 in MPI_Barrier", "o overview", "q quit"), screen())
        check("before" not in screen(), "the screen is not its own: " + screen())
        press("c")
        check(shows("CALL", "MPI_Barrier", "MPI_Allreduce", "< > sort"), screen())
        press("/", "allr", "Enter")
        check(shows("[allr]", "MPI_Allreduce") and "MPI_Barrier" not in screen(), screen())
        press("Escape", "r", ">", ">")
        check(shows("RANK", "OUTSIDE MPI", "[by "), screen())
        press("g", "1", "Enter")
        check(shows("MPI_Barrier", "rank 1"), screen())
        press("g", "7", "Enter")
        check(shows("there is no rank 7"), screen())
        press("h")
        check(shows("waits.c:", "MPI_Barrier"), screen())
        call("resize-window", "-x", "60", "-y", "10")
        check(until(lambda: "overview" in screen().splitlines()[-1], 30), "after a resize: " + screen())
        call("resize-window", "-x", "110", "-y", "20")
        press("q")
        check(shows("before", "code 0"), "it does not leave the terminal as it was: " + screen())
        press(f"{scene.report} watch --interval 0.5", "Enter")
        check(shows("2 running"), screen())
        job.join()
        check(shows("has ended: 2 finalized", "before"), screen())
    finally:
        call("kill-server")
        job.join()


@case(ranks=2)
def check_calls_profiles_of_real_jobs_whole_and_says_which_ranks_were_killed(scene):
    for how in ((), ("kill",)):
        directory = scene.subdir("killed" if how else "whole")
        scene.mpirun(2, [scene.compile("waits.c"), 1, *how], cwd=directory)
        ran = scene.run_report("check", cwd=directory)
        same(ran.code, 1 if how else 0, f"exit code\n{ran.out}{ran.err}")
        check("all 2 profiles are intact" in ran.out, ran.out)
        check(("did not reach MPI_Finalize" in ran.out) == bool(how), ran.out)
        check(("2 finalized" in ran.out) != bool(how), ran.out)


def line_of(words, program="mismatch.c"):
    lines = (PROGRAMS / program).read_text().splitlines()
    mark = "# " if program.endswith(".py") else "// "
    return f"{program}:" + str(next(number for number, line in enumerate(lines, 1) if mark + words in line))


def first_sentence(scene, kind, ranks=3, program="mismatch.c"):
    return first_sentence_of(scene, [scene.compile(program, "-pthread"), kind, 10], ranks, kind)


def every_screen_says_so(scene, directory, sentence):
    """What `hang` proves is the first thing that is said of the job, wherever one looks."""
    def timeless(text):
        return re.sub(r"for [0-9.]+ m?s", "for some time", " ".join(text.split()))
    wanted = timeless(sentence)
    summary = scene.run_report("summary", "--width", "80", cwd=directory).out
    check(timeless(summary).startswith(wanted), f"not what the summary begins with: {wanted}\n{summary}")
    brief = scene.run_report("--brief", cwd=directory).out
    check(brief.startswith("mpiprof: Deadlock: "), brief)
    line = json.loads(scene.run_report("export", "--format", "line", cwd=directory).out)
    same((line["verdict"]["rule"], line["verdict"]["is_serious"]), ("hang", True), "the line export's verdict")


def first_sentence_of(scene, command, ranks, name):
    """What `hang` says first at 80 columns of such a program while it hangs, on one line."""
    directory = scene.subdir(name)
    # The ranks would end themselves after 10 s. Open MPI's mpirun may not: PMIx 4.2.2 locks itself out when it is finalized meanwhile.
    job = in_background(scene, ranks, command, directory, timeout=40)
    try:
        said = until(lambda: (text := scene.run_report("hang", "--width", "80", cwd=directory).out) and "Deadlock: " in text and text)
        check(said, "nothing is proven:\n" + scene.run_report("hang", cwd=directory).out)
        every_screen_says_so(scene, directory, said.split("\n  RANKS")[0])
    finally:
        end_who_is_left(directory, signal.SIGTERM)
        job.join()
    check(max(map(len, said.splitlines())) <= 80, said)
    return " ".join(said.split("\n  RANKS")[0].split())


@case(ranks=3)
def different_collectives_are_named_with_both_lines(scene):
    said = first_sentence(scene, "collectives")
    check(said.startswith("Deadlock: different collectives on MPI_COMM_WORLD: "), said)
    check(f"ranks 1 and 2 are in MPI_Allreduce ({line_of('the line of the others')})" in said, said)
    check(f"rank 0 is in MPI_Barrier ({line_of('the line of rank 0')})" in said, said)


@case(ranks=3)
def a_barrier_without_a_rank_that_is_finalized_is_named(scene):
    said = first_sentence(scene, "finalize")
    check(said.startswith("Deadlock: a collective that not all ranks entered on MPI_COMM_WORLD: "), said)
    check(f"ranks 1 and 2 are in MPI_Barrier ({line_of('the line that hangs')})" in said, said)
    check("rank 0 has called MPI_Finalize" in said, said)


@case(ranks=2)
def a_receive_that_nobody_can_answer_any_more_is_named(scene):
    said = first_sentence(scene, "receive", ranks=2)
    check(said.startswith("Deadlock: unmatched receive: rank 0 is in MPI_Recv "
                          f"({line_of('the line that waits')}) from rank 1 with tag 7 on MPI_COMM_WORLD"), said)
    check("rank 1 has called MPI_Finalize" in said, said)


@case(ranks=2)
def tags_that_do_not_fit_are_named_with_the_line_that_posted(scene):
    said = first_sentence(scene, "tags", ranks=2)
    check(said.startswith("Deadlock: different tags: "), said)
    check(f"rank 0 is in MPI_Ssend ({line_of('the line that sends')}) to rank 1 with tag 3 on MPI_COMM_WORLD" in said, said)
    check(f"rank 1 is in MPI_Wait ({line_of('the line of the wait')}) for its MPI_Irecv ({line_of('the line that posts')}) "
          "from rank 0 with tag 4 on MPI_COMM_WORLD" in said, said)


@case(mpis=("openmpi",), ranks=2)
def requests_of_a_python_program_are_named_with_the_lines_of_the_script(scene):
    said = first_sentence_of(scene, [scene.python_with("mpi4py"), PROGRAMS / "posts.py", 10], 2, "posts")
    check(said.startswith("Deadlock: "), said)
    waits, posts = line_of("the line of the wait", "posts.py"), line_of("the line that posts", "posts.py")
    check(f"rank 0 is in MPI_Wait ({waits}) for its MPI_Irecv ({posts}) from rank 1 with tag 4 on MPI_COMM_WORLD" in said, said)


@case(ranks=2)
def different_roots_are_named(scene):
    said = first_sentence(scene, "roots", ranks=2)
    line = line_of("the line of different roots")
    check(said.startswith("Deadlock: different roots on MPI_COMM_WORLD: "), said)
    check(f"rank 0 is in MPI_Bcast ({line}) with root 1" in said and f"rank 1 is in MPI_Bcast ({line}) with root 0" in said, said)


@case(ranks=2)
def communicators_used_crosswise_are_named(scene):
    said = first_sentence(scene, "communicators", ranks=2)
    check(said.startswith("Deadlock: different communicators: "), said)
    check("rank 0 is in MPI_Barrier" in said and "rank 1 is in MPI_Barrier" in said, said)
    check(line_of("the line of two communicators") in said, said)


def first_of_posted(scene, kind):
    return first_sentence(scene, kind, ranks=2, program="mismatch_posted.c")


def line_of_posted(words):
    return line_of(words, "mismatch_posted.c")


@case(ranks=2)
def collectives_that_were_posted_in_different_order_are_named_with_both_lines(scene):
    said = first_of_posted(scene, "order")
    check(said.startswith("Deadlock: different collectives on MPI_COMM_WORLD: "), said)
    check(f"rank 0 is in MPI_Wait ({line_of_posted('the line of the wait')}) for its MPI_Ibarrier "
          f"({line_of_posted('the line of the barrier')}) on MPI_COMM_WORLD" in said, said)
    check(f"rank 1 is in MPI_Wait ({line_of_posted('where the others wait')}) for its MPI_Iscatter "
          f"({line_of_posted('the line of the others')}) on MPI_COMM_WORLD" in said or
          f"rank 1 has already passed MPI_Iscatter ({line_of_posted('the line of the others')}) there" in said, said)


@case(ranks=2)
def a_posted_collective_to_which_not_everybody_comes_is_named(scene):
    said = first_of_posted(scene, "absent")
    check(said.startswith("Deadlock: a collective that not all ranks entered on MPI_COMM_WORLD: rank 1 is in MPI_Wait "
                          f"({line_of_posted('the line that waits')}) for its MPI_Iallreduce ({line_of_posted('the line that posts')})"), said)
    check("rank 0 has called MPI_Finalize" in said, said)


@case(ranks=2)
def communicators_that_were_posted_crosswise_are_named(scene):
    said = first_of_posted(scene, "communicators")
    check(said.startswith("Deadlock: different communicators: "), said)
    check(said.count(f"for its MPI_Ibarrier ({line_of_posted('the line of two communicators')})") == 2, said)


@case(ranks=2)
def probes_that_wait_for_each_other_are_named_with_their_ranks(scene):
    said = first_of_posted(scene, "probe")
    line = line_of_posted("the line that probes")
    check(said.startswith("Deadlock: circular wait: "), said)
    for rank in (0, 1):
        check(f"rank {rank} is in MPI_Probe ({line}) from rank {1 - rank} with tag 7 on MPI_COMM_WORLD" in said, said)


@case(ranks=2)
def a_persistent_send_with_another_tag_is_named_where_it_was_set_up(scene):
    said = first_of_posted(scene, "persistent")
    check(said.startswith("Deadlock: unmatched receive: rank 1 is in MPI_Recv "
                          f"({line_of_posted('the line that receives')}) from rank 0 with tag 8"), said)
    check(f"it has sent from MPI_Send_init ({line_of_posted('the line that sets up')})" in said, said)


@case(ranks=2)
def a_receive_from_itself_is_named_with_what_may_have_been_meant(scene):
    said = first_of_posted(scene, "itself")
    check(said.startswith("Deadlock: unmatched receive: rank 1 is in MPI_Recv "
                          f"({line_of_posted('the line that receives from itself')}) from rank 0 with tag 0 on backwards"), said)
    check(f"rank 0 has sent from MPI_Send ({line_of_posted('the line that was meant')}) on MPI_COMM_WORLD" in said, said)


@case(ranks=2)
def an_order_that_is_broken_is_the_verdict_with_both_lines(scene):
    scene.mpirun(2, [scene.compile("mismatch_posted.c", "-pthread"), "swapped", 60]).succeeded()
    said = " ".join(scene.run_report("summary", "--width", "80").succeeded().out.split())
    check(said.startswith("Mismatched collectives: ranks 0 and 1 called different ones on MPI_COMM_WORLD: call 1 of 2 was MPI_Ibcast "
                          f"({line_of_posted('the line of the broadcast')}) with root 0 on rank 0 and MPI_Ireduce "
                          f"({line_of_posted('the line of the reduction')}) with root 1 on rank 1, and the next two are "
                          "swapped."), said)


@case(ranks=2)
def collectives_in_another_order_are_named_though_the_job_ends(scene):
    scene.mpirun(2, [scene.compile("mismatch.c", "-pthread"), "swapped", 60]).succeeded()
    said = " ".join(scene.run_report("summary", "--width", "80").succeeded().out.split())
    check("Mismatched collectives: ranks 0 and 1 called different ones on MPI_COMM_WORLD: call 4 of 5 was MPI_Bcast "
          f"({line_of('the line of the broadcast')}) with root 0 on rank 0 and MPI_Reduce ({line_of('the line of the reduction')}) with "
          "root 1 on rank 1, and the next two are swapped." in said, said)
    check("[order]" in said, said)


@case(ranks=2)
def collectives_in_one_order_are_no_remark(scene):
    scene.mpirun(2, [scene.compile("mismatch.c", "-pthread"), "none", 60]).succeeded()
    said = scene.run_report("summary").succeeded().out
    check("MPI_Barrier" in said and "[order]" not in said, said)
