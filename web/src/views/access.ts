// Recorded requests of a memory instruction: the typical, the worst and the best one of the run.
import type { KernelRef, Page, Pattern, Site } from "../data";
import { type Child, h, note, section } from "../dom";
import { count, figure, fileName, percent } from "../format";
import { definitionLink, metricValue, originBadge } from "../metric";
import { address, go, kernelState, type State } from "../state";
import { table } from "../table";
import { bankGrid } from "./banks";
import { lanesToSectors, sectorMap } from "./sectors";

let banks = { banks: 32, bank_bytes: 4, lanes: 32 };
export function setBanks(page: Page): void {
  const ofLab = page.models.find((m) => m.id === page.lab?.topics[0]?.gpu);
  banks = page.profiles[0]?.model?.banks ?? ofLab?.banks ?? banks;
}

/** Text drawings, which the report adds to the page: src/analysis/report/copy_drawings.h. */
interface Drawn {
  drawing?: string;
}
const drawn = (of: object): Child => {
  const text = (of as Drawn).drawing;
  return text ? h("pre", { class: "copied", tabindex: 0 }, text) : null;
};

const memory = (s: Site): boolean =>
  (s.patterns?.length ?? 0) > 0 ||
  (s.copies?.length ?? 0) > 0 ||
  (s.operands?.length ?? 0) > 0 ||
  s.metrics.has("warpgrind__bytes_asked.sum");

function cost(p: Pattern): Child {
  if (p.space === "const") {
    const n = new Set(p.addresses.filter((a) => a !== null)).size;
    return [`${n} different address${n === 1 ? "" : "es"}, so ${n} pass${n === 1 ? "" : "es"} of the constant cache`, originBadge("exact")];
  }
  if (p.space === "shared")
    return [`${p.wavefronts} wavefront${p.wavefronts === 1 ? "" : "s"}, at best ${p.ideal_wavefronts}`, originBadge("exact")];
  const unit = p.transactions.length && !p.sectors ? "transaction" : "sector";
  const n = p.sectors || p.transactions.length;
  return [
    `${n} ${unit}${n === 1 ? "" : "s"}${p.ideal_sectors ? `, at best ${p.ideal_sectors}` : ""}${p.lines_128 ? `, in ${p.lines_128} line${p.lines_128 === 1 ? "" : "s"} of 128 bytes` : ""}`,
    originBadge("exact"),
  ];
}

function roles(site: Site, index: number): string {
  const out: string[] = [];
  if (index === 0) out.push("typical");
  if (index === site.worst) out.push("worst");
  if (index === site.best) out.push("best");
  return out.join(", ");
}

export function patternView(p: Pattern): Child {
  const active = p.addresses.filter((a) => a !== null).length;
  const from = p.base.allocation !== null && p.base.allocation !== undefined ? `allocation ${p.base.allocation} + ` : "";
  return [
    h(
      "p",
      { class: "soft" },
      `${active} of 32 lanes, ${p.lane_bytes} byte${p.lane_bytes === 1 ? "" : "s"} each; for example block (${p.block.join(", ")}), warp ${p.warp}, from ${from}byte ${count(p.base.offset)}: `,
      cost(p),
    ),
    p.space === "shared" ? bankGrid(p, banks) : p.space === "const" ? lanesToSectors(p) : [lanesToSectors(p), sectorMap(p)],
    drawn(p),
  ];
}

/** The kinds of boxes that a tensor copy moves, or the matrices that wgmma reads. */
function copiesView(site: Site): Child {
  const copies = site.copies ?? [];
  const total = copies.reduce((n, c) => n + c.count, 0) + (site.copies_other ?? 0);
  return [
    copies.map((c) => [
      h(
        "p",
        { class: "soft" },
        `${count(c.count)} of ${count(total)} copies (${percent(c.count / total)}), ${c.inside < c.bytes ? `${count(c.bytes - c.inside)} of ${count(c.bytes)} bytes outside of the tensor` : "the whole box inside of the tensor"}; for example block (${c.block.join(", ")}), warp ${c.warp}`,
        originBadge("exact"),
      ),
      drawn(c),
    ]),
    (site.operands ?? []).map(drawn),
  ];
}

