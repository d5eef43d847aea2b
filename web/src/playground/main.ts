// The playground: an editor, what its program did on the virtual GPU beside it.
import { redrawCharts } from "../chart";
import type { Page } from "../data";
import { h } from "../dom";
import { definitionLink } from "../metric";
import { go } from "../state";
import { hasSteps } from "../views/steps";
import { Editor } from "./editor";
import { compilerMessages, findingMessages, lineCounters } from "./marks";
import { readReport, Result } from "./result";
import * as server from "./server";

const draft = "warpgrind-playground"; // what was typed is there after a reload
const result = new Result((block) => void guard(() => execute(`steps ${block}`)));
const message = h("p", { class: "message", role: "status" });
const say = (text: string): void => void (message.textContent = text);

const starts = h("select", { "aria-label": "Start from", onchange: () => starts.value && guard(() => startFrom(starts.value)) });
const gpu = h("select", { "aria-label": "GPU model" });
const argumentsOf = h("input", { "aria-label": "Arguments of the program", placeholder: "arguments", size: 12 });
const compare = h("select", { "aria-label": "Compare with" }, h("option", { value: "" }, "nothing"));
const runButton = h("button", { type: "button", class: "button main", title: "Ctrl+Enter", onclick: () => guard(() => execute("run")) }, "Run");
const checkButton = h("button", { type: "button", class: "button", onclick: () => guard(() => execute("check")) }, "Check");
const stepsButton = h("button", { type: "button", class: "button", title: "Records one block of each kernel, and goes through it line by line", onclick: () => guard(() => execute("steps")) }, "Step through");
const judgeButton = h("button", { type: "button", class: "button", hidden: true, onclick: () => guard(() => execute("judge")) }, "Judge");
const buttons = [runButton, checkButton, stepsButton, judgeButton];
const stopButton = h("button", { type: "button", class: "button", disabled: true, onclick: () => guard(stop) }, "Stop");
const keepButton = h("button", { type: "button", class: "button", onclick: () => guard(keep) }, "Link");
const columnNames = h("p", { class: "columns soft" });
const holder = h("div", { class: "editor" });
// On a phone the counters would take half of the code's width: there they are shown on request.
const kNarrow = 600;
const showCounts = h("input", { type: "checkbox", onchange: () => setCounts(showCounts.checked) });
function setCounts(shown: boolean): void {
  showCounts.checked = shown;
  holder.classList.toggle("bare", !shown);
  editor.view.requestMeasure();
}

const editor = new Editor(
  holder,
  () => {
    try {
      localStorage.setItem(draft, JSON.stringify({ source: editor.source, exercise }));
    } catch {
      // no storage: it is kept by links only
    }
  },
  (line) => go({ view: "line", line: String(line) }),
  () => guard(() => execute("run")),
);

async function guard(act: () => Promise<void>): Promise<void> {
  say("");
  try {
    await act();
  } catch (error) {
    say(`Not done: ${(error as Error).message}`);
  }
}

let exercise = "";
/** The program answers this exercise from now on; empty: none. */
async function answer(name: string): Promise<void> {
  exercise = name;
  judgeButton.hidden = !name;
  result.ask(name ? (await server.startingPoint(`exercise/${name}`)).text : "");
}

async function startFrom(name: string): Promise<void> {
  const { source } = await server.startingPoint(name);
  await answer(name.startsWith("exercise/") ? name.slice("exercise/".length) : "");
  editor.source = source;
  history.replaceState(null, "", "/");
  showColumns(undefined);
}

function showColumns(page: Page | undefined): void {
  const counters = page && lineCounters(page);
  editor.count(counters);
  columnNames.replaceChildren(
    ...(counters?.columns.length ? [h("label", null, showCounts, "Beside the lines: "), ...counters.columns.flatMap((c, i) => [i ? ", " : "", definitionLink(c.metric, c.title)])] : []),
  );
}

let running = "";
let number = 0;
async function execute(mode: server.Mode): Promise<void> {
  if (running) return;
  running = "new";
  const source = editor.source;
  for (const button of buttons) button.disabled = true;
  editor.clear();
  columnNames.replaceChildren();
  result.progress("Sent.", "");
  try {
    const done = await server.run(
      { source, gpu: gpu.value, exercise, mode, arguments: argumentsOf.value, before: mode === "run" ? compare.value : "" },
      (id) => {
        running = id;
        stopButton.disabled = false;
      },
      (progress, output) =>
        result.progress(progress.state === "queued" ? `Waiting: ${progress.ahead ?? 0} before this one.` : progress.state === "running" ? "Compiling and running \u2026" : "", output),
    );
    const page = done.report ? readReport(await server.report(done.id)) : undefined;
    result.finish({ status: done.ending ?? "", good: done.good, output: done.all, page });
    // The text may have changed meanwhile: then its lines are others.
    if (editor.source === source) {
      editor.mark([...compilerMessages(done.all), ...(page ? findingMessages(page) : [])]);
      showColumns(mode.startsWith("steps") ? undefined : page); // counters of code without optimisation
    } else say("The program was changed while it ran: its lines are not marked.");
    if (done.comparable && mode === "run") addComparison(done.id);
    if (mode.startsWith("steps") && page && hasSteps(page)) go({ view: "steps" });
    else if (page?.profiles.some((p) => p.findings.length)) go({ view: "findings" });
  } finally {
    running = "";
    stopButton.disabled = true;
    for (const button of buttons) button.disabled = false;
  }
}

