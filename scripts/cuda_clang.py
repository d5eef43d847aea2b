#!/usr/bin/env python3
"""Compiles one CUDA source to an object file with clang-19 and no CUDA toolkit.

  cuda_clang.py [-c CLANG] [-I DIR]... [-D NAME]... SOURCE -o OBJECT

Three steps: device code to PTX; PTX wrapped into a fatbin (header and one uncompressed entry); host code with that fatbin
embedded. The object links against libcudart.so.13 alone. The language header is lab/harness/clang/cuda_mini.h.
"""
import argparse
import os
import struct
import subprocess
import sys
import tempfile

HEADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab", "harness", "clang")
SM = 90
PTX_VERSION = (8, 0)
# Fatbin container, as cuobjdump lists it: file magic, version 1, header of 16 bytes; entry kind 1 is PTX text.
FATBIN_MAGIC = 0xBA55ED50
FLAGS_64BIT_LINUX = 0x11


def fatbin(ptx):
    text = ptx + b"\0"
    text += b"\0" * (-len(text) % 8)
    entry = struct.pack("<HHIQIIHHIIIQQQ", 1, 0x0101, 64, len(text), 0, 0, PTX_VERSION[1], PTX_VERSION[0], SM,
                        64, 0, FLAGS_64BIT_LINUX, 0, 0)
    assert len(entry) == 64
    return struct.pack("<IHHQ", FATBIN_MAGIC, 1, 16, len(entry) + len(text)) + entry + text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-c", "--clang", default="clang++-19")
    parser.add_argument("-I", dest="includes", action="append", default=[])
    parser.add_argument("-D", dest="defines", action="append", default=[])
    parser.add_argument("--ptx", help="keep the PTX here")
    parser.add_argument("source")
    parser.add_argument("-o", dest="object", required=True)
    args = parser.parse_args()

    # -O3 and line tables in both halves; SDK version 12.0 selects today's launch interface (__cudaPushCallConfiguration).
    common = [args.clang, "-x", "cuda", "-std=c++17", "-O3", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent",
              f"--cuda-gpu-arch=sm_{SM}", "-gline-tables-only", "-Wno-unknown-cuda-version",
              "-Xclang", "-target-sdk-version=12.0", "-isystem", HEADERS,
              "-include", "cuda_mini.h"]
    common += [f"-I{d}" for d in args.includes] + [f"-D{d}" for d in args.defines]
    with tempfile.TemporaryDirectory() as folder:
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
        host = common + ["--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", binary, "-fPIE", "-c",
                         args.source, "-o", args.object]
        return subprocess.run(host).returncode


if __name__ == "__main__":
    sys.exit(main())
