#!/usr/bin/env python3
"""Test of the installation that CMake projects find, and of the Debian package.

package_test.py BUILD project|deb; 77: a tool is not installed."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def run(words, **others):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **others)
    return done.returncode, done.stdout


def must(words, **others):
    code, text = run(words, **others)
    if code:
        sys.exit("%s: exit code %d\n%s" % (" ".join(words), code, text))
    return text


def project(build, folder):
    """tests/package/project against an installation of this build: its tests pass, and each way of failing is seen."""
    prefix, here = os.path.join(folder, "prefix"), os.path.join(folder, "build")
    must(["cmake", "--install", build, "--prefix", prefix])
    configure = ["cmake", "-S", os.path.join(HERE, "project"), "-B", here, "-DCMAKE_PREFIX_PATH=" + prefix]
    must(configure)
    text = must(["ctest", "--test-dir", here, "--output-on-failure"])
    for name in ("good", "good.check", "too_strict", "finds_the_race"):
        if not re.search(r"Test +#\d+: %s \.+ +Passed" % re.escape(name), text):
            sys.exit("%s did not pass:\n%s" % (name, text))
    # WILL_FAIL is content with any failure: the reasons.
    text = run(["ctest", "--test-dir", here, "-V", "-R", "too_strict|finds_the_race"])[1]
    for wanted in ("FAIL  copy*: global_store_sectors_per_request <= 3", "ERROR: race-shared"):
        if wanted not in text:
            sys.exit("no %r in:\n%s" % (wanted, text))
    for file in ("sarif/good.sarif", "sarif/good_check.sarif", "junit/good.xml", "junit/good_check.xml"):
        if not os.path.getsize(os.path.join(here, file)):
            sys.exit("%s is empty" % file)
    # An installed program's sources: the folder that it was built in is gone.
    os.makedirs(os.path.join(folder, "there/copies"))
    os.mkdir(os.path.join(folder, "app"))
    shutil.copy(os.path.join(HERE, "project/copy.cu"), os.path.join(folder, "there/copies"))
    must([os.path.join(prefix, "bin/warpgrind"), "nvcc", "-lineinfo", "-o", os.path.join(folder, "app/copy"), "there/copies/copy.cu"], cwd=folder)
    os.rename(os.path.join(folder, "there"), os.path.join(folder, "app/source"))
    text = must([os.path.join(prefix, "bin/warpgrind"), "run", "--source", os.path.join(folder, "app/copy"), "4096"])
    if "if (i < n) out[i] = in[i];" not in text:
        sys.exit("the source is not shown:\n" + text)
    if not os.path.exists(os.path.join(prefix, "lib/warpgrind/lab/source/vecadd/vecadd.cu")):
        sys.exit("the lab's sources are not installed")
    # What is wrong in a call is reported when the project is configured.
    for call, wanted in (("NAME a", "either TARGET or COMMAND"), ("NAME a COMMAND x ONLY races", "CHECK is missing"),
                         ("COMMAND x", "NAME is missing"), ("NAME a TARGET nothing", "nothing is no target"),
                         ("NAMES a COMMAND x", "does not know NAMES")):
        wrong = os.path.join(folder, "wrong")
        shutil.rmtree(wrong, ignore_errors=True)
        os.mkdir(wrong)
        with open(os.path.join(wrong, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write("cmake_minimum_required(VERSION 3.20)\nproject(wrong NONE)\nenable_testing()\nfind_package(warpgrind REQUIRED)\nwarpgrind_add_test(%s)\n" % call)
        code, text = run(["cmake", "-S", wrong, "-B", os.path.join(wrong, "build"), "-DCMAKE_PREFIX_PATH=" + prefix])
        if code == 0 or wanted not in " ".join(text.split()):
            sys.exit("warpgrind_add_test(%s): %r is not in\n%s" % (call, wanted, text))


def deb(build, folder):
    """The package: lintian has nothing to say, no path of the build is in it, and it holds what belongs there."""
    for tool in ("dpkg-deb", "dpkg-shlibdeps", "cpack"):
        if not shutil.which(tool):
            print(tool, "is not installed")
            return 77
    must(["cpack", "--config", os.path.join(build, "CPackConfig.cmake"), "-B", folder, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"], cwd=folder)
    packages = [name for name in os.listdir(folder) if name.endswith(".deb")]
    if len(packages) != 1:
        sys.exit("packages: %s" % packages)
    package = os.path.join(folder, packages[0])
    if shutil.which("lintian"):
        messages = must(["lintian", "--allow-root", package])
        if messages:
            sys.exit("lintian:\n" + messages)
    depends = must(["dpkg-deb", "-f", package, "Depends"])
    for name in ("clang-19", "libllvm19", "libopenblas0-serial", "libfftw3-double3", "libfmt9", "libzydis4.0"):
        if name not in depends:
            sys.exit("Depends has no %s: %s" % (name, depends))
    root = os.path.join(folder, "root")
    must(["dpkg-deb", "-x", package, root])
    for file in ("bin/warpgrind", "lib/warpgrind/libcudart.so.13", "lib/warpgrind/bin/nvcc", "lib/warpgrind/include/cuda.h", "lib/warpgrind/libdevice.bc",
                 "lib/warpgrind/lab/transpose", "lib/warpgrind/lab/results/h200.json", "lib/cmake/warpgrind/warpgrindConfig.cmake", "share/man/man1/warpgrind-run.1.gz",
                 "share/bash-completion/completions/warpgrind", "share/zsh/vendor-completions/_warpgrind", "share/doc/warpgrind/copyright", "share/doc/warpgrind/changelog.gz"):
        if not os.path.exists(os.path.join(root, "usr", file)):
            sys.exit("the package has no usr/" + file)
    # The lab's line tables name headers of the build: those are shown by name, never opened.
    found = run(["grep", "-rlF", "--exclude-dir=lab", build, os.path.join(root, "usr")])[1]
    programs = [os.path.join(root, "usr/lib/warpgrind/lab", name) for name in ("vecadd", "transpose")]
    found += "".join(line for line in must(["readelf", "-d", *programs]).splitlines(True) if build in line)
    if found:
        sys.exit("the build's path is in:\n" + found)
    version = must([os.path.join(root, "usr/bin/warpgrind"), "--version"]).split()[-1]
    if must(["dpkg-deb", "-f", package, "Version"]).strip() != version:
        sys.exit("the program's version is " + version)
    return 0


def main():
    build, what = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        return {"project": project, "deb": deb}[what](build, folder) or 0


if __name__ == "__main__":
    sys.exit(main())
