#!/usr/bin/env python3
"""Kernels of Python programs stop at their lines: Numba, Triton, and CUDA C++ that a program compiles itself (NVRTC).

  python_test.py --list
  python_test.py --build DIR CASE     exit code 0 passed, 1 failed, 77 skipped: the client is not installed

numba_cuda, triton_live, cupy and cuda_core need these packages in this Python (WARPGRIND_CLIENTS_PYTHON names another one). PTX of
numba-cuda and Triton is recorded, too (programs/python/*_recorded.py). Values are computed here.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import debugger_test as debugger  # noqa: E402
from clients_test import skip  # noqa: E402

PROGRAMS = HERE / "programs/python"
CLIENTS = os.environ.get("WARPGRIND_CLIENTS_PYTHON", sys.executable)
NVIDIA = pathlib.Path("/usr/local/cuda/lib64/libnvrtc.so.13")


def line_of(program, text):
    found = [n for n, line in enumerate((PROGRAMS / program).read_text().splitlines(), 1) if text in line]
    assert len(found) == 1, (program, text, found)
    return found[0]


def terminal(build, program, commands, *options, python=sys.executable, words=(), **environment):
    """What `warpgrind debug python3 PROGRAM` prints for each command."""
    ended = subprocess.run([str(build / "bin/warpgrind"), "debug", *options, python, str(PROGRAMS / program), *words], input="\n".join(commands) + "\n",
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200,
                           env=debugger.whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache"), **environment), check=False)
    assert ended.returncode == 0, ended.stdout
    parts = ended.stdout.split("(warpgrind) ")[1:]
    out = {}
    for command, text in zip(commands, parts):
        assert text.startswith(command + "\n"), (command, text)
        out.setdefault(command, []).append(text[len(command) + 1:])
    assert len(parts) == len(commands) + 1, ended.stdout
    return out


def has(text, *wanted):
    for one in wanted:
        assert one in text, f"{one!r} is missing in:\n{text}"


def numba(build):
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import numba.cuda"], capture_output=True, check=False).returncode != 0:
        skip("python3-numba is not installed")
    toolkit = build / "toolkit"
    if not (toolkit / "nvvm/libdevice/libdevice.10.bc").exists():
        skip("our toolkit was not built")
    file = "numba_lines.py"
    weighed, load, store = line_of(file, "heavy ="), line_of(file, "v = x[i]"), line_of(file, "t = x[i]")
    out = terminal(build, file, [
        f"break {file}:{weighed} if threadIdx.x == 5 && blockIdx.x == 1", f"break {store}", "run", "backtrace", "next", "reverse-next", "up", "list",
        "print %f1", "warp threadIdx.x", "print heavy", "info sources", "delete 1", "continue", "backtrace", "stepi", "reverse-stepi", "info line", "reverse-continue", "delete", "continue", "continue"],
        python=python, CUDA_HOME=str(toolkit), NUMBA_CUDA_DRIVER=str(toolkit / "driver12/libcuda.so.1"))
    has(out["run"][0], "Breakpoint 1\n[block (1,0,0), thread (5,0,0), warp 0, lane 5]\n", f"weighed", f"at {file}:{weighed}\n{weighed}\t    heavy = value * factor\n")
    has(out["backtrace"][0], f"at {file}:{load + 1}\n")
    has(out["next"][0], f"{weighed + 1}\t    return heavy + 1\n")
    has(out["reverse-next"][0], f"{weighed}\t")
    has(out["up"][0], f"{load + 1}\t        y[i] = weighed(v, factor)\n")
    has(out["list"][0], "def scale(x, y, factor):\n")
    has(out["warp threadIdx.x"][0], "min 0 in lane 0, max 31 in lane 31")
    has(out["print heavy"][0], "Numba")
    has(out["info sources"][0], str(PROGRAMS / file) + "\n")
    has(out["continue"][0], "[1.0, 4.0, 7.0, 10.0]\n", "Breakpoint 2\n", f"{store}\t    t = x[i]\n")
    has(out["info line"][0], f"Line {store} of ")
    # Back in the first launch's entry, which has no lines: it calls the function.
    has(out["reverse-continue"][0], "the beginning of the program's first launch", "#0  cudapy::__main__::scale")
    has(out["continue"][1], "the place from which you went back", f"{store}\t    t = x[i]\n")
    has(out["continue"][2], "[0.0, 2.0, 4.0, 6.0]\n", "[The program exited normally]")


def needs(package):
    if subprocess.run([CLIENTS, "-c", f"import {package}"], capture_output=True, check=False).returncode != 0:
        skip(f"{CLIENTS} has no {package}")


def numba_arrays(build, program, python):
    """Variables of a kernel with debug=True: arrays, in registers and in shared memory, and those of a device function."""
    file = "numba_arrays.py"
    load, store, heavy = line_of(file, "v = x[i]"), line_of(file, "y[i] = weighed"), line_of(file, "heavy =")
    out = terminal(build, program, [
        "break scale", f"break {file}:{store} if i == 37", "run", "info locals", "delete 1", "continue", "backtrace", "print v", "warp v", "print tile.data[0]@6",
        "print x.data[i]", "ptype x.data", "last-write tile.data[5]", "print i", f"break {file}:{heavy}", "delete 2", "continue", "backtrace", "print value", "next",
        "print heavy", "reverse-next", "up", "list", "info functions scale", "delete", "continue"], python=python)
    has(out["run"][0], "#0  __main__::scale[abi:v1] (x={meminfo = ", f"at {file}:{load - 3}\n")
    has(out["continue"][0], "Breakpoint 2\n", "[block (1,0,0), thread (5,0,0), warp 0, lane 5]\n", f"at {file}:{store}\n")
    has(out["print v"][0], "$1 = 37\n")
    has(out["warp v"][0], "min 32 in lane 0, max 63 in lane 31")
    has(out["print tile.data[0]@6"][0], "$2 = {32, 33, 34, 35, 36, 37}\n")
    has(out["print x.data[i]"][0], "$3 = 37\n")
    has(out["ptype x.data"][0], "float32 *")
    has(out["last-write tile.data[5]"][0], f"{load + 1}\t        tile[i % 32] = v\n")
    has(out["print i"][0], "$4 = 37\n")
    has(out["backtrace"][1], f"at {file}:{heavy}\n", f"at {file}:{store}\n")
    has(out["next"][0], f"{heavy + 1}\t    return heavy + 1\n")
    has(out["print heavy"][0], " = ")
    has(out["reverse-next"][0], f"{heavy}\t")
    has(out["list"][0], f"{store}\t        y[i] = weighed(tile[i % 32], factor)\n")
    has(out["info functions scale"][0], "scale[abi:v1]")
    has(out["continue"][2], "[1.0, 4.0, 7.0, 10.0]\n", "[The program exited normally]")


def numba_cuda(build):
    needs("numba_cuda")
    numba_arrays(build, "numba_arrays.py", CLIENTS)


def numba_recorded(build):
    numba_arrays(build, "numba_recorded.py", sys.executable)


def triton(build):
    triton_session(build, "triton_recorded.py", sys.executable)


def triton_live(build):
    needs("torch, triton")
    with tempfile.TemporaryDirectory() as folder:
        triton_session(build, "triton_rows.py", CLIENTS, TRITON_CACHE_DIR=folder)


def triton_session(build, program, python, **environment):
    file = "triton_rows.py"
    total, load = line_of(file, "total = a + 2 * b"), line_of(file, "total += tl.load")
    out = terminal(build, program, [
        f"break {file}:{total}", "run", "next", "reverse-next", "list", "warp %r13", "delete 1", f"break {file}:{load} if blockIdx.x == 3", "continue",
        "backtrace", "info sources", f"break {file}:99", "delete 2", "continue"], python=python, **environment)
    has(out["run"][0], f"#0  add at {file}:{total}\n{total}\t    total = a + 2 * b\n")
    has(out["next"][0], f"{total + 1}\t    tl.store(out + offsets, total, mask=mask)\n")
    has(out["reverse-next"][0], f"{total}\t")
    has(out["list"][0], "pid = tl.program_id(0)\n")
    has(out["warp %r13"][0], "min 0 in lane 0, max 62 in lane 31")  # 2 elements a thread
    has(out["continue"][0], "[block (3,0,0), thread (0,0,0), warp 0, lane 0]\n", f"{load}\t        total += tl.load(")
    has(out["backtrace"][0], "row_sum at triton_rows.py:")
    has(out["info sources"][0], str(PROGRAMS / file) + "\n", "triton/language/standard.py\n")
    has("".join(out["continue"]), "[2.0, 3.0, 4.0, 5.0, 6.0]")
    has(out["continue"][1], "[31125.0, 93625.0, 156125.0, 218625.0]\n", f"Breakpoint 3 ({file}:99) was never set: no kernel has code at this line")


def nvrtc_session(build, compiler, *words):
    """A kernel whose source is a text: its lines, its variables, its text, forwards and backwards."""
    program = "nvrtc_text.py"
    out = terminal(build, program, [
        "break scale.cu:5 if i == 37", "run", "print v", "list", "next", "reverse-next", "break weigh.h:2 if value == 37", "run", "continue", "backtrace", "print value", "next",
        "print heavy", "info sources", "delete", "continue"], "--nvrtc", compiler, words=words)
    has(out["run"][0], "Breakpoint 1\n[block (1,0,0), thread (5,0,0), warp 0, lane 5]\n#0  scale", "at scale.cu:5\n5\t  out[i] = weighed(v, 3);\n")
    has(out["print v"][0], "$1 = 37\n")
    has(out["list"][0], '1\t#include "weigh.h"\n')
    has(out["next"][0], "6\t}\n")
    has(out["reverse-next"][0], "5\t")
    has(out["continue"][0], "weighed", "at weigh.h:2\n")
    has(out["backtrace"][0], "at weigh.h:2\n", "at scale.cu:5\n")
    has(out["print value"][0], "$2 = 37\n")
    has(out["print heavy"][0], "$3 = 111\n")
    has(out["info sources"][0], "/scale.cu  (text that the program gave to NVRTC)\n", "/weigh.h  (text that the program gave to NVRTC)\n")
    has(out["continue"][1], "[1.0, 4.0, 7.0, 10.0]\n", "[The program exited normally]")


def nvrtc_ours(build):
    nvrtc_session(build, "ours")
    nvrtc_session(build, "ours", "-arch=sm_80", "-lineinfo")


def nvrtc_nvidias(build):
    if not NVIDIA.exists():
        skip(f"{NVIDIA} is not installed")
    nvrtc_session(build, "nvidia")
    nvrtc_session(build, "nvidia", "-arch=sm_80", "-lineinfo")


def script_session(build, compiler, *words):
    """A kernel's text without a name that the script has: its lines are the script's, also if others are around them."""
    file = "nvrtc_script.py"
    heavy, store, difference, square = (line_of(file, text) for text in ("float heavy", "out[i] = heavy", "float d =", "out[i] = d * d"))
    out = terminal(build, file, [
        f"break {heavy} if i == 37", "run", "list", "print v", "next", "print heavy", "reverse-next", "backtrace", f"break {file}:{square}", "delete 1", "continue",
        "print d", "reverse-next", "reverse-next", "info line", "info sources", "delete", "continue"], "--nvrtc", compiler, words=words)
    has(out["run"][0], "[block (1,0,0), thread (5,0,0), warp 0, lane 5]\n", "scale", f"at {file}:{heavy}\n{heavy}\t  float heavy = v * 3;\n")
    has(out["list"][0], f'{heavy - 3}\tKERNEL = """extern "C"')
    has(out["print v"][0], "$1 = 37\n")
    has(out["next"][0], f"{store}\t  out[i] = heavy + 1;\n")
    has(out["print heavy"][0], "$2 = 111\n")
    has(out["reverse-next"][0], f"{heavy}\t")
    has(out["continue"][0], "[1.0, 4.0, 7.0, 10.0]\n", "elementwise", f"{square}\t    out[i] = d * d;\n")
    has(out["print d"][0], "$3 = ")
    has(out["reverse-next"][1], f"{difference}\t    float d = x - y;\n")
    has(out["reverse-next"][2], "3\t    float x = in[i], y = i / 2;\n")
    has(out["info line"][0], 'Line 3 of "default_program"')
    has(out["info sources"][0], str(PROGRAMS / file) + "\n", "/default_program  (text that the program gave to NVRTC)\n")
    has(out["continue"][1], "[The program exited normally]")


