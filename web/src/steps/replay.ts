// A recording that can be looked at after any of its steps, forwards and backwards.
import type { RecordedAccess, Recording, RecordedStep } from "../profile_types";
import { has, lanesOf, mask, numbers, texts } from "./lanes";

export interface Access {
  kind: string;
  space: string;
  bytes: number; // of a lane
  lanes: number[];
  addresses: number[]; // of these lanes
  sizes?: number[];
  words?: number[]; // what memory holds after the access, lane by lane
  raw: RecordedAccess;
}

export interface Step {
  warp: number;
  place: number;
  lanes: number; // mask
  accesses: Access[];
  unwritten: number; // words of shared memory that it reads, and that hold a byte that nothing wrote
  raw: RecordedStep;
}

/** Shared memory after a step, by words of 4 bytes. A number n of a step is kept as n + 1; 0: never. */
export interface Memory {
  bytes: Uint8Array;
  defined: Uint8Array; // 1: the byte was written
  written: Int32Array;
  read: Int32Array;
}

export type WarpState = "waits" | "not begun" | "done" | "ready" | "here";

const kBetween = 256; // steps from one kept memory to the next

export const writes = (a: Access): boolean => a.kind !== "load";
export const sizeOf = (a: Access, i: number): number => a.sizes?.[i] ?? a.bytes;

/** The words of shared memory that an access touches; for each lane. */
export function wordsOf(a: Access, i: number): [first: number, last: number] {
  const at = a.addresses[i];
  return [Math.floor(at / 4), Math.floor((at + Math.max(1, sizeOf(a, i)) - 1) / 4)];
}

export class Replay {
  readonly steps: Step[];
  readonly warps: number[];
  readonly ofWarp = new Map<number, number[]>(); // its steps
  readonly existing = new Map<number, number>(); // lanes of a warp
  readonly barriers: number; // at which the block waits
  private readonly values = new Map<string, { step: number; text: string }[][]>(); // "warp variable": by lane
  private readonly kept: Memory[] = [];
  private memory: Memory;
  private at = -1;

  constructor(readonly recording: Recording) {
    const last = new Map<number, number>();
    this.steps = recording.steps.map((raw) => {
      const lanes = raw.lanes ? mask(raw.lanes) : (last.get(raw.warp) ?? 0);
      last.set(raw.warp, lanes);
      return { warp: raw.warp, place: raw.place, lanes, accesses: (raw.accesses ?? []).map(decode), unwritten: 0, raw };
    });
    const [x, y, z] = recording.block;
    const threads = x * y * z;
    this.steps.forEach((step, i) => {
      const list = this.ofWarp.get(step.warp);
      if (list) list.push(i);
      else this.ofWarp.set(step.warp, [i]);
      const lanes = Math.min(32, threads - 32 * step.warp);
      this.existing.set(step.warp, lanes >= 32 ? 0xffffffff : (1 << lanes) - 1);
      for (const change of step.raw.changes ?? []) {
        const key = `${step.warp} ${change.variable}`;
        let lanes = this.values.get(key);
        if (!lanes) this.values.set(key, (lanes = Array.from({ length: 32 }, () => [])));
        const all = texts(change.values);
        lanesOf(mask(change.mask)).forEach((lane, n) => lanes![lane].push({ step: i, text: all[n] ?? "" }));
      }
    });
    this.warps = [...this.ofWarp.keys()].sort((a, b) => a - b);
    this.barriers = new Set(this.steps.flatMap((s) => s.raw.waits ?? [])).size;
    this.memory = this.empty();
    this.findUnwritten();
  }

  private findUnwritten(): void {
    const defined = new Uint8Array(this.recording.shared_bytes);
    for (const step of this.steps) {
      if (step.raw.accesses_left_out) return; // they may have written
      const words = new Set<number>();
      for (const a of step.accesses)
        if (a.space === "shared")
          a.lanes.forEach((_, i) => {
            for (let at = a.addresses[i]; at < Math.min(a.addresses[i] + sizeOf(a, i), defined.length); ++at) {
              if (!defined[at] && (a.kind === "load" || a.kind === "atomic" || a.kind === "reduction")) words.add(Math.floor(at / 4));
              if (writes(a)) defined[at] = 1;
            }
          });
      step.unwritten = words.size;
    }
  }

  private empty(): Memory {
    const words = Math.ceil(this.recording.shared_bytes / 4);
    return { bytes: new Uint8Array(words * 4), defined: new Uint8Array(words * 4), written: new Int32Array(words), read: new Int32Array(words) };
  }

  /** The step of the warp that follows `at`; undefined: there is none. */
  next(warp: number, at: number): number | undefined {
    const list = this.ofWarp.get(warp) ?? [];
    return list[after(list, at)];
  }
  previous(warp: number, at: number): number | undefined {
    const list = this.ofWarp.get(warp) ?? [];
    const next = after(list, at - 1);
    return list[next - 1];
  }
  /** The last step of the warp up to `at`. */
  latest(warp: number, at: number): number | undefined {
    return this.previous(warp, at + 1);
  }

  state(warp: number, at: number): WarpState {
    if (this.steps[at]?.warp === warp) return "here";
    const before = this.latest(warp, at);
    if (before === undefined) return "not begun";
    const next = this.next(warp, at);
    if (next === undefined && !this.recording.cut) return "done";
    return this.waitsAt(warp, at) ? "waits" : "ready";
  }

  /** The barrier where the warp waits after step `at`. */
  waitsAt(warp: number, at: number): string | undefined {
    const before = this.latest(warp, at);
    const barrier = before === undefined ? undefined : this.steps[before].raw.waits;
    if (before === undefined || barrier === undefined) return undefined;
    for (let i = before; i <= at; ++i) if (this.steps[i].raw.opens === barrier) return undefined;
    return barrier;
  }

