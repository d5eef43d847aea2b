// What a program of the lab says about itself, and its command line. `--describe` prints the topic as JSON: that is
// all `warpgrind lab` knows of it.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "harness/cuda.h"
#include "harness/json.h"

namespace lab {

enum class Role {
  rung,     // a step of the ladder: gets a step and a cumulative speed-up
  bound,    // what no rung can beat (a plain copy): not part of the ladder
  sweep,    // one kernel under many parameters: no better and worse
  library,  // the best published library, on a real GPU
  host      // runs on the CPU
};

inline const char* name(Role role) {
  constexpr const char* kNames[] = {"rung", "bound", "sweep", "library", "host"};
  return kNames[static_cast<int>(role)];
}

struct Rung {
  const char* name;
  const char* what;  // what changed against the rung before, or what it shows: one phrase
  Role role = Role::rung;
};

// --NAME VALUE of one topic alone.
struct Option {
  const char* name;
  const char* fallback;
  const char* help;
};

struct Topic {
  const char* name;
  const char* title;
  const char* document;          // which course document the experiment comes from: "001 (Advanced CUDA)"
  const char* shows;             // one or two sentences
  const char* size_names;        // "N", "ROWSxCOLUMNS", "MxNxK"
  const char* quick_sizes;       // as --sizes takes them
  const char* full_sizes;        // with --full
  const char* large_sizes = "";  // with --large: where the ladder's lesson holds, and a measured time is stored
  const char* types = "float";   // what --type takes, separated by commas; the first is the default
  const char* models = "";       // GPU models whose counts are worth a look side by side (virtual GPU only)
  std::vector<Rung> rungs;
  std::vector<Option> options = {};
};

// One problem size: as many numbers as the topic has names.
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
  CommandLine(int argc, char** argv, const Topic& topic) : topic_(topic), program_(argv[0]) {
    for (const Option& option : topic.options) options_[option.name] = option.fallback;
    for (int i = 1; i < argc; ++i) take(argc, argv, i);
    if (types_.empty()) types_ = split(topic.types, ',').front();
    for (const std::string& type : split(types_, ',')) require_type(type);
    const std::string text = !sizes_.empty() ? sizes_
                             : large_        ? topic.large_sizes
                             : full_         ? topic.full_sizes
                                             : topic.quick_sizes;
    if (large_ && !*topic.large_sizes) fail(std::string(topic.name) + " has no size for --large");
    for (const std::string& part : split(text, ',')) add_sizes(part);
    for (const std::string& pattern : patterns_) require_rung(pattern);
  }

  const std::vector<Size>& sizes() const { return parsed_sizes_; }
  std::vector<std::string> types() const { return split(types_, ','); }
  bool full() const { return full_; }
  bool once() const { return once_; }  // one launch a rung and no timing: for tools that count
  const std::string& json() const { return json_; }
  const std::string& option(const std::string& name) const { return options_.at(name); }
  // An option's value as a whole number from `lowest` to `highest`.
  long option_number(const std::string& name, long lowest, long highest) const {
    return number(option(name), "--" + name, lowest, highest);
  }
  bool chosen(const std::string& rung) const {
    for (const Rung& known : topic_.rungs)  // --large: the ladder and its bound
      if (large_ && rung == known.name && known.role != Role::rung && known.role != Role::bound) return false;
    if (patterns_.empty()) return true;
    for (const std::string& pattern : patterns_)
      if (matches(pattern, rung)) return true;
    return false;
  }
  [[noreturn]] void fail(const std::string& message) const {
    std::fprintf(stderr, "%s: %s\n", program_, message.c_str());
    std::exit(kExitArguments);
  }

