#!/usr/bin/env python3
"""Random sequences of calls of the driver API, and what came of each: its error, and what it gave. On a real GPU they are
recorded, and compared with what our libcuda.so.1 does.

  sequences.py --record FILE [--sequences N] [--only NAME]   on a machine with a GPU, with NVIDIA's libcuda.so.1
  sequences.py --compare FILE --under build/bin/warpgrind [--only NAME]

h200_sequences.txt is the record of an H200 (driver 580.159, CUDA 13.0); differences.txt has what ours answers otherwise on
purpose, and why. A line there that explains nothing any more is an error, too. Where ours ends with " ...", the rest of the
sequence follows from it (handles have other numbers), and is not compared.

Each sequence runs in a process of its own. Handles have names in the order in which they were made (context0, memory1), so
that lines can be compared; what is different on every machine (addresses, ids, times) is not in them. Nothing here depends
on anything but the seed, which is the sequence's number. questions() are sequences by hand: what the manual leaves open.
"""
import argparse
import ctypes
import difflib
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys

import memory_questions
import work_sequences

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import whole_run  # noqa: E402

C = ctypes
STEPS = 40
PTX = b"""
.version 7.0
.target sm_52
.address_size 64
.global .align 4 .u32 word[4] = {1, 2, 3, 4};
.visible .entry add_one(.param .u64 p, .param .u32 count) {
  .reg .u64 %rd<3>;
  .reg .u32 %r<6>;
  .reg .pred %q;
  ld.param.u64 %rd0, [p];
  ld.param.u32 %r0, [count];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %q, %r4, %r0;
  @%q bra END;
  mul.wide.u32 %rd1, %r4, 4;
  add.u64 %rd2, %rd0, %rd1;
  ld.global.u32 %r5, [%rd2];
  add.u32 %r5, %r5, 1;
  st.global.u32 [%rd2], %r5;
END:
  ret;
}
\0"""


class Driver:
    """The library, the handles of this process, and the lines."""

    def __init__(self):
        self.library = C.CDLL("libcuda.so.1")
        self.lines = []
        self.kinds = {}  # kind: list of (name, handle), those that live
        self.made = {}

    def call(self, name, *arguments, out=()):
        """Calls; the line gets the arguments by name, the error, and the values of `out` where it worked."""
        shown, given = [], []
        for argument in arguments:
            if isinstance(argument, tuple):  # a handle with its name
                shown.append(argument[0])
                given.append(argument[1])
            elif isinstance(argument, (C._Pointer, C.Array, type(C.byref(C.c_int())))):
                given.append(argument)
            else:
                if not isinstance(argument, bytes) or len(argument) < 40:
                    shown.append(repr(argument.value if hasattr(argument, "value") else argument))
                given.append(argument)
        function = getattr(self.library, name, None)
        if function is None:
            self.lines.append(f"{name}: no such symbol")
            return None
        error = function(*given)
        text = C.c_char_p()
        self.library.cuGetErrorName(error, C.byref(text))
        line = f"{name}({', '.join(shown)}) -> {text.value.decode().removeprefix('CUDA_') if text.value else error}"
        if error == 0 and out:
            line += " " + " ".join(str(o()) if callable(o) else str(o.value) for o in out)
        self.lines.append(line)
        return error

    def keep(self, kind, handle):
        number = self.made[kind] = self.made.get(kind, -1) + 1
        self.kinds.setdefault(kind, []).append((f"{kind}{number}", handle))
        return self.kinds[kind][-1]

    def drop(self, kind, named):
        self.kinds[kind].remove(named)

    def some(self, choice, kind, null=0.15):
        """One that lives, or null."""
        live = self.kinds.get(kind, [])
        if not live or choice.random() < null:
            return ("null", C.c_void_p(0))
        return choice.choice(live)

    def name_of(self, kind, value):
        if not value:
            return "null"
        return next((n for n, h in self.kinds.get(kind, []) if h.value == value), "another")


