// Counting of access patterns per worker, and the choice of the listed ones.
#include "observers/access_patterns.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <unordered_map>

#include "base/assert.h"
#include "base/element.h"
#include "observers/operands.h"
#include "observers/pattern_profiles.h"
#include "observers/written_tiles.h"
#include "results/collect.h"

namespace warpgrind::observers {
namespace {

// Most patterns that a worker keeps per site: those with the smallest hashes. So the choice does not depend on the
// order of accesses, and the counts of the kept patterns are exact.
constexpr std::size_t kKept = 4096;
constexpr unsigned kMostWorkers = 16384;  // over all concurrent launches

AccessCost cost_of(const AccessRules& rules, const PatternKey& key, AccessForm form) {
  std::int64_t offsets[kWarpSize];
  for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = key.offsets[l] + key.alignment;
  form.space = key.space;
  return access_cost(rules, form, offsets, key.mask);
}

// Distance from the ideal: first the unneeded traffic, then the total.
std::pair<std::uint64_t, std::uint64_t> badness(const PatternCount& p) {
  const AccessCost& c = p.cost;
  return p.key.space == StateSpace::shared
             ? std::pair{c.wavefronts - c.ideal_wavefronts, c.wavefronts}
             : std::pair{c.bytes_moved - std::min(c.bytes_moved, 32 * c.ideal_sectors), c.bytes_moved};
}

bool before(const PatternKey& a, const PatternKey& b) {
  return std::tie(a.space, a.mask, a.alignment, a.offsets) < std::tie(b.space, b.mask, b.alignment, b.offsets);
}

struct Table {
  AccessType type = AccessType::load;
  unsigned bytes = 0;
  std::unordered_map<std::uint64_t, PatternCount> patterns;  // by hash
  std::vector<std::uint64_t> heap;                           // max-heap of their hashes
  std::uint64_t other = 0;
  // Of all evicted patterns.
  std::optional<PatternCount> worst, best;

  void add_example(PatternCount& to, const PatternCount& from) {
    if (std::tie(from.block_index, from.warp) >= std::tie(to.block_index, to.warp)) return;
    to.block_index = from.block_index;
    to.block = from.block;
    to.warp = from.warp;
    to.base = from.base;
    to.allocation = from.allocation;
    to.base_offset = from.base_offset;
    to.tile = from.tile;
  }

  void consider_extremes(const PatternCount& p) {
    const auto take = [&](std::optional<PatternCount>& which, bool better) {
      if (which && which->key == p.key) {
        which->count += p.count;
        add_example(*which, p);
      } else if (!which || better) {
        which = p;
      }
    };
    take(worst,
         worst && (badness(p) > badness(*worst) || (badness(p) == badness(*worst) && before(p.key, worst->key))));
    take(best, best && (badness(p) < badness(*best) || (badness(p) == badness(*best) && before(p.key, best->key))));
  }

  void evict() {
    WG_ASSERT(heap.size() == patterns.size() && patterns.contains(heap.front()));
    const auto last = patterns.find(heap.front());
    other += last->second.count;
    consider_extremes(last->second);
    patterns.erase(last);
    std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
  }

  void add(std::uint64_t hash, const PatternCount& p) {
    const auto it = patterns.find(hash);
    if (it != patterns.end()) {
      // Two patterns with the same hash (probability 2^-64) count as the first one.
      it->second.count += p.count;
      add_example(it->second, p);
      return;
    }
    if (patterns.size() >= kKept) {
      if (hash > heap.front()) {
        other += p.count;
        consider_extremes(p);
        return;
      }
      evict();
    }
    patterns.emplace(hash, p);
    heap.push_back(hash);
    std::push_heap(heap.begin(), heap.end());
  }

