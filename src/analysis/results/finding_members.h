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
           "number of the allocation, in the order of allocation; 0: a variable of the kernel, or no object");
  v.member("object_bytes", x.object_bytes, Since::first, "size of the object; 0: not known");
  v.member("offset", x.offset, Since::first,
           "of the first byte, from the beginning of the object (without an object: of the space); may be outside");
}

template <class V, Is<FindingAccess> T>
void members(V& v, T& x) {
  v.member("role", x.role, Since::first, "role among several accesses: first, second, launch, allocated, freed, waits");
  v.member("access", x.access, Since::first, "read, write, atomic, barrier, launch, or the call: cudaMemcpyAsync");
  v.member("file", x.file, Since::first, "source file; for inlined code, the place in the user's own code");
  v.member("line", x.line, Since::first, "0: not known");
  v.member("bytes", x.bytes, Since::first, "bytes per thread; 0: no memory, or not known");
  v.member("object", x.object, Since::first, "the accessed object, as text");
  v.member("kernel", x.kernel, Since::first, "demangled; empty: an access by the host");
  v.member("function", x.function, Since::first, "function, if it is not the kernel itself");
  v.member("ptx", x.ptx, Since::first, "the instruction");
  v.member("ptx_line", x.ptx_line, Since::first, "its line");
  v.member("launch", x.launch, Since::first,
           "number of the program's work item (kernel, copy, ...), from 1 in the order of issue; 0: none");
  v.member("stream", x.stream, Since::first, "as text; empty: not relevant");
  v.member("inlined_at", x.inlined_at, Since::first, "calls into which it was inlined, innermost first");
  v.member("header", x.header, Since::if_any, "if a function of a header was inlined at the line: the place there");
  v.member_if(x.of_thread, "block", x.block, Since::first, "of a thread: X, Y, Z");
  v.member_if(x.of_thread, "thread", x.thread, Since::first, "of a thread: X, Y, Z in the block");
  v.member_if(x.of_thread, "warp", x.warp, Since::first, "of a thread: warp in the block");
  v.member_if(x.of_thread, "lane", x.lane, Since::first, "of a thread: lane in the warp");
  v.member("memory", x.memory, Since::if_any, "accessed memory: `bytes` from this place on");
}

template <class V, Is<FindingOrigin> T>
void members(V& v, T& x) {
  v.member("kind", x.kind, Since::first, "cudaMalloc, shared variable, register");
  v.member("file", x.file, Since::first, "source file of the allocation or definition");
  v.member("line", x.line, Since::first, "0: not known");
  v.member("object", x.object, Since::first, "as text");
  v.member("way", x.way, Since::later, "copies of the value from its origin to the finding, one per step");
}

template <class V, Is<FindingCause> T>
void members(V& v, T& x) {
  v.member("file", x.file, Since::first, "");
  v.member("line", x.line, Since::first, "0: not known");
  v.member("text", x.text, Since::first, "the cause as text: freed by cudaFree");
}

template <class V, Is<Finding> T>
void members(V& v, T& x) {
  v.member("kind", x.kind, Since::first, "stable identifier (checks.md)");
  v.member("severity", x.severity, Since::later, "ERROR, WARNING, INFO");
  v.member("group", x.group, Since::if_any,
           "group of checks: memory, races, init, barriers, leaks, api; kernel: an error that ends a kernel");
  v.member("message", x.message, Since::first, "one line");
  v.member("advice", x.advice, Since::first, "what to do; may be empty");
  v.member("kernel", x.kernel, Since::first, "of the first access, like the next members");
  v.member("file", x.file, Since::first, "");
  v.member("line", x.line, Since::first, "");
  v.member("ptx", x.text, Since::first, "");
  v.member("ptx_line", x.ptx_line, Since::first, "");
  v.member("block", x.block, Since::first, "");
  v.member("thread", x.thread, Since::first, "");
  v.member("notes", x.notes, Since::first, "one line each");
  v.member("missing", x.missing, Since::later, "of races: the synchronisation that would order the accesses");
  v.member("count", x.count, Since::later, "number of occurrences");
  v.member("error", x.error, Since::if_any, "of a call that failed: cudaErrorInvalidValue");
  v.member("accesses", x.accesses, Since::later, "the accesses and calls that take part");
  v.member("origin", x.origin, Since::if_any, "origin of the memory or the value");
  v.member("cause", x.cause, Since::if_any, "cause of the error");
}

}  // namespace warpgrind::results
