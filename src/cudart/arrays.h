// CUDA arrays behind their handles.
#pragma once

#include <memory>

#include "cudart/api_types.h"
#include "cudart/operation.h"
#include "device/memory/array.h"

namespace warpgrind::cudart {

struct ArrayHandle {
  std::shared_ptr<device::Array> array;  // texture and surface objects and pending copies own it too
  cudaChannelFormatDesc format;
  unsigned flags = 0;
  int device = 0;
};

std::shared_ptr<device::Array> array_of(const ArrayHandle* handle);  // null: not a live array

cudaError_t make_copy(const cudaMemcpy3DParms& parameters, CopyOperation& out);
cudaError_t symbol_copy(const void* symbol, std::size_t offset, const void* other, std::size_t count,
                        cudaMemcpyKind kind, bool to_symbol, CopyOperation& out);

}  // namespace warpgrind::cudart
