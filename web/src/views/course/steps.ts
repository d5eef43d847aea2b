// The steps of a chapter: each rung beside the one before. What a step holds is made when it is opened: sources and
// drawings of a whole ladder at once would be slow to open and long to scroll past.
import { type Chapter, matches, rich, type RowChoice } from "../../course";
import type { LabRow, Origin, Page, Topic } from "../../data";
import { type Child, h, note, section } from "../../dom";
import { shortKernel, significant } from "../../format";
import { originBadge } from "../../metric";
import { address } from "../../state";
import { recordingAt } from "../steps";
import { elements, keyOf, label, ladderOf, laddersOf, largeRows, mainProblem, measuredTopic, problemOf, shown, isSwept, sizeName, timeOf } from "../lab_rows";
import { kSame, outcomeOf, type StepWords, wordsOf } from "./claims";
import { accessPair, counterTable, sourceDiff } from "./compare";

export interface Step {
  before: LabRow;
  after: LabRow;
  text?: StepWords;
}

/** Rows of two choices at the largest problem that both ran. */
function pair(rows: LabRow[], before: RowChoice, after: RowChoice): [LabRow, LabRow] | undefined {
  const first = rows.filter((r) => matches(r, before));
  return rows
    .filter((r) => matches(r, after))
    .sort((a, b) => elements(b) - elements(a))
    .map((b): [LabRow | undefined, LabRow] => [first.find((a) => problemOf(a) === problemOf(b)), b])
    .find((p): p is [LabRow, LabRow] => p[0] !== undefined && p[0] !== p[1]);
}

/** Rung by rung. A rung that ran at the ladder's main size stands beside the one before it there; another (one thread, a
 * single tile) beside the nearest one with which it shares a size. */
function ladderSteps(topic: Topic, name: string, chapter: Chapter | undefined): Step[] {
  const rows = topic.rows.filter((r) => shown(r) && !isSwept(r) && r.role === "rung" && ladderOf(r) === name);
  const main = new Set(mainProblem(rows).map((r) => r.rung));
  const names = [...new Set(rows.map((r) => r.rung))];
  const steps: Step[] = [];
  names.forEach((rung, i) => {
    const earlier = names.slice(0, i).reverse();
    const ordered = main.has(rung) ? [...earlier.filter((n) => main.has(n)), ...earlier.filter((n) => !main.has(n))] : earlier;
    const compared = chapter?.compared?.[rung];
    for (const before of compared && names.includes(compared) ? [compared, ...ordered] : ordered) {
      const found = pair(rows, { rung: before }, { rung });
      if (!found) continue;
      steps.push({ before: found[0], after: found[1], text: chapter?.rungs?.[rung] });
      return;
    }
  });
  return steps;
}

/** Steps of a sweep without a chapter: from each row to the next. */
function sweepSteps(topic: Topic): Step[] {
  const rows = topic.rows.filter((r) => shown(r) && r.kernels?.length);
  return rows.flatMap((after, i) => {
    const before = rows.slice(0, i).reverse().find((r) => r.rung === after.rung && problemOf(r) === problemOf(after));
    return before ? [{ before, after }] : [];
  });
}

export function stepsOf(topic: Topic, chapter: Chapter | undefined): Step[] {
  if (chapter?.steps)
    return chapter.steps.flatMap((s) => {
      const found = s.before ? pair(topic.rows, s.before, s) : undefined;
      return found ? [{ before: found[0], after: found[1], text: s.text }] : [];
    });
  const steps = laddersOf(topic).flatMap((name) => ladderSteps(topic, name, chapter));
  return steps.length ? steps : sweepSteps(topic);
}

/** "46 -> 32 µs", and how the second relates to the first. */
function times(before: number, after: number): string {
  if (!before || !after) return "";
  const factor = before / after;
  const word = factor > 1 + kSame ? `${significant(factor)} times as fast` : factor < 1 - kSame ? `${significant(1 / factor)} times as slow` : "the same";
  return `${significant(before)} \u2192 ${significant(after)} \u00b5s, ${word}`;
}

/** The rows of a step on a real GPU: at the same size, and at the largest that is kept of both, where a lesson shows that
 * a small grid hides. */
function onGpu(page: Page, topic: Topic, step: Step): [LabRow, LabRow][] {
  const kept = measuredTopic(page, topic)?.rows.filter(shown) ?? [];
  const same = [step.before, step.after].map((r) => kept.find((k) => keyOf(k) === keyOf(r)));
  const largest = pair(kept, { rung: step.before.rung, at: step.before.parameters }, { rung: step.after.rung, at: step.after.parameters });
  const out: [LabRow, LabRow][] = [];
  if (same[0] && same[1]) out.push([same[0], same[1]]);
  if (largest && largest[1] !== out[0]?.[1]) out.push(largest);
  return out;
}

