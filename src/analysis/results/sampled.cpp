#include "results/sampled.h"

#include "results/metrics.h"

namespace warpgrind::results {

namespace {

void mark(Metrics& metrics) {
  for (auto& [name, metric] : metrics.by_name()) metric.origin = Origin::sampled;
}

}  // namespace

void mark_sampled(Profile& profile) {
  for (auto* kernels : {&profile.kernels, &profile.launches})
    for (KernelProfile& k : *kernels) {
      if (k.metrics.value(MetricId::blocks_run) == 0) continue;
      for (SiteProfile& s : k.sites) mark(s.metrics);
      for (auto* lines : {&k.lines, &k.inlined_lines})
        for (LineProfile& l : *lines) mark(l.metrics);
      for (Advice& a : k.advice) a.origin = Origin::sampled;
    }
}

}  // namespace warpgrind::results
