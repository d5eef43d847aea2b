#!/usr/bin/env python3
"""Compares what a program of this folder printed with what NVIDIA's code gave: compare.py PRINTED RECORDED.txt.xz

Numbers, uniform numbers, skips, discrete numbers and Poisson numbers must be equal bit for bit. Normal numbers rest on
logarithms, sines, exponentials and the inverse error function, which are not NVIDIA's to the last bit (nor is the H200's
__sinf: 2^-20.9): they must be close. Poisson numbers of middle means come from another method where a generator may draw
many numbers for one: their mean must be right.
"""
import lzma
import math
import struct
import sys

MIDDLE_MEAN = 80.0
OF_ONE_NUMBER = ("sobol", "mtgp32")  # normal numbers by the inverse of the distribution function, Poisson numbers by inversion


def of_one_number(name):
    return any(generator in name for generator in OF_ONE_NUMBER)


def number(bits, name):
    value = int(bits, 16)
    return struct.unpack("d", struct.pack("Q", value))[0] if name.endswith("double") else \
        struct.unpack("f", struct.pack("I", value))[0]


def close(x, y, name):
    """The greatest normal number of 32 bits is 6.7: what __sinf is off, times that; relative for an exponential."""
    if of_one_number(name):
        return abs(x - y) <= (1e-15 if name.endswith("double") else 5e-7) * abs(y)
    tolerance = 1e-13 if name.endswith("double") else 7e-6
    return abs(x - y) <= tolerance * (max(abs(y), 1.0) if "log_normal" in name else 1.0)


def kinds(name, count):
    """The name that decides how each number of a line is compared."""
    if name.endswith("_mix"):
        return ["normal", "bits", "normal_double", "uniform", "uniform_double"] * (count // 5)
    return [name] * count


def compare(name, ours, theirs):
    for kind, x, y in zip(kinds(name, len(ours)), ours, theirs):
        if "normal" in kind:
            if not close(number(x, kind), number(y, kind), kind):
                return False
        elif x != y:
            return False
    return len(ours) == len(theirs)


def main():
    with lzma.open(sys.argv[2], "rt") as f:
        expected = f.read().splitlines()
    with open(sys.argv[1], encoding="utf-8") as f:
        printed = f.read().splitlines()
    wrong, draws = 0, {}
    for ours, theirs in zip(printed, expected):
        case, numbers = ours.split(":")
        name = case.split()[0]
        if ("poisson_middle" in name or "poisson4" in name) and not of_one_number(name):
            draws.setdefault(name, []).extend(int(x, 16) for x in numbers.split())
        elif not ours.startswith(theirs.split(":")[0] + ":") or not compare(name, numbers.split(), theirs.split(":")[1].split()):
            wrong += 1
            if wrong <= 20:
                print(f"here: {ours}\nNVIDIA's: {theirs}")
    for name, values in draws.items():
        error = math.sqrt(MIDDLE_MEAN / len(values))
        if abs(sum(values) / len(values) - MIDDLE_MEAN) > 5 * error:
            wrong += 1
            print(f"{name}: mean {sum(values) / len(values)}, not {MIDDLE_MEAN}")
    if len(printed) < len(expected):  # NVIDIA's code loops for ever in the next: no sum of doubles reaches a u so near 1
        wrong += 1
        print(f"{len(printed)} lines, not {len(expected)}")
    print(f"{len(expected)} lines compared, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