# ---- Calls. Each takes the driver and a random.Random.
def device_calls(d, r):
    value, device = C.c_int(-9), r.choice([0, 0, 0, 1, -1, 77])
    which = r.randrange(7)
    if which == 0:
        attribute = r.choice([1, 2, 5, 8, 10, 12, 16, 39, 41, 75, 76, 81, 82, 83, 95, 97, 106, 111, 115, 9999, -1])
        d.call("cuDeviceGetAttribute", C.byref(value), attribute, device, out=[value])
    elif which == 1:
        d.call("cuDeviceGet", C.byref(value), device, out=[value])
    elif which == 2:
        name = C.create_string_buffer(64)
        d.call("cuDeviceGetName", name, r.choice([64, 5, 1, 0, -1]), device)
    elif which == 3:
        size = C.c_size_t()
        d.call("cuDeviceTotalMem_v2", C.byref(size), device)
    elif which == 4:
        major, minor = C.c_int(), C.c_int()
        d.call("cuDeviceComputeCapability", C.byref(major), C.byref(minor), device, out=[major, minor])
    elif which == 5:
        d.call("cuDeviceCanAccessPeer", C.byref(value), device, r.choice([0, 0, 1]), out=[value])
    else:
        d.call("cuDeviceGetExecAffinitySupport", C.byref(value), r.choice([0, 1, 9]), device)


def entry_points(d, r):
    function, status = C.c_void_p(), C.c_int(-1)
    name = r.choice([b"cuInit", b"cuCtxCreate", b"cuMemAlloc", b"cuMemAlloc_v2", b"cuCtxGetId", b"cuNothing", b"", b"cuStreamSynchronize",
                     b"cuGraphInstantiate", b"cuMemcpyBatchAsync", b"cuGetProcAddress"])
    version = r.choice([0, 2000, 3010, 3020, 7000, 11030, 12000, 13000, 13000, 99990])
    flags = C.c_uint64(r.choice([0, 0, 1, 2, 3, 8]))
    there = lambda: "function" if function.value else "null"  # noqa: E731
    if r.random() < 0.5:
        d.call("cuGetProcAddress", name, C.byref(function), version, flags, out=[there])
    else:
        d.call("cuGetProcAddress_v2", name, C.byref(function), version, flags, C.byref(status), out=[there, status])


def errors(d, r):
    text = C.c_char_p()
    d.call(r.choice(["cuGetErrorName", "cuGetErrorString"]), r.choice([0, 1, 3, 100, 101, 201, 202, 216, 400, 500, 600, 700, 709, 801, 999, 7777]), C.byref(text),
           out=[text])


FLAGS = [0, 0, 0, 1, 2, 4, 3, 6, 8, 0x10, 0x18, 0x80, 0x100, 0x1000]


def contexts(d, r):
    which, context = r.randrange(12), C.c_void_p()
    if which <= 1:
        if d.call("cuCtxCreate_v2", C.byref(context), r.choice(FLAGS), r.choice([0, 0, 0, 0, 1, -1])) == 0:
            d.keep("context", context)
    elif which == 2:
        named = d.some(r, "context")
        if d.call("cuCtxDestroy_v2", named) == 0:
            d.drop("context", named)
            for kind in ("memory", "stream", "event", "module", "function"):  # they went with it
                d.kinds.pop(kind, None)
    elif which == 3:
        d.call("cuCtxPushCurrent_v2", d.some(r, "context"))
    elif which == 4:
        d.call("cuCtxPopCurrent_v2", C.byref(context), out=[lambda: d.name_of("context", context.value)])
    elif which == 5:
        d.call("cuCtxSetCurrent", d.some(r, "context"))
    elif which == 6:
        device = C.c_int(-9)
        d.call("cuCtxGetDevice", C.byref(device), out=[device])
    elif which == 7:
        flags = C.c_uint(99)
        d.call("cuCtxGetFlags", C.byref(flags), out=[lambda: flags.value & 7])
    elif which == 8:
        version = C.c_uint(9)
        d.call("cuCtxGetApiVersion", d.some(r, "context", 0.4), C.byref(version), out=[version])
    elif which == 9:
        d.call("cuCtxSynchronize")
    elif which == 10:
        least, greatest = C.c_int(9), C.c_int(9)
        d.call("cuCtxGetStreamPriorityRange", C.byref(least), C.byref(greatest), out=[least, greatest])
    else:
        d.call("cuCtxSetFlags", r.choice(FLAGS))
    d.call("cuCtxGetCurrent", C.byref(context), out=[lambda: d.name_of("context", context.value)])


