#!/usr/bin/env python3
"""WARPGRIND_AVX2: the JIT's code has no AVX-512 instruction, and the counters are the same.

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


if __name__ == "__main__":
    sys.exit(main())
