// Integer operations that are better as loops over 32 lanes in C++.
#include <bit>
#include <cmath>
#include <cstdint>

#include "gpu/types.h"
#include "jit/calls/conversion.h"
#include "jit/calls/symbols.h"

namespace {

using warpgrind::kWarpSize;

template <class T, class F>
void each_lane(T* out, const T* a, const T* b, F f) {
  for (unsigned l = 0; l < kWarpSize; ++l) out[l] = f(a[l], b[l]);
}

// Division by zero gives all ones as quotient and remainder (like an H200). The smallest number divided by -1 wraps.
extern "C" void wg_div_u64(std::uint64_t* out, const std::uint64_t* a, const std::uint64_t* b) {
  each_lane(out, a, b, [](std::uint64_t x, std::uint64_t y) { return y ? x / y : ~0ull; });
}
extern "C" void wg_rem_u64(std::uint64_t* out, const std::uint64_t* a, const std::uint64_t* b) {
  each_lane(out, a, b, [](std::uint64_t x, std::uint64_t y) { return y ? x % y : ~0ull; });
}
extern "C" void wg_div_s64(std::int64_t* out, const std::int64_t* a, const std::int64_t* b) {
  each_lane(out, a, b, [](std::int64_t x, std::int64_t y) {
    return y == 0 ? -1 : y == -1 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x)) : x / y;
  });
}
extern "C" void wg_rem_s64(std::int64_t* out, const std::int64_t* a, const std::int64_t* b) {
  each_lane(out, a, b, [](std::int64_t x, std::int64_t y) { return y == 0 ? -1 : y == -1 ? 0 : x % y; });
}

// fns.b32: position of the n-th set bit of mask at or above base (n > 0), or below (n < 0); n == 0: base itself if set.
extern "C" void wg_fns(std::uint32_t* out, const std::uint32_t* mask, const std::uint32_t* base,
                       const std::int32_t* offset) {
  for (unsigned l = 0; l < kWarpSize; ++l) {
    std::int64_t at = base[l];
    std::int32_t n = offset[l];
    std::uint32_t found = 0xffffffffu;
    const int step = n < 0 ? -1 : 1;
    if (n == 0) n = 1, at = (base[l] < 32 && (mask[l] >> base[l] & 1)) ? base[l] : 32;
    std::int64_t left = n < 0 ? -std::int64_t{n} : n;
    for (; at >= 0 && at < 32; at += step)
      if (mask[l] >> at & 1 && --left == 0) {
        found = static_cast<std::uint32_t>(at);
        break;
      }
    out[l] = found;
  }
}

// match.any: participating lanes of the member mask that hold the same value.
extern "C" void wg_match_any(std::uint32_t* out, const std::uint64_t* a, const std::uint32_t* participants) {
  for (unsigned l = 0; l < kWarpSize; ++l) {
    std::uint32_t same = 0;
    for (unsigned k = 0; k < kWarpSize; ++k)
      if (participants[l] >> k & 1 && a[k] == a[l]) same |= 1u << k;
    out[l] = same;
  }
}
extern "C" void wg_match_all(std::uint32_t* out, const std::uint64_t* a, const std::uint32_t* participants) {
  for (unsigned l = 0; l < kWarpSize; ++l) {
    const std::uint32_t lanes = participants[l];
    bool all = true;
    for (unsigned k = 0; k < kWarpSize; ++k)
      if (lanes >> k & 1 && a[k] != a[l]) all = false;
    out[l] = all ? lanes : 0;
  }
}

// redux.f32: a number wins over a NaN, unless .NaN is set; -0 is less than +0.
std::uint32_t reduce_float(std::uint32_t r, std::uint32_t v, std::uint32_t op) {
  if (op & 2) r &= 0x7fffffffu, v &= 0x7fffffffu;
  const float a = std::bit_cast<float>(r), b = std::bit_cast<float>(v);
  if (std::isnan(a) || std::isnan(b)) {
    if (op & 4 || (std::isnan(a) && std::isnan(b))) return 0x7fffffffu;
    return std::isnan(a) ? v : r;
  }
  const bool less = a < b || (a == b && std::signbit(a));
  return less == ((op & 1) == 0) ? r : v;
}

// op: 0 add, 1 min.s32, 2 min.u32, 3 max.s32, 4 max.u32, 5 and, 6 or, 7 xor, from 8 on reduce_float
extern "C" void wg_redux(std::uint32_t active, std::uint32_t* out, const std::uint32_t* a,
                         const std::uint32_t* participants, const std::uint32_t* op) {
  std::uint32_t done = 0;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if (!(active >> l & 1) || done >> l & 1) continue;
    const std::uint32_t lanes = participants[l] | 1u << l;
    std::uint32_t r = op[0] >= 8 ? reduce_float(a[l], a[l], op[0]) : a[l];
    for (unsigned k = 0; k < kWarpSize; ++k) {
      if (k == l || !(lanes >> k & 1)) continue;
      const std::uint32_t v = a[k];
      if (op[0] >= 8) {
        r = reduce_float(r, v, op[0]);
        continue;
      }
      const auto sr = static_cast<std::int32_t>(r), sv = static_cast<std::int32_t>(v);
      switch (op[0]) {
        case 0:
          r += v;
          break;
        case 1:
          r = sv < sr ? v : r;
          break;
        case 2:
          r = v < r ? v : r;
          break;
        case 3:
          r = sv > sr ? v : r;
          break;
        case 4:
          r = v > r ? v : r;
          break;
        case 5:
          r &= v;
          break;
        case 6:
          r |= v;
          break;
        default:
          r ^= v;
      }
    }
    for (unsigned k = 0; k < kWarpSize; ++k)
      if (lanes >> k & 1) out[k] = r;
    done |= lanes;
  }
}

}  // namespace

namespace warpgrind::jit {

void register_integer_symbols() {
  static const CallSymbol symbols[] = {
      {"wg_div_u64", reinterpret_cast<void*>(&wg_div_u64)},
      {"wg_rem_u64", reinterpret_cast<void*>(&wg_rem_u64)},
      {"wg_div_s64", reinterpret_cast<void*>(&wg_div_s64)},
      {"wg_rem_s64", reinterpret_cast<void*>(&wg_rem_s64)},
      {"wg_fns", reinterpret_cast<void*>(&wg_fns)},
      {"wg_match_any", reinterpret_cast<void*>(&wg_match_any)},
      {"wg_match_all", reinterpret_cast<void*>(&wg_match_all)},
      {"wg_redux", reinterpret_cast<void*>(&wg_redux)},
  };
  register_call_symbols(symbols);
  register_conversion_symbols();
}

}  // namespace warpgrind::jit
