// Judge of a hand-in: compiles it with the exercise's test, runs it for results and findings, and runs it again for
// counters and time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "exercises/exercise.h"

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
};

struct Verdict {
  std::string exercise, title, file;
  std::vector<Judged> lines;
  bool passed() const;
};

struct JudgeSettings {
  std::string warpgrind;  // the executable
  std::string include;    // folder of judge.h
  std::string cache;      // folder for the figures of the solutions' runs; empty: none
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
  struct Reference {
    double kernels_ns = 0, timeline_ns = 0;
  };
  Result<Reference> reference(const Exercise& exercise);
  Result<Reference> run_solution(const Exercise& exercise);
  Result<Judged> judge_time(const Exercise& exercise, const Rule& rule, const results::Profile& profile);
  Status judge_rules(const Exercise& exercise, const std::string& source, const results::Profile* profile,
                     const std::string& unjudged, Verdict& verdict);

  JudgeSettings settings_;
  std::map<std::string, Reference> references_;  // by name
};

}  // namespace warpgrind::exercises
