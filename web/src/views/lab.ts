// A result of the lab: each topic's ladder with its limit, curves over size and parameters, the roofline, and predicted
// beside measured.
import { axis, base, chart, colours, dashes, ink, type Option, symbols } from "../chart";
import type { Lab, LabRow, Model, Page, Topic } from "../data";
import { type Child, h, note, section } from "../dom";
import { percent, short, significant, time } from "../format";
import { definitionLink, originBadge } from "../metric";
import { address, type State } from "../state";
import { table } from "../table";
import { rooflineChart, type RoofPoint } from "./roofline";
import { stepsView } from "./steps";

const kFewest = 3; // points of a curve: two are in the table
const kFar = 12; // a limit this many times beyond the best bar would leave no bars to see
const shown = (r: LabRow): boolean => !r.skipped && r.verified === true;
const derived = (r: LabRow, name: string): number => Number(r.derived?.[name] ?? 0) || 0;
const timeOf = (r: LabRow): number => derived(r, "time_us") || r.gpu_us?.median || r.cpu_us?.median || 0;
const hasFlop = (rows: LabRow[]): boolean => rows.some((r) => (r.flop ?? 0) > 0 && derived(r, "gflops") > 0);
const label = (r: LabRow): string => r.rung + Object.entries(r.parameters ?? {}).map(([k, v]) => ` ${k} ${v}`).join("");
const keyOf = (r: LabRow): string => `${label(r)}|${r.size_text}|${r.type}`;
const elements = (r: LabRow): number => r.size.reduce((a, b) => a * b, 1);

function modelFor(page: Page, topic: Topic): Model | undefined {
  return page.models.find((m) => m.id === topic.gpu || m.name === topic.gpu) ?? page.models.find((m) => m.name === topic.device?.name);
}

interface Measure {
  name: string;
  of: (r: LabRow) => number;
  limit: (m: Model, type: string) => number;
  limitName: string;
}

function measureOf(rows: LabRow[]): Measure {
  if (hasFlop(rows) && rows.some((r) => r.derived?.share_of === "flops"))
    return {
      name: "GFLOP/s",
      of: (r) => derived(r, "gflops"),
      limit: (m, type) => (type === "double" ? m.fp64_gflops : m.fp32_gflops),
      limitName: "peak arithmetic",
    };
  if (rows.some((r) => derived(r, "gbs") > 0))
    return { name: "GB/s", of: (r) => derived(r, "gbs"), limit: (m) => m.dram_gbs, limitName: "peak bandwidth" };
  return { name: "time (\u00b5s)", of: timeOf, limit: () => 0, limitName: "" };
}

/** What the ladder is drawn for: the largest size (and a type) at which more than half of the rungs ran. A small one that all
 * of them can do says little: there the launch takes the time, and reuse cannot pay. */
function ladderRows(topic: Topic): LabRow[] {
  const groups = new Map<string, LabRow[]>();
  for (const r of topic.rows) {
    if (!shown(r) || Object.keys(r.parameters ?? {}).length || r.role === "host") continue;
    const key = `${r.size_text}|${r.type}`;
    const list = groups.get(key);
    if (list) list.push(r);
    else groups.set(key, [r]);
  }
  const most = Math.max(0, ...[...groups.values()].map((g) => g.length));
  return [...groups.values()].filter((g) => g.length > most / 2).sort((a, b) => elements(b[0]) - elements(a[0]) || b.length - a.length)[0] ?? [];
}

/** Why a rung that waits for its memory (say) does not reach all of it: what each limit would take alone. */
function shareOfLimits(row: LabRow): Child {
  const sums = new Map<string, number>();
  for (const k of row.kernels ?? []) for (const b of k.bounds ?? []) sums.set(b.limit, (sums.get(b.limit) ?? 0) + b.ns);
  const [first, second] = [...sums].sort((a, b) => b[1] - a[1]);
  const whole = timeOf(row) * 1e3;
  if (!first || !second || !(whole > first[1])) return null;
  return [
    ` Alone, ${first[0]} would take ${time(first[1])} of the ${time(whole)} (${percent(first[1] / whole)}), ${second[0]} ${time(second[1])}; the rest is what overlaps only in part, and launching and copies where there are some `,
    originBadge("estimated"),
    ".",
  ];
}

