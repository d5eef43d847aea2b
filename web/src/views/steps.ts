// One block of a kernel, step by step (`--steps`).
import { chapterState } from "../course";
import { type Banks, type Finding, modelOf, type Page, type Profile, type Recording, type SourceFile, type Topic } from "../data";
import { type Child, h, note, section } from "../dom";
import { count, shortKernel } from "../format";
import { address, go, type State } from "../state";
import { Player } from "../steps/player";
import { label } from "./lab_rows";

const optimised = "Recorded from optimised code: lines come in the order of its instructions, and one line may come several times.";
const unoptimised = "Recorded from code that is compiled for debugging, without optimisation: its accesses are those of the source, and the counters of this run are not those of an optimised program.";

export interface Rerun {
  block: (index: string) => void; // runs the program again and records another block, "1,0,0"
}

interface Recorded {
  recording: Recording;
  profile?: Profile; // of a program; a topic of the lab has none
  sources: SourceFile[];
  banks?: Banks; // of the GPU
  group: string; // topic of the lab
  rungs: string[]; // of the topic, with their parameters
  rung?: string;
}

const unique = (list: string[]): string[] => [...new Set(list)];

const all = (page: Page): Recorded[] => [
  ...page.profiles.flatMap((profile) =>
    (profile.recordings ?? []).map((recording) => ({ recording, profile, sources: profile.sources ?? [], banks: modelOf(page, profile)?.banks, group: "", rungs: [] })),
  ),
  ...(page.lab?.topics ?? []).flatMap((topic) =>
    (topic.recordings ?? []).map((recording, i) => ({
      recording,
      sources: topic.recorded_sources ?? [],
      banks: page.models.find((m) => m.id === topic.gpu)?.banks,
      group: topic.topic,
      rung: topic.rows.find((r) => r.recordings?.includes(i))?.rung,
      rungs: unique(topic.rows.filter((r) => r.recordings?.includes(i)).map(label)),
    })),
  ),
];

/** Position of a topic's recording among all of the page: the `r` of the address. */
export function recordingAt(page: Page, topic: Topic, index: number): number {
  return all(page).findIndex((r) => r.recording === topic.recordings?.[index]);
}

export const hasSteps = (page: Page): boolean => all(page).length > 0;

/** A way to step through the block in which a finding was made. */
export function linkToSteps(page: Page, profile: Profile, finding: Finding, rerun?: Rerun): Child {
  const at = finding.accesses?.find((a) => a.block && a.thread);
  const name = at?.kernel || finding.kernel;
  if (!at?.block || !name) return null;
  const same = (other: string): boolean => shortKernel(other) === shortKernel(name);
  const index = at.block.join(",");
  const title = `Step through block (${index})`;
  const r = all(page).findIndex(({ recording }) => profile.recordings?.includes(recording) && same(recording.name) && recording.index.join(",") === index);
  if (r >= 0) {
    const { recording } = all(page)[r];
    return h("a", { class: "button", href: address({ view: "steps", r: String(r), step: recording.fault ? String(recording.steps.length) : undefined }) }, title);
  }
  if (rerun) return h("button", { type: "button", class: "button", onclick: () => rerun.block(index) }, title);
  return [`To step through block (${index}): `, h("code", null, `warpgrind run --steps --block ${index} -k ${shortKernel(name).replace(/<.*/, "")} --report steps.html \u2026`)];
}

/** The launch ended by a fault of another block. */
function faultElsewhere(page: Page, { recording, profile }: Recorded, rerun?: Rerun): Child {
  const fault = profile?.findings.find((f) => f.accesses?.some((a) => a.block && a.block.join(",") !== recording.index.join(",")) && shortKernel(f.kernel) === shortKernel(recording.name));
  if (!fault || recording.fault || profile?.checks?.length) return null;
  return note(h("strong", null, "Another block did not end well: "), `${fault.message}. `, linkToSteps(page, profile!, fault, rerun));
}

/** Why there are no more steps, with a way to the fault. */
function ending(recording: Recording, state: State): Child {
  const last = String(recording.steps.length);
  if (recording.fault)
    return note(
      h("strong", null, "The kernel did not end well: "),
      `${recording.fault.text}. `,
      recording.fault.advice ? `What to do: ${recording.fault.advice}. ` : null,
      h("button", { type: "button", class: "button", onclick: () => go({ view: "steps", r: state.r, step: last }) }, `Go to step ${last}, the last one`),
    );
  return recording.cut ? note(`The recording ends after ${count(recording.steps.length)} steps: ${recording.cut}.`) : null;
}

export function stepsView(page: Page, state: State, rerun?: Rerun): Child {
  const recordings = all(page);
  const chosen = recordings[Number(state.r ?? 0)] ?? recordings[0];
  const { recording, sources, group, ...own } = chosen;
  const option = (r: Recorded, i: number): HTMLElement => h("option", { value: i, selected: r.recording === recording }, [r.rungs.join(", "), shortKernel(r.recording.name)].filter(Boolean).join(": "));
  const groups = unique(recordings.map((r) => r.group));
  const select = h(
    "select",
    { "aria-label": "Kernel", onchange: (e: Event) => go({ view: "steps", r: (e.target as HTMLSelectElement).value }) },
    groups.map((name) => {
      const options = recordings.flatMap((r, i) => (r.group === name ? [option(r, i)] : []));
      return name ? h("optgroup", { label: name }, options) : options;
    }),
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
    group ? h("a", { class: "button", href: address(chapterState(group, { rung: own.rung })) }, "Back to the chapter") : null,
    h("span", { class: "soft" }, `of ${recording.grid.join(" \u00d7 ")} blocks, ${recording.block.join(" \u00d7 ")} threads`),
  );
  if (!recording.steps.length) return section("Steps", head, note(recording.cut || "This block took no steps."));
  const banks = own.banks ?? { banks: 32, bank_bytes: 4, lanes: 32 };
  const player = new Player(recording, sources, banks, { view: "steps", r: state.r, step: state.step, warp: state.warp });
  requestAnimationFrame(() => {
    player.shown();
    if (rerun && innerWidth <= 900) head.scrollIntoView(); // the editor is above it
  });
  return [
    head,
    ending(recording, state) ?? faultElsewhere(page, chosen, rerun),
    player.element,
    h("p", { class: "soft st-foot" }, "One step is one warp at one line. Panes show the state after the step. ", recording.no_variables ? optimised : unoptimised),
  ];
}