/** A site with one of its patterns, to be placed beside its source line; without a kernel that has a page of its own no link. */
export function siteCard(ref: KernelRef | undefined, site: Site, chosen = 0): HTMLElement {
  const patterns = site.patterns ?? [];
  const index = Math.min(chosen, Math.max(0, patterns.length - 1));
  const total = patterns.reduce((n, p) => n + p.count, 0) + (site.patterns_other ?? 0);
  const holder = h("div", { class: "pattern" });
  const show = (i: number): void => holder.replaceChildren(...flatten(patternView(patterns[i])));
  if (patterns.length) show(index);
  const choice = patterns.length > 1
    ? h(
        "label",
        null,
        "Request ",
        h(
          "select",
          { "aria-label": "Which request", onchange: (e: Event) => show(Number((e.target as HTMLSelectElement).value)) },
          patterns.map((p, i) =>
            h(
              "option",
              { value: i, selected: i === index },
              `${roles(site, i) ? roles(site, i) + ": " : ""}${count(p.count)} of ${count(total)} requests (${percent(p.count / total)})`,
            ),
          ),
        ),
      )
    : null;
  return h(
    "article",
    { class: "site" },
    h("h4", null, ref ? h("a", { href: address(kernelState(ref.index, "access", { site: String(site.id) })) }, `${site.space} ${site.kind}`) : `${site.space} ${site.kind}`, " ", h("code", null, site.ptx), ref || !site.line ? null : h("span", { class: "soft" }, ` ${fileName(site.file)}:${site.line}`)),
    siteFacts(site),
    choice,
    patterns.length
      ? [
          patterns.length === 1 && !site.patterns_other ? h("p", { class: "soft" }, `All ${count(total)} requests looked like this.`) : null,
          holder,
          site.patterns_other
            ? h("p", { class: "soft" }, `${count(site.patterns_other)} of ${count(total)} requests had other patterns, which are not listed.`)
            : null,
        ]
      : site.copies?.length || site.operands?.length
        ? copiesView(site)
        : note("How its requests looked was not recorded: run with --detail."),
  );
}

function flatten(child: Child): Node[] {
  const out = h("div", null, child);
  return [...out.childNodes];
}

function siteFacts(site: Site): HTMLElement {
  const names = [
    ["requests", "inst_executed"],
    ["sectors a request", "warpgrind__sectors_per_request.ratio"],
    ["efficiency", "warpgrind__efficiency.pct"],
    ["conflict", "derived__memory_l1_conflicts_shared_nway"],
    ["bank conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"],
  ].filter(([, m]) => site.metrics.has(m));
  return h(
    "p",
    { class: "chips" },
    names.map(([label, m]) => h("span", { class: "chip" }, definitionLink(m, label), " ", metricValue(site.metrics.get(m)))),
  );
}

export function accessView(_page: Page, ref: KernelRef, state: State): Child {
  const sites = ref.kernel.sites.filter(memory);
  if (!sites.length) return note("This kernel has no memory instructions that were counted.");
  const chosen = sites.find((s) => String(s.id) === state.site) ?? worst(sites);
  return [
    section(
      "Memory instructions",
      table(
        "Memory instructions",
        sites,
        [
          {
            title: "Instruction",
            wide: true,
            text: (s) => s.ptx,
            cell: (s) => [
              h("a", { href: address(kernelState(ref.index, "access", { site: String(s.id) })), "aria-current": s === chosen ? "true" : undefined }, `${s.space} ${s.kind}`),
              " ",
              h("code", null, s.ptx),
            ],
          },
          {
            title: "Where",
            value: (s) => -s.line,
            cell: (s) =>
              s.line
                ? h("a", { href: address(kernelState(ref.index, "source", { file: s.file, line: String(s.line) })) }, `${fileName(s.file)}:${s.line}`)
                : `PTX line ${s.ptx_line}`,
          },
          { title: "Requests", number: true, value: (s) => s.metrics.number("inst_executed"), cell: (s) => metricValue(s.metrics.get("inst_executed"), count(s.metrics.number("inst_executed"))) },
          ratio("Sectors / request", "warpgrind__sectors_per_request.ratio"),
          ratio("Wavefronts", "memory_l1_wavefronts_shared"),
          ratio("Bank conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
          ratio("Efficiency", "warpgrind__efficiency.pct"),
          ratio("Lanes", "derived__avg_thread_executed_true"),
          { title: "Patterns", number: true, value: (s) => s.patterns?.length ?? 0, cell: (s) => count(s.patterns?.length ?? 0) },
        ],
        { open: (s) => go(kernelState(ref.index, "access", { site: String(s.id) })) },
      ),
    ),
    section("What its requests looked like", siteCard(ref, chosen, state.site ? 0 : chosen.worst ?? 0)),
  ];
}

function ratio(title: string, metric: string) {
  return {
    title,
    number: true,
    value: (s: Site) => s.metrics.number(metric),
    cell: (s: Site): Child => {
      const m = s.metrics.get(metric);
      return m ? metricValue(m, m.unit === "%" ? undefined : figure(Number(m.value))) : "";
    },
  };
}

/** The one with the most bytes or wavefronts that need not be. */
function worst(sites: Site[]): Site {
  const waste = (s: Site): number =>
    s.metrics.number("derived__memory_l2_theoretical_sectors_global_excessive") + s.metrics.number("derived__memory_l1_wavefronts_shared_excessive");
  return sites.reduce((a, b) => (waste(b) > waste(a) ? b : a));
}
