// Tensor memory: allocation, accesses of whole warps (ld, st), waits and commits (PTX ISA, "Tensor Memory").
#include "device/calls/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "device/calls/cluster_addresses.h"
#include "device/fault.h"
#include "device/symbols.h"
#include "jit/calls/tensor_access.h"

namespace warpgrind::device {

namespace {

TensorCall call_of(void* context, std::uint32_t site, LaneMask mask, const char* name) {
  return {&warp(context), site, static_cast<unsigned>(std::countr_zero(mask | 1u << 31)), name};
}

// The warp must execute the instruction as a whole.
void check_whole_warp(const TensorCall& call, LaneMask mask) {
  const LaneMask all = call.context->initial_mask;
  if (mask == all) return;
  call.fail(FaultKind::tensor_memory,
            fmt::format("{} is executed by lanes {:#010x} of the warp's {:#010x}", call.name, mask, all),
            "all threads of the warp must execute it together (.sync.aligned)");
}

std::uint32_t same_value(const TensorCall& call, const std::uint32_t* lanes, LaneMask mask, const char* what) {
  const std::uint32_t first = lanes[call.lane];
  for (LaneMask m = mask; m != 0; m &= m - 1)
    if (lanes[std::countr_zero(m)] != first)
      call.fail(FaultKind::tensor_memory,
                fmt::format("{}: the threads of the warp give different {}", call.name, what));
  return first;
}

void check_size(const TensorCall& call, std::uint32_t columns) {
  if (std::has_single_bit(columns) && columns >= TensorMemory::kUnit && columns <= TensorMemory::kColumns) return;
  call.fail(FaultKind::tensor_memory, fmt::format("{} of {} columns", call.name, columns),
            "the number of columns must be a power of two from 32 to 512");
}

void begin_tensor_memory(const TensorCall& call) {
  Block& b = call.block();
  if (b.uses_tensor) return;
  if (!b.tensor) {
    auto& all = worker_of(*call.context).tensors;
    all.push_back(std::make_unique<TensorMemory>());
    b.tensor = all.back().get();
  }
  b.tensor->begin(launch_of(*call.context).fill.value_or(0));
  b.uses_tensor = true;
}

void store_word(const TensorCall& call, std::uint64_t to, std::uint32_t word) {
  std::uint64_t offsets[kWarpSize];
  std::fill(std::begin(offsets), std::end(offsets), raw(shared_offset(*call.context, GenericAddress{to})));
  Access access = access_of(*call.context, call.site);
  access.form = {StateSpace::shared, AccessType::store, sizeof word};
  access.element = sizeof word;
  access.vector = 1;
  Access write = access.at(Lanes<SharedOffset>(offsets), LaneMask{1} << call.lane);
  const Place place = pass(write);
  if (write.mask) std::memcpy(place.of(call.lane), &word, sizeof word);
}

unsigned quarter_of(const jit::WarpContext& c) {
  return c.warp % TensorMemory::kQuarters;
}

// Checks an access of the warp, and returns its first lane.
unsigned check_lanes(const TensorCall& call, const jit::TensorAccess& form, std::uint32_t address) {
  const unsigned quarter = quarter_of(*call.context), first = quarter * TensorMemory::kQuarterLanes;
  const unsigned lane = tensor_lane(address), lanes = form.lanes();
  if (lane < first || lane + lanes > first + TensorMemory::kQuarterLanes)
    call.fail(
        FaultKind::tensor_memory,
        fmt::format("warp {} accesses lanes {} to {} of tensor memory", call.context->warp, lane, lane + lanes - 1),
        fmt::format("warp {} of a warpgroup reaches lanes {} to {} only (bits 16 to 31 of the address)", quarter, first,
                    first + TensorMemory::kQuarterLanes - 1));
  if (lane % lanes != 0)
    call.fail(FaultKind::tensor_memory, fmt::format("lane {} of the address is no multiple of {}", lane, lanes));
  return lane;
}

// The columns of an access, as one range or two (.16x32bx2).
struct AccessColumns {
  unsigned first[2] = {}, count = 0, ranges = 1;
};
AccessColumns check_access_columns(const TensorCall& call, const TensorMemory& memory, const jit::TensorAccess& form,
                                   std::uint32_t address) {
  AccessColumns c;
  c.first[0] = tensor_column(address);
  c.count = form.columns();
  if (form.shape == jit::TensorShape::s16x32bx2) {
    c.first[1] = c.first[0] + form.split;
    c.ranges = 2;
  }
  for (unsigned k = 0; k < c.ranges; ++k) check_columns(call, memory, c.first[k], c.count);
  return c;
}

// A value of tcgen05.ld.red, with .abs its absolute value.
std::uint32_t reduced_word(const jit::TensorReduction& how, std::uint32_t word) {
  return how.absolute ? word & 0x7fffffffu : word;
}

// Minimum or maximum. A NaN is left out, or with .NaN the result.
std::uint32_t reduce(const jit::TensorReduction& how, std::uint32_t a, std::uint32_t b) {
  constexpr std::uint32_t kNan = 0x7fffffff;
  switch (how.type) {
    case jit::TensorReduction::Type::u32:
      return how.maximum ? std::max(a, b) : std::min(a, b);
    case jit::TensorReduction::Type::s32: {
      const auto x = static_cast<std::int32_t>(a), y = static_cast<std::int32_t>(b);
      return static_cast<std::uint32_t>(how.maximum ? std::max(x, y) : std::min(x, y));
    }
    case jit::TensorReduction::Type::f32: {
      const auto x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
      if (std::isnan(x) || std::isnan(y)) {
        if (how.nan || (std::isnan(x) && std::isnan(y))) return kNan;
        return std::isnan(x) ? b : a;
      }
      if (x == y) return how.maximum == std::signbit(x) ? b : a;  // +0 is larger than -0
      return (x < y) == how.maximum ? b : a;
    }
  }
  return 0;
}

}  // namespace

}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

