// Made from src/analysis/results/*_members.h by WARPGRIND_REBASE=1 build/bin/test_results.

import type { Metrics } from "./data";

export type Origin = "exact" | "modelled" | "estimated" | "measured" | "sampled";

/** Layout of shared memory. */
export interface Banks {
  banks: number; // of shared memory
  bank_bytes: number; // width of a bank
  lanes: number; // lanes that are served at a time
}

/** Figures of a GPU. */
export interface Model {
  id: string; // name for --gpu
  name: string;
  cc: string; // compute capability, as a string
  sm_count: number;
  sm_clock_mhz: number;
  fp32_gflops: number; // peak
  fp64_gflops: number; // peak
  dram_gbs: number; // theoretical; in 1e9 bytes per second
  dram_achievable_fraction: number; // of dram_gbs
  l2_bytes: number;
  shared_per_sm: number; // bytes
  max_warps_per_sm: number;
  link_gbps_pinned: number; // to the host, one direction; in 1e9 bytes per second
  link_gbps_pageable: number; // likewise
  coalescing: string; // half_warp_strict, half_warp_segments, lines_128, sectors_32
  banks: Banks;
}

/** Definition of a counter. */
export interface Definition {
  unit: string;
  origin: Origin;
  definition: string; // as in docs/counters.md
}

/** The text of a source. */
export interface SourceFile {
  file: string; // same name as in sites and lines
  text: string;
  missing?: string; // reason why it could not be read
  changed?: boolean; // the file is newer than the program, so lines may have moved
}

/** An allocation of device memory. */
export interface Allocation {
  id: number;
  bytes: number;
  address: string; // in hexadecimal
}

/** A counter. */
export interface MetricValue {
  value: number | string; // a number; text for a few metrics
  unit: string; // unit as in Nsight; empty: a plain count
  origin: Origin; // exact, modelled, estimated, measured, sampled
}

/** One limit of an estimated time. */
export interface Bound {
  limit: string; // as text
  ns: number;
}

