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

results::SiteProfile place_of_site(const events::KernelFacts& facts, const events::Site& site, const char* kind) {
  results::SiteProfile out;
  out.kind = kind;
  out.space = name(site.space);
  out.function = site.function;
  out.ptx = site.text;
  if (site.file < facts.files.size()) out.file = facts.files[site.file];
  out.line = site.line;
  out.ptx_line = site.ptx_line;
  return out;
}

results::SiteProfile& site_of(results::KernelProfile& kernel, const results::SiteProfile& place) {
  for (results::SiteProfile& s : kernel.sites)
    if (s.function == place.function && s.ptx_line == place.ptx_line && s.kind != "branch") return s;
  results::SiteProfile& added = kernel.sites.emplace_back(place);
  added.id = static_cast<std::uint32_t>(kernel.sites.size() - 1);
  return added;
}

std::uint32_t allocation_id(results::Profile& profile, const AllocationRange& range) {
  for (const results::AllocationProfile& a : profile.allocations)
    if (a.address == range.first && a.bytes == range.second) return a.id;
  const auto id = static_cast<std::uint32_t>(profile.allocations.size());
  profile.allocations.push_back({id, range.first, range.second});
  return id;
}

}  // namespace warpgrind::observers