// With .cta_group::2 a warp of each block of the pair allocates, and they do it together: neither goes on before the
// other has allocated (PTX ISA, "tcgen05.alloc").
static void meet_other_of_pair(void* context, const TensorCall& call, TensorMemory& memory, LaneMask mask) {
  memory.count_pair_allocation();
  const Block& own = call.block();
  const auto other = [&] { return own.cluster->blocks[own.cluster_rank ^ 1]; };
  const auto has_allocated = [&](const Block& b) {
    return b.uses_tensor && b.tensor->pair_allocations() >= memory.pair_allocations();
  };
  while (other() && !has_allocated(*other())) wg_yield(context, mask);
}

static void wg_tensor_alloc(void* context, std::uint32_t site, std::uint32_t pair, const std::uint64_t* to,
                            const std::uint32_t* columns, std::uint32_t mask) {
  if (mask == 0) return;
  const TensorCall call = call_of(context, site, mask, "tcgen05.alloc");
  check_whole_warp(call, mask);
  const std::uint32_t count = same_value(call, columns, mask, "numbers of columns");
  check_size(call, count);
  check_pair(call, pair != 0);
  begin_tensor_memory(call);
  TensorMemory& memory = tensor_memory(call, call.block(), pair != 0);
  if (memory.has_given_up())
    call.fail(FaultKind::tensor_memory, "tcgen05.alloc after tcgen05.relinquish_alloc_permit of the block");
  if (memory.last_size() != 0 && count > memory.last_size())
    warn(*call.context, site, call.lane, FaultKind::tensor_memory,
         fmt::format("tcgen05.alloc of {} columns follows one of {} columns", count, memory.last_size()),
         "the number of columns must not grow from one allocation of a block to the next");
  warn_of_waiting_blocks(call, memory, count);
  std::optional<unsigned> first;
  while (!(first = memory.allocate(count, site, call.context->warp))) wg_yield(context, mask);
  if (pair != 0) meet_other_of_pair(context, call, memory, mask);
  store_word(call, to[call.lane], *first);
}

