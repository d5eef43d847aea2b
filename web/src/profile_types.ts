// Made from src/analysis/results/*_members.h by WARPGRIND_REBASE=1 build/bin/test_results.

import type { Metrics } from "./data";

export type Origin = "exact" | "modelled" | "estimated" | "measured";

/** How shared memory is built. */
export interface Banks {
  banks: number; // of shared memory
  bank_bytes: number; // of a bank in a row
  lanes: number; // that go at a time
}

/** Figures of a GPU. */
export interface Model {
  id: string; // as --gpu takes it
  name: string;
  cc: string; // compute capability, as a string
  sm_count: number;
  sm_clock_mhz: number;
  fp32_gflops: number; // at most
  fp64_gflops: number; // at most
  dram_gbs: number; // in theory; 1e9 bytes per second
  dram_achievable_fraction: number; // of dram_gbs
  l2_bytes: number;
  shared_per_sm: number; // bytes
  max_warps_per_sm: number;
  link_gbps_pinned: number; // to the host, one way; 1e9 bytes per second
  link_gbps_pageable: number; // likewise
  coalescing: string; // half_warp_strict, half_warp_segments, lines_128, sectors_32
  banks: Banks;
}

/** What a counter is. */
export interface Definition {
  unit: string;
  origin: Origin;
  definition: string; // docs/counters.md has them all
}

/** The text of a source. */
export interface SourceFile {
  file: string; // as sites and lines name it
  text: string;
  missing?: string; // why it could not be read
  changed?: boolean; // newer than the program: lines may have moved
}

/** An allocation of device memory. */
export interface Allocation {
  id: number;
  bytes: number;
  address: string; // in hexadecimal
}

/** A counter. */
export interface MetricValue {
  value: number | string; // a number, or a word for a few
  unit: string; // Nsight's unit words; empty: a number of something
  origin: Origin; // exact, modelled, estimated, measured
}

/** What limits an estimated time. */
export interface Bound {
  limit: string; // in words
  ns: number;
}

/** Where the lowest address of a pattern's example lies. */
export interface PatternBase {
  allocation: number | null; // its id; null: in none
  offset: number; // in the allocation, or in shared memory
}

/** One that the GPU's rule makes of a request. */
export interface Transaction {
  address_offset: number; // from the base
  bytes: number;
}

/** Requests of one instruction that look the same. */
export interface Pattern {
  count: number; // how often
  mask: string; // lanes that are on, in hexadecimal
  lane_bytes: number; // of a lane
  space: string; // where the access went
  addresses: (number | null)[]; // 32 offsets from the base, the lowest address; null where the lane is off
  base: PatternBase; // of an example
  alignment: number; // base modulo 256; shared memory: modulo one row of the banks
  sectors: number; // of a request (atomics: over all rounds), as what follows
  lines_128: number;
  wavefronts: number; // of a request to shared memory
  ideal_sectors: number;
  ideal_wavefronts: number;
  transactions: Transaction[]; // for GPUs whose rule is not `sectors_32`; for those the sectors are the transactions
  block: number[]; // of the example: the lowest of the first launch
  warp: number; // of the example
}

/** A memory instruction or a branch. */
export interface Site {
  id: number; // its place in the kernel's list
  kind: string; // load, store, atomic, reduction, texture, surface, async_copy, bulk_copy, mbarrier, fence, barrier, call, branch
  space: string; // global, shared, local, generic and so on; -: of a branch
  function: string; // mangled
  ptx: string; // the instruction; empty: of a branch
  file: string; // source; empty: not known
  line: number; // 0: not known
  ptx_line: number;
  metrics: Metrics; // by name
  patterns?: Pattern[]; // detail: up to 8, the most frequent first
  patterns_other?: number; // detail: requests that looked otherwise
  worst?: number; // detail: index into patterns
  best?: number; // detail: index into patterns
}

/** A figure that a piece of advice rests on. */
export interface Evidence {
  metric: string;
  value: number;
  unit: string;
  origin: Origin;
}

/** Where to look. */
export interface Place {
  file: string;
  line: number;
  ptx_line: number;
}

/** One thing worth doing about a kernel. */
export interface Advice {
  rule: string; // docs/rules.md
  title: string; // a line
  text: string; // what it is, why it costs, what to do
  estimated_gain: number; // part of the time, 0 to 1; 0: not known
  evidence: Evidence[];
  places: Place[]; // the worst first
  origin: Origin; // of the gain
}