/** Equal launches of a kernel, as the time model sees them. */
export interface Work {
  launches: number; // number of such launches
  l2_dirty_bytes: number; // dirty data in L2 when it begins
  l2_resident: number; // part of its memory that is in L2, 0 to 1
  l2_code: number; // part of its machine code that is in L2, 0 to 1
  block_read_sectors: number; // different sectors that a block reads, summed over the blocks
  blocks: number; // blocks of the grid
  empty_blocks?: number; // of them, in long stretches of the grid whose blocks end at once (timing/uneven.h)
  threads_per_block: number; // threads of a block
  warps_per_block: number; // warps of a block
  resident_blocks: number; // blocks that an SM holds at once: theoretical occupancy
  static_instructions: number; // machine instructions in the parts of the kernel that ran
  instructions: number; // all: what the schedulers issue
  register_reads?: number; // 32-bit operands that they read from the register file
  alu: number; // of the ALU pipe: integer, logic, shift, compare, select, conversion
  fma: number; // of the FMA pipe: floating point, integer multiply-adds, moves
  integer_fma?: number; // of these, integer ones, which only half of the pipe executes; slow ones count several times
  fp64: number; // of the FP64 pipe
  special: number; // of the XU pipe: special functions, conversions, bit counts; slow ones count several times
  shuffles: number; // shuffles, votes, matches, reductions of a warp
  barriers: number; // barriers of the block
  textures: number; // texture and surface requests
  tensor_half: number; // matrix instructions of 16-bit types, as m16n8k16
  tensor_double: number; // matrix instructions of FP64, as m8n8k4
  path_0: number; // longest path of a warp through its instructions when a load takes no time,
  path_40: number; // ... 40 cycles,
  path_290: number; // ... 290 cycles,
  path_700: number; // ... 700 cycles,
  path_1000: number; // ... 1000 cycles
  slowest_290: number; // what the slowest warp of a block takes longer, at 290 cycles,
  slowest_700: number; // ... at 700 cycles
  uneven_1?: number; // factor of the time because warps and blocks differ, if one warp keeps an SM's units busy,
  uneven_4?: number; // ... 4 warps,
  uneven_16?: number; // ... 16 warps,
  uneven_64?: number; // ... 64 warps; 0: not known
  shared_wavefronts: number; // of shared memory, atomics too
  l1_load_passes: number; // of global and local loads through the banks of L1
  l1_store_passes: number; // of global and local stores
  constant_requests: number; // loads of constant memory
  constant_wavefronts: number; // different addresses of them
  constant_span: number; // that they touch
  copy_loads: number; // copies from global memory to shared memory
  copy_load_rows: number; // rows of their boxes, in lines of 128 bytes of global memory
  copy_load_bytes: number; // that they write to shared memory
  copy_stores: number; // copies from shared memory to global memory, reductions too
  copy_store_rows: number; // rows of their boxes, in lines of 128 bytes of global memory
  copy_store_bytes: number; // that they read from shared memory
  copy_turns: number; // loading copies of a block that wait for each other: they fill the same place of shared memory
  copy_places: number; // places of a block's ring: loading copies that can be under way together
  copy_new: number; // share of the loading copies whose memory is new to their warp
  l2_read_sectors: number; // read by what L1 and the texture cache miss
  l2_read_lines: number; // 128-byte lines of these reads
  translation_misses: number; // address translations that the SM's cache of them lacks
  l2_write_sectors: number; // written
  l2_write_lines: number; // 128-byte lines of these writes
  partial_write_sectors: number; // written of which a request covers a part only
  atomic_sectors: number; // of global atomics
  atomic_requests: number; // of global atomics
  atomic_lanes: number; // of global atomics
  atomic_returns: number; // share of the atomic sectors whose old value is asked for
  cas_turns?: number; // compare-and-swaps of a loop of retries that one sector executes after each other
  cas_warps?: number; // that contend for a sector of them
  atomic_distinct_sectors: number; // different ones that a block's atomics touch; 0: not known
  atomic_hot_unit?: number; // part of the atomic sectors that go to the unit of L2 with most (sums of doubles may count more); 0: not known
  atomic_hot_sector?: number; // part that floating-point atomics have in the sector with most of them
  read_sectors: number; // different sectors read
  read_pieces: number; // different 64-byte pieces of them
  read_lines: number; // different 128-byte lines of them
  read_pairs: number; // different stretches of 256 bytes of them
  read_fours: number; // different stretches of 512 bytes of them
  write_sectors: number; // different sectors written
  write_pieces: number; // different 64-byte pieces of them
  write_lines: number; // different 128-byte lines of them
  write_pairs: number; // different stretches of 256 bytes of them
  write_fours: number; // different stretches of 512 bytes of them
  partly_written_sectors: number; // different sectors that the launch writes only a part of
  host_read_bytes: number; // of mapped host memory read over the link
  host_write_bytes: number; // ... written
  peer_bytes: number; // of other GPUs' memory read and written
  far_loads: number; // share of the sectors that loads ask L2 for, which come over a link
  migrated_bytes: number; // of managed memory that lies on the host when the launch touches it
}

/** Place of the lowest address in the example of a pattern. */
export interface PatternBase {
  allocation: number | null; // id of the allocation; null: none
  offset: number; // in the allocation, or in shared memory
}

/** One memory transaction of a request, by the GPU's coalescing rule. */
export interface Transaction {
  address_offset: number; // from the base
  bytes: number;
}

/** A box as a tensor copy has put it into shared memory. */
export interface Tile {
  site: number; // of the tensor copy that wrote it: its id
  begin: number; // first byte in shared memory
  pitch: number; // bytes from one row of the box to the next
  swizzle: string; // as of the copy
  element: string; // likewise
}

