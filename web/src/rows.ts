// A list of rows of one height of which only those on screen exist: sources of 100,000 lines.
import { h } from "./dom";

export interface RowsOptions {
  count: number;
  rowHeight: number;
  draw: (row: number) => HTMLElement;
  open: (row: number) => void; // Enter or click
  selected: number;
  label: string;
  header?: HTMLElement;
  height?: number;
}

const kMost = 2000; // printed rows

export class Rows {
  readonly element: HTMLElement;
  private readonly body: HTMLElement;
  private readonly window: HTMLElement;
  private first = -1;
  private last = -1;
  private cursor: number;

  constructor(private readonly o: RowsOptions) {
    this.cursor = Math.max(0, o.selected);
    this.window = h("div", { class: "rows-window" });
    this.body = h("div", { class: "rows-body", style: `height:${o.count * o.rowHeight}px` }, this.window);
    const height = Math.min(o.height ?? 560, o.count * o.rowHeight + 40);
    this.element = h(
      "div",
      { class: "rows", tabindex: 0, role: "listbox", "aria-label": o.label, style: `height:${height}px` },
      o.header,
      this.body,
    );
    this.element.addEventListener("scroll", () => this.update(), { passive: true });
    this.element.addEventListener("keydown", (e) => this.key(e));
    this.body.addEventListener("click", (e) => {
      const row = (e.target as Element).closest<HTMLElement>("[data-row]");
      if (row && !(e.target as Element).closest("a")) this.choose(Number(row.dataset.row));
    });
    new ResizeObserver(() => this.update(true)).observe(this.element);
    window.addEventListener("beforeprint", () => this.print());
    window.addEventListener("afterprint", () => this.update(true));
  }

  show(row: number): void {
    this.element.scrollTop = Math.max(0, row * this.o.rowHeight - this.element.clientHeight / 3);
    this.update(true);
  }

  private choose(row: number): void {
    this.cursor = row;
    this.update(true);
    this.o.open(row);
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.o.rowHeight) - 2);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 }[event.key];
    if (event.key === "Enter" || event.key === " ") this.choose(this.cursor);
    else if (step) {
      this.cursor = Math.min(this.o.count - 1, Math.max(0, this.cursor + step));
      const top = this.cursor * this.o.rowHeight;
      const view = this.element;
      if (top < view.scrollTop) view.scrollTop = top;
      else if (top + 3 * this.o.rowHeight > view.scrollTop + view.clientHeight)
        view.scrollTop = top + 3 * this.o.rowHeight - view.clientHeight;
      this.update(true);
    } else return;
    event.preventDefault();
  }

  private print(): void {
    this.fill(0, Math.min(this.o.count, kMost));
  }

  private update(force = false): void {
    const first = Math.max(0, Math.floor(this.element.scrollTop / this.o.rowHeight) - 10);
    const last = Math.min(this.o.count, first + Math.ceil(this.element.clientHeight / this.o.rowHeight) + 20);
    if (!force && first === this.first && last === this.last) return;
    this.fill(first, last);
  }

  private fill(first: number, last: number): void {
    this.first = first;
    this.last = last;
    this.window.style.transform = `translateY(${first * this.o.rowHeight}px)`;
    const rows: HTMLElement[] = [];
    for (let row = first; row < last; ++row) {
      const element = this.o.draw(row);
      element.dataset.row = String(row);
      element.setAttribute("role", "option");
      element.setAttribute("aria-selected", row === this.o.selected ? "true" : "false");
      if (row === this.cursor) element.classList.add("cursor");
      rows.push(element);
    }
    this.window.replaceChildren(...rows);
  }
}
