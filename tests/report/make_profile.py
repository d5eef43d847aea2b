#!/usr/bin/env python3
"""Writes profiles/patterns.json and patterns_c1060.json: a profile with one instruction for each shape of access, costs computed here from the definitions
(sectors of 32 bytes, banks of 4 bytes), not by warpgrind.

  make_profile.py [--gpu NAME] > FILE
"""
import json
import sys

LANES = range(32)


def sectors(addresses, width, unit=32):
    return sorted({b // unit for a in addresses if a is not None for b in range(a, a + width)})


def wavefronts(addresses, width, banks_together=32):
    group = banks_together * 4 // max(4, width)
    total = 0
    for first in range(0, 32, group):
        banks = {}
        for a in addresses[first:first + group]:
            if a is not None:
                for w in range(a // 4, (a + width + 3) // 4):
                    banks.setdefault(w % banks_together, set()).add(w)
        total += max((len(w) for w in banks.values()), default=0)
    return total


def segments(addresses, width):
    """Compute capability 1.2 and 1.3: segments of each half-warp, shrunk to the part in use."""
    size = {1: 32, 2: 64}.get(width, 128)
    out = []
    for half in (addresses[:16], addresses[16:]):
        touched = [b for a in half if a is not None for b in (a, a + width - 1)]
        for s in sorted({b // size for b in touched}):
            low, high = min(b for b in touched if b // size == s), max(b for b in touched if b // size == s)
            begin, bytes_ = s * size, size
            while bytes_ > 32 and (high < begin + bytes_ // 2 or low >= begin + bytes_ // 2):
                bytes_ //= 2
                begin += bytes_ if low >= begin + bytes_ else 0
            out.append((begin, bytes_))
    return out


def pattern(space, addresses, width, count, block=(0, 0, 0), warp=0, old=False):
    on = [a for a in addresses if a is not None]
    base = min(on)
    mask = sum(1 << i for i, a in enumerate(addresses) if a is not None)
    packed = len(on) * width
    touched = sectors(addresses, width)
    p = {"count": count, "mask": f"0x{mask:08x}", "lane_bytes": width, "space": space,
         "addresses": [None if a is None else a - base for a in addresses],
         "base": {"allocation": 0 if space == "global" else None, "offset": base}, "alignment": base % 256,
         "sectors": 0, "lines_128": 0, "wavefronts": 0, "ideal_sectors": 0, "ideal_wavefronts": 0, "transactions": [],
         "block": list(block), "warp": warp}
    if space == "shared":
        p["wavefronts"] = wavefronts(addresses, width, 16 if old else 32)
        p["ideal_wavefronts"] = min(p["wavefronts"], -(-packed // (64 if old else 128)))
    else:
        p["sectors"] = len(touched)
        p["lines_128"] = len(sectors(addresses, width, 128))
        p["ideal_sectors"] = min(len(touched), (packed + 31) // 32)
        moved = segments(addresses, width) if old else [(32 * s, 32) for s in touched]
        p["transactions"] = [{"address_offset": at - base, "bytes": size} for at, size in moved]
    return p


def site(number, kind, space, line, ptx, patterns, other=0):
    requests = sum(p["count"] for p in patterns) + other
    total = {k: sum(p[k] * p["count"] for p in patterns) for k in ("sectors", "wavefronts", "ideal_sectors",
                                                                   "ideal_wavefronts")}
    metrics = {"inst_executed": requests, "thread_inst_executed_true": sum(bin(int(p["mask"], 16)).count("1") * p["count"]
                                                                            for p in patterns)}
    if space == "shared":
        metrics["memory_l1_wavefronts_shared"] = total["wavefronts"]
        metrics["memory_l1_wavefronts_shared_ideal"] = total["ideal_wavefronts"]
    else:
        metrics["warpgrind__sectors.sum"] = metrics["memory_l2_theoretical_sectors_global"] = total["sectors"]
        metrics["memory_l2_theoretical_sectors_global_ideal"] = total["ideal_sectors"]
        metrics["derived__memory_l2_theoretical_sectors_global_excessive"] = total["sectors"] - total["ideal_sectors"]
    cost = [p["sectors"] + p["wavefronts"] for p in patterns]
    return {"id": number, "kind": kind, "space": space, "function": "shapes", "ptx": ptx, "file": "shapes.cu", "line": line,
            "ptx_line": 100 + number, "metrics": {k: {"value": v, "unit": "", "origin": "exact"} for k, v in metrics.items()},
            "patterns": patterns, "patterns_other": other, "worst": cost.index(max(cost)), "best": cost.index(min(cost))}


def main():
    gpu = sys.argv[2] if len(sys.argv) == 3 and sys.argv[1] == "--gpu" else "NVIDIA H200"
    old = gpu != "NVIDIA H200"
    shapes = [
        ("side by side", "global", [4 * i for i in LANES], 4),
        ("one element later", "global", [4 + 4 * i for i in LANES], 4),
        ("stride 2", "global", [8 * i for i in LANES], 4),
        ("a column", "global", [4096 * i for i in LANES], 4),
        ("one address", "global", [64 for _ in LANES], 4),
        ("two rows of 16", "global", [4 * (i % 16) + 1024 * (i // 16) for i in LANES], 4),
        ("doubles", "global", [8 * i for i in LANES], 8),
        ("float4", "global", [16 * i for i in LANES], 16),
        ("bytes", "global", [i for i in LANES], 1),
        ("every other lane", "global", [4 * i if i % 2 == 0 else None for i in LANES], 4),
        ("scattered", "global", [4 * (37 * i * i % 128) for i in LANES], 4),
        ("banks side by side", "shared", [4 * i for i in LANES], 4),
        ("a column of banks", "shared", [128 * i for i in LANES], 4),
        ("a padded column", "shared", [132 * i for i in LANES], 4),
        ("banks, stride 2", "shared", [8 * i for i in LANES], 4),
        ("one word", "shared", [12 for _ in LANES], 4),
        ("doubles in banks", "shared", [8 * i for i in LANES], 8),
    ]
    text, sites = "__global__ void shapes(float* a) {\n", []
    for i, (name, space, addresses, width) in enumerate(shapes):
        text += f"  {'use' if space == 'shared' else 'load'}({i});  // {name}\n"
        sites.append(site(i, "load", space, i + 2, f"ld.{space}.b{8 * width} %r{i}, [%rd{i}];",
                          [pattern(space, addresses, width, 512, (i, 0, 0), i % 4, old)]))
    mixed = [pattern("global", [4 * i for i in LANES], 4, 900), pattern("global", [4 * i + 4 for i in LANES], 4, 90, (1, 0, 0)),
             pattern("global", [512 * i for i in LANES], 4, 9, (2, 0, 0), 1)]
    text += "  store(mixed);\n}\n"
    for i in range(2):  # twice the same instruction: an unrolled loop
        sites.append(site(len(sites), "store", "global", len(shapes) + 2, f"st.global.f32 [%rd{i}], %f1;", mixed, 1))
    kernel = {"name": "shapes(float*)", "mangled_name": "_Z6shapesPf", "launches": 1, "first_id": 0, "device": 0,
              "grid": [32, 1, 1], "block": [128, 1, 1], "shapes_differ": False, "metrics": {}, "sites": sites}
    json.dump({"format": 1, "program": "shapes", "gpu": gpu, "command": "shapes", "detail": True, "not_modelled": [],
               "kernels": [kernel], "launches": [], "transfers": [], "findings": [],
               "sources": [{"file": "shapes.cu", "text": text}]}, sys.stdout, indent=None)
    print()


if __name__ == "__main__":
    main()
