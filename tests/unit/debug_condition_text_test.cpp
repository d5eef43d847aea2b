// Conditions that cannot be right, and those that can.
#include <gtest/gtest.h>

#include "dap/condition_text.h"

namespace {

using warpgrind::dap::problem_of_condition;

TEST(ConditionText, GoodOnes) {
  for (const char* text :
       {"", "i", "i == 3", "a <= b && c >= d", "a != b", "x[i == 2] < 3", "f((a), b) == '='", "c == '\\''",
        "(unsigned long long)v * v != square", "p->x == q.y", "i <= 3 || !done", "not done"})
    EXPECT_EQ(problem_of_condition(text), "") << text;
}

TEST(ConditionText, Mistakes) {
  EXPECT_EQ(problem_of_condition("i = 3"), "'=' assigns a value: '==' compares");
  EXPECT_EQ(problem_of_condition("i=3"), "'=' assigns a value: '==' compares");
  EXPECT_EQ(problem_of_condition("i += 3"), "'=' assigns a value: '==' compares");
  EXPECT_EQ(problem_of_condition("i <<= 3"), "'=' assigns a value: '==' compares");
  EXPECT_EQ(problem_of_condition("x[i == 3"), "']' is missing");
  EXPECT_EQ(problem_of_condition("(x[i)] == 3"), "')' without '('");
  EXPECT_EQ(problem_of_condition("i == 3)"), "')' without '('");
  EXPECT_EQ(problem_of_condition("c == 'a"), "a quote has no end");
  EXPECT_EQ(problem_of_condition("i == 3 && "), "a value is missing at the end");
  EXPECT_EQ(problem_of_condition("i =="), "a value is missing at the end");
}

}  // namespace
