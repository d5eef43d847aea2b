// Sums of launches by kernel, range and site, and their conversion to a Profile.
#include "results/collect.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/assert.h"
#include "counters/cache_counters.h"
#include "events/kernels_gone.h"
#include "results/launch_values.h"
#include "timing/estimate.h"

namespace warpgrind::results {
namespace {

const char* kind_name(events::SiteKind kind) {
  switch (kind) {
    case events::SiteKind::load:
      return "load";
    case events::SiteKind::store:
      return "store";
    case events::SiteKind::atomic:
      return "atomic";
    case events::SiteKind::reduction:
      return "reduction";
    case events::SiteKind::texture:
      return "texture";
    case events::SiteKind::surface:
      return "surface";
    case events::SiteKind::async_copy:
      return "async_copy";
    case events::SiteKind::branch:
      return "branch";
    case events::SiteKind::barrier:
    case events::SiteKind::warp_barrier:
    case events::SiteKind::shuffle:
    case events::SiteKind::vote:
    case events::SiteKind::match:
    case events::SiteKind::redux:
    case events::SiteKind::elect:
    case events::SiteKind::matrix:
    case events::SiteKind::other:
      return "barrier";
    case events::SiteKind::call:
      return "call";
    case events::SiteKind::bulk_copy:
      return "bulk_copy";
    case events::SiteKind::mbarrier:
      return "mbarrier";
    case events::SiteKind::fence:
      return "fence";
    case events::SiteKind::launch_control:
      return "launch_control";
  }
  return "unknown";
}

std::string file_name(const events::KernelFacts& facts, std::uint32_t file) {
  return file < facts.files.size() ? facts.files[file] : std::string();
}

// Place in the PTX. It is the same for all compiled versions of a kernel (one per block shape).
using Place = std::pair<std::string, std::uint32_t>;  // function, instruction

struct SiteSum {
  events::Site site;
  std::string file;
  events::SiteCounts counts;
  events::SiteCaches caches;
  std::optional<counters::MachineAccess> machine;  // what is left after ptxas merged some; nullopt: unknown
};
struct BranchSum {
  events::BranchFacts branch;
  std::string file;
  events::BranchCounts counts;
  std::optional<std::uint64_t> machine_divergent;
};

// Equal launches, with the estimate of one.
struct WorkSum {
  WorkProfile profile;
  double ns = 0;
  double total() const { return profile.launches * ns; }
};
constexpr std::size_t kMostWork = 16;

struct KernelSum {
  std::string name, mangled_name;
  int device = 0;
  std::uint64_t launches = 0, first_id = 0;
  Dim3 grid, block;
  std::uint64_t dynamic_shared = 0;
  bool shapes_differ = false;
  counters::Values values;  // with several launches, derived values are invalid
  std::map<Place, SiteSum> sites;
  std::map<Place, BranchSum> branches;
  std::map<timing::Limit, double> bounds;  // of the estimated time, ns
  std::vector<WorkSum> work;
  // Cache for the facts of the last added launch: the sums by its site and branch indexes; null: not executed yet.
  const events::KernelFacts* facts = nullptr;
  events::KernelsGone kernels_gone;
  std::vector<SiteSum*> site_places;
  std::vector<BranchSum*> branch_places;

  void add_bounds(const timing::KernelEstimate& estimate) {
    for (const timing::Bound& b : estimate.bounds) bounds[b.limit] += b.ns;
  }

  // Keeps the different launches that take the most time.
  void add_work(const LaunchRecord& l) {
    const double read = l.counts->caches ? l.counts->caches->read_by_block.sectors : 0;
    for (WorkSum& w : work)
      if (w.profile.l2 == l.l2 && w.profile.block_read_sectors == read && w.profile.work == l.work) {
        w.profile.launches += 1;
        return;
      }
    WorkSum one{{1, l.l2, read, l.work}, l.estimate.ns};
    if (work.size() < kMostWork) return work.push_back(std::move(one));
    const auto least =
        std::min_element(work.begin(), work.end(), [](const auto& a, const auto& b) { return a.total() < b.total(); });
    if (least->total() < one.total()) *least = std::move(one);
  }

  void add_values(const LaunchRecord& l, const counters::Values& v) {
    if (launches == 0) {
      name = l.name;
      mangled_name = l.mangled_name;
      device = l.device;
      first_id = l.id;
      grid = l.shape.grid;
      block = l.shape.block;
      dynamic_shared = l.shape.dynamic_shared;
      values = v;
    } else {
      shapes_differ |= !(grid == l.shape.grid && block == l.shape.block) || dynamic_shared != l.shape.dynamic_shared;
      values.add(v);
    }
    ++launches;
  }

  Metrics metrics() const {
    if (launches == 1) return metrics_of(values);
    counters::Values all = values;
    counters::derive(all);
    return metrics_of(all);
  }

