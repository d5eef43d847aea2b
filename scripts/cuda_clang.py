#!/usr/bin/env python3
"""Compiles CUDA with clang-19 and no CUDA toolkit.

  cuda_clang.py [OPTIONS] SOURCE -o PROGRAM        compile and link
  cuda_clang.py [OPTIONS] -c SOURCE -o OBJECT      compile only

Three steps: device code to PTX; PTX wrapped into a fatbin (header and one uncompressed entry); host code with that fatbin
embedded. The program is linked against libcudart.so.13 alone: warpgrind's. Any option not listed by --help goes to clang.
The language header (cuda_mini.h) knows what plain kernels need; for more, use nvcc.
"""
import argparse
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SM = 90
PTX_VERSION = (8, 0)
# Fatbin container, as cuobjdump lists it: file magic, version 1, header of 16 bytes; entry kind 1 is PTX text.
FATBIN_MAGIC = 0xBA55ED50
FLAGS_64BIT_LINUX = 0x11


def first_existing(places):
    return next((str(p) for p in places if p.exists()), None)


def find_clang():
    for name in ("clang++-19", "/usr/lib/llvm-19/bin/clang++"):
        if shutil.which(name):
            return name
    sys.exit("cuda_clang: clang++-19 is not installed")


def find_cudart():
    """Installed beside this script, or the newest build of the source tree."""
    builds = sorted(HERE.parent.glob("build*/lib/**/libcudart.so.13"), key=lambda p: p.stat().st_mtime, reverse=True)
    found = first_existing([HERE / "libcudart.so.13", *builds])
    return found or sys.exit("cuda_clang: no libcudart.so.13 of warpgrind found: give its path with --cudart")


def fatbin(ptx):
    text = ptx + b"\0"
    text += b"\0" * (-len(text) % 8)
    entry = struct.pack("<HHIQIIHHIIIQQQ", 1, 0x0101, 64, len(text), 0, 0, PTX_VERSION[1], PTX_VERSION[0], SM,
                        64, 0, FLAGS_64BIT_LINUX, 0, 0)
    assert len(entry) == 64
    return struct.pack("<IHHQ", FATBIN_MAGIC, 1, 16, len(entry) + len(text)) + entry + text


def compile_object(args, flags, folder, out):
    headers = first_existing([HERE / "clang", HERE.parent / "lab/harness/clang"])
    # -O3 and line tables in both halves; SDK version 12.0 selects today's launch interface (__cudaPushCallConfiguration).
    common = [args.clang, "-x", "cuda", "-std=c++20", "-O3", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent",
              f"--cuda-gpu-arch=sm_{SM}", "-gline-tables-only", "-Wno-unknown-cuda-version",
              "-Xclang", "-target-sdk-version=12.0", "-isystem", headers, "-include", "cuda_mini.h", *flags]
    ptx = args.ptx or os.path.join(folder, "device.ptx")
    binary = os.path.join(folder, "device.fatbin")
    feature = f"--cuda-feature=+ptx{PTX_VERSION[0]}{PTX_VERSION[1]}"
    device = subprocess.run(common + ["--cuda-device-only", feature, "-S", args.source, "-o", ptx])
    if device.returncode:
        return device.returncode
    with open(ptx, "rb") as f:
        text = f.read()
    with open(binary, "wb") as f:
        f.write(fatbin(text))
    host = ["--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", binary, "-fPIC", "-c", args.source]
    return subprocess.run(common + host + ["-o", out]).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-c", dest="compile_only", action="store_true", help="do not link")
    parser.add_argument("--clang", help="the compiler (default: clang++-19)")
    parser.add_argument("--cudart", help="the libcudart.so.13 to link against")
    parser.add_argument("--ptx", help="keep the PTX here")
    parser.add_argument("-o", dest="out", required=True)
    parser.add_argument("source")
    args, flags = parser.parse_known_args()
    args.clang = args.clang or find_clang()
    nvcc_only = ("-lineinfo", "-arch", "-gencode", "-cudart", "-G", "-rdc")
    flags = [f for f in flags if not f.startswith(nvcc_only)]

    link = [f for f in flags if f == "-shared"]
    flags = [f for f in flags if f not in link]

    with tempfile.TemporaryDirectory() as folder:
        if args.compile_only:
            return compile_object(args, flags, folder, args.out)
        built = os.path.join(folder, "program.o")
        cudart = args.cudart or find_cudart()
        return compile_object(args, flags, folder, built) or \
            subprocess.run([args.clang, built, cudart, *link, "-o", args.out]).returncode


if __name__ == "__main__":
    sys.exit(main())
