// The types of the runtime API are those of the headers that programs are compiled with (include/). Only what a handle
// points to is ours: objects.h, graph.h, arrays.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpgrind::cudart {
struct Stream;
struct Event;
struct Graph;
struct GraphNode;
struct GraphExec;
struct MemPool;
struct ArrayHandle;
struct MipmappedArrayHandle;
struct KernelHandle;
struct LibraryHandle;
struct UserObject;
}  // namespace warpgrind::cudart

#define WARPGRIND_LIBRARY  // no overloads for programs of earlier versions
#define CUstream_st warpgrind::cudart::Stream
#define CUevent_st warpgrind::cudart::Event
#define CUgraph_st warpgrind::cudart::Graph
#define CUgraphNode_st warpgrind::cudart::GraphNode
#define CUgraphExec_st warpgrind::cudart::GraphExec
#define CUmemPoolHandle_st warpgrind::cudart::MemPool
#define cudaArray warpgrind::cudart::ArrayHandle
#define cudaMipmappedArray warpgrind::cudart::MipmappedArrayHandle
#define CUkern_st warpgrind::cudart::KernelHandle
#define CUfunc_st warpgrind::cudart::KernelHandle
#define CUlib_st warpgrind::cudart::LibraryHandle
#define CUuserObject_st warpgrind::cudart::UserObject
#include "cuda_runtime_api.h"
#undef CUstream_st
#undef CUevent_st
#undef CUgraph_st
#undef CUgraphNode_st
#undef CUgraphExec_st
#undef CUmemPoolHandle_st
#undef cudaArray
#undef cudaMipmappedArray
#undef CUkern_st
#undef CUfunc_st
#undef CUlib_st
#undef CUuserObject_st

namespace warpgrind::cudart {

const char* error_name(cudaError_t error);
const char* error_text(cudaError_t error);

}  // namespace warpgrind::cudart
