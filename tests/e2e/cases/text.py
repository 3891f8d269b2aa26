"""mpi_profile.<job>.<rank>.txt, which the library writes for people, and `mpiprof-report text`, which writes it for
any rank: two programs, one layout."""

import math
import re
import shutil

from harness import Skip, case, check, same


def agree(ours, theirs):
    """Equal texts, but for a time that lies between two milliseconds and was rounded the other way."""
    for line, other in zip(ours.splitlines(), theirs.splitlines()):
        if line == other:
            continue
        words, other_words = line.split(), other.split()
        check(len(words) == len(other_words), f"library: {line!r}\nreporter: {other!r}")
        for word, other_word in zip(words, other_words):
            is_time = "." in word and word.replace(".", "").isdigit() and other_word.replace(".", "").isdigit()
            close = is_time and math.isclose(float(word), float(other_word), abs_tol=0.0011)
            check(word == other_word or close, f"library: {line!r}\nreporter: {other!r}")
    same(len(theirs.splitlines()), len(ours.splitlines()), "lines")


@case(ranks=3)
def text_of_the_library_is_the_text_of_the_reporter(scene):
    scene.mpirun(3, [scene.compile("known.c"), scene.dir / "expected", 2],
                 env={"PBS_JOBID": "4711", "MPIPROF_TEXT": "all"}).succeeded()
    for rank in range(3):
        ours = (scene.dir / f"mpi_profile.4711.{rank}.txt").read_text()
        check(f"Data for MPI rank {rank} of 3:" in ours and "MPI_Allreduce  " in ours, f"the text of rank {rank}:\n{ours[:600]}")
        theirs = scene.run_report("text", "--rank", str(rank), "--all-ranks-table", "never").succeeded().out
        agree(ours, theirs)


@case(ranks=3)
def text_of_any_rank_is_written_beside_its_profile_and_read_again(scene):
    scene.mpirun(3, [scene.compile("known.c"), scene.dir / "expected", 1],
                 env={"PBS_JOBID": "4711", "MPIPROF_TEXT": "none"}).succeeded()
    same(sorted(scene.dir.glob("*.txt")), [], "texts by the library")
    for layout in ("mpitrace", "mpitrace-2025"):
        texts = scene.dir / layout
        scene.run_report("text", "--rank", "all", "--layout", layout, "-o", texts).succeeded()
        same(sorted(p.name for p in texts.iterdir()), [f"mpi_profile.4711.{r}.txt" for r in range(3)], "texts")
        # Times of ranks that agree to the millisecond may change places, so only each rank's own part is compared.
        own_part = ("--all-ranks-table", "never", "--layout", layout)
        for rank in "012":
            ours = scene.run_report("text", "--rank", rank, *own_part).succeeded().out
            again = scene.run_report("text", "--rank", rank, *own_part, texts).succeeded().out
            agree(ours, again)


def decimal_comma(scene):
    """The environment in which libc finds a locale with a decimal comma, made here; and its name."""
    tool = shutil.which("localedef")
    place = scene.subdir("locales")
    made = tool and scene.alone([tool, "-i", "de_DE", "-f", "UTF-8", place / "de_DE.UTF-8"], profiled=False, timeout=60).code in (0, 1)
    if not made or not (place / "de_DE.UTF-8" / "LC_NUMERIC").exists():
        raise Skip("no locale can be made here (localedef and its sources)")
    return {"LOCPATH": place}, "de_DE.UTF-8"


@case(ranks=2)
def text_has_points_in_its_numbers_whatever_locale_the_program_sets(scene):
    environment, name = decimal_comma(scene)
    program = scene.compile("locales.c")
    for how in ("before", "later", "thread"):
        ran = scene.mpirun(2, [program, how, name], env={"PBS_JOBID": f"12{how}", **environment}).succeeded()
        same(ran.out, "1,5\n", f"the program's own number, its locale set {how}")
        text = (scene.dir / f"mpi_profile.12{how}.0.txt").read_text()
        same(re.findall(r".*[0-9],[0-9].*", text), [], f"lines with a decimal comma, the locale set {how}")
        check(re.search(r"MPI_Bcast +3 +1000\.0 +\d+\.\d{3}\n", text), f"the text, the locale set {how}:\n{text}")
