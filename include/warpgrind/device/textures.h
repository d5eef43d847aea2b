// Part of wrapper.h: texture fetches through texture objects (CUDA C++ Programming Guide, "Texture Functions"). The PTX
// of each fetch comes from __clang_cuda_texture_intrinsics.h, which uses NVIDIA's internal names; this file defines the
// documented functions. T: one, two or four elements of 8, 16 or 32 bits. With cudaReadModeNormalizedFloat, T is float.
#pragma once

#if __cplusplus >= 201103L
#include <__clang_cuda_texture_intrinsics.h>

#define WG_TEX static __device__ __forceinline__
// name, clang's name of the operation, (parameters after the texture object), (arguments)
#define WG_FETCH(name, operation, parameters, arguments)                       \
  template <class T>                                                           \
  WG_TEX T name(cudaTextureObject_t object WG_STRIP parameters) {              \
    T value;                                                                   \
    __nv_tex_surf_handler(operation, &value, object WG_STRIP arguments);       \
    return value;                                                              \
  }                                                                            \
  template <class T>                                                           \
  WG_TEX void name(T* value, cudaTextureObject_t object WG_STRIP parameters) { \
    __nv_tex_surf_handler(operation, value, object WG_STRIP arguments);        \
  }
#define WG_STRIP(...) , __VA_ARGS__
WG_FETCH(tex1Dfetch, "__tex1Dfetch_v2", (int x), (x))
WG_FETCH(tex1D, "__tex1D_v2", (float x), (x))
WG_FETCH(tex1DLod, "__tex1DLod_v2", (float x, float level), (x, level))
WG_FETCH(tex1DGrad, "__tex1DGrad_v2", (float x, float dx, float dy), (x, dx, dy))
WG_FETCH(tex2D, "__tex2D_v2", (float x, float y), (x, y))
WG_FETCH(tex2DLod, "__tex2DLod_v2", (float x, float y, float level), (x, y, level))
WG_FETCH(tex2DGrad, "__tex2DGrad_v2", (float x, float y, float2 dx, float2 dy), (x, y, &dx, &dy))
WG_FETCH(tex2Dgather, "__tex2Dgather_v2", (float x, float y, int component = 0), (x, y, component))
WG_FETCH(tex3D, "__tex3D_v2", (float x, float y, float z), (x, y, z))
WG_FETCH(tex3DLod, "__tex3DLod_v2", (float x, float y, float z, float level), (x, y, z, level))
WG_FETCH(tex3DGrad, "__tex3DGrad_v2", (float x, float y, float z, float4 dx, float4 dy), (x, y, z, &dx, &dy))
WG_FETCH(tex1DLayered, "__tex1DLayered_v2", (float x, int layer), (x, layer))
WG_FETCH(tex1DLayeredLod, "__tex1DLayeredLod_v2", (float x, int layer, float level), (x, layer, level))
WG_FETCH(tex1DLayeredGrad, "__tex1DLayeredGrad_v2", (float x, int layer, float dx, float dy), (x, layer, dx, dy))
WG_FETCH(tex2DLayered, "__tex2DLayered_v2", (float x, float y, int layer), (x, y, layer))
WG_FETCH(tex2DLayeredLod, "__tex2DLayeredLod_v2", (float x, float y, int layer, float level), (x, y, layer, level))
WG_FETCH(tex2DLayeredGrad, "__tex2DLayeredGrad_v2", (float x, float y, int layer, float2 dx, float2 dy),
         (x, y, layer, &dx, &dy))
WG_FETCH(texCubemap, "__texCubemap_v2", (float x, float y, float z), (x, y, z))
WG_FETCH(texCubemapLod, "__texCubemapLod_v2", (float x, float y, float z, float level), (x, y, z, level))
WG_FETCH(texCubemapGrad, "__texCubemapGrad_v2", (float x, float y, float z, float4 dx, float4 dy), (x, y, z, &dx, &dy))
WG_FETCH(texCubemapLayered, "__texCubemapLayered_v2", (float x, float y, float z, int layer), (x, y, z, layer))
WG_FETCH(texCubemapLayeredLod, "__texCubemapLayeredLod_v2", (float x, float y, float z, int layer, float level),
         (x, y, z, layer, level))
WG_FETCH(texCubemapLayeredGrad, "__texCubemapLayeredGrad_v2",
         (float x, float y, float z, int layer, float4 dx, float4 dy), (x, y, z, layer, &dx, &dy))
#undef WG_FETCH
#undef WG_STRIP
#undef WG_TEX
#endif
