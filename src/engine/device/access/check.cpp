// First step of an access: checks that every byte exists, is aligned, and is writable for writes.
#include "device/access/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "base/assert.h"
#include "device/access/count.h"
#include "device/device_impl.h"
#include "device/fault.h"

namespace warpgrind::device {

namespace {

unsigned alignment_of(const Access& a) {
  using P = events::AccessPath;
  constexpr unsigned kBulkAlignment = 16;  // PTX ISA, cp.async.bulk
  const bool bulk = a.path == P::bulk_copy || (a.path == P::multimem && a.sizes);
  // A run of a tensor copy begins at any element; the copy's own addresses are checked before it.
  return a.path == P::call || a.path == P::tensor_copy ? 1 : bulk ? kBulkAlignment : a.bytes();
}

// The size of a bulk copy or bulk store must be aligned too.
bool aligns_size(const Access& a) {
  using P = events::AccessPath;
  return a.path == P::bulk_copy || a.path == P::bulk_store || (a.path == P::multimem && a.sizes);
}

const DeviceHeap& heap_of(const Access& a) {
  return launch_of(*a.context).device->impl().heap;
}

std::uint64_t parameter_bytes(const Access& a) {
  return launch_of(*a.context).kernel->code->parameter_bytes;
}

Problem global_problem(const Access& a, const Range& range, std::uint64_t address, std::uint64_t bytes) {
  if (!range.holds(address, address + bytes - 1) || address + bytes < address) return Problem::outside;
  return a.writes() && range.constant ? Problem::constant : Problem::none;
}

}  // namespace

Problem problem_of(const Access& a, unsigned lane, Range& range) {
  const std::uint64_t address = a.addresses[lane], bytes = a.bytes_of(lane);
  if ((address | (aligns_size(a) ? bytes : 0)) & (alignment_of(a) - 1)) return Problem::misaligned;
  if (bytes == 0) return Problem::none;
  if (a.path == events::AccessPath::multimem)
    return multimem_reason(a, lane).empty() ? Problem::none : Problem::no_multimem;
  switch (a.form.space) {
    case StateSpace::shared: {
      const std::uint64_t size = a.context->shared_size;
      const bool own = bytes <= size && address <= size - bytes;
      if (own) return within_bound(a, address, bytes) ? Problem::none : Problem::neighbour;
      if (in_cluster(*a.context, address, bytes)) return Problem::none;
      const bool left_out = a.path == events::AccessPath::mbarrier && in_ended_block(*a.context, address, bytes);
      return left_out ? Problem::ended : Problem::outside;
    }
    case StateSpace::local: {
      const std::uint64_t size = a.context->local_size;
      if (bytes > size || address > size - bytes) return Problem::outside;
      return within_bound(a, address, bytes) ? Problem::none : Problem::neighbour;
    }
    case StateSpace::param: {
      const std::uint64_t size = parameter_bytes(a);
      return bytes > size || address > size - bytes ? Problem::outside : Problem::none;
    }
    default:
      break;
  }
  if (global_problem(a, range, address, bytes) == Problem::outside) {
    Range found;
    if (!find_bounded(launch_of(*a.context), a.site, address, &found)) {
      const bool elsewhere = find_allocation(launch_of(*a.context), address, &found) &&
                             global_problem(a, found, address, bytes) != Problem::outside && !found.internal;
      if (AddressSpace::instance().is_multimem(address)) return Problem::multimem_address;
      return elsewhere ? Problem::neighbour : Problem::outside;
    }
    range = found;
  }
  Problem problem = global_problem(a, range, address, bytes);
  if (problem == Problem::outside) {  // the site's bound may end before the memory does
    Range whole;
    if (find_allocation(launch_of(*a.context), address, &whole) &&
        global_problem(a, whole, address, bytes) != Problem::outside)
      return Problem::neighbour;
  }
  if (problem == Problem::none && range.kernel_heap && !heap_of(a).holds(address, bytes)) return Problem::outside;
  return problem;
}

namespace {

bool lanes_good(const Access& a, Range& range) {
  for (LaneMask m = a.mask; m != 0; m &= m - 1)
    if (problem_of(a, static_cast<unsigned>(std::countr_zero(m)), range) != Problem::none) return false;
  return true;
}

bool within_bound(const Access& a, const Extent& x, std::uint64_t bytes) {
  const Bound& bound = bound_of(launch_of(*a.context), a.site, a.form.space);
  return x.low >= bound.low && bound.holds(x.high, bytes);
}

// For lanes of equal size: their extent decides in most cases.
bool extent_good(const Access& a, const Extent& x) {
  const std::uint64_t within = a.bytes() - 1;
  if (x.bits & within) return false;
  jit::WarpContext& c = *a.context;
  switch (a.form.space) {
    case StateSpace::shared:
      // Below the block's own memory lies that of other blocks of the cluster; the sum wraps there.
      return (x.high < c.shared_size && x.high + within < c.shared_size && within_bound(a, x, within + 1)) ||
             lanes_good(a, worker_of(c).records[a.site].range);
    case StateSpace::local:
      return x.high + within < c.local_size && within_bound(a, x, within + 1);
    case StateSpace::param:
      return lanes_good(a, worker_of(c).records[a.site].range);
    default:
      break;
  }
  Range& range = worker_of(c).records[a.site].range;
  if (x.high <= ~within && range.holds(x.low, x.high + within) && !(a.writes() && range.constant) &&
      (!range.kernel_heap || in_pieces(a)))
    return true;
  return lanes_good(a, range);  // several allocations, or a new one
}

}  // namespace

bool wrong_space(const Access& a) {
  if (a.path == events::AccessPath::bulk_store) return a.form.space != StateSpace::shared;
  return a.form.space == StateSpace::local && a.path != events::AccessPath::instruction &&
         a.path != events::AccessPath::call;
}

namespace {

bool good(const Access& a, Extent* x) {
  if (a.form.space == StateSpace::texture) {  // addresses made by the sampler
    *x = extent_of(a.addresses, a.mask);
    return true;
  }
  if (wrong_space(a)) return false;
  if (a.sizes == nullptr && a.path == events::AccessPath::instruction) {
    *x = extent_of(a.addresses, a.mask);
    return extent_good(a, *x);
  }
  Range range;
  if (!lanes_good(a, range)) return false;
  *x = extent_of(a.addresses, a.mask);
  return true;
}

// Mapped memory may be accessible to some devices only.
bool is_for(const Range& range, const Launch& launch) {
  return (range.devices >> launch.device->ordinal() & 1) != 0;
}

// ---- Without a stop at bounds

// Whether the bytes of a lane are outside all allocations, but where a GPU has memory: in a mapped page, or in memory
// that a block gets beyond its request.
bool would_go_on(const Access& a, unsigned lane) {
  const std::uint64_t address = a.addresses[lane], bytes = a.bytes_of(lane);
  if (a.form.space == StateSpace::local || a.form.space == StateSpace::param) return false;
  if (a.form.space == StateSpace::shared)
    return !fiber_of(*a.context).block->cluster && bytes <= a.context->total_shared &&
           address <= a.context->total_shared - bytes;
  if (bytes == 0 || address + bytes < address) return false;
  const auto range = AddressSpace::instance().find(address);
  if (range && !is_for(*range, launch_of(*a.context))) return false;
  Range& mapped = worker_of(*a.context).mapped;
  if (!mapped.holds(address, address + bytes - 1)) {
    const auto around = AddressSpace::instance().mapped_around(address);
    if (!around || !around->holds(address, address + bytes - 1)) return false;
    mapped = *around;
  }
  // A long copy may reach memory that kernels must not write.
  Range last;
  return !find_allocation(launch_of(*a.context), address + bytes - 1, &last) || !(a.writes() && last.constant);
}

// The problem that stops the launch: problem_of() without the accesses that go on.
Problem stopping_problem(const Access& a, unsigned lane, Range& range) {
  const Problem problem = problem_of(a, lane, range);
  const bool goes_on =
      problem == Problem::outside && !launch_of(*a.context).bounds_stop && !wrong_space(a) && would_go_on(a, lane);
  return goes_on ? Problem::none : problem;
}

// ---- Messages for the user

FaultText misaligned(const Access& a, unsigned lane) {
  const std::uint64_t address = a.addresses[lane];
  const unsigned alignment = alignment_of(a);
  const bool bulk = aligns_size(a);
  return {FaultKind::misaligned_address,
          fmt::format("{} of {} bytes at {:#x}: the {} is not a multiple of {}", verb_of(a), a.bytes_of(lane), address,
                      address & (alignment - 1) ? "address" : "size", alignment),
          a.path == events::AccessPath::bulk_store ? "align the address and the size of st.bulk to 8 bytes"
          : bulk                                   ? "align source, destination and size of a bulk copy to 16 bytes"
                 : "align the pointer to the size of the access (vector types such as float4 need 16 bytes)"};
}

// The offset of an access to shared or local memory. Offsets wrap at 4 GiB.
std::int64_t offset_of(const Access& a, unsigned lane) {
  return static_cast<std::int32_t>(a.addresses[lane]);
}

// offset: from the start of the memory of another block of the cluster.
FaultText outside_other_block(const Access& a, unsigned lane, std::int64_t offset) {
  const std::uint64_t size = a.context->shared_size, bytes = a.bytes_of(lane);
  if (offset >= 0 && bytes <= size && static_cast<std::uint64_t>(offset) <= size - bytes)
    return {
        FaultKind::shared_out_of_bounds,
        fmt::format("{} of {} bytes at offset {} of the shared memory of another block of the cluster, which has ended",
                    verb_of(a), bytes, offset),
        "let no block end before the last access of the others: end the kernel with cluster.sync()"};
  return {
      FaultKind::shared_out_of_bounds,
      fmt::format("{} of {} bytes at offset {}, {} the shared memory of another block of the cluster; it has {} bytes",
                  verb_of(a), bytes, offset, beside_text(offset, size), size),
      "check the index into the other block's shared memory"};
}

FaultText outside_shared(const Access& a, unsigned lane, std::int64_t offset) {
  const std::uint64_t size = a.context->shared_size;
  if (const std::int64_t start = nearest_shared(*a.context, offset); start != 0)
    return outside_other_block(a, lane, offset - start);
  const std::uint64_t fixed = std::min(size, a.context->dynamic_shared_offset);
  const bool none_dynamic = size == fixed && offset >= 0;
  return {FaultKind::shared_out_of_bounds,
          fmt::format("{} of {} bytes at offset {}, {} shared memory; the block has {} bytes ({} of them dynamic)",
                      verb_of(a), a.bytes_of(lane), offset, beside_text(offset, size), size, size - fixed),
          none_dynamic ? "pass the size of dynamic shared memory in bytes as the third launch parameter; it is 0 here"
                       : "check the index; for a dynamic array, check the third launch parameter too"};
}

FaultText outside_local(const Access& a, unsigned lane, std::int64_t offset) {
  const std::uint64_t size = a.context->local_size, top = a.context->local_top;
  if (top > size) return stack_overflow_text("access", size, top);
  return {FaultKind::local_out_of_bounds,
          fmt::format("{} of {} bytes at offset {}, {} local memory; the thread has {} bytes", verb_of(a),
                      a.bytes_of(lane), offset, beside_text(offset, size), size),
          "check the index into the thread's local array"};
}

FaultText outside_parameters(const Access& a, unsigned lane) {
  const auto offset = static_cast<std::int64_t>(a.addresses[lane]);
  const std::uint64_t size = parameter_bytes(a);
  return {FaultKind::illegal_address,
          fmt::format("{} of {} bytes at offset {}, {} the kernel's parameters; they have {} bytes", verb_of(a),
                      a.bytes_of(lane), offset, beside_text(offset, size), size),
          "check the index into the array inside the kernel's parameters"};
}

// A generic address before the window of a space is global, as on a GPU.
std::optional<FaultText> before_windows(const Access& a, unsigned lane) {
  const std::uint64_t address = a.addresses[lane];
  std::optional<FaultText> said;
  if (before_window(address, kSharedWindow))
    said = outside_shared(a, lane, static_cast<std::int64_t>(address - kSharedWindow));
  else if (before_window(address, kLocalWindow))
    said = outside_local(a, lane, static_cast<std::int64_t>(address - kLocalWindow));
  if (said) said->kind = FaultKind::illegal_address;
  return said;
}

FaultText outside_global(const Access& a, unsigned lane) {
  const std::uint64_t address = a.addresses[lane];
  const std::uint32_t bytes = a.bytes_of(lane);
  constexpr std::uint64_t kFirstPage = 4096;
  if (address < kFirstPage)
    return {FaultKind::illegal_address,
            fmt::format("{} of {} bytes at {:#x}: a null pointer", verb_of(a), bytes, address),
            "check that the pointer was allocated (cudaMalloc) and passed to the kernel"};
  if (std::optional<FaultText> said = before_windows(a, lane)) return *said;
  Range range;
  if (find_allocation(launch_of(*a.context), address, &range) && range.kernel_heap) {
    const DeviceHeap& heap = heap_of(a);
    return {FaultKind::illegal_address,
            fmt::format("{} of {} bytes at {:#x} {}", verb_of(a), bytes, address, heap.describe(address)),
            heap.was_freed(address) ? "free memory after its last use in the kernel"
                                    : "check the index against the size that malloc got"};
  }
  const bool by_map = a.path == events::AccessPath::tensor_copy;
  return {
      FaultKind::illegal_address, describe_address(verb_of(a), address, bytes),
      by_map ? "check the address, sizes and strides that the tensor map was encoded with" : address_advice(address)};
}

FaultText outside(const Access& a, unsigned lane) {
  if (a.form.space == StateSpace::shared) return outside_shared(a, lane, offset_of(a, lane));
  if (a.form.space == StateSpace::local) return outside_local(a, lane, offset_of(a, lane));
  if (a.form.space == StateSpace::param) return outside_parameters(a, lane);
  return outside_global(a, lane);
}

}  // namespace

std::string multimem_reason(const Access& a, unsigned lane) {
  const Launch& launch = launch_of(*a.context);
  const std::uint64_t address = a.addresses[lane], bytes = a.bytes_of(lane);
  const Multicast* const multicast = launch.ranges->multicast(address);
  if (!multicast) return "no multicast object is mapped there";
  if (bytes > multicast->high - address) return "it goes past the end of the multicast object";
  const std::uint64_t allowed = a.writes() ? multicast->writers : multicast->readers;
  const int own = launch.device->ordinal();
  if ((allowed >> own & 1) == 0) return fmt::format("GPU {} has no access to that mapping (cuMemSetAccess)", own);
  for (const Multicast::Member& member : multicast->members)
    if (!member.memory_of(address, bytes)) return fmt::format("no memory of GPU {} is bound there", member.device);
  return "";
}

FaultText text_of(const Access& a, unsigned lane, Problem problem) {
  if (problem == Problem::wrong_space && a.path == events::AccessPath::bulk_store)
    return {
        FaultKind::illegal_address,
        fmt::format("st.bulk of {} bytes at {:#x}, which is not shared memory", a.bytes_of(lane), a.addresses[lane]),
        "pass an address of the block's own shared memory"};
  if (problem == Problem::wrong_space)
    return {FaultKind::illegal_address, fmt::format("{} on local memory", verb_of(a)),
            "asynchronous copies and mbarriers work only on global and shared memory; move the variable there"};
  WG_ASSERT(problem != Problem::none);
  if (problem == Problem::misaligned) return misaligned(a, lane);
  if (problem == Problem::outside) return outside(a, lane);
  if (problem == Problem::ended) {
    FaultText said = outside(a, lane);
    said.message +=
        "; it is left out here (an H200 goes on if the block ends at about that time, and fails if it ended before)";
    return said;
  }
  if (problem == Problem::multimem_address)
    return {FaultKind::illegal_address,
            fmt::format("{} of {} bytes at {:#x}, a multimem address", verb_of(a), a.bytes_of(lane), a.addresses[lane]),
            "only the multimem instructions work on the addresses of a multicast object; map the memory of one GPU at "
            "another address for plain accesses"};
  if (problem == Problem::no_multimem)
    return {FaultKind::illegal_address,
            fmt::format("multimem {} of {} bytes at {:#x}: {}", verb_of(a), a.bytes_of(lane), a.addresses[lane],
                        multimem_reason(a, lane)),
            "pass an address of a mapped multicast object, and bind memory of every GPU to it (cuMulticastBindMem)"};
  return {
      FaultKind::write_to_constant,
      fmt::format("{} of {} bytes at {:#x}, which is constant memory", verb_of(a), a.bytes_of(lane), a.addresses[lane]),
      "a kernel can only read __constant__ variables and its parameters; write to another variable"};
}

namespace {

[[noreturn]] void refuse(const Access& a) {
  WG_ASSERT(a.mask != 0);
  const auto first = static_cast<unsigned>(std::countr_zero(a.mask));
  if (wrong_space(a)) {
    FaultText said = text_of(a, first, Problem::wrong_space);
    raise(*a.context, a.site, first, said.kind, std::move(said.message), std::move(said.advice), a.addresses[first],
          a.bytes_of(first));
  }
  Range range;
  for (const Problem wanted :
       {Problem::misaligned, Problem::multimem_address, Problem::no_multimem, Problem::outside, Problem::constant}) {
    for (LaneMask m = a.mask; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      if (stopping_problem(a, lane, range) != wanted) continue;
      FaultText said = text_of(a, lane, wanted);
      raise(*a.context, a.site, lane, said.kind, std::move(said.message), std::move(said.advice), a.addresses[lane],
            a.bytes_of(lane));
    }
  }
  // Another thread has allocated the memory between the two checks.
  raise(*a.context, a.site, first, FaultKind::illegal_address,
        describe_address(verb_of(a), a.addresses[first], a.bytes_of(first)), "", a.addresses[first], a.bytes_of(first));
}

// Whether an invalid access goes on as on a GPU. If so, its lanes outside allocations are counted.
bool goes_on(const Access& a) {
  if (launch_of(*a.context).bounds_stop) return false;
  LaneMask beyond = 0;
  Range range;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    if (stopping_problem(a, lane, range) != Problem::none) return false;
    if (problem_of(a, lane, range) != Problem::none) beyond |= LaneMask{1} << lane;
  }
  if (beyond == 0) return true;  // another thread has allocated the memory meanwhile
  const auto lane = static_cast<unsigned>(std::countr_zero(beyond));
  const FaultKind kind =
      a.form.space == StateSpace::shared ? FaultKind::shared_out_of_bounds : FaultKind::illegal_address;
  count_went_on(*a.context, a.site, lane, kind, static_cast<unsigned>(std::popcount(beyond)),
                [&] { return outside(a, lane); });
  return true;
}

}  // namespace

