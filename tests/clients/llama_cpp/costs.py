#!/usr/bin/env python3
"""What llama.cpp's kernels cost on a virtual GPU: share of the time of each kernel, and memory requests of a product with one vector.

  costs.py WARPGRIND WORK [--gpu h200] [--width 1024] [--json FILE] [--svg FILE]

WORK: as for compare.py. Two runs of a Q4_K model: a prompt of 128 tokens, and 8 tokens one by one. A third run multiplies the matrices
of each type with one vector. The times are estimates, requests and sectors are exact. Exit code 77: the packages are missing."""
import argparse
import collections
import json
import pathlib
import random
import re
import sys
import tempfile

import compare
import gguf

TIME = "gpu__time_duration.sum"
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
FLOATS = {"float": "F32", "__half": "F16", "__nv_bfloat16": "BF16"}
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999933", "#bbbbbb")
SHOWN = 7  # kernels that get a colour of their own; the others are one more


def family(name):
    """mul_mat_q of "void mul_mat_q<(ggml_type)2, 16, true>(char const*, ...)"."""
    return re.match(r"(?:void )?([\w:]+)", name)[1]


def kernels_of(under, plan, modules, folder):
    """The kernels of a run, as the profile has them."""
    profile = folder / "costs.json"
    for old in folder.glob("costs*.json"):
        old.unlink()
    compare.evaluate([*under, "--json", str(profile)], "cuda", plan, modules, folder)
    return [kernel for file in folder.glob("costs*.json") for kernel in json.loads(file.read_text()).get("kernels", [])]


def value(kernel, metric):
    return kernel["metrics"][metric]["value"]


def shares(kernels):
    """[(family, share of the time, launches, ns)], the largest first."""
    time, launches = collections.Counter(), collections.Counter()
    for kernel in kernels:
        time[family(kernel["name"])] += value(kernel, TIME)
        launches[family(kernel["name"])] += kernel["launches"]
    return [dict(kernel=name, share=ns / time.total(), launches=launches[name], ns=ns) for name, ns in time.most_common()]


def type_of(name):
    """Type of the matrix in a product with one vector; None: another kernel."""
    quantised = re.search(r"mul_mat_vec_q<\(ggml_type\)(\d+), 1,", name)
    if quantised:
        return next(kind for kind, (number, *_) in gguf.TYPES.items() if number == int(quantised[1]))
    plain = re.search(r"mul_mat_vec_f<(\w+), float, 1,", name)
    return FLOATS[plain[1]] if plain else None


def products(kernels):
    """Requests of the products with one vector, by type of the matrix."""
    found = collections.defaultdict(collections.Counter)
    for kernel in kernels:
        kind = type_of(kernel["name"])
        if kind:
            for key, metric in (("requests", REQUESTS), ("sectors", SECTORS), ("ns", TIME)):
                found[kind][key] += value(kernel, metric)
            found[kind]["launches"] += kernel["launches"]
    size = lambda kind: 8 * len(gguf.weights(random.Random(0), kind, 256, 1)) / 256
    return [dict(kind=kind, bits=size(kind), launches=found[kind]["launches"], requests=found[kind]["requests"],
                 per_request=found[kind]["sectors"] / found[kind]["requests"], ns=found[kind]["ns"]) for kind in gguf.TYPES if kind in found]


def label(x, y, words, anchor="start", size=12):
    words = str(words).replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{words}</text>'


def stack(y, name, parts, colours, total):
    """A bar of the kernels' shares, 600 wide."""
    drawn, x = [label(0, y - 6, f"{name}: {total / 1000:.0f} us, estimated")], 0.0
    other = 1.0
    for part in parts[:SHOWN]:
        width = 600 * part["share"]
        drawn.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="26" fill="{colours[part["kernel"]]}" stroke="white">'
                     f'<title>{part["kernel"]}: {part["share"]:.1%}, {part["launches"]} launches</title></rect>')
        if width > 34:
            drawn.append(label(x + width / 2, y + 17, f"{part['share']:.0%}", "middle", 11))
        x += width
        other -= part["share"]
    drawn.append(f'<rect x="{x:.1f}" y="{y}" width="{max(0.0, 600 * other):.1f}" height="26" fill="#dddddd" stroke="white"/>')
    return drawn


