// One-screen summary of a topic, and the course's files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

#include "lab/brief.h"
#include "lab/course.h"
#include "lab/table.h"

namespace warpgrind::lab {
namespace {

namespace fs = std::filesystem;

Row row(const std::string& rung, const std::string& role, double us, std::map<std::string, double> parameters = {}) {
  Row r;
  r.rung = rung;
  r.role = role;
  r.size_text = "1024";
  r.type = "float";
  r.parameters = std::move(parameters);
  r.verified = true;
  r.derived.time_us = us;
  return r;
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Brief, FitsAScreenWhateverTheTopicHas) {
  for (const char* role : {"rung", "sweep", "bound"}) {
    TopicResult t;
    t.topic = "many";
    for (int i = 0; i < 200; ++i) t.rows.push_back(row("rung " + std::to_string(i), role, 1000.0 / (i + 1)));
    const std::string text = brief_text(t, nullptr, {std::string(300, 'q') + " " + std::string(100, 'q'), "lesson"});
    EXPECT_LE(lines(text), kBriefLines) << text;
    EXPECT_NE(text.find("rung 0"), std::string::npos);
    EXPECT_NE(text.find("200 rows"), std::string::npos);
  }
  TopicResult t;
  t.topic = "ladders";
  for (int i = 0; i < 100; ++i)
    t.rows.push_back(row("l" + std::to_string(i / 2) + " / r" + std::to_string(i), "rung", 100 - i));
  EXPECT_LE(lines(brief_text(t, nullptr, {})), kBriefLines);
}

// A ladder whose later rungs gain nothing is a lesson as well.
TEST(Brief, ShowsLaddersThatGainNothing) {
  TopicResult t;
  t.topic = "image";
  t.rows = {row("edges / global", "rung", 4), row("edges / shared", "rung", 5), row("blur / global", "rung", 7),
            row("blur / shared", "rung", 5), row("hue / global", "rung", 3)};
  const std::string text = brief_text(t, nullptr, {});
  EXPECT_NE(text.find("edges   global      4.00  global     4.00   1.00"), std::string::npos) << text;
  EXPECT_NE(text.find("blur    global      7.00  shared     5.00   1.40"), std::string::npos) << text;
  EXPECT_EQ(text.find("hue"), std::string::npos) << text;
}

TEST(Brief, SweepsAreRanges) {
  TopicResult t;
  t.topic = "banks";
  for (const double stride : {1, 2, 32}) {
    t.rows.push_back(row("strided", "sweep", 8 * stride, {{"stride", stride}}));
    t.rows.back().derived.conflicts_per_request = stride - 1;
  }
  const std::string text = brief_text(t, nullptr, {"When do lanes wait?", "Odd strides never do."});
  for (const char* part :
       {"== banks: When do lanes wait?", "stride 1 to 32", "8.00 to 256", "1.00 to 31.0", "-> Odd strides never do."})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

// At the small size the better rung is slower. The table's figures are of the large size, and marked so.
TEST(Brief, ShowsTheSizeWhereTheLessonHolds) {
  TopicResult t, real;
  t.topic = "products";
  for (const auto& [rung, small, large] : {std::tuple("plain", 10.0, 4000.0), std::tuple("tiled", 20.0, 1000.0)}) {
    t.rows.push_back(row(rung, "rung", small));
    Row l = row(rung, "rung", large);
    l.size_text = "4096";
    l.verified = false;
    l.blocks = 256;
    l.derived.cumulative = 4000 / large;
    t.large.push_back(l);
    l.blocks = 0;
    l.verified = true;
    l.derived.time_us = large + 1;
    real.rows.push_back(l);
  }
  const std::string text = brief_text(t, &real, {});
  for (const char* part :
       {"tiled   20.0   1000      1001   4.00", "2 rows, all verified",
        "small: 1024, run whole and verified; large: 4096, sampled from about 256 blocks of each launch,"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  LabResult all;
  all.topics = {t};
  const std::string summary = summary_text(all);
  EXPECT_NE(summary.find("tiled"), std::string::npos) << summary;
  EXPECT_NE(summary.find("4096"), std::string::npos) << summary;
}

TEST(Brief, NoTableIsWiderThanATerminal) {
  TopicResult t;
  t.topic = "wide";
  for (int i = 0; i < 3; ++i) {
    t.rows.push_back(row("a rung with a long name " + std::to_string(i), "rung", 1e6));
    Derived& d = t.rows.back().derived;
    d.gbs = d.load_sectors_per_request = d.store_sectors_per_request = d.conflicts_per_request = d.divergent_branches =
        1e6;
    d.step = d.cumulative = 1000;
    d.limit = "shared memory throughput";
  }
  std::istringstream lines_of(brief_text(t, nullptr, {}));
  for (std::string line; std::getline(lines_of, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(Summary, OneRungAndASweep) {
  TopicResult t;
  t.topic = "streams";
  t.rows = {row("default stream", "rung", 298), row("depth-first", "sweep", 298, {{"streams", 1}}),
            row("depth-first", "sweep", 202, {{"streams", 4}})};
  LabResult all;
  all.topics = {t};
  const std::string text = summary_text(all);
  EXPECT_NE(text.find("298   202      1.48  depth-first streams 4"), std::string::npos) << text;
  t.rows = {row("one GPU", "rung", 78, {{"devices", 1}}), row("two GPUs", "rung", 107, {{"devices", 2}})};
  all.topics = {t};
  EXPECT_EQ(summary_text(all).find("one GPU"), std::string::npos);  // no rung is faster than the first: no best rung
}

TEST(Summary, SaysWhatWasSkippedAndWhy) {
  TopicResult t;
  t.topic = "products";
  t.rows = {row("one thread", "rung", 0), row("tiled", "rung", 5), row("tiled", "rung", 4, {{"devices", 2}})};
  t.rows[0].verified = false;
  t.rows[0].skipped = "it would take seconds";
  LabResult all;
  all.topics = {t};
  const std::string text = summary_text(all);
  EXPECT_NE(text.find("products: skipped one thread 1024: it would take seconds"), std::string::npos) << text;
  EXPECT_NE(text.find("tiled devices 2"), std::string::npos) << text;  // a parameter is a step of the ladder
  const std::string closing = closing_text(all, "build/bin/warpgrind");
  EXPECT_NE(closing.find("1 topics, 3 rows: 2 verified, 1 skipped"), std::string::npos) << closing;
  EXPECT_NE(closing.find("build/bin/warpgrind check app.cu"), std::string::npos) << closing;
}

TEST(Brief, SaysWhatWasWrong) {
  TopicResult t;
  t.topic = "broken";
  t.title = "title";
  t.rows.push_back(row("first", "rung", 1));
  t.rows.back().verified = false;
  t.error = "no device";
  const std::string text = brief_text(t, nullptr, {});
  for (const char* part : {"== broken: title", "1 rows, 0 verified", "NOT VERIFIED: first", "broken: no device"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

class CourseFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "lab_course";
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "course/chapters");
    write("course.json", R"({"format": "warpgrind-course 1", "title": "A course"})");
    write("glossary.json", R"({"format": "warpgrind-glossary 1", "terms": [{"term": "bank"}]})");
    write("chapters/banks.json",
          R"({"format": "warpgrind-chapter 1", "topic": "banks", "question": "Which `x` of [[bank|banks]]?",
                                     "take_away": ["One [[bank]], one word."]})");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / "course" / name) << text; }
  fs::path folder_;
};

TEST_F(CourseFiles, AreOneObjectAndPlainWords) {
  const auto course = read_course(folder_.string(), (folder_ / "exercises").string());
  ASSERT_TRUE(course) << course.error().message;
  EXPECT_EQ(course->chapters.at("banks").question, "Which x of banks?");
  EXPECT_EQ(course->chapters.at("banks").lesson, "One bank, one word.");
  for (const char* part : {R"("title":"A course")", R"("glossary":[{"term":"bank"}])", R"("chapters":{"banks":{)"})
    EXPECT_NE(course->json.find(part), std::string::npos) << part << "\n" << course->json;
}

TEST_F(CourseFiles, NameTheExercisesOfTheirTopic) {
  const auto exercise = [&](const std::string& name, const std::string& text) {
    fs::create_directories(folder_ / "exercises" / name);
    std::ofstream(folder_ / "exercises" / name / "exercise.json") << text;
  };
  exercise("second", R"({"title": "B", "topic": "banks", "order": 2, "level": 3})");
  exercise("first", R"({"title": "A", "topic": "banks", "order": 1, "level": 1})");
  exercise("elsewhere", R"({"title": "C", "topic": "vecadd", "order": 1, "level": 1})");
  exercise("broken", "{");
  fs::create_directories(folder_ / "exercises/include");
  const auto course = read_course(folder_.string(), (folder_ / "exercises").string());
  ASSERT_TRUE(course) << course.error().message;
  const std::string wanted =
      R"("exercises":[{"name":"first","title":"A","level":1,"topic":"banks"},{"name":"second","title":"B","level":3,"topic":"banks"}])";
  EXPECT_NE(course->json.find(wanted), std::string::npos) << course->json;
  EXPECT_EQ(course->json.find("elsewhere"), std::string::npos);
}

TEST_F(CourseFiles, NoneIsNoError) {
  const auto course = read_course((folder_ / "nowhere").string(), "");
  ASSERT_TRUE(course);
  EXPECT_TRUE(course->json.empty());
  EXPECT_TRUE(course->chapters.empty());
}

TEST_F(CourseFiles, BadOnesAreNamed) {
  const auto fails = [&](const char* name, const char* text) {
    SetUp();
    write(name, text);
    const auto course = read_course(folder_.string(), (folder_ / "exercises").string());
    ASSERT_FALSE(course) << name;
    EXPECT_NE(course.error().message.find(name), std::string::npos) << course.error().message;
  };
  fails("course.json", "{");
  fails("glossary.json", R"({"format": "warpgrind-course 1"})");
  fails("chapters/banks.json", R"(["no object"])");
  fails("chapters/banks.json", R"({"format": "warpgrind-chapter 1"})");
  SetUp();
  fs::remove(folder_ / "course/glossary.json");
  EXPECT_FALSE(read_course(folder_.string(), (folder_ / "exercises").string()));
}

}  // namespace
}  // namespace warpgrind::lab
