#!/usr/bin/env python3
"""What a debugger of kernels has to show, on programs/acceptance.cu as nvcc -G and as clang compile it: by the commands of `warpgrind debug`,
and the same values by the Debug Adapter Protocol. The subjects are those of NVIDIA's own acceptance tests of cuda-gdb (NVlabs/cuda-oxide
1279): primitives, arrays, structures, enumerations, address spaces, breakpoints, steps, inlined frames, asserts, traps, faults.

  acceptance_test.py --list
  acceptance_test.py --build DIR CASE     exit code 0 passed, 1 failed

Values are those that the program's text gives; patterns (re.compile) are for addresses.
"""
import pathlib
import re
import shutil
import subprocess
import tempfile

import debugger_test
import whole_run

SOURCE = str(pathlib.Path(__file__).resolve().parent / "programs/acceptance.cu")
HEADER = str(pathlib.Path(__file__).resolve().parent / "programs/acceptance.h")
TEXTS = {path: ["", *pathlib.Path(path).read_text().splitlines()] for path in (SOURCE, HEADER)}


def line_of(text, path=SOURCE):
    """The number of the only line with this text."""
    found = [n for n, line in enumerate(TEXTS[path]) if text in line]
    assert len(found) == 1, (text, found)
    return found[0]


def compilers():
    """nvcc where it is installed, and clang."""
    nvcc = subprocess.run(["sh", "-c", "command -v nvcc || test -x /usr/local/cuda/bin/nvcc"], stdout=subprocess.DEVNULL, check=False)
    return ["nvcc", "clang"] if nvcc.returncode == 0 else ["clang"]


def check(have, want, of):
    good = want.search(have) if isinstance(want, re.Pattern) else have == want
    assert good, f"{of}: have {have!r}, want {want!r}"


# ---- The two fronts

