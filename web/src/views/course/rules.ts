// The same accesses on all GPU models: what each moves, by the rule of its compute capability. A cell chosen is drawn.
import type { Page, Pattern, RuleExample, RuleTable } from "../../data";
import { type Child, h } from "../../dom";
import { originBadge } from "../../metric";
import { bankGrid } from "../banks";
import { lanesToSectors, sectorMap } from "../sectors";

const kLeast = 32; // bytes that the newest GPUs move at least

type Model = RuleTable["models"][number];

function patternOf(e: RuleExample, model: Model, which: "global" | "shared", i: number): Pattern {
  const shared = which === "shared";
  const pieces = shared ? [] : model.global[i];
  return {
    count: 1,
    mask: "",
    lane_bytes: e.bytes,
    space: which,
    addresses: e.addresses,
    base: { allocation: null, offset: 0 },
    alignment: 0,
    sectors: 0,
    lines_128: 0,
    wavefronts: shared ? model.shared[i] : 0,
    ideal_sectors: 0,
    ideal_wavefronts: 1,
    transactions: pieces.map(([offset, bytes]) => ({ address_offset: offset, bytes })),
    block: [0, 0, 0],
    warp: 0,
  };
}

const moved = (model: Model, i: number): number => model.global[i].reduce((n, [, bytes]) => n + bytes, 0);
const wanted = (e: RuleExample): number => new Set(e.addresses.filter((a) => a !== null)).size * e.bytes;

function drawn(page: Page, rules: RuleTable, which: "global" | "shared", row: number, column: number): Child {
  const model = rules.models[row];
  const e = rules[which][column];
  const pattern = patternOf(e, model, which, column);
  const banks = page.models.find((m) => m.id === model.id)?.banks;
  const n = which === "global" ? model.global[column].length : model.shared[column];
  const words = which === "global" ? `${n} transaction${n === 1 ? "" : "s"}, ${moved(model, column)} bytes moved for ${wanted(e)}` : `${n} pass${n === 1 ? "" : "es"} through ${model.banks} banks`;
  return [
    h("h3", null, `${e.name} on ${model.name}`),
    h("p", null, `${model.architecture}, compute capability ${model.cc}: ${words} `, originBadge("exact")),
    which === "global" ? [h("div", { class: "scroll", tabindex: 0 }, lanesToSectors(pattern)), sectorMap(pattern)] : banks ? bankGrid(pattern, banks) : null,
  ];
}

export function rulesView(page: Page, which: "global" | "shared"): Child {
  const rules = page.rules;
  if (!rules) return null;
  const examples = rules[which];
  const ruleOf = (m: Model): string => (which === "global" ? m.rule : `${m.banks} banks${page.models.find((p) => p.id === m.id)?.banks.lanes === 16 ? ", a half-warp at a time" : ""}`);
  // In the order of their compute capabilities: so that models of one rule stand together.
  const order = rules.models.map((_, i) => i).sort((a, b) => Number(rules.models[a].cc) - Number(rules.models[b].cc));
  const holder = h("div", { class: "rule-drawing", "aria-live": "polite" });
  const buttons: HTMLElement[] = [];
  const choose = (row: number, column: number, button?: HTMLElement): void => {
    for (const b of buttons) b.setAttribute("aria-pressed", String(b === button));
    holder.replaceChildren(h("div", null, drawn(page, rules, which, row, column)));
  };
  const cell = (row: number, column: number): HTMLElement => {
    const m = rules.models[row];
    const e = examples[column];
    const n = which === "global" ? m.global[column].length : m.shared[column];
    const bytes = which === "global" ? moved(m, column) : 0;
    const bad = which === "global" ? bytes >= 2 * Math.max(wanted(e), kLeast) : n > 2;
    const name = which === "global" ? `${n} transactions, ${bytes} bytes` : `${n} passes`;
    const button: HTMLElement = h("button", { type: "button", class: bad ? "many" : undefined, "aria-pressed": "false", "aria-label": `${m.name}, ${e.name}: ${name}`, onclick: () => choose(row, column, button) }, which === "global" ? `${n} / ${bytes}` : n);
    buttons.push(button);
    return h("td", { class: "number" }, button);
  };
  let last = "";
  const rows = order.flatMap((row) => {
    const m = rules.models[row];
    const rule = ruleOf(m);
    const head = rule === last ? [] : [h("tr", null, h("th", { class: "rule", scope: "rowgroup", colspan: examples.length + 1 }, rule))];
    last = rule;
    return [...head, h("tr", null, h("th", { scope: "row" }, `${m.name.replace(/^NVIDIA /, "")} `, h("span", { class: "soft" }, m.cc)), examples.map((_, i) => cell(row, i)))];
  });
  const start = { global: [order.findIndex((r) => rules.models[r].cc === "1.3"), 3], shared: [order.length - 1, 5] }[which];
  choose(order[Math.max(0, start[0])], start[1]);
  return h(
    "section",
    { class: "card rules" },
    h("h2", null, which === "global" ? `One load of a warp on ${rules.models.length} GPUs: how has the rule changed?` : `One read of a warp on ${rules.models.length} GPUs: how many passes?`),
    h("p", null, which === "global" ? "Transactions / bytes moved for what 32 lanes want. Choose a figure to see it drawn. " : "Passes through the banks for 32 lanes. Choose a figure to see it drawn. ", originBadge("exact", true)),
    h("div", { class: "scroll", tabindex: 0 }, h("table", { class: "rules-table", "aria-label": "Accesses on all GPU models" }, h("thead", null, h("tr", null, h("th", { scope: "col" }, "GPU"), examples.map((e) => h("th", { scope: "col", class: "number" }, e.name)))), h("tbody", null, rows))),
    holder,
  );
}
