// A chapter: the question, the ladder with its limit, each step with source, counts and accesses, charts that answer a
// question each, and what to take away. A topic that the course does not know has one made of what it says itself.
import { type Chapter, chapterOrder, chapterState, rich, sectionsOf } from "../../course";
import type { LabRow, Page, Topic } from "../../data";
import { type Child, h, note, section } from "../../dom";
import { percent, significant } from "../../format";
import { definitionLink, originBadge } from "../../metric";
import { address, type State } from "../../state";
import { table } from "../../table";
import { derived, elements, hasFlop, keyOf, label, ladderRows, largeRows, measuredTopic, modelFor, shown, timeOf } from "../lab_rows";
import { rooflineChart, type RoofPoint } from "../roofline";
import { defaultCharts, questionChart } from "./curves";
import { figure } from "./figures/index";
import { ladderFigures } from "./ladder";
import { rulesView } from "./rules";
import { freeComparison, stepList } from "./steps";

function roofline(page: Page, topic: Topic): Child {
  const model = modelFor(page, topic);
  // At the large size if there is one: on a small grid better rungs lie lower.
  const large = largeRows(topic).filter((r) => (r.flop ?? 0) > 0 && r.metrics);
  const rows = large.filter((r) => r.role === "rung").length > 1 ? large : ladderRows(topic).filter((r) => (r.flop ?? 0) > 0);
  if (!model || rows.filter((r) => r.role === "rung").length < 2 || !hasFlop(rows)) return null;
  const points: RoofPoint[] = [];
  for (const r of rows) {
    let moved = 0;
    for (const op of ["ld", "st", "atom", "red"]) moved += r.metrics?.number(`warpgrind__global_op_${op}_transaction_bytes.sum`) ?? 0;
    const bytes = moved || r.bytes || 0;
    if (bytes && timeOf(r)) points.push({ name: label(r), group: "rungs", intensity: (r.flop ?? 0) / bytes, gflops: (r.flop ?? 0) / timeOf(r) / 1e3 });
  }
  return points.length > 1 ? section(`Is it memory or arithmetic that limits? The roofline of ${model.name}`, h("p", { class: "soft" }, `${rows[0].size_text} ${rows[0].type}`), rooflineChart(model, points, 420)) : null;
}

function rowsTable(page: Page, topic: Topic): Child {
  const measured = new Map<string, LabRow>();
  for (const r of measuredTopic(page, topic)?.rows ?? []) if (shown(r)) measured.set(keyOf(r), r);
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
  return table("All rows", topic.rows, [
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
  ]);
}

/** Table of all rungs: what each is, and that it was verified. Shown on request. */
function everything(page: Page, topic: Topic, wanted: boolean): Child {
  const seen = new Set<string>();
  const rungs = topic.rows.filter((r) => r.rung && !seen.has(r.rung) && seen.add(r.rung));
  const holder = h("div", null);
  const show = (): void => {
    if (holder.firstChild) return;
    holder.append(h("div", null, h("dl", { class: "rungs" }, rungs.map((r) => [h("dt", null, r.rung), h("dd", null, r.what)])), rowsTable(page, topic)));
  };
  if (wanted) show();
  const failed = topic.rows.filter((r) => !r.skipped && !r.verified).length;
  const verified = topic.rows.filter(shown).length;
  return h(
    "details",
    { class: wanted ? "card all-rows target" : "card all-rows", open: wanted, ontoggle: (e: Event) => (e.target as HTMLDetailsElement).open && show() },
    h("summary", null, `All ${topic.rows.length} rows: ${verified} verified`, failed ? h("strong", { class: "few" }, `, ${failed} wrong`) : null, topic.rows.length > verified + failed ? `, ${topic.rows.length - verified - failed} skipped` : null),
    holder,
  );
}

function notes(topic: Topic): Child {
  return topic.notes.map((n) => h("details", { class: "card" }, h("summary", null, n.title), h("pre", { class: "scroll", tabindex: 0 }, n.text)));
}

