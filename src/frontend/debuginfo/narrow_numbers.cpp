// Number formats of the structure types of cuda_fp16.h, cuda_bf16.h, cuda_fp8.h, cuda_fp6.h and cuda_fp4.h.
#include "debuginfo/narrow_numbers.h"

namespace warpgrind::debuginfo {

namespace {

struct Narrow {
  std::string_view name;
  NumberFormat format;
  std::uint32_t components;
};

constexpr Narrow kNarrowNumbers[] = {
    {"__half", NumberFormat::half, 1},
    {"__half2", NumberFormat::half, 2},
    {"__half_raw", NumberFormat::half, 1},
    {"__half2_raw", NumberFormat::half, 2},
    {"__nv_bfloat16", NumberFormat::bfloat16, 1},
    {"__nv_bfloat162", NumberFormat::bfloat16, 2},
    {"__nv_bfloat16_raw", NumberFormat::bfloat16, 1},
    {"__nv_bfloat162_raw", NumberFormat::bfloat16, 2},
    {"__nv_fp8_e4m3", NumberFormat::fp8_e4m3, 1},
    {"__nv_fp8x2_e4m3", NumberFormat::fp8_e4m3, 2},
    {"__nv_fp8x4_e4m3", NumberFormat::fp8_e4m3, 4},
    {"__nv_fp8_e5m2", NumberFormat::fp8_e5m2, 1},
    {"__nv_fp8x2_e5m2", NumberFormat::fp8_e5m2, 2},
    {"__nv_fp8x4_e5m2", NumberFormat::fp8_e5m2, 4},
    {"__nv_fp8_e8m0", NumberFormat::fp8_e8m0, 1},
    {"__nv_fp8x2_e8m0", NumberFormat::fp8_e8m0, 2},
    {"__nv_fp8x4_e8m0", NumberFormat::fp8_e8m0, 4},
    {"__nv_fp6_e2m3", NumberFormat::fp6_e2m3, 1},
    {"__nv_fp6x2_e2m3", NumberFormat::fp6_e2m3, 2},
    {"__nv_fp6x4_e2m3", NumberFormat::fp6_e2m3, 4},
    {"__nv_fp6_e3m2", NumberFormat::fp6_e3m2, 1},
    {"__nv_fp6x2_e3m2", NumberFormat::fp6_e3m2, 2},
    {"__nv_fp6x4_e3m2", NumberFormat::fp6_e3m2, 4},
    {"__nv_fp4_e2m1", NumberFormat::fp4_e2m1, 1},
    {"__nv_fp4x2_e2m1", NumberFormat::fp4_e2m1, 2},
    {"__nv_fp4x4_e2m1", NumberFormat::fp4_e2m1, 4},
};

}  // namespace

void set_narrow_format(Type& type) {
  for (const Narrow& narrow : kNarrowNumbers) {
    if (narrow.name != type.name) continue;
    type.format = narrow.format;
    type.components = narrow.components;
  }
}

}  // namespace warpgrind::debuginfo
