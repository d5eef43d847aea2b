#include "device/calls/memory_access.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "device/calls/lane_vectors.h"
#include "device/calls/memory_runtime.h"
#include "device/calls/site_counting.h"
#include "device/fault.h"

namespace warpgrind::device {

namespace {

const char* verb_of(AccessType type) {
  switch (type) {
    case AccessType::load:
      return "read";
    case AccessType::store:
      return "write";
    default:
      return "atomic operation";
  }
}

// An allocation made or freed since the launch began is looked up in the live table.
bool find_range(const Launch& launch, std::uint64_t address, Range* range) {
  if (const Range* r = launch.ranges->find(address)) {
    *range = *r;
    return true;
  }
  if (const auto r = AddressSpace::instance().find(address)) {
    *range = *r;
    return true;
  }
  return false;
}

bool in_window(std::uint64_t address, std::uint64_t window) {
  return address - window < kWindowSize;
}

[[noreturn]] void misaligned(const AccessSite& a, const std::uint64_t* addresses, LaneMask mask) {
  unsigned lane = static_cast<unsigned>(std::countr_zero(mask));
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    lane = static_cast<unsigned>(std::countr_zero(m));
    if (addresses[lane] & (a.bytes - 1)) break;
  }
  raise(*a.context, a.site, lane, FaultKind::misaligned_address,
        fmt::format("{} of {} bytes at {:#x}: the address is not a multiple of {}", verb_of(a.type), a.bytes,
                    addresses[lane], a.bytes),
        "align the pointer to the size of the access (vector types such as float4 need 16 bytes)", addresses[lane],
        a.bytes);
}

[[noreturn]] void bad_global(const AccessSite& a, std::uint64_t address, unsigned lane) {
  if (address < 4096)
    raise(*a.context, a.site, lane, FaultKind::illegal_address,
          fmt::format("{} of {} bytes at {:#x}: a null pointer", verb_of(a.type), a.bytes, address),
          "check that the pointer was allocated (cudaMalloc) and passed to the kernel", address, a.bytes);
  raise(
      *a.context, a.site, lane, FaultKind::illegal_address, describe_address(verb_of(a.type), address, a.bytes),
      AddressSpace::instance().inside_reserved(address)
          ? "check the index against the size of the allocation"
          : "the address is not device memory: host memory must be allocated with cudaMallocHost or cudaMallocManaged "
            "to be used by a kernel",
      address, a.bytes);
}

Extent check_global(const AccessSite& a, const std::uint64_t* addresses, LaneMask mask) {
  const Extent x = extent_of(addresses, mask);
  if (x.bits & (a.bytes - 1)) misaligned(a, addresses, mask);
  Worker& worker = worker_of(*a.context);
  Range& range = worker.records[a.site].range;
  if (range.holds(x.low, x.high + a.bytes - 1) && !(a.write && range.constant)) return x;
  // Several allocations, a new one, or a fault.
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t address = addresses[lane];
    if (!range.holds(address, address + a.bytes - 1)) {
      Range found;
      if (!find_range(*worker.launch, address, &found) || !found.holds(address, address + a.bytes - 1))
        bad_global(a, address, lane);
      range = found;
    }
    if (a.write && range.constant)
      raise(*a.context, a.site, lane, FaultKind::write_to_constant,
            fmt::format("{} of {} bytes at {:#x}, which is constant memory", verb_of(a.type), a.bytes, address),
            "__constant__ variables and kernel parameters can only be read by a kernel", address, a.bytes);
  }
  return x;
}

Extent check_shared(const AccessSite& a, const std::uint64_t* offsets, LaneMask mask) {
  const Extent x = extent_of(offsets, mask);
  if (x.bits & (a.bytes - 1)) misaligned(a, offsets, mask);
  const std::uint64_t size = a.context->shared_size;
  if (x.high < size && x.high + a.bytes <= size) return x;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    if (offsets[lane] + a.bytes <= size && offsets[lane] < size) continue;
    if (in_cluster(*a.context, offsets[lane], a.bytes)) continue;
    raise(*a.context, a.site, lane, FaultKind::shared_out_of_bounds,
          fmt::format("{} of {} bytes at offset {} of shared memory, of which the block has {} bytes ({} dynamic)",
                      verb_of(a.type), a.bytes, static_cast<std::int64_t>(static_cast<std::int32_t>(offsets[lane])),
                      size, size - std::min(size, a.context->dynamic_shared_offset)),
          size == 0 || size == a.context->dynamic_shared_offset
              ? "the third launch parameter gives the dynamic shared memory in bytes: it is 0 here"
              : "check the index, and the third launch parameter if the array is dynamic",
          offsets[lane], a.bytes);
  }
  return x;
}