function addComparison(id: string): void {
  const text = `run ${++number}, ${gpu.selectedOptions[0]?.textContent ?? gpu.value}`;
  compare.append(h("option", { value: id }, text));
  compare.value = id; // the next is compared with this one
}

async function stop(): Promise<void> {
  if (running && running !== "new") await server.cancel(running);
}

async function keep(): Promise<void> {
  const id = await server.keep({ source: editor.source, gpu: gpu.value, exercise });
  history.replaceState(null, "", `/p/${id}${location.hash}`);
  let copied = "";
  try {
    await navigator.clipboard.writeText(`${location.origin}/p/${id}`);
    copied = " (copied)";
  } catch {
    // not allowed: the address bar has it
  }
  say(`Kept: ${location.origin}/p/${id}${copied}. Who has this link can open the program.`);
}

type Theme = "auto" | "light" | "dark";
let theme: Theme = "auto";
const themeButton = h("button", { type: "button", class: "theme", onclick: nextTheme }, "Theme: auto");
function nextTheme(): void {
  theme = ({ auto: "light", light: "dark", dark: "auto" } as const)[theme];
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  themeButton.textContent = `Theme: ${theme}`;
  redrawCharts();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawCharts);

function fill(start: server.Start): void {
  gpu.replaceChildren(...start.gpus.map((g) => h("option", { value: g.id, selected: g.id === start.gpu }, g.name)));
  const groups = [...new Set(start.starts.map((s) => s.group))];
  starts.replaceChildren(
    h("option", { value: "" }, "Start from \u2026"),
    ...groups.map((group) => h("optgroup", { label: group }, start.starts.filter((s) => s.group === group).map((s) => h("option", { value: s.name }, s.title)))),
  );
  const { cpu_seconds, memory_bytes } = start.limits;
  say(`Each run has ${cpu_seconds} s of CPU time and ${Math.round(memory_bytes / 2 ** 20)} MiB, and no network. Tab indents; Escape, then Tab leaves the editor.`);
}

async function open(): Promise<void> {
  const start = await server.start();
  fill(start);
  const id = /^\/p\/([0-9a-f]{32})$/.exec(location.pathname)?.[1];
  const asked = new URLSearchParams(location.search).get("start");
  let old: Partial<server.Program> = {};
  try {
    old = JSON.parse(localStorage.getItem(draft) ?? "{}") as Partial<server.Program>;
  } catch {
    // no storage, or not ours
  }
  if (id) {
    const program = await server.kept(id);
    gpu.value = program.gpu;
    await answer(program.exercise);
    editor.source = program.source;
  } else if (asked) await startFrom(asked);
  else if (old.source) {
    if (start.starts.some((one) => one.name === `exercise/${old.exercise}`)) await answer(old.exercise!);
    editor.source = old.source;
  }
  else await startFrom(start.starts[0].name);
}

document.getElementById("app")!.replaceChildren(
  h("a", { class: "skip", href: "#result", onclick: (e: Event) => (e.preventDefault(), result.content.focus()) }, "Skip to the result"),
  h(
    "header",
    null,
    h("h1", null, "warpgrind ", h("span", null, "playground")),
    h(
      "div",
      { class: "controls" },
      h("div", { class: "choices" }, starts, h("label", null, "GPU ", gpu), argumentsOf),
      h("div", { class: "actions" }, runButton, checkButton, stepsButton, judgeButton, stopButton),
      h("div", { class: "choices kept" }, h("label", null, "compare with ", compare), keepButton),
    ),
    themeButton,
  ),
  message,
  h("main", { class: "playground" }, h("section", { class: "left", "aria-label": "Program" }, holder, columnNames), h("section", { class: "right", "aria-label": "Result" }, result.navigation, result.content)),
);
setCounts(innerWidth >= kNarrow);
document.addEventListener("keydown", (e) => {
  if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey) || e.defaultPrevented) return; // the editor has its own
  void guard(() => execute("run"));
});
void guard(open).then(() => (document.documentElement.dataset.ready = "playground"));
