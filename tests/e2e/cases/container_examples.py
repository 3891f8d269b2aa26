"""The examples for containers: Podman itself, with an image made here of nothing but the program (MPI is the machine's, mounted),
and Apptainer, which Debian has not, by a stand-in that takes the options of its page and isolates as it does."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from cases.schedulers import edited, install, names, path_with
from harness import Skip, case, check, execute, same
from slurm.cluster import Cluster

PROGRAM = "/opt/data_parallel"
OF_THE_MACHINE = ["/usr", "/etc/alternatives", "/etc/openmpi", "/etc/mpich"]


def root_of_image(scene):
    """A folder with the program; its libraries are the machine's, where they are mounted."""
    root = scene.subdir("root")
    for name in ("usr", "etc", "tmp", "proc", "sys", "dev", "run", "opt"):
        (root / name).mkdir()
    for name in ("bin", "sbin", "lib", "lib64"):
        if os.path.islink(f"/{name}"): os.symlink(f"usr/{name}", root / name)
    (root / "etc/passwd").write_text("root:x:0:0::/tmp:/bin/sh\n")
    for path in OF_THE_MACHINE: (root / path[1:]).mkdir(exist_ok=True)
    sources = scene.dir / "examples" / "data_parallel"
    scene.alone(["make", "-C", sources, f"MPICC={scene.mpicc()}"], profiled=False).succeeded()
    shutil.copy(sources / "data_parallel", root / PROGRAM[1:])
    return root


def with_lines(path, **lines):
    text = path.read_text()
    for name, value in lines.items():
        text, found = re.subn(rf"^{name}=.*$", f"{name}={value}", text, flags=re.MULTILINE)
        same(found, 1, f"lines {name}= in {path.name}")
    path.write_text(text)
    return path


