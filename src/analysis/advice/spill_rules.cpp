// Advice rule about spilled registers.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "advice/rules.h"
#include "base/words.h"

namespace warpgrind::advice {
namespace {

constexpr const char* kL2Port = "L2 bandwidth of the SMs in use";
constexpr double kMostRegisters = 255;  // that a thread can have

// "3,433,728"
std::string grouped(double n) {
  std::string digits = fmt::format("{:.0f}", n);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// The part of `sectors` in the sum of both.
double share(double sectors, double others) {
  return sectors + others > 0 ? sectors / (sectors + others) : 0;
}

}  // namespace

void spilled_registers(const KernelView& k, std::vector<Candidate>& out) {
  const double loads = k.value(MetricId::spill_ld), stores = k.value(MetricId::spill_st);
  if (loads + stores <= 0) return;
  const double loaded = k.value(MetricId::spill_ld_sectors), stored = k.value(MetricId::spill_st_sectors);
  const double in_l1 = share(loaded + stored, k.value(MetricId::lsu_sectors));
  // L1 writes all stores through, and holds most of the slots that are loaded.
  const double in_l2 = share(stored, k.value(MetricId::l2_read) + k.value(MetricId::l2_write));
  const double instructions = std::min(1.0, (loads + stores) / std::max(1.0, k.value(MetricId::machine_inst)));
  const double registers = k.value(MetricId::registers);
  Candidate c;
  c.severity = in_l1;
  c.advice.title = fmt::format("Registers are spilled to local memory: {} load{} and {} store{}", grouped(loads),
                               plural(loads), grouped(stores), plural(stores));
  c.advice.text = fmt::format(
      "The kernel needs more than the {:.0f} registers that a thread may have, so ptxas keeps {:.0f} bytes of each "
      "thread in local memory. {} Or let a thread keep fewer values at a time: smaller tiles, less unrolling, shorter "
      "live ranges. What more warps gain is rarely worth the memory traffic.",
      registers, k.value(MetricId::spill_bytes),
      registers < kMostRegisters
          ? "Raise the limit: a smaller second number in __launch_bounds__, a larger __maxnreg__ or -maxrregcount."
          : "No thread can have more.");
  c.advice.estimated_gain = k.gain(
      {{limit::kL1, 1 - in_l1}, {limit::kL2, 1 - in_l2}, {kL2Port, 1 - in_l2}, {limit::kIssue, 1 - instructions}});
  c.advice.evidence = k.evidence({MetricId::spill_ld, MetricId::spill_st, MetricId::spill_bytes, MetricId::registers});
  out.push_back(std::move(c));
}

}  // namespace warpgrind::advice