def terminal(build, compiler, kind, commands):
    """Runs the commands on the kernel (or fault) of this name. Returns what each printed, by command; the last one if it comes twice."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "commands"
        script.write_text("".join(c + "\n" for c in commands))
        done = subprocess.run([str(build / "bin/warpgrind"), "debug", "--compiler", compiler, "--batch", "-x", str(script), SOURCE, kind],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=250, check=False,
                              env=whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache")))
    printed, last = {}, None
    for line in done.stdout.splitlines():
        if line.startswith("(warpgrind) "):
            last = line[len("(warpgrind) "):]
            printed[last] = ""
        elif last is not None:
            printed[last] += line + "\n"
    missing = [c for c in commands if c not in printed]
    assert done.returncode == 0 and not missing, f"{compiler}: not run: {missing}\n{done.stdout}\n{done.stderr}"
    return printed


class Client(debugger_test.Client):
    def __init__(self, build, compiler, kind):
        super().__init__(build, launch=False)
        number = self.send("launch", program=SOURCE, args=[kind], compiler=compiler)
        refused = self.wait(lambda m: m.get("event") == "initialized" or (m.get("request_seq") == number and not m["success"]))
        assert refused["type"] == "event", refused

    def stops_at(self, line, path=SOURCE):
        self.call("setBreakpoints", source={"path": path}, breakpoints=[{"line": line}])
        return self.begin()

    def leave(self):
        self.call("disconnect")
        self.process.stdin.close()
        self.process.wait(60)


def values(build, kind, line, expected, types=()):
    """The expressions have these values at the line, by both fronts and with both compilers."""
    for compiler in compilers():
        commands = [f"break acceptance.cu:{line}", "run", *[f"print {e}" for e, _ in expected], *[f"ptype {e}" for e, _ in types]]
        printed = terminal(build, compiler, kind, commands)
        for e, want in expected:
            check(printed[f"print {e}"].split(" = ", 1)[1].rstrip("\n"), want, f"{compiler}: print {e}")
        for e, want in types:
            check(printed[f"ptype {e}"], f"type = {want}\n", f"{compiler}: ptype {e}")
        client = Client(build, compiler, kind)
        client.stops_at(line)
        for e, want in expected:
            check(client.value(e), want, f"{compiler}, DAP: {e}")
        client.leave()


# ---- Values

def primitives(build):
    values(build, "primitives", line_of("// primitives"), [
        ("flag", "true"), ("letter", "119 'w'"), ("i8", "-8 '\\370'"), ("u8", "200 '\\310'"), ("i16", "-1600"), ("u16", "65000"),
        ("i32", "-320000"), ("u32", "4000000000"), ("i64", "-6400000000000"), ("u64", "18000000000000000000"), ("f32", "1.25"),
        ("f64", "-2.5e+100"), ("f16", "0.5"), ("b16", "3"), ("b16 * 2", "6"), ("u64 + 1", "18000000000000000001"), ("sizeof(i64)", "8"),
        ("(unsigned char)i16", "192 '\\300'"), ("i16 < 0 && f32 > 1", "true")])


def arrays(build):
    values(build, "arrays", line_of("// arrays"), [
        ("row", "{1, 2, 3, 4, 5}"), ("row[1]@3", "{2, 3, 4}"), ("grid", "{{0.5, 1.5, 2.5}, {3.5, 4.5, 5.5}}"), ("grid[1]", "{3.5, 4.5, 5.5}"),
        ("points", "{{x = 1, y = 2}, {x = 3, y = 4}, {x = 5, y = 6}}"), ("points[1].y", "4"), ("text", '"hello"'),
        ("&row[1]", re.compile(r"^\(int \*\) 0x[0-9a-f]+ <row\+4, byte \d+ of local memory>$")), ("*&points[2]", "{x = 5, y = 6}")],
           [("points", "struct Point {\n  int x;\n  int y;\n} [3]")])


def structures(build):
    values(build, "structures", line_of("// structures"), [
        ("box.high", "{x = 10, y = 4}"), ("word.number", "1"), ("word.bytes", "{0 '\\000', 0 '\\000', 128 '\\200', 63 '?'}"),
        ("header", "{version = 5, length = 1000, offset = -7, last = true}"), ("header.offset * 2", "-14"),
        ("derived", "{<Base> = {id = 0}, weight = 0.25}"), ("derived.id", "0"), ("pointer->high.x", "10"), ("(*pointer).low.y", "2"),
        ("list->next->value", "2"), ("*list->next", "{value = 2, next = 0x0}"),
        ("list", re.compile(rf"<cudaMalloc at acceptance.cu:{line_of('cudaMalloc(&list')}, byte 0 of a 32-byte allocation>$"))],
           [("Box", "struct Box {\n  Point low;\n  Point high;\n  char name[8];\n}"),
            ("header", "struct Header {\n  unsigned int version : 3;\n  unsigned int length : 13;\n  int offset : 6;\n  bool last : 1;\n}")])


def enumerations(build):
    values(build, "enumerations", line_of("// enumerations"), [
        ("colour", "green"), ("level", re.compile("^(Level::)?high$")), ("access", "(read | execute)"), ("unknown", "(read | unknown: 0x8)"),
        ("tool", "roller"), ("colour == green", "true"), ("green", "green"), ("(Colour)6", "blue"), ("read | write", "3"),
        ("paint::roller", "roller"), ("roller", "roller"), ("level == Level::high", "true")])


def address_spaces(build):
    def pointer(text):
        return re.compile(rf"^\((const )?\w+ \*\) 0x[0-9a-f]+ <{text}>$")
    values(build, "spaces", line_of("// spaces"), [
        ("to_global", pointer(rf"cudaMalloc at acceptance.cu:{line_of('cudaMalloc(&out')}, byte 0 of a 128-byte allocation")), ("*to_global", "0"),
        ("to_variable", pointer(r"table\+4, byte 4 of .*")), ("*to_variable", "20"),
        ("to_shared", pointer(r"tile, byte \d+ of shared memory")), ("*to_shared", "0"), ("tile[3]", "6"),
        ("to_dynamic", pointer(r"dynamic, byte \d+ of shared memory")), ("*to_dynamic", "100"), ("to_dynamic[2]@3", "{102, 103, 104}"),
        ("to_local", pointer(r"own, byte \d+ of local memory")), ("*to_local", "0"), ("own", "{0, 1, 2, 3}"),
        ("to_constant", pointer(r"weights\+8, byte 8 of .*")), ("*to_constant", "2.5"), ("weights", "{0.5, 1.5, 2.5}"),
        ("table", "{10, 20, 30, 40}"), ("corner", "{x = 7, y = 8}"), ("given", "{x = 3, y = 4}")])


def undefined_values(build):
    """What was never written is shown so: memory that the host left out, shared and local memory, and what is computed of it."""
    line = line_of("// undefined")
    values(build, "undefined", line, [
        ("fresh[0]@12", "{0, 0, 0, 0, 0, 0, 0, 0, <undefined>, <undefined>, <undefined>, <undefined>}"), ("fresh[7] + 1", "1"),
        ("fresh[8] + 1", "<undefined>"), ("tile", "{0, 1, <undefined>, <undefined>, <undefined>, <undefined>, <undefined>, <undefined>}"),
        ("own", "{0, <undefined>, <undefined>, <undefined>}"), ("later", "<undefined>"), ("lane", "0")])
    # A variable in a register (nvcc) or in memory (clang), and what is computed from it; until the user sets it. Parameters have their values
    # before the kernel has read them.
    for compiler in compilers():
        printed = terminal(build, compiler, "undefined", [f"break acceptance.cu:{line + 2}", "run", "print later", "print later + lane", "print (later & 15) == 3",
                                                          "warp later", "set var later = 7", "print later + 1", "reverse-continue", "backtrace"])
        check(printed["print later"], "$1 = <undefined>\n", compiler)
        check(printed["print later + lane"], "$2 = <undefined>\n", compiler)
        check(printed["print (later & 15) == 3"], "$3 = <undefined>\n", compiler)
        check(printed["warp later"], re.compile(r"\n\? undefined: lanes 0-31\n$"), compiler)
        check(printed["print later + 1"], "$4 = 8\n", compiler)
        check(printed["backtrace"], re.compile(r"^#0  undefined \(out=0x[0-9a-f]+, fresh=0x[0-9a-f]+, n=40\) at "), compiler)
    # A write of the user's defines memory; going back makes it undefined again.
    printed = terminal(build, "clang", "undefined", [f"break acceptance.cu:{line + 2}", "run", "print own[2]", "set var own[2] = 7",
                                                     "print own", "reverse-step", "print own[2] + 0"])
    check(printed["print own[2]"], "$1 = <undefined>\n", "before the write")
    check(printed["print own"], "$2 = {0, <undefined>, 7, <undefined>}\n", "after the write")
    check(printed["print own[2] + 0"], "$3 = <undefined>\n", "after going back")


def narrow_numbers(build):
    values(build, "narrow", line_of("// narrow"), [
        ("eights", "{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5}"), ("eights[3] * 2", "3"), ("pairs", "{{0, 0.25}, {1, 0.25}, {2, 0.25}, {3, 0.25}}")])


def tiles(build):
    """Memory as a grid, in the numbers of its type or of another one; what was never written is "?"."""
    eights = "    0   1   2   3   4   5   6   7\n0:   0 0.5   1 1.5   2 2.5   3 3.5\nminimum 0 at [0][0], maximum 3.5 at [0][7]\n"
    line = line_of("// narrow")
    for compiler in compilers():
        printed = terminal(build, compiler, "narrow", [
            f"break acceptance.cu:{line}", "run", "tile eights", "tile/x eights 2x4", "tile eights 2x4 of s4x2", "tile pairs", "tile &eights[1] 2x2 by 4",
            "tile out 2x4", "tile &eights[1] 2x2 by lane + 4", "tile eights[2]"])
        check(printed["tile eights"], re.compile(rf"^__nv_fp8_e4m3\n +{re.escape(eights.strip())}\n$"), compiler)
        check(printed["tile/x eights 2x4"], re.compile(r"\n1: 0x40 0x42 0x44 0x46\n"), compiler)
        check(printed["tile eights 2x4 of s4x2"], "s4x2\n    0  1  2  3\n0:  0  0  0  3\n1: -8  3 -4  3\nminimum -8 at [1][0], maximum 3 at [0][3]\n", compiler)
        check(printed["tile pairs"], re.compile(r"\n0:    0 0.25    1 0.25    2 0.25    3 0.25\n"), compiler)
        check(printed["tile &eights[1] 2x2 by 4"], re.compile(r"\n0: 0.5   1\n1: 2.5   3\n"), compiler)
        check(printed["tile &eights[1] 2x2 by lane + 4"], printed["tile &eights[1] 2x2 by 4"], compiler)
        check(printed["tile eights[2]"], re.compile(r"\n0: 1\n$"), compiler)
        undefined = terminal(build, compiler, "undefined", [f"break acceptance.cu:{line_of('// undefined')}", "run", "tile tile"])
        check(undefined["tile tile"], "int\n   0 1 2 3 4 5 6 7\n0: 0 1 ? ? ? ? ? ?\nminimum 0 at [0][0], maximum 1 at [0][1]\n? never written: 6 of 8 numbers\n",
              compiler)
        client = Client(build, compiler, "narrow")
        client.stops_at(line)
        tile = client.call("warpgrind/tile", expression="eights", rows=2, columns=4, type="e5m2")
        check((tile["type"], tile["rows"], tile["columns"], len(tile["cells"]), tile["cells"][tile["maximum"]]), ("e5m2", 2, 4, 8, "6"), f"{compiler}, DAP")
        check(client.answer("warpgrind/tile", expression="lane", rows=1000, columns=1000)["success"], False, f"{compiler}, DAP")
        client.leave()


def lines_only(build):
    """Without variables (-lineinfo), the kernel's parameters and the variables in memory are still there, as PTX knows them."""
    for compiler in compilers():
        commands = [f"break acceptance.cu:{line_of('// spaces')}", "run", "info args", "print *param_0@3", "info variables table", "tile weights of float", "print lane"]
        with tempfile.TemporaryDirectory() as folder:
            program = str(pathlib.Path(folder) / "acceptance")
            nvcc = "nvcc" if shutil.which("nvcc") else "/usr/local/cuda/bin/nvcc"
            tool = [nvcc] if compiler == "nvcc" else [str(build / "bin/warpgrind"), "nvcc"]
            environment = whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache"))
            subprocess.run([*tool, "-O3", "-lineinfo", "-arch=sm_80", "-std=c++17", "-o", program, SOURCE], check=True, env=environment, stderr=subprocess.DEVNULL)
            done = subprocess.run([str(build / "bin/warpgrind"), "debug", program, "spaces"], input="".join(c + "\n" for c in commands),
                                  stdout=subprocess.PIPE, text=True, timeout=250, check=True, env=environment)
        check(done.stdout, re.compile(r"\nparam_0 = \(int \*\) 0x[0-9a-f]+ <cudaMalloc.*byte 0 of a 128-byte allocation>\nparam_1 = "), compiler)
        check(done.stdout, re.compile(r"\n.* = \{0, 0, 0\}\n"), compiler)
        check(done.stdout, re.compile(r"\ntable = \{10, 20, 30, 40\}\n|\ntable = \{10 '\\n', 0 '\\000', "), compiler)
        check(done.stdout, re.compile(r"\n0: 0.5 1.5 2.5\n"), compiler)
        assert "there is no variable 'lane' here: the compiler wrote lines only" in done.stdout, (compiler, done.stdout)


