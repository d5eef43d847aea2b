#!/usr/bin/env python3
"""Stops of the debugger that are no breakpoints, on a real program (programs/stops.cu): at faults of `warpgrind run --debug-on-fault`, at
findings of the checks, at CUDA calls that fail, at barriers, and where a warp splits.

  stops_test.py --list
  stops_test.py --build DIR CASE     exit code 0 passed, 1 failed
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))
import debugger_test  # noqa: E402
import whole_run  # noqa: E402
from debugger_test import check  # noqa: E402

SOURCE = str(HERE / "programs/stops.cu")
TEXT = ["", *pathlib.Path(SOURCE).read_text().splitlines()]


def line_of(text, kernel=""):
    """The number of the first line with this text, behind the line of the kernel."""
    begin = next(n for n, line in enumerate(TEXT) if kernel in line)
    return next(n for n, line in enumerate(TEXT) if n >= begin and text in line)


class Client(debugger_test.Client):
    def __init__(self, build, *program_words, filters=(), conditions=None, **launch):
        super().__init__(build, launch=False)
        self.send("launch", program=SOURCE, args=list(program_words), **launch)
        self.event("initialized")
        options = [{"filterId": name, "condition": text} for name, text in (conditions or {}).items()]
        self.filters = self.call("setExceptionBreakpoints", filters=list(filters), filterOptions=options)["breakpoints"]

    def description(self):
        info = self.call("exceptionInfo", threadId=self.stop["threadId"])
        return info["exceptionId"], info["description"]

    def go_to_end(self):
        self.call("continue", threadId=self.stop["threadId"])
        return self.exit()

    def leave(self):
        self.call("disconnect")
        self.process.stdin.close()
        self.process.wait(60)


def run(build, *words, commands=""):
    """Standard output, and the exit code."""
    done = subprocess.run([str(build / "bin/warpgrind"), *words], input=commands, text=True, capture_output=True, timeout=250,
                          env=whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache")))
    assert "Traceback" not in done.stderr
    return done.stdout, done.returncode, done.stderr


# ---- `warpgrind run --debug-on-fault`

def opens_at_a_fault(build):
    out, code, _ = run(build, "run", "--debug-on-fault", SOURCE, "outside", commands="print i\nwarp i\nbacktrace\n")
    place = rf"#0  outside \(\w+=0x[0-9a-f]+\) at stops\.cu:{line_of('100000')}\n"
    assert "Stopped by fault: write of 4 bytes" in out and re.search(place, out) and "lane 5]" in out and "$1 = 5" in out, out
    check((code, "ends" in out), (1, False))  # left before the program's end
    out, code, _ = run(build, "run", "--debug-on-fault", SOURCE, "outside", commands="continue\nquit\n")
    assert "ends\n[The program exited with code 3]\n" in out, out
    check(code, 3)


def opens_at_an_assert(build):
    out, code, _ = run(build, "run", "--debug-on-fault", debugger_test.SOURCE, "2", commands="print lane\nquit\n")
    assert "Stopped by fault" in out and "$1 = 7" in out, out
    check(code, 1)


def runs_through_without_a_fault(build):
    check(run(build, "run", "--debug-on-fault", SOURCE)[:2], ("ends\n", 3))
    out, code, errors = run(build, "run", "--debug-on-fault", "--json", "/dev/null", SOURCE)
    assert code == 2 and "there is no profile to write" in errors, errors


# ---- Findings

def stops_at_a_race(build):
    client = Client(build, "reverse", check=True, filters=["finding"])
    check(client.begin()["reason"], "exception")
    kind, text = client.description()
    write, read = line_of("tile[i] =", "reverse"), line_of("tile[from]", "reverse")
    assert kind == "finding" and text.startswith("race-shared: "), text
    assert f"stops.cu:{write} by block (0,0,0), thread " in text and f"stops.cu:{read} by block (0,0,0), thread " in text, text
    # Warp 1 stands at its write, which the values that warp 0 has read are from before.
    check((client.stop["focus"]["warp"], client.line()), (1, write))
    check(client.value("i"), str(client.stop["focus"]["lane"] + 32))
    # Going back and forwards works from there.
    for _ in range(3):  # clang's line has several pieces
        client.go("stepBack")
        if client.line() != write:
            break
    check(client.line(), line_of("int i", "reverse"))
    client.go("next")
    check(client.line(), write)
    check(client.go_to_end(), "ends\n")


def stops_at_an_uninitialised_value(build):
    client = Client(build, "unset", check="init", filters=["finding"])
    client.begin()
    kind, text = client.description()
    assert kind == "finding" and text.startswith("uninit-shared: ") and "`flag`" in text, text
    check(client.line(), line_of("if (flag", "unset"))
    check(client.go_to_end(), "ends\n")


def stops_at_an_invalid_access(build):
    client = Client(build, "outside", check="memory", filters=["finding"])
    client.begin()
    kind, text = client.description()
    assert kind == "finding" and text.startswith("oob-global-write: "), text
    check((client.line(), client.stop["focus"]["lane"], client.value("i")), (line_of("100000"), 5, "5"))
    check(client.go_to_end(), "ends\n")


def finds_in_the_terminal(build):
    out, code, _ = run(build, "debug", "--check", SOURCE, "reverse", commands="run\nprint i\ncontinue\n")
    assert "Stopped by finding: race-shared: " in out and re.search(rf"#0  reverse \(.*\) at stops\.cu:{line_of('tile[i] =')}\n", out), out
    assert "ends\n[The program exited with code 3]\n" in out, out
    out, _, _ = run(build, "debug", SOURCE, commands="catch finding\ncatch nothing\n")
    assert "Nothing is checked: start the debugger with --check." in out and "catch needs one of: " in out, out


# ---- Errors of CUDA calls

def stops_at_failed_calls(build):
    client = Client(build, "api", filters=["api"])
    for call, error, text in (("cudaMemcpy", "cudaErrorInvalidValue", "cudaMemcpy(host"),
                              ("cudaLaunchKernel", "cudaErrorInvalidValue", "<<<1, 2048>>>"),
                              ("cudaSetDevice", "cudaErrorInvalidDevice", "cudaSetDevice(99)")):
        stop = client.begin() if call == "cudaMemcpy" else client.go("continue")
        check(stop["reason"], "exception")
        kind, description = client.description()
        assert kind == "api" and description.startswith(f"{call} returns {error} ("), description
        frames = client.frames()
        check((frames[0]["name"], frames[0]["line"]), ("main", line_of(text)))
        check([t["name"] for t in client.call("threads")["threads"]], [f"host thread in {call}"])
        refused = client.answer("evaluate", expression="i", context="watch")
        assert not refused["success"] and "host code" in refused["message"], refused
    check(client.go_to_end(), "ends\n")


def catches_failed_calls_in_the_terminal(build):
    out, _, _ = run(build, "debug", SOURCE, "api", commands="catch api\nrun\nbacktrace\nprint i\nnext\ncontinue\ndelete\ncontinue\n")
    assert "Stopped by an error of a CUDA call: cudaMemcpy returns cudaErrorInvalidValue (invalid argument)" in out, out
    assert f"main at stops.cu:{line_of('cudaMemcpy(host')}" in out, out
    assert "no kernel is stopped" in out and "[The program exited with code 3]" in out, out


# ---- Barriers and branches

def stops_at_barriers(build):
    client = Client(build, "split", conditions={"barrier": "threadIdx.x == 40"})
    stop = client.begin()
    check((stop["reason"], stop["hitBreakpointIds"], client.line()), ("breakpoint", [client.filters[0]["id"]], line_of("__syncthreads")))
    check(stop["focus"]["thread"], [40, 0, 0])
    check(client.go_to_end(), "ends\n")


def stops_where_a_warp_splits(build):
    client = Client(build, "split", filters=["divergence"])
    stop = client.begin()
    assert "the lanes of the warp split: lanes " in stop["text"] and "0-7" in stop["text"] and "8-31" in stop["text"], stop
    check(stop["focus"]["warp"], 0)  # the branch of warp 1 does not split it
    check(client.go_to_end(), "ends\n")


def catches_barriers_in_the_terminal(build):
    out, _, _ = run(build, "debug", SOURCE, "split", commands="catch barrier if i == 33\ncatch divergence\ninfo breakpoints\nrun\ncontinue\n"
                    "print i\ncontinue\n")
    assert "1    catchpoint      keep y   barrier\n\tstop only if i == 33\n" in out, out
    assert "\nCatchpoint 2\nthe lanes of the warp split: " in out and "\nCatchpoint 1\n" in out and "$1 = 33" in out, out
    assert "[The program exited with code 3]" in out, out


# ---- Other stops

def instruction_breakpoints(build):
    client = Client(build, "twice")
    client.call("setBreakpoints", source={"path": SOURCE}, breakpoints=[{"line": line_of("int v", "split")}])
    check(client.begin()["focus"]["launch"], 1)
    here = client.frames()[0]["instructionPointerReference"]
    ptx = client.call("disassemble", memoryReference=here, instructionOffset=0, instructionCount=40)["instructions"]
    # VS Code reads addresses as numbers, and scrolls up from the first one to before the function.
    check([int(one["address"], 16) for one in ptx], list(range(int(here, 16), int(here, 16) + 40)))
    assert all(re.fullmatch(r"f\d+:i\d+", one["instructionBytes"]) for one in ptx if one.get("presentationHint") != "invalid"), ptx
    begin = int(here, 16) - int(ptx[0]["instructionBytes"].split(":i")[1])
    above = client.call("disassemble", memoryReference=hex(begin), instructionOffset=-3, instructionCount=4)["instructions"]
    check([(int(one["address"], 16), one.get("presentationHint")) for one in above], [(begin - 3, "invalid"), (begin - 2, "invalid"), (begin - 1, "invalid"), (begin, None)])
    again = client.call("disassemble", memoryReference=above[0]["address"], instructionOffset=3, instructionCount=1)["instructions"]
    check(again, above[3:])
    check(client.call("disassemble", memoryReference=ptx[0]["instructionBytes"], instructionOffset=0, instructionCount=1)["instructions"], ptx[:1])
    for before, inside in zip(ptx, ptx[1:]):
        if inside["line"] < line_of("out[i] = v", "split"):  # not all threads come there
            continue
        wanted = inside["address"]
        pending = client.call("setInstructionBreakpoints", breakpoints=[{"instructionReference": wanted, "condition": "threadIdx.x == 40"}])["breakpoints"][0]
        if inside["line"] == before["line"] and not pending["verified"]:  # a piece of a line begins elsewhere
            break
    assert not pending["verified"] and "next launch" in pending["message"], pending
    client.call("setBreakpoints", source={"path": SOURCE}, breakpoints=[])
    stop = client.go("continue")
    check((stop["hitBreakpointIds"], stop["focus"]["launch"], stop["focus"]["thread"]), ([pending["id"]], 2, [40, 0, 0]))
    check(client.frames()[0]["instructionPointerReference"], wanted)
    number = int(wanted, 16)
    for step in (1, 2):
        client.go("stepIn", granularity="instruction")
        check(client.frames()[0]["instructionPointerReference"], hex(number + step))
    check(client.go_to_end(), "ends\n")


def watchpoints_take_conditions(build):
    client = Client(build, "reverse")
    client.call("setBreakpoints", source={"path": SOURCE}, breakpoints=[{"line": line_of("tile[i] =", "reverse")}])
    client.begin()
    data = client.call("dataBreakpointInfo", name="tile")["dataId"]
    set_ = client.call("setDataBreakpoints", breakpoints=[{"dataId": data, "accessType": "write", "condition": "i > 31"}])["breakpoints"][0]
    check(set_["verified"], True)
    client.call("setBreakpoints", source={"path": SOURCE}, breakpoints=[])
    stop = client.go("continue")  # the write of warp 0 does not stop
    check((stop["reason"], stop["hitBreakpointIds"], stop["focus"]["warp"]), ("data breakpoint", [set_["id"]], 1))
    client.call("setDataBreakpoints", breakpoints=[])
    check(client.go_to_end(), "ends\n")


def names_another_launch(build):
    out, _, _ = run(build, "debug", SOURCE, "twice", commands=f"break stops.cu:{line_of('int v', 'split')} if i == 0\nrun\ncontinue\nrun\ncontinue\n"
                    "info launches\n")
    check(out.count("Breakpoint 1\n[launch 2: split(int*)]\n"), 2)  # the second run is debugged, too
    assert "2    split(int*)<<<(1,1,1), (64,1,1)>>>" in out, out


def checks_with_stops(build):
    out, code, errors = run(build, "check", "--debug-on-fault", "--only", "races", SOURCE, "reverse", commands="print i\ncontinue\n")
    assert "Stopped by finding: race-shared: " in out and "$1 = 32" in out, out
    assert "ERROR: race-shared: " in errors and "warpgrind check: 1 error" in errors, errors
    check(code, 1)


CASES = [opens_at_a_fault, opens_at_an_assert, runs_through_without_a_fault, stops_at_a_race, stops_at_an_uninitialised_value,
         stops_at_an_invalid_access, finds_in_the_terminal, stops_at_failed_calls, catches_failed_calls_in_the_terminal, stops_at_barriers,
         stops_where_a_warp_splits, catches_barriers_in_the_terminal, instruction_breakpoints, watchpoints_take_conditions,
         names_another_launch, checks_with_stops]

if __name__ == "__main__":
    debugger_test.run_cases(CASES, __doc__)
