// Judge of a hand-in: compiles and links it with the exercise's test, runs it for results and findings, and runs it
// again for counters and time. Another process compares the results (test_program.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exercises/exercise.h"
#include "results/detail.h"

namespace warpgrind::exercises {

struct Judged {
  enum class Outcome : std::uint8_t { passed, failed, not_judged };
  std::string rule{};  // "compiles", "results", "findings", "counter", "time", "copies", "source"
  std::string asked{};
  Outcome outcome = Outcome::not_judged;
  std::string seen{};     // one line
  std::string message{};  // help
  std::string file{};     // empty: no particular place
  std::uint32_t line = 0;
  std::string details{};  // many lines: the drawn access, the compiler's messages, the finding with its sources
  std::optional<results::AccessPattern> access{};  // the request that the rule blames
};

struct Verdict {
  std::string exercise, title, file;
  std::vector<Judged> lines;
  bool passed() const;
};

class TestProgram;

struct JudgeSettings {
  std::string warpgrind;  // the executable
  std::string include;    // folder of judge.h
  std::string cache;      // folder for compiled tests; empty: none
  std::string gpu;        // replaces the exercise's GPU
  bool boxed = false;
  bool colour = false;
};

class Judge {
 public:
  explicit Judge(JudgeSettings settings) : settings_(std::move(settings)) {}
  // An error is a fault of the machine or of the exercise, never of the hand-in.
  Result<Verdict> judge(const Exercise& exercise, const std::string& file);

 private:
  Result<std::shared_ptr<const TestProgram>> test_of(const Exercise& exercise);

  JudgeSettings settings_;
  std::map<std::string, std::shared_ptr<const TestProgram>> tests_;  // by exercise
};

}  // namespace warpgrind::exercises