static void wg_tensor_dealloc(void* context, std::uint32_t site, std::uint32_t pair, const std::uint32_t* addresses,
                              const std::uint32_t* columns, std::uint32_t mask) {
  if (mask == 0) return;
  const TensorCall call = call_of(context, site, mask, "tcgen05.dealloc");
  check_whole_warp(call, mask);
  const std::uint32_t count = same_value(call, columns, mask, "numbers of columns"),
                      address = same_value(call, addresses, mask, "addresses");
  check_size(call, count);
  check_pair(call, pair != 0);
  TensorMemory& memory = tensor_memory(call, call.block(), pair != 0);
  if (const std::uint32_t* open = memory.open_site())
    warn(*call.context, site, call.lane, FaultKind::tensor_memory,
         fmt::format("tcgen05.dealloc, but no thread has waited for the operation of {}",
                     other_place(launch_of(*call.context), *open)),
         "commit all operations to an mbarrier and wait for that before tensor memory is freed");
  if (tensor_lane(address) == 0 && memory.release(tensor_column(address), count, site)) return;
  call.fail(FaultKind::tensor_memory, no_allocation_text(call, memory, address, count),
            "free what tcgen05.alloc has allocated, with the same number of columns");
}

static void wg_tensor_relinquish(void* context, std::uint32_t site, std::uint32_t pair, std::uint32_t mask) {
  if (mask == 0) return;
  const TensorCall call = call_of(context, site, mask, "tcgen05.relinquish_alloc_permit");
  check_whole_warp(call, mask);
  check_pair(call, pair != 0);
  begin_tensor_memory(call);
  tensor_memory(call, call.block(), pair != 0).give_up();
}

// values: one plane of 32 words per register.
static void wg_tensor_load(void* context, std::uint32_t site, std::uint32_t code, std::uint32_t split,
                           const std::uint32_t* addresses, std::uint32_t* values, std::uint32_t mask) {
  if (mask == 0) return;
  const TensorCall call = call_of(context, site, mask, "tcgen05.ld");
  check_whole_warp(call, mask);
  const auto form = jit::TensorAccess::from_code(code, split);
  const std::uint32_t address = same_value(call, addresses, mask, "addresses");
  Block& block = call.block();
  if (!block.uses_tensor) tensor_memory(call, block, false);  // a fault
  TensorMemory& memory = *block.tensor;
  const unsigned first = check_lanes(call, form, address);
  const AccessColumns columns = check_access_columns(call, memory, form, address);
  const unsigned quarter = 1u << quarter_of(*call.context);
  for (unsigned k = 0; k < columns.ranges; ++k)
    report_hazard(call, memory.load({columns.first[k], columns.count, quarter}, call.context->warp, site), true);
  for (unsigned r = 0; r < form.registers(); ++r)
    for (unsigned t = 0; t < kWarpSize; ++t) {
      const jit::TensorAccess::At at = form.place(r, t);
      const std::uint32_t* const row = memory.row(first + at.lane) + columns.first[0];
      values[r * kWarpSize + t] =
          form.packs ? (row[2 * at.column + at.offset] & 0xffff) | row[2 * at.column + at.offset + 1] << 16
                     : row[at.column + at.offset];
    }
}

static void wg_tensor_store(void* context, std::uint32_t site, std::uint32_t code, std::uint32_t split,
                            const std::uint32_t* addresses, const std::uint32_t* values, std::uint32_t mask) {
  if (mask == 0) return;
  const TensorCall call = call_of(context, site, mask, "tcgen05.st");
  check_whole_warp(call, mask);
  const auto form = jit::TensorAccess::from_code(code, split);
  const std::uint32_t address = same_value(call, addresses, mask, "addresses");
  Block& block = call.block();
  if (!block.uses_tensor) tensor_memory(call, block, false);  // a fault
  TensorMemory& memory = *block.tensor;
  const unsigned first = check_lanes(call, form, address);
  const AccessColumns columns = check_access_columns(call, memory, form, address);
  const unsigned quarter = 1u << quarter_of(*call.context);
  for (unsigned k = 0; k < columns.ranges; ++k)
    report_hazard(call, memory.store({columns.first[k], columns.count, quarter}, call.context->warp, site), false);
  for (unsigned r = 0; r < form.registers(); ++r)
    for (unsigned t = 0; t < kWarpSize; ++t) {
      const jit::TensorAccess::At at = form.place(r, t);
      std::uint32_t* const row = memory.row(first + at.lane) + columns.first[0];
      const std::uint32_t value = values[r * kWarpSize + t];
      if (form.packs) {
        row[2 * at.column + at.offset] = value & 0xffff;
        row[2 * at.column + at.offset + 1] = value >> 16;
      } else {
        row[at.column + at.offset] = value;
      }
    }
}

