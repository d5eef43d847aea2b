// The view: a bar with buttons and a slider, and the panes that show one step. All panes are functions of the step, the
// warp, the lane and the access that are chosen, so that going back shows what going forwards did.
import type { Banks, Recording, SourceFile } from "../profile_types";
import { h, s } from "../dom";
import { count } from "../format";
import { address, type State } from "../state";
import { AccessPane, firstAccess } from "./access_pane";
import { firstLane, LanePane } from "./lane_pane";
import { has } from "./lanes";
import { MemoryPane } from "./memory_pane";
import { Replay } from "./replay";
import { SourcePane } from "./source";
import { Strip } from "./strip";
import { sentence } from "./words";

const kSpeeds: [label: string, milliseconds: number][] = [
  ["slow", 900],
  ["medium", 300],
  ["fast", 70],
];

const kIcons: Record<string, string> = {
  first: "M5 4v12M16 4 8 10l8 6z",
  back: "M16 10H5M10 5l-5 5 5 5",
  play: "M6 4l10 6-10 6z",
  pause: "M7 4v12M13 4v12",
  next: "M4 10h11M10 5l5 5-5 5",
  last: "M15 4v12M4 4l8 6-8 6z",
  up: "M10 16V5M5 10l5-5 5 5",
  down: "M10 4v11M5 10l5 5 5-5",
};
const icon = (sign: string): SVGElement =>
  s("svg", { viewBox: "0 0 20 20", class: `st-icon${["first", "play", "last"].includes(sign) ? " filled" : ""}`, "aria-hidden": "true" }, s("path", { d: kIcons[sign] }));

const keys = (...names: string[]): HTMLElement[] => names.map((name) => h("kbd", null, name));

export class Player {
  readonly element: HTMLElement;
  readonly replay: Replay;
  private at = 0;
  private warp = 0;
  private lane = 0;
  private access = 0;
  private timer = 0;
  private readonly source: SourcePane;
  private readonly lanes: LanePane;
  private readonly accesses: AccessPane;
  private readonly memory: MemoryPane | undefined;
  private readonly strip: Strip;
  private readonly slider: HTMLInputElement;
  private readonly words = h("p", { class: "st-words", "aria-live": "polite", "aria-atomic": "true" });
  private readonly counter = h("span", { class: "st-counter" });
  private readonly buttons: Record<"first" | "back" | "play" | "next" | "last" | "up" | "down", HTMLButtonElement>;
  private readonly warpName = h("span", { class: "st-warp-name" });
  private readonly speed = h("select", { "aria-label": "Speed of playing", onchange: () => this.timer && this.play() }, kSpeeds.map(([name, ms], i) => h("option", { value: ms, selected: i === 1 }, name)));

  constructor(
    recording: Recording,
    sources: SourceFile[],
    banks: Banks,
    private readonly state: State,
  ) {
    const replay = (this.replay = new Replay(recording));
    this.source = new SourcePane(sources, replay, (w) => this.chooseWarp(w));
    this.lanes = new LanePane(replay, (l) => this.chooseLane(l), () => this.show());
    this.accesses = new AccessPane(replay, (i) => ((this.access = i), this.show()));
    this.memory = recording.shared_bytes > 0 ? new MemoryPane(replay, banks) : undefined;
    this.strip = new Strip(replay, (w) => this.chooseWarp(w), (i) => this.go(i, replay.steps[i].warp));
    const last = replay.steps.length - 1;
    this.slider = h("input", { type: "range", min: 0, max: last, step: 1, class: "st-slider", "aria-label": "Step, of all warps", oninput: () => (this.stop(), this.go(Number(this.slider.value), replay.steps[Number(this.slider.value)].warp)) });
    const button = (sign: string, label: string, act: () => void): HTMLButtonElement =>
      h("button", { type: "button", class: "button st-button", "aria-label": label, title: label, onclick: act }, icon(sign));
    this.buttons = {
      first: button("first", "First step (Home)", () => this.go(0, replay.steps[0].warp)),
      back: button("back", "One step of this warp back (left arrow)", () => this.back()),
      play: button("play", "Play (space)", () => this.toggle()),
      next: button("next", "One step of this warp forwards (right arrow)", () => this.forwards()),
      last: button("last", "Last step (End)", () => this.go(last, replay.steps[last].warp)),
      up: button("up", "Previous warp (up arrow)", () => this.otherWarp(-1)),
      down: button("down", "Next warp (down arrow)", () => this.otherWarp(1)),
    };
    const b = this.buttons;
    const bar = h(
      "div",
      { class: "st-bar", role: "toolbar", "aria-label": "Steps" },
      h("div", { class: "st-main" }, b.first, b.back, b.play, b.next, b.last),
      h("div", { class: "st-which" }, b.up, this.warpName, b.down),
      h("div", { class: "st-time" }, this.slider, this.counter),
      this.speed,
    );
    this.element = h(
      "div",
      { class: "steps", tabindex: 0, role: "group", "aria-label": "Steps of the block. Left and right arrows step, up and down choose the warp, space plays.", onkeydown: (e: KeyboardEvent) => this.key(e) },
      h("div", { class: "st-now" }, this.words),
      h("p", { class: "st-hint soft", "aria-hidden": "true" }, keys("\u2190", "\u2192"), "step ", keys("\u2191", "\u2193"), "warp ", keys("space"), "plays ", keys("Home", "End"), "first, last step"),
      h(
        "div",
        { class: "st-columns" },
        h("div", { class: "st-column" }, this.source.element, this.lanes.element, this.lanes.variables),
        h("div", { class: "st-column" }, this.memory?.element, this.accesses.element, this.strip.element),
      ),
      bar,
    );
    this.swipes(bar);
    this.swipes(this.words);
    const step = Math.min(last, Math.max(0, Math.floor(Number(state.step ?? 1) || 1) - 1));
    const warp = Number(state.warp ?? replay.steps[step].warp);
    this.warp = replay.ofWarp.has(warp) ? warp : replay.steps[step].warp;
    this.go(step, this.warp);
  }

