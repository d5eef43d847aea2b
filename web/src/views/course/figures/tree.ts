// The tree of a reduction in a block of 64 threads, as the three first rungs walk it: which lanes are on, and which words of
// shared memory they touch, with the banks as columns.
import { type Child, drawing, h, s } from "../../../dom";
import { type Frame, stepper, type Variant } from "./stepper";

const kThreads = 64;
const kLanes = 32;
const kCell = 21;

interface Add {
  thread: number;
  to: number; // word
  from: number;
}
interface Round {
  step: number;
  adds: Add[];
}

const all = Array.from({ length: kThreads }, (_, t) => t);
const rising = [1, 2, 4, 8, 16, 32];
const walks: { name: string; rounds: Round[] }[] = [
  { name: "interleaved, divergent", rounds: rising.map((step) => ({ step, adds: all.filter((t) => t % (2 * step) === 0).map((t) => ({ thread: t, to: t, from: t + step })) })) },
  { name: "interleaved", rounds: rising.map((step) => ({ step, adds: all.filter((t) => 2 * step * t < kThreads).map((t) => ({ thread: t, to: 2 * step * t, from: 2 * step * t + step })) })) },
  { name: "sequential", rounds: [...rising].reverse().map((step) => ({ step, adds: all.filter((t) => t < step).map((t) => ({ thread: t, to: t, from: t + step })) })) },
];

/** Passes that reading the words at `of` takes for the warp that needs most: the most different words in one bank. */
function passes(adds: Add[], of: (a: Add) => number): number {
  let most = 0;
  for (let warp = 0; warp < kThreads / kLanes; ++warp) {
    const banks = new Map<number, Set<number>>();
    for (const a of adds.filter((x) => Math.floor(x.thread / kLanes) === warp)) {
      const bank = of(a) % kLanes;
      banks.set(bank, (banks.get(bank) ?? new Set()).add(of(a)));
    }
    most = Math.max(most, ...[...banks.values()].map((w) => w.size));
  }
  return most;
}

const warpsOf = (adds: Add[]): number[] => [0, 1].map((w) => adds.filter((a) => Math.floor(a.thread / kLanes) === w).length);

function picture(values: number[], round: Round | undefined, label: string): Child {
  const to = new Map(round?.adds.map((a) => [a.to, a.thread]));
  const from = new Map(round?.adds.map((a) => [a.from, a.thread]));
  const left = 84;
  const cell = (i: number, y: number, kind: string, text: Child, title: string): Child => [s("rect", { x: left + (i % kLanes) * kCell, y, width: kCell - 2, height: kCell - 2, rx: 2, class: `cell ${kind}` }), s("text", { x: left + (i % kLanes) * kCell + (kCell - 2) / 2, y: y + 14, class: "tiny middle" }, text, s("title", null, title))];
  const on = new Set(round?.adds.map((a) => a.thread));
  return drawing(
    left + kLanes * kCell + 6,
    218,
    label,
    [0, 1].map((w) => [
      s("text", { x: left - 8, y: 24 + w * 26, class: "small end" }, `warp ${w}`),
      Array.from({ length: kLanes }, (_, l) => cell(l, 10 + w * 26, on.has(w * kLanes + l) ? "now" : "empty", l, `thread ${w * kLanes + l}: ${on.has(w * kLanes + l) ? "adds" : "idle"}`)),
    ]),
    s("text", { x: left - 8, y: 92, class: "small end" }, "bank"),
    Array.from({ length: kLanes }, (_, b) => s("text", { x: left + b * kCell + (kCell - 2) / 2, y: 92, class: "tiny middle faint" }, b)),
    [0, 1].map((r) => [
      s("text", { x: left - 8, y: 116 + r * 26, class: "small end" }, `words ${r * kLanes}+`),
      Array.from({ length: kLanes }, (_, l) => {
        const word = r * kLanes + l;
        const kind = to.has(word) ? "now" : from.has(word) ? "source" : values[word] ? "held" : "empty";
        return cell(l, 102 + r * 26, kind, values[word] || "", `word ${word}: the sum of ${values[word]} elements${to.has(word) ? `, thread ${to.get(word)} adds to it` : from.has(word) ? `, read by thread ${from.get(word)}` : ""}`);
      }),
    ]),
    s("text", { x: left, y: 176, class: "small" }, "A number in a word says how many elements it is the sum of."),
    s("rect", { x: left, y: 188, width: 14, height: 12, class: "cell now" }),
    s("text", { x: left + 20, y: 198, class: "small" }, "thread on; word added to"),
    s("rect", { x: left + 190, y: 188, width: 14, height: 12, class: "cell source" }),
    s("text", { x: left + 210, y: 198, class: "small" }, "word read besides"),
    s("rect", { x: left + 340, y: 188, width: 14, height: 12, class: "cell empty" }),
    s("text", { x: left + 360, y: 198, class: "small" }, "idle, or no longer needed"),
  );
}

function variant(walk: (typeof walks)[number]): Variant {
  const values = all.map(() => 1);
  const start = [...values];
  const frames: Frame[] = [{ title: "loaded", text: "64 threads have loaded an element each and waited at the barrier.", draw: () => picture(start, undefined, "64 words in shared memory, one element each") }];
  for (const round of walk.rounds) {
    for (const a of round.adds) {
      values[a.to] += values[a.from];
      values[a.from] = 0;
    }
    const after = [...values];
    const warps = warpsOf(round.adds);
    const split = warps.filter((n) => n > 0 && n < kLanes).length;
    const most = Math.max(passes(round.adds, (a) => a.to), passes(round.adds, (a) => a.from));
    const text = [
      `${round.adds.length} thread${round.adds.length === 1 ? " adds" : "s add"} the word ${round.step} further on.`,
      split ? `${split === 2 ? "Both warps run" : "One warp runs"} with some lanes off${warps.some((n) => n === 0) ? "; the other has nothing to do" : ""}.` : `${warps.filter((n) => n === kLanes).length === 1 ? "One warp is full, the other has nothing to do" : "Both warps are full"}.`,
      most > 1 ? `Two words of a bank are wanted at once: ${most} passes, a bank conflict.` : "No two lanes of a warp meet in a bank.",
      "Then a barrier.",
    ].join(" ");
    frames.push({ title: `distance ${round.step}`, text, draw: () => picture(after, round, `${walk.name}, distance ${round.step}: ${text}`) });
  }
  return { name: walk.name, frames };
}

export function treeFigure(): HTMLElement {
  return stepper("Which threads and which banks work in each round?", h("p", { class: "soft" }, "A block of 64 threads, two warps. The same tree three times: choose a rung, step through its rounds, and compare."), walks.map(variant));
}
