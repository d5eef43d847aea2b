// Accesses of the threads of one block, phase by phase. A phase ends at a barrier of the block.
import type { KernelRef, Page, Site, TraceEvent } from "../data";
import { type Child, drawing, h, note, s, section } from "../dom";
import { bytes, count, fileName } from "../format";
import { definitionLink, originBadge } from "../metric";
import { address, kernelState, type State } from "../state";

const warpColours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#b8a400", "#7f7f7f"];

interface Touch {
  thread: number;
  warp: number;
  store: boolean;
  now: boolean;
  threads: number;
}

/** Memory that the block touches: an allocation, or shared memory. */
interface Area {
  key: string;
  title: string;
  lines: number[][]; // by phase: the 128-byte lines that are touched
}

function laneBytes(site: Site | undefined): number {
  const bytes = site?.patterns?.[0]?.lane_bytes;
  if (bytes) return bytes;
  const type = /\.(v[248]\.)?[busf](8|16|32|64)\b/.exec(site?.ptx ?? "");
  return type ? (Number(type[2]) / 8) * (type[1] ? Number(type[1][1]) : 1) : 4;
}

const areaKey = (event: TraceEvent, site: Site | undefined): string =>
  site?.space === "shared" ? "shared" : event.allocation !== null && event.allocation !== undefined ? `allocation ${event.allocation}` : (site?.space ?? "memory");

