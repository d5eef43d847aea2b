#include "timing/schedule.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>

namespace warpgrind::timing {
namespace {

using machine::Instruction;
using machine::Pipe;

// 32-bit registers of loads under way that ptxas keeps for a stretch of code; a load beyond them is issued only when it
// is the next in the program. By the lab's rows of an H200.
constexpr double kLoadRegisters = 16;

bool waits_for_data(const Instruction& i) {
  return i.load && (i.pipe == Pipe::global || i.pipe == Pipe::local || i.pipe == Pipe::texture);
}

// Memory whose accesses keep their order; none: not memory.
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

Dependences::Dependences(const machine::Block& block)
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
  waiters_[from].push_back({to, result});
  ++waits_[to];
}

// Registers that are written again are renamed.
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

// A store stays behind the accesses before it to its memory, a load behind the last store; nothing passes a barrier.
void Dependences::memory() {
  struct Memory {
    std::optional<std::uint32_t> store;
    std::vector<std::uint32_t> loads;
  };
  std::array<Memory, 3> memories;
  std::optional<std::uint32_t> barrier;
  for (std::uint32_t n = 0; n < block_->instructions.size(); ++n) {
    const Instruction& i = block_->instructions[n];
    const bool orders = i.pipe == Pipe::barrier || i.pipe == Pipe::fence;
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

// What ends the block is its last issue.
void Dependences::control() {
  if (block_->instructions.empty() || !block_->instructions.back().ends) return;
  const auto last = static_cast<std::uint32_t>(block_->instructions.size() - 1);
  for (std::uint32_t n = 0; n < last; ++n) link(n, last, false);
}

namespace {

class Scheduler {
 public:
  Scheduler(const Dependences& d, const Costs& costs, double start, Ready& ready)
      : d_(d),
        costs_(costs),
        ready_(ready),
        n_(static_cast<std::uint32_t>(d.block().instructions.size())),
        now_(start) {
    waits_.resize(n_);
    available_.assign(n_, start);
    issued_.resize(n_);
    readers_.resize(n_);
    for (std::uint32_t n = 0; n < n_; ++n) {
      waits_[n] = d.waits(n);
      readers_[n] = d.readers(n);
      for (const ptx::RegId r : d.inputs(n)) available_[n] = std::max(available_[n], ready[r]);
      if (waits_[n] == 0) open_.push_back(n);
    }
    find_priorities();
  }

  double run() {
    while (!open_.empty()) issue(take());
    return now_;
  }

 private:
  const Instruction& at(std::uint32_t n) const { return d_.block().instructions[n]; }

  // The longest way to the block's end.
  void find_priorities() {
    priority_.resize(n_);
    for (std::uint32_t n = n_; n-- > 0;) {
      double longest = 0;
      for (const Dependences::Link& l : d_.waiters(n)) longest = std::max(longest, priority_[l.to]);
      priority_[n] = longest + costs_.latency[n];
    }
  }

  static double registers_of(const Instruction& i) { return std::max<double>(1, i.result_words); }

  // A load that is not next in the program needs room for its result.
  bool may_issue(std::uint32_t n) const {
    return !waits_for_data(at(n)) || n <= first_ || live_ + registers_of(at(n)) <= kLoadRegisters;
  }

  std::uint32_t take() {
    while (first_ < n_ && issued_[first_]) ++first_;
    bool any = false;
    double soonest = std::numeric_limits<double>::infinity();
    for (const std::uint32_t n : open_) any |= may_issue(n);
    for (const std::uint32_t n : open_)
      if (!any || may_issue(n)) soonest = std::min(soonest, available_[n]);
    now_ = std::max(now_, soonest);
    std::size_t best = open_.size();
    for (std::size_t k = 0; k < open_.size(); ++k) {
      const std::uint32_t n = open_[k];
      if (available_[n] > now_ || (any && !may_issue(n))) continue;
      if (best == open_.size() || priority_[n] > priority_[open_[best]] ||
          (priority_[n] == priority_[open_[best]] && n < open_[best]))
        best = k;
    }
    const std::uint32_t taken = open_[best];
    open_[best] = open_.back();
    open_.pop_back();
    return taken;
  }

  void issue(std::uint32_t n) {
    const Instruction& i = at(n);
    issued_[n] = true;
    if (waits_for_data(i) && readers_[n] > 0) live_ += registers_of(i);
    const double issued = now_, done = issued + costs_.latency[n];
    now_ += i.issue;
    if (i.pipe == Pipe::fp64) now_ += costs_.fp64 * i.issue;
    if (i.pipe == Pipe::barrier) now_ += costs_.barrier;
    for (const ptx::RegId r : i.writes) ready_[r] = std::max(done, now_);
    for (const Dependences::Link& l : d_.waiters(n)) {
      available_[l.to] = std::max(available_[l.to], l.result ? done : now_);
      if (--waits_[l.to] == 0) open_.push_back(l.to);
    }
    release(n);
  }

  // Loads whose last reader has been issued give their registers back.
  void release(std::uint32_t n) {
    for (const std::uint32_t load : sources(n))
      if (--readers_[load] == 0) live_ -= registers_of(at(load));
  }
  const std::vector<std::uint32_t>& sources(std::uint32_t n) {
    if (sources_.empty()) {
      sources_.resize(n_);
      for (std::uint32_t from = 0; from < n_; ++from)
        if (waits_for_data(at(from)))
          for (const Dependences::Link& l : d_.waiters(from))
            if (l.result) sources_[l.to].push_back(from);
    }
    return sources_[n];
  }

  const Dependences& d_;
  const Costs& costs_;
  Ready& ready_;
  std::uint32_t n_, first_ = 0;
  double now_, live_ = 0;
  std::vector<std::uint32_t> waits_, readers_, open_;
  std::vector<double> available_, priority_;
  std::vector<bool> issued_;
  std::vector<std::vector<std::uint32_t>> sources_;
};

}  // namespace

double schedule(const Dependences& block, const Costs& costs, double start, Ready& ready) {
  return Scheduler(block, costs, start, ready).run();
}

}  // namespace warpgrind::timing
