#!/usr/bin/env python3
"""The digest in the disk cache's keys (cmake/CodeHash.cmake) is another one when a source that decides the code of kernels is.

  code_hash.py CMAKE
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DECIDES = ("engine/codegen/kernel/emit.cpp", "engine/jit/abi.h", "frontend/flow/wait_points.cpp", "frontend/ptx/opcodes/integer.inc",
           "common/gpu/access_rules.h", "engine/events/site.h")


def main():
    with tempfile.TemporaryDirectory() as folder:
        sources, out = pathlib.Path(folder) / "src", pathlib.Path(folder) / "code_hash.h"
        shutil.copytree(ROOT / "src", sources)

        def digest():
            subprocess.run([sys.argv[1], "-D", f"SOURCES={sources}", "-D", f"OUT={out}", "-P", ROOT / "cmake/CodeHash.cmake"], check=True)
            return out.read_text()

        seen = {digest()}
        assert digest() in seen, "not the same for the same sources"
        for name in DECIDES:
            with open(sources / name, "a") as f:  # of a file that must be there
                f.write("\n")
            assert (now := digest()) not in seen, f"the same after a change of {name}"
            seen.add(now)
        before = digest()
        (sources / "engine/codegen/kernel/another.cpp").write_text("")
        assert digest() != before, "the same with a file more"


if __name__ == "__main__":
    main()