/** Where the fastest rungs leave most of the GPU idle, bars say little about what the rungs do. */
function smallGrid(rows: LabRow[]): Child {
  const waves = (r: LabRow): number => r.metrics?.number("launch__waves_per_multiprocessor") ?? 0;
  const small = rows.filter((r) => r.role === "rung" && waves(r) > 0 && waves(r) < 0.5);
  if (!small.length) return null;
  const least = small.reduce((a, b) => (waves(b) < waves(a) ? b : a));
  return h(
    "p",
    null,
    `${small.length === 1 ? "One rung fills" : `${small.length} of ${rows.length} rungs fill`} less than half of the GPU at this size; ${label(least)} starts ${percent(waves(least))} of the blocks that it could hold at once. What a rung saves shows where grids are larger. `,
    originBadge(least.metrics?.get("launch__waves_per_multiprocessor")?.origin ?? "exact"),
  );
}

function ladder(page: Page, topic: Topic, measured: Map<string, LabRow>): Child {
  const rows = ladderRows(topic);
  if (!rows.length) return null;
  const measure = measureOf(rows);
  const model = modelFor(page, topic);
  const limit = model ? measure.limit(model, rows[0].type) : 0;
  const origin = rows[0].origin ?? "estimated";
  const others = rows.some((r) => measured.has(keyOf(r)));
  const best = Math.max(...rows.map(measure.of), ...rows.map((r) => (measured.has(keyOf(r)) ? measure.of(measured.get(keyOf(r))!) : 0)));
  const far = limit > kFar * best;
  const make = (): Option => ({
    ...base(),
    grid: { left: 170, right: 70, top: 40, bottom: 48 },
    xAxis: axis({ name: `${measure.name}, ${rows[0].size_text} ${rows[0].type}`, max: limit && !far ? Math.max(limit, best) * 1.02 : undefined, format: short }, true),
    yAxis: axis({ name: "", categories: rows.map(label) }, false),
    series: [
      {
        name: origin === "measured" ? "measured" : "predicted",
        type: "bar",
        itemStyle: { color: colours[0] },
        data: rows.map((r) => ({ value: measure.of(r), itemStyle: { color: r.role === "bound" ? colours[7] : colours[0] } })),
        label: { show: true, position: "right", color: ink("--text"), formatter: (p: { value: number }) => significant(p.value) },
        markLine: limit && !far
          ? {
              symbol: "none",
              silent: true,
              lineStyle: { color: colours[4], width: 2, type: "dashed" },
              label: { formatter: `${measure.limitName} ${short(limit)}`, position: "start", color: ink("--text") }, // the axis of the rungs goes down: above
              data: [{ xAxis: limit }],
            }
          : undefined,
      },
      ...(others
        ? [
            {
              name: "measured",
              type: "bar",
              itemStyle: { color: colours[1] },
              data: rows.map((r) => (measured.has(keyOf(r)) ? measure.of(measured.get(keyOf(r))!) : null)),
              label: { show: true, position: "right", color: ink("--text"), formatter: (p: { value: number }) => significant(p.value) },
            },
          ]
        : []),
    ],
  });
  const top = rows.filter((r) => r.role === "rung").sort((a, b) => measure.of(b) - measure.of(a))[0];
  const share = top ? derived(top, "theoretical_share") : 0;
  return section(
    "The ladder",
    share
      ? h(
          "p",
          null,
          `${label(top)} is the fastest here. It reaches ${percent(share)} of ${top.derived?.share_of === "flops" ? "the arithmetic" : "the bandwidth of the memory"} that the GPU has by its data sheet`,
          top.derived?.limit ? [`; what it waits for is ${String(top.derived.limit)} `, originBadge("estimated")] : null,
          ".",
          top ? shareOfLimits(top) : null,
        )
      : null,
    smallGrid(rows),
    h("p", { class: "soft" }, "Longer is faster. ", originBadge(origin, true), others ? [" beside ", originBadge("measured", true)] : null, far ? ` The limit, ${measure.limitName} ${short(limit)} ${measure.name}, lies far beyond the chart.` : null),
    chart(`${measure.name} of each rung: ${rows.map((r) => `${label(r)} ${significant(measure.of(r))}`).join(", ")}`, 100 + rows.length * (others ? 46 : 30), make),
  );
}

