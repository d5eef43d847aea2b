#!/usr/bin/env python3
"""Host and device code in one session: `warpgrind debug` and `warpgrind dap` on programs/host.cu, as nvcc and as clang compile it.

  host_test.py --list
  host_test.py --build DIR CASE     exit code 0 passed, 1 failed, 77 skipped: gdb is missing, or may not attach here

Values are computed here in Python, from what the program does.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import debugger_test  # noqa: E402
from debugger_test import check  # noqa: E402
import whole_run  # noqa: E402

SOURCE = str(HERE / "programs/host.cu")
TEXT = ["", *pathlib.Path(SOURCE).read_text().splitlines()]
PROMPT = "(warpgrind) "
VALUES = [2 * i + 1 for i in range(32)]
RESULT = f"sum {sum(VALUES)}, twice 64\n"


def at(text):
    """The number of the only line that ends with this comment, or has this text."""
    found = [n for n, line in enumerate(TEXT) if line.endswith("// " + text)] or [n for n, line in enumerate(TEXT) if text in line]
    assert len(found) == 1, (text, found)
    return found[0]


def line(text):
    return f"{at(text)}\t{TEXT[at(text)]}\n"


class Terminal:
    def __init__(self, build, compiler, *words, options=("--host",), path=None):
        environment = whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache"))
        if path is not None:
            environment["PATH"] = path
        self.process = subprocess.Popen([str(build / "bin/warpgrind"), "debug", *options, "--compiler", compiler, SOURCE, *words],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        self.read()

    def read(self):
        text = ""
        while not text.endswith(PROMPT):
            one = self.process.stdout.read(1)
            if not one:
                return text
            text += one
        return text[:-len(PROMPT)]

    def start(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def do(self, command):
        self.start(command)
        return self.read()

    def shows(self, command, *wanted, without=()):
        text = self.do(command)
        for one in wanted:
            assert one in text, f"{command}: {one!r} is not in {text!r}"
        for one in without:
            assert one not in text, f"{command}: {one!r} is in {text!r}"
        return text

    def leave(self):
        self.start("quit")
        self.process.stdout.read()
        check(self.process.wait(60), 0)


# ---- Cases of the terminal, with each compiler

def stops_in_host_code(build, compiler):
    t = Terminal(build, compiler)
    t.shows("break main", "Breakpoint 1 at main")
    t.shows("break sum_of if n == 32", "Breakpoint 2")
    t.shows("run", "Breakpoint 1", "[host thread 1", "main at host.cu", line("Pair pair = {32"))
    t.shows(f"break {at('add')} if i == 5", f"Breakpoint 3 at host.cu:{at('add')}\n")
    t.shows("info breakpoints", "main", "sum_of", "stop only if i == 5")
    t.shows("next", line("int* device = nullptr;"))
    t.shows("print pair.weight * 2", "$1 = 3\n")
    t.shows("print pair", '{count = 32, weight = 1.5, name = 0x', '"host"}')
    t.shows("print/x pair.count", "= 0x20\n")
    t.shows("whatis pair", "type = Pair\n")
    t.shows("info locals", "pair = {count = 32", "device = ")
    t.shows("info args", "argc = 1\n", "argv = ")
    t.shows("continue", "Breakpoint 2", "sum_of at", line("int sum = 0;"))
    t.shows("continue", "Breakpoint 3", line("add"))
    t.shows("print sum", f"= {sum(VALUES[:5])}\n")
    t.shows("print *values@4", "= {1, 3, 5, 7}\n")
    t.shows("x/2dw values", ":\t1\t3\n")
    t.shows("backtrace", "#0  sum_of at host.cu", "#1  main at host.cu")
    t.shows("up", "#1  main")
    t.shows("print pair.count", "= 32\n")
    t.shows("down", "#0  sum_of")
    t.do("set var sum = 1000")
    t.do("delete")
    t.shows("finish", "main")
    t.shows("continue", f"sum {1000 + sum(VALUES[5:])}, twice 64\n", "[The program exited normally]")
    t.leave()


def kernel_and_host(build, compiler):
    """One session through main, the launch, the kernel, and back."""
    t = Terminal(build, compiler)
    t.do(f"break host.cu:{at('launch')}")
    t.shows("run", "Breakpoint 1", line("launch"))
    t.shows("step", "[block (0,0,0), thread (0,0,0), warp 0, lane 0]", "fill")
    while f"{at('store')}\t" not in t.shows("next", "\t"):
        pass
    t.shows("print i", "= 0\n")
    t.shows("info warps", "warp 0")
    t.shows("warp i", "lane  0:  0  1  2")
    t.do("host")
    t.shows("backtrace", "main at host.cu")
    t.shows("warp 0", "block (0,0,0)", "fill")
    text = t.do("continue")
    if "exited" not in text:  # the thread that launched the kernel had its stop
        assert "[host thread 1" in text, text
        t.shows("continue", RESULT)
    else:
        assert RESULT in text, text
    t.leave()


def finish_leaves_the_kernel(build, compiler):
    t = Terminal(build, compiler)
    t.do(f"break host.cu:{at('launch')}")
    t.do("run")
    t.shows("step", "[block (0,0,0), thread (0,0,0), warp 0, lane 0]", "fill")
    text = t.do("finish")
    assert "[host thread 1" in text and "has not begun" not in text, text
    t.leave()


def next_passes_a_launch(build, compiler):
    t = Terminal(build, compiler)
    t.do(f"break host.cu:{at('launch')}")
    t.do("run")
    t.shows("next", line("wait"))
    t.shows("next", "\t")
    # Device memory is memory of the process.
    t.shows("print *device@4", "= {1, 3, 5, 7}\n")
    t.shows("x/2dw device", ":\t1\t3\n")
    t.shows("print device[31]", f"= {VALUES[31]}\n")
    t.leave()


def both_places(build, compiler):
    """A function of both sides stops in the kernel and in main."""
    t = Terminal(build, compiler)
    t.do("break twice")
    t.do("run")
    t.shows("info warps", "warp 0")
    t.shows("backtrace", "twice", "fill")
    seen = 0
    for _ in range(3):
        text = t.do("continue")
        if "[host thread 1" in text:
            seen += 1
            t.shows("print v", "= 32\n")
            t.shows("backtrace", "twice", "main")
            break
    check(seen, 1)
    t.leave()


def kernels_are_no_host_code(build, compiler):
    """The kernel's name and lines stop in the kernel, and not in the function that launches it."""
    t = Terminal(build, compiler)
    t.do("break fill")
    t.do(f"break host.cu:{at('store')}")
    t.shows("run", "Breakpoint 1", "[block (0,0,0)")
    t.shows("continue", "Breakpoint 2", line("store"))
    t.shows("continue", RESULT, without=["Breakpoint"])
    t.leave()