def draw(result):
    """SVG: two bars of shares with a legend, and bars of sectors per request."""
    names = list(dict.fromkeys(part["kernel"] for phase in ("prompt", "token") for part in result[phase][:SHOWN]))
    colours = {name: COLOURS[index % len(COLOURS)] if index < len(COLOURS) else f"hsl({47 * index % 360},45%,65%)" for index, name in enumerate(names)}
    drawn = [label(0, 14, f"llama.cpp, {result['model']}, on {result['gpu']}: share of the kernels' time", size=14)]
    for y, phase, what in ((44, "prompt", "a prompt of 128 tokens"), (104, "token", "8 tokens, one by one")):
        drawn += stack(y, what, result[phase], colours, sum(part["ns"] for part in result[phase]))
    for index, name in enumerate(names):
        x, y = 300 * (index % 2), 152 + 18 * (index // 2)
        drawn += [f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colours[name]}"/>', label(x + 18, y, name)]
    y = 152 + 18 * ((len(names) + 1) // 2) + 24
    drawn.append(label(0, y, "Sectors of 32 bytes a global load request reads, in products with one vector", size=14))
    most = max(row["per_request"] for row in result["products"])
    for row in result["products"]:
        y += 18
        width = 430 * row["per_request"] / most
        drawn += [label(70, y, row["kind"], "end"), f'<rect x="78" y="{y - 10}" width="{width:.1f}" height="12" fill="{COLOURS[0]}"/>',
                  label(84 + width, y, f"{row['per_request']:.1f}")]
    height = y + 16
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -6 640 {height}" width="640" height="{height}" '
            'font-family="sans-serif" fill="#222">\n<rect x="-10" y="-6" width="640" height="100%" fill="white"/>\n' + "\n".join(drawn) + "\n</svg>\n")


def measure(args, modules, folder):
    kind = "Q4_K"
    paths = {kind: folder / "large.gguf"}
    paths[kind].write_bytes(gguf.llama(kind, width=args.width, heads=args.width // 64, key_heads=args.width // 256, inner=3 * args.width))
    under = [args.warpgrind, "run", "--quiet", "--gpu", args.gpu]
    entry = dict(name=kind, model=str(paths[kind]), flash=True, generate=0)
    prompt = kernels_of(under, [dict(entry, batches=[[3 + n for n in range(128)]])], modules, folder)
    token = kernels_of(under, [dict(entry, batches=[[3 + n] for n in range(8)])], modules, folder)
    each = [dict(name=name, model=str(compare.write_model(name, folder)), flash=True, batches=[[3], [4]], generate=0) for name in args.types]
    return dict(gpu=args.gpu, model=f"{kind}, width {args.width}, 2 layers", prompt=shares(prompt), token=shares(token),
                products=products(kernels_of(under, each, modules, folder)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("warpgrind")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--width", type=int, default=1024, help="of the model whose times are shared out; a multiple of 256")
    parser.add_argument("--types", nargs="*", default=list(gguf.TYPES))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--svg", type=pathlib.Path)
    args = parser.parse_args()
    modules = compare.install(args.work.resolve())
    with tempfile.TemporaryDirectory() as name:
        result = measure(args, modules, pathlib.Path(name))
    for phase in ("prompt", "token"):
        print(f"{phase}:", ", ".join(f"{part['kernel']} {part['share']:.1%}" for part in result[phase][:SHOWN]))
    for row in result["products"]:
        print(f"{row['kind']:8} {row['bits']:5.2f} bits, {row['per_request']:.2f} sectors a request, {row['ns'] / row['launches']:.0f} ns a launch")
    missing = set(args.types) - {row["kind"] for row in result["products"]}
    if missing:
        print("FAILED: no product with one vector ran for", *sorted(missing))
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n")
    if args.svg:
        args.svg.write_text(draw(result))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
