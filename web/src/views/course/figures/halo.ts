// Two GPUs with half of a domain each: which rows are computed, and which travel.
import type { LabRow, Page, Topic } from "../../../data";
import { type Child, drawing, h, s } from "../../../dom";
import { significant } from "../../../format";
import { elements, measuredTopic, shown, timeOf } from "../../lab_rows";
import { type Frame, stepper } from "./stepper";

const kRows = 5; // of a slab
const kColumns = 12;
const kCell = 22;

interface Look {
  computed: number[][]; // rows of each GPU that are being computed
  fresh: number[][]; // rows that have the new values
  travels: boolean;
  halo: "old" | "coming" | "new";
}

function slab(gpu: number, y0: number, look: Look): Child {
  const cells: Child[] = [];
  const halo = gpu === 0 ? kRows : -1; // the row beyond the cut
  for (let row = -1; row <= kRows; ++row) {
    const wall = gpu === 0 ? row === -1 : row === kRows;
    for (let x = 0; x < kColumns; ++x) {
      const kind = row === halo ? `halo ${look.halo}` : wall ? "empty" : look.computed[gpu].includes(row) ? "now" : look.fresh[gpu].includes(row) ? "held" : "old";
      cells.push(s("rect", { x: 130 + x * kCell, y: y0 + (row + 1) * kCell, width: kCell - 2, height: kCell - 2, rx: 2, class: `cell ${kind}` }));
    }
    const name = row === halo ? "halo" : wall ? "wall" : (gpu === 0 ? row === kRows - 1 : row === 0) ? "edge row" : "";
    if (name) cells.push(s("text", { x: 122, y: y0 + (row + 1) * kCell + 15, class: "small end" }, name));
  }
  cells.push(s("text", { x: 8, y: y0 + 3.5 * kCell, class: "strong" }, `GPU ${gpu}`));
  return cells;
}

function picture(look: Look, label: string): Child {
  const height = (kRows + 2) * kCell;
  const x = 130 + kColumns * kCell + 14;
  const y1 = height + 44;
  return drawing(
    x + 230,
    2 * height + 60,
    label,
    slab(0, 8, look),
    slab(1, y1, look),
    look.travels
      ? [
          s("path", { d: `M ${x} ${8 + 5.5 * kCell} h 30 V ${y1 + 0.5 * kCell} h -22`, class: "flow-arrow" }),
          s("path", { d: `M ${x + 8} ${y1 + 0.5 * kCell - 6} l -10 6 l 10 6 z`, class: "arrow" }),
          s("path", { d: `M ${x} ${y1 + 1.5 * kCell} h 52 V ${8 + 6.5 * kCell} h -44`, class: "flow-arrow" }),
          s("path", { d: `M ${x + 8} ${8 + 6.5 * kCell - 6} l -10 6 l 10 6 z`, class: "arrow" }),
          s("text", { x: x + 62, y: height + 30, class: "small" }, "edge rows travel"),
        ]
      : null,
    [["now", "being computed"], ["held", "new values"], ["old", "old values"], ["halo new", "halo: a copy of the neighbour's edge"]].map(([kind, text], i) => [s("rect", { x, y: 2 * height - 24 + i * 20, width: 14, height: 12, class: `cell ${kind}` }), s("text", { x: x + 20, y: 2 * height - 14 + i * 20, class: "small" }, text)]),
  );
}

const rows = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const none: number[][] = [[], []];
const whole = [rows(0, kRows), rows(0, kRows)];
const edges = [[kRows - 1], [0]];
const inside = [rows(0, kRows - 1), rows(1, kRows)];

/** "1710 µs on a real H200 (8192x8192)": what a rung took on two GPUs. */
function took(page: Page, topic: Topic, rung: string): string {
  const of = (t: Topic | undefined): LabRow | undefined => t?.rows.filter((r) => shown(r) && r.rung === rung && r.parameters?.devices === 2).sort((a, b) => elements(b) - elements(a))[0];
  const real = of(measuredTopic(page, topic));
  const row = real ?? of(topic);
  return row ? ` ${significant(timeOf(row))} \u00b5s (${row.size_text}, ${real ? `measured on two ${measuredTopic(page, topic)?.device?.name ?? "GPUs"}` : "predicted"}).` : "";
}

export function haloFigure(page: Page, topic: Topic): HTMLElement {
  const frame = (title: string, text: string, look: Look): Frame => ({ title, text, draw: () => picture(look, `${title}: ${text}`) });
  const start = frame("before the sweep", "Each GPU has its slab, and in the halo a copy of the edge row of the other.", { computed: none, fresh: none, travels: false, halo: "new" });
  return stepper("What is copied between two GPUs, and which GPU waits for it?", h("p", { class: "soft" }, "One sweep of Jacobi's iteration on a domain cut in two. Choose a rung and step."), [
    {
      name: "peer_copy",
      frames: [
        start,
        frame("sweep", "Both GPUs compute all rows of their slabs. The halos are old now.", { computed: whole, fresh: none, travels: false, halo: "old" }),
        frame("exchange", "Then the edge rows travel, and nothing is computed meanwhile.", { computed: none, fresh: whole, travels: true, halo: "coming" }),
        frame("next sweep", `Only when they have arrived the next sweep begins. Two GPUs:${took(page, topic, "peer_copy")}`, { computed: none, fresh: whole, travels: false, halo: "new" }),
      ],
    },
    {
      name: "overlap",
      frames: [
        start,
        frame("edges first", "Both GPUs compute only the edge rows, which the other one needs.", { computed: edges, fresh: none, travels: false, halo: "old" }),
        frame("inside and exchange at once", "The edge rows travel while all other rows are computed: the exchange hides behind the inside.", { computed: inside, fresh: edges, travels: true, halo: "coming" }),
        frame("next sweep", `Both are done. As long as the inside takes longer than the journey, the journey costs nothing. Two GPUs:${took(page, topic, "overlap")}`, { computed: none, fresh: whole, travels: false, halo: "new" }),
      ],
    },
  ]);
}
