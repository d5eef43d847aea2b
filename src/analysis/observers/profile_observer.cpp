#include "observers/profile_observer.h"

namespace warpgrind::observers {

#define WG_OBSERVER(name, when, what) std::unique_ptr<ProfileObserver> make_##name(const Watched& watched);
#include "observers/observers.inc"
#undef WG_OBSERVER

std::vector<std::unique_ptr<ProfileObserver>> make_observers(const Watched& watched, const Selection& selection) {
  std::vector<std::unique_ptr<ProfileObserver>> made;
#define WG_OBSERVER(name, when, what) \
  if (selection.when) made.push_back(make_##name(watched));
#include "observers/observers.inc"
#undef WG_OBSERVER
  return made;
}

std::uint32_t allocation_id(results::Profile& profile, const AllocationRange& range) {
  for (const results::AllocationProfile& a : profile.allocations)
    if (a.address == range.first && a.bytes == range.second) return a.id;
  const auto id = static_cast<std::uint32_t>(profile.allocations.size());
  profile.allocations.push_back({id, range.first, range.second});
  return id;
}

}  // namespace warpgrind::observers
