#!/usr/bin/env python3
"""Makes a Python wheel of warpgrind: the packages of integrations/python with an installation inside them (`make wheel`).

  wheel.py INSTALLATION FOLDER     writes FOLDER/warpgrind-VERSION-py3-none-PLATFORM.whl

INSTALLATION is the archive of `make archive`, its unpacked folder, or what `cmake --install` wrote. The wheel of an archive is for any Linux
with glibc 2.31 (manylinux_2_31_x86_64), and any other for machines like this one (linux_x86_64).

A wheel holds no links: a link to a program becomes a script that starts it under its other name, and any other link a copy.
"""
import base64
import hashlib
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = ROOT / "integrations/python"
INSIDE = "warpgrind/installation"
LEFT_OUT = re.compile(r"install\.sh|share/lintian/")
# What a program does by the name of its link.
BY_NAME = {"nvcc": "nvcc", "ptxas": "ptxas", "clang++": "--driver-mode=g++"}
TIME = (1980, 1, 1, 0, 0, 0)  # the same files make the same wheel


def script(name, target, link):
    """Starts the program `target` as its link `name` would."""
    other = os.path.relpath(target, link.parent)
    return (f'#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\nexec "$here/{other}" {BY_NAME[name]} "$@"\n').encode()


class Wheel:
    def __init__(self, path):
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6)
        self._records = []

    def add(self, name, data, mode=0o644):
        info = zipfile.ZipInfo(name, TIME)
        info.external_attr = (stat.S_IFREG | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._records.append(f"{name},sha256={digest},{len(data)}")

    def close(self, information):
        name = f"{information}/RECORD"
        self._records.append(f"{name},,")
        self._zip.writestr(zipfile.ZipInfo(name, TIME), "\n".join(self._records) + "\n")
        self._zip.close()


def add_packages(wheel):
    for path in sorted(PYTHON.glob("*/**/*")):
        if path.is_file() and path.suffix in (".py", ".json") and "build" not in path.parts:
            wheel.add(str(path.relative_to(PYTHON)), path.read_bytes())


def add_installation(wheel, tree):
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree)
        if LEFT_OUT.match(str(name)) or path.is_dir():
            continue
        mode = 0o755 if os.access(path, os.X_OK) else 0o644
        target = pathlib.Path(os.path.realpath(path))
        if path.is_symlink() and path.name in BY_NAME and mode == 0o755:
            data = script(path.name, target, path.parent.resolve() / path.name)
        else:
            data = path.read_bytes()
        wheel.add(f"{INSIDE}/{name}", data, mode)
    # A linked folder would be lost.
    linked = [p for p in tree.rglob("*") if p.is_symlink() and p.is_dir()]
    if linked:
        sys.exit(f"wheel.py: a wheel cannot hold links to folders: {linked[0]}")


def metadata(version):
    text = (PYTHON / "README.md").read_text(encoding="utf-8")
    project = (PYTHON / "pyproject.toml").read_text(encoding="utf-8")
    summary = re.search(r'^description = "(.*)"$', project, re.M)[1]
    python = re.search(r'^requires-python = "(.*)"$', project, re.M)[1]
    extras = re.search(r"^\[project.optional-dependencies\]\n((?:\w+ = .*\n)*)", project, re.M)[1]
    lines = ["Metadata-Version: 2.1", "Name: warpgrind", f"Version: {version}", f"Summary: {summary}", f"Requires-Python: {python}"]
    for extra, packages in re.findall(r"^(\w+) = \[(.*)\]$", extras, re.M):
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {package}; extra == "{extra}"' for package in re.findall(r'"([^"]+)"', packages)]
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", text])


def make(tree, folder):
    program = tree / "bin/warpgrind"
    if not os.access(program, os.X_OK):
        sys.exit(f"wheel.py: {tree} is no installation: it has no bin/warpgrind")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    platform = "manylinux_2_31_x86_64" if (tree / "share/doc/warpgrind/licences").is_dir() else "linux_x86_64"
    path = folder / f"warpgrind-{version}-py3-none-{platform}.whl"
    information = f"warpgrind-{version}.dist-info"
    temporary = path.with_suffix(".part")
    wheel = Wheel(temporary)
    add_packages(wheel)
    add_installation(wheel, tree)
    wheel.add(f"{information}/METADATA", metadata(version).encode())
    wheel.add(f"{information}/WHEEL", f"Wheel-Version: 1.0\nGenerator: wheel.py\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n".encode())
    wheel.add(f"{information}/entry_points.txt", b"[console_scripts]\nwarpgrind = warpgrind.__main__:main\n\n"
                                                 b"[pytest11]\nwarpgrind = warpgrind_pytest.plugin\n")
    wheel.add(f"{information}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
    wheel.close(information)
    temporary.rename(path)
    print(f"{path}: {path.stat().st_size / 1e6:.0f} MB")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    given, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    if given.is_dir():
        make(given, folder)
        return
    with tempfile.TemporaryDirectory(dir=folder) as unpacked:
        subprocess.run(["tar", "-C", unpacked, "-xf", given], check=True)
        make(next(pathlib.Path(unpacked).iterdir()), folder)


if __name__ == "__main__":
    main()
