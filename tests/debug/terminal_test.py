#!/usr/bin/env python3
"""`warpgrind debug`: the requests of the Debug Adapter Protocol that each command makes, and what it prints.

  terminal_test.py --list
  terminal_test.py --build DIR CASE     exit code 0 passed, 1 failed

The program is fake_program.py, whose adapter writes down the requests. The commands' meaning is gdb's (its manual), and that of the requests is
DAP's own text and docs/debugging-protocol.md. Contents of memory are expected as Python's struct module packs them.
"""
import argparse
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import whole_run  # noqa: E402

PROGRAM = str(HERE / "fake_program.py")
SOURCE = str(HERE / "saxpy.cu")
PROMPT = b"(warpgrind) "
FOCUS = "[block (1,0,0), thread (5,0,0), warp 0, lane 5]\n"
LINES = ["", *pathlib.Path(SOURCE).read_text().splitlines()]
FORMAT = {"parameters": True}
PLACE = ["stackTrace", {"threadId": 11, "startFrame": 0, "format": FORMAT, "levels": 1}]
SAXPY = "#0  saxpy(float, const float*, float*) at saxpy.cu:"


def line(number):
    return f"{number}\t{LINES[number]}\n"


class Terminal:
    def __init__(self, build, folder, mode, words=(), program_words=()):
        self.log = folder / "requests"
        self.log.write_text("")
        self.seen = 0
        self.environment = whole_run.environment(TMPDIR=str(folder), XDG_CACHE_HOME=str(build / "test-cache"))
        self.errors = open(folder / "stderr", "w+")
        self.process = subprocess.Popen(
            [str(build / "bin/warpgrind"), "debug", *words, PROGRAM, str(self.log), mode, *program_words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=self.environment)
        self.read_to_prompt()

    def read_to_prompt(self):
        text = b""
        while not text.endswith(PROMPT):
            byte = self.process.stdout.read(1)
            if not byte:
                return text.decode()
            text += byte
        return text[:-len(PROMPT)].decode()

    def start(self, command):
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == command.encode() + b"\n"

    def do(self, command):
        """What the command prints."""
        self.start(command)
        return self.read_to_prompt()

    def requests(self):
        """Requests since the last call."""
        lines = self.log.read_text().splitlines()[self.seen:]
        self.seen += len(lines)
        return [json.loads(text) for text in lines]

    def check(self, command, requests, text):
        printed = self.do(command)
        asked = self.requests()
        assert asked == requests, f"{command}: asked {asked}, expected {requests}"
        assert printed == text, f"{command}: printed {printed!r}, expected {text!r}"

    def run_to_breakpoint(self):
        self.do("break saxpy.cu:9")
        printed = self.do("run")
        self.requests()
        return printed

    def leave(self):
        self.start("quit")
        assert self.process.stdout.read() == b""
        assert self.process.wait() == 0


def evaluate(expression, **more):
    return ["evaluate", {"expression": expression, "frameId": 1001, "context": "repl", **more}]


def start_of_session(*breakpoints, entry=False):
    return [["initialize", {"clientID": "warpgrind-debug", "adapterID": "warpgrind", "linesStartAt1": True, "columnsStartAt1": True,
                            "pathFormat": "path", "supportsMemoryReferences": True}],
            ["attach", {"stopOnEntry": entry}], *breakpoints, ["setExceptionBreakpoints", {"filters": ["fault", "assert"]}],
            ["configurationDone", {}]]


def set_lines(*breakpoints, path="saxpy.cu"):
    return ["setBreakpoints", {"source": {"path": path}, "breakpoints": list(breakpoints)}]


def set_functions(*breakpoints):
    return ["setFunctionBreakpoints", {"breakpoints": list(breakpoints)}]


def breakpoints_before_the_run(make):
    t = make("breakpoint")
    t.check("break saxpy.cu:9 if i > 3", [], "Breakpoint 1 at saxpy.cu:9 (found when the program runs)\n")
    t.check("b scale(float, float)", [], "Breakpoint 2 at scale(float, float) (found when the program runs)\n")
    t.check("tbreak ns::kernel<int>", [], "Temporary breakpoint 3 at ns::kernel<int> (found when the program runs)\n")
    t.check("br 12", [], "Breakpoint 4 at fake_program.py:12 (found when the program runs)\n")  # a script is its program's source
    t.check("delete 4", [], "")
    t.check("break *0x10", [], '"0x10" is no place in the PTX.\n  `disassemble` prints the places, for example f0:i12\n')
    t.check("break saxpy.cu:x", [], '"x" is no line number\n')
    # A condition that cannot be right is refused at once, and not at each warp.
    t.check("break saxpy.cu:9 if i = 3", [], "condition 'i = 3': '=' assigns a value: '==' compares\n")
    t.check("break saxpy.cu:9 if (i == 3", [], "condition '(i == 3': ')' is missing\n")
    t.check("tbreak scale if i <= 3 &&", [], "condition 'i <= 3 &&': a value is missing at the end\n")
    t.check("break saxpy.cu:9 if", [], "a condition is expected behind 'if'\n")
    t.check("break if i == 3]", [], "condition 'i == 3]': ']' without '['\n")
    t.check("condition 1 i == 'a", [], "condition 'i == 'a': a quote has no end\n")
    t.check("info watchpoints", [], "No watchpoints.\n")
    t.check('dprintf saxpy.cu:10,"i is {i}\\n"', [], "Dprintf 5 at saxpy.cu:10 (found when the program runs)\n")
    t.check("dprintf saxpy.cu:10", [], 'dprintf needs LOCATION,"TEXT {EXPRESSION}".\n')
    t.check("watch y[5]", [], "The program is not being run.\n")
    t.check("disable 2", [], "")
    t.check("ignore 1 2", [], "Will ignore next 2 crossings of breakpoint 1.\n")
    t.check("condition 1 i > 4 && lane == 2", [], "")
    t.check("info breakpoints", [],
            "Num  Type            Disp Enb What\n"
            "1    breakpoint      keep y   saxpy.cu:9\n\tstop only if i > 4 && lane == 2\n\tstop only at hits >2\n"
            "2    breakpoint      keep n   scale(float, float)\n"
            "3    breakpoint      del  y   ns::kernel<int>\n"
            '5    dprintf         keep y   saxpy.cu:10\n\tprints "i is {i}\\n"\n')
    t.check("run", [*start_of_session(
        set_lines({"line": 9, "condition": "i > 4 && lane == 2", "hitCondition": ">2"}, {"line": 10, "logMessage": "i is {i}\n"}),
        set_functions({"name": "ns::kernel<int>"})), PLACE],
        f"host says hello\narguments []\n\nBreakpoint 1\n{FOCUS}{SAXPY}9\n{line(9)}")
    t.leave()


def breakpoints_while_stopped(make):
    t = make("breakpoint")
    t.run_to_breakpoint()
    t.check("break 10", [set_lines({"line": 10}, path=SOURCE), set_lines({"line": 9})],
            "Breakpoint 2 at saxpy.cu:10 (saxpy.cu:9)\n")
    t.check("break missing", [set_functions({"name": "missing"})],
            "Breakpoint 3 at missing is pending: no kernel has a function named missing\n")
    t.check("delete 3", [set_functions()], "")
    t.check("ignore 1 0", [set_lines({"line": 10}, path=SOURCE), set_lines({"line": 9})],
            "Will stop next time breakpoint 1 is reached.\n")
    t.check("disable 1", [set_lines({"line": 10}, path=SOURCE), set_lines()], "")
    t.check("enable", [set_lines({"line": 10}, path=SOURCE), set_lines({"line": 9})], "")
    t.check("disable 1 1", [set_lines({"line": 10}, path=SOURCE), set_lines()], "")
    t.check("enable 1 1", [set_lines({"line": 10}, path=SOURCE), set_lines({"line": 9})], "")
    t.do("tbreak saxpy")
    t.requests()
    t.check("delete 4 4", [set_functions()], "")
    t.check("clear saxpy.cu:9", [set_lines({"line": 10}, path=SOURCE), set_lines()], "Deleted breakpoint 1\n")
    t.check("clear saxpy.cu:9", [], "No breakpoint at saxpy.cu:9.\n")
    t.check("delete", [set_lines(path=SOURCE)], "")
    t.check("delete 9", [], "No breakpoint number 9.\n")
    t.check("info b", [], "No breakpoints or watchpoints.\n")
    t.check("catch launch saxpy", [["setExceptionBreakpoints", {"filters": ["fault", "assert"],
                                                                "filterOptions": [{"filterId": "launch", "condition": "saxpy"}]}]],
            "Catchpoint 5: launch of saxpy\n")
    t.check("catch fault", [], "A kernel's fault always stops the program.\n")
    t.check("catch signal", [], "catch needs one of: fault, assert, launch [KERNEL], finding, api, barrier, divergence.\n")
    t.leave()


def temporary(make):
    t = make("breakpoint")
    t.do("tbreak saxpy")
    assert "\nTemporary breakpoint 1\n" in t.do("run")
    # It is deleted when it has stopped the program.
    assert set_functions() in t.requests()
    t.check("info breakpoints", [], "No breakpoints or watchpoints.\n")
    t.leave()


def running(make):
    t = make("breakpoint")
    assert t.run_to_breakpoint() == f"host says hello\narguments []\n\nBreakpoint 1\n{FOCUS}{SAXPY}9\n{line(9)}"

    def moves(command, **more):
        return [[command, {"threadId": 11, **more}], PLACE]
    statement, instruction = {"granularity": "statement"}, {"granularity": "instruction"}
    t.check("next", moves("next", **statement), line(10))
    t.check("", moves("next", **statement), line(11))
    t.check("reverse-next 2", moves("stepBack", **statement) * 2, line(10) + line(9))
    t.check("s", moves("stepIn", **statement), line(10))
    t.check("reverse-step", moves("warpgrind/reverseStepIn", **statement), line(9))
    t.check("stepi", moves("stepIn", **instruction), line(10))
    t.check("rsi", moves("warpgrind/reverseStepIn", **instruction), line(9))
    t.check("ni", moves("next", **instruction), line(10))
    t.check("reverse-nexti", moves("stepBack", **instruction), line(9))
    t.check("fin", moves("stepOut"), line(9))
    t.check("reverse-finish", moves("warpgrind/reverseStepOut"), line(8))
    t.check("reverse-continue", [["reverseContinue", {"threadId": 11}], PLACE], f"\nBeginning of the launch\n{SAXPY}8\n{line(8)}")
    t.check("until", moves("next", **statement), line(9))
    t.check("next x", [], '"x" is no number.\n')
    t.check("c", [["continue", {"threadId": 11}]], "result 6.5\nhost ends\n[The program exited with code 7]\n")
    t.check("c", [], "The program is not being run.\n")
    t.check("print i", [], "The program is not being run.\n")
    # It can be run again, with other arguments.
    assert "arguments ['two words', 'and']\n" in t.do(f"run {t.log} breakpoint 'two words' and")
    assert start_of_session(set_lines({"line": 9}))[:2] == t.requests()[:2]
    t.leave()


def advance(make):
    t = make("breakpoint")
    t.do("start")
    assert start_of_session(entry=True) == t.requests()[:-1]
    t.check("advance saxpy.cu:10", [set_lines({"line": 10}), ["continue", {"threadId": 11}]],
            "result 6.5\nhost ends\n[The program exited with code 7]\n")
    t.check("info breakpoints", [], "No breakpoints or watchpoints.\n")
    t.leave()


def pass_a_breakpoint(make):
    t = make("breakpoint")
    t.run_to_breakpoint()
    t.check("continue 3", [set_lines({"line": 9, "hitCondition": ">2"}), ["continue", {"threadId": 11}]],
            "Will pass breakpoint 1 2 times.\nresult 6.5\nhost ends\n[The program exited with code 7]\n")
    t.leave()


def values(make):
    t = make("breakpoint")
    t.run_to_breakpoint()
    t.check("print i", [evaluate("i", remember=1)], "$1 = 133\n")
    t.check("p/x i", [evaluate("i", format={"hex": True}, remember=2)], "$2 = 0x85\n")
    t.check("p/t i", [evaluate("i", format={"letter": "t"}, remember=3)], "$3 = 133\n")
    t.check("p/q i", [], '"/q" is no format of a value: one of x d u o t c f a\n')
    t.check("p $2 + $", [evaluate("$2 + $", remember=4)], "$4 = 133\n")
    t.check("p", [], "$4 = 133\n")
    t.check("print point", [evaluate("point", remember=5), ["variables", {"variablesReference": 4}]], "$5 = {x = 1, y = 2}\n")
    t.check("print nothing", [evaluate("nothing", remember=6)], 'no symbol "nothing" in the current context\n')
    t.check("set var i = 5", [["setExpression", {"expression": "i", "value": "5", "frameId": 1001}]], "")
    t.check("set var x[i == 2] = 1", [["setExpression", {"expression": "x[i == 2]", "value": "1", "frameId": 1001}]], "")
    t.check("set pagination off", [], "")
    t.check("set nosuch 80", [], "set needs: var VARIABLE = VALUE, $NAME = VALUE, args [ARGUMENTS], or detach-on-fork on|off.\n")
    t.check("info locals", [["scopes", {"frameId": 1001}], ["variables", {"variablesReference": 1}]],
            "i = 133\nproduct = <optimised away>\n")
    t.check("info args", [["scopes", {"frameId": 1001}], ["variables", {"variablesReference": 2}]], "a = 2\n")
    t.check("i r %f2", [["scopes", {"frameId": 1001}], ["variables", {"variablesReference": 3}]], "%f2 = 1.5\n")
    t.check("info registers %f9", [["scopes", {"frameId": 1001}], ["variables", {"variablesReference": 3}]],
            "There is no register %f9.\n")
    display = ["evaluate", {"expression": "i", "frameId": 1001, "context": "watch"}]
    t.check("display nothing", [["evaluate", {**display[1], "expression": "nothing"}]],
            'no symbol "nothing" in the current context\n')
    t.check("display i", [display], "1: i = 133\n")
    t.check("next", [["next", {"threadId": 11, "granularity": "statement"}], PLACE, display], line(10) + "1: i = 133\n")
    t.check("undisplay 1", [], "")
    t.check("undisplay 1", [], "No display number 1.\n")
    t.check("last-write y[5]", [["warpgrind/lastWrite", {"expression": "y[5]", "frameId": 1001}], PLACE],
            "Back before the last write of y[5]:\n" + line(10))
    t.check("last-write y[6]", [["warpgrind/lastWrite", {"expression": "y[6]", "frameId": 1001}], PLACE],
            f"\ny[6] was not written in this launch\n{SAXPY}10\n{line(10)}")
    t.check("whatis i", [["evaluate", {"expression": "i", "frameId": 1001, "context": "watch"}]], "type = int\n")
    t.leave()


def memory(make):
    t = make("breakpoint")
    t.run_to_breakpoint()
    begin = 0x7f0000001000
    data = struct.pack("<8f", *range(8))

    def read(offset, count):
        return ["readMemory", {"memoryReference": hex(begin + offset), "offset": 0, "count": count}]

    def check(command, offset, size, in_line, texts):
        lines = [f"{begin + offset + i * size:#x}:\t" + "\t".join(texts[i:i + in_line]) + "\n" for i in range(0, len(texts), in_line)]
        t.check(command, ([evaluate("y")] if command else []) + [read(offset, size * len(texts))], "".join(lines))

    words = struct.unpack("<8I", data)
    check("x/6xw y", 0, 4, 4, [f"0x{w:08x}" for w in words[:6]])
    check("x/2f y", 0, 4, 4, ["0", "1"])
    check("", 8, 4, 4, ["2"] + ["3"])
    check("x/3dw y", 0, 4, 4, [str(w) for w in struct.unpack("<3i", data[:12])])
    check("x/4uh y", 0, 2, 8, [str(h) for h in struct.unpack("<4H", data[:8])])
    check("x/4fh y", 0, 2, 8, [f"{h:g}" for h in struct.unpack("<4e", data[:8])])
    check("x/2fg y", 0, 8, 2, [repr(g) for g in struct.unpack("<2d", data[:16])])
    check("x/2ow y", 0, 4, 4, ["0" if w == 0 else f"0{w:o}" for w in words[:2]])
    check("x/2tb y", 0, 1, 8, [f"{b:08b}" for b in data[:2]])
    check("x/2a y", 0, 8, 2, [hex(g) for g in struct.unpack("<2Q", data[:16])])
    check("x/3xb y", 0, 1, 8, [f"0x{b:02x}" for b in data[:3]])
    check("x/2xg y", 0, 8, 2, [f"0x{g:016x}" for g in struct.unpack("<2Q", data[:16])])
    t.check("x/1c y", [evaluate("y"), read(0, 1)], f"{begin:#x}:\t0 '\\000'\n")
    t.check("x/10xw y", [evaluate("y"), read(0, 40)],
            f"{begin:#x}:\t" + "\t".join(f"0x{w:08x}" for w in words[:4]) + f"\n{begin + 16:#x}:\t"
            + "\t".join(f"0x{w:08x}" for w in words[4:]) + f"\nCannot access memory at address {begin + 32:#x}\n")
    t.check("x/1s y", [evaluate("y"), read(0, 200)], f'{begin:#x}:\t""\n')
    t.check("x/9999999x y", [], "at most 1048576 elements\n")
    t.check("x/2q y", [], '"2q" is no format: a count, one of x d u o t c f a s i, and one of b h w g\n')
    t.check("x/4x point", [evaluate("point")], 'point has no address: "" is no address\n')
    t.check("x/2i", [["disassemble", {"memoryReference": "ptx:0:12", "instructionOffset": 0, "instructionCount": 2, "resolveSymbols": True}]],
            "=> 0xc:\tmul.f32 \t%f2, %f1, %f3;\n   0xd:\tadd.f32 \t%f4, %f2, %f5;\n")
    t.leave()


def warps(make):
    t = make("breakpoint")
    t.run_to_breakpoint()
    place = f"{SAXPY}9\n{line(9)}"
    focus = "warpgrind/focus"

    def at(lane):
        return f"[block (1,0,0), thread ({lane},0,0), warp 0, lane {lane}]\n"
    t.check("thread (4,0,0)", [[focus, {"thread": [4, 0, 0]}], PLACE], at(4) + place)
    t.check("thread 6", [[focus, {"thread": [6, 0, 0]}], PLACE], at(6) + place)
    t.check("cuda block (1,0) thread (3,0,0)", [[focus, {"block": [1, 0, 0], "thread": [3, 0, 0]}], PLACE], at(3) + place)
    t.check("block 1 lane 2", [[focus, {"block": [1, 0, 0], "lane": 2}], PLACE], at(2) + place)
    t.check("warp 0", [[focus, {"warp": 0}], PLACE], at(5) + place)
    t.check("lane", [[focus, {}]], at(5))
    t.check("block 9", [[focus, {"block": [9, 0, 0]}]], "block (9,0,0) is not resident\n")
    t.check("thread (a,b)", [], 'thread needs a number or (X,Y,Z): "("\n')
    t.check("cuda kernel 0", [], '"kernel": one of block, thread, warp, lane\n')
    rows = [[f"{2 * n if n != 7 else 99}{'?' if n == 3 else ''}" if n < 16 else f"[{2 * n}]" for n in range(r, r + 8)] for r in range(0, 32, 8)]
    table = "int\n" + "".join(f"lane {8 * i:>2}:" + "".join(f" {cell:>4}" for cell in row) + "\n" for i, row in enumerate(rows)) + \
        "min 0 in lane 0, max 99 in lane 7\n[ ] inactive: lanes 16-31\n? undefined: lane 3\n"
    t.check("warp i", [["warpgrind/warpValues", {"expression": "i", "frameId": 1001}]], table)
    falses = " false" * 8 + "\n"
    t.check("warp i > 50", [["warpgrind/warpValues", {"expression": "i > 50", "frameId": 1001}]],
            "bool\nlane  0:" + " false" * 7 + "  true\n" + "".join(f"lane {n:>2}:{falses}" for n in (8, 16, 24)) +
            "2 different values\nfalse in all but lane 7\n")
    row = " 1.41421356" * 4 + "\n"
    t.check("warp root", [["warpgrind/warpValues", {"expression": "root", "frameId": 1001}]],
            f"double\nlane  0:{row}lane  4:{row}all equal: 1.41421356\n")
    # Wide values are a line for each run of equal lanes; pointers are addresses, and the allocation is printed once.
    t.check("warp pair", [["warpgrind/warpValues", {"expression": "pair", "frameId": 1001}]],
            "Pair\nlanes 0-4:   {first = 0, second = 0.25}\nlanes 5-31:  {first = 1, second = 0.25}\n2 different values\n"
            "{first = 1, second = 0.25} in all but lanes 0-4\n")
    addresses = "".join(f"lane {n:>2}:" + "".join(f" {0x7000 + 8 * i:#x}" for i in range(n, n + 8)) + "\n" for n in range(0, 32, 8))
    t.check("warp &x[2 * i]", [["warpgrind/warpValues", {"expression": "&x[2 * i]", "frameId": 1001}]],
            f"float *\n{addresses}lanes 0-31: cudaMalloc at saxpy.cu:20, a 256-byte allocation, byte 0, +8 from lane to lane\n")
    tile = "warpgrind/tile"
    cells = "   0 1\n0: 1 ?\n"
    t.check("tile t", [[tile, {"expression": "t", "frameId": 1001, "width": 120}]], "float\n" + cells)
    t.check("tile/x &t[4] 8x16 by 32 of s4x2", [[tile, {"expression": "&t[4]", "frameId": 1001, "width": 120, "rows": 8, "columns": 16, "stride": 32, "type": "s4x2",
                                                      "format": {"hex": True}}]], "s4x2\n" + cells)
    t.check("tile t * 2x", [[tile, {"expression": "t * 2x", "frameId": 1001, "width": 120}]], "float\n" + cells)
    t.check("tile nosuch", [[tile, {"expression": "nosuch", "frameId": 1001, "width": 120}]], "there is no variable 'nosuch' here\n")
    t.check("tile", [], "Which memory? Give an array or a pointer.\n")
    t.check("info threads", [["threads", {}]],
            "* 11    block (1,0,0) warp 0, threads (0,0,0)-(31,0,0)\n  12    block (1,0,0) warp 1, threads (32,0,0)-(63,0,0)\n")
    t.check("info warps", [["warpgrind/warps", {}]],
            "block (1,0,0)\n* warp 0   active 0x0000ffff  saxpy.cu:9\n"
            "  warp 1   active 0xffffffff  saxpy.cu:10  waits for barrier 0 (1 of 2 warps)\n")
    t.check("info cuda lanes", [["warpgrind/warps", {}]],
            "block (1,0,0), warp 0\n  lanes 0-15   saxpy.cu:9\n  lanes 16-31  inactive\n")
    t.check("info blocks", [["warpgrind/warps", {}]], "* block (1,0,0)  2 warps, 1 waiting\n")
    t.check("info kernels", [["warpgrind/launches", {}]], "1    saxpy<<<(2,1,1), (64,1,1)>>>  stream 0  running\n")
    t.leave()


def stack(make):
    t = make("inlined")
    t.do("break scale")
    printed = t.do("run")
    assert f"#0  scale(float, float) at saxpy.cu:3\n{line(3)}" in printed, printed
    t.requests()
    whole = ["stackTrace", {"threadId": 11, "startFrame": 0, "format": FORMAT}]
    t.check("bt", [whole], "#0  scale(float, float) at saxpy.cu:3\n#1  saxpy(float, const float*, float*) at saxpy.cu:9\n")
    t.check("bt 1", [], "#0  scale(float, float) at saxpy.cu:3\n(More stack frames follow...)\n")
    t.check("up", [], f"#1  saxpy(float, const float*, float*) at saxpy.cu:9\n{line(9)}")
    t.check("print i", [evaluate("i", remember=1)], "$1 = 133\n")
    t.check("up", [], "Initial frame selected; you can't go up.\n")
    t.check("frame 0", [], f"#0  scale(float, float) at saxpy.cu:3\n{line(3)}")
    t.check("print i", [["evaluate", {"expression": "i", "frameId": 1000, "context": "repl", "remember": 2}]], "$2 = 133\n")
    t.check("down", [], "Bottom (innermost) frame selected; you can't go down.\n")
    t.check("frame 7", [], "No frame at level 7.\n")
    t.check("info frame", [], f"#0  scale(float, float) at saxpy.cu:3\n  source {SOURCE}\n  PTX ptx:0:17\n  {FOCUS.strip()[1:-1]}\n")
    t.check("info line", [["warpgrind/codeOfLine", {"source": {"path": SOURCE}, "line": 3}]],
            'Line 3 of "saxpy.cu" has this PTX:\n  scale(float, float): ptx:0:17 to ptx:0:18 (2 instructions)\n')
    t.check("info source", [], f"Current source file is {SOURCE}\nContains 11 lines.\n")
    t.check("list 2,4", [], line(2) + line(3) + line(4))
    t.check("list 9", [], "".join(line(n) for n in range(4, 12)))
    t.check("list 99", [], f"{SOURCE} has 11 lines\n")
    t.check("list saxpy", [["warpgrind/functions", {"name": "saxpy"}]], "".join(line(n) for n in range(2, 12)))
    t.check("list nothing", [["warpgrind/functions", {"name": "nothing"}]],
            'Function "nothing" is not in the stopped kernel\'s module.\n')
    t.check("info functions s.x", [["warpgrind/functions", {"pattern": "s.x"}]],
            f'All functions that match "s.x":\n\nFile {SOURCE}:\n7:\tsaxpy  (kernel, 30 instructions)\n')
    whole = ["disassemble", {"memoryReference": "ptx:0:17", "wholeFunction": True}]
    t.check("disassemble /s", [whole], f"PTX of saxpy:\nsaxpy.cu:\n{line(9)}   ptx:0:16:\tmul.f32 %f3, %f1, %f2;\n{line(3)}"
            "=> ptx:0:17:\tadd.f32 %f4, %f3, %f2;\n")
    t.check("ptype i", [["warpgrind/type", {"expression": "i", "frameId": 1000, "offsets": False}]], "type = int\n")
    t.leave()


def exception(make):
    t = make("exception")
    printed = t.do("run")
    assert "\nStopped by fault: write of 4 bytes at 0x7f0000009000, outside of every allocation\n  do  check the index\n" in printed, printed
    assert ["exceptionInfo", {"threadId": 11}] in t.requests()
    t.leave()


def watchpoints(make):
    t = make("watchpoint")
    t.run_to_breakpoint()
    info = ["dataBreakpointInfo", {"name": "y[5]", "frameId": 1001}]

    def data(access, **more):
        return {"dataId": "global:0x7f0000001014:4", "accessType": access, **more}
    t.check("watch y[5] if lane == 5", [info, ["setDataBreakpoints", {"breakpoints": [data("write", condition="lane == 5")]}]],
            "Watchpoint 2: y[5]\n")
    t.check("rwatch y[5]", [info, ["setDataBreakpoints", {"breakpoints": [data("write", condition="lane == 5"), data("read")]}]],
            "Read watchpoint 3: y[5]\n")
    t.check("delete 3", [["setDataBreakpoints", {"breakpoints": [data("write", condition="lane == 5")]}]], "")
    t.check("awatch 1 + 1", [["dataBreakpointInfo", {"name": "1 + 1", "frameId": 1001}]], "1 + 1 is no place in memory\n")
    t.check("continue", [["continue", {"threadId": 11}], PLACE],
            f"\nWatchpoint 2: y[5]\ny[5]: old value = 1, new value = 6.5\n{SAXPY}9\n{line(9)}")
    # A new process has other addresses.
    t.do("run")
    assert "2    watchpoint      keep n   y[5]\n" in t.do("info breakpoints")
    assert not any(command == "setDataBreakpoints" for command, _ in t.requests())
    t.leave()


def broken_adapters(make):
    for mode, message in (("bad_header", '"HTTP/1.1 200 OK" is no header field'), ("bad_length", '"many" is no length'),
                          ("no_length", "the header has no Content-Length"), ("huge", "999999999999 bytes, and the limit is 67108864"),
                          ("garbage", 'its 9 bytes are no JSON object: "not JSON!"'), ("cut", "closed in the middle of a message")):
        t = make(mode)
        printed = t.do("run")
        assert f"the connection to the program broke: " in printed and message in printed, (mode, printed)
        assert printed.endswith("[The program exited with code 7]\n"), (mode, printed)
        t.leave()


def ends(make):
    t = make("no_cuda")
    t.check("run", [], "host says hello\narguments []\n[The program exited with code 3]\n"
                       "It used no CUDA, so there was no kernel to stop in.\n")
    t.leave()
    t = make("crash")
    assert t.do("run").endswith("before the crash\n[The program was killed by signal 6 (Aborted)]\n")
    t.leave()
    t = make("pause")
    t.start("run")
    wait_for(t, "configurationDone")
    t.process.stdin.close()  # nobody stops it: the end of the input does not end the run
    t.process.send_signal(signal.SIGINT)
    assert "Interrupted" in t.read_to_prompt()
    assert t.process.stdout.read() == b"\n"
    assert t.process.wait() == 0


def wait_for(terminal, command):
    while not any(json.loads(text)[0] == command for text in terminal.log.read_text().splitlines()):
        time.sleep(0.01)


def interrupts(make):
    t = make("pause")
    t.start("run")
    wait_for(t, "configurationDone")
    t.process.send_signal(signal.SIGINT)
    printed = t.read_to_prompt()
    assert printed.endswith(f"\nInterrupted\n{FOCUS}{SAXPY}9\n{line(9)}"), printed
    assert ["pause", {"threadId": 0}] in t.requests()
    t.check("print i", [evaluate("i", remember=1)], "$1 = 133\n")
    t.leave()
    # Many steps end, too, whatever is under way: the request of a step, or what is printed after it.
    t = make("breakpoint")
    t.run_to_breakpoint()
    t.start("next 1000000000")
    for _ in range(5):
        t.process.stdout.readline()
    t.process.send_signal(signal.SIGINT)
    t.read_to_prompt()
    t.requests()
    # The frame is asked for again if the request for it was under way.
    assert t.do("print i") == "$1 = 133\n"
    assert t.requests()[-1] == evaluate("i", remember=1)
    t.leave()
    # A program that does not answer is ended by the second one.
    t = make("deaf")
    t.start("run")
    wait_for(t, "configurationDone")
    t.process.send_signal(signal.SIGINT)
    wait_for(t, "pause")
    t.process.send_signal(signal.SIGINT)
    assert t.read_to_prompt().endswith("[The program was killed by signal 9 (Killed)]\n")
    t.leave()


def words(make):
    t = make("end")
    t.check("foo", [], 'Undefined command: "foo". Try "help".\n')
    t.check("re", [], 'Ambiguous command "re": reverse-step, reverse-next, reverse-stepi, reverse-nexti, reverse-continue, reverse-finish.\n')
    t.check("info", [], "info needs a topic: one of args, blocks, breakpoints, display, frame, functions, inferiors, kernels, lanes, launches, line, locals, "
                        "registers, source, sources, threads, variables, warps, watchpoints.\n")
    t.check("help step", [], "step [N]\n  Run to another source line, into calls.\n  Short: s\n")
    t.check("attach 123", [], "warpgrind cannot attach to a program that runs already: use run.\n")
    t.check("# a comment", [], "")
    t.check("echo a\\nb\\n", [], "a\nb\n")
    t.check("", [], "")
    printed = t.do("help")
    for name in ("run", "break", "watch", "reverse-step", "last-write", "warp", "x", "dprintf", "catch"):
        assert f"\n  {name} " in printed, name
    t.leave()


def command_line(build, folder):
    """Files of commands, -ex, and the exit code of --batch."""
    environment = whole_run.environment(TMPDIR=str(folder), XDG_CACHE_HOME=str(build / "test-cache"))
    warpgrind = [str(build / "bin/warpgrind"), "debug"]
    script = folder / "commands"
    log = str(folder / "requests")

    def run(*options, program=(PROGRAM, log, "breakpoint"), text=""):
        done = subprocess.run([*warpgrind, *options, *program], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=environment, check=False)
        return done.returncode, done.stdout, done.stderr
    script.write_text("# a comment\nbreak saxpy\n\nrun\n")
    code, out, _ = run("--gpu", "h100", "-x", str(script), "-ex", "print i", "-batch")
    assert code == 0, out
    assert out == (f"(warpgrind) break saxpy\nBreakpoint 1 at saxpy (found when the program runs)\n(warpgrind) run\nhost says hello\n"
                   f"arguments []\n\nBreakpoint 1\n{FOCUS}{SAXPY}9\n{line(9)}(warpgrind) print i\n$1 = 133\n"), out
    script.write_text("break saxpy\nbreack saxpy\nrun\n")
    code, out, _ = run("-x", str(script), "--batch")
    assert code == 1 and "run\n" not in out, out
    assert f"{script}:2: the command failed, and those behind it are left out\n" in out, out
    script.write_text("echo inner\\n\n")
    outer = folder / "outer"
    outer.write_text(f"source {script}\nsource {folder}/none\necho not here\\n\n")
    code, out, _ = run("-ex", f"source {outer}", "--batch")
    assert code == 1 and "inner\n" in out and "not here\n(" not in out and f"{folder}/none: No such file or directory\n" in out, out
    outer.write_text(f"source {outer}\n")
    code, out, _ = run("-ex", f"source {outer}", "--batch")
    assert code == 1 and "files run each other without end" in out, out
    code, out, _ = run("--args", program=(PROGRAM, log, "end", "-x", "more"), text="run\n")
    assert code == 0 and out.startswith("(warpgrind) run\nhost says hello\narguments ['-x', 'more']\n"), out
    assert out.endswith("(warpgrind) \n"), out
    code, _, errors = run("-x", str(folder / "none"))
    assert code == 2 and "none: No such file or directory" in errors, errors
    code, _, errors = run(program=())
    assert code == 2 and "no program given" in errors, errors
    code, out, errors = run("-ex", "run", "-batch", program=("/nonexistent",))
    assert code == 2 and out == "" and "/nonexistent: No such file or directory" in errors, errors  # before the first prompt
    for word, hint in (("debg", "did you mean debug?"), ("playground", "did you mean serve?"), ("zzz", "warpgrind --help"), ("app.cu", "warpgrind run app.cu")):
        wrong = subprocess.run([warpgrind[0], word], capture_output=True, text=True, env=environment, check=False)
        assert wrong.returncode == 2 and hint in wrong.stderr, wrong


CASES = [breakpoints_before_the_run, breakpoints_while_stopped, temporary, running, advance, pass_a_breakpoint, values, memory, warps, stack,
         exception, watchpoints, broken_adapters, ends, interrupts, words, command_line]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("case", nargs="?")
    options = parser.parse_args()
    if options.list:
        print("\n".join(case.__name__ for case in CASES))
        return 0
    case = next(c for c in CASES if c.__name__ == options.case)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if case is command_line:
            command_line(options.build, folder)
            return 0
        terminals = []

        def make(*words):
            terminals.append(Terminal(options.build, folder, *words))
            return terminals[-1]
        try:
            case(make)
            left = [p.name for p in folder.iterdir() if p.name.startswith("warpgrind")]
            assert not left, f"left behind: {left}"
        finally:
            for terminal in terminals:
                terminal.process.kill()
            text = (folder / "stderr").read_text()
            print(text, end="")
        if report := whole_run.sanitizer_report(text):
            print(report)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
