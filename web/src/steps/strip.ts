// All warps of the block over time: when each of them runs, and when it waits at a barrier.
import { type Child, h, s } from "../dom";
import { keyOf } from "./lane_pane";
import type { Replay } from "./replay";
import { placeName } from "./words";

const kMostPieces = 3000; // more are joined: a piece would be thinner than a pixel

export class Strip {
  readonly element: HTMLElement;
  private readonly head = h("div", { class: "st-strip-head", "aria-hidden": "true" });
  private readonly rows = new Map<number, { row: HTMLElement; button: HTMLElement; state: HTMLElement }>();

  constructor(
    private readonly replay: Replay,
    choose: (warp: number) => void,
    jump: (step: number) => void,
  ) {
    const total = replay.steps.length;
    const lines = replay.warps.map((warp) => {
      const state = h("span", { class: "st-strip-state soft" });
      const button = h("button", { type: "button", class: "st-strip-warp", tabindex: -1, "data-warp": warp % 8, onclick: () => choose(warp) }, h("span", { class: "st-wide" }, "Warp "), warp);
      const bar = h("div", { class: "st-strip-bar" }, this.bar(warp, total));
      bar.addEventListener("click", (e) => {
        const box = bar.getBoundingClientRect();
        jump(Math.min(total - 1, Math.max(0, Math.floor(((e.clientX - box.left) / box.width) * total))));
      });
      const row = h("div", { class: "st-strip-row" }, button, bar, state);
      this.rows.set(warp, { row, button, state });
      return row;
    });
    this.element = h(
      "section",
      { class: "card st-strip", "aria-label": "Warps" },
      h("h2", null, "Warps of the block over time"),
      h("div", { class: "st-strip-rows" }, lines, this.head),
      h("p", { class: "st-keys soft" }, keyOf("run", "runs"), keyOf("wait", "waits at a barrier"), keyOf("line", "ready, another warp runs"), h("span", null, "A click goes there.")),
    );
  }

  private bar(warp: number, total: number): SVGElement {
    const { replay } = this;
    const own = replay.ofWarp.get(warp) ?? [];
    const marks: Child[] = [];
    const first = own[0] ?? 0;
    const last = own[own.length - 1] ?? 0;
    marks.push(s("rect", { x: first, y: 11, width: Math.max(0.001, last + 1 - first), height: 2, class: "ready" }));
    const closer = Math.max(1, Math.floor(total / kMostPieces));
    for (let i = 0; i < own.length; ) {
      let end = i;
      while (end + 1 < own.length && own[end + 1] - own[end] <= closer) ++end;
      marks.push(s("rect", { x: own[i], y: 3, width: own[end] - own[i] + 1, height: 18, class: "run" }));
      i = end + 1;
    }
    own.forEach((step, i) => {
      const barrier = replay.steps[step].raw.waits;
      if (barrier === undefined) return;
      let open = step;
      const limit = own[i + 1] ?? total;
      while (open < limit && replay.steps[open].raw.opens !== barrier) ++open;
      if (open > step + 1) marks.push(s("rect", { x: step + 1, y: 7, width: open - step, height: 10, class: "wait" }));
    });
    return s("svg", { viewBox: `0 0 ${total} 24`, preserveAspectRatio: "none", "data-warp": warp % 8, "aria-hidden": "true" }, marks);
  }

  show(at: number, chosen: number): void {
    const { replay } = this;
    this.head.style.setProperty("--at", String((at + 0.5) / Math.max(1, replay.steps.length)));
    for (const [warp, { row, button, state }] of this.rows) {
      const waits = replay.waitsAt(warp, at);
      const now = waits === undefined ? replay.state(warp, at) : "waits";
      const place = replay.placeOf(warp, at);
      const where = place === undefined ? "" : placeName(replay.recording.places[place]);
      const { fault } = replay.recording;
      const faulted = fault?.step !== undefined && fault.step <= at && replay.steps[fault.step].warp === warp;
      const words = faulted ? "fault" : { here: `runs ${where}`, waits: replay.barriers > 1 ? `waits: barrier ${waits}` : "waits", "not begun": "not begun", done: "has ended", ready: `at ${where}` }[now];
      state.textContent = words;
      state.classList.toggle("waits", now === "waits" || faulted);
      row.classList.toggle("chosen", warp === chosen);
      button.setAttribute("aria-pressed", String(warp === chosen));
      button.setAttribute("aria-label", `Warp ${warp}: ${words}`);
    }
  }
}
