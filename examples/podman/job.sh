#!/bin/bash
# Ranks in containers of Podman, started by the mpirun of the machine (the hybrid model): ./job.sh [RANKS, default 4]
# The image needs the program and an MPI of the same family and major version as mpirun's; mpiprof stays outside and is
# mounted. Tried with Podman 4.3 as root, Open MPI 4.1 on one machine, and private PID namespaces. Not tried: rootless, on several nodes.
set -eu
cd "$(dirname "$0")"

# Where mpiprof is installed, an absolute path; the image, and the program in it. These are the only lines to edit.
mpiprof=${MPIPROF_PREFIX:-$PWD/../../build/install}
image=localhost/data_parallel
program=/usr/local/bin/data_parallel

# Where Open MPI's ranks meet their mpirun, and the profiles: both are outside the containers, under the same path as inside.
session=$(mktemp -d /tmp/mpirun.XXXXXX)
trap 'rm -rf "$session"' EXIT
export OMPI_MCA_orte_tmpdir_base=$session PRTE_MCA_prte_tmpdir_base=$session MPIPROF_DIR=$PWD
# --env-host hands on what mpirun tells its ranks. The preload is given to the program alone: podman is no part of the job.
# As a user other than root add --userns=keep-id; with MPICH: mpiexec -pmi-port in place of mpirun.
mpirun -n "${1:-4}" podman run --rm --env-host --network=host --ipc=host --pid=host \
    --volume="$mpiprof:$mpiprof:ro" --volume="$session:$session" --volume="$PWD:$PWD" --workdir="$PWD" \
    --env=LD_PRELOAD="$mpiprof/lib/libmpiprof.so" "$image" "$program"

"$mpiprof/bin/mpiprof-report" --brief
