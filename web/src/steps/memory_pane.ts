// Shared memory as its banks have it: a column for each bank, a row for each 32 words.
import type { Banks, SharedVariable } from "../profile_types";
import { h } from "../dom";
import { bytes as bytesText, count } from "../format";
import { type Conflicts, conflictsOf } from "./banks";
import { keyOf } from "./lane_pane";
import { ranges } from "./lanes";
import { type Access, type Memory, type Replay, wordsOf, writes } from "./replay";
import { costOf, elementName, rounded, sharedAt, threadsOf, wordText } from "./words";

const kMostRows = 64; // drawn at a time
const kAsk = "Point at a cell, or tap it, to see its element with all digits.";

export class MemoryPane {
  readonly element: HTMLElement;
  private readonly grid = h("div", { class: "st-grid", role: "img" });
  private readonly bars: HTMLElement[] = [];
  private readonly head = h("div", { class: "st-banks", "aria-hidden": "true" });
  private readonly said = h("p", { class: "st-said" });
  private readonly detail = h("p", { class: "st-detail soft", "aria-live": "polite" }, kAsk);
  private readonly pages = h("div", { class: "toolbar st-pages" });
  private readonly filled = h("span", { class: "soft" });
  private readonly colour = h(
    "select",
    { "aria-label": "Colour of the cells", onchange: () => this.draw() },
    h("option", { value: "warp" }, "colour: the warp that wrote"),
    h("option", { value: "age" }, "colour: how long ago"),
  );
  private cells: HTMLElement[] = [];
  private kinds: string[] = []; // of the cells: outside shared memory, the first word of a variable
  private looks: string[] = [];
  private firstRow = -1;
  private pinned: number | undefined; // page that the reader chose
  private at = 0;
  private access: Access | undefined;
  private picked = -1; // word
  private above = -1; // word under the mouse

  constructor(
    private readonly replay: Replay,
    private readonly banks: Banks,
  ) {
    const across = banks.banks;
    for (let b = 0; b < across; ++b) {
      const bar = h("i", null);
      this.bars.push(bar);
      this.head.append(h("span", { class: "st-bank" }, bar, h("small", null, b)));
    }
    for (const type of ["pointerdown", "pointermove", "pointerleave"]) this.grid.addEventListener(type, (e) => this.pointed(e as PointerEvent));
    this.element = h(
      "section",
      { class: "card st-memory", "aria-label": "Shared memory" },
      h("h2", null, "Shared memory ", this.filled),
      this.said,
      h("div", { class: "st-board", style: `--banks:${across}` }, this.head, this.grid),
      this.pages,
      this.detail,
      h(
        "p",
        { class: "st-keys soft" },
        keyOf("cell", "unwritten"),
        keyOf("cell full", "written"),
        keyOf("cell used", "read since then"),
        keyOf("cell writes", "written now"),
        keyOf("cell reads", "read now"),
        keyOf("cell reads later", "waits for its bank"),
        this.colour,
      ),
    );
  }

  private get words(): number {
    return Math.ceil(this.replay.recording.shared_bytes / 4);
  }

  show(at: number, access: Access | undefined): void {
    if (at !== this.at) this.pinned = undefined;
    this.at = at;
    this.access = access?.space === "shared" ? access : undefined;
    this.draw();
  }

  /** Rows that hold the accesses of the step. */
  private wanted(): number {
    const rows = Math.ceil(this.words / this.banks.banks);
    if (rows <= kMostRows) return 0;
    if (this.pinned !== undefined) return this.pinned;
    const step = this.replay.steps[this.at];
    const touched = [this.access, ...step.accesses].find((a) => a?.space === "shared");
    if (!touched) return Math.max(0, this.firstRow);
    const row = Math.floor(wordsOf(touched, 0)[0] / this.banks.banks);
    return Math.floor(row / kMostRows) * kMostRows;
  }

