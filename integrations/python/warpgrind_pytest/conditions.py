"""Conditions of the marker, judged by `warpgrind show`: same syntax and same messages as on the command line."""
import json
import os
import pathlib
import subprocess
import tempfile

from warpgrind_pytest import restart


def _listed(value):
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def failure(options, profile, expect, require_kernels):
    """Why a condition does not hold; empty: all hold. profile: of the test."""
    words = [f"--expect={condition}" for condition in _listed(expect)]
    words += [f"--require-kernels={name}" for name in _listed(require_kernels)]
    if not words:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "profile.json")
        file.write_text(json.dumps(profile.joined()), encoding="utf-8")
        # warpgrind itself runs outside of the run.
        environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith("WARPGRIND_")}
        ended = subprocess.run([restart.program(options), "show", "--quiet", str(file), *words], env=environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
    return "" if ended.returncode == 0 else ended.stdout.strip()