  void add(const Table& from) {
    if (from.bytes == 0) return;  // this worker never executed the site
    type = from.type;
    bytes = from.bytes;
    for (const auto& [hash, p] : from.patterns) add(hash, p);
    other += from.other;
    if (from.worst) consider_extremes(*from.worst);
    if (from.best) consider_extremes(*from.best);
  }
};

struct WorkerTables {
  std::vector<Table> sites;  // of the current launch
  WrittenTiles tiles;        // in shared memory of the blocks that run
  Operands operands;
};

// Merges patterns with the same cost that differ only in their alignment: for a reader, all columns of a matrix look
// the same.
std::vector<PatternCount> merged(std::vector<PatternCount> all) {
  const auto look = [](const PatternCount& p) {
    const AccessCost& c = p.cost;
    return std::tie(p.key.space, p.key.mask, p.key.offsets, c.sectors, c.lines, c.bytes_moved, c.transactions,
                    c.wavefronts);
  };
  std::sort(all.begin(), all.end(), [&](const PatternCount& a, const PatternCount& b) {
    const auto la = look(a), lb = look(b);
    return la != lb ? la < lb : std::tie(a.block_index, a.warp, a.base) < std::tie(b.block_index, b.warp, b.base);
  });
  std::vector<PatternCount> out;
  for (PatternCount& p : all) {
    if (!out.empty() && look(out.back()) == look(p))
      out.back().count += p.count;  // the example of the lowest block came first
    else
      out.push_back(p);
  }
  return out;
}

// The most frequent patterns, with the worst and the best of all among them.
SitePatterns listed(const Table& table, std::size_t most) {
  std::vector<PatternCount> all;
  for (const auto& [hash, p] : table.patterns) all.push_back(p);
  // Evicted patterns may be worse or better than all kept ones.
  for (const auto& p : {table.worst, table.best})
    if (p && std::none_of(all.begin(), all.end(), [&](const PatternCount& q) { return q.key == p->key; }))
      all.push_back(*p);
  std::uint64_t evicted = 0;  // requests of these that `other` includes
  for (const PatternCount& p : all)
    if (!table.patterns.contains(p.key.hash())) evicted += p.count;
  all = merged(std::move(all));
  std::sort(all.begin(), all.end(), [](const PatternCount& a, const PatternCount& b) {
    return a.count != b.count ? a.count > b.count : before(a.key, b.key);
  });
  const auto worse = [](const PatternCount& a, const PatternCount& b) { return badness(a) < badness(b); };
  const auto worst = std::max_element(all.begin(), all.end(), worse) - all.begin();
  const auto best = std::min_element(all.begin(), all.end(), worse) - all.begin();
  SitePatterns site;
  site.type = table.type;
  site.bytes = table.bytes;
  site.other = table.other - std::min(table.other, evicted);
  for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(all.size()); ++i) {
    const bool is_listed = site.patterns.size() < most - 2 || i == worst || i == best;
    if (i == worst) site.worst = static_cast<std::uint32_t>(site.patterns.size());
    if (i == best) site.best = static_cast<std::uint32_t>(site.patterns.size());
    if (is_listed)
      site.patterns.push_back(all[static_cast<std::size_t>(i)]);
    else
      site.other += all[static_cast<std::size_t>(i)].count;
  }
  return site;
}

}  // namespace

std::uint64_t PatternKey::hash() const {
  std::uint64_t h = 0x9e3779b97f4a7c15ull ^ (std::uint64_t{mask} << 32 | alignment << 8 | static_cast<unsigned>(space));
  const auto mix = [&](std::uint64_t x) {
    h ^= x;
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  };
  for (const std::int64_t offset : offsets) mix(static_cast<std::uint64_t>(offset));
  mix(mask);
  return h;
}

struct AccessPatterns::Impl {
  Watched watched;
  AccessRules rules;
  std::vector<std::unique_ptr<WorkerTables>> workers{kMostWorkers};
  std::map<SiteKey, Table> sites;
  struct SiteOperands {
    std::vector<Operand> operands;
    results::SiteProfile place;
  };
  std::map<SiteKey, SiteOperands> operands;
  // Patterns of a kernel's first launch in a named range, by range and kernel.
  using Sites = std::map<std::pair<std::string, std::uint32_t>, SitePatterns>;  // function, PTX line
  std::map<std::pair<std::string, std::string>, Sites> ranges;

  // Entry for the patterns of this launch in its range; null: none is kept.
  Sites* in_range(const events::Launch& launch) {
    if (launch.range.empty() || ranges.size() >= results::Collector::kMostRangeKernels) return nullptr;
    const auto [it, fresh] = ranges.try_emplace({std::string(launch.range), launch.facts->name});
    return fresh ? &it->second : nullptr;
  }
  void put(results::Profile& profile, const std::vector<results::SiteProfile>& sites, results::SiteProfile& to,
           const SitePatterns& from) const {
    for (const PatternCount& p : from.patterns)
      to.patterns.push_back(pattern_of(profile, p, from.type, from.bytes, rules, sites));
    to.patterns_other = from.other;
    to.worst = from.worst;
    to.best = from.best;
  }

