// Bulk reductions (PTX ISA, cp.reduce.async.bulk), made when they are issued, like bulk copies (async_copy.cpp).
#include "device/calls/bulk_reductions.h"

#include <bit>

#include "base/sanitizers.h"
#include "device/access/count.h"
#include "device/calls/bulk_ranges.h"
#include "device/calls/mbarriers.h"
#include "device/fault.h"
#include "device/symbols.h"

namespace warpgrind::device {

// As an H200 takes them. The manual's table is shorter.
ptx::ScalarType reduction_type(TensorElement element, jit::AtomicOperation operation) {
  using A = jit::AtomicOperation;
  using S = ptx::ScalarType;
  const bool adds = operation == A::add, extreme = operation == A::min || operation == A::max;
  const bool counts = operation == A::inc || operation == A::dec;
  switch (element) {
    case TensorElement::u32:
      return S::u32;
    case TensorElement::s32:
      return counts ? S::none : S::s32;
    case TensorElement::u64:
      return counts ? S::none : S::u64;
    case TensorElement::s64:
      return extreme ? S::s64 : S::none;
    case TensorElement::f16:
      return adds || extreme ? S::f16 : S::none;
    case TensorElement::bf16:
      return adds || extreme ? S::bf16 : S::none;
    case TensorElement::f32:
    case TensorElement::f32_ftz:
    case TensorElement::tf32:
    case TensorElement::tf32_ftz:
      return adds ? S::f32 : S::none;
    case TensorElement::f64:
      return adds ? S::f64 : S::none;
    default:
      return S::none;
  }
}

bool reduction_flushes(TensorElement element) {
  return element == TensorElement::f32_ftz || element == TensorElement::tf32_ftz;
}

}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

// code: atomic_code(). From shared memory to global memory, or with `barrier` to shared memory of the cluster.
static void wg_bulk_reduction(void* context, std::uint32_t site, std::uint32_t code, const std::uint64_t* to,
                              const std::uint64_t* from, const std::uint32_t* bytes, const std::uint64_t* barrier,
                              std::uint32_t mask) {
  if (mask == 0) return;
  jit::WarpContext& w = warp(context);
  take_turns(fiber_of(w));
  Access copy = access_of(w, site);
  copy.path = events::AccessPath::bulk_copy;
  copy.sizes = bytes;
  const LaneMask moving = lanes_that_move(bytes, mask);
  if (moving) {
    std::uint64_t to_offsets[kWarpSize], from_offsets[kWarpSize];
    shared_offsets(w, Lanes<GenericAddress>(to), to_offsets);
    shared_offsets(w, Lanes<GenericAddress>(from), from_offsets);
    Access read = copy.at(Lanes<SharedOffset>(from_offsets), moving);
    Access update =
        barrier ? copy.at(Lanes<SharedOffset>(to_offsets), moving) : copy.at(Lanes<GlobalAddress>(to), moving);
    read.form.type = AccessType::load;
    update.form.type = AccessType::reduction;
    update.order = events::MemoryOrder::relaxed;
    update.scope = barrier ? events::MemoryScope::cluster : events::MemoryScope::gpu;
    const Place source = pass(read), target = pass(update);
    const NotWatched guard;
    for (LaneMask m = read.mask & update.mask; m != 0; m &= m - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(m));
      const auto type = static_cast<ptx::ScalarType>(code >> 8 & 0xff);
      if (!reduce_bytes(static_cast<jit::AtomicOperation>(code & 0xff), type, target.of(l), source.of(l), bytes[l],
                        barrier != nullptr, false))
        raise(w, site, l, FaultKind::unsupported, "the virtual GPU does not support this bulk reduction on this type",
              "`warpgrind scan` lists all unsupported instructions");
    }
  }
  if (barrier) complete_bytes(w, site, barrier, bytes, mask);
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> bulk_reduction_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_bulk_reduction", reinterpret_cast<void*>(&wg_bulk_reduction)}};
  return symbols;
}

}  // namespace warpgrind::device
