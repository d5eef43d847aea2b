// Descriptions of exercises, submissions, rules and verdicts. The tests exercise.NAME and exercise_class.py judge whole
// exercises.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/temporary_folder.h"
#include "exercises/exercise.h"
#include "exercises/hand_ins.h"
#include "exercises/rules.h"
#include "exercises/verdict.h"

namespace warpgrind::exercises {
namespace {

using results::MetricId;
namespace fs = std::filesystem;

class Exercises : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const fs::path path = fs::path(folder_.path) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void write_exercise(const std::string& name, const std::string& description) {
    for (const char* file : {"text.md", "skeleton.cu", "solution.cu", "driver.cu"}) write(name + "/" + file, "x\n");
    write(name + "/exercise.json", description);
  }
  std::string at(const std::string& name) const { return folder_.path + "/" + name; }
  std::string complaint(const std::string& description) {
    write_exercise("e", description);
    const auto read = read_exercise(at("e"));
    return read ? "" : read.error().message;
  }
  static Exercise known(const std::string& name) {
    Exercise out;
    out.name = name;
    return out;
  }
  TemporaryFolder folder_;
};

TEST_F(Exercises, ReadsAllOfADescription) {
  write("e/wrong/a.cu", "");
  write_exercise("e", R"({"title": "T", "topic": "vecadd", "document": "D", "section": "S", "order": 7, "level": 2,
    "gpu": "k40c", "devices": 2, "seconds": 5,
    "rubric": [{"counter": "k: flop <= 4", "message": "m"}, {"time": 1.5, "of": "timeline"},
               {"time": 1.1, "than": "judge_copy"}, {"copies": "none"},
               {"source_has": "x+", "what": "many x"}, {"source_lacks": "y"}],
    "findings": [{"kind": "oob-*", "message": "f"}], "hints": ["h1", "h2"],
    "wrong": [{"file": "wrong/a.cu", "message": "w"}]})");
  auto e = read_exercise(at("e"));
  ASSERT_TRUE(e) << e.error().message;
  EXPECT_EQ(e->name, "e");
  EXPECT_EQ(e->order, 7);
  EXPECT_EQ(e->gpu, "k40c");
  EXPECT_EQ(e->devices, 2);
  ASSERT_EQ(e->rules.size(), 6u);
  EXPECT_EQ(e->rules[0].kind, Rule::Kind::counter);
  EXPECT_EQ(e->rules[0].message, "m");
  EXPECT_TRUE(e->rules[1].timeline);
  EXPECT_EQ(e->rules[2].than, "judge_copy");
  EXPECT_EQ(e->rules[3].copies, "none");
  EXPECT_EQ(e->rules[4].text, "the source uses many x");
  EXPECT_TRUE(e->rules[5].lacks);
  EXPECT_EQ(e->hints.size(), 2u);
  EXPECT_EQ(e->wrong[0].message, "w");
}

TEST_F(Exercises, SaysWhatIsWrongInADescription) {
  EXPECT_NE(complaint("[1"), "");
  EXPECT_NE(complaint("{}").find("title"), std::string::npos);
  EXPECT_NE(complaint(R"({"title": "T", "rubric": [{"points": 3}]})").find("a rule has one of"), std::string::npos);
  EXPECT_NE(complaint(R"({"title": "T", "rubric": [{"counter": "k: nonsense <= 4"}]})"), "");
  EXPECT_NE(complaint(R"({"title": "T", "rubric": [{"time": 0}]})").find("above 0"), std::string::npos);
  EXPECT_NE(complaint(R"({"title": "T", "rubric": [{"copies": "fast"}]})").find("must be pinned or none"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"title": "T", "rubric": [{"source_has": "("}]})").find("regular"), std::string::npos);
  EXPECT_NE(complaint(R"({"title": "T", "wrong": [{"file": "wrong/b.cu"}]})").find("wrong/b.cu"), std::string::npos);
  EXPECT_EQ(complaint(R"({"title": "T"})"), "");
  fs::remove(at("e/driver.cu"));
  EXPECT_NE(read_exercise(at("e")).error().message.find("driver.cu"), std::string::npos);
}

TEST_F(Exercises, AreInTheOrderOfTheCourse) {
  write_exercise("b", R"({"title": "T", "order": 1})");
  write_exercise("a", R"({"title": "T", "order": 2})");
  write("include/judge.h", "");
  auto all = find_exercises(folder_.path);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].name, "b");
  EXPECT_TRUE(find_exercise(*all, "a"));
  EXPECT_FALSE(find_exercise(*all, "c"));
  EXPECT_FALSE(find_exercises(at("nowhere")));
}

TEST_F(Exercises, AnAnswerIsFoundByItsNameOrItsMarker) {
  const std::vector<Exercise> all = {known("scan")};
  write("scan/scan.cu", "");
  write("scan/other.cu", "");
  EXPECT_FALSE(find_hand_in(at("scan"), "", all));
  ASSERT_TRUE(write_marker(at("scan"), {"scan", 2}));
  EXPECT_EQ(read_marker(at("scan"))->hints, 2);
  EXPECT_EQ(find_hand_in(at("scan"), "", all)->file, at("scan/scan.cu"));
  EXPECT_EQ(find_hand_in(at("scan/other.cu"), "", all)->exercise, "scan");
  EXPECT_EQ(find_hand_in(at("scan/other.cu"), "sum", all)->exercise, "sum");
  write("free.cu", "");
  EXPECT_FALSE(find_hand_in(at("free.cu"), "", all));
  EXPECT_FALSE(find_hand_in(at("nowhere.cu"), "", all));
  write("scan/.warpgrind-exercise", "{\"exercise\": 3");
  EXPECT_FALSE(read_marker(at("scan")));
}

