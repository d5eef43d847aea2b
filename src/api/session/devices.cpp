// Creation of the virtual GPUs from the options of the run.
#include "session/devices.h"

#include <fmt/core.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "adapter/adapter.h"
#include "base/demangle.h"
#include "base/element.h"
#include "device/memory/address_space.h"
#include "session/messages.h"
#include "session/processes.h"

namespace warpgrind::session {

namespace {

// First address and size in bytes of the allocation that holds an address.
std::optional<std::pair<std::uint64_t, std::uint64_t>> find_allocation(std::uint64_t address) {
  const std::optional<device::Range> range = device::AddressSpace::instance().find(address);
  if (!range) return std::nullopt;
  return std::pair{range->low, range->high - range->low};
}

// The first process of the run that uses CUDA is debugged; the others must not wait for a front that does not know
// them.
bool claims_debugger(const RunOptions& run) {
  if (run.debug_socket < 0) return false;
  static const bool first = [&] {
    const DebuggedProcess debugged = claim_debugger(run.status_directory);
    if (debugged.is_new) return true;
    // The socket is closed at an exec.
    print_line(
        debugged.pid == ::getpid()
            ? fmt::format("process {} has become another program, which the debugger does not follow", ::getpid())
            : fmt::format("process {} uses CUDA, too; the debugger stays with process {}, which was the first",
                          ::getpid(), debugged.pid));
    return false;
  }();
  return first;
}

device::Options device_options(const RunOptions& run) {
  device::Options options;
  // Races are reported in the order of the accesses. One worker makes this order the same in every run.
  options.workers = run.checks.races ? 1 : run.threads;
  options.timeout_seconds = run.timeout_seconds;
  options.stall_seconds = run.stall_seconds;
  options.schedule = run.schedule;
  options.blocks = run.blocks;
  options.counters = run.counters;
  options.caches = run.counters && run.caches && !run.checks.any();
  options.bounds_stop = run.bounds_stop;
  if (claims_debugger(run)) options.stops = adapter::debugger_on(run.debug_socket);
  if (run.fill >= 0) options.fill = static_cast<std::uint8_t>(run.fill);
  options.cache_directory = run.cache_directory;
  options.quick_start = true;
  options.slow_seconds = run.slow_seconds;
  if (run.quiet) return options;
  options.on_slow_compilation = [hold = run.hold_compilation](const jit::SlowCompilation& slow) {
    print_line(fmt::format("compiling {} ({} PTX instructions) ...", demangle(slow.kernel), slow.ptx_instructions));
    while (hold) ::pause();
  };
  options.on_cache_refused = [](const std::string& why) { print_line("compiled kernels are not cached: " + why); };
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
  auto made = std::make_unique<device::Device>(ordinal, model_, device_options(options_));
  const observers::Watched watched{ordinal, &model_, options_.trace_block, find_allocation};
  if (checkers_)
    for (events::Observer* observer : checkers_->observers()) made->add_observer(observer);
  for (auto& observer : observers::make_observers(watched, {options_.detail && options_.counters})) {
    made->add_observer(observer.get());
    observers_.push_back(std::move(observer));
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
