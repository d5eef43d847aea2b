// Member tables (members.h) of a finding.
#pragma once

#include "results/detail_members.h"
#include "results/finding.h"
#include "results/members.h"

namespace warpgrind::results {

template <class V, Is<AccessedMemory> T>
void members(V& v, T& x) {
  v.member("space", x.space, Since::first, "global, shared, local");
  v.member("object", x.object, Since::first,
           "number of the allocation, in the order in which they were made; 0: a variable of the kernel, or none");
  v.member("object_bytes", x.object_bytes, Since::first, "its size; 0: not known");
  v.member(
      "offset", x.offset, Since::first,
      "of the first byte from the object's beginning (from that of the space, without an object); may lie outside");
}

template <class V, Is<FindingAccess> T>
void members(V& v, T& x) {
  v.member("role", x.role, Since::first, "of several: first, second, launch, allocated, freed, waits");
  v.member("access", x.access, Since::first, "read, write, atomic, barrier, launch, or the call: cudaMemcpyAsync");
  v.member("file", x.file, Since::first, "source, of the user's own code where it is inlined there");
  v.member("line", x.line, Since::first, "0: not known");
  v.member("bytes", x.bytes, Since::first, "of one thread; 0: no memory, or not known");
  v.member("object", x.object, Since::first, "what it is about, in words");
  v.member("kernel", x.kernel, Since::first, "demangled; empty: of the host");
  v.member("function", x.function, Since::first, "where it is not the kernel itself");
  v.member("ptx", x.ptx, Since::first, "the instruction");
  v.member("ptx_line", x.ptx_line, Since::first, "its line");
  v.member("launch", x.launch, Since::first,
           "the piece of work of the program, 1, 2, 3 in the order of issue; 0: none");
  v.member("stream", x.stream, Since::first, "in words; empty: of no interest");
  v.member("inlined_at", x.inlined_at, Since::first, "calls into which it was inlined, the innermost first");
  v.member_if(x.of_thread, "block", x.block, Since::first, "of a thread: X, Y, Z");
  v.member_if(x.of_thread, "thread", x.thread, Since::first, "of a thread: X, Y, Z in the block");
  v.member_if(x.of_thread, "warp", x.warp, Since::first, "of a thread: in the block");
  v.member_if(x.of_thread, "lane", x.lane, Since::first, "of a thread: in the warp");
  v.member("memory", x.memory, Since::if_any, "which bytes: `bytes` from here on");
}

template <class V, Is<FindingOrigin> T>
void members(V& v, T& x) {
  v.member("kind", x.kind, Since::first, "cudaMalloc, shared variable, register");
  v.member("file", x.file, Since::first, "where it was made");
  v.member("line", x.line, Since::first, "0: not known");
  v.member("object", x.object, Since::first, "in words");
  v.member("way", x.way, Since::later, "from there to the finding, a step each");
}

template <class V, Is<FindingCause> T>
void members(V& v, T& x) {
  v.member("file", x.file, Since::first, "");
  v.member("line", x.line, Since::first, "0: not known");
  v.member("text", x.text, Since::first, "what made it wrong: freed by cudaFree");
}

template <class V, Is<Finding> T>
void members(V& v, T& x) {
  v.member("kind", x.kind, Since::first, "a stable word (checks.md)");
  v.member("severity", x.severity, Since::later, "ERROR, WARNING, INFO");
  v.member("group", x.group, Since::if_any,
           "of checks: memory, races, init, barriers, leaks, api; kernel: what ends one");
  v.member("message", x.message, Since::first, "one line");
  v.member("advice", x.advice, Since::first, "what to do; may be empty");
  v.member("kernel", x.kernel, Since::first, "of the first access, as what follows");
  v.member("file", x.file, Since::first, "");
  v.member("line", x.line, Since::first, "");
  v.member("ptx", x.text, Since::first, "");
  v.member("ptx_line", x.ptx_line, Since::first, "");
  v.member("block", x.block, Since::first, "");
  v.member("thread", x.thread, Since::first, "");
  v.member("notes", x.notes, Since::first, "a line each");
  v.member("missing", x.missing, Since::later, "of races: what would order the accesses");
  v.member("count", x.count, Since::later, "how often it was seen");
  v.member("error", x.error, Since::if_any, "of a call that failed: cudaErrorInvalidValue");
  v.member("accesses", x.accesses, Since::later, "who takes part");
  v.member("origin", x.origin, Since::if_any, "where the memory or the value came from");
  v.member("cause", x.cause, Since::if_any, "what made it wrong");
}

}  // namespace warpgrind::results
