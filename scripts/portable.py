#!/usr/bin/env python3
"""Makes an archive of warpgrind that runs on any Linux for x86-64 with glibc 2.31 or newer, wherever it is unpacked.

  portable.py BUILD FOLDER     writes FOLDER/warpgrind-VERSION-linux-x86_64.tar.xz, and the same as a package for any Debian and Ubuntu:
                               FOLDER/warpgrind_VERSION+any_amd64.deb (not with --archive-only as third argument)

BUILD is a build with -DWARPGRIND_PORTABLE=ON. Beside what an installation has, the archive holds clang, OpenBLAS, FFTW and the headers of
Thrust, CUB and libcu++, all of this distribution, with their licences. A user's machine adds g++ with its headers, where .cu files are compiled.

What needs functions of a newer glibc by their version gets them by name alone instead, from the C library of the machine or, what
2.31 lacks, from libwarpgrind_newer_glibc.so (cmake/portable/newer_glibc.c). It is an error if a function is in neither.
"""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OLDEST = (2, 31)
LLVM = pathlib.Path("/usr/lib/llvm-19")
SHIM = "libwarpgrind_newer_glibc.so"
# What the C library and the compiler's runtime bring: those of the user's machine. MPI, too, where it is installed.
OF_THE_MACHINE = re.compile(r"^(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libutil|libresolv|libgcc_s|libmpi|libmpi_cxx)\.so")
OPENED_BY_NAME = ["openblas-serial/libopenblas.so.0", "libfftw3.so.3", "libfftw3f.so.3"]
HEADERS = ["libthrust-dev", "libcub-dev", "libcu++-dev"]


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit("portable.py: %s: exit code %d\n%s" % (" ".join(map(str, words)), done.returncode, done.stdout))
    return done.stdout


def is_elf(path):
    if path.is_symlink() or not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


