// Unpacking, linking and loading of a program's CUDA code, and the resources of its kernels.
#include "session/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/assert.h"
#include "device/module.h"
#include "jit/calls/symbols.h"
#include "jit/layout.h"
#include "ptx/architecture.h"
#include "ptx/device_runtime.h"
#include "ptx/linker.h"
#include "ptx/parser.h"
#include "ptx/printer.h"
#include "ptx/undefined.h"
#include "sass/registers.h"

namespace warpgrind::session {

Program::Program(Entries entries, std::uint32_t cc, std::string name)
    : read_entries_(std::move(entries)), cc_(cc), name_(std::move(name)) {}

Result<std::shared_ptr<const ptx::Module>> Program::build() {
  Result<std::vector<fatbin::FatbinEntry>> entries = read_entries_();
  if (!entries) return entries.error();
  entries_ = entries.take();
  std::vector<std::shared_ptr<ptx::Module>> modules;
  for (std::uint32_t image : fatbin::program_images(entries_)) {
    Result<fatbin::Choice> choice = fatbin::choose_ptx(entries_, image, cc_, fatbin::UnfitPtx::accept);
    if (!choice) {
      has_image_ = false;
      return choice.error();
    }
    if (choice->unfit) unfit_ = true;
    if (choice->unfit && !choice->machine_code) refused_by_model_ = true;
    Result<std::string> text = fatbin::ptx_text(*choice->entry);
    if (!text) return text.error();
    for (std::string& part : ptx::split_texts(text.take())) {
      std::string name =
          choice->entry->name.empty() ? fmt::format("{} (PTX {})", name_, modules.size() + 1) : choice->entry->name;
      Result<std::shared_ptr<ptx::Module>> parsed = ptx::parse(std::move(part), name);
      if (!parsed) return parsed.error();
      modules.push_back(parsed.take());
    }
  }
  Result<std::shared_ptr<ptx::Module>> runtime = ptx::device_runtime_for(modules);
  if (!runtime) return runtime.error();
  if (*runtime) modules.push_back(runtime.take());
  if (modules.size() == 1) return std::shared_ptr<const ptx::Module>(modules.front());
  Result<std::shared_ptr<ptx::Module>> linked = ptx::link(modules);
  if (!linked) return linked.error();
  return std::shared_ptr<const ptx::Module>(linked.take());
}

Result<std::shared_ptr<const ptx::Module>> Program::module() {
  std::lock_guard lock(mutex_);
  if (!module_) {
    module_ = build();
    if (module_->ok()) {
      const ptx::Module& m = *module_->value();
      for (std::uint32_t i = 0; i < m.functions.size(); i++)
        if (m.functions[i].has_body) functions_.emplace(m.functions[i].name, i);
    }
  }
  return *module_;
}

Result<device::LoadedModule*> Program::loaded(device::Device& device) {
  Result<std::shared_ptr<const ptx::Module>> m = module();
  if (!m) return m.error();
  std::lock_guard lock(mutex_);
  if (auto found = loaded_.find(device.ordinal()); found != loaded_.end()) return found->second;
  Result<device::LoadedModule*> result = device.load(*m, placed_);
  if (result) loaded_[device.ordinal()] = *result;
  return result;
}

Status Program::adopt(device::Device& device, std::vector<std::uint64_t> globals) {
  Result<std::shared_ptr<const ptx::Module>> m = module();
  if (!m) return m.error();
  Result<device::LoadedModule*> result = device::adopt_module(device, *m, std::move(globals));
  if (!result) return result.error();
  const std::lock_guard lock(mutex_);
  loaded_[device.ordinal()] = *result;
  return Ok{};
}

Status Program::place(const std::string& variable, void* host) {
  Result<std::shared_ptr<const ptx::Module>> m = module();
  if (!m) return m.error();
  const std::lock_guard lock(mutex_);
  for (const ptx::Variable& v : (*m)->variables) {
    if (v.name != variable) continue;
    std::memcpy(host, v.initial.data(), std::min<std::size_t>(v.initial.size(), v.size));
    placed_[variable] = reinterpret_cast<std::uint64_t>(host);
  }
  return Ok{};
}

void Program::unload(device::Device& device) {
  std::lock_guard lock(mutex_);
  auto found = loaded_.find(device.ordinal());
  if (found == loaded_.end()) return;
  device.unload(found->second);
  loaded_.erase(found);
}

std::optional<std::uint32_t> Program::function(const std::string& name) {
  if (!module()) return std::nullopt;
  auto found = functions_.find(name);
  if (found == functions_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Program::undefined_functions() {
  std::vector<std::string> out;
  const auto m = module();
  if (!m) return out;
  for (ptx::Undefined& one : ptx::undefined_references(**m))
    if (one.is_function && !jit::find_call_symbol("wg_call_" + one.name)) out.push_back(std::move(one.name));
  return out;
}

// ptxas allocates registers for one architecture. The best source is the nearest one not above the model, then the
// lowest one above it.
void Program::read_machine_code() {
  machine_code_.emplace();
  std::vector<const fatbin::FatbinEntry*> cubins;
  for (const fatbin::FatbinEntry& entry : entries_)
    if (entry.kind == fatbin::EntryKind::cubin) cubins.push_back(&entry);
  auto rank = [&](const fatbin::FatbinEntry* e) { return e->arch <= cc_ ? cc_ - e->arch : 1000 + e->arch - cc_; };
  std::stable_sort(cubins.begin(), cubins.end(), [&](auto* a, auto* b) { return rank(a) < rank(b); });
  for (const fatbin::FatbinEntry* cubin : cubins)
    if (auto found = fatbin::machine_code(*cubin))
      for (auto& [name, code] : *found)
        if (!machine_code_->contains(name))
          machine_code_->emplace(name, std::make_shared<const fatbin::MachineCode>(std::move(code)));
}

namespace {

void add_constants(const ptx::Module& module, const ptx::Operand& o, std::set<std::uint32_t>& out) {
  using ptx::OperandKind;
  const bool variable =
      o.kind == OperandKind::variable || (o.kind == OperandKind::address && o.base == OperandKind::variable);
  if (variable && o.scope == ptx::Scope::module && module.variables[o.index].space == StateSpace::constant)
    out.insert(o.index);
  for (const ptx::Operand& element : o.elements) add_constants(module, element, out);
}

}  // namespace

Result<KernelResources> Program::resources(const std::string& kernel) {
  {
    std::lock_guard lock(mutex_);
    if (auto found = resources_.find(kernel); found != resources_.end()) return found->second;
  }
  Result<std::shared_ptr<const ptx::Module>> m = module();
  if (!m) return m.error();
  std::optional<std::uint32_t> index = function(kernel);
  if (!index) return Error{ErrorKind::bad_input, fmt::format("{} has no kernel {}", name_, kernel), ""};
  jit::KernelLayout layout = jit::lay_out(**m, *index);
  KernelResources r;
  r.machine_code = machine_code(kernel);
  r.registers_exact = r.machine_code != nullptr;
  r.static_shared = layout.static_shared;
  if (r.machine_code) {
    r.registers = r.machine_code->registers;
    r.local_bytes = std::max(r.machine_code->frame_bytes, r.machine_code->stack_bytes);
    // More local memory than the PTX has: spilled registers, or those that a function saves for its caller. ptxas 13
    // names the instructions that spill; for others the estimate decides. A local array that ptxas keeps in registers
    // is part of the PTX's local memory only.
    const bool more = r.local_bytes > layout.local_bytes;
    if (!r.machine_code->spills.empty() ||
        (more && sass::estimate_registers(**m, *index, cc_).needed > r.registers + sass::kRegisterError))
      r.spill_bytes = more ? r.local_bytes - layout.local_bytes : r.local_bytes;
  } else {
    const sass::RegisterEstimate estimate = sass::estimate_registers(**m, *index, cc_);
    r.registers = estimate.registers;
    if (estimate.spills()) r.spill_bytes = sass::estimate_spills(sass::code_of(**m, *index), **m, estimate.limit).bytes;
    r.local_bytes = layout.local_bytes + r.spill_bytes;
  }
  std::set<std::uint32_t> constants;
  for (std::uint32_t f : layout.functions)
    for (const ptx::Instruction& i : (*m)->functions[f].body)
      for (const ptx::Operand& o : i.operands) add_constants(**m, o, constants);
  for (std::uint32_t v : constants) r.constant_bytes += (*m)->variables[v].size;
  std::lock_guard lock(mutex_);
  resources_[kernel] = r;
  return r;
}

std::optional<Error> Program::beyond_model(std::uint32_t kernel, const ptx::Module& module) const {
  const auto capability = [](unsigned architecture) {
    return fmt::format("{}.{}", architecture / 10, architecture % 10);
  };
  for (std::uint32_t f : jit::lay_out(module, kernel).functions)
    for (const ptx::Instruction& i : module.functions[f].body) {
      const unsigned needed = ptx::needed_architecture(i), last = ptx::last_architecture(i);
      if (needed <= cc_ && (last == 0 || cc_ <= last)) continue;
      const bool is_newer = needed > cc_;
      return Error{
          ErrorKind::unsupported,
          fmt::format("the kernel {} has the instruction \"{}\" (PTX line {}), which {} compute capability {}; "
                      "the modelled GPU has {}",
                      module.functions[kernel].name, ptx::print(i, module.functions[f], module), i.range.line,
                      is_newer ? "needs" : "ended with", capability(is_newer ? needed : last), capability(cc_)),
          fmt::format("choose {} GPU (--gpu; `warpgrind gpus` lists them), or compile for this one: nvcc "
                      "-arch=sm_{}",
                      is_newer ? "a newer" : "another", cc_)};
    }
  return std::nullopt;
}

Result<const KernelEntry*> Program::kernel(const std::string& name) {
  {
    std::lock_guard lock(mutex_);
    if (auto found = kernels_.find(name); found != kernels_.end()) return &found->second;
  }
  Result<KernelResources> needs = resources(name);
  if (!needs) return needs.error();
  Result<std::shared_ptr<const ptx::Module>> m = module();
  const std::optional<std::uint32_t> index = function(name);
  WG_ASSERT(index);  // resources() found it
  KernelEntry entry{name, *index, nullptr, {}, *needs, {}};
  entry.text = &(*m)->functions[entry.function];
  if (!entry.text->is_entry) return Error{ErrorKind::bad_input, fmt::format("{} is not a kernel", name), ""};
  entry.parameters = jit::parameter_layout(*entry.text);
  if (unfit_) entry.beyond_model = beyond_model(entry.function, **m);
  std::lock_guard lock(mutex_);
  return &kernels_.emplace(name, std::move(entry)).first->second;
}

std::shared_ptr<const fatbin::MachineCode> Program::machine_code(const std::string& kernel) {
  std::lock_guard lock(mutex_);
  if (!machine_code_) read_machine_code();
  const auto found = machine_code_->find(kernel);
  return found == machine_code_->end() ? nullptr : found->second;
}

sass::Spills Program::spills(const std::string& kernel, const sass::Code& code) {
  const Result<KernelResources> needs = resources(kernel);
  if (!needs || needs->spill_bytes == 0) return {};
  const std::shared_ptr<const ptx::Module> m = *module();
  if (needs->machine_code && !needs->machine_code->spills.empty())
    return sass::spills_of_binary(code, *m, needs->machine_code->spills, needs->machine_code->instructions,
                                  needs->spill_bytes);
  return sass::estimate_spills(code, *m, needs->registers);
}

}  // namespace warpgrind::session
