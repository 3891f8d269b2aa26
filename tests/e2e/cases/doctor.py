"""doctor: whether a program can be profiled, and why not."""

import os
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


@case(mpis=("openmpi",), ranks=2)
def doctor_of_a_command_finds_its_program_and_what_stands_before_it(scene):
    """Not the launcher, not its options' values, and the script that loses the preload with its line."""
    app, script = scene.compile("known.c"), scene.dir / "wrap.sh"
    script.write_text('#!/bin/sh\nexport LD_PRELOAD=$LD_PRELOAD:libm.so.6\nexec env -i "$@"\n')
    script.chmod(0o755)
    (scene.dir / "2").write_text("no program")

    def of(*command):
        ran = scene.run_report("doctor", "--width", "300", "--", *command)
        return ran.code, ran.out + ran.err
    code, text = of(*scene.launcher(2), app, "-n", "x")
    check(code == 0 and text.splitlines()[0] == f"{app}: can be profiled by LD_PRELOAD={scene.library}" and ". MPI: Open MPI" in text, text)
    code, text = of("mpirun", "-n", "2", script, app)
    check(code == 1 and 'x line 3: exec env -i "$@": what it starts behind that line is not profiled' in text and f"{app}: can be" in text, text)
    outer = scene.dir / "outer.sh"
    outer.write_text("#!/bin/sh\nmpirun -n 2 ./wrap.sh ./app\n")
    outer.chmod(0o755)
    code, text = of(outer)
    check(code == 1 and "x it runs wrap.sh, line 3: exec env -i" in text, text)
    code, text = of("no-such-launcher", "-n", "2")
    check(code == 2 and "no-such-launcher: is no program that can be found" in text, text)
    launcher = scene.report.parent.parent / "launcher" / "mpiprof"
    ran = subprocess.run([launcher, "doctor", "--", *scene.launcher(2), app], cwd=scene.dir, stdout=subprocess.PIPE, text=True)
    check(ran.returncode == 0 and ran.stdout.startswith(f"{app}: can be profiled"), ran.stdout)


@case(mpis=(), ranks=1)
def doctor_behind_a_run_says_why_there_is_no_profile(scene):
    """The directory refuses or is full, a job's output has the loader's line, the preload's file is not there, profiles lie elsewhere."""
    def here(env=None, cwd=None):
        ran = scene.run_report("doctor", "--width", "400", env=env, cwd=cwd)
        return ran.code, ran.out + ran.err
    code, text = here()
    # Other tests leave some in /tmp, where ranks write whose directory refuses.
    same((code, "no profile is here, and no output of a job says why" in text), (int("/tmp has profiles" not in text), True), text)
    same(list(scene.dir.glob(".mpiprof*")), [], "what it tried is gone")
    (scene.dir / "slurm-12.out").write_text("hello\nERROR: ld.so: object '/x/libmpiprof.so' from LD_PRELOAD cannot be preloaded "
                                            "(cannot open shared object file): ignored.\n")
    (scene.dir / "job.e12").write_text("mpiprof: cannot write /x/mpi_profile.1.0: Disk quota exceeded\n")
    (scene.dir / "data.o1x").write_text("mpiprof: of no job\n")
    code, text = here()
    check(code == 1 and "x slurm-12.out:2: the path is wrong on that node, or not mounted there: ERROR: ld.so" in text, text)
    check("! job.e12:1: mpiprof: cannot write /x/mpi_profile.1.0: Disk quota exceeded" in text and "of no job" not in text, text)
    code, text = here({"LD_PRELOAD": f"libm.so.6:{scene.dir}/none/libmpiprof.so"})
    check(code == 1 and f"x LD_PRELOAD names {scene.dir}/none/libmpiprof.so: No such file" in text, text)
    job = scene.subdir("sub/mpiprof.12")
    (job / "mpi_profile.12.0").write_text("")
    code, text = here(cwd=job.parent)
    check("mpiprof.12 has profiles: mpiprof-report mpiprof.12" in text, text)
    code, text = here(cwd=job)
    check(". here are profiles: mpiprof-report" in text, text)
    code, text = here({"MPIPROF_DIR": "/proc"})
    check("! /proc cannot be written to (No such file or directory): profiles go to where the job was submitted" in text, text)


@case(mpis=(), ranks=1)
def doctor_finds_a_full_disk_and_a_clock_that_is_off(scene):
    if os.geteuid() != 0: raise Skip("root mounts a small file system")
    small = scene.subdir("small")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small]).returncode: raise Skip("tmpfs cannot be mounted here")
    try:
        ran = scene.run_report("doctor", "--width", "300", env={"MPIPROF_DIR": small, "MPIPROF_FALLBACK": "none"})
        check(f"! {small} cannot be written to (No space left on device): no profile is written, as MPIPROF_FALLBACK is none" in ran.out, ran.out)
        same(list(small.iterdir()), [], "what it tried is gone")
    finally:
        subprocess.run(["umount", small], check=True)
    fake = scene.compile("clock_ahead.c", "-shared", "-fPIC", compiler="gcc", label="", name="clock_ahead.so")
    ran = scene.run_report("doctor", "--width", "300", env={"LD_PRELOAD": fake})
    check("the clock of the file system of . is 95 s behind this node's" in ran.out, ran.out)
