// Made from src/results/finding_members.h by WARPGRIND_REBASE=1 build/bin/test_results_finding_format.

/** A call into which something was inlined. */
export interface InlinedAt {
  file: string; // the caller's source
  line: number; // of the call
  function: string; // that was inlined
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