def words_without_a_meaning(build, compiler):
    t = Terminal(build, compiler)
    t.do("break main")
    t.do("run")
    t.shows("warp 1", "host code")
    t.shows("lane 3", "host code")
    t.shows("info warps", "host code")
    t.shows("reverse-next", "host code cannot go back")
    t.shows("last-write pair", "host code cannot go back")
    t.shows("watch pair.count", "watch works in kernels")
    t.shows("print nothing", 'No symbol "nothing" in current context.')
    t.shows("thread 7", "There is no host thread 7.")
    t.shows("thread 1", "[host thread 1", "main")
    t.shows("info threads", "host thread 1")
    t.leave()


def fatal_signals(build, compiler):
    for how, signal_name, place in (("1", "SIGSEGV", "null"), ("2", "SIGABRT", None), ("3", "SIGABRT", None)):
        t = Terminal(build, compiler, how)
        t.shows("run", f"Stopped by {signal_name}")
        text = t.do("backtrace")
        assert "go_wrong at host.cu" in text, text
        if place:
            t.shows("frame 0", line(place))
        text = t.do("continue")
        assert "killed by signal" in text, text
        t.leave()


def interrupts(build, compiler):
    t = Terminal(build, compiler, "4")
    t.start("run")
    while RESULT not in t.process.stdout.readline():
        pass
    time.sleep(0.3)
    t.process.send_signal(signal.SIGINT)
    text = t.read()
    assert "Interrupted" in text and "go_wrong" in text, text
    t.do("set var spinning = 0")
    t.shows("continue", "[The program exited normally]")
    t.leave()