  SiteSum& site_sum(const events::KernelFacts& f, std::size_t i) {
    WG_ASSERT(facts == &f && i < site_places.size());
    if (!site_places[i]) {
      const events::Site& s = f.sites[i];
      const auto [at, fresh] = sites.try_emplace({s.function, s.instruction});
      site_places[i] = &at->second;
      if (fresh) at->second.site = s, at->second.file = file_name(f, s.file);
    }
    return *site_places[i];
  }

  BranchSum& branch_sum(const events::KernelFacts& f, std::size_t i) {
    WG_ASSERT(facts == &f && i < branch_places.size());
    if (!branch_places[i]) {
      const events::BranchFacts& b = f.branches[i];
      const auto [at, fresh] = branches.try_emplace({b.function, b.instruction});
      branch_places[i] = &at->second;
      if (fresh) at->second.branch = b, at->second.file = file_name(f, b.file);
    }
    return *branch_places[i];
  }

  // machine: by site.
  void add(const LaunchRecord& l, const counters::Values& v, const std::vector<counters::MachineAccess>& machine) {
    add_values(l, v);
    const events::KernelFacts& f = *l.facts;
    if (const bool gone = kernels_gone.again(); gone || facts != &f) {
      facts = &f;
      site_places.assign(f.sites.size(), nullptr);
      branch_places.assign(f.branches.size(), nullptr);
    }
    for (std::size_t i = 0; i < f.sites.size() && i < l.counts->sites.size(); ++i) {
      if (l.counts->sites[i].requests == 0) continue;
      SiteSum& sum = site_sum(f, i);
      sum.counts.add(l.counts->sites[i]);
      if (l.counts->caches && i < l.counts->caches->sites.size()) sum.caches.add(l.counts->caches->sites[i]);
      const events::SiteKind kind = f.sites[i].kind;
      const bool plain = kind == events::SiteKind::load || kind == events::SiteKind::store;
      if (!plain || i >= machine.size()) continue;
      if (!sum.machine) sum.machine.emplace();
      sum.machine->add(machine[i]);
    }
    for (std::size_t i = 0; i < f.branches.size() && i < l.counts->branches.size(); ++i) {
      const events::BranchCounts& c = l.counts->branches[i];
      if (c.executed == 0) continue;
      BranchSum& sum = branch_sum(f, i);
      sum.counts.executed += c.executed;
      sum.counts.divergent += c.divergent;
      sum.counts.taken_lanes += c.taken_lanes;
      if (l.shape.code != nullptr && i < l.shape.code->predicated.size())
        sum.machine_divergent = sum.machine_divergent.value_or(0) + (l.shape.code->predicated[i] ? 0 : c.divergent);
    }
  }

