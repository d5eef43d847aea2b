// Sets of touched sectors, and their extrapolation to a whole grid.
#include "counters/footprint.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/as_double.h"
#include "base/assert.h"

namespace warpgrind::counters {

namespace {

// Sorted and disjoint.
[[maybe_unused]] bool are_merged(const Stretches& s) {
  for (std::size_t k = 0; k < s.size(); ++k)
    if (s[k].begin > s[k].end || (k > 0 && s[k].begin <= s[k - 1].end)) return false;
  return true;
}

}  // namespace

namespace {

// Appends the runs of ones of a word; bit 0 is sector `at`. Words must come in order. The first `before` stretches
// stay.
void append_runs(Stretches& out, std::size_t before, std::uint64_t bits, std::uint64_t at) {
  while (bits != 0) {
    const auto skip = static_cast<unsigned>(std::countr_zero(bits));
    bits >>= skip;
    at += skip;
    const auto run = static_cast<unsigned>(std::countr_one(bits));
    if (out.size() > before && out.back().end == at)
      out.back().end += run;
    else
      out.push_back({at, at + run});
    at += run;
    bits = run == 64 ? 0 : bits >> run;
  }
}

// Calls put(word, bits) for the words of 64 sectors that a stretch touches.
template <class Put>
void each_word(std::uint64_t begin, std::uint64_t end, Put&& put) {
  while (begin < end) {
    const std::uint64_t stop = std::min(end, (begin | 63) + 1), n = stop - begin;
    put(begin >> 6, n == 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << n) - 1) << (begin & 63));
    begin = stop;
  }
}

// Merges through a bitmap of all sectors from the first to the last. Returns false if these are too many. Of 10,000
// stretches it takes a tenth of the time of a sort.
bool merge_in_bitmap(std::size_t from, Stretches& s) {
  constexpr std::uint64_t kWordsOfStretch = 16, kMostWords = std::uint64_t{1} << 20;
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  for (std::size_t k = from; k < s.size(); ++k)
    if (s[k].begin < s[k].end) low = std::min(low, s[k].begin >> 6), high = std::max(high, (s[k].end - 1) >> 6);
  if (low > high || high - low >= std::min<std::uint64_t>(kMostWords, kWordsOfStretch * (s.size() - from)))
    return false;
  const std::size_t count = high - low + 1;
  std::vector<std::uint64_t, RecyclingAllocator<std::uint64_t>> words(count);
  for (std::size_t k = from; k < s.size(); ++k)
    each_word(s[k].begin, s[k].end, [&](std::uint64_t word, std::uint64_t bits) { words[word - low] |= bits; });
  s.resize(from);
  for (std::size_t w = 0; w < count; ++w) append_runs(s, from, words[w], (low + w) << 6);
  return true;
}

}  // namespace

void merge_from(std::size_t first, Stretches& s) {
  const auto by_begin = [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; };
  const auto begin = s.begin() + static_cast<std::ptrdiff_t>(first);
  if (!std::is_sorted(begin, s.end(), by_begin)) {
    constexpr std::size_t kSome = 64, kMany = 1024;
    const std::size_t count = s.size() - first;
    if (count > kSome && merge_in_bitmap(first, s)) return;
    std::uint64_t sectors = 0;
    for (auto x = begin; x != s.end(); ++x) sectors += x->end - x->begin;
    if (count > kMany && sectors < 256 * count) {  // sorting bit pages is faster
      SectorSet set;
      for (auto x = begin; x != s.end(); ++x) set.add(x->begin, x->end);
      s.resize(first);
      return set.append_to(s);
    }
    std::sort(begin, s.end(), by_begin);
  }
  std::size_t n = first;
  for (std::size_t k = first; k < s.size(); ++k) {
    const Stretch x = s[k];
    if (n != first && x.begin <= s[n - 1].end)
      s[n - 1].end = std::max(s[n - 1].end, x.end);
    else
      s[n++] = x;
  }
  s.resize(n);
}

Stretches merged(Stretches s) {
  merge_from(0, s);
  WG_DEBUG_ASSERT(are_merged(s));
  return s;
}

Stretches united(const Stretches& a, const Stretches& b) {
  WG_DEBUG_ASSERT(are_merged(a) && are_merged(b));
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  Stretches all(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), all.begin(),
             [](const Stretch& x, const Stretch& y) { return x.begin < y.begin; });
  return merged(std::move(all));
}