/** Requests of one instruction with the same access pattern. */
export interface Pattern {
  count: number; // how often
  mask: string; // active lanes, in hexadecimal
  lane_bytes: number; // bytes per lane
  space: string; // memory space of the access
  addresses: (number | null)[]; // 32 offsets from the base (the lowest address); null for an inactive lane
  base: PatternBase; // of an example
  alignment: number; // base modulo 256; shared memory: modulo one row of the banks
  sectors: number; // per request (atomics: over all rounds), like the next members
  lines_128: number;
  wavefronts: number; // per request to shared memory
  ideal_sectors: number;
  ideal_wavefronts: number;
  transactions: Transaction[]; // only for GPUs whose rule is not `sectors_32`; with that rule, sectors are transactions
  block: number[]; // block of the example: the lowest of the first launch
  warp: number; // warp of the example
  tile?: Tile; // box of a tensor copy that holds all bytes of the example
}

/** A dimension of a tensor and of a copy's box. */
export interface TensorDimension {
  size: number; // elements of the tensor
  stride: number; // bytes from one element to the next; 0: packed
  box: number; // elements of the box, before the element stride; 0: im2col
  element_stride: number;
  coordinate: number; // of the example
  lowest: number; // coordinate of all copies
  highest: number; // likewise
  lower: number; // im2col: corner of the bounding box
  upper: number; // likewise, from the last element on
  offset: number; // im2col: of the pixels
}

/** One of four rows that a copy gathers or scatters. */
export interface TensorRow {
  row: number; // coordinate 1 of a row of the box
}

/** Tensor copies of one kind, by one instruction. */
export interface TensorCopy {
  count: number; // how often
  operation: string; // load, store, reduce, prefetch
  mode: string; // tile, rows (.tile::gather4, .tile::scatter4), im2col
  element: string; // type of the elements
  interleave: string; // none, 16B, 32B
  swizzle: string; // none, or the end of CU_TENSOR_MAP_SWIZZLE_...
  promotion: string; // none, or the end of CU_TENSOR_MAP_L2_PROMOTION_...
  fill: string; // zero, NaN: what a load gives outside of the tensor
  dimensions: TensorDimension[]; // innermost first
  rows: TensorRow[]; // mode rows: the four rows of the example
  channels: number; // im2col: elements of a pixel in the box
  pixels: number; // im2col: pixels of the box
  halo: number; // im2col::w: pixels of the halo; im2col::w::128: of each quarter's
  tensor: PatternBase; // element 0 of the tensor
  shared: number; // of the example: first byte of the box in shared memory
  blocks: number; // multicast: number of blocks that receive the box; otherwise 0
  bytes: number; // of the box in shared memory
  inside: number; // of these, bytes of the tensor; the others lie outside
  sectors: number; // of the tensor's memory that one copy moves
  block: number[]; // block of the example: the lowest of the first launch
  warp: number; // warp of the example
}

/** Matrices that wgmma reads from shared memory. */
export interface Operand {
  pieces: number; // of 16 bytes that all requests read
  swizzle: string; // of the matrix descriptor: none, 32B, 64B, 128B
  base: number; // base offset of the descriptor
  first: number; // lowest byte of shared memory of the first request
  tile?: Tile; // box of a tensor copy that the first request reads
  first_row: number; // of the boxes
  last_row: number;
  first_byte: number; // of these rows
  last_byte: number;
}

/** A memory instruction or a branch. */
export interface Site {
  id: number; // index in the kernel's list
  kind: string; // load, store, atomic, reduction, texture, surface, async_copy, bulk_copy, mbarrier, fence, barrier, call, branch, launch_control, matrix
  space: string; // global, shared, local, generic and so on; -: of a branch
  function: string; // mangled
  ptx: string; // the instruction; empty: of a branch
  file: string; // source; empty: not known
  line: number; // 0: not known
  ptx_line: number;
  metrics: Metrics; // by name
  patterns?: Pattern[]; // detail: up to 8, most frequent first
  patterns_other?: number; // detail: number of requests with other patterns
  worst?: number; // detail: index into patterns
  best?: number; // detail: index into patterns
  copies?: TensorCopy[]; // detail: up to 8 kinds of tensor copies, most frequent first; the one with the most bytes outside is there
  copies_other?: number; // detail: number of tensor copies of other kinds
  operands?: Operand[]; // detail: up to 8 kinds of matrices that wgmma reads by descriptors
}

