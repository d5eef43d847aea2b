// The page: reads the data, shows the view that the address names.
import { dropCharts, redrawCharts } from "./chart";
import { allKernels, type Page, readPage } from "./data";
import { type Child, h } from "./dom";
import { setDefinitions } from "./metric";
import { address, readState, type State } from "./state";
import { setBanks } from "./views/access";
import { aboutView, countersView } from "./views/counters";
import { changesTitle, changesView } from "./views/changes";
import { findingsTitle, findingsView, isChecked } from "./views/findings";
import { glossaryView } from "./views/course/glossary";
import { kernelView } from "./views/kernel";
import { labView } from "./views/lab";
import { rooflineView } from "./views/roofline";
import { hasSteps, stepsView } from "./views/steps";
import { summaryView } from "./views/summary";
import { timelineView } from "./views/timeline";

const page: Page = readPage(document.getElementById("data")!.textContent!);
const kernels = allKernels(page);
setDefinitions(page);
setBanks(page);
document.title = `${page.title} \u2013 warpgrind`;

type View = [id: string, title: string, used: boolean, draw: (state: State) => Child];
// The findings come first if they were requested.
const findings: View = ["findings", findingsTitle(page), isChecked(page) || page.profiles.some((p) => p.findings.length > 0), (state) => findingsView(page, state)];
const views: View[] = [
  ["lab", page.course ? "Course" : "Lab", !!page.lab, (state) => labView(page, state)],
  ...(isChecked(page) ? [findings] : []),
  ["summary", "Summary", page.profiles.length > 0, () => summaryView(page)],
  ...(isChecked(page) ? [] : [findings]),
  ["changes", changesTitle(page), !!page.baseline, () => changesView(page)],
  ["kernel", "Kernels", kernels.length > 0, (state) => kernelView(page, kernels, state)],
  ["steps", "Steps", hasSteps(page), (state) => stepsView(page, state)],
  ["roofline", "Roofline", page.profiles.length > 0, () => rooflineView(page)],
  ["timeline", "Timeline", page.profiles.length > 0, () => timelineView(page)],
  ["glossary", "Glossary", !!page.course, (state) => glossaryView(page, state)],
  ["counters", "Counters", true, (state) => countersView(page, state)],
  ["about", "About", true, () => aboutView(page)],
];

const main = h("main", { id: "main", tabindex: -1 });
const navigation = h("nav", { class: "views", "aria-label": "Views" });

type Theme = "auto" | "light" | "dark";
let theme: Theme = "auto";
const themeButton = h("button", { type: "button", class: "theme", onclick: nextTheme }, "Theme: auto");
function nextTheme(): void {
  theme = ({ auto: "light", light: "dark", dark: "auto" } as const)[theme];
  setTheme();
}
function setTheme(): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  themeButton.textContent = `Theme: ${theme}`;
  redrawCharts();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawCharts);

let shownAt = "";
function show(): void {
  const state = readState();
  const first = views.find((v) => v[2])!;
  const view = views.find((v) => v[0] === state.view && v[2]) ?? first;
  navigation.replaceChildren(
    ...views.filter((v) => v[2]).map(([id, title]) => h("a", { href: address({ view: id }), "aria-current": id === view[0] ? "page" : undefined }, title)),
  );
  // Within one view (another line of the same source) the reader stays where he is.
  const at = `${view[0]} ${state.k ?? ""} ${state.tab ?? ""} ${state.topic ?? ""}`;
  const y = at === shownAt ? window.scrollY : 0;
  const focused = at === shownAt && document.activeElement?.classList.contains("rows");
  shownAt = at;
  dropCharts();
  main.replaceChildren(h("div", null, view[3](state)));
  window.scrollTo(0, y);
  if (focused) main.querySelector<HTMLElement>(".rows")?.focus({ preventScroll: true });
  document.documentElement.dataset.ready = view[0];
}

document.getElementById("app")!.replaceChildren(
  h("a", { class: "skip", href: "#main", onclick: (e: Event) => (e.preventDefault(), main.focus()) }, "Skip to content"),
  h("header", null, h("h1", null, "warpgrind ", h("span", null, page.title)), navigation, themeButton),
  main,
);
// Paper is white and cannot be opened: what is closed is printed too, except whole tables.
let opened: HTMLDetailsElement[] = [];
window.addEventListener("beforeprint", () => {
  opened.push(...main.querySelectorAll<HTMLDetailsElement>("details.step:not([open]), details.all-steps:not([open])"));
  for (const d of opened) d.open = true;
  document.documentElement.dataset.theme = "light";
  redrawCharts();
});
window.addEventListener("afterprint", () => {
  for (const d of opened) d.open = false;
  opened = [];
  setTheme();
});
window.addEventListener("hashchange", show);
show();
