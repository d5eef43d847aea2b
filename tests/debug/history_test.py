#!/usr/bin/env python3
"""Going back into launches that have ended (programs/launches.cu), with what the host copied in between undone, too.

  history_test.py --list
  history_test.py --build DIR CASE     exit code 0 passed, 1 failed
"""
import os
import pathlib
import random
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from backwards_test import Walker, plain  # noqa: E402
from debugger_test import check, run_cases  # noqa: E402

PROGRAM = str(HERE / "programs/launches.cu")
TEXT = ["", *pathlib.Path(PROGRAM).read_text().splitlines()]


def line_of(text):
    found = [n for n, line in enumerate(TEXT) if text in line]
    assert len(found) == 1, (text, found)
    return found[0]


FILL = line_of("int value = start + i")
SCALE = line_of("data[i] = old * factor")
INCREASE = line_of("data[i] = old + 1")
SAYS = line_of("data[threadIdx.x] = old + 5")
OUTSIDE = line_of("data[i == 7 ? n : i]")
TILE = line_of("int value = tile[63")


class History(Walker):
    def __init__(self, build, *words, **options):
        super().__init__(build, *words, program=PROGRAM, **{"history": 256, **options})

    def breaks_at(self, *lines, **more):
        self.call("setBreakpoints", source={"path": PROGRAM}, breakpoints=[{"line": n, **more} for n in lines])

    def launches(self):
        return {one["id"]: (one["kernel"].split("(")[0], one["state"]) for one in self.call("warpgrind/launches")["launches"]}

    def last_write(self, expression):
        self.call("warpgrind/lastWrite", expression=expression, frameId=self.frames()[0]["id"])
        return self.stopped()

    def place(self):
        return self.frames()[0]["name"].split("(")[0], self.line()

    def ends_well(self, build, *words):
        self.breaks_at()
        self.call("setFunctionBreakpoints", breakpoints=[])
        self.call("setDataBreakpoints", breakpoints=[])
        # The place from which the user went back is a stop, once.
        stop = self.go_on()
        if stop:
            assert "went back" in stop["body"].get("text", ""), stop
            assert not self.go_on(), "a second stop"
        check(self.exit(), plain(build, *words, program=PROGRAM))

    def go_on(self):
        self.call("continue", threadId=self.stop["threadId"])
        message = self.wait(lambda m: m.get("event") in ("stopped", "exited"))
        if message["event"] == "stopped":
            self.stop = message["body"]
            return message
        self.kept.insert(0, message)
        return None


# ---- Cases

def enters_each_launch(build):
    """By reverse-continue from the third launch to the first, and forwards again; `factor` is what the host had copied before each."""
    client = History(build, "small")
    client.breaks_at(INCREASE, condition="i == 100")
    client.begin()
    check(client.launches(), {1: ("fill", "ended, can be entered again"), 2: ("scale", "ended, can be entered again"), 3: ("increase", "stopped")})
    check((client.value("old"), client.value("factor"), client.value("calls"), client.value("data[2]")), ("3300", "5", "111", "28"))
    client.breaks_at(FILL, SCALE, condition="i == 100")
    stop = client.go("reverseContinue")
    check((client.place(), stop["focus"]["thread"], stop["focus"]["block"]), (("scale", SCALE), [36, 0, 0], [1, 0, 0]))
    check((client.value("old"), client.value("factor"), client.value("data[2]")), ("1100", "3", "27"))
    check(client.launches()[2], ("scale", "stopped"))
    check(client.launches()[3], ("increase", "the newest"))
    client.go("reverseContinue")
    check((client.place(), client.value("data[2]"), client.value("factor")), (("fill", FILL), "1002", "0"))
    check((client.launches()[1][1], client.launches()[2][1]), ("stopped", "later"))
    stop = client.go("reverseContinue")
    assert "program's first launch" in stop["text"], stop
    client.go("continue")
    check(client.place(), ("fill", FILL))
    client.go("continue")
    check((client.place(), client.value("old"), client.value("factor")), (("scale", SCALE), "1100", "3"))
    client.ends_well(build, "small")


def last_write_in_earlier_launches(build):
    client = History(build, "small")
    client.breaks_at(INCREASE, condition="i == 100")
    client.begin()
    client.last_write("data[200]")
    check((client.place(), client.stop["focus"]["block"], client.stop["focus"]["thread"]), (("scale", SCALE), [3, 0, 0], [8, 0, 0]))
    client.last_write("data[200]")
    check((client.place()[0], client.value("value")), ("fill", "1200"))
    stop = client.last_write("data[200]")
    assert "not written in this launch" in stop["text"], stop
    client.ends_well(build, "small")


def host_copies_between_launches(build):
    """The host has written the value after the first launch: the search ends there and names the copy."""
    client = History(build, "small")
    client.breaks_at(SCALE, condition="i == 2")
    client.begin()
    stop = client.last_write("data[2]")
    check(client.place(), ("scale", SCALE))
    assert "a copy by the host wrote it" in stop["text"] and "16 bytes" in stop["text"], stop
    check(client.value("old"), "9")
    client.ends_well(build, "small")


