// Data of the HTML report: packed, and harmless inside a script element.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/html.h"
#include "report/page_data.h"

namespace warpgrind::report {
namespace {

using Json = nlohmann::json;

std::string profile(int lines) {
  std::string rows;
  for (int i = 1; i <= lines; ++i)
    rows +=
        (i > 1 ? "," : "") + std::string(R"({"file":"/a/</script>.cu","line":)") + std::to_string(i) +
        R"(,"metrics":{"inst_executed":{"value":)" + std::to_string(100 * i) +
        R"(,"unit":"inst","origin":"exact"},"memory_l1_wavefronts_shared":{"value":0,"unit":"","origin":"exact"}}})";
  return R"({"format":1,"kernels":[{"name":"<!--<script>","metrics":{"inst_executed":{"value":0,"unit":"inst","origin":"exact"}},"lines":[)" +
         rows + "]}]}";
}

TEST(PageData, NothingEndsTheScriptElement) {
  const auto data = page_data({"</script><img>", "1", {profile(9)}, {}, {}});
  ASSERT_TRUE(data);
  EXPECT_EQ(data->find('<'), std::string::npos);
  const Json j = Json::parse(*data);
  EXPECT_EQ(j["title"], "</script><img>");
  EXPECT_EQ(j["profiles"][0]["kernels"][0]["name"], "<!--<script>");
}

// A file from another program: values of the wrong type count as missing, and nothing is thrown.
TEST(PageData, ForeignProfile) {
  const std::string foreign =
      R"({"kernels":[{"metrics":{"a":{"value":{"b":1},"unit":5,"origin":[]},"c":{"value":null},"d":7}}],"lines":[1,"x",null,{},[]]})";
  const auto data = page_data({"t", "1", {foreign}, foreign, {}});
  ASSERT_TRUE(data);
  const Json j = Json::parse(*data);
  EXPECT_EQ(j["metric_keys"][0], Json({"a", "", "exact"}));
  EXPECT_FALSE(page_data({"t", "1", {"[]"}, {}, {}}));
  EXPECT_FALSE(page_data({"t", "1", {"{"}, {}, {}}));
}

TEST(PageData, LinesBecomeATable) {
  const auto data = page_data({"t", "1", {profile(9)}, {}, {}});
  ASSERT_TRUE(data);
  const Json j = Json::parse(*data);
  const Json& kernel = j["profiles"][0]["kernels"][0];
  const Json& lines = kernel["lines"];
  EXPECT_EQ(lines["$keys"], Json({"file", "line", "metrics"}));
  ASSERT_EQ(lines["$rows"].size(), 9u);
  EXPECT_EQ(lines["$words"]["file"], Json({"/a/</script>.cu"}));
  // A line omits a counter that is 0; a kernel does not.
  const Json& third = lines["$rows"][2];
  EXPECT_EQ(third[0], 0);
  EXPECT_EQ(third[1], 3);
  ASSERT_EQ(third[2].size(), 2u);
  EXPECT_EQ(third[2][1], 300);
  EXPECT_EQ(j["metric_keys"][third[2][0].get<std::size_t>()], Json({"inst_executed", "inst", "exact"}));
  EXPECT_EQ(kernel["metrics"].size(), 2u);
}

TEST(PageData, FewObjectsStayAsTheyAre) {
  const auto data = page_data({"t", "1", {profile(2)}, {}, {}});
  ASSERT_TRUE(data);
  const Json lines = Json::parse(*data)["profiles"][0]["kernels"][0]["lines"];
  ASSERT_TRUE(lines.is_array());
  EXPECT_EQ(lines[1]["line"], 2);
}

TEST(PageData, HasModelsAndDefinitions) {
  const auto data = page_data({"t", "1", {}, {}, {}});
  ASSERT_TRUE(data);
  const Json j = Json::parse(*data);
  EXPECT_FALSE(j["definitions"]["inst_executed"]["definition"].get<std::string>().empty());
  bool h200 = false;
  for (const Json& model : j["models"]) h200 |= model["id"] == "h200" && model["dram_gbs"].get<double>() > 4000;
  EXPECT_TRUE(h200);
}

TEST(PageData, RefusesWhatIsNoProfile) {
  const auto data = page_data({"t", "1", {"[1,"}, {}, {}});
  ASSERT_FALSE(data);
  EXPECT_NE(data.error().message.find("profile"), std::string::npos);
}

TEST(HtmlReport, HoldsTheDataOnceOrSaysThatThereIsNoPage) {
  const auto html = html_report({"</script>", "1", {profile(9)}, {}, {}});
  if (!html_available()) {
    ASSERT_FALSE(html);
    EXPECT_NE(html.error().detail.find("nodejs"), std::string::npos);
    return;
  }
  ASSERT_TRUE(html);
  EXPECT_EQ(html->find("WARPGRIND-DATA"), std::string::npos);
  EXPECT_EQ(html->find("</script><"), html->find("</script><script"));
  // No address that a browser would load.
  for (const char* load : {" src=\"", "href=\"http", "@import", "url(http"})
    EXPECT_EQ(html->find(load), std::string::npos) << load;
}

}  // namespace
}  // namespace warpgrind::report
