#!/usr/bin/env python3
"""Generator of include/warpgrind/curand/jumps.inc: tables by which curand_init and skipahead jump far ahead in a sequence.

  curand_jumps.py            writes it
  curand_jumps.py --check    compares it with the output of this program (exit code)

The table is in git, although this program makes it in 0.2 s. include/ is one folder for all: BUILD/toolkit/include is a link to it, clang and
NVRTC get it alone, `src/api/libraries/rand` compiles with it, and the installation copies it. A file made by the build would need a second
folder in each of these, and their order of building. The test curand.jumps compares both. mtgp32_11213.inc beside it is not generated:
its numbers come from other authors, with their licence.

XORWOW (Marsaglia 2003) is linear over GF(2), but for a Weyl sequence: n steps are the polynomial x^n modulo the characteristic
polynomial of one step, applied to the step (Haramoto et al. 2008, "Efficient jump ahead for F2-linear random number generators").
There is one polynomial for each digit of n in base 16, and one for each digit of a sequence number: sequences are 2^67 apart.
MRG32k3a (L'Ecuyer 1999) is linear modulo two primes: n steps are the n-th powers of two matrices. There is one pair for each
power of two; subsequences are 2^76 apart, sequences 2^127.
"""
import pathlib
import sys

OUT = pathlib.Path(__file__).resolve().parent.parent / "include/warpgrind/curand/jumps.inc"
M1, M2 = 4294967087, 4294944443
A1 = [[0, 1, 0], [0, 0, 1], [M1 - 810728, 1403580, 0]]
A2 = [[0, 1, 0], [0, 0, 1], [M2 - 1370589, 0, 527612]]


def xorwow_bits(count):
    v, bits = [1, 0, 0, 0, 0], []
    for _ in range(count):
        t = v[0] ^ v[0] >> 2
        v = v[1:] + [(v[4] ^ v[4] << 4 ^ t ^ t << 1) & 0xffffffff]
        bits.append(v[4] & 1)
    return bits


def characteristic_polynomial(bits):
    """Berlekamp-Massey algorithm: the shortest recurrence of the bits, as the polynomial whose coefficient i is bit i."""
    c, b, length, shift = 1, 1, 0, 1
    for n, bit in enumerate(bits):
        discrepancy = bit
        for i in range(1, length + 1):
            discrepancy ^= c >> i & bits[n - i]
        if not discrepancy & 1:
            shift += 1
            continue
        c, old = c ^ b << shift, c
        if 2 * length <= n:
            length, b, shift = n + 1 - length, old, 1
        else:
            shift += 1
    return int(format(c, f"0{length + 1}b")[::-1], 2)


def product(a, b, modulus):
    degree = modulus.bit_length() - 1
    result = 0
    for i in reversed(range(b.bit_length())):
        result <<= 1
        if result >> degree & 1:
            result ^= modulus
        if b >> i & 1:
            result ^= a
    return result


def xorwow_jumps(first):
    """x^(digit 16^place 2^first) for each place and each digit from 1 to 15."""
    modulus = characteristic_polynomial(xorwow_bits(400))
    assert modulus.bit_length() == 161
    base = 2
    for _ in range(first):
        base = product(base, base, modulus)
    rows = []
    for _ in range(16):
        power = base
        for _ in range(15):
            rows.append(power)
            power = product(power, base, modulus)
        base = power
    return rows


def matrix_product(a, b, m):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) % m for j in range(3)] for i in range(3)]


def mrg_jumps():
    a1, a2 = A1, A2
    for _ in range(191):
        yield [x for row in a1 for x in row] + [x for row in a2 for x in row]
        a1, a2 = matrix_product(a1, a1, M1), matrix_product(a2, a2, M2)


def words(values):
    return ", ".join(f"0x{x:x}u" for x in values)


def text():
    lines = ["// Written by scripts/curand_jumps.py, which says what it is.", "#pragma once", ""]
    for name, first in (("offset", 0), ("sequence", 67)):
        lines.append(f"static __device__ const unsigned wg_xorwow_{name}_jumps[16 * 15][5] = {{")
        lines += ["    {" + words(row >> 32 * i & 0xffffffff for i in range(5)) + "}," for row in xorwow_jumps(first)]
        lines += ["};", ""]
    lines.append("static __device__ const unsigned wg_mrg32k3a_jumps[191][18] = {")
    lines += ["    {" + words(row) + "}," for row in mrg_jumps()]
    lines += ["};", ""]
    return "\n".join(lines)


def main():
    if "--check" in sys.argv:
        sys.exit(0 if OUT.read_text(encoding="utf-8") == text() else f"{OUT} is not what scripts/curand_jumps.py writes")
    OUT.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