def same_state_both_ways(build):
    """n steps back over the border of two launches, and as many forwards."""
    client = History(build, "small")
    client.breaks_at(SCALE, condition="i == 100")
    client.begin()
    client.breaks_at(INCREASE, condition="i == 2")
    client.go("continue")
    client.breaks_at()
    address = client.call("evaluate", expression="data", context="watch")["memoryReference"]
    states = [client.state(address)]
    for _ in range(12):
        client.go_back("stepBack")
        states.append(client.state(address))
    names = [s[0][0] for s in states]
    assert any(client.place()[0] == name for name in ("scale", "fill")), names
    client.breaks_at(INCREASE, condition="i == 2")
    client.go("continue")
    assert "went back to an earlier launch" in client.stop["text"], client.stop
    assert client.state(address) in states, "the newest launch was left from another place"
    client.go("continue")
    check(client.state(address), states[0])
    client.ends_well(build, "small")


def large_memory(build):
    """4 MiB, whose pages are copied when they are written."""
    client = History(build, "large")
    client.breaks_at(INCREASE, condition="i == 1000000")
    client.begin()
    check((client.value("old"), client.value("data[999999]")), ("3003000", "3002998"))
    client.last_write("data[1048575]")
    check((client.place(), client.value("old"), client.value("data[0]")), (("scale", SCALE), "1049575", "21"))
    client.last_write("data[1048575]")
    check((client.place()[0], client.value("data[0]"), client.value("data[1048575]")), ("fill", "1000", "<undefined>"))
    client.ends_well(build, "large")


def too_little_room(build):
    client = History(build, "large", history=1)
    client.breaks_at(INCREASE, condition="i == 1000000")
    client.begin()
    check(list(client.launches()), [3])
    why = client.call("warpgrind/launches")["whyNoMore"]
    assert "1 MiB" in why, why
    stop = client.last_write("data[1048575]")
    assert "not written in this launch" in stop["text"], stop
    client.ends_well(build, "large")


def without_history(build):
    client = History(build, "small", history=0)
    client.breaks_at(INCREASE, condition="i == 100")
    client.begin()
    check(list(client.launches()), [3])
    check(client.call("warpgrind/launches")["whyNoMore"], "earlier launches are not kept")
    client.ends_well(build, "small")


def freed_memory(build):
    """A launch whose memory was freed cannot be entered, nor those before it."""
    client = History(build, "frees")
    client.breaks_at(INCREASE)
    client.begin()
    check(sorted(client.launches()), [2, 3])
    streams = {one["id"]: one["stream"] for one in client.call("warpgrind/launches")["launches"]}
    assert streams[2].isdigit() and streams[3] == "", streams
    why = client.call("warpgrind/launches")["whyNoMore"]
    assert "freed" in why, why
    client.last_write("data[0]")
    check((client.place()[0], client.value("start")), ("fill", "2"))
    client.ends_well(build, "frees")


def managed_memory_and_printf(build):
    """What the host wrote without a call is undone; a kernel that runs again prints nothing again."""
    client = History(build, "managed")
    client.breaks_at(SAYS, condition="threadIdx.x == 0")
    client.begin()
    client.go("continue")
    client.go("continue")
    check((client.value("old"), client.value("data[1]")), ("200", "10"))
    client.go("reverseContinue")
    check((client.value("old"), client.value("data[1]")), ("100", "5"))
    client.go("reverseContinue")
    check((client.value("old"), client.value("data[1]")), ("0", "0"))
    client.ends_well(build, "managed")


def back_from_a_fault(build):
    client = History(build, "faults")
    client.call("setExceptionBreakpoints", filters=["fault"])
    client.begin()
    check(client.place(), ("beyond", OUTSIDE))
    client.last_write("data[9]")
    check((client.place()[0], client.value("i"), client.value("value")), ("fill", "9", "1009"))
    stop = client.go("continue")
    check((stop["reason"], client.place()), ("exception", ("beyond", OUTSIDE)))
    client.call("disconnect", terminateDebuggee=True)
    client.process.wait(60)


def undefined_bits(build):
    """Of an earlier launch, too."""
    client = History(build, "undefined")
    client.breaks_at(TILE, condition="threadIdx.x == 0")
    client.begin()
    first = client.value("tile[5]"), client.value("data[5]")
    check(first, ("<undefined>", "<undefined>"))
    client.go("continue")
    check((client.value("tile[5]"), client.value("data[5]")), ("1005", "1005"))
    client.go("reverseContinue")
    check((client.value("tile[5]"), client.value("data[5]")), first)
    client.go("continue")
    check((client.value("tile[5]"), client.value("data[5]")), ("1005", "1005"))
    client.ends_well(build, "undefined")