  KernelProfile profile() const {
    KernelProfile p;
    p.name = name;
    p.mangled_name = mangled_name;
    p.launches = launches;
    p.first_id = first_id;
    p.device = device;
    p.grid = grid;
    p.block = block;
    p.shapes_differ = shapes_differ;
    p.metrics = metrics();
    for (const auto& [limit, ns] : bounds) p.bounds.push_back({timing::name(limit), ns});
    std::stable_sort(p.bounds.begin(), p.bounds.end(),
                     [](const BoundProfile& a, const BoundProfile& b) { return a.ns > b.ns; });
    for (const WorkSum& w : work) p.work.push_back(w.profile);
    for (const auto& [place, sum] : sites) {
      SiteProfile& s = p.sites.emplace_back();
      s.id = static_cast<std::uint32_t>(p.sites.size() - 1);
      s.kind = kind_name(sum.site.kind);
      s.space = warpgrind::name(sum.site.space);
      s.function = sum.site.function;
      s.ptx = sum.site.text;
      s.file = sum.file;
      s.line = sum.site.line;
      s.ptx_line = sum.site.ptx_line;
      counters::Values of_site = counters::site_values(sum.site, sum.counts);
      counters::add_caches(of_site, sum.caches);
      of_site.scaled = values.scaled;
      if (sum.machine) {
        of_site.set(MetricId::site_machine_inst, static_cast<double>(sum.machine->instructions));
        if (sum.counts.shared_requests != 0) {
          of_site.set(MetricId::site_machine_requests, static_cast<double>(sum.machine->shared_requests));
          of_site.set(MetricId::site_machine_wavefronts, static_cast<double>(sum.machine->shared_wavefronts));
          of_site.set(MetricId::site_machine_ideal, static_cast<double>(sum.machine->shared_ideal));
          of_site.set(MetricId::site_machine_conflicts, static_cast<double>(sum.machine->shared_conflicts));
        }
      }
      s.metrics = metrics_of(of_site);
    }
    for (const auto& [place, sum] : branches) {
      SiteProfile& s = p.sites.emplace_back();
      s.id = static_cast<std::uint32_t>(p.sites.size() - 1);
      s.kind = "branch";
      s.space = "-";
      s.function = sum.branch.function;
      s.file = sum.file;
      s.line = sum.branch.line;
      s.ptx_line = sum.branch.ptx_line;
      counters::Values v = counters::branch_values(sum.counts);
      v.scaled = values.scaled;
      if (sum.machine_divergent) v.set(MetricId::machine_divergent, static_cast<double>(*sum.machine_divergent));
      s.metrics = metrics_of(v);
    }
    return p;
  }
};

// A growing vector must move these, not copy them: site_places points into the maps.
static_assert(std::is_nothrow_move_constructible_v<KernelSum>);

}  // namespace

struct Collector::Impl {
  bool keep_launches = false, by_range = false;
  std::mutex copy_mutex;  // never held together with `mutex`
  std::shared_ptr<Collector> copy;
  std::shared_ptr<Collector> current_copy() {
    const std::lock_guard lock(copy_mutex);
    return copy;
  }
  mutable std::mutex mutex;
  std::map<std::pair<int, std::string>, std::size_t> index;  // device, mangled name
  std::vector<KernelSum> kernels;
  LaunchValues launch_values;
  std::map<std::string, std::size_t> range_index;
  std::vector<KernelSum> ranges;
  std::map<std::pair<std::string, std::string>, KernelSum> range_kernels;  // range, mangled name
  std::vector<KernelProfile> launches;
  std::uint64_t launches_left_out = 0;
  std::vector<TransferProfile> transfers;
  std::map<std::tuple<int, std::string, std::string>, std::size_t> library_index;  // device, function, arguments
  std::vector<LibraryCallProfile> library_calls;
  std::vector<Finding> findings;
  std::vector<TimelineEntry> timeline;
  std::uint64_t timeline_left_out = 0;
  std::vector<TimelineEntry> host_timeline;
  std::atomic<std::uint64_t> host_timeline_left_out{0};  // atomic: incremented by every further call, without the lock

  void add_to_range(const LaunchRecord& l, const counters::Values& values,
                    const std::vector<counters::MachineAccess>& machine) {
    const std::pair key{l.range, l.mangled_name};
    if (range_kernels.size() >= kMostRangeKernels && range_kernels.count(key) == 0) return;
    KernelSum& sum = range_kernels[key];
    sum.add(l, values, machine);
    sum.add_bounds(l.estimate);
  }
  void add_range_kernels(Profile& p) const {
    std::vector<const std::pair<const std::pair<std::string, std::string>, KernelSum>*> order;
    for (const auto& entry : range_kernels) order.push_back(&entry);
    std::sort(order.begin(), order.end(),
              [](const auto* a, const auto* b) { return a->second.first_id < b->second.first_id; });
    for (const auto* entry : order) {
      KernelProfile k = entry->second.profile();
      WG_ASSERT(range_index.contains(entry->first.first));
      RangeProfile& range = p.ranges[range_index.find(entry->first.first)->second];
      range.kernels.push_back(
          {std::move(k.name), std::move(k.mangled_name), k.launches, std::move(k.sites), std::move(k.bounds)});
    }
  }
};

Collector::Collector(bool keep_launches, bool by_range) : impl_(std::make_unique<Impl>()) {
  impl_->keep_launches = keep_launches;
  impl_->by_range = by_range;
}
Collector::~Collector() = default;

void Collector::copy_to(std::shared_ptr<Collector> copy) {
  const std::lock_guard lock(impl_->copy_mutex);
  impl_->copy = std::move(copy);
}

void Collector::add(const LaunchRecord& l) {
  if (const auto copy = impl_->current_copy()) copy->add(l);
  const std::lock_guard lock(impl_->mutex);
  const LaunchValues::Of& of = impl_->launch_values.of(l.shape, *l.facts, *l.counts);
  counters::Values values = of.values;
  const timing::KernelEstimate& estimate = l.estimate;
  values.set(MetricId::time, estimate.ns);
  values.set(MetricId::time_low, estimate.low_ns);
  values.set(MetricId::time_high, estimate.high_ns);
  values.set(MetricId::time_limit, 0);
  values.time_limit = timing::name(estimate.limit);
  if (l.footprint.total() > 0) values.set(MetricId::footprint, static_cast<double>(l.footprint.total()));
  if (l.wall_seconds > 0) {
    values.set(MetricId::wall_time, l.wall_seconds * 1e9);
    values.set(MetricId::compile_time, l.compile_seconds * 1e9);
  }

  const auto [it, fresh] = impl_->index.try_emplace({l.device, l.mangled_name}, impl_->kernels.size());
  if (fresh) impl_->kernels.emplace_back();
  WG_ASSERT(it->second < impl_->kernels.size());
  impl_->kernels[it->second].add(l, values, of.machine);
  impl_->kernels[it->second].add_bounds(estimate);
  impl_->kernels[it->second].add_work(l);
  if (!l.range.empty()) {
    const auto [range, first] = impl_->range_index.try_emplace(l.range, impl_->ranges.size());
    if (first) impl_->ranges.emplace_back();
    impl_->ranges[range->second].add_values(l, values);
    if (impl_->by_range) impl_->add_to_range(l, values, of.machine);
  }
  if (impl_->keep_launches) {
    KernelSum one;
    one.add(l, values, of.machine);
    one.add_bounds(estimate);
    impl_->launches.push_back(one.profile());
    impl_->launches.back().range = l.range;
  }
}

void Collector::add_transfer(const std::string& direction, const std::string& host_memory, std::uint64_t bytes,
                             double estimated_ns) {
  if (const auto copy = impl_->current_copy()) copy->add_transfer(direction, host_memory, bytes, estimated_ns);
  const std::lock_guard lock(impl_->mutex);
  for (TransferProfile& t : impl_->transfers)
    if (t.direction == direction && t.host_memory == host_memory) {
      t.count += 1;
      t.bytes += bytes;
      t.estimated_ns += estimated_ns;
      return;
    }
  impl_->transfers.push_back({direction, host_memory, 1, bytes, estimated_ns});
}

void Collector::add_library_call(int device, const std::string& function, const std::string& arguments,
                                 const std::string& by, double estimated_ns) {
  if (const auto copy = impl_->current_copy()) copy->add_library_call(device, function, arguments, by, estimated_ns);
  const std::lock_guard lock(impl_->mutex);
  std::tuple key{device, function, arguments};
  if (impl_->library_calls.size() >= kMostLibraryCalls && !impl_->library_index.count(key))
    std::get<2>(key) = "(other arguments)";
  const auto [it, fresh] = impl_->library_index.try_emplace(key, impl_->library_calls.size());
  if (fresh) impl_->library_calls.push_back({device, function, std::get<2>(key), by, 0, 0});
  WG_ASSERT(it->second < impl_->library_calls.size());
  LibraryCallProfile& row = impl_->library_calls[it->second];
  row.count += 1;
  row.estimated_ns += estimated_ns;
}

void Collector::add_to_timeline(TimelineEntry entry) {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->timeline.size() < kMostTimelineEntries)
    impl_->timeline.push_back(std::move(entry));
  else
    ++impl_->timeline_left_out;
}

