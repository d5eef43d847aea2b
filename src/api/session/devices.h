// The virtual GPUs of the process, with the observers of each. A GPU is created at its first use.
// Thread-safe, except for the functions of the end of the run. Lives as long as the session.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "checkers/checker.h"
#include "device/device.h"
#include "gpu/gpu_model.h"
#include "observers/profile_observer.h"
#include "results/profile.h"
#include "session/options.h"

namespace warpgrind::session {

class Devices {
 public:
  // checkers: of `warpgrind check`; null in other runs. All arguments outlive the devices.
  Devices(const RunOptions& options, const GpuModel& model, checkers::Checkers* checkers);

  int count() const { return static_cast<int>(options_.devices); }
  device::Device& operator[](int ordinal);  // created at the first use
  bool in_use(int ordinal) const;

  // ---- At the end of the run. They take no lock: a thread that a signal has stopped may hold it.
  void flush_output();                               // prints what kernels have printed
  void contribute(results::Profile& profile) const;  // what the observers have seen

 private:
  std::unique_ptr<device::Device> make(int ordinal);

  const RunOptions& options_;
  const GpuModel& model_;
  checkers::Checkers* const checkers_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<device::Device>> devices_;
  std::vector<std::unique_ptr<observers::ProfileObserver>> observers_;  // of all devices
};

}  // namespace warpgrind::session
