// The requests of a step, and the sectors of global memory that one of them touches.
import { h } from "../dom";
import { ranges } from "./lanes";
import { type Access, type Replay, sizeOf, writes } from "./replay";
import { costOf, globalName, nameOf, valueText, verb } from "./words";

const kMostSectors = 64;

export class AccessPane {
  readonly element: HTMLElement;
  private readonly list = h("div", { class: "st-accesses", role: "group", "aria-label": "Accesses of this step" });
  private readonly stage = h("div", { class: "st-sectors" });
  private readonly words = h("p", { class: "st-said" });
  private readonly cells = h("div", { class: "st-values" });
  private readonly values = h("details", { class: "st-moved", open: innerWidth > 900 }, h("summary", null, "Values of the lanes"), this.cells);

  constructor(
    private readonly replay: Replay,
    private readonly choose: (index: number) => void,
  ) {
    this.element = h("section", { class: "card", "aria-label": "Accesses" }, h("h2", null, "Memory accesses"), this.list, this.words, this.stage, this.values);
  }

  show(at: number, chosen: number, lane: number): void {
    const { accesses, raw } = this.replay.steps[at];
    this.list.replaceChildren(
      ...(accesses.length
        ? accesses.map((a, i) => {
            const cost = costOf(a);
            return h(
              "button",
              { type: "button", class: `st-access${cost.bad ? " bad" : ""}`, "aria-pressed": String(i === chosen), tabindex: -1, onclick: () => this.choose(i) },
              h("b", null, `${verb(a)} ${nameOf(this.replay.recording, a)}`),
              cost.text ? h("span", null, cost.text) : null,
            );
          })
        : [h("p", { class: "soft" }, "This step touches no shared or global memory.")]),
      ...(raw.accesses_left_out ? [h("p", { class: "soft" }, `${raw.accesses_left_out} further accesses are not recorded.`)] : []),
    );
    const a = accesses[chosen];
    if (!a || a.space === "shared") {
      this.words.textContent = "";
      this.stage.replaceChildren();
      this.values.hidden = true;
      return;
    }
    this.drawSectors(a, lane);
  }

  /** By lane; undefined: not recorded. */
  private valuesOf(a: Access): Map<number, string> | undefined {
    if (!a.words) return undefined;
    const object = a.raw.object === undefined ? undefined : this.replay.recording.objects[a.raw.object];
    const out = new Map<number, string>();
    let word = 0;
    a.lanes.forEach((lane, i) => {
      const count = Math.ceil(sizeOf(a, i) / 4);
      out.set(lane, valueText(a.words!.slice(word, word + count), sizeOf(a, i), object?.format ?? "", object?.element_bytes || Math.min(4, sizeOf(a, i))));
      word += count;
    });
    return out;
  }

  private drawValues(a: Access, values: Map<number, string> | undefined, lane: number): void {
    this.values.hidden = !values;
    if (!values) return;
    const { recording } = this.replay;
    this.cells.replaceChildren(
      ...a.lanes.map((l, i) => {
        const text = values.get(l) ?? "";
        return h("span", { class: `st-value${l === lane ? " chosen" : ""}${writes(a) ? " changed" : ""}`, title: `lane ${l}: ${globalName(recording, a, i)} = ${text}` }, h("small", null, l), text);
      }),
    );
  }

  private drawSectors(a: Access, lane: number): void {
    const { recording } = this.replay;
    const touched = new Map<number, Map<number, number[]>>(); // sector: word: lanes
    a.lanes.forEach((l, i) => {
      for (let w = Math.floor(a.addresses[i] / 4); w <= Math.floor((a.addresses[i] + sizeOf(a, i) - 1) / 4); ++w) {
        const sector = Math.floor(w / 8);
        let words = touched.get(sector);
        if (!words) touched.set(sector, (words = new Map()));
        words.set(w % 8, [...(words.get(w % 8) ?? []), l]);
      }
    });
    const sectors = [...touched].sort((x, y) => x[0] - y[0]);
    const cost = costOf(a);
    const own = a.lanes.indexOf(lane);
    const used = sectors.reduce((n, [, words]) => n + words.size, 0);
    this.words.className = cost.bad ? "st-said bad" : "st-said good";
    this.words.textContent = `${a.lanes.length} lanes, ${a.bytes} byte${a.bytes === 1 ? "" : "s"} each: ${cost.text || `${sectors.length} sectors`}, ${Math.round((100 * used) / (8 * sectors.length))} % of ${sectors.length === 1 ? "it" : "them"} used.${own >= 0 ? ` Lane ${lane}: ${globalName(recording, a, own)}.` : ""}`;
    const values = this.valuesOf(a);
    if (own >= 0 && values) this.words.textContent += ` It ${writes(a) ? "holds" : "gets"} ${values.get(lane)}${writes(a) ? " afterwards" : ""}.`;
    this.drawValues(a, values, lane);
    let before = -2;
    this.stage.replaceChildren(
      ...sectors.slice(0, kMostSectors).map(([sector, words]) => {
        const gap = sector !== before + 1;
        before = sector;
        return h(
          "span",
          { class: `st-sector${gap ? " gap" : ""}`, title: `sector at byte ${sector * 32}: ${words.size} of 8 words` },
          Array.from({ length: 8 }, (_, w) => {
            const lanes = words.get(w);
            return h("i", { class: lanes ? `${writes(a) ? "writes" : "reads"}${lanes.includes(lane) ? " chosen" : ""}` : "", title: lanes ? `lane${lanes.length > 1 ? "s" : ""} ${ranges(lanes)}` : "not used" });
          }),
        );
      }),
      ...(sectors.length > kMostSectors ? [h("span", { class: "soft" }, `and ${sectors.length - kMostSectors} more`)] : []),
    );
  }
}

/** The access to look at first: to shared memory the one that costs most, else the first. */
export function firstAccess(accesses: Access[]): number {
  let best = accesses.length ? 0 : -1;
  let most = -1;
  accesses.forEach((a, i) => {
    const cost = a.space === "shared" ? 1000 + (a.raw.wavefronts ?? 0) : (a.raw.sectors ?? 0);
    if (cost > most) {
      most = cost;
      best = i;
    }
  });
  return best;
}
