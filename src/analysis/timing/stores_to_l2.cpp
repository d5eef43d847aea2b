#include "timing/stores_to_l2.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "base/as_double.h"

namespace warpgrind::timing {

namespace {

using events::Site;

bool stores_to_global(const Site& site) {
  return (site.kind == SiteKind::store || site.kind == SiteKind::bulk_copy) && site.space == StateSpace::global;
}

// Stores of one element size that follow each other in the code.
struct StoreRow {
  std::vector<const AccessCost*> stores;
  std::uint64_t requests = 0;
  std::uint32_t bytes = 0;
  std::int64_t first = 0, end = 0;  // bytes from the leader's address
  bool alike = true;
  double sectors = 0;

  void add(const Site& site, const events::SiteCounts& c) {
    const std::int64_t at = site.leader == Site::kAlone ? 0 : site.distance;
    if (stores.empty()) requests = c.global_requests, bytes = site.bytes(), first = end = at;
    alike &= requests == c.global_requests && bytes == site.bytes();
    first = std::min(first, at);
    end = std::max(end, at + site.bytes());
    stores.push_back(&c.global);
    sectors += as_double(c.global.sectors);
  }
  double number() const { return as_double(stores.size()); }
  // Bytes from one lane's element to the next: 32 lanes, sectors of 32 bytes.
  double stride() const { return requests > 0 ? as_double(stores.front()->sectors) / as_double(requests) : 0; }
  bool at_one_register() const { return alike && number() >= 2 && as_double(end - first) <= stride() + 1; }
};

void put_alone(const StoreRow& row, std::vector<StoresToL2>& out) {
  for (const AccessCost* c : row.stores) out.push_back({*c, row.requests});
}

// Part of such stores that reach L2 alone, by the size of a structure in elements. On an H200 with 32 warps on an SM
// (lts__t_sectors_op_write of structures that are written whole; lab/results/h200/structures.csv). One warp alone:
// none, up to 16 elements. In a kernel that reads memory, fewer stores are under way at one time.
double part_alone(double size, double warps, bool reads) {
  constexpr double kAlone[] = {0, 0, 0, 0.09, 0.39, 0.65, 0.73, 0.84, 0.95, 1};
  constexpr double kReading[] = {0, 0, 0, 0, 0.02, 0.2, 0.37, 0.55, 0.7, 0.76, 0.82, 0.88, 0.93};
  constexpr double kManyWarps = 16;
  const auto at = [size](const auto& parts) {
    const double place = std::clamp(size, 0.0, as_double(std::size(parts) - 1));
    const auto k = std::min(static_cast<std::size_t>(place), std::size(parts) - 2);
    return parts[k] + (parts[k + 1] - parts[k]) * (place - as_double(k));
  };
  return (reads ? at(kReading) : at(kAlone)) * std::min(1.0, (warps - 1) / kManyWarps);
}

AccessCost part_of(AccessCost c, double part) {
  for (std::uint64_t* n : {&c.sectors, &c.lines, &c.bytes_asked})
    *n = static_cast<std::uint64_t>(std::llround(as_double(*n) * part));
  return c;
}

// Other work of the kernel.
struct Beside {
  double warps = 0;  // on an SM
  bool reads = false;
};

void put(const StoreRow& row, bool same_structures, const Beside& beside, std::vector<StoresToL2>& out) {
  if (!same_structures || row.bytes == 0) return put_alone(row, out);
  const double alone = part_alone(row.stride() / row.bytes, beside.warps, beside.reads);
  AccessCost whole = *row.stores.front();
  whole.bytes_asked = 0;
  for (const AccessCost* c : row.stores) {
    whole.bytes_asked += c->bytes_asked;
    out.push_back({part_of(*c, alone), row.requests});
  }
  constexpr std::uint64_t kSector = 32;
  whole.sectors = std::max(whole.sectors, whole.bytes_asked / kSector);
  out.push_back({part_of(whole, 1 - alone), row.requests});
}

// By site, what the order of the machine instructions says.
struct Places {
  std::vector<std::uint32_t> row;      // the first store at the same register in the same segment
  std::vector<std::uint32_t> segment;  // the first store of those without a gap; sass::kNone: not in machine code
};

Places places_of(const sass::Code& code, const events::KernelFacts& facts, std::size_t sites) {
  Places p{std::vector<std::uint32_t>(sites, sass::kNone), std::vector<std::uint32_t>(sites, sass::kNone)};
  for (const sass::Block& block : code.blocks) {
    // Four dependent instructions between two stores, and a load that may depend on one, keep them apart.
    constexpr unsigned kGap = 4;
    unsigned since = 0;
    std::uint32_t segment = sass::kNone;
    std::map<std::uint32_t, std::uint32_t> rows;  // by leader
    for (const sass::Instruction& i : block.instructions) {
      if (i.issue > 0 && ++since > kGap) segment = sass::kNone, rows.clear();
      if (i.site >= sites) continue;
      const Site& site = facts.sites[i.site];
      if (site.kind == SiteKind::load && site.space != StateSpace::shared && !site.non_coherent)
        segment = sass::kNone, rows.clear();
      if (site.kind != SiteKind::store || !stores_to_global(site)) continue;
      since = 0;
      if (segment == sass::kNone) segment = i.site;
      p.segment[i.site] = segment;
      p.row[i.site] = rows.try_emplace(site.leader == Site::kAlone ? i.site : site.leader, i.site).first->second;
    }
  }
  return p;
}

}  // namespace

std::vector<StoresToL2> stores_to_l2(const sass::Code& code, const events::KernelFacts& facts,
                                     const events::LaunchCounts& counts, const events::CacheCounts* caches,
                                     double warps) {
  const std::size_t sites = std::min(facts.sites.size(), counts.sites.size());
  const Places at = places_of(code, facts, sites);
  Beside beside{warps, false};
  for (std::size_t k = 0; k < sites; ++k)
    beside.reads |= facts.sites[k].kind == SiteKind::load && facts.sites[k].space == StateSpace::global &&
                    counts.sites[k].global_requests > 0;
  std::vector<StoresToL2> out;
  std::map<std::uint32_t, StoreRow> rows, singles;  // by Places::row and by segment
  for (std::uint32_t s = 0; s < sites; ++s)
    if (at.segment[s] != sass::kNone)
      rows[at.row[s]].add(facts.sites[s], counts.sites[s]);
    else if (facts.sites[s].kind == SiteKind::store || stores_to_global(facts.sites[s]))
      out.push_back({counts.sites[s].global, counts.sites[s].global_requests});
  for (const auto& [first, row] : rows)
    if (row.number() < 2)
      singles[at.segment[first]].add(facts.sites[first], counts.sites[first]);
    else
      put(row, row.at_one_register(), beside, out);
  // Each with a register of its own: the same structures if the launch writes as many sectors as one of them does.
  constexpr double kNearly = 0.8;
  const bool all_there_is = singles.size() == 1 && singles.begin()->second.stores.size() == rows.size();
  for (const auto& [segment, row] : singles)
    put(row,
        all_there_is && row.alike && row.number() >= 2 && caches &&
            caches->written.sectors < row.sectors / (kNearly * row.number()),
        beside, out);
  return out;
}

}  // namespace warpgrind::timing
