// Kernels by time and by bytes, what limits each, and what is worth doing first.
import { type Advice, allKernels, globalBytes, type KernelRef, type Page, type Profile, TIME } from "../data";
import { type Child, h, note, section } from "../dom";
import { bytes, count, figure, fileName, percent, shortKernel, significant, time, withUnit } from "../format";
import { definitionLink, fact, legend, metricValue, originBadge, originOf } from "../metric";
import { address, go, kernelState } from "../state";
import { bar, table } from "../table";

interface Ranked {
  ref: KernelRef;
  advice: Advice;
  saved: number; // estimated ns
  others: KernelRef[]; // that the same rule found
}

export function placeLinks(ref: KernelRef, places: Advice["places"], most = 4): Child {
  const shown = places.slice(0, most).map((p) => {
    const label = p.line ? `${fileName(p.file)}:${p.line}` : `PTX line ${p.ptx_line}`;
    const where = p.line ? { file: p.file, line: String(p.line) } : { ptx: String(p.ptx_line) };
    return h("a", { href: address(kernelState(ref.index, "source", where)), class: "place" }, label);
  });
  return [shown, places.length > most ? ` and ${places.length - most} more` : null];
}

// The time model's estimate with and without the cause. Files of earlier versions have only the gain.
function gainText(advice: Advice): string {
  if (!advice.time_ns) return `up to ${percent(advice.estimated_gain)} of its time`;
  return `${time(advice.time_ns)} \u2192 ${time(advice.without_cause_ns ?? 0)}, ${percent(advice.estimated_gain)} less`;
}

export function adviceCard(ref: KernelRef, advice: Advice, others?: KernelRef[]): HTMLElement {
  return h(
    "li",
    { class: "advice" },
    h("h3", null, advice.title),
    others
      ? h(
          "p",
          { class: "in" },
          "in ",
          h("a", { href: address(kernelState(ref.index, "overview")) }, ref.kernel.name),
          others.slice(0, 4).map((r) => [", ", h("a", { href: address(kernelState(r.index, "overview")) }, shortKernel(r.kernel.name))]),
          others.length > 4 ? ` and ${others.length - 4} more` : null,
        )
      : null,
    h("p", null, advice.text),
    h(
      "p",
      { class: "chips" },
      advice.estimated_gain > 0
        ? h("span", { class: "chip gain" }, gainText(advice), originBadge(advice.origin))
        : null,
      advice.evidence.map((e) =>
        h(
          "span",
          { class: "chip" },
          definitionLink(e.metric, shortMetric(e.metric)),
          " ",
          withUnit(e.value, e.unit),
          originBadge(e.origin),
        ),
      ),
    ),
    advice.places.length ? h("p", { class: "places" }, "See ", placeLinks(ref, advice.places)) : null,
  );
}

export function shortMetric(name: string): string {
  return name
    .replace(/^(warpgrind__|l1tex__|smsp__|sm__|derived__|launch__|gpu__|sass__)/, "")
    .replace(/\.(sum|ratio|pct)$/, "")
    .replaceAll("_", " ");
}

function mostUseful(kernels: KernelRef[]): Ranked[] {
  const ranked: Ranked[] = [];
  for (const ref of kernels)
    for (const advice of ref.kernel.advice ?? [])
      ranked.push({ ref, advice, saved: advice.estimated_gain * ref.kernel.metrics.number(TIME), others: [] });
  ranked.sort((a, b) => b.saved - a.saved);
  // The same rule for many kernels is one thing to learn.
  const byRule = new Map<string, Ranked>();
  for (const r of ranked) {
    const first = byRule.get(r.advice.rule);
    if (first) first.others.push(r.ref);
    else byRule.set(r.advice.rule, r);
  }
  return [...byRule.values()].slice(0, 3);
}

export function limitOf(ref: KernelRef): string {
  return ref.kernel.metrics.text("warpgrind__estimated_limit") || ref.kernel.bounds?.[0]?.limit || "";
}

