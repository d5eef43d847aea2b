// List scheduling of a basic block, and in-order issue of the result.
#include "timing/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "sass/places.h"

namespace warpgrind::timing {
namespace {

using sass::AsyncStep;
using sass::Instruction;
using sass::may_overlap;
using sass::Pipe;

// Latency that ptxas assumes between a load and its first reader. Fitted to the lab's rows of an H200 (median error
// with 100: 10.9 %, with 200 and 300: 10.3 %). Its machine code of matrix products shows the same distance.
constexpr double kExpectedLoad = 200;

// Registers that loads always get, where the model finds more values alive than a thread has registers for. It was
// chosen by ptxas's code: over 305 blocks of 190 public programs, the registers of loads in flight differ from it by
// 0.30 in the mean of the logarithms. With 16 registers for all loads, whatever else is alive, it was 0.41.
constexpr double kLeastFree = 12;

// Whether a predicate is available to it as soon as a number: comparisons and selections. A chain of FSETP, FSEL and
// FMUL takes 15.7 cycles on an H200, and one of ISETP and a guarded IADD 19.
bool takes_soon(const Instruction& i) {
  return (i.sets_predicate && !i.votes) || i.selects;
}

bool waits_for_data(const Instruction& i) {
  return i.load && (i.pipe == Pipe::global || i.pipe == Pipe::local || i.pipe == Pipe::texture);
}

// Number of the memory whose accesses keep their order (global, shared, local); nullopt: not a memory access.
std::optional<unsigned> memory_of(const Instruction& i) {
  switch (i.pipe) {
    case Pipe::global:
    case Pipe::atomic_global:
      return 0;
    case Pipe::shared:
    case Pipe::atomic_shared:
      return 1;
    case Pipe::local:
      return 2;
    default:
      return std::nullopt;
  }
}

}  // namespace

Dependences::Dependences(const sass::Block& block, const std::vector<std::uint8_t>& register_words)
    : block_(&block),
      waiters_(block.instructions.size()),
      waits_(block.instructions.size()),
      inputs_(block.instructions.size()),
      values_(block.instructions.size()),
      needs_(block.instructions.size()) {
  registers();
  find_values(register_words);
  memory();
  control();
}

void Dependences::link(std::uint32_t from, std::uint32_t to, bool result) {
  WG_ASSERT(from < to && to < waits_.size());
  waiters_[from].push_back({to, result});
  ++waits_[to];
}

// Only true dependences (read after write): ptxas renames registers that are written again.
void Dependences::registers() {
  std::unordered_map<ptx::RegId, std::uint32_t> last;
  for (std::uint32_t n = 0; n < block_->instructions.size(); ++n) {
    const Instruction& i = block_->instructions[n];
    for (const ptx::RegId r : i.reads) {
      const auto writer = last.find(r);
      if (writer == last.end()) {
        inputs_[n].push_back(r);
        continue;
      }
      link(writer->second, n, true);
    }
    for (const ptx::RegId r : i.writes) last[r] = n;
  }
}

void Dependences::find_values(const std::vector<std::uint8_t>& register_words) {
  if (register_words.empty()) return;
  const auto leaves = [&](ptx::RegId r) {
    return std::binary_search(block_->leaving.begin(), block_->leaving.end(), r);
  };
  std::unordered_map<ptx::RegId, std::uint32_t> holder;  // value in each register
  std::unordered_map<ptx::RegId, std::uint32_t> written;
  for (const Instruction& i : block_->instructions)
    for (const ptx::RegId r : i.writes) ++written[r];
  for (std::uint32_t n = 0; n < block_->instructions.size(); ++n) {
    const Instruction& i = block_->instructions[n];
    for (const ptx::RegId r : i.needs) {
      auto value = holder.find(r);
      if (value == holder.end()) {
        if (leaves(r) && !written.contains(r)) continue;  // it stays all the time
        value = holder.emplace(r, static_cast<std::uint32_t>(values_.size())).first;
        values_.push_back({register_words[r]});
      }
      std::vector<std::uint32_t>& needs = needs_[n];
      if (std::find(needs.begin(), needs.end(), value->second) != needs.end()) continue;
      needs.push_back(value->second);
      ++values_[value->second].readers;
    }
    for (const ptx::RegId r : i.writes) {
      values_[n].words += register_words[r];
      holder[r] = n;
    }
  }
  for (const ptx::RegId r : block_->leaving)
    if (const auto value = holder.find(r); value != holder.end()) values_[value->second].leaves = true;
}

// A store stays behind the earlier accesses that may touch its bytes, and a load behind such stores. Nothing passes a
// barrier.
void Dependences::memory() {
  struct Memory {
    std::vector<std::uint32_t> stores, loads, of_constants;  // since the last store to an unknown place
  };
  std::array<Memory, 3> memories;
  std::optional<std::uint32_t> barrier;
  const auto link_all = [&](const std::vector<std::uint32_t>& from, std::uint32_t n) {
    for (const std::uint32_t f : from)
      if (may_overlap(block_->instructions[f], block_->instructions[n])) link(f, n, false);
  };
  for (std::uint32_t n = 0; n < block_->instructions.size(); ++n) {
    const Instruction& i = block_->instructions[n];
    const bool orders =
        i.pipe == Pipe::barrier || i.pipe == Pipe::fence || (i.async != AsyncStep::none && i.async != AsyncStep::copy);
    if (orders)
      for (Memory& m : memories) {
        for (const auto* before : {&m.stores, &m.loads, &m.of_constants})
          for (const std::uint32_t f : *before) link(f, n, false);
        m = {};
      }
    const auto which = memory_of(i);
    if (barrier && (which || orders || i.pipe == Pipe::shuffle)) link(*barrier, n, false);
    if (orders) barrier = n;
    if (!which) continue;
    Memory& m = memories[*which];
    if (i.of_constants) {
      m.of_constants.push_back(n);
      continue;
    }
    link_all(m.stores, n);
    if (!i.store && !i.atomic) {
      m.loads.push_back(n);
      continue;
    }
    link_all(m.loads, n);
    if (i.place.base == sass::kNone) m.stores.clear(), m.loads.clear();
    m.stores.push_back(n);
  }
}

// An instruction that ends the block is issued last. A sequence with a branch to a slow path divides the block: ptxas
// moves nothing past it. A loop of loads from L1 and divisions (eigenvalue of HeCBench) takes 132 cycles a round on an
// H200, and 99 if the loads came before the division of the round before.
void Dependences::control() {
  std::uint32_t first = 0;  // behind the last such sequence
  for (std::uint32_t n = 0; n < block_->instructions.size(); ++n) {
    if (first > 0) link(first - 1, n, false);
    if (!block_->instructions[n].branches || block_->instructions[n].issue <= 0) continue;
    for (std::uint32_t before = first; before < n; ++before) link(before, n, false);
    first = n + 1;
  }
  if (block_->instructions.empty() || !block_->instructions.back().ends) return;
  const auto last = static_cast<std::uint32_t>(block_->instructions.size() - 1);
  for (std::uint32_t n = 0; n < last; ++n) link(n, last, false);
}

namespace {

// Issues the instructions of a block one by one; computes the issue cycles and the availability of results.
class Issue {
 public:
  Issue(const Dependences& d, const Costs& costs, double start, Ready& ready)
      : d_(d), costs_(costs), ready_(ready), now_(start), available_(d.block().instructions.size(), start) {
    for (std::uint32_t n = 0; n < available_.size(); ++n)
      for (const ptx::RegId r : d.inputs(n)) available_[n] = std::max(available_[n], ready.at[r]);
  }

