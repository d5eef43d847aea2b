// Profiles for the tests of the report page, made up but whole: every part that a detailed run writes.

const exact = (value, unit = "") => ({ value, unit, origin: "exact" });

export const kHostile = `<script>window.pwned = 1</script><img src=x onerror="window.pwned = 2">"'&</script><!--`;

function pattern(space, count, stride, alignment) {
  const addresses = Array.from({ length: 32 }, (_, lane) => lane * stride);
  const touched = (size) => new Set(addresses.map((a) => Math.floor((alignment + a) / size))).size;
  const deepest = Math.max(...Array.from({ length: 32 }, (_, bank) => new Set(addresses.filter((a) => (a / 4) % 32 === bank)).size));
  return {
    count,
    mask: "0xffffffff",
    lane_bytes: 4,
    space,
    addresses,
    base: { allocation: space === "shared" ? null : 0, offset: 0 },
    alignment,
    sectors: space === "shared" ? 0 : touched(32),
    lines_128: space === "shared" ? 0 : touched(128),
    wavefronts: space === "shared" ? deepest : 0,
    ideal_sectors: 4,
    ideal_wavefronts: 1,
    transactions: [],
    block: [0, 0, 0],
    warp: 0,
  };
}

function site(id, kind, space, file, line, patterns, name) {
  const sectors = patterns.reduce((n, p) => n + p.sectors * p.count, 0);
  const waves = patterns.reduce((n, p) => n + p.wavefronts * p.count, 0);
  const requests = patterns.reduce((n, p) => n + p.count, 0);
  return {
    id,
    kind,
    space,
    function: name,
    ptx: `${kind === "store" ? "st" : "ld"}.${space}.f32 %f${id}, [%rd${id}];`,
    file,
    line,
    ptx_line: 10 + id,
    metrics: {
      inst_executed: exact(requests, "inst"),
      thread_inst_executed_true: exact(requests * 32, "inst"),
      derived__avg_thread_executed_true: exact(32),
      ...(space === "shared"
        ? {
            memory_l1_wavefronts_shared: exact(waves),
            memory_l1_wavefronts_shared_ideal: exact(requests),
            derived__memory_l1_wavefronts_shared_excessive: exact(waves - requests),
            "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": exact(waves - requests),
          }
        : {
            memory_l2_theoretical_sectors_global: exact(sectors, "sector"),
            derived__memory_l2_theoretical_sectors_global_excessive: exact(sectors - 4 * requests, "sector"),
            "warpgrind__sectors_per_request.ratio": exact(sectors / requests, "sector"),
          }),
      "warpgrind__bytes_asked.sum": exact(requests * 128, "byte"),
      "warpgrind__efficiency.pct": exact(50, "%"),
    },
    patterns,
    patterns_other: 3,
    worst: patterns.length - 1,
    best: 0,
  };
}

