// Data of the page: profiles and results of the lab, packed by src/analysis/report/page_data.cpp and unpacked here.
// Any part may be missing: older profiles and runs without --detail lack parts.

import type { Course } from "./course";
import type { Definition, Kernel, MetricValue, Model, Origin, Profile, Recording, Site, SourceFile } from "./profile_types";

export type * from "./profile_types";

export interface Metric extends MetricValue {
  name: string;
}

type MetricKey = [name: string, unit: string, origin: Origin];
let metricKeys: MetricKey[] = [];

/** Counters of a kernel, site or line: pairs of (index into the table, value). */
export class Metrics {
  private positions?: Map<string, number>;
  constructor(private readonly flat: (number | string)[] = []) {}
  private find(name: string): number {
    if (this.flat.length <= 32) {
      for (let i = 0; i < this.flat.length; i += 2) if (metricKeys[this.flat[i] as number]?.[0] === name) return i;
      return -1;
    }
    if (!this.positions) {
      this.positions = new Map();
      for (let i = 0; i < this.flat.length; i += 2) this.positions.set(metricKeys[this.flat[i] as number][0], i);
    }
    return this.positions.get(name) ?? -1;
  }
  get(name: string): Metric | undefined {
    const i = this.find(name);
    if (i < 0) return undefined;
    const [, unit, origin] = metricKeys[this.flat[i] as number];
    return { name, value: this.flat[i + 1], unit, origin };
  }
  /** 0 when it is not there. */
  number(name: string): number {
    const i = this.find(name);
    const value = i < 0 ? 0 : this.flat[i + 1];
    return typeof value === "number" ? value : 0;
  }
  text(name: string): string {
    const i = this.find(name);
    return i < 0 ? "" : String(this.flat[i + 1]);
  }
  has(name: string): boolean {
    return this.find(name) >= 0;
  }
  all(): Metric[] {
    const out: Metric[] = [];
    for (let i = 0; i < this.flat.length; i += 2) {
      const [name, unit, origin] = metricKeys[this.flat[i] as number];
      out.push({ name, unit, origin, value: this.flat[i + 1] });
    }
    return out;
  }
  /** From the form of a profile file. */
  static from(named: Record<string, MetricValue>): Metrics {
    return Metrics.of(Object.entries(named).map(([name, m]) => ({ ...m, name })));
  }
  static of(metrics: Metric[]): Metrics {
    const flat: (number | string)[] = [];
    for (const m of metrics) {
      let index = metricKeys.findIndex((k) => k[0] === m.name && k[1] === m.unit && k[2] === m.origin);
      if (index < 0) index = metricKeys.push([m.name, m.unit, m.origin]) - 1;
      flat.push(index, m.value);
    }
    return new Metrics(flat);
  }
}

