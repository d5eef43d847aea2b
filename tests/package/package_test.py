#!/usr/bin/env python3
"""Tests of the installation that CMake projects find, of the Debian package, and of what makes the archive for other distributions.

package_test.py BUILD project|deb|portable; 77: a tool is not installed."""
import os
import pathlib
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
    if "mpi" in depends:
        sys.exit("Depends has MPI, which one program of the lab needs: " + depends)
    root = os.path.join(folder, "root")
    must(["dpkg-deb", "-x", package, root])
    scripts = os.path.join(folder, "scripts")
    must(["dpkg-deb", "-e", package, scripts])
    for name, wanted in (("postinst", "warpgrind prepare --installation"), ("prerm", "/usr/lib/warpgrind/prepared")):
        if wanted not in pathlib.Path(scripts, name).read_text():
            sys.exit("%s of the package has no %r" % (name, wanted))
    for file in ("bin/warpgrind", "lib/warpgrind/libcudart.so.13", "lib/warpgrind/bin/nvcc", "lib/warpgrind/include/cuda.h", "lib/warpgrind/libdevice.bc",
                 "lib/warpgrind/lab/transpose", "lib/warpgrind/lab/results/h200.json", "lib/cmake/warpgrind/warpgrindConfig.cmake", "share/man/man1/warpgrind-run.1.gz",
                 "share/bash-completion/completions/warpgrind", "share/zsh/vendor-completions/_warpgrind", "share/doc/warpgrind/copyright", "share/doc/warpgrind/changelog.gz"):
        if not os.path.exists(os.path.join(root, "usr", file)):
            sys.exit("the package has no usr/" + file)
    kernels = os.path.join(build, "lib/prepared/kernels")  # there if scripts/package_kernels.py ran, as in `make package`
    packed = os.path.join(root, "usr/lib/warpgrind/prepared/kernels")
    if os.path.isdir(kernels) and sorted(os.listdir(kernels)) != (sorted(os.listdir(packed)) if os.path.isdir(packed) else []):
        sys.exit("the package lacks the kernels of " + kernels)
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


NEEDS_NEWER_GLIBC = """
#include <pthread.h>
#include <sys/stat.h>
#include <cstdio>
#include <random>
#include <string>
static std::string constructed = "constructed";
static void* in_thread(void* path) {
  struct stat about;
  return stat(static_cast<char*>(path), &about) == 0 && S_ISDIR(about.st_mode) ? path : nullptr;
}
int main() {
  pthread_t thread;
  void* result = nullptr;
  char path[] = "/";
  pthread_create(&thread, nullptr, in_thread, path);
  pthread_join(thread, &result);
  std::printf("%s, %s, %d\\n", constructed.c_str(), result ? "a folder" : "no folder", std::random_device()() == std::random_device()());
}
"""


def portable(build, folder):
    """scripts/portable.py makes a program of this distribution need no glibc after 2.31, and it still does what it did."""
    for tool in ("patchelf", "objdump", "gcc", "g++"):
        if not shutil.which(tool):
            print(tool, "is not installed")
            return 77
    sys.path.insert(0, os.path.join(HERE, "../../scripts"))
    import portable as archive
    root = os.path.join(HERE, "../..")
    program, library, source = (os.path.join(folder, name) for name in ("program", archive.SHIM, "program.cpp"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(NEEDS_NEWER_GLIBC)
    must(["g++", "-O1", "-pthread", "-static-libstdc++", "-o", program, source])
    must(["gcc", "-shared", "-fPIC", "-O1", "-fvisibility=hidden", "-nostdlib", "-Wl,--version-script=" + os.path.join(root, "cmake/portable/newer_glibc.map"),
          "-o", library, os.path.join(root, "cmake/portable/newer_glibc.c"), "-lc"])
    before = must([program])
    versions = [name for _, _, found in archive.Elf(pathlib.Path(program)).needed_versions() for _, name, _ in found]
    if not any(map(archive.is_newer, versions)):
        print("this system's glibc is not newer than 2.31")
        return 77
    known = archive.names_of_old_glibc() | archive.Elf(pathlib.Path(library)).defined()
    for path in (program, library):
        must(["patchelf", "--set-rpath", folder, path])
        names = archive.Elf(pathlib.Path(path)).drop_versions(archive.is_newer)
        if names - known:
            sys.exit("%s needs %s, which glibc 2.31 lacks" % (path, sorted(names - known)))
    if "__libc_start_main" not in archive.Elf(pathlib.Path(library)).defined():
        sys.exit("no __libc_start_main")
    must(["patchelf", "--add-needed", archive.SHIM, program])
    for path in (program, library):
        left = [name for _, _, found in archive.Elf(pathlib.Path(path)).needed_versions() for _, name, _ in found if archive.is_newer(name)]
        shown = must(["readelf", "-V", path])
        if left or "GLIBC_2.34" in shown or "<corrupt>" in shown:
            sys.exit("%s still needs %s:\n%s" % (path, left, shown))
    after = must([program])
    if after != before or before != "constructed, a folder, 0\n":
        sys.exit("before: %safter: %s" % (before, after))
    return 0


def main():
    build, what = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        return {"project": project, "deb": deb, "portable": portable}[what](build, folder) or 0


if __name__ == "__main__":
    sys.exit(main())
