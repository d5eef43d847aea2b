// Description of an instruction as a site: space, size, memory order, source line, and origins of its addresses.
#include "codegen/kernel/sites.h"

#include <algorithm>
#include <vector>

#include "base/assert.h"
#include "base/element.h"
#include "codegen/families/matrix.h"
#include "codegen/kernel/access_facts.h"
#include "ptx/inlining.h"
#include "ptx/printer.h"

namespace warpgrind::jit {

using ptx::Modifier;
using ptx::Opcode;

namespace {

bool is_multimem(const ptx::Instruction& i) {
  return i.opcode == Opcode::multimem_ld_reduce || i.opcode == Opcode::multimem_st ||
         i.opcode == Opcode::multimem_red || i.opcode == Opcode::multimem_cp_async_bulk ||
         i.opcode == Opcode::multimem_cp_reduce_async_bulk;
}

// ptxas turns such an atomic into a reduction, and the hardware counts it as one.
bool result_is_never_read(const ptx::Function& function, const ptx::Instruction& atom) {
  std::vector<ptx::RegId> results, read;
  flow::registers_written(atom, results);
  for (const ptx::Instruction& i : function.body) {
    read.clear();
    flow::registers_read(i, read);
    for (const ptx::RegId r : results)
      if (std::find(read.begin(), read.end(), r) != read.end()) return false;
  }
  return true;
}

bool reads_tensor_map(Opcode opcode) {
  return opcode == Opcode::cp_async_bulk_tensor || opcode == Opcode::cp_reduce_async_bulk_tensor ||
         opcode == Opcode::cp_async_bulk_prefetch_tensor;
}

}  // namespace

// nullopt: the memory has no known bounds.
std::optional<events::AddressOrigin> Sites::origin(const flow::AddressSource& source) const {
  using From = flow::AddressSource::Kind;
  using Kind = events::AddressOrigin::Kind;
  const std::uint32_t v = source.index;
  if (source.kind == From::parameter) {
    const ParameterLayout& p = element(parameters_, v);
    return events::AddressOrigin{Kind::parameter, v, p.offset + source.offset, 0, f_.function.variables[v].name};
  }
  const bool of_module = source.kind == From::module_variable;
  const ptx::Variable& variable = of_module ? f_.unit.module->variables[v] : f_.function.variables[v];
  const KernelLayout& layout = *f_.unit.layout;
  switch (variable.space) {
    case StateSpace::shared: {
      const std::uint64_t at = of_module ? element(layout.shared_module, v)
                                         : element(layout.shared_function, std::pair{f_.function_index, v});
      return events::AddressOrigin{variable.unsized ? Kind::dynamic_shared : Kind::shared, v, at, variable.size,
                                   variable.name};
    }
    case StateSpace::local:  // frames of other functions have no fixed offset
      if (!f_.is_kernel) return std::nullopt;
      return events::AddressOrigin{Kind::local, v, element(layout.local, std::pair{f_.function_index, v}),
                                   variable.size, variable.name};
    case StateSpace::global:
    case StateSpace::constant:
      return events::AddressOrigin{Kind::variable, v, 0, variable.size, variable.name};
    default:
      return std::nullopt;
  }
}

// An instruction with several addresses has one site. If one address has an unknown origin, the whole site has.
// (cp.async is an exception: it has one address in each of two spaces.)
// A tensor copy reaches memory that its map names.
std::vector<events::AddressOrigin> Sites::origins() const {
  std::vector<events::AddressOrigin> out;
  if (reads_tensor_map(f_.instruction().opcode)) return out;
  for (const ptx::Operand& o : f_.instruction().operands) {
    if (o.kind != ptx::OperandKind::address) continue;
    const std::vector<flow::AddressSource> sources = f_.provenance.of(o);
    bool known = !sources.empty();
    std::vector<events::AddressOrigin> found;
    for (const flow::AddressSource& s : sources) {
      const auto one = origin(s);
      known = known && one;
      if (one) found.push_back(*one);
    }
    if (known)
      std::move(found.begin(), found.end(), std::back_inserter(out));
    else if (f_.instruction().opcode != Opcode::cp_async)
      return {};
  }
  return out;
}

events::Site Sites::describe() const {
  const ptx::Instruction& i = f_.instruction();
  events::Site site;
  WG_ASSERT(f_.now.index < f_.function.body.size() && &i == &f_.function.body[f_.now.index]);
  site.kind = ptx::info(i.opcode).site;
  site.space = i.space == StateSpace::none ? StateSpace::generic : i.space;
  site.element_bytes = static_cast<std::uint8_t>(std::max(1u, ptx::bytes(i.type())));
  site.vector = i.vector;
  if (i.opcode == Opcode::cp_async && i.operands.size() > 2) {  // the size is an operand (cp_async_bytes)
    site.element_bytes = static_cast<std::uint8_t>(std::min<std::uint64_t>(16, i.operands[2].bits));
    site.space = StateSpace::global;
  }
  site.multimem = is_multimem(i);
  if (i.opcode == Opcode::st_bulk) site.element_bytes = 8;
  if (site.kind == SiteKind::bulk_copy && i.opcode != Opcode::st_bulk) {  // space of the destination
    site.element_bytes = 1;
    site.space = i.has(Modifier::mbarrier_complete_tx_bytes) ? StateSpace::shared : StateSpace::global;
  }
  if (i.opcode == Opcode::clusterlaunchcontrol_try_cancel) site.space = StateSpace::shared;
  if (const unsigned bytes = matrix_request_bytes(i)) {  // wmma, ldmatrix, stmatrix: the type does not give the size
    site.element_bytes = static_cast<std::uint8_t>(std::min(bytes, i.type() == ptx::ScalarType::f64 ? 8u : 4u));
    site.vector = static_cast<std::uint8_t>(bytes / site.element_bytes);
  }
  site.is_volatile = i.has(Modifier::volatile_);
  site.non_coherent = i.has(Modifier::nc);
  site.at_l2 = i.has(Modifier::cg) || i.has(Modifier::cv) || i.has(Modifier::wt);
  // Exchanges always return a result: there is no red.exch or red.cas.
  site.no_return = i.opcode == Opcode::red || i.opcode == Opcode::cp_reduce_async_bulk ||
                   i.opcode == Opcode::cp_reduce_async_bulk_tensor ||
                   (i.opcode == Opcode::atom && !i.has(Modifier::exch) && !i.has(Modifier::cas) &&
                    result_is_never_read(f_.function, i));
  site.order = memory_order(i);
  site.scope = memory_scope(i);
  if (i.opcode == Opcode::atom || i.opcode == Opcode::red) site.shared_atomic = shared_atomic(i, site.no_return);
  site.ptx_line = i.range.line;
  ptx::set_place(site, *f_.unit.module, f_.function, i);
  site.instruction = f_.now.index;
  site.function = f_.function.name;
  const ptx::Function& written = f_.unit.module->functions[f_.function_index];
  site.text = ptx::print(written.body[f_.now.index], written, *f_.unit.module);
  site.origins = origins();
  return site;
}

llvm::ConstantInt* Sites::number() {
  if (f_.now.site == ptx::kNoId) {
    f_.now.site = static_cast<std::uint32_t>(f_.unit.facts.sites.size());
    f_.unit.facts.sites.push_back(describe());
  }
  return f_.ir().getInt32(f_.now.site);
}

}  // namespace warpgrind::jit
