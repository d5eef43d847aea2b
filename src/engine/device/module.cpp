// Loaded modules: allocation and initial values of variables.
#include "device/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "device/memory/address_space.h"

namespace warpgrind::device {

LoadedModule::~LoadedModule() {
  for (std::uint32_t v = 0; v < globals_.size(); ++v)
    if (globals_[v] && !placed_.contains(module_->variables[v].name)) AddressSpace::instance().release(globals_[v]);
}

Status LoadedModule::place() {
  const auto& variables = module_->variables;
  globals_.assign(variables.size(), 0);
  for (std::uint32_t v = 0; v < variables.size(); ++v) {
    const ptx::Variable& variable = variables[v];
    if (variable.space == StateSpace::shared) continue;
    if (variable.linkage == ptx::Linkage::external)
      return Error{
          ErrorKind::bad_input,
          fmt::format("{}: the variable {} is declared extern, but no module defines it", module_->name, variable.name),
          "link the object that defines it (nvcc -rdc=true)"};
    Range attributes;
    attributes.device = device_;
    attributes.constant = variable.space == StateSpace::constant;
    attributes.managed = variable.managed;
    const std::uint64_t size = std::max<std::uint64_t>(variable.size, 1);
    if (const auto at = placed_.find(variable.name); at != placed_.end()) {
      AddressSpace::instance().register_host(at->second, size, true);
      globals_[v] = at->second;
      continue;
    }
    auto address = AddressSpace::instance().allocate(size, variable.alignment, attributes);
    if (!address) return address.error();
    globals_[v] = *address;
    bytes_ += size;
  }
  for (std::uint32_t v = 0; v < variables.size(); ++v)
    if (globals_[v])
      if (Status status = initialise(v); !status) return status;
  return Ok{};
}

Status LoadedModule::adopt(std::vector<std::uint64_t> globals) {
  const auto& variables = module_->variables;
  bool fits = globals.size() == variables.size();
  for (std::uint32_t v = 0; fits && v < variables.size(); ++v) {
    if (variables[v].space == StateSpace::shared) {
      fits = globals[v] == 0;
      continue;
    }
    const auto range = AddressSpace::instance().find(globals[v]);
    fits = range && range->high - globals[v] >= variables[v].size;
  }
  if (!fits)
    return Error{ErrorKind::bad_input, fmt::format("{}: these are the variables of another module", module_->name), ""};
  globals_ = std::move(globals);
  return Ok{};
}

Status LoadedModule::initialise(std::uint32_t index) {
  const ptx::Variable& variable = module_->variables[index];
  WG_ASSERT(globals_[index] != 0);
  auto* bytes = reinterpret_cast<std::uint8_t*>(globals_[index]);
  if (placed_.contains(variable.name)) {  // its value existed before main, and the host shares it
    if (variable.relocations.empty()) return Ok{};
    return Error{
        ErrorKind::unsupported,
        fmt::format("{}: the __managed__ variable {} has an address as its initial value, which is not supported",
                    module_->name, variable.name),
        "assign the address in main"};
  }
  if (!variable.initial.empty())
    std::memcpy(bytes, variable.initial.data(), std::min<std::uint64_t>(variable.initial.size(), variable.size));
  for (const ptx::Relocation& r : variable.relocations) {
    std::uint64_t value = 0;
    if (r.is_function) {
      value = function_handle(r.target);
    } else {
      if (globals_[r.target] == 0)
        return Error{ErrorKind::unsupported,
                     fmt::format("{}: the initial value of {} is the address of shared variable {}", module_->name,
                                 variable.name, module_->variables[r.target].name),
                     ""};
      value = globals_[r.target];
    }
    value += static_cast<std::uint64_t>(r.addend);
    if (r.mask != ~0ull && r.mask != 0) value = (value & r.mask) >> __builtin_ctzll(r.mask);
    if (r.offset + r.size > variable.size) continue;
    std::memcpy(bytes + r.offset, &value, std::min<std::size_t>(r.size, sizeof value));
  }
  return Ok{};
}

std::optional<Device::Allocation> LoadedModule::variable(const std::string& name) const {
  for (std::uint32_t v = 0; v < module_->variables.size(); ++v) {
    const ptx::Variable& variable = module_->variables[v];
    if (variable.name == name && globals_[v])
      return Device::Allocation{globals_[v], variable.size, variable.managed, false, device_};
  }
  return std::nullopt;
}

void LoadedModule::for_variables(const std::function<void(const events::Allocation&)>& f) const {
  for (std::uint32_t v = 0; v < module_->variables.size(); ++v) {
    const ptx::Variable& variable = module_->variables[v];
    if (globals_[v])
      f({events::Allocation::Kind::variable, device_, globals_[v], std::max<std::uint64_t>(variable.size, 1),
         variable.name, nullptr, variable.managed && AddressSpace::instance().inside_reserved(globals_[v])});
  }
}

const flow::Definitions& LoadedModule::definitions(std::uint32_t function) {
  const std::lock_guard lock(facts_mutex_);
  const auto [at, fresh] = definitions_.try_emplace(function);
  WG_ASSERT(function < module_->functions.size());
  if (fresh) at->second = flow::find_definitions(module_->functions[function]);
  return at->second;
}

const jit::KernelLayout& LoadedModule::layout(std::uint32_t entry) {
  const std::lock_guard lock(facts_mutex_);
  const auto [at, fresh] = layouts_.try_emplace(entry);
  WG_ASSERT(entry < module_->functions.size());
  if (fresh) at->second = jit::lay_out(*module_, entry);
  return at->second;
}

bool LoadedModule::calls(const char* function) const {
  return std::any_of(module_->functions.begin(), module_->functions.end(),
                     [&](const ptx::Function& f) { return !f.has_body && f.name == function; });
}

bool LoadedModule::launches_kernels() const {
  return calls("__cudaCDP2GetParameterBufferV2") || calls("cudaGetParameterBufferV2");
}

}  // namespace warpgrind::device
