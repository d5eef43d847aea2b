// Copies and fills of all forms, and their issue to a stream. host_blocks: the call returns when the operation is done.
#pragma once

#include "semantics/arrays.h"
#include "semantics/operation.h"

namespace warpgrind::semantics {

cudaError_t issue_copy(const CopyOperation& copy, cudaStream_t stream, bool host_blocks);
cudaError_t issue_fill(const FillOperation& fill, cudaStream_t stream, bool host_blocks);
// A synchronous fill. For pinned or managed memory, the call returns when the memory is filled (CUDA runtime API, "API
// synchronization behavior").
cudaError_t fill_now(const FillOperation& fill);

CopySide in_memory(const void* pointer, std::size_t pitch, std::size_t rows);  // bytes per row, rows per slice
CopySide in_array(const ArrayHandle* array, std::size_t x, std::size_t y);     // x in bytes
CopyOperation rectangle(CopySide to, CopySide from, std::size_t width, std::size_t height, cudaMemcpyKind kind);

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind, cudaStream_t stream, bool host_blocks);
cudaError_t copy_peer(void* to, int to_device, const void* from, int from_device, std::size_t count,
                      cudaStream_t stream, bool host_blocks);
cudaError_t copy_to_array(ArrayHandle* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                          std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                          bool host_blocks);
cudaError_t copy_from_array(void* to, std::size_t pitch, const ArrayHandle* from, std::size_t x, std::size_t y,
                            std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                            bool host_blocks);
// Copies of cudaMemcpyToArray etc., whose byte count runs over the ends of rows. They have at most a part of a first
// row, whole rows, and a part of a last row.
cudaError_t copy_array_bytes(const ArrayHandle* array, std::size_t x, std::size_t y, const void* other,
                             std::size_t count, cudaMemcpyKind kind, bool to_array, cudaStream_t stream,
                             bool host_blocks);
cudaError_t copy_symbol(const void* symbol, std::size_t offset, const void* other, std::size_t count,
                        cudaMemcpyKind kind, bool to_symbol, cudaStream_t stream, bool host_blocks);
cudaError_t symbol_copy(const void* symbol, std::size_t offset, const void* other, std::size_t count,
                        cudaMemcpyKind kind, bool to_symbol, CopyOperation& out);

// Copies of boxes. Extents are in elements of the array if an array takes part, else in bytes.
cudaError_t make_copy(const cudaMemcpy3DParms& parameters, CopyOperation& out);
cudaError_t copy_3d(const cudaMemcpy3DParms* parameters, cudaStream_t stream, bool host_blocks);
cudaError_t copy_3d_peer(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream, bool host_blocks);

FillOperation plain_fill(void* pointer, int value, std::size_t count);
FillOperation rectangle_fill(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height);
FillOperation box_fill(const cudaPitchedPtr& pointer, int value, const cudaExtent& extent);

// ---- The runtime API's functions of the same names.
cudaError_t copy_2d_array_to_array(cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from,
                                   std::size_t from_x, std::size_t from_y, std::size_t width, std::size_t height,
                                   cudaMemcpyKind kind);
cudaError_t get_symbol_address(void** out, const void* symbol);
cudaError_t get_symbol_size(std::size_t* out, const void* symbol);

}  // namespace warpgrind::semantics
