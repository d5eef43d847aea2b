#!/usr/bin/env python3
"""WARPGRIND_AVX2: the JIT's code has no AVX-512 instruction, and the counters are the same. Code for AVX2 is short.

  avx2_alone.py BUILD     exit code 0 passed, 1 failed, 77 objdump is not installed
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import whole_run

# An access whose lanes have addresses of their own, a division, and a store of some lanes.
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data) {
  .reg .pred %p<2>; .reg .b32 %r<7>; .reg .b64 %rd<6>; .shared .align 4 .b32 own[64];
  ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3]; mul.wide.u32 %rd4, %r2, 4; add.u64 %rd5, %rd1, %rd4; ld.global.u32 %r3, [%rd5];
  div.s32 %r4, %r3, %r2; setp.ne.u32 %p1, %r4, 0; mov.u32 %r5, own; mad.lo.u32 %r5, %r1, 4, %r5;
  @%p1 st.shared.u32 [%r5], %r4; bar.sync 0; ld.shared.u32 %r6, [%r5]; st.global.u32 [%rd5], %r6; ret;
}
"""
CLOCKS = ("warpgrind__compile_time.sum", "warpgrind__wall_time.sum")


def run(build, folder, **variables):
    """Disassembly of the kernels of a program, and their metrics."""
    folder.mkdir()
    command = [build / "bin/warpgrind", "run", "--quiet", "--cache", folder, "--json", folder / "profile.json", build / "tests/run/counting"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=whole_run.environment(**variables))
    code = ""
    for path in sorted((folder / "kernels").iterdir()):
        start = path.read_bytes().find(b"\x7fELF")
        if start >= 0:
            (folder / "object").write_bytes(path.read_bytes()[start:])
            code += subprocess.run(["objdump", "-d", folder / "object"], check=True, capture_output=True, text=True).stdout
    kernels = json.loads((folder / "profile.json").read_text())["kernels"]
    return code, {(k["name"], name): m["value"] for k in kernels for name, m in k["metrics"].items() if name not in CLOCKS}


def opcodes(build, folder):
    """Those of the machine code of KERNEL, for AVX2."""
    (folder / "k.ptx").write_text(KERNEL, encoding="ascii")
    subprocess.run([build / "bin/warpgrind", "compile-times", "--cpu", "x86-64-v3", "--tier", "full", "--dump-object", folder / "k.o", folder / "k.ptx"],
                   check=True, stdout=subprocess.DEVNULL)
    code = subprocess.run(["objdump", "-d", folder / "k.o"], check=True, capture_output=True, text=True).stdout
    return {line.split("\t")[2].split()[0] for line in code.splitlines() if line.count("\t") == 2}


def main():
    if not shutil.which("objdump"):
        print("skipped: objdump is not installed")
        return 77
    os.environ.pop("WARPGRIND_AVX2", None)
    with tempfile.TemporaryDirectory(prefix="avx2-alone-") as folder:
        code, metrics = run(pathlib.Path(sys.argv[1]), pathlib.Path(folder, "avx2"), WARPGRIND_AVX2="1")
        assert "ymm" in code and "zmm" not in code, "AVX-512 in the code for AVX2 alone, or no code"
        all_code, all_metrics = run(pathlib.Path(sys.argv[1]), pathlib.Path(folder, "all"))
        if "avx512vl" in pathlib.Path("/proc/cpuinfo").read_text():
            assert "zmm" in all_code, "no AVX-512 without the variable, either"
        assert metrics and metrics.keys() == all_metrics.keys()
        differ = {name: (value, all_metrics[name]) for name, value in metrics.items() if all_metrics[name] != value}
        assert not differ, f"with AVX2 alone, and with all: {differ}"
        short = opcodes(pathlib.Path(sys.argv[1]), pathlib.Path(folder))
        assert {"vpgatherqd", "vptest"} <= short, "lanes at addresses of their own call the device"
        assert "vpinsrb" not in short, "masks are made bit by bit"
        assert "vcvttsd2si" not in short, "quotients are converted one by one"


if __name__ == "__main__":
    sys.exit(main())
