// Results of the lab as JSON text, with one row a line.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lab/json_lines.h"

namespace warpgrind::lab {
namespace {

TEST(JsonLines, ARowIsALine) {
  const nlohmann::json value = {
      {"date", "today"},
      {"left_out", nlohmann::json::array()},
      {"topics",
       {{{"device", {{"cc", 9.0}}},
         {"rows", {{{"kernels", {{{"name", "a"}}}}, {"size", {1, 2}}}, {{"rung", "naive"}}}}}}},
  };
  const std::string text = json_lines(value);
  EXPECT_EQ(text,
            "{\n"
            " \"date\": \"today\",\n"
            " \"left_out\": [],\n"
            " \"topics\": [\n"
            "  {\n"
            "   \"device\": {\"cc\": 9.0},\n"
            "   \"rows\": [\n"
            "    {\"kernels\": [{\"name\": \"a\"}], \"size\": [1, 2]},\n"
            "    {\"rung\": \"naive\"}\n"
            "   ]\n"
            "  }\n"
            " ]\n"
            "}\n");
  EXPECT_EQ(nlohmann::json::parse(text), value);
}

TEST(JsonLines, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(json_lines({{"path", "a\xff"}}), "{\"path\": \"a\xef\xbf\xbd\"}\n");
}

}  // namespace
}  // namespace warpgrind::lab
