// Each row of ptx/opcodes.inc that can run is run by some PTX of the tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "ptx/parser.h"
#include "read_file.h"

namespace warpgrind {
namespace {

TEST(OpcodeUse, EveryLoweredOpcodeIsInSomeTest) {
  std::set<ptx::Opcode> used;
  for (const char* folder : {WARPGRIND_TESTS "/data", WARPGRIND_BUILD "/tests/cases/exec",
                             WARPGRIND_BUILD "/tests/cases/hardware", WARPGRIND_BUILD "/tests/tensor_copies/cases"}) {
    ASSERT_TRUE(std::filesystem::exists(folder)) << folder << ": the build's target test_cases writes it";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".ptx") continue;
      const auto module = ptx::parse(read_file(entry.path()), entry.path().filename().string());
      ASSERT_TRUE(module.ok()) << entry.path() << ": " << module.error().message;
      for (const ptx::Function& f : (*module)->functions)
        for (const ptx::Instruction& i : f.body) used.insert(i.opcode);
    }
  }
  unsigned lowered = 0;
  for (unsigned k = 0; k < ptx::kOpcodes; ++k) {
    const auto opcode = static_cast<ptx::Opcode>(k);
    if (!ptx::info(opcode).refused.empty()) continue;
    ++lowered;
    EXPECT_TRUE(used.contains(opcode)) << "no PTX under tests/ uses " << ptx::name(opcode);
  }
  EXPECT_GT(lowered, 140u);
}

}  // namespace
}  // namespace warpgrind