function areasOf(events: TraceEvent[], sites: Map<number, Site>): Area[] {
  const found = new Map<string, Set<number>[]>();
  for (const e of events) {
    const key = areaKey(e, sites.get(e.site));
    let phases = found.get(key);
    if (!phases) found.set(key, (phases = []));
    const lines = (phases[e.phase] ??= new Set());
    for (const a of e.addresses) if (a !== null) lines.add(Math.floor(a / 128));
  }
  return [...found]
    .map(([key, phases]) => ({ key, title: key, lines: Array.from(phases, (lines) => [...(lines ?? [])].sort((a, b) => a - b)) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

function drawArea(area: Area, lines: number[], touches: Map<number, Touch>, most: number): Child {
  const word = 25;
  const left = 92;
  const marks: Child[] = [];
  let y = 8;
  lines.slice(0, most).forEach((line, i) => {
    if (i && line !== lines[i - 1] + 1) {
      marks.push(s("text", { x: left - 8, y: y + 8, class: "small end faint" }, "\u22ee"));
      y += 12;
    }
    marks.push(s("text", { x: left - 8, y: y + 14, class: "small end" }, `+${line * 128}`));
    for (let w = 0; w < 32; ++w) {
      const touch = touches.get(line * 32 + w);
      const x = left + w * word;
      marks.push(
        s("rect", {
          x,
          y,
          width: word - 2,
          height: 18,
          class: touch ? `element ${touch.store ? "store" : "load"} ${touch.now ? "now" : "before"}` : "element",
          style: touch ? `--warp:${warpColours[touch.warp % warpColours.length]}` : undefined,
        }),
      );
      if (touch)
        marks.push(
          s(
            "text",
            { x: x + word / 2 - 1, y: y + 13, class: touch.now ? "tiny middle" : "tiny middle faint" },
            touch.threads > 1 ? `${touch.thread}+` : touch.thread,
            s("title", null, `byte ${line * 128 + w * 4}: ${touch.store ? "written" : "read"} by thread ${touch.thread}${touch.threads > 1 ? ` and ${touch.threads - 1} more` : ""}`),
          ),
        );
    }
    y += 21;
  });
  return h("div", { class: "scroll", tabindex: 0 }, drawing(left + 32 * word + 8, y + 8, `Elements of ${area.title}`, marks));
}

function touchesOf(events: TraceEvent[], sites: Map<number, Site>, key: string, current: (i: number) => boolean, until: number): Map<number, Touch> {
  const out = new Map<number, Touch>();
  const stop = Math.min(until, events.length - 1);
  for (let i = 0; i <= stop; ++i) {
    const e = events[i];
    const site = sites.get(e.site);
    if (areaKey(e, site) !== key) continue;
    const size = laneBytes(site);
    const now = current(i);
    e.addresses.forEach((a, lane) => {
      if (a === null) return;
      const thread = e.warp * 32 + lane;
      for (let w = Math.floor(a / 4); w <= Math.floor((a + size - 1) / 4); ++w) {
        const old = out.get(w);
        const shared = old?.now && now && old.thread !== thread;
        out.set(w, {
          thread: shared ? old.thread : thread,
          warp: shared ? old.warp : e.warp,
          store: site?.kind === "store" || (!!old?.store && now && old.now),
          now,
          threads: shared ? old.threads + 1 : 1,
        });
      }
    });
  }
  return out;
}

export function blockView(_page: Page, ref: KernelRef, state: State): Child {
  const trace = ref.kernel.block_trace;
  if (!trace?.events.length)
    return section("Work of a block", note("The work of a block was not recorded: run with --detail (and --block X,Y,Z for another block than 0,0,0)."));
  const sites = new Map(ref.kernel.sites.map((site) => [site.id, site]));
  const { events } = trace;
  const phases = events.reduce((n, e) => Math.max(n, e.phase), 0) + 1;
  const areas = areasOf(events, sites);
  let phase = Math.min(Number(state.phase ?? 0) || 0, phases - 1);
  let step = 0; // 0: the whole phase; else the number of an access in it

  const drawings = h("div", { class: "areas" });
  const said = h("p", { class: "step", "aria-live": "polite" });
  const stepInput = h("input", { type: "range", min: 0, step: 1, "aria-label": "Access within the phase, 0 for all" });
  const phaseInput = h("input", { type: "range", min: 0, max: phases - 1, value: phase, step: 1, "aria-label": "Phase" });
  const phaseText = h("output", null);
  const stepText = h("output", null);

  const inPhase = (): number[] => events.flatMap((e, i) => (e.phase === phase ? [i] : []));
  const redraw = (): void => {
    const list = inPhase();
    stepInput.max = String(list.length);
    stepInput.value = String(step);
    phaseText.textContent = `${phase + 1} of ${phases}`;
    stepText.textContent = step ? `${step} of ${list.length}` : `all ${list.length}`;
    const at = step ? list[step - 1] : -1;
    const until = step ? at : (list[list.length - 1] ?? -1);
    const current = (i: number): boolean => (step ? i === at : events[i].phase === phase);
    const event = step ? events[at] : undefined;
    const site = event && sites.get(event.site);
    said.replaceChildren(
      ...(event && site
        ? [
            `Warp ${event.warp}: `,
            h("code", null, site.ptx),
            " ",
            site.line
              ? h("a", { href: address(kernelState(ref.index, "source", { file: site.file, line: String(site.line) })) }, `${fileName(site.file)}:${site.line}`)
              : `PTX line ${site.ptx_line}`,
            ` (${event.addresses.filter((a) => a !== null).length} lanes)`,
          ]
        : [
            phases === 1
              ? "All accesses of the block."
              : `All accesses of the block ${phase === 0 ? "up to its first barrier" : phase + 1 < phases ? `between barriers ${phase} and ${phase + 1}` : "after its last barrier"}.`,
          ]),
    );
    drawings.replaceChildren(
      ...areas.map((area) => {
        const lines = area.lines[phase] ?? [];
        const touches = touchesOf(events, sites, area.key, current, until);
        const allocation = ref.profile.allocations?.find((a) => `allocation ${a.id}` === area.key);
        return h(
          "figure",
          null,
          h(
            "figcaption",
            null,
            h("strong", null, area.key === "shared" ? "Shared memory" : area.key),
            allocation ? ` (device memory, ${bytes(allocation.bytes)})` : null,
            lines.length > 48 ? `; the first 48 of ${count(lines.length)} lines of this phase` : null,
          ),
          lines.length ? drawArea(area, lines, touches, 48) : h("p", { class: "soft" }, "not touched in this phase"),
        );
      }),
    );
  };
  phaseInput.addEventListener("input", () => {
    phase = Number(phaseInput.value);
    step = 0;
    redraw();
  });
  stepInput.addEventListener("input", () => {
    step = Number(stepInput.value);
    redraw();
  });
  redraw();
  return section(
    `Work of block (${trace.block.join(", ")})`,
    h(
      "div",
      { class: "sliders" },
      h("label", null, "Phase ", phaseInput, " ", phaseText),
      h("label", null, "Access ", stepInput, " ", stepText),
    ),
    said,
    drawings,
    h(
      "p",
      { class: "keys" },
      h("span", { class: "key load" }),
      " read ",
      h("span", { class: "key store" }),
      " written; colour = warp, number = thread of the block, 5+ = several threads; pale = touched earlier. One box is 4 bytes, one row 128 bytes. ",
      originBadge("exact", true),
    ),
    trace.left_out ? note(`${count(trace.left_out)} later accesses of this block are not recorded.`) : null,
    h("p", { class: "soft" }, "A phase ends at a barrier (", definitionLink("warpgrind__ptx_inst_executed_op_barrier.sum", "bar.sync"), "). The kernel's first launch."),
  );
}