def nvrtc_script_ours(build):
    script_session(build, "ours")


def nvrtc_script_nvidias(build):
    if not NVIDIA.exists():
        skip(f"{NVIDIA} is not installed")
    script_session(build, "nvidia")
    script_session(build, "nvidia", "-arch=sm_80")


def cupy(build):
    """Each kind of kernel stops at lines of the script."""
    needs("cupy")
    file = "cupy_kernels.py"
    heavy, total, square = line_of(file, "float heavy"), line_of(file, "T sum ="), line_of(file, "z = difference")
    out = terminal(build, file, [
        f"break {heavy} if i == 37", "run", "list", "next", "print heavy", "reverse-next", f"break {file}:{total}", "delete 1", "continue", "up", "delete 2",
        f"break {file}:{square}", "continue", "reverse-next", "next", "warp difference", "info sources", "delete", "continue"], python=CLIENTS)
    has(out["run"][0], "[block (1,0,0), thread (5,0,0), warp 0, lane 5]\n#0  scale (in=", f"at {file}:{heavy}\n")
    has(out["list"][0], f"{heavy - 3}\tscale = cp.RawKernel(r")
    has(out["print heavy"][0], "$1 = 111\n")
    has(out["continue"][0], "[1.0, 4.0, 7.0, 10.0]\n", f"#0  twice<float> (v=0) at {file}:{total}\n")
    has(out["up"][0], f"at {file}:{line_of(file, 'out[threadIdx.x] = twice')}\n")
    has(out["continue"][1], "[0.0, 2.0, 4.0, 6.0]\n", "#0  squared (", f"at {file}:{square}\n")
    has(out["reverse-next"][1], f"{square - 1}\t  T difference = x - y;\n")
    has(out["warp difference"][0], "min -31 in lane 31, max 0 in lane 0")
    has(out["info sources"][0], str(PROGRAMS / file) + "\n")
    has(out["continue"][2], "[0.0, 1.0, 4.0, 9.0]\n", "[The program exited normally]")