/** A call into which something was inlined. */
export interface InlinedAt {
  file: string; // the caller's source
  line: number; // of the call
  function: string; // that was inlined
}

/** One PTX instruction. */
export interface CodeRow {
  ptx_line: number;
  text: string;
  block: number; // of the graph: its id
  file: string; // source; empty: not known
  line: number; // 0: not known
  function?: string; // empty: the kernel itself
  inlined_at?: InlinedAt[]; // the innermost first
}

/** A basic block. */
export interface GraphBlock {
  id: number; // its place in this list
  first_ptx_line: number;
  last_ptx_line: number;
  file: string;
  line: number;
  warps: number; // that went through it
  lanes: number; // likewise
  function?: string; // that is not the kernel itself
}

/** A way from one basic block to another. */
export interface GraphEdge {
  from: number; // block
  to: number; // block; -1: the function's end
  warps: number; // that took it; one that splits takes several, so that these are more than the block's
  lanes: number; // likewise
}

/** A kernel's flow graph. */
export interface FlowGraph {
  blocks: GraphBlock[]; // basic blocks
  edges: GraphEdge[];
  entry: number; // the kernel's first block
}

/** One request of the traced block. */
export interface TraceEvent {
  site: number; // its id
  warp: number;
  mask: string; // lanes that are on, in hexadecimal
  addresses: (number | null)[]; // 32 offsets in the allocation, or in shared or local memory; null where the lane is off
  allocation: number | null; // its id; null: in none
  phase: number; // barriers that the warp has passed
}

/** The accesses of one block. */
export interface BlockTrace {
  block: number[]; // X, Y, Z
  events: TraceEvent[]; // at most 4,096, fewer when there are more than 8 kernels
  left_out: number; // further ones
}

/** A line of a source. */
export interface LineRow {
  file: string;
  line: number;
  function: string; // demangled
  metrics: Metrics; // by name; sums over the instructions of the line
}

/** The launches of a kernel, or one of them. */
export interface Kernel {
  name: string; // demangled
  mangled_name: string;
  range: string; // of a launch: the NVTX ranges it was issued in, joined by /
  launches: number; // that are summed here
  first_id: number; // of the first of them: 0, 1, 2 in the order of issue
  device: number;
  grid: number[]; // X, Y, Z, of the first launch
  block: number[]; // likewise
  shapes_differ: boolean; // launches with other shapes are summed here
  metrics: Metrics; // by name
  bounds?: Bound[]; // what limits the estimated time, the longest first
  sites: Site[]; // memory instructions and branches that ran
  advice?: Advice[]; // the most useful first
  code?: CodeRow[]; // detail: every PTX instruction of the kernel and of the functions it calls
  graph?: FlowGraph; // detail: the flow graph with exact counts
  block_trace?: BlockTrace; // detail: accesses of one block (`--block X,Y,Z`) of the first launch, in the order they ran
  lines?: LineRow[]; // detail: by source line; a function that was inlined counts at its own lines, loads of parameters nowhere
  inlined_lines?: LineRow[]; // detail: likewise, by the line of a call: what was inlined there, at any depth; `lines` has it at its own
}

/** The launches of a kernel in a named range. */
export interface RangeKernel {
  name: string; // demangled
  mangled_name: string;
  launches: number; // that are summed here
  sites: Site[]; // as of the kernel; patterns: up to 3, of the first of these launches
  bounds?: Bound[]; // what limits the estimated time, the longest first
}

/** The launches in a named range. */
export interface Range {
  range: string; // the names of the open ranges, the outermost first, joined by /
  launches: number; // that are summed here
  metrics: Metrics; // by name
  kernels?: RangeKernel[]; // detail: of the first 4,096 pairs of range and kernel
}

/** Copies alike. */
export interface Transfer {
  direction: string; // HtoD, DtoH, DtoD, PtoP, HtoH
  host_memory: string; // pageable, pinned, -
  count: number;
  bytes: number;
  estimated_ns: number;
}

/** Calls alike of a library that ran on the host. */
export interface LibraryCall {
  device: number;
  function: string; // cublasSgemm
  arguments: string; // 512 x 512 x 512
  by: string; // what computed it: OpenBLAS
  count: number; // calls alike
  estimated_ns: number; // of all of them
}

/** A piece of work on the modelled GPU. */
export interface TimelineItem {
  device: number;
  stream: number; // of the host: the number of its thread
  kind: string; // kernel, library call, copy, memset; of the host call, range
  name: string; // of the kernel or the call; the direction of a copy
  begin_ns: number; // since the program began
  end_ns: number; // likewise
  bytes: number;
  work?: number; // the piece of work, as `launch` of findings; 0: nobody followed it
}

