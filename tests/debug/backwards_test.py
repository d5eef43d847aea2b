#!/usr/bin/env python3
"""Going back in kernels of several kinds (programs/walks.cu): random walks of n steps forwards and n back give the same state byte for byte.

  backwards_test.py --list
  backwards_test.py --build DIR CASE     exit code 0 passed, 1 failed

A state is the place in the PTX, the registers and frames of the focused thread, its block's shared memory, and global memory.
"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import debugger_test  # noqa: E402
import whole_run  # noqa: E402  (debugger_test adds its folder)
from debugger_test import check, run_cases  # noqa: E402

PROGRAM = str(HERE / "programs/walks.cu")


class Walker(debugger_test.Client):
    def __init__(self, build, *words, program=PROGRAM, **options):
        super().__init__(build, launch=False)
        number = self.send("launch", program=program, args=list(words), **options)
        refused = self.wait(lambda m: m.get("event") == "initialized" or (m.get("request_seq") == number and not m["success"]))
        assert refused["type"] == "event", refused

    def state(self, address):
        frames = [(f["instructionPointerReference"], f["line"]) for f in self.frames()]
        registers = {name: v["value"] for name, v in self.scope("Registers of the PTX").items()}
        memory = self.call("readMemory", memoryReference=address, count=1 << 20)["data"]
        return frames, self.stop["focus"], registers, memory

    def stopped(self):
        self.stop = self.wait(lambda m: m.get("event") in ("stopped", "exited", "terminated"))
        assert self.stop["event"] == "stopped", "the program has ended: the walk is longer than the launch"
        self.stop = self.stop["body"]
        return self.stop

    def go_back(self, command):
        self.call(command, threadId=self.stop["threadId"])
        return self.stopped()

    def refusal(self, command):
        response = self.answer(command, threadId=self.stop["threadId"])
        return None if response["success"] else response["message"]


def plain(build, *words, program=PROGRAM):
    done = subprocess.run([str(build / "bin/warpgrind"), "run", "--quiet", "--threads", "1", program, *words], capture_output=True, text=True,
                          env=whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache")), timeout=120)
    check((done.returncode, done.stderr), (0, ""))
    return done.stdout


def walk(build, kernel, seed, program=PROGRAM):
    client = Walker(build, kernel, program=program)
    client.call("setFunctionBreakpoints", breakpoints=[{"name": kernel}])
    client.begin()
    client.call("setFunctionBreakpoints", breakpoints=[])
    address = parameter(client)
    chance = random.Random(seed)
    for _ in range(3):
        states = [client.state(address)]
        for _ in range(chance.randrange(2, 6)):
            client.go("stepIn")
            if client.stop["focus"]["warp"] != states[0][1]["warp"] or client.stop["focus"]["block"] != states[0][1]["block"]:
                return check(client.end(), plain(build, kernel, program=program))  # the warp has ended; steps back stay in a warp
            states.append(client.state(address))
        for before in reversed(states[:-1]):
            client.go_back("warpgrind/reverseStepIn")
            check(client.state(address), before)
        for _ in range(chance.randrange(1, 9)):
            client.go("next")
    check(client.end(), plain(build, kernel, program=program))


def parameter(client):
    """The value of the kernel's pointer, as text."""
    return client.call("evaluate", expression="data", context="watch")["memoryReference"]


def walks(kernel):
    def case(build):
        walk(build, kernel, seed=kernel)
    case.__name__ = f"walks_in_{kernel}"
    return case


