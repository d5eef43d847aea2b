// A result of the lab: the map of the course, or the chapter of a topic.
import { chapterOrder, chapterState } from "../course";
import type { Lab, Page } from "../data";
import { type Child, h, note } from "../dom";
import { address, type State } from "../state";
import { chapterView } from "./course/chapter";
import { mapView } from "./course/map";

/** Topics without a program in this build, by reason. */
function leftOut(lab: Lab): Child {
  const byReason = new Map<string, string[]>();
  for (const l of lab.left_out ?? []) byReason.set(l.reason, [...(byReason.get(l.reason) ?? []), l.topic]);
  return [...byReason].map(([reason, topics]) => note(`Left out: ${topics.join(", ")} (${reason}).`));
}

export function labView(page: Page, state: State): Child {
  const lab = page.lab;
  if (!lab?.topics.length) return [note("No topic was run."), lab ? leftOut(lab) : null];
  const order = chapterOrder(page);
  const asked = lab.topics.find((t) => t.topic === state.topic);
  const topic = asked ?? (page.course && order.length > 1 ? undefined : order[0]);
  if (topic || state.topic)
    // Scrolls to the part that the address names, once it is drawn.
    requestAnimationFrame(() => {
      const target = state.rung ? document.querySelector<HTMLElement>("main .target") : null;
      target?.scrollIntoView({ block: "start" });
      (target?.querySelector<HTMLElement>("summary") ?? target)?.focus({ preventScroll: true });
    });
  return [
    h("p", { class: "soft run-line" }, lab.command, " \u2014 ", lab.date, lab.machine ? `, ${lab.machine}` : ""),
    leftOut(lab),
    order.length > 1 && topic
      ? h(
          "nav",
          { class: "tabs topics", "aria-label": "Topics" },
          order.map((t) => h("a", { href: address(chapterState(t.topic)), "aria-current": t === topic ? "true" : undefined }, t.topic)),
        )
      : null,
    state.topic && !asked ? note(`This report has no topic ${state.topic}.`) : null,
    topic ? chapterView(page, topic, state) : mapView(page),
  ];
}
