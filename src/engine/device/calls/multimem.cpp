// Operations on multimem addresses: each works on the memory of every GPU of a multicast object, in the order of the
// GPUs. The address is checked once; then the memory of each GPU is accessed as by a plain instruction, so that
// observers see which bytes of which GPU were read and written. Only the first one is counted: the GPU sends one
// request.
// st.bulk, which zeroes a range of shared memory, is at the end.
//
// What no document says, and no GPU here can show (multicast is off on the machines that we measure on): a sum of
// floats is made in the order of the GPUs; a sum of e4m3 or e5m2 that is out of range becomes the largest number.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/assert.h"
#include "base/sanitizers.h"
#include "device/access/access.h"
#include "device/calls/atomics.h"
#include "device/calls/bulk_ranges.h"
#include "device/calls/sum_of_parts.h"
#include "device/definedness/tracking.h"
#include "device/fault.h"
#include "device/symbols.h"
#include "jit/multimem_operation.h"

namespace warpgrind::device {

namespace {

using jit::MultimemCall;
using jit::MultimemKind;

constexpr std::size_t kMostBytes = 16;  // of one lane's access

// Calls f(part, first) for the memory of each GPU that the lanes' addresses stand for. The access has been checked.
template <class F>
void each_member(const Access& checked, F&& f) {
  const RangeTable& table = *launch_of(*checked.context).ranges;
  alignas(64) std::uint64_t memory[kWarpSize] = {};
  for (std::size_t k = 0;; ++k) {
    LaneMask lanes = 0;
    for (LaneMask m = checked.mask; m != 0; m &= m - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(m));
      const Multicast* const multicast = table.multicast(checked.addresses[l]);
      WG_ASSERT(multicast);
      if (k >= multicast->members.size()) continue;
      memory[l] = multicast->members[k].memory_of(checked.addresses[l], std::max(1u, checked.bytes_of(l)));
      if (memory[l]) lanes |= LaneMask{1} << l;
    }
    if (lanes == 0) return;
    Access part = checked.at(Lanes<GlobalAddress>(memory), lanes);
    part.counted = checked.counted && k == 0;
    f(part, k == 0);
  }
}

void clear(std::uint8_t* values, LaneMask lanes, const Access& a) {
  for (LaneMask m = lanes; m != 0; m &= m - 1)
    for (unsigned e = 0; e < a.vector; ++e)
      std::memset(values + (std::size_t{e} * kWarpSize + static_cast<unsigned>(std::countr_zero(m))) * a.element, 0,
                  a.element);
}

// values[e*32 + l]: the sums.
void load_and_reduce(const Access& a, const MultimemCall& call, std::uint8_t* values) {
  SumOfParts sum(call);
  alignas(64) std::uint8_t loaded[kMostBytes * kWarpSize];
  each_member(a, [&](const Access& part, bool first) {
    move(part, pass_checked(part), first ? values : loaded);
    const std::size_t size = a.element;
    for (unsigned e = 0; e < a.vector; ++e)
      for (LaneMask m = part.mask; m != 0; m &= m - 1) {
        const std::size_t at = (std::size_t{e} * kWarpSize + static_cast<unsigned>(std::countr_zero(m))) * size;
        first ? sum.begin(at, values + at) : sum.add(at, values + at, loaded + at);
      }
  });
}

void reduce_lanes(const Access& a, const MultimemCall& call, const std::uint8_t* values) {
  each_member(a, [&](Access& part, bool) {
    if (launch_of(*part.context).shadow) check_update(part, true);
    const Place place = pass_checked(part);
    for (unsigned e = 0; e < part.vector; ++e) {
      const std::size_t skipped = std::size_t{e} * part.element;
      const bool done = update_lanes(part, place, skipped, part.mask, jit::atomic_code(call.operation, call.type),
                                     values + skipped * kWarpSize);
      WG_ASSERT(done);  // the opcode's row lists the types
    }
  });
}

// ---- Bulk copies: one contiguous range per lane.

// Reduces a contiguous range, 32 elements at a time, each atomically.
void reduce_on_all(const Access& part, std::uint64_t to, const std::uint8_t* from, std::size_t bytes,
                   const MultimemCall& call) {
  const std::size_t size = ptx::bytes(call.type);
  alignas(64) std::uint64_t elements[kWarpSize] = {};
  for (std::size_t done = 0; done < bytes; done += size * kWarpSize) {
    const std::size_t count = std::min<std::size_t>(kWarpSize, (bytes - done) / size);
    for (std::size_t k = 0; k < count; ++k) elements[k] = to + done + k * size;
    const LaneMask lanes = count == kWarpSize ? kFullMask : (LaneMask{1} << count) - 1;
    Access some = part.at(Lanes<GlobalAddress>(elements), lanes);
    some.sizes = nullptr;
    some.counted = some.published = false;
    if (count != 0)
      update_lanes(some, pass_checked(some), 0, lanes, jit::atomic_code(call.operation, call.type), from + done);
  }
}

}  // namespace
}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

