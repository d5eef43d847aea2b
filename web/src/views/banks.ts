// Shared memory: which bank each lane's word lies in. Words below one another in a bank wait for each other.
import type { Pattern } from "../data";
import { type Child, drawing, h, s } from "../dom";

interface Banks {
  banks: number;
  bank_bytes: number;
  lanes: number;
}

interface Column {
  words: Map<number, number[]>; // word -> lanes
}

function fill(p: Pattern, b: Banks, first: number, last: number): Column[] {
  const columns: Column[] = Array.from({ length: b.banks }, () => ({ words: new Map() }));
  for (let lane = first; lane < last; ++lane) {
    const offset = p.addresses[lane];
    if (offset === null || offset === undefined) continue;
    const at = p.base.offset + offset;
    for (let w = Math.floor(at / b.bank_bytes); w <= Math.floor((at + p.lane_bytes - 1) / b.bank_bytes); ++w) {
      const words = columns[w % b.banks].words;
      const list = words.get(w);
      if (list) list.push(lane);
      else words.set(w, [lane]);
    }
  }
  return columns;
}

function grid(p: Pattern, b: Banks, first: number, last: number): Child {
  const columns = fill(p, b, first, last);
  const depth = Math.max(1, ...columns.map((c) => c.words.size));
  const cell = 24;
  const left = 56;
  const marks: Child[] = [];
  columns.forEach((column, bank) => {
    const x = left + bank * cell;
    marks.push(s("text", { x: x + cell / 2 - 1, y: 14, class: "small middle" }, bank));
    [...column.words]
      .sort((a, c) => a[0] - c[0])
      .forEach(([word, lanes], level) => {
        const kind = level === 0 ? (column.words.size > 1 ? "word first" : "word used") : "word conflict";
        marks.push(
          s("rect", { x, y: 22 + level * 22, width: cell - 2, height: 20, class: kind }),
          s(
            "text",
            { x: x + cell / 2 - 1, y: 36 + level * 22, class: "small middle" },
            lanes.length > 1 ? `${lanes[0]}+` : lanes[0],
            s("title", null, `bank ${bank}, byte ${word * b.bank_bytes}: lane${lanes.length > 1 ? "s" : ""} ${lanes.join(", ")}`),
          ),
        );
      });
    if (!column.words.size) marks.push(s("rect", { x, y: 22, width: cell - 2, height: 20, class: "word" }));
  });
  for (let level = 0; level < depth; ++level)
    marks.push(s("text", { x: left - 8, y: 36 + level * 22, class: "small end" }, `${level + 1}.`));
  return h(
    "div",
    { class: "scroll", tabindex: 0 },
    drawing(left + b.banks * cell + 10, depth * 22 + 28, `Banks reached by lanes ${first} to ${last - 1}: ${depth} words in the fullest`, s("text", { x: 4, y: 14, class: "small" }, "bank"), marks),
  );
}

export function bankGrid(p: Pattern, b: Banks): Child {
  // Wide accesses are served for a half or a quarter of the lanes at a time.
  const parts = Math.max(1, Math.min(8, Math.floor((p.lane_bytes * 32) / (b.banks * b.bank_bytes)), 32)) * (32 / b.lanes);
  const size = Math.max(1, Math.floor(32 / parts));
  const grids: Child[] = [];
  for (let first = 0; first < 32; first += size) {
    const on = p.addresses.slice(first, first + size).some((a) => a !== null && a !== undefined);
    if (!on) continue;
    if (parts > 1) grids.push(h("p", { class: "soft" }, `lanes ${first} to ${first + size - 1}`));
    grids.push(grid(p, b, first, first + size));
  }
  return [
    grids,
    h(
      "p",
      { class: "keys" },
      h("span", { class: "key used" }),
      " one word in its bank ",
      h("span", { class: "key first" }),
      " first of several ",
      h("span", { class: "key conflict" }),
      " waits for those above it (a bank conflict). Numbers are lanes; 3+ is a word that several lanes share, which costs nothing.",
    ),
  ];
}