/** A figure that supports the advice. */
export interface Evidence {
  metric: string;
  value: number;
  unit: string;
  origin: Origin;
}

/** A place in the source. */
export interface Place {
  file: string;
  line: number;
  ptx_line: number;
}

/** One recommendation for a kernel. */
export interface Advice {
  rule: string; // docs/rules.md
  title: string; // one line
  text: string; // the problem, its cost and the remedy
  estimated_gain: number; // 1 - without_cause_ns / time_ns; 0: a remark without a gain
  time_ns?: number; // mean of a launch, by the time model
  without_cause_ns?: number; // the same if the cause is removed
  evidence: Evidence[];
  places: Place[]; // worst first
  origin: Origin; // origin of the gain
}

/** A call whose callee was inlined. */
export interface InlinedAt {
  file: string; // the caller's source
  line: number; // of the call
  function: string; // that was inlined
}

/** An instruction's own line, in a header's function that was inlined. */
export interface HeaderPlace {
  file: string; // the header
  line: number;
  function: string; // its function
}

/** One PTX instruction. */
export interface CodeRow {
  ptx_line: number;
  text: string;
  block: number; // of the graph: its id
  file: string; // source; empty: not known
  line: number; // 0: not known
  function?: string; // empty: the kernel itself
  inlined_at?: InlinedAt[]; // calls around the line that were inlined, innermost first
  header?: HeaderPlace | null; // if a function of a header was inlined at the line: the instruction's place there
}

/** A basic block. */
export interface GraphBlock {
  id: number; // index in this list
  first_ptx_line: number;
  last_ptx_line: number;
  file: string;
  line: number;
  warps: number; // warps that executed it
  lanes: number; // likewise
  function?: string; // function, if it is not the kernel itself
}

/** An edge from one basic block to another. */
export interface GraphEdge {
  from: number; // block
  to: number; // block; -1: the function's end
  warps: number; // warps that took it; a warp that splits takes several edges, so the sum can exceed the warps of the block
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
  site: number; // id of the site
  warp: number;
  mask: string; // active lanes, in hexadecimal
  addresses: (number | null)[]; // 32 offsets in the allocation, or in shared or local memory; null for an inactive lane
  allocation: number | null; // id of the allocation; null: none
  phase: number; // barriers that the warp has passed
}

/** The accesses of one block. */
export interface BlockTrace {
  block: number[]; // X, Y, Z
  events: TraceEvent[]; // at most 4,096, fewer when there are more than 8 kernels
  left_out: number; // number of omitted events
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
  range: string; // of a launch: the NVTX ranges around it, joined by /
  launches: number; // number of launches in this sum
  first_id: number; // number of the first launch, from 0 in the order of issue
  device: number;
  grid: number[]; // X, Y, Z, of the first launch
  block: number[]; // likewise
  shapes_differ: boolean; // the sum contains launches of other shapes
  metrics: Metrics; // by name
  bounds?: Bound[]; // limits of the estimated time, longest first
  work?: Work[]; // of a sum: what the time model knows of its launches, up to 16 different ones
  sites: Site[]; // memory instructions and branches that ran
  advice?: Advice[]; // most useful first
  code?: CodeRow[]; // detail: every PTX instruction of the kernel and of the functions it calls
  graph?: FlowGraph; // detail: the flow graph with exact counts
  block_trace?: BlockTrace; // detail: accesses of one block (`--block X,Y,Z`) of the first launch, in the order they ran
  lines?: LineRow[]; // detail: by source line; the user's inlined functions count at their own lines, those of headers at the line of the call; loads of parameters do not count
  inlined_lines?: LineRow[]; // detail: the same by the line of a call, with all code inlined there; `lines` counts it at its own lines
}

