// Atomic operations, atom and red (jit/atomic_operation.h). Worker threads share global memory: host atomics.
// Shared memory belongs to one worker: plain operations. Lanes go in ascending order.
#include "device/calls/atomics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>

#include "base/assert.h"
#include "base/sanitizers.h"
#include "device/access/access.h"
#include "device/access/lane_requests.h"
#include "device/calls/bulk_reductions.h"
#include "device/definedness/tracking.h"
#include "device/fault.h"
#include "device/symbols.h"
#include "gpu/half.h"
#include "jit/atomic_operation.h"

namespace warpgrind::device {

namespace {

using jit::AtomicOperation;
using ptx::ScalarType;

struct Request {
  const Place* place;  // null: the lanes' values are neighbours, from `start` on
  std::uint8_t* start;
  std::size_t step;  // bytes from one lane to the next; with a place, of the preceding elements of a vector
  LaneMask mask;
  const void* b;
  const void* c;
  void* out;
  bool shared;
  bool flushes;     // f32: flushes denormals
  bool keeps_nans;  // f64: a NaN of an operand is the result as it is, signalling or not
  std::uint8_t* pointer(unsigned lane) const { return place ? place->of(lane) + step : start + lane * step; }
};

bool one_address(const Request& r) {
  WG_DEBUG_ASSERT(r.mask != 0);
  const std::uint8_t* first = r.pointer(static_cast<unsigned>(std::countr_zero(r.mask)));
  for (LaneMask m = r.mask; m != 0; m &= m - 1)
    if (r.pointer(static_cast<unsigned>(std::countr_zero(m))) != first) return false;
  return true;
}

// Prefetches the lanes' lines. Host atomics run one after the other, so each would wait for its own cache miss (random
// updates of 512 MiB: 1.6x faster). Always inlined: GCC treats a function that only prefetches as one without effects
// and removes its calls.
[[gnu::always_inline]] inline void begin_misses(const Request& r) {
  constexpr int kWrite = 1;
  for (LaneMask m = r.mask; m != 0; m &= m - 1)
    __builtin_prefetch(r.pointer(static_cast<unsigned>(std::countr_zero(m))), kWrite);
}

// Applies the lanes' operations to one value, one after the other; the old values go to `out`.
template <class T, class F>
T chain(const Request& r, T value, F f) {
  for (LaneMask m = r.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    if (r.out) static_cast<T*>(r.out)[l] = value;
    value = f(value, l);
  }
  return value;
}

// old = *p; *p = f(old, lane); atomically. Lanes with the same address share one host atomic.
template <class T, class F>
void update(const Request& r, F f) {
  if (!r.shared && one_address(r)) {
    T* p = reinterpret_cast<T*>(r.pointer(static_cast<unsigned>(std::countr_zero(r.mask))));
    T old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, chain(r, old, f), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return;
  }
  if (!r.shared) begin_misses(r);
  for (LaneMask m = r.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    T* p = reinterpret_cast<T*>(r.pointer(l));
    T old;
    if (r.shared) {
      old = *p;
      *p = f(old, l);
    } else {
      old = __atomic_load_n(p, __ATOMIC_RELAXED);
      while (!__atomic_compare_exchange_n(p, &old, f(old, l), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
      }
    }
    if (r.out) static_cast<T*>(r.out)[l] = old;
  }
}

template <class T>
void add_integer(const Request& r) {
  const T* b = static_cast<const T*>(r.b);
  if (r.shared) return update<T>(r, [&](T old, unsigned l) { return static_cast<T>(old + b[l]); });
  if (one_address(r)) {
    T sum = 0;
    for (LaneMask m = r.mask; m != 0; m &= m - 1) sum = static_cast<T>(sum + b[std::countr_zero(m)]);
    T* p = reinterpret_cast<T*>(r.pointer(static_cast<unsigned>(std::countr_zero(r.mask))));
    const T old = __atomic_fetch_add(p, sum, __ATOMIC_SEQ_CST);
    if (r.out) chain(r, old, [&](T value, unsigned l) { return static_cast<T>(value + b[l]); });
    return;
  }
  begin_misses(r);
  for (LaneMask m = r.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    const T old = __atomic_fetch_add(reinterpret_cast<T*>(r.pointer(l)), b[l], __ATOMIC_SEQ_CST);
    if (r.out) static_cast<T*>(r.out)[l] = old;
  }
}

// Flushes denormals to zero with their sign.
float flushed(float f) {
  return std::fabs(f) < 0x1p-126f ? std::copysign(0.0f, f) : f;
}

// The sum with a NaN of f64, as an H200 gives it. Global memory: the operand, or else the memory, with all its bits,
// even if it is a signalling NaN. Shared memory: made quiet, and of two NaNs the memory's.
std::uint64_t sum_with_nan(std::uint64_t memory, std::uint64_t operand, bool shared) {
  constexpr std::uint64_t kQuiet = std::uint64_t{1} << 51;
  const bool first = std::isnan(std::bit_cast<double>(memory)), second = std::isnan(std::bit_cast<double>(operand));
  if (shared) return (first ? memory : operand) | kQuiet;
  return second ? operand : memory;
}

// f32 in global memory flushes denormals, but not in shared memory (PTX ISA, atom; seen on an H200). A NaN is canonical
// for f32, f16 and bf16, in all forms.
template <class F, class T>
void add_float(const Request& r) {
  const T* b = static_cast<const T*>(r.b);
  update<T>(r, [&](T old, unsigned l) {
    F x = std::bit_cast<F>(old), y = std::bit_cast<F>(b[l]);
    if constexpr (sizeof(F) == 4) {
      if (r.flushes) x = flushed(x), y = flushed(y);
      const F sum = x + y;
      if (std::isnan(sum)) return T{0x7fffffffu};
      return std::bit_cast<T>(r.flushes ? flushed(sum) : sum);
    } else {
      if (r.keeps_nans && std::isnan(x)) return old;
      if (r.keeps_nans && std::isnan(y)) return b[l];
      if (std::isnan(x) || std::isnan(y)) return sum_with_nan(old, b[l], r.shared);
      return std::bit_cast<T>(static_cast<F>(x + y));
    }
  });
}

// Not every host has a lock-free 128-bit atomic: one lock for all of them.
using Wide = unsigned __int128;
void wide(const Request& r, AtomicOperation op) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const NotWatched guard;
  for (LaneMask m = r.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    Wide old, b, c;
    std::memcpy(&old, r.pointer(l), sizeof(Wide));
    std::memcpy(&b, static_cast<const std::uint8_t*>(r.b) + l * sizeof(Wide), sizeof(Wide));
    std::memcpy(&c, static_cast<const std::uint8_t*>(r.c) + l * sizeof(Wide), sizeof(Wide));
    const bool exchange = op == AtomicOperation::exchange;
    if (exchange || old == b) std::memcpy(r.pointer(l), exchange ? &b : &c, sizeof(Wide));
    if (r.out) std::memcpy(static_cast<std::uint8_t*>(r.out) + l * sizeof(Wide), &old, sizeof(Wide));
  }
}

float to_float(std::uint16_t h, bool bf16) {
  return bf16 ? std::bit_cast<float>(std::uint32_t{h} << 16) : half_to_float(h);
}

std::uint16_t from_float(float f, bool bf16) {
  if (!bf16 || std::isnan(f)) return float_to_half(f);  // both formats have the same NaN
  const auto bits = std::bit_cast<std::uint32_t>(f);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

std::uint16_t combine_halves(std::uint16_t a, std::uint16_t b, AtomicOperation op, bool bf16) {
  const float x = to_float(a, bf16), y = to_float(b, bf16);
  switch (op) {
    case AtomicOperation::add:
      return from_float(x + y, bf16);
    case AtomicOperation::min:
      if (std::isnan(x) && std::isnan(y)) return 0x7fff;
      return std::isnan(x) ? b : std::isnan(y) ? a : x == y ? static_cast<std::uint16_t>(a | b) : x < y ? a : b;
    default:  // -0 < +0
      if (std::isnan(x) && std::isnan(y)) return 0x7fff;
      return std::isnan(x) ? b : std::isnan(y) ? a : x == y ? static_cast<std::uint16_t>(a & b) : x > y ? a : b;
  }
}

template <class T>
void halves(const Request& r, AtomicOperation op, bool bf16) {
  const T* b = static_cast<const T*>(r.b);
  update<T>(r, [&](T old, unsigned l) {
    T out = 0;
    for (unsigned shift = 0; shift < 8 * sizeof(T); shift += 16)
      out = static_cast<T>(out | static_cast<T>(combine_halves(static_cast<std::uint16_t>(old >> shift),
                                                               static_cast<std::uint16_t>(b[l] >> shift), op, bf16))
                                     << shift);
    return out;
  });
}

// Integers: U is the unsigned carrier, V the type that compares.
template <class U, class V>
bool integers(const Request& r, AtomicOperation op) {
  const U* b = static_cast<const U*>(r.b);
  const U* c = static_cast<const U*>(r.c);
  const auto less = [](U x, U y) { return static_cast<V>(x) < static_cast<V>(y); };
  switch (op) {
    case AtomicOperation::add:
      add_integer<U>(r);
      return true;
    case AtomicOperation::inc:
      update<U>(r, [&](U old, unsigned l) { return old >= b[l] ? U{0} : static_cast<U>(old + 1); });
      return true;
    case AtomicOperation::dec:
      update<U>(r, [&](U old, unsigned l) { return old == 0 || old > b[l] ? b[l] : static_cast<U>(old - 1); });
      return true;
    case AtomicOperation::min:
      update<U>(r, [&](U old, unsigned l) { return less(b[l], old) ? b[l] : old; });
      return true;
    case AtomicOperation::max:
      update<U>(r, [&](U old, unsigned l) { return less(old, b[l]) ? b[l] : old; });
      return true;
    case AtomicOperation::bit_and:
      update<U>(r, [&](U old, unsigned l) { return static_cast<U>(old & b[l]); });
      return true;
    case AtomicOperation::bit_or:
      update<U>(r, [&](U old, unsigned l) { return static_cast<U>(old | b[l]); });
      return true;
    case AtomicOperation::bit_xor:
      update<U>(r, [&](U old, unsigned l) { return static_cast<U>(old ^ b[l]); });
      return true;
    case AtomicOperation::exchange:
      update<U>(r, [&](U, unsigned l) { return b[l]; });
      return true;
    case AtomicOperation::compare_and_swap:
      update<U>(r, [&](U old, unsigned l) { return old == b[l] ? c[l] : old; });
      return true;
  }
  return false;
}

template <class F, class U>
bool floats(const Request& r, AtomicOperation op) {
  const U* b = static_cast<const U*>(r.b);
  const auto value = [](U u) { return std::bit_cast<F>(u); };
  switch (op) {
    case AtomicOperation::add:
      add_float<F, U>(r);
      return true;
    case AtomicOperation::min:
      update<U>(r, [&](U old, unsigned l) { return value(b[l]) < value(old) || std::isnan(value(old)) ? b[l] : old; });
      return true;
    case AtomicOperation::max:
      update<U>(r, [&](U old, unsigned l) { return value(b[l]) > value(old) || std::isnan(value(old)) ? b[l] : old; });
      return true;
    default:
      return integers<U, U>(r, op);
  }
}

bool perform(const Request& r, AtomicOperation op, ScalarType type) {
  switch (type) {
    case ScalarType::f32:
      return floats<float, std::uint32_t>(r, op);
    case ScalarType::f64:
      return floats<double, std::uint64_t>(r, op);
    case ScalarType::f16:
    case ScalarType::bf16:
      halves<std::uint16_t>(r, op, type == ScalarType::bf16);
      return true;
    case ScalarType::f16x2:
    case ScalarType::bf16x2:
      halves<std::uint32_t>(r, op, type == ScalarType::bf16x2);
      return true;
    case ScalarType::s32:
      return integers<std::uint32_t, std::int32_t>(r, op);
    case ScalarType::s64:
      return integers<std::uint64_t, std::int64_t>(r, op);
    default:
      break;
  }
  switch (ptx::bits(type)) {
    case 16:
      return integers<std::uint16_t, std::uint16_t>(r, op);
    case 32:
      return integers<std::uint32_t, std::uint32_t>(r, op);
    case 64:
      return integers<std::uint64_t, std::uint64_t>(r, op);
    case 128:
      if (op != AtomicOperation::exchange && op != AtomicOperation::compare_and_swap) return false;
      wide(r, op);
      return true;
    default:
      return false;
  }
}

// Clears the results of lanes whose operation was suppressed.
void clear_results(std::uint8_t* out, LaneMask lanes, unsigned size, unsigned vector) {
  for (LaneMask m = lanes; m != 0; m &= m - 1)
    for (unsigned e = 0; e < vector; ++e)
      std::memset(out + (std::size_t{e} * kWarpSize + static_cast<unsigned>(std::countr_zero(m))) * size, 0, size);
}

struct Update {
  std::uint32_t code;
  const void *b, *c;
  void* out;
};
ScalarType type_of(const Update& u) {
  return static_cast<ScalarType>(u.code >> 8 & 0xff);
}
AtomicOperation operation_of(const Update& u) {
  return static_cast<AtomicOperation>(u.code & 0xff);
}

// A variable in local memory through a generic address. The PTX manual does not allow it, but libcu++ does it, and an
// H200 gives the results of shared memory. (Where ptxas knows that the address is local, it makes wrong code.) No other
// thread has the address, and an element's words lie apart: they are read, changed and written back.
bool update_local(const Access& part, const Update& u) {
  const std::size_t size = ptx::bytes(type_of(u));
  alignas(16) std::uint8_t values[kWarpSize * sizeof(Wide)];
  WG_ASSERT(part.vector == 1 && size <= sizeof(Wide));
  Access read = part, write = part;
  read.form.type = AccessType::load;
  write.form.type = AccessType::store;
  move_local(read, values);
  if (!perform({nullptr, values, size, part.mask, u.b, u.c, u.out, true, false, false}, operation_of(u), type_of(u)))
    return false;
  move_local(write, values);
  return true;
}

[[noreturn]] void refuse_operation(const Access& part) {
  raise(*part.context, part.site, static_cast<unsigned>(std::countr_zero(part.mask)), FaultKind::unsupported,
        "the virtual GPU does not support this atomic operation on this type",
        "`warpgrind scan` lists all unsupported instructions");
}

// Performs the lanes' operations on one space after pass(). Lanes outside the part's mask share the address of a lane
// in it.
void perform_passed(const Access& part, const Place& place, LaneMask lanes, const Update& u) {
  const std::size_t size = ptx::bytes(type_of(u));
  WG_ASSERT(part.vector > 0 && lanes != 0);
  if (part.form.space == StateSpace::local) {
    if (!update_local(part, u)) refuse_operation(part);
    return;
  }
  for (unsigned e = 0; e < part.vector; ++e) {
    const auto of_element = [&](const void* p) {
      return p ? static_cast<const std::uint8_t*>(p) + e * size * kWarpSize : nullptr;
    };
    if (!update_lanes(part, place, e * size, lanes, u.code, of_element(u.b), of_element(u.c),
                      const_cast<std::uint8_t*>(of_element(u.out))))
      refuse_operation(part);
  }
}

// Same, but calls pass() first. `lanes` may include lanes that are not counted.
void perform_part(Access& part, LaneMask lanes, const Update& u) {
  if (launch_of(*part.context).shadow) check_update(part, operation_of(u) != AtomicOperation::exchange);
  if (lanes != part.mask) part.behind = lanes;  // one lane acts for all
  const LaneMask requested = part.mask;
  const Place place = pass(part);
  if (part.mask != requested) [[unlikely]] {
    const unsigned size = ptx::bytes(type_of(u));
    if (u.out) clear_results(static_cast<std::uint8_t*>(u.out), requested & ~part.mask, size, part.vector);
    if (part.mask == 0) return;
    lanes = part.mask;
  }
  perform_passed(part, place, lanes, u);
  open_window(part);
}

}  // namespace

bool reduce_bytes(AtomicOperation operation, ScalarType type, std::uint8_t* to, const std::uint8_t* from,
                  std::size_t bytes, bool shared, bool flushes) {
  const std::size_t size = ptx::bytes(type);
  alignas(8) std::uint8_t values[kWarpSize * sizeof(std::uint64_t)];
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t count = std::min<std::size_t>(kWarpSize, (bytes - done) / size);
    if (count == 0) return false;
    std::memcpy(values, from + done, count * size);
    const LaneMask mask = count == kWarpSize ? kFullMask : (LaneMask{1} << count) - 1;
    if (!perform({nullptr, to + done, size, mask, values, values, nullptr, shared, flushes, true}, operation, type))
      return false;
    done += count * size;
  }
  return true;
}

bool update_lanes(const Access& passed, const Place& place, std::size_t skipped, LaneMask mask, std::uint32_t code,
                  const void* b, const void* c, void* out) {
  const bool shared = passed.form.space == StateSpace::shared;
  const Request r{&place, nullptr, skipped, mask, b, c, out, shared, !shared, false};
  return perform(r, static_cast<AtomicOperation>(code & 0xff), static_cast<ScalarType>(code >> 8 & 0xff));
}

std::span<const jit::CallSymbol> atomic_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_atomic", reinterpret_cast<void*>(&wg_atomic)}};
  return symbols;
}

}  // namespace warpgrind::device

extern "C" void wg_atomic(void* context, std::uint32_t site, std::uint32_t code, const std::uint64_t* addresses,
                          std::uint32_t mask, const void* b, const void* c, void* out) {
  using namespace warpgrind;
  using namespace warpgrind::device;
  if (mask == 0) return;
  take_turns(fiber_of(warp(context)));
  const bool one_address = (code & jit::kAtomicOneAddress) != 0;
  // One lane acts for the warp: only that lane makes an access.
  const LaneMask counted = one_address ? mask & (~mask + 1) : mask;
  const Update update{code, b, c, out};
  Access access = access_of(warp(context), site);
  if (const auto place = pass_written(access, Lanes<GenericAddress>(addresses), counted))
    return perform_passed(access, *place, mask, update);
  each_space(access, Lanes<GenericAddress>(addresses), counted,
             [&](Access part) { perform_part(part, one_address ? mask : part.mask, update); });
}
