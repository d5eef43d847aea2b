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

struct TileProfile {             // a box as a tensor copy has put it into shared memory
  std::uint32_t site = 0;        // SiteProfile::id of the copy
  std::uint64_t begin = 0;       // its first byte in shared memory
  std::uint32_t pitch = 0;       // bytes from one row to the next
  std::string swizzle, element;  // the words of gpu/tensor_names.h
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
  std::optional<TileProfile> tile;  // shared memory: the box that holds all bytes of the example
};

struct TensorDimension {               // of a tensor and of the box that a copy moves; dimension 0 is the innermost
  std::uint64_t size = 0, stride = 0;  // elements; bytes from one element to the next, 0: packed (dimension 0)
  std::uint32_t box = 0, element_stride = 1;
  std::int64_t coordinate = 0;           // of the example
  std::int64_t lowest = 0, highest = 0;  // coordinates of all copies
  std::int64_t lower = 0, upper = 0;     // im2col: corners of the bounding box
  std::uint32_t offset = 0;              // im2col: of the pixels
};

struct TensorRow {  // .tile::gather4 and .tile::scatter4: one of the four rows
  std::int64_t row = 0;
};

// Tensor copies of one instruction by equal maps of equal tensors. Their boxes begin at the same place of the swizzle's
// pattern and reach out of the tensor on the same sides.
struct TensorCopyProfile {
  std::uint64_t count = 0;
  std::string operation;  // load, store, reduce, prefetch
  // The words of gpu/tensor_names.h.
  std::string mode, element, interleave, swizzle, promotion, fill;
  std::vector<TensorDimension> dimensions;
  std::vector<TensorRow> rows;                       // of the example
  std::uint32_t channels = 0, pixels = 0;            // im2col: of the box
  std::uint32_t halo = 0;                            // im2col::w: further pixels; im2col::w::128: of a quarter
  PatternBase tensor;                                // element 0 of the tensor
  std::uint64_t shared = 0;                          // first byte of the box in shared memory
  std::uint32_t blocks = 0;                          // multicast: blocks that receive the box; else 0
  std::uint64_t bytes = 0, inside = 0, sectors = 0;  // of the box in shared memory; of these, from the tensor; of L2
  Dim3 block{0, 0, 0};                               // of the example
  std::uint32_t warp = 0;
};

// Matrices in shared memory that wgmma reads by descriptors of one layout, from boxes of one tensor copy.
struct OperandProfile {
  std::uint64_t pieces = 0;                     // of 16 bytes, by all requests
  std::string swizzle;                          // of the descriptor, in the words of gpu/tensor_names.h
  std::uint32_t base = 0;                       // the descriptor's base offset
  std::uint64_t first = 0;                      // lowest byte of shared memory of the first request
  std::optional<TileProfile> tile;              // the box that it reads first; its layout is that of all; none: unknown
  std::uint64_t first_row = 0, last_row = 0;    // of the boxes
  std::uint64_t first_byte = 0, last_byte = 0;  // of the rows
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