def optimised(build):
    """Kernels without variables: registers are copied at a stop, only those that are used later."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.access(nvcc, os.X_OK):
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        program = str(pathlib.Path(folder) / "walks")
        subprocess.run([nvcc, "-O3", "-lineinfo", "-arch=sm_80", "-o", program, PROGRAM], check=True)
        client = Walker(build, "shared_memory", program=program)
        client.call("setFunctionBreakpoints", breakpoints=[{"name": "shared_memory"}])
        client.begin()
        client.call("setFunctionBreakpoints", breakpoints=[])

        def state():
            registers = {name: v["value"] for name, v in client.scope("Registers of the PTX").items()}
            return client.frames()[0]["instructionPointerReference"], client.stop["focus"], registers

        states = [state()]
        for _ in range(2):  # more would end the warp
            client.go("stepIn")
            states.append(state())
        assert any(s[2] for s in states), "no register is live anywhere"
        for before in reversed(states[:-1]):
            client.go_back("warpgrind/reverseStepIn")
            check(state(), before)
        check(client.end(), plain(build, "shared_memory", program=program))


def second_warp(build):
    """A warp that began in place of another one counts its own steps only, and the way back finds it."""
    line = next(n for n, text in enumerate(pathlib.Path(PROGRAM).read_text().splitlines(), 1) if "value * 3 + 1" in text)
    client = Walker(build, "second_warp")
    client.call("setBreakpoints", source={"path": PROGRAM}, breakpoints=[{"line": line}])
    client.begin()
    address = parameter(client)
    states = []
    for block in range(2):
        check((client.stop["focus"]["warp"], client.stop["focus"]["block"]), (1, [block, 0, 0]))
        states.append(client.state(address))
        check(states[-1][0][0][1], line)
        client.go("stepIn")
        assert client.state(address)[0] != states[-1][0], "the step has not moved"
        client.go_back("warpgrind/reverseStepIn")
        check(client.state(address), states[-1])
        if block == 0:
            client.go("continue")
    client.go_back("reverseContinue")
    check(client.state(address), states[0])
    client.call("setBreakpoints", source={"path": PROGRAM}, breakpoints=[])
    check(client.end(), plain(build, "second_warp"))


def leftovers(build):
    """A kernel that reads memory which it has not written reads the same when it runs again."""
    client = Walker(build, "leftovers")
    client.call("setFunctionBreakpoints", breakpoints=[{"name": "leftovers"}])
    client.begin()
    while client.stop["focus"]["launch"] == 1:
        client.go("continue")
    client.call("setFunctionBreakpoints", breakpoints=[])
    address = parameter(client)
    while "data[t + 64] = 0" not in pathlib.Path(PROGRAM).read_text().splitlines()[client.line() - 1]:
        client.go("next")
    before = client.state(address)
    for _ in range(2):
        client.go_back("stepBack")
        client.go("next")
        check(client.state(address), before)
    client.call("disconnect")
    client.process.wait(60)


def pieces_of_malloc(build):
    """A kernel that allocates gets the same pieces when it runs again, and they hold the same."""
    program = str(HERE / "programs/allocates.cu")
    client = Walker(build, program=program)
    client.call("setFunctionBreakpoints", breakpoints=[{"name": "allocates"}])
    client.begin()
    client.call("setFunctionBreakpoints", breakpoints=[])

    def state():
        return client.line(), client.value("own"), client.lanes("own"), client.scope("Registers of the PTX")

    states = [state()]
    for _ in range(3):
        client.go("next")
        states.append(state())
    assert len(set(states[-1][2])) == 32, states[-1][2]
    for before in reversed(states[:-1]):
        client.go_back("stepBack")
        check(state(), before)
    check(client.end(), plain(build, program=program))


def names_the_host_copy(build):
    """No thread has written the value: the host's copy is named."""
    client = Walker(build, "prints")
    client.call("setFunctionBreakpoints", breakpoints=[{"name": "prints"}])
    client.begin()
    client.call("setFunctionBreakpoints", breakpoints=[])
    client.call("warpgrind/lastWrite", expression="data[100000]", frameId=client.frames()[0]["id"])
    text = client.stopped()["text"]
    assert "not written in this launch" in text and "a copy by the host wrote it" in text and "4194304 bytes" in text, text
    check(client.end(), plain(build, "prints"))


CASES = [*map(walks, ("shared_memory", "atomics", "local_array", "prints", "divided")), optimised, second_warp, leftovers, pieces_of_malloc,
         names_the_host_copy]

if __name__ == "__main__":
    run_cases(CASES, __doc__)
