// Functions, blocks, inlined calls and variables, against what llvm-dwarfdump reads in the same PTX
// (tests/debuginfo/record.py).
#include "debuginfo_fixture.h"

namespace {

using namespace warpgrind;
using namespace warpgrind::debuginfo;

std::string code_text(const Scope& scope) {
  return scope.code.empty() ? "" : fmt::format(" {}-{}", scope.code[0].begin, scope.code[0].end);
}

void write_scope(const Scope& scope, const ptx::Function& function, unsigned depth, std::string& out) {
  const std::string indent(2 * std::size_t{depth}, ' ');
  for (const Variable& v : scope.variables) {
    const char* word = v.kind == VariableKind::parameter ? "parameter" : "variable";
    out += fmt::format("{}{} {} {}", indent, word, v.name, v.declared.line);
    const auto* reg = std::get_if<InRegister>(&v.location);
    if (v.ranges.empty() && reg) out += ' ' + function.registers[reg->reg].name;
    out += '\n';
  }
  for (const Scope& inner : scope.inner) {
    if (inner.kind == ScopeKind::block)
      out += fmt::format("{}block{}\n", indent, code_text(inner));
    else
      out += fmt::format("{}inlined {} {} called {}{}\n", indent, inner.linkage_name, inner.declared.line,
                         inner.called.line, code_text(inner));
    write_scope(inner, function, depth + 1, out);
  }
}

// Functions of the DWARF in the order of `expected`, in its form.
std::string scopes_text(const DebugInfo& info, const std::string& expected) {
  std::string out;
  std::istringstream in(expected);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("function ")) continue;
    const std::string name = line.substr(9, line.rfind(' ') - 9);
    for (std::uint32_t f = 0; f < info.module().functions.size(); ++f) {
      const ptx::Function& function = info.module().functions[f];
      if (function.name != name || !function.has_body) continue;
      out += fmt::format("function {} {}\n", name, info.function(f).declared.line);
      write_scope(info.function(f), function, 1, out);
    }
  }
  return out;
}

class DebugScopes : public ::testing::TestWithParam<const char*> {};

TEST_P(DebugScopes, AreThoseOfLlvmDwarfdump) {
  const std::string expected = debuginfo_file(std::string(GetParam()) + ".scopes");
  ASSERT_FALSE(expected.empty());
  const DebugInfo info(debuginfo_module(std::string(GetParam()) + ".ptx"));
  EXPECT_EQ(scopes_text(info, expected), expected);
  EXPECT_TRUE(info.problems().empty()) << info.problems()[0];
}

INSTANTIATE_TEST_SUITE_P(Compilers, DebugScopes, ::testing::Values("shapes_nvcc", "shapes_clang", "inlined_nvcc"));

}  // namespace