def conditions_before_a_write(build):
    """A condition on a variable that is not written yet does not hold, whatever is there, and says so once."""
    for compiler in compilers():
        printed = terminal(build, compiler, "steps", [f"break acceptance.cu:{line_of('// steps') - 1} if lane == 3", f"break acceptance.cu:{line_of('sum += 100')} if lane == 3",
                                                      "run", "info breakpoints"])
        check(printed["run"].count("it depends on a value that is not written yet, and does not hold\n"), 1, compiler)
        check(printed["run"], re.compile(r"\nBreakpoint 2\n.*lane 3\]\n"), compiler)


def expressions(build):
    """The history of values, values of the user's own, registers and the place in the PTX."""
    for compiler in compilers():
        printed = terminal(build, compiler, "structures", [
            f"break acceptance.cu:{line_of('// structures')}", "run", "print box.high", "print $1.x + 1", "print $ + $$.y", "set $sum = lane + 40",
            "print $sum + 2", "print/x header.length", "print $pc", "x/1i $pc", "whatis list->next", "whatis Box", "ptype/o Header",
            "thread (3,0,0)", "print $1", "print box.high.x"])
        check(printed["print $1.x + 1"], "$2 = 11\n", compiler)
        check(printed["print $ + $$.y"], "$3 = 15\n", compiler)
        check(printed["print $sum + 2"], "$4 = 42\n", compiler)
        check(printed["print/x header.length"], "$5 = 0x3e8\n", compiler)
        check(printed["print $pc"], re.compile(r"^\$6 = f\d+:i(\d+) <structures, instruction \1>$", re.M), compiler)
        check(printed["x/1i $pc"], re.compile(r"^=> f\d+:i\d+:\t\S+"), compiler)
        check(printed["whatis list->next"], "type = Node *\n", compiler)
        check(printed["whatis Box"], "type = Box\n", compiler)
        check(printed["ptype/o Header"], re.compile(r"/\* +0: 3 +13 b \*/ unsigned int length : 13;\n"), compiler)
        check(printed["print $1"], "$7 = {x = 10, y = 4}\n", compiler)  # a value, not a place: it is still lane 0's
        check(printed["print box.high.x"], "$8 = 13\n", compiler)


