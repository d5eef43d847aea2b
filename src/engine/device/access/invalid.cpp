// Invalid accesses that an observer wants: they are published and suppressed, so that one launch shows all of them. The
// object that an access should have touched is found only here, for messages.
#include <algorithm>
#include <bit>
#include <utility>

#include "device/access/check.h"
#include "device/device_impl.h"

namespace warpgrind::device {

namespace {

using Event = events::InvalidAccess;

struct Object {
  Event::Object kind = Event::Object::none;
  std::uint64_t low = 0, high = 0, hit = 0;
  const events::AddressOrigin* origin = nullptr;
  bool operator==(const Object&) const = default;
};

// Offsets in shared memory wrap at 4 GiB.
Object shared_near(const Access& a, std::int32_t offset) {
  const auto low = static_cast<std::uint64_t>(nearest_shared(*a.context, offset));
  return {Event::Object::shared, low, low + a.context->shared_size};
}

Object memory_near(const Access& a, std::uint64_t address) {
  const Launch& launch = launch_of(*a.context);
  const AddressSpace& space = AddressSpace::instance();
  constexpr std::uint64_t kFirstPage = 4096;
  if (address < kFirstPage) return {};
  if (before_window(address, kSharedWindow))
    return {Event::Object::shared, kSharedWindow, kSharedWindow + a.context->shared_size};
  if (before_window(address, kLocalWindow))
    return {Event::Object::local, kLocalWindow, kLocalWindow + a.context->local_size};
  Range range;
  if (find_allocation(launch, address, &range)) {
    if (range.internal && range.constant)
      return {Event::Object::parameters, range.low, range.low + launch.kernel->code->parameter_bytes};
    if (!range.kernel_heap) return {Event::Object::allocation, range.low, range.high};
    const auto piece = launch.device->impl().heap.near(address);
    if (!piece) return {Event::Object::heap, range.low, range.high};
    return {piece->in_use ? Event::Object::piece : Event::Object::freed_piece, piece->start,
            piece->start + piece->bytes};
  }
  if (const auto freed = space.freed(address)) return {Event::Object::freed, freed->range.low, freed->range.high};
  if (!space.inside_reserved(address)) return {};
  const auto near = space.nearest(address);
  return near ? Object{Event::Object::allocation, near->low, near->high} : Object{};
}

// The parameter from which an invalid pointer comes; null: several, or unknown.
const events::AddressOrigin* only_parameter(const Access& a) {
  const events::AddressOrigin* only = nullptr;
  for (const events::AddressOrigin& o : launch_of(*a.context).kernel->code->facts().sites[a.site].origins) {
    if (o.kind != events::AddressOrigin::Kind::parameter || only) return nullptr;
    only = &o;
  }
  return only;
}

Object object_of(const Access& a, unsigned lane, Problem problem) {
  const Launch& launch = launch_of(*a.context);
  const Bound& bound = bound_of(launch, a.site, a.form.space);
  switch (a.form.space) {
    case StateSpace::shared:
      if (bound.origin) return {Event::Object::shared, bound.low, bound.high, 0, bound.origin};
      return shared_near(a, static_cast<std::int32_t>(a.addresses[lane]));
    case StateSpace::local:
      if (bound.origin) return {Event::Object::local, bound.low, bound.high, 0, bound.origin};
      return {Event::Object::local, 0, a.context->local_size};
    case StateSpace::param:
      return {Event::Object::parameters, 0, launch.kernel->code->parameter_bytes};
    default:
      break;
  }
  const std::uint64_t address = a.addresses[lane];
  const bool beyond = problem == Problem::outside || problem == Problem::neighbour;
  if (!beyond || !bound.origin) {
    Object object = memory_near(a, address);
    object.origin = only_parameter(a);
    return object;
  }
  Object object{Event::Object::allocation, bound.low, bound.high, 0, bound.origin};
  Range hit;
  if (problem == Problem::neighbour && find_allocation(launch, address, &hit)) object.hit = hit.low;
  return object;
}

Event::Problem name_of(Problem problem) {
  switch (problem) {
    case Problem::wrong_space:
      return Event::Problem::wrong_space;
    case Problem::misaligned:
      return Event::Problem::misaligned;
    case Problem::neighbour:
      return Event::Problem::neighbour;
    case Problem::constant:
      return Event::Problem::constant;
    case Problem::multimem_address:
      return Event::Problem::multimem_address;
    case Problem::no_multimem:
      return Event::Problem::no_multimem;
    default:
      return Event::Problem::outside;
  }
}

void publish_invalid(const Access& a, LaneMask lanes, Problem problem, const Object& object) {
  Worker& worker = worker_of(*a.context);
  Event event{warp_event(*a.context, a.site, lanes | a.behind),
              name_of(problem),
              a.form.space,
              a.form.type,
              a.path,
              a.form.bytes,
              a.sizes,
              std::span<const std::uint64_t, kWarpSize>(a.addresses, kWarpSize),
              object.kind,
              object.low,
              object.high,
              object.origin,
              object.hit};
  events::publish_invalid_access(*worker.launch->observers, event, worker.number);
}

// Lanes whose address has undefined bits. That mistake was already reported.
LaneMask find_reported_lanes(const Access& a) {
  WarpFiber& f = fiber_of(*a.context);
  return f.undefined_site == a.site ? std::exchange(f.undefined_lanes, 0) : 0;
}

// Publishes one event for all lanes with the same problem and object.
LaneMask publish_all(const Access& a, const LaneMask (&having)[kProblems]) {
  LaneMask all = 0;
  const LaneMask reported = find_reported_lanes(a);
  for (unsigned p = 1; p < kProblems; ++p) {
    const auto problem = static_cast<Problem>(p);
    all |= having[p];
    for (LaneMask left = having[p] & ~reported; left != 0;) {
      const Object first = object_of(a, static_cast<unsigned>(std::countr_zero(left)), problem);
      LaneMask same = 0;
      for (LaneMask m = left; m != 0; m &= m - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(m));
        if (object_of(a, lane, problem) == first) same |= LaneMask{1} << lane;
      }
      if (same == 0) same = left;  // another thread has allocated or freed memory between the two checks
      publish_invalid(a, same, problem, first);
      left &= ~same;
    }
  }
  return all;
}

void sort_lanes(const Access& a, LaneMask (&having)[kProblems]) {
  Range range;
  const bool none_good = wrong_space(a);
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const Problem problem = none_good ? Problem::wrong_space : problem_of(a, lane, range);
    having[static_cast<unsigned>(problem)] |= LaneMask{1} << lane;
  }
}

// The program gets the error that the hardware would report: the first problem that hardware detects.
void keep_fault(const Access& a, const LaneMask (&having)[kProblems]) {
  for (const Problem problem : {Problem::wrong_space, Problem::misaligned, Problem::multimem_address,
                                Problem::no_multimem, Problem::outside, Problem::constant}) {
    const LaneMask lanes = having[static_cast<unsigned>(problem)];
    if (lanes == 0) continue;
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    return keep_first(*a.context, a.site, lane, a.addresses[lane], a.bytes_of(lane),
                      [&] { return text_of(a, lane, problem); });
  }
}

}  // namespace

LaneMask report_invalid(const Access& a) {
  LaneMask having[kProblems] = {};
  sort_lanes(a, having);
  return publish_all(a, having);
}

void suppress(Access& a) {
  LaneMask having[kProblems] = {};
  sort_lanes(a, having);
  keep_fault(a, having);
  a.mask &= ~publish_all(a, having);
  count_invalid(*a.context, a.site);
}

}  // namespace warpgrind::device
