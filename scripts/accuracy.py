#!/usr/bin/env python3
"""Document and chart of the time estimate's accuracy, from the scores that warpgrind-accuracy wrote.

    scripts/accuracy.py SCORES.json PAGE.md      also writes PAGE.svg; `make accuracy` calls it
"""
import json
import math
import os
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN = 640, 520, 60
COLOURS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"]


def percent(part):
    return f"{100 * part:.1f} %"


def ranking_text(r):
    return ("Ranking: pairs are two rungs of one topic, size and type whose times differ by more than 5 %. The estimate "
            f"ranks {r['right']} of {r['pairs']} pairs ({percent(r['right'] / max(1, r['pairs']))}) correctly. In "
            f"{r['fastest']} of {r['ladders']} ladders, its fastest rung is the fastest, or within 10 % of it.")


def table(section):
    lines = [f"| {section['by']} | rows | median | 90 % are within | within 30 % | worst |", "|---|---|---|---|---|---|"]
    for s in section["scores"]:
        lines.append(f"| {s['name']} | {s['rows']} | {percent(s['median'])} | {percent(s['p90'])} | {percent(s['within_30'])} | "
                     f"{s['worst']:.2f}x |")
    return "\n".join(lines)


def page(data, chart):
    never, use = data["never_fitted"], data["in_use"]
    elsewhere, score = data["elsewhere"], never["score"]
    how = ("the constants are from `warpgrind calibrate`, the parameters from a fit to the rows of another GPU" if elsewhere else
           "each topic of the lab is predicted by a fit to all other topics")
    parts = ["# Accuracy of the time estimate", "Made by `make accuracy` from stored measurements (lab/results), without a GPU.",
             f"**Never fitted**: {how}. {score['rows']} rows, {data['gpu']}: **median error {percent(score['median'])}, 90 % of the "
             f"rows within {percent(score['p90'])}, {percent(score['within_30'])} within 30 %, worst {score['worst']:.2f}x.** "
             + ranking_text(never["ranking"])]
    if not elsewhere:
        s = use["score"]
        parts.append(f"In use, with {data['parameters']} parameters fitted to these same rows: median error {percent(s['median'])}, "
                     f"90 % within {percent(s['p90'])}, worst {s['worst']:.2f}x. " + ranking_text(use["ranking"]))
    parts += [f"![measured and predicted times]({chart})",
              "A row is one kernel, or a few that belong together, between two CUDA events. Rows are left out if their time is not "
              "only the GPU's work: host effects, migration of managed memory, barriers of a grid."]
    if not elsewhere:
        parts.append("Each fit starts from the parameters in use, which all topics have influenced. On 2026-11-23, fits also started "
                     "from 3 and from 8 points that do not depend on the rows; the other topics chose the best of each. Their median "
                     "errors were 10.2 and 11.2 %, with 94.2 and 94.7 % of the pairs ranked correctly.")
    titles = {"topic": "By topic", "limit": "By limit", "measured": "By time"}
    for section in data["sections"]:
        parts += [f"## {titles[section['by']]}, never fitted", table(section)]
    if "beside" in data:
        s = data["beside"]["score"]
        parts += ["## Tensor copies, rings and warpgroup products",
                  f"{s['rows']} rows that take no part in the fits above: median error {percent(s['median'])}, 90 % within "
                  f"{percent(s['p90'])}, {percent(s['within_30'])} within 30 %, worst {s['worst']:.2f}x. The constants of `terms/copies.cpp` were "
                  "chosen by hand for these copies and rings, so this is no blind score of them.", table(data["beside"]["section"]),
                  "While tensor cores are busy, the clock of an H200 sinks from 1980 MHz to some 1790 MHz with zeros, and to 1684 MHz with random "
                  "halves. In the large products of hgemm, whose operands L2 delivers, it sinks to 1520 to 1560 MHz. The estimate is for random numbers. "
                  "It lowers the clock by the parts of the time in which tensor cores and L2 are busy (`terms/clock.cpp`), with two constants: "
                  "`tensor_clock_mhz` and `fed_tensor_clock_mhz` of the model. They come from clocks (`lab/results/h200/clocks.csv`), the second from "
                  "those of hgemm at 8192. The operands of the rings and products of this table were zeros, so estimates of them "
                  "are some 5 % too long. The work of warps that wait for `cp.async` follows from their code. `combine.cpp` adds up the first copy, the products and the stores of an SM that holds one block of a ring: "
                  "hgemm at 1024 showed that. The topic warp_products was never used; its worst rows are 4-bit and sparse 8-bit types, which this "
                  "GPU does in many instructions."]
    return "\n\n".join(parts) + "\n\n"


