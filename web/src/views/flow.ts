// The kernel's flow graph in the order of its code: how many warps and lanes took each way.
import type { GraphBlock, GraphEdge, KernelRef } from "../data";
import { type Child, drawing, h, note, s, section } from "../dom";
import { count, fileName, percent, short, significant } from "../format";
import { metricValue, originBadge } from "../metric";
import { address, kernelState, type State } from "../state";
import { table } from "../table";

const rowHeight = 64;
const boxHeight = 40;
const boxLeft = 200;
const boxWidth = 300;
const kMost = 300;

interface Placed extends GraphBlock {
  row: number;
  out: GraphEdge[];
  split: number; // warps of which both ways were taken
}

function place(blocks: GraphBlock[], edges: GraphEdge[]): Placed[] {
  const sorted = [...blocks].sort((a, b) => a.first_ptx_line - b.first_ptx_line);
  return sorted.map((b, row) => {
    const out = edges.filter((e) => e.from === b.id && e.warps > 0);
    const warps = out.reduce((n, e) => n + e.warps, 0);
    return { ...b, row, out, split: out.length > 1 ? Math.max(0, warps - b.warps) : 0 };
  });
}

function edgePath(from: Placed, to: Placed, track: number): { d: string; x: number; y: number } {
  const y1 = from.row * rowHeight + 12 + boxHeight;
  const y2 = to.row * rowHeight + 12;
  if (to.row === from.row + 1) return { d: `M${boxLeft + 60},${y1} L${boxLeft + 60},${y2 - 6}`, x: boxLeft + 66, y: (y1 + y2) / 2 + 3 };
  const back = to.row <= from.row;
  const side = back ? boxLeft : boxLeft + boxWidth;
  const bend = back ? side - 18 - track * 14 : side + 18 + track * 14;
  const a = y1 - boxHeight / 2 + (back ? 6 : 4);
  const b = y2 + boxHeight / 2 - (back ? 8 : 6);
  const towards = back ? side - 6 : side + 6;
  return { d: `M${side},${a} C${bend},${a} ${bend},${a} ${bend},${(a + b) / 2} C${bend},${b} ${bend},${b} ${towards},${b}`, x: back ? bend - 4 : bend + 4, y: (a + b) / 2 + 4 };
}

/** Ways that pass beside the same rows get tracks of their own. */
function tracks(placed: Placed[], rowOf: Map<number, Placed>): Map<GraphEdge, number> {
  const out = new Map<GraphEdge, number>();
  for (const back of [false, true]) {
    const busy: [number, number][][] = [];
    const edges = placed
      .flatMap((p) => p.out.map((e) => ({ e, from: p.row, to: rowOf.get(e.to)?.row ?? p.row })))
      .filter((x) => x.to !== x.from + 1 && x.to <= x.from === back)
      .sort((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from));
    for (const { e, from, to } of edges) {
      const low = Math.min(from, to);
      const high = Math.max(from, to);
      let t = 0;
      while (busy[t]?.some(([l, r]) => l <= high && low <= r)) ++t;
      (busy[t] ??= []).push([low, high]);
      out.set(e, t);
    }
  }
  return out;
}

