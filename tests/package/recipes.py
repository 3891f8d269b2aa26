#!/usr/bin/env python3
"""The recipes for Spack and EasyBuild, which are not here: that what they name is what CMakeLists.txt and the tarball have.

  recipes.py ROOT PACKAGES

Each is run with stand-ins for the names that its tool gives it, and nothing of what it says is believed.
"""

import glob
import os
import re
import sys
import tarfile

# How Spack calls what CMake looks for.
NAMES = {"fmt": "fmt", "CLI11": "cli11", "tl-expected": "tl-expected", "ZLIB": "zlib-api", "PkgConfig": "pkgconfig", "LIBDW_LIBRARY": "elfutils", "Threads": "cxx"}


def text_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as file: return file.read()


def spack_recipe(path):
    said = {"depends_on": [], "define": {}}

    class CMakePackage:
        def define(self, name, value):
            said["define"][name] = value
            return "-D%s=%s" % (name, value)
    names = {"CMakePackage": CMakePackage, "depends_on": lambda what, **_: said["depends_on"].append(what.split("@")[0]), "license": lambda _: None,
             "version": lambda *_, **__: None, "conflicts": lambda *_, **__: None}
    exec(compile(text_of(path).replace("from spack.package import *\n", ""), path, "exec"), names)
    names["Mpiprof"]().cmake_args()
    return said


def wrong_with_spack(root):
    said = spack_recipe(os.path.join(root, "share/recipes/spack/mpiprof/package.py"))
    cmake = text_of(root, "CMakeLists.txt") + text_of(root, "report/CMakeLists.txt") + text_of(root, "launcher/CMakeLists.txt")
    for name in said["define"]:
        if "option(%s " % name not in cmake: yield "spack: CMakeLists.txt has no option %s" % name
    needed = set(re.findall(r"find_package\((\S+) REQUIRED", cmake)) | set(re.findall(r"find_library\((LIBDW_LIBRARY) ", cmake))
    for name in sorted(needed - {"Python3"}):
        if NAMES.get(name) not in said["depends_on"]: yield "spack: does not depend on what gives %s" % name
    if any("mpi" in name for name in said["depends_on"]): yield "spack: depends on an MPI"


def wrong_with_easybuild(root, packages):
    [path] = glob.glob(os.path.join(root, "share/recipes/easybuild/*.eb"))
    said = {"SYSTEM": {"name": "system"}}
    exec(compile(text_of(path), path, "exec"), said)
    version = re.search(r"project\(mpiprof[^)]*VERSION (\S+)", text_of(root, "CMakeLists.txt")).group(1)
    if said["version"] != version or version not in os.path.basename(path): yield "easybuild: is of version %s, this is %s" % (said["version"], version)
    source = said["sources"][0] % {"version": version, "arch": os.uname().machine}
    with tarfile.open(os.path.join(packages, source)) as tarball: held = {name.split("/", 1)[-1] for name in tarball.getnames()}
    for name in said["sanity_check_paths"]["files"] + said["sanity_check_paths"]["dirs"]:
        if name not in held: yield "easybuild: %s has no %s" % (source, name)


def main():
    root, packages = sys.argv[1:]
    wrong = [*wrong_with_spack(root), *wrong_with_easybuild(root, packages)]
    print("\n".join(wrong) or "two recipes")
    return bool(wrong)


if __name__ == "__main__": sys.exit(main())