/** The rows of a step at the ladder's large size. */
function largePair(topic: Topic, step: Step): [LabRow, LabRow][] {
  const [a, b] = [step.before, step.after].map((r) => largeRows(topic).find((l) => label(l) === label(r) && l.type === r.type));
  return a && b ? [[a, b]] : [];
}

/** Times by the CPU's clock, for topics about it. They are neither gain nor loss: the clock measures the code between its
 * start and its stop. */
function byCpu(a: LabRow, b: LabRow): string {
  const [x, y] = [a.cpu_us?.median ?? 0, b.cpu_us?.median ?? 0];
  return x > 0 && y > 0 ? `${significant(x)} \u2192 ${significant(y)} \u00b5s` : "";
}

function timeLine(name: string, a: LabRow, b: LabRow, kind: Origin, cpu: boolean): Child {
  const text = times(timeOf(a), timeOf(b));
  const clock = cpu ? byCpu(a, b) : "";
  return text ? h("li", null, name, text, ` (${b.size_text} ${b.type}) `, originBadge(kind), clock ? [h("br", null), `By the CPU's clock: ${clock}`] : null) : null;
}

function timeFacts(page: Page, topic: Topic, step: Step, cpu: boolean): Child {
  const kind = step.after.origin === "measured" ? "measured" : "estimated";
  const name = measuredTopic(page, topic)?.device?.name ?? "a real GPU";
  return h(
    "ul",
    { class: "step-times" },
    timeLine(kind === "estimated" ? "Predicted: " : "Measured: ", step.before, step.after, kind, cpu),
    largePair(topic, step).map(([a, b]) => timeLine(`Predicted from ${b.blocks} blocks: `, a, b, "sampled", cpu)),
    onGpu(page, topic, step).map(([a, b]) => timeLine(`On ${name}: `, a, b, "measured", cpu)),
  );
}

/** The rows that a step is judged by: on a real GPU with the largest data, otherwise by the model, at the large size if
 * there is one. */
function judged(page: Page, topic: Topic, step: Step): { rows: [LabRow, LabRow]; real: boolean } {
  const real = onGpu(page, topic, step).pop();
  return { rows: real ?? largePair(topic, step)[0] ?? [step.before, step.after], real: !!real };
}

/** What the times of these rows show. */
function outcome(page: Page, topic: Topic, step: Step): Child {
  const [a, b] = judged(page, topic, step).rows;
  const text = outcomeOf(step.text ?? "", timeOf(a), timeOf(b));
  return text ? [" ", h("span", { class: "step-outcome" }, rich(page, text), h("span", { class: "soft" }, ` (at ${sizeName(b)})`))] : null;
}

/** Gain of a step, for the summary. */
function gain(page: Page, topic: Topic, step: Step, cpu: boolean): Child {
  const { rows, real } = judged(page, topic, step);
  const [a, b] = rows;
  const origin = originBadge(real ? "measured" : step.after.origin ?? "estimated");
  const clock = cpu ? byCpu(a, b) : "";
  if (clock) return h("span", { class: "step-gain", title: `by the CPU's clock (${b.size_text} ${b.type})` }, `CPU ${clock}`, h("span", { class: "soft" }, ` at ${sizeName(b)} `), origin);
  const factor = timeOf(a) && timeOf(b) ? timeOf(a) / timeOf(b) : 0;
  if (!factor) return null;
  const [kind, text] = factor > 1 + kSame ? ["faster", `\u00d7 ${significant(factor)}`] : factor < 1 - kSame ? ["slower", `\u00f7 ${significant(1 / factor)}`] : ["", "="];
  return h("span", { class: `step-gain ${kind}`, title: `${times(timeOf(a), timeOf(b))} (${b.size_text} ${b.type})` }, h("span", { class: "hidden" }, kind || "about the same time", " "), text, h("span", { class: "soft" }, ` at ${sizeName(b)} `), origin);
}

/** The way to the recordings of a step's two rungs, or why a rung has none. */
function stepThrough(page: Page, topic: Topic, step: Step): Child {
  if (!topic.recordings) return topic.no_recordings ? note(`Nothing to step through: ${topic.no_recordings}.`) : null;
  const rows = [step.before, step.after];
  const links = rows.flatMap((row) =>
    (row.recordings ?? []).map((i) => h("a", { class: "button", href: address({ view: "steps", r: String(recordingAt(page, topic, i)) }) }, `${label(row)}: ${shortKernel(topic.recordings![i].name)}`)),
  );
  const without = [...new Set(rows.filter((row) => !row.recordings?.length).map(label))];
  return h(
    "p",
    { class: "toolbar step-through" },
    links.length ? [h("strong", null, "Step through "), links] : null,
    without.length ? h("span", { class: "soft" }, `Not recorded: ${without.join(", ")}.`) : null,
  );
}

