// The kernel's source (or its PTX) with counters beside each line; a chosen line shows its instructions and accesses.
import { type CodeRow, type Kernel, type KernelRef, type LineRow, type Metric, Metrics, type Page, type Site } from "../data";
import { type Child, h, note, section } from "../dom";
import { count, fileName, short } from "../format";
import { highlight, highlightLine, insideComments } from "../highlight";
import { definitionLink, metricValue, originBadge, originOf } from "../metric";
import { Rows } from "../rows";
import { address, go, kernelState, type State } from "../state";
import { siteCard } from "./access";

export interface HeatColumn {
  title: string;
  metric: string;
  per?: string; // shown as a ratio to this one
  percent?: boolean; // of which none is worth saying
}
export const columns: HeatColumn[] = [
  { title: "Warp inst.", metric: "inst_executed" },
  { title: "Lanes", metric: "thread_inst_executed_true", per: "inst_executed" },
  { title: "Sectors", metric: "memory_l2_theoretical_sectors_global" },
  { title: "L1 hit %", metric: "warpgrind__l1_lookup_hit.sum", per: "warpgrind__l1_lookups.sum", percent: true },
  { title: "Excess sectors", metric: "derived__memory_l2_theoretical_sectors_global_excessive" },
  { title: "Shared wavefr.", metric: "memory_l1_wavefronts_shared" },
  { title: "Bank conflicts", metric: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum" },
  { title: "Split branches", metric: "warpgrind__divergent_branches.sum" },
];

export function heatValue(m: Metrics | undefined, c: HeatColumn): number {
  if (!m) return 0;
  const value = m.number(c.metric);
  if (!c.per) return value;
  const base = m.number(c.per);
  return base ? ((c.percent ? 100 : 1) * value) / base : 0;
}

export const said = (m: Metrics | undefined, c: HeatColumn): boolean => heatValue(m, c) > 0 || (c.percent === true && (m?.number(c.per!) ?? 0) > 0);

/** Sums of a line. Where the profile has none, those of its memory and branch instructions. */
export function linesOf(kernel: Kernel): LineRow[] {
  if (kernel.lines?.length) return kernel.lines;
  const sums = new Map<string, { row: LineRow; metrics: Map<string, Metric> }>();
  for (const site of kernel.sites) {
    if (!site.line) continue;
    const key = `${site.line}:${site.file}`;
    let sum = sums.get(key);
    if (!sum)
      sums.set(key, (sum = { row: { file: site.file, line: site.line, function: site.function, metrics: new Metrics() }, metrics: new Map() }));
    for (const name of new Set(columns.flatMap((c) => (c.per ? [c.metric, c.per] : [c.metric])))) {
      const metric = site.metrics.get(name);
      if (!metric || typeof metric.value !== "number") continue;
      const old = sum.metrics.get(name);
      sum.metrics.set(name, old ? { ...old, value: (old.value as number) + metric.value } : metric);
    }
  }
  return [...sums.values()].map((s) => ({ ...s.row, metrics: Metrics.of([...s.metrics.values()]) }));
}

/** Several rows of one line (functions inlined at many places) become one. */
export function byLine(rows: LineRow[], file: string): Map<number, Metrics> {
  const lists = new Map<number, Metrics[]>();
  for (const row of rows)
    if (row.file === file) {
      const list = lists.get(row.line);
      if (list) list.push(row.metrics);
      else lists.set(row.line, [row.metrics]);
    }
  const out = new Map<number, Metrics>();
  for (const [line, list] of lists) out.set(line, list.length === 1 ? list[0] : sum(list));
  return out;
}

function sum(list: Metrics[]): Metrics {
  const total = new Map<string, Metric>();
  for (const metrics of list)
    for (const m of metrics.all()) {
      const old = total.get(m.name);
      if (old && typeof old.value === "number" && typeof m.value === "number") old.value += m.value;
      else total.set(m.name, { ...m });
    }
  return Metrics.of([...total.values()]);
}

function heatCells(metrics: Metrics | undefined, most: number[], used: HeatColumn[]): Child[] {
  return used.map((c, i) => {
    const value = heatValue(metrics, c);
    if (!said(metrics, c)) return h("span", { class: "heat" });
    const part = c.per ? 0 : Math.sqrt(value / most[i]);
    const low = c.per && !c.percent && value < 31.5;
    return h(
      "span",
      { class: low ? "heat few" : "heat", style: `--heat:${(part * 55).toFixed(0)}%`, title: `${c.metric}: ${value}` },
      c.per ? Number(value.toFixed(1)).toString() : short(value),
    );
  });
}

function header(ref: KernelRef, used: HeatColumn[], title: string): HTMLElement {
  return h(
    "div",
    { class: "source-head" },
    h("span", { class: "line-number" }, "line"),
    used.map((c) => h("span", { class: "heat" }, definitionLink(c.percent ? "l1tex__t_sector_hit_rate.pct" : c.metric, c.title), originBadge(originOf(ref.kernel.metrics, c.percent ? "modelled" : "exact")))),
    h("span", { class: "code" }, title),
  );
}

function usedColumns(all: Iterable<Metrics>): { used: HeatColumn[]; most: number[] } {
  const lists = [...all];
  const used = columns.filter((c) => lists.some((m) => said(m, c)));
  const most = used.map((c) => lists.reduce((top, m) => Math.max(top, heatValue(m, c)), 0) || 1);
  return { used, most };
}

/** The lines of a file into which something was inlined, with that something's counters. */
function callsOf(kernel: Kernel, file: string): Map<number, Metrics> {
  return byLine(kernel.inlined_lines ?? [], file);
}

/** Was the instruction inlined into the line, at any depth? */
function inlinedInto(c: CodeRow, file: string, line: number): boolean {
  return c.inlined_at?.some((a) => a.file === file && a.line === line) ?? false;
}

function sourceRows(ref: KernelRef, file: string, text: string, line: number, rows: LineRow[]): HTMLElement {
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  const comments = insideComments(lines);
  const calls = callsOf(ref.kernel, file);
  const metrics = byLine([...rows, ...(ref.kernel.inlined_lines ?? [])], file);
  const { used, most } = usedColumns(metrics.values());
  const list = new Rows({
    count: lines.length,
    rowHeight: 20,
    selected: line - 1,
    label: `${fileName(file)} with counters`,
    header: header(ref, used, fileName(file)),
    draw: (i) =>
      h(
        "div",
        { class: i + 1 === line ? "source-row chosen" : "source-row" },
        h("span", calls.has(i + 1) ? { class: "line-number call", title: "with what was inlined here, which its own lines show as well" } : { class: "line-number" }, i + 1),
        heatCells(metrics.get(i + 1), most, used),
        h("code", { class: "code" }, highlightLine(lines[i], comments[i] === 1)),
      ),
    open: (i) => go(kernelState(ref.index, "source", { file, line: String(i + 1) })),
  });
  list.element.classList.add("source");
  const busiest = [...metrics].sort((a, b) => b[1].number("inst_executed") - a[1].number("inst_executed"))[0]?.[0];
  requestAnimationFrame(() => list.show((line || busiest || 1) - 1));
  return list.element;
}

function ptxRows(ref: KernelRef, state: State): Child {
  const { kernel } = ref;
  const sites = new Map(kernel.sites.map((s) => [`${s.ptx_line}`, s]));
  const code: CodeRow[] = kernel.code?.length
    ? kernel.code
    : kernel.sites.map((s) => ({ ptx_line: s.ptx_line, text: s.ptx, file: s.file, line: s.line, block: 0 }));
  const chosen = code.findIndex((c) => c.ptx_line === Number(state.ptx));
  const { used, most } = usedColumns(kernel.sites.map((s) => s.metrics));
  const list = new Rows({
    count: code.length,
    rowHeight: 20,
    selected: chosen,
    label: "PTX with counters",
    header: header(ref, used, kernel.code?.length ? "PTX" : "PTX: memory and branch instructions"),
    draw: (i) =>
      h(
        "div",
        { class: i === chosen ? "source-row chosen" : "source-row" },
        h("span", { class: "line-number" }, code[i].ptx_line),
        heatCells(sites.get(`${code[i].ptx_line}`)?.metrics, most, used),
        h("code", { class: "code" }, highlight(code[i].text, "ptx")),
      ),
    open: (i) => go(kernelState(ref.index, "source", { code: "ptx", ptx: String(code[i].ptx_line) })),
  });
  list.element.classList.add("source");
  requestAnimationFrame(() => list.show(Math.max(0, chosen)));
  const site = sites.get(state.ptx ?? "");
  return h(
    "div",
    { class: "split" },
    list.element,
    h(
      "aside",
      { "aria-live": "polite" },
      site ? siteCard(ref, site) : note("Choose a memory instruction to see what its requests looked like."),
    ),
  );
}

function lineDetails(ref: KernelRef, file: string, line: number, rows: LineRow[]): Child {
  const { kernel } = ref;
  if (!line) return note("Choose a line: its counters, its PTX and its accesses are shown here.");
  const metrics = byLine([...rows, ...(kernel.inlined_lines ?? [])], file).get(line);
  const code = (kernel.code ?? []).filter((c) => (c.line === line && c.file === file) || inlinedInto(c, file, line));
  const inlined = new Set(code.filter((c) => inlinedInto(c, file, line)).map((c) => c.ptx_line));
  const sites = kernel.sites.filter((s) => (s.line === line && s.file === file) || inlined.has(s.ptx_line));
  const chains = new Set<string>();
  for (const c of code)
    if (c.inlined_at?.length && c.line === line && c.file === file)
      chains.add(c.inlined_at.map((a) => `${a.function ? a.function + ", " : ""}${fileName(a.file)}:${a.line}`).join(" \u2190 "));
  const headers = new Set<string>();
  for (const c of code)
    if (c.header && c.line === line && c.file === file)
      headers.add(`${c.header.function ? c.header.function + ", " : ""}${fileName(c.header.file)}:${c.header.line}`);
  return [
    h("h3", null, `${fileName(file)}:${line}`),
    metrics
      ? h(
          "dl",
          { class: "facts narrow" },
          metrics.all().map((m) => h("div", { class: "fact" }, h("dt", null, definitionLink(m.name)), h("dd", null, metricValue(m)))),
        )
      : note("Nothing of this line was executed as an instruction of its own."),
    callsOf(kernel, file).has(line) ? note("With what was inlined here, which its own lines show as well.") : null,
    [...chains].slice(0, 8).map((c) => h("p", { class: "soft" }, "inlined at ", c)),
    [...headers].slice(0, 8).map((c) => h("p", { class: "soft" }, "calls ", c)),
    code.length
      ? h(
          "details",
          { open: sites.length === 0 },
          h("summary", null, `PTX of this line (${count(code.length)})`),
          h(
            "pre",
            { class: "ptx", tabindex: 0 },
            code.map((c) => h("div", null, h("span", { class: "line-number" }, c.ptx_line), highlight(c.text, "ptx"))),
          ),
        )
      : null,
    accessesOf(ref, sites),
  ];
}

function accessesOf(ref: KernelRef, sites: Site[]): Child {
  const memory = sites.filter((s) => s.space === "global" || s.space === "shared" || s.patterns?.length);
  return memory.map((s) => siteCard(ref, s));
}

export function sourceView(_page: Page, ref: KernelRef, state: State): Child {
  const { kernel, profile } = ref;
  const rows = linesOf(kernel);
  const files = [...new Set([...rows.map((r) => r.file), ...(state.file ? [state.file] : [])])].filter(Boolean);
  const weight = new Map<string, number>();
  for (const r of rows) weight.set(r.file, (weight.get(r.file) ?? 0) + (r.function ? 1e3 : 1) + r.metrics.number("inst_executed"));
  files.sort((a, b) => (weight.get(b) ?? 0) - (weight.get(a) ?? 0));
  const file = state.file ?? files[0];
  const source = profile.sources?.find((s) => s.file === file);
  const asPtx = state.code === "ptx" || (!!state.ptx && !state.line) || !files.length;
  const switchCode = h(
    "p",
    { class: "toolbar" },
    files.length
      ? [
          h("a", { class: "button", "aria-current": asPtx ? undefined : "true", href: address(kernelState(ref.index, "source")) }, "CUDA source"),
          h(
            "a",
            { class: "button", "aria-current": asPtx ? "true" : undefined, href: address(kernelState(ref.index, "source", { code: "ptx" })) },
            "PTX",
          ),
        ]
      : null,
    !asPtx && files.length > 1
      ? h(
          "label",
          null,
          " File ",
          h(
            "select",
            { onchange: (e: Event) => go(kernelState(ref.index, "source", { file: (e.target as HTMLSelectElement).value })) },
            files.map((f) => h("option", { value: f, selected: f === file }, fileName(f))),
          ),
        )
      : null,
    kernel.lines?.length ? null : h("span", { class: "soft" }, " Counters of memory and branch instructions; --detail adds the others."),
  );
  if (asPtx)
    return section(
      "PTX",
      switchCode,
      files.length ? null : note("No source lines: compile with nvcc -lineinfo to see CUDA source instead of PTX."),
      ptxRows(ref, state),
    );
  const line = Number(state.line ?? 0);
  if (!source || source.missing)
    return section(
      "Source",
      switchCode,
      note(source?.missing ? `${file}: ${source.missing}` : `The text of ${file} is not in this profile (run with --detail).`),
      lineDetails(ref, file, line, rows),
      line ? null : rows.map((r) => h("p", null, h("a", { href: address(kernelState(ref.index, "source", { file: r.file, line: String(r.line) })) }, `line ${r.line}`))),
    );
  return section(
    "Source",
    switchCode,
    source.changed ? note("This file is newer than the program: lines and counters may not belong together. Build the program again.") : null,
    h(
      "div",
      { class: "split" },
      sourceRows(ref, file, source.text, line, rows),
      h("aside", { "aria-live": "polite" }, lineDetails(ref, file, line, rows)),
    ),
  );
}
