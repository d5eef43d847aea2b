// Two pieces of work of different streams that nothing orders: where they lie on the virtual timeline, what else their
// streams do meanwhile, and the edge that is missing between them.
import type { Finding, FindingAccess, Profile, TimelineItem } from "../data";
import { address } from "../state";
import { type Child, drawing, h, note, s, section } from "../dom";
import { badge, shortKernel, time } from "../format";
import { originBadge } from "../metric";

const kLeft = 120;
const kWidth = 640;
const kRow = 64;
const kMost = 60; // other operations in the drawing

interface Row {
  name: string;
  items: TimelineItem[];
}

const rowName = (t: TimelineItem): string => `GPU ${t.device}, stream ${t.stream}`;

/** The pieces of work that take part: with their place on the timeline, where they have one. */
function worksOf(profile: Profile, f: Finding): { access: FindingAccess; index: number; item?: TimelineItem }[] {
  const seen = new Set<number>();
  const out: { access: FindingAccess; index: number; item?: TimelineItem }[] = [];
  (f.accesses ?? []).forEach((access, index) => {
    const work = access.launch ?? 0;
    if (work && seen.has(work)) return;
    seen.add(work);
    const items = work ? (profile.timeline ?? []).filter((t) => t.work === work) : [];
    out.push({ access, index, item: items.find((t) => t.kind !== "host") ?? items[0] });
  });
  return out.slice(0, 4);
}

/** Is it about the order of pieces of work, and not of threads? */
function isAboutStreams(f: Finding): boolean {
  const a = f.accesses ?? [];
  return a.length > 1 && a.some((x) => x.stream) && new Set(a.map((x) => x.launch ?? 0)).size > 1;
}

function box(item: TimelineItem, y: number, place: (ns: number) => number, label: string, access: number): Child {
  const x = place(item.begin_ns);
  const width = Math.max(3, place(item.end_ns) - x);
  const text = `${label}${shortKernel(item.name)}`;
  return [
    s(
      "rect",
      { x, y, width, height: 22, class: access < 0 ? "work other" : `work who${Math.min(1, access)}` },
      s("title", null, `${text}: ${time(item.end_ns - item.begin_ns)} from ${time(item.begin_ns)} on`),
    ),
    // Inside where it fits, else above.
    access >= 0 ? s("text", { x: Math.min(x + 5, kLeft + kWidth - 7 * text.length), y: width > 7 * text.length + 10 ? y + 15 : y - 5, class: "small strong" }, text) : null,
  ];
}

/** Mark of an action without duration: an access of the host, a free. It is drawn while the other one runs, as nothing orders them. */
function instant(name: string, x: number, y: number, access: number): Child {
  return [
    s("path", { d: `M ${x} ${y} l 9 11 l -9 11 l -9 -11 z`, class: `work who${Math.min(1, access)}` }, s("title", null, `${name}: no time of its own on the timeline`)),
    s("text", { x: x + 14, y: y + 15, class: "small strong" }, name),
  ];
}

interface Placed {
  access: FindingAccess;
  index: number;
  item?: TimelineItem;
  row: string;
  begin: number;
  end: number;
}

/** Everything with a place: its own, or one beside those that have theirs. */
function placed(works: ReturnType<typeof worksOf>, begin: number, end: number): Placed[] {
  const middle = (begin + end) / 2;
  return works.map((w) => ({
    ...w,
    row: w.item ? rowName(w.item) : w.access.launch ? w.access.stream || "no stream" : "host",
    begin: w.item?.begin_ns ?? middle,
    end: w.item?.end_ns ?? middle,
  }));
}

export function streamDrawing(profile: Profile, f: Finding): Child {
  if (!isAboutStreams(f)) return null;
  const works = worksOf(profile, f);
  const timed = works.filter((w) => w.item);
  const missing = f.missing ? h("p", null, h("strong", null, "Missing: "), f.missing) : null;
  if (!timed.length) return section("On the timeline", missing, note("None of them has a place on the timeline."));
  const begin = Math.min(...timed.map((w) => w.item!.begin_ns));
  const end = Math.max(...timed.map((w) => w.item!.end_ns));
  const shown = placed(works, begin, end);
  const around = Math.max(1, (end - begin) * 0.1);
  const from = begin - around;
  const scale = kWidth / (end - begin + 2 * around);
  const place = (ns: number): number => kLeft + (Math.min(Math.max(ns, from), end + around) - from) * scale;
  const names = [...new Set(shown.map((w) => w.row))];
  const rows: Row[] = names.map((name) => ({
    name,
    items: (profile.timeline ?? []).filter((t) => t.kind !== "host" && rowName(t) === name && t.end_ns > from && t.begin_ns < end + around).slice(0, kMost),
  }));
  const y = (name: string): number => 24 + names.indexOf(name) * kRow;
  const marks: Child[] = rows.map((row) => [
    s("text", { x: kLeft - 8, y: y(row.name) + 15, class: "small end" }, row.name),
    s("line", { x1: kLeft, y1: y(row.name) + 11, x2: kLeft + kWidth, y2: y(row.name) + 11, class: "stream" }),
    row.items.filter((t) => !shown.some((w) => w.item === t)).map((t) => box(t, y(row.name), place, "", -1)),
  ]);
  for (const w of shown)
    marks.push(w.item ? box(w.item, y(w.row), place, `${badge(w.index)} `, w.index) : instant(`${badge(w.index)} ${w.access.access}`, place(w.begin), y(w.row), w.index));
  const [first, second] = shown;
  const height = 24 + names.length * kRow + 24;
  if (second) {
    const x1 = place(first.end);
    const x2 = place(second.begin);
    const y1 = y(first.row) + 22;
    const y2 = y(second.row) + (first.row === second.row ? 22 : 0);
    marks.push(
      s("path", { d: `M ${x1} ${y1} C ${x1} ${y1 + 20}, ${x2} ${y2 - 20}, ${x2} ${y2}`, class: "missing-edge" }),
      s("circle", { cx: x2, cy: y2, r: 3, class: "missing-end" }),
      s("text", { x: kLeft, y: height - 8, class: "small few" }, `dashed: the edge that is missing, from the end of ${badge(first.index)} to the beginning of ${badge(second.index)}`),
    );
  }
  const when = (w: Placed): string => (w.item ? `${shortKernel(w.item.name)} on ${w.row}, ${time(w.begin)} to ${time(w.end)}` : `${w.access.access} on ${w.row}, at any time`);
  const label = `${shown.map((w) => `${badge(w.index)} ${when(w)}`).join("; ")}; nothing orders them`;
  return section(
    "On the timeline",
    h("p", { class: "soft" }, "Times on the virtual GPU, ", originBadge("estimated", true), ". That one lies behind the other here is chance. ", timed.length < works.length ? "A diamond has no time of its own. " : null, h("a", { href: address({ view: "timeline" }) }, "The whole timeline")),
    h("div", { class: "scroll", tabindex: 0 }, drawing(kLeft + kWidth + 10, height, label, marks)),
    missing,
  );
}
