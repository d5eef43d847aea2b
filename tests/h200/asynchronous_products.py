#!/usr/bin/env python3
"""Kernels of matrix products for asynchronous.cu: a header with one kernel for each shape, type and layout.

    asynchronous_products.py FILE.cuh

Each kernel is a loop of products of one form. Operands are zero. A warpgroup of wgmma has four products in a group and waits until
one group is left ("late") or none ("each"). A warp of mma has four accumulators.
"""
import sys

CLOCKED = "wgmma_m64n256k16_bf16_shared_128"  # it leaves the SM's MHz in `sink`
SWIZZLES = {"none": 0, "128": 1, "64": 2, "32": 3}
# name: types in the instruction, type of an accumulator, bytes of an accumulator, bytes of an element of A, values of a 32-bit register of D
WGMMA_TYPES = {
    "f16": ("f32.f16.f16", 2, 1), "f16_f16": ("f16.f16.f16", 2, 2), "bf16": ("f32.bf16.bf16", 2, 1), "tf32": ("f32.tf32.tf32", 4, 1),
    "e4m3": ("f32.e4m3.e4m3", 1, 1), "e5m2_f16": ("f16.e5m2.e5m2", 1, 2), "s8": ("s32.s8.s8", 1, 1), "b1": ("s32.b1.b1", 0.125, 1)}


def wgmma(n, kind, a="shared", swizzle="128", sparse=False, wait="late", transposed=""):
    types, size, packed = WGMMA_TYPES[kind]
    k = int(32 / size) * (2 if sparse else 1)
    registers = n // 2 // packed
    floating = types.startswith("f32")
    d = "{" + ",".join(f"d{i}" for i in range(registers)) + "}"
    tail = ""
    if not types.startswith("s32"):
        tail = ", 1, 1"
    if size == 2:
        tail += (", %d" % ("a" in transposed) if a == "shared" else "") + ", %d" % ("b" in transposed)
    name = f"wgmma{'_sp' if sparse else ''}_m64n{n}k{k}_{kind}_{a}_{swizzle}" + (f"_t{transposed}" if transposed else "") + ("" if wait == "late" else "_" + wait)
    op = f"wgmma.mma_async{'.sp' if sparse else ''}.sync.aligned.m64n{n}k{k}.{types}{'.and.popc' if kind == 'b1' else ''}"
    lines = [f".reg .{'f32' if floating else 'b32'} d<{registers}>;", ".reg .b32 a<4>;", ".reg .b32 i;", ".reg .pred p, q;",
             "mov.b32 i, %0;", "setp.ne.b32 q, i, 0;"]
    lines += [f"mov.{'f32' if floating else 'b32'} d{i}, {'0f00000000' if floating else '0'};" for i in range(registers)]
    lines += [f"mov.b32 a{i}, 0;" for i in range(4)] + ["again:", "wgmma.fence.sync.aligned;"]
    for _ in range(4):
        first = "%1" if a == "shared" else "{a0,a1,a2,a3}"
        lines.append(f"{op} {d}, {first}, %2,{' 0x44444444, 0,' if sparse else ''} q{tail};".replace("0x44444444", "%3"))
    lines += ["wgmma.commit_group.sync.aligned;", f"wgmma.wait_group.sync.aligned {1 if wait == 'late' else 0};", "sub.s32 i, i, 1;",
              "setp.ne.b32 p, i, 0;", "@p bra again;", "wgmma.wait_group.sync.aligned 0;", f"st.global.b32 [%4], d0;"]
    return kernel(name, lines, SWIZZLES[swizzle], 64 * n * k * 2)