  double now() const { return now_; }
  // First cycle at which the operands and the pipe are available.
  double soonest(std::uint32_t n) const { return std::max(available_[n], busy_[static_cast<std::size_t>(at(n).pipe)]); }
  void wait_until(double cycle) { now_ = std::max(now_, cycle); }

  void run(std::uint32_t n) {
    const Instruction& i = at(n);
    const double issued = now_, done = issued + costs_.latency[n] + passes(n) + later(n);
    busy_[static_cast<std::size_t>(i.pipe)] = issued + costs_.busy[static_cast<std::size_t>(i.pipe)] * i.issue;
    now_ += i.issue;
    if (i.pipe == Pipe::barrier) now_ += costs_.barrier + of_slowest_warp();
    if (i.pipe == Pipe::control && i.ends) now_ += costs_.branch;
    if (i.on_pipe[static_cast<std::size_t>(sass::CountedPipe::tma)] > 0)
      now_ += std::max(0.0, costs_.latency[n] - i.issue);  // it holds its warp
    if (!costs_.held.empty()) now_ += costs_.held[n];
    if (i.async != AsyncStep::none) asynchronous(i, done);
    for (const ptx::RegId r : i.writes) ready_.at[r] = std::max(done, now_);
    for (const Dependences::Link& l : d_.waiters(n)) {
      const bool late = i.sets_predicate && !takes_soon(at(l.to));
      const double there = l.result ? (late ? std::max(done, issued + costs_.predicate) : done) : now_;
      available_[l.to] = std::max(available_[l.to], there);
    }
  }

 private:
  const Instruction& at(std::uint32_t n) const { return d_.block().instructions[n]; }

