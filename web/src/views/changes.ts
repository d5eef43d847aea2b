// Changes since the baseline (--baseline FILE): the output of `warpgrind diff`, kernel by kernel.
import type { Baseline, BaselineChange, BaselineKernel, BaselineLine, Page } from "../data";
import { type Child, h, note, section } from "../dom";
import { fileName, figure, shortKernel, withUnit } from "../format";
import { definitionLink, originBadge } from "../metric";
import { table } from "../table";

const value = (c: BaselineChange, v: number): string => (c.unit ? withUnit(v, c.unit) : figure(v));

function relative(c: BaselineChange): string {
  if (!c.before) return c.after ? "from nothing" : "";
  const percent = (100 * (c.after - c.before)) / c.before;
  return `${percent > 0 ? "+" : "\u2212"}${figure(Number(Math.abs(percent).toFixed(1)))} %`;
}

function verdict(c: BaselineChange): Child {
  return c.verdict ? h("strong", { class: c.verdict === "worse" ? "few" : "good" }, c.verdict) : "";
}

function changesTable(label: string, changes: BaselineChange[]): Child {
  return table(label, changes, [
    { title: "What", wide: true, text: (c) => c.label, cell: (c) => definitionLink(c.metric, c.label) },
    { title: "Before", number: true, cell: (c) => [value(c, c.before), originBadge(c.origin)] },
    { title: "Now", number: true, cell: (c) => [value(c, c.after), originBadge(c.origin)] },
    { title: "Change", number: true, value: (c) => (c.before ? (c.after - c.before) / c.before : Infinity), cell: relative },
    { title: "", text: (c) => c.verdict, cell: verdict },
  ]);
}

const place = (l: BaselineLine): string => {
  const file = l.file ? `${fileName(l.file)}:` : "PTX line ";
  if (!l.after) return `${file}${l.before} (gone)`;
  if (!l.before) return `${file}${l.after} (new)`;
  return l.before === l.after ? `${file}${l.after}` : `${file}${l.before} \u2192 ${l.after}`;
};

function kernel(k: BaselineKernel): Child {
  return section(
    shortKernel(k.name),
    changesTable(`Changes of ${k.name}`, k.changes),
    k.lines.map((l) => [h("p", null, h("strong", null, place(l)), " ", h("code", null, l.text.trim())), changesTable(`Changes of ${place(l)}`, l.changes)]),
  );
}

const names = (b: Baseline, state: string): string[] => b.kernels.filter((k) => k.state === state).map((k) => shortKernel(k.name));
const isSame = (k: BaselineKernel): boolean => k.state === "both" && !k.changes.length && !k.lines.length;

export function changesTitle(page: Page): string {
  const worse = page.baseline?.kernels.filter((k) => k.changes.some((c) => c.verdict === "worse")).length ?? 0;
  return worse ? `Changes (${worse} worse)` : "Changes";
}

export function changesView(page: Page): Child {
  const b = page.baseline;
  if (!b) return note("No baseline was given (--baseline FILE).");
  const same = b.kernels.filter(isSame).map((k) => shortKernel(k.name));
  return [
    h("p", { class: "soft" }, `Since ${b.file}`, b.command ? ` (${b.command})` : "", ". Estimated figures count as better or worse from 5 % on."),
    b.notes.map((text) => note(text)),
    b.kernels.filter((k) => k.state === "both" && !isSame(k)).map(kernel),
    same.length ? note(`Unchanged: ${same.join(", ")}.`) : null,
    names(b, "new").length ? note(`Only now: ${names(b, "new").join(", ")}.`) : null,
    names(b, "gone").length ? note(`Only in the baseline: ${names(b, "gone").join(", ")}.`) : null,
  ];
}
