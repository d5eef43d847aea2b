// Time estimates of launches, with the previous launch of each kernel as a cache.
#include "session/time_estimates.h"

#include <fmt/format.h>

#include <optional>

namespace warpgrind::session {

// Previous launch of a kernel. Most programs launch a kernel many times with the same counts. Keeping the work and the
// estimate saves a fifth of the time of an empty launch.
struct TimeEstimates::Before {
  const sass::Code* code = nullptr;
  Occupancy occupancy;
  std::uint64_t blocks = 0, threads_per_block = 0;
  timing::Footprint footprint;
  std::optional<std::vector<events::FarAccesses>> far;
  double migrated_bytes = 0;
  std::optional<events::LaunchCounts> counts;  // none: matches no launch
  timing::LaunchWork work;
  timing::L2State l2;
  std::optional<timing::KernelEstimate> estimate;

  bool is_like(const timing::LaunchSeen& seen) const;
  void keep(const timing::LaunchSeen& seen);
};

static bool same_work(const events::LaunchCounts& a, const events::LaunchCounts& b) {
  return a.work == b.work || (a.work && b.work && *a.work == *b.work);
}

bool TimeEstimates::Before::is_like(const timing::LaunchSeen& seen) const {
  if (!counts || !seen.counts || code != seen.code || blocks != seen.blocks ||
      threads_per_block != seen.threads_per_block || migrated_bytes != seen.migrated_bytes ||
      footprint != seen.footprint || occupancy != seen.occupancy || far.has_value() != (seen.far != nullptr))
    return false;
  const events::LaunchCounts& now = *seen.counts;
  return (!far || *far == *seen.far) && counts->blocks == now.blocks && counts->sites == now.sites &&
         counts->guard_lanes == now.guard_lanes && counts->branches == now.branches && counts->edges == now.edges &&
         counts->slow_paths == now.slow_paths && counts->caches == now.caches && same_work(*counts, now) &&
         counts->warps_launched == now.warps_launched && counts->threads_launched == now.threads_launched;
}

void TimeEstimates::Before::keep(const timing::LaunchSeen& seen) {
  estimate.reset();
  counts.reset();
  if (!seen.counts) return;
  code = seen.code;
  occupancy = seen.occupancy;
  blocks = seen.blocks;
  threads_per_block = seen.threads_per_block;
  footprint = seen.footprint;
  far.reset();
  if (seen.far) far = *seen.far;
  migrated_bytes = seen.migrated_bytes;
  counts = *seen.counts;
  counts->log.reset();
}

TimeEstimates::TimeEstimates(const GpuModel& model) : model_(model), reader_(model) {}
TimeEstimates::~TimeEstimates() = default;

TimeEstimates::Before& TimeEstimates::read(const timing::LaunchSeen& seen) {
  if (gone_.again()) before_.clear();
  std::unique_ptr<Before>& before = before_[seen.facts];
  if (!before) before = std::make_unique<Before>();
  if (before->is_like(seen)) return *before;
  before->work = reader_.read(seen);
  before->keep(seen);
  return *before;
}

timing::L2Contents& TimeEstimates::l2_of(int device) {
  return l2_.try_emplace(device, model_).first->second;
}

namespace {

// What the launch touches, from the modelled caches. Without them: all of its allocations.
timing::L2Contents::Spans spans_of(const timing::LaunchSeen& seen, const TouchedMemory& touched) {
  if (!seen.caches || seen.caches->spans.list.empty()) return touched.device;
  timing::L2Contents::Spans out;
  for (const events::TouchedSpan& s : seen.caches->spans.list) out.push_back({s.begin, s.end, s.bytes});
  return out;
}

}  // namespace

LaunchTime TimeEstimates::launch(int device, const timing::LaunchSeen& seen, const TouchedMemory& touched,
                                 const std::string& range, bool keep) {
  const std::lock_guard lock(mutex_);
  Before& before = read(seen);
  const timing::LaunchWork& work = before.work;
  timing::L2Contents& l2 = l2_of(device);
  const timing::L2Contents::Spans spans = spans_of(seen, touched);
  const timing::L2State state = l2.before(spans, seen.facts);
  if (!before.estimate || before.l2 != state) {
    before.estimate = timing::estimate_kernel(model_, work, state);
    before.l2 = state;
  }
  const timing::KernelEstimate& estimate = *before.estimate;
  l2.after_launch(spans, work.touched_bytes(), estimate.allocated_bytes, seen.facts);
  if (keep) {
    rows_ += fmt::format("\"{}\",1", range);
    for (const timing::WorkMember& m : timing::kWorkMembers) rows_ += fmt::format(",{:.6g}", work.*m.value);
    rows_ += "\n";
  }
  return {estimate, work, state};
}

void TimeEstimates::written(int device, std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  l2_of(device).after_write(address, static_cast<double>(bytes));
}

void TimeEstimates::copied(int device, const timing::L2Contents::Span& from, const timing::L2Contents::Span& to) {
  const std::lock_guard lock(mutex_);
  l2_of(device).after_copy(from, to);
}

void TimeEstimates::flush_l2(int device) {
  const std::lock_guard lock(mutex_);
  l2_of(device).after_flush();
}

std::string TimeEstimates::rows() const {
  const std::lock_guard lock(mutex_);
  std::string text = "range,repeat";
  for (const timing::WorkMember& m : timing::kWorkMembers) text += fmt::format(",{}", m.name);
  return text + "\n" + rows_;
}

}  // namespace warpgrind::session
