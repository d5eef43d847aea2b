// Search for access groups in each basic block.
#include "codegen/kernel/access_groups.h"

#include <algorithm>

#include "base/assert.h"

namespace warpgrind::jit {

using ptx::Opcode;

// A leader that may still get followers.
struct AccessGroups::Open {
  ptx::RegId address;
  StateSpace space;
  std::uint32_t bytes, vector;  // per lane
  Opcode opcode;
  std::uint32_t leader;
  std::int64_t offset;
};

namespace {

const ptx::Operand& address_of(const ptx::Instruction& i) {
  return i.operands[i.opcode == Opcode::st ? 0 : 1];
}

bool plain(const ptx::Instruction& i) {
  return i.opcode == Opcode::ld || i.opcode == Opcode::st;
}

// Accesses of all active lanes (no guard), with a register as base address.
bool can_be_in_group(const ptx::Instruction& i) {
  if (!plain(i) || i.guard || (i.space != StateSpace::shared && i.space != StateSpace::global)) return false;
  return address_of(i).kind == ptx::OperandKind::address && address_of(i).base == ptx::OperandKind::reg;
}

// True if other lanes or other warps may run at the instruction, or if memory may differ after it.
bool ends_groups(const FunctionContext& f, std::uint32_t index) {
  const ptx::Instruction& i = f.function.body[index];
  const ptx::OpcodeInfo& info = ptx::info(i.opcode);
  if (f.wait_points.at(index) || f.wait_points.overtakes(index)) return true;
  if (info.has(ptx::Effects::convergent | ptx::Effects::ends_block) || i.opcode == Opcode::call ||
      info.waits != ptx::Waits::never)
    return true;
  return !plain(i) && info.has(ptx::Effects::reads | ptx::Effects::writes | ptx::Effects::may_trap);
}

}  // namespace

AccessGroups::AccessGroups(const FunctionContext& context) {
  const CompileOptions& options = context.unit.options;
  // Observers that see every access need each one separately.
  if (options.every_access || options.watched || options.definedness) return;
  for (const flow::BasicBlock& block : context.cfg.blocks) scan(context, block);
}

void AccessGroups::scan(const FunctionContext& f, const flow::BasicBlock& block) {
  std::vector<Open> open;
  std::vector<ptx::RegId> written;
  for (std::uint32_t n = block.first; n < block.end; ++n) {
    const ptx::Instruction& i = f.function.body[n];
    if (ends_groups(f, n)) open.clear();
    if (can_be_in_group(i)) add(open, n, i);
    written.clear();
    flow::registers_written(i, written);
    std::erase_if(open,
                  [&](const Open& o) { return std::find(written.begin(), written.end(), o.address) != written.end(); });
  }
}

void AccessGroups::add(std::vector<Open>& open, std::uint32_t index, const ptx::Instruction& i) {
  const ptx::Operand& address = address_of(i);
  const std::uint32_t bytes = std::max(1u, ptx::bytes(i.type())) * i.vector;
  for (const Open& o : open) {
    const std::int64_t distance = address.offset - o.offset;
    // A store may be illegal where a load is legal (constant memory has global addresses, too). Also, a single store
    // that follows a load is slower than a store with its own check: a tree reduction by 6 %.
    const bool alike = o.opcode == i.opcode;
    if (o.address != address.index || o.space != i.space || o.bytes != bytes || o.vector != i.vector || !alike ||
        distance % bytes != 0)
      continue;
    WG_ASSERT(o.leader < index && !followers_.contains(o.leader));
    followers_[index] = {o.leader, distance};
    leaders_.insert(o.leader);
    return;
  }
  open.push_back({address.index, i.space, bytes, i.vector, i.opcode, index, address.offset});
}

std::optional<AccessGroups::Follows> AccessGroups::follows(std::uint32_t instruction) const {
  const auto found = followers_.find(instruction);
  return found == followers_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace warpgrind::jit
