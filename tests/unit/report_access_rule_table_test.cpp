// The same accesses on all GPU models, against the documents' and the programming guide's statements for each rule.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gpu/gpu_model.h"
#include "report/access_rule_table.h"

namespace warpgrind::report {
namespace {

using Json = nlohmann::ordered_json;

std::size_t index_of(const Json& list, const std::string& member, const std::string& value) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i][member] == value) return i;
  ADD_FAILURE() << "no " << value;
  return 0;
}

TEST(AccessRuleTable, HasAllModelsAndExamples) {
  const Json table = access_rule_table();
  ASSERT_EQ(table["models"].size(), gpu_models().size());
  for (const Json& model : table["models"]) {
    EXPECT_EQ(model["global"].size(), table["global"].size());
    EXPECT_EQ(model["shared"].size(), table["shared"].size());
  }
  for (const char* space : {"global", "shared"})
    for (const Json& example : table[space]) EXPECT_EQ(example["addresses"].size(), 32u);
}

TEST(AccessRuleTable, AShiftByOneFloat) {
  const Json table = access_rule_table();
  const std::size_t shifted = index_of(table["global"], "name", "shifted by 1 float");
  const auto bytes = [&](const char* id) {
    std::uint64_t n = 0;
    for (const Json& piece : table["models"][index_of(table["models"], "id", id)]["global"][shifted])
      n += piece[1].get<std::uint64_t>();
    return n;
  };
  EXPECT_EQ(bytes("fx5600"), 1024u);  // 32 bytes a lane
  EXPECT_EQ(bytes("gtx280"),
            224u);                  // 64 + 128 bytes of the first half-warp's segments, shrunk, and those of the second
  EXPECT_EQ(bytes("m2090"), 256u);  // two lines
  EXPECT_EQ(bytes("h200"), 160u);   // five sectors
}

TEST(AccessRuleTable, AColumnOfATile) {
  const Json table = access_rule_table();
  const Json& h200 = table["models"][index_of(table["models"], "id", "h200")];
  EXPECT_EQ(h200["shared"][index_of(table["shared"], "name", "stride of 32 words")], 32);
  EXPECT_EQ(h200["shared"][index_of(table["shared"], "name", "stride of 33 words")], 1);
  EXPECT_EQ(h200["shared"][index_of(table["shared"], "name", "one word for all")], 1);
}

}  // namespace
}  // namespace warpgrind::report