# ---- Places

def breakpoints(build):
    """By line, function, condition, in templates, in inlined functions and in another file."""
    cube = line_of("int square = base", HEADER)
    product = line_of("T product = value", HEADER)
    for compiler in compilers():
        printed = terminal(build, compiler, "functions", [
            "break functions", "break scaled<float, 2>", f"break acceptance.h:{cube}", f"break acceptance.h:{product} if value == 31", "run",
            "info source", "tbreak depth_of if level == 1", "continue", "backtrace", "print value", "info locals"])
        check(printed["run"], re.compile(rf"#0  functions \(out=0x[0-9a-f]+\) at acceptance\.cu:{line_of('int first = scaled') - 1}\n"), compiler)
        check(printed["continue"], re.compile(rf"#0  scaled<int, 3> \(value=\d+\) at acceptance\.h:{product}\n"), compiler)
        client = Client(build, compiler, "functions")
        client.call("setFunctionBreakpoints", breakpoints=[{"name": "functions"}, {"name": "scaled<float, 2>"}])
        client.begin()
        check(client.frames()[0]["name"], "functions", f"{compiler}, DAP")
        client.go("continue")
        check(client.frames()[0]["name"].replace(" ", ""), re.compile(r"^scaled<float,2>"), f"{compiler}, DAP")
        check(client.value("value"), "0", f"{compiler}, DAP")
        client.leave()


