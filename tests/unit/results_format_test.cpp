// The format of a profile: written values are read again, and the document and the page's types agree with the tables.
// WARPGRIND_REBASE=1 rewrites them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "read_file.h"
#include "results/json.h"
#include "results/member_json.h"
#include "results/profile_docs.h"
#include "results/profile_members.h"

namespace warpgrind::results {
namespace {

void expect_or_rewrite(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(WARPGRIND_TESTS).parent_path() / name;
  if (std::getenv("WARPGRIND_REBASE"))
    std::ofstream(path, std::ios::binary) << text;
  else
    EXPECT_EQ(read_file(path), text) << "WARPGRIND_REBASE=1 rewrites " << name;
}

// Gives each member a unique value that is not its default.
struct Filler {
  unsigned next = 1;
  template <class T>
  void member(const char*, T&& x, Since, const char*) {
    fill(x);
  }
  template <class T>
  void member_if(bool& there, const char*, T&& x, Since, const char*) {
    there = true;
    fill(x);
  }
  template <class Make>
  void derived(const char*, Make&&, Since, const char*) {}
  void index(const char*, const char*) {}
  template <class T>
  void fill(T& x) {
    if constexpr (std::is_same_v<T, Severity>) {
      x = Severity::info;
    } else if constexpr (std::is_same_v<T, Origin>) {
      x = Origin::modelled;
    } else if constexpr (std::is_same_v<T, Dim3>) {
      x = {next, next + 1, next + 2};
      next += 3;
    } else if constexpr (std::is_same_v<T, std::string>) {
      x = "text " + std::to_string(next++);
    } else if constexpr (std::is_same_v<T, bool>) {
      x = true;
    } else if constexpr (std::is_arithmetic_v<T>) {
      x = static_cast<T>(next++);
    } else if constexpr (kIsA<T, std::vector>) {
      for (int i = 0; i < 2; ++i) fill(x.emplace_back());
    } else if constexpr (kIsA<T, std::map>) {
      for (const char* key : {"a", "b"}) fill(x[key]);
    } else if constexpr (kIsA<T, std::optional>) {
      fill(x.emplace());
    } else if constexpr (kIsA<T, Hex> || kIsA<T, WithPoint>) {
      fill(x.number);
    } else if constexpr (kIsA<T, NumberOrWord>) {
      next++ % 2 != 0 ? fill(x.number) : fill(x.word);
    } else if constexpr (kIsA<T, LaneAddresses>) {
      for (unsigned l = 0; l < kWarpSize; ++l)
        if ((x.mask >> l & 1) != 0) fill(x.addresses[l]);
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

Profile filled() {
  Profile p;
  Filler().fill(p);
  p.gpu = "NVIDIA H200";
  for (auto* kernels : {&p.kernels, &p.launches})
    for (KernelProfile& k : *kernels)
      for (SiteProfile& site : k.sites) site.worst = site.best = 1;  // of two patterns
  return p;
}

// Every member of every object, so new members are tested too.
TEST(ProfileFormat, WhatIsWrittenIsRead) {
  const Profile p = filled();
  const auto again = from_json(to_json(p), "p.json");
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json(*again), to_json(p));
  EXPECT_EQ(again->timeline.at(1).work, p.timeline[1].work);
  EXPECT_EQ(again->ranges.at(1).metrics.by_name().at("b").origin, Origin::modelled);
  const AccessPattern &was = p.kernels[1].sites[1].patterns[1], &is = again->kernels.at(1).sites.at(1).patterns.at(1);
  EXPECT_EQ(is.mask, was.mask);
  EXPECT_NE(is.mask, 0u);
  EXPECT_EQ(is.addresses, was.addresses);
  EXPECT_EQ(is.base.allocation, was.base.allocation);
  EXPECT_EQ(is.base.offset, was.base.offset);
  EXPECT_EQ(again->kernels[1].graph->edges.at(1).lanes, p.kernels[1].graph->edges[1].lanes);
  EXPECT_EQ(again->kernels[1].inlined_lines.at(1).line, p.kernels[1].inlined_lines[1].line);
  EXPECT_EQ(again->allocations.at(1).address, p.allocations[1].address);
}

TEST(ProfileFormat, FormsInTheFile) {
  Profile p;
  p.gpu = "GeForce 8800 GTX";
  p.allocations = {{3, 0xabc, 16}};
  p.sources.resize(1);
  KernelProfile& k = p.kernels.emplace_back();
  k.metrics.by_name()["count"].value = 3;
  k.metrics.by_name()["share"].value = 0.5;
  k.metrics.by_name()["word"].text = "registers";
  k.code.resize(1);
  k.graph.emplace().blocks.resize(2);
  AccessPattern& pattern = k.sites.emplace_back().patterns.emplace_back();
  pattern.mask = 5;
  pattern.addresses[2] = -8;
  const auto j = nlohmann::ordered_json::parse(to_json(p));
  EXPECT_EQ(j["format"], Profile::kFormatVersion);
  EXPECT_EQ(j["model"]["fp64_gflops"].dump(), "0.0");
  EXPECT_EQ(j["allocations"][0]["address"], "0xabc");
  EXPECT_FALSE(j["sources"][0].contains("missing") || j["sources"][0].contains("changed"));
  const auto& out = j["kernels"][0];
  EXPECT_EQ(out["metrics"]["count"]["value"].dump(), "3");
  EXPECT_EQ(out["metrics"]["share"]["value"].dump(), "0.5");
  EXPECT_EQ(out["metrics"]["word"]["value"], "registers");
  EXPECT_EQ(out["graph"]["blocks"][1]["id"], 1);
  EXPECT_FALSE(out["graph"]["blocks"][1].contains("function") || out.contains("block_trace"));
  EXPECT_TRUE(out["lines"].empty() && out["lines"].is_array() && !out.contains("inlined_lines"));
  EXPECT_EQ(out["sites"][0]["patterns"][0]["mask"], "0x00000005");
  EXPECT_EQ(out["sites"][0]["patterns"][0]["addresses"].dump().substr(0, 16), "[0,null,-8,null,");
  EXPECT_TRUE(out["sites"][0]["patterns"][0]["base"]["allocation"].is_null());
  Profile plain;
  plain.kernels.emplace_back().sites.emplace_back();
  const auto little = nlohmann::ordered_json::parse(to_json(plain));
  EXPECT_TRUE(little["model"].is_null());
  EXPECT_FALSE(little["kernels"][0].contains("code") || little["kernels"][0].contains("lines"));
  EXPECT_FALSE(little["kernels"][0]["sites"][0].contains("patterns"));
}

TEST(ProfileFormat, OldFilesLackMembers) {
  Profile written = filled();
  written.findings.resize(1);
  auto old = JsonReader::Json::parse(to_json(written));
  for (const char* key : {"detail", "model", "definitions", "sources", "allocations", "timeline", "checks"})
    old.erase(key);
  auto& kernel = old["kernels"][0];
  kernel["metrics"] = {{"a", {{"value", 2}, {"unit", ""}}}};
  kernel["advice"][0].erase("origin");
  kernel["sites"][0]["worst"] = 9;
  kernel["sites"][0]["patterns"][0]["mask"] = "0xff";
  kernel["sites"][0]["patterns"][0]["addresses"] = {1, nullptr};
  kernel["sites"][0]["patterns"][0]["base"]["allocation"] = nullptr;
  for (const char* key : {"graph", "block_trace"}) kernel.erase(key);
  for (const char* key : {"severity", "missing", "count", "accesses"}) old["findings"][0].erase(key);
  old["findings"][0]["kind"] = "warning, race";
  const auto p = from_json(old.dump(), "old.json");
  ASSERT_TRUE(p) << p.error().message;
  const KernelProfile& k = p->kernels.at(0);
  EXPECT_EQ(k.metrics.by_name().at("a").value, 2);
  EXPECT_EQ(k.metrics.by_name().at("a").origin, Origin::exact);
  EXPECT_EQ(k.advice.at(0).origin, Origin::exact);
  EXPECT_EQ(k.sites.at(0).worst, 0u);
  EXPECT_EQ(k.sites[0].patterns.at(0).mask, 0xfdu);
  EXPECT_FALSE(k.graph || k.block_trace || k.sites[0].patterns[0].base.allocation);
  EXPECT_EQ(p->findings.at(0).kind, "race");
  EXPECT_EQ(p->findings[0].severity, Severity::warning);
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

// What is missing or of another type would count as 0, and a comparison would praise it.
TEST(ProfileFormat, AProfileOfAnotherFormIsRefused) {
  const auto problem_of = [](const JsonReader::Json& j) {
    const auto read = from_json(j.dump(), "p.json");
    return read ? std::string() : read.error().message;
  };
  const auto good = JsonReader::Json::parse(to_json(filled()));
  EXPECT_EQ(problem_of(good), "");
  auto j = good;
  j["kernels"][0]["launches"] = "x";
  EXPECT_EQ(problem_of(j),
            "p.json: not a warpgrind profile (kernels[0].launches: a whole number in its range is wanted)");
  j = good;
  j["kernels"][0].erase("metrics");
  EXPECT_EQ(problem_of(j), "p.json: not a warpgrind profile (kernels[0].metrics: is missing)");
  j = good;
  j["kernels"][0]["metrics"]["dram__bytes_read.sum"] = 7;
  EXPECT_EQ(problem_of(j),
            "p.json: not a warpgrind profile (kernels[0].metrics.dram__bytes_read.sum: an object is wanted)");
  j = good;
  j["kernels"] = JsonReader::Json::object();
  EXPECT_EQ(problem_of(j), "p.json: not a warpgrind profile (kernels: a list is wanted)");
  j = good;
  j["kernels"].push_back(1);
  EXPECT_NE(problem_of(j).find(": an object is wanted"), std::string::npos);
}

TEST(ProfileFormat, TypesOfThePage) {
  expect_or_rewrite("web/src/profile_types.ts", profile_as_typescript());
}

TEST(ProfileFormat, Document) {
  const std::string name = "docs/profile-format.md";
  std::string text = read_file(std::filesystem::path(WARPGRIND_TESTS).parent_path() / name);
  for (const DocumentedType& type : profile_as_markdown()) {
    const std::string begin = "<!-- " + type.name + ": begin -->\n", end = "<!-- " + type.name + ": end -->\n";
    const std::size_t from = text.find(begin), to = text.find(end);
    ASSERT_NE(from, std::string::npos) << begin;
    ASSERT_NE(to, std::string::npos) << end;
    text.replace(from + begin.size(), to - from - begin.size(), type.markdown);
  }
  expect_or_rewrite(name, text);
}

}  // namespace
}  // namespace warpgrind::results