function kernel(index, name, file, lineCount) {
  const blocks = [
    { id: 0, first_ptx_line: 10, last_ptx_line: 12, file, line: 2, warps: 64, lanes: 2048 },
    { id: 1, first_ptx_line: 13, last_ptx_line: 14, file, line: 3, warps: 64, lanes: 1024 },
    { id: 2, first_ptx_line: 15, last_ptx_line: 16, file, line: 4, warps: 64, lanes: 1024 },
    { id: 3, first_ptx_line: 17, last_ptx_line: 18, file, line: 5, warps: 64, lanes: 2048 },
  ];
  const edge = (from, to, warps, lanes) => ({ from, to, warps, lanes });
  const sites = [
    site(0, "load", "global", file, 2, [pattern("global", 60, 4, 0), pattern("global", 4, 128, 32)], name),
    site(1, "store", "shared", file, 3, [pattern("shared", 32, 4, 0), pattern("shared", 8, 128, 0)], name),
    site(2, "load", "shared", file, 4, [pattern("shared", 32, 4, 0)], name),
    site(3, "store", "global", file, 5, [pattern("global", 64, 4, 0)], name),
  ];
  const lines = Array.from({ length: lineCount }, (_, i) => ({
    file,
    line: i + 1,
    function: name,
    metrics: {
      inst_executed: exact(1000 + ((i * 37) % 911), "inst"),
      thread_inst_executed: exact(32000, "inst"),
      thread_inst_executed_true: exact(30000 + i, "inst"),
      memory_l2_theoretical_sectors_global: exact(i % 3 ? 0 : 4000 + i, "sector"),
      derived__memory_l2_theoretical_sectors_global_excessive: exact(i % 9 ? 0 : 1000, "sector"),
      memory_l1_wavefronts_shared: exact(i % 5 ? 0 : 800),
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": exact(i % 25 ? 0 : 640),
      "warpgrind__divergent_branches.sum": exact(i % 7 ? 0 : 11, "branch"),
    },
  }));
  const event = (s, warp, phase) => ({
    site: s,
    warp,
    mask: "0xffffffff",
    addresses: Array.from({ length: 32 }, (_, lane) => (warp * 32 + lane) * 4),
    allocation: s === 0 || s === 3 ? 0 : null,
    phase,
  });
  return {
    name,
    mangled_name: `_Z6kernel${index}`,
    range: "",
    launches: 3,
    first_id: index,
    device: 0,
    grid: [64, 1, 1],
    block: [64, 1, 1],
    shapes_differ: false,
    metrics: {
      "gpu__time_duration.sum": { value: 5000 + index * 17, unit: "ns", origin: "estimated" },
      warpgrind__estimated_limit: { value: "DRAM bandwidth", unit: "", origin: "estimated" },
      "warpgrind__flop.sum": exact(4096 * (index + 1), "flop"),
      "warpgrind__arithmetic_intensity.ratio": exact(0.25, "flop/byte"),
      "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": exact(64),
      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": exact(368, "sector"),
      "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio": exact(5.75, "sector"),
      "warpgrind__global_op_ld_transaction_bytes.sum": exact(11776, "byte"),
      "warpgrind__global_op_ld_bytes_asked.sum": exact(8192, "byte"),
      "warpgrind__shared_op_ld_requests.sum": exact(32),
      memory_l1_wavefronts_shared: exact(352),
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": exact(248),
      "warpgrind__branches.sum": exact(256, "branch"),
      "warpgrind__divergent_branches.sum": exact(64, "branch"),
      "warpgrind__global_footprint.sum": { value: 8192, unit: "byte", origin: "modelled" },
      "sm__maximum_warps_per_active_cycle_pct": exact(100, "%"),
    },
    bounds: [
      { limit: "DRAM bandwidth", ns: 4000 },
      { limit: "instruction issue", ns: 900 },
    ],
    sites,
    advice: [
      {
        rule: "uncoalesced_global_access",
        title: "Loads move 1.4 times the sectors they need",
        text: "Let neighbouring threads read neighbouring elements.",
        estimated_gain: 0.3,
        evidence: [{ metric: "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", value: 5.75, unit: "sector", origin: "exact" }],
        places: [{ file, line: 2, ptx_line: 10 }],
        origin: "estimated",
      },
    ],
    code: Array.from({ length: 10 }, (_, i) => ({
      ptx_line: 10 + i,
      text: sites[i]?.ptx ?? "add.s32 %r1, %r2, 1;",
      file,
      line: Math.min(lineCount, i + 2),
      inlined_at: i === 3 || i === 5 ? [{ file, line: i === 3 ? 12 : 9, function: name }] : [],
      block: Math.min(3, Math.floor(i / 3)),
    })),
    graph: { blocks, edges: [edge(0, 1, 64, 1024), edge(0, 2, 64, 1024), edge(1, 3, 64, 1024), edge(2, 3, 64, 1024), edge(3, 0, 32, 1024)], entry: 0 },
    lines,
    inlined_lines: lineCount < 12 ? [] : [{ file, line: 12, function: name, metrics: { inst_executed: exact(7777, "inst") } }],
    block_trace: { block: [0, 0, 0], events: [event(0, 0, 0), event(0, 1, 0), event(1, 0, 0), event(1, 1, 0), event(2, 0, 1), event(3, 0, 1)], left_out: 2 },
  };
}

