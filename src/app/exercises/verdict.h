// Verdict as text for people, and as JSON and JUnit for programs.
#pragma once

#include <string>
#include <vector>

#include "exercises/judge.h"

namespace warpgrind::exercises {

std::string verdict_text(const Verdict& verdict, bool colour);

// One hand-in of a class.
struct Graded {
  std::string student, exercise, file;
  Verdict verdict;
  std::string problem;  // why there is no verdict
  double seconds = 0;   // duration of the judgement
  int most = 0;         // points of the exercise; 0: there is no such exercise
  bool passed() const { return problem.empty() && verdict.passed(); }
};
std::string verdict_json(const std::vector<Graded>& graded);
std::string verdict_junit(const std::vector<Graded>& graded);
std::string class_text(const std::vector<Graded>& graded, bool colour);  // one line per hand-in

}  // namespace warpgrind::exercises
