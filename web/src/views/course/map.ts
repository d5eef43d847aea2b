// The way in: the five documents section by section with the rungs that show them, and the chapters in their order.
import { chapterOrder, chapterState, rich } from "../../course";
import type { Page, Topic } from "../../data";
import { type Child, h } from "../../dom";
import { significant } from "../../format";
import { address } from "../../state";
import { label, laddersOf, largeRows, rowsOfLadder, sizeName, timeOf } from "../lab_rows";

/** "13 rungs, up to 8 times as fast (padded)": what a chapter has to show. Rungs are compared within their ladder. */
function gain(topic: Topic): string {
  const large = largeRows(topic).filter((r) => r.role === "rung");
  const ladders = (large.length > 1 ? [large] : laddersOf(topic).map((name) => rowsOfLadder(topic, name).filter((r) => r.role === "rung"))).filter((rows) => rows.length > 1);
  if (!ladders.length) return `${topic.rows.length} rows`;
  const gains = ladders.map((rows) => {
    const best = rows.reduce((a, b) => (timeOf(b) < timeOf(a) ? b : a));
    return { best, factor: timeOf(rows[0]) / timeOf(best) };
  });
  const { best, factor } = gains.reduce((a, b) => (b.factor > a.factor ? b : a));
  const rungs = ladders.reduce((n, rows) => n + rows.length, 0);
  return `${rungs} rungs${factor > 1.2 ? `, up to ${significant(factor, 2)} times as fast (${label(best)} at ${sizeName(best)})` : ""}`;
}

function chapterList(page: Page): Child {
  return h(
    "ol",
    { class: "chapters" },
    chapterOrder(page).map((t) => {
      const chapter = page.course?.chapters[t.topic];
      return h(
        "li",
        null,
        h("a", { href: address(chapterState(t.topic)) }, chapter?.question ?? t.title),
        h("span", { class: "soft" }, ` ${t.topic}: ${t.title}. ${t.error || gain(t)}`),
      );
    }),
  );
}

export function mapView(page: Page): Child {
  const course = page.course!;
  const there = new Set(page.lab!.topics.map((t) => t.topic));
  return [
    h("section", { class: "card opening" }, h("h2", null, course.title), course.opening.map((p) => h("p", null, rich(page, p))), h("p", { class: "jump" }, "On this page: ", h("a", { href: "#documents", onclick: jump("documents") }, "the documents"), ", ", h("a", { href: "#chapters", onclick: jump("chapters") }, "the chapters"), ". Words: ", h("a", { href: address({ view: "glossary" }) }, "the glossary"), ".")),
    h("h2", { id: "documents", tabindex: -1 }, "The documents, section by section"),
    h(
      "div",
      { class: "documents" },
      course.documents.map((d) =>
        h(
          "section",
          { class: "card", "aria-labelledby": `document-${d.id}` },
          h("h3", { id: `document-${d.id}` }, d.title),
          h("p", { class: "soft" }, d.about),
          h(
            "ol",
            { class: "sections" },
            d.sections.map((s) =>
              h(
                "li",
                null,
                h("strong", null, s.title),
                h("p", null, rich(page, s.says)),
                h(
                  "p",
                  { class: "shown" },
                  s.shown.map((x) => (there.has(x.topic) ? h("a", { class: "rung-link", href: address(chapterState(x.topic, { rung: x.rung })) }, `${x.topic}: ${x.rung}`) : h("span", { class: "soft" }, `${x.topic}: ${x.rung} (not run)`))),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
    h("section", { class: "card" }, h("h2", { id: "chapters", tabindex: -1 }, "The chapters"), chapterList(page)),
  ];
}

/** Places on this page: the address says which view it is, so they cannot be plain anchors. */
const jump = (id: string) => (e: Event): void => {
  e.preventDefault();
  const target = document.getElementById(id);
  target?.scrollIntoView();
  target?.focus({ preventScroll: true });
};
