// Modules of tests/debuginfo, and texts of what a DebugInfo says about them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>

#include "debuginfo/debug_info.h"
#include "ptx/parser.h"
#include "read_file.h"

namespace warpgrind::debuginfo {

inline std::string debuginfo_file(const std::string& name) {
  return read_file(std::string(WARPGRIND_TESTS) + "/debuginfo/" + name);
}

inline std::shared_ptr<ptx::Module> debuginfo_module(const std::string& name) {
  auto module = ptx::parse(debuginfo_file(name), name);
  EXPECT_TRUE(module) << module.error().message << '\n' << module.error().detail;
  return module ? *module : std::make_shared<ptx::Module>();
}

// Number of the first line of a source that contains `text`.
inline std::uint32_t line_of(const std::string& source, const std::string& text) {
  std::istringstream in(debuginfo_file(source));
  std::string line;
  for (std::uint32_t n = 1; std::getline(in, line); ++n)
    if (line.find(text) != std::string::npos) return n;
  ADD_FAILURE() << text << " is not in " << source;
  return 0;
}

// "reg %r1", "local __local_depot0+8", "none"
inline std::string location_text(const Location& location, const ptx::Module& module, std::uint32_t function) {
  if (const auto* r = std::get_if<InRegister>(&location))
    return "reg " + module.functions[function].registers[r->reg].name;
  if (const auto* v = std::get_if<InVariable>(&location)) {
    const bool own = v->scope == ptx::Scope::function;
    const ptx::Variable& variable =
        own ? module.functions[function].variables[v->variable] : module.variables[v->variable];
    return fmt::format("{} {}+{}", name(v->space), variable.name, v->offset);
  }
  if (const auto* a = std::get_if<AtRegister>(&location))
    return fmt::format("{}[{}+{}]{}", name(a->space), module.functions[function].registers[a->reg].name, a->offset,
                       a->indirect ? " indirect" : "");
  if (const auto* a = std::get_if<AtAddress>(&location)) return fmt::format("{} at {:#x}", name(a->space), a->address);
  if (const auto* c = std::get_if<ConstantValue>(&location)) {
    std::string out = "constant";
    for (const std::uint8_t byte : c->bytes) out += fmt::format(" {}", byte);
    return out;
  }
  return std::holds_alternative<Pieces>(location) ? "pieces" : "none";
}

// "square<float>:5 cube<float>:10 inlined:25"
inline std::string frames_text(const DebugInfo& info, CodePlace code) {
  std::string out;
  for (const Frame& f : info.frames(code))
    out += fmt::format("{}{}:{}", out.empty() ? "" : " ", f.function, f.place.line);
  return out;
}

// Index of the function whose readable name this is.
inline std::uint32_t function_of(const DebugInfo& info, const std::string& name) {
  for (std::uint32_t f = 0; f < info.module().functions.size(); ++f)
    if (info.module().functions[f].has_body && info.function(f).name == name) return f;
  ADD_FAILURE() << "no function " << name;
  return 0;
}

}  // namespace warpgrind::debuginfo
