// Findings of `warpgrind check`: a list with filters, and the accesses of the chosen finding in the source and in memory.
// Races between streams are also shown on the timeline.
import { allKernels, type Finding, type FindingAccess, type KernelRef, type Page, type Profile } from "../data";
import { type Child, h, note, section } from "../dom";
import { badge, count, fileName, shortKernel } from "../format";
import { highlightLine, insideComments } from "../highlight";
import { Rows } from "../rows";
import { address, go, kernelState, type State } from "../state";
import { table } from "../table";
import { siteCard } from "./access";
import { accessDrawing } from "./finding_memory";
import { linkToSteps, type Rerun } from "./steps";
import { streamDrawing } from "./finding_streams";

interface Found {
  profile: Profile;
  finding: Finding;
  index: number;
}

const severities = ["ERROR", "WARNING", "INFO"];
const severityOf = (f: Finding): string => f.severity ?? "ERROR";

export function isChecked(page: Page): boolean {
  return page.profiles.some((p) => p.checks?.length);
}

function allFindings(page: Page): Found[] {
  const out: Found[] = [];
  for (const profile of page.profiles) for (const finding of profile.findings) out.push({ profile, finding, index: out.length });
  return out;
}

export function findingsTitle(page: Page): string {
  const n = page.profiles.reduce((sum, p) => sum + p.findings.length, 0);
  return `Findings (${count(n)})`;
}

export const threadText = (a: FindingAccess): string => (a.thread ? `thread (${a.thread.join(",")}), block (${(a.block ?? []).join(",")})` : "");

export function placeText(a: { file: string; line: number; ptx_line?: number; function?: string }): string {
  return a.line ? `${fileName(a.file)}:${a.line}` : a.ptx_line ? `PTX line ${a.ptx_line}` : a.function || "an unknown place";
}

export function accessText(a: FindingAccess): string {
  const bytes = `${a.bytes} byte${a.bytes === 1 ? "" : "s"}`;
  const what = a.bytes && a.thread ? (a.access ? `${a.access} of ${bytes}` : bytes) : a.access;
  return [a.role ? `${a.role}: ${what}` : what, threadText(a), a.object, a.stream ? `in ${a.stream}` : ""].filter(Boolean).join(", ");
}

// ---- The list

interface Filter {
  key: string;
  title: string;
  values: (f: Finding) => string[];
  text?: (value: string) => string;
}
const filters: Filter[] = [
  { key: "severity", title: "Severity", values: (f) => [severityOf(f)] },
  { key: "group", title: "Group", values: (f) => [f.group || "others"] },
  { key: "kind", title: "Kind", values: (f) => [f.kind] },
  { key: "kernel", title: "Kernel", values: (f) => [...new Set([f.kernel, ...(f.accesses ?? []).map((a) => a.kernel)])].filter(Boolean), text: shortKernel },
  { key: "file", title: "File", values: (f) => [...new Set([f.file, ...(f.accesses ?? []).map((a) => a.file)])].filter(Boolean), text: fileName },
];
const passes = (f: Finding, state: State, but = ""): boolean =>
  filters.every((x) => x.key === but || !state[x.key] || x.values(f).includes(state[x.key]!));
const filtered = (state: State): State => Object.fromEntries(filters.map((x) => [x.key, state[x.key]]));

/** A choice of what is left by the other filters, with how many there are of each. */
function filterChoice(filter: Filter, all: Found[], state: State): Child {
  const numbers = new Map<string, number>();
  for (const { finding } of all)
    if (passes(finding, state, filter.key)) for (const v of filter.values(finding)) numbers.set(v, (numbers.get(v) ?? 0) + 1);
  const chosen = state[filter.key];
  if (chosen && !numbers.has(chosen)) numbers.set(chosen, 0);
  const order = [...numbers.keys()].sort((a, b) => (filter.key === "severity" ? severities.indexOf(a) - severities.indexOf(b) : a.localeCompare(b)));
  return h(
    "label",
    null,
    `${filter.title} `,
    h(
      "select",
      {
        "aria-label": filter.title,
        disabled: order.length === 0,
        onchange: (e: Event) => go({ view: "findings", ...filtered(state), [filter.key]: (e.target as HTMLSelectElement).value || undefined }),
      },
      h("option", { value: "" }, "all"),
      order.map((v) => h("option", { value: v, selected: v === chosen }, `${(filter.text ?? String)(v)} (${count(numbers.get(v)!)})`)),
    ),
  );
}