/** A profile with `kernels` kernels and `lines` source lines in all, with counters on each. */
export function profile({ kernels = 3, lines = 90, names = (i) => `void kernel_${i}<float>(float const*, float*, int)`, file = (i) => `/src/app/kernels_${i}.cu` }) {
  const each = Math.floor(lines / kernels);
  const list = Array.from({ length: kernels }, (_, i) => kernel(i, names(i), file(i), each));
  return {
    format: 1,
    program: "app",
    gpu: "NVIDIA H200",
    command: "./app 1000",
    detail: true,
    sources: list.map((k, i) => ({
      file: file(i),
      text: Array.from({ length: each }, (_, l) => (l === 0 ? `// ${k.name}` : `  float value_${l} = in[blockIdx.x * blockDim.x + threadIdx.x + ${l}] * 2.0f;`)).join("\n") + "\n",
    })),
    allocations: [{ id: 0, bytes: 8192, address: "0x7f0000000000", from: "cudaMalloc" }],
    not_modelled: [],
    kernels: list,
    launches: [],
    ranges: [],
    timeline: Array.from({ length: 40 }, (_, i) => ({
      device: 0,
      stream: i % 3,
      kind: ["copy", "kernel", "host", "memset"][i % 4],
      name: i % 4 === 1 ? list[0].name : "HtoD",
      begin_ns: i * 1000,
      end_ns: i * 1000 + 800,
      bytes: i % 4 ? 0 : 4096,
    })),
    transfers: [{ direction: "HtoD", host_memory: "pinned", count: 2, bytes: 8192, estimated_ns: 3000 }],
    findings: [],
  };
}

/** What `warpgrind check` writes: a race of two warps, a race of two streams, a write past the end, a leak. */
export function checked({ findings = true } = {}) {
  const p = profile({});
  p.checks = ["memory", "races", "init", "barriers", "leaks", "api"];
  if (!findings) return p;
  const kernel = p.kernels[0].name, file = p.kernels[0].sites[0].file, host = "/src/app/main.cu";
  p.sources.push({ file: host, text: "int main() {\n  launch_one();\n  launch_two();\n  cudaMalloc(&a, 400);\n}\n" });
  const access = (more) => ({ role: "", access: "write", file, line: 3, bytes: 4, object: "", kernel, function: "", ptx: "st.shared.f32 [%r4], %f1;", ptx_line: 11, launch: 1, stream: "", inlined_at: [], ...more });
  const thread = (x, more) => access({ block: [0, 0, 0], thread: [x, 0, 0], warp: x >> 5, lane: x % 32, ...more });
  const shared = { space: "shared", object: 0, object_bytes: 0, offset: 148 };
  const finding = (kind, severity, group, message, accesses, more) => ({ kind, severity, group, message, advice: "", kernel: accesses[0].kernel, file: accesses[0].file, line: accesses[0].line, ptx: "", ptx_line: 0, block: [0, 0, 0], thread: [0, 0, 0], notes: [], missing: "", count: 1, accesses, ...more });
  const work = (line, id, stream, kernel) => access({ access: "launch", file: host, line, bytes: 0, kernel, ptx: "", ptx_line: 0, launch: id, stream: `stream ${stream}` });
  p.timeline.push(
    { device: 0, stream: 3, kind: "kernel", name: p.kernels[0].name, begin_ns: 50000, end_ns: 52000, bytes: 0, work: 41 },
    { device: 0, stream: 4, kind: "kernel", name: p.kernels[1].name, begin_ns: 51000, end_ns: 54000, bytes: 0, work: 42 },
  );
  p.findings = [
    finding("race-shared", "ERROR", "races", "read after write in shared memory by warps of one block, without synchronisation", [
      thread(37, { role: "first", memory: shared }),
      thread(31, { role: "second", access: "read", line: 9, ptx: "ld.shared.f32 %f2, [%r5+4];", ptx_line: 12, memory: shared }),
    ], { missing: "__syncthreads() between line 3 and line 9", count: 127 }),
    finding("race-stream", "ERROR", "races", "launch and launch write the same memory in different streams, without synchronisation", [work(2, 41, 3, p.kernels[0].name), work(3, 42, 4, p.kernels[1].name)], { missing: "cudaStreamWaitEvent() in the second stream" }),
    finding("oob-global-write", "ERROR", "memory", "write of 4 bytes just past the end of a 400-byte allocation", [thread(100, { line: 5, object: "offset 400 of 400 bytes", memory: { space: "global", object: 1, object_bytes: 400, offset: 400 } })], { origin: { kind: "cudaMalloc", file: host, line: 4, object: "a 400-byte allocation", way: [] } }),
    finding("leak-device", "WARNING", "leaks", "400 bytes of device memory are never freed", [access({ access: "cudaMalloc", file: host, line: 4, kernel: "", bytes: 0, ptx: "", ptx_line: 0, launch: 0 })]),
    finding("race-managed", "ERROR", "races", "the host writes memory that a kernel writes, without waiting for it", [work(2, 41, 3, p.kernels[0].name), access({ file: host, line: 3, kernel: "", ptx: "", ptx_line: 0, launch: 0 })], { missing: "cudaStreamSynchronize()" }),
  ];
  return p;
}

