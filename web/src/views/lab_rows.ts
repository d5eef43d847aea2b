// Properties of lab rows for the views: which are shown, how fast they are, what they are compared with.
import type { LabRow, Model, Page, Topic } from "../data";
import { short } from "../format";

export const shown = (r: LabRow): boolean => !r.skipped && (r.verified === true || (r.blocks ?? 0) > 0);
export const derived = (r: LabRow, name: string): number => Number(r.derived?.[name] ?? 0) || 0;
export const timeOf = (r: LabRow): number => derived(r, "time_us") || r.gpu_us?.median || r.cpu_us?.median || 0;
export const hasFlop = (rows: LabRow[]): boolean => rows.some((r) => (r.flop ?? 0) > 0 && derived(r, "gflops") > 0);
export const isSwept = (r: LabRow): boolean => Object.keys(r.parameters ?? {}).length > 0;
export const label = (r: LabRow): string => r.rung + Object.entries(r.parameters ?? {}).map(([k, v]) => ` ${k} ${v}`).join("");
export const keyOf = (r: LabRow): string => `${label(r)}|${r.size_text}|${r.type}`;
export const problemOf = (r: LabRow): string => `${r.size_text}|${r.type}`;
/** "4096" of 4096x4096x4096. */
export const sizeName = (r: LabRow): string => (r.size.length > 1 && r.size.every((n) => n === r.size[0]) ? String(r.size[0]) : r.size.length > 1 ? r.size_text : short(r.size[0]));
export const elements = (r: LabRow): number => r.size.reduce((a, b) => a * b, 1);
/** "blur" of "blur / shared": of topics with several ladders. */
export const ladderOf = (r: LabRow): string => (r.rung.includes(" / ") ? r.rung.slice(0, r.rung.indexOf(" / ")) : "");

export function modelFor(page: Page, topic: Topic): Model | undefined {
  return page.models.find((m) => m.id === topic.gpu || m.name === topic.gpu) ?? page.models.find((m) => m.name === topic.device?.name);
}

export interface Measure {
  name: string;
  of: (r: LabRow) => number;
  limit: (m: Model, type: string) => number;
  limitName: string;
}

export function measureOf(rows: LabRow[]): Measure {
  if (hasFlop(rows) && rows.some((r) => r.derived?.share_of === "flops"))
    return {
      name: "GFLOP/s",
      of: (r) => derived(r, "gflops"),
      limit: (m, type) => (type === "double" ? m.fp64_gflops : m.fp32_gflops),
      limitName: "peak arithmetic without tensor cores",
    };
  if (rows.some((r) => derived(r, "gbs") > 0))
    return { name: "GB/s", of: (r) => derived(r, "gbs"), limit: (m) => m.dram_gbs, limitName: "peak bandwidth" };
  return { name: "time (\u00b5s)", of: timeOf, limit: () => 0, limitName: "" };
}

/** The rows of one size and type: the largest at which more than half of the rungs ran. At a small size that all rungs
 * can run, the launch takes the time, and reuse does not pay. */
export function mainProblem(rows: LabRow[]): LabRow[] {
  const groups = new Map<string, LabRow[]>();
  for (const r of rows) {
    const list = groups.get(problemOf(r));
    if (list) list.push(r);
    else groups.set(problemOf(r), [r]);
  }
  const most = Math.max(0, ...[...groups.values()].map((g) => g.length));
  return [...groups.values()].filter((g) => g.length > most / 2).sort((a, b) => elements(b[0]) - elements(a[0]) || b.length - a.length)[0] ?? [];
}

/** Rows of one of the ladders of a topic, at the ladder's main size. */
export const rowsOfLadder = (topic: Topic, name: string): LabRow[] => mainProblem(topic.rows.filter((r) => shown(r) && !isSwept(r) && r.role !== "host" && ladderOf(r) === name));

/** Rows of the ladder. */
export const ladderRows = (topic: Topic): LabRow[] => mainProblem(topic.rows.filter((r) => shown(r) && !isSwept(r) && r.role !== "host"));

/** The ladder at its large size; empty: the topic has none. */
export const largeRows = (topic: Topic): LabRow[] => (topic.large ?? []).filter((r) => shown(r) && (r.role === "rung" || r.role === "bound"));

/** Names of the ladders of a topic, in their order: one without a name in most. */
export const laddersOf = (topic: Topic): string[] => [...new Set(topic.rows.filter((r) => r.role === "rung" && shown(r)).map(ladderOf))];

/** The same topic on a real GPU, as far as it is kept. */
export const measuredTopic = (page: Page, topic: Topic): Topic | undefined => page.measured?.topics.find((t) => t.topic === topic.topic);
