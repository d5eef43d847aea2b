// Member tables (members.h) of a profile, except those of findings and of the data of a detailed run.
#pragma once

#include "results/derived.h"
#include "results/detail_members.h"
#include "results/finding_members.h"
#include "results/members.h"
#include "results/profile.h"

namespace warpgrind::results {

template <class V, Is<Banks> T>
void members(V& v, T& x) {
  v.member("banks", x.banks, Since::first, "of shared memory");
  v.member("bank_bytes", x.bank_bytes, Since::first, "of a bank in a row");
  v.member("lanes", x.lanes, Since::first, "that go at a time");
}

template <class V, Is<Model> T>
void members(V& v, T& x) {
  v.member("id", x.id, Since::first, "as --gpu takes it");
  v.member("name", x.name, Since::first, "");
  v.member("cc", x.cc, Since::first, "compute capability, as a string");
  v.member("sm_count", x.sm_count, Since::first, "");
  v.member("sm_clock_mhz", x.sm_clock_mhz, Since::first, "");
  v.member("fp32_gflops", WithPoint{x.fp32_gflops}, Since::first, "at most");
  v.member("fp64_gflops", WithPoint{x.fp64_gflops}, Since::first, "at most");
  v.member("dram_gbs", WithPoint{x.dram_gbs}, Since::first, "in theory; 1e9 bytes per second");
  v.member("dram_achievable_fraction", WithPoint{x.dram_achievable_fraction}, Since::first, "of dram_gbs");
  v.member("l2_bytes", x.l2_bytes, Since::first, "");
  v.member("shared_per_sm", x.shared_per_sm, Since::first, "bytes");
  v.member("max_warps_per_sm", x.max_warps_per_sm, Since::first, "");
  v.member("link_gbps_pinned", x.link_gbps_pinned, Since::first, "to the host, one way; 1e9 bytes per second");
  v.member("link_gbps_pageable", x.link_gbps_pageable, Since::first, "likewise");
  v.member("coalescing", x.coalescing, Since::first, "half_warp_strict, half_warp_segments, lines_128, sectors_32");
  v.member("banks", x.banks, Since::first, "");
}

template <class V, Is<Definition> T>
void members(V& v, T& x) {
  v.member("unit", x.unit, Since::first, "");
  v.member("origin", x.origin, Since::first, "");
  v.member("definition", x.definition, Since::first, "docs/counters.md has them all");
}

template <class V, Is<Metric> T>
void members(V& v, T& x) {
  v.member("value", NumberOrWord{x.value, x.text}, Since::first, "a number, or a word for a few");
  v.member("unit", x.unit, Since::first, "Nsight's unit words; empty: a number of something");
  v.member("origin", x.origin, Since::first, "exact, modelled, estimated, measured");
}

template <class V, Is<SiteProfile> T>
void members(V& v, T& x) {
  bool patterns = !x.patterns.empty() || x.patterns_other != 0;
  v.member("id", x.id, Since::first, "its place in the kernel's list");
  v.member("kind", x.kind, Since::first,
           "load, store, atomic, reduction, texture, surface, async_copy, bulk_copy, mbarrier, fence, barrier, call, "
           "branch");
  v.member("space", x.space, Since::first, "global, shared, local, generic and so on; -: of a branch");
  v.member("function", x.function, Since::first, "mangled");
  v.member("ptx", x.ptx, Since::first, "the instruction; empty: of a branch");
  v.member("file", x.file, Since::first, "source; empty: not known");
  v.member("line", x.line, Since::first, "0: not known");
  v.member("ptx_line", x.ptx_line, Since::first, "");
  v.member("metrics", x.metrics.by_name(), Since::first, "by name");
  v.member_if(patterns, "patterns", x.patterns, Since::first, "detail: up to 8, the most frequent first");
  v.member_if(patterns, "patterns_other", x.patterns_other, Since::first, "detail: requests that looked otherwise");
  v.member_if(patterns, "worst", x.worst, Since::first, "detail: index into patterns");
  v.member_if(patterns, "best", x.best, Since::first, "detail: index into patterns");
}

template <class V, Is<LineProfile> T>
void members(V& v, T& x) {
  v.member("file", x.file, Since::first, "");
  v.member("line", x.line, Since::first, "");
  v.member("function", x.function, Since::first, "demangled");
  v.member("metrics", x.metrics.by_name(), Since::first, "by name; sums over the instructions of the line");
}

template <class V, Is<Advice::Evidence> T>
void members(V& v, T& x) {
  v.member("metric", x.metric, Since::first, "");
  v.member("value", x.value, Since::first, "");
  v.member("unit", x.unit, Since::first, "");
  v.member("origin", x.origin, Since::first, "");
}

template <class V, Is<Advice::Place> T>
void members(V& v, T& x) {
  v.member("file", x.file, Since::first, "");
  v.member("line", x.line, Since::first, "");
  v.member("ptx_line", x.ptx_line, Since::first, "");
}

template <class V, Is<Advice> T>
void members(V& v, T& x) {
  v.member("rule", x.rule, Since::first, "docs/rules.md");
  v.member("title", x.title, Since::first, "a line");
  v.member("text", x.text, Since::first, "what it is, why it costs, what to do");
  v.member("estimated_gain", x.estimated_gain, Since::first, "part of the time, 0 to 1; 0: not known");
  v.member("evidence", x.evidence, Since::first, "");
  v.member("places", x.places, Since::first, "the worst first");
  v.member("origin", x.origin, Since::first, "of the gain");
}

template <class V, Is<KernelProfile> T>
void members(V& v, T& x) {
  bool detail = !x.code.empty() || !x.lines.empty();
  v.member("name", x.name, Since::first, "demangled");
  v.member("mangled_name", x.mangled_name, Since::first, "");
  v.member("range", x.range, Since::first, "of a launch: the NVTX ranges it was issued in, joined by /");
  v.member("launches", x.launches, Since::first, "that are summed here");
  v.member("first_id", x.first_id, Since::first, "of the first of them: 0, 1, 2 in the order of issue");
  v.member("device", x.device, Since::first, "");
  v.member("grid", x.grid, Since::first, "X, Y, Z, of the first launch");
  v.member("block", x.block, Since::first, "likewise");
  v.member("shapes_differ", x.shapes_differ, Since::first, "launches with other shapes are summed here");
  v.member("metrics", x.metrics.by_name(), Since::first, "by name");
  v.member("bounds", x.bounds, Since::later, "what limits the estimated time, the longest first");
  v.member("sites", x.sites, Since::first, "memory instructions and branches that ran");
  v.member("advice", x.advice, Since::later, "the most useful first");
  v.member_if(detail, "code", x.code, Since::first,
              "detail: every PTX instruction of the kernel and of the functions it calls");
  v.member_if(detail, "graph", x.graph, Since::if_any, "detail: the flow graph with exact counts");
  v.member_if(detail, "block_trace", x.block_trace, Since::if_any,
              "detail: accesses of one block (`--block X,Y,Z`) of the first launch, in the order they ran");
  v.member_if(
      detail, "lines", x.lines, Since::first,
      "detail: by source line; a function that was inlined counts at its own lines, loads of parameters nowhere");
  v.member_if(
      detail, "inlined_lines", x.inlined_lines, Since::if_any,
      "detail: likewise, by the line of a call: what was inlined there, at any depth; `lines` has it at its own");
}

template <class V, Is<RangeKernel> T>
void members(V& v, T& x) {
  v.member("name", x.name, Since::first, "demangled");
  v.member("mangled_name", x.mangled_name, Since::first, "");
  v.member("launches", x.launches, Since::first, "that are summed here");
  v.member("sites", x.sites, Since::first, "as of the kernel; patterns: up to 3, of the first of these launches");
  v.member("bounds", x.bounds, Since::later, "what limits the estimated time, the longest first");
}

template <class V, Is<RangeProfile> T>
void members(V& v, T& x) {
  v.member("range", x.range, Since::first, "the names of the open ranges, the outermost first, joined by /");
  v.member("launches", x.launches, Since::first, "that are summed here");
  v.member("metrics", x.metrics.by_name(), Since::first, "by name");
  v.member("kernels", x.kernels, Since::if_any, "detail: of the first 4,096 pairs of range and kernel");
}

template <class V, Is<TransferProfile> T>
void members(V& v, T& x) {
  v.member("direction", x.direction, Since::first, "HtoD, DtoH, DtoD, PtoP, HtoH");
  v.member("host_memory", x.host_memory, Since::first, "pageable, pinned, -");
  v.member("count", x.count, Since::first, "");
  v.member("bytes", x.bytes, Since::first, "");
  v.member("estimated_ns", x.estimated_ns, Since::first, "");
}

template <class V, Is<LibraryCallProfile> T>
void members(V& v, T& x) {
  v.member("device", x.device, Since::first, "");
  v.member("function", x.function, Since::first, "cublasSgemm");
  v.member("arguments", x.arguments, Since::first, "512 x 512 x 512");
  v.member("by", x.by, Since::first, "what computed it: OpenBLAS");
  v.member("count", x.count, Since::first, "calls alike");
  v.member("estimated_ns", x.estimated_ns, Since::first, "of all of them");
}

template <class V, Is<TimelineEntry> T>
void members(V& v, T& x) {
  v.member("device", x.device, Since::first, "");
  v.member("stream", x.stream, Since::first, "of the host: the number of its thread");
  v.member("kind", x.kind, Since::first, "kernel, library call, copy, memset; of the host call, range");
  v.member("name", x.name, Since::first, "of the kernel or the call; the direction of a copy");
  v.member("begin_ns", x.begin_ns, Since::first, "since the program began");
  v.member("end_ns", x.end_ns, Since::first, "likewise");
  v.member("bytes", x.bytes, Since::first, "");
  v.member("work", x.work, Since::later, "the piece of work, as `launch` of findings; 0: nobody followed it");
}

template <class V, Is<Profile> T>
void members(V& v, T& x) {
  v.derived(
      "format", [] { return Profile::kFormatVersion; }, Since::first, "2; files of format 1 can be read");
  v.member("program", x.program, Since::first, "as the user gave it");
  v.member("gpu", x.gpu, Since::first, "the model's name");
  v.member("command", x.command, Since::first, "the program with its arguments");
  v.member("detail", x.detail, Since::later, "whether it was a detailed run");
  v.derived(
      "model", [&x] { return model_named(x.gpu); }, Since::later, "figures of the GPU; null: not known");
  v.derived(
      "definitions", [&x] { return definitions_of(x); }, Since::later, "by name, of every metric that occurs");
  v.member("sources", x.sources, Since::later, "detail: every file that a site or line names");
  v.member("allocations", x.allocations, Since::later, "detail: that patterns and traces point into");
  v.member("not_modelled", x.not_modelled, Since::first, "what the GPU has and the figures leave out, a line each");
  v.member("kernels", x.kernels, Since::first, "one for each kernel and device, launches summed");
  v.member("launches", x.launches, Since::later, "with `--launches` or `--csv`: one for each launch");
  v.member("chosen_launches", x.chosen_launches, Since::later,
           "the options that chose what was counted (`--kernel-name` and the like); empty: all launches");
  v.member("launches_left_out", x.launches_left_out, Since::later, "that ran, not counted: they were not chosen");
  v.member("ranges", x.ranges, Since::later, "one for each NVTX range, whatever ran in it");
  v.member("transfers", x.transfers, Since::first, "copies, by direction and host memory");
  v.member("library_calls", x.library_calls, Since::later,
           "of libraries that run on the host: nothing in them is counted");
  v.member("timeline", x.timeline, Since::later, "estimated, in the order of issue, the first 10,000");
  v.member("timeline_left_out", x.timeline_left_out, Since::later, "how many more");
  v.member("host_timeline", x.host_timeline, Since::later,
           "calls of the runtime and NVTX ranges by host thread (`stream`), in virtual time, the first 10,000");
  v.member("host_timeline_left_out", x.host_timeline_left_out, Since::later,
           "how many more, those that take no time too");
  v.member("checks", x.checks, Since::later, "groups that `warpgrind check` looked for; empty: it was no check");
  v.member("findings", x.findings, Since::first, "errors and warnings");
}

}  // namespace warpgrind::results
