// Creation of the virtual GPUs from the options of the run.
#include "session/devices.h"

#include <fmt/core.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "base/cpu.h"
#include "base/demangle.h"
#include "base/element.h"
#include "device/memory/address_space.h"
#include "device/memory/earlier_launches.h"
#include "recorder/recorder.h"
#include "session/debugged.h"
#include "session/messages.h"

namespace warpgrind::session {

namespace {

// First address and size in bytes of the allocation that holds an address.
std::optional<std::pair<std::uint64_t, std::uint64_t>> find_allocation(std::uint64_t address) {
  const std::optional<device::Range> range = device::AddressSpace::instance().find(address);
  if (!range) return std::nullopt;
  return std::pair{range->low, range->high - range->low};
}

device::Options device_options(const RunOptions& run) {
  device::Options options;
  // Races are reported in the order of the accesses. One worker makes this order the same in every run.
  options.workers = run.checks.races ? 1 : run.threads;
  options.timeout_seconds = run.timeout_seconds;
  options.stall_seconds = run.stall_seconds;
  options.schedule = run.schedule;
  options.blocks = run.blocks;
  options.blocks_despite_data = run.despite_data;
  options.counters = run.counters;
  options.caches = run.counters && run.caches && !run.checks.any();
  options.kernels = run.kernels;
  options.bounds_stop = run.bounds_stop;
  options.stops = debugger_of(run);
  if (options.stops) device::EarlierLaunches::instance().set_limit(std::uint64_t{run.debug_history} << 20);
  if (kAvx2Alone) options.cpu = "x86-64-v3";
  if (run.fill >= 0) options.fill = static_cast<std::uint8_t>(run.fill);
  options.cache_directory = run.cache_directory;
  options.quick_start = true;
  options.slow_seconds = run.slow_seconds;
  if (run.quiet) return options;
  options.on_slow_compilation = [hold = run.hold_compilation](const jit::SlowCompilation& slow) {
    print_line(fmt::format("compiling {} ({} PTX instructions) ...", demangle(slow.kernel), slow.ptx_instructions));
    while (hold) ::pause();
  };
  options.on_cache_refused = [](const std::string& why) {
    print_line("a folder of compiled kernels is not used: " + why);
  };
  return options;
}

}  // namespace

Devices::Devices(const RunOptions& options, const GpuModel& model, checkers::Checkers* checkers)
    : options_(options), model_(model), checkers_(checkers), devices_(options.devices) {}

device::Device& Devices::operator[](int ordinal) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<device::Device>& slot = element(devices_, static_cast<std::size_t>(ordinal));
  if (!slot) slot = make(ordinal);
  return *slot;
}

std::unique_ptr<device::Device> Devices::make(int ordinal) {
  const observers::Watched watched{ordinal, &model_, options_.trace_block, find_allocation};
  device::Options options = device_options(options_);
  std::unique_ptr<recorder::Recorder> recorder;
  if (options_.steps && !options.stops) {
    recorder::Recorder::Settings settings;
    settings.each_range = options_.steps_of_ranges;
    settings.most_bytes_of_one = std::size_t{options_.steps_kib} << 10;
    recorder = std::make_unique<recorder::Recorder>(watched, settings);
    options.stops = recorder.get();
  }
  auto made = std::make_unique<device::Device>(ordinal, model_, options);
  if (events::Observer* memory = memory_of_debugger(options_)) made->add_observer(memory);
  if (checkers_)
    for (events::Observer* observer : checkers_->observers()) made->add_observer(observer);
  for (auto& observer : observers::make_observers(watched, {options_.detail && options_.counters})) {
    made->add_observer(observer.get());
    observers_.push_back(std::move(observer));
  }
  if (recorder) {
    made->add_observer(recorder.get());
    observers_.push_back(std::move(recorder));
  }
  return made;
}

bool Devices::in_use(int ordinal) const {
  const std::lock_guard lock(mutex_);
  return element(devices_, static_cast<std::size_t>(ordinal)) != nullptr;
}

void Devices::flush_output() {
  for (auto& gpu : devices_)
    if (gpu) gpu->flush_output();
}

void Devices::contribute(results::Profile& profile) const {
  for (const auto& observer : observers_) observer->contribute(profile);
}

}  // namespace warpgrind::session
