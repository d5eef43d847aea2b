// Tables of up to some hundred rows: sorted by a click or key on the head, rows opened by Enter.
import { type Child, h } from "./dom";

export interface Column<T> {
  title: Child;
  text?: (row: T) => string; // to sort words
  value?: (row: T) => number; // to sort numbers
  cell: (row: T) => Child;
  number?: boolean;
  wide?: boolean;
}

export function table<T>(
  label: string,
  rows: T[],
  columns: Column<T>[],
  options: { sort?: number; open?: (row: T) => void } = {},
): HTMLElement {
  let sorted = options.sort ?? -1;
  let down = true;
  const body = h("tbody", null);
  const heads: HTMLElement[] = [];

  const fill = (): void => {
    const order = [...rows];
    const column = columns[sorted];
    if (column?.value) order.sort((a, b) => (column.value!(b) - column.value!(a)) * (down ? 1 : -1));
    else if (column?.text) order.sort((a, b) => column.text!(a).localeCompare(column.text!(b)) * (down ? 1 : -1));
    body.replaceChildren(
      ...order.map((row) =>
        h(
          "tr",
          {
            tabindex: options.open ? 0 : undefined,
            class: options.open ? "opens" : undefined,
            onclick: options.open
              ? (e: MouseEvent) => (e.target as Element).closest("a") || options.open!(row)
              : undefined,
            onkeydown: options.open
              ? (e: KeyboardEvent) => e.key === "Enter" && e.target === e.currentTarget && options.open!(row)
              : undefined,
          },
          columns.map((c) => h("td", { class: c.number ? "number" : c.wide ? "wide" : undefined }, c.cell(row))),
        ),
      ),
    );
    heads.forEach((head, i) =>
      head.setAttribute("aria-sort", i !== sorted ? "none" : down ? "descending" : "ascending"),
    );
  };

  columns.forEach((c, i) => {
    const sortable = c.value || c.text;
    const choose = (): void => {
      down = i === sorted ? !down : !!c.value;
      sorted = i;
      fill();
    };
    heads.push(
      h(
        "th",
        { scope: "col", class: c.number ? "number" : undefined },
        sortable ? h("button", { class: "sort", type: "button", onclick: choose }, c.title) : c.title,
      ),
    );
  });
  fill();
  body.addEventListener("keydown", (event) => {
    const at = (event.target as Element).closest("tr");
    const to = event.key === "ArrowDown" ? at?.nextElementSibling : event.key === "ArrowUp" ? at?.previousElementSibling : null;
    if (!(to instanceof HTMLElement) || !options.open) return;
    event.preventDefault();
    to.focus();
  });
  return h(
    "div",
    { class: "scroll" },
    h("table", { "aria-label": label }, h("thead", null, h("tr", null, heads)), body),
  );
}

/** A cell with a bar behind its number. */
export function bar(part: number, ...children: Child[]): HTMLElement {
  const width = Math.max(0, Math.min(100, part * 100)).toFixed(1);
  return h("div", { class: "bar", style: `--part:${width}%` }, ...children);
}
