"""scripts/wheel.py: the wheel of a small installation is installed by pip, and finds the program inside itself."""
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    tree = folder / "tree"
    for name, text, mode in (("bin/warpgrind", '#!/bin/sh\n[ "$1" = --version ] && echo warpgrind 1.2.3 || echo "started: $*"\n', 0o755),
                             ("lib/warpgrind/libcuda.so.1", "library", 0o644), ("share/doc/warpgrind/licences/llvm", "licence", 0o644)):
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
    (tree / "lib/warpgrind/libcuda.so").symlink_to("libcuda.so.1")
    (tree / "lib/warpgrind/bin").mkdir()
    (tree / "lib/warpgrind/bin/nvcc").symlink_to("../../../bin/warpgrind")
    archive = folder / "warpgrind-1.2.3-linux-x86_64.tar"
    subprocess.run(["tar", "-C", folder, "-cf", archive, "tree"], check=True)
    for source in (tree, archive):
        subprocess.run([sys.executable, ROOT / "scripts/wheel.py", source, folder], check=True)
        wheel = folder / "warpgrind-1.2.3-py3-none-manylinux_2_31_x86_64.whl"
        names = zipfile.ZipFile(wheel).namelist()
        assert {"warpgrind/magics.py", "warpgrind/counter_names.json", "warpgrind_pytest/plugin.py"} <= set(names), names
        wheel.rename(folder / f"{source.name}.whl")
    assert (folder / "tree.whl").read_bytes() == (folder / f"{archive.name}.whl").read_bytes()
    (folder / "tree.whl").rename(wheel)

    site = folder / "site"
    subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet", "--target", site, wheel], check=True)
    environment = {k: v for k, v in os.environ.items() if k not in ("WARPGRIND", "PYTHONPATH")}
    environment["PYTHONPATH"] = str(site)

    def said(*words):
        return subprocess.run(words, env=environment, cwd=folder, capture_output=True, text=True, check=True).stdout

    inside = site / "warpgrind/installation"
    assert said(sys.executable, "-c", "from warpgrind import program; print(program.find())") == f"{inside}/bin/warpgrind\n"
    assert said(sys.executable, "-m", "warpgrind", "gpus", "t4") == "started: gpus t4\n"
    assert said(site / "bin/warpgrind", "--nix") == "started: --nix\n"
    # Links: a program's is a script, another one a copy.
    assert said(inside / "lib/warpgrind/bin/nvcc", "-O3", "a b.cu") == "started: nvcc -O3 a b.cu\n"
    assert (inside / "lib/warpgrind/libcuda.so").read_text() == "library"
