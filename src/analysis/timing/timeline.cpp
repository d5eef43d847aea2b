// Placement of kernels, copies and other work on the virtual timeline.
#include "timing/timeline.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace warpgrind::timing {

Timeline::Timeline(unsigned devices, unsigned copy_engines, bool concurrent_kernels, const TimelineCosts& costs)
    : devices_(devices), concurrent_kernels_(concurrent_kernels), costs_(costs) {
  for (DeviceTime& device : devices_) device.engines.assign(std::max(1u, copy_engines) + 1, 0);
  for (unsigned i = 0; i < devices; i++) {
    streams_[next_] = {.device = static_cast<int>(i), .kind = StreamKind::legacy_default};
    next_++;
  }
}

StreamId Timeline::add_stream(int device, StreamKind kind) {
  std::lock_guard lock(mutex_);
  streams_[next_] = {.device = device, .kind = kind};
  return next_++;
}

void Timeline::remove_stream(StreamId id) {
  std::lock_guard lock(mutex_);
  streams_.erase(id);
}

int Timeline::device_of(StreamId id) const {
  const std::lock_guard lock(mutex_);
  return element(streams_, id).device;
}

double Timeline::now(const HostClock& host) const {
  std::lock_guard lock(mutex_);
  return host.now;
}

void Timeline::host_work(HostClock& host, double ns) {
  std::lock_guard lock(mutex_);
  host.now += ns;
}

double Timeline::ready_time(StreamId id) const {
  std::lock_guard lock(mutex_);
  const auto found = streams_.find(id);
  return found == streams_.end() ? 0 : ready(found->second);
}

double Timeline::ready(const Stream& stream) const {
  WG_ASSERT(static_cast<std::size_t>(stream.device) < devices_.size());
  const DeviceTime& device = devices_[stream.device];
  double earliest = stream.end;
  if (stream.kind == StreamKind::legacy_default) earliest = std::max(earliest, device.blocking_end);
  if (stream.kind == StreamKind::blocking) earliest = std::max(earliest, device.legacy_end);
  return earliest;
}

Span Timeline::finish(Stream& stream, double begin, double duration) {
  DeviceTime& device = devices_[stream.device];
  double end = begin + duration;
  stream.end = end;
  stream.kernel = false;
  stream.chained = false;
  device.last_end = std::max(device.last_end, end);
  if (stream.kind == StreamKind::legacy_default) device.legacy_end = std::max(device.legacy_end, end);
  if (stream.kind == StreamKind::blocking) device.blocking_end = std::max(device.blocking_end, end);
  return {begin, end};
}

// Returns the first time from `earliest` on at which the GPU has room. Room appears only when a kernel ends.
double Timeline::place_kernel(DeviceTime& device, HostClock& host, double earliest, double duration, double fraction) {
  std::vector<Running> active;
  std::vector<double> moments{earliest};
  for (auto k = device.kernels.rbegin(); k != device.kernels.rend() && k->latest_end > earliest; ++k) {
    if (k->end <= earliest) continue;
    active.push_back(*k);
    moments.push_back(k->end);
  }
  WG_ASSERT(!(fraction < 0 || fraction > 1));
  std::sort(moments.begin(), moments.end());
  double begin = moments.back();
  for (double moment : moments) {
    double used = 0;
    for (const Running& k : active)
      if (k.begin < moment + duration && k.end > moment) used += k.fraction;
    if (used + fraction <= 1.0 + 1e-9) {
      begin = moment;
      break;
    }
  }
  double end = begin + duration;
  double latest = device.kernels.empty() ? end : std::max(end, device.kernels.back().latest_end);
  device.kernels.push_back({begin, end, fraction, latest});
  // If the queue of launches is full, the host waits until half of it is done, as on hardware.
  if (device.kernels.size() >= kQueueDepth) {
    host.now = std::max(host.now, device.kernels[kQueueDepth / 2].end);
    std::erase_if(device.kernels, [&](const Running& k) { return k.end <= host.now; });
  }
  return begin;
}

// Cost of a switch between kernels and copies: they are commands of different queues of the GPU, and one queue waits
// for the other. Measured behind a busy stream (lab/results/h200/engines.csv); after an idle stream there is no cost.
// An event causes no switch: it is recorded in the queue of the work before it. The cost then appears after the event,
// in the time of the next work.
double Timeline::switch_to(Stream& s, Unit unit) {
  const Unit before = std::exchange(s.unit, unit);
  return before != Unit::none && before != unit ? costs_.engine_switch : 0;
}

