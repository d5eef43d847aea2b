// Search for origins of undefined bits, backwards through the definitions of registers.
#include "device/definedness/origin_search.h"

#include <algorithm>
#include <deque>
#include <set>

#include "base/element.h"
#include "device/definedness/tracking.h"
#include "device/device_impl.h"
#include "device/memory/undefined_origins.h"
#include "device/module.h"
#include "flow/forms.h"
#include "jit/layout.h"

namespace warpgrind::device {

namespace {

using events::UndefinedOrigin;
using Use = events::UndefinedUse::Use;
using ptx::Operand;
using ptx::OperandKind;

void registers_of(const Operand& o, std::vector<ptx::RegId>& out) {
  if (o.kind == OperandKind::reg || (o.kind == OperandKind::address && o.base == OperandKind::reg))
    out.push_back(o.index);
  for (const Operand& e : o.elements) registers_of(e, out);
}

std::vector<ptx::RegId> registers_used(const ptx::Instruction& i, Use use) {
  std::vector<ptx::RegId> out;
  if (use == Use::branch && i.guard) {
    out.push_back(i.guard.reg);
  } else if (use == Use::address) {
    for (const Operand& o : i.operands)
      if (o.kind == OperandKind::address || i.opcode == ptx::Opcode::call) registers_of(o, out);
  } else {
    flow::registers_read(i, out);
  }
  return out;
}

std::vector<ptx::RegId> registers_stored(const ptx::Instruction& i) {
  std::vector<ptx::RegId> out;
  for (std::size_t k = flow::destination_operands(i); k < i.operands.size(); ++k)
    if (i.operands[k].kind != OperandKind::address) registers_of(i.operands[k], out);
  return out;
}

std::uint32_t function_named(const ptx::Module& module, const std::string& name) {
  for (std::uint32_t f = 0; f < module.functions.size(); ++f)
    if (module.functions[f].name == name) return f;
  return ptx::kNoId;
}

// Name of the variable at an offset of shared memory.
std::string shared_variable(const Launch& launch, std::uint64_t offset) {
  const ptx::Module& module = launch.module->module();
  const std::uint32_t entry = function_named(module, launch.kernel->code->facts().name);
  if (entry == ptx::kNoId) return "";
  const jit::KernelLayout& layout = launch.module->layout(entry);
  for (const auto& [v, at] : layout.shared_module) {
    const ptx::Variable& variable = element(module.variables, v);
    if (offset >= at && offset - at < variable.size) return variable.name;
  }
  for (const auto& [key, at] : layout.shared_function) {
    const ptx::Variable& variable = element(element(module.functions, key.first).variables, key.second);
    if (offset >= at && offset - at < variable.size) return variable.name;
  }
  return "";
}

// The registers, of those an instruction names, to search from.
using Pick = std::vector<ptx::RegId> (*)(const ptx::Instruction&);

FoundOrigin from_slice(jit::WarpContext& c, const events::Site& site, Pick pick) {
  const Launch& launch = launch_of(c);
  const std::uint32_t index = function_named(launch.module->module(), site.function);
  FoundOrigin found{{}, site.instruction};
  if (index == ptx::kNoId) return found;
  const flow::Definitions& definitions = launch.module->definitions(index);
  const ptx::Function& function = definitions.function;
  if (site.instruction >= function.body.size()) return found;
  const std::vector<ptx::RegId> from = pick(function.body[site.instruction]);
  const auto& sites = launch.kernel->code->facts().sites;
  const UndefinedLoads* loads = fiber_of(c).undefined_loads.get();
  struct Value {
    ptx::RegId reg;
    std::uint32_t compared;  // the last instruction on the way that makes a predicate
  };
  std::deque<Value> next;
  std::set<ptx::RegId> seen(from.begin(), from.end());
  for (const ptx::RegId r : seen) next.push_back({r, site.instruction});
  ptx::RegId unwritten = ptx::kNoId;
  while (!next.empty()) {
    const Value v = next.front();
    next.pop_front();
    if (unwritten == ptx::kNoId && definitions.unwritten[v.reg]) {
      unwritten = v.reg;
      found.instruction = v.compared;
    }
    const bool predicate = function.registers[v.reg].type == ptx::ScalarType::pred;
    for (const std::uint32_t n : definitions.of[v.reg]) {
      const auto met = [&](const UndefinedLoad& l) {
        return sites[l.site].instruction == n && sites[l.site].function == site.function;
      };
      if (loads)
        if (const auto l = std::find_if(loads->of.begin(), loads->of.end(), met); l != loads->of.end())
          return {origin_of_memory(c, *l), v.compared};
      if (ptx::info(function.body[n].opcode).has(ptx::Effects::reads)) continue;
      std::vector<ptx::RegId> read;
      flow::registers_read(function.body[n], read);
      for (const ptx::RegId s : read)
        if (seen.insert(s).second) next.push_back({s, predicate ? n : v.compared});
    }
  }
  if (unwritten == ptx::kNoId) return found;
  found.origin.kind = UndefinedOrigin::Kind::register_;
  found.origin.object = function.registers[unwritten].name;
  return found;
}

}  // namespace

UndefinedOrigin origin_of_memory(jit::WarpContext& c, const UndefinedLoad& load) {
  const WarpFiber& f = fiber_of(c);
  const bool private_space = load.space == StateSpace::shared || load.space == StateSpace::local;
  const UndefinedOrigins::Owner owner =
      private_space ? UndefinedOrigins::Owner{f.worker->launch->serial + 1, f.block_linear} : UndefinedOrigins::Owner{};
  if (auto moved = UndefinedOrigins::instance().find(load.host, owner)) return *moved;
  UndefinedOrigin origin;
  origin.address = load.address;
  origin.kind = load.space == StateSpace::shared  ? UndefinedOrigin::Kind::shared
                : load.space == StateSpace::local ? UndefinedOrigin::Kind::local
                                                  : UndefinedOrigin::Kind::memory;
  if (load.space == StateSpace::shared) origin.object = shared_variable(*f.worker->launch, load.address);
  return origin;
}

FoundOrigin origin_of_use(jit::WarpContext& c, std::uint32_t site, Use use) {
  const events::Site& s = launch_of(c).kernel->code->facts().sites[site];
  switch (use) {
    case Use::branch:
      return from_slice(c, s, [](const ptx::Instruction& i) { return registers_used(i, Use::branch); });
    case Use::address:
      return from_slice(c, s, [](const ptx::Instruction& i) { return registers_used(i, Use::address); });
    default:
      return from_slice(c, s, [](const ptx::Instruction& i) { return registers_used(i, Use::operand); });
  }
}

bool stores_arithmetic(jit::WarpContext& c, std::uint32_t site) {
  const Launch& launch = launch_of(c);
  const events::Site& s = launch.kernel->code->facts().sites[site];
  const std::uint32_t index = function_named(launch.module->module(), s.function);
  if (index == ptx::kNoId) return false;
  const flow::Definitions& definitions = launch.module->definitions(index);
  const auto& body = definitions.function.body;
  if (s.instruction >= body.size()) return false;
  const std::vector<ptx::RegId> stored = registers_stored(body[s.instruction]);
  const auto computes = [&](std::uint32_t n) {
    using enum ptx::Opcode;
    static constexpr ptx::Opcode kArithmetic[] = {add, sub, mul, mad, mul24, mad24, sad, fma, div, min, max};
    return std::find(std::begin(kArithmetic), std::end(kArithmetic), body[n].opcode) != std::end(kArithmetic);
  };
  return !stored.empty() && std::all_of(stored.begin(), stored.end(), [&](ptx::RegId r) {
    const auto& made = definitions.of[r];
    return std::begin(made) != std::end(made) && std::all_of(std::begin(made), std::end(made), computes);
  });
}

UndefinedOrigin origin_of_stored(jit::WarpContext& c, std::uint32_t site) {
  const events::KernelFacts& facts = launch_of(c).kernel->code->facts();
  const events::Site& s = facts.sites[site];
  UndefinedOrigin origin = from_slice(c, s, registers_stored).origin;
  UndefinedOrigin::Step step;
  step.kernel = facts.name;
  if (s.line && s.file < facts.files.size()) step.file = facts.files[s.file];
  step.line = s.line;
  step.ptx_line = s.ptx_line;
  const bool again = !origin.way.empty() && origin.way.back() == step;  // a loop repeats the step
  if (!again && origin.way.size() < kLongestWay) origin.way.push_back(std::move(step));
  return origin;
}

}  // namespace warpgrind::device