def settings(d, r):
    which, size, value = r.randrange(6), C.c_size_t(), C.c_int(-9)
    if which == 0:
        d.call("cuCtxSetLimit", r.choice([0, 1, 2, 4, 5, 10, 77]), C.c_size_t(r.choice([4096, 1 << 16, 1 << 20])))
    elif which == 1:
        limit = r.choice([0, 1, 2, 4, 10, 77])
        d.call("cuCtxGetLimit", C.byref(size), limit)
    elif which == 2:
        d.call("cuCtxSetCacheConfig", r.choice([0, 1, 2, 3, 4, 9]))
    elif which == 3:
        d.call("cuCtxGetCacheConfig", C.byref(value), out=[value])
    elif which == 4:
        d.call("cuCtxSetSharedMemConfig", r.choice([0, 1, 2, 3, 9]))
    else:
        d.call("cuCtxGetSharedMemConfig", C.byref(value), out=[value])


def primary(d, r):
    which, device, flags, active, context = r.randrange(5), r.choice([0, 0, 0, 1, -1]), C.c_uint(9), C.c_int(9), C.c_void_p()
    if which <= 1:
        if d.call("cuDevicePrimaryCtxRetain", C.byref(context), device) == 0 and not any(
                h.value == context.value for _, h in d.kinds.get("context", [])):
            d.keep("context", context)
    elif which == 2:
        d.call("cuDevicePrimaryCtxGetState", device, C.byref(flags), C.byref(active), out=[lambda: flags.value & 7, active])
    elif which == 3:
        d.call("cuDevicePrimaryCtxSetFlags_v2", device, r.choice(FLAGS))
    else:
        d.call("cuDevicePrimaryCtxRelease_v2", r.choice([1, -1]))  # device 0's would take what is in it with it