/** Bytes of an object. */
export interface AccessedMemory {
  space: string; // global, shared, local
  object: number; // number of the allocation, in the order in which they were made; 0: a variable of the kernel, or none
  object_bytes: number; // its size; 0: not known
  offset: number; // of the first byte from the object's beginning (from that of the space, without an object); may lie outside
}

/** One that takes part in a finding: an access of a thread, a launch, a copy, a call of the host. */
export interface FindingAccess {
  role: string; // of several: first, second, launch, allocated, freed, waits
  access: string; // read, write, atomic, barrier, launch, or the call: cudaMemcpyAsync
  file: string; // source, of the user's own code where it is inlined there
  line: number; // 0: not known
  bytes: number; // of one thread; 0: no memory, or not known
  object: string; // what it is about, in words
  kernel: string; // demangled; empty: of the host
  function: string; // where it is not the kernel itself
  ptx: string; // the instruction
  ptx_line: number; // its line
  launch: number; // the piece of work of the program, 1, 2, 3 in the order of issue; 0: none
  stream: string; // in words; empty: of no interest
  inlined_at: InlinedAt[]; // calls into which it was inlined, the innermost first
  block?: number[]; // of a thread: X, Y, Z
  thread?: number[]; // of a thread: X, Y, Z in the block
  warp?: number; // of a thread: in the block
  lane?: number; // of a thread: in the warp
  memory?: AccessedMemory; // which bytes: `bytes` from here on
}

/** Where what is wrong came from. */
export interface FindingOrigin {
  kind: string; // cudaMalloc, shared variable, register
  file: string; // where it was made
  line: number; // 0: not known
  object: string; // in words
  way?: string[]; // from there to the finding, a step each
}

/** What made it wrong. */
export interface FindingCause {
  file: string;
  line: number; // 0: not known
  text: string; // what made it wrong: freed by cudaFree
}

/** One thing that is wrong with a program. */
export interface Finding {
  kind: string; // a stable word (checks.md)
  severity?: string; // ERROR, WARNING, INFO
  group?: string; // of checks: memory, races, init, barriers, leaks, api; kernel: what ends one
  message: string; // one line
  advice: string; // what to do; may be empty
  kernel: string; // of the first access, as what follows
  file: string;
  line: number;
  ptx: string;
  ptx_line: number;
  block: number[];
  thread: number[];
  notes: string[]; // a line each
  missing?: string; // of races: what would order the accesses
  count?: number; // how often it was seen
  error?: string; // of a call that failed: cudaErrorInvalidValue
  accesses?: FindingAccess[]; // who takes part
  origin?: FindingOrigin; // where the memory or the value came from
  cause?: FindingCause; // what made it wrong
}

/** All that leaves a run. */
export interface Profile {
  format: number; // 2; files of format 1 can be read
  program: string; // as the user gave it
  gpu: string; // the model's name
  command: string; // the program with its arguments
  detail?: boolean; // whether it was a detailed run
  model?: Model | null; // figures of the GPU; null: not known
  definitions?: Record<string, Definition>; // by name, of every metric that occurs
  sources?: SourceFile[]; // detail: every file that a site or line names
  allocations?: Allocation[]; // detail: that patterns and traces point into
  not_modelled: string[]; // what the GPU has and the figures leave out, a line each
  kernels: Kernel[]; // one for each kernel and device, launches summed
  launches?: Kernel[]; // with `--launches` or `--csv`: one for each launch
  chosen_launches?: string; // the options that chose what was counted (`--kernel-name` and the like); empty: all launches
  launches_left_out?: number; // that ran, not counted: they were not chosen
  ranges?: Range[]; // one for each NVTX range, whatever ran in it
  transfers: Transfer[]; // copies, by direction and host memory
  library_calls?: LibraryCall[]; // of libraries that run on the host: nothing in them is counted
  timeline?: TimelineItem[]; // estimated, in the order of issue, the first 10,000
  timeline_left_out?: number; // how many more
  host_timeline?: TimelineItem[]; // calls of the runtime and NVTX ranges by host thread (`stream`), in virtual time, the first 10,000
  host_timeline_left_out?: number; // how many more, those that take no time too
  checks?: string[]; // groups that `warpgrind check` looked for; empty: it was no check
  findings: Finding[]; // errors and warnings
}
