// FMA fusion: finds products of a block that a single addition reads.
#include "sass/fuse_operations.h"

#include <algorithm>
#include <unordered_map>

namespace warpgrind::sass {
namespace {

using ptx::Opcode;

bool may_fuse(const ptx::Instruction& i) {
  const bool floating = i.type() == ptx::ScalarType::f32 || i.type() == ptx::ScalarType::f64;
  return floating && std::none_of(i.modifiers.begin(), i.modifiers.end(), [](ptx::Modifier m) {
           return m == ptx::Modifier::rn || m == ptx::Modifier::rz || m == ptx::Modifier::rm ||
                  m == ptx::Modifier::rp || m == ptx::Modifier::sat;
         });
}

class Fusion {
 public:
  Fusion(Code& code, const std::vector<flow::Definitions>& bodies) : code_(code), bodies_(bodies) {
    uses_.assign(code.registers, 0);
    for (const Block& block : code.blocks)
      for (const Instruction& i : block.instructions)
        for (const ptx::RegId r : i.reads) ++uses_[r];
  }
  void run() {
    for (Block& block : code_.blocks) {
      products_.clear();
      for (std::size_t n = 0; n < block.instructions.size(); ++n) step(block, n);
    }
  }

 private:
  void step(Block& block, std::size_t n) {
    Instruction& i = block.instructions[n];
    const ptx::Instruction& text = bodies_[i.function].function.body[i.ptx];
    const bool adds = text.opcode == Opcode::add || text.opcode == Opcode::sub;
    if (adds && may_fuse(text))
      for (const ptx::RegId r : i.reads) {
        const auto product = products_.find(r);
        if (product == products_.end() || !fits(block.instructions[product->second], i, text)) continue;
        join(block.instructions[product->second], i, r, text);
        block.instructions[product->second].merged_into = static_cast<std::uint32_t>(n);
        products_.erase(product);
        break;
      }
    for (const ptx::RegId r : i.writes) products_.erase(r);
    if (text.opcode == Opcode::mul && may_fuse(text) && i.writes.size() == 1 && uses_[i.writes[0]] == 1)
      products_[i.writes[0]] = n;
  }

  bool fits(const Instruction& product, const Instruction& sum, const ptx::Instruction& text) const {
    const ptx::Instruction& from = bodies_[product.function].function.body[product.ptx];
    return from.type() == text.type() && product.facts_block == sum.facts_block && !from.guard && !text.guard;
  }

  static void join(Instruction& product, Instruction& sum, ptx::RegId between, const ptx::Instruction& text) {
    std::erase(sum.reads, between);
    for (const ptx::RegId r : product.reads)
      if (std::find(sum.reads.begin(), sum.reads.end(), r) == sum.reads.end()) sum.reads.push_back(r);
    product.writes.clear();
    product.reads.clear();
    product.pipe = Pipe::none;
    product.issue = product.latency = 0;
    product.operations = {};
    sum.operations = {};
    const Operation fused = text.type() == ptx::ScalarType::f64 ? Operation::dfma : Operation::ffma;
    sum.operations[static_cast<std::size_t>(fused)] = 1;
  }

  Code& code_;
  const std::vector<flow::Definitions>& bodies_;
  std::vector<std::uint32_t> uses_;                       // by register
  std::unordered_map<ptx::RegId, std::size_t> products_;  // products of this block, by a register with a single reader
};

}  // namespace

void fuse_operations(Code& code, const std::vector<flow::Definitions>& bodies) {
  Fusion(code, bodies).run();
}

}  // namespace warpgrind::sass
