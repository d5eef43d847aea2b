// Types of the runtime API, from the headers that programs are compiled with (include/). Only the objects behind
// handles are defined here: objects.h, graph.h, arrays.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpgrind::host {
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
}  // namespace warpgrind::host

#define WARPGRIND_LIBRARY  // no overloads for programs of earlier versions
#define CUstream_st warpgrind::host::Stream
#define CUevent_st warpgrind::host::Event
#define CUgraph_st warpgrind::host::Graph
#define CUgraphNode_st warpgrind::host::GraphNode
#define CUgraphExec_st warpgrind::host::GraphExec
#define CUmemPoolHandle_st warpgrind::host::MemPool
#define cudaArray warpgrind::host::ArrayHandle
#define cudaMipmappedArray warpgrind::host::MipmappedArrayHandle
#define CUkern_st warpgrind::host::KernelHandle
#define CUfunc_st warpgrind::host::KernelHandle
#define CUlib_st warpgrind::host::LibraryHandle
#define CUuserObject_st warpgrind::host::UserObject
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

namespace warpgrind::host {

const char* error_name(cudaError_t error);
const char* error_text(cudaError_t error);

}  // namespace warpgrind::host
