// What is computed from verdicts and sources without running anything: declarations of a skeleton, records of results,
// points, files for graders, and the page of a class.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "exercises/access_picture.h"
#include "exercises/class_page.h"
#include "exercises/grader_files.h"
#include "exercises/marks.h"
#include "exercises/object_rules.h"
#include "exercises/prototypes.h"
#include "exercises/records.h"

namespace warpgrind::exercises {
namespace {

using Json = nlohmann::json;
using Outcome = Judged::Outcome;

Exercise exercise_named(const std::string& name, std::size_t rules) {
  Exercise out;
  out.name = name;
  out.title = "Title of " + name;
  out.rules.resize(rules);
  return out;
}

Graded graded(const std::string& student, const std::string& exercise, std::vector<Judged> lines, int most) {
  Graded out{student, exercise, student + "/" + exercise + ".cu", {exercise, "", "", std::move(lines)}, "", 1, most};
  return out;
}

Judged line(const std::string& rule, Outcome outcome, const std::string& seen = "") {
  Judged out{.rule = rule, .asked = "asks " + rule, .outcome = outcome, .seen = seen};
  out.message = outcome == Outcome::failed ? "helps with " + rule : "";
  return out;
}

TEST(ExercisePrototypes, AreOfWhatATestCanCall) {
  const Declarations found = declarations_of(R"(#include <cstdio>
#define TWO_LINES(x) \
  { x; }
// __global__ void in_a_comment() {}
constexpr int kTile = 16;
struct Point { float x, y; };
__constant__ float weights[9] = {1, 2};
__device__ float helper(float x) { return x; }
static void own() {}
template <class T> __global__ void generic(T* x) {}
__global__ void __launch_bounds__(256) add(const float* a,
                                          float* c, int n) {
  if (n) { c[0] = a[0]; }
}
const char* text() { return "{"; }
void launch(float* const slab[2], int m) {}
)");
  EXPECT_EQ(found.prototypes,
            "__global__ void __launch_bounds__(256) add(const float* a, float* c, int n);\n"
            "const char* text();\nvoid launch(float* const slab[2], int m);\n");
  EXPECT_EQ(found.types, "constexpr int kTile = 16;\nstruct Point { float x, y; };\n");
}

TEST(ExerciseRecords, EndWhereTheFileIsDamaged) {
  const std::string file = "got\tn = 1\t4\nabc\n\nsaid\tn = 2\twrong\tno\nend\n";
  const auto records = read_records(file);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].bytes, "abc\n");
  EXPECT_EQ(records[1].bytes, "wrong\tno");
  EXPECT_EQ(read_records("got\tn = 1\t99999999999999999999\nabc\n").size(), 0u);
  EXPECT_EQ(read_records("got\tn = 1\t400\nabc\n").size(), 0u);
  EXPECT_EQ(read_records("got\tn = 1").size(), 0u);
  EXPECT_EQ(read_records("").size(), 0u);
}

TEST(ExerciseRecords, ResultsThatNoKernelMade) {
  const std::string many(64, 'x'), other(64, 'y');
  const std::vector<Record> usual{{"1", "a"}, {"2", many}}, without{{"1", "a"}, {"2", other}};
  const std::vector<bool> all{true, true}, first{true, false};
  EXPECT_EQ(computed_elsewhere(usual, without, all), nullptr) << "four bytes can be the same by chance";
  ASSERT_NE(computed_elsewhere(usual, without, first), nullptr) << "all that depend on kernels are the same";
  EXPECT_EQ(computed_elsewhere(usual, usual, all)->name, "2");
  EXPECT_EQ(computed_elsewhere(usual, usual, {false, false}), nullptr) << "an exercise without kernels";
  EXPECT_EQ(depend_on_kernels(usual, without), (std::vector<bool>{false, true}));
}

TEST(ExerciseObjects, WhatIsNoObjectFileIsABreach) {
  EXPECT_TRUE(find_breach("", "", ""));
  EXPECT_TRUE(
      find_breach("\x7f"
                  "ELF and nothing more",
                  "", ""));
}