/** What a real GPU took at a larger size than was run here: there a ladder shows what small grids cannot. */
function ladderOnGpu(page: Page, topic: Topic): Child {
  const kept = page.measured?.topics.find((t) => t.topic === topic.topic);
  const own = ladderRows(topic);
  const rows = kept ? ladderRows(kept).filter((r) => r.role !== "library" || own.some((o) => o.role === "library")) : [];
  if (!kept || rows.length < 2 || !own.length || elements(rows[0]) <= elements(own[0])) return null;
  const measure = measureOf(rows);
  const make = (): Option => ({
    ...base(),
    grid: { left: 170, right: 70, top: 20, bottom: 48 },
    xAxis: axis({ name: `${measure.name}, ${rows[0].size_text} ${rows[0].type}`, format: short }, true),
    yAxis: axis({ name: "", categories: rows.map(label) }, false),
    series: [
      {
        name: "measured",
        type: "bar",
        itemStyle: { color: colours[1] },
        data: rows.map(measure.of),
        label: { show: true, position: "right", color: ink("--text"), formatter: (p: { value: number }) => significant(p.value) },
      },
    ],
  });
  return section(
    `The ladder on ${kept.device?.name ?? kept.gpu} itself, ${rows[0].size_text}`,
    h("p", { class: "soft" }, "Longer is faster. Kept from a run on a real GPU, at a size for which the virtual one takes long: the ladder as it is where the data is large. ", originBadge("measured", true)),
    chart(`${measure.name} of each rung: ${rows.map((r) => `${label(r)} ${significant(measure.of(r))}`).join(", ")}`, 80 + rows.length * 30, make),
  );
}

function curves(title: string, xName: string, rows: LabRow[], x: (r: LabRow) => number, logX: boolean, group: (r: LabRow) => string, limitModel?: Model, logY = logX): Child {
  const measure = measureOf(rows);
  const groups = [...new Set(rows.map(group))];
  const limit = limitModel ? measure.limit(limitModel, rows[0].type) : 0;
  const make = (): Option => ({
    ...base(),
    grid: { left: 74, right: 24, top: 26 + 24 * Math.ceil(groups.length / 5), bottom: 52 },
    xAxis: { ...axis({ name: xName, log: logX, format: short }, true), min: "dataMin", max: "dataMax" },
    yAxis: axis({ name: measure.name, log: logY, format: short }, false),
    series: groups.map((g, i) => ({
      name: g,
      type: "line",
      symbol: symbols[i % symbols.length],
      symbolSize: 8,
      lineStyle: { type: dashes[Math.floor(i / colours.length) % dashes.length] },
      tooltip: { formatter: (p: { data: number[] }) => `${g}\n${xName} ${significant(p.data[0], 6)}: ${significant(p.data[1])} ${measure.name}` },
      data: rows
        .filter((r) => group(r) === g && measure.of(r) > 0)
        .map((r) => [x(r), measure.of(r)])
        .sort((a, b) => a[0] - b[0]),
      markLine: i === 0 && limit ? { symbol: "none", silent: true, lineStyle: { color: colours[4], type: "dashed" }, label: { formatter: `${measure.limitName} ${significant(limit)}`, position: "insideEndTop", color: ink("--text") }, data: [{ yAxis: limit }] } : undefined,
    })),
  });
  return section(title, chart(`${title}: ${groups.join(", ")}`, 380, make));
}

function sizeCurves(page: Page, topic: Topic): Child {
  const rows = topic.rows.filter((r) => shown(r) && !Object.keys(r.parameters ?? {}).length);
  const sizes = new Set(rows.map((r) => r.size_text));
  if (sizes.size < kFewest) return null;
  const types = new Set(rows.map((r) => r.type));
  return curves("Over size", "elements", rows, elements, true, (r) => (types.size > 1 ? `${r.rung} ${r.type}` : r.rung), modelFor(page, topic));
}

function parameterCurves(topic: Topic): Child {
  const names = [...new Set(topic.rows.filter(shown).flatMap((r) => Object.keys(r.parameters ?? {})))];
  return names.map((name) => {
    const rows = topic.rows.filter((r) => shown(r) && r.parameters?.[name] !== undefined);
    if (new Set(rows.map((r) => r.parameters[name])).size < kFewest) return null;
    const rest = (r: LabRow): string =>
      [r.rung, new Set(rows.map((q) => q.size_text)).size > 1 ? r.size_text : "", new Set(rows.map((q) => q.type)).size > 1 ? r.type : "", ...Object.entries(r.parameters).filter(([k]) => k !== name).map(([k, v]) => `${k} ${v}`)].filter(Boolean).join(" ");
    return curves(`Over ${name}`, name, rows, (r) => r.parameters[name], false, rest);
  });
}

