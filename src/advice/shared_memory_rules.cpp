// Rules about shared memory.
#include <fmt/format.h>

#include <array>

#include "advice/rules.h"

namespace warpgrind::advice {
namespace {

using results::SiteProfile;

constexpr const char* kWavefronts = "memory_l1_wavefronts_shared";
constexpr const char* kIdeal = "memory_l1_wavefronts_shared_ideal";
constexpr const char* kExcessive = "derived__memory_l1_wavefronts_shared_excessive";
constexpr double kConflictShare = 0.1;

struct Operation {
  const char *word, *kind, *requests, *wavefronts, *conflicts;
};
#define WG_OPERATION(WORD, OP)                                                \
  {                                                                           \
    WORD "s", WORD, "warpgrind__shared_op_" OP "_requests.sum",               \
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_" OP ".sum", \
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" OP ".sum"        \
  }
constexpr std::array<Operation, 3> kOperations{
    {WG_OPERATION("load", "ld"), WG_OPERATION("store", "st"), WG_OPERATION("atomic", "atom")}};
#undef WG_OPERATION

bool conflicts(const KernelView& k, const Operation& op) {
  const double wavefronts = k.value(op.wavefronts);
  return wavefronts > 0 && k.value(op.conflicts) >= kConflictShare * wavefronts;
}

std::vector<results::Advice::Place> conflict_places(const KernelView& k, std::string_view kind) {
  return k.places([kind](const SiteProfile& s) {
    const bool same = s.kind == kind || (kind == "atomic" && s.kind == "reduction");
    return same ? KernelView::value(s, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum") : 0;
  });
}

}  // namespace

void shared_memory_conflicts(const KernelView& k, std::vector<Candidate>& out) {
  for (const Operation& op : kOperations) {
    if (!conflicts(k, op)) continue;
    const double share = k.value(op.conflicts) / k.value(op.wavefronts);
    const double ways = k.value(op.wavefronts) / k.value(op.requests);
    const double left = 1 - k.value(op.conflicts) / k.value(kWavefronts);
    Candidate c;
    c.severity = 1 - left;
    c.advice.title = fmt::format("Bank conflicts: shared {} are {:.1f}-way on average", op.word, ways);
    c.advice.text = fmt::format(
        "{:.0f} % of the wavefronts of shared {} are repeats, because lanes want different words of one bank. Pad the "
        "rows of the array by one element, exchange the indices so that neighbouring lanes take neighbouring words, or "
        "swizzle: column ^ row.",
        100 * share, op.word);
    c.advice.estimated_gain = k.gain({{limit::kShared, left}});
    c.advice.evidence = k.evidence({op.conflicts, op.wavefronts, op.requests});
    c.advice.places = conflict_places(k, op.kind);
    out.push_back(std::move(c));
  }
}

void uncoalesced_shared_access(const KernelView& k, std::vector<Candidate>& out) {
  const double actual = k.value(kWavefronts), ideal = k.value(kIdeal);
  if (actual <= ideal || actual <= 0) return;
  for (const Operation& op : kOperations)
    if (conflicts(k, op)) return;
  const double left = ideal / actual;
  Candidate c;
  c.severity = 1 - left;
  c.advice.title = fmt::format("Shared accesses take {:.0f} % more wavefronts than ideal", 100 * (actual / ideal - 1));
  c.advice.text =
      "Some requests pass through the banks more often than their bytes need. Let neighbouring lanes take neighbouring "
      "words, and align accesses of 8 and 16 bytes.";
  c.advice.estimated_gain = k.gain({{limit::kShared, left}});
  c.advice.evidence = k.evidence({kExcessive, kWavefronts, kIdeal});
  c.advice.places = k.places([](const SiteProfile& s) { return KernelView::value(s, kExcessive); });
  out.push_back(std::move(c));
}

}  // namespace warpgrind::advice
