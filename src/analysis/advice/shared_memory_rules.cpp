// Advice rules about shared memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "advice/rules.h"

namespace warpgrind::advice {
namespace {

using results::SiteProfile;

constexpr double kConflictShare = 0.1;

struct Operation {
  const char *word, *kind;
  MetricId requests, wavefronts, conflicts;
};
constexpr std::array<Operation, 3> kOperations{
    {{"loads", "load", MetricId::shared_ld_requests, MetricId::machine_shared_ld_wavefronts,
      MetricId::machine_shared_ld_conflicts},
     {"stores", "store", MetricId::shared_st_requests, MetricId::machine_shared_st_wavefronts,
      MetricId::machine_shared_st_conflicts},
     {"atomics", "atomic", MetricId::shared_atom_requests, MetricId::shared_atom_wavefronts,
      MetricId::shared_atom_conflicts}}};

bool conflicts(const KernelView& k, const Operation& op) {
  const double wavefronts = k.value(op.wavefronts);
  return wavefronts > 0 && k.value(op.conflicts) >= kConflictShare * wavefronts;
}

std::vector<results::Advice::Place> conflict_places(const KernelView& k, std::string_view kind) {
  return k.places([kind](const SiteProfile& s) {
    const bool same = s.kind == kind || (kind == "atomic" && s.kind == "reduction");
    return same ? s.metrics.value(MetricId::shared_conflicts) : 0;
  });
}

// Removal of all wavefronts but this part.
Repair keep_wavefronts(double left) {
  return {[left](results::WorkProfile& launch) { launch.work.shared_wavefronts *= std::clamp(left, 0.0, 1.0); }};
}

}  // namespace

void shared_memory_conflicts(const KernelView& k, std::vector<Candidate>& out) {
  results::Advice a;
  std::string words;
  double left = 1;
  bool only_atomics = true;
  std::vector<MetricId> evidence;
  for (const Operation& op : kOperations) {
    if (!conflicts(k, op)) continue;
    left -= k.value(op.conflicts) / std::max(1.0, k.value(MetricId::shared_wavefronts));
    words += fmt::format("{}{} {:.1f}-way", words.empty() ? "" : ", ", op.word,
                         k.value(op.wavefronts) / k.value(op.requests));
    only_atomics = only_atomics && std::string_view(op.kind) == "atomic";
    evidence.insert(evidence.end(), {op.conflicts, op.wavefronts, op.requests});
    for (const results::Advice::Place& place : conflict_places(k, op.kind))
      if (std::none_of(a.places.begin(), a.places.end(),
                       [&](const auto& p) { return p.file == place.file && p.line == place.line && p.line != 0; }))
        a.places.push_back(place);
  }
  if (words.empty()) return;
  left = std::max(0.0, left);
  a.title = fmt::format("Bank conflicts: shared {} on average", words);
  a.text = fmt::format(
      "{:.0f} % of the passes through shared memory are repeats, because lanes access different words of one bank. {}",
      100 * (1 - left),
      only_atomics
          ? "The data decides which words the atomics of a histogram update. Give each warp, or each few lanes, "
            "a copy of the histogram in shared memory, with the copies in different banks, and add the "
            "copies at the end."
          : "Pad each row of the array by one element, swap the indices so that neighbouring lanes access "
            "neighbouring words, or swizzle (column ^ row).");
  a.evidence = k.evidence(evidence);
  out.push_back({std::move(a), keep_wavefronts(left)});
}

void uncoalesced_shared_access(const KernelView& k, std::vector<Candidate>& out) {
  const double actual = k.value(MetricId::shared_wavefronts), ideal = k.value(MetricId::shared_ideal);
  if (actual <= ideal || actual <= 0) return;
  for (const Operation& op : kOperations)
    if (conflicts(k, op)) return;
  results::Advice a;
  a.title = fmt::format("Shared accesses take {:.0f} % more wavefronts than ideal",
                        100 * (actual / std::max(1.0, ideal) - 1));
  a.text =
      "Some requests need more passes through the banks than the amount of data requires. Let neighbouring lanes "
      "access neighbouring words, and align accesses of 8 and 16 bytes.";
  a.evidence = k.evidence({MetricId::shared_excessive, MetricId::shared_wavefronts, MetricId::shared_ideal});
  a.places = k.places([](const SiteProfile& s) { return s.metrics.value(MetricId::shared_excessive); });
  out.push_back({std::move(a), keep_wavefronts(ideal / actual)});
}

}  // namespace warpgrind::advice
