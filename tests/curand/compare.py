#!/usr/bin/env python3
"""Compares what curand_device printed with what an H200 printed (h200.txt.xz): compare.py PRINTED

Numbers, uniform numbers, skips and Poisson numbers of small and large means must be equal bit for bit. Normal numbers rest on
logarithms, sines and exponentials, which are not NVIDIA's to the last bit (nor is the H200's __sinf: 2^-20.9): they must be
close. Poisson numbers of middle means come from another method, and those of quasi-random numbers near 1 too: their mean must
be right.
"""
import lzma
import math
import pathlib
import struct
import sys

MEANS = {"small": 3.5, "middle": 80.0, "large": 5000.0}


def number(bits, name):
    value = int(bits, 16)
    return struct.unpack("d", struct.pack("Q", value))[0] if name.endswith("double") else \
        struct.unpack("f", struct.pack("I", value))[0]


def close(x, y, name):
    """The greatest normal number of 32 bits is 6.7: what __sinf is off, times that; relative for an exponential."""
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
    here = pathlib.Path(__file__).resolve().parent
    with lzma.open(here / "h200.txt.xz", "rt") as f:
        expected = f.read().splitlines()
    with open(sys.argv[1], encoding="utf-8") as f:
        printed = f.read().splitlines()
    wrong, draws = 0, {}
    for ours, theirs in zip(printed, expected):
        case, numbers = ours.split(":")
        name = case.split()[0]
        by_mean = "poisson_middle" in name or "poisson4" in name or ("poisson" in name and "sobol" in name)
        if by_mean:
            draws.setdefault(name, []).extend(int(x, 16) for x in numbers.split())
        elif not ours.startswith(theirs.split(":")[0] + ":") or not compare(name, numbers.split(), theirs.split(":")[1].split()):
            wrong += 1
            if wrong <= 20:
                print(f"here: {ours}\nH200: {theirs}")
    for name, values in draws.items():
        mean = MEANS.get(name.rsplit("_", 1)[1], 80.0)
        error = 5 * math.sqrt(mean / len(values))
        # the sequences of a case share their first points, and start at the same few places: quasi-random means are looser
        if abs(sum(values) / len(values) - mean) > (6 if "sobol" in name else 1) * error:
            wrong += 1
            print(f"{name}: mean {sum(values) / len(values)}, not {mean}")
    if len(printed) < len(expected):
        wrong += 1
        print(f"{len(printed)} lines, not {len(expected)}")
    print(f"{len(expected)} lines compared, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
