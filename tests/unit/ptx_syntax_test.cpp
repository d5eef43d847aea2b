// The forms that the rows of opcodes.inc accept, against those that NVIDIA's assembler accepts (tests/data/forms).
#include <gtest/gtest.h>

#include <sstream>

#include "ptx/parser.h"
#include "ptx/syntax.h"
#include "read_file.h"

namespace warpgrind::ptx {
namespace {

// Returns "" if the text is accepted.
std::string why_refused(const std::string& text) {
  const auto module = parse(text, "form");
  if (!module) return module.error().message;
  for (const Function& f : (*module)->functions)
    if (!f.unknown.empty()) return f.unknown[0].why;
  return "";
}

struct FormCounts {
  unsigned taken = 0, refused = 0;
};

FormCounts compare_forms(const std::string& architecture) {
  const std::string head = read_file(WARPGRIND_TESTS "/data/forms/head" + architecture + ".txt");
  std::istringstream lines(read_file(WARPGRIND_TESTS "/data/forms/forms" + architecture + ".txt"));
  FormCounts counts;
  for (std::string line; std::getline(lines, line);) {
    const std::string why = why_refused(head + line.substr(2) + "\nret;\n}\n");
    EXPECT_EQ(line[0] == '+', why.empty()) << line << " " << why;
    ++(line[0] == '+' ? counts.taken : counts.refused);
  }
  return counts;
}

TEST(PtxSyntax, FormsAreThoseOfTheAssembler) {
  const FormCounts counts = compare_forms("");
  EXPECT_GT(counts.taken, 2000u);
  EXPECT_GT(counts.refused, 300u);
}

// tcgen05 and clusterlaunchcontrol, for sm_100a.
TEST(PtxSyntax, FormsOfBlackwellAreThoseOfTheAssembler) {
  const FormCounts counts = compare_forms("_100a");
  EXPECT_GT(counts.taken, 500u);
  EXPECT_GT(counts.refused, 70u);
}

// ptxas 13.0 for sm_100 takes '_' among the sources of a store of 256 bits, unless all are '_'.
TEST(PtxSyntax, AWideStoreLeavesOutParts) {
  const std::string head =
      ".version 9.0\n.target sm_100\n.address_size 64\n.visible .entry k() {\n"
      ".reg .b16 %h<4>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<4>;\n";
  for (const char* taken :
       {"st.global.v8.b32 [%d1], {%r1, _, %r2, %r3, %r4, %r5, _, %r6};",
        "st.weak.global.wb.v4.b64 [%d1], {%d1, _, _, %d2};", "st.global.v8.f32 [%d1], {%f1, _, _, _, _, _, _, _};"})
    EXPECT_EQ(why_refused(head + taken + "\nret;\n}\n"), "") << taken;
  for (const char* refused :
       {"st.global.v8.b32 [%d1], {_, _, _, _, _, _, _, _};", "st.global.v4.b32 [%d1], {%r1, _, _, %r2};",
        "st.global.v2.b64 [%d1], {%d1, _};", "st.global.v4.b16 [%d1], {%h1, _, _, %h1};"})
    EXPECT_NE(why_refused(head + refused + "\nret;\n}\n"), "") << refused;
}

TEST(PtxSyntax, DefinitionsHoldForTheFormsBeforeThem) {
  const auto& forms = syntax_forms(Opcode::mul);
  ASSERT_GE(forms.size(), 3u);
  EXPECT_EQ(forms[0].types.at(0).types.size(), 6u);
  EXPECT_EQ(forms[1].types.at(0).types.size(), 4u);
  EXPECT_EQ(forms[1].operands.at(0).times, 2u);
  EXPECT_EQ(forms[1].operands.at(1).times, 1u);
}

// A row whose operands have no type would let anything reach its lowering.
TEST(PtxSyntax, EveryOperandOfARowSaysWhatItIs) {
  for (unsigned k = 0; k < kOpcodes; ++k) {
    const auto opcode = static_cast<Opcode>(k);
    if (!info(opcode).refused.empty() || opcode == Opcode::call) continue;
    for (const SyntaxForm& form : syntax_forms(opcode)) {
      for (const TypeSlot& t : form.types) EXPECT_FALSE(t.types.empty()) << info(opcode).text << " ." << t.name;
      for (const OperandSlot& o : form.operands) {
        const bool typed = o.type != ScalarType::none || o.type_slot >= 0;
        const bool needs_type = o.takes == OperandSlot::Takes::value || o.takes == OperandSlot::Takes::vector ||
                                o.takes == OperandSlot::Takes::parts || o.takes == OperandSlot::Takes::fragment;
        EXPECT_TRUE(typed || !needs_type) << info(opcode).text << " " << o.name;
      }
    }
  }
}

}  // namespace
}  // namespace warpgrind::ptx
