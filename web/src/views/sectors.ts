// Global memory: lanes to 32-byte sectors and 128-byte lines, or to the transactions of the GPU's own rule.
import type { Pattern } from "../data";
import { type Child, drawing, h, s } from "../dom";
import { percent } from "../format";

interface Piece {
  begin: number; // address from the start of the 256-byte window that the base lies in
  bytes: number;
}

/** Bytes that a lane touches. Local memory is interleaved by words over the lanes: word w of lane l lies at word 32 w + l, so that
 * lanes with one index lie beside each other; offsets in a pattern are those of the thread. */
function touched(p: Pattern, lane: number): Piece[] {
  const offset = p.addresses[lane];
  if (offset === null || offset === undefined) return [];
  if (p.space !== "local") return [{ begin: p.alignment + offset, bytes: p.lane_bytes }];
  const out: Piece[] = [];
  for (let at = (p.base.offset % 4) + offset, left = p.lane_bytes; left > 0; ) {
    const bytes = Math.min(left, 4 - (at % 4));
    out.push({ begin: Math.floor(at / 4) * 128 + lane * 4 + (at % 4), bytes });
    at += bytes;
    left -= bytes;
  }
  return out;
}

/** The address, or for local memory the place in the interleaved memory, at which the window that is drawn begins. */
const origin = (p: Pattern): number => (p.space === "local" ? Math.floor(p.base.offset / 4) * 128 : p.base.offset - p.alignment);

/** Pieces that are moved for this request: transactions if the profile lists them, otherwise sectors. */
function pieces(p: Pattern): Piece[] {
  if (p.transactions.length)
    return p.transactions.map((t) => ({ begin: p.alignment + t.address_offset, bytes: t.bytes })).sort((a, b) => a.begin - b.begin);
  // The constant cache gives a word at a time.
  if (p.space === "const") return [...new Set(p.addresses.filter((a): a is number => a !== null))].sort((a, b) => a - b).map((a) => ({ begin: p.alignment + a, bytes: p.lane_bytes }));
  const sectors = new Set<number>();
  for (let lane = 0; lane < 32; ++lane)
    for (const t of touched(p, lane)) for (let sector = Math.floor(t.begin / 32); sector <= Math.floor((t.begin + t.bytes - 1) / 32); ++sector) sectors.add(sector);
  return [...sectors].sort((a, b) => a - b).map((sector) => ({ begin: sector * 32, bytes: 32 }));
}

export function lanesToSectors(p: Pattern): SVGElement {
  const moved = pieces(p);
  const cell = 20;
  const width = 32 * cell + 20;
  const gap = (i: number): boolean => i > 0 && Math.floor(moved[i].begin / 128) !== Math.floor(moved[i - 1].begin / 128);
  const gaps = moved.filter((_, i) => gap(i)).length;
  const each = Math.min(60, (32 * cell - gaps * 6) / Math.max(1, moved.length));
  const centre: number[] = [];
  const marks: Child[] = [];
  let x = 10 + (32 * cell - each * moved.length - gaps * 6) / 2;
  moved.forEach((piece, i) => {
    if (gap(i)) x += 6;
    centre.push(x + each / 2);
    marks.push(
      s("rect", { x, y: 130, width: each - 1, height: 20, class: "sector" }, s("title", null, `bytes +${piece.begin} to +${piece.begin + piece.bytes - 1}`)),
      each >= 26 ? s("text", { x: x + each / 2, y: 144, class: "small middle" }, `${piece.bytes} B`) : null,
    );
    x += each;
  });
  const links: Child[] = [];
  const lanes: Child[] = [];
  for (let lane = 0; lane < 32; ++lane) {
    const own = touched(p, lane);
    const left = 10 + lane * cell;
    lanes.push(
      s("rect", { x: left, y: 22, width: cell - 2, height: 20, class: own.length ? "lane" : "lane off" }),
      s("text", { x: left + cell / 2 - 1, y: 36, class: own.length ? "small middle" : "small middle faint" }, lane),
    );
    moved.forEach((piece, i) => {
      if (own.some((t) => t.begin < piece.begin + piece.bytes && t.begin + t.bytes > piece.begin))
        links.push(s("line", { x1: left + cell / 2 - 1, y1: 42, x2: centre[i], y2: 130, class: "link" }));
    });
  }
  return drawing(
    width,
    172,
    `32 lanes reach ${moved.length} pieces of memory`,
    s("text", { x: 10, y: 14, class: "small" }, "lane"),
    links,
    lanes,
    marks,
    s("text", { x: 10, y: 166, class: "small" }, p.space === "const" ? "different words: one after the other" : p.transactions.length ? "transactions" : "32-byte sectors, side by side within a 128-byte line"),
  );
}