TEST_F(Exercises, AClassIsFoundAndLinksAreNotFollowed) {
  const std::vector<Exercise> all = {known("scan"), known("sum")};
  write("bob/scan.cu", "");
  write("ann/week1/sum/sum.cu", "");
  write("sum.cu", "");
  write("bob/readme.txt", "");
  write("bob/strange.cu", "");
  fs::create_directory(at("eve"));
  ASSERT_EQ(symlink("/etc/passwd", at("eve/scan.cu").c_str()), 0);
  ASSERT_EQ(mkfifo(at("eve/sum.cu").c_str(), 0600), 0);
  auto found = find_hand_ins(folder_.path, all);
  ASSERT_TRUE(found);
  std::vector<std::string> seen;
  for (const HandIn& h : *found) seen.push_back(h.student + " " + h.exercise + (h.problem.empty() ? "" : "!"));
  EXPECT_EQ(seen, (std::vector<std::string>{"- sum", "ann sum", "bob scan", "bob strange!", "eve scan!", "eve sum!"}));
  EXPECT_FALSE(find_hand_ins(at("nowhere"), all));
}

TEST(ExerciseRules, CommentsAreNoSource) {
  EXPECT_EQ(without_comments("a // b\nc /* d\ne */ f \"// g\""), "a     \nc     \n     f \"// g\"");
  Rule rule;
  rule.kind = Rule::Kind::source;
  rule.pattern = "cudaMemcpy";
  rule.lacks = true;
  const Judged bad = judge_source(rule, "\nx cudaMemcpy(a)\n", "a.cu");
  EXPECT_EQ(bad.outcome, Judged::Outcome::failed);
  EXPECT_EQ(bad.line, 2u);
  EXPECT_EQ(judge_source(rule, without_comments("// cudaMemcpy\n"), "a.cu").outcome, Judged::Outcome::passed);
}

results::KernelProfile kernel(const std::string& name, double ns) {
  results::KernelProfile out;
  out.name = name;
  out.metrics[MetricId::time] = {ns, "ns", Origin::estimated, ""};
  return out;
}

TEST(ExerciseRules, KernelsOfTheTestAreNotJudged) {
  results::Profile profile;
  profile.kernels = {kernel("judge_copy(float*)", 100), kernel("void f<2>(float*)", 30)};
  EXPECT_EQ(kernels_ns(profile), 30);
  EXPECT_EQ(kernel_ns(profile, "judge_copy"), 100);
  Rule rule;
  rule.expectation = report::parse_expectation("time <= 50 ns").take();
  EXPECT_EQ(judge_counter(rule, profile, false).outcome, Judged::Outcome::passed);
  rule.expectation = report::parse_expectation("judge_copy: time <= 50 ns").take();
  EXPECT_EQ(judge_counter(rule, profile, false).outcome, Judged::Outcome::failed);
  rule.expectation = report::parse_expectation("g: time <= 50 ns").take();
  EXPECT_EQ(judge_counter(rule, profile, false).outcome, Judged::Outcome::failed) << "no such kernel";
}

TEST(ExerciseRules, CopiesByTheMemoryOfTheHost) {
  Rule rule;
  rule.kind = Rule::Kind::copies;
  rule.copies = "pinned";
  results::Profile profile;
  EXPECT_EQ(judge_copies(rule, profile).outcome, Judged::Outcome::failed) << "nothing was copied";
  profile.transfers = {{"HtoD", "pinned", 1, 4, 1}, {"DtoD", "-", 1, 4, 1}};
  EXPECT_EQ(judge_copies(rule, profile).outcome, Judged::Outcome::passed);
  profile.transfers.push_back({"DtoH", "pageable", 2, 8, 1});
  EXPECT_EQ(judge_copies(rule, profile).outcome, Judged::Outcome::failed);
  rule.copies = "none";
  EXPECT_EQ(judge_copies(rule, profile).seen, "3 copies between host and device");
}

TEST(ExerciseVerdicts, HoldWhatAStudentPrinted) {
  Graded g{"a<b>", "sum", "a/sum.cu", {}, "", 1};
  g.verdict.exercise = "sum";
  g.verdict.lines = {{.rule = "results",
                      .asked = "right & good",
                      .outcome = Judged::Outcome::failed,
                      .seen = "bytes \xff\xfe <tag>",
                      .file = "/x/sum.cu",
                      .line = 3}};
  const auto j = nlohmann::json::parse(verdict_json({g}), nullptr, false);
  ASSERT_TRUE(j.is_object());
  EXPECT_FALSE(j["hand_ins"][0]["passed"].get<bool>());
  EXPECT_EQ(j["hand_ins"][0]["rubric"][0]["file"], "sum.cu");
  const std::string xml = verdict_junit({g});
  EXPECT_EQ(xml.find("<tag>"), std::string::npos);
  EXPECT_NE(xml.find("failures=\"1\""), std::string::npos);
  const std::string text = verdict_text(g.verdict, false);
  EXPECT_NE(text.find("at sum.cu:3"), std::string::npos);
  EXPECT_NE(text.find("not yet: 0 of 1 points"), std::string::npos);
  EXPECT_FALSE(Verdict{}.passed()) << "nothing was judged";
}

}  // namespace
}  // namespace warpgrind::exercises