// Earliest start in the stream of work that `host` issues now.
double Timeline::turn(Stream& s, const HostClock& host) const {
  const double before = ready(s);
  if (host.now >= before) s.unit = Unit::none;  // it is idle
  return std::max(before, host.now);
}

Span Timeline::kernel(StreamId id, HostClock& host, const KernelTime& time, double gpu_fraction) {
  std::lock_guard lock(mutex_);
  Stream& s = stream(id);
  const double fraction = concurrent_kernels_ ? std::clamp(gpu_fraction, 0.0, 1.0) : 1.0;
  const double before = ready(s);
  double duration = s.kernel && before == s.end && before > host.now ? time.queued : time.alone;
  if (s.kind == StreamKind::graph) duration = s.chained ? time.graph_next : time.graph_first;
  const double earliest = turn(s, host);
  duration += switch_to(s, Unit::compute);
  const double begin = place_kernel(devices_[s.device], host, earliest, duration, fraction);
  const Span span = finish(s, begin, duration);
  s.kernel = true;
  return span;
}

// On GPUs with a single copy engine, it serves both directions of the host's link.
double& Timeline::busy_until(DeviceTime& device, CopyEngine engine) {
  const bool second = engine == CopyEngine::to_host && device.engines.size() > 2;
  return engine == CopyEngine::peer ? device.engines.back() : device.engines[second ? 1 : 0];
}

Span Timeline::copy(StreamId id, const HostClock& host, CopyEngine engine, const CopyTime& time) {
  std::lock_guard lock(mutex_);
  Stream& s = stream(id);
  double begin = turn(s, host), duration = time.alone;
  if (engine != CopyEngine::none) {
    double& busy = busy_until(devices_[s.device], engine);
    if (busy >= begin && busy > host.now) duration = time.queued;
    if (!time.with_commands) duration += switch_to(s, Unit::copy);
    begin = std::max(begin, busy);
    busy = begin + duration;
  } else {
    duration += switch_to(s, Unit::compute);
  }
  return finish(s, begin, duration);
}

Span Timeline::work(StreamId id, const HostClock& host, double duration_ns) {
  std::lock_guard lock(mutex_);
  Stream& s = stream(id);
  return finish(s, turn(s, host), duration_ns);
}

Span Timeline::fill(StreamId id, const HostClock& host, double duration_ns) {
  std::lock_guard lock(mutex_);
  Stream& s = stream(id);
  const double begin = turn(s, host);
  return finish(s, begin, duration_ns + switch_to(s, Unit::compute));
}

void Timeline::wait(StreamId id, double time, bool other_gpu) {
  std::lock_guard lock(mutex_);
  Stream& s = stream(id);
  if (other_gpu) time += costs_.other_gpu;
  if (time > ready(s)) finish(s, time, 0);
}

void Timeline::chain(StreamId id) {
  std::lock_guard lock(mutex_);
  stream(id).chained = true;
}

// The host notices the end `after` ns later. A call that comes during that delay waits for the rest of it.
void Timeline::notice(HostClock& host, double end, double after) {
  if (end > 0) host.now = std::max(host.now, end + after);
}

void Timeline::synchronize(HostClock& host, StreamId id) {
  std::lock_guard lock(mutex_);
  notice(host, ready(stream(id)), costs_.host_wait);
}

void Timeline::synchronize_device(HostClock& host, int device) {
  std::lock_guard lock(mutex_);
  WG_ASSERT(static_cast<std::size_t>(device) < devices_.size());
  notice(host, devices_[device].last_end, costs_.host_wait);
}

void Timeline::synchronize_time(HostClock& host, double time) {
  std::lock_guard lock(mutex_);
  notice(host, time, costs_.host_wait);
}

void Timeline::catch_up(HostClock& host, double time) {
  std::lock_guard lock(mutex_);
  host.now = std::max(host.now, time);
}

bool Timeline::finished(const HostClock& host, StreamId id) const {
  std::lock_guard lock(mutex_);
  auto found = streams_.find(id);
  return found == streams_.end() || ready(found->second) <= host.now;
}

}  // namespace warpgrind::timing
