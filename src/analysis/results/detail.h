// Data that only a detailed run (`--detail`) gathers: source texts, counters by line, PTX code, and access patterns.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/types.h"

namespace warpgrind::results {

struct SourceFile {
  std::string file, text;
  std::string missing;   // why the text could not be read; empty: it was read
  bool changed = false;  // newer than the program: lines may have moved
};

struct InlinedAt {
  std::string file, function;
  std::uint32_t line = 0;
};

struct HeaderPlace {  // an instruction's own line, in a header's function that was inlined into the user's code
  std::string file, function;
  std::uint32_t line = 0;
};

struct CodeRow {  // one PTX instruction
  std::uint32_t ptx_line = 0, line = 0, block = 0;
  std::string text, file;
  std::string function;               // empty: the kernel itself
  std::vector<InlinedAt> inlined_at;  // calls around `line`, innermost first
  std::optional<HeaderPlace> header;
};

struct GraphBlock {  // a basic block; its id is its index
  std::uint32_t first_ptx_line = 0, last_ptx_line = 0, line = 0;
  std::string file, function;          // function: empty for the kernel itself
  std::uint64_t warps = 0, lanes = 0;  // sums over all executions of the block
};

struct GraphEdge {
  static constexpr std::int32_t kLeaves = -1;
  std::uint32_t from = 0;
  std::int32_t to = 0;                 // kLeaves: the function's end
  std::uint64_t warps = 0, lanes = 0;  // a warp that splits takes several edges
};

struct FlowGraph {
  std::vector<GraphBlock> blocks;
  std::vector<GraphEdge> edges;
  std::uint32_t entry = 0;
};

struct BoundProfile {  // a bound of the estimated time
  std::string limit;
  double ns = 0;
};

struct AllocationProfile {  // an allocation that contains a pattern's example
  std::uint32_t id = 0;
  std::uint64_t address = 0, bytes = 0;
};

struct Transaction {                // part of a request, by the GPU's coalescing rule
  std::int64_t address_offset = 0;  // from the pattern's base
  std::uint32_t bytes = 0;
};

struct PatternBase {                        // lowest address of a pattern's example
  std::optional<std::uint32_t> allocation;  // id of the allocation that contains it
  std::uint64_t offset = 0;                 // from the start of the allocation or of shared memory
};

// Equal requests of one instruction. They have the same active lanes, the same relative addresses, and the same
// position of the lowest address in a cache line (global memory) or in the banks (shared memory).
struct AccessPattern {
  std::uint64_t count = 0;
  LaneMask mask = 0;
  std::uint32_t lane_bytes = 0;
  std::string space;
  std::array<std::int64_t, kWarpSize> addresses{};  // bytes from the base, for the lanes in `mask`
  PatternBase base;
  std::uint32_t alignment = 0;  // base address modulo 256
  std::uint64_t sectors = 0, lines_128 = 0, wavefronts = 0, ideal_sectors = 0, ideal_wavefronts = 0;
  std::vector<Transaction> transactions;
  Dim3 block{0, 0, 0};  // of the example
  std::uint32_t warp = 0;
};

struct TraceEventProfile {            // one request of the traced block
  std::uint32_t site = 0;             // SiteProfile::id
  std::uint32_t warp = 0, phase = 0;  // phase: barriers that the warp has passed
  LaneMask mask = 0;
  std::optional<std::uint32_t> allocation;
  std::array<std::int64_t, kWarpSize> addresses{};  // offsets in the allocation, or in shared or local memory
};

struct BlockTraceProfile {  // requests of one block of the kernel's first launch, in execution order
  Dim3 block{0, 0, 0};
  std::vector<TraceEventProfile> events;
  std::uint64_t left_out = 0;
};

}  // namespace warpgrind::results
