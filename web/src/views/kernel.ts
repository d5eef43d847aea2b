// One kernel: facts, what limits it, advice, all its counters; and the frame of the views below it.
import { globalBytes, type KernelRef, type Page, TIME } from "../data";
import { arrowKeys, type Child, h, note, section } from "../dom";
import { bar, table } from "../table";
import { chart, axis, base, colours } from "../chart";
import { bytes, percent, significant, time } from "../format";
import { definitionLink, fact, metricValue, originBadge, originOf, sampledNote } from "../metric";
import { address, go, kernelState, type State } from "../state";
import { accessView } from "./access";
import { blockView } from "./block";
import { flowView } from "./flow";
import { memoryView } from "./memory";
import { sourceView } from "./source";
import { adviceCard } from "./summary";

const tabs: [id: string, title: string][] = [
  ["overview", "Overview"],
  ["source", "Source"],
  ["access", "Accesses"],
  ["block", "Work of a block"],
  ["flow", "Branches"],
  ["memory", "Memory"],
  ["all", "All counters"],
];

function boundsChart(ref: KernelRef): Child {
  const bounds = (ref.kernel.bounds ?? []).filter((b) => b.ns > 0);
  if (!bounds.length) return null;
  const whole = ref.kernel.metrics.number(TIME);
  const longest = whole > 0 ? ` The longest is ${percent(Math.min(1, (bounds[0]?.ns ?? 0) / whole))} of the time.` : "";
  return section(
    "What the time is made of",
    h("p", { class: "soft" }, `Each part of the GPU on its own would need this long. The parts overlap in part, so that the time lies between the longest of them and their sum.${longest} `, originBadge(originOf(ref.kernel.metrics, "estimated"), true)),
    chart(`Bounds of the estimated time: ${bounds.map((b) => `${b.limit} ${time(b.ns)}`).join(", ")}`, 60 + 26 * bounds.length, () => ({
      ...base(),
      grid: { left: 170, right: 90, top: 8, bottom: 44 },
      legend: { show: false },
      xAxis: axis({ name: "estimated time (ns)" }, true),
      yAxis: axis({ name: "", categories: bounds.map((b) => b.limit) }, false),
      series: [
        {
          type: "bar",
          data: bounds.map((b, i) => ({ value: b.ns, itemStyle: { color: i ? colours[5] : colours[4] } })),
          label: { show: true, position: "right", formatter: (p: { value: number }) => time(p.value), color: "inherit" },
        },
      ],
    })),
  );
}

function overview(ref: KernelRef): Child {
  const { kernel } = ref;
  const m = kernel.metrics;
  const value = (name: string): Child => metricValue(m.get(name));
  return [
    sampledNote(m),
    h(
      "dl",
      { class: "facts" },
      fact(kernel.launches > 1 ? `Estimated time of ${kernel.launches} launches` : "Estimated time", value(TIME)),
      fact("Limited by", value("warpgrind__estimated_limit")),
      fact("Grid", kernel.grid.join(" \u00d7 ") + (kernel.shapes_differ ? " (first launch)" : "")),
      fact("Block", kernel.block.join(" \u00d7 ")),
      fact("Launches", String(kernel.launches)),
      fact("Registers a thread", value("launch__registers_per_thread")),
      m.number("derived__local_spilling_requests") ? fact("Accesses to spilled registers", value("derived__local_spilling_requests")) : null,
      fact("Theoretical occupancy", value("sm__maximum_warps_per_active_cycle_pct")),
      fact("limited by", value("warpgrind__occupancy_limiter")),
      fact("Waves", value("launch__waves_per_multiprocessor")),
      fact("Global bytes moved", [
        definitionLink("warpgrind__global_op_ld_transaction_bytes.sum", bytes(globalBytes(m))),
        originBadge(originOf(m, "exact")),
      ]),
      fact("Load efficiency", value("warpgrind__global_op_ld_efficiency.pct")),
      fact("Store efficiency", value("warpgrind__global_op_st_efficiency.pct")),
      fact("Bank conflicts", value("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")),
      fact("Branch efficiency", value("warpgrind__branch_efficiency.pct")),
      fact("Flop", value("warpgrind__flop.sum")),
      fact("Flop a byte", value("warpgrind__arithmetic_intensity.ratio")),
    ),
    section(
      "What to do",
      kernel.advice?.length
        ? h("ol", { class: "advices" }, kernel.advice.map((a) => adviceCard(ref, a)))
        : note("No rule found anything worth changing in this kernel."),
    ),
    boundsChart(ref),
  ];
}

function allCounters(ref: KernelRef): Child {
  return section(
    "All counters",
    table("All counters", ref.kernel.metrics.all(), [
      { title: "Counter", wide: true, text: (m) => m.name, cell: (m) => definitionLink(m.name) },
      {
        title: "Value",
        number: true,
        value: (m) => (typeof m.value === "number" ? m.value : 0),
        cell: (m) => bar(0, metricValue(m)),
      },
      { title: "Origin", text: (m) => m.origin, cell: (m) => m.origin },
    ]),
  );
}

export function kernelView(page: Page, kernels: KernelRef[], state: State): Child {
  const ref = kernels[Number(state.k ?? 0)] ?? kernels[0];
  if (!ref) return note("No kernel was launched.");
  const tab = tabs.find((t) => t[0] === state.tab)?.[0] ?? "overview";
  const select = h(
    "select",
    { "aria-label": "Kernel", onchange: (e: Event) => go(kernelState(Number((e.target as HTMLSelectElement).value), tab)) },
    kernels.map((r) =>
      h("option", { value: r.index, selected: r === ref }, `${r.kernel.name}  (${significant(r.kernel.metrics.number(TIME) / 1e3)} \u00b5s)`),
    ),
  );
  const list = h(
    "div",
    { class: "tabs", role: "tablist", "aria-label": "Views of this kernel" },
    tabs.map(([id, title]) =>
      h(
        "a",
        {
          role: "tab",
          id: `tab-${id}`,
          href: address(kernelState(ref.index, id)),
          "aria-selected": id === tab ? "true" : "false",
          tabindex: id === tab ? 0 : -1,
        },
        title,
      ),
    ),
  );
  arrowKeys(list, "[role=tab]");
  const views: Record<string, () => Child> = {
    overview: () => overview(ref),
    source: () => sourceView(page, ref, state),
    access: () => accessView(page, ref, state),
    block: () => blockView(page, ref, state),
    flow: () => flowView(ref, state),
    memory: () => memoryView(page, ref),
    all: () => allCounters(ref),
  };
  return [
    h("div", { class: "kernel-head" }, h("label", null, "Kernel ", select)),
    list,
    h("div", { role: "tabpanel", "aria-labelledby": `tab-${tab}`, class: "panel" }, views[tab]()),
  ];
}