  /** Call it once the element is in the page: only then the source can be scrolled to its line. */
  shown(): void {
    this.element.focus({ preventScroll: true });
    this.show();
  }

  private forwards(): void {
    this.stop();
    const next = this.replay.next(this.warp, this.at);
    if (next !== undefined) this.go(next, this.warp);
  }
  private back(): void {
    this.stop();
    const before = this.replay.previous(this.warp, this.at);
    if (before !== undefined) this.go(before, this.warp);
  }
  private otherWarp(by: number): void {
    const { warps } = this.replay;
    this.chooseWarp(warps[(warps.indexOf(this.warp) + by + warps.length) % warps.length]);
  }
  private chooseWarp(warp: number): void {
    this.stop();
    this.warp = warp;
    this.keepLane();
    this.show();
  }
  private chooseLane(lane: number): void {
    this.lane = lane;
    this.show();
  }
  private keepLane(): void {
    const lanes = this.replay.existing.get(this.warp) ?? 0;
    if (!has(lanes, this.lane)) this.lane = firstLane(lanes);
  }

  private go(step: number, warp: number): void {
    this.at = step;
    this.warp = warp;
    this.access = firstAccess(this.replay.steps[step].accesses);
    const { fault } = this.replay.recording;
    if (fault?.step === step && fault.lane !== undefined) this.lane = fault.lane;
    this.keepLane();
    this.show();
  }

  private toggle(): void {
    if (this.timer) return this.stop();
    if (this.at === this.replay.steps.length - 1) this.go(0, this.replay.steps[0].warp);
    this.play();
    this.show();
  }
  private play(): void {
    window.clearInterval(this.timer);
    this.timer = window.setInterval(() => {
      if (!this.element.isConnected || this.at + 1 >= this.replay.steps.length) return this.stop();
      this.go(this.at + 1, this.replay.steps[this.at + 1].warp);
    }, Number(this.speed.value));
  }
  private stop(): void {
    if (!this.timer) return;
    window.clearInterval(this.timer);
    this.timer = 0;
    this.show();
  }

  private key(e: KeyboardEvent): void {
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.altKey || e.metaKey || target.closest("select")) return;
    const last = this.replay.steps.length - 1;
    const acts: Record<string, () => void> = {
      ArrowRight: () => this.forwards(),
      ArrowLeft: () => this.back(),
      ArrowUp: () => this.otherWarp(-1),
      ArrowDown: () => this.otherWarp(1),
      Home: () => (this.stop(), this.go(0, this.replay.steps[0].warp)),
      End: () => (this.stop(), this.go(last, this.replay.steps[last].warp)),
      " ": () => this.toggle(),
    };
    if (!acts[e.key] || (e.key === " " && target.closest("button"))) return;
    e.preventDefault();
    acts[e.key]();
  }

  /** A swipe over the element steps: to the left forwards, as pages turn. */
  private swipes(element: HTMLElement): void {
    let from: { x: number; y: number } | undefined;
    element.addEventListener("touchstart", (e) => (from = (e.target as HTMLElement).closest("input, select") ? undefined : { x: e.changedTouches[0].clientX, y: e.changedTouches[0].clientY }), { passive: true });
    element.addEventListener("touchend", (e) => {
      if (!from) return;
      const x = e.changedTouches[0].clientX - from.x;
      const y = e.changedTouches[0].clientY - from.y;
      if (Math.abs(x) > 40 && Math.abs(x) > 2 * Math.abs(y)) (x < 0 ? () => this.forwards() : () => this.back())();
    });
  }

  private show(): void {
    const { replay, at, warp } = this;
    const step = replay.steps[at];
    this.words.textContent = sentence(replay, at);
    this.words.classList.toggle("bad", step.unwritten > 0 || (!!replay.recording.fault && at === replay.steps.length - 1));
    this.words.dataset.warp = String(step.warp % 8);
    this.counter.textContent = `${count(at + 1)} of ${count(replay.steps.length)}`;
    this.slider.value = String(at);
    this.slider.setAttribute("aria-valuetext", `step ${at + 1}: ${this.words.textContent}`);
    this.warpName.textContent = `Warp ${warp}`;
    this.warpName.dataset.warp = String(warp % 8);
    const b = this.buttons;
    b.back.disabled = replay.previous(warp, at) === undefined;
    b.next.disabled = replay.next(warp, at) === undefined;
    b.first.disabled = at === 0;
    b.last.disabled = at === replay.steps.length - 1;
    b.up.disabled = b.down.disabled = replay.warps.length < 2;
    b.play.replaceChildren(icon(this.timer ? "pause" : "play"));
    b.play.setAttribute("aria-label", this.timer ? "Pause (space)" : "Play (space)");
    this.source.show(at, warp);
    this.lanes.show(at, warp, this.lane);
    this.accesses.show(at, this.access, this.lane);
    this.memory?.show(at, step.accesses[this.access]);
    this.strip.show(at, warp);
    // The address keeps the place. Nothing is drawn anew: it is where the reader is already.
    history.replaceState(null, "", address({ ...this.state, step: String(at + 1), warp: String(warp) }));
  }
}
