// The memory chart: what goes over each link between the kernel and the memories, in the manner of Nsight Compute's.
import type { KernelRef, Page } from "../data";
import { type Child, drawing, h, s, section } from "../dom";
import { bytes, count, fileName, short, time } from "../format";
import { definitionLink, metricValue, originBadge, originOf } from "../metric";
import { table } from "../table";

interface Link {
  from: [number, number];
  to: [number, number];
  lines: string[];
  bytes: number;
  title: string;
}

function box(x: number, y: number, width: number, height: number, title: string, sub: string, quiet = false): Child {
  return [
    s("rect", { x, y, width, height, rx: 6, class: quiet ? "box never" : "box" }),
    s("text", { x: x + width / 2, y: y + height / 2 + (sub ? -3 : 4), class: "small strong middle" }, title),
    sub ? s("text", { x: x + width / 2, y: y + height / 2 + 13, class: "tiny middle faint" }, sub) : null,
  ];
}

function drawLink(link: Link, most: number): Child {
  const [x1, y1] = link.from;
  const [x2, y2] = link.to;
  const width = link.bytes ? 1.5 + 8 * Math.sqrt(link.bytes / most) : 1;
  return [
    s("line", { x1, y1, x2, y2, class: link.bytes || link.lines.length ? "pipe" : "pipe none", "stroke-width": width.toFixed(1) }, s("title", null, link.title)),
    link.lines.map((text, i) => s("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 8 - 13 * (link.lines.length - 1 - i) - width / 2, class: "tiny middle" }, text)),
  ];
}

export function memoryView(page: Page, ref: KernelRef): Child {
  const m = ref.kernel.metrics;
  const n = (name: string): number => m.number(name);
  const global = (op: string) => ({
    requests: n(`l1tex__t_requests_pipe_lsu_mem_global_op_${op}.sum`),
    sectors: n(`l1tex__t_sectors_pipe_lsu_mem_global_op_${op}.sum`),
    asked: n(`warpgrind__global_op_${op}_bytes_asked.sum`),
    moved: n(`warpgrind__global_op_${op}_transaction_bytes.sum`),
  });
  const ops = { ld: global("ld"), st: global("st"), atom: global("atom"), red: global("red") };
  const all = Object.values(ops);
  const total = (key: "requests" | "sectors" | "asked" | "moved"): number => all.reduce((t, o) => t + o[key], 0);
  const local = { requests: n("l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum") + n("l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"), sectors: n("memory_l2_theoretical_sectors_local") };
  const shared = {
    requests: n("warpgrind__shared_op_ld_requests.sum") + n("warpgrind__shared_op_st_requests.sum") + n("warpgrind__shared_op_atom_requests.sum"),
    wavefronts: n("memory_l1_wavefronts_shared"),
    asked: n("warpgrind__shared_op_ld_bytes_asked.sum") + n("warpgrind__shared_op_st_bytes_asked.sum") + n("warpgrind__shared_op_atom_bytes_asked.sum"),
  };
  const constant = { requests: n("warpgrind__const_ld_requests.sum"), asked: n("warpgrind__const_ld_bytes_asked.sum") };
  const texture = { requests: n("l1tex__t_requests_pipe_tex_mem_texture.sum"), asked: n("warpgrind__texture_bytes_asked.sum") };
  const footprint = n("warpgrind__global_footprint.sum");
  const host = ref.profile.transfers.reduce((t, x) => t + x.bytes, 0);
  const localBytes = local.sectors * 32;
  // Modelled caches, where the profile has them.
  const cached = m.get("dram__bytes_read.sum") !== undefined;
  const l2 = { read: n("lts__t_sectors_srcunit_tex_op_read.sum"), written: n("lts__t_sectors_srcunit_tex_op_write.sum"), all: n("lts__t_sectors_srcunit_tex.sum") };
  const dram = n("dram__bytes_read.sum") + n("dram__bytes_write.sum");
  const hits = (name: string): string => (m.get(name) !== undefined ? `${n(name).toFixed(1)} % hit` : "");

  const requestsLines = (r: number, b: number): string[] => (r ? [`${short(r)} requests`, `${bytes(b)} asked`] : []);
  const links: Link[] = [
    { from: [130, 62], to: [270, 62], lines: requestsLines(total("requests"), total("asked")), bytes: total("asked"), title: "global memory" },
    { from: [130, 142], to: [270, 142], lines: local.requests ? [`${short(local.requests)} requests`] : [], bytes: localBytes, title: "local memory" },
    { from: [130, 222], to: [270, 222], lines: requestsLines(shared.requests, shared.asked), bytes: shared.asked, title: "shared memory" },
    { from: [130, 302], to: [270, 302], lines: requestsLines(constant.requests + texture.requests, constant.asked + texture.asked), bytes: constant.asked + texture.asked, title: "constant and texture memory" },
    { from: [370, 62], to: [500, 62], lines: [], bytes: total("moved"), title: "global to L1" },
    { from: [370, 142], to: [500, 142], lines: [], bytes: localBytes, title: "local to L1" },
    { from: [370, 222], to: [500, 222], lines: shared.wavefronts ? [`${short(shared.wavefronts)} wavefronts`] : [], bytes: shared.asked, title: "shared memory in L1" },
    cached && l2.all
      ? { from: [620, 122], to: [760, 122], lines: [`${short(l2.read)} sectors read`, `${short(l2.written)} written`], bytes: l2.all * 32, title: "L1 to L2, modelled" }
      : { from: [620, 122], to: [760, 122], lines: total("sectors") + local.sectors ? [`${short(total("sectors") + local.sectors)} sectors`, bytes(total("moved") + localBytes)] : [], bytes: total("moved") + localBytes, title: "L1 to L2, no hits in L1 assumed" },
    cached
      ? { from: [860, 122], to: [990, 122], lines: [`${bytes(n("dram__bytes_read.sum"))} read`, `${bytes(n("dram__bytes_write.sum"))} written`], bytes: dram, title: "device memory, modelled" }
      : { from: [860, 122], to: [990, 122], lines: footprint ? [`\u2265 ${bytes(footprint)}`, "(modelled)"] : [], bytes: footprint, title: "footprint: what must come from device memory once" },
    { from: [1040, 152], to: [1040, 240], lines: [], bytes: host, title: "host" },
  ];
  const most = Math.max(1, ...links.map((l) => l.bytes));
  const model = ref.profile.model ?? page.models.find((x) => x.name === ref.profile.gpu);
  const row = (title: string, o: (typeof ops)["ld"], op: string) => ({ title, o, op });
  return [
    section(
      "Memory chart",
      h(
        "div",
        { class: "scroll", tabindex: 0 },
        drawing(
          1110,
          340,
          "Memory chart of the kernel",
          links.map((l) => drawLink(l, most)),
          box(20, 22, 110, 310, "Kernel", `${short(n("warpgrind__ptx_inst_executed.sum"))} warp inst.`),
          box(270, 42, 100, 40, "Global", "", !total("requests")),
          box(270, 122, 100, 40, "Local", "", !local.requests),
          box(270, 202, 100, 40, "Shared", "", !shared.requests),
          box(270, 282, 100, 40, "Const, tex", "", !(constant.requests + texture.requests)),
          box(500, 22, 120, 240, "L1 / shared", hits("l1tex__t_sector_hit_rate.pct")),
          box(760, 92, 100, 60, "L2", hits("lts__t_sector_hit_rate.pct") || (model ? bytes(model.l2_bytes) : "")),
          box(990, 92, 100, 60, "Device", "memory"),
          box(990, 240, 100, 50, "Host", host ? `${bytes(host)}, whole run` : "no copies"),
        ),
      ),
      h("p", { class: "soft" }, "Width of a link: bytes. Requests, sectors and bytes asked are ", originBadge(originOf(m, "exact"), true), cached ? "; what passes L1 and L2 comes from caches that are cold when the launch begins (" : "; L1 to L2 is what the requests need without hits in L1; the flow from device memory is at least the footprint (", originBadge(originOf(m, "modelled"), true), ")."),
    ),
    section(
      "Global memory",
      table("Global memory", [row("Loads", ops.ld, "ld"), row("Stores", ops.st, "st"), row("Atomics", ops.atom, "atom"), row("Reductions", ops.red, "red")], [
        { title: "", cell: (r) => r.title },
        { title: "Requests", number: true, cell: (r) => metricValue(m.get(`l1tex__t_requests_pipe_lsu_mem_global_op_${r.op}.sum`)) },
        { title: "Sectors", number: true, cell: (r) => metricValue(m.get(`l1tex__t_sectors_pipe_lsu_mem_global_op_${r.op}.sum`), count(r.o.sectors)) },
        { title: "Sectors / request", number: true, cell: (r) => metricValue(m.get(`l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_${r.op}.ratio`)) },
        { title: "Bytes asked", number: true, cell: (r) => metricValue(m.get(`warpgrind__global_op_${r.op}_bytes_asked.sum`)) },
        { title: "Bytes moved", number: true, cell: (r) => metricValue(m.get(`warpgrind__global_op_${r.op}_transaction_bytes.sum`)) },
      ]),
    ),
    shared.requests
      ? section(
          "Shared memory",
          table("Shared memory", ["ld", "st", "atom"], [
            { title: "", cell: (op) => ({ ld: "Loads", st: "Stores", atom: "Atomics" })[op] },
            { title: "Requests", number: true, cell: (op) => metricValue(m.get(`warpgrind__shared_op_${op}_requests.sum`)) },
            { title: "Wavefronts", number: true, cell: (op) => metricValue(m.get(`smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_${op}.sum`)) },
            { title: "at best", number: true, cell: (op) => metricValue(m.get(`warpgrind__shared_op_${op}_wavefronts_ideal.sum`)) },
            { title: "Bank conflicts", number: true, cell: (op) => metricValue(m.get(`l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_${op}.sum`)) },
            { title: "Bytes asked", number: true, cell: (op) => metricValue(m.get(`warpgrind__shared_op_${op}_bytes_asked.sum`)) },
          ]),
        )
      : null,
    ref.profile.allocations?.length
      ? section(
          "Allocations that the recorded accesses point into",
          table("Allocations", ref.profile.allocations.slice(0, 200), [
            { title: "Allocation", value: (a) => -a.id, cell: (a) => `allocation ${a.id}` },
            { title: "Bytes", number: true, value: (a) => a.bytes, cell: (a) => [bytes(a.bytes), originBadge("exact")] },
            { title: "Address", cell: (a) => h("code", null, a.address) },
          ]),
        )
      : null,
    h("p", { class: "soft" }, "Time of this kernel: ", definitionLink("gpu__time_duration.sum", time(n("gpu__time_duration.sum"))), originBadge(originOf(m, "estimated")), ` (${fileName(ref.profile.program)})`),
  ];
}
