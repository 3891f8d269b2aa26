# For Spack: copy the folder into a repository of your own, and set `git` to where your copy of mpiprof is. One installation
# serves every MPI, so it depends on none. Not tried with Spack itself; tests/package/recipes.py holds it against CMakeLists.txt.
from spack.package import *


class Mpiprof(CMakePackage):
    """Profiler for MPI and NCCL that is preloaded into existing jobs, and a reporter that says where the time went."""

    homepage = "https://localhost/mpiprof"
    git = "https://localhost/mpiprof.git"

    license("BSD-3-Clause")
    version("main", branch="main")

    depends_on("cxx", type="build")
    depends_on("cmake@3.21:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("fmt")
    depends_on("cli11", type="build")
    depends_on("tl-expected", type="build")
    depends_on("elfutils")
    depends_on("zlib-api")

    conflicts("platform=darwin", msg="mpiprof reads /proc and preloads by ld.so: Linux alone")

    def cmake_args(self):
        return [self.define("MPIPROF_BUILD_TESTS", False), self.define("MPIPROF_BUILD_BENCH", False)]
