// Marks at the lines of the program: the compiler's messages, findings, and counters.
import { allKernels, type KernelRef, type Metrics, type Page, type Site } from "../data";
import { fileName, short } from "../format";
import { byLine, columns, type HeatColumn, heatValue, linesOf, said } from "../views/source";

export const SOURCE = "main.cu"; // src/app/serve/workers.cpp
export const isSource = (file: string): boolean => fileName(file) === SOURCE;

export interface Message {
  line: number;
  column: number; // 0: the whole line
  severity: "error" | "warning" | "info";
  text: string;
}

/** "main.cu:3:5: error: ..." of clang, "main.cu(3): error: ..." of nvcc. */
export function compilerMessages(output: string): Message[] {
  const out: Message[] = [];
  const form = /^(?:\.\/|\/tmp\/box\/)?main\.cu(?::(\d+)(?::(\d+))?|\((\d+)\)): (?:fatal )?(error|warning|note): (.*)$/gm;
  for (const [, line, column, other, kind, text] of output.matchAll(form))
    out.push({ line: Number(line ?? other), column: Number(column ?? 0), severity: kind === "note" ? "info" : (kind as "error" | "warning"), text });
  return out;
}

export function findingMessages(page: Page): Message[] {
  const out: Message[] = [];
  for (const profile of page.profiles)
    for (const f of profile.findings) {
      const severity = ({ ERROR: "error", WARNING: "warning", INFO: "info" } as const)[f.severity ?? "ERROR"] ?? "error";
      const places = [{ file: f.file, line: f.line, role: "" }, ...(f.accesses ?? []).map((a) => ({ file: a.file, line: a.line, role: a.role ?? "" }))];
      const seen = new Set<number>();
      for (const place of places) {
        if (!place.line || !isSource(place.file) || seen.has(place.line)) continue;
        seen.add(place.line);
        out.push({ line: place.line, column: 0, severity, text: `${f.kind}: ${f.message}${f.advice ? `\n${f.advice}` : ""}` });
      }
    }
  return out;
}

export interface LineCounters {
  columns: HeatColumn[];
  lines: Map<number, Metrics[]>; // of each kernel
}

export function lineCounters(page: Page): LineCounters {
  const lines = new Map<number, Metrics[]>();
  for (const { kernel } of allKernels(page)) {
    const rows = [...linesOf(kernel), ...(kernel.inlined_lines ?? [])].filter((r) => isSource(r.file));
    for (const file of new Set(rows.map((r) => r.file)))
      for (const [line, metrics] of byLine(rows, file)) lines.set(line, [...(lines.get(line) ?? []), metrics]);
  }
  const all = [...lines.values()].flat();
  return { columns: columns.filter((c) => all.some((m) => said(m, c))).slice(0, 4), lines };
}

/** The sum over kernels; of a share the greatest. */
export function cell(metrics: Metrics[], column: HeatColumn): { text: string; value: number } {
  const values = metrics.map((m) => heatValue(m, column));
  const value = column.per ? Math.max(...values) : values.reduce((a, b) => a + b, 0);
  return { value, text: metrics.some((m) => said(m, column)) ? (column.per ? Number(value.toFixed(1)).toString() : short(value)) : "" };
}

export interface LineSite {
  ref: KernelRef;
  site: Site;
}
export function sitesOf(page: Page, line: number): LineSite[] {
  return allKernels(page).flatMap((ref) =>
    ref.kernel.sites.filter((s) => s.line === line && isSource(s.file) && (s.patterns?.length || s.space === "global" || s.space === "shared")).map((site) => ({ ref, site })),
  );
}

/** The memory instruction that moves or waits most for nothing. */
export function worstSite(page: Page): LineSite | undefined {
  const waste = (s: Site): number =>
    s.metrics.number("derived__memory_l2_theoretical_sectors_global_excessive") + s.metrics.number("derived__memory_l1_wavefronts_shared_excessive");
  const all = allKernels(page).flatMap((ref) => ref.kernel.sites.filter((s) => s.patterns?.length).map((site) => ({ ref, site })));
  return all.reduce<LineSite | undefined>((worst, one) => (!worst || waste(one.site) > waste(worst.site) ? one : worst), undefined);
}
