// Observer of tensor copies: which box of which tensor each instruction moves, where the box lies in shared memory, and
// what of it lies outside of the tensor.
#include "results/tensor_copies.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/element.h"
#include "events/blocks.h"
#include "gpu/tensor_box.h"
#include "observers/profile_observer.h"

namespace warpgrind::observers {
namespace {

constexpr std::uint64_t kPattern = 1024;  // bytes of shared memory after which each swizzle repeats
constexpr std::size_t kKeptKinds =
    1024;  // kinds of a site, those with the smallest hashes: AccessPatterns has the reason
constexpr std::size_t kListedKinds = 8;

// Copies that look alike, with an example from the lowest block and there from the lowest warp.
struct Kind {
  std::uint64_t count = 0;
  events::TensorCopyEvent::Operation operation{};
  TensorMap map;
  TensorCopy copy;
  std::uint64_t shared = 0;
  std::uint32_t blocks = 0;
  std::array<std::int32_t, kMaxTensorRank> lowest{}, highest{};
  std::uint64_t block_index = 0;
  Dim3 block;
  std::uint32_t warp = 0;

  void add(const Kind& other) {
    for (unsigned d = 0; d < kMaxTensorRank; ++d) {
      lowest[d] = std::min(lowest[d], other.lowest[d]);
      highest[d] = std::max(highest[d], other.highest[d]);
    }
    const std::uint64_t all = count + other.count;
    if (std::tie(other.block_index, other.warp) < std::tie(block_index, warp)) {
      const auto low = lowest, high = highest;
      *this = other;
      lowest = low;
      highest = high;
    }
    count = all;
  }
};

// Kinds of one site by hash.
struct Kinds {
  std::map<std::uint64_t, Kind> kept;
  std::uint64_t other = 0;

  void add(std::uint64_t hash, const Kind& kind) {
    const auto [it, fresh] = kept.try_emplace(hash, kind);
    if (!fresh) return it->second.add(kind);
    if (kept.size() <= kKeptKinds) return;
    const auto last = std::prev(kept.end());
    other += last->second.count;
    kept.erase(last);
  }
  void add(const Kinds& from) {
    for (const auto& [hash, kind] : from.kept) add(hash, kind);
    other += from.other;
  }
};

class KindHash {
 public:
  void add(std::uint64_t x) {
    value_ ^= x;
    value_ *= 0xff51afd7ed558ccdull;
    value_ ^= value_ >> 32;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0x9e3779b97f4a7c15ull;
};

// Bit 0: some of the box lies before the tensor's first element of this dimension; bit 1: some behind its last.
unsigned outside(const TensorMap& map, std::int64_t first, std::int64_t last, unsigned d) {
  return (first < 0 ? 1u : 0u) | (last > map.sizes[d] ? 2u : 0u);
}

// Kinds differ in the map, in the sides where the box is outside, or in its place in the swizzle's pattern.
std::uint64_t hash_of(const Kind& k) {
  KindHash hash;
  const std::array<std::byte, kTensorMapBytes> bytes = tensor_map_bytes(k.map);
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    hash.add(word);
  }
  hash.add(static_cast<std::uint64_t>(k.operation));
  hash.add(static_cast<std::uint64_t>(k.copy.mode));
  hash.add(k.shared % kPattern);
  hash.add(static_cast<std::uint64_t>(std::popcount(k.blocks)));
  for (unsigned d = 0; d < k.map.rank; ++d) {
    const std::int64_t first = k.copy.coordinates[d];
    if (k.copy.mode == TensorMode::tile || d == 0)
      hash.add(outside(k.map, first, first + std::max<int>(k.map.box[d], 1) - 1, d));
  }
  if (k.copy.mode == TensorMode::rows)
    for (unsigned i = 1; i < kMaxTensorRank; ++i)
      hash.add(outside(k.map, k.copy.coordinates[i], k.copy.coordinates[i], 1));
  for (const std::uint16_t offset : k.copy.offsets) hash.add(offset);
  return hash.value();
}

const char* name_of(events::TensorCopyEvent::Operation operation) {
  using Operation = events::TensorCopyEvent::Operation;
  switch (operation) {
    case Operation::load:
      return "load";
    case Operation::store:
      return "store";
    case Operation::reduce:
      return "reduce";
    case Operation::prefetch:
      return "prefetch";
  }
  return "";
}

class TensorCopies final : public ProfileObserver {
 public:
  explicit TensorCopies(const Watched& watched) : watched_(watched) {}
  events::Wants wants() const override {
    events::Wants w;
    w.tensor_copies = true;
    return w;
  }
  void on_tensor_copy(const events::TensorCopyEvent& e, unsigned worker) override;
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts& counts) override;
  void contribute(results::Profile& profile) const override;

 private:
  using SiteKey = std::tuple<std::string, std::string, std::uint32_t>;  // kernel, function, PTX line
  struct SiteKinds {
    Kinds kinds;
    results::SiteProfile place;
  };
  results::TensorCopyProfile listed(results::Profile& profile, const Kind& k) const;
  void put(results::Profile& profile, const Kinds& kinds, results::SiteProfile& to) const;

