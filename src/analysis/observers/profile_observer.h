// An observer whose results leave with the profile. Each is one file of this folder (NAME.cpp, with a header only if
// tests look inside) and its row in observers.inc.
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

// The allocation that holds an address: its first address and its bytes.
using AllocationRange = std::pair<std::uint64_t, std::uint64_t>;
using FindAllocation = std::function<std::optional<AllocationRange>(std::uint64_t)>;

// The device that is watched. Each device has observers of its own, registered before its first launch.
struct Watched {
  int device = 0;
  const GpuModel* model = nullptr;
  Dim3 trace_block{0, 0, 0};  // of block_trace
  FindAllocation find_allocation;
};

class ProfileObserver : public events::Observer {
 public:
  // Adds what it saw to the kernels of its device. After the last launch, in the order of observers.inc.
  virtual void contribute(results::Profile& profile) const = 0;
};

struct Selection {
  bool detail = false;  // --detail and what needs it
};

std::vector<std::unique_ptr<ProfileObserver>> make_observers(const Watched& watched, const Selection& selection);

// The number of an allocation in the profile, which gets it if it has not.
std::uint32_t allocation_id(results::Profile& profile, const AllocationRange& range);

}  // namespace warpgrind::observers