def template_values(build):
    line = line_of("// templates")
    values(build, "templates", line, [("values", "{0, 1, 4, 9}"), ("values[3]", "9")])
    # nvcc does not name the values of template parameters.
    printed = terminal(build, "clang", "templates", [f"break acceptance.cu:{line}", "run", "print size", "print size * 2"])
    check(printed["print size * 2"], "$2 = 8\n", "clang")


def stepping(build):
    """Over lines, into and out of functions, through a loop, and through both sides of a divergent branch."""
    first = line_of("// steps")
    loop = line_of("sum += i;")
    for compiler in compilers():
        commands = [f"break acceptance.cu:{first}", "run"]
        client = Client(build, compiler, "steps")
        client.stops_at(first)
        trail = []
        while not trail or trail[-1] != line_of("out[lane] = sum;"):
            client.go("next")
            trail.append(client.line())
            assert len(trail) < 30, trail
        want = [loop - 1, loop, loop - 1, loop, loop - 1, loop, loop - 1, line_of("if (lane < 16)"), line_of("sum += 100"),
                line_of("sum = scaled"), line_of("out[lane] = sum;")]
        at = iter(trail)
        assert all(line in at for line in want), f"{compiler}: have {trail}, want {want} in this order"
        assert line_of("sum += 200") not in trail, f"{compiler}: lane 0 does not come there: {trail}"
        client.leave()
        call = line_of("sum = scaled")
        printed = terminal(build, compiler, "steps", [*commands, f"until acceptance.cu:{call}", "step", "backtrace", "finish", "print sum"])
        check(printed["backtrace"], re.compile(rf"^#0  scaled<int, 3> \(value=\d+\) at acceptance\.h:\d+\n#1  steps \(out=0x[0-9a-f]+, n=3\) at acceptance\.cu:{call}\n$"), compiler)
        check(printed["print sum"], re.compile(r"^\$1 = (103|309)\n$"), compiler)


