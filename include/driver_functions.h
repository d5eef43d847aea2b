// make_cudaExtent and its like (CUDA Runtime API reference, "Memory Management").
#ifndef __DRIVER_FUNCTIONS_H__
#define __DRIVER_FUNCTIONS_H__

#include "driver_types.h"

static __inline__ __host__ __attribute__((unused)) cudaPitchedPtr make_cudaPitchedPtr(void* d, size_t p, size_t xsz,
                                                                                      size_t ysz) {
  cudaPitchedPtr s;
  s.ptr = d, s.pitch = p, s.xsize = xsz, s.ysize = ysz;
  return s;
}
static __inline__ __host__ __attribute__((unused)) cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  cudaPos p;
  p.x = x, p.y = y, p.z = z;
  return p;
}
static __inline__ __host__ __attribute__((unused)) cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) {
  cudaExtent e;
  e.width = w, e.height = h, e.depth = d;
  return e;
}

#endif