/** A swept parameter on several GPU models: one chart for each rung. */
function parameterCurvesOfModels(topics: Topic[]): Child {
  const gpuOf = new Map<LabRow, string>();
  for (const t of topics) for (const r of t.rows) if (shown(r)) gpuOf.set(r, t.gpu);
  const rows = [...gpuOf.keys()];
  const names = [...new Set(rows.flatMap((r) => Object.keys(r.parameters ?? {})))];
  return names.map((name) => {
    const swept = rows.filter((r) => r.parameters?.[name] !== undefined);
    return [...new Set(swept.map((r) => r.rung))].map((rung) => {
      const own = swept.filter((r) => r.rung === rung);
      if (new Set(own.map((r) => r.parameters[name])).size < kFewest || new Set(own.map((r) => gpuOf.get(r))).size < 2) return null;
      return curves(`Over ${name} on GPU models: ${rung}`, name, own, (r) => r.parameters[name], false, (r) => gpuOf.get(r) ?? "", undefined, true);
    });
  });
}

function modelsChart(page: Page, topic: Topic): Child {
  if (!topic.models?.length) return null;
  const all = [topic, ...topic.models];
  const rows = ladderRows(topic);
  const sweeps = parameterCurvesOfModels(all);
  if (!rows.length) return sweeps;
  const measure = measureOf(rows);
  const find = (t: Topic, r: LabRow): number => {
    const same = t.rows.find((q) => shown(q) && keyOf(q) === keyOf(r)) ?? ladderRows(t).find((q) => label(q) === label(r));
    return same ? measure.of(same) : 0;
  };
  const make = (): Option => ({
    ...base(),
    grid: { left: 170, right: 30, top: 60, bottom: 48 },
    xAxis: axis({ name: `${measure.name} (log axis)`, log: true, format: (v) => significant(v) }, true),
    yAxis: axis({ name: "", categories: rows.map(label) }, false),
    series: all.map((t, i) => ({ name: t.gpu, type: "bar", itemStyle: { color: colours[i % colours.length] }, data: rows.map((r) => find(t, r) || null) })),
  });
  return [
    section("On other GPU models", h("p", { class: "soft" }, originBadge("estimated", true)), chart(`Rungs on ${all.map((t) => t.gpu).join(", ")}`, 100 + rows.length * (12 + 14 * all.length), make)),
    sweeps,
    topic.models.map((t) => (modelFor(page, t) && hasFlop(t.rows) ? topicRoofline(page, t) : null)),
  ];
}

function topicRoofline(page: Page, topic: Topic): Child {
  const model = modelFor(page, topic);
  const rows = ladderRows(topic).filter((r) => (r.flop ?? 0) > 0);
  if (!model || !rows.length) return null;
  const points: RoofPoint[] = [];
  for (const r of rows) {
    let moved = 0;
    for (const op of ["ld", "st", "atom", "red"]) moved += r.metrics?.number(`warpgrind__global_op_${op}_transaction_bytes.sum`) ?? 0;
    const bytes = moved || r.bytes || 0;
    if (bytes && timeOf(r)) points.push({ name: label(r), group: "rungs", intensity: (r.flop ?? 0) / bytes, gflops: (r.flop ?? 0) / timeOf(r) / 1e3 });
  }
  return points.length ? section(`Roofline: ${model.name}`, rooflineChart(model, points, 420)) : null;
}