export function hostile() {
  const p = profile({ names: () => kHostile, file: (i) => `/src/${kHostile}/${i}.cu` });
  p.program = p.command = kHostile;
  p.not_modelled = [kHostile];
  for (const source of p.sources) source.text = `${kHostile}\n`.repeat(30);
  for (const k of p.kernels) {
    k.advice[0].title = k.advice[0].text = kHostile;
    k.bounds[0].limit = kHostile;
    k.metrics.warpgrind__estimated_limit.value = kHostile;
    k.metrics[kHostile] = { value: 1, unit: kHostile, origin: "exact" };
    for (const s of k.sites) s.ptx = kHostile;
    for (const c of k.code) c.text = kHostile;
  }
  for (const t of p.timeline) t.name = kHostile;
  const origin = { kind: kHostile, file: p.sources[0].file, line: 2, object: kHostile, way: [kHostile] };
  const access = { role: kHostile, access: kHostile, file: p.sources[0].file, line: 1, bytes: 4, object: kHostile, kernel: kHostile, function: kHostile, ptx: kHostile, ptx_line: 1, launch: 1, stream: kHostile, inlined_at: [{ file: kHostile, function: kHostile, line: 1 }], block: [0, 0, 0], thread: [0, 0, 0], warp: 0, lane: 0, memory: { space: kHostile, object: 1, object_bytes: 4, offset: 4 } };
  p.timeline[0].work = 1;
  p.checks = [kHostile];
  p.findings = [{ severity: kHostile, group: kHostile, missing: kHostile, count: 1, origin, cause: { file: kHostile, line: 1, text: kHostile }, accesses: [access, { ...access, launch: 2 }], kind: kHostile, message: kHostile, advice: kHostile, kernel: kHostile, file: kHostile, line: 1, ptx: kHostile, ptx_line: 1, block: [0, 0, 0], thread: [0, 0, 0], notes: [kHostile] }];
  return p;
}

