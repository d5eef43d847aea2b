#!/usr/bin/env python3
"""Writes mix.cu: loops of instructions of several kinds in a random order, whose operands are random registers.

    tests/h200/mix.py > mix.cu && nvcc -O3 -arch=sm_90 mix.cu && ncu --metrics ... ./a.out

lab/results/h200/mix.csv has what an H200 takes. A case is a word: each letter is a kind of instruction (KINDS), and the
96 instructions of a round are these letters over and over, shuffled. 8 warps of a scheduler run 200 rounds each.
"""
import random

# letter: instruction, type of the result, types of the sources (f: 32-bit float, r: 32-bit, q: 64-bit, d: 64-bit float)
KINDS = {
    "F": ("fma.rn.f32 {d},{a},{b},{c};", "f", "fff"), "A": ("add.f32 {d},{a},{b};", "f", "ff"),
    "M": ("mul.f32 {d},{a},{b};", "f", "ff"), "I": ("mad.lo.u32 {d},{a},{b},{c};", "r", "rrr"),
    "L": ("lop3.b32 {d},{a},{b},{c},0x96;", "r", "rrr"), "K": ("xor.b32 {d},{a},{b};", "r", "rr"),
    "S": ("shf.l.wrap.b32 {d},{a},{b},{c};", "r", "rrr"), "N": ("min.u32 {d},{a},{b};", "r", "rr"),
    "W": ("mad.wide.u32 {d},{a},{b},{c};", "q", "rrq"), "P": ("add.u32 {d},{a},{b};", "r", "rr"),
    "X": ("ex2.approx.ftz.f32 {d},{a};", "f", "f"), "C": ("cvt.rn.f32.u32 {d},{a};", "f", "r"),
    "T": ("cvt.rzi.u32.f32 {d},{a};", "r", "f"), "D": ("fma.rn.f64 {d},{a},{b},{c};", "d", "ddd"),
    "E": ("add.f64 {d},{a},{b};", "d", "dd"),
    "B": ("{{.reg .pred p; setp.lt.u32 p,{a},{b}; selp.b32 {d},{a},{c},p;}}", "r", "rrr"),
    "G": ("{{.reg .pred p; setp.lt.f32 p,{a},{b}; selp.f32 {d},{a},{c},p;}}", "f", "fff"),
    "H": ("mul.hi.u32 {d},{a},{b};", "r", "rr"), "Q": ("add.u64 {d},{a},{b};", "q", "qq"),
}
REGISTERS = {"f": 12, "r": 12, "q": 6, "d": 6}
CASES = """F A M I L K S N W P X C T D E B G H Q FL FI LI FX LX FD LD ID FW LW FC FA MA FFL FLL FFI FII FLI FFLI FLLI FLLLI
FFFLI FFFFLLI FFFFFFLX LLLLLLLX FLLIX FFLLIIXC FDD FFD LLD DE FFFGB FLPS FIPK PKSN LPWQ FAMLPIKB FFAAMMLLPPKKIIBBXC
DDEEFFLLPPII FLIPWKSBXCA FFFFFFFI FFFFFFFL LLLI LIII FFIL PPPF BBF GGF""".split()
BEGIN = {
    "r": "add.u32 Mr{k}, %1, {k};", "f": "{{.reg .b32 t; add.u32 t, %1, {k}; cvt.rn.f32.u32 Mf{k}, t;}}",
    "q": "{{.reg .b32 t; add.u32 t, %1, {k}; cvt.u64.u32 Mq{k}, t;}}",
    "d": "{{.reg .b32 t; add.u32 t, %1, {k}; cvt.rn.f64.u32 Md{k}, t;}}",
}
END = {
    "r": "xor.b32 s, s, Mr{k};", "f": "{{.reg .b32 t; mov.b32 t, Mf{k}; xor.b32 s, s, t;}}",
    "q": "{{.reg .b32 t; cvt.u32.u64 t, Mq{k}; xor.b32 s, s, t;}}",
    "d": "{{.reg .b32 t, u; mov.b64 {{t, u}}, Md{k}; xor.b32 s, s, t; xor.b32 s, s, u;}}",
}


def body(case, chance):
    kinds = [case[i % len(case)] for i in range(96)]
    chance.shuffle(kinds)
    written = dict.fromkeys(REGISTERS, 0)
    for kind in kinds:
        text, to, sources = KINDS[kind]
        result = f"M{to}{written[to] % REGISTERS[to]}"
        written[to] += 1
        operands = []
        for type_ in sources:
            free = [r for r in (f"M{type_}{k}" for k in range(REGISTERS[type_])) if r != result and r not in operands]
            operands.append(chance.choice(free))
        yield text.format(d=result, **dict(zip("abc", operands)))


def lines(case, seed):
    types = [t for t in REGISTERS if any(t in KINDS[kind][1] + KINDS[kind][2] for kind in case)]
    yield ".reg .f32 Mf<16>; .reg .b32 Mr<16>; .reg .b64 Mq<8>; .reg .f64 Md<8>; .reg .b32 n, s; .reg .pred more;"
    yield from (BEGIN[t].format(k=k) for t in types for k in range(REGISTERS[t]))
    yield "mov.u32 n, %2;"
    yield "round%=:"
    yield from body(case, random.Random(seed))
    yield "sub.u32 n, n, 1; setp.ne.u32 more, n, 0; @more bra round%=; mov.u32 s, 0;"
    yield from (END[t].format(k=k) for t in types for k in range(REGISTERS[t]))
    yield "mov.u32 %0, s;"


def main():
    print("#include <cuda_runtime.h>")
    for seed, case in enumerate(CASES):
        print(f"__global__ void __launch_bounds__(256) k_{case}(unsigned* out, unsigned seed, int rounds) {{\n  asm volatile(\"{{\\n\"")
        for line in lines(case, 7 + seed):
            print(f'    "{line}\\n"')
        print('    "}" : "=r"(out[blockIdx.x * blockDim.x + threadIdx.x]) : "r"(seed + threadIdx.x), "r"(rounds));\n}')
    print("int main() {\n  unsigned* out;\n  if (cudaMalloc(&out, 4 << 20) != cudaSuccess) return 1;")
    for case in CASES:
        print(f"  k_{case}<<<528, 256>>>(out, 1, 200);")
    print("  return cudaDeviceSynchronize() != cudaSuccess;\n}")


if __name__ == "__main__":
    main()
