// Reading of gdb/MI: whole lines as gdb 13 prints them, and broken ones.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "hostdebug/mi_reader.h"

namespace warpgrind::hostdebug {
namespace {

constexpr const char* kStop =
    R"(*stopped,reason="breakpoint-hit",disp="keep",bkptno="1",frame={addr="0x1139",func="main",args=[{name="argc",)"
    R"(value="1"}],file="a\\b.cu",line="17"},thread-id="1",stopped-threads=["1","2"],core="0")";
constexpr const char* kStack = R"(12^done,stack=[frame={level="0",func="f"},frame={level="1",func="g"}])";

TEST(Mi, EventWithTuplesAndLists) {
  const auto stop = read_mi(kStop);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->kind, MiRecord::Kind::event);
  EXPECT_EQ(stop->name, "stopped");
  EXPECT_EQ(stop->values["frame"]["args"][0]["value"], "1");
  EXPECT_EQ(stop->values["frame"]["file"], "a\\b.cu");
  EXPECT_EQ(stop->values["stopped-threads"], Json({"1", "2"}));
}

TEST(Mi, ResultWithTokenAndNamedElements) {
  const auto stack = read_mi(kStack);
  ASSERT_TRUE(stack);
  EXPECT_EQ(stack->kind, MiRecord::Kind::result);
  EXPECT_EQ(stack->token, 12);
  EXPECT_EQ(stack->values["stack"][1]["func"], "g");
  EXPECT_EQ(read_mi("3^running")->name, "running");
}

TEST(Mi, TextsHaveEscapes) {
  const auto text = read_mi(R"(~"\"a\"\tb\n\303\244")");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->kind, MiRecord::Kind::console);
  EXPECT_EQ(text->text, "\"a\"\tb\n\u00e4");
  EXPECT_EQ(mi_quoted("a \"b\" \\c\n"), R"("a \"b\" \\c\n")");
}

TEST(Mi, OtherLinesAreNone) {
  for (const char* line : {"", "(gdb) ", "sum 5", "*stopped,", "^done,a", "^done,a=", "^done,a={", R"(^done,a="b)",
                           R"(^done,a=["b")", R"(^done,a="b"x)", "~", "~\"", R"(~"a"b)", "12", "=", "*stopped,=\"\"}"})
    EXPECT_FALSE(read_mi(line) && !read_mi(line)->values.empty()) << line;
  EXPECT_FALSE(read_mi("^done,a=" + std::string(100'000, '[')));
  EXPECT_FALSE(read_mi("^done,a=" + std::string(100'000, '{')));
}

// Any bytes give a record or nothing. A cut or changed line must not be read past its end.
TEST(Mi, BrokenLinesAreSafe) {
  std::mt19937 chance(7);
  for (const std::string whole : {kStop, kStack, R"(~"\303\244\\")"}) {
    for (std::size_t length = 0; length <= whole.size(); ++length) (void)read_mi(whole.substr(0, length));
    for (int i = 0; i < 20'000; ++i) {
      std::string line = whole;
      for (unsigned k = chance() % 4 + 1; k != 0; --k)
        line[chance() % line.size()] = "{}[]\",=\\*^~0a\xff"[chance() % 14];
      (void)read_mi(line);
    }
  }
}

}  // namespace
}  // namespace warpgrind::hostdebug