/** The launches of a kernel in a named range. */
export interface RangeKernel {
  name: string; // demangled
  mangled_name: string;
  launches: number; // number of launches in this sum
  sites: Site[]; // as for a kernel; patterns: up to 3, from the first of these launches
  bounds?: Bound[]; // limits of the estimated time, longest first
}

/** The launches in a named range. */
export interface Range {
  range: string; // names of the open ranges, outermost first, joined by /
  launches: number; // number of launches in this sum
  metrics: Metrics; // by name
  kernels?: RangeKernel[]; // detail: only for the first 4,096 pairs of range and kernel
}

/** Copies of one kind. */
export interface Transfer {
  direction: string; // HtoD, DtoH, DtoD, PtoP, HtoH
  host_memory: string; // pageable, pinned, -
  count: number;
  bytes: number;
  estimated_ns: number;
}

/** Calls of one kind, of a library that ran on the host. */
export interface LibraryCall {
  device: number;
  function: string; // cublasSgemm
  arguments: string; // 512 x 512 x 512
  by: string; // host library that computed it: OpenBLAS
  count: number; // number of such calls
  estimated_ns: number; // sum over these calls
}

/** One work item on the modelled GPU. */
export interface TimelineItem {
  device: number;
  stream: number; // stream; for the host: number of its thread
  kind: string; // kernel, library call, copy, memset; for the host: call, range
  name: string; // name of the kernel or call; for a copy: its direction
  begin_ns: number; // since the start of the program
  end_ns: number; // likewise
  bytes: number;
  work?: number; // number of the work item, as `launch` of findings; 0: not recorded
}

/** Accessed bytes of an object. */
export interface AccessedMemory {
  space: string; // global, shared, local
  object: number; // number of the allocation, in the order of allocation; 0: a variable of the kernel, or no object
  object_bytes: number; // size of the object; 0: not known
  offset: number; // of the first byte, from the beginning of the object (without an object: of the space); may be outside
}

/** One participant of a finding: an access of a thread, a launch, a copy, or a call of the host. */
export interface FindingAccess {
  role: string; // role among several accesses: first, second, launch, allocated, freed, waits
  access: string; // read, write, atomic, barrier, launch, or the call: cudaMemcpyAsync
  file: string; // source file; for inlined code, the place in the user's own code
  line: number; // 0: not known
  bytes: number; // bytes per thread; 0: no memory, or not known
  object: string; // the accessed object, as text
  kernel: string; // demangled; empty: an access by the host
  function: string; // function, if it is not the kernel itself
  ptx: string; // the instruction
  ptx_line: number; // its line
  launch: number; // number of the program's work item (kernel, copy, ...), from 1 in the order of issue; 0: none
  stream: string; // as text; empty: not relevant
  inlined_at: InlinedAt[]; // calls into which it was inlined, innermost first
  header?: HeaderPlace; // if a function of a header was inlined at the line: the place there
  block?: number[]; // of a thread: X, Y, Z
  thread?: number[]; // of a thread: X, Y, Z in the block
  warp?: number; // of a thread: warp in the block
  lane?: number; // of a thread: lane in the warp
  memory?: AccessedMemory; // accessed memory: `bytes` from this place on
}

/** Origin of the memory or value of a finding. */
export interface FindingOrigin {
  kind: string; // cudaMalloc, shared variable, register
  file: string; // source file of the allocation or definition
  line: number; // 0: not known
  object: string; // as text
  way?: string[]; // copies of the value from its origin to the finding, one per step
}

/** Cause of a finding. */
export interface FindingCause {
  file: string;
  line: number; // 0: not known
  text: string; // the cause as text: freed by cudaFree
}

