#include "checkers/touched_registers.h"

#include <algorithm>
#include <utility>

#include "flow/forms.h"
#include "ptx/opcode.h"

namespace warpgrind::checkers {

namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::RegId;

template <class F>
void each_register(const Operand& o, F&& f) {
  if (o.kind == OperandKind::reg) f(o.index);
  if (o.kind == OperandKind::vector)
    for (const Operand& e : o.elements) each_register(e, f);
}

bool writes_one_of(const Instruction& i, const std::set<RegId>& registers) {
  std::vector<RegId> written;
  flow::registers_written(i, written);
  return std::any_of(written.begin(), written.end(), [&](RegId r) { return registers.contains(r); });
}

bool reads_one_of(const Instruction& i, const std::set<RegId>& registers) {
  std::vector<RegId> read;
  flow::registers_read(i, read);
  return std::any_of(read.begin(), read.end(), [&](RegId r) { return registers.contains(r); });
}

}  // namespace

TouchedRegisters::TouchedRegisters(const ptx::Function& function, std::vector<std::string_view> operations)
    : function_(function), operations_(std::move(operations)), flow_(flow::build_control_flow(function)) {}

bool TouchedRegisters::is_operation(const Instruction& i) const {
  const std::string_view text = ptx::info(i.opcode).text;
  return std::any_of(operations_.begin(), operations_.end(), [&](std::string_view o) { return text.starts_with(o); });
}

std::set<RegId> TouchedRegisters::of_product(std::uint32_t instruction) const {
  std::set<RegId> all;
  if (instruction >= function_.body.size()) return all;
  const std::vector<Operand>& operands = function_.body[instruction].operands;
  for (std::size_t k = 0; k < 2 && k < operands.size(); ++k)
    if (operands[k].kind == OperandKind::vector) each_register(operands[k], [&](RegId r) { all.insert(r); });
  return all;
}

bool TouchedRegisters::passes(std::uint32_t from, std::uint32_t to, Opcode opcode, ptx::Modifier modifier) const {
  const std::vector<bool> between = reached(from, to);
  for (std::uint32_t n = 0; n < between.size(); ++n)
    if (between[n] && function_.body[n].opcode == opcode && function_.body[n].has(modifier)) return true;
  return false;
}

std::set<RegId> TouchedRegisters::of_load(std::uint32_t instruction) const {
  std::vector<RegId> written;
  if (instruction < function_.body.size()) flow::registers_written(function_.body[instruction], written);
  return {written.begin(), written.end()};
}

// Instructions on the ways from `from` to `to`, without both.
std::vector<bool> TouchedRegisters::reached(std::uint32_t from, std::uint32_t to) const {
  const auto count = static_cast<std::uint32_t>(function_.body.size());
  std::vector<bool> forward(count, false), backward(count, false);
  std::vector<std::uint32_t> work;
  const auto successors = [&](std::uint32_t at, auto&& visit) {
    const flow::BasicBlock& block = flow_.blocks[flow_.block_of[at]];
    if (at + 1 < block.end) return visit(at + 1);
    for (const std::uint32_t next : block.successors)
      if (next != flow_.exit()) visit(flow_.blocks[next].first);
  };
  const auto predecessors = [&](std::uint32_t at, auto&& visit) {
    const flow::BasicBlock& block = flow_.blocks[flow_.block_of[at]];
    if (at > block.first) return visit(at - 1);
    for (const std::uint32_t before : block.predecessors)
      if (flow_.blocks[before].end > 0) visit(flow_.blocks[before].end - 1);
  };
  const auto walk = [&](std::uint32_t start, std::vector<bool>& seen, auto&& neighbours) {
    const auto visit = [&](std::uint32_t at) {
      if (at >= count || seen[at] || is_operation(function_.body[at])) return;
      seen[at] = true;
      work.push_back(at);
    };
    neighbours(start, visit);
    while (!work.empty()) {
      const std::uint32_t at = work.back();
      work.pop_back();
      neighbours(at, visit);
    }
  };
  walk(from, forward, successors);
  if (to == kExit) return forward;
  walk(to, backward, predecessors);
  for (std::uint32_t i = 0; i < count; ++i) forward[i] = forward[i] && backward[i];
  return forward;
}

std::optional<TouchedRegisters::Touch> TouchedRegisters::touch(std::uint32_t from, std::uint32_t to,
                                                               std::set<RegId> registers, bool only_writes) const {
  if (from >= function_.body.size() || (to != kExit && to >= function_.body.size())) return std::nullopt;
  const std::vector<bool> between = reached(from, to);
  std::size_t known = 0;
  while (!only_writes && known != registers.size()) {  // copies of copies
    known = registers.size();
    for (std::uint32_t n = 0; n < between.size(); ++n) {
      const Instruction& i = function_.body[n];
      if (between[n] && i.opcode == Opcode::mov && reads_one_of(i, registers))
        each_register(i.operands[0], [&](RegId r) { registers.insert(r); });
    }
  }
  for (std::uint32_t n = 0; n < between.size(); ++n) {
    const Instruction& i = function_.body[n];
    if (!between[n] || i.opcode == Opcode::mov) continue;
    if (writes_one_of(i, registers)) return Touch{n, true};
    if (!only_writes && reads_one_of(i, registers)) return Touch{n, false};
  }
  return std::nullopt;
}

}  // namespace warpgrind::checkers