  static std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> out;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) out.push_back(part);
    return out;
  }

 private:
  void take(int argc, char** argv, int& i) {
    const std::string name = argv[i];
    if (name == "--describe") describe();
    if (name == "--help" || name == "-h") help();
    if (name == "--full") {
      full_ = true;
    } else if (name == "--large") {
      large_ = true;
    } else if (name == "--once") {
      once_ = true;
    } else if (name.rfind("--", 0) != 0) {
      if (!sizes_.empty()) fail("a second size '" + name + "': give a list as 16,32,48 or a range as 16:4096:x2");
      sizes_ = name;
    } else {
      std::string* value = name == "--sizes"  ? &sizes_
                           : name == "--type" ? &types_
                           : name == "--json" ? &json_
                                              : nullptr;
      if (!value && options_.count(name.substr(2))) value = &options_[name.substr(2)];
      if (!value && name != "--rung") fail("unknown option '" + name + "'; --help lists the options");
      if (i + 1 >= argc) fail(name + " needs a value");
      ++i;
      if (value) {
        *value = argv[i];
        if (value->empty()) fail(name + " needs a value, not an empty text");
      } else {
        patterns_.push_back(argv[i]);
      }
    }
  }

  // A pattern is a part of the name, or the whole with * for anything.
  static bool matches(const std::string& pattern, const std::string& text) {
    if (pattern.find('*') == std::string::npos) return text.find(pattern) != std::string::npos;
    return glob(pattern.c_str(), text.c_str());
  }
  static bool glob(const char* p, const char* t) {
    if (*p == '*') return glob(p + 1, t) || (*t && glob(p, t + 1));
    return *p == *t && (!*p || glob(p + 1, t + 1));
  }
  void require_rung(const std::string& pattern) const {
    std::string names;
    for (const Rung& rung : topic_.rungs) {
      if (matches(pattern, rung.name)) return;
      names += std::string(names.empty() ? "" : ", ") + rung.name;
    }
    fail("no rung '" + pattern + "' in " + topic_.name + "; there are: " + names);
  }
  void require_type(const std::string& type) const {
    for (const std::string& known : split(topic_.types, ','))
      if (known == type) return;
    fail("no type '" + type + "' in " + topic_.name + "; there are: " + topic_.types);
  }

  long number(const std::string& text, const std::string& what, long lowest, long highest) const {
    char* end = nullptr;
    errno = 0;
    const long value = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end || errno || value < lowest || value > highest)
      fail(what + " must be a whole number from " + std::to_string(lowest) + " to " + std::to_string(highest) +
           ", not '" + text + "'");
    return value;
  }
  // "N", "AxB", "FIRST:LAST:xF", "FIRST:LAST:+S"
  void add_sizes(const std::string& text) {
    constexpr long kLargest = 1L << 40;
    const size_t names = split(topic_.size_names, 'x').size();
    const std::vector<std::string> range = split(text, ':');
    if (range.size() == 1) {
      Size size;
      for (const std::string& part : split(text, 'x')) size.n.push_back(number(part, "a size", 1, kLargest));
      if (size.n.size() == 1) size.n.resize(names, size.n.front());
      if (size.n.size() != names)
        fail("a size of " + std::string(topic_.name) + " is " + topic_.size_names + ", not '" + text + "'");
      parsed_sizes_.push_back(size);
      return;
    }
    const bool times = range.size() == 3 && range[2][0] == 'x', plus = range.size() == 3 && range[2][0] == '+';
    if (!times && !plus) fail("a range of sizes is FIRST:LAST:xFACTOR or FIRST:LAST:+STEP, not '" + text + "'");
    const long first = number(range[0], "the first size", 1, kLargest);
    const long last = number(range[1], "the last size", first, kLargest);
    const long step = number(range[2].substr(1), "the step of a range", times ? 2 : 1, kLargest);
    for (long n = first; n <= last; n = times ? n * step : n + step)
      parsed_sizes_.push_back({std::vector<long>(names, n)});
  }

  [[noreturn]] void help() const {
    std::printf("%s: %s\n%s\n\nusage: %s [%s] [OPTIONS]\n", topic_.name, topic_.title, topic_.shows, program_,
                topic_.size_names);
    std::printf("  --sizes LIST     16,32 or 16:4096:x2 or 16:64:+16%s (default %s; with --full %s)\n",
                std::strchr(topic_.size_names, 'x') ? " or 512x300" : "", topic_.quick_sizes, topic_.full_sizes);
    std::printf("  --type LIST      of %s\n  --rung PATTERN   only the rungs of this name (several times)\n",
                topic_.types);
    std::printf("  --full           the full sizes\n  --large          the ladder at its large size (%s)\n",
                topic_.large_sizes);
    std::printf("  --once           one launch a rung, no timing\n");
    std::printf("  --json FILE      the results\n");
    for (const Option& option : topic_.options)
      std::printf("  --%-14s %s (default %s)\n", option.name, option.help, option.fallback);
    std::printf("rungs:\n");
    for (const Rung& rung : topic_.rungs) std::printf("  %-28s %s\n", rung.name, rung.what);
    std::exit(0);
  }
  [[noreturn]] void describe() const {
    std::vector<std::string> rungs, options;
    for (const Rung& rung : topic_.rungs)
      rungs.push_back(
          JsonObject().text("name", rung.name).text("what", rung.what).text("role", lab::name(rung.role)).str());
    for (const Option& option : topic_.options)
      options.push_back(
          JsonObject().text("name", option.name).text("default", option.fallback).text("help", option.help).str());
    JsonObject object;
    object.text("format", "warpgrind-lab-topic 1").text("topic", topic_.name).text("title", topic_.title);
    object.text("document", topic_.document).text("shows", topic_.shows).text("size_names", topic_.size_names);
    object.text("quick_sizes", topic_.quick_sizes)
        .text("full_sizes", topic_.full_sizes)
        .text("large_sizes", topic_.large_sizes)
        .text("types", topic_.types);
    object.text("models", topic_.models).raw("rungs", json_list(rungs)).raw("options", json_list(options));
    std::printf("%s\n", object.str().c_str());
    std::exit(0);
  }

  Topic topic_;
  const char* program_;
  bool full_ = false, large_ = false, once_ = false;
  std::string sizes_, types_, json_;
  std::vector<std::string> patterns_;
  std::map<std::string, std::string> options_;
  std::vector<Size> parsed_sizes_;
};

}  // namespace lab
