// Charts of the lab, each with a question as its title: over a swept parameter or the size, with the limit as a line.
import { axis, base, chart, colours, dashes, ink, type Option, symbols } from "../../chart";
import { type ChartText, matches, rich } from "../../course";
import type { LabRow, Model, Page, Topic } from "../../data";
import { type Child, h } from "../../dom";
import { short, significant } from "../../format";
import { originBadge } from "../../metric";
import { derived, elements, mainProblem, measuredTopic, modelFor, shown, sizeName } from "../lab_rows";
import { answerFor, type Drawn } from "./claims";
import { bars } from "./ladder";

const kFewest = 3; // points of a curve: two are in the table

interface Line {
  name: string;
  points: [x: number, y: number, name: string][]; // name: of x
  measured: boolean;
  problems: string[]; // size and type of each point
}

/** "derived.NAME", "cpu_us", "gpu_us", "metric:NAME", "metric:NAME / NAME" of a row. */
function valueOf(row: LabRow, what: string): number {
  if (what === "cpu_us" || what === "gpu_us") return row[what]?.median ?? 0;
  if (what.startsWith("derived.")) return derived(row, what.slice(8));
  const [top, bottom] = what.slice(what.indexOf(":") + 1).split(" / ");
  const value = row.metrics?.number(top) ?? 0;
  if (!bottom) return value;
  const divisor = row.metrics?.number(bottom) ?? 0;
  return divisor ? value / divisor : 0;
}

const xOf = (r: LabRow, x: string): number | undefined => (x === "size" ? elements(r) : r.parameters?.[x]);

/** Points of a line, and their problems. Of several problems with the same x, the largest: if possible, a curve over a
 * parameter has one size. */
function pointsOf(rows: LabRow[], c: ChartText): Pick<Line, "points" | "problems"> {
  const chosen = new Map<number, LabRow>();
  for (const r of rows) {
    const x = xOf(r, c.x);
    if (x === undefined || !(valueOf(r, c.y) > 0)) continue;
    const other = chosen.get(x);
    if (!other || elements(r) > elements(other)) chosen.set(x, r);
  }
  const sorted = [...chosen].sort((a, b) => a[0] - b[0]);
  return {
    points: sorted.map(([x, r]) => [x, valueOf(r, c.y), c.x === "size" ? sizeName(r) : short(x)]),
    problems: sorted.map(([, r]) => (c.x === "size" ? r.type : `${r.size_text} ${r.type}`)),
  };
}

function linesOf(topic: Topic, c: ChartText, measured: boolean): Line[] {
  const swept = c.x === "size" ? (r: LabRow): boolean => Object.entries(c.at ?? {}).every(([k, v]) => r.parameters?.[k] === v) && Object.keys(r.parameters ?? {}).length === Object.keys(c.at ?? {}).length : (r: LabRow): boolean => r.parameters?.[c.x] !== undefined;
  const names = c.rungs ?? [...new Set(topic.rows.filter((r) => r.role === "rung" || r.role === "library").map((r) => r.rung))];
  return names
    .map((name) => ({
      name,
      measured,
      ...pointsOf(topic.rows.filter((r) => matches(r, { rung: name }) && swept(r) && (!c.types || c.types.includes(r.type))), c),
    }))
    .filter((line) => line.points.length >= kFewest);
}

function limitOf(model: Model | undefined, limit: ChartText["limit"]): [number, string] {
  if (!model || !limit) return [0, ""];
  if (limit === "dram") return [model.dram_gbs, "bandwidth by the data sheet"];
  return [limit === "fp64" ? model.fp64_gflops : model.fp32_gflops, "arithmetic by the data sheet"];
}

const drawnBy = (lines: Line[]): Drawn => new Map(lines.map((l) => [l.name, l.points.map(([x, y]) => ({ x, y }))]));

/** The problems that the lines show: "1024x1024 double". */
function sizesOf(lines: Line[]): string {
  const all = [...new Set(lines.flatMap((l) => l.problems))];
  return all.length > 1 ? `${all[0]} to ${all[all.length - 1]}. ` : `${all[0]}. `;
}

