#!/usr/bin/env python3
"""Kernels of wmma.load, wmma.store and wmma.mma for wmma.cu: a header with one kernel for each shape, type, layout and space.

    wmma_kernels.py FILE.cuh

A kernel of a load adds the fragment's registers and stores the sum, so that ptxas keeps all of them. A kernel of a store makes the
registers from a loaded word. `kCases` names them in order, with the unit of their strides.
"""
import sys

SHAPES = {"m16n16k16": (16, 16, 16), "m8n32k16": (8, 32, 16), "m32n8k16": (32, 8, 16), "m16n16k8": (16, 16, 8), "m8n8k4": (8, 8, 4),
          "m8n8k32": (8, 8, 32), "m8n8k128": (8, 8, 128)}
LARGE = ("m16n16k16", "m8n32k16", "m32n8k16")
BITS = {"f16": 16, "bf16": 16, "s8": 8, "u8": 8, "tf32": 32, "f64": 64, "s4": 4, "b1": 1, "f32": 32, "s32": 32}


def registers(part, shape, kind):
    """Number of registers of a fragment, and their type."""
    m, n, k = SHAPES[shape]
    word = {"f32": "f32", "f64": "f64"}.get(kind, "b32")
    if part in "ab" and kind == "f16":
        return 8, word  # each element twice, or four times
    elements = {"a": m * k, "b": n * k}.get(part, m * n)
    return max(1, elements * BITS[kind] // (32 * (64 if word == "f64" else 32))), word


def group(name, count):
    return "{" + ",".join(f"{name}{i}" for i in range(count)) + "}"


def begin(space):
    lines = [".reg .b64 p, to, at;", ".reg .b32 v, x;", ".reg .f32 w;", ".reg .f64 z;", "mov.u32 x, %%tid.x;", "mul.wide.u32 at, x, 4;",
             "cvta.to.global.u64 to, %2;", "add.u64 to, to, at;"]
    if space == "global":
        return lines + ["cvta.to.global.u64 p, %0;"]
    if space == "generic":
        return lines + ["mov.b64 p, %0;"]
    return lines + [".shared .align 128 .b8 m[16384];", "cvta.to.global.u64 p, %0;", "add.u64 p, p, at;", "ld.global.b32 v, [p];", "mov.u32 x, m;",
                    "st.shared.b32 [x], v;", "cvt.u64.u32 p, x;", "bar.sync 0;"]


def add_up(name, count, word):
    if word == "f64":
        return [f"mov.f64 z, {name}0;", *(f"add.f64 z, z, {name}{i};" for i in range(1, count)), "cvt.rn.f32.f64 w, z;", "st.global.f32 [to], w;"]
    if word == "f32":
        return [f"mov.f32 w, {name}0;", *(f"add.f32 w, w, {name}{i};" for i in range(1, count)), "st.global.f32 [to], w;"]
    return [f"mov.b32 x, {name}0;", *(f"add.u32 x, x, {name}{i};" for i in range(1, count)), "st.global.b32 [to], x;"]


def fill(name, count, word):
    lines = []
    for i in range(count):
        into = f"{name}{i}" if word == "b32" else "x"
        lines.append(f"add.u32 {into}, v, {i};")
        if word != "b32":
            lines.append(f"mov.b32 {name}{i}, x;" if word == "f32" else f"cvt.rn.f64.u32 {name}{i}, x;")
    return lines


def kernel(name, kind, lines):
    text = "\n".join(f'      "{line}\\n"' for line in ["{", *lines, "}"])
    unit = {"b1": 128, "s4": 32}.get(kind, 16)
    return name, unit, f"""__global__ void {name}(const void* from, int stride, void* to) {{
  asm volatile(
{text}
      ::"l"(from), "r"(stride), "l"(to) : "memory");
}}
"""


def load(part, layout, shape, kind, space):
    count, word = registers(part, shape, kind)
    where = "" if space == "generic" else f".{space}"
    return kernel(f"load_{part}_{layout}_{shape}_{space}_{kind}", kind, [
        *begin(space), f".reg .{word} f<{count}>;",
        f"wmma.load.{part}.sync.aligned.{layout}.{shape}{where}.{kind} {group('f', count)}, [p], %1;", *add_up("f", count, word)])


def store(layout, shape, kind, space):
    count, word = registers("d", shape, kind)
    where = "" if space == "generic" else f".{space}"
    after = ["bar.sync 0;", "mov.u32 x, m;", "ld.shared.b32 x, [x+128];", "st.global.b32 [to], x;"] if space == "shared" else []
    address = "p" if space == "shared" else "at"
    into = [] if space == "shared" else ["ld.global.b32 v, [to];", "mov.b64 at, %0;" if space == "generic" else "cvta.to.global.u64 at, %0;"]
    return kernel(f"store_d_{layout}_{shape}_{space}_{kind}", kind, [
        *begin(space), *into, f".reg .{word} f<{count}>;", *fill("f", count, word),
        f"wmma.store.d.sync.aligned.{layout}.{shape}{where}.{kind} [{address}], {group('f', count)}, %1;", *after])


def mma(layouts, shape, kind, sums, mode="", tail=""):
    (a, word), (b, _), (c, sum_word) = registers("a", shape, kind), registers("b", shape, kind), registers("c", shape, sums)
    types = f"{sums}.{sums}" if kind == "f16" else f"{sums}.{kind}.{kind}.{sums}"
    return kernel(f"mma_{layouts.replace('.', '_')}_{shape}_{kind}_{sums}{mode.replace('.', '_')}{tail.replace('.', '_')}", kind, [
        *begin("global"), "ld.global.b32 v, [to];", f".reg .{word} a<{a}>, b<{b}>;", f".reg .{sum_word} c<{c}>;",
        *fill("a", a, word), *fill("b", b, word), *fill("c", c, sum_word),
        f"wmma.mma{mode}.sync.aligned.{layouts}.{shape}.{types}{tail} {group('c', c)}, {group('a', a)}, {group('b', b)}, {group('c', c)};",
        *add_up("c", c, sum_word)])


def kernels():
    for space in ("global", "shared"):
        for part in "ab":
            for layout in ("row", "col"):
                for shape in LARGE:
                    yield load(part, layout, shape, "f16", space)
                    yield load(part, layout, shape, "s8", space)
                yield load(part, layout, "m16n16k8", "tf32", space)
                yield load(part, layout, "m8n8k4", "f64", space)
            one = "row" if part == "a" else "col"
            yield load(part, one, "m16n16k16", "bf16", space)
            yield load(part, one, "m8n8k32", "s4", space)
            yield load(part, one, "m8n8k128", "b1", space)
        for layout in ("row", "col"):
            for shape, kind in [*((s, t) for s in LARGE for t in ("f16", "f32")), ("m16n16k16", "s32"), ("m8n8k4", "f64"), ("m8n8k32", "s32")]:
                yield load("c", layout, shape, kind, space)
                yield store(layout, shape, kind, space)
    yield load("a", "row", "m16n16k16", "bf16", "generic")
    yield load("b", "row", "m16n16k8", "tf32", "generic")
    yield load("c", "row", "m16n16k16", "f32", "generic")
    yield store("col", "m16n16k16", "f32", "generic")
    for shape in LARGE:
        yield mma("row.col", shape, "f16", "f32")
        yield mma("row.col", shape, "f16", "f16")
        yield mma("row.col", shape, "s8", "s32")
    yield mma("col.row", "m16n16k16", "f16", "f32")
    yield mma("row.col", "m16n16k16", "bf16", "f32")
    yield mma("row.col", "m16n16k16", "u8", "s32", tail=".satfinite")
    yield mma("row.col", "m16n16k8", "tf32", "f32")
    yield mma("row.col", "m8n8k4", "f64", "f64")
    yield mma("row.col", "m8n8k32", "s4", "s32")
    yield mma("row.col", "m8n8k128", "b1", "s32", mode=".and.popc")
    yield mma("row.col", "m8n8k128", "b1", "s32", mode=".xor.popc")


def main():
    found = list(kernels())
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write("// Made by wmma_kernels.py.\n#pragma once\n\n" + "".join(text for _, _, text in found))
        out.write("\nstruct Case {\n  const char* name;\n  int unit;  // strides are a multiple of it, in elements\n"
                  "  void (*kernel)(const void* from, int stride, void* to);\n};\nconst Case kCases[] = {\n")
        out.write("".join(f'    {{"{name}", {unit}, {name}}},\n' for name, unit, _ in found) + "};\n")


if __name__ == "__main__":
    main()