  std::uint64_t row_bytes() const { return std::uint64_t{rules.banks.banks} * rules.banks.bank_bytes; }

  WorkerTables& tables_of(unsigned worker) {
    std::unique_ptr<WorkerTables>& tables = element(workers, worker);
    if (!tables) tables = std::make_unique<WorkerTables>();
    return *tables;
  }

  void place(PatternCount& p) {
    p.base_offset = p.base;
    if (p.key.space != StateSpace::global && p.key.space != StateSpace::constant) return;
    const auto found = watched.find_allocation(p.base);
    if (!found) return;
    p.allocation = found;
    p.base_offset = p.base - found->first;
  }
};

AccessPatterns::AccessPatterns(const Watched& watched) : impl_(std::make_unique<Impl>()) {
  impl_->watched = watched;
  impl_->rules = watched.model->rules;
}
AccessPatterns::~AccessPatterns() = default;

events::Wants AccessPatterns::wants() const {
  events::Wants w;
  w.accesses = w.tensor_copies = w.blocks_ended = true;
  return w;
}

events::Wants AccessPatterns::wants_of(const events::Launch& launch) {
  events::Wants w = wants();
  const auto& sites = launch.facts->sites;
  w.tensor_copies = w.blocks_ended =
      std::any_of(sites.begin(), sites.end(), [](const events::Site& s) { return s.kind == SiteKind::bulk_copy; });
  return w;
}

void AccessPatterns::on_tensor_copy(const events::TensorCopyEvent& copy, unsigned worker) {
  if (copy.operation == events::TensorCopyEvent::Operation::load) impl_->tables_of(worker).tiles.begin_copy(copy);
}

void AccessPatterns::on_block_end(const events::BlockEvent& block, unsigned worker) {
  impl_->tables_of(worker).tiles.end_block(*block.launch, block.block);
}

void AccessPatterns::on_access(const events::Access& a, unsigned worker) {
  if (a.mask == 0) return;
  WorkerTables* const tables = &impl_->tables_of(worker);
  std::optional<Tile> tile;
  if (a.space == StateSpace::shared) {
    if (Operands::is_operand(a)) tables->operands.add(a, tables->tiles);
    tile = tables->tiles.tile_of(a);
    if (a.type != AccessType::load) tables->tiles.write(a);
  }
  // Bulk copies and calls are ranges of one lane and have no pattern. The cost of parameters is not modelled.
  if (a.space == StateSpace::param || a.path == events::AccessPath::bulk_copy ||
      a.path == events::AccessPath::tensor_copy || a.path == events::AccessPath::call)
    return;
  const events::KernelFacts& facts = *a.launch->facts;
  if (tables->sites.size() < facts.sites.size()) tables->sites.resize(facts.sites.size());
  Table& table = tables->sites[a.site];
  const events::Site& site = facts.sites[a.site];
  table.type = events::access_type(site);
  table.bytes = a.space == StateSpace::texture ? a.bytes : site.bytes();
  PatternCount p;
  p.count = 1;
  p.key.mask = a.mask;
  p.key.space = a.space;
  p.base = ~0ull;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) p.base = std::min(p.base, a.addresses[std::countr_zero(m)]);
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    p.key.offsets[lane] = static_cast<std::int64_t>(a.addresses[lane] - p.base);
  }
  constexpr std::uint64_t kLines = 256;
  p.key.alignment = static_cast<std::uint32_t>(p.base % (a.space == StateSpace::shared ? impl_->row_bytes() : kLines));
  p.block = a.block;
  const Dim3& grid = a.launch->grid;
  p.block_index = a.block.x + std::uint64_t{grid.x} * (a.block.y + std::uint64_t{grid.y} * a.block.z);
  p.warp = a.warp;
  p.tile = std::move(tile);
  const std::uint64_t hash = p.key.hash();
  if (const auto it = table.patterns.find(hash); it != table.patterns.end()) {
    ++it->second.count;
    table.add_example(it->second, p);
    return;
  }
  // cp.async raises two events: a load from global memory and a store to shared memory.
  const bool copies = a.path == events::AccessPath::async_copy;
  p.cost = cost_of(impl_->rules, p.key,
                   {a.space, copies ? a.type : table.type, static_cast<std::uint8_t>(table.bytes), site.shared_atomic});
  table.add(hash, p);
}

