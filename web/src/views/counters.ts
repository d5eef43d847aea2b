// Every counter with its definition.
import type { Origin, Page } from "../data";
import { type Child, h, section } from "../dom";
import { legend, originBadge } from "../metric";
import type { State } from "../state";

export function countersView(page: Page, state: State): Child {
  const entries = Object.entries(page.definitions).sort(([a], [b]) => (a < b ? -1 : 1));
  const filter = h("input", { type: "search", placeholder: "part of a name or definition", "aria-label": "Filter counters" });
  const list = h(
    "dl",
    { class: "definitions" },
    entries.map(([name, d]) =>
      h(
        "div",
        { id: `counter-${name}`, class: name === state.m ? "chosen" : undefined, tabindex: -1 },
        h("dt", null, h("code", null, name)),
        h("dd", null, d.definition, " ", h("span", { class: "soft" }, d.unit ? `Unit: ${d.unit}. ` : ""), originBadge(d.origin as Origin, true)),
      ),
    ),
  );
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase();
    [...list.children].forEach((item) => ((item as HTMLElement).hidden = !item.textContent!.toLowerCase().includes(words)));
  });
  if (state.m)
    requestAnimationFrame(() => {
      const found = document.getElementById(`counter-${state.m}`);
      found?.scrollIntoView({ block: "center" });
      found?.focus({ preventScroll: true });
    });
  return section("Counters", legend(), h("p", null, filter), list);
}

export function aboutView(page: Page): Child {
  return section(
    "About this file",
    h("p", null, `Written by warpgrind ${page.version}. It holds all its data, needs no network and sends nothing.`),
    h("details", null, h("summary", null, "Licences of the libraries inside"), h("pre", { class: "licences" }, document.getElementById("licences")?.textContent ?? "")),
  );
}
