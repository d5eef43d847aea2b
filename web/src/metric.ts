// A number with its unit, its origin and the way to its definition.
import type { Metric, Metrics, Origin, Page } from "./data";
import { type Child, h } from "./dom";
import { withUnit } from "./format";
import { address } from "./state";

const letters: Record<Origin, string> = { exact: "X", modelled: "M", estimated: "E", measured: "C", sampled: "S" };
export const originMeaning: Record<Origin, string> = {
  exact: "follows from addresses, masks and the launch alone",
  modelled: "rests on an assumed choice of driver or cache",
  estimated: "time on a GPU that is not there",
  measured: "a real clock or hardware counter",
  sampled: "from some blocks of a launch, scaled to all",
};

/** A small sign with the word for readers of screens and of screen readers alike. */
export function originBadge(origin: Origin, words = false): HTMLElement {
  return h(
    "abbr",
    { class: `origin ${origin}`, title: `${origin}: ${originMeaning[origin]}` },
    words ? origin : letters[origin],
    words ? null : h("span", { class: "hidden" }, ` ${origin}`),
  );
}

/** Origin of a figure of these counters: `usual`, unless they come from some blocks of a launch. */
export function originOf(metrics: Metrics, usual: Origin): Origin {
  return metrics.number("warpgrind__blocks_run.sum") > 0 ? "sampled" : usual;
}

/** Says how many blocks ran, if not all did. */
export function sampledNote(metrics: Metrics): Child {
  const ran = metrics.number("warpgrind__blocks_run.sum");
  if (!(ran > 0)) return null;
  const all = metrics.number("launch__thread_count") / Math.max(1, metrics.number("launch__block_size"));
  return h("p", { class: "soft" }, `${ran} of ${all} blocks ran: counts and times are scaled to all, results were not computed `, originBadge("sampled", true), ".");
}

let definitions: Page["definitions"] = {};
export function setDefinitions(page: Page): void {
  definitions = page.definitions;
}

export function definitionLink(metric: string, ...children: Child[]): HTMLElement {
  const known = definitions[metric];
  return h(
    "a",
    { href: address({ view: "counters", m: metric }), class: "definition", title: known?.definition ?? metric },
    ...(children.length ? children : [metric]),
  );
}

export function metricValue(metric: Metric | undefined, shown?: string): HTMLElement {
  if (!metric) return h("span", { class: "absent" }, "\u2013");
  return h(
    "span",
    { class: "value" },
    definitionLink(metric.name, shown ?? withUnit(metric.value, metric.unit)),
    originBadge(metric.origin),
  );
}

/** A name and its value, in a list of facts. */
export function fact(label: Child, value: Child): HTMLElement {
  return h("div", { class: "fact" }, h("dt", null, label), h("dd", null, value));
}

export function legend(): HTMLElement {
  const origins: Origin[] = ["exact", "modelled", "estimated", "measured", "sampled"];
  return h(
    "p",
    { class: "legend" },
    "Where numbers come from: ",
    origins.map((o) => h("span", null, originBadge(o), ` ${o}: ${originMeaning[o]}`)),
  );
}