  private page(first: number): void {
    const across = this.banks.banks;
    const rows = Math.ceil(this.words / across);
    const last = Math.min(rows, first + kMostRows);
    if (rows > kMostRows) {
      const step = (text: string, to: number, off: boolean): HTMLElement =>
        h("button", { type: "button", class: "button", disabled: off, onclick: () => ((this.pinned = to), this.draw()) }, text);
      this.pages.replaceChildren(
        step("\u2191 earlier rows", first - kMostRows, first === 0),
        h("span", { class: "soft" }, `rows ${first} to ${last - 1} of ${rows}`),
        step("later rows \u2193", first + kMostRows, last === rows),
      );
    }
    if (first === this.firstRow) return;
    this.firstRow = first;
    this.cells = [];
    this.kinds = [];
    this.looks = [];
    const parts: HTMLElement[] = [];
    let name: string | undefined;
    for (let row = first; row < last; ++row) {
      const variable = sharedAt(this.replay.recording, row * across * 4);
      const begins = this.replay.recording.shared.filter((v) => Math.floor(v.offset / 4 / across) === row).map((v) => `${v.name} (${v.type || bytesText(v.bytes)})`);
      const title = begins.join(", ") || (row === first && variable ? `${variable.name}, continued` : "");
      if (title && title !== name) parts.push(h("div", { class: "st-name" }, title));
      name = title || name;
      for (let bank = 0; bank < across; ++bank) {
        const word = row * across + bank;
        const cell = h("span", { class: "st-cell" });
        if (word >= this.words) cell.classList.add("outside");
        const begins = bank > 0 && this.replay.recording.shared.some((v) => Math.floor(v.offset / 4) === word);
        this.kinds.push(word >= this.words ? " outside" : begins ? " begins" : "");
        this.cells.push(cell);
        parts.push(cell);
      }
    }
    this.grid.replaceChildren(...parts);
  }

  private draw(): void {
    const { replay, at, access } = this;
    this.page(this.wanted());
    const memory = replay.memoryAt(at);
    const step = replay.steps[at];
    const conflicts = access ? conflictsOf(access, this.banks) : undefined;
    const now = new Map<number, string>(); // the chosen access, and thinner the others of the step
    const mark = (a: Access, kind: string): void =>
      a.lanes.forEach((_, i) => {
        const [from, to] = wordsOf(a, i);
        for (let w = from; w <= to; ++w) now.set(w, kind);
      });
    for (const a of step.accesses) if (a.space === "shared" && a !== access) mark(a, writes(a) ? " writes also" : " reads also");
    if (access) mark(access, writes(access) ? " writes" : " reads");
    const byAge = this.colour.value === "age";
    const across = this.banks.banks;
    const first = this.firstRow * across;
    this.cells.forEach((cell, i) => {
      const word = first + i;
      if (word >= this.words) return;
      const written = memory.written[word];
      const look = written ? this.lookOf(memory, word, written, byAge) : "|";
      const marks = `${now.get(word) ?? ""}${now.has(word) && conflicts?.later.has(word) ? " later" : ""}${word === this.picked ? " picked" : ""}`;
      const text = written ? rounded(wordText(memory, word, sharedAt(replay.recording, word * 4))) : "";
      const all = `${look}${marks}|${text}`;
      if (all === this.looks[i]) return;
      this.looks[i] = all;
      const [kind, share] = look.split("|");
      cell.className = `st-cell ${kind}${marks}${this.kinds[i]}`;
      if (share) cell.style.setProperty("--share", share);
      else cell.style.removeProperty("--share");
      if (written) cell.dataset.warp = String(replay.steps[written - 1].warp % 8);
      else delete cell.dataset.warp;
      cell.textContent = text;
    });
    this.head.classList.toggle("quiet", !conflicts);
    const tall = Math.max(2, conflicts?.worst ?? 1);
    this.bars.forEach((bar, bank) => {
      const depth = conflicts?.depth[bank] ?? 0;
      bar.style.height = `${Math.round((100 * depth) / tall)}%`;
      bar.className = depth > 1 ? "bad" : "";
    });
    this.describeAccess(memory, conflicts);
    this.describe(memory);
  }