class Axes:
    """Logarithmic axes from `low` to `high` microseconds, both powers of ten."""

    def __init__(self, times):
        self.low = 10.0 ** math.floor(math.log10(min(times)))
        self.high = 10.0 ** math.ceil(math.log10(max(times)))

    def place(self, us):
        return math.log(us / self.low) / math.log(self.high / self.low)

    def x(self, us):
        return MARGIN + (WIDTH - MARGIN - 20) * self.place(us)

    def y(self, us):
        return HEIGHT - MARGIN - (HEIGHT - MARGIN - 20) * self.place(us)


def scale(axes):
    out, us = [], axes.low
    while us <= axes.high * 1.01:
        label = f"{us:g} us" if us < 1000 else f"{us / 1000:g} ms"
        x, y = axes.x(us), axes.y(us)
        out += [f'<line x1="{x:.1f}" y1="20" x2="{x:.1f}" y2="{HEIGHT - MARGIN:.1f}" stroke="#ddd"/>',
                f'<line x1="{MARGIN:.1f}" y1="{y:.1f}" x2="{WIDTH - 20:.1f}" y2="{y:.1f}" stroke="#ddd"/>',
                f'<text x="{x:.1f}" y="{HEIGHT - MARGIN + 16:.1f}" text-anchor="middle" font-size="11">{label}</text>',
                f'<text x="{MARGIN - 6:.1f}" y="{y + 4:.1f}" text-anchor="end" font-size="11">{label}</text>']
        us *= 10
    return out


def diagonal(axes, factor, style, label=""):
    """The line of times that are predicted `factor` times too long."""
    start, end = axes.low * max(1.0, 1 / factor), axes.high / max(1.0, factor)
    out = [f'<line x1="{axes.x(start):.1f}" y1="{axes.y(start * factor):.1f}" x2="{axes.x(end):.1f}" y2="{axes.y(end * factor):.1f}" '
           f'{style}/>']
    if label:
        below = 12 if factor < 1 else -2
        out.append(f'<text x="{axes.x(end) - 26:.1f}" y="{axes.y(end * factor) + below:.1f}" font-size="11" fill="#666">{label}</text>')
    return out


def svg(rows):
    axes = Axes([row[key] / 1e3 for row in rows for key in ("measured_ns", "predicted_ns")])
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 110} {HEIGHT}" font-family="sans-serif">',
           '<rect width="100%" height="100%" fill="#fff"/>', *scale(axes), *diagonal(axes, 1, 'stroke="#000"')]
    for factor in (1.25, 0.8):
        out += diagonal(axes, factor, 'stroke="#999" stroke-dasharray="4 3"')
    out += diagonal(axes, 2, 'stroke="#ccc"', "2x") + diagonal(axes, 0.5, 'stroke="#ccc"', "1/2")
    for n, topic in enumerate(sorted({row["topic"] for row in rows})):
        colour, opacity = COLOURS[n % len(COLOURS)], 0.75 if n < len(COLOURS) else 0.4
        for row in rows:
            if row["topic"] == topic:
                out.append(f'<circle cx="{axes.x(row["measured_ns"] / 1e3):.1f}" cy="{axes.y(row["predicted_ns"] / 1e3):.1f}" r="2.6" '
                           f'fill="{colour}" fill-opacity="{opacity}"><title>{escape(row["range"])}</title></circle>')
        out.append(f'<circle cx="{WIDTH}" cy="{30 + 16 * n}" r="4" fill="{colour}" fill-opacity="{opacity}"/>'
                   f'<text x="{WIDTH + 8}" y="{34 + 16 * n}" font-size="11">{escape(topic)}</text>')
    out += [f'<text x="{WIDTH // 2}" y="{HEIGHT - 18}" text-anchor="middle" font-size="12">measured</text>',
            f'<text x="14" y="{HEIGHT // 2}" text-anchor="middle" font-size="12" transform="rotate(-90 14 {HEIGHT // 2})">predicted, '
            "never fitted</text>", "</svg>"]
    return "\n".join(out) + "\n"


def main():
    if len(sys.argv) != 3 or not sys.argv[2].endswith(".md"):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as f:
        data = json.load(f)
    chart = sys.argv[2][:-len(".md")] + ".svg"
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write(page(data, os.path.basename(chart)))
    with open(chart, "w", encoding="utf-8") as f:
        f.write(svg(data["rows"]))


if __name__ == "__main__":
    main()