export interface Timing {
  median: number;
  low: number;
  high: number;
  count: number;
}
/** The launches of a kernel in a row's range, of a detailed run. */
export interface RowKernel {
  name: string;
  launches: number;
  sites: Site[]; // those with patterns
  bounds?: { limit: string; ns: number }[]; // of the estimated time, the longest first
  sources: string[]; // keys of the topic's, the kernel's own function first
}
export interface SourceText {
  key: string;
  file: string;
  line: number; // of the first of the text
  text: string;
}
export interface LabRow {
  rung: string;
  what: string;
  role: string;
  size: number[];
  size_text: string;
  type: string;
  parameters: Record<string, number>;
  range: string;
  skipped?: string;
  verified?: boolean;
  blocks?: number; // about so many of each launch ran: estimated, not verified
  bytes?: number;
  flop?: number;
  origin?: Origin;
  gpu_us?: Timing;
  cpu_us?: Timing;
  metrics?: Metrics;
  derived?: Record<string, number | string>;
  kernels?: RowKernel[];
  recordings?: number[]; // of the topic
}
export interface Topic {
  topic: string;
  title: string;
  document: string;
  shows: string;
  gpu: string;
  virtual: boolean;
  error: string;
  device: Record<string, number | string>;
  rows: LabRow[];
  notes: { title: string; text: string }[];
  models: Topic[];
  large?: LabRow[]; // the ladder at a size where its lesson holds, from some blocks of each launch
  sources?: SourceText[];
  recordings?: Recording[]; // `warpgrind lab --steps`: a block of each kernel of each rung, at a small size
  recorded_sources?: SourceFile[];
  no_recordings?: string; // why --steps recorded nothing
}
export interface Lab {
  command: string;
  date: string;
  machine: string;
  on: string;
  full: boolean;
  topics: Topic[];
  left_out?: { topic: string; reason: string }[]; // what the build had no program for
}
/** The same accesses on all GPU models (src/analysis/report/access_rule_table.h). */
export interface RuleExample {
  name: string;
  bytes: number; // a lane
  addresses: (number | null)[];
}
export interface RuleTable {
  global: RuleExample[];
  shared: RuleExample[];
  models: { id: string; name: string; architecture: string; cc: string; rule: string; banks: number; global: [offset: number, bytes: number][][]; shared: number[] }[];
}
export interface BaselineChange {
  label: string;
  metric: string;
  unit: string;
  before: number;
  after: number;
  verdict: "better" | "worse" | "";
  origin: Origin;
}
export interface BaselineLine {
  file: string;
  text: string;
  before: number; // number of the line; 0: not there
  after: number;
  changes: BaselineChange[];
}
export interface BaselineKernel {
  name: string;
  state: "both" | "new" | "gone";
  changes: BaselineChange[];
  lines: BaselineLine[];
}
/** Changes since an earlier profile, as src/analysis/report/diff_json.h writes it. */
export interface Baseline {
  file: string;
  command: string;
  notes: string[];
  kernels: BaselineKernel[];
}
export interface Page {
  title: string;
  version: string;
  profiles: Profile[];
  lab?: Lab;
  measured?: Lab; // the same topics on a real GPU
  course?: Course; // texts of the lab's chapters
  rules?: RuleTable; // what the same accesses cost on all GPU models
  baseline?: Baseline;
  models: Model[];
  definitions: Record<string, Definition>;
}

/** A kernel and the profile it is from. */
export interface KernelRef {
  profile: Profile;
  kernel: Kernel;
  index: number;
}

interface Table {
  $keys: string[];
  $rows: unknown[][];
  $words?: Record<string, unknown[]>;
}

function unpack(value: unknown, key: string): unknown {
  if (Array.isArray(value)) {
    if (key === "metrics") return new Metrics(value as (number | string)[]);
    for (let i = 0; i < value.length; ++i) {
      if (typeof value[i] !== "object" || value[i] === null) continue;
      value[i] = unpack(value[i], "");
    }
    return value;
  }
  if (typeof value !== "object" || value === null) return value;
  const table = value as Partial<Table>;
  if (table.$keys && table.$rows) {
    const keys = table.$keys;
    const words = keys.map((k) => table.$words?.[k]?.map((word) => unpack(word, k)));
    return table.$rows.map((row) => {
      const out: Record<string, unknown> = {};
      for (let i = 0; i < keys.length; ++i) {
        const list = words[i];
        out[keys[i]] = list ? list[row[i] as number] : unpack(row[i], keys[i]);
      }
      return out;
    });
  }
  const object = value as Record<string, unknown>;
  for (const k of Object.keys(object)) {
    const member = object[k];
    if (typeof member !== "object" || member === null) continue;
    object[k] = k === "metrics" && !Array.isArray(member) ? Metrics.from(member as Record<string, MetricValue>) : unpack(member, k);
  }
  return object;
}

export function readPage(text: string): Page {
  const raw = JSON.parse(text) as Page & { metric_keys: MetricKey[] };
  metricKeys = raw.metric_keys ?? [];
  return unpack(raw, "") as Page;
}

export function allKernels(page: Page): KernelRef[] {
  const out: KernelRef[] = [];
  for (const profile of page.profiles)
    for (const kernel of profile.kernels) out.push({ profile, kernel, index: out.length });
  return out;
}

export function modelOf(page: Page, profile: Profile): Model | undefined {
  return profile.model ?? page.models.find((m) => m.name === profile.gpu || m.id === profile.gpu);
}

export const TIME = "gpu__time_duration.sum";

/** Bytes that global accesses move between L1 and L2. */
export function globalBytes(m: Metrics): number {
  let sum = 0;
  for (const op of ["ld", "st", "atom", "red"]) sum += m.number(`warpgrind__global_op_${op}_transaction_bytes.sum`);
  return sum;
}
