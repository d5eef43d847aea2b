#!/usr/bin/env python3
"""Runs launch.py by `warpgrind run --nvrtc ours|nvidia`, and looks at what it printed and at the profile.

  run_launch.py --warpgrind PROGRAM ours|nvidia
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIP = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warpgrind", required=True)
    parser.add_argument("which", choices=["ours", "nvidia"])
    args = parser.parse_args()
    if args.which == "nvidia" and not pathlib.Path("/usr/local/cuda/lib64/libnvrtc.so.13").exists():
        print("skipped: NVIDIA's libnvrtc is not installed")
        return SKIP
    if args.which == "ours" and not shutil.which("clang++-19"):
        print("skipped: clang++-19 is not installed")
        return SKIP
    if os.environ.get("WARPGRIND_TEST_PRELOAD"):
        print("skipped: a sanitizer's library would have to come first in Python")
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder) / "profile.json"
        done = subprocess.run([args.warpgrind, "run", "--gpu", "h200", "--nvrtc", args.which, "--quiet", "--json", profile, sys.executable,
                               HERE / "launch.py"], capture_output=True, text=True)
        print(done.stdout, done.stderr, sep="")
        good = done.returncode == 0 and done.stdout == ("warpgrind's good\n" if args.which == "ours" else "NVIDIA's good\n")
        kernels = [k["name"] for k in json.loads(profile.read_text())["kernels"]] if good else []
        print(kernels)
        return 0 if good and any("scale" in name for name in kernels) else 1


if __name__ == "__main__":
    sys.exit(main())
