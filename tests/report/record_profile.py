#!/usr/bin/env python3
"""Records profiles/kernels.json: a detailed run of kernels.cu, without what differs between machines and runs.

  record_profile.py --build DIR      (needs nvcc)
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent.parent / "build")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "p.json"
        subprocess.run([args.build.resolve() / "bin/warpgrind", "run", "--quiet", "--detail", "--json", path, "kernels.cu"],
                       cwd=HERE, check=True)
        text = path.read_text().replace(f"{HERE}/", "").replace("\"./kernels.cu\"", "\"kernels.cu\"")
    profile = json.loads(text)
    for kernel in profile["kernels"]:
        for name in ("warpgrind__wall_time.sum", "warpgrind__compile_time.sum"):
            kernel["metrics"].pop(name, None)
        kernel.pop("block_trace", None)
        # What a kernel does not do takes most of the room.
        kernel["metrics"] = {name: m for name, m in kernel["metrics"].items() if m["value"] != 0 or "conflicts" in name}
    for allocation in profile["allocations"]:
        allocation["address"] = "0x0"
    for source in profile["sources"]:
        source.pop("changed", None)
    profile["sources"] = [s for s in profile["sources"] if s["file"].endswith("kernels.cu")]
    profile["definitions"] = {}
    (HERE / "profiles/kernels.json").write_text(json.dumps(profile, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
