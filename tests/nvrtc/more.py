#!/usr/bin/env python3
"""Tests of our NVRTC beyond NVIDIA's 13.0: libnvrtc.so.12, several threads, and a machine without our headers.

  more.py --folder FOLDER     of our libnvrtc.so.*
"""
import argparse
import concurrent.futures
import ctypes
import os
import pathlib
import shutil
import sys
import tempfile

from calls import SAXPY, Nvrtc

SKIP = 77


def twelve(nvrtc):
    major, minor, count, size = ctypes.c_int(), ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
    nvrtc.Version(ctypes.byref(major), ctypes.byref(minor))
    nvrtc.GetNumSupportedArchs(ctypes.byref(count))
    archs = (ctypes.c_int * count.value)()
    nvrtc.GetSupportedArchs(archs)
    assert (major.value, minor.value, archs[0], archs[-1]) == (12, 9, 50, 121), (major, minor, list(archs))
    program = nvrtc.create("#if __CUDACC_VER_MAJOR__ != 12 || __CUDACC_VER_MINOR__ != 9 || CUDART_VERSION != 12090\n#error no\n#endif\n" + SAXPY)
    assert nvrtc.compile(program) == 0, nvrtc.text("ProgramLog", program)
    assert b".target sm_52" in nvrtc.text("PTX", program)
    assert nvrtc.compile(program, ["-arch=compute_60"]) == 0
    assert nvrtc.compile(program, ["-arch=sm_70", "-dlto"]) == 0
    assert nvrtc.GetNVVMSize(program, ctypes.byref(size)) == 0 and size.value > 0
    print("12.9")


def threads(nvrtc):
    def compile_one(k):
        program = nvrtc.create(f"__global__ void k{k}(int* p) {{ *p = {k}; }}" + ("" if k % 3 else " error"), f"{k}.cu".encode())
        nvrtc.AddNameExpression(program, f"k{k}".encode())
        result = nvrtc.compile(program, [f"-DX={k}"])
        name = nvrtc.lowered(program, f"k{k}")
        log = nvrtc.text("ProgramLog", program)
        nvrtc.DestroyProgram(ctypes.byref(program))
        return (result, name) == (0, f"_Z{len(str(k)) + 1}k{k}Pi") if k % 3 else result == 6 and f"{k}.cu(1): error".encode() in log
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        good = list(pool.map(compile_one, range(12)))
    assert all(good), good
    print("threads")


def alone(library):
    """A copy elsewhere has no headers: every call answers, and the log says what is missing."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "lib/nvrtc/libnvrtc.so.13"
        copy.parent.mkdir(parents=True)
        shutil.copy(library, copy)
        nvrtc = Nvrtc(str(copy))
        program = nvrtc.create(SAXPY)
        result, log = nvrtc.compile(program), nvrtc.text("ProgramLog", program).decode()
        assert result == 7 and "include/cuda_runtime.h, libdevice.bc and launch_pass.so are missing" in log, (result, log)
        assert nvrtc.compile(program, ["--foo"]) == 5
    print("alone")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    args = parser.parse_args()
    if not shutil.which("clang++-19") or os.environ.get("WARPGRIND_TEST_PRELOAD"):
        print("skipped: clang++-19 is not installed, or a sanitizer's library would have to come first")
        return SKIP
    twelve(Nvrtc(str(args.folder / "libnvrtc.so.12")))
    threads(Nvrtc(str(args.folder / "libnvrtc.so.13")))
    alone(args.folder / "libnvrtc.so.13")
    return 0


if __name__ == "__main__":
    sys.exit(main())
