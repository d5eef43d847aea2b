#!/usr/bin/env python3
"""Several processes under the debugger: programs/processes.cu forks, becomes other programs, and starts others. Each process that uses CUDA
stops, in the terminal and by the Debug Adapter Protocol (`startDebugging`), and none waits for a debugger that does not answer.

  processes_test.py --list
  processes_test.py --build DIR CASE     exit code 0 passed, 1 failed, 77 skipped
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))
import debugger_test  # noqa: E402
import whole_run  # noqa: E402
from debugger_test import check  # noqa: E402

SOURCE = str(HERE / "programs/processes.cu")
LINE = next(n for n, line in enumerate(pathlib.Path(SOURCE).read_text().splitlines(), 1) if "out[i] += by" in line)


def terminal(build, words, commands, *options, program=SOURCE):
    """What `warpgrind debug` prints for these commands, and its exit code."""
    done = subprocess.run([str(build / "bin/warpgrind"), "debug", *options, program, *words], input="\n".join(commands) + "\n",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
                          env=whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache")))
    return done.stdout


def values(text):
    """The values that `print by` has shown, in order."""
    return [int(one) for one in re.findall(r"^\$\d+ = (\d+)$", text, re.M)]


def sessions(build, mode, number, wanted, *commands):
    """Stops in as many processes as there are numbers, prints `by` in each, and runs to the end."""
    more = ["continue", "print by"] * (len(wanted) - 1)
    out = terminal(build, [mode, *number], [f"break processes.cu:{LINE}", "run", "print by", *more, *commands, "continue"])
    check(sorted(values(out)), sorted(wanted))
    for one in wanted:
        assert f"number {one}: {one + 1}\n" in out, out
    assert "[The program exited normally]" in out, out
    return out


# ---- The terminal
def follows_an_exec(build):
    out = sessions(build, "exec", [], [9])
    assert "inferior" not in out, out  # one process: nothing is said of several


def follows_an_exec_after_use(build):
    out = sessions(build, "used-exec", [], [1, 9])
    assert re.search(r"\[Process \d+ is executing a new program: inferior 2, /\S+\]\n\[Switching to inferior 2: process \d+\]", out), out


def finds_a_program_that_closed_its_files(build):
    out = sessions(build, "spawn", [], [1])
    assert "runs without" not in out, out


def stops_in_each_child(build):
    out = sessions(build, "children", ["3"], [1, 2, 3], "info inferiors")
    check(out.count("[New inferior "), 2)
    ended = re.findall(r"\[Inferior \d \(process \d+\) has ended\]", out)
    assert len(ended) == 3, out
    assert re.search(r"^  Num  Process  Rank  State    Executable\n(.*\n){3}\(", out, re.M), out


def stops_in_one_after_another(build):
    sessions(build, "later", [], [1, 100])


def processes_that_wait_for_each_other(build):
    # Each waits for the other's first launch. `continue` lets all go on that were seen, so that none waits for ever.
    sessions(build, "turns", [], [10, 11, 20, 21])


def switches_between_processes(build):
    out = terminal(build, ["children", "2"], [f"break processes.cu:{LINE}", "run", "print by", "continue", "print by", "inferior 1", "inferior 7",
                                              "tbreak add", "delete", "continue", "inferior 1", "info inferiors"])
    check(sorted(values(out)), [1, 2])
    assert "No inferior number 7." in out, out
    assert "[The program exited normally]" in out, out
    assert out.endswith("The program is not being run.\n(warpgrind) info inferiors\nThe program is not being run.\n(warpgrind) \n"), out


def breakpoints_hold_in_all(build):
    # Set while the first process stands: the second one, which stands too, gets it as well. A temporary one stops once in all.
    out = terminal(build, ["children", "2"], ["break add", "run", "continue", f"tbreak processes.cu:{LINE}", "delete 1", "continue", "continue"])
    check(out.count("\nTemporary breakpoint 2\n"), 1)
    assert "[The program exited normally]" in out, out


def lets_others_run(build):
    out = terminal(build, ["children", "3"], ["set detach-on-fork on", f"break processes.cu:{LINE}", "run", "info inferiors", "continue"])
    check(out.count("\nBreakpoint 1\n"), 1)
    assert "[The program exited normally]" in out and out.count(" uses CUDA, and runs without the debugger]") == 2, out
    out = terminal(build, [], ["set follow-fork-mode child", "set detach-on-fork maybe"])
    assert "There is no follow-fork-mode: each process that uses CUDA is debugged.\n" in out and "needs on or off." in out, out


def a_child_that_may_not_use_cuda(build):
    # Its failing call would stop, but the debugger is the parent's. It must not wait for a thread that the fork has not copied.
    out = terminal(build, ["forked"], ["catch api", f"break processes.cu:{LINE}", "run", "continue", "continue"])
    check(out.count("\nBreakpoint 2\n"), 1)
    assert "number 1: 2\nnumber 1: " in out and "[The program exited normally]" in out, out


def interrupts(build):
    process = subprocess.Popen([str(build / "bin/warpgrind"), "debug", SOURCE, "spin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True, bufsize=1, env=whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache")))

    def do(command, interrupt=False):
        process.stdin.write(command + "\n")
        process.stdin.flush()
        check(process.stdout.readline(), command + "\n")
        if interrupt:
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
        text = ""
        while not text.endswith("(warpgrind) "):
            byte = process.stdout.read(1)
            assert byte, text
            text += byte
        return text

    process.stdout.read(len("(warpgrind) "))
    do("break spin")
    do("run")
    do("continue")
    do("delete")
    text = do("continue", interrupt=True)
    assert "\nInterrupted\n" in text and "spin (out=0x" in text, text
    text = do("info inferiors")
    check((text.count(" stopped "), text.count(" runs ")), (1, 1))
    other = "1" if "* 2 " in text else "2"
    assert "It runs: `continue` waits" in do(f"inferior {other}")
    text = do("continue", interrupt=True)
    assert "\nInterrupted\n" in text, text
    assert f"* {other} " in do("info inferiors")
    assert "[The program was killed]" in do("kill")
    process.stdin.close()
    check(process.wait(60), 0)


def ends_by_a_signal(build):
    """Also if the program was compiled by this session."""
    with tempfile.TemporaryDirectory() as cache:
        process = subprocess.Popen([str(build / "bin/warpgrind"), "debug", SOURCE, "children", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True, bufsize=1, env=whole_run.environment(XDG_CACHE_HOME=cache))
        process.stdin.write(f"break processes.cu:{LINE}\nrun\n")
        for line in process.stdout:
            if line.startswith("#0 "):
                break
        process.send_signal(signal.SIGTERM)
        check(process.wait(60), -signal.SIGTERM)


def kills_all_processes(build):
    out = terminal(build, ["children", "2"], [f"break processes.cu:{LINE}", "run", "info inferiors", "kill"])
    ids = [int(one) for one in re.findall(r"^[* ] \d +(\d+)", out, re.M)]
    assert ids and "[The program was killed]" in out, out
    for one in ids:
        for _ in range(200):
            if not os.path.exists(f"/proc/{one}"):
                break
            time.sleep(0.05)
        assert not os.path.exists(f"/proc/{one}") or " Z " in pathlib.Path(f"/proc/{one}/stat").read_text(), one


def shell_scripts(build):
    folder = pathlib.Path(whole_run.environment().get("TMPDIR", "/tmp"))
    program = compiled(build)
    script = folder / f"warpgrind-script-{os.getpid()}.sh"
    script.write_text(f"#!/bin/sh\necho begins\n{program} worker 3\n{program} worker 4\n")
    script.chmod(0o755)
    try:
        out = terminal(build, [], ["break add", "run", "print by", "continue", "print by", "continue"], program=str(script))
    finally:
        script.unlink()
    check(values(out), [3, 4])
    assert "[The program exited normally]" in out, out


def compiled(build):
    """The program as an executable."""
    out = build / "tests/debug-processes"
    if not out.exists() or out.stat().st_mtime < pathlib.Path(SOURCE).stat().st_mtime:
        new = out.with_name(f"{out.name}.{os.getpid()}")
        compiler = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if not os.path.exists(compiler):
            print("skipped: nvcc is not installed")
            sys.exit(77)
        subprocess.run([compiler, "-G", "-g", "-std=c++17", "-cudart", "shared", "-o", str(new), SOURCE], check=True)
        new.rename(out)
    return str(out)


def mpi_ranks(build):
    if not shutil.which("mpirun"):
        print("skipped: mpirun is not installed")
        sys.exit(77)
    words = ["--allow-run-as-root", "--oversubscribe", "-np", "2", compiled(build), "worker", "5"]
    out = terminal(build, words, ["break add", "run", "info inferiors", "continue", "info inferiors", "continue"], program="mpirun")
    check(out.count("\nBreakpoint 1\n"), 2)
    ranks = re.findall(r"^[* ] \d +\d+ +(\d) ", out.split("(warpgrind) info inferiors\n")[-1], re.M)
    check(sorted(ranks), ["0", "1"])
    assert re.search(r"\[Switching to inferior \d: process \d+, rank \d\]", out) and out.count("number 5: 6\n") == 2, out
    assert "[The program exited normally]" in out, out


def memory_of_two_processes(build):
    # Going back would undo what the other process has written.
    out = terminal(build, ["shared"], [f"break processes.cu:{LINE}", "run", "reverse-next", "print by", "continue"])
    assert "this launch cannot go back: memory is shared with another process, and its writes would be lost\n" in out, out
    check(values(out), [7])
    assert "the child has written 7\n" in out and "[The program exited normally]" in out, out


def host_code_of_the_first_program(build):
    # gdb stays with the program that was started. The child, which used CUDA first, has ended when host code of the parent stops.
    if not shutil.which("gdb"):
        print("skipped: gdb is not installed")
        sys.exit(77)
    out = terminal(build, ["later"], [f"break processes.cu:{LINE}", "break work", "run", "print by", "continue", "print by", "info inferiors",
                                      "continue", "print by", "continue"], "--host")
    check(values(out), [1, 100, 100])
    assert re.search(r"^\* 1 +\d+ +- +stopped ", out, re.M) and "[The program exited normally]" in out, out


# ---- The Debug Adapter Protocol
class Client(debugger_test.Client):
    def __init__(self, build, *words, starts=True):
        super().__init__(build, launch=False)
        self.call("initialize", adapterID="warpgrind", supportsStartDebuggingRequest=starts)
        self.send("launch", program=SOURCE, args=list(words))
        self.event("initialized")
        self.breaks(LINE)

    def breaks(self, *lines, **more):
        return self.call("setBreakpoints", source={"path": SOURCE}, breakpoints=[{"line": n, **more} for n in lines])["breakpoints"]

    def answer_request(self, name, success=True):
        request = self.wait(lambda m: m["type"] == "request" and m["command"] == name)
        self.sequence += 1
        self.write({"seq": self.sequence, "type": "response", "request_seq": request["seq"], "command": name, "success": success,
                    **({} if success else {"message": "no window"})})
        return request["arguments"]

    def write(self, message):
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def console(self):
        return "".join(m["body"]["output"] for m in self.kept if m.get("event") == "output" and m["body"]["category"] == "console")

    def stdout(self):
        return "".join(m["body"]["output"] for m in self.kept if m.get("event") == "output" and m["body"]["category"] == "stdout")

    def go_on(self):
        self.call("continue", threadId=self.stop["threadId"])

    def leave(self):
        self.call("disconnect")
        self.process.stdin.close()
        check(self.process.wait(60), 0)


class Child(Client):
    """The session of another process, as an editor starts it."""

    def __init__(self, build, arguments):
        debugger_test.Client.__init__(self, build, launch=False)
        check(arguments["request"], "attach")
        self.configuration = arguments["configuration"]
        self.call("initialize", adapterID="warpgrind", supportsStartDebuggingRequest=True)
        self.call("attach", **self.configuration)
        self.event("initialized")
        self.breaks(LINE)


def a_session_for_each_process(build):
    client = Client(build, "children", "2")
    client.call("configurationDone")
    child = Child(build, client.answer_request("startDebugging"))
    assert re.fullmatch(r"process \d+: \S+", child.configuration["name"]), child.configuration
    client.stopped()
    check(child.begin()["reason"], "breakpoint")
    numbers = [int(client.value("by")), int(child.value("by"))]
    check(sorted(numbers), [1, 2])
    child.call("stepBack", threadId=child.stop["threadId"])  # each process goes back by itself
    child.stopped()
    check(child.value("by"), str(numbers[1]))
    client.go_on()
    child.call("setBreakpoints", source={"path": SOURCE}, breakpoints=[])
    child.go_on()
    child.event("terminated")
    check(client.event("exited"), {"exitCode": 0})
    check(sorted(client.stdout().split()), sorted("number 1: 2 number 2: 3".split()))
    child.leave()
    client.leave()


def leaving_a_session_lets_its_process_run(build):
    client = Client(build, "children", "2")
    client.call("configurationDone")
    child = Child(build, client.answer_request("startDebugging"))
    child.begin()
    child.leave()
    client.stopped()
    client.go_on()
    check(client.event("exited"), {"exitCode": 0})
    client.leave()


def terminating_a_session_ends_its_process(build):
    client = Client(build, "children", "2")
    client.call("configurationDone")
    child = Child(build, client.answer_request("startDebugging"))
    child.begin()
    child.call("disconnect", terminateDebuggee=True)
    client.stopped()
    client.go_on()
    check(client.event("exited"), {"exitCode": 1})  # the parent has seen that a child was killed
    client.leave()


def a_client_that_refuses(build):
    client = Client(build, "children", "2")
    client.call("configurationDone")
    client.answer_request("startDebugging", success=False)
    client.stopped()
    client.go_on()
    check(client.event("exited"), {"exitCode": 0})
    assert re.search(r"process \d+ is not debugged: no window\n", client.console()), client.console()
    client.leave()


def a_client_without_second_sessions(build):
    client = Client(build, "children", "3", starts=False)
    client.begin()
    client.go_on()
    check(client.event("exited"), {"exitCode": 0})
    check(len(re.findall(r"process \d+ uses CUDA, too, and is not debugged: ", client.console())), 2)
    assert not any(m["type"] == "request" for m in client.kept)
    client.leave()


def an_attach_from_elsewhere(build):
    client = debugger_test.Client(build, launch=False)
    refused = client.answer("attach", processId=1)
    assert not refused["success"] and "use launch" in refused["message"], refused
    refused = client.answer("attach", processId=1, processSocket="/nowhere/at/all")
    assert not refused["success"] and "attach: process 1: /nowhere/at/: No such file" in refused["message"], refused
    client.call("disconnect")


def no_front_at_the_path(build):
    """A process that finds no front runs to its end, and says so."""
    options = '{"gpu": "h200", "debug_socket": "/nowhere/debugger", "quiet": true}'
    environment = whole_run.environment(WARPGRIND_OPTIONS=options, LD_LIBRARY_PATH=str(build / "lib"))
    done = subprocess.run([compiled(build), "worker", "2"], env=environment, capture_output=True, text=True, timeout=60, check=False)
    check((done.returncode, done.stdout), (0, "number 2: 3\n"))
    assert re.search(r"warpgrind: process \d+ runs without the debugger: /nowhere/: No such file or directory\n", done.stderr), done.stderr


CASES = [follows_an_exec, follows_an_exec_after_use, finds_a_program_that_closed_its_files, stops_in_each_child, stops_in_one_after_another,
         processes_that_wait_for_each_other, switches_between_processes, breakpoints_hold_in_all, lets_others_run,
         a_child_that_may_not_use_cuda, interrupts, memory_of_two_processes, host_code_of_the_first_program, ends_by_a_signal,
         kills_all_processes, shell_scripts, mpi_ranks, a_session_for_each_process,
         leaving_a_session_lets_its_process_run, terminating_a_session_ends_its_process, a_client_that_refuses,
         a_client_without_second_sessions, an_attach_from_elsewhere, no_front_at_the_path]

if __name__ == "__main__":
    debugger_test.run_cases(CASES, __doc__)