static void wg_tensor_reduce(std::uint32_t* out, const std::uint32_t* values, std::uint32_t registers,
                             std::uint32_t code) {
  const auto how = jit::TensorReduction::from_code(code);
  for (unsigned t = 0; t < kWarpSize; ++t) {
    std::uint32_t all = reduced_word(how, values[t]);
    for (unsigned r = 1; r < registers; ++r) all = reduce(how, all, reduced_word(how, values[r * kWarpSize + t]));
    out[t] = all;
  }
}

static void wg_tensor_wait(void* context, std::uint32_t /*site*/, std::uint32_t stores, std::uint32_t mask) {
  if (mask == 0) return;
  const jit::WarpContext& w = warp(context);
  const Block& block = *fiber_of(w).block;
  if (!block.uses_tensor) return;
  if (stores)
    block.tensor->wait_stores(w.warp);
  else
    block.tensor->wait_loads(w.warp);
}

// barriers: addresses in the shared window. masks: blocks of the cluster that get the arrival (.multicast), or null.
static void wg_tensor_commit(void* context, std::uint32_t site, std::uint32_t pair, const std::uint64_t* barriers,
                             const std::uint32_t* masks, std::uint32_t mask) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const TensorCall call{&warp(context), site, lane, "tcgen05.commit"};
    check_pair(call, pair != 0);
    const std::uint64_t offset = raw(shared_offset(*call.context, GenericAddress{barriers[lane]}));
    const BarrierPlace at = barrier_place(*call.context, offset);
    std::uint32_t ranks = 1u << (at.rank & 31);
    if (masks) {
      ranks = masks[lane] & 0xffff;
      const Block& own = call.block();
      const std::uint32_t size = own.cluster ? own.cluster->size : 1;
      if (ranks >> size != 0)
        call.fail(FaultKind::tensor_memory,
                  fmt::format("tcgen05.commit to blocks {:#06x} of a cluster of {}", ranks, size));
    }
    std::vector<GenericAddress> places;
    for (std::uint32_t m = ranks; m != 0; m &= m - 1)
      places.push_back(masks ? in_block(GenericAddress{barriers[lane]}, static_cast<unsigned>(std::countr_zero(m)))
                             : GenericAddress{barriers[lane]});
    const std::uint32_t phases = arrive_later(*call.context, site, lane, places);
    std::uint32_t parities = 0, k = 0;
    for (std::uint32_t m = ranks; m != 0; m &= m - 1) parities |= (phases >> k++ & 1u) << std::countr_zero(m);
    each_tensor_memory(*call.context,
                       [&](TensorMemory& memory) { memory.commit(call.thread(), at.offset, ranks, parities); });
  }
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> tensor_memory_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_tensor_alloc", reinterpret_cast<void*>(&wg_tensor_alloc)},
                                            {"wg_tensor_dealloc", reinterpret_cast<void*>(&wg_tensor_dealloc)},
                                            {"wg_tensor_relinquish", reinterpret_cast<void*>(&wg_tensor_relinquish)},
                                            {"wg_tensor_load", reinterpret_cast<void*>(&wg_tensor_load)},
                                            {"wg_tensor_store", reinterpret_cast<void*>(&wg_tensor_store)},
                                            {"wg_tensor_reduce", reinterpret_cast<void*>(&wg_tensor_reduce)},
                                            {"wg_tensor_wait", reinterpret_cast<void*>(&wg_tensor_wait)},
                                            {"wg_tensor_commit", reinterpret_cast<void*>(&wg_tensor_commit)}};
  return symbols;
}

}  // namespace warpgrind::device
