#!/usr/bin/env python3
"""Core files (programs/core.cu): a run writes one at a fault, and `warpgrind debug --core FILE` opens it, forwards and backwards.

  core_test.py --list
  core_test.py --build DIR CASE     exit code 0 passed, 1 failed
"""
import pathlib
import re
import shutil
import subprocess
import tempfile

import acceptance_test
import debugger_test
import whole_run

SOURCE = pathlib.Path(__file__).resolve().parent / "programs/core.cu"
TEXT = ["", *SOURCE.read_text().splitlines()]


def line_of(text):
    return next(n for n, line in enumerate(TEXT) if text in line)


def warpgrind(build, *words, **variables):
    done = subprocess.run([str(build / "bin/warpgrind"), *map(str, words)], stdin=subprocess.DEVNULL, text=True, capture_output=True, timeout=250,
                          check=False, env=whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache"), **variables))
    return done.returncode, done.stdout, done.stderr


def write(build, folder, kind, *options, compiler="clang", source=SOURCE):
    """The core file of this fault, and what the run wrote to standard error."""
    core = pathlib.Path(folder) / f"{compiler}.core"
    _, _, errors = warpgrind(build, "run", "--quiet", "--compiler", compiler, "--core", core, *options, source, kind)
    return core, errors


def opened(build, core, *commands):
    words = [word for command in commands for word in ("-ex", command)]
    code, out, errors = warpgrind(build, "debug", "--core", core, "--batch", *words)
    assert code == 0, f"{code}\n{out}\n{errors}"
    return out


def fault(build, kind, thread, line):
    for compiler in acceptance_test.compilers():
        with tempfile.TemporaryDirectory() as folder:
            core, errors = write(build, folder, kind, compiler=compiler)
            assert core.exists(), errors
            out = opened(build, core, "print i", "print old", "print list->next->value", "print weights[1]", "last-write counter",
                         "reverse-continue", "print counter")
            for text in (f"Stopped by fault: ", f"block (1,0,0), thread ({thread},0,0)", f"core.cu:{line}\n", f"$1 = {64 + thread}\n", "$3 = 77\n",
                         "$4 = 2\n", "Back before the last write of counter:\n", f"core.cu:{line_of('counter + 1')}\n", "$5 = 42\n"):
                assert text in out, f"{compiler}: {text!r} is missing in:\n{out}"
            assert "core file has another fault" not in out, out


def out_of_bounds(build):
    fault(build, "bounds", 5, line_of("// bounds"))


def traps(build):
    fault(build, "trap", 6, line_of("// trap"))


def asserts(build):
    fault(build, "assert", 7, line_of("// assert"))


def variables_of_cuda(build):
    with tempfile.TemporaryDirectory() as folder:
        on = {"CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "1", "CUDA_COREDUMP_FILE": f"{folder}/of.%h.%p.%t"}
        warpgrind(build, "run", "--quiet", "--compiler", "clang", SOURCE, "bounds", **on)
        names = [p.name for p in pathlib.Path(folder).iterdir()]
        assert len(names) == 1 and re.fullmatch(r"of\.[^%]+\.\d+\.\d{10}", names[0]), names
        warpgrind(build, "run", "--quiet", "--compiler", "clang", SOURCE, **on)
        assert len(list(pathlib.Path(folder).iterdir())) == 1, "a program without a fault has written a core file"


def damaged_files(build):
    with tempfile.TemporaryDirectory() as folder:
        core, _ = write(build, folder, "bounds")
        whole = core.read_bytes()
        bad = pathlib.Path(folder) / "bad"
        lengths = [0, 1, 7, 8, 20, 55, 56, 57, len(whole) // 3, len(whole) // 2, len(whole) - 1]
        flipped = [0, 9, 13, 18, 30, 60, 1000, len(whole) // 2, len(whole) - 1]
        for data in [whole[:n] for n in lengths] + [whole[:n] + bytes([whole[n] ^ 4]) + whole[n + 1:] for n in flipped] + [whole + b"x"]:
            bad.write_bytes(data)
            code, out, errors = warpgrind(build, "debug", "--core", bad, "--batch")
            assert code == 2 and out == "" and ("core file" in errors), (len(data), code, out, errors)


def refusals(build):
    with tempfile.TemporaryDirectory() as folder:
        for kind, options, text in (("texture", (), "the kernel uses textures"), ("heap", ("--nvcc-flags", "-DHEAP"), "kernels called malloc()")):
            core, errors = write(build, folder, kind, *options)
            assert not core.exists() and "no core file: the launch cannot run again: " + text in errors, errors


def source_gone(build):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "gone.cu"
        shutil.copy(SOURCE, copy)
        core, errors = write(build, folder, "bounds", source=copy)
        assert core.exists(), errors
        copy.unlink()
        assert "$1 = 69\n" in opened(build, core, "print i")


def other_fault(build):
    """The kernel's address is of a clock, which has run on before the launch and begins anew when the file is opened."""
    with tempfile.TemporaryDirectory() as folder:
        core, errors = write(build, folder, "clock")
        assert core.exists(), errors
        out = opened(build, core)
        assert "Stopped by fault: write of 4 bytes at " in out and "\nThe core file has another fault: write of 4 bytes at " in out, out


CASES = [out_of_bounds, traps, asserts, variables_of_cuda, damaged_files, refusals, source_gone, other_fault]

if __name__ == "__main__":
    debugger_test.run_cases(CASES, __doc__)