class Elf:
    """The parts of a 64-bit ELF file that say which version of a symbol it needs."""

    def __init__(self, path):
        self.path = path
        self.data = bytearray(path.read_bytes())
        offset, = self.unpack("<Q", 0x28)
        size, count, names = self.unpack("<HHH", 0x3A)
        self.sections = {}
        headers = [self.unpack("<IIQQQQIIQQ", offset + size * i) for i in range(count)]
        for i, header in enumerate(headers):
            self.sections[self.text(headers[names][4] + header[0])] = (offset + size * i, header)

    def unpack(self, form, offset):
        return struct.unpack_from(form, self.data, offset)

    def text(self, offset):
        return self.data[offset:self.data.index(b"\0", offset)].decode()

    def section(self, name):
        """(offset, size), or None"""
        found = self.sections.get(name)
        return (found[1][4], found[1][5]) if found else None

    def strings(self):
        return self.section(".dynstr")[0]

    def needed_versions(self):
        """[(offset of the entry, the entry, [(offset, name, index)])] of each library with versions."""
        if not self.section(".gnu.version_r"):
            return []
        at, out = self.section(".gnu.version_r")[0], []
        while True:
            entry = self.unpack("<HHIII", at)
            versions, aux = [], at + entry[3]
            for _ in range(entry[1]):
                _, _, index, name, following = self.unpack("<IHHII", aux)
                versions.append((aux, self.text(self.strings() + name), index & 0x7FFF))
                aux += following
            out.append((at, entry, versions))
            if not entry[4]:
                return out
            at += entry[4]

    def undefined(self):
        """[(number, name, index of its version)] of the symbols that others define"""
        at, size = self.section(".dynsym")
        versions = self.section(".gnu.version")
        out = []
        for i in range(1, size // 24):
            name, _, _, section = self.unpack("<IBBH", at + 24 * i)
            if section == 0:
                out.append((i, self.text(self.strings() + name), self.unpack("<H", versions[0] + 2 * i)[0] if versions else 1))
        return out

    def defined(self):
        at, size = self.section(".dynsym")
        symbols = [self.unpack("<IBBH", at + 24 * i) for i in range(1, size // 24)]
        return {self.text(self.strings() + name) for name, _, _, section in symbols if section}

    def drop_versions(self, is_newer):
        """Symbols of these versions are looked up by name alone from now on. Returns their names."""
        dropped = {}
        for at, entry, versions in self.needed_versions():
            kept = [v for v in versions if not is_newer(v[1])]
            if len(kept) == len(versions):
                continue
            if not kept:
                sys.exit("portable.py: %s needs nothing older of a library: not handled" % self.path)
            dropped.update({index: name for _, name, index in versions if is_newer(name)})
            # The chain goes through those that are kept.
            struct.pack_into("<HHII", self.data, at, entry[0], len(kept), entry[2], kept[0][0] - at)
            for (aux, _, _), following in zip(kept, kept[1:] + [None]):
                struct.pack_into("<I", self.data, aux + 12, following[0] - aux if following else 0)
        names = set()
        for number, name, index in self.undefined():
            if index in dropped:
                struct.pack_into("<H", self.data, self.section(".gnu.version")[0] + 2 * number, 1)
                names.add(name)
        if dropped:
            self.path.write_bytes(self.data)
        return names


def version_of(name):
    """(2, 34) of GLIBC_2.34; None for another name"""
    match = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", name)
    return (int(match[1]), int(match[2])) if match else None


def is_newer(name):
    if name == "GLIBC_ABI_DT_RELR":
        sys.exit("portable.py: this distribution's libraries have packed relocations, which glibc 2.31 cannot read: build on Debian 12")
    return version_of(name) is not None and version_of(name) > OLDEST


def names_of_old_glibc():
    """Symbols of this machine's C library that it had in 2.31."""
    out = set()
    for library in ("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"):
        for line in run("objdump", "-T", "/lib/x86_64-linux-gnu/" + library).splitlines():
            match = re.search(r"\(?(GLIBC_[\d.]+)\)?\s+(\S+)$", line)
            if match and version_of(match[1]) and version_of(match[1]) <= OLDEST:
                out.add(match[2])
    return out


def needed(path):
    return re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", path))


def add_libraries(files, folder, present):
    """Copies what these files need and `present` has not."""
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        found = dict(re.findall(r"^\s*(\S+) => (/\S+)", run("ldd", file), re.M))
        for name in needed(file):
            if OF_THE_MACHINE.match(name) or name in present or (folder / name).exists():
                continue
            if name not in found:
                sys.exit("portable.py: %s of %s is not found" % (name, file))
            shutil.copy(os.path.realpath(found[name]), folder / name)
            waiting.append(folder / name)
            yield found[name]


def package_of(path):
    for name in (os.path.realpath(path), path):
        done = subprocess.run(["dpkg-query", "-S", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    return package_of("/usr" + path) if not path.startswith("/usr") else sys.exit("portable.py: no package has " + path)


def fill(build, stage):
    """The installation with all that it needs; the packages whose licences it must hold."""
    run("cmake", "--install", build, "--prefix", stage, "--strip")
    ours = stage / "lib/warpgrind"
    taken = ["/usr/lib/x86_64-linux-gnu/libfmt.so.9"]  # linked in, like LLVM, libstdc++ and what compresses
    for name in OPENED_BY_NAME:
        source = "/usr/lib/x86_64-linux-gnu/" + name
        shutil.copy(os.path.realpath(source), ours / os.path.basename(name))
        taken.append(source)
    clang = ours / "llvm/bin/clang"
    for folder in ("llvm/bin", "llvm/lib/clang/19"):
        (ours / folder).mkdir(parents=True)
    shutil.copy(os.path.realpath(LLVM / "bin/clang"), clang)
    (clang.parent / "clang++").symlink_to("clang")
    shutil.copytree(os.path.realpath(LLVM / "lib/clang/19/include"), ours / "llvm/lib/clang/19/include")
    taken += [str(LLVM / "bin/clang"), str(LLVM / "lib/clang/19/include/stddef.h")]  # a folder has several packages
    for package in HEADERS:
        for line in run("dpkg-query", "-L", package).splitlines():
            if line.startswith("/usr/include/") and os.path.isfile(line):
                target = ours / "headers" / line[len("/usr/include/"):]
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(line, target)
    # In lib64 are files for the linker that name ours by their whole paths. These are found through the loader's path.
    for stub in (ours / "lib64").glob("lib*.so"):
        stub.unlink()
        stub.symlink_to("nvcc/" + stub.name)
    (ours / "lib64/libcudart_static.a").unlink()
    (ours / "lib64/libcudart_static.a").symlink_to("libcudart.so")
    # Libraries in the users' processes are found there; those of clang, and of the lab's programs, have a folder of their own.
    present = {path.name for path in ours.glob("*.so*")}
    plugin = ours / "launch_pass.so"  # of clang
    taken += add_libraries([p for p in ours.glob("*.so*") if is_elf(p) and p != plugin] + [stage / "bin/warpgrind"], ours, present)
    present |= {path.name for path in ours.glob("*.so*")}
    programs = [p for p in (ours / "lab").rglob("*") if is_elf(p)]
    taken += add_libraries([clang, plugin, *programs], ours / "llvm/lib", present)
    return sorted(set(map(package_of, taken)) | set(HEADERS))


def make_old(build, stage):
    ours = stage / "lib/warpgrind"
    shutil.copy(build / "portable" / SHIM, ours / SHIM)
    own = Elf(ours / SHIM).defined()
    known = names_of_old_glibc() | own
    folders = [ours, ours / "llvm/lib"]
    for path in sorted(stage.rglob("*")):
        if not is_elf(path) or "lib64" in path.parts or path.suffix == ".o":
            continue
        # Without --force-rpath: LD_LIBRARY_PATH, which `warpgrind run` sets, comes first.
        run("patchelf", "--set-rpath", ":".join("$ORIGIN/" + os.path.relpath(f, path.parent) for f in folders).replace("/.:", ":"), path)
        names = Elf(path).drop_versions(is_newer)
        if path.name == SHIM:
            continue
        missing = sorted(names - known)
        if missing:
            sys.exit("portable.py: glibc 2.31 has no %s, which %s needs: add it to cmake/portable/newer_glibc.c" % (", ".join(missing), path.name))
        if names:
            run("patchelf", "--add-needed", SHIM, path)


def check(stage):
    """What is in the archive needs no newer glibc, and no library that is neither in it nor on every machine."""
    if (stage / "lib/warpgrind/libstdc++.so.6").exists():
        sys.exit("portable.py: libstdc++.so.6 would come before a newer one of the user's machine")
    libraries = {path.name for path in stage.rglob("*.so*")}
    for path in sorted(stage.rglob("*")):
        if not is_elf(path) or path.suffix == ".o":
            continue
        for _, _, versions in Elf(path).needed_versions():
            for _, name, _ in versions:
                if is_newer(name):
                    sys.exit("portable.py: %s needs %s" % (path, name))
        for name in needed(path):
            if name not in libraries and not OF_THE_MACHINE.match(name) and not name.startswith("/"):
                sys.exit("portable.py: %s needs %s" % (path, name))


CONTROL = """Package: warpgrind
Version: {version}+any
Architecture: amd64
Maintainer: The warpgrind authors <maintainers@warpgrind.invalid>
Installed-Size: {kilobytes}
Depends: libc6 (>= 2.31), libgcc-s1
Recommends: g++
Suggests: bubblewrap, cmake, openmpi-bin
Section: devel
Priority: optional
Description: virtual NVIDIA GPU with a memory microscope
 Runs unmodified CUDA programs on a machine without a GPU, finds their bugs,
 and counts every memory transaction. This package brings its own compiler and
 libraries, and runs on any Debian from 11 and Ubuntu from 20.04.
"""


def debian_package(stage, version, size, out):
    """The archive's files in /usr/lib/warpgrind-VERSION, with links where programs and manual pages are looked for. Moves `stage`."""
    root = stage.parent / "package"
    target = root / "usr/lib" / ("warpgrind-" + version)
    (root / "DEBIAN").mkdir(parents=True)
    target.parent.mkdir(parents=True)
    (root / "DEBIAN/control").write_text(CONTROL.format(version=version, kilobytes=size // 1024))
    for script in ("postinst", "prerm"):
        shutil.copy(ROOT / "cmake/package" / script, root / "DEBIAN")
    stage.rename(target)
    for path in [target / "bin/warpgrind", *(target / "share").rglob("*")]:
        inside = path.relative_to(target)
        link = root / "usr" / inside
        if path.is_dir() or inside.parts[:2] == ("share", "lintian"):
            continue
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(path, link.parent))
    for path in root.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    run("dpkg-deb", "--root-owner-group", "-Zxz", "-z3", "--build", root, out)


def main():
    archive_only = sys.argv[3:] == ["--archive-only"]
    if len(sys.argv) != 3 and not archive_only:
        sys.exit(__doc__.strip())
    for tool, package in (("patchelf", "patchelf"), ("objdump", "binutils"), ("dpkg-query", "dpkg")):
        if not shutil.which(tool):
            sys.exit("portable.py: %s is not installed: apt-get install %s" % (tool, package))
    build, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    version = run(build / "bin/warpgrind", "--version").split()[-1]
    name = "warpgrind-%s-linux-x86_64" % version
    out, package = folder / (name + ".tar.xz"), folder / ("warpgrind_%s+any_amd64.deb" % version)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        stage = pathlib.Path(scratch) / name
        licensed = fill(build, stage)
        make_old(build, stage)
        check(stage)
        licences = stage / "share/doc/warpgrind/licences"
        licences.mkdir(parents=True)
        for owner in licensed:
            shutil.copy("/usr/share/doc/%s/copyright" % owner, licences / owner)
        shutil.copy(ROOT / "scripts/install.sh", stage)
        size = sum(p.stat().st_size for p in stage.rglob("*") if p.is_file() and not p.is_symlink())
        print("packing %.0f MB, which takes a minute or two" % (size / 1e6), flush=True)
        run("tar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "-C", scratch, "--use-compress-program=xz -T0 -3",
            "-cf", str(out), name)
        print("%s: %.0f MB, unpacked %.0f MB" % (out, out.stat().st_size / 1e6, size / 1e6), flush=True)
        if not archive_only:
            debian_package(stage, version, size, package)
            print("%s: %.0f MB, unpacked %.0f MB" % (package, package.stat().st_size / 1e6, size / 1e6))


if __name__ == "__main__":
    main()
