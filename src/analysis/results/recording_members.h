// Member tables (members.h) of recordings.
#pragma once

#include "results/detail_members.h"
#include "results/members.h"
#include "results/recording.h"

namespace warpgrind::results {

template <class V, Is<RecordedPlace> T>
void members(V& v, T& x) {
  v.member("file", x.file, Since::first, "source; empty: not known");
  v.member("line", x.line, Since::first, "0: not known");
  v.member("function", x.function, Since::first, "function of the source");
  v.member("calls", x.calls, Since::if_any, "calls around the line, innermost first");
}

template <class V, Is<RecordedVariable> T>
void members(V& v, T& x) {
  v.member("name", x.name, Since::first, "");
  v.member("type", x.type, Since::first, "as in C++");
  v.member("function", x.function, Since::first, "that declares it");
  v.member("line", x.line, Since::first, "of the declaration; 0: not known");
  v.member("parameter", x.parameter, Since::first, "of the function");
}

template <class V, Is<SharedMember> T>
void members(V& v, T& x) {
  v.member("name", x.name, Since::first, "with the names of the structures around it: low.x");
  v.member("format", x.format, Since::first, "of its numbers, as of variables");
  v.member("offset", x.offset, Since::first, "bytes from the start of the structure");
  v.member("bytes", x.bytes, Since::first, "");
  v.member("element_bytes", x.element_bytes, Since::first, "of one number");
}

template <class V, Is<SharedVariable> T>
void members(V& v, T& x) {
  v.member("name", x.name, Since::first, "");
  v.member("type", x.type, Since::first, "as in C++; empty: not known");
  v.member("format", x.format, Since::first,
           "of its numbers: floating, signed, unsigned, half, bfloat16, boolean, character; empty: not known");
  v.member("offset", x.offset, Since::first, "bytes from the start of shared memory");
  v.member("bytes", x.bytes, Since::first, "");
  v.member("element_bytes", x.element_bytes, Since::first, "of one number, or of a structure");
  v.member("members", x.members, Since::if_any, "of a structure: its numbers");
}

template <class V, Is<RecordedObject> T>
void members(V& v, T& x) {
  v.member("name", x.name, Since::first, "of the kernel's parameter that points to it; empty: not known");
  v.member("type", x.type, Since::first, "of an element; empty: not known");
  v.member("format", x.format, Since::if_any, "of its numbers, as of variables in shared memory");
  v.member("allocation", x.allocation, Since::first, "id of the allocation; null: not known");
  v.member("offset", x.offset, Since::first, "bytes from the start of the allocation to the named pointer");
  v.member("element_bytes", x.element_bytes, Since::first, "0: not known");
}

template <class V, Is<RecordedAccess> T>
void members(V& v, T& x) {
  v.member("kind", x.kind, Since::first, "load, store, atomic, reduction");
  v.member("space", x.space, Since::first, "shared, global, const, texture");
  v.member("bytes", x.bytes, Since::first, "per lane");
  v.member("mask", Hex{x.mask, 10}, Since::first, "lanes");
  v.member("addresses", x.addresses, Since::first,
           "runs over these lanes: offsets in shared memory, or from the object's pointer");
  v.member("sizes", x.sizes, Since::if_any, "runs: bytes of each lane if they differ");
  v.member(
      "values", x.values, Since::if_any,
      "runs: what memory holds after the access, as words of 4 bytes, lane by lane; of loads only from global memory");
  v.member("object", x.object, Since::if_any, "of global memory: index into objects");
  v.member("wavefronts", x.wavefronts, Since::if_any, "of shared memory: passes through the banks");
  v.member("ideal_wavefronts", x.ideal_wavefronts, Since::if_any, "the same without bank conflicts");
  v.member("sectors", x.sectors, Since::if_any, "of global memory: sectors of 32 bytes");
  v.member("ideal_sectors", x.ideal_sectors, Since::if_any, "the same for neighbouring lanes");
  v.member("from", x.from, Since::if_any, "index of the block that made it, if it is another one of the cluster");
}

template <class V, Is<RecordedChange> T>
void members(V& v, T& x) {
  v.member("variable", x.variable, Since::first, "index into variables");
  v.member("mask", Hex{x.mask, 10}, Since::first, "lanes");
  v.member("values", x.values, Since::first, "runs over these lanes");
}

template <class V, Is<RecordedStep> T>
void members(V& v, T& x) {
  v.member("warp", x.warp, Since::first, "in the block");
  v.member("place", x.place, Since::first, "index into places");
  v.member("lanes", x.lanes, Since::if_any,
           "lanes that are there, in hexadecimal; absent: as in the warp's step before");
  v.member("accesses", x.accesses, Since::if_any, "requests, in order");
  v.member("changes", x.changes, Since::if_any, "variables with another value after the step");
  v.member("waits", x.waits, Since::if_any, "number of the barrier where the warp waits at the end of the step");
  v.member("opens", x.opens, Since::if_any, "number of the barrier that is complete with this step");
  v.member("accesses_left_out", x.accesses_left_out, Since::later, "number of further requests");
}

template <class V, Is<RecordedFault> T>
void members(V& v, T& x) {
  v.member("text", x.text, Since::first, "what happened");
  v.member("advice", x.advice, Since::first, "what to do");
  v.member("step", x.step, Since::if_any, "of the block, in which it happened");
  v.member("lane", x.lane, Since::if_any, "of that step's warp");
}

template <class V, Is<Recording> T>
void members(V& v, T& x) {
  v.member("name", x.name, Since::first, "of the kernel, demangled");
  v.member("mangled_name", x.mangled_name, Since::first, "");
  v.member("device", x.device, Since::first, "");
  v.member("launch", x.launch, Since::first, "number of the launch, from 0");
  v.member("range", x.range, Since::if_any, "NVTX ranges of the launch, joined by /");
  v.member("grid", x.grid, Since::first, "X, Y, Z");
  v.member("block", x.block, Since::first, "likewise");
  v.member("index", x.index, Since::first, "of the recorded block");
  v.member("shared_bytes", x.shared_bytes, Since::first, "of the block");
  v.member("no_variables", x.no_variables, Since::if_any, "why no variables are recorded");
  v.member("cut", x.cut, Since::if_any, "why the recording ends before the block does");
  v.member("fault", x.fault, Since::if_any, "that ended the launch");
  v.member("places", x.places, Since::first, "source lines with steps");
  v.member("variables", x.variables, Since::first, "variables of the lanes");
  v.member("shared", x.shared, Since::first, "variables in shared memory");
  v.member("objects", x.objects, Since::first, "global memory that was accessed");
  v.member("steps", x.steps, Since::first, "in the order of execution");
}

}  // namespace warpgrind::results
