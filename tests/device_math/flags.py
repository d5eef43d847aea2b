#!/usr/bin/env python3
"""Test of nvcc's options for arithmetic with the device math library: one file serves all of them.

  flags.py --clang CLANG --include FOLDER --library libdevice.bc
"""
import argparse
import re
import subprocess
import sys

SOURCE = """
#include <math.h>
__global__ void k(float* p, double* d) {
  p[0] = expf(p[1]) + logf(p[2]) + tanf(p[3]) + __fadd_rz(p[4], p[5]);
  p[6] = sinf(p[7]);
  d[0] = exp(d[1]);
}
"""
ARITHMETIC = re.compile(r"^\s+(?:@\S+ )?((?:add|sub|mul|fma|neg|abs|max|min|rcp|div|sqrt|ex2|lg2|sin|cos|cvt)\.\S*f32\S*)", re.M)


def ptx(args, *flags):
    command = [args.clang, "-x", "cuda", "-std=c++17", "-O3", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent",
               "--cuda-gpu-arch=sm_90", "-Wno-unknown-cuda-version", "-Xclang", "-target-sdk-version=12.0", "-isystem",
               args.include, "-include", "warpgrind/wrapper.h", "--cuda-device-only", "--cuda-feature=+ptx85", "-Xclang",
               "-mlink-builtin-bitcode", "-Xclang", args.library, *flags, "-S", "-", "-o", "-"]
    return subprocess.run(command, input=SOURCE, capture_output=True, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser()
    for name in ("clang", "include", "library"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    exact = ptx(args)
    flushing = ptx(args, "-fgpu-flush-denormals-to-zero")
    fast = ptx(args, "-fgpu-flush-denormals-to-zero", "-fgpu-approx-transcendentals")
    unflushed = [i for i in ARITHMETIC.findall(flushing) if ".ftz" not in i and ".f64" not in i and ".f32.s32" not in i
                 and ".f32.u32" not in i]
    wrong = []
    if ".ftz" in exact:
        wrong.append("without -ftz=true something flushes subnormals")
    if unflushed:
        wrong.append(f"-ftz=true leaves {sorted(set(unflushed))}")
    if "add.rz.f32" not in exact or "add.rz.ftz.f32" not in flushing:
        wrong.append("__fadd_rz is not add.rz, or does not flush")
    if "sin.approx.ftz.f32" not in fast or "sin.approx" in flushing:
        wrong.append("sinf is sin.approx with -use_fast_math, and only then")
    for name, text in (("exact", exact), ("flushing", flushing), ("fast", fast)):
        if re.search(r"^\s+call|\.extern \.func|__nvvm_reflect", text, re.M):
            wrong.append(f"{name}: something of the library is called, or missing")
    print("\n".join(wrong) or "as they should be")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
