#!/usr/bin/env python3
"""Watchpoints and last writes of variables (programs/registers.cu), which nvcc -G keeps in registers and clang in memory. What they hold is
computed here in Python.

  registers_test.py --list
  registers_test.py --build DIR CASE     exit code 0 passed, 1 failed
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))
import whole_run  # noqa: E402
from backwards_test import Walker, plain  # noqa: E402
from debugger_test import check, run_cases  # noqa: E402

PROGRAM = str(HERE / "programs/registers.cu")
TEXT = ["", *pathlib.Path(PROGRAM).read_text().splitlines()]
ROUNDS = 4


def line_of(text):
    found = [n for n, line in enumerate(TEXT) if text in line]
    assert len(found) == 1, (text, found)
    return found[0]


NEXT, LOOP, CALL, ADD, STORE = map(line_of, ("value = value % 2", "for (int k", "int more =", "sum += more", "out[i] = sum"))


def collatz(value):
    """The values behind `start`."""
    out = []
    while value != 1:
        value = 3 * value + 1 if value % 2 else value // 2
        out.append(value)
    return out


def sums(i):
    """The values of `sum` in thread i, without repetitions."""
    out = [0]
    for k in range(ROUNDS):
        more = len(collatz(i + k + 1))
        if more % 3:
            out.append(out[-1] + more)
    return out


def has_nvcc():
    return shutil.which("nvcc") or os.access("/usr/local/cuda/bin/nvcc", os.X_OK)


def needs_nvcc():
    if not has_nvcc():
        sys.exit(77)


class Watcher(Walker):
    def __init__(self, build, line, condition):
        super().__init__(build, program=PROGRAM)
        self.breaks_at(line, condition)
        self.begin()
        self.breaks_at()

    def breaks_at(self, line=None, condition=None):
        one = [] if line is None else [{"line": line, "condition": condition}]
        self.call("setBreakpoints", source={"path": PROGRAM}, breakpoints=one)

    def find(self, expression, frame=0):
        return self.call("dataBreakpointInfo", name=expression, frameId=self.frames()[frame]["id"])["dataId"]

    def set(self, *ids, **more):
        return self.call("setDataBreakpoints", breakpoints=[{"dataId": one, **more} for one in ids])["breakpoints"]

    def watch(self, expression, **more):
        one, = self.set(self.find(expression), **{"accessType": "write", **more})
        check(one["verified"], True)
        return one["id"]

    def last_write(self, expression, frame=0):
        self.call("warpgrind/lastWrite", expression=expression, frameId=self.frames()[frame]["id"])
        return self.stopped()

    def thread(self):
        return self.stop["focus"]["block"][0] * 64 + self.stop["focus"]["thread"][0]

    def ends_well(self, build):
        self.set()
        self.breaks_at()
        check(self.end(), plain(build, program=PROGRAM))


# ---- Cases

def changes_both_ways(build):
    """Each change of one thread's variable, and back over the same ones. Another thread has another value."""
    client = Watcher(build, ADD, "i == 70 && k == 0")
    client.watch("sum")
    values = sums(70)
    assert len(values) > 2, values
    places = []
    for old, new in zip(values, values[1:]):
        stop = client.go("continue")
        check((stop["reason"], stop["text"], client.thread()), ("data breakpoint", f"sum: old value {old}, new value {new}", 70))
        check(client.value("sum"), str(new))
        places.append(client.value("k"))
    for old in reversed(values[:-1]):
        stop = client.go("reverseContinue")
        check((stop["reason"], client.thread(), client.line(), client.value("sum")), ("data breakpoint", 70, ADD, str(old)))
    for old, new in zip(values, values[1:]):
        stop = client.go("continue")
        check((stop["text"], client.value("k")), (f"sum: old value {old}, new value {new}", places.pop(0)))
    client.ends_well(build)


def one_call_of_several(build):
    """The function runs again in each round: writes of its other calls are none of this call's variable."""
    start = 70 + 2 + 1
    client = Watcher(build, NEXT, f"start == {start} && value == start && blockIdx.x == 1 && threadIdx.x == 6")
    client.watch("value")
    values = [start, *collatz(start)]
    for old, new in list(zip(values, values[1:]))[:5]:
        check(client.go("continue")["text"], f"value: old value {old}, new value {new}")
    for old in reversed(values[:5]):
        check((client.go("reverseContinue")["reason"], client.thread(), client.value("value")), ("data breakpoint", 70, str(old)))
    stop = client.go("reverseContinue")  # `int value = start` itself
    check((client.line(), client.thread(), client.value("start")), (line_of("int value = start"), 70, str(start)))
    if has_nvcc():  # in memory, the calls before have their variables at the same place
        stop = client.go("reverseContinue")
        assert "program's first launch" in stop["text"], stop
    client.ends_well(build)