function answerOf(page: Page, c: ChartText, drawn: Drawn): Child {
  const text = answerFor(c.answer, drawn);
  return text ? h("p", { class: "chart-answer" }, rich(page, text)) : null;
}

/** To scale: 14, 15 and 16 lie close together, 16 and 32 far apart. The axis names up to ten values themselves. */
function xAxisOf(c: ChartText, lines: Line[]): Option {
  const names = new Map(lines.flatMap((l) => l.points.map((p): [number, string] => [p[0], p[2]])));
  const ticks = [...names.keys()].sort((a, b) => a - b);
  const few = ticks.length <= 10;
  const log = c.log?.includes("x");
  const option = axis({ name: few || c.x !== "size" ? c.x : "elements", log, format: few ? (x: number) => names.get(x) ?? "" : short }, true);
  const named = few ? { axisLabel: { ...(option.axisLabel as Option), customValues: ticks }, axisTick: { customValues: ticks } } : {};
  return { ...option, min: "dataMin", max: "dataMax", minInterval: !log && ticks.every(Number.isInteger) ? 1 : undefined, ...named };
}

function draw(title: string, c: ChartText, lines: Line[], model: Model | undefined): HTMLElement {
  const [limit, limitName] = limitOf(model, c.limit);
  const top = Math.max(...lines.flatMap((l) => l.points.map((p) => p[1])));
  const make = (): Option => ({
    ...base(),
    grid: { left: innerWidth < 500 ? 52 : 74, right: 16, top: lines.length > 1 ? 14 + 24 * Math.ceil(lines.length / (innerWidth < 500 ? 2 : 5)) : 14, bottom: 44 },
    legend: lines.length > 1 ? base().legend : { show: false },
    xAxis: xAxisOf(c, lines),
    yAxis: axis({ name: c.name, log: c.log?.includes("y"), format: short, max: limit && !c.log?.includes("y") && limit < 12 * top ? Math.ceil(limit * 1.05) : undefined }, false),
    series: lines.map((l, i) => ({
      name: l.name,
      type: "line",
      symbol: symbols[i % symbols.length],
      symbolSize: 7,
      lineStyle: { type: l.measured ? "dashed" : dashes[Math.floor(i / colours.length) % dashes.length] },
      tooltip: { formatter: (p: { data: number[] }) => `${l.name}\n${c.x} ${significant(p.data[0], 6)}: ${significant(p.data[1])} ${c.name}` },
      data: l.points.map(([x, y]) => [x, y]),
      markLine:
        i === 0 && limit && (c.log?.includes("y") || limit < 12 * top)
          ? { symbol: "none", silent: true, lineStyle: { color: colours[4], type: "dashed", width: 2 }, label: { formatter: `${limitName}: ${short(limit)}`, position: "insideStartTop", color: ink("--text") }, data: [{ yAxis: limit }] }
          : undefined,
    })),
  });
  const words = lines.map((l) => `${l.name}: ${significant(l.points[0][1])} at ${significant(l.points[0][0], 6)} to ${significant(l.points[l.points.length - 1][1])} at ${significant(l.points[l.points.length - 1][0], 6)}`);
  return chart(`${title} ${c.name} over ${c.x}. ${words.join("; ")}`, 260 + 22 * Math.ceil(lines.length / 5), make);
}

const badge = (y: string, measured: boolean): Child => originBadge(measured ? "measured" : y.startsWith("metric:") || /sectors|conflicts|cgma/.test(y) ? "exact" : "estimated", true);