std::uint64_t sectors_in(const Stretches& stretches) {
  std::uint64_t n = 0;
  for (const Stretch& s : stretches) n += s.end - s.begin;
  return n;
}

events::DistinctStretches distinct(const Stretches& stretches) {
  WG_DEBUG_ASSERT(are_merged(stretches));
  std::uint64_t next[5] = {}, n[5] = {};  // by size; next: the first stretch not counted yet
  for (const Stretch& s : stretches)
    for (unsigned g = 0; g < 5; ++g) {  // stretches are in order: `end` does not decrease
      const std::uint64_t first = std::max(next[g], s.begin >> g), end = ((s.end - 1) >> g) + 1;
      n[g] += end - first;
      next[g] = end;
    }
  return {as_double(n[0]), as_double(n[1]), as_double(n[2]), as_double(n[3]), as_double(n[4])};
}

std::vector<events::TouchedSpan> joined(const Stretches& stretches, std::size_t most) {
  constexpr std::uint64_t kSector = 32, kFirstGap = 128, kLastGap = std::uint64_t{1} << 40;  // sectors
  for (std::uint64_t gap = kFirstGap; gap <= kLastGap; gap *= 4) {
    std::vector<events::TouchedSpan> out;
    for (const Stretch& s : stretches) {
      const auto bytes = static_cast<double>((s.end - s.begin) * kSector);
      if (!out.empty() && s.begin * kSector <= out.back().end + gap * kSector) {
        out.back().end = s.end * kSector;
        out.back().bytes += bytes;
      } else {
        if (out.size() == most && gap < kLastGap) break;
        out.push_back({s.begin * kSector, s.end * kSector, bytes});
      }
    }
    if (out.empty() || out.back().end == stretches.back().end * kSector) return out;
  }
  return {};
}

BitPages::Page& BitPages::page(std::uint64_t number) {
  const std::size_t last = pages_.size() - 1;
  WG_DEBUG_ASSERT(std::has_single_bit(pages_.size()) && used_.size() < pages_.size() && number != kNone);
  std::size_t at = number * 0x9e3779b97f4a7c15u >> 20 & last;
  while (pages_[at].number != number) {
    if (pages_[at].number == kNone) {
      used_.push_back(static_cast<std::uint32_t>(at));
      pages_[at].number = number;
      break;
    }
    at = (at + 1) & last;
  }
  return pages_[at];
}

std::uint64_t& BitPages::bits(std::uint64_t number) {
  if (2 * used_.size() >= pages_.size()) {
    std::vector<Page> old(pages_.empty() ? 64 : 4 * pages_.size());
    old.swap(pages_);
    std::vector<std::uint32_t> of_old;
    of_old.swap(used_);
    used_.reserve(pages_.size() / 2);
    for (const std::uint32_t k : of_old) page(old[k].number).bits = old[k].bits;
  }
  return page(number).bits;
}

void BitPages::clear() {
  constexpr std::size_t kMostKept = 1024;  // entries
  if (pages_.size() > kMostKept)
    pages_ = {};
  else
    for (const std::uint32_t k : used_) pages_[k] = {};
  used_.clear();
}

void SectorSet::add_new(std::uint64_t begin, std::uint64_t end) {
  WG_DEBUG_ASSERT(begin <= end);
  if (!pages_.empty()) return add_to_pages(begin, end);
  for (std::size_t k = count_; k-- != 0;) {
    Stretch& s = few_[k];
    if (begin > s.end || end < s.begin) continue;
    s.begin = std::min(s.begin, begin);
    s.end = std::max(s.end, end);
    return;
  }
  if (count_ < kFew) {
    few_[count_++] = {begin, end};
    return;
  }
  for (const Stretch& s : few_) add_to_pages(s.begin, s.end);
  count_ = 0;
  add_to_pages(begin, end);
}

void SectorSet::add_to_pages(std::uint64_t begin, std::uint64_t end) {
  each_word(begin, end, [&](std::uint64_t word, std::uint64_t bits) { pages_.bits(word) |= bits; });
}

void BitPages::append_sorted_to(std::vector<Page>& out) const {
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  out.reserve(out.size() + used_.size());
  for (const std::uint32_t k : used_) out.push_back(pages_[k]);
  const auto by_number = [](const Page& a, const Page& b) { return a.number < b.number; };
  if (!std::is_sorted(out.begin() + first, out.end(), by_number)) std::sort(out.begin() + first, out.end(), by_number);
}