const char* verb_of(const Access& a) {
  using P = events::AccessPath;
  const bool load = a.form.type == AccessType::load, store = a.form.type == AccessType::store;
  if (a.path == P::tensor_copy) return load ? "tensor copy's read" : store ? "tensor copy's write" : "tensor reduction";
  if (a.path == P::async_copy || a.path == P::bulk_copy) return load ? "asynchronous read" : "asynchronous write";
  if (a.path == P::mbarrier) return "mbarrier operation";
  return load ? "read" : store ? "write" : "atomic operation";
}

bool in_pieces(const Access& a) {
  const DeviceHeap& heap = heap_of(a);
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    if (!heap.holds(a.addresses[lane], a.bytes_of(lane))) return false;
  }
  return true;
}

// An allocation made or freed after the launch began is looked up in the live table.
bool find_allocation(const Launch& launch, std::uint64_t address, Range* range) {
  if (const Range* r = launch.ranges->find(address)) {
    *range = *r;
  } else if (const auto live = AddressSpace::instance().find(address)) {
    *range = *live;
  } else {
    return false;
  }
  return is_for(*range, launch);
}

bool find_bounded(const Launch& launch, std::uint32_t site, std::uint64_t address, Range* range) {
  if (!find_allocation(launch, address, range)) return false;
  const Bound& bound = bound_of(launch, site, StateSpace::global);
  range->low = std::max(range->low, bound.low);
  range->high = std::min(range->high, bound.high);
  return range->holds(address, address);
}