def cuda_core(build):
    needs("cuda.core, numpy")
    file = "core_kernel.py"
    store = line_of(file, "y[i] = product")
    out = terminal(build, file, [f"break {file}:{store} if i == 37", "run", "print product", "reverse-next", "list", "delete", "continue"], python=CLIENTS)
    has(out["run"][0], "#0  saxpy<float> (a=2, x=0x", f"at {file}:{store}\n")
    has(out["print product"][0], "$1 = 74\n")
    has(out["reverse-next"][0], f"{store - 1}\t  T product = a * x[i];\n")
    has(out["continue"][0], "[1.0, 3.0, 5.0, 7.0]\n")


def source_request(build):
    """An editor gets the text of a source without a file by sourceReference, and sets breakpoints in it."""
    client = debugger.Client(build, launch=False)
    client.send("launch", program=sys.executable, args=[str(PROGRAMS / "nvrtc_text.py")], nvrtc="ours")
    client.event("initialized")
    client.call("setFunctionBreakpoints", breakpoints=[{"name": "scale"}])
    client.begin()
    source = client.frames()[0]["source"]
    debugger.check((source["name"], source["sourceReference"] > 0), ("scale.cu", True))
    text = client.call("source", source=source, sourceReference=source["sourceReference"])["content"]
    debugger.check(text.splitlines()[4], "  out[i] = weighed(v, 3);")
    debugger.check(client.call("source", sourceReference=source["sourceReference"])["content"], text)
    debugger.check(client.call("setBreakpoints", source=source, breakpoints=[{"line": 5}])["breakpoints"][0]["verified"], True)
    client.call("setFunctionBreakpoints", breakpoints=[])
    client.go("continue")
    debugger.check(client.line(), 5)
    names = {s["name"]: s for s in client.call("loadedSources")["sources"]}
    assert {"scale.cu", "weigh.h"} <= set(names), names
    assert "weighed(float" in client.call("source", source=names["weigh.h"])["content"]
    for wrong in ({"source": {"path": "/etc/passwd"}}, {"sourceReference": 99}, {}, {"source": 7}):
        assert not client.answer("source", **wrong)["success"], wrong
    client.call("disconnect")
    client.process.wait(60)


