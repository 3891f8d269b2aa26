"""mpi_profile.<job>.<rank>.txt, which the library writes for people, and `mpiprof-report text`, which writes it for
any rank: two programs, one layout."""

import math

from harness import case, check, same


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
