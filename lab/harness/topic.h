// A topic's description and its command line. `--describe` prints the topic as JSON; `warpgrind lab` knows nothing else
// about it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "harness/cuda.h"
#include "harness/json.h"

namespace lab {

enum class Role {
  rung,     // a step of the ladder: gets a step and a cumulative speed-up
  bound,    // a limit that no rung can beat (a plain copy): not part of the ladder
  sweep,    // one kernel under many parameters: none is better or worse
  library,  // the best published library, on a real GPU
  host      // runs on the host's CPU
};

inline const char* name(Role role) {
  constexpr const char* kNames[] = {"rung", "bound", "sweep", "library", "host"};
  return kNames[static_cast<int>(role)];
}

struct Rung {
  const char* name;
  const char* what;  // the change from the rung before, or what it shows: one phrase
  Role role = Role::rung;
};

// An option --NAME VALUE of a single topic.
struct Option {
  const char* name;
  const char* fallback;
  const char* help;
};

struct Topic {
  const char* name;
  const char* title;
  const char* document;          // the course document of the experiment: "001 (Advanced CUDA)"
  const char* shows;             // one or two sentences
  const char* size_names;        // "N", "ROWSxCOLUMNS", "MxNxK"
  const char* quick_sizes;       // as --sizes takes them
  const char* full_sizes;        // with --full
  const char* large_sizes = "";  // with --large: sizes where the ladder's lesson holds and a measured time is stored
  const char* types = "float";   // values of --type, separated by commas; the first is the default
  const char* models = "";       // GPU models whose counts are worth comparing (virtual GPU only)
  std::vector<Rung> rungs;
  std::vector<Option> options = {};
};

// One problem size: as many numbers as the topic's size_names has.
struct Size {
  std::vector<long> n;
  long operator[](size_t i) const { return n[i]; }
  std::string text() const {
    std::string out;
    for (const long v : n) out += (out.empty() ? "" : "x") + std::to_string(v);
    return out;
  }
};

class CommandLine {
 public:
  CommandLine(int argc, char** argv, const Topic& topic);

  const std::vector<Size>& sizes() const { return parsed_sizes_; }
  std::vector<std::string> types() const { return split(types_, ','); }
  bool full() const { return full_; }
  bool once() const { return once_; }  // one launch a rung and no timing, for tools that count
  const std::string& json() const { return json_; }
  const std::string& option(const std::string& name) const { return options_.at(name); }
  // Returns an option's value as an integer from `lowest` to `highest`.
  long option_number(const std::string& name, long lowest, long highest) const;
  bool chosen(const std::string& rung) const;
  [[noreturn]] void fail(const std::string& message) const;

  static std::vector<std::string> split(const std::string& text, char at);

 private:
  void take(int argc, char** argv, int& i);

  // A pattern is a part of the name, or the whole name with * for any text.
  static bool matches(const std::string& pattern, const std::string& text);
  static bool glob(const char* p, const char* t);
  void require_rung(const std::string& pattern) const;
  void require_type(const std::string& type) const;

  long number(const std::string& text, const std::string& what, long lowest, long highest) const;
  // "N", "AxB", "FIRST:LAST:xF", "FIRST:LAST:+S"
  void add_sizes(const std::string& text);

  [[noreturn]] void help() const;
  [[noreturn]] void describe() const;

  Topic topic_;
  const char* program_;
  bool full_ = false, large_ = false, once_ = false;
  std::string sizes_, types_, json_;
  std::vector<std::string> patterns_;
  std::map<std::string, std::string> options_;
  std::vector<Size> parsed_sizes_;
};

}  // namespace lab