def processes(build):
    """Of several processes the first is debugged, if the others are to run freely."""
    out = terminal(build, "processes.py", ["set detach-on-fork on", "break fill.cu:3", "run", "print value", "delete", "continue", "break fill.cu:3", "run", "print value"],
                   "--nvrtc", "ours", words=["3"])
    for run in 0, 1:  # also if the program is run twice
        has(out["run"][run], "Breakpoint", "fill", "at fill.cu:3\n")
        has(out["print value"][run], f"${run + 1} = 0\n")
    text = out["continue"][0]
    has(text, "0 [0.0, 1.0, 2.0]\n", "1 [0.0, 1.0, 2.0]\n", "2 [0.0, 1.0, 2.0]\n")
    said = "".join(out[command][0] for command in ("run", "print value", "delete", "continue"))
    debugger.check(said.count(" uses CUDA, and runs without the debugger]"), 2)


def catches_errors(build):
    """A call that fails stops; looking for a function that is not there does not, since clients do it for each function."""
    out = terminal(build, "failing_calls.py", ["catch api", "run", "continue"])
    has(out["run"][0], "Stopped by an error of a CUDA call: cuMemAlloc")
    has(out["continue"][0], "[The program exited normally]")


def never_set(build):
    """A breakpoint that no kernel has is named at the end."""
    out = terminal(build, "nvrtc_text.py", ["break nvrtc_text.py:7", "break nosuch", "run"], "--nvrtc", "ours")
    has(out["run"][0], "Breakpoint 1 (nvrtc_text.py:7) was never set: no kernel has code at this line",
        "Breakpoint 2 (nosuch) was never set: no kernel that was launched has this function")


CASES = [numba, numba_cuda, numba_recorded, triton, triton_live, cupy, cuda_core, nvrtc_ours, nvrtc_nvidias, nvrtc_script_ours, nvrtc_script_nvidias, source_request, processes, catches_errors, never_set]


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    debugger.run_cases(CASES, __doc__)
