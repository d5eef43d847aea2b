// Matching of hardware launches with those of the virtual GPU, and comparison of their metrics.
#include "correlate/correlate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace warpgrind::correlate {
namespace {

using results::MetricId;

constexpr double kNear = 0.05;

// True if the text matches the pattern; * matches any text.
bool fits(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

constexpr Cause kCauses[] = {
#define WG_CAUSE(pattern, cause) {pattern, cause},
#include "correlate/causes.inc"
#undef WG_CAUSE
};

std::string shape(const std::string& printed) {
  std::string out;
  for (const char c : printed)
    if (c != ' ') out += c;
  return out;
}
std::string shape(const Dim3& d) {
  return fmt::format("({},{},{})", d.x, d.y, d.z);
}

using Key = std::string;
Key key_of(const HardwareLaunch& l) {
  return bare_kernel_name(l.kernel) + shape(l.block) + shape(l.grid);
}
Key key_of(const results::KernelProfile& l) {
  return bare_kernel_name(l.name) + shape(l.block) + shape(l.grid);
}

bool equal(const HardwareValue& hardware, const results::Metric& here) {
  if (!here.text.empty() || !hardware.is_number) return here.text == hardware.text;
  return std::fabs(hardware.value - here.value) <= hardware.tolerance;
}

double relative(double hardware, double here) {
  if (hardware == here) return 0;
  return hardware != 0 ? here / hardware - 1 : std::numeric_limits<double>::infinity();
}

class Comparer {
 public:
  explicit Comparer(Correlation& out) : out_(out) {}

  void add(const HardwareLaunch& hardware, const results::KernelProfile& here) {
    const auto [it, fresh] = index_.try_emplace(key_of(here), out_.kernels.size());
    if (fresh) {
      KernelComparison& k = out_.kernels.emplace_back();
      k.kernel = here.name;
      k.block = hardware.block;
      k.grid = hardware.grid;
    }
    KernelComparison& kernel = out_.kernels[it->second];
    ++kernel.launches;
    for (const auto& [name, value] : hardware.values) {
      const auto ours = here.metrics.by_name().find(name);
      if (ours == here.metrics.by_name().end())
        add_unknown(name, hardware);
      else
        compare(kernel, name, value, ours->second, here.metrics);
    }
  }

  void finish() {
    // Metric names have a double underscore; columns that describe a launch do not. The raw page also lists properties
    // of the machine.
    const auto counts = [](const std::string& name) {
      for (const char* prefix : {"device__", "c2clink__", "nvlink__", "numa__", "profiler__", "pmsampling"})
        if (name.starts_with(prefix)) return false;
      return name.find("__") != std::string::npos;
    };
    for (const std::string& name : unknown_)
      if (counts(name)) out_.metrics_unknown.push_back(name);
  }

 private:
  // The raw page also has the mean, minimum and maximum of a sum over the units.
  void add_unknown(const std::string& name, const HardwareLaunch& hardware) {
    for (const char* ending : {".avg", ".min", ".max"})
      if (name.ends_with(ending) && hardware.values.contains(name.substr(0, name.rfind('.')) + ".sum")) return;
    unknown_.insert(name);
  }

  void compare(KernelComparison& kernel, const std::string& name, const HardwareValue& hardware,
               const results::Metric& here, const results::Metrics& all) {
    auto it = std::find_if(kernel.metrics.begin(), kernel.metrics.end(),
                           [&](const MetricComparison& m) { return m.metric == name; });
    const bool first = it == kernel.metrics.end();
    if (first) {
      MetricComparison m;
      m.metric = name;
      m.unit = here.unit;
      m.origin = here.origin;
      it = kernel.metrics.insert(it, m);
    }
    const bool same = equal(hardware, here);
    ++it->launches;
    it->equal += same;
    const bool is_time = name == results::name(MetricId::time);
    if (is_time) {
      time(hardware.value, here.value, all);
    } else {
      ++out_.values;
      out_.equal += same;
      if (here.origin == Origin::modelled) {
        ++out_.modelled;
        out_.modelled_equal += same;
        out_.modelled_near += same || std::fabs(relative(hardware.value, here.value)) <= kNear;
      }
    }
    if (const Cause* const cause = same ? nullptr : cause_of(name)) it->cause = cause->text;
    const double apart = std::fabs(relative(hardware.value, here.value));
    if (!first && !(apart > std::fabs(it->difference()))) return;
    it->hardware = hardware.value;
    it->here = here.value;
    it->hardware_text = hardware.is_number ? "" : hardware.text;
    it->here_text = here.text;
    if (is_time) {
      it->low = all.value(MetricId::time_low);
      it->high = all.value(MetricId::time_high);
    }
  }

  void time(double hardware, double here, const results::Metrics& all) {
    if (!(hardware > 0)) return;
    out_.time_ratios.push_back(here / hardware);
    const double low = all.value(MetricId::time_low), high = all.value(MetricId::time_high);
    out_.times_inside += low <= hardware && hardware <= high;
  }

  Correlation& out_;
  std::map<Key, std::size_t> index_;
  std::set<std::string> unknown_;
};

}  // namespace

std::span<const Cause> causes() {
  return kCauses;
}

const Cause* cause_of(std::string_view metric) {
  const auto* const found =
      std::find_if(std::begin(kCauses), std::end(kCauses), [&](const Cause& c) { return fits(c.pattern, metric); });
  return found == std::end(kCauses) ? nullptr : found;
}

double MetricComparison::difference() const {
  return relative(hardware, here);
}

Correlation correlate(const std::vector<HardwareLaunch>& hardware, const results::Profile& here) {
  Correlation out;
  out.gpu = here.gpu;
  out.program = here.program;
  std::map<Key, std::deque<const results::KernelProfile*>> waiting;
  for (const results::KernelProfile& l : here.launches) waiting[key_of(l)].push_back(&l);
  Comparer comparer(out);
  std::set<std::string> alone, left;
  for (const HardwareLaunch& l : hardware) {
    auto& queue = waiting[key_of(l)];
    if (queue.empty()) {
      if (alone.insert(bare_kernel_name(l.kernel)).second) out.hardware_only.push_back(bare_kernel_name(l.kernel));
      continue;
    }
    comparer.add(l, *queue.front());
    queue.pop_front();
  }
  for (const results::KernelProfile& l : here.launches) {
    const auto& queue = waiting[key_of(l)];
    if (std::find(queue.begin(), queue.end(), &l) == queue.end()) continue;
    if (left.insert(bare_kernel_name(l.name)).second) out.here_only.push_back(bare_kernel_name(l.name));
  }
  comparer.finish();
  return out;
}

}  // namespace warpgrind::correlate
