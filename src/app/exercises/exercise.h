// Exercise: a folder with a text, a skeleton, a test, wrong answers, and a rubric as data (docs/exercise-format.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/expectations.h"

namespace warpgrind::exercises {

// A requirement besides correct results and no findings.
struct Rule {
  enum class Kind : std::uint8_t {
    counter,  // an expectation of `--expect`
    time,     // estimated time of the kernels, or from the first copy to the last, compared with the solution's
    copies,   // the host memory that copies use, or that there are no copies
    source,   // a pattern that the source must, or must not, contain
  };
  Kind kind = Kind::counter;
  std::string text;     // as written in the rubric, for people
  std::string message;  // help after a failure; may be empty
  report::Expectation expectation;
  double factor = 1;      // time
  bool timeline = false;  // time: from the first to the last work of the GPU, including copies
  std::string than;       // time: a kernel of the test; empty: the solution
  std::string copies;     // "pinned", "none"
  std::string pattern;    // source: a POSIX extended regular expression
  bool lacks = false;     // source: the pattern must be absent
};

// Help for a kind of finding (docs/checks.md; "oob-*": all kinds with this beginning).
struct FindingHelp {
  std::string kind, message;
};

struct WrongAnswer {
  std::string file;     // in the folder
  std::string message;  // part of the message that its verdict must have
};

struct Exercise {
  std::string name, folder;
  std::string title, topic, document, section;
  int order = 0, level = 1;  // 1 to 5
  std::string gpu = "h200";
  int devices = 1;
  double seconds = 30;  // for each step of the judgement
  std::vector<Rule> rules;
  std::vector<FindingHelp> findings;
  std::vector<std::string> hints;
  std::vector<WrongAnswer> wrong;

  std::string file(const std::string& name_in_folder) const { return folder + "/" + name_in_folder; }
  std::string hand_in() const { return name + ".cu"; }
};

Result<Exercise> read_exercise(const std::string& folder);

// All exercises in a folder, in the order of the course. A folder without exercise.json is no exercise.
Result<std::vector<Exercise>> find_exercises(const std::string& folder);

// The error names the exercise with the most similar name.
Result<const Exercise*> find_exercise(const std::vector<Exercise>& exercises, const std::string& name);

}  // namespace warpgrind::exercises