def last_writes(build):
    client = Watcher(build, STORE, "i == 70")
    client.last_write("sum")
    odd = [k for k in range(ROUNDS) if len(collatz(70 + k + 1)) % 3]
    check((client.line(), client.thread(), client.value("k"), client.value("sum")), (ADD, 70, str(odd[-1]), str(sums(70)[-2])))
    client.last_write("k")
    check((client.line(), client.thread(), client.value("k")), (LOOP, 70, str(odd[-1] - 1)))
    # Of the caller, from the function that it calls.
    client.breaks_at(NEXT, f"start == {70 + 4} && blockIdx.x == 1 && threadIdx.x == 6")
    client.go("continue")
    client.last_write("k", frame=1)
    check((client.line(), client.thread(), client.value("k")), (LOOP, 70, "2"))
    # Of another thread than the one that has stopped.
    client.call("warpgrind/focus", thread=[9, 0, 0])
    client.last_write("i")
    check((client.line(), client.thread()), (line_of("int i ="), 73))
    client.ends_well(build)


def reads(build):
    client = Watcher(build, CALL, "i == 70 && k == 2")
    client.watch("i", accessType="read")
    for _ in range(2):  # the argument of a call
        stop = client.go("continue")
        check((stop["reason"], stop["text"], client.thread()), ("data breakpoint", "i was read: 70", 70))
    for k in (3, 2, 1, 0):
        client.go("reverseContinue")
        check((client.line(), client.thread(), client.value("k")), (CALL, 70, str(k)))
    client.ends_well(build)


def conditions_and_hit_counts(build):
    values = [71, *collatz(71)]
    client = Watcher(build, NEXT, "start == 71 && value == start")
    client.watch("value", condition="value > 1000", hitCondition="3")
    large = [v for v in values[1:] if v > 1000]
    check(client.go("continue")["text"].rsplit(" ", 1)[1], str(large[2]))
    client.watch("value", hitCondition=">=5", condition="value == 4")
    check(client.end(), plain(build, program=PROGRAM))


def ends_with_its_call(build):
    client = Watcher(build, NEXT, "start == 71 && value == start")
    never = {"condition": "blockIdx.x > 9"}
    ids = [client.find("steps"), client.find("sum", frame=1)]
    client.set(*ids, **never)
    stop = client.go("continue")
    check((stop["reason"], client.line(), client.thread()), ("data breakpoint", CALL, 70))
    check(stop["text"], "steps is watched no longer: its function has returned")
    removed = client.wait(lambda m: m.get("event") == "breakpoint" and m["body"]["reason"] == "removed")["body"]["breakpoint"]
    check([removed["id"]], stop["hitBreakpointIds"])
    # The client may send its list again.
    answers = client.set(*ids, **never)
    check([one["verified"] for one in answers], [False, True])
    check(answers[0]["message"], "the function of this variable has returned")
    stop = client.go("continue")
    check((stop["text"], client.thread()), ("sum is watched no longer: its thread ends here", 70))
    check(client.end(), plain(build, program=PROGRAM))


def registers_by_name(build):
    needs_nvcc()
    client = Watcher(build, ADD, "i == 70 && k == 0")
    name = next(name for name, one in client.scope("Registers of the PTX").items() if one["value"] == hex(70) and one["type"] in ("b32", "u32"))
    client.last_write("$" + name.lstrip("%"))
    check((client.line(), client.thread()), (line_of("int i ="), 70))
    stop = client.last_write("$" + name.lstrip("%"))
    check(stop["text"], "this register was not written in this call of its function before")
    client.ends_well(build)


def before_the_first_write(build):
    """At the launch's beginning parameters have the values that the launch gives them, and nothing else has one."""
    client = Watcher(build, line_of("int i ="), "threadIdx.x == 3")
    check((client.value("sum"), client.value("i + 1"), client.value("rounds")), ("<undefined>", "<undefined>", str(ROUNDS)))
    client.go("reverseContinue")
    check(client.line(), line_of("__global__"))
    check((client.value("rounds + 1"), client.value("out[5]")), (str(ROUNDS + 1), "<undefined>"))
    check(client.scope("Arguments")["rounds"]["value"], str(ROUNDS))
    client.ends_well(build)


