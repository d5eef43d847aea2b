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

TEST(PtxSyntax, DefinitionsHoldForTheFormsBeforeThem) {
  const auto& forms = syntax_forms(Opcode::mul);
  ASSERT_EQ(forms.size(), 3u);
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
