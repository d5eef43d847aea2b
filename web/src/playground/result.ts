// Results of a run: its output, the estimate, the accesses that cost most, and the views of the report.
import { allKernels, type KernelRef, type Page, readPage, TIME } from "../data";
import { dropCharts } from "../chart";
import { type Child, h, note, section } from "../dom";
import { shortKernel } from "../format";
import { definitionLink, metricValue, setDefinitions } from "../metric";
import { address, go, readState, type State } from "../state";
import { setBanks, siteCard } from "../views/access";
import { changesTitle, changesView } from "../views/changes";
import { countersView } from "../views/counters";
import { findingsTitle, findingsView, isChecked } from "../views/findings";
import { kernelView } from "../views/kernel";
import { hasSteps, stepsView } from "../views/steps";
import { adviceCard, limitOf, summaryView } from "../views/summary";
import { timelineView } from "../views/timeline";
import { sitesOf, worstSite } from "./marks";

export interface Outcome {
  status: string; // "running", "exit code 0"
  good?: boolean;
  output: string;
  page?: Page;
}

type View = [id: string, title: string, used: boolean, draw: (state: State) => Child];

export class Result {
  readonly navigation = h("nav", { class: "views", "aria-label": "Result" });
  readonly content = h("div", { id: "result", tabindex: -1 });
  private readonly output = h("pre", { class: "output", tabindex: 0, "aria-label": "Output" });
  private readonly status = h("p", { class: "status", role: "status" });
  private outcome: Outcome = { status: "", output: "" };
  private task = "";

  /** recordBlock: runs the program again and records the steps of this block, "1,0,0". */
  constructor(private readonly recordBlock: (block: string) => void) {
    window.addEventListener("hashchange", () => this.draw());
  }

  /** A run goes on: only its output changes. */
  progress(status: string, output: string): void {
    const first = this.outcome.page !== undefined || !this.status.isConnected;
    this.outcome = { status, output };
    if (first) {
      go({ view: "result" }, true);
      this.draw();
    }
    this.write();
  }

  /** Shows the task of an exercise; empty: there is none. */
  ask(task: string): void {
    this.task = task;
    if (task) go({ view: "task" }, true);
    this.draw();
  }

  finish(outcome: Outcome): void {
    this.outcome = outcome;
    this.draw();
  }

  get page(): Page | undefined {
    return this.outcome.page;
  }

  private write(): void {
    this.status.textContent = this.outcome.status;
    this.status.className = this.outcome.good === false ? "status bad" : "status";
    this.output.textContent = this.outcome.output;
    this.output.hidden = this.outcome.output === "";
  }

  private views(): View[] {
    const { page } = this.outcome;
    const kernels = page ? allKernels(page) : [];
    const result: View = ["result", "Result", true, () => this.overview(page, kernels)];
    const task: View = ["task", "Task", this.task !== "", () => section("Task", h("pre", { class: "task" }, this.task))];
    if (!page) return [result, task];
    return [
      result,
      task,
      ["findings", findingsTitle(page), isChecked(page) || page.profiles.some((p) => p.findings.length > 0), (s) => findingsView(page, s, { block: this.recordBlock })],
      ["line", "Line", kernels.length > 0, (s) => this.line(page, Number(s.line ?? 0))],
      ["changes", changesTitle(page), !!page.baseline, () => changesView(page)],
      ["summary", "Summary", page.profiles.length > 0, () => summaryView(page)],
      ["steps", "Steps", hasSteps(page), (s) => stepsView(page, s, { block: this.recordBlock })],
      ["kernel", "Kernels", kernels.length > 0, (s) => kernelView(page, kernels, s)],
      ["timeline", "Timeline", page.profiles.length > 0, () => timelineView(page)],
      ["counters", "Counters", true, (s) => countersView(page, s)],
    ];
  }

  private draw(): void {
    const state = readState();
    const views = this.views().filter((v) => v[2]);
    const view = views.find((v) => v[0] === state.view) ?? views[0];
    this.navigation.replaceChildren(...views.map(([id, title]) => h("a", { href: address({ view: id, line: id === "line" ? state.line : undefined }), "aria-current": id === view[0] ? "page" : undefined }, title)));
    dropCharts();
    this.write();
    this.content.replaceChildren(h("div", null, view[3](state)));
    this.content.dataset.view = view[0];
    this.content.dataset.ready = this.outcome.page ? "yes" : "no";
  }

  private overview(page: Page | undefined, kernels: KernelRef[]): Child {
    const text = section("Output", this.status, this.output);
    if (!page) return text;
    const worst = worstSite(page);
    const found = page.profiles.reduce((n, p) => n + p.findings.length, 0);
    return [
      text,
      isChecked(page) ? h("p", null, h("a", { href: address({ view: "findings" }) }, findingsTitle(page)), found ? null : ": nothing was found.") : null,
      kernels.map((ref) => this.estimate(ref)),
      worst
        ? section(
            "The access that costs most",
            h("p", { class: "soft" }, "32 lanes of a warp and the memory that they touch; choose a number beside a line to see others."),
            siteCard(worst.ref, worst.site, worst.site.worst ?? 0),
          )
        : null,
      page.baseline ? h("p", null, h("a", { href: address({ view: "changes" }) }, "What changed since the run that this one is compared with")) : null,
    ];
  }

  private estimate(ref: KernelRef): Child {
    const { kernel } = ref;
    const metric = kernel.metrics.get(TIME);
    return section(
      shortKernel(kernel.name),
      metric ? h("p", null, "Estimated time on the ", ref.profile.gpu, ": ", h("strong", null, metricValue(metric)), limitOf(ref) ? [", bound by ", limitOf(ref)] : null) : null,
      h(
        "p",
        { class: "chips" },
        [
          ["memory_l2_theoretical_sectors_global_excessive", "sectors more than needed"],
          ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "bank conflicts"],
          ["warpgrind__divergent_branches.sum", "divergent branches"],
        ]
          .filter(([m]) => kernel.metrics.number(m) > 0)
          .map(([m, words]) => h("span", { class: "chip" }, definitionLink(m, words), " ", metricValue(kernel.metrics.get(m)))),
      ),
      kernel.advice?.length ? h("ol", { class: "advices" }, kernel.advice.slice(0, 3).map((a) => adviceCard(ref, a))) : note("No rule has anything to say about this kernel."),
    );
  }

  private line(page: Page, line: number): Child {
    if (!line) return section("Line", note("Choose a line's number, or a number beside it, in the editor."));
    const sites = sitesOf(page, line);
    return section(
      `Line ${line}`,
      sites.length ? null : note("No access to global or shared memory was counted in this line."),
      sites.map(({ ref, site }) => siteCard(ref, site, site.worst ?? 0)),
    );
  }
}

export function readReport(text: string): Page {
  const page = readPage(text);
  setDefinitions(page);
  setBanks(page);
  return page;
}