def pieces_of_malloc(build):
    """Which pieces of the heap are in use belongs to the launch, too."""
    program = str(HERE / "programs/allocates.cu")
    client = Walker(build, program=program, history=64)
    line = next(n for n, text in enumerate(pathlib.Path(program).read_text().splitlines(), 1) if "free(old)" in text)

    def stop_at(where):
        client.call("setBreakpoints", source={"path": program}, breakpoints=[{"line": where}] if where else [])

    stop_at(line)
    client.begin()
    seen = []
    for count in (1, 2, 3, 4):
        check(client.value("*kept"), str(count))
        seen.append((client.value("made"), client.value("old")))
        if count < 4:
            client.go("continue")
    assert len({made for made, _ in seen}) == 4, seen
    for count in (3, 2, 1):
        client.go("reverseContinue")
        check((client.value("*kept"), client.value("made"), client.value("old")), (str(count), *seen[count - 1]))
    client.go("continue")
    check((client.value("*kept"), client.value("made"), client.value("old")), ("2", *seen[1]))
    stop_at(None)
    client.go("continue")
    assert "went back" in client.stop["text"], client.stop
    check(client.end(), plain(build, program=program))


def launches_of_kernels(build):
    """Grids that a kernel launches are launches of their own, and the one that launched them can be entered again."""
    if not shutil.which("nvcc") and not os.access("/usr/local/cuda/bin/nvcc", os.X_OK):
        sys.exit(77)
    program = str(HERE / "programs/children.cu")
    options = {"nvccFlags": ["-rdc=true", "-lcudadevrt"], "compiler": "nvcc"}
    client = Walker(build, program=program, **options)
    client.call("setFunctionBreakpoints", breakpoints=[{"name": "child"}])
    client.begin()
    client.call("setFunctionBreakpoints", breakpoints=[])
    check(client.value("data[0]@4"), "{0, 1, 2, 3}")
    client.call("warpgrind/lastWrite", expression="data[3]", frameId=client.frames()[0]["id"])
    client.stopped()
    check((client.frames()[0]["name"].split("(")[0], client.stop["focus"]["thread"]), ("parent", [3, 0, 0]))
    client.go("next")
    client.go_back("stepBack")
    check(client.value("data[0]@4"), "{<undefined>, <undefined>, <undefined>, <undefined>}")
    client.call("setFunctionBreakpoints", breakpoints=[{"name": "child"}])
    for add in (1, 10):
        client.go("continue")
        check(client.value("add"), str(add))
    client.call("setFunctionBreakpoints", breakpoints=[])
    check(client.end(), "11 42\n")


def many_launches(build):
    """1,200 launches of two warps: the last 1,000 are kept, and a search goes through all of them."""
    client = History(build, "1200")
    client.call("setFunctionBreakpoints", breakpoints=[{"name": "increase", "hitCondition": str(2 * 1190 - 1)}])
    client.begin()
    client.call("setFunctionBreakpoints", breakpoints=[])
    ids = list(client.launches())
    check((max(ids), len(ids)), (1190, 1001))
    client.breaks_at(INCREASE, condition="old == 1000 && threadIdx.x == 9")
    client.go("reverseContinue")
    check((client.value("old"), client.launches()[1001][1]), ("1000", "stopped"))
    client.ends_well(build, "1200")


def random_walks(build):
    """Any moves, also over the borders of launches: whenever a thread is at the same place again, memory and registers are the same, too."""
    chance = random.Random(5)
    client = History(build, "small")
    client.breaks_at(INCREASE, condition="i == 100")
    client.begin()
    address = client.call("evaluate", expression="data", context="watch")["memoryReference"]
    seen, again, launches = {}, 0, set()
    for _ in range(60):
        frames, focus, registers, memory = client.state(address)
        place = focus["launch"], tuple(focus["thread"]), tuple(focus["block"]), *frames  # no kernel has a loop
        again += place in seen
        launches.add(focus["launch"])
        check((registers, memory), seen.setdefault(place, (registers, memory)))
        lines = chance.sample((FILL, SCALE, INCREASE), chance.randrange(1, 4))
        client.breaks_at(*lines, condition=f"i == {chance.randrange(256)}")
        move = chance.choice(("stepBack", "reverseContinue", "reverseContinue", "next", "continue", "last_write"))
        if move == "last_write":
            client.last_write(f"data[{chance.randrange(256)}]")
        elif move == "continue" and focus["launch"] == 3:
            client.go("stepBack")  # the program would end
        else:
            client.go(move)
    assert again > 3 and launches == {1, 2, 3}, (again, launches)
    client.ends_well(build, "small")


CASES = [enters_each_launch, last_write_in_earlier_launches, host_copies_between_launches, same_state_both_ways, large_memory, too_little_room,
         without_history, freed_memory, managed_memory_and_printf, back_from_a_fault, undefined_bits, many_launches, random_walks, pieces_of_malloc,
         launches_of_kernels]

if __name__ == "__main__":
    run_cases(CASES, __doc__)
