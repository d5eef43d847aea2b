// Names of the program that expressions can use. The debugger takes them from DebugInfo, tests from tables of their
// own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "debuginfo/debug_info.h"

namespace warpgrind::debugger {

class Symbols {
 public:
  virtual ~Symbols() = default;
  // As the functions of these names in DebugInfo.
  virtual const debuginfo::Type& type(debuginfo::TypeId id) const = 0;
  virtual std::string type_name(debuginfo::TypeId id) const = 0;
  virtual debuginfo::TypeId find_type(std::string_view name) const = 0;
  virtual std::vector<debuginfo::VisibleVariable> variables(debuginfo::CodePlace code, std::uint32_t frame) const = 0;
  virtual const std::vector<debuginfo::Variable>& globals() const = 0;
  virtual std::string why_no_variables(std::uint32_t function) const = 0;
  virtual std::vector<debuginfo::TypeId> enumerations_with(const std::string& /*enumerator*/) const { return {}; }
  virtual const ptx::Module* module() const { return nullptr; }  // null: there is no PTX
  // Registers of a PTX function.
  virtual const std::vector<ptx::Register>& registers(std::uint32_t function) const = 0;
};

// `info` must outlive it.
class ModuleSymbols final : public Symbols {
 public:
  explicit ModuleSymbols(const debuginfo::DebugInfo& info) : info_(info) {}
  const debuginfo::Type& type(debuginfo::TypeId id) const override { return info_.type(id); }
  std::string type_name(debuginfo::TypeId id) const override { return info_.type_name(id); }
  debuginfo::TypeId find_type(std::string_view name) const override { return info_.find_type(name); }
  std::vector<debuginfo::VisibleVariable> variables(debuginfo::CodePlace code, std::uint32_t frame) const override {
    return info_.variables(code, frame);
  }
  const std::vector<debuginfo::Variable>& globals() const override { return info_.globals(); }
  std::string why_no_variables(std::uint32_t function) const override { return info_.why_no_variables(function); }
  std::vector<debuginfo::TypeId> enumerations_with(const std::string& enumerator) const override {
    return info_.enumerations_with(enumerator);
  }
  const ptx::Module* module() const override { return &info_.module(); }
  const std::vector<ptx::Register>& registers(std::uint32_t function) const override {
    return info_.module().functions[function].registers;
  }

 private:
  const debuginfo::DebugInfo& info_;
};

}  // namespace warpgrind::debugger
