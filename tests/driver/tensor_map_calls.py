#!/usr/bin/env python3
"""Calls of the functions that make tensor maps (tensor_map_calls.h has the format): each rule of their manual just kept
and just broken, all combinations of type, swizzle and interleave, and random arguments with some faults.

  tensor_map_calls.py >tensor_map_calls.txt    then ../h200/tensor_maps.cpp on a machine with a GPU
"""
import random
import re

BYTES = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4]  # of an element; the three packed types follow
PACKED8, PACKED16, PACKED6 = 13, 14, 15
TYPES = range(16)
SEED = 29
RANDOM = 500


def text(function, **arguments):
    words = [function]
    for name, value in arguments.items():
        if isinstance(value, (list, tuple)):
            value = ",".join(map(str, value))
        words.append(f"{name.rstrip('_')}={value}")
    return " ".join(words)


def inner(kind, size):
    """Elements of `size` bytes in shared memory."""
    if kind in (PACKED16, PACKED6):
        return size
    return size * 2 if kind == PACKED8 else size // BYTES[kind]


def of_type(function, kind, size):
    """Arguments of a type whose box has about `size` bytes inside."""
    elements = 128 if kind in (PACKED16, PACKED6) else inner(kind, size)
    return {"type": kind, **({"box": [elements]} if function == "tiled" else {"channels": elements})}


def common(function):
    """Rules that all three functions share."""
    yield {}
    for place in ("null", 1, 4, 8, 16, 32, 64):
        yield {"map": place}
    for kind in (*TYPES, 16, 17, 255, -1):
        yield {"type": kind, **({} if kind not in TYPES else of_type(function, kind, 64))}
    for rank in (0, 1, 2, 3, 4, 5, 6, 7, 255, -1):
        yield {"rank": rank}
        for interleave in (1, 2):
            yield {"rank": rank, "interleave": interleave, "swizzle": interleave - 1 if function != "wide" else 3}
    for address in ("null", 0, 16, "d+1", "d+4", "d+8", "d+16", "d+32", "d+48", "d+64", "0x100000", "0x7fffffffff00",
                    "0x800000000000", "0x1000000000000", "0x100000000000000", "0x1ffffffffffff00",
                    "0x200000000000000", "0x8000000000000000", "0xffffffffffffff00", "0xfffffffffffffff0"):
        yield {"address": 0 if address == "null" else address}
    for address in ("d+8", "d+16", "d+32", "d+48"):
        for kind in (PACKED8, PACKED16, PACKED6):
            yield {**of_type(function, kind, 64), "address": address}
        for interleave in (1, 2):
            yield {"address": address, "interleave": interleave, "swizzle": 1}
    for name in ("sizes", "strides", "steps") + (("box",) if function == "tiled" else ()) + (
            ("lower", "upper") if function == "im2col" else ()):
        yield {name: "null"}
        if function == "tiled":
            yield {"rank": 1, name: "null"}
            yield {"rank": 2, name: "null"}
    for d in range(3):
        for size in (0, 1, 2, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**40, 2**63):
            sizes = [256, 64, 16, 8, 4]
            sizes[d] = size
            yield {"sizes": sizes}
    yield {"sizes": [2**32] * 5, "strides": [2**40 - 16] * 4, "rank": 5}
    yield {"sizes": [256, 64, 16, 0, 0], "strides": [4096, 262144, 1, 1]}  # beyond the rank
    yield {"sizes": [256, 64, 16, 8, 0], "rank": 5}
    for size in (1, 2, 3, 62, 63, 64, 96, 126, 127, 128, 129, 130, 192, 256, 384):
        for kind in (PACKED8, PACKED16, PACKED6):
            yield {**of_type(function, kind, 64), "sizes": [size]}
    for d in range(2):
        for stride in (0, 1, 4, 8, 15, 16, 17, 24, 32, 48, 64, 2**31, 2**32, 2**36, 2**39, 2**40 - 32, 2**40 - 16,
                       2**40 - 1, 2**40, 2**40 + 16, 2**41, 2**63, 2**64 - 16):
            strides = [4096, 262144]
            strides[d] = stride if stride < 2**63 else stride - 2**64
            yield {"strides": strides}
        for stride in (16, 24, 32, 48, 64):
            strides = [4096, 262144]
            strides[d] = stride
            for kind in (PACKED8, PACKED16, PACKED6):
                yield {**of_type(function, kind, 64), "strides": strides}
            for interleave in (1, 2):
                yield {"strides": strides, "interleave": interleave, "swizzle": 1}
    yield {"strides": [4096, 2048]}
    yield {"strides": [1024, 1024]}
    yield {"strides": [1008, 262144]}
    yield {"strides": [1024, 1024 * 63]}
    for d in range(3):
        for step in (0, 1, 2, 7, 8, 9, 16, 255, 256, -1):
            steps = [1] * 5
            steps[d] = step
            yield {"steps": steps}
            if step in (0, 8, 9):
                yield {"steps": steps, "interleave": 1, "swizzle": 1}
    yield {"steps": [1, 1, 1, 0, 9]}
    for name, last in (("interleave", 2), ("swizzle", 6), ("promotion", 3), ("fill", 1)):
        for value in (*range(last + 2), -1):
            yield {name: value}
    if function == "wide":
        yield {"mode": 1}
        yield {"mode": 2}
        yield {"mode": -1}
        for pixels in (0, 1025):
            yield {"mode": 1, "pixels": pixels}
    for kind in TYPES:
        yield {**of_type(function, kind, 64), "fill": 1}
    for kind in TYPES:
        for interleave in range(3):
            for swizzle in range(7):
                yield {**of_type(function, kind, 32), "interleave": interleave, "swizzle": swizzle}
    for kind, sizes in ((0, (1, 8, 16, 24, 32, 48, 64, 80, 96, 128, 144, 256, 272)), (8, (8, 32, 64, 128, 256, 1024)),
                        (7, (4, 12, 16, 32, 48, 64, 128, 144, 512, 1024)), (6, (2, 16, 32, 64, 128, 256, 512))):
        for size in sizes:
            for interleave in range(3):
                for swizzle in ((0, 1, 2, 3, 4, 5, 6) if kind == 0 else (1, 3)):
                    yield {**of_type(function, kind, size), "interleave": interleave, "swizzle": swizzle}
    for kind in (PACKED8, PACKED16, PACKED6):
        for elements in (16, 32, 48, 64, 96, 112, 127, 128, 129, 160, 192, 256):
            for swizzle in (0, 3):
                box = {"box": [elements]} if function == "tiled" else {"channels": elements}
                yield {"type": kind, **box, "swizzle": swizzle}


