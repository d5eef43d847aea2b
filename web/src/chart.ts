// Charts: Apache ECharts with the page's colours.
import type { ECharts } from "echarts/core";
import { h } from "./dom";

// Okabe and Ito's colours, which colour-blind readers can distinguish; series differ in symbol and dash as well.
export const colours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c7a00", "#7f7f7f"];
export const symbols = ["circle", "rect", "triangle", "diamond", "pin", "roundRect", "arrow", "emptyCircle"];
export const dashes = ["solid", "dashed", "dotted", [8, 3, 2, 3]] as const;

export type Option = Record<string, unknown>;

export function ink(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export interface Axis {
  name: string; // with its unit
  log?: boolean;
  categories?: string[];
  min?: number;
  max?: number;
  format?: (value: number) => string;
}

export function axis(a: Axis, horizontal: boolean): Option {
  const line = { lineStyle: { color: ink("--rule") } };
  return {
    type: a.categories ? "category" : a.log ? "log" : "value",
    data: a.categories,
    name: a.name,
    min: a.min,
    max: a.max,
    nameLocation: "middle",
    nameGap: horizontal ? 30 : a.categories ? 140 : 54,
    nameTextStyle: { color: ink("--soft"), fontSize: 12 },
    axisLabel: {
      color: ink("--text"),
      formatter: a.format,
      width: a.categories && !horizontal ? 160 : undefined,
      overflow: "truncate",
      hideOverlap: true,
    },
    axisLine: { show: true, ...line },
    splitLine: { show: !a.categories, ...line },
    minorSplitLine: { show: false },
    inverse: a.categories && !horizontal,
  };
}

export function base(): Option {
  return {
    animation: false,
    color: colours,
    textStyle: { fontFamily: "system-ui, sans-serif", color: ink("--text") },
    aria: { enabled: true },
    grid: { left: 70, right: 24, top: 44, bottom: 52 },
    legend: { type: "plain", top: 0, textStyle: { color: ink("--text") }, itemWidth: 28 },
    tooltip: {
      trigger: "item",
      confine: true,
      // Names come from profiles: text only. (An HTML tooltip would interpret them.)
      renderMode: "richText",
      backgroundColor: ink("--card"),
      borderColor: ink("--rule"),
      textStyle: { color: ink("--text"), fontSize: 12 },
    },
  };
}

interface Mounted {
  box: HTMLElement;
  make: () => Option;
  chart?: ECharts;
}
let mounted: Mounted[] = [];
async function mount(m: Mounted): Promise<void> {
  const { init } = await import("./echarts");
  if (m.chart || !mounted.includes(m)) return; // drawn or dropped meanwhile
  m.chart = init(m.box, undefined, { renderer: "svg" });
  m.chart.setOption(m.make());
}
const seen = new ResizeObserver((entries) => {
  for (const entry of entries) {
    const m = mounted.find((x) => x.box === entry.target);
    if (!m || entry.contentRect.width < 10) continue;
    if (m.chart) m.chart.resize();
    else void mount(m);
  }
});

/** Drawn once it has a width; `label` says in words what is to be seen. */
export function chart(label: string, height: number, make: () => Option): HTMLElement {
  const box = h("div", { class: "chart", style: `height:${height}px`, role: "img", "aria-label": label });
  mounted.push({ box, make });
  seen.observe(box);
  return box;
}

export function redrawCharts(): void {
  for (const m of mounted) m.chart?.setOption(m.make(), { notMerge: true });
}

export function dropCharts(): void {
  for (const m of mounted) {
    seen.unobserve(m.box);
    m.chart?.dispose();
  }
  mounted = [];
}
