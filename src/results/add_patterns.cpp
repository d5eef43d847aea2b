#include "results/add_patterns.h"

#include <algorithm>
#include <map>

namespace warpgrind::results {
namespace {

AccessPattern pattern_of(const counters::PatternCount& p, AccessType type, std::uint32_t bytes,
                         const AccessRules& rules, std::uint32_t first_allocation) {
  AccessPattern out;
  out.count = p.count;
  out.mask = p.key.mask;
  out.lane_bytes = bytes;
  out.space = name(p.key.space);
  out.addresses = p.key.offsets;
  if (p.allocation) out.allocation = first_allocation + *p.allocation;
  out.base_offset = p.base_offset;
  out.alignment = p.key.alignment;
  out.block = p.block;
  out.warp = p.warp;
  if (p.key.space == StateSpace::shared) {
    out.wavefronts = p.cost.wavefronts;
    out.ideal_wavefronts = p.cost.ideal_wavefronts;
    return out;
  }
  out.sectors = p.cost.sectors;
  out.lines_128 = p.cost.lines;
  out.ideal_sectors = p.cost.ideal_sectors;
  // Since 3.x they are the sectors, which the addresses say.
  if (rules.coalescing == CoalescingRule::sectors_32 || p.key.space == StateSpace::local) return out;
  std::int64_t offsets[kWarpSize];
  for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = p.key.offsets[l] + p.key.alignment;
  for (const MemoryTransaction& t : global_transactions(rules, type, offsets, p.key.mask, bytes))
    out.transactions.push_back({t.offset - p.key.alignment, t.bytes});
  return out;
}

}  // namespace

void add_patterns(Profile& profile, int device, const counters::AccessPatterns& patterns, const AccessRules& rules) {
  const auto first = static_cast<std::uint32_t>(profile.allocations.size());
  for (const counters::PatternAllocation& a : patterns.allocations())
    profile.allocations.push_back({first + a.id, a.address, a.bytes});
  const auto sites = patterns.result();
  for (KernelProfile& k : profile.kernels) {
    if (k.device != device) continue;
    for (SiteProfile& s : k.sites) {
      const auto found = sites.find({k.mangled_name, s.function, s.ptx_line});
      if (found == sites.end()) continue;
      const counters::SitePatterns& from = found->second;
      for (const counters::PatternCount& p : from.patterns)
        s.patterns.push_back(pattern_of(p, from.type, from.bytes, rules, first));
      s.patterns_other = from.other;
      s.worst = from.worst;
      s.best = from.best;
    }
  }
}

namespace {

std::uint32_t allocation_id(Profile& profile, std::uint64_t address, std::uint64_t bytes) {
  for (const AllocationProfile& a : profile.allocations)
    if (a.address == address && a.bytes == bytes) return a.id;
  const auto id = static_cast<std::uint32_t>(profile.allocations.size());
  profile.allocations.push_back({id, address, bytes});
  return id;
}

TraceEventProfile event_of(Profile& profile, const counters::TraceEvent& e, std::uint32_t site) {
  TraceEventProfile out;
  out.site = site;
  out.warp = e.warp;
  out.phase = e.phase;
  out.mask = e.mask;
  if (e.allocation) out.allocation = allocation_id(profile, e.allocation->first, e.allocation->second);
  const std::uint64_t origin = e.allocation ? e.allocation->first : 0;
  for (unsigned l = 0; l < kWarpSize; ++l)
    if ((e.mask >> l & 1) != 0) out.addresses[l] = static_cast<std::int64_t>(e.addresses[l] - origin);
  return out;
}

}  // namespace

void add_block_trace(Profile& profile, int device, const counters::BlockTrace& trace) {
  // A program with many kernels shares what a report can carry: about 6 MB.
  constexpr std::size_t kEvents = 32768, kLeast = 128;
  const std::size_t most = std::max(kLeast, kEvents / std::max<std::size_t>(1, profile.kernels.size()));
  for (KernelProfile& k : profile.kernels) {
    const auto it = trace.traces().find(k.mangled_name);
    if (k.device != device || it == trace.traces().end()) continue;
    std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> sites;
    for (const SiteProfile& s : k.sites) sites[{s.function, s.ptx_line}] = s.id;
    BlockTraceProfile& out = k.block_trace.emplace();
    out.block = it->second.block;
    out.left_out = it->second.left_out;
    for (const counters::TraceEvent& e : it->second.events) {
      const auto site = sites.find({e.function, e.ptx_line});
      if (out.events.size() < most && site != sites.end())
        out.events.push_back(event_of(profile, e, site->second));
      else
        ++out.left_out;
    }
  }
}

}  // namespace warpgrind::results
