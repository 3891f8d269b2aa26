"""Ranks on two nodes without a scheduler: network namespaces with host names of their own, on this machine. Needs root and ip."""

import os

from cases.wrappers import is_one_whole_launch, script
from causes import verdict
from harness import Skip, case, check, execute, same

# What the launchers take for ssh: options, host, command.
AGENT = """#!/bin/sh
while case $1 in -*) true;; *) false;; esac; do shift; done
host=$1
shift
exec ip netns exec @PREFIX@${host##*.} unshare --uts sh -c "hostname node${host##*.}; $*"
"""


class Nodes:
    """Two network namespaces with a cable between them: 10.77.0.1 and 10.77.0.2. They go when the case does."""

    def __init__(self, scene):
        for tool in ("ip", "unshare", "hostname"):
            scene.tool(tool)
        self.prefix = f"mpiprof{os.getpid()}n"
        self.agent = script(scene, "agent", AGENT.replace("@PREFIX@", self.prefix))

    def __enter__(self):
        if any(self.ip("netns", "add", f"{self.prefix}{n}").code for n in (1, 2)):
            self.__exit__()
            raise Skip("no network namespaces can be made here")
        made = [self.ip("link", "add", "wire1", "netns", f"{self.prefix}1", "type", "veth", "peer", "name", "wire2", "netns", f"{self.prefix}2")]
        for n in (1, 2):
            inside = "-n", f"{self.prefix}{n}"
            made += [self.ip(*inside, "addr", "add", f"10.77.0.{n}/24", "dev", f"wire{n}"), self.ip(*inside, "link", "set", f"wire{n}", "up"),
                     self.ip(*inside, "link", "set", "lo", "up")]
        if any(step.code for step in made):
            self.__exit__()
            raise Skip("no virtual network cable can be laid here: " + "".join(step.err for step in made))
        return self

    def __exit__(self, *_):
        for n in (1, 2):
            self.ip("netns", "del", f"{self.prefix}{n}")

    def lose_packets(self, share):
        """On their way in: those that the sender's own queue drops it would know of."""
        for n in (1, 2):
            rule = ["-A", "INPUT", "-i", f"wire{n}", "-p", "tcp", "-m", "statistic", "--mode", "random", "--probability", str(share), "-j", "DROP"]
            if self.ip("netns", "exec", f"{self.prefix}{n}", "iptables", *rule).code:
                raise Skip("no packets can be lost here on purpose: iptables cannot")

    @staticmethod
    def ip(*words):
        return execute(["ip", *words], timeout=20)

    def launcher(self, scene, ranks_each):
        """mpirun on the first node, of ranks on both."""
        hosts = ",".join(f"10.77.0.{n}:{ranks_each}" for n in (1, 2))
        mpirun = ["ip", "netns", "exec", f"{self.prefix}1", *scene.launcher(2 * ranks_each)]
        if scene.launched_by() == "mpich":
            return [*mpirun, "-launcher", "ssh", "-launcher-exec", self.agent, "-iface", "wire1", "-hosts", hosts]
        net = [word for layer in ("oob_tcp", "btl_tcp") for word in ("--mca", f"{layer}_if_include", "10.77.0.0/24")]
        return [*mpirun, "--mca", "plm_rsh_agent", self.agent, "--mca", "btl", "tcp,self", *net, "--host", hosts]


@case(mpis=("openmpi",), ranks=4, tier="full")
def tcp_between_nodes_is_named_with_what_was_sent_again(scene):
    """On a sound cable nothing is said of it; where packets are lost, the summary says how much was sent again."""
    program = scene.compile("exchange_halves.c")
    with Nodes(scene) as nodes:
        for name, lost in (("sound", False), ("lossy", True)):
            if lost: nodes.lose_packets(0.04)
            directory = scene.subdir(name)
            command = [*nodes.launcher(scene, 2), "env", f"LD_PRELOAD={scene.preload()}", program, "30"]
            ran = execute(command, cwd=directory, env=scene.environment(), timeout=120)
            if ran.code != 0:
                raise Skip(f"this mpirun does not reach a second node here: {ran.err[-500:]}")
            placement = scene.run_report("placement", cwd=directory).out
            words = " ".join(placement.split())
            check("to ranks on other nodes" in words and "wire1 (10 Gb/s)" in words and "mca_btl_tcp" in words, placement)
            check("no fabric adapter open" in words, placement)
            summary = scene.run_report(cwd=directory).out
            check("slow-transport" not in summary, summary)  # there is no other way here
            same("[retransmits]" in summary, lost, f"{name}: {summary}")