function body(page: Page, topic: Topic, step: Step, chapter?: Chapter): Child {
  const why = String(step.after.derived?.why ?? "");
  const counted = why.includes(label(step.before)) ? why : "";
  const drawn = !!(step.before.kernels?.length || step.after.kernels?.length);
  return [
    timeFacts(page, topic, step, chapter?.clock === "cpu"),
    stepThrough(page, topic, step),
    counted ? h("p", { class: "why" }, "Counted: ", counted) : null,
    h("h4", null, "What changed in the counts"),
    counterTable(page, step.before, step.after),
    drawn
      ? [
          h("h4", null, "What changed in the source"),
          sourceDiff(topic, step.before, step.after),
          accessPair(step.before, step.after, chapter?.access ?? {}),
        ]
      : note("Sources and accesses of these rows were not recorded (they launch no kernel, or the run had no --report)."),
  ];
}

/** Opens the step of a rung that the address names. */
function isWanted(step: Step, rung: string | undefined, steps: Step[]): boolean {
  if (!rung) return false;
  return steps.find((s) => s.after.rung === rung) === step || (!steps.some((s) => s.after.rung === rung) && steps.find((s) => s.before.rung === rung) === step);
}

export function stepList(page: Page, topic: Topic, chapter: Chapter | undefined, rung: string | undefined): Child {
  const steps = stepsOf(topic, chapter);
  if (!steps.length) return null;
  let ladder = "";
  const all = steps.map((step, i) => {
    const wanted = isWanted(step, rung, steps);
    const holder = h("div", { class: "step-body" });
    let made = false;
    const fill = (): void => {
      if (made) return;
      made = true;
      holder.append(h("div", null, body(page, topic, step, chapter)));
    };
    const details = h(
      "details",
      { class: wanted ? "step target" : "step", id: `step-${i + 1}`, "data-rung": step.after.rung, "data-before": step.before.rung, open: wanted, ontoggle: (e: Event) => (e.target as HTMLDetailsElement).open && fill() },
      h("summary", { tabindex: 0 }, h("span", { class: "step-number" }, `${i + 1}`), h("span", { class: "step-names" }, label(step.before), " \u2192 ", h("strong", null, label(step.after))), gain(page, topic, step, chapter?.clock === "cpu"), h("span", { class: "step-what" }, step.after.what)),
      step.text ? h("p", { class: "step-text" }, rich(page, wordsOf(step.text)), outcome(page, topic, step)) : null,
      holder,
    );
    if (wanted) fill();
    const name = ladderOf(step.after);
    const head = name !== ladder ? h("h3", null, name) : null;
    ladder = name;
    return [head, details];
  });
  const openAll = (open: boolean): void => {
    for (const d of list.querySelectorAll("details.step")) (d as HTMLDetailsElement).open = open;
  };
  const list = h("div", { class: "steps" }, all);
  return section(
    "Step by step",
    h("p", { class: "soft" }, "Each step is a rung beside the one before: open it for its source, its counts and its accesses. "),
    h("p", { class: "toolbar" }, h("button", { type: "button", class: "button", onclick: () => openAll(true) }, "Open all"), h("button", { type: "button", class: "button", onclick: () => openAll(false) }, "Close all")),
    list,
  );
}

/** Any two rows of one problem beside each other. */
export function freeComparison(page: Page, topic: Topic): Child {
  const rows = topic.rows.filter((r) => shown(r) && r.metrics);
  if (rows.length < 3) return null;
  const holder = h("div", null);
  const select = (title: string, at: number): HTMLSelectElement =>
    h("select", { "aria-label": title, onchange: () => show() }, rows.map((r, i) => h("option", { value: i, selected: i === at }, `${label(r)}, ${r.size_text} ${r.type}`)));
  const before = select("Before", 0);
  const after = select("After", 1);
  const show = (): void => holder.replaceChildren(h("div", null, body(page, topic, { before: rows[Number(before.value)], after: rows[Number(after.value)] })));
  return h(
    "details",
    { class: "card", ontoggle: (e: Event) => (e.target as HTMLDetailsElement).open && !holder.firstChild && show() },
    h("summary", null, "Compare any two rows"),
    h("p", { class: "step-choice" }, h("label", null, "Before ", before), h("label", null, "After ", after)),
    holder,
  );
}