def tool(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def check_job(scene, directory, out, ranks):
    check(f"data_parallel: {ranks} ranks, 100 steps, loss 35.000 -> " in out, f"the job's output:\n{out}")
    same(len(re.findall(r"^mpiprof: ", out, re.MULTILINE)), 1, f"verdicts at the end of\n{out}")
    same(len(names(scene, directory)), ranks, f"profiles: {names(scene, directory)}\n{out}")
    found = scene.run_report("check", cwd=directory)
    check(re.search(rf"\b{ranks} +{ranks} +{ranks} finalized", found.out), f"one launch, all of whose ranks ended\n{found.out}{found.err}")


# What this machine refuses: limits above its own, and control groups of two versions side by side. Podman has no option for
# them; with --cgroups=disabled a container has a PID namespace of its own, whatever --pid says.
RUNTIME = """#!/usr/bin/python3
import json, os, sys
words = sys.argv[1:]
if "create" in words:
    path = words[words.index("--bundle") + 1] + "/config.json"
    with open(path) as file: config = json.load(file)
    config["process"].pop("rlimits", None)
    with open(path, "w") as file: json.dump(config, file)
os.execv("{crun}", ["crun", *words])
"""
CONFIGURATION = """[containers]
cgroups = "disabled"
volumes = [{volumes}]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "crun"
[engine.runtimes]
crun = ["{dir}/crun"]
"""
PODMAN = """#!/bin/sh
for word do
    shift
    [ "$word" = --pid=host ] || set -- "$@" "$word"
done
export CONTAINERS_CONF={dir}/containers.conf
exec unshare -m sh -c 'umount /sys/fs/cgroup/unified 2>&-; exec {podman} --root {dir}/root --runroot {short}/run --tmpdir {short}/tmp --storage-driver vfs "$@"' sh "$@"
"""


@case(ranks=2, tier="full")
def podman_example_runs_as_it_stands(scene):
    if os.getuid() != 0: raise Skip("this way to run Podman needs root")
    real, crun = scene.tool("podman"), scene.tool("crun")
    script = edited(scene, "podman/job.sh", install(scene))
    folder = scene.subdir("podman")
    tool(folder / "crun", RUNTIME.format(crun=crun))
    volumes = ", ".join(f'"{path}:{path}:ro"' for path in OF_THE_MACHINE if os.path.isdir(path))
    (folder / "containers.conf").write_text(CONFIGURATION.format(dir=folder, volumes=volumes))
    short = pathlib.Path(tempfile.mkdtemp(prefix="mpiprof-", dir="/run"))  # Podman takes 50 characters at most
    podman = tool(folder / "podman", PODMAN.format(dir=folder, short=short, podman=real))
    archive = scene.dir / "image.tar"
    scene.alone(["tar", "-C", root_of_image(scene), "-cf", archive, "."], profiled=False).succeeded()
    try:
        imported = execute([podman, "import", "-q", archive, "localhost/data_parallel"], env=scene.environment())
        tried = execute([podman, "run", "--rm", "--network=host", "localhost/data_parallel", "true"], env=scene.environment())
        if imported.code or tried.code:
            raise Skip(f"Podman runs no container here: {imported.err}{tried.err}")
        with_lines(script, program=PROGRAM)
        text = script.read_text().replace("podman run", f"{podman} run")  # mpirun puts its own folder in front of PATH
        script.write_text(text.replace("mpirun -n", "mpirun -pmi-port -n") if scene.launched_by() == "mpich" else text)
        env = {"PATH": path_with(scene), "OMPI_MCA_btl": "tcp,self"}
        ran = execute([script, 2], cwd=scene.dir, env=scene.environment(env)).succeeded()
    finally:
        execute([podman, "rm", "--all", "--force"], env=scene.environment())
        shutil.rmtree(short, ignore_errors=True)
    check_job(scene, script.parent, ran.out, 2)


# `apptainer exec` of version 1.2, as its page has it: the options that the example needs and no others. The image's root is
# read-only but for what is mounted; the environment is the host's, without what the loader drops for a setuid starter.
APPTAINER = """#!/bin/sh
[ "$1" = exec ] || { echo "unknown command: $1" >&2; exit 1; }
shift
unset LD_PRELOAD LD_LIBRARY_PATH
binds= pwd=$PWD variables=
while :; do
    case $1 in
        --bind=*) binds="$binds ${1#--bind=}";;
        --env=*=*) variables="$variables ${1#--env=}";;
        --pwd=*) pwd=${1#--pwd=};;
        -*) echo "Error for command \\"exec\\": unknown flag: $1" >&2; exit 1;;
        *) break;;
    esac
    shift
done
image=$1
shift
[ -f "$image" ] || { echo "FATAL: could not open image $image" >&2; exit 255; }
export image binds pwd variables
exec unshare -m sh -c '
root=$(mktemp -d) && mount -t tmpfs none "$root" && cp -a "$(cat "$image")/." "$root" || exit 255
for bind in @MACHINE@ /proc /sys /dev /tmp $binds; do
    from=${bind%%:*} to=${bind#*:} to=${to%%:*}
    [ -e "$from" ] || { echo "FATAL: mount source $from does not exist" >&2; exit 255; }
    mkdir -p "$root$to"
    mount --rbind "$from" "$root$to" || exit 255
    case $bind in *:ro) mount -o remount,bind,ro "$root$to" || exit 255;; esac
done
exec chroot "$root" env -C "$pwd" $variables "$@"' sh "$@"
"""


@case(ranks=4, tier="full")
def apptainer_example_runs_with_a_strict_stand_in(scene):
    script = with_lines(edited(scene, "apptainer/job.sbatch", install(scene)), program=PROGRAM)
    machine = " ".join(path for path in OF_THE_MACHINE if os.path.isdir(path))
    folder = scene.subdir("apptainer")
    tool(folder / "apptainer", APPTAINER.replace("@MACHINE@", machine))
    (script.parent / "data_parallel.sif").write_text(f"{root_of_image(scene)}\n")
    refused = subprocess.run([folder / "apptainer", "exec", "--no-such", "x"], capture_output=True, text=True, check=False)
    same((refused.returncode, "unknown flag" in refused.stderr), (1, True), "an option that Apptainer has not")
    env = {"PATH": f"{folder}:{path_with(scene)}"}
    with Cluster(pbs=False) as cluster:
        job = cluster.submit("sbatch", script.name, cwd=script.parent, env=env)
    check_job(scene, script.parent, (script.parent / f"slurm-{job}.out").read_text(), 4)
    same(names(scene, script.parent), [f"mpi_profile.{job}.{rank}" for rank in range(4)], "profiles")
