// Speed of each rung of a ladder: bars with the limit as a line, predicted beside measured.
import type { LabRow, Origin, Page, Topic } from "../../data";
import { type Child, h, section } from "../../dom";
import { percent, short, significant, time } from "../../format";
import { originBadge } from "../../metric";
import { derived, elements, keyOf, ladderRows, label, laddersOf, largeRows, type Measure, measuredTopic, measureOf, modelFor, problemOf, rowsOfLadder, shown, timeOf } from "../lab_rows";

const kFar = 12; // a limit this many times beyond the best bar would leave no bars to see

interface Bars {
  rows: LabRow[];
  of: (r: LabRow) => number;
  measured?: (r: LabRow) => number; // 0: not known
  kind: "predicted" | "measured"; // what `of` is
  unit: string;
  limit: number; // 0: none
  limitName: string;
  name?: (r: LabRow) => string;
}

export function bars(b: Bars): HTMLElement {
  const values = b.rows.flatMap((r) => [b.of(r), b.measured?.(r) ?? 0]);
  const best = Math.max(...values);
  const inside = b.limit > 0 && b.limit <= kFar * best;
  const full = (inside ? Math.max(b.limit, best) : best) || 1;
  const bar = (value: number, kind: string): Child =>
    value > 0 ? h("div", { class: `bar-line ${kind}` }, h("span", { class: "bar-fill", style: `width:${((100 * value) / full).toFixed(2)}%` }), h("span", { class: "bar-value" }, significant(value), h("span", { class: "hidden" }, ` ${b.unit} ${kind}`))) : null;
  return h(
    "div",
    { class: "bars", role: "list", style: inside ? `--limit-part:${(b.limit / full).toFixed(4)}` : undefined },
    b.rows.map((r) =>
      h(
        "div",
        { class: "bar-row", role: "listitem" },
        h("span", { class: `bar-name ${r.role}` }, (b.name ?? label)(r), r.role === "bound" ? h("span", { class: "soft" }, " (bound)") : r.role === "library" ? h("span", { class: "soft" }, " (library)") : null),
        h("div", { class: inside ? "bar-track limited" : "bar-track" }, bar(b.of(r), b.kind), b.measured ? bar(b.measured(r), "measured") : null),
      ),
    ),
    b.limit > 0
      ? h("p", { class: "bar-limit soft" }, inside ? h("span", { class: "limit-key" }) : null, inside ? `${b.limitName} ${short(b.limit)} ${b.unit}` : `The limit, ${b.limitName} ${short(b.limit)} ${b.unit}, is ${significant(b.limit / best, 2)} times the longest bar: beyond this figure.`)
      : null,
  );
}

const key = (kind: "predicted" | "measured", origin: Origin = kind === "measured" ? "measured" : "estimated"): Child => [h("span", { class: `bar-key ${kind}` }), ` ${kind} `, originBadge(origin)];

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

/** Note for ladders whose fastest rungs leave most of the GPU idle: bars then show little of the effect of the rungs. */
function smallGrid(rows: LabRow[]): Child {
  const waves = (r: LabRow): number => r.metrics?.number("launch__waves_per_multiprocessor") ?? 0;
  const rungs = rows.filter((r) => r.role === "rung");
  const small = rungs.filter((r) => waves(r) > 0 && waves(r) < 0.5);
  if (!small.length) return null;
  const least = small.reduce((a, b) => (waves(b) < waves(a) ? b : a));
  return h(
    "p",
    null,
    `${small.length === 1 ? "One rung fills" : `${small.length} of ${rungs.length} rungs fill`} less than half of the GPU at this size; ${label(least)} starts ${percent(waves(least))} of the blocks that it could hold at once. What a rung saves shows where grids are larger. `,
    originBadge(least.metrics?.get("launch__waves_per_multiprocessor")?.origin ?? "exact"),
  );
}

function fastest(rows: LabRow[], measure: Measure): Child {
  const top = rows.filter((r) => r.role === "rung").sort((a, b) => measure.of(b) - measure.of(a))[0];
  const share = top ? derived(top, "theoretical_share") : 0;
  if (!top || !share) return null;
  return h(
    "p",
    null,
    `${label(top)} is the fastest here. It reaches ${percent(share)} of ${top.derived?.share_of === "flops" ? "the arithmetic" : "the bandwidth of the memory"} that the GPU has by its data sheet`,
    top.derived?.limit ? [`; what it waits for is ${String(top.derived.limit)} `, originBadge("estimated")] : null,
    ".",
    shareOfLimits(top),
  );
}

