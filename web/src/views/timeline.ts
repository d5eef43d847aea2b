// Streams over (virtual) time: copies, kernels, host work.
import { axis, base, chart, colours, ink, type Option } from "../chart";
import type { Page, Profile, TimelineItem } from "../data";
import { type Child, h, note, section } from "../dom";
import { bytes, count, shortKernel, significant, time } from "../format";
import { originBadge } from "../metric";
import { table } from "../table";

const allKinds = ["kernel", "copy", "memset", "host", "library call", "call", "range"];

function timelineChart(items: TimelineItem[]): Child {
  const lanes = [...new Set(items.map((t) => laneName(t)))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const kinds = allKinds.filter((kind) => ofKind(items, kind).length);
  const begin = Math.min(...items.map((t) => t.begin_ns));
  const end = Math.max(...items.map((t) => t.end_ns));
  const [unit, name] = end - begin > 5e6 ? [1e6, "ms"] : [1e3, "\u00b5s"];
  const make = (): Option => ({
    ...base(),
    grid: { left: 170, right: 24, top: 40, bottom: 92 },
    dataZoom: [
      { type: "slider", xAxisIndex: 0, bottom: 8, height: 22, filterMode: "weakFilter", textStyle: { color: ink("--text") } },
      { type: "inside", xAxisIndex: 0, filterMode: "weakFilter", zoomOnMouseWheel: "ctrl" },
    ],
    xAxis: axis({ name: `virtual time (${name})`, min: 0, max: (end - begin) / unit, format: (v) => significant(v, 4) }, true),
    yAxis: axis({ name: "", categories: lanes }, false),
    series: kinds.map((kind) => ({
      name: kind,
      type: "custom",
      itemStyle: { color: colourOf(kind) },
      encode: { x: [1, 2], y: 0 },
      tooltip: {
        formatter: (p: { dataIndex: number }) => {
          const t = ofKind(items, kind)[p.dataIndex];
          return `${shortKernel(t.name)}\n${time(t.end_ns - t.begin_ns)}${t.bytes ? `, ${bytes(t.bytes)}` : ""}\nat ${time(t.begin_ns - begin)}`;
        },
      },
      data: ofKind(items, kind).map((t) => [lanes.indexOf(laneName(t)), (t.begin_ns - begin) / unit, (t.end_ns - begin) / unit]),
      renderItem: (_p: unknown, api: { value: (i: number) => number; coord: (v: number[]) => number[]; size: (v: number[]) => number[] }) => {
        const [x1, y] = api.coord([api.value(1), api.value(0)]);
        const [x2] = api.coord([api.value(2), api.value(0)]);
        const height = Math.min(26, api.size([0, 1])[1] * 0.7);
        return {
          type: "rect",
          shape: { x: x1, y: y - height / 2, width: Math.max(1, x2 - x1), height },
          style: { fill: colourOf(kind), stroke: ink("--card"), lineWidth: 0.5 },
        };
      },
    })),
  });
  return chart(`Timeline of ${items.length} operations in ${lanes.length} rows`, 150 + 36 * lanes.length, make);
}

/** Depth of each range: the number of ranges of the same thread that contain it. Each depth has a row. */
function depths(ranges: TimelineItem[]): Map<TimelineItem, number> {
  const out = new Map<TimelineItem, number>();
  const open: TimelineItem[] = [];
  const sorted = [...ranges].sort((a, b) => a.stream - b.stream || a.begin_ns - b.begin_ns || b.end_ns - a.end_ns);
  for (const r of sorted) {
    while (open.length && (open[open.length - 1].stream !== r.stream || open[open.length - 1].end_ns <= r.begin_ns)) open.pop();
    out.set(r, open.length);
    open.push(r);
  }
  return out;
}

function hostLane(t: TimelineItem, depth: Map<TimelineItem, number>): string {
  const level = depth.get(t) ?? 0;
  return t.kind === "range" ? `thread ${t.stream}: ranges${level ? ` ${level + 1}` : ""}` : `thread ${t.stream}: calls`;
}

let rangeDepth = new Map<TimelineItem, number>();
const laneName = (t: TimelineItem): string =>
  t.kind === "call" || t.kind === "range"
    ? hostLane(t, rangeDepth)
    : t.kind === "host" ? `GPU ${t.device}: host` : `GPU ${t.device}.${t.stream}: ${t.kind === "kernel" || t.kind === "library call" ? "kernels" : "copies"}`;
const colourOf = (kind: string): string => colours[allKinds.indexOf(kind)];
const ofKind = (items: TimelineItem[], kind: string): TimelineItem[] => items.filter((t) => t.kind === kind);

function one(profile: Profile): Child {
  const host = profile.host_timeline ?? [];
  rangeDepth = depths(host.filter((t) => t.kind === "range"));
  const items = [...host, ...(profile.timeline ?? [])].sort((a, b) => a.begin_ns - b.begin_ns);
  return section(
    "Timeline",
    items.length
      ? [
          h("p", { class: "soft" }, "A row for each GPU and stream (GPU 0.2: stream 2 of GPU 0), and for the calls and NVTX ranges of each host thread. Durations on the virtual GPU, ", originBadge("estimated", true), ". Drag the bar below the chart, or hold Ctrl and turn the wheel, to look closer."),
          timelineChart(items),
          profile.timeline_left_out ? note(`${count(profile.timeline_left_out)} later operations are left out.`) : null,
          profile.host_timeline_left_out ? note(`${count(profile.host_timeline_left_out)} later calls of the host are left out.`) : null,
          h(
            "details",
            null,
            h("summary", null, "As a table"),
            table("Operations", items.slice(0, 300), [
              { title: "Begin", number: true, value: (t) => -t.begin_ns, cell: (t) => time(t.begin_ns) },
              { title: "Duration", number: true, value: (t) => t.end_ns - t.begin_ns, cell: (t) => [time(t.end_ns - t.begin_ns), originBadge("estimated")] },
              { title: "Row", text: laneName, cell: laneName },
              { title: "What", wide: true, text: (t) => t.name, cell: (t) => shortKernel(t.name) },
              { title: "Bytes", number: true, value: (t) => t.bytes, cell: (t) => (t.bytes ? bytes(t.bytes) : "") },
            ]),
          ),
        ]
      : note("This profile has no timeline."),
  );
}

export function timelineView(page: Page): Child {
  return page.profiles.map(one);
}
