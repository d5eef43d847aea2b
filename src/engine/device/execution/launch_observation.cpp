// Observation of a launch: what its observers want, the log for the modelled caches, and the events at both ends.
#include <algorithm>

#include "device/access/access_log.h"
#include "device/access/bounds.h"
#include "device/access/own_elements.h"
#include "device/access/watched.h"
#include "device/device_impl.h"

namespace warpgrind::device {

// Collects the observers of the launch and their wants. The kernel is compiled for all that any observer may want, and
// checks `launch.wants` at run time.
void Device::Impl::ask_observers(Engine& engine, Launch& launch) {
  KeptBuffers& kept = engine.kept;
  kept.observers.clear();
  launch.observers = &kept.observers;
  launch.info = {launch.serial,
                 &launch.kernel->code->facts(),
                 &launch.module->module(),
                 launch.config.grid,
                 launch.config.block,
                 launch.config.dynamic_shared,
                 ordinal,
                 engine.workers.front()->number,
                 static_cast<unsigned>(engine.workers.size()),
                 launch.config.cluster,
                 launch.config.cooperative,
                 engine.work,
                 launch.config.range};
  launch.plain_barriers = !launch.keeps_time;
  if (wants.invalid_accesses) launch.bounds = site_bounds(launch);
  if (!launch.config.counted) return;
  std::vector<SiteBounds> found;
  const auto bounds = [&]() -> const std::vector<SiteBounds>& {
    if (!launch.bounds.empty()) return launch.bounds;
    if (found.empty()) found = site_bounds(launch);
    return found;
  };
  if (wants.accesses && wants.only_written) launch.own = own_elements(launch, bounds());
  launch.info.own = launch.own;
  if (!observers.empty()) {
    const std::lock_guard lock(observer_mutex);
    for (events::Observer* o : observers) o->on_launch_begin(launch.info);
    for (events::Observer* o : observers) kept.observers.add(*o, o->wants_of(launch.info));
  }
  launch.wants = kept.observers.wants();
  launch.barriers_observed = launch.wants.barriers || launch.wants.barriers_passed;
  launch.plain_barriers &= !launch.barriers_observed;
  launch.whole_barriers =
      launch.barriers_observed && launch.wants.whole_blocks && !launch.keeps_time && !launch.ordered;
  launch.shows_affine = wants.only_written;
  launch.logs = options.caches && launch.counters && launch.kernel->sites.size() != 0;
  if (launch.logs) begin_logging(launch);
  if (!wants.accesses) return;
  if (launch.wants.accesses) {
    if (launch.wants.only_written)
      kept.watched = sites_to_watch(launch, bounds());
    else
      kept.watched.assign(launch.kernel->sites.size() + 1, 1);
    launch.watched = kept.watched;
  }
  watch_in_machine_code(launch, engine.workers);
}

// Returns the log of an earlier launch with the same key; this one is then not logged.
std::shared_ptr<const events::AccessLog> Device::Impl::find_repeated(Launch& launch,
                                                                     const RepeatedLogs::Key& key) const {
  if (!launch.logs) return nullptr;
  auto found = repeated_logs.find(key);
  launch.logs = found == nullptr;
  return found;
}

// Gives the log to the counts, and keeps it for launches that repeat this one.
void Device::Impl::finish_log(Engine& engine, Launch& launch, const RepeatedLogs::Key& key,
                              const std::shared_ptr<const events::AccessLog>& repeated, events::LaunchCounts& counts) {
  counts.log = repeated ? repeated : collect_log(launch, engine.workers);
  if (!counts.log || launch.fault) return;
  std::uint64_t sectors = 0, digest = 0;
  for (const events::SiteCounts& c : counts.sites) {
    sectors += c.global.sectors + c.local.sectors;
    for (const std::uint64_t n :
         {c.requests, c.lanes, c.global.sectors, c.global.lines, c.global.wavefronts, c.local.sectors})
      digest = events::mixed(digest ^ (n + 1));
  }
  if (repeated) return repeated_logs.compare(launch, key, digest);
  counts.log->sectors = sectors;
  repeated_logs.keep(launch, key, counts.log, digest);
}

void Device::Impl::report_end(const Launch& launch, const events::LaunchCounts& counts) {
  if (observers.empty() || !launch.config.counted) return;
  const std::lock_guard lock(observer_mutex);
  for (events::Observer* o : observers) o->on_launch_end(launch.info, counts);
}

}  // namespace warpgrind::device