# shape, types in the instruction, registers of A, B, C and types of registers
MMA = [("m16n8k8", "f32.f16.f16.f32", 2, 1, 4, "f"), ("m16n8k16", "f32.f16.f16.f32", 4, 2, 4, "f"), ("m16n8k16", "f16.f16.f16.f16", 4, 2, 2, "b"),
       ("m16n8k8", "f32.bf16.bf16.f32", 2, 1, 4, "f"), ("m16n8k16", "f32.bf16.bf16.f32", 4, 2, 4, "f"),
       ("m16n8k4", "f32.tf32.tf32.f32", 2, 1, 4, "f"), ("m16n8k8", "f32.tf32.tf32.f32", 4, 2, 4, "f"),
       ("m8n8k16", "s32.s8.s8.s32", 1, 1, 2, "b"), ("m16n8k16", "s32.s8.s8.s32", 2, 1, 4, "b"), ("m16n8k32", "s32.s8.s8.s32", 4, 2, 4, "b"),
       ("m16n8k32", "s32.u4.u4.s32", 2, 1, 4, "b"), ("m16n8k64", "s32.u4.u4.s32", 4, 2, 4, "b"),
       ("m16n8k32", "f32.e4m3.e4m3.f32", 4, 2, 4, "f"), ("m16n8k256", "s32.b1.b1.s32.and.popc", 4, 2, 4, "b"),
       ("m16n8k128", "s32.b1.b1.s32.and.popc", 2, 1, 4, "b"),
       ("m8n8k4", "f64.f64.f64.f64", 1, 1, 2, "d"), ("m16n8k4", "f64.f64.f64.f64", 2, 1, 4, "d"), ("m16n8k8", "f64.f64.f64.f64", 4, 2, 4, "d"),
       ("m16n8k16", "f64.f64.f64.f64", 8, 4, 4, "d")]
MMA_SP = [("m16n8k16", "f32.f16.f16.f32", 2, 2, 4, "f"), ("m16n8k32", "f32.f16.f16.f32", 4, 4, 4, "f"), ("m16n8k32", "f16.f16.f16.f16", 4, 4, 2, "b"),
          ("m16n8k32", "f32.bf16.bf16.f32", 4, 4, 4, "f"), ("m16n8k8", "f32.tf32.tf32.f32", 2, 2, 4, "f"), ("m16n8k16", "f32.tf32.tf32.f32", 4, 4, 4, "f"),
          ("m16n8k32", "s32.s8.s8.s32", 2, 2, 4, "b"), ("m16n8k64", "s32.s8.s8.s32", 4, 4, 4, "b"), ("m16n8k64", "s32.u4.u4.s32", 2, 2, 4, "b"),
          ("m16n8k128", "s32.u4.u4.s32", 4, 4, 4, "b"), ("m16n8k64", "f32.e4m3.e4m3.f32", 4, 4, 4, "f")]


def mma(shape, types, na, nb, nc, kind, sparse=False):
    reg, zero = {"f": ("f32", "0f00000000"), "b": ("b32", "0"), "d": ("f64", "0d0000000000000000")}[kind]
    operand, ozero = ("f64", zero) if kind == "d" else ("b32", "0")
    name = f"mma{'_sp' if sparse else ''}_{shape}_{types.replace('.', '_')}"
    # ptxas would merge equal products, so the accumulators differ, and their values are unknown to it.
    lines = [f".reg .{reg} d<{4 * nc}>;", f".reg .{operand} a<{na}>, b<{nb}>;", ".reg .b32 i, v;", ".reg .pred p;", "mov.b32 i, %0;"]
    for i in range(4 * nc):
        lines += [f"add.s32 v, i, {i};", f"cvt.rn.f64.s32 d{i}, v;" if kind == "d" else f"mov.b32 d{i}, v;"]
    lines += [f"mov.{operand} a{i}, {ozero};" for i in range(na)] + [f"mov.{operand} b{i}, {ozero};" for i in range(nb)] + ["again:"]
    modes = f".and.popc" if "popc" in types else ""
    op = f"mma{'.sp::ordered_metadata' if sparse else ''}.sync.aligned.{shape}.row.col.{types.replace('.and.popc', '')}{modes}"
    a, b = "{" + ",".join(f"a{i}" for i in range(na)) + "}", "{" + ",".join(f"b{i}" for i in range(nb)) + "}"
    if na == 1:
        a = "{a0}"
    for j in range(4):
        d = "{" + ",".join(f"d{j * nc + i}" for i in range(nc)) + "}"
        lines.append(f"{op} {d}, {a}, {b}, {d}{', %3, 0' if sparse else ''};")
    sums = {"f": "add.f32", "b": "add.s32", "d": "add.f64"}[kind]
    tail = [f"{sums} d0, d0, d{j * nc};" for j in range(1, 4)]
    store = {"f": "st.global.f32 [%4], d0;", "b": "st.global.b32 [%4], d0;", "d": "st.global.f64 [%4], d0;"}[kind]
    m, n, k = (int(x) for x in shape[1:].replace("n", " ").replace("k", " ").split())
    lines += ["sub.s32 i, i, 1;", "setp.ne.b32 p, i, 0;", "@p bra again;", *tail, store]
    return kernel(name, lines, 0, m * n * k * 2)


