#!/usr/bin/env python3
"""Writes what docs/clients.md says of llama.cpp: the differences, the kernels that ran, and their costs.

  document.py [--results FOLDER] [--costs FILE] [--scan FILE]

FOLDER: files of compare.py --json; FILE: of costs.py --json, and of `warpgrind scan --json` on libggml-cuda.so, which names all
kernels of the library. docs/clients-llama.json keeps them, so a part that is not given stays as it was."""
import argparse
import collections
import json
import pathlib
import sys

import compare
import costs

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
STORE, DRAWING, DOCUMENT = ROOT / "docs/clients-llama.json", ROOT / "docs/clients-llama.svg", ROOT / "docs/clients.md"
MARKS = ("<!-- begin: llama_cpp/document.py -->", "<!-- end: llama_cpp/document.py -->")


def rounded(value):
    return float(f"{value:.1e}")


def take_results(store, folder):
    """Rows replace those of the same model, GPU and attention; kernels that ran are added up."""
    rows = {(row["model"], row["gpu"], row["flash"]): row for row in store.get("rows", [])}
    for file in sorted(folder.glob("*.json")):
        result = json.loads(file.read_text())
        for row in result["rows"]:
            row = dict(row, differences={count: rounded(value) for count, value in row["differences"].items()}, by_token=rounded(row["by_token"]))
            rows[row["model"], row["gpu"], row["flash"]] = row
        store["launched"] = sorted({*store.get("launched", []), *result["launched"]})
    order = {model: index for index, model in enumerate(compare.MODELS)}
    store["rows"] = sorted(rows.values(), key=lambda row: (order[row["model"]], row["gpu"], row["flash"]))


def take_scan(store, file):
    """Numbers of kernels by family: in the library and of those that ran. A kernel counts once for all architectures."""
    names = {kernel["mangled_name"]: costs.family(kernel["name"]) for kernel in json.loads(file.read_text())["kernels"]}
    total = collections.Counter(names.values())
    ran = collections.Counter(names[name] for name in store["launched"] if name in names)
    store["families"] = {name: [ran[name], total[name]] for name in sorted(total, key=lambda name: (-ran[name], -total[name], name))}


def table(columns, alignment, rows):
    return ["| " + " | ".join(columns) + " |", f"|{alignment}|", *("| " + " | ".join(map(str, row)) + " |" for row in rows)]


def differences_table(rows):
    by_model = {}
    for row in rows:
        by_model.setdefault(row["model"], []).append(row)
    columns = ("weights", "GPUs", "flash attention", *(f"{count}" for count in compare.BATCHES), "bound", "same text")
    lines = []
    for model, some in by_model.items():
        worst = [f"{100 * max(row['differences'][str(count)] for row in some):.2g}" for count in compare.BATCHES]
        same = sum(row["tokens"] == compare.GENERATED for row in some)
        flash = " and ".join(sorted({"on" if row["flash"] else "off" for row in some}))
        lines.append((model, ", ".join(sorted({row["gpu"] for row in some})), flash, *worst, f"{100 * compare.bound_of(model):.2g}", f"{same} of {len(some)}"))
    return table(columns, "---|---|---" + "|--:" * (len(compare.BATCHES) + 2), lines)


def families_table(families):
    ran, total = (sum(counts[index] for counts in families.values()) for index in (0, 1))
    lines = table(("kernel", "ran", "in the library"), "---|--:|--:", ((name, *counts) for name, counts in families.items() if counts[0]))
    never = [name for name, counts in families.items() if not counts[0]]
    return [f"{ran} of the library's {total} kernels ran, from {len(families) - len(never)} of {len(families)} templates and functions. The others "
            "belong to operations that these models do not have (convolutions, state space models, training) or to other sizes and types:", "", *lines]


def costs_tables(result):
    lines = []
    for phase, what in (("prompt", "a prompt of 128 tokens"), ("token", "8 tokens, one by one")):
        shown = result[phase][:costs.SHOWN]
        lines.append(f"- {what}: " + ", ".join(f"{part['kernel']} {part['share']:.0%} ({part['launches']} launches)" for part in shown) + ".")
    rows = ((row["kind"], f"{row['bits']:.2f}", f"{row['requests'] / row['launches']:.0f}", f"{row['per_request']:.2f}",
             f"{row['ns'] / row['launches']:.0f}") for row in result["products"])
    return [*lines, "", *table(("weights", "bits a weight", "load requests a launch", "sectors a request", "ns a launch, estimated"),
                               "---|--:|--:|--:|--:", rows)]


def write(store):
    STORE.write_text(json.dumps(store, separators=(",", ":")).replace('{"model"', '\n{"model"').replace('"launched":', '\n"launched":') + "\n")
    lines = differences_table(store["rows"])
    if "families" in store:
        lines += ["", *families_table(store["families"])]
    if "costs" in store:
        DRAWING.write_text(costs.draw(store["costs"]))
        lines += ["", f"What its kernels cost on {store['costs']['gpu']}, with a {store['costs']['model']}:", "", "![](clients-llama.svg)", "",
                  *costs_tables(store["costs"])]
    text = DOCUMENT.read_text()
    begin, end = (text.index(mark) for mark in MARKS)
    DOCUMENT.write_text(text[:begin] + MARKS[0] + "\n" + "\n".join(lines) + "\n" + text[end:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--costs", type=pathlib.Path)
    parser.add_argument("--scan", type=pathlib.Path)
    args = parser.parse_args()
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    if args.results:
        take_results(store, args.results)
    if args.costs:
        store["costs"] = json.loads(args.costs.read_text())
    if args.scan:
        take_scan(store, args.scan)
    write(store)
    return 0


if __name__ == "__main__":
    sys.exit(main())
