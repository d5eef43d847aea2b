// The source of a recording, with the warps at their lines.
import type { SourceFile } from "../profile_types";
import { h } from "../dom";
import { fileName } from "../format";
import { highlightLine, insideComments } from "../highlight";
import { ranges } from "./lanes";
import type { Replay } from "./replay";

export class SourcePane {
  readonly element: HTMLElement;
  private readonly code = h("div", { class: "st-code" });
  private readonly title = h("span", { class: "soft" });
  private file = "\0";
  private rows = new Map<number, { row: HTMLElement; chips: HTMLElement }>();
  private marked: number[] = [];

  constructor(
    private readonly sources: SourceFile[],
    private readonly replay: Replay,
    private readonly choose: (warp: number) => void,
  ) {
    this.element = h("section", { class: "card st-source", "aria-label": "Source" }, h("h2", null, "Source ", this.title), this.code);
  }

  private open(file: string): void {
    if (file === this.file) return;
    this.file = file;
    this.title.textContent = file ? fileName(file) : "";
    this.rows.clear();
    this.marked = [];
    const { places } = this.replay.recording;
    const own = places.filter((p) => p.file === file && p.line).map((p) => p.line);
    const source = this.sources.find((s) => s.file === file);
    const lines = source && !source.missing ? source.text.split("\n") : [];
    const comments = insideComments(lines);
    const first = Math.max(1, Math.min(...own) - 6);
    const last = lines.length ? Math.min(lines.length, Math.max(...own) + 4) : Math.max(...own);
    const rows: HTMLElement[] = [];
    for (let n = first; n <= last; ++n) {
      if (!lines.length && !own.includes(n)) continue;
      const chips = h("span", { class: "st-here" });
      const text = lines.length ? highlightLine(lines[n - 1] ?? "", !!comments[n - 1]) : document.createTextNode("(the text of this file is not there)");
      const row = h("div", { class: "st-line" }, chips, h("span", { class: "st-number" }, n), h("span", { class: "st-text" }, text));
      this.rows.set(n, { row, chips });
      rows.push(row);
    }
    this.code.replaceChildren(...rows);
  }

  show(at: number, warp: number): void {
    const { replay } = this;
    const { places } = replay.recording;
    const step = replay.steps[at];
    const place = places[(step.warp === warp ? step.place : undefined) ?? replay.placeOf(warp, at) ?? step.place];
    this.open(place.file);
    for (const line of this.marked) {
      const old = this.rows.get(line);
      old?.chips.replaceChildren();
      old?.row.classList.remove("now", "calls", "next", "fault");
      old?.row.removeAttribute("aria-current");
    }
    const at_line = new Map<number, number[]>();
    for (const w of replay.warps) {
      const state = replay.state(w, at);
      const p = replay.placeOf(w, at);
      if (p === undefined || state === "done" || state === "not begun" || places[p].file !== this.file) continue;
      const list = at_line.get(places[p].line);
      if (list) list.push(w);
      else at_line.set(places[p].line, [w]);
    }
    this.marked = [...at_line.keys(), place.line, ...(place.calls ?? []).map((c) => c.line)];
    for (const [line, warps] of at_line) {
      const here = this.rows.get(line);
      here?.chips.append(this.chip(warps, warp, at));
    }
    for (const call of place.calls ?? []) if (call.file === this.file) this.rows.get(call.line)?.row.classList.add("calls");
    const now = this.rows.get(place.line);
    now?.row.classList.add(step.warp === warp ? "now" : "next");
    if (replay.recording.fault?.step === at && step.warp === warp) now?.row.classList.add("fault");
    now?.row.setAttribute("aria-current", "step");
    if (now) this.bring(now.row);
  }

  private chip(warps: number[], chosen: number, at: number): HTMLElement {
    const own = warps.includes(chosen);
    const first = own ? chosen : warps[0];
    const waits = warps.filter((w) => this.replay.waitsAt(w, at) !== undefined).length;
    const label = `warp${warps.length > 1 ? "s" : ""} ${ranges(warps)}${waits === warps.length ? (waits > 1 ? " wait" : " waits") : ""}`;
    return h(
      "button",
      { type: "button", class: `st-chip${own ? " own" : ""}${waits === warps.length ? " waits" : ""}`, tabindex: -1, title: label, "aria-label": label, "data-warp": first % 8, onclick: () => this.choose(first) },
      warps.length > 2 ? `${warps[0]}\u2026${warps[warps.length - 1]}` : warps.join(","),
    );
  }

  private bring(row: HTMLElement): void {
    const box = this.code;
    const top = row.offsetTop; // in the box
    if (top < box.scrollTop + 30 || top > box.scrollTop + box.clientHeight - 60) box.scrollTop = Math.max(0, top - box.clientHeight / 2);
  }
}
