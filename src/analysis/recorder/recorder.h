// Recorder of one block of each kernel (`warpgrind run --steps`), or of each kernel in each NVTX range. It stops the
// warps of that block at every line, as a debugger does (device/stop_handler.h), and observes what they access in
// between.
//
// A device has one recorder or one debugger. Kernels are then compiled with stops, and a launch has one worker.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "debugger/kernel_places.h"
#include "debugger/stopped_warp.h"
#include "device/stop_handler.h"
#include "observers/profile_observer.h"
#include "recorder/block_recording.h"

namespace warpgrind::recorder {

class Recorder final : public observers::ProfileObserver, public device::StopHandler {
 public:
  // Of all recordings of a device, about as the profile has them. A recording of less than kLeastBytes is not begun.
  static constexpr std::size_t kMostBytes = std::size_t{6} << 20, kLeastBytes = std::size_t{8} << 10;
  static constexpr std::size_t kLeastWithValues = std::size_t{256} << 10;
  struct Settings {
    bool each_range = false;  // a recording of each kernel in each NVTX range
    // Smaller recordings than kLeastWithValues leave out the values in global memory.
    std::size_t most_bytes_of_one = std::size_t{1536} << 10;  // if more than kMostBytes, there is one recording
  };

  Recorder(const observers::Watched& watched, const Settings& settings) : watched_(watched), settings_(settings) {}

  // ---- Observer. The block is Watched::trace_block of the first counted launch of each kernel that has it.
  events::Wants wants() const override;
  events::Wants wants_of(const events::Launch& launch) override;
  void on_launch_begin(const events::Launch& launch) override;
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts& counts) override;
  void on_access(const events::Access& access, unsigned worker) override;
  void on_barrier(const events::Barrier& barrier, unsigned worker) override;
  void on_barrier_passed(const events::BarrierPassed& barrier, unsigned worker) override;
  void on_block_end(const events::BlockEvent& block, unsigned worker) override;
  void contribute(results::Profile& profile) const override;

  // ---- StopHandler
  jit::StopAt stops_at() const override { return jit::StopAt::lines; }
  void begins(device::Launch& launch) override;
  void stopped(jit::WarpContext& context, LaneMask lanes, std::uint32_t place) override;
  void touched(jit::WarpContext&, const Touch&) override {}
  void faulted(device::Launch& launch, const device::Fault& fault, jit::WarpContext* context) override;
  void expect(const device::Fault&) override {}
  std::uint64_t most_kept_bytes() const override { return 0; }
  bool runs_again(device::Launch&) override { return false; }
  bool wants(Report::Kind) override { return false; }
  void reported(const Report&) override {}

 private:
  debugger::KernelPlaces& kernel_of(const device::Launch& launch);
  BlockRecording* running(std::uint64_t launch);
  BlockRecording* running(const events::Launch& launch, const Dim3& block);

  const observers::Watched watched_;
  const Settings settings_;
  mutable std::mutex mutex_;
  debugger::DebugInfos infos_;
  debugger::Explanations explanations_;
  std::map<const device::KernelRecord*, debugger::KernelPlaces> kernels_;
  std::map<std::string, std::unique_ptr<BlockRecording>> recordings_;  // by range and mangled name
  std::vector<std::string> order_;                                     // of the first launches
  std::map<std::uint64_t, BlockRecording*> running_;                   // by events::Launch::id
};

}  // namespace warpgrind::recorder
