#!/usr/bin/env python3
"""Calls NVRTC as programs do, one line for each case: `kind what<TAB>what came of it`.

  calls.py --library libnvrtc.so.13 [--part PART] [--ptx FOLDER]     --ptx keeps the PTX of every case that has some

What came of it is what a program can rely on: results, which of PTX, cubin, LTO IR and OptiX IR there is, the place of the
first error, lowered names, the lines with which NVRTC refuses options. Not the texts of compiler messages.
"""
import argparse
import ctypes
import os
import pathlib
import re
import tempfile

SAXPY = "extern \"C\" __global__ void saxpy(float a, float* x, float* y) { y[threadIdx.x] += a * x[threadIdx.x]; }"


class Nvrtc:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.nvrtcGetErrorString.restype = ctypes.c_char_p

    def __getattr__(self, name):
        return getattr(self.lib, "nvrtc" + name)

    def create(self, source, name=b"k.cu", headers=()):
        program = ctypes.c_void_p()
        texts = (ctypes.c_char_p * len(headers))(*[t.encode() for _, t in headers])
        names = (ctypes.c_char_p * len(headers))(*[n.encode() for n, _ in headers])
        result = self.CreateProgram(ctypes.byref(program), source.encode(), name, len(headers), texts, names)
        assert result == 0, result
        return program

    def compile(self, program, options=()):
        return self.CompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*[o.encode() for o in options]))

    def text(self, what, program):
        size = ctypes.c_size_t()
        getattr(self, f"Get{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value + 1)
        getattr(self, f"Get{what}")(program, buffer)
        return buffer.raw[:size.value]

    def lowered(self, program, expression):
        name = ctypes.c_char_p()
        result = self.GetLoweredName(program, expression.encode(), ctypes.byref(name))
        return result if result else name.value.decode()


class Calls:
    def __init__(self, nvrtc, folder, ptx_folder):
        self.n, self.folder, self.ptx_folder, self.count = nvrtc, folder, ptx_folder, 0

    def say(self, what, *values):
        print(what.replace("\n", "\\n").replace("\t", "\\t"), " ".join(str(v) for v in values).replace(str(self.folder), "DIR"),
              sep="\t")

    def outcome(self, program, result):
        """Result, what there is of each kind of code, and where the log's first error is."""
        ptx = self.n.text("PTX", program)
        assert ptx.endswith(b"\0")
        log = self.n.text("ProgramLog", program)
        assert log.endswith(b"\0")
        if len(ptx) > 1 and self.ptx_folder:
            self.count += 1
            (self.ptx_folder / f"{os.getpid()}-{self.count}.ptx").write_bytes(ptx[:-1])
        there = [name for name in ("PTX", "CUBIN", "LTOIR", "OptiXIR") if len(self.n.text(name, program)) > (name == "PTX")]
        first = re.search(r"^(.*?)(?:: error: |: catastrophic error: |ommand-line error: )", log[:-1].decode(), re.M)
        return [result, ",".join(there) or "nothing", first[1] if first else ""]

    def compiled(self, kind, source, options=(), name=b"k.cu", headers=(), show=""):
        program = self.n.create(source, name, headers)
        result = self.n.compile(program, options)
        self.say(f"{kind} {show or source}" + (f" {list(options)}" if options and not show else ""),
                 *self.outcome(program, result))
        assert self.n.DestroyProgram(ctypes.byref(program)) == 0 and not program

    # ---- Functions and what is wrong with their arguments
    def functions(self):
        n, say = self.n, self.say
        major, minor, count, size = ctypes.c_int(-1), ctypes.c_int(-1), ctypes.c_int(), ctypes.c_size_t()
        ref = ctypes.byref
        say("Version", n.Version(None, ref(minor)), n.Version(ref(major), None), n.Version(ref(major), ref(minor)),
            major.value, minor.value)
        say("GetNumSupportedArchs", n.GetNumSupportedArchs(None), n.GetNumSupportedArchs(ref(count)), count.value)
        archs = (ctypes.c_int * count.value)()
        say("GetSupportedArchs", n.GetSupportedArchs(None), n.GetSupportedArchs(archs), list(archs))
        say("GetErrorString", *[n.GetErrorString(k).decode() for k in range(-1, 20)])
        self.programs_made()
        say("GetPCHHeapSize", n.GetPCHHeapSize(None), n.GetPCHHeapSize(ref(size)), size.value)
        for asked in (5000, 0, 1 << 28):
            say(f"SetPCHHeapSize {asked}", n.SetPCHHeapSize(ctypes.c_size_t(asked)), n.GetPCHHeapSize(ref(size)), size.value)

    def programs_made(self):
        n, say, ref = self.n, self.say, ctypes.byref
        program, none = ctypes.c_void_p(), (ctypes.c_char_p * 1)(None)
        source, one = b"__global__ void k() {}", (ctypes.c_char_p * 1)(b"x")
        say("CreateProgram null program", n.CreateProgram(None, source, b"a", 0, None, None))
        say("CreateProgram null source", n.CreateProgram(ref(program), None, b"a", 0, None, None))
        say("CreateProgram -1 headers", n.CreateProgram(ref(program), source, b"a", -1, None, None))
        for what, headers, names in (("null headers", None, one), ("null names", one, None), ("a null header", none, one),
                                     ("a null name", one, none)):
            say(f"CreateProgram {what}", n.CreateProgram(ref(program), source, b"a", 1, headers, names))
        say("CreateProgram no headers, not null", n.CreateProgram(ref(program), source, b"", 0, one, one))
        say("DestroyProgram", n.DestroyProgram(None), n.DestroyProgram(ref(ctypes.c_void_p())), n.DestroyProgram(ref(program)))
        program = n.create("__global__ void k() {}")
        for stage in ("before", "after"):
            for what in ("PTX", "CUBIN", "LTOIR", "OptiXIR", "ProgramLog"):
                get, size_of = getattr(n, f"Get{what}"), getattr(n, f"Get{what}Size")
                size = ctypes.c_size_t(77)
                say(f"Get{what} {stage}", size_of(None, ref(size)), size_of(program, None), size_of(program, ref(size)),
                    size.value if stage == "before" or what != "PTX" else size.value > 1, get(None, None), get(program, None))
            say(f"CompileProgram {stage}", n.CompileProgram(None, 0, None), n.CompileProgram(program, -1, None),
                n.CompileProgram(program, 0, None))
        self.names_wrong(program)
        self.callbacks()

    def names_wrong(self, program):
        n, say, name = self.n, self.say, ctypes.c_char_p()
        say("AddNameExpression after", n.AddNameExpression(program, b"k"), n.AddNameExpression(None, b"k"),
            n.AddNameExpression(program, None))
        say("GetLoweredName wrong", n.GetLoweredName(None, b"k", ctypes.byref(name)), n.GetLoweredName(program, None, ctypes.byref(name)),
            n.GetLoweredName(program, b"k", None), n.lowered(program, "k"))
        fresh = n.create("__global__ void k() {}")
        say("AddNameExpression twice", n.AddNameExpression(fresh, b"k"), n.AddNameExpression(fresh, b"k"))
        say("GetLoweredName before", n.lowered(fresh, "k"), n.GetLoweredName(fresh, b"k", None))
        say("GetPCHCreateStatus", n.GetPCHCreateStatus(None), n.GetPCHCreateStatus(fresh))
        size = ctypes.c_size_t(9)
        say("GetPCHHeapSizeRequired", n.GetPCHHeapSizeRequired(None, ctypes.byref(size)), n.GetPCHHeapSizeRequired(fresh, None),
            n.GetPCHHeapSizeRequired(fresh, ctypes.byref(size)), size.value)
        say("options that are refused first", n.compile(fresh, ["--nothing"]), n.lowered(fresh, "k"),
            n.AddNameExpression(fresh, b"k"), n.compile(fresh), n.lowered(fresh, "k"))

    def callbacks(self):
        n, called = self.n, []
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        go_on, stop = kind(lambda a, b: called.append((a, b)) or 0), kind(lambda a, b: 1)
        program = n.create("__global__ void k() {}")
        self.say("SetFlowCallback", n.SetFlowCallback(None, go_on, None), n.SetFlowCallback(program, None, None),
                 n.SetFlowCallback(program, go_on, 5), n.compile(program), set(called))
        self.say("SetFlowCallback that cancels", n.SetFlowCallback(program, stop, None), *self.outcome(program, n.compile(program)))

    # ---- Options
    def options(self, cases):
        for options in cases:
            program = self.n.create(SAXPY)
            result = self.n.compile(program, [o.replace("DIR", str(self.folder)) for o in options])
            log = self.n.text("ProgramLog", program)[:-1].decode()
            refused = [line for line in log.splitlines() if line.startswith("nvrtc: ")]
            self.say(f"options {list(options)}", *self.outcome(program, result), *refused, self.n.GetPCHCreateStatus(program))
            self.n.DestroyProgram(ctypes.byref(program))

    # ---- Name expressions
    def names(self, source, cases, options=()):
        for expression in cases:
            program = self.n.create(source)
            added = self.n.AddNameExpression(program, expression.encode())
            result = self.n.compile(program, options)
            place = self.outcome(program, result)[2] if result else ""
            self.say(f"name {expression} {list(options) or ''}", added, result, self.n.lowered(program, expression), place)
            self.n.DestroyProgram(ctypes.byref(program))
        program = self.n.create(source)
        good = [e for e in cases if re.fullmatch(r"&?[a-z:]+(<[a-z, 0-9<>Q]*>)?", e) and e in ALL_GOOD]
        for expression in good:
            self.n.AddNameExpression(program, expression.encode())
        result = self.n.compile(program, options)
        ptx = self.n.text("PTX", program).decode()
        for expression in good:
            name = self.n.lowered(program, expression)
            self.say(f"name of many {expression} {list(options) or ''}", result, name,
                     bool(re.search(rf"(\.entry|\.(global|const) .*) {re.escape(str(name))}\b", ptx)))


ALL_GOOD = {"plain", "&plain", "tk<float>", "&tk<int>", "t<float,3>", "tk<Q<3,float>>", "a::s", "&a::dv", "&dv", "arr", "&cc", "::plain", "&sl"}


PARTS = ["functions", "options", "sources", "includes", "names"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--ptx", type=pathlib.Path)
    parser.add_argument("--part", choices=PARTS, help="some of the cases alone; by itself all")
    args = parser.parse_args()
    from cases import INCLUDES, NAME_SOURCE, NAMES, OPTIONS, SOURCES
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary).resolve()
        (folder / "sub").mkdir()
        (folder / "disk.h").write_text("#define DISK 1\n")
        (folder / "sub/first.h").write_text('#include "second.h"\n')
        (folder / "sub/second.h").write_text("#define SECOND 1\n")
        os.chdir(folder)
        calls = Calls(Nvrtc(args.library), folder, args.ptx)
        def wanted(part):
            return args.part in (None, part)
        if wanted("functions"):
            calls.functions()
        if wanted("options"):
            calls.options(OPTIONS)
        for source, *options in SOURCES if wanted("sources") else []:
            calls.compiled("source", source, options)
        for case in INCLUDES if wanted("includes") else []:
            calls.compiled("include", case["source"], [o.replace("DIR", str(folder)) for o in case.get("options", [])],
                           case.get("name", "k.cu").replace("DIR", str(folder)).encode(), case.get("headers", []), case["what"])
        if wanted("names"):
            calls.names(NAME_SOURCE, NAMES)
            calls.names(NAME_SOURCE, ["plain", "&tk<int>", "(void(*)(int))ov", "arr", "nothing"], ["-std=c++14"])
            calls.names(NAME_SOURCE, ["plain", "&tk<int>", "dci"], ["-rdc=true", "-arch=sm_80"])


if __name__ == "__main__":
    main()
