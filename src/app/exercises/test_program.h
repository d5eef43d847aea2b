// Test of an exercise as a program of its own: the driver, compiled once for all answers, and linked with the solution.
// That program compares the results of answers, so no answer shares a process with a right result or a verdict.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/temporary_folder.h"
#include "exercises/exercise.h"
#include "exercises/judge.h"
#include "exercises/trial.h"

namespace warpgrind::exercises {

struct Case {
  std::string name, seen;
  bool right = false;
};

struct Cases {
  std::vector<Case> cases;
  bool finished = false;  // the answer's test reached its end
};

// What the solution's run takes and does, to compare answers with.
struct SolutionRun {
  double kernels_ns = 0, timeline_ns = 0;
  double copied_bytes = 0;                     // between host and device, in the counted run
  std::map<std::string, double> stored_bytes;  // by kernel: in global memory, in the counted run
  std::vector<bool> depend_on_kernels;         // of the results of the run with several sizes
};

class TestProgram {
 public:
  // Compiles the test, or takes it from the cache. An error is a fault of the exercise or the machine.
  static Result<std::shared_ptr<const TestProgram>> make(const Exercise& exercise, const JudgeSettings& settings);

  const TestParts& parts() const { return parts_; }
  const SolutionRun& solution() const { return solution_; }
  // Compares the results of one run, "checked" or "counted", with the right ones. `records`: their file.
  Result<Cases> compare(const std::string& run, unsigned seed, const std::string& records) const;

 private:
  TestProgram(const Exercise& exercise, const JudgeSettings& settings) : exercise_(exercise), settings_(settings) {
    settings_.boxed = false;  // test and solution are our own
  }
  Status build(const std::string& folder);
  Status run_solution(Trial& trial);
  bool read(const std::string& folder);

  Exercise exercise_;
  JudgeSettings settings_;
  TemporaryFolder own_;
  std::string folder_;
  TestParts parts_;
  SolutionRun solution_;
};

double stored_bytes(const results::KernelProfile& kernel);
double copied_bytes(const results::Profile& profile);  // between host and device

}  // namespace warpgrind::exercises
