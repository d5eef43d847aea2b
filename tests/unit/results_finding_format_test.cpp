// The format of findings: what is written is read again, and the document and the page's types are what the table says.
// WARPGRIND_REBASE=1 rewrites them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "results/finding_docs.h"
#include "results/json.h"
#include "results/member_json.h"

namespace warpgrind::results {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void expect_or_rewrite(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(WARPGRIND_TESTS).parent_path() / name;
  if (std::getenv("WARPGRIND_REBASE"))
    std::ofstream(path, std::ios::binary) << text;
  else
    EXPECT_EQ(read(path), text) << "WARPGRIND_REBASE=1 rewrites " << name;
}

// Each member has a value of its own that is not its default.
struct Filler {
  unsigned next = 1;
  template <class T>
  void member(const char*, T& x, Since, const char*) {
    fill(x);
  }
  template <class T>
  void member_if(bool& there, const char*, T& x, const char*) {
    there = true;
    fill(x);
  }
  template <class T>
  void fill(T& x) {
    if constexpr (std::is_same_v<T, Severity>) {
      x = Severity::info;
    } else if constexpr (std::is_same_v<T, Dim3>) {
      x = {next, next + 1, next + 2};
      next += 3;
    } else if constexpr (std::is_same_v<T, std::string>) {
      x = "text " + std::to_string(next++);
    } else if constexpr (std::is_arithmetic_v<T>) {
      x = static_cast<T>(next++);
    } else if constexpr (kIsList<T>) {
      for (int i = 0; i < 2; ++i) fill(x.emplace_back());
    } else if constexpr (kIsOptional<T>) {
      fill(x.emplace());
    } else {
      members(*this, x);
    }
  }
};

TEST(FindingFormat, WhatIsWrittenIsRead) {
  Finding f;
  Filler().fill(f);
  const auto written = JsonWriter::value(f);
  Finding again;
  JsonReader::read(written, again);
  EXPECT_EQ(JsonWriter::value(again), written);
  EXPECT_EQ(again.accesses.size(), 2u);
  EXPECT_TRUE(again.accesses[1].of_thread);
  EXPECT_EQ(again.accesses[1].memory->offset, f.accesses[1].memory->offset);
  EXPECT_EQ(again.origin->way, f.origin->way);
  EXPECT_EQ(again.severity, Severity::info);
}

TEST(FindingFormat, InAProfile) {
  Profile p;
  Filler().fill(p.findings.emplace_back());
  p.checks = {"memory"};
  p.timeline.push_back({0, 3, "kernel", "k", 1, 2, 0, 17});
  const auto again = from_json(to_json(p), "p.json");
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json(*again), to_json(p));
  EXPECT_EQ(again->timeline[0].work, 17u);
}

TEST(FindingFormat, WhatIsOfAnotherTypeIsNotThere) {
  const auto damaged = JsonReader::Json::parse(
      R"({"kind": 3, "severity": [], "line": "7", "block": [1, "2", 3], "notes": {}, "accesses": [1, {"memory": [], "thread": 1}],
          "origin": "x", "cause": null, "count": -1})");
  Finding f;
  JsonReader::read(damaged, f);
  EXPECT_EQ(f.kind, "");
  EXPECT_EQ(f.severity, Severity::error);
  EXPECT_EQ(f.block.x, 0u);
  ASSERT_EQ(f.accesses.size(), 1u);
  EXPECT_FALSE(f.accesses[0].memory);
  EXPECT_FALSE(f.origin || f.cause);
  EXPECT_EQ(f.count, 1u);
}

TEST(FindingFormat, TypesOfThePage) {
  expect_or_rewrite("web/src/finding_types.ts", findings_as_typescript());
}

TEST(FindingFormat, Document) {
  const std::string name = "docs/profile-format.md", begin = "<!-- finding_members.h: begin -->\n",
                    end = "<!-- finding_members.h: end -->\n";
  std::string text = read(std::filesystem::path(WARPGRIND_TESTS).parent_path() / name);
  const std::size_t from = text.find(begin), to = text.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  text.replace(from + begin.size(), to - from - begin.size(), findings_as_markdown());
  expect_or_rewrite(name, text);
}

}  // namespace
}  // namespace warpgrind::results
