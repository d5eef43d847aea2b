// One rung of a ladder beside another: what differs in their sources, the counters of both, and how the requests of the
// memory instruction that matters looked.
import type { LabRow, Page, RowKernel, Site, SourceText, Topic } from "../../data";
import { type Child, h, note } from "../../dom";
import { fileName, shortKernel, significant } from "../../format";
import { highlightLine, insideComments } from "../../highlight";
import { type DiffRow, diffLines, isSame } from "../../line_diff";
import { metricValue } from "../../metric";
import { termLink } from "../../course";
import { siteCard } from "../access";
import { label } from "../lab_rows";

const kAround = 3; // lines of context around a change
const kChanged = 0.005; // a counter that moved by less is the same

// With the term of the glossary that explains it.
const counters: [label: string, metric: string, term?: string][] = [
  ["kernel time", "gpu__time_duration.sum"],
  ["launches", "warpgrind__launches.sum", "kernel"],
  ["warp instructions (PTX)", "warpgrind__ptx_inst_executed.sum", "warp"],
  ["global load requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request"],
  ["sectors of global loads", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector"],
  ["sectors a load request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "coalescing"],
  ["global store requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "request"],
  ["sectors of global stores", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector"],
  ["sectors a store request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "coalescing"],
  ["L1 hit rate", "l1tex__t_sector_hit_rate.pct", "L1"],
  ["L2 hit rate", "lts__t_sector_hit_rate.pct", "L2"],
  ["DRAM bytes read", "dram__bytes_read.sum", "global memory"],
  ["DRAM bytes written", "dram__bytes_write.sum", "global memory"],
  ["shared memory wavefronts", "memory_l1_wavefronts_shared", "wavefront"],
  ["bank conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "bank conflict"],
  ["divergent branches (PTX)", "warpgrind__divergent_branches.sum", "divergence"],
  ["barriers", "warpgrind__ptx_inst_executed_op_barrier.sum", "barrier"],
  ["registers a thread", "launch__registers_per_thread", "register"],
  ["theoretical occupancy", "sm__maximum_warps_per_active_cycle_pct", "occupancy"],
];

const metric = (s: Site, name: string): number => s.metrics.number(name);
/** Passes that need not be, and all of them: a sector is a quarter of what L1 moves at a time. */
const waste = (s: Site): number => metric(s, "derived__memory_l2_theoretical_sectors_global_excessive") / 4 + metric(s, "derived__memory_l1_wavefronts_shared_excessive");
const traffic = (s: Site): number => metric(s, "warpgrind__sectors.sum") / 4 + metric(s, "memory_l1_wavefronts_shared");

interface Choice {
  kernel: RowKernel;
  site: Site;
}
const choices = (r: LabRow): Choice[] => (r.kernels ?? []).flatMap((kernel) => kernel.sites.map((site) => ({ kernel, site })));

function most(list: Choice[], of: (s: Site) => number): Choice | undefined {
  return list.reduce<Choice | undefined>((best, c) => (of(c.site) > (best ? of(best.site) : 0) ? c : best), undefined);
}

/** The access of a row that wastes most. If none wastes, the counterpart of the one that wastes most in the other row. */
function thatMatters(row: LabRow, other: LabRow): Choice | undefined {
  const own = choices(row);
  const worst = most(own, waste);
  if (worst) return worst;
  const there = most(choices(other), waste) ?? most(choices(other), traffic);
  const alike = own.filter((c) => there && c.site.space === there.site.space && c.site.kind === there.site.kind);
  return most(alike, traffic) ?? most(own, traffic) ?? own[0];
}

/** The memory instruction that a row is shown by: what its chapter names ("shared load"), else what matters. */
function chosenAccess(row: LabRow, other: LabRow, wanted: string | undefined): Choice | undefined {
  const named = wanted ? choices(row).filter((c) => `${c.site.space} ${c.site.kind}` === wanted) : [];
  return most(named, (s) => metric(s, "inst_executed")) ?? thatMatters(row, other);
}

/** Do requests of two instructions look the same? Then it is not memory that makes the difference. */
function alike(a: Choice, b: Choice): boolean {
  const [p, q] = [a.site.patterns?.[0], b.site.patterns?.[0]];
  return !!p && !!q && a.site.space === b.site.space && a.site.kind === b.site.kind && p.lane_bytes === q.lane_bytes && p.alignment === q.alignment && p.mask === q.mask && p.sectors === q.sectors && p.wavefronts === q.wavefronts && p.addresses.join() === q.addresses.join();
}

function accessCard(row: LabRow, title: string, first: Choice | undefined): Child {
  const own = choices(row);
  if (!first) return note(`${label(row)}: no accesses of its own to memory were recorded.`);
  const holder = h("div", null);
  const show = (c: Choice): void => holder.replaceChildren(siteCard(undefined, c.site, waste(c.site) > 0 ? c.site.worst ?? 0 : 0));
  show(first);
  const name = (c: Choice): string =>
    `${(row.kernels?.length ?? 0) > 1 ? shortKernel(c.kernel.name) + ": " : ""}${c.site.space} ${c.site.kind}${c.site.line ? `, line ${c.site.line}` : ""}: ${c.site.ptx}`;
  return h(
    "div",
    { class: "step-access" },
    h("h5", null, title),
    own.length > 1
      ? h(
          "label",
          null,
          "Instruction ",
          h(
            "select",
            { "aria-label": `Memory instruction of ${label(row)}`, onchange: (e: Event) => show(own[Number((e.target as HTMLSelectElement).value)]) },
            own.map((c, i) => h("option", { value: i, selected: c.site === first.site && c.kernel === first.kernel }, name(c))),
          ),
        )
      : null,
    holder,
  );
}

/** The access that matters, before and after; `wanted`: of rungs, as a chapter names it. */
export function accessPair(before: LabRow, after: LabRow, wanted: Record<string, string>): Child {
  const a = chosenAccess(before, after, wanted[before.rung]);
  const b = chosenAccess(after, before, wanted[after.rung]);
  if (!a && !b) return note("Neither of them has accesses to memory that were recorded.");
  if (a && b && alike(a, b))
    return [
      h("h4", null, "The access, the same in both"),
      h("p", { class: "soft" }, "Both ask memory for the same: the difference lies elsewhere."),
      h("div", { class: "step-accesses" }, accessCard(after, `${label(before)} and ${label(after)}`, b)),
    ];
  return [h("h4", null, "The access that matters, before and after"), h("div", { class: "step-accesses" }, accessCard(before, label(before), a), accessCard(after, label(after), b))];
}

function change(before: number, after: number): string {
  if (!before || !after || before === after) return before === after ? "" : after ? "new" : "gone";
  const factor = after / before;
  return factor > 1 ? `\u00d7 ${significant(factor)}` : `\u00f7 ${significant(1 / factor)}`;
}

/** The counters that changed, telling ones first; all of them where nothing did. */
export function counterTable(page: Page, before: LabRow, after: LabRow): Child {
  const of = (r: LabRow, m: string): number => r.metrics?.number(m) ?? 0;
  const known = counters.filter(([, m]) => before.metrics?.has(m) || after.metrics?.has(m));
  const changed = known.filter(([, m]) => Math.abs(of(after, m) - of(before, m)) > kChanged * Math.max(Math.abs(of(before, m)), Math.abs(of(after, m))));
  if (!known.length) return note("No counters were recorded for these rows.");
  const row = ([name, m, term]: (typeof counters)[number]): HTMLElement =>
    h(
      "tr",
      null,
      h("td", null, term ? termLink(page, term, name) : name),
      [before, after].map((r) => h("td", { class: "number" }, r.metrics?.has(m) ? metricValue(r.metrics.get(m)) : "0")),
      h("td", { class: "number" }, change(of(before, m), of(after, m))),
    );
  const rest = known.length - changed.length;
  return [
    changed.length
      ? h(
          "div",
          { class: "scroll", tabindex: 0 },
          h(
            "table",
            { "aria-label": `Counters of ${label(before)} and ${label(after)} that differ`, class: "step-counters" },
            h("thead", null, h("tr", null, h("th", { scope: "col" }, "Counter"), [before, after].map((r) => h("th", { scope: "col", class: "number" }, label(r))), h("th", { scope: "col", class: "number" }, "Change"))),
            h("tbody", null, changed.map(row)),
          ),
        )
      : null,
    h("p", { class: "soft" }, changed.length ? `${rest} other counters are the same.` : `All ${rest} counters are the same.`),
  ];
}

interface Text {
  lines: string[];
  numbers: number[]; // in their files
  comments: Uint8Array;
}

/** All functions of a row's kernels, each once, with an empty line between. */
function textOf(topic: Topic, row: LabRow): Text {
  const keys = new Set((row.kernels ?? []).flatMap((k) => k.sources));
  const lines: string[] = [];
  const numbers: number[] = [];
  for (const key of keys) {
    const source = topic.sources?.find((s: SourceText) => s.key === key);
    if (!source) continue;
    if (lines.length) {
      lines.push("");
      numbers.push(0);
    }
    source.text.replace(/\n$/, "").split("\n").forEach((line, i) => {
      lines.push(line);
      numbers.push(source.line + i);
    });
  }
  return { lines, numbers, comments: insideComments(lines) };
}

/** Rows to show; null: lines between that are the same. */
function withContext(rows: DiffRow[], before: string[], after: string[]): (DiffRow | number)[] {
  const near = new Uint8Array(rows.length);
  rows.forEach((row, i) => {
    if (isSame(row, before, after)) return;
    near.fill(1, Math.max(0, i - kAround), i + kAround + 1);
  });
  const out: (DiffRow | number)[] = [];
  for (let i = 0; i < rows.length; ) {
    if (near[i]) {
      out.push(rows[i++]);
      continue;
    }
    const begin = i;
    while (i < rows.length && !near[i]) ++i;
    if (i - begin <= 2) out.push(...rows.slice(begin, i));
    else out.push(i - begin);
  }
  return out;
}

const columns = (texts: number): HTMLElement => h("colgroup", null, Array.from({ length: texts }, () => [h("col", { class: "number-column" }), h("col", null)]));

export function sourceDiff(topic: Topic, beforeRow: LabRow, afterRow: LabRow): Child {
  const before = textOf(topic, beforeRow);
  const after = textOf(topic, afterRow);
  const names = (r: LabRow): Child => h("code", null, (r.kernels ?? []).map((k) => shortKernel(k.name)).join(", "));
  if (!before.lines.length || !after.lines.length) return note("The sources of these kernels were not found.");
  const rows = diffLines(before.lines, after.lines);
  const parts = rows.every((r) => isSame(r, before.lines, after.lines)) ? rows : withContext(rows, before.lines, after.lines);
  const unchanged = parts === rows;
  const code = (t: Text, i: number | undefined, kind: string, sign: string): HTMLElement[] => [
    h("td", { class: `line-number ${kind}` }, i === undefined ? "" : t.numbers[i] || ""),
    h("td", { class: `code ${kind}` }, i === undefined ? "" : [sign ? h("span", { class: "sign" }, sign) : null, highlightLine(t.lines[i], t.comments[i] === 1)]),
  ];
  const gap = (n: number, columns: number): HTMLElement => h("tr", { class: "gap" }, h("td", { colspan: columns }, `${n} lines that are the same`));
  const side = parts.map((p) => {
    if (typeof p === "number") return gap(p, 4);
    const equal = isSame(p, before.lines, after.lines);
    return h("tr", null, code(before, p.before, equal ? "" : p.before === undefined ? "none" : "gone", equal ? "" : "\u2212"), code(after, p.after, equal ? "" : p.after === undefined ? "none" : "fresh", equal ? "" : "+"));
  });
  // One below the other: of a change first all that is gone.
  const unified: HTMLElement[] = [];
  let fresh: HTMLElement[] = [];
  const flush = (): void => {
    unified.push(...fresh);
    fresh = [];
  };
  for (const p of parts) {
    if (typeof p === "number" || isSame(p, before.lines, after.lines)) {
      flush();
      unified.push(typeof p === "number" ? gap(p, 2) : h("tr", null, code(after, p.after, "", "")));
      continue;
    }
    if (p.before !== undefined) unified.push(h("tr", null, code(before, p.before, "gone", "\u2212")));
    if (p.after !== undefined) fresh.push(h("tr", null, code(after, p.after, "fresh", "+")));
  }
  flush();
  const files = new Set([...(beforeRow.kernels ?? []), ...(afterRow.kernels ?? [])].flatMap((k) => k.sources).map((key) => fileName(key.slice(0, key.lastIndexOf(":")))));
  return [
    h("p", { class: "soft" }, [...files].join(", "), unchanged ? [": both run the same source, as ", names(beforeRow), " and ", names(afterRow)] : [": ", names(beforeRow), " beside ", names(afterRow)]),
    h("table", { class: "diff side", "aria-label": `Source of ${label(beforeRow)} beside that of ${label(afterRow)}` }, columns(2), h("tbody", null, side)),
    h("table", { class: "diff unified", "aria-label": `What changes in the source from ${label(beforeRow)} to ${label(afterRow)}` }, columns(1), h("tbody", null, unified)),
  ];
}

