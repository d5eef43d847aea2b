// The opcode table: its rows agree with themselves, and docs/opcodes.md is what it says. WARPGRIND_REBASE=1 rewrites
// the document.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "ptx/opcode.h"
#include "ptx/spelling.h"

namespace warpgrind::ptx {
namespace {

Opcode opcode(unsigned index) {
  return static_cast<Opcode>(index);
}

TEST(PtxOpcodes, NamesAreUniqueAndFound) {
  std::set<std::string_view> seen;
  for (unsigned k = 0; k < kOpcodes; ++k) {
    EXPECT_TRUE(seen.insert(name(opcode(k))).second) << name(opcode(k));
    EXPECT_EQ(opcode_from_text(name(opcode(k))), opcode(k));
    EXPECT_FALSE(info(opcode(k)).description.empty());
  }
  seen.clear();
  for (unsigned k = 0; k < kModifiers; ++k) {
    const auto m = static_cast<Modifier>(k);
    EXPECT_TRUE(seen.insert(name(m)).second) << name(m);
    EXPECT_EQ(modifier_from_text(name(m)), m);
  }
}

TEST(PtxOpcodes, SyntaxLinesStartWithTheOpcode) {
  for (unsigned k = 0; k < kOpcodes; ++k) {
    const OpcodeInfo& facts = info(opcode(k));
    EXPECT_TRUE(facts.syntax.starts_with(facts.text)) << facts.text;
  }
}

TEST(PtxOpcodes, ArityIsReadFromTheSyntax) {
  const auto is = [](Opcode o, unsigned least, unsigned most, bool address) {
    EXPECT_EQ(arity(o).minimum, least) << name(o);
    EXPECT_EQ(arity(o).maximum, most) << name(o);
    EXPECT_EQ(arity(o).address, address) << name(o);
  };
  is(Opcode::add, 3, 3, false);
  is(Opcode::setp, 3, 5, false);
  is(Opcode::ld, 2, 3, true);
  is(Opcode::st, 2, 3, true);
  is(Opcode::shfl, 4, 6, false);
  is(Opcode::bar, 1, 4, false);
  is(Opcode::ret, 0, 0, false);
  is(Opcode::bra, 1, 1, false);
  is(Opcode::elect, 3, 3, false);
  is(Opcode::mbarrier_arrive, 2, 3, true);
  is(Opcode::fence_proxy, 0, 2, false);
  EXPECT_EQ(arity(Opcode::cvt).minimum_types, 2);
  EXPECT_EQ(arity(Opcode::bar).minimum_types, 0);
}

std::string document() {
  std::string out =
      "# PTX opcodes\n\nMade from `src/ptx/opcodes.inc` by the test `ptx_opcodes`; do not edit. All of them are "
      "parsed; one that does not run says why, and "
      "`warpgrind scan` which of those a program uses.\n\n| opcode | since PTX | class | what it does | syntax | "
      "refused "
      "|\n|---|---|---|---|---|---|\n";
  for (unsigned k = 0; k < kOpcodes; ++k) {
    const OpcodeInfo& facts = info(opcode(k));
    std::string syntax;
    for (char c : facts.syntax) syntax += c == '|' ? std::string("\\|") : std::string(1, c);
    out += fmt::format("| `{}` | {}.{} | {} | {} | `{}` | {} |\n", facts.text, facts.since.major, facts.since.minor,
                       warpgrind::name(facts.op_class), facts.description, syntax, facts.refused);
  }
  return out;
}

TEST(PtxOpcodes, DocumentIsUpToDate) {
  const auto path = std::filesystem::path(WARPGRIND_TESTS).parent_path() / "docs" / "opcodes.md";
  if (std::getenv("WARPGRIND_REBASE")) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << document();
    return;
  }
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), document()) << "WARPGRIND_REBASE=1 rewrites docs/opcodes.md";
}

}  // namespace
}  // namespace warpgrind::ptx
