// Types of the driver API, from the header that programs are compiled with (include/cuda.h). Most handles point to the
// runtime's objects, since both APIs share them: a CUstream is a cudaStream_t, a CUarray is a cudaArray_t.
#pragma once

#include "host/types.h"

namespace warpgrind::cuda {
struct Context;
struct SurfaceReference;
struct TextureReference;
}  // namespace warpgrind::cuda

#define CUctx_st warpgrind::cuda::Context
#define CUstream_st warpgrind::host::Stream
#define CUevent_st warpgrind::host::Event
#define CUgraph_st warpgrind::host::Graph
#define CUgraphNode_st warpgrind::host::GraphNode
#define CUgraphExec_st warpgrind::host::GraphExec
#define CUmemPoolHandle_st warpgrind::host::MemPool
#define CUarray_st warpgrind::host::ArrayHandle
#define CUmipmappedArray_st warpgrind::host::MipmappedArrayHandle
#define CUkern_st warpgrind::host::KernelHandle
#define CUfunc_st warpgrind::host::KernelHandle
#define CUlib_st warpgrind::host::LibraryHandle
#define CUmod_st warpgrind::host::LibraryHandle
#define CUlinkState_st warpgrind::host::LinkState
#define CUuserObject_st warpgrind::host::UserObject
#define CUtexref_st warpgrind::cuda::TextureReference
#define CUsurfref_st warpgrind::cuda::SurfaceReference
#include "cuda.h"
#undef CUctx_st
#undef CUstream_st
#undef CUevent_st
#undef CUgraph_st
#undef CUgraphNode_st
#undef CUgraphExec_st
#undef CUmemPoolHandle_st
#undef CUarray_st
#undef CUmipmappedArray_st
#undef CUkern_st
#undef CUfunc_st
#undef CUlib_st
#undef CUmod_st
#undef CUlinkState_st
#undef CUuserObject_st
#undef CUtexref_st
#undef CUsurfref_st
