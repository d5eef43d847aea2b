#include "timing/timeline.h"

#include <algorithm>

namespace warpgrind::timing {

Timeline::Timeline(unsigned devices, unsigned copy_engines, bool concurrent_kernels)
    : devices_(devices), concurrent_kernels_(concurrent_kernels) {
  for (DeviceTime& device : devices_) device.engines.assign(std::max(1u, copy_engines), 0);
  for (unsigned i = 0; i < devices; i++) {
    streams_[next_] = {static_cast<int>(i), StreamKind::legacy_default, 0, false};
    next_++;
  }
}

StreamId Timeline::add_stream(int device, StreamKind kind) {
  std::lock_guard lock(mutex_);
  streams_[next_] = {device, kind, 0, false};
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

double Timeline::ready(const Stream& stream) const {
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
  device.last_end = std::max(device.last_end, end);
  if (stream.kind == StreamKind::legacy_default) device.legacy_end = std::max(device.legacy_end, end);
  if (stream.kind == StreamKind::blocking) device.blocking_end = std::max(device.blocking_end, end);
  return {begin, end};
}

// The earliest moment from `earliest` on at which the GPU has room: room only appears when a kernel ends.
double Timeline::place_kernel(DeviceTime& device, HostClock& host, double earliest, double duration, double fraction) {
  std::vector<Running> active;
  std::vector<double> moments{earliest};
  for (auto k = device.kernels.rbegin(); k != device.kernels.rend() && k->latest_end > earliest; ++k) {
    if (k->end <= earliest) continue;
    active.push_back(*k);
    moments.push_back(k->end);
  }
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
  // The queue of launches is full: the host waits until half of it is done, as it does on hardware.
  if (device.kernels.size() >= kQueueDepth) {
    host.now = std::max(host.now, device.kernels[kQueueDepth / 2].end);
    std::erase_if(device.kernels, [&](const Running& k) { return k.end <= host.now; });
  }
  return begin;
}

Span Timeline::kernel(StreamId id, HostClock& host, const KernelTime& time, double gpu_fraction) {
  std::lock_guard lock(mutex_);
  Stream& s = stream(id);
  const double fraction = concurrent_kernels_ ? std::clamp(gpu_fraction, 0.0, 1.0) : 1.0;
  const double before = ready(s),
               duration = s.kernel && before == s.end && before > host.now ? time.queued : time.alone;
  const double begin = place_kernel(devices_[s.device], host, std::max(before, host.now), duration, fraction);
  const Span span = finish(s, begin, duration);
  s.kernel = true;
  return span;
}

Span Timeline::copy(StreamId id, const HostClock& host, CopyEngine engine, double duration_ns) {
  std::lock_guard lock(mutex_);
  Stream& s = stream(id);
  double begin = std::max(ready(s), host.now);
  if (engine != CopyEngine::none) {
    // One engine serves both directions on GPUs that have a single one.
    std::vector<double>& engines = devices_[s.device].engines;
    double& busy_until = engines[engine == CopyEngine::to_host && engines.size() > 1 ? 1 : 0];
    begin = std::max(begin, busy_until);
    busy_until = begin + duration_ns;
  }
  return finish(s, begin, duration_ns);
}

Span Timeline::work(StreamId id, const HostClock& host, double duration_ns) {
  std::lock_guard lock(mutex_);
  Stream& s = stream(id);
  return finish(s, std::max(ready(s), host.now), duration_ns);
}

void Timeline::wait(StreamId id, double time) {
  std::lock_guard lock(mutex_);
  Stream& s = stream(id);
  if (time > ready(s)) finish(s, time, 0);
}

void Timeline::synchronize(HostClock& host, StreamId id) {
  std::lock_guard lock(mutex_);
  host.now = std::max(host.now, ready(stream(id)));
}

void Timeline::synchronize_device(HostClock& host, int device) {
  std::lock_guard lock(mutex_);
  host.now = std::max(host.now, devices_[device].last_end);
}

void Timeline::synchronize_time(HostClock& host, double time) {
  std::lock_guard lock(mutex_);
  host.now = std::max(host.now, time);
}

bool Timeline::finished(const HostClock& host, StreamId id) const {
  std::lock_guard lock(mutex_);
  auto found = streams_.find(id);
  return found == streams_.end() || ready(found->second) <= host.now;
}

}  // namespace warpgrind::timing