def tiled():
    for d in range(3):
        for extent in (0, 1, 2, 3, 4, 64, 128, 255, 256, 257, 258, 260, 512, -1):
            box = [32, 8, 4, 2, 2]
            box[d] = extent
            yield {"box": box}
    yield {"box": [32, 8, 4, 0, 300]}
    for rank in (3, 4, 5):
        yield {"rank": rank, "box": [256] * 5}
        yield {"rank": rank, "box": [256] * 5, "type": 8}
    yield {"rank": 1, "box": [256], "type": 8}
    yield {"box": [256, 257]}
    yield {"box": [64, 64, 64]}
    yield {"box": [32, 8, 64], "sizes": [16, 4, 2]}  # larger than the tensor
    for step in (2, 3, 8):
        for extent in (1, 2, 7, 8, 16, 256):
            yield {"box": [32, extent], "steps": [1, step]}
    for step in (2, 4, 8):
        for interleave in (0, 1):
            yield {"box": [16], "steps": [step], "interleave": interleave}


def corners(rank, values, sizes=None):
    count = rank - 2
    for d in range(count):
        for value in values:
            corner = [0] * count
            corner[d] = value
            for name in ("lower", "upper"):
                yield {"rank": rank, **({"sizes": sizes} if sizes else {}), name: corner}


def im2col():
    for extent in (0, 1, 3, 4, 32, 64, 255, 256, 257, 512, -1):
        yield {"channels": extent}
    for extent in (0, 1, 2, 31, 256, 512, 1023, 1024, 1025, 2048, -1):
        yield {"pixels": extent}
    yield from corners(3, (-32769, -32768, -32767, -1, 1, 32766, 32767, 32768), [256, 65536, 16])
    yield from corners(3, (-65, -64, -63, 62, 63, 64, 65))
    yield from corners(4, (-129, -128, -127, 1, 126, 127, 128), [256, 512, 512, 16])
    yield from corners(5, (-17, -16, -15, 1, 14, 15, 16), [256, 64, 64, 64, 16])
    for lower in (-3, 0, 3):
        for total in (-1, 0, 1, 2, 15, 16, 17, 18):
            # The box has size + upper - lower elements.
            yield {"sizes": [256, 16], "lower": [lower], "upper": [total - 16 + lower]}
            yield {"sizes": [256, 16, 16], "rank": 4, "lower": [0, lower], "upper": [0, total - 16 + lower]}
            yield {"sizes": [256, 16, 16], "rank": 4, "lower": [lower, 0], "upper": [total - 16 + lower, 0]}
    yield {"lower": [1, 1000, -1000]}  # beyond the rank
    yield {"lower": [2], "upper": [1]}
    yield {"lower": [1], "upper": [1]}
    yield {"lower": [1], "upper": [2]}
    for steps in ([1, 2, 1], [1, 1, 2], [1, 8, 8]):
        yield {"steps": steps, "pixels": 64}
        yield {"steps": steps, "lower": [-1], "upper": [-1]}


