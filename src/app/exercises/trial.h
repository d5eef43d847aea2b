// Trial of a hand-in: it is compiled with the exercise's test and run, in a temporary folder of its own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/temporary_folder.h"
#include "exercises/child.h"
#include "exercises/exercise.h"
#include "exercises/judge.h"
#include "results/profile.h"

namespace warpgrind::exercises {

struct Case {
  std::string name, seen;
  bool right = false;
};

// The results of one run of the test.
struct Ran {
  ChildEnd end;
  std::vector<Case> cases;
  bool finished = false;  // the test reached its end
  std::vector<results::Profile> profiles;
};

// judge.h and the headers that tests share, from its folder, in a fixed order.
std::vector<std::string> test_headers(const std::string& include);

class Trial {
 public:
  Trial(const Exercise& exercise, const JudgeSettings& settings) : exercise_(exercise), settings_(settings) {}
  Status prepare(const std::string& hand_in);
  Result<ChildEnd> compile();
  Result<Ran> run_checked();  // several sizes, with all checkers
  Result<Ran> run_counted();  // one size, counted in detail
  std::string without_folder(const std::string& text) const;

 private:
  std::string work() const;
  ChildJob job(std::vector<std::string> command) const;
  Result<Ran> run(std::vector<std::string> options, const std::string& argument);

  const Exercise& exercise_;
  const JudgeSettings& settings_;
  TemporaryFolder folder_;
};

}  // namespace warpgrind::exercises