def threads(build, compiler):
    t = Terminal(build, compiler, "5")
    t.do(f"break host.cu:{at('thread')}")
    t.do("run")
    for _ in range(3):
        text = t.do("continue")
        if "operator()" in text:
            break
    t.shows("info threads", "host thread 1", "(running)")
    t.shows("thread 1", "[host thread 1")
    t.shows("backtrace", "main")
    t.do("delete")
    t.shows("continue", "from a thread")
    t.leave()


def hit_counts(build, compiler):
    t = Terminal(build, compiler)
    t.do(f"break host.cu:{at('add')}")
    t.do("ignore 1 9")
    t.shows("run", "Breakpoint 1")
    t.shows("print i", "= 9\n")
    t.leave()


def without_gdb(build, compiler):
    """One line says what is missing, and kernels are debugged as before."""
    folder = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"no_gdb_{os.getpid()}"
    folder.mkdir()
    try:
        path = [str(folder)]  # instead of the folders that have gdb
        for part in os.environ["PATH"].split(":"):
            if not os.path.exists(os.path.join(part, "gdb")):
                path.append(part)
                continue
            for tool in os.listdir(part):
                if tool != "gdb" and not (folder / tool).exists():
                    (folder / tool).symlink_to(os.path.join(part, tool))
        t = Terminal(build, compiler, path=":".join(path))
        t.do(f"break host.cu:{at('store')}")
        t.shows("run", "gdb is not installed", "[block (0,0,0)")
        t.shows("continue", RESULT)
        t.leave()
    finally:
        shutil.rmtree(folder)


def turned_off(build, compiler):
    t = Terminal(build, compiler, options=[])
    t.shows("break main", "host code is not debugged: start with --host")
    t.shows("run", RESULT, "Breakpoint 1 (main) was never set", without=["host thread", "gdb"])
    t.do("break fill")
    t.do("run")
    t.shows("host", "host code is not debugged: start with --host")
    t.leave()


def starts_fast(build, compiler):
    """From the start to the first stop in a kernel, with a warm cache."""
    times = {}
    for options in ([], ["--host"], [], ["--host"]):
        t = Terminal(build, compiler, options=options)
        t.do(f"break host.cu:{at('store')}")
        begin = time.time()
        t.shows("run", "[block (0,0,0)")
        times[bool(options)] = time.time() - begin
        t.leave()
    print(f"without host code {times[False]:.2f} s, with host code {times[True]:.2f} s")


# ---- Cases of DAP

class Client(debugger_test.Client):
    def __init__(self, build, compiler, *words):
        super().__init__(build, launch=False)
        number = self.send("launch", program=SOURCE, args=list(words), compiler=compiler, host=True)
        begun = self.wait(lambda m: m.get("event") == "initialized" or (m.get("request_seq") == number and not m["success"]))
        assert begun["type"] == "event", begun

    def breaks(self, *lines, **more):
        return self.call("setBreakpoints", source={"path": SOURCE}, breakpoints=[{"line": n, **more} for n in lines])["breakpoints"]