void SectorSet::append_to(Stretches& out) const {
  const std::size_t before = out.size();
  if (pages_.empty()) {
    out.insert(out.end(), few_.begin(), few_.begin() + static_cast<std::ptrdiff_t>(count_));
    return merge_from(before, out);
  }
  std::vector<BitPages::Page> sorted;
  pages_.append_sorted_to(sorted);
  for (const BitPages::Page& p : sorted) append_runs(out, before, p.bits, p.number << 6);
}

namespace {

std::uint64_t shape_hash(const Stretches& s) {
  std::uint64_t h = s.size();
  for (const Stretch& x : s) {
    h = (h ^ (x.begin - s.front().begin)) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 31 ^ (x.end - x.begin)) * 0x9e3779b97f4a7c15u;
  }
  return h;
}

// One block's equation: dot(steps, of) = distance. of: its index minus that of the first block. distance: sectors
// between their addresses.
struct Equation {
  double of[3];
  double distance;
};

// Solves for the steps by Gaussian elimination, then checks every equation. tolerance: in sectors; 0: whole steps.
bool solve(std::vector<Equation> equations, const Dim3& grid, double tolerance, double steps[3]) {
  const std::uint64_t extent[3] = {grid.x, grid.y, grid.z};
  const std::vector<Equation> all = equations;
  unsigned row = 0;
  unsigned pivot_of[3] = {~0u, ~0u, ~0u};
  for (unsigned k = 0; k < 3; ++k) {
    if (extent[k] == 1) continue;
    unsigned best = row;
    for (unsigned i = row; i < equations.size(); ++i)
      if (std::fabs(equations[i].of[k]) > std::fabs(equations[best].of[k])) best = i;
    if (best >= equations.size() || std::fabs(equations[best].of[k]) < 1e-9) return false;
    std::swap(equations[row], equations[best]);
    for (unsigned i = 0; i < equations.size(); ++i) {
      if (i == row) continue;
      const double f = equations[i].of[k] / equations[row].of[k];
      for (unsigned m = 0; m < 3; ++m) equations[i].of[m] -= f * equations[row].of[m];
      equations[i].distance -= f * equations[row].distance;
    }
    pivot_of[k] = row++;
  }
  for (unsigned k = 0; k < 3; ++k) {
    steps[k] = pivot_of[k] == ~0u ? 0 : equations[pivot_of[k]].distance / equations[pivot_of[k]].of[k];
    if (tolerance == 0) steps[k] = std::round(steps[k]);
  }
  return std::all_of(all.begin(), all.end(), [&](const Equation& e) {
    double sum = 0;
    for (unsigned k = 0; k < 3; ++k) sum += e.of[k] * steps[k];
    return std::fabs(sum - e.distance) <= tolerance;
  });
}

std::optional<Moved> moved_from(const std::vector<const BlockStretches*>& same, const Dim3& grid, double tolerance) {
  WG_ASSERT(!same.empty());
  const BlockStretches& first = *same.front();
  std::vector<Equation> equations;
  for (const BlockStretches* b : same) {
    const auto apart = [](std::uint64_t a, std::uint64_t c) {
      return static_cast<double>(static_cast<std::int64_t>(a - c));
    };
    equations.push_back(
        {{apart(b->index.x, first.index.x), apart(b->index.y, first.index.y), apart(b->index.z, first.index.z)},
         apart(b->stretches.front().begin, first.stretches.front().begin)});
  }
  Moved out;
  if (!solve(equations, grid, tolerance, out.step)) return std::nullopt;
  const auto back = static_cast<std::int64_t>(
      std::floor(out.step[0] * first.index.x + out.step[1] * first.index.y + out.step[2] * first.index.z));
  // Addresses of a texture begin at 0, where its first blocks may be clipped. Their shape would begin below 0.
  if (back > 0 && first.stretches.front().begin < static_cast<std::uint64_t>(back)) return std::nullopt;
  out.shape = first.stretches;
  for (Stretch& s : out.shape) {
    s.begin -= static_cast<std::uint64_t>(back);
    s.end -= static_cast<std::uint64_t>(back);
  }
  return out;
}

// Blocks with the most frequent key; empty if they are less than half of all.
template <class Key>
std::vector<const BlockStretches*> most_alike(const std::vector<BlockStretches>& blocks, Key&& key,
                                              std::vector<const BlockStretches*>* others) {
  std::map<std::uint64_t, std::vector<const BlockStretches*>> by_key;
  for (const BlockStretches& b : blocks)
    if (!b.stretches.empty()) by_key[key(b.stretches)].push_back(&b);
  std::vector<const BlockStretches*>* most = nullptr;
  for (auto& [k, same] : by_key)
    if (most == nullptr || same.size() > most->size()) most = &same;
  if (most == nullptr || 2 * most->size() < blocks.size()) return {};
  others->clear();
  for (const auto& [k, same] : by_key)
    if (&same != most) others->insert(others->end(), same.begin(), same.end());
  return std::move(*most);
}

}  // namespace