def memory(d, r):
    which, pointer, size = r.randrange(9), C.c_uint64(), r.choice([0, 4, 64, 4096, 1 << 20])
    host = C.create_string_buffer(bytes(range(1, 65)), 64)
    if which <= 1:
        if d.call("cuMemAlloc_v2", C.byref(pointer), C.c_size_t(size)) == 0:
            d.keep("memory", pointer)
            d.sizes = getattr(d, "sizes", {})
            d.sizes[d.kinds["memory"][-1][0]] = size
            d.call("cuMemsetD8_v2", d.kinds["memory"][-1], 0, C.c_size_t(size))
        return
    named = d.some(r, "memory", 0.1)
    if named[0] == "null":
        named = ("null", C.c_uint64(0))
    room = getattr(d, "sizes", {}).get(named[0], 0)
    if which == 2:
        if d.call("cuMemFree_v2", named) == 0 and named[0] != "null":
            d.drop("memory", named)
    elif which == 3:
        d.call("cuMemcpyHtoD_v2", named, host, C.c_size_t(min(room, 64)))
    elif which == 4:
        back = C.create_string_buffer(64)
        d.call("cuMemcpyDtoH_v2", back, named, C.c_size_t(min(room, 64)), out=[lambda: back.raw[:min(room, 64)].hex()[:32]])
    elif which == 5:
        d.call("cuMemsetD8_v2", named, r.randrange(256), C.c_size_t(room))
    elif which == 6:
        d.call("cuMemsetD32_v2", named, r.randrange(1000), C.c_size_t(r.choice([room // 4, 0])))
    elif which == 7:
        base, length = C.c_uint64(), C.c_size_t()
        inside = (named[0] + "+1", C.c_uint64(named[1].value + 1)) if room > 1 and r.random() < 0.5 else named
        d.call("cuMemGetAddressRange_v2", C.byref(base), C.byref(length), inside,
               out=[lambda: d.name_of("memory", base.value), length])
    else:
        attribute = r.choice([2, 8, 9, 9999])  # memory type, managed, ordinal
        value = C.c_uint64(0)
        d.call("cuPointerGetAttribute", C.byref(value), attribute, named, out=[lambda: value.value & 0xffffffff])


def streams(d, r):
    which, stream, value, flags = r.randrange(8), C.c_void_p(), C.c_int(-9), C.c_uint(99)
    named = d.some(r, "stream", 0.25)
    if which <= 1:
        if d.call("cuStreamCreate", C.byref(stream), r.choice([0, 1, 1, 2, 9])) == 0:
            d.keep("stream", stream)
    elif which == 2:
        if d.call("cuStreamDestroy_v2", named) == 0:
            d.drop("stream", named)
    elif which == 3:
        d.call("cuStreamSynchronize", named)
    elif which == 4:
        d.call("cuStreamGetFlags", named, C.byref(flags), out=[flags])
    elif which == 5:
        d.call("cuStreamGetPriority", named, C.byref(value), out=[value])
    elif which == 6:
        if d.call("cuStreamCreateWithPriority", C.byref(stream), r.choice([0, 1, 7]), r.choice([0, -1, -100, 100])) == 0:
            d.keep("stream", stream)
    else:
        d.call("cuStreamWaitEvent", named, d.some(r, "event"), r.choice([0, 0, 1, 9]))


def events(d, r):
    which, event, ms = r.randrange(6), C.c_void_p(), C.c_float()
    named = d.some(r, "event")
    if which <= 1:
        if d.call("cuEventCreate", C.byref(event), r.choice([0, 1, 2, 3, 4, 6, 8])) == 0:
            d.keep("event", event)
    elif which == 2:
        if d.call("cuEventDestroy_v2", named) == 0:
            d.drop("event", named)
    elif which == 3:
        d.call("cuEventRecord", named, d.some(r, "stream", 0.5))
    elif which == 4:
        d.call("cuEventSynchronize", named)
    else:
        d.call("cuEventElapsedTime", C.byref(ms), named, d.some(r, "event"))


def modules(d, r):
    which, handle, size, pointer = r.randrange(6), C.c_void_p(), C.c_size_t(), C.c_uint64()
    named = d.some(r, "module", 0.1)
    if which == 0:
        if d.call("cuModuleLoadData", C.byref(handle), r.choice([PTX, PTX, PTX, b".version 1.0 nonsense" + b" " * 40 + b"\0"])) == 0:
            d.keep("module", handle)
    elif which == 1:
        if d.call("cuModuleUnload", named) == 0:
            d.drop("module", named)
            d.kinds.pop("function", None)
    elif which == 2:
        if d.call("cuModuleGetFunction", C.byref(handle), named, r.choice([b"add_one", b"add_one", b"add_two", b""])) == 0:
            d.keep("function", handle)
    elif which == 3:
        d.call("cuModuleGetGlobal_v2", C.byref(pointer), C.byref(size), named, r.choice([b"word", b"nothing"]), out=[size])
    elif which == 4:
        value = C.c_int(-9)
        named = d.some(r, "function", 0.1)
        attribute = r.choice([0, 1, 2, 3, 8, 9, 99])
        shown = [value] if attribute in (0, 1) else []
        d.call("cuFuncGetAttribute", C.byref(value), attribute, named, out=shown)
    else:
        launch(d, r)


def launch(d, r):
    named = d.some(r, "memory", 0)
    if named[0] == "null" or getattr(d, "sizes", {}).get(named[0], 0) < 64:
        return
    pointer, count = C.c_uint64(named[1].value), C.c_uint(16)
    parameters = (C.c_void_p * 2)(C.cast(C.byref(pointer), C.c_void_p), C.cast(C.byref(count), C.c_void_p))
    grid, block = r.choice([1, 1, 2, 0]), r.choice([32, 32, 1024, 1025, 0])
    d.call("cuLaunchKernel", d.some(r, "function", 0.1), grid, 1, 1, block, 1, r.choice([1, 1, 0]), r.choice([0, 0, 1 << 20]),
           d.some(r, "stream", 0.6), parameters, C.c_void_p(0))
    d.call("cuCtxSynchronize")


GROUPS = [device_calls, entry_points, errors, contexts, contexts, contexts, settings, primary, memory, memory, memory, streams, events,
          modules, modules]


def random_sequence(d, number):
    r = random.Random(number)
    if r.random() < 0.9:
        d.call("cuInit", r.choice([0, 0, 0, 0, 0, 0, 1]))
        if r.random() < 0.7:
            context = C.c_void_p()
            if d.call("cuCtxCreate_v2", C.byref(context), 0, 0) == 0:
                d.keep("context", context)
    favourites = r.sample(GROUPS, 5)
    for _ in range(STEPS):
        r.choice(favourites if r.random() < 0.7 else GROUPS)(d, r)


def questions():
    """By hand: what the manual leaves open. {name: function}"""
    def made(d, flags=0):
        context = C.c_void_p()
        d.call("cuCtxCreate_v2", C.byref(context), flags, 0)
        return d.keep("context", context)

    def before_init(d):
        context, text, function, status = C.c_void_p(), C.c_char_p(), C.c_void_p(), C.c_int(-1)
        d.call("cuCtxGetCurrent", C.byref(context))
        d.call("cuMemAlloc_v2", C.byref(context), C.c_size_t(4))
        d.call("cuGetErrorName", 3, C.byref(text), out=[text])
        d.call("cuGetProcAddress_v2", b"cuInit", C.byref(function), 13000, C.c_uint64(0), C.byref(status), out=[status])
        d.call("cuProfilerStart")
        d.call("cuCtxPopCurrent_v2", C.byref(context))

    def destroyed(d):
        d.call("cuInit", 0)
        a, b = made(d), made(d)
        d.call("cuCtxDestroy_v2", a)
        context = C.c_void_p()
        d.call("cuCtxGetCurrent", C.byref(context), out=[lambda: d.name_of("context", context.value)])
        d.call("cuCtxDestroy_v2", b)
        d.call("cuCtxGetCurrent", C.byref(context), out=[lambda: d.name_of("context", context.value)])
        d.call("cuCtxSynchronize")
        d.call("cuCtxPopCurrent_v2", C.byref(context))

    def nulls(d):
        d.call("cuInit", 0)
        null = ("null", C.c_void_p(0))
        for with_context in (False, True):
            if with_context:
                made(d)
            for name in ("cuCtxDestroy_v2", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuCtxGetDevice", "cuCtxGetFlags", "cuCtxGetCurrent",
                         "cuStreamDestroy_v2", "cuEventDestroy_v2", "cuModuleUnload", "cuStreamSynchronize", "cuStreamQuery", "cuEventQuery",
                         "cuMemFreeHost", "cuCtxGetCacheConfig", "cuCtxGetSharedMemConfig", "cuEventSynchronize"):
                d.call(name, null)
                if with_context:
                    d.call("cuCtxSetCurrent", d.kinds["context"][0])

    def flags_of(d):
        d.call("cuInit", 0)
        for flags in (0, 1, 4, 8, 0x10, 0x18):
            made(d, flags)
            value = C.c_uint(99)
            d.call("cuCtxGetFlags", C.byref(value), out=[value])
        value, active = C.c_uint(99), C.c_int(9)
        d.call("cuDevicePrimaryCtxGetState", 0, C.byref(value), C.byref(active), out=[value, active])
        d.call("cuDevicePrimaryCtxSetFlags_v2", 0, 4)
        d.call("cuDevicePrimaryCtxGetState", 0, C.byref(value), C.byref(active), out=[value, active])

    def primary_context(d):
        d.call("cuInit", 0)
        context, current, active, flags = C.c_void_p(), C.c_void_p(), C.c_int(9), C.c_uint(9)
        d.call("cuDevicePrimaryCtxRelease_v2", 0)
        d.call("cuDevicePrimaryCtxRetain", C.byref(context), 0)
        d.keep("context", context)
        d.call("cuDevicePrimaryCtxGetState", 0, C.byref(flags), C.byref(active), out=[active])
        d.call("cuCtxSetCurrent", d.kinds["context"][0])
        d.call("cuCtxDestroy_v2", d.kinds["context"][0])
        d.call("cuDevicePrimaryCtxSetFlags", 0, 4)
        d.call("cuDevicePrimaryCtxReset_v2", 0)
        d.call("cuCtxSynchronize")
        d.call("cuDevicePrimaryCtxGetState", 0, C.byref(flags), C.byref(active), out=[active])
        d.call("cuDevicePrimaryCtxRelease_v2", 0)
        d.call("cuDevicePrimaryCtxRelease_v2", 0)
        d.call("cuDevicePrimaryCtxGetState", 0, C.byref(flags), C.byref(active), out=[active])
        d.call("cuCtxGetCurrent", C.byref(current), out=[lambda: d.name_of("context", current.value)])
        d.call("cuCtxSynchronize")

    def small(d):
        d.call("cuInit", 0)
        luid, mask, uuid, size = C.create_string_buffer(8), C.c_uint(), C.create_string_buffer(16), C.c_size_t()
        d.call("cuDeviceGetLuid", luid, C.byref(mask), 0)
        d.call("cuDeviceGetUuid_v2", uuid, 0)
        for channels in (0, 1, 2, 3, 4, 5):
            for kind in (1, 0x20, 99):
                d.call("cuDeviceGetTexture1DLinearMaxWidth", C.byref(size), kind, channels, 0, out=[size])
        made(d)
        affinity = (C.c_uint * 8)()
        d.call("cuCtxGetExecAffinity", affinity, 0, out=[lambda: affinity[1]])
        for limit in range(-1, 13):
            d.call("cuCtxGetLimit", C.byref(size), limit, out=[size] if limit in (0, 1, 2, 4) else [])
        for limit in range(0, 13):
            d.call("cuCtxSetLimit", limit, C.c_size_t(1 << 30))
        for attribute in list(range(0, 150)):
            value = C.c_int(-9)
            d.call("cuDeviceGetAttribute", C.byref(value), attribute, 0, out=[value])
        for size_of in (0, 11, 12, 13, 64):
            text = C.create_string_buffer(64)
            d.call("cuDeviceGetPCIBusId", text, size_of, 0)
        for text in (b"", b"0", b"0000:ff:1f.0", b"nonsense", b"ffff:ff:ff.7"):
            value = C.c_int(-9)
            d.call("cuDeviceGetByPCIBusId", C.byref(value), text)
        peer = d.kinds["context"][0]
        d.call("cuCtxEnablePeerAccess", peer, 0)
        other = made(d)
        d.call("cuCtxEnablePeerAccess", peer, 0)
        d.call("cuCtxDisablePeerAccess", peer)
        d.call("cuCtxAttach", C.byref(C.c_void_p()), 0)
        d.call("cuCtxDetach", other)
        d.call("cuCtxDetach", other)
        d.call("cuCtxDetach", peer)

    return {f.__name__: f for f in (before_init, destroyed, nulls, flags_of, primary_context, small, *memory_questions.QUESTIONS)}


def run_alone(name, body):
    """In a child: what it wrote; a crash is a line too."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        d = Driver()
        file = os.fdopen(writer, "w", buffering=1)

        class Through(list):
            def append(self, line):
                file.write(line + "\n")

        d.lines = Through()
        try:
            body(d)
        finally:
            file.flush()
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        text += f"ended by signal {os.WTERMSIG(status)}\n"
    return f"# {name}\n{text}"


def all_sequences(count, only):
    sequences = {n: f for n, f in questions().items()}
    sequences |= {f"random{i}": (lambda d, i=i: random_sequence(d, i)) for i in range(count)}
    work = lambda d, i: work_sequences.random_work(d, random.Random(f"work{i}"), PTX)  # noqa: E731
    sequences |= {f"work{i}": (lambda d, i=i: work(d, i)) for i in range(count // 2)}
    return {n: f for n, f in sequences.items() if not only or n == only}


def sections(text):
    out = {}
    for section in text.split("# ")[1:]:
        name, _, rest = section.partition("\n")
        out[name] = rest.splitlines()
    return out


AND_SO_ON = " ..."


class Exceptions:
    """Lines of differences.txt: what the GPU answers, what ours does, why; {a,b} is either of them, * anything."""

    def __init__(self, path):
        rows = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
        self.rows = [(self.pattern(there), self.pattern(here.removesuffix(AND_SO_ON)), there, here.endswith(AND_SO_ON)) for there, here, _reason in rows]
        self.used = set()

    @staticmethod
    def pattern(text):
        parts = re.split(r"(\*|\{[^}]*\})", text)
        made = [".*" if p == "*" else "(" + "|".join(map(re.escape, p[1:-1].split(","))) + ")" if p.startswith("{") else re.escape(p) for p in parts]
        return re.compile("".join(made))

    def row_of(self, there, here):
        for row in self.rows:
            if row[0].fullmatch(there) and row[1].fullmatch(here):
                self.used.add(row)
                return row
        return None

    def unused(self):
        return [row[2] for row in self.rows if row not in self.used]


NONE = "(none)"  # a line that only the other one has


def differences(expected, ours, exceptions):
    """Differing lines: [(number, the GPU's line, our line)]."""
    out = []
    for kind, low, high, our_low, our_high in difflib.SequenceMatcher(None, expected, ours, False).get_opcodes():
        if kind == "equal":
            continue
        pairs = itertools.zip_longest(expected[low:high], ours[our_low:our_high], fillvalue=NONE)
        for i, (there, here) in enumerate(pairs):
            row = exceptions.row_of(there, here)
            if row and row[3]:
                return out
            if not row:
                out.append((low + i + 1, there, here))
    return out


def compare(args):
    expected = sections(pathlib.Path(args.compare).read_text())
    exceptions = Exceptions(pathlib.Path(__file__).with_name("differences.txt"))
    lines = different = crashes = 0
    missing = [name for name in all_sequences(args.sequences, args.only) if name not in expected]
    if missing:
        print(f"{len(missing)} sequences are not in the record: {missing[0]} ... {missing[-1]}")
    for name, body in all_sequences(args.sequences, args.only).items():
        if name not in expected:
            continue
        there, ours = expected[name], sections(run_alone(name, body))[name]
        lines += len(there)
        if there and there[-1].startswith("ended by signal"):  # NVIDIA's driver crashed: no answer to equal
            crashes += 1
            there = there[:-1]
            ours = ours[: len(there)]
        found = differences(there, ours, exceptions)
        different += len(found)
        # Of a random sequence the first line that differs: those after it follow from it.
        for number, gpu, here in found[:1] if name.startswith(("random", "work")) else found:
            print(f"{name}, line {number}:\n  the GPU: {gpu}\n  ours:    {here}")
    stale = [] if args.only else exceptions.unused()
    for row in stale:
        print(f"differences.txt explains nothing with: {row}")
    print(f"{len(expected)} sequences ({crashes} end where the GPU's driver crashed), {lines} lines, {different} differences")
    return 1 if different or stale or not lines else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record")
    parser.add_argument("--compare")
    parser.add_argument("--sequences", type=int, default=120)
    parser.add_argument("--only")
    parser.add_argument("--under", metavar="WARPGRIND", help="--compare: as a program of this one's `run`")
    args = parser.parse_args()
    if args.under:
        again = [__file__, "--compare", args.compare, "--sequences", str(args.sequences)] + (["--only", args.only] if args.only else [])
        command = [args.under, "run", "--quiet", "--gpu", "h200", "--", sys.executable, *again]
        return subprocess.run(command, env=whole_run.environment()).returncode
    if args.record:
        text = "".join(run_alone(n, f) for n, f in all_sequences(args.sequences, args.only).items())
        pathlib.Path(args.record).write_text(text)
        print(f"{len(text.splitlines())} lines")
        return 0
    return compare(args)


if __name__ == "__main__":
    sys.exit(main())
