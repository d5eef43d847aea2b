// The threads of a finding as lanes of their warps, and the words of memory that they meet at.
import type { FindingAccess, KernelRef } from "../data";
import { type Child, drawing, h, s } from "../dom";
import { badge, count } from "../format";

interface Drawn {
  index: number; // of the accesses
  access: FindingAccess;
  begin: number; // bytes, in the object
  end: number;
}

const kWord = 4;
const kWords = 32; // at most, in one drawing
const kCell = 22;
const kLeft = 150;

/** The accesses to the object that the first one is about. */
function drawnOf(accesses: FindingAccess[]): Drawn[] {
  const out: Drawn[] = [];
  accesses.forEach((access, index) => {
    const m = access.memory;
    if (!m || !access.bytes || out.length === 4) return;
    const first = out[0]?.access.memory;
    if (first && (first.space !== m.space || first.object !== m.object)) return;
    out.push({ index, access, begin: m.offset, end: m.offset + access.bytes });
  });
  return out;
}

/** Words around what is touched, from a 32-byte sector's beginning on. */
function windowOf(drawn: Drawn[]): { begin: number; words: number; left: number } {
  const low = Math.min(...drawn.map((d) => d.begin));
  const high = Math.max(...drawn.map((d) => d.end));
  let begin = (Math.floor(low / 32) - 1) * 32;
  const end = (Math.floor((high - 1) / 32) + 2) * 32;
  const words = Math.min(kWords, Math.max(24, (end - begin) / kWord));
  // Far apart: the end of what fits is where the first access is.
  if (begin + words * kWord < high) begin = Math.floor(drawn[0].begin / 32) * 32 - 32;
  return { begin, words, left: kLeft };
}

function lanesRow(d: Drawn, y: number, threads: number): Child {
  const lane = d.access.lane ?? 0;
  const marks: Child[] = [s("text", { x: kLeft - 8, y: y + 14, class: "small end" }, `${badge(d.index)} ${d.access.access}, warp ${d.access.warp ?? 0}`)];
  for (let l = 0; l < 32; ++l) {
    const absent = threads > 0 && (d.access.warp ?? 0) * 32 + l >= threads;
    const x = kLeft + l * kCell;
    marks.push(
      s("rect", { x, y, width: kCell - 2, height: 20, class: l === lane ? `lane who who${Math.min(1, d.index)}` : absent ? "lane off" : "lane rest" }),
      s("text", { x: x + kCell / 2 - 1, y: y + 14, class: l === lane ? "small middle strong" : "small middle faint" }, l),
    );
  }
  return marks;
}

function wordsRow(drawn: Drawn[], at: { begin: number; words: number }, y: number): Child {
  const m = drawn[0].access.memory!;
  const known = m.object_bytes > 0;
  const marks: Child[] = [s("text", { x: kLeft - 8, y: y + 20, class: "small end" }, `${m.space} memory`)];
  const place = (byte: number): number => kLeft + ((byte - at.begin) / kWord) * kCell;
  for (let w = 0; w < at.words; ++w) {
    const byte = at.begin + w * kWord;
    const outside = byte < 0 || (known && byte >= m.object_bytes);
    const bank = m.space === "shared" && byte >= 0 ? `, bank ${(byte / kWord) % 32} if the object begins at bank 0` : "";
    marks.push(
      s("rect", { x: kLeft + w * kCell, y, width: kCell - 2, height: 30, class: outside ? "word outside" : "word" }, s("title", null, `bytes ${byte} to ${byte + kWord - 1}${outside ? ", outside of it" : bank}`)),
    );
    if (w % 4 === 0) marks.push(s("text", { x: kLeft + w * kCell, y: y + 44, class: "tiny" }, byte));
  }
  // The bytes of each access: bands of their own, so that both are seen where they meet.
  drawn.forEach((d, i) => {
    const x1 = Math.max(kLeft, place(d.begin));
    const x2 = Math.min(kLeft + at.words * kCell, place(d.end)) - 1;
    if (x2 <= x1) return;
    const height = 26 / drawn.length;
    marks.push(
      s("rect", { x: x1, y: y + 2 + i * height, width: x2 - x1, height: height - 1, class: `band who${Math.min(1, d.index)}` }, s("title", null, `${badge(d.index)} ${d.access.access}: bytes ${d.begin} to ${d.end - 1}`)),
    );
  });
  for (const [byte, word] of [[0, "begin"], [m.object_bytes, "end"]] as const) {
    const x = place(byte) - 1;
    if ((byte === 0 || known) && x > kLeft && x < kLeft + at.words * kCell)
      marks.push(s("line", { x1: x, y1: y - 6, x2: x, y2: y + 36, class: "limit" }), s("text", { x: x + 3, y: y - 2, class: "tiny" }, word));
  }
  return marks;
}

export function accessDrawing(accesses: FindingAccess[], kernels: KernelRef[]): Child {
  const drawn = drawnOf(accesses);
  if (!drawn.length) return null;
  const at = windowOf(drawn);
  const place = (d: Drawn): number => kLeft + ((d.begin + d.end) / 2 / kWord - at.begin / kWord) * kCell;
  const visible = (d: Drawn): boolean => place(d) > kLeft && place(d) < kLeft + at.words * kCell;
  const withLanes = drawn.filter((d) => d.access.thread);
  const above = withLanes.slice(0, 1);
  const below = withLanes.slice(1);
  const wordsY = above.length ? 100 : 24;
  const marks: Child[] = [];
  const threads = (d: Drawn): number => {
    const block = kernels.find((k) => k.kernel.name === d.access.kernel && !k.kernel.shapes_differ)?.kernel.block;
    return block ? block[0] * block[1] * block[2] : 0;
  };
  const laneX = (d: Drawn): number => kLeft + (d.access.lane ?? 0) * kCell + kCell / 2 - 1;
  for (const d of above) {
    if (visible(d)) marks.push(s("line", { x1: laneX(d), y1: 42, x2: place(d), y2: wordsY, class: `link who${Math.min(1, d.index)}` }));
    marks.push(lanesRow(d, 22, threads(d)));
  }
  below.forEach((d, i) => {
    const y = wordsY + 104 + i * 44;
    if (visible(d)) marks.push(s("line", { x1: laneX(d), y1: y, x2: place(d), y2: wordsY + 30, class: `link who${Math.min(1, d.index)}` }));
    marks.push(lanesRow(d, y, threads(d)));
  });
  marks.push(wordsRow(drawn, at, wordsY));
  const height = wordsY + 60 + (below.length ? 60 + below.length * 44 : 0);
  const m = drawn[0].access.memory!;
  const words = drawn.map((d) => `${badge(d.index)} ${d.access.access} of bytes ${d.begin} to ${d.end - 1}${d.access.thread ? ` by lane ${d.access.lane ?? 0} of warp ${d.access.warp ?? 0}` : ""}`).join("; ");
  return [
    h("p", { class: "soft" }, `Bytes from the beginning of ${m.object_bytes ? `the object (${count(m.object_bytes)} bytes)` : `the ${m.space} memory`}: ${words}. A box is a word of 4 bytes${m.object_bytes ? "; dashed: outside of the object" : ""}.`),
    h("div", { class: "scroll", tabindex: 0 }, drawing(kLeft + 32 * kCell + 10, height, words, marks)),
  ];
}