std::optional<Moved> find_steps(const std::vector<BlockStretches>& blocks, const Dim3& grid) {
  std::vector<const BlockStretches*> others;
  std::optional<Moved> out;
  if (const auto same = most_alike(blocks, shape_hash, &others); !same.empty()) out = moved_from(same, grid, 0);
  if (!out) {  // compare roughly: the number of stretches and the total span
    const auto rough = [](const Stretches& s) { return s.size() << 40 | (s.back().end - s.front().begin + 1) / 3; };
    constexpr std::size_t kEnough = 4;  // more blocks than this do not agree by chance
    const auto same = most_alike(blocks, rough, &others);
    if (same.size() > kEnough) out = moved_from(same, grid, 1);
  }
  if (out) out->others = std::move(others);
  return out;
}

std::optional<Stretches> moved_over(const Moved& moved, const Dim3& grid, std::uint64_t blocks,
                                    std::pair<std::uint64_t, std::uint64_t> range) {
  struct Way {
    double step;
    std::uint64_t times;
  };
  const std::uint64_t nx = std::min<std::uint64_t>(grid.x, blocks), rows = (blocks + grid.x - 1) / grid.x;
  const std::uint64_t ny = std::min<std::uint64_t>(grid.y, rows),
                      nz = std::min<std::uint64_t>(grid.z, (rows + grid.y - 1) / grid.y);
  Way ways[3] = {{moved.step[0], nx}, {moved.step[1], ny}, {moved.step[2], nz}};
  // Short steps first: they mostly merge into one stretch, which the long steps then repeat.
  std::sort(std::begin(ways), std::end(ways),
            [](const Way& a, const Way& b) { return std::fabs(a.step) < std::fabs(b.step); });
  Stretches now = moved.shape;
  for (const Way& w : ways) {
    if (w.step == 0 || w.times <= 1) continue;
    const double step = std::fabs(w.step);
    const auto at = [&](std::uint64_t k) {
      return static_cast<std::uint64_t>(std::floor(step * static_cast<double>(k)));
    };
    Stretches next;
    for (const Stretch& s : now) {
      if (w.step < 0 && s.begin < at(w.times - 1)) return std::nullopt;  // before the first address
      const std::uint64_t first = w.step > 0 ? s.begin : s.begin - at(w.times - 1), length = s.end - s.begin;
      if (static_cast<double>(length) >= step) {
        next.push_back({first, first + at(w.times - 1) + length});
        continue;
      }
      if (next.size() + w.times > 16 * kMostStretches) return std::nullopt;
      for (std::uint64_t k = 0; k < w.times; ++k) next.push_back({first + at(k), first + at(k) + length});
    }
    now = merged(std::move(next));
    if (now.size() > kMostStretches) return std::nullopt;
  }
  if (range.second != 0) {
    const std::uint64_t low = range.first / 32, high = (range.second + 31) / 32;
    Stretches cut;
    for (const Stretch& s : now)
      if (s.begin < high && s.end > low) cut.push_back({std::max(s.begin, low), std::min(s.end, high)});
    now = std::move(cut);
  }
  return now;
}

double extrapolated(double one, double together, double seen, double blocks, double most) {
  if (one <= 0 || seen <= 0) return 0;
  if (blocks <= seen) return together;
  // Solves together = region * (1 - (1 - one / region)^seen) for the region. The right side grows with the region, so
  // bisection works (on a logarithmic scale).
  const auto covered = [&](double region, double n) {
    return region * -std::expm1(n * std::log1p(-std::min(1.0, one / region)));
  };
  const double linear = one * seen;
  double region = 1e30;
  if (together < 0.999 * linear) {
    double low = std::log(std::max(one, together) * (1 + 1e-12)), high = std::log(1e18);
    for (int i = 0; i < 80; ++i) {
      const double middle = (low + high) / 2;
      (covered(std::exp(middle), seen) < together ? low : high) = middle;
    }
    region = std::exp(high);
  }
  const double all = region > 1e17 ? one * blocks : covered(region, blocks);
  return std::max(together, std::min(most, all));
}

}  // namespace warpgrind::counters
