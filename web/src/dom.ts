// Elements without markup strings: whatever a profile holds becomes text, never HTML.

export type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | undefined | ((event: never) => void)>;

function append(parent: Element, child: Child): void {
  if (child === null || child === undefined || child === false) return;
  if (Array.isArray(child)) for (const c of child) append(parent, c);
  else parent.append(child instanceof Node ? child : String(child));
}

function apply(element: Element, attributes: Attributes | null): void {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes | null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, attributes);
  append(element, children);
  return element;
}

export function s(tag: string, attributes: Attributes | null, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  apply(element, attributes);
  append(element, children);
  return element;
}

export function drawing(width: number, height: number, label: string, ...children: Child[]): SVGElement {
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, class: "drawing", role: "img", "aria-label": label },
    s("title", null, label),
    ...children,
  );
}

/** Children of a tab list, radio group or the like: arrows move between them, as the ARIA practices say. */
export function arrowKeys(container: HTMLElement, selector: string): void {
  container.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const items = [...container.querySelectorAll<HTMLElement>(selector)];
    const at = items.indexOf(document.activeElement as HTMLElement);
    if (at < 0) return;
    let to = -1;
    if (step) to = (at + step + items.length) % items.length;
    else if (event.key === "Home") to = 0;
    else if (event.key === "End") to = items.length - 1;
    if (to < 0) return;
    event.preventDefault();
    items[to].focus();
    if (items[to].getAttribute("role") === "tab") items[to].click();
  });
}

export function section(title: string, ...children: Child[]): HTMLElement {
  return h("section", { class: "card" }, h("h2", null, title), ...children);
}

export function note(...children: Child[]): HTMLElement {
  return h("p", { class: "note" }, ...children);
}

export function scroll(...children: Child[]): HTMLElement {
  return h("div", { class: "scroll", tabindex: 0 }, ...children);
}
