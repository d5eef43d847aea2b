// A drawing that one steps through: buttons and arrow keys, never by itself. Each step has a sentence that says what is to
// be seen, which is read out, and all of them stand below as a list.
import { type Child, h } from "../../../dom";

export interface Frame {
  title: string; // "Phase 1, load"
  text: string;
  draw: () => Child;
}
export interface Variant {
  name: string;
  frames: Frame[];
}

export function stepper(question: string, intro: Child, variants: Variant[]): HTMLElement {
  let variant = 0;
  let at = 0;
  const stage = h("div", { class: "stage scroll", tabindex: -1 });
  const words = h("p", { class: "stage-text", "aria-live": "polite", "aria-atomic": "true" });
  const list = h("ol", null);
  const button = (text: string, label: string, go: () => void): HTMLButtonElement => h("button", { type: "button", class: "button", "aria-label": label, onclick: go }, text);
  const back = button("\u2190 Back", "One step back", () => show(at - 1));
  const next = button("Next \u2192", "One step forward", () => show(at + 1));
  const again = button("Start again", "Back to the first step", () => show(0));
  const choices = variants.map((v, i) => button(v.name, `Show ${v.name}`, () => choose(i)));
  const frames = (): Frame[] => variants[variant].frames;
  function show(step: number): void {
    at = Math.max(0, Math.min(frames().length - 1, step));
    const f = frames()[at];
    stage.replaceChildren(h("div", null, f.draw()));
    words.replaceChildren(h("strong", null, `Step ${at + 1} of ${frames().length}: ${f.title}. `), f.text);
    back.disabled = again.disabled = at === 0;
    next.disabled = at === frames().length - 1;
    [...list.children].forEach((item, i) => (i === at ? item.setAttribute("aria-current", "step") : item.removeAttribute("aria-current")));
  }
  function choose(i: number): void {
    const keep = at;
    variant = i;
    choices.forEach((c, n) => c.setAttribute("aria-pressed", String(n === i)));
    list.replaceChildren(...frames().map((f) => h("li", null, `${f.title}. ${f.text}`)));
    show(keep);
  }
  const group = h(
    "div",
    {
      class: "stepper",
      role: "group",
      tabindex: 0,
      "aria-label": `${question} Arrow keys step.`,
      onkeydown: (e: KeyboardEvent) => {
        if ((e.target as HTMLElement).closest("select, input")) return;
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: frames().length - 1 }[e.key];
        if (to === undefined) return;
        e.preventDefault();
        show(to);
      },
    },
    variants.length > 1 ? h("p", { class: "toolbar", role: "group", "aria-label": "What to show" }, choices) : null,
    stage,
    words,
    h("p", { class: "toolbar" }, back, next, again, h("span", { class: "soft" }, "or the arrow keys")),
  );
  choose(0);
  return h("section", { class: "card chart-card" }, h("h2", null, question), intro, group, h("details", { class: "all-steps" }, h("summary", null, "All steps in words"), list));
}
