// The 32 lanes of a warp, coloured by where they are, and their variables.
import { h, s } from "../dom";
import { significant } from "../format";
import { lanesOf, mask, ranges } from "./lanes";
import type { Replay } from "./replay";
import { placeName } from "./words";

const kPathColours = 8; // of style.css

/** A sign of a legend with its words, which no line break parts. */
export const keyOf = (kind: string, words: string): HTMLElement => h("span", { class: "st-pair" }, h("span", { class: `st-key ${kind}`, "aria-hidden": "true" }), words);

export class LanePane {
  readonly element: HTMLElement;
  readonly variables: HTMLElement;
  private readonly cells: HTMLButtonElement[] = [];
  private readonly legend = h("ul", { class: "st-paths" });
  private readonly rows = h("div", { class: "st-vars" });
  private readonly of = h("span", { class: "soft" });
  private readonly laneName = h("span", { class: "soft" });
  private open = new Set<string>();

  constructor(
    private readonly replay: Replay,
    private readonly choose: (lane: number) => void,
    private readonly redraw: () => void,
  ) {
    for (let lane = 0; lane < 32; ++lane)
      this.cells.push(h("button", { type: "button", class: "st-lane", tabindex: -1, onclick: () => this.choose(lane) }, lane) as HTMLButtonElement);
    this.element = h("section", { class: "card st-lanes-card", "aria-label": "Lanes" }, h("h2", null, "Lanes ", this.of), h("div", { class: "st-lanes", role: "group", "aria-label": "Choose a lane" }, this.cells), this.legend);
    this.variables = h("section", { class: "card st-variables", "aria-label": "Variables" }, h("h2", null, "Variables ", this.laneName), this.rows);
  }

  show(at: number, warp: number, lane: number): void {
    this.showLanes(at, warp, lane);
    this.showVariables(at, warp, lane);
  }

  private showLanes(at: number, warp: number, chosen: number): void {
    const { replay } = this;
    const { places, block } = replay.recording;
    this.of.textContent = `of warp ${warp}`;
    const where = replay.lanePlaces(warp, at);
    const existing = replay.existing.get(warp) ?? 0;
    const runs = replay.steps[at].warp === warp;
    const paths: { key: string; place: number; active: boolean; lanes: number[] }[] = [];
    where.forEach((w, lane) => {
      if (!((existing >>> lane) & 1)) return;
      const key = w.place < 0 ? "left" : `${w.active ? "a" : "w"} ${places[w.place].file}:${places[w.place].line}`;
      let path = paths.find((p) => p.key === key);
      if (!path) paths.push((path = { key, place: w.place, active: w.active, lanes: [] }));
      path.lanes.push(lane);
    });
    paths.sort((a, b) => Number(b.active) - Number(a.active));
    const kind = new Array<string>(32).fill("none");
    const taken = new Set<number>();
    const items = paths.map((p) => {
      // A line keeps its colour from step to step, if no other path has it.
      let colour = p.place % kPathColours;
      while (p.place >= 0 && !p.active && taken.has(colour) && taken.size < kPathColours) colour = (colour + 1) % kPathColours;
      if (p.place >= 0 && !p.active) taken.add(colour);
      const name = p.place < 0 ? "left" : p.active ? "active" : `path${colour}`;
      for (const l of p.lanes) kind[l] = name;
      const one = p.lanes.length === 1;
      const words = p.place < 0 ? `${one ? "has" : "have"} left the kernel` : p.active ? `${runs ? "at" : one ? "stands at" : "stand at"} ${placeName(places[p.place])}` : `${one ? "waits, and goes" : "wait, and go"} on at ${placeName(places[p.place])}`;
      return h("li", null, h("span", { class: `st-key ${name}`, "aria-hidden": "true" }), h("strong", null, one ? "1 lane" : `${p.lanes.length} lanes`), ` ${words} `, h("span", { class: "soft" }, ranges(p.lanes)));
    });
    const { fault } = replay.recording;
    const faulty = fault?.step !== undefined && fault.step <= at && replay.steps[fault.step].warp === warp ? fault.lane : undefined;
    if (faulty !== undefined) items.push(h("li", { class: "bad" }, keyOf("fault", `lane ${faulty} made the fault`)));
    this.legend.replaceChildren(...items);
    this.cells.forEach((cell, lane) => {
      cell.className = `st-lane ${kind[lane]}${lane === chosen ? " chosen" : ""}${lane === faulty ? " fault" : ""}`;
      cell.disabled = kind[lane] === "none";
      const thread = warp * 32 + lane;
      const x = thread % block[0];
      const y = Math.floor(thread / block[0]) % block[1];
      const z = Math.floor(thread / block[0] / block[1]);
      const w = where[lane];
      const label = kind[lane] === "none" ? `lane ${lane}: there is no such thread` : `lane ${lane}, thread (${x},${y},${z}): ${w.place < 0 ? "has left the kernel" : `${w.active ? "at" : "goes on at"} ${placeName(places[w.place])}`}`;
      cell.title = label;
      cell.setAttribute("aria-label", label);
      cell.setAttribute("aria-pressed", String(lane === chosen));
    });
  }