/** Many short ladders: a figure for each. */
function severalLadders(page: Page, topic: Topic, names: string[]): Child {
  const real = measuredTopic(page, topic);
  return section(
    "What does each ladder gain?",
    h("p", { class: "soft" }, "Time, so shorter is faster. ", key("predicted"), real ? [" and ", key("measured"), ", each at its own size"] : null),
    h(
      "div",
      { class: "small-figures" },
      names.map((name) => {
        const rows = rowsOfLadder(topic, name);
        const rung = (r: LabRow): string => label(r).slice(name ? name.length + 3 : 0);
        const large = real ? rowsOfLadder(real, name) : [];
        if (rows.length < 2) return null;
        return h(
          "figure",
          null,
          h("figcaption", null, name || topic.topic, h("span", { class: "soft" }, ` ${rows[0].size_text} ${rows[0].type}, \u00b5s`)),
          bars({ rows, of: timeOf, kind: "predicted", unit: "\u00b5s", limit: 0, limitName: "", name: rung }),
          large.length > 1 ? [h("p", { class: "soft" }, `${real!.device?.name ?? real!.gpu}, ${large[0].size_text}, \u00b5s`), bars({ rows: large, of: timeOf, kind: "measured", unit: "\u00b5s", limit: 0, limitName: "", name: rung })] : null,
        );
      }),
    ),
  );
}

/** Ladder of times on a real GPU, at a larger size than was run here. It shows effects that small grids hide. */
function onGpu(page: Page, topic: Topic): Child {
  const kept = measuredTopic(page, topic);
  const own = ladderRows(topic);
  const rows = kept ? ladderRows(kept) : [];
  if (!kept || rows.length < 2 || largeRows(topic).some((r) => problemOf(r) === problemOf(rows[0])) || (own.length && elements(rows[0]) <= elements(own[0]))) return null;
  const measure = measureOf(rows);
  const model = modelFor(page, kept) ?? modelFor(page, topic);
  return section(
    `And with ${rows[0].size_text} ${rows[0].type} on a real ${kept.device?.name ?? kept.gpu}?`,
    h("p", { class: "soft" }, "Longer is faster. Kept from a run on such a GPU, at a size for which the virtual one takes long: the ladder where the data is large. ", originBadge("measured", true)),
    bars({ rows, of: measure.of, kind: "measured", unit: measure.name, limit: model ? measure.limit(model, rows[0].type) : 0, limitName: measure.limitName }),
  );
}

/** The ladder at the size where its lesson holds: predicted from some blocks of each launch, beside what is kept of a GPU. */
function atLarge(page: Page, topic: Topic): Child {
  const rows = largeRows(topic);
  if (rows.filter((r) => r.role === "rung").length < 2) return null;
  const measure = measureOf(rows);
  const model = modelFor(page, topic);
  const kept = measuredTopic(page, topic);
  const real = new Map((kept?.rows ?? []).filter(shown).map((r) => [keyOf(r), r]));
  const others = rows.some((r) => real.has(keyOf(r)));
  return section(
    `How fast is each rung with ${rows[0].size_text} ${rows[0].type}?`,
    fastest(rows, measure),
    h("p", { class: "soft" }, `${measure.name}; longer is faster. Predicted from about ${rows[0].blocks} blocks of each launch, so not verified at this size; each rung was verified at a smaller one. `, key("predicted", "sampled"), others ? [" and ", key("measured"), ` on a real ${kept!.device?.name ?? kept!.gpu}`] : null),
    bars({ rows, of: measure.of, measured: others ? (r) => (real.has(keyOf(r)) ? measure.of(real.get(keyOf(r))!) : 0) : undefined, kind: "predicted", unit: measure.name, limit: model ? measure.limit(model, rows[0].type) : 0, limitName: measure.limitName }),
  );
}

export function ladderFigures(page: Page, topic: Topic): Child {
  const names = laddersOf(topic);
  if (names.length > 1 && names.some((n) => n)) return severalLadders(page, topic, names);
  const rows = ladderRows(topic);
  if (rows.filter((r) => r.role === "rung").length < 2) return null; // a sweep has no first and best
  const measure = measureOf(rows);
  const model = modelFor(page, topic);
  const real = new Map((measuredTopic(page, topic)?.rows ?? []).filter(shown).map((r) => [keyOf(r), r]));
  const others = rows.some((r) => real.has(keyOf(r)));
  const origin = rows[0].origin === "measured" ? "measured" : "predicted";
  const large = atLarge(page, topic);
  return [
    large,
    section(
      large ? `And with ${rows[0].size_text}, where each rung was run whole and verified?` : "How fast is each rung, and how far is the limit?",
      fastest(rows, measure),
      smallGrid(rows),
      h("p", { class: "soft" }, `${measure.name} at ${rows[0].size_text} ${rows[0].type}; longer is faster. `, key(origin), others ? [" ", key("measured")] : null),
      bars({ rows, of: measure.of, measured: others ? (r) => (real.has(keyOf(r)) ? measure.of(real.get(keyOf(r))!) : 0) : undefined, kind: origin, unit: measure.name, limit: model ? measure.limit(model, rows[0].type) : 0, limitName: measure.limitName }),
    ),
    onGpu(page, topic),
  ];
}