function findingTable(shown: Found[], chosen: Found | undefined, state: State, several: boolean): Child {
  const target = (f: Found): State => ({ view: "findings", ...filtered(state), f: String(f.index) });
  return table(
    "Findings",
    shown,
    [
      {
        title: "Severity",
        value: (f) => -severities.indexOf(severityOf(f.finding)),
        cell: (f) => h("span", { class: `severity ${severityOf(f.finding).toLowerCase()}` }, severityOf(f.finding)),
      },
      {
        title: "Kind",
        text: (f) => f.finding.kind,
        cell: (f) => h("a", { href: address(target(f)), "aria-current": f === chosen ? "true" : undefined }, f.finding.kind),
      },
      { title: "What", wide: true, text: (f) => f.finding.message, cell: (f) => f.finding.message },
      {
        title: "Where",
        text: (f) => `${f.finding.file}:${String(f.finding.line).padStart(9, "0")}`,
        cell: (f) => [...new Set((f.finding.accesses?.length ? f.finding.accesses.slice(0, 3) : [f.finding]).map(placeText))].map((p) => h("div", null, p)),
      },
      { title: "Kernel", text: (f) => f.finding.kernel, cell: (f) => shortKernel(f.finding.kernel) },
      ...(several ? [{ title: "Program", text: (f: Found) => f.profile.command, cell: (f: Found) => f.profile.command }] : []),
      { title: "Times", number: true, value: (f) => f.finding.count ?? 1, cell: (f) => count(f.finding.count ?? 1) },
    ],
    {
      open: (f) => {
        // The reader follows to what he chose.
        window.addEventListener("hashchange", () => document.getElementById("finding")?.focus(), { once: true });
        go(target(f));
      },
    },
  );
}

// ---- One finding

function kernelOf(kernels: KernelRef[], found: Found, name: string): KernelRef | undefined {
  return kernels.find((k) => k.profile === found.profile && k.kernel.name === name);
}

function placeLink(kernels: KernelRef[], found: Found, at: { file: string; line: number; ptx_line?: number; kernel?: string; function?: string }): Child {
  const kernel = at.kernel ? kernelOf(kernels, found, at.kernel) : undefined;
  const known = kernel && (at.line ? { file: at.file, line: String(at.line) } : at.ptx_line ? { code: "ptx", ptx: String(at.ptx_line) } : undefined);
  const inKernel = known && (!at.line || kernel.kernel.lines?.some((l) => l.file === at.file));
  return inKernel ? h("a", { href: address(kernelState(kernel.index, "source", known)) }, placeText(at)) : placeText(at);
}

function facts(kernels: KernelRef[], found: Found, toSteps: Child): Child {
  const f = found.finding;
  const row = (title: string, ...value: Child[]): Child => h("div", null, h("dt", null, title), h("dd", null, ...value));
  return h(
    "dl",
    { class: "finding-facts" },
    (f.accesses ?? []).slice(0, 20).map((a, i) =>
      row(
        `${badge(i)} ${a.access}`,
        placeLink(kernels, found, a),
        ": ",
        accessText(a),
        a.kernel ? [" in ", h("code", null, shortKernel(a.kernel))] : null,
        (a.inlined_at ?? []).map((c) => h("div", { class: "soft" }, `called at ${fileName(c.file)}:${c.line}`)),
        a.ptx ? h("div", { class: "soft" }, h("code", null, a.ptx)) : null,
      ),
    ),
    (f.accesses?.length ?? 0) > 20 ? row("", `and ${f.accesses!.length - 20} more`) : null,
    f.origin
      ? row(
          "Origin",
          f.origin.object || f.origin.kind,
          f.origin.line ? [", made at ", placeText(f.origin)] : null,
          f.origin.way?.map((step) => h("div", { class: "soft" }, step)),
        )
      : null,
    f.cause ? row("Cause", f.cause.line ? `${placeText(f.cause)}: ` : null, f.cause.text) : null,
    f.missing ? row("Missing", f.missing) : null,
    f.notes?.length ? row("Notes", f.notes.map((n) => h("div", null, n))) : null,
    f.advice ? row("Do", f.advice) : null,
    toSteps ? row("Look", toSteps) : null,
    row("Seen", `${count(f.count ?? 1)} time${(f.count ?? 1) === 1 ? "" : "s"}`),
  );
}

interface Mark {
  line: number;
  label: string;
  text: string;
}

/** Places in sources by file, in the order in which they take part. */
function marksOf(f: Finding): Map<string, Mark[]> {
  const out = new Map<string, Mark[]>();
  const add = (file: string, line: number, label: string, text: string): void => {
    if (!line || !file) return;
    const list = out.get(file) ?? [];
    list.push({ line, label, text });
    out.set(file, list);
  };
  (f.accesses ?? []).forEach((a, i) => {
    add(a.file, a.line, badge(i), [a.access, threadText(a), a.stream].filter(Boolean).join(", "));
    for (const c of a.inlined_at ?? []) add(c.file, c.line, badge(i), "called here");
  });
  if (!f.accesses?.length) add(f.file, f.line, badge(0), f.kind);
  if (f.origin) add(f.origin.file, f.origin.line, "origin", f.origin.kind);
  if (f.cause) add(f.cause.file, f.cause.line, "cause", f.cause.text);
  return out;
}

