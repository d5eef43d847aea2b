// List scheduling of a basic block, and in-order issue of the result.
#include "timing/schedule.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/assert.h"

namespace warpgrind::timing {
namespace {

using sass::AsyncStep;
using sass::Instruction;
using sass::Pipe;

// Limit of 32-bit registers that loads in flight occupy. A load beyond it is issued only if it is next in program
// order. Fitted to the lab's rows of an H200.
constexpr double kLoadRegisters = 16;
// Latency that ptxas assumes between a load and its first reader. Fitted to the lab's rows of an H200 (median error
// with 100: 10.9 %, with 200 and 300: 10.3 %). Its machine code of matrix products shows the same distance.
constexpr double kExpectedLoad = 200;

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

Dependences::Dependences(const sass::Block& block)
    : block_(&block),
      waiters_(block.instructions.size()),
      waits_(block.instructions.size()),
      readers_(block.instructions.size()),
      inputs_(block.instructions.size()) {
  registers();
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
      if (waits_for_data(block_->instructions[writer->second])) ++readers_[writer->second];
    }
    for (const ptx::RegId r : i.writes) last[r] = n;
  }
}

// A store stays behind all earlier accesses to its memory, a load behind the last store. Nothing passes a barrier.
void Dependences::memory() {
  struct Memory {
    std::optional<std::uint32_t> store;
    std::vector<std::uint32_t> loads;
  };
  std::array<Memory, 3> memories;
  std::optional<std::uint32_t> barrier;
  for (std::uint32_t n = 0; n < block_->instructions.size(); ++n) {
    const Instruction& i = block_->instructions[n];
    const bool orders =
        i.pipe == Pipe::barrier || i.pipe == Pipe::fence || (i.async != AsyncStep::none && i.async != AsyncStep::copy);
    if (orders)
      for (const Memory& m : memories) {
        if (m.store) link(*m.store, n, false);
        for (const std::uint32_t load : m.loads) link(load, n, false);
      }
    const auto which = memory_of(i);
    if (barrier && (which || orders || i.pipe == Pipe::shuffle)) link(*barrier, n, false);
    if (orders) barrier = n;
    if (!which) continue;
    Memory& m = memories[*which];
    if (m.store) link(*m.store, n, false);
    if (i.store || i.atomic) {
      for (const std::uint32_t load : m.loads) link(load, n, false);
      m = {n, {}};
    } else {
      m.loads.push_back(n);
    }
  }
}

// An instruction that ends the block is issued last.
void Dependences::control() {
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
    const double issued = now_, done = issued + costs_.latency[n] + passes(n);
    busy_[static_cast<std::size_t>(i.pipe)] =
        issued + costs_.busy[static_cast<std::size_t>(i.pipe)] * std::max(1.0f, i.issue);
    now_ += i.issue;
    if (i.pipe == Pipe::barrier) now_ += costs_.barrier;
    if (i.pipe == Pipe::control && i.ends) now_ += costs_.branch;
    if (i.on_pipe[static_cast<std::size_t>(sass::CountedPipe::tma)] > 0)
      now_ += std::max(0.0, costs_.latency[n] - i.issue);  // it holds its warp
    if (!costs_.held.empty()) now_ += costs_.held[n];
    if (i.async != AsyncStep::none) asynchronous(i, done);
    for (const ptx::RegId r : i.writes) ready_.at[r] = std::max(done, now_);
    for (const Dependences::Link& l : d_.waiters(n)) {
      const bool late = i.sets_predicate && !at(l.to).sets_predicate;
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
  Ordering(const Dependences& d, const Costs& costs, Ready& none)
      : d_(d), costs_(costs), n_(static_cast<std::uint32_t>(d.block().instructions.size())), issue_(d, costs, 0, none) {
    for (std::uint32_t n = 0; n < n_; ++n) {
      waits_.push_back(d.waits(n));
      readers_.push_back(d.readers(n));
      if (waits_[n] == 0) open_.push_back(n);
    }
    issued_.resize(n_);
    find_priorities();
    find_sources();
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

  void find_sources() {
    sources_.resize(n_);
    for (std::uint32_t from = 0; from < n_; ++from)
      if (waits_for_data(at(from)))
        for (const Dependences::Link& l : d_.waiters(from))
          if (l.result) sources_[l.to].push_back(from);
  }

  static double registers_of(const Instruction& i) { return std::max<double>(1, i.result_words); }

  // A load that is not next in program order needs free registers for its result.
  bool may_issue(std::uint32_t n) const {
    return !waits_for_data(at(n)) || n <= first_ || live_ + registers_of(at(n)) <= kLoadRegisters;
  }

  std::uint32_t take() {
    while (first_ < n_ && issued_[first_]) ++first_;
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
    if (waits_for_data(at(n)) && readers_[n] > 0) live_ += registers_of(at(n));
    issue_.run(n);
    for (const Dependences::Link& l : d_.waiters(n))
      if (--waits_[l.to] == 0) open_.push_back(l.to);
    // A load's registers are free after its last reader was issued.
    for (const std::uint32_t load : sources_[n])
      if (--readers_[load] == 0) live_ -= registers_of(at(load));
  }

  const Dependences& d_;
  const Costs& costs_;
  std::uint32_t n_, first_ = 0;
  Issue issue_;
  double live_ = 0;
  std::vector<std::uint32_t> waits_, readers_, open_;
  std::vector<double> priority_;
  std::vector<bool> issued_;
  std::vector<std::vector<std::uint32_t>> sources_;
};

}  // namespace

std::vector<std::uint32_t> order_of(const Dependences& block, Costs costs, std::size_t registers) {
  WG_ASSERT(costs.latency.size() == block.block().instructions.size());
  for (std::size_t n = 0; n < costs.latency.size(); ++n)
    if (waits_for_data(block.block().instructions[n])) costs.latency[n] = kExpectedLoad;
  Ready none(registers);
  return Ordering(block, costs, none).run();
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