def kernel(name, lines, swizzle, operations):
    begin, clock = "", ""
    if name == CLOCKED:
        begin = """
  long long clocks = clock64();
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");"""
        clock = """
  unsigned long long end;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end)::"memory");
  sink[blockIdx.x * blockDim.x + threadIdx.x] = (clock64() - clocks) * 1e3 / (end - ns);"""
    text = "\n".join(f'      "{line}\\n"' for line in ["{", *lines, "}"])
    return (name, operations, f"""__global__ void __launch_bounds__(256) {name}(int loops, double* sink) {{
  extern __shared__ __align__(1024) unsigned char shared[];
  const Operands operands(shared, {swizzle});{begin}
  asm volatile(
{text}
      ::"r"(loops), "l"(operands.a), "l"(operands.b), "r"(0x44444444), "l"(sink + blockIdx.x * blockDim.x + threadIdx.x)
      : "memory");{clock}
}}
""")


def forms():
    for n in (8, 16, 32, 64, 128, 192, 256):
        yield wgmma(n, "f16")
    for n in (8, 64, 128, 256):
        yield wgmma(n, "f16", a="registers")
    for swizzle in ("none", "32", "64"):
        yield wgmma(64, "f16", swizzle=swizzle)
        yield wgmma(256, "f16", swizzle=swizzle)
    yield wgmma(256, "f16", transposed="b")
    yield wgmma(256, "f16", transposed="ab")
    yield wgmma(128, "f16", wait="each")
    yield wgmma(8, "f16", wait="each")
    for kind in ("f16_f16", "bf16", "tf32", "e4m3", "e5m2_f16", "s8", "b1"):
        yield wgmma(64, kind)
        yield wgmma(256, kind)
        if kind == "e4m3":
            yield wgmma(256, kind, a="registers")
    for kind in ("f16", "bf16", "tf32", "e4m3", "s8"):
        yield wgmma(64, kind, sparse=True)
        yield wgmma(256, kind, sparse=True)
    yield wgmma(256, "f16", a="registers", sparse=True)
    for row in MMA:
        yield mma(*row)
    for row in MMA_SP:
        yield mma(*row, sparse=True)


def main():
    found = list(forms())
    sys.stdout = open(sys.argv[1], "w", encoding="utf-8")
    print("// Made by asynchronous_products.py.\n#pragma once\n")
    print("""// Matrix descriptors of A and B: tiles of 128 bytes in a row at 0 and 32 KB.
struct Operands {
  unsigned long long a, b;
  __device__ Operands(const unsigned char* shared, int swizzle) {
    const unsigned long long kind = (unsigned long long)swizzle << 62 | 64ull << 32 | 64ull << 16;
    const unsigned at = (unsigned)__cvta_generic_to_shared(shared);
    a = kind | (at & 0x3ffff) >> 4;
    b = kind | ((at + 32768) & 0x3ffff) >> 4;
  }
};
""")
    for _, _, text in found:
        print(text)
    print("struct Product {\n  const char* name;\n  double operations;\n  void (*kernel)(int, double*);\n};\ninline const Product products[] = {")
    for name, operations, _ in found:
        print(f'    {{"{name}", {operations}.0, {name}}},')
    print("};")


if __name__ == "__main__":
    main()
