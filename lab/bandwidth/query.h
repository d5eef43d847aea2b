// The device's own description as text, and the memory bandwidth that follows from it.
#pragma once

#include <string>

#include "harness/harness.h"

struct DeviceQuery {
  int device = 0;
  std::string out;

  int attribute(cudaDeviceAttr which) const {
    int value = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&value, which, device));
    return value;
  }
  void line(const char* what, const std::string& value) {
    char text[128];
    std::snprintf(text, sizeof text, "%-40s %s\n", what, value.c_str());
    out += text;
  }
  static std::string number(double value, const char* unit = "") {
    char text[64];
    std::snprintf(text, sizeof text, "%.12g%s%s", value, *unit ? " " : "", unit);
    return text;
  }
  void number_of(const char* what, cudaDeviceAttr which, const char* unit = "") {
    line(what, number(attribute(which), unit));
  }
  void yes_or_no(const char* what, cudaDeviceAttr which) { line(what, attribute(which) ? "yes" : "no"); }
  void three(const char* what, cudaDeviceAttr x, cudaDeviceAttr y, cudaDeviceAttr z) {
    line(what, number(attribute(x)) + " x " + number(attribute(y)) + " x " + number(attribute(z)));
  }
};

inline std::string device_query() {
  DeviceQuery q;
  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDevice(&q.device));
  CHECK_CUDA(cudaGetDeviceProperties(&properties, q.device));
  q.line("name", properties.name);
  q.line("compute capability", q.number(q.attribute(cudaDevAttrComputeCapabilityMajor)) + "." +
                                   q.number(q.attribute(cudaDevAttrComputeCapabilityMinor)));
  q.number_of("multiprocessors (SMs)", cudaDevAttrMultiProcessorCount);
  q.line("SM clock", q.number(q.attribute(cudaDevAttrClockRate) / 1e3, "MHz"));
  q.line("memory clock", q.number(q.attribute(cudaDevAttrMemoryClockRate) / 1e3, "MHz"));
  q.number_of("memory bus", cudaDevAttrGlobalMemoryBusWidth, "bit");
  q.line("global memory", q.number(static_cast<double>(properties.totalGlobalMem), "byte"));
  q.yes_or_no("error correction (ECC)", cudaDevAttrEccEnabled);
  q.number_of("L2 cache", cudaDevAttrL2CacheSize, "byte");
  q.number_of("constant memory", cudaDevAttrTotalConstantMemory, "byte");
  q.number_of("shared memory of a block", cudaDevAttrMaxSharedMemoryPerBlock, "byte");
  q.number_of("shared memory of a block, if asked for", cudaDevAttrMaxSharedMemoryPerBlockOptin, "byte");
  q.number_of("shared memory of an SM", cudaDevAttrMaxSharedMemoryPerMultiprocessor, "byte");
  q.number_of("registers of a block", cudaDevAttrMaxRegistersPerBlock);
  q.number_of("registers of an SM", cudaDevAttrMaxRegistersPerMultiprocessor);
  q.number_of("warp", cudaDevAttrWarpSize, "threads");
  q.number_of("threads of a block, at most", cudaDevAttrMaxThreadsPerBlock);
  q.number_of("threads of an SM, at most", cudaDevAttrMaxThreadsPerMultiProcessor);
  q.number_of("blocks of an SM, at most", cudaDevAttrMaxBlocksPerMultiprocessor);
  q.three("block, at most", cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ);
  q.three("grid, at most", cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ);
  q.number_of("copy engines", cudaDevAttrAsyncEngineCount);
  q.yes_or_no("kernels side by side", cudaDevAttrConcurrentKernels);
  q.yes_or_no("host memory mapped into kernels", cudaDevAttrCanMapHostMemory);
  q.yes_or_no("unified addresses", cudaDevAttrUnifiedAddressing);
  q.yes_or_no("managed memory", cudaDevAttrManagedMemory);
  q.yes_or_no("managed memory while kernels run", cudaDevAttrConcurrentManagedAccess);
  q.yes_or_no("cooperative launch", cudaDevAttrCooperativeLaunch);
  q.yes_or_no("integrated (shares the host's memory)", cudaDevAttrIntegrated);
  return q.out;
}

// Bandwidth as clock x bus width x 2, in GB/s and GiB/s.
inline std::string bandwidth_line(const char* gpu, double clock_mhz, double bus_bits, const char* remark) {
  const double bytes = clock_mhz * 1e6 * (bus_bits / 8) * 2;
  char text[480];
  std::snprintf(text, sizeof text, "%-26.60s %8.1f MHz x %4.0f bit / 8 x 2 = %7.1f GB/s = %7.1f GiB/s%s%s\n", gpu,
                clock_mhz, bus_bits, bytes / 1e9, bytes / (1024.0 * 1024 * 1024), *remark ? "\n    " : "", remark);
  return text;
}

inline std::string theoretical_bandwidth() {
  DeviceQuery q;
  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDevice(&q.device));
  CHECK_CUDA(cudaGetDeviceProperties(&properties, q.device));
  return bandwidth_line("Tesla (COSC 407)", 1850, 384, "the document: 177.6 GB/s") +
         bandwidth_line("GTX 280 (Advanced CUDA)", 1107, 512,
                        "the document: 131.9 GB/s by 1024^3, cut off, not rounded; the data sheet's 141 by 10^9") +
         bandwidth_line("G80 (COSC 407)", 900, 384, "the document: 86.4 GB/s") +
         bandwidth_line(properties.name, q.attribute(cudaDevAttrMemoryClockRate) / 1e3,
                        q.attribute(cudaDevAttrGlobalMemoryBusWidth), "this GPU, as it was asked") +
         "The 2: data at both edges of the clock (DDR). GB is 10^9 bytes, GiB 1024^3; figures of the lab are GB.\n";
}