void AccessPatterns::on_launch_end(const events::Launch& launch, const events::LaunchCounts&) {
  const events::KernelFacts& facts = *launch.facts;
  Impl::Sites* const range = impl_->in_range(launch);
  const std::size_t end = std::min<std::size_t>(std::size_t{launch.first_worker} + launch.workers, kMostWorkers);
  for (std::size_t w = launch.first_worker; w < end; ++w) {
    WorkerTables* const tables = impl_->workers[w].get();
    if (!tables) continue;
    for (auto& [number, operands] : tables->operands.by_site) {
      const events::Site& site = facts.sites[number];
      Impl::SiteOperands& to = impl_->operands[{facts.name, site.function, site.ptx_line}];
      to.place = place_of_site(facts, site, "matrix");
      for (Operand& o : operands) {
        o.block_index += launch.id << 40;
        Operands::add(to.operands, o);
      }
    }
    tables->operands.by_site.clear();
    tables->tiles.clear();
  }
  for (std::size_t s = 0; s < facts.sites.size(); ++s) {
    Table sum;
    for (std::size_t w = launch.first_worker; w < end; ++w)
      if (WorkerTables* tables = impl_->workers[w].get(); tables && s < tables->sites.size()) {
        sum.add(tables->sites[s]);
        tables->sites[s] = Table{};
      }
    if (sum.patterns.empty()) continue;
    // Fixed order, so that it does not depend on the hash table.
    std::vector<PatternCount*> order;
    for (auto& [hash, p] : sum.patterns) order.push_back(&p);
    for (std::optional<PatternCount>* p : {&sum.worst, &sum.best})
      if (*p) order.push_back(&**p);
    std::sort(order.begin(), order.end(), [](const PatternCount* a, const PatternCount* b) {
      return std::tie(a->block_index, a->warp, a->base) < std::tie(b->block_index, b->warp, b->base);
    });
    for (PatternCount* p : order) {
      impl_->place(*p);
      p->block_index += launch.id << 40;  // so the example of the first launch stays
    }
    const events::Site& site = facts.sites[s];
    if (range != nullptr) (*range)[{site.function, site.ptx_line}] = listed(sum, kListedOfRange);
    impl_->sites[{facts.name, site.function, site.ptx_line}].add(sum);
  }
}

std::map<AccessPatterns::SiteKey, SitePatterns> AccessPatterns::result() const {
  std::map<SiteKey, SitePatterns> out;
  for (const auto& [key, table] : impl_->sites) out[key] = listed(table, kListed);
  return out;
}

void AccessPatterns::contribute(results::Profile& profile) const {
  const auto sites = result();
  for (results::KernelProfile& k : profile.kernels) {
    if (k.device != impl_->watched.device) continue;
    for (results::SiteProfile& s : k.sites) {
      const auto found = sites.find({k.mangled_name, s.function, s.ptx_line});
      if (found != sites.end()) impl_->put(profile, k.sites, s, found->second);
    }
    for (const auto& [key, site] : impl_->operands)
      if (std::get<0>(key) == k.mangled_name) put_operands(k, site.place, site.operands);
  }
  for (results::RangeProfile& r : profile.ranges)
    for (results::RangeKernel& k : r.kernels) {
      const auto of_range = impl_->ranges.find({r.range, k.mangled_name});
      if (of_range == impl_->ranges.end()) continue;
      for (results::SiteProfile& s : k.sites) {
        const auto found = of_range->second.find({s.function, s.ptx_line});
        if (found != of_range->second.end() && s.patterns.empty()) impl_->put(profile, k.sites, s, found->second);
      }
    }
}

std::unique_ptr<ProfileObserver> make_access_patterns(const Watched& watched) {
  return std::make_unique<AccessPatterns>(watched);
}

}  // namespace warpgrind::observers