/** One error of a program. */
export interface Finding {
  kind: string; // stable identifier (checks.md)
  severity?: string; // ERROR, WARNING, INFO
  group?: string; // group of checks: memory, races, init, barriers, leaks, api; kernel: an error that ends a kernel
  message: string; // one line
  advice: string; // what to do; may be empty
  kernel: string; // of the first access, like the next members
  file: string;
  line: number;
  ptx: string;
  ptx_line: number;
  block: number[];
  thread: number[];
  notes: string[]; // one line each
  missing?: string; // of races: the synchronisation that would order the accesses
  count?: number; // number of occurrences
  error?: string; // of a call that failed: cudaErrorInvalidValue
  accesses?: FindingAccess[]; // the accesses and calls that take part
  origin?: FindingOrigin; // origin of the memory or the value
  cause?: FindingCause; // cause of the error
}

/** A kernel that ran. */
export interface LaunchedKernel {
  name: string; // demangled
  mangled_name: string;
  launches: number; // number of launches, counted or not
}

/** Equal errors of a CUDA call. */
export interface FailedCall {
  call: string; // cuModuleLoadData
  error: string; // CUDA_ERROR_INVALID_PTX
  reason: string; // of the first; empty: not known
  file: string; // source of the first; empty: not known
  line: number; // 0: not known
  count: number; // number of such errors
}

/** What the program did with the GPU, and what it left undone. */
export interface Activity {
  asked_for_devices: boolean; // the program read the number of GPUs
  used_device: boolean; // the program had a context on a GPU
  loaded_kernels: number; // number of different kernels in the program, its libraries and the modules that it loaded
  never_launched: number; // number of these that were not launched
  launched: LaunchedKernel[]; // kernels that ran, counted or not, by mangled name
  failed_calls: FailedCall[]; // errors of CUDA calls that the program has read; those that it ignored are findings
  libraries_not_found: string[]; // libraries of NVIDIA that the process opened by dlopen and that are not there
}

/** What ended the launch of a recorded block. */
export interface RecordedFault {
  text: string; // what happened
  advice: string; // what to do
  step?: number; // of the block, in which it happened
  lane?: number; // of that step's warp
}

/** A source line with steps. */
export interface RecordedPlace {
  file: string; // source; empty: not known
  line: number; // 0: not known
  function: string; // function of the source
  calls?: InlinedAt[]; // calls around the line, innermost first
}

/** A variable of the lanes. */
export interface RecordedVariable {
  name: string;
  type: string; // as in C++
  function: string; // that declares it
  line: number; // of the declaration; 0: not known
  parameter: boolean; // of the function
}

/** A number in a structure in shared memory. */
export interface SharedMember {
  name: string; // with the names of the structures around it: low.x
  format: string; // of its numbers, as of variables
  offset: number; // bytes from the start of the structure
  bytes: number;
  element_bytes: number; // of one number
}

/** A variable in shared memory. */
export interface SharedVariable {
  name: string;
  type: string; // as in C++; empty: not known
  format: string; // of its numbers: floating, signed, unsigned, half, bfloat16, boolean, character; empty: not known
  offset: number; // bytes from the start of shared memory
  bytes: number;
  element_bytes: number; // of one number, or of a structure
  members?: SharedMember[]; // of a structure: its numbers
}

/** Global memory that a recorded block accesses. */
export interface RecordedObject {
  name: string; // of the kernel's parameter that points to it; empty: not known
  type: string; // of an element; empty: not known
  format?: string; // of its numbers, as of variables in shared memory
  allocation: number | null; // id of the allocation; null: not known
  offset: number; // bytes from the start of the allocation to the named pointer
  element_bytes: number; // 0: not known
}