// In place, and where none differs (as always without clusters) for the price of one pass.
void to_own(const jit::WarpContext& c, std::uint64_t* offsets) {
  std::uint64_t any = 0;
  for (unsigned l = 0; l < kWarpSize; ++l) any |= offsets[l];
  if (any < kReservedShared) return;
  for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = shared_offset(c, offsets[l]);
}

Extent check_local(const AccessSite& a, const std::uint64_t* offsets, LaneMask mask) {
  const Extent x = extent_of(offsets, mask);
  const unsigned alignment = a.bytes;
  if (x.bits & (alignment - 1)) misaligned(a, offsets, mask);
  const std::uint64_t size = a.context->local_size;
  if (x.high + a.bytes <= size) return x;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    if (offsets[lane] + a.bytes <= size) continue;
    const bool overflow = a.context->local_top > size;
    raise(*a.context, a.site, lane, overflow ? FaultKind::stack_overflow : FaultKind::local_out_of_bounds,
          overflow ? fmt::format("the thread's stack of {} bytes is full ({} bytes in use)", size, a.context->local_top)
                   : fmt::format("{} of {} bytes at offset {} of local memory, of which the thread has {} bytes",
                                 verb_of(a.type), a.bytes,
                                 static_cast<std::int64_t>(static_cast<std::int32_t>(offsets[lane])), size),
          overflow ? "less recursion, or cudaDeviceSetLimit(cudaLimitStackSize, bytes)"
                   : "check the index into the thread's local array",
          offsets[lane], a.bytes);
  }
  return x;
}

void observe(const AccessSite& a, StateSpace space, const std::uint64_t* addresses, LaneMask mask) {
  Worker& worker = worker_of(*a.context);
  Launch& launch = *worker.launch;
  if (!launch.observe_accesses) return;
  const jit::WarpContext& c = *a.context;
  const events::Access access{&launch.info,
                              a.site,
                              space,
                              Dim3{c.ctaid[0], c.ctaid[1], c.ctaid[2]},
                              c.warp,
                              mask,
                              std::span<const std::uint64_t, kWarpSize>(addresses, kWarpSize)};
  for (events::Observer* o : *launch.observers)
    if (o->wants().accesses) o->on_access(access, worker.index);
}

// ---- Local memory: word w of lane l at (w*32 + l)*4

std::uint8_t* local_byte(const jit::WarpContext& c, unsigned lane, std::uint64_t offset) {
  return c.local + (offset / 4 * kWarpSize + lane) * 4 + offset % 4;
}

void copy_local(const jit::WarpContext& c, unsigned lane, std::uint64_t offset, std::uint8_t* outside,
                std::uint64_t bytes, bool write) {
  while (bytes > 0) {
    const std::uint64_t step = std::min<std::uint64_t>(bytes, 4 - offset % 4);
    std::uint8_t* inside = local_byte(c, lane, offset);
    std::memcpy(write ? inside : outside, write ? outside : inside, step);
    offset += step;
    outside += step;
    bytes -= step;
  }
}

}  // namespace

AccessSite site_access(jit::WarpContext& context, std::uint32_t site, bool write) {
  const SiteFacts& f = launch_of(context).kernel->sites[site];
  return {&context, site, f.bytes, f.element, f.vector, f.type, write};
}

void move_local(const AccessSite& a, const std::uint64_t* offsets, LaneMask mask, void* values) {
  auto* bytes = static_cast<std::uint8_t*>(values);
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    for (unsigned e = 0; e < a.count; ++e)
      copy_local(*a.context, lane, offsets[lane] + std::uint64_t{e} * a.element,
                 bytes + (std::size_t{e} * kWarpSize + lane) * a.element, a.element, a.write);
  }
}

