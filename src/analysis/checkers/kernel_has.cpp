// Classification of a kernel's sites by the events they can raise.
#include "checkers/kernel_has.h"

#include <algorithm>

namespace warpgrind::checkers {

namespace {

using events::Site;
using Origin = events::AddressOrigin::Kind;

bool says(const Site& s, const char* word) {
  return s.text.find(word) != std::string::npos;
}

// Do lanes of a warp meet at the site? All lanes execute matrix loads and stores together.
bool meets(const Site& s) {
  switch (s.kind) {
    case SiteKind::warp_barrier:
    case SiteKind::shuffle:
    case SiteKind::vote:
    case SiteKind::match:
    case SiteKind::redux:
    case SiteKind::elect:
    case SiteKind::matrix:
      return true;
    case SiteKind::load:
    case SiteKind::store:
      return says(s, "matrix") || says(s, "wmma");
    default:
      return false;
  }
}

bool signals_mbarrier(const Site& s) {
  if (s.kind == SiteKind::mbarrier || s.kind == SiteKind::bulk_copy || s.kind == SiteKind::launch_control) return true;
  return (s.kind == SiteKind::store || s.kind == SiteKind::reduction) && says(s, "async");
}

bool orders(const Site& s) {
  return s.kind == SiteKind::fence || s.kind == SiteKind::async_copy || s.order != events::MemoryOrder::weak || s.at_l2;
}

bool may_be_shared(const Site& s) {
  switch (s.kind) {
    case SiteKind::load:
    case SiteKind::store:
    case SiteKind::atomic:
    case SiteKind::reduction:
      break;
    case SiteKind::async_copy:
    case SiteKind::bulk_copy:
    case SiteKind::call:
    case SiteKind::launch_control:
      return true;
    default:
      return false;
  }
  if (s.space != StateSpace::generic) return s.space == StateSpace::shared;
  return s.origins.empty() || std::any_of(s.origins.begin(), s.origins.end(), [](const events::AddressOrigin& o) {
           return o.kind == Origin::shared || o.kind == Origin::dynamic_shared;
         });
}

bool writes_global(const Site& s) {
  if (s.space == StateSpace::shared || s.space == StateSpace::local) return false;
  switch (s.kind) {
    case SiteKind::store:
    case SiteKind::atomic:
    case SiteKind::reduction:
    case SiteKind::surface:
    case SiteKind::call:
    case SiteKind::bulk_copy:
      return true;
    default:
      return false;
  }
}

}  // namespace

KernelHas what_has(const events::Launch& launch) {
  KernelHas has;
  for (const Site& s : launch.facts->sites) {
    const auto number = static_cast<std::uint32_t>(&s - launch.facts->sites.data());
    has.barriers |= s.kind == SiteKind::barrier;
    has.meetings |= meets(s);
    has.mbarriers |= signals_mbarrier(s);
    has.order |= orders(s);
    has.shared_accesses |= may_be_shared(s);
    has.global_writes |= writes_global(s) && !launch.is_own(number);
  }
  has.order |= has.barriers || has.meetings || has.mbarriers;
  return has;
}

}  // namespace warpgrind::checkers
