// Splitter of webs: reaching definitions by data flow, then union-find over definitions that meet at a use.
#include "flow/webs.h"

#include <algorithm>
#include <numeric>

#include "base/assert.h"
#include "flow/forms.h"

namespace warpgrind::flow {

namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;
using ptx::RegId;

struct Definition {
  std::uint32_t instruction;
  RegId reg;
};

class WebSplitter {
 public:
  WebSplitter(ptx::Function& f, const ControlFlow& cfg) : f_(f), cfg_(cfg) {}

  void run() {
    collect();
    constexpr std::size_t kLimit = std::size_t{1} << 27;  // bits of data flow: 16 MiB
    if (definitions_.size() * cfg_.blocks.size() > kLimit) return;
    solve();
    unite();
    rename();
  }

 private:
  void collect() {
    by_register_.resize(f_.registers.size());
    of_block_.resize(f_.registers.size());
    // Each register gets a definition before the first instruction, for values that were never written.
    for (RegId r = 0; r < f_.registers.size(); ++r) add(ptx::kNoId, r);
    std::vector<RegId> written;
    first_of_.assign(f_.body.size() + 1, 0);
    for (std::uint32_t n = 0; n < f_.body.size(); ++n) {
      first_of_[n] = static_cast<std::uint32_t>(definitions_.size());
      registers_written(f_.body[n], written);
      for (RegId r : written) add(n, r);
    }
    first_of_[f_.body.size()] = static_cast<std::uint32_t>(definitions_.size());
  }

  void add(std::uint32_t instruction, RegId r) {
    by_register_[r].push_back(static_cast<std::uint32_t>(definitions_.size()));
    WG_DEBUG_ASSERT(r < by_register_.size());
    definitions_.push_back({instruction, r});
  }

  // Set of definitions, one bit each.
  class Set {
   public:
    Set() = default;
    explicit Set(std::size_t size) : words_((size + 63) / 64, 0) {}
    bool operator[](std::size_t d) const { return words_[d / 64] >> (d % 64) & 1; }
    void insert(std::size_t d) { words_[d / 64] |= 1ull << (d % 64); }
    void erase(std::size_t d) { words_[d / 64] &= ~(1ull << (d % 64)); }
    void unite(const Set& other) {
      for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    }
    friend bool operator==(const Set&, const Set&) = default;

   private:
    std::vector<std::uint64_t> words_;
  };

  // Definitions of a register that may be live. After a definition in the current block, these are few, however often
  // the function writes the register. Otherwise an accumulator of thousands of steps would take quadratic time.
  const std::vector<std::uint32_t>& candidates(RegId r) const {
    return of_block_[r].empty() ? by_register_[r] : of_block_[r];
  }

  void begin_block() {
    for (RegId r : written_in_block_) of_block_[r].clear();
    written_in_block_.clear();
  }

  // A guarded definition keeps the old value where the guard is off.
  void apply(std::uint32_t n, Set& live) {
    WG_DEBUG_ASSERT(first_of_[n] <= first_of_[n + 1] && first_of_[n + 1] <= definitions_.size());
    const bool replaces = !f_.body[n].guard;
    for (std::uint32_t d = first_of_[n]; d < first_of_[n + 1] && replaces; ++d) {
      const RegId r = definitions_[d].reg;
      for (std::uint32_t other : candidates(r)) live.erase(other);
      of_block_[r].clear();
      written_in_block_.push_back(r);
    }
    for (std::uint32_t d = first_of_[n]; d < first_of_[n + 1]; ++d) {
      const RegId r = definitions_[d].reg;
      live.insert(d);
      if (replaces || !of_block_[r].empty()) of_block_[r].push_back(d);
    }
  }

