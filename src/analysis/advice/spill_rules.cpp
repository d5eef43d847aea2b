// Advice rule about spilled registers.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "advice/rules.h"
#include "base/words.h"
#include "timing/work_of.h"

namespace warpgrind::advice {
namespace {

constexpr double kMostRegisters = 255;  // that a thread can have

// What timing/work_of.cpp added to the work of a launch: instructions, passes through L1, and what L2 reads and writes.
struct SpillWork {
  double instructions = 0, load_sectors = 0, store_sectors = 0, missed_sectors = 0;
};

void take_away(const SpillWork& spills, timing::LaunchWork& w) {
  constexpr double kSectorsOfPass = 4;
  const auto less = [](double& figure, double by, double least) { figure = std::max(least, figure - by); };
  less(w.instructions, spills.instructions / std::max(1.0, w.blocks * w.warps_per_block), 0);
  less(w.l1_load_passes, spills.load_sectors / kSectorsOfPass, 0);
  less(w.l1_store_passes, spills.store_sectors / kSectorsOfPass, 0);
  less(w.l2_read_sectors, spills.missed_sectors, w.read_sectors);
  less(w.l2_read_lines, spills.missed_sectors / kSectorsOfPass, w.read_lines);
  less(w.l2_write_sectors, spills.store_sectors, w.write_sectors);
  less(w.l2_write_lines, spills.store_sectors / kSectorsOfPass, w.write_lines);
}

}  // namespace

void spilled_registers(const KernelView& k, std::vector<Candidate>& out) {
  const double loads = k.value(MetricId::spill_ld), stores = k.value(MetricId::spill_st);
  if (loads + stores <= 0) return;
  const double registers = k.value(MetricId::registers);
  results::Advice a;
  a.title = fmt::format("Registers are spilled to local memory: {} load{} and {} store{}", grouped(loads),
                        plural(loads), grouped(stores), plural(stores));
  a.text = fmt::format(
      "The kernel needs more than the {:.0f} registers that a thread may have, so ptxas keeps {:.0f} bytes of each "
      "thread in local memory. {} Or let a thread keep fewer values at a time: smaller tiles, less unrolling, shorter "
      "live ranges. What more warps gain is rarely worth the memory traffic.",
      registers, k.value(MetricId::spill_bytes),
      registers < kMostRegisters
          ? "Raise the limit: a smaller second number in __launch_bounds__, a larger __maxnreg__ or -maxrregcount."
          : "No thread can have more.");
  a.evidence = k.evidence({MetricId::spill_ld, MetricId::spill_st, MetricId::spill_bytes, MetricId::registers});
  out.push_back({std::move(a), [k](results::WorkProfile& launch) {
                   const double part = k.share_of(launch), loaded = part * k.value(MetricId::spill_ld_sectors);
                   const double misses = timing::spilled_load_misses(
                       k.model(), launch.work, k.value(MetricId::spill_bytes), k.value(MetricId::shared_config));
                   take_away({.instructions = part * (k.value(MetricId::spill_ld) + k.value(MetricId::spill_st)),
                              .load_sectors = loaded,
                              .store_sectors = part * k.value(MetricId::spill_st_sectors),
                              .missed_sectors = loaded * misses},
                             launch.work);
                 }});
}

}  // namespace warpgrind::advice
