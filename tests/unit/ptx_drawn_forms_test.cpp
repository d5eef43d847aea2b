// Forms drawn at random from the opcode table, right and wrong: each is taken or refused as by ptxas 13.0
// (tests/data/forms/record.py).
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "ptx/architecture.h"
#include "ptx/parser.h"
#include "read_file.h"

namespace warpgrind::ptx {
namespace {

struct Target {
  const char* name;
  unsigned architecture;
};
constexpr Target kTargets[] = {{"sm_90a", 90}, {"sm_100a", 100}, {"sm_120a", 120}};  // in the order of the marks

bool is_taken(const std::string& head, const std::string& form, unsigned architecture) {
  const auto parsed = parse(head + form + "\nLAB: ret;\n}\n", "form.ptx");
  if (!parsed.ok()) return false;
  for (const Function& f : (*parsed)->functions) {
    if (!f.unknown.empty()) return false;
    for (const Instruction& i : f.body) {
      const unsigned last = last_architecture(i);
      if (needed_architecture(i) > architecture || (last != 0 && last < architecture)) return false;
    }
  }
  return true;
}

TEST(PtxDrawnForms, AreTakenOrRefusedAsByPtxas) {
  const std::string folder = WARPGRIND_TESTS "/data/forms/", head = read_file(folder + "head.txt");
  std::string heads[std::size(kTargets)];
  for (std::size_t t = 0; t < std::size(kTargets); ++t) {
    heads[t] = head;
    heads[t].replace(head.find("sm_90a"), 6, kTargets[t].name);
  }
  std::ifstream file(folder + "drawn.txt");
  unsigned forms = 0;
  for (std::string line; std::getline(file, line); ++forms)
    for (std::size_t t = 0; t < std::size(kTargets); ++t) {
      const std::string form = line.substr(std::size(kTargets) + 1);
      EXPECT_EQ(is_taken(heads[t], form, kTargets[t].architecture), line[t] == '+') << kTargets[t].name << ": " << form;
    }
  EXPECT_GT(forms, 2500u);
}

}  // namespace
}  // namespace warpgrind::ptx
