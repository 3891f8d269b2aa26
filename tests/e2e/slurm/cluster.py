"""A Slurm cluster of two nodes on this machine, for as long as a test needs it: munged, slurmctld and two slurmd on
loopback, all their files in one directory, ended by their pids. Uses no configuration of the machine's and leaves
none. Needs root (slurmd starts jobs as their users) and Debian's munge, slurm-wlm and slurm-wlm-torque."""

import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

from harness import Failed, Skip, check, clean_environment, execute

CONFIGURATION = """\
ClusterName=mpiprof
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/munge.sock
CredType=cred/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool.%n
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.%n.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd.%n.log
TmpFS={dir}/tmp.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
PlugStackConfig={dir}/plugstack.conf
MailProg=/bin/true
KillWait=5
ReturnToService=2
SlurmdTimeout=60
NodeName=n[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{second}] CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""


def free_ports(count):
    """Consecutive ports nobody listens on. Somebody may take one meanwhile: the daemon then says so in its log."""
    for first in range(16817, 26817, 10):
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
                return list(range(first, first + count))
            except OSError:
                continue
    raise Skip("no free ports")


class Cluster:
    def __init__(self, pbs=True, more=""):
        """more: further lines of slurm.conf."""
        self.pbs = pbs
        self.more = more
        self.processes = []

    def __enter__(self):
        if os.getuid() != 0:
            raise Skip("a Slurm cluster needs root")
        for program in ("munged", "slurmctld", "slurmd", "sbatch", "srun", "qsub"):
            if not shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
                raise Skip(f"{program} is not installed")
        # munged insists that nobody else may write to any directory above its key and socket.
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="mpiprof-slurm-", dir="/run"))
        os.chmod(self.dir, 0o755)
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        controller, first, second = free_ports(3)
        (self.dir / "slurm.conf").write_text(CONFIGURATION.format(host=socket.gethostname().split(".")[0], dir=self.dir,
                                                                  controller=controller, first=first, second=second) + self.more)
        (self.dir / "plugstack.conf").write_text("optional spank_pbs.so\n" if self.pbs else "")
        for name in ("state", "spool.n1", "spool.n2", "tmp.n1", "tmp.n2"):
            (self.dir / name).mkdir(mode=0o755)
        key = self.dir / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self.environment = dict(clean_environment(), SLURM_CONF=str(self.dir / "slurm.conf"))
        self.environment["PATH"] += ":/usr/sbin:/sbin"
        # Both nodes have this machine's host name and /dev/shm: ranks of two nodes would take each other's shared
        # memory segments for their own and crash.
        self.environment["OMPI_MCA_btl"] = "tcp,self"
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.dir}/munge.sock", f"--pid-file={self.dir}/munged.pid",
                    f"--log-file={self.dir}/munged.log", f"--seed-file={self.dir}/munged.seed")
        self.wait_until(lambda: (self.dir / "munge.sock").exists(), "munged")
        self.daemon("slurmctld", "-D", "-f", f"{self.dir}/slurm.conf")
        for node in ("n1", "n2"):
            self.daemon("slurmd", "-D", "-N", node, "-f", f"{self.dir}/slurm.conf")
        self.wait_until(lambda: self.run("sinfo", "-h", "-o", "%t %D").out.split() == ["idle", "2"], "two idle nodes")

    def daemon(self, *command):
        log = open(self.dir / f"{command[0]}.{len(self.processes)}.out", "wb")
        with log:
            self.processes.append(subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                                   stderr=subprocess.STDOUT, start_new_session=True))

    def wait_until(self, condition, what, patience=30):
        end = time.monotonic() + patience
        while not condition():
            for process in self.processes:
                if process.poll() is not None:
                    raise Failed(f"{process.args[0]} ended while waiting for {what}:\n{self.logs()}")
            if time.monotonic() > end:
                raise Failed(f"no {what} after {patience} s:\n{self.logs()}")
            time.sleep(0.2)

    def logs(self):
        parts = []
        for path in sorted([*self.dir.glob("*.log"), *self.dir.glob("*.out")]):
            parts.append(f"--- {path.name}\n{path.read_text(errors='replace')[-1500:]}")
        return "\n".join(parts)

    def stop(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    # ---- using it ----
    def run(self, *command, cwd=None, env=None, timeout=60):
        environment = dict(self.environment)
        environment.update({k: str(v) for k, v in (env or {}).items()})
        return execute(command, cwd=cwd, env=environment, timeout=timeout)

    def submit(self, *command, cwd, env=None, patience=90):
        """sbatch or qsub; waits for the job's end and returns its number."""
        ran = self.run(*command, cwd=cwd, env=env).succeeded()
        job = re.search(r"\d+", ran.out)
        check(job, f"no job number in {ran.out!r}")
        job = job.group()
        end = time.monotonic() + patience
        while self.run("squeue", "-h", "-j", job, "-o", "%T").out.strip() not in ("", "COMPLETED", "FAILED"):
            if time.monotonic() > end:
                self.run("scancel", job)
                raise Failed(f"job {job} has not ended after {patience} s")
            time.sleep(0.3)
        return job
