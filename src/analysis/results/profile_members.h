// Member tables (members.h) of a profile, except those of findings and of the data of a detailed run.
#pragma once

#include <string_view>

#include "results/derived.h"
#include "results/detail_members.h"
#include "results/finding_members.h"
#include "results/members.h"
#include "results/profile.h"
#include "results/recording_members.h"

namespace warpgrind::results {

template <class V, Is<Banks> T>
void members(V& v, T& x) {
  v.member("banks", x.banks, Since::first, "of shared memory");
  v.member("bank_bytes", x.bank_bytes, Since::first, "width of a bank");
  v.member("lanes", x.lanes, Since::first, "lanes that are served at a time");
}

template <class V, Is<Model> T>
void members(V& v, T& x) {
  v.member("id", x.id, Since::first, "name for --gpu");
  v.member("name", x.name, Since::first, "");
  v.member("cc", x.cc, Since::first, "compute capability, as a string");
  v.member("sm_count", x.sm_count, Since::first, "");
  v.member("sm_clock_mhz", x.sm_clock_mhz, Since::first, "");
  v.member("fp32_gflops", WithPoint{x.fp32_gflops}, Since::first, "peak");
  v.member("fp64_gflops", WithPoint{x.fp64_gflops}, Since::first, "peak");
  v.member("dram_gbs", WithPoint{x.dram_gbs}, Since::first, "theoretical; in 1e9 bytes per second");
  v.member("dram_achievable_fraction", WithPoint{x.dram_achievable_fraction}, Since::first, "of dram_gbs");
  v.member("l2_bytes", x.l2_bytes, Since::first, "");
  v.member("shared_per_sm", x.shared_per_sm, Since::first, "bytes");
  v.member("max_warps_per_sm", x.max_warps_per_sm, Since::first, "");
  v.member("link_gbps_pinned", x.link_gbps_pinned, Since::first, "to the host, one direction; in 1e9 bytes per second");
  v.member("link_gbps_pageable", x.link_gbps_pageable, Since::first, "likewise");
  v.member("coalescing", x.coalescing, Since::first, "half_warp_strict, half_warp_segments, lines_128, sectors_32");
  v.member("banks", x.banks, Since::first, "");
}

template <class V, Is<Definition> T>
void members(V& v, T& x) {
  v.member("unit", x.unit, Since::first, "");
  v.member("origin", x.origin, Since::first, "");
  v.member("definition", x.definition, Since::first, "as in docs/counters.md");
}

template <class V, Is<Metric> T>
void members(V& v, T& x) {
  v.member("value", NumberOrWord{x.value, x.text}, Since::first, "a number; text for a few metrics");
  v.member("unit", x.unit, Since::first, "unit as in Nsight; empty: a plain count");
  v.member("origin", x.origin, Since::first, "exact, modelled, estimated, measured, sampled");
}

template <class V, Is<SiteProfile> T>
void members(V& v, T& x) {
  bool patterns = !x.patterns.empty() || x.patterns_other != 0;
  v.member("id", x.id, Since::first, "index in the kernel's list");
  v.member("kind", x.kind, Since::first,
           "load, store, atomic, reduction, texture, surface, async_copy, bulk_copy, mbarrier, fence, barrier, call, "
           "branch, launch_control, matrix");
  v.member("space", x.space, Since::first, "global, shared, local, generic and so on; -: of a branch");
  v.member("function", x.function, Since::first, "mangled");
  v.member("ptx", x.ptx, Since::first, "the instruction; empty: of a branch");
  v.member("file", x.file, Since::first, "source; empty: not known");
  v.member("line", x.line, Since::first, "0: not known");
  v.member("ptx_line", x.ptx_line, Since::first, "");
  v.member("metrics", x.metrics.by_name(), Since::first, "by name");
  v.member_if(patterns, "patterns", x.patterns, Since::first, "detail: up to 8, most frequent first");
  v.member_if(patterns, "patterns_other", x.patterns_other, Since::first,
              "detail: number of requests with other patterns");
  v.member_if(patterns, "worst", x.worst, Since::first, "detail: index into patterns");
  v.member_if(patterns, "best", x.best, Since::first, "detail: index into patterns");
  bool copies = !x.copies.empty();
  v.member_if(
      copies, "copies", x.copies, Since::first,
      "detail: up to 8 kinds of tensor copies, most frequent first; the one with the most bytes outside is there");
  v.member_if(copies, "copies_other", x.copies_other, Since::first, "detail: number of tensor copies of other kinds");
  v.member("operands", x.operands, Since::if_any, "detail: up to 8 kinds of matrices that wgmma reads by descriptors");
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
  v.member("title", x.title, Since::first, "one line");
  v.member("text", x.text, Since::first, "the problem, its cost and the remedy");
  v.member("estimated_gain", x.estimated_gain, Since::first,
           "1 - without_cause_ns / time_ns; 0: a remark without a gain");
  v.member("time_ns", x.time_ns, Since::later, "mean of a launch, by the time model");
  v.member("without_cause_ns", x.without_cause_ns, Since::later, "the same if the cause is removed");
  v.member("evidence", x.evidence, Since::first, "");
  v.member("places", x.places, Since::first, "worst first");
  v.member("origin", x.origin, Since::first, "origin of the gain");
}

template <class V, Is<WorkProfile> T>
void members(V& v, T& x) {
  v.member("launches", x.launches, Since::first, "number of such launches");
  v.member("l2_dirty_bytes", x.l2.dirty_bytes, Since::first, "dirty data in L2 when it begins");
  v.member("l2_resident", x.l2.resident, Since::first, "part of its memory that is in L2, 0 to 1");
  v.member("l2_code", x.l2.code, Since::first, "part of its machine code that is in L2, 0 to 1");
  v.member("block_read_sectors", x.block_read_sectors, Since::first,
           "different sectors that a block reads, summed over the blocks");
  // These figures came later: older files lack them, and 0 means none. `alu` and `fma` of older files are by PTX, not
  // by pipe.
  const auto since = [](std::string_view name) {
    return name.starts_with("cas_") || name.starts_with("uneven_") || name.starts_with("atomic_hot_") ||
                   name == "register_reads" || name == "integer_fma" || name == "empty_blocks"
               ? Since::later
               : Since::first;
  };
#define WG_WORK(MEMBER, UNIT, DEFINITION) v.member(#MEMBER, x.work.MEMBER, since(#MEMBER), DEFINITION);
#include "timing/launch_work.inc"
#undef WG_WORK
}

template <class V, Is<KernelProfile> T>
void members(V& v, T& x) {
  bool detail = !x.code.empty() || !x.lines.empty();
  v.member("name", x.name, Since::first, "demangled");
  v.member("mangled_name", x.mangled_name, Since::first, "");
  v.member("range", x.range, Since::first, "of a launch: the NVTX ranges around it, joined by /");
  v.member("launches", x.launches, Since::first, "number of launches in this sum");
  v.member("first_id", x.first_id, Since::first, "number of the first launch, from 0 in the order of issue");
  v.member("device", x.device, Since::first, "");
  v.member("grid", x.grid, Since::first, "X, Y, Z, of the first launch");
  v.member("block", x.block, Since::first, "likewise");
  v.member("shapes_differ", x.shapes_differ, Since::first, "the sum contains launches of other shapes");
  v.member("metrics", x.metrics.by_name(), Since::first, "by name");
  v.member("bounds", x.bounds, Since::later, "limits of the estimated time, longest first");
  v.member("work", x.work, Since::if_any,
           "of a sum: what the time model knows of its launches, up to 16 different ones");
  v.member("sites", x.sites, Since::first, "memory instructions and branches that ran");
  v.member("advice", x.advice, Since::later, "most useful first");
  v.member_if(detail, "code", x.code, Since::first,
              "detail: every PTX instruction of the kernel and of the functions it calls");
  v.member_if(detail, "graph", x.graph, Since::if_any, "detail: the flow graph with exact counts");
  v.member_if(detail, "block_trace", x.block_trace, Since::if_any,
              "detail: accesses of one block (`--block X,Y,Z`) of the first launch, in the order they ran");
  v.member_if(detail, "lines", x.lines, Since::first,
              "detail: by source line; the user's inlined functions count at their own lines, those of headers at the "
              "line of the "
              "call; loads of parameters do not count");
  v.member_if(
      detail, "inlined_lines", x.inlined_lines, Since::if_any,
      "detail: the same by the line of a call, with all code inlined there; `lines` counts it at its own lines");
}

template <class V, Is<RangeKernel> T>
void members(V& v, T& x) {
  v.member("name", x.name, Since::first, "demangled");
  v.member("mangled_name", x.mangled_name, Since::first, "");
  v.member("launches", x.launches, Since::first, "number of launches in this sum");
  v.member("sites", x.sites, Since::first, "as for a kernel; patterns: up to 3, from the first of these launches");
  v.member("bounds", x.bounds, Since::later, "limits of the estimated time, longest first");
}

template <class V, Is<RangeProfile> T>
void members(V& v, T& x) {
  v.member("range", x.range, Since::first, "names of the open ranges, outermost first, joined by /");
  v.member("launches", x.launches, Since::first, "number of launches in this sum");
  v.member("metrics", x.metrics.by_name(), Since::first, "by name");
  v.member("kernels", x.kernels, Since::if_any, "detail: only for the first 4,096 pairs of range and kernel");
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
  v.member("by", x.by, Since::first, "host library that computed it: OpenBLAS");
  v.member("count", x.count, Since::first, "number of such calls");
  v.member("estimated_ns", x.estimated_ns, Since::first, "sum over these calls");
}

template <class V, Is<TimelineEntry> T>
void members(V& v, T& x) {
  v.member("device", x.device, Since::first, "");
  v.member("stream", x.stream, Since::first, "stream; for the host: number of its thread");
  v.member("kind", x.kind, Since::first, "kernel, library call, copy, memset; for the host: call, range");
  v.member("name", x.name, Since::first, "name of the kernel or call; for a copy: its direction");
  v.member("begin_ns", x.begin_ns, Since::first, "since the start of the program");
  v.member("end_ns", x.end_ns, Since::first, "likewise");
  v.member("bytes", x.bytes, Since::first, "");
  v.member("work", x.work, Since::later, "number of the work item, as `launch` of findings; 0: not recorded");
}

template <class V, Is<LaunchedKernel> T>
void members(V& v, T& x) {
  v.member("name", x.name, Since::first, "demangled");
  v.member("mangled_name", x.mangled_name, Since::first, "");
  v.member("launches", x.launches, Since::first, "number of launches, counted or not");
}

template <class V, Is<FailedCall> T>
void members(V& v, T& x) {
  v.member("call", x.call, Since::first, "cuModuleLoadData");
  v.member("error", x.error, Since::first, "CUDA_ERROR_INVALID_PTX");
  v.member("reason", x.reason, Since::first, "of the first; empty: not known");
  v.member("file", x.file, Since::first, "source of the first; empty: not known");
  v.member("line", x.line, Since::first, "0: not known");
  v.member("count", x.count, Since::first, "number of such errors");
}

template <class V, Is<Activity> T>
void members(V& v, T& x) {
  v.member("asked_for_devices", x.asked_for_devices, Since::first, "the program read the number of GPUs");
  v.member("used_device", x.used_device, Since::first, "the program had a context on a GPU");
  v.member("loaded_kernels", x.loaded_kernels, Since::first,
           "number of different kernels in the program, its libraries and the modules that it loaded");
  v.member("never_launched", x.never_launched, Since::first, "number of these that were not launched");
  v.member("launched", x.launched, Since::first, "kernels that ran, counted or not, by mangled name");
  v.member("failed_calls", x.failed_calls, Since::first,
           "errors of CUDA calls that the program has read; those that it ignored are findings");
  v.member("libraries_not_found", x.libraries_not_found, Since::first,
           "libraries of NVIDIA that the process opened by dlopen and that are not there");
}

template <class V, Is<Profile> T>
void members(V& v, T& x) {
  v.derived(
      "format", [] { return Profile::kFormatVersion; }, Since::first, "2; files of format 1 can be read");
  v.member("program", x.program, Since::first, "program as given by the user");
  v.member("gpu", x.gpu, Since::first, "name of the GPU model");
  v.member("command", x.command, Since::first, "the program with its arguments");
  v.member("detail", x.detail, Since::later, "true for a detailed run");
  v.derived(
      "model", [&x] { return model_named(x.gpu); }, Since::later, "figures of the GPU; null: not known");
  v.derived(
      "definitions", [&x] { return definitions_of(x); }, Since::later, "by name, for every metric in this file");
  v.member("sources", x.sources, Since::later, "detail: every source file of a site or line");
  v.member("allocations", x.allocations, Since::later, "detail: allocations that patterns and traces access");
  v.member("not_modelled", x.not_modelled, Since::first,
           "features of the GPU that the figures do not include, one line each");
  v.member("kernels", x.kernels, Since::first, "one per kernel and device: the sum of its launches");
  v.member("launches", x.launches, Since::later, "with `--launches` or `--csv`: one per launch");
  v.member("chosen_launches", x.chosen_launches, Since::later,
           "options that chose the counted launches (such as `--kernel-name`); empty: all launches");
  v.member("launches_left_out", x.launches_left_out, Since::later,
           "number of launches that ran but were not chosen for counting");
  v.member("ranges", x.ranges, Since::later, "one per NVTX range, with or without kernels");
  v.member("transfers", x.transfers, Since::first, "copies, by direction and host memory");
  v.member("library_calls", x.library_calls, Since::later,
           "calls of libraries that run on the host; nothing inside them is counted");
  v.member("timeline", x.timeline, Since::later, "estimated, in the order of issue; the first 10,000 items");
  v.member("timeline_left_out", x.timeline_left_out, Since::later, "number of further items");
  v.member("host_timeline", x.host_timeline, Since::later,
           "runtime calls and NVTX ranges per host thread (`stream`), in virtual time; the first 10,000");
  v.member("host_timeline_left_out", x.host_timeline_left_out, Since::later,
           "number of further items, including those that take no time");
  v.member("checks", x.checks, Since::later,
           "groups of checks that `warpgrind check` ran; empty: not a run of `check`");
  v.member("findings", x.findings, Since::first, "errors and warnings");
  v.member("activity", x.activity, Since::if_any, "what the program did with the GPU, and what it left undone");
  v.member("recordings", x.recordings, Since::if_any, "with `--steps`: one block of each kernel, step by step");
}

}  // namespace warpgrind::results