  void solve() {
    in_.assign(cfg_.blocks.size(), Set(definitions_.size()));
    std::vector<Set> out(cfg_.blocks.size(), Set(definitions_.size()));
    for (RegId r = 0; r < f_.registers.size(); ++r) in_[0].insert(r);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t b : cfg_.order) {
        Set now = in_[b];
        for (std::uint32_t p : cfg_.blocks[b].predecessors) now.unite(out[p]);
        in_[b] = now;
        begin_block();
        for (std::uint32_t n = cfg_.blocks[b].first; n < cfg_.blocks[b].end; ++n) apply(n, now);
        if (now != out[b]) {
          out[b] = std::move(now);
          changed = true;
        }
      }
    }
  }

  std::uint32_t find(std::uint32_t d) {
    while (parent_[d] != d) d = parent_[d] = parent_[parent_[d]];
    return d;
  }
  void join(std::uint32_t a, std::uint32_t b) { parent_[find(a)] = find(b); }

  // The web of register r at a point; all definitions that reach it are joined.
  std::uint32_t meet(RegId r, const Set& live) {
    std::uint32_t web = ptx::kNoId;
    for (std::uint32_t d : candidates(r)) {
      if (!live[d]) continue;
      if (web == ptx::kNoId)
        web = d;
      else
        join(d, web);
    }
    return web == ptx::kNoId ? r : web;  // r: the definition before the first instruction
  }

  void unite() {
    parent_.resize(definitions_.size());
    std::iota(parent_.begin(), parent_.end(), 0u);
    std::vector<RegId> read;
    for (std::uint32_t b : cfg_.order) {
      Set live = in_[b];
      begin_block();
      for (std::uint32_t n = cfg_.blocks[b].first; n < cfg_.blocks[b].end; ++n) {
        registers_read(f_.body[n], read);
        for (RegId r : read) meet(r, live);
        // Keeps the old value, so it needs the same register.
        if (f_.body[n].guard || ptx::info(f_.body[n].opcode).has(ptx::Effects::updates))
          for (std::uint32_t d = first_of_[n]; d < first_of_[n + 1]; ++d) join(d, meet(definitions_[d].reg, live));
        // The same register written twice by one instruction.
        for (std::uint32_t d = first_of_[n]; d + 1 < first_of_[n + 1]; ++d)
          for (std::uint32_t e = d + 1; e < first_of_[n + 1]; ++e)
            if (definitions_[d].reg == definitions_[e].reg) join(d, e);
        apply(n, live);
      }
    }
  }

  RegId register_of(std::uint32_t definition) {
    const std::uint32_t web = find(definition);
    if (number_[web] == ptx::kNoId) {
      const RegId original = definitions_[web].reg;
      if (!taken_[original]) {
        taken_[original] = true;
        number_[web] = original;
      } else {
        number_[web] = static_cast<RegId>(f_.registers.size());
        const ptx::Register copy = f_.registers[original];
        f_.registers.push_back(copy);
      }
    }
    return number_[web];
  }

  // Renames the sources by the definitions that reach them, then the destinations. Sources and destinations are those
  // of registers_read() and registers_written().
  void rename_instruction(std::uint32_t n, const Set& live) {
    Instruction& i = f_.body[n];
    std::vector<RegId> read;
    registers_read(i, read);
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    Instruction renamed = i;
    const std::size_t destinations = destination_operands(i);
    for (RegId r : read) {
      const RegId to = register_of(meet(r, live));
      if (to == r) continue;
      for (std::size_t k = destinations; k < i.operands.size(); ++k) swap_in(i.operands[k], renamed.operands[k], r, to);
      for (std::size_t k = 0; k < i.arguments.size(); ++k) swap_in(i.arguments[k], renamed.arguments[k], r, to);
      if (i.guard && i.guard.reg == r) renamed.guard.reg = to;
    }
    for (std::uint32_t d = first_of_[n]; d < first_of_[n + 1]; ++d) {
      const RegId r = definitions_[d].reg, to = register_of(d);
      if (to == r) continue;
      for (std::size_t k = 0; k < destinations; ++k) swap_in(i.operands[k], renamed.operands[k], r, to);
      for (std::size_t k = 0; k < i.results.size(); ++k) swap_in(i.results[k], renamed.results[k], r, to);
    }
    renamed_[n] = std::move(renamed);
  }

  // Compares the original operand, so that a new name is not renamed again.
  static void swap_in(const Operand& original, Operand& target, RegId from, RegId to) {
    if ((original.kind == OperandKind::reg ||
         (original.kind == OperandKind::address && original.base == OperandKind::reg)) &&
        original.index == from)
      target.index = to;
    for (std::size_t k = 0; k < original.elements.size(); ++k)
      swap_in(original.elements[k], target.elements[k], from, to);
  }

  void rename() {
    WG_ASSERT(parent_.size() == definitions_.size());
    number_.assign(definitions_.size(), ptx::kNoId);
    taken_.assign(f_.registers.size(), false);
    renamed_ = f_.body;
    for (std::uint32_t b : cfg_.order) {
      Set live = in_[b];
      begin_block();
      for (std::uint32_t n = cfg_.blocks[b].first; n < cfg_.blocks[b].end; ++n) {
        rename_instruction(n, live);
        apply(n, live);
      }
    }
    f_.body = std::move(renamed_);
  }

  ptx::Function& f_;
  const ControlFlow& cfg_;
  std::vector<Definition> definitions_;
  std::vector<std::uint32_t> first_of_;  // by instruction: its first definition
  std::vector<std::vector<std::uint32_t>> by_register_;
  // By register: candidates() in the current block; empty: by_register_.
  std::vector<std::vector<std::uint32_t>> of_block_;
  std::vector<RegId> written_in_block_;  // those with an entry in of_block_
  std::vector<Set> in_;
  std::vector<std::uint32_t> parent_;
  std::vector<RegId> number_;
  std::vector<bool> taken_;
  std::vector<Instruction> renamed_;
};

}  // namespace

void split_webs(ptx::Function& function, const ControlFlow& cfg) {
  WebSplitter(function, cfg).run();
}

}  // namespace warpgrind::flow
