// The types of the driver API's functions, by name and the version since which they are so: PFN_cuMemAlloc_v3020, for
// what cuGetProcAddress gives.
#ifndef CUDATYPEDEFS_H
#define CUDATYPEDEFS_H
#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif
#define WG_DRIVER(name, symbol, version, parameters, arguments) \
  typedef CUresult(CUDAAPI* PFN_##name##_v##version) parameters;
#define WG_DRIVER_PTDS(name, symbol, version, parameters, arguments) \
  typedef CUresult(CUDAAPI* PFN_##name##_v##version) parameters;     \
  typedef CUresult(CUDAAPI* PFN_##name##_v##version##_ptds) parameters;
#define WG_DRIVER_PTSZ(name, symbol, version, parameters, arguments) \
  typedef CUresult(CUDAAPI* PFN_##name##_v##version) parameters;     \
  typedef CUresult(CUDAAPI* PFN_##name##_v##version##_ptsz) parameters;
#include "warpgrind/driver_rows.h"
#ifdef __cplusplus
}
#endif

#endif