function graph(ref: KernelRef, all: Placed[]): Child {
  const placed = all.slice(0, kMost);
  const byId = new Map(placed.map((p) => [p.id, p]));
  const track = tracks(placed, byId);
  const most = Math.max(1, ...placed.map((p) => p.warps));
  const marks: Child[] = [];
  for (const from of placed)
    for (const e of from.out) {
      const to = byId.get(e.to);
      if (!to) continue;
      const { d, x, y } = edgePath(from, to, track.get(e) ?? 0);
      const lanes = e.warps ? e.lanes / e.warps : 0;
      const partial = lanes < 31.95;
      marks.push(
        s("path", { d, class: from.split && from.out.length > 1 ? "edge split" : "edge", "stroke-width": (1.2 + 5 * (e.warps / most)).toFixed(1), "marker-end": "url(#arrow)" }),
        s(
          "text",
          { x, y, class: `tiny ${to.row <= from.row ? "end" : ""} ${partial ? "few" : ""}` },
          `${short(e.warps)} \u00d7 ${significant(lanes, 3)}`,
          s("title", null, `${count(e.warps)} warps, ${count(e.lanes)} lanes: ${significant(lanes, 4)} lanes a warp`),
        ),
      );
    }
  for (const b of placed) {
    const y = b.row * rowHeight + 12;
    const lanes = b.warps ? b.lanes / b.warps : 0;
    const target = b.line ? { file: b.file, line: String(b.line) } : { code: "ptx", ptx: String(b.first_ptx_line) };
    marks.push(
      s(
        "a",
        { href: address(kernelState(ref.index, "source", target)) },
        s("rect", { x: boxLeft, y, width: boxWidth, height: boxHeight, rx: 5, class: b.split ? "box split" : b.warps ? "box" : "box never" }),
        s("text", { x: boxLeft + 10, y: y + 16, class: "small strong" }, b.line ? `${fileName(b.file)}:${b.line}` : `PTX ${b.first_ptx_line}`),
        s("text", { x: boxLeft + boxWidth - 10, y: y + 16, class: "tiny end faint" }, `PTX ${b.first_ptx_line}\u2013${b.last_ptx_line}`),
        s(
          "text",
          { x: boxLeft + 10, y: y + 32, class: lanes && lanes < 31.95 ? "tiny few" : "tiny" },
          b.warps ? `${short(b.warps)} warps, ${significant(lanes, 3)} lanes each` : "never reached",
          b.split ? `; ${short(b.split)} splits` : "",
        ),
      ),
    );
  }
  return h(
    "div",
    { class: "scroll", tabindex: 0 },
    drawing(
      boxLeft + boxWidth + 200,
      placed.length * rowHeight + 12,
      `Flow graph of ${ref.kernel.name}: ${placed.length} blocks`,
      s("defs", null, s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 4, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, s("path", { d: "M0,0 L8,4 L0,8 z", class: "arrow" }))),
      marks,
    ),
  );
}

function branches(ref: KernelRef): Child {
  const sites = ref.kernel.sites.filter((x) => x.metrics.has("warpgrind__branches.sum"));
  if (!sites.length) return null;
  return section(
    "Branches",
    table(
      "Branches",
      sites,
      [
        {
          title: "Where",
          wide: true,
          value: (x) => -x.ptx_line,
          cell: (x) => [
            h(
              "a",
              { href: address(kernelState(ref.index, "source", x.line ? { file: x.file, line: String(x.line) } : { code: "ptx", ptx: String(x.ptx_line) })) },
              x.line ? `${fileName(x.file)}:${x.line}` : `PTX line ${x.ptx_line}`,
            ),
            " ",
            h("code", null, x.ptx),
          ],
        },
        ...(
          [
            ["Executed", "warpgrind__branches.sum"],
            ["Split the warp", "warpgrind__divergent_branches.sum"],
            ["Efficiency", "warpgrind__branch_efficiency.pct"],
            ["Lanes", "derived__avg_thread_executed_true"],
          ] as const
        ).map(([title, metric]) => ({
          title,
          number: true,
          value: (x: (typeof sites)[0]) => x.metrics.number(metric),
          cell: (x: (typeof sites)[0]): Child => metricValue(x.metrics.get(metric), x.metrics.get(metric)?.unit === "%" ? undefined : count(x.metrics.number(metric))),
        })),
      ],
      { sort: 2 },
    ),
  );
}

export function flowView(ref: KernelRef, _state: State): Child {
  const g = ref.kernel.graph;
  const placed = g ? place(g.blocks, g.edges) : [];
  const splits = placed.filter((p) => p.split);
  const total = ref.kernel.metrics.number("warpgrind__branches.sum");
  const divergent = ref.kernel.metrics.number("warpgrind__divergent_branches.sum");
  return [
    section(
      "Flow graph",
      g
        ? [
            h(
              "p",
              null,
              divergent
                ? `${count(divergent)} of ${count(total)} branches split a warp (${percent(divergent / Math.max(1, total))}): both ways are then executed one after the other.`
                : `None of ${count(total)} branches split a warp.`,
              originBadge("exact"),
            ),
            h("p", { class: "soft" }, "Boxes are basic blocks in the order of the code, with how often warps came by and how many lanes were on. Ways: warps \u00d7 lanes a warp; thicker = more warps; ", h("span", { class: "few" }, "fewer than 32 lanes"), "; a split block has a double edge."),
            placed.length > kMost ? note(`The first ${kMost} of ${placed.length} blocks.`) : null,
            graph(ref, placed),
          ]
        : note("The flow graph was not recorded: run with --detail."),
      splits.length ? null : null,
    ),
    branches(ref),
  ];
}
