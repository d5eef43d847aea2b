// The words of the course: what they mean, what the documents call them, what Nsight Compute calls them.
import { termLink } from "../../course";
import type { Page } from "../../data";
import { type Child, h, note, section } from "../../dom";
import { definitionLink } from "../../metric";
import type { State } from "../../state";

export function glossaryView(page: Page, state: State): Child {
  const terms = page.course?.glossary ?? [];
  if (!terms.length) return note("This report has no glossary.");
  const list = h(
    "dl",
    { class: "glossary" },
    terms.map((t) =>
      h(
        "div",
        { id: `term-${t.term.replaceAll(" ", "-")}`, class: t.term === state.term ? "chosen" : undefined, tabindex: -1 },
        h("dt", null, t.term),
        h(
          "dd",
          null,
          h("p", null, t.means),
          h("p", { class: "words" }, h("span", { class: "soft" }, "Documents: "), t.documents || "\u2013", h("br", null), h("span", { class: "soft" }, "Nsight Compute: "), t.nsight || "\u2013"),
          t.metrics?.length ? h("p", { class: "words" }, h("span", { class: "soft" }, "Counters: "), t.metrics.map((m, i) => [i ? ", " : "", h("code", null, definitionLink(m, m))])) : null,
          t.see?.length ? h("p", { class: "words" }, h("span", { class: "soft" }, "See also: "), t.see.map((s, i) => [i ? ", " : "", termLink(page, s)])) : null,
        ),
      ),
    ),
  );
  const filter = h("input", { type: "search", placeholder: "part of a word or its meaning", "aria-label": "Filter the glossary" });
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase();
    [...list.children].forEach((item) => ((item as HTMLElement).hidden = !item.textContent!.toLowerCase().includes(words)));
  });
  if (state.term)
    requestAnimationFrame(() => {
      const found = list.querySelector<HTMLElement>(".chosen");
      found?.scrollIntoView({ block: "center" });
      found?.focus({ preventScroll: true });
    });
  return section("Glossary", h("p", { class: "soft" }, "Each word as the documents have it, and as NVIDIA's Nsight Compute calls it today."), h("p", null, filter), list);
}