function kernelTable(kernels: KernelRef[]): HTMLElement {
  const total = kernels.reduce((sum, r) => sum + r.kernel.metrics.number(TIME), 0) || 1;
  const most = Math.max(1, ...kernels.map((r) => globalBytes(r.kernel.metrics)));
  const m = (r: KernelRef): KernelRef["kernel"]["metrics"] => r.kernel.metrics;
  return table<KernelRef>(
    "Kernels",
    kernels,
    [
      {
        title: "Kernel",
        wide: true,
        text: (r) => r.kernel.name,
        cell: (r) => h("a", { href: address(kernelState(r.index, "overview")), title: r.kernel.name }, shortKernel(r.kernel.name)),
      },
      { title: "Launches", number: true, value: (r) => r.kernel.launches, cell: (r) => count(r.kernel.launches) },
      {
        title: "Time",
        number: true,
        value: (r) => m(r).number(TIME),
        cell: (r) => bar(m(r).number(TIME) / total, metricValue(m(r).get(TIME))),
      },
      {
        title: "of all",
        number: true,
        value: (r) => m(r).number(TIME),
        cell: (r) => [percent(m(r).number(TIME) / total), originBadge(originOf(m(r), "estimated"))],
      },
      {
        title: "Global bytes",
        number: true,
        value: (r) => globalBytes(m(r)),
        cell: (r) =>
          bar(
            globalBytes(m(r)) / most,
            definitionLink("warpgrind__global_op_ld_transaction_bytes.sum", bytes(globalBytes(m(r)))),
            originBadge(originOf(m(r), "exact")),
          ),
      },
      {
        title: "Limited by",
        text: limitOf,
        cell: (r) => [definitionLink("warpgrind__estimated_limit", limitOf(r) || "\u2013"), originBadge(originOf(m(r), "estimated"))],
      },
      ratioColumn("Sectors/ld", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"),
      ratioColumn("Sectors/st", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"),
      ratioColumn("Bank conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
      ratioColumn("Split branches", "warpgrind__divergent_branches.sum"),
      ratioColumn("Occupancy", "sm__maximum_warps_per_active_cycle_pct"),
    ],
    { sort: 2, open: (r) => go(kernelState(r.index, "overview")) },
  );
}

function ratioColumn(title: string, metric: string) {
  return {
    title,
    number: true,
    value: (r: KernelRef) => r.kernel.metrics.number(metric),
    cell: (r: KernelRef): Child => {
      const found = r.kernel.metrics.get(metric);
      return metricValue(found, found && !found.unit.includes("%") ? figure(Number(found.value)) : undefined);
    },
  };
}

function findings(profile: Profile, first: number): Child {
  if (!profile.findings.length) return null;
  return section(
    "Findings",
    h(
      "ul",
      { class: "findings" },
      profile.findings.map((f, i) =>
        h(
          "li",
          null,
          h("strong", null, h("a", { href: address({ view: "findings", f: String(first + i) }) }, f.kind)),
          " ",
          f.message,
          f.kernel ? [" in ", h("code", null, f.kernel)] : null,
          f.file ? ` at ${fileName(f.file)}:${f.line}` : null,
          f.block ? ` (block ${f.block.join(", ")}, thread ${f.thread.join(", ")})` : null,
          f.notes.map((n) => h("div", { class: "soft" }, n)),
          f.advice ? h("div", { class: "soft" }, f.advice) : null,
        ),
      ),
    ),
  );
}

function transfers(profile: Profile): Child {
  if (!profile.transfers.length) return null;
  return section(
    "Copies between host and device",
    table("Copies", profile.transfers, [
      { title: "Direction", cell: (t) => t.direction },
      { title: "Host memory", cell: (t) => t.host_memory },
      { title: "Copies", number: true, value: (t) => t.count, cell: (t) => [count(t.count), originBadge("exact")] },
      { title: "Bytes", number: true, value: (t) => t.bytes, cell: (t) => [bytes(t.bytes), originBadge("exact")] },
      {
        title: "Time",
        number: true,
        value: (t) => t.estimated_ns,
        cell: (t) => [time(t.estimated_ns), originBadge("estimated")],
      },
      {
        title: "GB/s",
        number: true,
        value: (t) => t.bytes / t.estimated_ns,
        cell: (t) => (t.estimated_ns ? [significant(t.bytes / t.estimated_ns), originBadge("estimated")] : "\u2013"),
      },
    ]),
  );
}

function libraryCalls(profile: Profile): Child {
  if (!profile.library_calls?.length) return null;
  return section(
    "Library calls",
    note("Carried out on the host: nothing in them is counted, and their time is estimated from the model's peak."),
    table("Library calls", profile.library_calls, [
      { title: "Call", cell: (c) => h("code", null, c.arguments ? `${c.function} ${c.arguments}` : c.function) },
      { title: "On the host by", cell: (c) => c.by },
      { title: "Calls", number: true, value: (c) => c.count, cell: (c) => [count(c.count), originBadge("exact")] },
      {
        title: "Time",
        number: true,
        value: (c) => c.estimated_ns,
        cell: (c) => [time(c.estimated_ns), originBadge("estimated")],
      },
    ]),
  );
}

export function summaryView(page: Page): Child {
  const kernels = allKernels(page);
  const top = mostUseful(kernels);
  return [
    page.profiles.map((p) =>
      h(
        "dl",
        { class: "facts" },
        fact("Program", p.command || p.program),
        fact("GPU (virtual)", p.gpu),
        fact("Kernels", count(p.kernels.length)),
        fact("Launches", count(p.kernels.reduce((n, k) => n + k.launches, 0))),
        fact("Estimated GPU time", [
          time(p.kernels.reduce((n, k) => n + k.metrics.number(TIME), 0)),
          originBadge("estimated"),
        ]),
      ),
    ),
    page.profiles.map((p) =>
      p.chosen_launches
        ? note(`Counted are the launches that ${p.chosen_launches} chooses; ${count(p.launches_left_out ?? 0)} others ran uncounted, and their times are rough.`)
        : null,
    ),
    page.profiles.flatMap((p) => p.not_modelled).length
      ? note("Not modelled: ", [...new Set(page.profiles.flatMap((p) => p.not_modelled))].join("; "))
      : null,
    page.profiles.some((p) => p.recordings?.some((r) => !r.no_variables))
      ? note(
          h("strong", null, "Built for debugging. "),
          "This run recorded steps of code without optimisation: its counters, its time and the advice below are those of that code. Local memory, for example, holds every variable there. Run without --steps for figures that count.",
        )
      : null,
    page.profiles.map((p, i) => findings(p, page.profiles.slice(0, i).reduce((n, before) => n + before.findings.length, 0))),
    section(
      top.length === 3 ? "The three most useful things to do" : "Most useful things to do",
      top.length
        ? h("ol", { class: "advices" }, top.map((t) => adviceCard(t.ref, t.advice, t.others)))
        : note("No rule found anything worth changing."),
    ),
    section("Kernels", kernels.length ? kernelTable(kernels) : note("No kernel was launched.")),
    page.profiles.map(libraryCalls),
    page.profiles.map(transfers),
    legend(),
  ];
}
