// Liveness and lane variation of the registers of modelled machine code.
#include "sass/uses.h"

#include <utility>

namespace warpgrind::sass {
namespace {

using ptx::Opcode;
using ptx::OperandKind;

// Whether the instruction has an effect besides its result.
bool has_effect(const Instruction& i, const ptx::Instruction& text) {
  if (i.store || i.atomic || i.writes.empty()) return true;
  switch (i.pipe) {
    case Pipe::barrier:
    case Pipe::fence:
    case Pipe::control:
    case Pipe::shuffle:
      return true;
    default:
      return i.votes || text.has(ptx::Modifier::volatile_) || text.opcode == Opcode::call;
  }
}

bool differs_by_lane(const ptx::Operand& o) {
  if (o.kind != OperandKind::sreg) return false;
  switch (o.sreg) {
    case ptx::SpecialRegister::tid_x:
    case ptx::SpecialRegister::tid_y:
    case ptx::SpecialRegister::tid_z:
    case ptx::SpecialRegister::laneid:
    case ptx::SpecialRegister::warpid:
    case ptx::SpecialRegister::lanemask_eq:
    case ptx::SpecialRegister::lanemask_le:
    case ptx::SpecialRegister::lanemask_lt:
    case ptx::SpecialRegister::lanemask_ge:
    case ptx::SpecialRegister::lanemask_gt:
    case ptx::SpecialRegister::clock:
    case ptx::SpecialRegister::clock64:
      return true;
    default:
      return false;
  }
}

}  // namespace

Uses::Uses(const Code& code, const std::vector<flow::Definitions>& bodies)
    : code_(code), bodies_(bodies), writers_(code.registers), readers_(code.registers) {
  for (std::uint32_t b = 0; b < code.blocks.size(); ++b)
    for (std::uint32_t n = 0; n < code.blocks[b].instructions.size(); ++n) {
      const Instruction& i = code.blocks[b].instructions[n];
      for (const ptx::RegId r : i.writes) writers_[r].push_back({b, n});
      for (const ptx::RegId r : i.reads) readers_[r].push_back({b, n});
    }
  find_alive();
  find_varying();
}

ptx::RegId Uses::reg(const Instruction& i, const ptx::Operand& o) const {
  return o.kind == OperandKind::reg ? o.index + code_.first_register[i.function] : kNone;
}

ptx::RegId Uses::address_base(const Instruction& i) const {
  for (const ptx::Operand& o : text(i).operands)
    if (o.kind == OperandKind::address)
      return o.base == OperandKind::reg ? o.index + code_.first_register[i.function] : kNone;
  return kNone;
}

bool Uses::is_number(const Instruction& i, const ptx::Operand& o) const {
  if (o.kind == OperandKind::immediate) return true;
  const ptx::RegId r = reg(i, o);
  const Where* from = r == kNone ? nullptr : only_writer(r);
  return from && text(*from).opcode == Opcode::mov && text(*from).operands[1].kind == OperandKind::immediate;
}

void Uses::find_alive() {
  std::vector<Where> open;
  for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
    alive_.emplace_back(code_.blocks[b].instructions.size(), false);
    for (std::uint32_t n = 0; n < alive_[b].size(); ++n)
      if (const Instruction& i = code_.blocks[b].instructions[n]; has_effect(i, text(i))) {
        alive_[b][n] = true;
        open.push_back({b, n});
      }
  }
  while (!open.empty()) {
    const Where w = open.back();
    open.pop_back();
    for (const ptx::RegId r : instruction(w).reads)
      for (const Where& writer : writers_[r])
        if (!alive_[writer.block][writer.at]) {
          alive_[writer.block][writer.at] = true;
          open.push_back(writer);
        }
  }
}

void Uses::find_varying() {
  varies_.assign(code_.registers, false);
  std::vector<ptx::RegId> open;
  const auto add = [&](const Instruction& i) {
    for (const ptx::RegId r : i.writes)
      if (!varies_[r]) {
        varies_[r] = true;
        open.push_back(r);
      }
  };
  for (const Block& block : code_.blocks)
    for (const Instruction& i : block.instructions) {
      const ptx::Instruction& t = text(i);
      const bool from_memory = i.load && i.pipe != Pipe::constant;
      const bool of_lane = t.opcode == Opcode::mov && t.operands.size() == 2 && differs_by_lane(t.operands[1]);
      if (from_memory || i.atomic || of_lane || i.pipe == Pipe::texture || t.opcode == Opcode::call) add(i);
    }
  while (!open.empty()) {
    const ptx::RegId r = open.back();
    open.pop_back();
    for (const Where& reader : readers_[r]) add(instruction(reader));
  }
}

}  // namespace warpgrind::sass