// values[e*32 + l]
static void wg_multimem(void* context, std::uint32_t site, std::uint32_t code, const std::uint64_t* addresses,
                        std::uint32_t mask, void* values) {
  if (mask == 0) return;
  const MultimemCall call = MultimemCall::decode(code);
  auto* const bytes = static_cast<std::uint8_t*>(values);
  Access a = access_of(warp(context), site).at(Lanes<GlobalAddress>(addresses), mask);
  a.path = events::AccessPath::multimem;
  WG_ASSERT(a.bytes() <= kMostBytes);
  take_turns(fiber_of(warp(context)));
  check(a);
  const NotWatched guard;
  switch (call.kind) {
    case MultimemKind::load_reduce:
      clear(bytes, mask & ~a.mask, a);
      return load_and_reduce(a, call, bytes);
    case MultimemKind::store:
      a.values = values;
      return each_member(a, [&](const Access& part, bool) { move(part, pass_checked(part), values); });
    case MultimemKind::reduce:
      return reduce_lanes(a, call, bytes);
  }
}

// from: shared memory of the block; byte_mask: null, or one bit for each byte of 16
static void wg_multimem_bulk(void* context, std::uint32_t site, std::uint32_t code, const std::uint64_t* to,
                             const std::uint64_t* from, const std::uint32_t* bytes, const std::uint16_t* byte_mask,
                             std::uint32_t mask) {
  jit::WarpContext& w = warp(context);
  const LaneMask moving = lanes_that_move(bytes, mask);
  if (moving == 0) return;
  const MultimemCall call = MultimemCall::decode(code);
  Access copy = access_of(w, site);
  copy.sizes = bytes;
  std::uint64_t offsets[kWarpSize];
  shared_offsets(w, Lanes<GenericAddress>(from), offsets);
  Access read = copy.at(Lanes<SharedOffset>(offsets), moving);
  read.path = events::AccessPath::bulk_copy;
  read.form.type = AccessType::load;
  Access write = copy.at(Lanes<GlobalAddress>(to), moving);
  write.path = events::AccessPath::multimem;
  write.form.type = call.kind == MultimemKind::reduce ? AccessType::reduction : AccessType::store;
  check(write);
  const Place source = pass(read);
  write.mask &= read.mask;
  write.path = events::AccessPath::bulk_copy;  // for observers: asynchronous
  const NotWatched guard;
  each_member(write, [&](const Access& part, bool) {
    const Place target = pass_checked(part);
    for (LaneMask m = part.mask; m != 0; m &= m - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(m));
      if (call.kind == MultimemKind::reduce)
        reduce_on_all(part, part.addresses[l], source.of(l), bytes[l], call);
      else
        move_range(target.of(l), source.of(l), bytes[l], byte_mask ? byte_mask[l] : kAllBytes);
    }
  });
}

// Zeroes in shared memory, at most 4 GiB.
static void wg_store_bulk(void* context, std::uint32_t site, const std::uint64_t* addresses, const std::uint64_t* bytes,
                          std::uint32_t mask) {
  jit::WarpContext& w = warp(context);
  std::uint32_t sizes[kWarpSize] = {};
  LaneMask storing = 0;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    sizes[l] = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes[l], ~std::uint32_t{7}));
    if (sizes[l] != 0) storing |= LaneMask{1} << l;
  }
  if (storing == 0) return;
  Access all = access_of(w, site);
  all.path = events::AccessPath::bulk_store;
  all.sizes = sizes;
  each_space(all, Lanes<GenericAddress>(addresses), storing, [&](Access write) {
    const Place place = pass(write);
    const NotWatched guard;
    for (LaneMask m = write.mask; m != 0; m &= m - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(m));
      std::memset(place.of(l), 0, sizes[l]);
    }
  });
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> multimem_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_multimem", reinterpret_cast<void*>(&wg_multimem)},
                                            {"wg_multimem_bulk", reinterpret_cast<void*>(&wg_multimem_bulk)},
                                            {"wg_store_bulk", reinterpret_cast<void*>(&wg_store_bulk)}};
  return symbols;
}

}  // namespace warpgrind::device
