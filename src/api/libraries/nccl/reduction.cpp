// Reductions of NCCL for all of its types. Values are reduced in the order of the ranks and rounded to the type after
// each step. As in NCCL, the average of floating-point values is the sum of values times 1/n, and the average of
// integers the sum divided by n.
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "gpu/half.h"
#include "libraries/common/elements.h"
#include "libraries/nccl/calls.h"

namespace warpgrind::libraries::nccl {
namespace {

// Storage of each type, and the type in which the host computes with it.
template <class T>
struct Plain {
  using Stored = T;
  using Value = T;
  static Value load(Stored v) { return v; }
  static Stored store(Value v) { return v; }
};
struct Half {
  using Stored = std::uint16_t;
  using Value = float;
  static float load(Stored v) { return half_to_float(v); }
  static Stored store(float v) { return float_to_half(v); }
};
struct Bfloat {
  using Stored = std::uint16_t;
  using Value = float;
  static float load(Stored v) { return bf16_to_float(v); }
  static Stored store(float v) { return float_to_bf16(v); }
};
struct E4m3 {
  using Stored = std::uint8_t;
  using Value = float;
  static float load(Stored v) { return half_to_float(__half_raw(__nv_cvt_fp8_to_halfraw(v, __NV_E4M3)).x); }
  static Stored store(float v) { return __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E4M3); }
};
struct E5m2 {
  using Stored = std::uint8_t;
  using Value = float;
  static float load(Stored v) { return half_to_float(__half_raw(__nv_cvt_fp8_to_halfraw(v, __NV_E5M2)).x); }
  static Stored store(float v) { return __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E5M2); }
};

template <class V>
V combined(ncclRedOp_t op, V a, V b) {
  if constexpr (std::is_integral_v<V>) {
    using U = std::make_unsigned_t<V>;  // sums and products wrap around
    using Wide = std::conditional_t<(sizeof(U) < sizeof(unsigned)), unsigned, U>;
    switch (op) {
      case ncclProd:
        return static_cast<V>(static_cast<U>(static_cast<Wide>(static_cast<U>(a)) * static_cast<U>(b)));
      case ncclMax:
        return a < b ? b : a;
      case ncclMin:
        return b < a ? b : a;
      default:
        return static_cast<V>(static_cast<U>(static_cast<Wide>(static_cast<U>(a)) + static_cast<U>(b)));
    }
  } else {
    switch (op) {
      case ncclProd:
        return a * b;
      case ncclMax:
        return std::fmax(a, b);
      case ncclMin:
        return std::fmin(a, b);
      default:
        return a + b;
    }
  }
}

template <class T>
void reduce_as(const Call& call, const std::vector<Part>& parts, const std::vector<const char*>& sends,
               std::uint64_t count, char* out) {
  using Stored = typename T::Stored;
  using Value = typename T::Value;
  constexpr bool kIntegral = std::is_integral_v<Value>;
  const auto ranks = parts.size();
  const bool multiplied = call.op == kMultiplied || (call.op == ncclAvg && !kIntegral);
  std::vector<Value> factors(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    Stored bits;
    std::memcpy(&bits, &parts[r].scalar, sizeof bits);
    factors[r] = T::load(bits);
    if constexpr (!kIntegral)
      if (call.op == ncclAvg) factors[r] = T::load(T::store(Value{1} / static_cast<Value>(ranks)));
  }
  const auto value = [&](std::size_t r, std::uint64_t i) {
    Stored stored;
    std::memcpy(&stored, sends[r] + i * sizeof(Stored), sizeof stored);
    const Value v = T::load(stored);
    return multiplied ? T::load(T::store(combined(ncclProd, v, factors[r]))) : v;
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    Value sum = value(0, i);
    for (std::size_t r = 1; r < ranks; ++r) sum = T::load(T::store(combined(call.op, sum, value(r, i))));
    if constexpr (kIntegral)
      if (call.op == ncclAvg) sum = static_cast<Value>(sum / static_cast<Value>(ranks));
    const Stored stored = T::store(sum);
    std::memcpy(out + i * sizeof(Stored), &stored, sizeof stored);
  }
}

}  // namespace

void reduce_elements(const Call& call, const std::vector<Part>& parts, const std::vector<const char*>& sends,
                     std::uint64_t count, char* out) {
  switch (call.type) {
    case ncclInt8:
      return reduce_as<Plain<std::int8_t>>(call, parts, sends, count, out);
    case ncclUint8:
      return reduce_as<Plain<std::uint8_t>>(call, parts, sends, count, out);
    case ncclInt32:
      return reduce_as<Plain<std::int32_t>>(call, parts, sends, count, out);
    case ncclUint32:
      return reduce_as<Plain<std::uint32_t>>(call, parts, sends, count, out);
    case ncclInt64:
      return reduce_as<Plain<std::int64_t>>(call, parts, sends, count, out);
    case ncclUint64:
      return reduce_as<Plain<std::uint64_t>>(call, parts, sends, count, out);
    case ncclFloat16:
      return reduce_as<Half>(call, parts, sends, count, out);
    case ncclFloat32:
      return reduce_as<Plain<float>>(call, parts, sends, count, out);
    case ncclFloat64:
      return reduce_as<Plain<double>>(call, parts, sends, count, out);
    case ncclBfloat16:
      return reduce_as<Bfloat>(call, parts, sends, count, out);
    case ncclFloat8e4m3:
      return reduce_as<E4m3>(call, parts, sends, count, out);
    case ncclFloat8e5m2:
      return reduce_as<E5m2>(call, parts, sends, count, out);
    default:
      return;
  }
}

}  // namespace warpgrind::libraries::nccl
