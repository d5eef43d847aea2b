// Rooflines: bandwidth and arithmetic of a GPU model as limits, kernels (or rungs of the lab) as points.
import { axis, base, chart, colours, ink, type Option, symbols } from "../chart";
import { allKernels, globalBytes, type Model, modelOf, type Page, TIME } from "../data";
import { type Child, h, note, section } from "../dom";
import { short, shortKernel, significant } from "../format";
import { definitionLink, originBadge, originOf } from "../metric";

export interface RoofPoint {
  name: string;
  group: string;
  intensity: number; // flop a byte
  gflops: number;
}

interface Roof {
  name: string;
  peak: number; // GFLOP/s
  gbs: number;
  dash: "solid" | "dashed" | "dotted";
}

export function rooflineChart(model: Model, points: RoofPoint[], height = 460): Child {
  const roofs: Roof[] = [
    { name: `FP32 ${significant(model.fp32_gflops / 1e3)} TFLOP/s, ${significant(model.dram_gbs)} GB/s`, peak: model.fp32_gflops, gbs: model.dram_gbs, dash: "solid" },
    { name: `FP64 ${significant(model.fp64_gflops / 1e3)} TFLOP/s`, peak: model.fp64_gflops, gbs: model.dram_gbs, dash: "dashed" },
    {
      name: `reachable ${significant(model.dram_gbs * model.dram_achievable_fraction)} GB/s`,
      peak: model.fp32_gflops,
      gbs: model.dram_gbs * model.dram_achievable_fraction,
      dash: "dotted",
    },
  ];
  const xs = points.map((p) => p.intensity);
  const low = Math.min(0.01, ...xs.map((x) => x / 2));
  const high = Math.max(1000, ...xs.map((x) => x * 2));
  const groups = [...new Set(points.map((p) => p.group))];
  const make = (): Option => ({
    ...base(),
    grid: { left: 74, right: 30, top: 70, bottom: 56 },
    xAxis: { ...axis({ name: "arithmetic intensity (flop/byte)", log: true, format: (v) => significant(v) }, true), min: low, max: high },
    yAxis: axis({ name: "GFLOP/s", log: true, format: short }, false),
    series: [
      ...roofs.map((r) => ({
        name: r.name,
        type: "line",
        symbol: "none",
        lineStyle: { color: ink("--soft"), width: 2, type: r.dash },
        itemStyle: { color: ink("--soft"), opacity: 0 }, // no dots in the legend
        data: [
          [low, low * r.gbs],
          [r.peak / r.gbs, r.peak],
          [high, r.peak],
        ],
      })),
      ...groups.map((g, i) => ({
        name: g,
        type: "scatter",
        symbol: symbols[i % symbols.length],
        symbolSize: 12,
        itemStyle: { color: colours[i % colours.length], borderColor: ink("--card"), borderWidth: 1 },
        label: { show: points.length <= 24, formatter: (p: { data: { name: string } }) => p.data.name, color: ink("--text"), fontSize: 11 },
        labelLayout: { moveOverlap: "shiftY" },
        tooltip: { formatter: (p: { data: { name: string; value: number[] } }) => `${p.data.name}\n${significant(p.data.value[0])} flop/byte\n${significant(p.data.value[1])} GFLOP/s` },
        data: points.filter((p) => p.group === g).map((p) => ({
          name: p.name,
          value: [p.intensity, p.gflops],
          // Towards the middle, where there is room.
          label: { position: Math.log(p.intensity / low) > Math.log(high / low) / 2 ? "left" : "right" },
        })),
      })),
    ],
  });
  return chart(`Roofline of ${model.name} with ${points.length} points: ${points.slice(0, 30).map((p) => `${p.name} ${significant(p.gflops)} GFLOP/s`).join(", ")}`, height, make);
}

export function rooflineView(page: Page): Child {
  const kernels = allKernels(page);
  return page.profiles.map((profile) => {
    const model = modelOf(page, profile);
    const own = kernels.filter((r) => r.profile === profile);
    const points: RoofPoint[] = [];
    const without: string[] = [];
    const sampled = own.some((r) => originOf(r.kernel.metrics, "exact") === "sampled");
    for (const r of own) {
      const m = r.kernel.metrics;
      const flop = m.number("warpgrind__flop.sum");
      const bytes = globalBytes(m);
      const ns = m.number(TIME);
      if (flop && bytes && ns) points.push({ name: shortKernel(r.kernel.name), group: "kernels", intensity: flop / bytes, gflops: flop / ns });
      else without.push(shortKernel(r.kernel.name));
    }
    return section(
      `Roofline: ${profile.gpu}`,
      !model
        ? note(`No figures for ${profile.gpu} in this file.`)
        : points.length
          ? rooflineChart(model, points)
          : note("No kernel of this run computes in floating point: there is nothing to place under the roofs."),
      h(
        "p",
        { class: "soft" },
        "Flop and bytes are ",
        originBadge(sampled ? "sampled" : "exact", true),
        " (",
        definitionLink("warpgrind__flop.sum"),
        "), times ",
        originBadge(sampled ? "sampled" : "estimated", true),
        ". The bytes are those between L1 and L2, so a kernel that hits in L2 can lie above the roof of device memory.",
      ),
      points.length && without.length ? h("p", { class: "soft" }, `Without floating point, so not shown: ${without.slice(0, 40).join(", ")}${without.length > 40 ? " \u2026" : ""}`) : null,
    );
  });
}
