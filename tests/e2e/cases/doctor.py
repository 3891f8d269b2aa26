"""doctor: whether a program can be profiled, and why not."""

import shutil
import subprocess

from harness import Skip, case, check, same


def doctor(scene, program, **more):
    ran = scene.run_report("doctor", program, "--width", "200", **more)
    return ran.code, ran.out + ran.err


def built(scene, name, text, *flags, compiler="gcc"):
    source = scene.dir / (name + ".c")
    source.write_text(text)
    return scene.compile(source, *flags, name=name, compiler=compiler, label="")


@case(ranks=1)
def doctor_names_the_mpi_of_a_program(scene):
    code, text = doctor(scene, scene.compile("known.c"))
    library = "Open MPI (" if scene.mpi == "openmpi" else "MPICH"
    check(code == 0 and "can be profiled" in text and f". MPI: {library}" in text, text)


@case(mpis=(), ranks=1)
def doctor_says_what_keeps_a_preload_away(scene):
    main = "int main(void) { return 0; }\n"
    bare = built(scene, "libbare.so", "void mpi_init(void) {}\n", "-shared", "-fPIC")
    cases = {"static": ([main, "-static"], 1, "x it is linked statically as a whole"),
             "own_mpi": (["int MPI_Init(void) { return 0; } int PMPI_Init(void) { return 0; }" + main], 1, "x it contains MPI statically"),
             "own_tool": (["int MPI_Init(void) { return 0; }" + main], 0, "! it has an MPI_Init of its own"),
             "own_nccl": (["int ncclAllReduce(void) { return 0; }" + main], 0, ". NCCL, linked statically"),
             "plain": ([main], 0, "! it needs neither MPI nor NCCL"),
             "bare": (["void mpi_init(void); int main(int c, char** v) { if (c > 9) mpi_init(); return !v; }", bare, f"-Wl,-rpath,{scene.bin}"], 1,
                      "x its Fortran asks for mpi_init (no underscore)")}
    for name, ((text, *flags), code, says) in cases.items():
        found = doctor(scene, built(scene, "doctor_" + name, text, *flags))
        same((found[0], says in found[1]), (code, True), f"{name}: {found[1]}")
    setuid = scene.dir / "setuid"
    shutil.copy(scene.bin / "doctor_plain", setuid)
    setuid.chmod(0o4755)
    code, text = doctor(scene, setuid)
    check(code == 1 and "x it is setuid or setgid" in text, text)
    script = scene.dir / "job.sh"
    script.write_text("#!/bin/bash\nmpirun ./app\n")
    code, text = doctor(scene, script)
    check(code == 0 and "! it is a script for /bin/bash" in text, text)
    for bad, code, says in ((scene.dir / "none", 2, "cannot be read"), (script.with_suffix(".c"), 2, "cannot be read"), (scene.dir / "text", 1, "x it is no program")):
        (scene.dir / "text").write_text("hello\n")
        found = doctor(scene, bad)
        same((found[0], says in found[1]), (code, True), f"{bad}: {found[1]}")
    code, text = doctor(scene, "sh")
    check(code == 0 and text.startswith("/"), f"found in PATH: {text}")


@case(mpis=(), ranks=1)
def doctor_survives_damaged_programs(scene):
    whole = built(scene, "doctor_damaged", "int main(void) { return 0; }\n").read_bytes()
    damaged = scene.dir / "damaged"
    for step in range(64):
        bytes_ = bytearray(whole[:len(whole) * (64 - step // 2) // 64])
        for place in range(step, min(len(bytes_), 1024), 37): bytes_[place] ^= 0xff >> (step % 8)
        damaged.write_bytes(bytes_)
        code, text = doctor(scene, damaged)
        check(code in (0, 1, 2) and "damaged" in text, f"step {step}: {code}, {text}")


@case(mpis=(), ranks=1)
def doctor_names_a_sanitizer(scene):
    try:
        program = built(scene, "doctor_asan", "int main(void) { return 0; }\n", "-fsanitize=address")
    except subprocess.CalledProcessError as error:
        raise Skip("no address sanitizer here") from error
    code, text = doctor(scene, program)
    check(code == 0 and "! the address sanitizer has to come first" in text, text)