def wide():
    for extent in (0, 1, 3, 4, 16, 32, 64, 256, 257, -1):
        yield {"channels": extent}
    for extent in (0, 1, 31, 128, 1023, 1024, 1025, -1):
        yield {"pixels": extent}
    for value in (-32769, -32768, -32767, -65, -64, -63, -1, 1, 63, 64, 32766, 32767, 32768):
        for name in ("lower", "upper"):
            yield {name: value}
            yield {name: value, "sizes": [256, 65536, 16]}
    for rank in (3, 4, 5):
        yield {"rank": rank, "lower": -1, "upper": 1}
    for total in (-1, 0, 1, 2):
        yield {"sizes": [256, 16], "lower": 0, "upper": total - 16}


def replace():
    for of in ("tiled", "im2col", "zeros", "ones"):
        for place in ("null", 0, 8, 16, 32, 64):
            yield {"of": of, "map": place}
        for address in (0, "d+8", "d+16", "d+32", "0x7fffffffff00", "0x1000000000000", "0x200000000000000",
                        "0xffffffffffffff00"):
            yield {"of": of, "address": address}
    for address in ("d+1", "d+4", "d+8", "d+16", "d+32", "d+48", "d+64"):
        for interleave in (0, 1, 2):
            yield {"address": address, "interleave": interleave, "swizzle": 1, "box": [8]}
        for kind in (PACKED8, PACKED16, PACKED6):
            yield {"address": address, **of_type("tiled", kind, 64)}
    yield {"of": "tiled", "rank": 0}  # a map that could not be made: the bytes are zeros