/** Bars beside each other, a rung each: of the largest problem that all of them ran. */
function rungBars(page: Page, topic: Topic, c: ChartText): Child {
  const real = c.measured ? measuredTopic(page, topic) : undefined;
  const of = (t: Topic): LabRow[] => mainProblem(t.rows.filter((r) => (c.rungs ?? []).includes(r.rung) && matches(r, { rung: r.rung, at: c.at }) && valueOf(r, c.y) > 0));
  const measured = real ? of(real) : [];
  const rows = measured.length > 1 ? measured : of(topic);
  if (rows.length < 2) return null;
  const isMeasured = rows === measured;
  return h(
    "section",
    { class: "card chart-card", "data-rungs": (c.rungs ?? []).join("|") },
    h("h2", null, c.question),
    answerOf(page, c, new Map(rows.map((r) => [r.rung, [{ x: 0, y: valueOf(r, c.y) }]]))),
    h("p", { class: "soft" }, `${c.name}, ${rows[0].size_text} ${rows[0].type}${isMeasured ? `, on a real ${real!.device?.name ?? real!.gpu}` : ""} `, badge(c.y, isMeasured)),
    bars({ rows, of: (r) => valueOf(r, c.y), kind: isMeasured ? "measured" : "predicted", unit: c.name, limit: 0, limitName: "" }),
  );
}

/** Null where there are not enough points for a curve. */
export function questionChart(page: Page, topic: Topic, c: ChartText): Child {
  if (c.x === "rung") return rungBars(page, topic, c);
  const model = modelFor(page, topic);
  const real = c.measured ? measuredTopic(page, topic) : undefined;
  const only = Array.isArray(c.models) ? c.models : undefined;
  const all = c.models ? [topic, ...(topic.models ?? []).filter((m) => m.gpu !== topic.gpu)].filter((t) => !only || only.includes(t.gpu)) : [topic];
  const nameOf = (rung: string, t: Topic): string => (!c.models ? rung : c.rungs?.length === 1 ? t.gpu : `${rung}, ${t.gpu}`);
  const own = all.flatMap((t) => linesOf(t, c, false).map((l) => ({ ...l, name: nameOf(l.name, t) })));
  const gpu = real ? linesOf(real, c, true) : [];
  if (c.models && own.length < 2) return null;
  // If the virtual GPU ran too few sizes, only the times of a real one are shown.
  const longest = (list: Line[]): number => Math.max(0, ...list.map((l) => l.points.length));
  const lines = gpu.length && longest(gpu) >= longest(own) ? gpu : own;
  if (!lines.length) return null;
  const measured = lines.some((l) => l.measured);
  const shape = draw(c.question, c, lines, model);
  return h(
    "section",
    { class: "card chart-card", "data-rungs": (c.rungs ?? []).join("|") },
    h("h2", null, c.question),
    answerOf(page, c, drawnBy(lines)),
    shape,
    h("p", { class: "soft" }, sizesOf(lines), measured ? `On a real ${real!.device?.name ?? real!.gpu} ` : null, badge(c.y, measured)),
  );
}

/** Without questions of its own: curves over the size and over each parameter. */
export function defaultCharts(page: Page, topic: Topic): Child {
  const rows = topic.rows.filter(shown);
  const flop = rows.some((r) => r.derived?.share_of === "flops");
  const y = flop ? ["derived.gflops", "GFLOP/s"] : rows.some((r) => derived(r, "gbs") > 0) ? ["derived.gbs", "GB/s"] : ["derived.time_us", "time (\u00b5s)"];
  const names = [...new Set(rows.flatMap((r) => Object.keys(r.parameters ?? {})))];
  const of = (name: string): string[] => [...new Set(rows.filter((r) => r.parameters?.[name] !== undefined).map((r) => r.rung))];
  return [
    questionChart(page, topic, { question: "How does the size change it?", x: "size", y: y[0], name: y[1], log: "xy", limit: flop ? undefined : "dram" }),
    names.map((name) => questionChart(page, topic, { question: `What does ${name} change?`, x: name, y: y[0], name: y[1], rungs: of(name) })),
    names.map((name) => of(name).map((rung) => (topic.models?.length ? questionChart(page, topic, { question: `What does ${name} of ${rung} change on other GPU models?`, x: name, y: y[0], name: y[1], rungs: [rung], models: true, log: "y" }) : null))),
  ];
}