def sets_values_of_the_warp(build):
    """One register for the whole warp is changed in all lanes, and the debugger says so; a function of the lane's number is refused."""
    needs_nvcc()
    client = Watcher(build, ADD, "i == 70 && k == 1")
    client.call("setExpression", expression="k", value="2", frameId=client.frames()[0]["id"])
    said = client.wait(lambda m: m.get("event") == "output" and "changed in all" in m["body"]["output"])["body"]["output"]
    assert said.startswith("%r") and "one value for all lanes of the warp" in said, said
    check(client.lanes("k"), ["2"] * 32)
    refused = client.answer("setExpression", expression="i", value="2", frameId=client.frames()[0]["id"])
    assert not refused["success"] and "cannot be changed" in refused["message"], refused
    client.breaks_at(STORE, "i == 70")
    client.go("continue")
    mores = [len(collatz(70 + k + 1)) for k in (0, 1, 3)]  # the loop goes on with 3
    check(client.value("sum"), str(sum(more for more in mores if more % 3)))
    client.call("disconnect", terminateDebuggee=True)
    client.process.wait(60)


def steps_see_no_other_values(build):
    """What a variable has after each step of its thread are values that its watchpoint has shown, in the same order."""
    program = str(HERE / "programs/walks.cu")
    lines = ["", *pathlib.Path(program).read_text().splitlines()]
    for kernel, names in (("divided", ("v", "count")), ("local_array", ("sum",)), ("second_warp", ("value",))):
        first = next(n for n, line in enumerate(lines) if f"void {kernel}(" in line)
        begin = next(n for n, line in enumerate(lines) if n > first and names[0] in line)
        seen = {name: [] for name in names}
        for stepping in (True, False):
            client = Walker(build, kernel, program=program)
            client.call("setBreakpoints", source={"path": program}, breakpoints=[{"line": begin + 1, "condition": "threadIdx.x == 45 && blockIdx.x == 0"}])
            client.begin()
            client.call("setBreakpoints", source={"path": program}, breakpoints=[])
            if stepping:
                for _ in range(60):
                    for name in names:
                        got = client.answer("evaluate", expression=name, context="watch")
                        value = got["body"]["result"] if got["success"] else "<undefined>"
                        if value != "<undefined>" and value not in seen[name][-1:]:
                            seen[name].append(value)
                    client.call("stepIn", threadId=client.stop["threadId"])
                    stop = client.wait(lambda m: m.get("event") in ("stopped", "exited"))
                    if stop["event"] == "exited" or stop["body"]["focus"]["thread"] != [45, 0, 0]:
                        break
                    client.stop = stop["body"]
            else:
                shown = {name: [client.value(name)] for name in names}
                ids = [client.call("dataBreakpointInfo", name=name)["dataId"] for name in names]
                client.call("setDataBreakpoints", breakpoints=[{"dataId": one, "accessType": "write"} for one in ids])
                while True:
                    client.call("continue", threadId=client.stop["threadId"])
                    stop = client.wait(lambda m: m.get("event") in ("stopped", "exited"))
                    if stop["event"] == "exited":
                        break
                    for name, value in re.findall(r"(\w+): old value \S+, new value ([^;\s]+)", stop["body"]["text"]):
                        shown[name].append(value)
                for name in names:
                    rest = iter(shown[name])  # a step over a loop in one line sees its end only
                    assert all(value in rest for value in seen[name]), (kernel, name, shown[name], seen[name])
                    assert len(seen[name]) > 1, (kernel, name, seen[name])
            client.call("disconnect", terminateDebuggee=True)
            client.process.wait(60)


def in_the_terminal(build):
    commands = [f"break registers.cu:{ADD} if i == 70 && k == 0", "run", "delete", "watch sum if sum > 1", "rwatch i", "info watchpoints", "continue",
                "delete 3", "continue", "info watchpoints", "last-write sum", "watch k", "delete 4", "watch sum if sum < 0", "delete 2", "continue",
                "continue"]
    done = subprocess.run([str(build / "bin/warpgrind"), "debug", PROGRAM], input="\n".join(commands) + "\n", text=True, capture_output=True,
                          timeout=200, env=whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache")))
    out = done.stdout
    check(done.returncode, 0)
    for text in ("Watchpoint 2: sum\n", "Read watchpoint 3: i\n", "2    watchpoint      keep y   sum\n\tstop only if sum > 1\n",
                 "\nRead watchpoint 3: i\ni was read: 70\n".replace("Read watchpoint", "Watchpoint"),
                 f"\nWatchpoint 2: sum\nsum: old value 0, new value {sums(70)[1]}\n", "\tstopped here 1 time\n", "Back before the last write of sum:\n",
                  "Watchpoint 4: k\n", plain(build, program=PROGRAM)):
        assert text in out, (text, out)
    assert re.search(r"sum is watched no longer: its thread ends here\n#0  count .*\n\d+\t}\n", out), out


CASES = [changes_both_ways, one_call_of_several, last_writes, reads, conditions_and_hit_counts, ends_with_its_call, registers_by_name,
         before_the_first_write, sets_values_of_the_warp, steps_see_no_other_values, in_the_terminal]

if __name__ == "__main__":
    run_cases(CASES, __doc__)