  private showVariables(at: number, warp: number, lane: number): void {
    const { replay } = this;
    const { recording } = replay;
    this.laneName.textContent = `of lane ${lane}, and over the warp`;
    if (!recording.variables.length) {
      this.rows.replaceChildren(h("p", { class: "note" }, recording.no_variables ? `No variables: ${recording.no_variables}.` : "No variables were recorded. Compile with nvcc -G (or clang -g -O0)."));
      return;
    }
    const step = replay.steps[at];
    const own = step.warp === warp ? at : replay.latest(warp, at);
    const place = recording.places[own === undefined ? step.place : replay.steps[own].place];
    const changed = new Map<number, number>();
    if (step.warp === warp) for (const c of step.raw.changes ?? []) changed.set(c.variable, (mask(c.mask) | (changed.get(c.variable) ?? 0)) >>> 0);
    const rows: HTMLElement[] = [];
    // Of several variables of one name, as of two loops, the one that was set last is in scope.
    const latest = new Map<string, { i: number; step: number }>();
    recording.variables.forEach((variable, i) => {
      if (variable.function !== place.function) return;
      const step = replay.changedAt(i, warp, at);
      if (step >= 0 && step >= (latest.get(variable.name)?.step ?? -1)) latest.set(variable.name, { i, step });
    });
    recording.variables.forEach((variable, i) => {
      if (latest.get(variable.name)?.i !== i || variable.function !== place.function) return;
      const values = replay.valuesOf(i, warp, at);
      if (values.every((v) => v === undefined)) return;
      rows.push(this.row(i, variable.name, variable.type, values, lane, changed.get(i) ?? 0));
    });
    this.rows.replaceChildren(...(rows.length ? rows : [h("p", { class: "soft" }, "No variable has a value yet.")]));
  }

  private row(index: number, name: string, type: string, values: (string | undefined)[], lane: number, changed: number): HTMLElement {
    const key = `${index}`;
    const known = values.flatMap((v, l) => (v === undefined ? [] : [{ v, l }]));
    const equal = known.every((k) => k.v === known[0].v);
    const asNumber = known.map((k) => Number(k.v));
    const numeric = asNumber.every((n, i) => !Number.isNaN(n) && known[i].v.trim() !== "");
    const low = numeric ? Math.min(...asNumber) : 0;
    const high = numeric ? Math.max(...asNumber) : 0;
    const lowAt = known[asNumber.indexOf(low)]?.l;
    const highAt = known[asNumber.indexOf(high)]?.l;
    const different = new Set(known.map((k) => k.v)).size;
    const over = equal ? (known.length === 1 ? `only in lane ${known[0].l}` : "the same in all lanes") : numeric ? `${shown(low)} \u2026 ${shown(high)}` : `${different} different values`;
    const open = this.open.has(key);
    const long = known.some((k) => k.v!.startsWith("{") || k.v!.length > 24); // a structure, an array
    return h(
      "div",
      { class: `st-var${changed ? " changed" : ""}${long ? " long" : ""}` },
      h(
        "button",
        {
          type: "button",
          class: "st-var-head",
          "aria-expanded": String(open),
          title: `${type} ${name}`,
          onclick: () => {
            if (open) this.open.delete(key);
            else this.open.add(key);
            this.redraw();
          },
        },
        h("span", { class: "st-var-name" }, h("b", null, name), " ", h("span", { class: "soft" }, type)),
        h("span", { class: "st-var-value" }, values[lane] ?? "\u2013"),
        h("span", { class: "st-var-over soft" }, over),
        numeric && !equal ? spark(values, low, high, lane, changed) : h("span", { class: "st-spark none" }),
      ),
      open
        ? h(
            "div",
            { class: "st-values" },
            values.map((v, l) =>
              h(
                "span",
                { class: `st-value${l === lane ? " chosen" : ""}${(changed >>> l) & 1 ? " changed" : ""}${!equal && numeric && l === lowAt ? " low" : ""}${!equal && numeric && l === highAt ? " high" : ""}`, title: `lane ${l}` },
                h("small", null, l),
                v === undefined ? "\u2013" : v,
              ),
            ),
          )
        : null,
    );
  }
}

const shown = (n: number): string => (Number.isInteger(n) && Math.abs(n) < 1e12 ? String(n) : significant(n, 4));

/** A bar for each lane. */
function spark(values: (string | undefined)[], low: number, high: number, lane: number, changed: number): SVGElement {
  const zero = Math.min(0, low);
  const span = Math.max(high, 0) - zero || 1;
  return s(
    "svg",
    { class: "st-spark", viewBox: "0 0 64 20", preserveAspectRatio: "none", "aria-hidden": "true" },
    values.map((v, l) => {
      if (v === undefined) return null;
      const n = Number.isFinite(Number(v)) ? Number(v) : 0;
      const top = (Math.max(n, 0) - zero) / span;
      const bottom = (Math.min(n, 0) - zero) / span;
      return s("rect", { x: l * 2 + 0.2, width: 1.6, y: 19.5 - 19 * top, height: Math.max(0.8, 19 * (top - bottom)), class: `${l === lane ? "chosen" : ""}${(changed >>> l) & 1 ? " changed" : ""}` });
    }),
  );
}

export const firstLane = (bits: number): number => lanesOf(bits)[0] ?? 0;
