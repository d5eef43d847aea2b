#!/usr/bin/env python3
"""Compiles the kernels of CUB's and Thrust's usual instances for a package, which has them in lib/warpgrind/prepared/kernels.

  package_kernels.py BUILD     into BUILD/lib/prepared/kernels, as clang and, if it is installed, nvcc write them

`make package` calls it. Programs that this build runs find these kernels, too. The options are those of `warpgrind run FILE.cu`.
`warpgrind prepare --kernels` compiles the kernels of cmake/package/kernels for each level of x86-64. What is missing (nvcc, the headers) is
named, and the package has no such kernels.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPTIONS = ["-ptx", "-lineinfo", "-O3", "-arch=sm_90"]
# With these instances the sorts take another way on GPUs since compute capability 7.0.
NEVER_LAUNCHED = ["DeviceRadixSortUpsweepKernel", "DeviceRadixSortDownsweepKernel", "RadixSortScanBinsKernel"]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    warpgrind = build / "bin/warpgrind"
    prepared = build / "lib/prepared"
    shutil.rmtree(prepared, ignore_errors=True)
    prepared.mkdir(parents=True)
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        print("package_kernels.py: nvcc is not installed: the package has no kernels as nvcc writes them")
    with tempfile.TemporaryDirectory() as folder:
        texts = []
        for source in sorted((ROOT / "cmake/package/kernels").glob("*.cu")):
            for name, compiler in [("clang", [warpgrind, "nvcc"])] + [("nvcc", [nvcc])] * bool(nvcc):
                ptx = pathlib.Path(folder, "%s_%s.ptx" % (source.stem, name))
                # Without a cache: a package must not depend on what the user compiled before.
                done = subprocess.run([*compiler, *OPTIONS, source, "-o", ptx], env={**os.environ, "XDG_CACHE_HOME": folder})
                if done.returncode:
                    print("package_kernels.py: %s does not compile %s: the package lacks its kernels" % (name, source.name))
                else:
                    texts.append(ptx)
        words = [word for name in NEVER_LAUNCHED for word in ("--leave-out", name)]
        return subprocess.run([warpgrind, "prepare", "--kernels", prepared, *words, *texts]).returncode if texts else 0


if __name__ == "__main__":
    sys.exit(main())
