// Types of the runtime API, from the headers that programs are compiled with (include/). Only the objects behind
// handles are defined here: objects.h, graph.h, arrays.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpgrind::semantics {
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
struct LinkState;
struct UserObject;
}  // namespace warpgrind::semantics

#define WARPGRIND_LIBRARY  // no overloads for programs of earlier versions
#define CUstream_st warpgrind::semantics::Stream
#define CUevent_st warpgrind::semantics::Event
#define CUgraph_st warpgrind::semantics::Graph
#define CUgraphNode_st warpgrind::semantics::GraphNode
#define CUgraphExec_st warpgrind::semantics::GraphExec
#define CUmemPoolHandle_st warpgrind::semantics::MemPool
#define cudaArray warpgrind::semantics::ArrayHandle
#define cudaMipmappedArray warpgrind::semantics::MipmappedArrayHandle
#define CUkern_st warpgrind::semantics::KernelHandle
#define CUfunc_st warpgrind::semantics::KernelHandle
#define CUlib_st warpgrind::semantics::LibraryHandle
#define CUuserObject_st warpgrind::semantics::UserObject
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

namespace warpgrind::semantics {

const char* error_name(cudaError_t error);
const char* error_text(cudaError_t error);

}  // namespace warpgrind::semantics
