"""A scene on the second architecture: programs are compiled for aarch64 and run under qemu-user, against the Open MPI and the MPICH of a
folder that aarch64_root made. mpirun is this machine's, of the same release: it starts an emulator for each rank. The reporter is this
machine's, too. Asked by run.py; cases do not notice, unless they need what is not there."""

import os
import pathlib
import re
from dataclasses import dataclass

from harness import Scene, Skip, alone, execute

TARGET = "aarch64-linux-gnu"
largest_page = 65536
# What the MPIs do on one node, they do by a system call that qemu-user lacks (process_vm_readv), unless told. MPICH's end waits for ever
# now and then under it, with and without us, where UCX may choose among all that it has.
TOLD = {"OMPI_MCA_btl_vader_single_copy_mechanism": "emulated", "UCX_TLS": "self,posix"}


@dataclass
class EmulatedScene(Scene):
    root: pathlib.Path
    page_bytes: int

    def __post_init__(self):
        super().__post_init__()
        self.emulator = self.tool("qemu-aarch64")
        self.libraries = self.root / "usr/lib" / TARGET
        if not (self.root.parent / "whole").exists():
            raise Skip(f"no MPI for aarch64 could be fetched into {self.root}: see e2e.aarch64_root")

    def tool(self, name):
        return super().tool(f"{TARGET}-{name}" if name in ("addr2line", "gcc", "gfortran", "nm", "ldd") else name)

    # ---- building ----
    def compiler(self, name, includes, libraries):
        """An mpicc: those of the root are for aarch64 themselves."""
        script = self.bin / f"{name}.{self.mpi}"
        text = "\n".join(["#!/bin/sh", f'exec {self.tool(name)} {" ".join(f"-I{path}" for path in includes)} -w "$@" {" ".join(map(str, libraries))} '
                          "-Wl,--allow-shlib-undefined -lm", ""])
        with alone(script):
            if not script.exists() or script.read_text() != text:
                part = script.with_name(f"{script.name}.{os.getpid()}")
                part.write_text(text)
                part.chmod(0o755)
                os.replace(part, script)
        return script

    def library_of_mpi(self):
        return self.libraries / ("openmpi/lib/libmpi.so" if self.mpi == "openmpi" else "libmpich.so")

    def mpi_library(self, program=None):
        return self.library_of_mpi()

    def mpicc(self):
        includes = self.libraries / "openmpi/include" if self.mpi == "openmpi" else self.root / "usr/include" / TARGET / "mpich"
        return self.compiler("gcc", [includes], [self.library_of_mpi()])

    def mpifort(self):
        modules = next((self.libraries / "fortran").glob(f"gfortran-mod-*/{self.mpi}"), None)
        if not modules: raise Skip(f"no Fortran modules of {self.mpi} for aarch64")
        if self.mpi == "mpich":
            return self.compiler("gfortran", [modules, self.root / "usr/include" / TARGET / "mpich"], [self.libraries / "libmpichfort.so", self.library_of_mpi()])
        own = [self.libraries / "openmpi/lib" / f"libmpi_{part}.so" for part in ("usempif08", "usempi_ignore_tkr", "mpifh")]
        return self.compiler("gfortran", [modules, self.libraries / "openmpi/include", self.libraries / "openmpi/lib"], [*own, self.library_of_mpi()])

    def compile(self, *arguments, **options):
        """The emulator maps a file by this machine's pages: of a larger one that the file's end lies in, what is behind it would be missing."""
        target = super().compile(*arguments, **options)
        with alone(target):
            rest = -target.stat().st_size % largest_page
            if rest: os.truncate(target, target.stat().st_size + rest)
        return target

    def mpi_libraries(self, program):
        """By the names that the program asks for: no loader of this machine resolves them."""
        asked = re.findall(r"NEEDED.*\[(lib\w*mpi\w*\.so[.\d]*)\]", execute(["readelf", "-d", program]).succeeded().out)
        return sorted({str(self.libraries / name) for name in asked})

    def moves_programs(self):
        return False

    def oracle_options(self):
        return ["--compiler", self.tool("gcc"), "--machine", "aarch64"]

    # ---- running ----
    def emulated(self, program, preloaded, env):
        """qemu-user is told the program's variables, so as not to be preloaded itself."""
        variables = {**env, **({"LD_PRELOAD": ":".join(map(str, preloaded))} if preloaded else {})}
        sets = [word for name, value in variables.items() for word in ("-E", f"{name}={value}")]
        return [self.emulator, "-L", self.root, "-p", self.page_bytes, *sets, *program]

    def environment(self, extra=None):
        return super().environment({**TOLD, **(extra or {})})

    def launched_by(self):
        return self.mpi

    def mpirun(self, ranks, program, profiled="exported", env=None, cwd=None, timeout=250, before=()):
        program = [program] if isinstance(program, (str, pathlib.Path)) else list(program)
        preloaded = [*before, *([self.library] if profiled else [])]
        command = self.emulated(program, preloaded, {name: value for name, value in (env or {}).items()})
        return execute([*self.launcher(ranks), *command], cwd=cwd or self.dir, env=self.environment(), timeout=timeout)

    def alone(self, argv, profiled=True, env=None, cwd=None, timeout=250):
        command = self.emulated(argv, [self.library] if profiled else [], env or {})
        return execute(command, cwd=cwd or self.dir, env=self.environment(), timeout=timeout)