  /** Where the warp stands after step `at`: the place of that step, or of its next one. */
  placeOf(warp: number, at: number): number | undefined {
    if (this.steps[at]?.warp === warp) return this.steps[at].place;
    const waiting = this.waitsAt(warp, at) !== undefined ? this.latest(warp, at) : this.next(warp, at);
    const last = waiting ?? this.latest(warp, at);
    return last === undefined ? undefined : this.steps[last].place;
  }

  /** Where the lanes of step `at` go on, in the order in which they do; place -1: they leave the kernel. */
  goesOn(at: number): { place: number; lanes: number[] }[] {
    const { warp, lanes } = this.steps[at];
    const list = this.ofWarp.get(warp) ?? [];
    const out: { place: number; lanes: number[] }[] = [];
    let missing = lanes;
    for (let i = after(list, at); i < list.length && missing; ++i) {
      const step = this.steps[list[i]];
      const found = lanesOf((step.lanes & missing) >>> 0);
      if (found.length) out.push({ place: step.place, lanes: found });
      missing = (missing & ~step.lanes) >>> 0;
    }
    if (missing && !this.recording.cut) out.push({ place: -1, lanes: lanesOf(missing) });
    return out;
  }

  /** Where each lane of the warp is or goes next; -1: it has left the kernel, or does not exist. */
  lanePlaces(warp: number, at: number): { place: number; active: boolean }[] {
    const out = Array.from({ length: 32 }, () => ({ place: -1, active: false }));
    const stays = this.steps[at]?.warp === warp || this.waitsAt(warp, at) !== undefined;
    const own = (stays ? undefined : this.next(warp, at)) ?? this.latest(warp, at);
    const active = own === undefined ? 0 : this.steps[own].lanes;
    let missing = 0;
    for (let lane = 0; lane < 32; ++lane) {
      if (has(active, lane)) out[lane] = { place: this.steps[own!].place, active: true };
      else missing = (missing | (1 << lane)) >>> 0;
    }
    const list = this.ofWarp.get(warp) ?? [];
    for (let i = after(list, own ?? -1); i < list.length && missing; ++i) {
      const step = this.steps[list[i]];
      for (const lane of lanesOf((step.lanes & missing) >>> 0)) out[lane] = { place: step.place, active: false };
      missing = (missing & ~step.lanes) >>> 0;
    }
    return out;
  }

  /** Values of a variable after step `at`, by lane. */
  valuesOf(variable: number, warp: number, at: number): (string | undefined)[] {
    const lanes = this.values.get(`${warp} ${variable}`);
    return Array.from({ length: 32 }, (_, lane) => {
      const list = lanes?.[lane];
      if (!list?.length || list[0].step > at) return undefined;
      let low = 0;
      for (let high = list.length - 1; low < high; ) {
        const middle = (low + high + 1) >> 1;
        if (list[middle].step <= at) low = middle;
        else high = middle - 1;
      }
      return list[low].text;
    });
  }

  /** The step that changed the variable last, in any lane; -1: none up to `at`. */
  changedAt(variable: number, warp: number, at: number): number {
    let last = -1;
    for (const list of this.values.get(`${warp} ${variable}`) ?? []) for (const { step } of list) if (step <= at && step > last) last = step;
    return last;
  }

  memoryAt(at: number): Memory {
    if (at < this.at) {
      const from = Math.min(Math.floor((at + 1) / kBetween), this.kept.length - 1);
      this.memory = from < 0 ? this.empty() : copy(this.kept[from]);
      this.at = from < 0 ? -1 : from * kBetween - 1;
    }
    while (this.at < at) {
      if ((this.at + 1) % kBetween === 0 && this.kept.length === (this.at + 1) / kBetween) this.kept.push(copy(this.memory));
      this.apply(++this.at);
    }
    return this.memory;
  }

  private apply(at: number): void {
    for (const a of this.steps[at].accesses) {
      if (a.space !== "shared") continue;
      let word = 0;
      a.lanes.forEach((_, i) => {
        const [first, last] = wordsOf(a, i);
        for (let w = first; w <= last && w < this.memory.read.length; ++w) {
          if (writes(a)) this.memory.written[w] = at + 1;
          if (a.kind === "load" || a.kind === "atomic") this.memory.read[w] = at + 1;
        }
        const size = sizeOf(a, i);
        for (let done = 0; a.words && writes(a) && done < size; done += 4, ++word)
          for (let b = 0; b < Math.min(4, size - done); ++b) {
            const to = a.addresses[i] + done + b;
            if (to < this.memory.bytes.length) this.memory.bytes[to] = ((a.words[word] ?? 0) >>> (8 * b)) & 255;
          }
        if (writes(a)) this.memory.defined.fill(1, a.addresses[i], a.addresses[i] + size);
      });
    }
  }
}

const copy = (m: Memory): Memory => ({ bytes: m.bytes.slice(), defined: m.defined.slice(), written: m.written.slice(), read: m.read.slice() });

/** Index of the first number in the sorted list that is greater than `at`. */
function after(list: number[], at: number): number {
  let low = 0;
  for (let high = list.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (list[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function decode(raw: RecordedAccess): Access {
  return {
    kind: raw.kind,
    space: raw.space,
    bytes: raw.bytes,
    lanes: lanesOf(mask(raw.mask)),
    addresses: numbers(raw.addresses),
    sizes: raw.sizes ? numbers(raw.sizes) : undefined,
    words: raw.values ? numbers(raw.values) : undefined,
    raw,
  };
}