  private lookOf(memory: Memory, word: number, written: number, byAge: boolean): string {
    const used = memory.read[word] > written;
    const part = [0, 1, 2, 3].every((b) => memory.defined[4 * word + b] || 4 * word + b >= this.replay.recording.shared_bytes) ? "" : " part";
    if (!byAge) return `${used ? "used" : "full"}${part}|`;
    const age = Math.max(0, this.at + 1 - written);
    return `age ${used ? "used" : "full"}${part}|${Math.round(14 + 70 / (1 + age / 12))}%`;
  }

  private describeAccess(memory: Memory, conflicts: Conflicts | undefined): void {
    let written = 0;
    let unread = 0;
    for (let w = 0; w < memory.written.length; ++w) {
      if (memory.written[w]) ++written;
      if (memory.written[w] && memory.read[w] < memory.written[w]) ++unread;
    }
    this.filled.textContent = `${count(written)} of ${count(this.words)} words written, ${count(unread)} not read yet`;
    const a = this.access;
    if (!a || !conflicts) {
      this.said.textContent = "No access to shared memory in this step.";
      this.said.className = "st-said soft";
    } else {
      const cost = costOf(a);
      const full = conflicts.depth.flatMap((d, b) => (d === conflicts.worst ? [b] : []));
      this.said.textContent =
        conflicts.worst > 1
          ? `${writes(a) ? "Write" : "Read"} of ${threadsOf(a.lanes.length)}: ${cost.text}. ${full.length > 1 ? "Banks" : "Bank"} ${ranges(full)} must serve ${conflicts.worst} words${full.length > 1 ? " each" : ""}.`
          : `${writes(a) ? "Write" : "Read"} of ${threadsOf(a.lanes.length)}: ${cost.text || "no bank conflict"}.${cost.bad ? "" : " No bank must serve two words."}`;
      const { unwritten } = this.replay.steps[this.at];
      if (unwritten) this.said.textContent += ` ${unwritten === 1 ? "A word" : `${unwritten} words`} that the step reads ${unwritten === 1 ? "was" : "were"} never written: the value${unwritten === 1 ? " is" : "s are"} undefined.`;
      this.said.className = cost.bad || unwritten ? "st-said bad" : "st-said good";
    }
    this.grid.setAttribute("aria-label", `Shared memory after this step: ${written} of ${this.words} words written. ${this.said.textContent}`);
  }

  /** A finger or a pressed mouse chooses a cell, also when it moves over the grid. A mouse above it shows the cell. */
  private pointed(e: PointerEvent): void {
    if (e.type === "pointerleave") {
      this.above = -1;
      return this.draw();
    }
    const target = document.elementFromPoint(e.clientX, e.clientY);
    const index = target ? this.cells.indexOf(target as HTMLElement) : -1;
    if (index < 0 || this.kinds[index] === " outside") return;
    const word = this.firstRow * this.banks.banks + index;
    if (e.type === "pointerdown") this.picked = this.picked === word ? -1 : word;
    else if (e.buttons) this.picked = word;
    else if (this.above === word) return;
    this.above = e.pointerType === "mouse" ? word : -1;
    this.draw();
  }

  private describe(memory: Memory): void {
    const word = this.above >= 0 ? this.above : this.picked;
    if (word < 0 || word >= this.words) {
      this.detail.textContent = kAsk;
      return;
    }
    const { replay } = this;
    const variable: SharedVariable | undefined = sharedAt(replay.recording, word * 4);
    const step = memory.written[word];
    const lanes = this.access ? this.access.lanes.filter((_, i) => wordsOf(this.access!, i)[0] <= word && word <= wordsOf(this.access!, i)[1]) : [];
    this.detail.replaceChildren(
      h("strong", null, elementName(variable, word * 4)),
      ` in bank ${Math.floor(word / (this.banks.bank_bytes / 4)) % this.banks.banks}: `,
      step ? `${wordText(memory, word, variable)}, written by warp ${replay.steps[step - 1].warp} in step ${step}` : "not written yet",
      memory.read[word] ? `, last read in step ${memory.read[word]}` : "",
      lanes.length ? `; this access: lane${lanes.length > 1 ? "s" : ""} ${ranges(lanes)}` : "",
      ".",
    );
  }
}
