#include "sass/places.h"

#include <algorithm>
#include <optional>

#include "base/assert.h"
#include "base/wrapping.h"
#include "ptx/types.h"
#include "sass/address_sums.h"

namespace warpgrind::sass {
namespace {

class Places {
 public:
  Places(Code& code, const ptx::Module& module, const std::vector<flow::Definitions>& bodies)
      : code_(code), bodies_(bodies) {
    for (const flow::Definitions& d : bodies) sums_.emplace_back(module, d);
  }
  void run() {
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      if (orders_matter(code_.blocks[b])) go_through(b);
  }

 private:
  static bool orders_matter(const Block& block) {
    const auto stores = [](const Instruction& i) { return i.store && !i.atomic; };
    return std::any_of(block.instructions.begin(), block.instructions.end(), stores);
  }

  void go_through(std::uint32_t b) {
    Block& block = code_.blocks[b];
    WG_ASSERT(block.instructions.front().function < sums_.size());
    AddressSums& sums = sums_[block.instructions.front().function];
    sums.begin_block();
    bases_.clear();
    const bool loops =
        std::any_of(block.successors.begin(), block.successors.end(), [&](const Edge& e) { return e.to == b; });
    for (Instruction& i : block.instructions) {
      if (i.added) continue;
      const ptx::Instruction& text = bodies_[i.function].function.body[i.ptx];
      const bool store = text.opcode == ptx::Opcode::st;
      if (store || text.opcode == ptx::Opcode::ld) {
        const AddressSum address = sums.address(text.operands[store ? 0 : 1]);
        i.place = {base_of(address), address.constant, loops ? step_of(address, i.function, block) : 0};
      }
      sums.pass(text);
    }
    // A merged access begins at the lowest address of its parts.
    for (const Instruction& i : block.instructions) {
      if (i.merged_into == kNone || i.place.base == kNone) continue;
      MemoryPlace& joint = block.instructions[i.merged_into].place;
      if (joint.base == i.place.base) joint.offset = std::min(joint.offset, i.place.offset);
    }
  }

  std::uint32_t base_of(const AddressSum& address) {
    const auto same = [&](const AddressSum& o) { return o.same_terms(address); };
    const auto known = std::find_if(bases_.begin(), bases_.end(), same);
    const auto number = static_cast<std::uint32_t>(known - bases_.begin());
    if (known == bases_.end()) bases_.push_back(address);
    return number;
  }

  // Bytes by which the address moves with each round of the loop; nullopt: not by a constant.
  std::optional<std::int64_t> step_of(const AddressSum& address, std::uint32_t function, const Block& block) const {
    std::int64_t sum = 0;
    for (const auto& [root, times] : address.terms) {
      if (root.kind == AddressSum::Root::Kind::value) return std::nullopt;
      if (root.kind != AddressSum::Root::Kind::register_) continue;
      const auto step = step_of(root.index, function, block);
      if (!step) return std::nullopt;
      sum = wrapping_add(sum, wrapping_multiply(times, *step));
    }
    return sum;
  }

  // The constant c if the block adds c to the register; 0 if it does not write it.
  std::optional<std::int64_t> step_of(ptx::RegId r, std::uint32_t function, const Block& block) const {
    std::optional<std::int64_t> step = 0;
    for (const Instruction& i : block.instructions) {
      if (i.added || i.function != function) continue;
      const ptx::Instruction& t = bodies_[function].function.body[i.ptx];
      if (t.operands.empty() || t.operands[0].kind != ptx::OperandKind::reg || t.operands[0].index != r ||
          !writes(i, r + code_.first_register[function]))
        continue;
      const bool adds = t.opcode == ptx::Opcode::add && !t.guard && t.operands[1].kind == ptx::OperandKind::reg &&
                        t.operands[1].index == r && t.operands[2].kind == ptx::OperandKind::immediate;
      if (!adds || *step != 0) return std::nullopt;
      step = static_cast<std::int64_t>(t.operands[2].bits);
    }
    return step;
  }

  static bool writes(const Instruction& i, ptx::RegId r) {
    return std::find(i.writes.begin(), i.writes.end(), r) != i.writes.end();
  }

  Code& code_;
  const std::vector<flow::Definitions>& bodies_;
  std::vector<AddressSums> sums_;
  std::vector<AddressSum> bases_;  // of the block
};

}  // namespace

void find_places(Code& code, const ptx::Module& module, const std::vector<flow::Definitions>& bodies) {
  Places(code, module, bodies).run();
}

bool may_overlap(const Instruction& a, const Instruction& b) {
  if (a.place.base == kNone || b.place.base == kNone || a.place.base != b.place.base) return true;
  const auto from_a = static_cast<std::uint64_t>(b.place.offset) - static_cast<std::uint64_t>(a.place.offset);
  return from_a < a.bytes || std::uint64_t{0} - from_a < b.bytes;
}

}  // namespace warpgrind::sass