/** A result of the lab: a ladder, sizes, a parameter that is swept, another GPU model, and the same measured. */
export function lab(measured = false) {
  const row = (rung, n, parameters, gflops) => ({
    rung,
    what: `the rung ${rung}`,
    role: "rung",
    size: [n, n],
    size_text: `${n}x${n}`,
    type: "float",
    parameters,
    range: "",
    verified: true,
    bytes: n * n * 12,
    flop: 2 * n ** 3,
    origin: measured ? "measured" : "estimated",
    gpu_us: { median: (2 * n ** 3) / gflops / 1e3, low: 1, high: 2, count: 1 },
    metrics: measured ? {} : { "warpgrind__global_op_ld_transaction_bytes.sum": exact(n * n * 64, "byte") },
    derived: { time_us: (2 * n ** 3) / gflops / 1e3, gflops, gbs: gflops / 10, theoretical_share: 0.1, share_of: "flops", step: 1.5, cumulative: 2, limit: "L2 bandwidth", why: `better than ${{ tiled: "naive", "register tile": "tiled" }[rung] ?? "before"}: ${kHostile}` },
  });
  const rows = [];
  for (const n of [256, 512, 1024])
    ["naive", "tiled", "register tile"].forEach((rung, i) => rows.push(row(rung, n, {}, (1000 + n) * (i + 1) * (measured ? 0.9 : 1))));
  for (const tile of [4, 8, 16, 32]) rows.push(row("tile width", 512, { tile }, tile * 100));
  rows.push({ ...row("too large", 65536, {}, 1), skipped: "needs more memory", verified: undefined });
  const topic = (gpu, models) => ({
    topic: "matmul",
    title: "matrix multiplication",
    document: "003",
    shows: "Tiles save global loads.",
    gpu,
    virtual: !measured,
    error: "",
    exit_code: 0,
    device: { name: "NVIDIA H200" },
    rows,
    notes: [{ title: "A note", text: kHostile }],
    models,
  });
  return { format: "warpgrind-lab 1", command: "warpgrind lab matmul", date: "2030-01-01", machine: "test", on: measured ? "gpu" : "virtual", full: false, topics: [topic("h200", [topic("g80", [])])], left_out: [{ topic: "poisson", reason: `it needs ${kHostile}` }] };
}

/** The same result with the kernels of each rung: "naive" wastes sectors, "tiled" banks, "register tile" is the same template. */
export function withKernels(result) {
  const name = "void matmul(float*)";
  const patterns = { rows: [pattern("global", 10, 4, 0)], column: [pattern("global", 10, 4096, 0)], bank: [pattern("shared", 10, 128, 0)] };
  const load = (which, id) => site(id, "load", which === "bank" ? "shared" : "global", "/src/matmul.cu", 15, patterns[which], name);
  const sector = (m) => ({ ...m, "warpgrind__sectors.sum": { value: m.memory_l2_theoretical_sectors_global?.value ?? 0, unit: "sector", origin: "exact" } });
  const kernel = (which, more) => ({ name: `void ${more}(float*)`, launches: 1, sites: which.map((w, i) => { const s = load(w, i); return { ...s, metrics: sector(s.metrics) }; }), bounds: [{ limit: "DRAM bandwidth", ns: 40e3 }, { limit: "latency", ns: 7e3 }], sources: [more.startsWith("naive") ? "/src/matmul.cu:6" : "/src/matmul.cu:40"] });
  const topic = result.topics[0];
  const same = Array.from({ length: 12 }, (_, i) => `  // line ${i} is the same`);
  const text = (middle) => [...same.slice(0, 9), ...middle, ...same.slice(9), `  // ${kHostile}`, "}"].join("\n") + "\n";
  topic.sources = [
    { key: "/src/matmul.cu:6", file: "/src/matmul.cu", line: 6, text: text(["  sum += a[i];", "  sum += b[i];"]) },
    { key: "/src/matmul.cu:40", file: "/src/matmul.cu", line: 40, text: text(["  tile[i] = a[i];", "  __syncthreads();", "  sum += tile[j];"]) },
  ];
  for (const row of topic.rows) {
    if (row.skipped) continue;
    row.kernels = [row.rung === "naive" ? kernel(["column"], "naive") : kernel(["rows", "bank"], row.rung === "tiled" ? "tiled<16>" : "tiled<32>")];
    row.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = exact(row.rung === "naive" ? 320 : 40, "sector");
  }
  return result;
}
