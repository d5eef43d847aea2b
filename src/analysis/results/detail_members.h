// Member tables (members.h) of the data that only a detailed run gathers.
#pragma once

#include "results/detail.h"
#include "results/members.h"

namespace warpgrind::results {

template <class V, Is<SourceFile> T>
void members(V& v, T& x) {
  v.member("file", x.file, Since::first, "same name as in sites and lines");
  v.member("text", x.text, Since::first, "");
  v.member("missing", x.missing, Since::if_any, "reason why it could not be read");
  v.member("changed", x.changed, Since::if_any, "the file is newer than the program, so lines may have moved");
}

template <class V, Is<InlinedAt> T>
void members(V& v, T& x) {
  v.member("file", x.file, Since::first, "the caller's source");
  v.member("line", x.line, Since::first, "of the call");
  v.member("function", x.function, Since::first, "that was inlined");
}

template <class V, Is<HeaderPlace> T>
void members(V& v, T& x) {
  v.member("file", x.file, Since::first, "the header");
  v.member("line", x.line, Since::first, "");
  v.member("function", x.function, Since::first, "its function");
}

template <class V, Is<CodeRow> T>
void members(V& v, T& x) {
  v.member("ptx_line", x.ptx_line, Since::first, "");
  v.member("text", x.text, Since::first, "");
  v.member("block", x.block, Since::first, "of the graph: its id");
  v.member("file", x.file, Since::first, "source; empty: not known");
  v.member("line", x.line, Since::first, "0: not known");
  v.member("function", x.function, Since::later, "empty: the kernel itself");
  v.member("inlined_at", x.inlined_at, Since::later, "calls around the line that were inlined, innermost first");
  v.member("header", x.header, Since::later,
           "if a function of a header was inlined at the line: the instruction's place there");
}

template <class V, Is<GraphBlock> T>
void members(V& v, T& x) {
  v.index("id", "index in this list");
  v.member("first_ptx_line", x.first_ptx_line, Since::first, "");
  v.member("last_ptx_line", x.last_ptx_line, Since::first, "");
  v.member("file", x.file, Since::first, "");
  v.member("line", x.line, Since::first, "");
  v.member("warps", x.warps, Since::first, "warps that executed it");
  v.member("lanes", x.lanes, Since::first, "likewise");
  v.member("function", x.function, Since::if_any, "function, if it is not the kernel itself");
}

template <class V, Is<GraphEdge> T>
void members(V& v, T& x) {
  v.member("from", x.from, Since::first, "block");
  v.member("to", x.to, Since::first, "block; -1: the function's end");
  v.member("warps", x.warps, Since::first,
           "warps that took it; a warp that splits takes several edges, so the sum can exceed the warps of the block");
  v.member("lanes", x.lanes, Since::first, "likewise");
}

template <class V, Is<FlowGraph> T>
void members(V& v, T& x) {
  v.member("blocks", x.blocks, Since::first, "basic blocks");
  v.member("edges", x.edges, Since::first, "");
  v.member("entry", x.entry, Since::first, "the kernel's first block");
}

template <class V, Is<BoundProfile> T>
void members(V& v, T& x) {
  v.member("limit", x.limit, Since::first, "as text");
  v.member("ns", x.ns, Since::first, "");
}

template <class V, Is<AllocationProfile> T>
void members(V& v, T& x) {
  v.member("id", x.id, Since::first, "");
  v.member("bytes", x.bytes, Since::first, "");
  v.member("address", Hex{x.address}, Since::first, "in hexadecimal");
}

template <class V, Is<Transaction> T>
void members(V& v, T& x) {
  v.member("address_offset", x.address_offset, Since::first, "from the base");
  v.member("bytes", x.bytes, Since::first, "");
}

template <class V, Is<PatternBase> T>
void members(V& v, T& x) {
  v.member("allocation", x.allocation, Since::first, "id of the allocation; null: none");
  v.member("offset", x.offset, Since::first, "in the allocation, or in shared memory");
}

template <class V, Is<TileProfile> T>
void members(V& v, T& x) {
  v.member("site", x.site, Since::first, "of the tensor copy that wrote it: its id");
  v.member("begin", x.begin, Since::first, "first byte in shared memory");
  v.member("pitch", x.pitch, Since::first, "bytes from one row of the box to the next");
  v.member("swizzle", x.swizzle, Since::first, "as of the copy");
  v.member("element", x.element, Since::first, "likewise");
}

template <class V, Is<AccessPattern> T>
void members(V& v, T& x) {
  v.member("count", x.count, Since::first, "how often");
  v.member("mask", Hex{x.mask, 10}, Since::first, "active lanes, in hexadecimal");
  v.member("lane_bytes", x.lane_bytes, Since::first, "bytes per lane");
  v.member("space", x.space, Since::first, "memory space of the access");
  v.member("addresses", LaneAddresses{x.mask, x.addresses}, Since::first,
           "32 offsets from the base (the lowest address); null for an inactive lane");
  v.member("base", x.base, Since::first, "of an example");
  v.member("alignment", x.alignment, Since::first, "base modulo 256; shared memory: modulo one row of the banks");
  v.member("sectors", x.sectors, Since::first, "per request (atomics: over all rounds), like the next members");
  v.member("lines_128", x.lines_128, Since::first, "");
  v.member("wavefronts", x.wavefronts, Since::first, "per request to shared memory");
  v.member("ideal_sectors", x.ideal_sectors, Since::first, "");
  v.member("ideal_wavefronts", x.ideal_wavefronts, Since::first, "");
  v.member("transactions", x.transactions, Since::first,
           "only for GPUs whose rule is not `sectors_32`; with that rule, sectors are transactions");
  v.member("block", x.block, Since::first, "block of the example: the lowest of the first launch");
  v.member("warp", x.warp, Since::first, "warp of the example");
  v.member("tile", x.tile, Since::if_any, "box of a tensor copy that holds all bytes of the example");
}

template <class V, Is<TensorDimension> T>
void members(V& v, T& x) {
  v.member("size", x.size, Since::first, "elements of the tensor");
  v.member("stride", x.stride, Since::first, "bytes from one element to the next; 0: packed");
  v.member("box", x.box, Since::first, "elements of the box, before the element stride; 0: im2col");
  v.member("element_stride", x.element_stride, Since::first, "");
  v.member("coordinate", x.coordinate, Since::first, "of the example");
  v.member("lowest", x.lowest, Since::first, "coordinate of all copies");
  v.member("highest", x.highest, Since::first, "likewise");
  v.member("lower", x.lower, Since::first, "im2col: corner of the bounding box");
  v.member("upper", x.upper, Since::first, "likewise, from the last element on");
  v.member("offset", x.offset, Since::first, "im2col: of the pixels");
}

template <class V, Is<TensorRow> T>
void members(V& v, T& x) {
  v.member("row", x.row, Since::first, "coordinate 1 of a row of the box");
}

template <class V, Is<TensorCopyProfile> T>
void members(V& v, T& x) {
  v.member("count", x.count, Since::first, "how often");
  v.member("operation", x.operation, Since::first, "load, store, reduce, prefetch");
  v.member("mode", x.mode, Since::first, "tile, rows (.tile::gather4, .tile::scatter4), im2col");
  v.member("element", x.element, Since::first, "type of the elements");
  v.member("interleave", x.interleave, Since::first, "none, 16B, 32B");
  v.member("swizzle", x.swizzle, Since::first, "none, or the end of CU_TENSOR_MAP_SWIZZLE_...");
  v.member("promotion", x.promotion, Since::first, "none, or the end of CU_TENSOR_MAP_L2_PROMOTION_...");
  v.member("fill", x.fill, Since::first, "zero, NaN: what a load gives outside of the tensor");
  v.member("dimensions", x.dimensions, Since::first, "innermost first");
  v.member("rows", x.rows, Since::first, "mode rows: the four rows of the example");
  v.member("channels", x.channels, Since::first, "im2col: elements of a pixel in the box");
  v.member("pixels", x.pixels, Since::first, "im2col: pixels of the box");
  v.member("halo", x.halo, Since::first, "im2col::w: pixels of the halo; im2col::w::128: of each quarter's");
  v.member("tensor", x.tensor, Since::first, "element 0 of the tensor");
  v.member("shared", x.shared, Since::first, "of the example: first byte of the box in shared memory");
  v.member("blocks", x.blocks, Since::first, "multicast: number of blocks that receive the box; otherwise 0");
  v.member("bytes", x.bytes, Since::first, "of the box in shared memory");
  v.member("inside", x.inside, Since::first, "of these, bytes of the tensor; the others lie outside");
  v.member("sectors", x.sectors, Since::first, "of the tensor's memory that one copy moves");
  v.member("block", x.block, Since::first, "block of the example: the lowest of the first launch");
  v.member("warp", x.warp, Since::first, "warp of the example");
}

template <class V, Is<OperandProfile> T>
void members(V& v, T& x) {
  v.member("pieces", x.pieces, Since::first, "of 16 bytes that all requests read");
  v.member("swizzle", x.swizzle, Since::first, "of the matrix descriptor: none, 32B, 64B, 128B");
  v.member("base", x.base, Since::first, "base offset of the descriptor");
  v.member("first", x.first, Since::first, "lowest byte of shared memory of the first request");
  v.member("tile", x.tile, Since::if_any, "box of a tensor copy that the first request reads");
  v.member("first_row", x.first_row, Since::first, "of the boxes");
  v.member("last_row", x.last_row, Since::first, "");
  v.member("first_byte", x.first_byte, Since::first, "of these rows");
  v.member("last_byte", x.last_byte, Since::first, "");
}

template <class V, Is<TraceEventProfile> T>
void members(V& v, T& x) {
  v.member("site", x.site, Since::first, "id of the site");
  v.member("warp", x.warp, Since::first, "");
  v.member("mask", Hex{x.mask, 10}, Since::first, "active lanes, in hexadecimal");
  v.member("addresses", LaneAddresses{x.mask, x.addresses}, Since::first,
           "32 offsets in the allocation, or in shared or local memory; null for an inactive lane");
  v.member("allocation", x.allocation, Since::first, "id of the allocation; null: none");
  v.member("phase", x.phase, Since::first, "barriers that the warp has passed");
}

template <class V, Is<BlockTraceProfile> T>
void members(V& v, T& x) {
  v.member("block", x.block, Since::first, "X, Y, Z");
  v.member("events", x.events, Since::first, "at most 4,096, fewer when there are more than 8 kernels");
  v.member("left_out", x.left_out, Since::first, "number of omitted events");
}

}  // namespace warpgrind::results