def inlined_frames(build):
    """The stack shows calls that the compiler inlined, each with its locals; and a recursion."""
    last = line_of("return square * base", HEADER)
    for compiler in compilers():
        printed = terminal(build, compiler, "functions", [
            f"break acceptance.h:{last}", "run", "backtrace", "print square", "up", "print start", "frame 2", "print first", "tbreak depth_of if level == 0",
            "delete 1", "continue", "backtrace 9"])
        check(printed["backtrace"], re.compile(rf"#0  cubed \(base=\d+\) at acceptance\.h:{last}\n#1  cubed_and_one \(start=\d+\) at acceptance\.h:\d+\n"
                                               rf"#2  functions \(out=0x[0-9a-f]+\) at acceptance\.cu:{line_of('// inlined')}\n"), compiler)
        check(printed["print square"], "$1 = 0\n", compiler)
        check(printed["print start"], "$2 = 0\n", compiler)
        check(printed["print first"], "$3 = 0\n", compiler)
        # `finish` leaves the selected frame, as gdb's does.
        out = terminal(build, compiler, "functions", ["tbreak depth_of if level == 0", "run", "up 2", "finish", "backtrace 2"])
        check(out["backtrace 2"], re.compile(r"^#0  depth_of \(\w+=3\) at acceptance\.h:\d+\n#1  functions \("), compiler)
        call = line_of("// inlined")
        before = terminal(build, compiler, "functions", [f"break acceptance.cu:{call} if lane == 5", "run", "print third", "step", "backtrace"])
        check(before["run"], re.compile(rf"#0  functions \(out=0x[0-9a-f]+\) at acceptance\.cu:{call}\n"), compiler)
        check(before["print third"], re.compile(r"^\$1 = <('third' has no value|undefined>)"), compiler)
        check(before["backtrace"], re.compile(rf"^#\d  cubed_and_one \(start=5\) at acceptance\.h:\d+\n#\d  functions .*:{call}\n$", re.M), compiler)
        check(printed["backtrace 9"], re.compile(r"(#\d  depth_of \(\w+=\d+\) at acceptance\.h:\d+\n){4}#4  functions \("), compiler)