def drawn(rng, function):
    """Random arguments, most of them legal; up to two are drawn from all."""
    rank = rng.choice([1, 2, 3, 4, 5] if function == "tiled" else [3, 4, 5])
    kind = rng.randrange(13) if rng.random() < 0.85 else rng.randrange(13, 16)
    interleave = rng.choice([0, 0, 0, 1, 2]) if rank >= 3 else 0
    swizzle = 1 if interleave == 2 else rng.randrange(4 if rng.random() < 0.8 else 7)
    if function == "wide":
        swizzle = rng.choice([2, 3, 4])
    span = [rng.choice([16, 32, 64, 128, 256]), 32, 64, 128, 128, 128, 128][swizzle]
    elements = 128 if kind in (PACKED16, PACKED6) else max(1, inner(kind, span) // rng.choice([1, 1, 2]))
    out = {"type": kind, "rank": rank, "interleave": interleave, "swizzle": swizzle}
    out["sizes"] = [rng.choice([128, 256, 384, 4096])] + [rng.choice([1, 3, 64, 1000]) for _ in range(rank - 1)]
    out["strides"] = [rng.choice([32, 64, 4096, 2**20]) * rng.randrange(1, 9) for _ in range(rank - 1)] or [16]
    out["address"] = f"d+{rng.choice([0, 32, 64, 128, 4096])}"
    out["steps"] = [rng.choice([1, 1, 1, 2, 8]) for _ in range(rank)]
    out["promotion"], out["fill"] = rng.randrange(4), int(6 <= kind <= 12 and rng.random() < 0.3)
    if function == "tiled":
        out["box"] = [min(elements, 256)] + [rng.choice([1, 2, 8, 64, 256]) for _ in range(rank - 1)]
    else:
        out["channels"], out["pixels"] = min(elements, 256), rng.choice([1, 64, 256, 1024])
    if function == "im2col":
        reach = [0, 1, 2]
        out["lower"] = [-rng.choice(reach) for _ in range(rank - 2)]
        out["upper"] = [rng.choice(reach) for _ in range(rank - 2)]
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        fault = rng.choice([n for n in out if n not in ("lower", "upper")])
        if fault == "address":
            out["address"] = f"d+{rng.choice([8, 16, 48, 4])}"
        elif isinstance(out[fault], list):
            i = rng.randrange(len(out[fault]))
            out[fault][i] = rng.choice([0, 1, 9, 16, 48, 100, 257, 2**32, 2**40])
            if fault in ("box", "steps"):
                out[fault][i] %= 2**32
        elif fault == "type":
            out[fault] = rng.randrange(17)
        else:
            out[fault] = rng.choice([0, 1, 2, 3, 4, 5, 6, 7, 100, 257, 1025])
    return out


def rows_of(size):
    """A box of four dimensions, 16 bytes wide, that has `size` bytes."""
    rows = size // 16
    for b in range(256, 0, -1):
        for c in range(256, 0, -1):
            if rows % (b * c) == 0 and rows // (b * c) <= 256:
                return [16, b, c, rows // (b * c)]
    return None


def limits():
    """How large a box may be, and where 32 bits end."""
    strides = [4096, 1048576, 16777216]
    for size in (196624, 200704, 204800, 212992, 221184, 229376, 231424, 232432, 232448, 232464, 232960, 233456, 233472,
                 233488, 237568, 245760, 253952, 260096, 261120):
        if rows_of(size):
            yield text("tiled", type=0, rank=4, strides=strides, box=rows_of(size))
    for size in range(221184, 262145, 1024):
        if rows_of(size):
            yield text("tiled", type=0, rank=4, strides=strides, box=rows_of(size), steps=[1, 1, 1, 1])
    for last in (6, 7, 8, 9, 14, 15, 16, 17):
        for step in (1, 2, 4):
            yield text("tiled", type=0, box=[128, 256, last], steps=[1, 1, step])
    for extra in ({}, {"interleave": 1, "swizzle": 3}):
        for step in (1, 2, 3, 4, 8):
            yield text("tiled", type=0, box=[128, 256, 8], steps=[step, 1, 1], **extra)
    for extent in (2, 4, 7, 8):
        yield text("tiled", type=0, box=[128, 256, extent], steps=[1, 1, 8], rank=3)
        yield text("tiled", type=0, rank=4, box=[128, 256, extent, 256], steps=[1, 1, 8, 1])
        yield text("tiled", type=0, rank=5, box=[128, 256, 256, 256, extent], steps=[1, 1, 1, 1, 8])
    for box in ([8, 8, 8], [8, 256, 256]):
        yield text("tiled", type=7, box=box, steps=[8, 8, 8])
    for function in ("im2col", "wide"):
        for channels, pixels in (*((256, n) for n in (*range(904, 914), 920, 928, 960, *range(1020, 1025))),
                                 *((n, 1024) for n in (240, 224, 208))):
            yield text(function, type=0, channels=channels, pixels=pixels, swizzle=0)
        for steps in ([2, 1, 1], [1, 2, 1], [1, 1, 2], [1, 2, 2], [1, 8, 8], [8, 8, 8]):
            for pixels in (1024, 912):
                yield text(function, type=0, channels=256, pixels=pixels, swizzle=0, steps=steps)
        for size in (2**31 - 70000, 2**31 - 32769, 2**31 - 2, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 32768, 2**32 - 1, 2**32):
            for lower, upper in ((0, 0), (-1, 0), (0, 1), (1, 0), (0, -1), (-32768, 32767), (32767, -32768)):
                yield text(function, sizes=[256, size, 16], lower=lower, upper=upper)
        for size in (2**31 - 1, 2**31, 2**32):
            yield text(function, sizes=[size, 64, 16])
            yield text(function, sizes=[256, 64, size])
    for mode in (0, 1):
        for pixels in (1, 64, 128, 129, 256, 512, 904, 912, 1024, 1025):
            yield text("wide", type=0, channels=256, swizzle=0, mode=mode, pixels=pixels)
        for swizzle in range(7):
            yield text("wide", type=0, channels=32, mode=mode, swizzle=swizzle)
    for rank in (4, 5):
        for size in (2**31 - 1, 2**31, 2**32):
            for function in ("im2col", "wide"):
                yield text(function, rank=rank, sizes=[256, 64, size, 8, 8])
    for address in ("0x1fffffffffffff0", "0x1fffffffffffff8", "0x200000000000000", "0x1ffffffffffffe0"):
        yield text("tiled", address=address)
        yield text("tiled", address=address, interleave=2, swizzle=1)
        for function in ("im2col", "wide", "replace"):
            yield text(function, address=address)


def reads_beyond(line):
    """Whether the driver reads so far beyond the arrays that its answer depends on what is there."""
    rank = re.search(r" rank=(\d+)", line)
    return rank is not None and int(rank[1]) > 7


def main():
    few = [text(f, **a) for f in ("tiled", "im2col", "wide") for a in ({}, {"map": "null"}, {"rank": 0}, {"type": 99})]
    few += ["replace of=zeros", "replace of=zeros map=null", "replace of=zeros address=d+8", "replace of=zeros map=8"]
    rng = random.Random(SEED)
    calls = []
    for function, own, count in (("tiled", tiled, RANDOM), ("im2col", im2col, RANDOM), ("wide", wide, RANDOM // 5)):
        calls += [text(function, **a) for a in (*common(function), *own())]
        calls += [text(function, **drawn(rng, function)) for _ in range(count)]
    calls += [text("replace", **a) for a in replace()]
    calls += limits()
    for state, lines in (("before_init", few), ("no_context", few), ("context", calls), ("destroyed_context", few)):
        print(f"@{state}")
        for line in dict.fromkeys(lines):
            if not reads_beyond(line):
                print(line)


if __name__ == "__main__":
    main()