/** Bytes as they lie: a row for each 128-byte line, with the lane that uses each word and what is moved unused. */
export function sectorMap(p: Pattern): Child {
  const moved = pieces(p);
  const lines = [...new Set(moved.flatMap((m) => span(m, 128)))].sort((a, b) => a - b);
  const shown = lines.slice(0, 40);
  const word = 22;
  const left = 78;
  const row = 24;
  const users = new Map<number, number[]>();
  for (let lane = 0; lane < 32; ++lane) {
    for (const t of touched(p, lane))
      for (let w = Math.floor(t.begin / 4); w <= Math.floor((t.begin + t.bytes - 1) / 4); ++w) {
        const list = users.get(w);
        if (list) list.push(lane);
        else users.set(w, [lane]);
      }
  }
  const cells: Child[] = [];
  shown.forEach((line, y) => {
    cells.push(s("text", { x: left - 8, y: y * row + 38, class: "small end" }, origin(p) + line * 128));
    for (let w = 0; w < 32; ++w) {
      const begin = line * 128 + w * 4;
      const lanes = users.get(line * 32 + w);
      const fetched = moved.some((m) => m.begin <= begin && begin < m.begin + m.bytes);
      const x = left + w * word + Math.floor(w / 8) * 4;
      const kind = lanes ? (lanes.length > 1 ? "word shared" : "word used") : fetched ? "word waste" : "word";
      cells.push(s("rect", { x, y: y * row + 24, width: word - 2, height: 20, class: kind }));
      if (lanes)
        cells.push(
          s(
            "text",
            { x: x + word / 2 - 1, y: y * row + 38, class: "small middle" },
            lanes.length > 1 ? `${lanes[0]}+` : lanes[0],
            s("title", null, `lane${lanes.length > 1 ? "s" : ""} ${lanes.join(", ")}`),
          ),
        );
    }
  });
  const asked = new Set<number>();
  for (let lane = 0; lane < 32; ++lane) {
    for (const t of touched(p, lane)) for (let b = 0; b < t.bytes; ++b) asked.add(t.begin + b);
  }
  const bytes = moved.reduce((n, m) => n + m.bytes, 0);
  return [
    h(
      "div",
      { class: "scroll", tabindex: 0 },
      drawing(
        left + 32 * word + 20,
        shown.length * row + 34,
        `Bytes of ${lines.length} lines of 128 bytes`,
        s("text", { x: left, y: 14, class: "small" }, "one row = 128 bytes from the byte at the left, one box = 4 bytes, one group = a 32-byte sector; numbers = lanes"),
        cells,
      ),
    ),
    lines.length > shown.length ? h("p", { class: "soft" }, `and ${lines.length - shown.length} more lines`) : null,
    h(
      "p",
      { class: "keys" },
      h("span", { class: "key used" }),
      " used ",
      h("span", { class: "key shared" }),
      " used by several lanes ",
      h("span", { class: "key waste" }),
      ` moved for nothing: ${bytes} bytes move, ${asked.size} are used (${percent(bytes ? asked.size / bytes : 0)})`,
    ),
  ];
}

function span(piece: Piece, size: number): number[] {
  const out: number[] = [];
  for (let i = Math.floor(piece.begin / size); i <= Math.floor((piece.begin + piece.bytes - 1) / size); ++i) out.push(i);
  return out;
}