@case(ranks=4, tier="full")
def launch_on_two_nodes_without_a_scheduler_has_one_name(scene):
    ring, wrap = scene.compile("ring.c"), script(scene)
    with Nodes(scene) as nodes:
        for name, before in (("plain", []), ("wrapped", [wrap])):
            directory = scene.subdir(name)
            program = ["env", f"LD_PRELOAD={scene.preload()}", *before, ring, "5"]
            ran = execute([*nodes.launcher(scene, 2), *program], cwd=directory, env=scene.environment(), timeout=120)
            if name == "plain" and ran.code != 0:
                bare = execute([*nodes.launcher(scene, 2), ring, "5"], cwd=directory, env=scene.environment(), timeout=120)
                if bare.code != 0:
                    raise Skip(f"this mpirun does not reach a second node here: {bare.err[-500:]}")
            ran.succeeded()
            check("ring: 4 ranks, 5 calls" in ran.out, f"stdout is {ran.out!r}")
            is_one_whole_launch(scene, directory, 4, name)
            check("on 2 nodes" in scene.run_report(cwd=directory).out, "the report does not know two nodes")


@case(ranks=4, tier="full")
def mpiprof_alone_reaches_the_ranks_of_both_nodes(scene):
    """No preload is in anybody's environment: the launcher is told by mpiprof, in its own way."""
    ring, mpiprof = scene.compile("ring.c"), scene.report.parent.parent / "launcher" / "mpiprof"
    with Nodes(scene) as nodes:
        words = nodes.launcher(scene, 2)
        inside, launcher = words[:4], words[4:]
        bare = execute([*words, ring, "5"], cwd=scene.subdir("bare"), env=scene.environment(), timeout=120)
        if bare.code != 0:
            raise Skip(f"this mpirun does not reach a second node here: {bare.err[-500:]}")
        directory = scene.subdir("profiled")
        ran = execute([*inside, mpiprof, "run", "--", *launcher, ring, "5"], cwd=directory, env=scene.environment(), timeout=120).succeeded()
        same(ran.out, bare.out, "stdout")
        check("profile complete: 4 of 4 ranks" in ran.err, ran.err)
        check("on 2 nodes" in scene.run_report(cwd=directory).out, "the report does not know two nodes")


@case(mpis=("openmpi",), ranks=4, tier="full", attempts=3)
def a_node_that_became_slow_is_the_first_line_with_its_name_and_when(scene):
    program = scene.compile("causes.c", "-pthread")
    with Nodes(scene) as nodes:
        command = [*nodes.launcher(scene, 2), "env", f"LD_PRELOAD={scene.preload()}", program, "slow_node", "200", "sleep"]
        ran = execute(command, cwd=scene.dir, env=scene.environment(), timeout=120)
    if ran.code != 0:
        raise Skip(f"this mpirun does not reach a second node here: {ran.err[-500:]}")
    said = verdict(scene, scene.dir)
    found = said["verdict"]
    same((found["rule"], found["ranks"]), ("slow-node", "2-3"), found["text"])
    check("node2" in found["text"] and "since" in found["text"], found["text"])
    since = (found["since_ns"] - said["job"]["started_at_ns"]) / said["job"]["elapsed_ns"]
    check(0.3 < since < 0.5, f"began after {since:.2f} of the run: 10 of 26 are the truth")
    # 3 of 13 ms: the others wait that long.
    check(0.19 < 2 * found["run_share"] < 0.27, f"the others wait: {found['text']}")