/** One request of a step. */
export interface RecordedAccess {
  kind: string; // load, store, atomic, reduction
  space: string; // shared, global, const, texture
  bytes: number; // per lane
  mask: string; // lanes
  addresses: string; // runs over these lanes: offsets in shared memory, or from the object's pointer
  sizes?: string; // runs: bytes of each lane if they differ
  values?: string; // runs: what memory holds after the access, as words of 4 bytes, lane by lane; of loads only from global memory
  object?: number; // of global memory: index into objects
  wavefronts?: number; // of shared memory: passes through the banks
  ideal_wavefronts?: number; // the same without bank conflicts
  sectors?: number; // of global memory: sectors of 32 bytes
  ideal_sectors?: number; // the same for neighbouring lanes
  from?: string; // index of the block that made it, if it is another one of the cluster
}

/** A variable with another value after a step. */
export interface RecordedChange {
  variable: number; // index into variables
  mask: string; // lanes
  values: string; // runs over these lanes
}

/** One warp at one source line. */
export interface RecordedStep {
  warp: number; // in the block
  place: number; // index into places
  lanes?: string; // lanes that are there, in hexadecimal; absent: as in the warp's step before
  accesses?: RecordedAccess[]; // requests, in order
  changes?: RecordedChange[]; // variables with another value after the step
  waits?: string; // number of the barrier where the warp waits at the end of the step
  opens?: string; // number of the barrier that is complete with this step
  accesses_left_out?: number; // number of further requests
}

/** One block of a kernel, step by step. */
export interface Recording {
  name: string; // of the kernel, demangled
  mangled_name: string;
  device: number;
  launch: number; // number of the launch, from 0
  range?: string; // NVTX ranges of the launch, joined by /
  grid: number[]; // X, Y, Z
  block: number[]; // likewise
  index: number[]; // of the recorded block
  shared_bytes: number; // of the block
  no_variables?: string; // why no variables are recorded
  cut?: string; // why the recording ends before the block does
  fault?: RecordedFault; // that ended the launch
  places: RecordedPlace[]; // source lines with steps
  variables: RecordedVariable[]; // variables of the lanes
  shared: SharedVariable[]; // variables in shared memory
  objects: RecordedObject[]; // global memory that was accessed
  steps: RecordedStep[]; // in the order of execution
}

/** All results of a run. */
export interface Profile {
  format: number; // 2; files of format 1 can be read
  program: string; // program as given by the user
  gpu: string; // name of the GPU model
  command: string; // the program with its arguments
  detail?: boolean; // true for a detailed run
  model?: Model | null; // figures of the GPU; null: not known
  definitions?: Record<string, Definition>; // by name, for every metric in this file
  sources?: SourceFile[]; // detail: every source file of a site or line
  allocations?: Allocation[]; // detail: allocations that patterns and traces access
  not_modelled: string[]; // features of the GPU that the figures do not include, one line each
  kernels: Kernel[]; // one per kernel and device: the sum of its launches
  launches?: Kernel[]; // with `--launches` or `--csv`: one per launch
  chosen_launches?: string; // options that chose the counted launches (such as `--kernel-name`); empty: all launches
  launches_left_out?: number; // number of launches that ran but were not chosen for counting
  ranges?: Range[]; // one per NVTX range, with or without kernels
  transfers: Transfer[]; // copies, by direction and host memory
  library_calls?: LibraryCall[]; // calls of libraries that run on the host; nothing inside them is counted
  timeline?: TimelineItem[]; // estimated, in the order of issue; the first 10,000 items
  timeline_left_out?: number; // number of further items
  host_timeline?: TimelineItem[]; // runtime calls and NVTX ranges per host thread (`stream`), in virtual time; the first 10,000
  host_timeline_left_out?: number; // number of further items, including those that take no time
  checks?: string[]; // groups of checks that `warpgrind check` ran; empty: not a run of `check`
  findings: Finding[]; // errors and warnings
  activity?: Activity; // what the program did with the GPU, and what it left undone
  recordings?: Recording[]; // with `--steps`: one block of each kernel, step by step
}