void Collector::add_to_host_timeline(TimelineEntry entry) {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->host_timeline.size() < kMostTimelineEntries)
    impl_->host_timeline.push_back(std::move(entry));
  else
    ++impl_->host_timeline_left_out;
}

void Collector::leave_out_host_row() {
  impl_->host_timeline_left_out.fetch_add(1, std::memory_order_relaxed);
}

void Collector::leave_out_launch() {
  if (const auto copy = impl_->current_copy()) copy->leave_out_launch();
  const std::lock_guard lock(impl_->mutex);
  ++impl_->launches_left_out;
}

void Collector::add_finding(Finding finding) {
  if (const auto copy = impl_->current_copy()) copy->add_finding(finding);
  const std::lock_guard lock(impl_->mutex);
  impl_->findings.push_back(std::move(finding));
}

Profile Collector::profile() const {
  const std::lock_guard lock(impl_->mutex);
  Profile p;
  for (const KernelSum& k : impl_->kernels) p.kernels.push_back(k.profile());
  p.ranges.resize(impl_->ranges.size());
  for (const auto& [name, i] : impl_->range_index) {
    const KernelSum& sum = impl_->ranges[i];
    p.ranges[i] = {name, sum.launches, sum.metrics(), {}};
  }
  impl_->add_range_kernels(p);
  p.launches = impl_->launches;
  p.launches_left_out = impl_->launches_left_out;
  p.transfers = impl_->transfers;
  p.library_calls = impl_->library_calls;
  p.findings = impl_->findings;
  p.timeline = impl_->timeline;
  p.timeline_left_out = impl_->timeline_left_out;
  p.host_timeline = impl_->host_timeline;
  p.host_timeline_left_out = impl_->host_timeline_left_out;
  return p;
}

Metrics metrics_of(const counters::Values& values) {
  Metrics out;
  for (std::size_t i = 0; i < counters::kMetrics; ++i) {
    const auto id = static_cast<MetricId>(i);
    if (!values.has(id)) continue;
    const counters::MetricRow& row = counters::row(id);
    Metric& m = out[id];
    m.value = values.get(id);
    m.unit = row.unit;
    m.origin = values.origin(id);
    if (row.text) m.text = values.text(id);
  }
  return out;
}

}  // namespace warpgrind::results
