// The page's files as a browser gets them: compressed, and only once.
#include <gtest/gtest.h>

#include <algorithm>

#include "serve/page.h"

namespace warpgrind::serve {
namespace {

std::string header(const PageAnswer& answer, const std::string& name) {
  for (const auto& [key, value] : answer.headers)
    if (key == name) return value;
  return "";
}

const PageFile kFile{"/a.js", "text/javascript", "text", "compressed", "\"0123\""};

TEST(Page, IsCompressedForThoseWhoTakeIt) {
  const PageAnswer answer = answer_file(kFile, "", "gzip, deflate, br");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "compressed");
  EXPECT_EQ(header(answer, "Content-Encoding"), "gzip");
  EXPECT_EQ(header(answer, "Vary"), "Accept-Encoding");
  const PageAnswer plain = answer_file(kFile, "", "");
  EXPECT_EQ(plain.body, "text");
  EXPECT_EQ(header(plain, "Content-Encoding"), "");
}

TEST(Page, IsSentOnce) {
  EXPECT_EQ(header(answer_file(kFile, "", "gzip"), "Cache-Control"), "no-cache");  // kept, and asked about
  const PageAnswer again = answer_file(kFile, header(answer_file(kFile, "", "gzip"), "ETag"), "gzip");
  EXPECT_EQ(again.status, 304);
  EXPECT_TRUE(again.body.empty());
  EXPECT_EQ(answer_file(kFile, "\"of another build\"", "gzip").status, 200);
}

// The charts are the larger half of the page, and no first visit shows one.
TEST(Page, BeginsWithoutTheCharts) {
  if (!page_available()) GTEST_SKIP() << "this build has no page";
  const auto file = [](std::string_view path) {
    return *std::find_if(page_files().begin(), page_files().end(), [&](const PageFile& f) { return f.path == path; });
  };
  EXPECT_GT(file("/playground-echarts.js").gzip.size(), 100'000U);
  EXPECT_LT(file("/playground.js").gzip.size(), 250'000U);
  EXPECT_NE(file("/playground.js").text.find("/playground-echarts.js"), std::string_view::npos);
  EXPECT_NE(file("/playground.js").text.find("/playground-licences.txt"), std::string_view::npos);
  for (const PageFile& f : page_files()) EXPECT_LT(f.gzip.size(), f.text.size()) << f.path;
}

}  // namespace
}  // namespace warpgrind::serve
