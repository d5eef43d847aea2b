// Advice rules about shared memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "advice/rules.h"

namespace warpgrind::advice {
namespace {

using results::SiteProfile;

constexpr const char* kWavefronts = "memory_l1_wavefronts_shared";
constexpr const char* kIdealShared = "memory_l1_wavefronts_shared_ideal";
constexpr const char* kExcessiveShared = "derived__memory_l1_wavefronts_shared_excessive";
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
  Candidate c;
  std::string words;
  double left = 1;
  std::vector<const char*> evidence;
  for (const Operation& op : kOperations) {
    if (!conflicts(k, op)) continue;
    left -= k.value(op.conflicts) / k.value(kWavefronts);
    words += fmt::format("{}{} {:.1f}-way", words.empty() ? "" : ", ", op.word,
                         k.value(op.wavefronts) / k.value(op.requests));
    evidence.insert(evidence.end(), {op.conflicts, op.wavefronts, op.requests});
    for (const results::Advice::Place& place : conflict_places(k, op.kind))
      if (std::none_of(c.advice.places.begin(), c.advice.places.end(),
                       [&](const auto& p) { return p.file == place.file && p.line == place.line && p.line != 0; }))
        c.advice.places.push_back(place);
  }
  if (words.empty()) return;
  c.severity = 1 - left;
  c.advice.title = fmt::format("Bank conflicts: shared {} on average", words);
  c.advice.text = fmt::format(
      "{:.0f} % of the passes through shared memory are repeats, because lanes access different words of one bank. Pad "
      "each row of the array by one element, swap the indices so that neighbouring lanes access neighbouring words, or "
      "swizzle (column ^ row).",
      100 * (1 - left));
  c.advice.estimated_gain = k.gain({{limit::kShared, left}});
  c.advice.evidence = k.evidence(evidence);
  out.push_back(std::move(c));
}

void uncoalesced_shared_access(const KernelView& k, std::vector<Candidate>& out) {
  const double actual = k.value(kWavefronts), ideal = k.value(kIdealShared);
  if (actual <= ideal || actual <= 0) return;
  for (const Operation& op : kOperations)
    if (conflicts(k, op)) return;
  const double left = ideal / actual;
  Candidate c;
  c.severity = 1 - left;
  c.advice.title = fmt::format("Shared accesses take {:.0f} % more wavefronts than ideal", 100 * (actual / ideal - 1));
  c.advice.text =
      "Some requests need more passes through the banks than the amount of data requires. Let neighbouring lanes "
      "access neighbouring words, and align accesses of 8 and 16 bytes.";
  c.advice.estimated_gain = k.gain({{limit::kShared, left}});
  c.advice.evidence = k.evidence({kExcessiveShared, kWavefronts, kIdealShared});
  c.advice.places = k.places([](const SiteProfile& s) { return KernelView::value(s, kExcessiveShared); });
  out.push_back(std::move(c));
}

}  // namespace warpgrind::advice