namespace {

void move_lanes(const AccessSite& a, std::uint64_t origin, const std::uint64_t* addresses, LaneMask mask,
                bool contiguous, void* values) {
  if (contiguous) {
    auto* memory = reinterpret_cast<std::uint8_t*>(origin + addresses[std::countr_zero(mask)]) -
                   static_cast<std::size_t>(std::countr_zero(mask)) * a.element;
    return a.write ? copy_lanes(memory, values, mask, a.element) : copy_lanes(values, memory, mask, a.element);
  }
  if (a.write)
    scatter(values, origin, addresses, mask, a.element, a.count);
  else
    gather(values, origin, addresses, mask, a.element, a.count);
}

// The lanes repeat their last pattern, elsewhere: one comparison instead of checks and counting. False: not so.
bool repeated_pattern(const AccessSite& a, StateSpace space, const std::uint64_t* addresses, LaneMask mask,
                      void* values) {
  SiteRecord& record = worker_of(*a.context).records[a.site];
  LanePattern& p = record.lanes;
  if (p.hits == 0 || p.mask != mask || p.space != space) return false;
  const std::uint64_t first = addresses[std::countr_zero(mask)] & ~std::uint64_t{255};
  const std::uint64_t low = first + static_cast<std::uint64_t>(p.low);
  const std::uint64_t high = first + static_cast<std::uint64_t>(p.high) + a.bytes - 1;
  if (space == StateSpace::shared ? high >= a.context->shared_size || low > high
                                  : !record.range.holds(low, high) || (a.write && record.range.constant))
    return false;
  if (!same_offsets(p.offsets, addresses, first, mask)) return false;
  ++p.hits;
  const std::uint64_t origin = space == StateSpace::shared ? reinterpret_cast<std::uint64_t>(a.context->shared) : 0;
  move_lanes(a, origin, addresses, mask, p.contiguous, values);
  return true;
}

}  // namespace

// One space, checked and counted; addresses of lanes off are not read. Local and shared: offsets.
void access_space(const AccessSite& a, StateSpace space, const std::uint64_t* addresses, LaneMask mask, void* values) {
  Worker& worker = worker_of(*a.context);
  const bool observed = worker.launch->observe_accesses;
  if (space != StateSpace::local && !observed && repeated_pattern(a, space, addresses, mask, values)) return;
  const Extent x = space == StateSpace::shared  ? check_shared(a, addresses, mask)
                   : space == StateSpace::local ? check_local(a, addresses, mask)
                                                : check_global(a, addresses, mask);
  count_pattern(worker, a.site, space, addresses, mask, x);
  if (observed) observe(a, space, addresses, mask);
  if (space == StateSpace::local) return move_local(a, addresses, mask, values);
  const std::uint64_t origin = space == StateSpace::shared ? reinterpret_cast<std::uint64_t>(a.context->shared) : 0;
  move_lanes(a, origin, addresses, mask, false, values);
}

SpaceMasks split_spaces(const std::uint64_t* addresses, LaneMask mask) {
  const Extent x = extent_of(addresses, mask);
  if (x.high < kSharedWindow) return {mask, 0, 0};
  if (in_window(x.low, kSharedWindow) && in_window(x.high, kSharedWindow)) return {0, mask, 0};
  SpaceMasks s;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const LaneMask bit = m & (~m + 1);
    const std::uint64_t address = addresses[std::countr_zero(m)];
    (in_window(address, kSharedWindow) ? s.shared : in_window(address, kLocalWindow) ? s.local : s.global) |= bit;
  }
  return s;
}

void access_generic(const AccessSite& a, const std::uint64_t* addresses, LaneMask mask, void* values) {
  const SpaceMasks s = split_spaces(addresses, mask);
  if (s.global) access_space(a, StateSpace::global, addresses, s.global, values);
  if (!s.shared && !s.local) return;
  std::uint64_t offsets[kWarpSize];
  for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = addresses[l] & (kWindowSize - 1);
  if (s.shared) to_own(*a.context, offsets);
  if (s.shared) access_space(a, StateSpace::shared, offsets, s.shared, values);
  if (s.local) access_space(a, StateSpace::local, offsets, s.local, values);
}

void access_lanes(const AccessSite& a, StateSpace space, const std::uint64_t* addresses, LaneMask mask, void* values) {
  if (mask == 0) return;
  switch (space) {
    case StateSpace::shared:
    case StateSpace::local: {
      std::uint64_t offsets[kWarpSize];
      for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = addresses[l] & (kWindowSize - 1);
      if (space == StateSpace::shared) to_own(*a.context, offsets);
      return access_space(a, space, offsets, mask, values);
    }
    case StateSpace::global:
    case StateSpace::constant:
      return access_space(a, StateSpace::global, addresses, mask, values);
    default:
      return access_generic(a, addresses, mask, values);
  }
}