bool within_bound(const Access& a, std::uint64_t address, std::uint64_t bytes) {
  return bound_of(launch_of(*a.context), a.site, a.form.space).holds(address, bytes);
}

namespace {

void leave_out_ended(Access& a) {
  Range range;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    if (problem_of(a, lane, range) != Problem::ended) continue;
    FaultText said = text_of(a, lane, Problem::ended);
    warn(*a.context, a.site, lane, said.kind, std::move(said.message), std::move(said.advice));
    a.mask &= ~(LaneMask{1} << lane);
  }
}

}  // namespace

Extent check(Access& a) {
  Extent x;
  if (good(a, &x)) return x;
  if (launch_of(*a.context).wants.invalid_accesses) {
    suppress(a);
  } else {
    leave_out_ended(a);
    if (a.mask != 0 && !good(a, &x) && !goes_on(a)) refuse(a);
  }
  return extent_of(a.addresses, a.mask);
}

bool allowed(Access& a) {
  Extent x;
  if (good(a, &x)) return true;
  if (!launch_of(*a.context).wants.invalid_accesses) return goes_on(a);
  report_invalid(a);
  return false;
}

std::optional<GlobalAddress> global_stretch(const Launch& launch, GenericAddress address, std::uint64_t bytes,
                                            bool write) {
  Range range;
  if (in_shared(address) || in_local(address) || !find_allocation(launch, raw(address), &range)) return std::nullopt;
  if (bytes > range.high - raw(address) || (write && range.constant)) return std::nullopt;
  if (range.kernel_heap && !launch.device->impl().heap.holds(raw(address), bytes)) return std::nullopt;
  return GlobalAddress{raw(address)};
}

}  // namespace warpgrind::device