function markedSource(found: Found, file: string, marks: Mark[]): Child {
  const source = found.profile.sources?.find((s) => s.file === file);
  if (!source || source.missing || !source.text)
    return [
      note(source?.missing ?? `The text of ${file} is not in this report.`),
      h("ul", { class: "findings" }, marks.map((m) => h("li", null, `${m.label} line ${m.line}: ${m.text}`))),
    ];
  const lines = source.text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  const comments = insideComments(lines);
  const first = Math.min(...marks.map((m) => m.line));
  const list = new Rows({
    count: lines.length,
    rowHeight: 20,
    selected: first - 1,
    height: 300,
    label: `${fileName(file)}: ${marks.map((m) => `${m.label} line ${m.line}`).join(", ")}`,
    draw: (i) => {
      const here = marks.filter((m) => m.line === i + 1);
      return h(
        "div",
        { class: here.length ? "source-row chosen" : "source-row" },
        h("span", { class: "marks" }, [...new Set(here.map((m) => m.label))].join("")),
        h("span", { class: "line-number" }, i + 1),
        h("code", { class: "code" }, highlightLine(lines[i], comments[i] === 1)),
        here.length ? h("span", { class: "mark-text" }, here.map((m) => `${m.label} ${m.text}`).join("; ")) : null,
      );
    },
    open: () => undefined,
  });
  list.element.classList.add("source");
  requestAnimationFrame(() => list.show(first - 1));
  return [source.changed ? note("This file is newer than the program: lines may have moved. Build the program again.") : null, list.element];
}

function sourceSection(found: Found): Child {
  const files = marksOf(found.finding);
  if (!files.size) return null;
  return section(
    "In the source",
    [...files].map(([file, marks]) => [files.size > 1 || marks.length ? h("h3", null, fileName(file)) : null, markedSource(found, file, marks)]),
  );
}

function accessSection(kernels: KernelRef[], found: Found): Child {
  const accesses = found.finding.accesses ?? [];
  const picture = accessDrawing(accesses, kernels.filter((k) => k.profile === found.profile));
  const cards = accesses.slice(0, 4).map((a, i) => {
    const ref = a.kernel && a.thread ? kernelOf(kernels, found, a.kernel) : undefined;
    const site = ref?.kernel.sites.find((s) => s.ptx_line === a.ptx_line && s.patterns?.length);
    return ref && site ? h("details", null, h("summary", null, `${badge(i)} all requests of this instruction`), siteCard(ref, site)) : null;
  });
  return picture || cards.some(Boolean) ? section("In memory", picture, cards) : null;
}

function detail(kernels: KernelRef[], found: Found, stepsTo: (found: Found) => Child): Child {
  const f = found.finding;
  return [
    h(
      "section",
      { class: "card", "aria-labelledby": "finding" },
      h("h2", { id: "finding", tabindex: -1 }, h("span", { class: `severity ${severityOf(f).toLowerCase()}` }, severityOf(f)), ` ${f.kind}`),
      h("p", { class: "message" }, f.message),
      facts(kernels, found, stepsTo(found)),
    ),
    sourceSection(found),
    accessSection(kernels, found),
    streamDrawing(found.profile, f),
  ];
}

export function findingsView(page: Page, state: State, rerun?: Rerun): Child {
  const all = allFindings(page);
  const kernels = allKernels(page);
  const groups = [...new Set(page.profiles.flatMap((p) => p.checks ?? []))];
  const looked = groups.length ? `Looked for: ${groups.join(", ")}.` : "The run ended there: warpgrind check finds all errors in one run.";
  if (!all.length) return section("Findings", h("p", { class: "nothing" }, h("strong", null, "Nothing was found.")), h("p", { class: "soft" }, looked));
  const shown = all.filter((f) => passes(f.finding, state));
  const chosen = shown.find((f) => String(f.index) === state.f) ?? shown[0];
  const sums = severities
    .map((s) => [s, all.filter((f) => severityOf(f.finding) === s).length] as const)
    .filter(([, n]) => n)
    .map(([s, n]) => (s === "INFO" ? `${count(n)} for information` : `${count(n)} ${s.toLowerCase()}${n === 1 ? "" : "s"}`));
  return [
    section(
      "Findings",
      h("p", { class: "soft" }, `${sums.join(", ")}. ${looked}`),
      h("div", { class: "toolbar filters", role: "group", "aria-label": "Filters" }, filters.map((x) => filterChoice(x, all, state))),
      h("p", { class: "soft", "aria-live": "polite" }, shown.length === all.length ? "All are shown." : `${count(shown.length)} of ${count(all.length)} are shown.`),
      findingTable(shown, chosen, state, page.profiles.length > 1),
    ),
    chosen ? detail(kernels, chosen, (found) => linkToSteps(page, found.profile, found.finding, rerun)) : null,
  ];
}