void observe_access(const AccessSite& a, StateSpace space, const std::uint64_t* addresses, LaneMask mask) {
  observe(a, space, addresses, mask);
}

bool find_allocation(const Launch& launch, std::uint64_t address, Range* range) {
  return find_range(launch, address, range);
}

// ---- For atomics, asynchronous copies and textures

void resolve_access(jit::WarpContext& context, std::uint32_t site, StateSpace space, const std::uint64_t* addresses,
                    LaneMask mask, unsigned bytes, AccessType type, bool write, std::uint8_t** pointers) {
  if (mask == 0) return;
  const AccessSite a{&context, site, bytes, bytes, 1, type, write};
  Worker& worker = worker_of(context);
  SpaceMasks s{mask, 0, 0};
  const bool generic = space != StateSpace::shared && space != StateSpace::local && space != StateSpace::global &&
                       space != StateSpace::constant;
  if (generic)
    s = split_spaces(addresses, mask);
  else if (space == StateSpace::shared)
    s = {0, mask, 0};
  else if (space == StateSpace::local)
    s = {0, 0, mask};
  if (s.local)
    raise(context, site, static_cast<unsigned>(std::countr_zero(s.local)), FaultKind::illegal_address,
          fmt::format("{} on local memory", verb_of(type)), "atomics work on global and shared memory only",
          addresses[std::countr_zero(s.local)], bytes);
  if (s.global) {
    check_global(a, addresses, s.global);
    count_lanes(worker, site, StateSpace::global, addresses, s.global, bytes, type);
    observe(a, StateSpace::global, addresses, s.global);
    for (LaneMask m = s.global; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      pointers[lane] = reinterpret_cast<std::uint8_t*>(addresses[lane]);
    }
  }
  if (s.shared) {
    std::uint64_t offsets[kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = shared_offset(context, addresses[l]);
    check_shared(a, offsets, s.shared);
    count_lanes(worker, site, StateSpace::shared, offsets, s.shared, bytes, type);
    observe(a, StateSpace::shared, offsets, s.shared);
    for (LaneMask m = s.shared; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      pointers[lane] = context.shared + offsets[lane];
    }
  }
}

std::uint8_t* checked_pointer(jit::WarpContext& context, std::uint64_t address, std::uint64_t bytes, bool write) {
  if (bytes == 0) bytes = 1;
  if (in_window(address, kSharedWindow)) {
    const std::uint64_t offset = shared_offset(context, address);
    if (in_cluster(context, offset, bytes)) return context.shared + offset;
    return offset < context.shared_size && bytes <= context.shared_size - offset ? context.shared + offset : nullptr;
  }
  Range range;
  if (!find_range(launch_of(context), address, &range) || bytes > range.high - address) return nullptr;
  if (write && range.constant) return nullptr;
  return reinterpret_cast<std::uint8_t*>(address);
}

bool read_generic(jit::WarpContext& context, unsigned lane, std::uint64_t address, void* out, std::uint64_t bytes) {
  if (in_window(address, kLocalWindow)) {
    const std::uint64_t offset = address - kLocalWindow;
    if (offset > context.local_size || bytes > context.local_size - offset) return false;
    copy_local(context, lane, offset, static_cast<std::uint8_t*>(out), bytes, false);
    return true;
  }
  const std::uint8_t* p = checked_pointer(context, address, bytes, false);
  if (!p) return false;
  std::memcpy(out, p, bytes);
  return true;
}

bool write_generic(jit::WarpContext& context, unsigned lane, std::uint64_t address, const void* in,
                   std::uint64_t bytes) {
  if (in_window(address, kLocalWindow)) {
    const std::uint64_t offset = address - kLocalWindow;
    if (offset > context.local_size || bytes > context.local_size - offset) return false;
    copy_local(context, lane, offset, static_cast<std::uint8_t*>(const_cast<void*>(in)), bytes, true);
    return true;
  }
  std::uint8_t* p = checked_pointer(context, address, bytes, true);
  if (!p) return false;
  std::memcpy(p, in, bytes);
  return true;
}

void count_access(jit::WarpContext& context, std::uint32_t site, StateSpace space, const std::uint64_t* addresses,
                  LaneMask mask, unsigned bytes, AccessType type) {
  count_lanes(worker_of(context), site, space, addresses, mask, bytes, type);
}

}  // namespace warpgrind::device