def dap_session(build, compiler):
    client = Client(build, compiler)
    known = client.breaks(at("launch"), at("store"), at("add"))
    check([(b["verified"], b.get("line", at("store"))) for b in known], [(True, at("launch")), (False, at("store")), (True, at("add"))])
    stop = client.begin()
    check((stop["reason"], client.line(), stop["hitBreakpointIds"]), ("breakpoint", at("launch"), [known[0]["id"]]))
    names = [t["name"] for t in client.call("threads")["threads"]]
    assert any(n.startswith("host thread 1") for n in names), names
    frame = client.frames()[0]
    check(frame["name"], "main")
    check(pathlib.Path(frame["source"]["path"]).name, "host.cu")
    pair = client.scope("Locals")["pair"]
    rows = client.call("variables", variablesReference=pair["variablesReference"])["variables"]
    check([(r["name"], r["value"]) for r in rows[:2]], [("count", "32"), ("weight", "1.5")])
    check(client.call("setVariable", variablesReference=pair["variablesReference"], name="weight", value="2.5")["value"], "2.5")
    check(client.call("evaluate", expression="pair.weight + 1", frameId=frame["id"])["result"], "3.5")
    stop = client.go("stepIn")
    assert stop["focus"]["block"] == [0, 0, 0], stop
    names = [t["name"] for t in client.call("threads")["threads"]]
    assert any(n.startswith("block (0,0,0)") for n in names) and any(n.startswith("host thread 1") for n in names), names
    # The host thread goes on to its next line, and has a stop of its own.
    check(client.event("stopped")["focus"]["description"][:13], "host thread 1")
    client.breaks(at("add"))
    client.call("continue", threadId=stop["threadId"])
    while True:
        stop = client.stopped()
        if client.line() == at("add"):
            break
        client.call("continue", threadId=stop["threadId"])
    check(client.value("i"), "0")
    client.go("next")
    check(client.end(), RESULT)


def dap_pauses(build, compiler):
    client = Client(build, compiler, "4")
    client.call("configurationDone")
    client.wait(lambda m: m.get("event") == "output" and "sum" in m["body"]["output"])
    time.sleep(0.2)
    client.call("pause", threadId=1)
    check(client.stopped()["reason"], "pause")
    check(client.frames()[0]["name"], "go_wrong")
    client.call("disconnect")
    check(client.process.wait(60), 0)


def dap_fatal(build, compiler):
    client = Client(build, compiler, "1")
    stop = client.begin()
    check(stop["reason"], "exception")
    check(client.line(), at("null"))
    info = client.call("exceptionInfo", threadId=stop["threadId"])
    assert info["exceptionId"] == "SIGSEGV" and "0x10" in info["description"], info
    client.call("disconnect")
    check(client.process.wait(60), 0)


def may_attach():
    """gdb is here, and may attach to a process that is no child of it."""
    if not shutil.which("gdb"):
        return "gdb is not installed"
    scope = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
    if scope.exists() and int(scope.read_text()) > 1:
        return "the system allows no attaching (kernel.yama.ptrace_scope)"
    if "WARPGRIND_TEST_PRELOAD" in os.environ:
        return "a sanitizer's runtime does not run under gdb"
    return None


BASE = [stops_in_host_code, kernel_and_host, finish_leaves_the_kernel, next_passes_a_launch, both_places, kernels_are_no_host_code, words_without_a_meaning,
        fatal_signals, interrupts, threads, hit_counts, without_gdb, turned_off, starts_fast, dap_session, dap_pauses, dap_fatal]


def make_case(case, compiler):
    def run(build):
        problem = may_attach()
        if problem:
            print(f"skipped: {problem}")
            sys.exit(77)
        if compiler not in whole_run.compilers(build):
            print(f"skipped: {compiler} is not here")
            sys.exit(77)
        case(build, compiler)
    run.__name__ = f"{case.__name__}_{compiler}"
    return run


CASES = [make_case(case, compiler) for case in BASE for compiler in ("nvcc", "clang")]

if __name__ == "__main__":
    debugger_test.run_cases(CASES, __doc__)