TEST(ExerciseMarks, SumsDoNotDependOnTheOutcome) {
  const Exercise a = exercise_named("a", 2), b = exercise_named("b", 0);
  const auto marks =
      marks_of({graded("ann", "a",
                       {line("compiles", Outcome::passed), line("results", Outcome::passed),
                        line("findings", Outcome::failed, "one"), line("findings", Outcome::failed, "two"),
                        line("counter", Outcome::passed), line("time", Outcome::failed)},
                       5),
                graded("bob", "a", {line("compiles", Outcome::failed, "no")}, 5)},
               {"ann", "bob", "eve"}, {&a, &b});
  ASSERT_EQ(marks.size(), 3u);
  for (const StudentMarks& student : marks) EXPECT_EQ(student.most, 8) << student.student;
  EXPECT_EQ(marks[0].points, 3);
  EXPECT_EQ(marks[1].points, 0);
  EXPECT_EQ(marks[2].points, 0);
  EXPECT_FALSE(marks[2].exercises[0].handed_in);
  for (const StudentMarks& student : marks) {
    const Json gradescope = Json::parse(gradescope_json(student));
    double score = 0, most = 0;
    for (const Json& test : gradescope["tests"]) {
      score += test["score"].get<double>();
      most += test["max_score"].get<double>();
      EXPECT_TRUE(test["status"] == "passed" || test["status"] == "failed");
    }
    EXPECT_EQ(score, gradescope["score"].get<double>());
    EXPECT_EQ(most, 8);
    const Json classroom =
        Json::parse(classroom50_json(student, {"c", "a", "individual", "submit/1", "x", "x", "x", "t"}));
    EXPECT_EQ(classroom["max-score"], 8);
    EXPECT_EQ(classroom["schema"], "classroom50/result/v1");
  }
}

TEST(ExerciseMarks, ColumnsOfATableAreTheExercises) {
  const Exercise a = exercise_named("a", 0), b = exercise_named("b", 0);
  const std::vector<Judged> good{line("compiles", Outcome::passed), line("results", Outcome::passed),
                                 line("findings", Outcome::passed)};
  const std::string early = class_csv(marks_of({graded("ann", "b", good, 3)}, {}, {}), {&a, &b});
  const std::string late = class_csv(
      marks_of({graded("ann", "b", good, 3), graded("=1+1", "a", good, 3), graded("x,\"y", "a", {}, 3)}, {}, {}),
      {&a, &b});
  EXPECT_EQ(early, "student,points,most,a,b\nann,3,3,,3\n");
  EXPECT_EQ(late, "student,points,most,a,b\n'=1+1,3,3,3,\nann,3,3,,3\n\"x,\"\"y\",0,3,0,\n");
}

TEST(ExerciseMarks, ThePageShowsNoMarkupOfHandIns) {
  const Exercise a = exercise_named("a", 1);
  Judged bad = line("counter", Outcome::failed, "32 sectors");
  bad.access = results::AccessPattern{};
  bad.access->mask = 0xffffffff;
  bad.access->lane_bytes = 4;
  bad.access->space = "global";
  for (int lane = 0; lane < 32; ++lane) bad.access->addresses[static_cast<std::size_t>(lane)] = 1024 * lane;
  std::vector<Graded> all;
  for (int i = 0; i < 200; ++i)
    all.push_back(graded("<script>" + std::to_string(i), "a",
                         {line("compiles", Outcome::passed), line("results", Outcome::passed), bad}, 4));
  const std::string page = class_page(marks_of(all, {}, {&a}), {&a});
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos) << "the page needs nothing from outside";
  EXPECT_NE(page.find("200 students</span><h3>a: asks counter"), std::string::npos) << "one mistake of all";
  EXPECT_NE(page.find("and 20 more lines"), std::string::npos) << "12 rows of the access are drawn";
  EXPECT_LT(page.size(), 200u << 10);
}

TEST(ExerciseMarks, PictureOfAnEmptyRequest) {
  EXPECT_NE(access_picture({}).find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace warpgrind::exercises
