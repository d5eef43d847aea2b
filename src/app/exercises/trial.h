// Trial of an answer: it is compiled alone, linked with the exercise's test, and run, in a temporary folder of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/temporary_folder.h"
#include "exercises/child.h"
#include "exercises/exercise.h"
#include "exercises/judge.h"
#include "exercises/object_rules.h"
#include "results/profile.h"

namespace warpgrind::exercises {

// What an answer is linked with.
struct TestParts {
  std::string object;      // file: the test, compiled
  std::string prototypes;  // of the functions that it calls
};

// One run of an answer with the test.
struct Run {
  ChildEnd end;
  std::string records;  // file: the results (records.h)
  std::vector<results::Profile> profiles;
};

// judge.h and the headers that tests share, from its folder, in a fixed order.
std::vector<std::string> test_headers(const std::string& include);

// Compiles a source of that folder, unboxed or boxed, for the exercise's GPU.
struct CompileJob {
  std::string folder;
  std::vector<std::string> words;  // sources, objects and options
  bool boxed = false;
};
Result<ChildEnd> compile(const Exercise& exercise, const JudgeSettings& settings, const CompileJob& job);

class Trial {
 public:
  Trial(const Exercise& exercise, const JudgeSettings& settings) : exercise_(exercise), settings_(settings) {}
  Status prepare(const std::string& answer, const TestParts& test);
  Result<ChildEnd> compile_answer();
  // Rules about the object file and the included files; valid after compile_answer().
  std::optional<Breach> find_breach() const;
  Result<ChildEnd> link();
  Result<Run> run_checked();          // several sizes, with all checkers
  Result<Run> run_sizes();            // the same sizes, unchecked
  Result<Run> run_without_kernels();  // the same, but kernels do nothing
  Result<Run> run_counted();          // one size, counted in detail
  unsigned seed() const { return seed_; }
  std::string program() const { return work() + "/judged"; }
  std::string without_folder(const std::string& text) const;

 private:
  std::string work() const;
  ChildJob job(std::vector<std::string> command) const;
  Result<Run> run(std::vector<std::string> options, const std::string& argument, const std::string& name,
                  double most_seconds);

  const Exercise& exercise_;
  const JudgeSettings& settings_;
  TemporaryFolder folder_;
  TestParts test_;
  std::string source_;
  unsigned seed_ = 1;  // of the test's numbers and sizes: from the answer's text, so that a verdict can be repeated
};

}  // namespace warpgrind::exercises