  // Cycles that a load's passes through L1 add: the warp's loads before it take their passes first.
  double passes(std::uint32_t n) {
    if (costs_.passes.empty() || costs_.passes[n] <= 0) return 0;
    ready_.l1 = std::max(ready_.l1, now_) + costs_.passes[n];
    return ready_.l1 - now_;
  }

  // Loads that DRAM answers take different times. What waits for several of them waits for the slowest.
  double later(std::uint32_t n) {
    if (costs_.spread.empty() || costs_.spread[n] <= 0) return 0;
    note_arrivals();
    double weight = 1;
    for (const Ready::Load& l : ready_.loads) weight += l.weight;
    const double spread = costs_.spread[n], more = spread * std::log2(weight);
    ready_.loads.push_back({now_ + costs_.latency[n] + more, spread, spread / kSpreadOfDram});
    return more;
  }
  void note_arrivals() {
    std::erase_if(ready_.loads, [&](const Ready::Load& l) {
      if (l.at > now_) return false;
      ready_.spread = std::max(ready_.spread, l.spread);
      return true;
    });
  }
  // A barrier waits for the slowest loads of all warps.
  double of_slowest_warp() {
    note_arrivals();
    return std::exchange(ready_.spread, 0) * costs_.doublings;
  }

  // A wait ends all groups but the last ones. Copies that were not committed belong to no group yet.
  void asynchronous(const Instruction& i, double done) {
    std::vector<double>& groups = ready_.groups;
    if (i.async == AsyncStep::copy) ready_.copied = std::max(ready_.copied, done);
    const bool all = i.async == AsyncStep::wait_all;
    if (i.async == AsyncStep::commit || all) groups.push_back(std::exchange(ready_.copied, 0));
    if ((i.async != AsyncStep::wait && !all) || groups.size() <= i.groups_left) return;
    const auto left = groups.end() - i.groups_left;
    now_ = std::max(now_, *std::max_element(groups.begin(), left));
    groups.erase(groups.begin(), left);
  }

  const Dependences& d_;
  const Costs& costs_;
  Ready& ready_;
  double now_;
  std::vector<double> available_;
  std::array<double, sass::kPipes> busy_{};
};

// List scheduling: of the instructions that can be issued, takes the one with the longest path to the block's end.
class Ordering {
 public:
  Ordering(const Dependences& d, const Costs& costs, double words, Ready& none)
      : d_(d),
        costs_(costs),
        n_(static_cast<std::uint32_t>(d.block().instructions.size())),
        words_(words),
        issue_(d, costs, 0, none),
        live_(std::clamp(words - kLeastFree, 0.0, static_cast<double>(d.block().entering_words))) {
    for (std::uint32_t n = 0; n < n_; ++n) {
      waits_.push_back(d.waits(n));
      if (waits_[n] == 0) open_.push_back(n);
    }
    for (const Dependences::Value& v : d.values()) readers_.push_back(v.readers);
    issued_.resize(n_);
    find_priorities();
    find_loads();
  }

  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> order;
    while (!open_.empty()) {
      order.push_back(take());
      issue(order.back());
    }
    WG_ASSERT(order.size() == n_);  // dependences have no cycle
    return order;
  }

 private:
  const Instruction& at(std::uint32_t n) const { return d_.block().instructions[n]; }

  // Priority: length of the longest path to the block's end.
  void find_priorities() {
    priority_.resize(n_);
    for (std::uint32_t n = n_; n-- > 0;) {
      double longest = 0;
      for (const Dependences::Link& l : d_.waiters(n)) longest = std::max(longest, priority_[l.to]);
      priority_[n] = longest + costs_.latency[n];
    }
  }

  void find_loads() {
    feeds_load_.resize(n_);
    serves_.assign(n_, n_);
    std::vector<bool> needs_load(n_);
    for (std::uint32_t n = 0; n < n_; ++n) {
      const bool load = waits_for_data(at(n));
      for (const Dependences::Link& l : d_.waiters(n))
        if (l.result && (load || needs_load[n])) needs_load[l.to] = true;
      if (load && !needs_load[n]) free_loads_.push_back(n), serves_[n] = n;
    }
    for (std::uint32_t n = n_; n-- > 0;) {
      feeds_load_[n] = waits_for_data(at(n));
      if (feeds_load_[n]) to_load_ += d_.values()[n].words;
      for (const Dependences::Link& l : d_.waiters(n))
        if (l.result && feeds_load_[l.to]) feeds_load_[n] = true, serves_[n] = std::min(serves_[n], serves_[l.to]);
    }
  }

  // Whether a value needs its register as long as it has readers left.
  bool ends(std::uint32_t value) const { return !d_.values()[value].leaves && readers_[value] == 0; }