function rowsTable(topic: Topic, measured: Map<string, LabRow>): Child {
  const origin = (r: LabRow): Child => (r.origin ? originBadge(r.origin) : null);
  // Figures from times have the origin of the times; those of a counter lead to its definition.
  const figure = (title: string, name: string, metric = "") => ({
    title,
    number: true,
    value: (r: LabRow) => derived(r, name),
    cell: (r: LabRow): Child => {
      if (!shown(r) || !derived(r, name)) return "";
      const text = significant(derived(r, name));
      return metric ? [definitionLink(metric, text), originBadge("exact")] : [text, origin(r)];
    },
  });
  return section(
    "All rows",
    table("Rows", topic.rows, [
      { title: "Rung", wide: true, text: label, cell: (r) => h("span", { title: r.what }, label(r)) },
      { title: "Size", value: elements, cell: (r) => r.size_text },
      { title: "Type", text: (r) => r.type, cell: (r) => r.type },
      { title: "Verified", text: (r) => (r.skipped ? "skipped" : r.verified ? "yes" : "no"), cell: (r) => (r.skipped ? `skipped: ${r.skipped}` : r.verified ? "yes" : h("strong", { class: "few" }, "no")) },
      { title: "Time \u00b5s", number: true, value: timeOf, cell: (r) => (shown(r) ? [significant(timeOf(r), 4), origin(r)] : "") },
      ...(measured.size
        ? [
            {
              title: "Measured \u00b5s",
              number: true,
              value: (r: LabRow) => timeOf(measured.get(keyOf(r)) ?? r),
              cell: (r: LabRow): Child => (measured.has(keyOf(r)) ? [significant(timeOf(measured.get(keyOf(r))!), 4), originBadge("measured")] : ""),
            },
          ]
        : []),
      figure("GB/s", "gbs"),
      figure("GFLOP/s", "gflops"),
      { title: "of theory", number: true, value: (r) => derived(r, "theoretical_share"), cell: (r) => (shown(r) && derived(r, "theoretical_share") ? [percent(derived(r, "theoretical_share")), origin(r)] : "") },
      figure("Step", "step"),
      figure("Total", "cumulative"),
      figure("Sectors/ld", "load_sectors_per_request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"),
      figure("Sectors/st", "store_sectors_per_request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"),
      figure("Conflicts/req.", "conflicts_per_request", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
      { title: "Limited by", text: (r) => String(r.derived?.limit ?? ""), cell: (r) => (r.derived?.limit ? [String(r.derived.limit), originBadge("estimated")] : "") },
    ]),
  );
}

function rungTexts(topic: Topic): Child {
  const seen = new Set<string>();
  const ladderOf = new Map(ladderRows(topic).map((r) => [r.rung, r]));
  const rungs = topic.rows.filter((r) => r.rung && !seen.has(r.rung) && seen.add(r.rung)).map((r) => ladderOf.get(r.rung) ?? r);
  return section(
    "Why each rung is faster than the one before",
    h("p", null, topic.shows),
    h(
      "dl",
      { class: "rungs" },
      rungs.map((r) => [
        h("dt", null, r.rung),
        h("dd", null, r.what, r.derived?.why ? h("p", { class: "why" }, String(r.derived.why)) : null),
      ]),
    ),
  );
}

/** What the build had no program for, by reason. */
function leftOut(lab: Lab): Child {
  const byReason = new Map<string, string[]>();
  for (const l of lab.left_out ?? []) byReason.set(l.reason, [...(byReason.get(l.reason) ?? []), l.topic]);
  return [...byReason].map(([reason, topics]) => note(`Left out: ${topics.join(", ")} (${reason}).`));
}

export function labView(page: Page, state: State): Child {
  const lab = page.lab;
  if (!lab?.topics.length) return [note("No topic was run."), lab ? leftOut(lab) : null];
  const topic = lab.topics.find((t) => t.topic === state.topic) ?? lab.topics[0];
  const measured = new Map<string, LabRow>();
  for (const r of page.measured?.topics.find((t) => t.topic === topic.topic)?.rows ?? []) if (shown(r)) measured.set(keyOf(r), r);
  return [
    h("p", { class: "soft" }, lab.command, " \u2014 ", lab.date, lab.machine ? `, ${lab.machine}` : ""),
    leftOut(lab),
    h(
      "nav",
      { class: "tabs", "aria-label": "Topics" },
      lab.topics.map((t) => h("a", { href: address({ view: "lab", topic: t.topic }), "aria-current": t === topic ? "true" : undefined }, t.topic)),
    ),
    h("h2", null, topic.title),
    h("p", { class: "soft" }, `${topic.virtual ? "virtual GPU " : ""}${topic.gpu}${topic.document ? `; course: ${topic.document}` : ""}`),
    topic.error ? note(topic.error) : null,
    rungTexts(topic),
    ladderOnGpu(page, topic),
    ladder(page, topic, measured),
    stepsView(topic, state),
    sizeCurves(page, topic),
    parameterCurves(topic),
    topicRoofline(page, topic),
    modelsChart(page, topic),
    rowsTable(topic, measured),
    topic.notes.map((n) => section(n.title, h("pre", { class: "scroll", tabindex: 0 }, n.text))),
  ];
}