function neighbours(page: Page, topic: Topic, where: string): Child {
  const order = chapterOrder(page);
  const at = order.indexOf(topic);
  const link = (t: Topic | undefined, before: string, after: string): Child => (t ? h("a", { class: "button", href: address(chapterState(t.topic)) }, `${before}${t.topic}${after}`) : null);
  return h("nav", { class: "chapter-nav", "aria-label": `Chapters, ${where}` }, link(order[at - 1], "\u2190 ", ""), page.course ? h("a", { class: "button", href: address({ view: "lab" }) }, "Map") : null, link(order[at + 1], "", " \u2192"));
}

function documentsOf(page: Page, topic: Topic): Child {
  const found = sectionsOf(page, topic.topic);
  if (!found.length) return null;
  const byDocument = new Map<string, string[]>();
  for (const f of found) byDocument.set(f.document.short, [...(byDocument.get(f.document.short) ?? []), f.section.title]);
  return h(
    "details",
    { class: "from" },
    h("summary", null, "Shows ", [...byDocument].map(([name, list], i) => [i ? ", " : "", `${list.length} section${list.length === 1 ? "" : "s"} of ${name}`])),
    h("ul", null, found.map((f) => h("li", null, h("span", { class: "soft" }, `${f.document.short}: `), f.section.title))),
  );
}

/** Exercises of a chapter, judged by `warpgrind exercise check`, or in the playground. */
function exercises(chapter: Chapter | undefined): Child {
  if (!chapter?.exercises?.length) return null;
  return section(
    "Exercises",
    h("p", { class: "soft" }, "Each begins in a folder of its own; ", h("code", null, "warpgrind exercise check"), " there judges the answer. ", h("code", null, "warpgrind serve"), " has them all in the browser."),
    h(
      "ul",
      { class: "try" },
      chapter.exercises.map((e) => h("li", null, h("code", null, `warpgrind exercise start ${e.name}`), h("p", null, e.title, h("span", { class: "soft" }, ` (level ${e.level} of 5)`)))),
    ),
  );
}

export function chapterView(page: Page, topic: Topic, state: State): Child {
  const order = chapterOrder(page);
  const chapter = page.course?.chapters[topic.topic];
  const steps = stepList(page, topic, chapter, state.rung);
  const charts: Child[] = chapter ? (chapter.charts ?? []).map((c) => questionChart(page, topic, c)) : [defaultCharts(page, topic)];
  // A rung that no step shows: the chart that does, or the table.
  const opened = steps instanceof HTMLElement && steps.querySelector(".target");
  const card = !opened && state.rung ? charts.find((c): c is HTMLElement => c instanceof HTMLElement && (c.dataset.rungs ?? "").split("|").includes(state.rung!)) : undefined;
  card?.classList.add("target");
  return [
    neighbours(page, topic, "above"),
    h(
      "section",
      { class: "card opening" },
      h("p", { class: "soft" }, `Chapter ${order.indexOf(topic) + 1} of ${order.length}: ${topic.title}`),
      h("h2", null, chapter?.question ?? topic.title),
      chapter ? chapter.opening.map((p) => h("p", null, rich(page, p))) : h("p", null, topic.shows),
      h("p", { class: "soft" }, `Run on ${topic.virtual ? "the virtual GPU " : ""}${topic.gpu}${topic.document ? `; course: ${topic.document}` : ""}.`),
      documentsOf(page, topic),
      topic.error ? note(topic.error) : null,
    ),
    figure(page, topic, chapter?.animation),
    ladderFigures(page, topic),
    steps,
    charts,
    chapter?.rules ? rulesView(page, chapter.rules) : null,
    roofline(page, topic),
    chapter ? section("What to take away", h("ul", { class: "take-away" }, chapter.take_away.map((t) => h("li", null, rich(page, t))))) : null,
    chapter?.try?.length ? section("Try it", h("p", { class: "soft" }, "In a terminal, where warpgrind is built; no GPU is needed."), h("ul", { class: "try" }, chapter.try.map((t) => h("li", null, h("code", null, t.command), h("p", null, rich(page, t.question)))))) : null,
    exercises(chapter),
    freeComparison(page, topic),
    everything(page, topic, !!state.rung && !opened && !card),
    notes(topic),
    neighbours(page, topic, "below"),
  ];
}
