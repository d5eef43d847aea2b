// Types of the driver API, from the header that programs are compiled with (include/cuda.h). Most handles point to the
// runtime's objects, since both APIs share them: a CUstream is a cudaStream_t, a CUarray is a cudaArray_t.
#pragma once

#include "semantics/types.h"

namespace warpgrind::driver {
struct Context;
struct SurfaceReference;
struct TextureReference;
}  // namespace warpgrind::driver

#define CUctx_st warpgrind::driver::Context
#define CUstream_st warpgrind::semantics::Stream
#define CUevent_st warpgrind::semantics::Event
#define CUgraph_st warpgrind::semantics::Graph
#define CUgraphNode_st warpgrind::semantics::GraphNode
#define CUgraphExec_st warpgrind::semantics::GraphExec
#define CUmemPoolHandle_st warpgrind::semantics::MemPool
#define CUarray_st warpgrind::semantics::ArrayHandle
#define CUmipmappedArray_st warpgrind::semantics::MipmappedArrayHandle
#define CUkern_st warpgrind::semantics::KernelHandle
#define CUfunc_st warpgrind::semantics::KernelHandle
#define CUlib_st warpgrind::semantics::LibraryHandle
#define CUmod_st warpgrind::semantics::LibraryHandle
#define CUlinkState_st warpgrind::semantics::LinkState
#define CUuserObject_st warpgrind::semantics::UserObject
#define CUtexref_st warpgrind::driver::TextureReference
#define CUsurfref_st warpgrind::driver::SurfaceReference
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
