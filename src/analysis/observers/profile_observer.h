// Base class of observers that add their results to the profile. Each observer is one file of this folder (NAME.cpp,
// with a header only if tests need it) and a row in observers.inc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "events/observer.h"
#include "gpu/gpu_model.h"
#include "results/profile.h"

namespace warpgrind::observers {

// First address and bytes of an allocation. FindAllocation returns the allocation that contains an address.
using AllocationRange = std::pair<std::uint64_t, std::uint64_t>;
using FindAllocation = std::function<std::optional<AllocationRange>(std::uint64_t)>;

// The observed device. Each device has its own observers, registered before its first launch.
struct Watched {
  int device = 0;
  const GpuModel* model = nullptr;
  Dim3 trace_block{0, 0, 0};  // the block that block_trace traces
  FindAllocation find_allocation;
};

class ProfileObserver : public events::Observer {
 public:
  // Adds its results to the kernels of its device. Called after the last launch, in the order of observers.inc.
  virtual void contribute(results::Profile& profile) const = 0;
};

struct Selection {
  bool detail = false;  // --detail, or an option that needs it
};

std::vector<std::unique_ptr<ProfileObserver>> make_observers(const Watched& watched, const Selection& selection);

// A site of the profile without counts: where it is, and its text.
results::SiteProfile place_of_site(const events::KernelFacts& facts, const events::Site& site, const char* kind);
// The site at the same place of the kernel. Adds `place` if it is not there yet: instructions that access no memory in
// the counters (wgmma, prefetches) have no site there.
results::SiteProfile& site_of(results::KernelProfile& kernel, const results::SiteProfile& place);

// Id of an allocation in the profile. Adds the allocation if it is not there yet.
std::uint32_t allocation_id(results::Profile& profile, const AllocationRange& range);

}  // namespace warpgrind::observers