  static constexpr unsigned kMostWorkers = 16384;  // over all concurrent launches
  Watched watched_;
  std::vector<std::unique_ptr<std::unordered_map<std::uint32_t, Kinds>>> workers_{kMostWorkers};  // by site
  std::map<SiteKey, SiteKinds> sites_;
  std::map<std::uint64_t, AllocationRange> tensors_;  // by address of the tensor
};

void TensorCopies::on_tensor_copy(const events::TensorCopyEvent& e, unsigned worker) {
  auto& sites = element(workers_, worker);
  if (!sites) sites = std::make_unique<std::unordered_map<std::uint32_t, Kinds>>();
  Kind k;
  k.count = 1;
  k.operation = e.operation;
  k.map = *e.map;
  k.copy = *e.copy;
  k.shared = events::offset_in_owner(e.shared);
  k.blocks = e.blocks;
  k.lowest = k.highest = e.copy->coordinates;
  const Dim3& grid = e.launch->grid;
  k.block_index = e.block.x + std::uint64_t{grid.x} * (e.block.y + std::uint64_t{grid.y} * e.block.z);
  k.block = e.block;
  k.warp = e.warp;
  (*sites)[e.site].add(hash_of(k), k);
}

void TensorCopies::on_launch_end(const events::Launch& launch, const events::LaunchCounts&) {
  const std::size_t end = std::min<std::size_t>(std::size_t{launch.first_worker} + launch.workers, kMostWorkers);
  for (std::size_t w = launch.first_worker; w < end; ++w) {
    if (!workers_[w]) continue;
    for (auto& [number, kinds] : *workers_[w]) {
      const events::Site& site = launch.facts->sites[number];
      for (auto& [hash, k] : kinds.kept) {
        k.block_index += launch.id << 40;  // so the example of the first launch stays
        // Allocations may be freed before the profile is made.
        if (const auto found = watched_.find_allocation(k.map.address)) tensors_.try_emplace(k.map.address, *found);
      }
      SiteKinds& to = sites_[{launch.facts->name, site.function, site.ptx_line}];
      to.kinds.add(kinds);
      to.place = place_of_site(*launch.facts, site, "bulk_copy");
    }
    workers_[w].reset();
  }
}

results::TensorCopyProfile TensorCopies::listed(results::Profile& profile, const Kind& k) const {
  results::TensorCopyProfile out = results::profile_of(k.map, k.copy);
  out.count = k.count;
  out.operation = name_of(k.operation);
  for (unsigned d = 0; d < out.dimensions.size(); ++d) {
    out.dimensions[d].lowest = k.lowest[d];
    out.dimensions[d].highest = k.highest[d];
  }
  if (k.copy.mode == TensorMode::rows) {
    out.dimensions[1].lowest = *std::min_element(k.lowest.begin() + 1, k.lowest.end());
    out.dimensions[1].highest = *std::max_element(k.highest.begin() + 1, k.highest.end());
  }
  out.tensor.offset = k.map.address;
  if (const auto found = tensors_.find(k.map.address); found != tensors_.end()) {
    out.tensor.allocation = allocation_id(profile, found->second);
    out.tensor.offset -= found->second.first;
  }
  out.shared = k.shared;
  out.blocks = static_cast<std::uint32_t>(std::popcount(k.blocks));
  out.block = k.block;
  out.warp = k.warp;
  return out;
}

void TensorCopies::put(results::Profile& profile, const Kinds& kinds, results::SiteProfile& to) const {
  std::vector<results::TensorCopyProfile> all;
  std::vector<const Kind*> order;
  for (const auto& [hash, k] : kinds.kept) order.push_back(&k);
  std::sort(order.begin(), order.end(), [](const Kind* a, const Kind* b) {
    return std::tie(b->count, a->block_index, a->warp, a->copy.coordinates, a->map.address) <
           std::tie(a->count, b->block_index, b->warp, b->copy.coordinates, b->map.address);
  });
  for (const Kind* k : order) all.push_back(listed(profile, *k));
  const auto outside = [](const auto& a, const auto& b) { return a.bytes - a.inside < b.bytes - b.inside; };
  const auto most = std::max_element(all.begin(), all.end(), outside) - all.begin();
  to.copies_other = kinds.other;
  for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(all.size()); ++i)
    if (to.copies.size() < kListedKinds - 1 || i == most)
      to.copies.push_back(std::move(all[static_cast<std::size_t>(i)]));
    else
      to.copies_other += all[static_cast<std::size_t>(i)].count;
}

void TensorCopies::contribute(results::Profile& profile) const {
  for (results::KernelProfile& k : profile.kernels) {
    if (k.device != watched_.device) continue;
    for (const auto& [key, site] : sites_)
      if (std::get<0>(key) == k.mangled_name) put(profile, site.kinds, site_of(k, site.place));
  }
}

}  // namespace

std::unique_ptr<ProfileObserver> make_tensor_copies(const Watched& watched) {
  return std::make_unique<TensorCopies>(watched);
}

}  // namespace warpgrind::observers
