// What CUDA's samples share: checked calls and the choice of a device. Written for programs that include a header of
// this name and come without one; a program's own comes first on the include path.
#ifndef COMMON_HELPER_CUDA_H_
#define COMMON_HELPER_CUDA_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_runtime.h"
#include "helper_string.h"

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

static inline const char* _cudaGetErrorEnum(cudaError_t error) {
  return cudaGetErrorName(error);
}
// Other libraries' results, by number.
template <class T>
static inline const char* _cudaGetErrorEnum(T) {
  return "<unknown>";
}
template <class T>
void check(T result, char const* const function, const char* const file, int const line) {
  if (!result) return;
  fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, static_cast<unsigned int>(result),
          _cudaGetErrorEnum(result), function);
  exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)

#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
inline void __getLastCudaError(const char* message, const char* file, const int line) {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line, message,
          static_cast<int>(error), cudaGetErrorString(error));
  exit(EXIT_FAILURE);
}
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)
inline void __printLastCudaError(const char* message, const char* file, const int line) {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line, message,
          static_cast<int>(error), cudaGetErrorString(error));
}

inline int ftoi(float value) {
  return value >= 0 ? static_cast<int>(value + 0.5) : static_cast<int>(value - 0.5);
}

// Single-precision cores of a multiprocessor (CUDA C++ Programming Guide, "Arithmetic Instructions"), and the
// architecture's name.
struct wgSMVersion {
  int version, cores;
  const char* name;
};
inline const wgSMVersion& wgSMVersionOf(int major, int minor) {
  static const wgSMVersion versions[] = {
      {0x30, 192, "Kepler"},  {0x32, 192, "Kepler"},  {0x35, 192, "Kepler"},    {0x37, 192, "Kepler"},
      {0x50, 128, "Maxwell"}, {0x52, 128, "Maxwell"}, {0x53, 128, "Maxwell"},   {0x60, 64, "Pascal"},
      {0x61, 128, "Pascal"},  {0x62, 128, "Pascal"},  {0x70, 64, "Volta"},      {0x72, 64, "Xavier"},
      {0x75, 64, "Turing"},   {0x80, 64, "Ampere"},   {0x86, 128, "Ampere"},    {0x87, 128, "Ampere"},
      {0x89, 128, "Ada"},     {0x90, 128, "Hopper"},  {0xa0, 128, "Blackwell"}, {0xc0, 128, "Blackwell"}};
  const int count = sizeof(versions) / sizeof(versions[0]);
  for (int i = 0; i < count; i++)
    if (versions[i].version == (major << 4) + minor) return versions[i];
  return versions[count - 1];
}
inline int _ConvertSMVer2Cores(int major, int minor) {
  return wgSMVersionOf(major, minor).cores;
}
inline const char* _ConvertSMVer2ArchName(int major, int minor) {
  return wgSMVersionOf(major, minor).name;
}

inline int gpuDeviceInit(int device) {
  int count = 0;
  checkCudaErrors(cudaGetDeviceCount(&count));
  if (count == 0) {
    fprintf(stderr, "gpuDeviceInit() CUDA error: no devices supporting CUDA.\n");
    exit(EXIT_FAILURE);
  }
  if (device < 0) device = 0;
  if (device >= count) {
    fprintf(stderr, "gpuDeviceInit (-device=%d) is not a valid GPU: there are %d.\n", device, count);
    return -device;
  }
  int mode = 0, major = 0, minor = 0;
  checkCudaErrors(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device));
  checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  if (mode == cudaComputeModeProhibited || major < 1) return -1;
  checkCudaErrors(cudaSetDevice(device));
  printf("gpuDeviceInit() CUDA Device [%d]: \"%s\n", device, _ConvertSMVer2ArchName(major, minor));
  return device;
}
// The device with the most cores times clock.
inline int gpuGetMaxGflopsDeviceId() {
  int count = 0, best = 0;
  uint64_t most = 0;
  checkCudaErrors(cudaGetDeviceCount(&count));
  for (int device = 0; device < count; device++) {
    int major = 0, minor = 0, sms = 0, clock = 0;
    checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    if (cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device) != cudaSuccess) clock = 1;
    const uint64_t rate = static_cast<uint64_t>(sms) * _ConvertSMVer2Cores(major, minor) * clock;
    if (rate > most) most = rate, best = device;
  }
  return best;
}
// --device=N, or the fastest.
inline int findCudaDevice(int argc, const char** argv) {
  int device = 0;
  if (checkCmdLineFlag(argc, argv, "device")) {
    device = gpuDeviceInit(getCmdLineArgumentInt(argc, argv, "device="));
    if (device < 0) {
      printf("exiting...\n");
      exit(EXIT_FAILURE);
    }
    return device;
  }
  device = gpuGetMaxGflopsDeviceId();
  checkCudaErrors(cudaSetDevice(device));
  int major = 0, minor = 0;
  checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", device, _ConvertSMVer2ArchName(major, minor), major,
         minor);
  return device;
}
inline int findIntegratedGPU() {
  int count = 0;
  checkCudaErrors(cudaGetDeviceCount(&count));
  for (int device = 0; device < count; device++) {
    int integrated = 0;
    checkCudaErrors(cudaDeviceGetAttribute(&integrated, cudaDevAttrIntegrated, device));
    if (!integrated) continue;
    checkCudaErrors(cudaSetDevice(device));
    return device;
  }
  fprintf(stderr, "No integrated GPU.\n");
  return -1;
}
inline bool checkCudaCapabilities(int major, int minor) {
  int device = 0, has_major = 0, has_minor = 0;
  checkCudaErrors(cudaGetDevice(&device));
  checkCudaErrors(cudaDeviceGetAttribute(&has_major, cudaDevAttrComputeCapabilityMajor, device));
  checkCudaErrors(cudaDeviceGetAttribute(&has_minor, cudaDevAttrComputeCapabilityMinor, device));
  if (has_major > major || (has_major == major && has_minor >= minor)) return true;
  printf("  No GPU device was found that can support CUDA compute capability %d.%d.\n", major, minor);
  return false;
}

#endif
