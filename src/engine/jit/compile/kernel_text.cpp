// Text of a kernel for the disk cache's key, and the places of cached facts.
#include "jit/compile/kernel_text.h"

#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "ptx/inlining.h"
#include "ptx/printer.h"

namespace warpgrind::jit {

namespace {

using ptx::OperandKind;

class Collector {
 public:
  explicit Collector(const ptx::Module& module) : module_(module) {}

  void add(std::uint32_t index) {
    if (whole_module_ || !functions.insert(index).second) return;
    const ptx::Function& f = module_.functions[index];
    // The text lacks unknown instructions. Tables name functions, and an alias is another function's body.
    if (!f.unknown.empty() || !f.tables.empty() || f.alias_of != ptx::kNoId) whole_module_ = true;
    for (const ptx::Instruction& i : f.body) {
      const bool calls = i.opcode == ptx::Opcode::call;
      for (std::size_t k = 0; k < i.operands.size(); ++k) {
        const ptx::Operand& o = i.operands[k];
        if (!calls || k > 0) {
          visit(o);
        } else if (o.kind == OperandKind::function && !module_.functions[o.index].is_entry) {
          add(o.index);
        } else {
          whole_module_ = true;
        }
      }
      for (const ptx::Operand& o : i.arguments) visit(o);
      for (const ptx::Operand& o : i.results) visit(o);
    }
  }

  std::set<std::uint32_t> functions, variables;
  bool depends_on_whole_module() const { return whole_module_; }

 private:
  void visit(const ptx::Operand& o) {
    // Machine code has numbers of functions. The text lacks components.
    if (o.kind == OperandKind::function || o.component != 0xff) whole_module_ = true;
    const bool variable =
        o.kind == OperandKind::variable || (o.kind == OperandKind::address && o.base == OperandKind::variable);
    if (variable && o.scope == ptx::Scope::module) variables.insert(o.index);
    for (const ptx::Operand& e : o.elements) visit(e);
  }

  const ptx::Module& module_;
  bool whole_module_ = false;
};

// Index of the variable in the module's table, for an origin in shared memory that is no variable of the function.
void set_index(events::AddressOrigin& origin, const ptx::Function& function,
               const std::unordered_map<std::string_view, std::uint32_t>& shared) {
  using Kind = events::AddressOrigin::Kind;
  if (origin.kind != Kind::shared && origin.kind != Kind::dynamic_shared) return;
  if (origin.index < function.variables.size() && function.variables[origin.index].name == origin.name &&
      function.variables[origin.index].space == StateSpace::shared)
    return;
  const auto found = shared.find(origin.name);
  if (found != shared.end()) origin.index = found->second;
}

}  // namespace

std::optional<std::string> kernel_text(const ptx::Module& module, std::uint32_t entry) {
  Collector used(module);
  used.add(entry);
  if (used.depends_on_whole_module()) return std::nullopt;
  std::string out = fmt::format("{}.{} {} {} {}\n", module.version_major, module.version_minor, module.target,
                                module.address_size, module.debug);
  // Machine code has the number of a variable, except of those in shared memory. These lie there in this order.
  for (const std::uint32_t v : used.variables) {
    const ptx::Variable& variable = module.variables[v];
    if (variable.space != StateSpace::shared) out += fmt::format("{}: ", v);
    out += print(variable, module) + '\n';
  }
  for (const std::uint32_t f : used.functions) out += print_code(module.functions[f], module);
  return out;
}

bool set_places(events::KernelFacts& facts, const ptx::Module& module) {
  facts.files = module.files;
  std::unordered_map<std::string_view, const ptx::Function*> functions;
  for (const ptx::Function& f : module.functions) functions.emplace(f.name, &f);
  std::unordered_map<std::string_view, std::uint32_t> shared;
  for (std::uint32_t v = 0; v < module.variables.size(); ++v)
    if (module.variables[v].space == StateSpace::shared) shared.emplace(module.variables[v].name, v);
  const auto function_of = [&](const auto& fact, std::uint64_t end) -> const ptx::Function* {
    const auto found = functions.find(fact.function);
    return found != functions.end() && end <= found->second->body.size() ? found->second : nullptr;
  };
  for (events::Site& site : facts.sites) {
    const ptx::Function* f = function_of(site, std::uint64_t{site.instruction} + 1);
    if (!f) return false;
    site.file = site.line = 0;
    site.ptx_line = f->body[site.instruction].range.line;
    ptx::set_place(site, module, *f, f->body[site.instruction]);
    for (events::AddressOrigin& origin : site.origins) set_index(origin, *f, shared);
  }
  for (events::BranchFacts& branch : facts.branches) {
    const ptx::Function* f = function_of(branch, std::uint64_t{branch.instruction} + 1);
    if (!f) return false;
    branch.file = branch.line = 0;
    branch.ptx_line = f->body[branch.instruction].range.line;
    ptx::set_place(branch, module, *f, f->body[branch.instruction]);
  }
  for (events::BlockFacts& block : facts.blocks) {
    const std::uint64_t end = std::uint64_t{block.first_instruction} + block.instruction_count;
    const ptx::Function* f = function_of(block, end);
    if (!f) return false;
    block.file = block.line = 0;
    for (std::uint64_t n = block.first_instruction; n < end && !block.line; ++n)
      ptx::set_place(block, module, *f, f->body[n]);
  }
  return true;
}

}  // namespace warpgrind::jit
