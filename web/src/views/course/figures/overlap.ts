// Copies and kernels of several streams on one timeline, as the lab recorded it (its note "timelines"): stepped from one
// beginning of an operation to the next.
import type { Topic } from "../../../data";
import { type Child, drawing, h, s } from "../../../dom";
import { significant } from "../../../format";
import { type Frame, stepper, type Variant } from "./stepper";

type Kind = "H" | "K" | "D";
interface Span {
  stream: number;
  kind: Kind;
  begin: number; // us
  end: number;
}
interface Recorded {
  name: string;
  streams: number;
  total: number; // us
  spans: Span[];
}

const words: Record<Kind, string> = { H: "copies in", K: "runs its kernel", D: "copies out" };
const classes: Record<Kind, string> = { H: "copy-in", K: "kernel", D: "copy-out" };

/** "4 streams, depth-first, 204.8 us" and a line of letters for each stream: a letter is a share of the whole time. */
export function readTimelines(text: string): Recorded[] {
  const out: Recorded[] = [];
  for (const line of text.split("\n")) {
    const head = /^(\d+) streams?, ([a-z-]+), ([\d.]+) us/.exec(line);
    if (head) out.push({ name: `${head[1]} stream${head[1] === "1" ? "" : "s"}, ${head[2]}`, streams: Number(head[1]), total: Number(head[3]), spans: [] });
    const row = /^\s*stream (\d+) \|([HKD.]+)\|/.exec(line);
    if (!row || !out.length) continue;
    const last = out[out.length - 1];
    const each = last.total / row[2].length;
    for (const m of row[2].matchAll(/H+|K+|D+/g)) last.spans.push({ stream: Number(row[1]), kind: m[0][0] as Kind, begin: m.index * each, end: (m.index + m[0].length) * each });
  }
  return out.filter((r) => r.spans.length > 0);
}

function picture(r: Recorded, now: number, scale: number): Child {
  const left = 74;
  const width = 600;
  const row = 26;
  const x = (t: number): number => left + (width * t) / scale;
  return drawing(
    left + width + 20,
    r.streams * row + 62,
    `${r.name}, at ${significant(now)} µs`,
    Array.from({ length: r.streams }, (_, i) => [s("text", { x: left - 8, y: 24 + i * row, class: "small end" }, `stream ${i}`), s("line", { x1: left, x2: left + width, y1: 20 + i * row, y2: 20 + i * row, class: "stream" })]),
    r.spans.map((p) => {
      const state = p.end <= now ? "done" : p.begin <= now ? "on" : "later";
      return [
        s("rect", { x: x(p.begin), y: 8 + p.stream * row, width: Math.max(1, x(p.end) - x(p.begin) - 1), height: row - 4, rx: 2, class: `span ${classes[p.kind]} ${state}` }, s("title", null, `stream ${p.stream} ${words[p.kind]}, ${significant(p.begin)} to ${significant(p.end)} µs`)),
        x(p.end) - x(p.begin) > 16 ? s("text", { x: (x(p.begin) + x(p.end)) / 2, y: 24 + p.stream * row, class: `small middle span-text ${state}` }, p.kind) : null,
      ];
    }),
    s("line", { x1: x(now), x2: x(now), y1: 4, y2: r.streams * row + 12, class: "time-mark" }),
    s("text", { x: x(now), y: r.streams * row + 26, class: `small ${now > scale * 0.8 ? "end" : "middle"}` }, `${significant(now)} µs`),
    s("text", { x: left, y: r.streams * row + 52, class: "small" }, "H: copy to the device   K: kernel   D: copy to the host"),
  );
}

function framesOf(r: Recorded, scale: number): Frame[] {
  const at = [...new Set(r.spans.map((p) => p.begin))].sort((a, b) => a - b);
  const frames = at.map((t): Frame => {
    const on = r.spans.filter((p) => p.begin <= t + 1e-9 && p.end > t + 1e-9);
    const text = on.map((p) => `Stream ${p.stream} ${words[p.kind]}`).join(". ");
    const kinds = new Set(on.map((p) => p.kind)).size;
    return { title: `${significant(t)} µs`, text: `${text}. ${kinds > 1 ? `${kinds === 3 ? "All three" : "Two"} kinds of work at once.` : "Nothing else runs."}`, draw: () => picture(r, t, scale) };
  });
  frames.push({ title: `${significant(r.total)} µs`, text: `All done. One after the other, the same pieces would take ${significant(r.spans.reduce((n, p) => n + p.end - p.begin, 0))} µs.`, draw: () => picture(r, r.total, scale) });
  return frames;
}

/** Undefined where the run left no timelines. */
export function overlapFigure(topic: Topic): HTMLElement | undefined {
  const all = topic.notes.filter((n) => n.title.startsWith("timelines")).flatMap((n) => readTimelines(n.text));
  const chosen = all.filter((r) => r.streams <= 4 && (r.streams > 1 || r.name.endsWith("depth-first")));
  if (!chosen.length) return undefined;
  const scale = Math.max(...chosen.map((r) => r.total));
  const variants: Variant[] = chosen.map((r) => ({ name: r.name, frames: framesOf(r, scale) }));
  return stepper("Who works while the others copy?", h("p", { class: "soft" }, "The timeline that the lab recorded, to the resolution of its note. Choose the number of streams and step from one beginning to the next."), variants);
}
