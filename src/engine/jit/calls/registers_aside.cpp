// Functions that save and restore the registers in a list. The offsets in the save area match Waiting::stop_before().
#include "jit/calls/registers_aside.h"

#include <bit>
#include <cstring>

#include "jit/abi.h"
#include "jit/calls/symbols.h"

namespace warpgrind::jit {

namespace {

struct Register {
  std::uint8_t* slot = nullptr;
  bool vector = false;
  unsigned bits = 0;  // per element
  std::size_t at = 0;
  std::size_t scalar_bytes() const { return (bits + 7) / 8; }
  std::size_t vector_bytes() const { return std::size_t{bits} * kWarpSize / 8; }
};

template <class F>
void for_each_register(void* const* slots, const std::uint32_t* list, std::uint32_t count, F&& f) {
  std::size_t at = 0;
  bool vectors = false;
  for (std::uint32_t k = 0; k < count; ++k) {
    Register r;
    r.slot = static_cast<std::uint8_t*>(slots[list[k] >> 9]);
    r.vector = list[k] >> 8 & 1;
    r.bits = list[k] & 0xff;
    if (r.vector && !vectors) at = (at + 63) / 64 * 64;
    vectors = r.vector;
    r.at = at;
    f(r);
    at += !r.vector ? (r.bits <= 64 ? 8 : 16) : (r.vector_bytes() + 63) / 64 * 64;
  }
}

void take_lanes(const Register& r, const std::uint8_t* from, LaneMask lanes) {
  if (r.bits == 1) {
    LaneMask own, other;
    std::memcpy(&own, r.slot, sizeof own);
    std::memcpy(&other, from, sizeof other);
    own = (own & ~lanes) | (other & lanes);
    std::memcpy(r.slot, &own, sizeof own);
    return;
  }
  const std::size_t bytes = r.bits / 8;
  if (lanes == kFullMask) {
    std::memcpy(r.slot, from, r.vector_bytes());
    return;
  }
  for (; lanes; lanes &= lanes - 1) {
    const std::size_t at = static_cast<std::size_t>(std::countr_zero(lanes)) * bytes;
    std::memcpy(r.slot + at, from + at, bytes);
  }
}

}  // namespace

void register_aside_symbols() {
  static const CallSymbol symbols[] = {
      {kPutAside, reinterpret_cast<void*>(&wg_put_registers_aside)},
      {kTakeBack, reinterpret_cast<void*>(&wg_take_registers_back)},
  };
  register_call_symbols(symbols);
}

}  // namespace warpgrind::jit

using namespace warpgrind;
using namespace warpgrind::jit;

extern "C" {

void wg_put_registers_aside(std::uint8_t* aside, void* const* slots, const std::uint32_t* list, std::uint32_t count) {
  for_each_register(slots, list, count, [&](const Register& r) {
    if (!r.vector) std::memset(aside + r.at, 0, r.bits <= 64 ? 8 : 16);
    std::memcpy(aside + r.at, r.slot, r.vector ? r.vector_bytes() : r.scalar_bytes());
  });
}

void wg_take_registers_back(const void* paths, void* const* slots, const std::uint32_t* list, std::uint32_t count) {
  const Paths& p = *static_cast<const Paths*>(paths);
  for_each_register(slots, list, count, [&](const Register& r) {
    if (r.vector)
      take_lanes(r, p.saved + r.at, p.restore);
    else
      std::memcpy(r.slot, p.saved + r.at, r.scalar_bytes());
  });
}

}  // extern "C"