def source_and_ptx(build):
    line = line_of("// arrays")
    for compiler in compilers():
        printed = terminal(build, compiler, "arrays", [
            f"break acceptance.cu:{line}", "run", "disassemble /s", "list arrays", f"list acceptance.cu:{line}", f"info line acceptance.cu:{line}", "info source",
            "info functions ^a.*s$", "disassemble arrays"])
        shown = printed["disassemble /s"]
        assert shown.count("=> ") == 1, shown
        above = shown[:shown.index("=> ")].splitlines()
        check([text for text in above if re.match(r"\d+\t", text)][-1], f"{line}\t{TEXTS[SOURCE][line]}", compiler)
        check(printed["list arrays"], re.compile(r"^\d+\t__global__ void arrays\(int\* out\) \{$", re.M), compiler)
        check(printed[f"info line acceptance.cu:{line}"], re.compile(rf'^Line {line} of "acceptance.cu" has this PTX:\n(  arrays: f\d+:i\d+.*\n)+$'), compiler)
        check(printed["info source"], f"Current source file is {SOURCE}\nContains {len(TEXTS[SOURCE]) - 1} lines.\n", compiler)
        check(printed["info functions ^a.*s$"], re.compile(rf"\nFile {SOURCE}:\n\d+:\tarrays  \(kernel, \d+ instructions\)\n$"), compiler)
        check(printed["disassemble arrays"], re.compile(r"^PTX of arrays:\n   f\d+:i0:\t"), compiler)


# ---- Faults: the lane, the line and the reason

def fault(build, kind, line, lane, text):
    for compiler in compilers():
        printed = terminal(build, compiler, kind, ["run", "backtrace"])
        check(printed["run"], re.compile(text), compiler)
        check(printed["run"], re.compile(rf"thread \({lane},0,0\), warp 0, lane {lane}\]"), compiler)
        check(printed["backtrace"], re.compile(rf"faults \(out=0x[0-9a-f]+, how=\d\) at acceptance\.cu:{line}\n"), compiler)
        client = Client(build, compiler, kind)
        client.call("setExceptionBreakpoints", filters=["fault", "assert"])
        stop = client.begin()
        check((stop["reason"], stop["focus"]["lane"], client.frames()[-1]["line"]), ("exception", lane, line), f"{compiler}, DAP")
        check(stop["text"], re.compile(text), f"{compiler}, DAP")
        client.leave()


def asserts(build):
    fault(build, "assert", line_of("// asserts"), 7, "lane != 7")


def traps(build):
    fault(build, "trap", line_of("// traps"), 9, "trap")


def out_of_bounds(build):
    fault(build, "bounds", line_of("// out of bounds"), 5, "write of 4 bytes at 0x[0-9a-f]+ is 400020 bytes? .*128-byte allocation|write of 4 bytes")


def outside_shared_memory(build):
    fault(build, "shared", line_of("// shared"), 11, "shared memory")


def null_pointers(build):
    fault(build, "null", line_of("// null"), 11, "write of 4 bytes at 0x2c|null")


def misaligned(build):
    fault(build, "misaligned", line_of("// misaligned"), 1, "misaligned|multiple of 4")


def core_dumps(build):
    """The core file of a fault, opened by the Debug Adapter Protocol; core_test.py has the terminal."""
    line = line_of("// out of bounds")
    for compiler in compilers():
        with tempfile.TemporaryDirectory() as folder:
            core = pathlib.Path(folder) / "core"
            subprocess.run([str(build / "bin/warpgrind"), "run", "--quiet", "--compiler", compiler, "--core", str(core), SOURCE, "bounds"],
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=250, check=False,
                           env=whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache")))
            client = debugger_test.Client(build, launch=False)
            client.send("launch", core=str(core))
            client.event("initialized")
            client.call("setExceptionBreakpoints", filters=["fault", "assert"])
            stop = client.begin()
            check((stop["reason"], stop["focus"]["lane"], client.line()), ("exception", 5, line), f"{compiler}, DAP")
            check(client.value("how"), "3", f"{compiler}, DAP")
            for _ in range(3):  # clang's line has several pieces
                client.go("stepBack")
                if client.line() < line:
                    break
            assert client.line() < line, client.line()
            client.call("disconnect")
            client.process.stdin.close()
            client.process.wait(60)


CASES = [primitives, arrays, structures, enumerations, address_spaces, undefined_values, narrow_numbers, tiles, lines_only, conditions_before_a_write,
         expressions, breakpoints, template_values,
         stepping, inlined_frames, source_and_ptx, asserts, traps, out_of_bounds, outside_shared_memory, null_pointers, misaligned, core_dumps]

if __name__ == "__main__":
    debugger_test.run_cases(CASES, __doc__)
