// The tile of a transpose with its banks, from the recorded accesses of a warp: rows go in, a column comes out.
import type { LabRow, Pattern, Site, Topic } from "../../../data";
import { type Child, drawing, h, s } from "../../../dom";
import { shown } from "../../lab_rows";
import { type Frame, stepper, type Variant } from "./stepper";

const kBanks = 32;
const kCell = 13;
const kRungs = ["shared", "padded", "swizzled"];

interface Access {
  words: number[]; // of the lanes, in shared memory
  lanes: number;
}

function accessOf(p: Pattern | undefined): Access | undefined {
  if (!p || p.lane_bytes !== 4) return undefined;
  const words = p.addresses.filter((a): a is number => a !== null).map((a) => (p.base.offset + a) / 4);
  return words.length === kBanks ? { words, lanes: words.length } : undefined;
}

function passes(a: Access): number {
  const banks = new Map<number, Set<number>>();
  for (const w of a.words) banks.set(w % kBanks, (banks.get(w % kBanks) ?? new Set()).add(w));
  return Math.max(...[...banks.values()].map((b) => b.size));
}

/** The tile, a row of it a row; below, how many words each bank must give. */
function picture(pitch: number, rows: number, stored: Set<number>, now: Access | undefined, label: string): Child {
  const lane = new Map(now?.words.map((w, l) => [w, l]));
  const left = 46;
  const top = 18;
  const count = Array.from({ length: kBanks }, (_, b) => now?.words.filter((w) => w % kBanks === b).length ?? 0);
  const cells: Child[] = [];
  for (let y = 0; y < rows; ++y) {
    if (y % 8 === 0) cells.push(s("text", { x: left - 6, y: top + y * kCell + 10, class: "tiny end" }, `row ${y}`));
    for (let x = 0; x < pitch; ++x) {
      const word = y * pitch + x;
      const kind = lane.has(word) ? (count[word % kBanks] > 1 ? "clash" : "now") : stored.has(word) ? "held" : "empty";
      cells.push(s("rect", { x: left + x * kCell, y: top + y * kCell, width: kCell - 1, height: kCell - 1, class: `cell ${kind}` }, s("title", null, `word ${word}, bank ${word % kBanks}${lane.has(word) ? `, lane ${lane.get(word)}` : ""}`)));
      if (lane.has(word)) cells.push(s("text", { x: left + x * kCell + 6, y: top + y * kCell + 9.5, class: "micro middle" }, word % kBanks));
    }
  }
  const y0 = top + rows * kCell + 30;
  return drawing(
    left + 33 * kCell + 10,
    y0 + 66,
    label,
    s("text", { x: left, y: 12, class: "tiny" }, `The tile, ${pitch} words a row; the number in a word that is touched is its bank`),
    cells,
    s("text", { x: left, y: y0 - 8, class: "tiny" }, "Words that each bank must give, one after the other"),
    count.map((n, b) => [
      s("rect", { x: left + b * kCell, y: y0 + 34 - (n ? 3 + n : 1), width: kCell - 1, height: n ? 3 + n : 1, class: n > 1 ? "cell clash" : n ? "cell now" : "cell empty" }, s("title", null, `bank ${b}: ${n} words`)),
      b % 4 === 0 ? s("text", { x: left + b * kCell + 6, y: y0 + 48, class: "micro middle faint" }, b) : null,
      n > 1 ? s("text", { x: left + b * kCell + kCell + 4, y: y0 + 12, class: "tiny" }, `${n} words`) : null,
    ]),
    s("text", { x: left - 6, y: y0 + 48, class: "tiny end" }, "bank"),
  );
}

function variant(row: LabRow): Variant | undefined {
  const sites = (row.kernels ?? []).flatMap((k) => k.sites).filter((x: Site) => x.space === "shared");
  const stores = sites.filter((x) => x.kind === "store").map((x) => accessOf(x.patterns?.[0])).filter((a): a is Access => !!a);
  const loads = sites.filter((x) => x.kind === "load").map((x) => accessOf(x.patterns?.[0])).filter((a): a is Access => !!a);
  if (!stores.length || !loads.length) return undefined;
  const pitch = Math.round((loads[0].words[31] - loads[0].words[0]) / 31);
  if (pitch < kBanks || pitch > kBanks + 1) return undefined;
  const first = Math.min(...stores.flatMap((a) => a.words));
  const shift = (a: Access): Access => ({ ...a, words: a.words.map((w) => w - (first - (first % kBanks))) });
  const all = new Set(Array.from({ length: 32 * pitch }, (_, w) => w).filter((w) => w % pitch < 32));
  const rowOf = (a: Access): number => Math.floor(Math.min(...a.words) / pitch);
  const done = new Set<number>();
  const frames: Frame[] = [];
  for (const a of stores.map(shift)) {
    for (const w of a.words) done.add(w);
    const held = new Set(done);
    const n = passes(a);
    const text = `A warp has loaded 32 neighbouring elements of a row (four sectors) and stores them in row ${rowOf(a)} of the tile: 32 banks, ${n} pass${n === 1 ? "" : "es"}. Seven other warps store the rows between.`;
    frames.push({ title: `store row ${rowOf(a)}`, text, draw: () => picture(pitch, 32, held, a, text) });
  }
  frames.push({ title: "barrier", text: "The tile is full when all warps have stored their rows. Only then may anybody read what another warp has stored.", draw: () => picture(pitch, 32, all, undefined, "The tile is full, all wait") });
  for (const a of loads.map(shift)) {
    const n = passes(a);
    const banks = new Set(a.words.map((w) => w % kBanks)).size;
    const text = `A warp reads a column: lane l takes row l. The 32 words lie in ${banks} bank${banks === 1 ? "" : "s"}: ${n} pass${n === 1 ? "" : "es"}. They leave as a row of the result, four sectors.`;
    frames.push({ title: "read a column", text, draw: () => picture(pitch, 32, all, a, text) });
    if (frames.length >= 8) break; // the other columns look the same
  }
  return { name: row.rung, frames };
}

/** Undefined where the accesses were not recorded. */
export function transposeFigure(topic: Topic): HTMLElement | undefined {
  const rows = kRungs.map((rung) => topic.rows.find((r) => shown(r) && r.rung === rung && r.kernels?.length)).filter((r): r is LabRow => !!r);
  const variants = rows.map(variant).filter((v): v is Variant => !!v);
  if (!variants.length) return undefined;
  return stepper("How does the tile turn rows into columns, and where do the banks collide?", h("p", { class: "soft" }, "Recorded accesses of the first warp. Choose a rung, step to the column, and compare."), variants);
}
