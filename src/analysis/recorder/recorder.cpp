#include "recorder/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "device/module.h"
#include "device/state.h"
#include "events/blocks.h"

namespace warpgrind::recorder {

// ---- Which blocks

events::Wants Recorder::wants() const {
  events::Wants wants;
  wants.accesses = wants.barriers = wants.barriers_passed = wants.blocks_ended = true;
  return wants;
}

events::Wants Recorder::wants_of(const events::Launch& launch) {
  const std::lock_guard lock(mutex_);
  return running(launch.id) ? wants() : events::Wants{};
}

void Recorder::on_launch_begin(const events::Launch& launch) {
  const Dim3& block = watched_.trace_block;
  const bool inside = block.x < launch.grid.x && block.y < launch.grid.y && block.z < launch.grid.z;
  std::string key(settings_.each_range ? launch.range : std::string_view());
  key += "\n" + std::string(launch.facts->name);
  const std::lock_guard lock(mutex_);
  if (!inside || recordings_.contains(key)) return;
  std::size_t used = 0;
  for (const auto& [name, recording] : recordings_) used += recording->bytes();
  const std::size_t most = std::max(kMostBytes, settings_.most_bytes_of_one);
  BlockRecording::Limits limits;
  limits.most_bytes = std::min(settings_.most_bytes_of_one, most - std::min(most, used));
  limits.values_of_global_memory = settings_.most_bytes_of_one >= kLeastWithValues;
  limits.is_last = limits.most_bytes < settings_.most_bytes_of_one;
  if (limits.most_bytes < std::min(kLeastBytes, settings_.most_bytes_of_one)) limits.most_bytes = 0;
  auto& recording = recordings_[key];
  recording = std::make_unique<BlockRecording>(launch, block, watched_, limits);
  order_.push_back(key);
  running_[launch.id] = recording.get();
}

void Recorder::on_launch_end(const events::Launch& launch, const events::LaunchCounts&) {
  const std::lock_guard lock(mutex_);
  running_.erase(launch.id);
}

BlockRecording* Recorder::running(std::uint64_t launch) {
  const auto found = running_.find(launch);
  return found == running_.end() ? nullptr : found->second;
}

BlockRecording* Recorder::running(const events::Launch& launch, const Dim3& block) {
  BlockRecording* const recording = running(launch.id);
  return recording && recording->index() == block ? recording : nullptr;
}

// ---- Events of the block

void Recorder::on_access(const events::Access& a, unsigned) {
  const std::lock_guard lock(mutex_);
  BlockRecording* const recording = running(a.launch->id);
  if (!recording) return;
  if (a.space != StateSpace::shared) {
    if (a.block == recording->index()) recording->add(a, "");
    return;
  }
  // Lanes of one access may touch the memory of several blocks of the cluster.
  events::Access part = a;
  part.mask = 0;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    if (events::owner_of_shared(*a.launch, a.block, a.addresses[lane]) == recording->index())
      part.mask |= LaneMask{1} << lane;
  }
  const bool own = a.block == recording->index();
  if (part.mask != 0) recording->add(part, own ? "" : fmt::format("{},{},{}", a.block.x, a.block.y, a.block.z));
}

void Recorder::on_barrier(const events::Barrier& b, unsigned) {
  const std::lock_guard lock(mutex_);
  if (BlockRecording* const recording = running(*b.launch, b.block)) recording->arrive(b);
}

void Recorder::on_barrier_passed(const events::BarrierPassed& b, unsigned) {
  const std::lock_guard lock(mutex_);
  if (BlockRecording* const recording = running(*b.launch, b.block)) recording->pass(b);
}

void Recorder::on_block_end(const events::BlockEvent& b, unsigned) {
  const std::lock_guard lock(mutex_);
  if (BlockRecording* const recording = running(*b.launch, b.block)) recording->end();
}

// ---- Stops

debugger::KernelPlaces& Recorder::kernel_of(const device::Launch& launch) {
  debugger::KernelPlaces& kernel = kernels_[launch.kernel];
  if (!kernel.is_of(launch)) kernel = debugger::KernelPlaces(launch, infos_);
  return kernel;
}

void Recorder::begins(device::Launch& launch) {
  const std::lock_guard lock(mutex_);
  debugger::KernelPlaces& kernel = kernel_of(launch);
  launch.stop_flags = kernel.none.data();
  BlockRecording* const recording = launch.config.counted ? running(launch.info.id) : nullptr;
  if (!recording) return;
  recording->begin(launch, *kernel.info);
  launch.stop_flags = kernel.only_first.data();
}

void Recorder::stopped(jit::WarpContext& context, LaneMask lanes, std::uint32_t place) {
  const std::lock_guard lock(mutex_);
  device::WarpFiber& fiber = device::fiber_of(context);
  device::Launch& launch = *fiber.worker->launch;
  BlockRecording* const recording = running(launch.info.id);
  if (!recording || fiber.block_linear != recording->linear()) return;
  debugger::KernelPlaces& kernel = kernel_of(launch);
  context.stop_flags = recording->is_full() ? kernel.none.data() : kernel.every.data();
  recording->stop({fiber, *kernel.info, kernel.places, explanations_}, lanes, place);
  if (recording->is_full()) device::set_stop_flags(launch, kernel.none.data());
}

void Recorder::faulted(device::Launch& launch, const device::Fault& fault, jit::WarpContext* context) {
  const std::lock_guard lock(mutex_);
  BlockRecording* const recording = running(launch.info.id);
  if (recording == nullptr) return;
  const bool is_here = context != nullptr && device::fiber_of(*context).block_linear == recording->linear();
  recording->fault(fault, is_here ? std::optional(context->warp) : std::nullopt);
}

void Recorder::contribute(results::Profile& profile) const {
  const std::lock_guard lock(mutex_);
  for (const std::string& key : order_)
    if (const auto found = recordings_.find(key); found != recordings_.end())
      profile.recordings.push_back(found->second->take(profile));
}

}  // namespace warpgrind::recorder
