// One block of a kernel, step by step (`--steps`).
import type { Recording } from "../profile_types";
import { modelOf, type Page } from "../data";
import { type Child, h, note, section } from "../dom";
import { count, shortKernel } from "../format";
import { go, type State } from "../state";
import { Player } from "../steps/player";

export interface Rerun {
  block: (index: string) => void; // runs the program again and records another block, "1,0,0"
}

const all = (page: Page): { recording: Recording; profile: Page["profiles"][number] }[] =>
  page.profiles.flatMap((profile) => (profile.recordings ?? []).map((recording) => ({ recording, profile })));

export const hasSteps = (page: Page): boolean => all(page).length > 0;

export function stepsView(page: Page, state: State, rerun?: Rerun): Child {
  const recordings = all(page);
  const { recording, profile } = recordings[Number(state.r ?? 0)] ?? recordings[0];
  const select = h(
    "select",
    { "aria-label": "Kernel", onchange: (e: Event) => go({ view: "steps", r: (e.target as HTMLSelectElement).value }) },
    recordings.map((r, i) => h("option", { value: i, selected: r.recording === recording }, shortKernel(r.recording.name))),
  );
  const block = h("input", { value: recording.index.join(","), size: 8, inputmode: "text", pattern: "\\s*\\d+\\s*,\\s*\\d+\\s*,\\s*\\d+\\s*", "aria-label": "Block to record: X,Y,Z" });
  const ask = (e: Event): void => {
    e.preventDefault();
    if (block.reportValidity()) rerun?.block(block.value.replace(/\s/g, ""));
  };
  const head = h(
    "div",
    { class: "st-head" },
    recordings.length > 1 ? h("label", null, "Kernel ", select) : h("strong", null, shortKernel(recording.name)),
    rerun
      ? h("form", { class: "st-block", onsubmit: ask }, h("label", null, "block ", block), h("button", { type: "submit", class: "button" }, "Record this block"))
      : h("span", null, `block (${recording.index.join(", ")})`),
    h("span", { class: "soft" }, `of ${recording.grid.join(" \u00d7 ")} blocks, ${recording.block.join(" \u00d7 ")} threads`),
  );
  if (!recording.steps.length) return section("Steps", head, note(recording.cut || "This block took no steps."));
  const banks = modelOf(page, profile)?.banks ?? { banks: 32, bank_bytes: 4, lanes: 32 };
  const player = new Player(recording, profile, banks, { view: "steps", r: state.r, step: state.step, warp: state.warp });
  requestAnimationFrame(() => {
    player.shown();
    if (rerun && innerWidth <= 900) head.scrollIntoView(); // the editor is above it
  });
  return [
    head,
    recording.cut ? note(`The recording ends after ${count(recording.steps.length)} steps: ${recording.cut}.`) : null,
    player.element,
    h("p", { class: "soft st-foot" }, "One step is one warp at one line. Panes show the state after the step. Recorded from code that is compiled for debugging, without optimisation: its accesses are those of the source, and the counters of this run are not those of an optimised program."),
  ];
}