  // Registers that an instruction takes, less those that it is the last to need.
  double taken_by(std::uint32_t n) const {
    const Dependences::Value& result = d_.values()[n];
    double words = result.leaves || result.readers > 0 ? result.words : 0;
    for (const std::uint32_t v : d_.needs(n))
      if (!d_.values()[v].leaves && readers_[v] == 1) words -= d_.values()[v].words;
    return words;
  }

  // An instruction that is not next in program order needs free registers for its result. Loads that go to memory come
  // first, and what their addresses need.
  bool may_issue(std::uint32_t n) const {
    if (n <= first_) return true;
    const double words = taken_by(n);
    if (words <= 0) return true;
    // Loads that do not all fit keep their order, so that what needs two of them finds both. Addresses are computed for
    // the next loads only.
    const bool load = waits_for_data(at(n));
    constexpr std::size_t kAhead = 2;
    if (live_ + to_load_ > words_ && (load ? n > free_load(0) : serves_[n] < n_ && serves_[n] > free_load(kAhead)))
      return false;
    return live_ + words + (feeds_load_[n] ? 0 : to_load_) <= words_;
  }

  // The free load that comes so many after the next one; n_: there is none.
  std::uint32_t free_load(std::size_t ahead) const {
    return next_load_ + ahead < free_loads_.size() ? free_loads_[next_load_ + ahead] : n_;
  }

  std::uint32_t take() {
    while (first_ < n_ && issued_[first_]) ++first_;
    while (next_load_ < free_loads_.size() && issued_[free_loads_[next_load_]]) ++next_load_;
    bool any = false;
    double soonest = std::numeric_limits<double>::infinity();
    for (const std::uint32_t n : open_) any |= may_issue(n);
    for (const std::uint32_t n : open_)
      if (!any || may_issue(n)) soonest = std::min(soonest, issue_.soonest(n));
    issue_.wait_until(soonest);
    std::size_t best = open_.size();
    for (std::size_t k = 0; k < open_.size(); ++k) {
      const std::uint32_t n = open_[k];
      if (issue_.soonest(n) > issue_.now() || (any && !may_issue(n))) continue;
      if (best == open_.size() || priority_[n] > priority_[open_[best]] ||
          (priority_[n] == priority_[open_[best]] && n < open_[best]))
        best = k;
    }
    WG_ASSERT(best < open_.size());
    const std::uint32_t taken = open_[best];
    open_[best] = open_.back();
    open_.pop_back();
    return taken;
  }

  void issue(std::uint32_t n) {
    WG_ASSERT(!issued_[n] && waits_[n] == 0);
    issued_[n] = true;
    const Dependences::Value& result = d_.values()[n];
    if (result.leaves || result.readers > 0) live_ += result.words;
    if (waits_for_data(at(n))) to_load_ -= result.words;
    issue_.run(n);
    for (const Dependences::Link& l : d_.waiters(n))
      if (--waits_[l.to] == 0) open_.push_back(l.to);
    for (const std::uint32_t v : d_.needs(n)) {
      --readers_[v];
      if (ends(v)) live_ -= d_.values()[v].words;
    }
  }

  const Dependences& d_;
  const Costs& costs_;
  std::uint32_t n_, first_ = 0;
  double words_;  // most registers
  Issue issue_;
  double live_;  // registers that hold values now
  std::vector<std::uint32_t> waits_, readers_, open_;
  std::vector<double> priority_;
  std::vector<bool> issued_;
  std::vector<std::uint32_t> free_loads_;  // loads from memory whose addresses need no other load, in order
  std::size_t next_load_ = 0;              // index in free_loads_: the first one that is not issued yet
  std::vector<bool> feeds_load_;           // a load from memory, or what its address needs
  std::vector<std::uint32_t> serves_;      // first load that needs each instruction
  double to_load_ = 0;                     // registers of the loads from memory that are not issued yet
};

}  // namespace

std::vector<std::uint32_t> order_of(const Dependences& block, Costs costs, std::size_t registers, double words) {
  WG_ASSERT(costs.latency.size() == block.block().instructions.size());
  for (std::size_t n = 0; n < costs.latency.size(); ++n)
    if (waits_for_data(block.block().instructions[n])) costs.latency[n] = kExpectedLoad;
  Ready none(registers);
  return Ordering(block, costs, words, none).run();
}

double issue_in_order(const Dependences& block, const std::vector<std::uint32_t>& order, const Costs& costs,
                      double start, Ready& ready) {
  // A block that no warp executed has no order.
  WG_ASSERT(order.empty() || order.size() == block.block().instructions.size());
  WG_ASSERT(costs.latency.size() == block.block().instructions.size());
  Issue issue(block, costs, start, ready);
  for (const std::uint32_t n : order) {
    issue.wait_until(issue.soonest(n));
    issue.run(n);
  }
  return issue.now();
}

}  // namespace warpgrind::timing
