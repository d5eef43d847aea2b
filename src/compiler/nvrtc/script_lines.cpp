#include "nvrtc/script_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <unordered_map>

#include "base/file.h"

namespace warpgrind::nvrtc {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostScripts = 300, kLargestScript = std::size_t{1} << 20;
constexpr std::size_t kMostLines = 20000;  // of a text; longer ones are libraries
constexpr std::size_t kMostPlaces = 64;    // where a line such as `}` may stand

std::string_view without_blanks(std::string_view line) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Characters that are no blanks: what makes a line one of its kind.
std::size_t weight(std::string_view line) {
  return line.size() - static_cast<std::size_t>(std::count(line.begin(), line.end(), ' '));
}

// Whether a directive may stand in front of each line, and behind the last: not inside brackets, comments, raw strings
// or continued lines.
class Openings {
 public:
  explicit Openings(std::string_view text) : text_(text) {
    note();
    while (at_ < text_.size()) step();
  }
  bool is_open(std::size_t line) const { return line < open_.size() && open_[line]; }

 private:
  void note() { open_.push_back(depth_ == 0 && (at_ == 0 || !text_.substr(0, at_ - 1).ends_with('\\'))); }

  // Behind `end`, which is text from `from` on.
  void skip_to(std::string_view end, std::size_t from) {
    const std::size_t found = text_.find(end, from);
    const std::size_t stop = found == text_.npos ? text_.size() : found + end.size();
    for (; at_ < stop; ++at_)
      if (text_[at_] == '\n') open_.push_back(false);
  }

  void skip_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
  }

  void step() {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (rest.starts_with("/*")) {
      skip_to("*/", at_ + 2);
    } else if (rest.starts_with("R\"")) {
      const std::size_t open = rest.find('(');
      const std::string end = ")" + std::string(rest.substr(2, open == rest.npos ? 0 : open - 2)) + "\"";
      skip_to(end, at_ + 2);
    } else if (rest[0] == '"' ||
               (rest[0] == '\'' && (at_ == 0 || std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) == 0))) {
      skip_quoted(rest[0]);
    } else {
      if (rest[0] == '(') ++depth_;
      if (rest[0] == ')' && depth_ > 0) --depth_;
      ++at_;
      if (rest[0] == '\n') note();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  unsigned depth_ = 0;
  std::vector<bool> open_;
};

// Lines [first, first + count) of the text are the script's lines from `at` on, counted from 0.
struct Run {
  std::size_t first = 0, count = 0, at = 0;
  const Script* script = nullptr;
};

class Matcher {
 public:
  Matcher(const std::vector<std::string_view>& text, const Script& script) : text_(text), script_(script) {
    for (std::size_t p = 0; p < script_.lines.size(); ++p) {
      std::vector<std::size_t>& places = places_[script_.lines[p]];
      if (places.size() <= kMostPlaces) places.push_back(p);
    }
  }

  // The runs, in order. They do not overlap.
  std::vector<Run> runs() const {
    std::vector<Run> out;
    for (std::size_t i = 0; i < text_.size();) {
      std::optional<Run> run = longest(i, out.empty() ? 0 : out.back().first + out.back().count);
      if (!run) {
        ++i;
        continue;
      }
      i = run->first + run->count;
      out.push_back(*run);
    }
    return out;
  }

 private:
  bool equal(std::size_t i, std::size_t p) const {
    const std::string_view t = without_blanks(text_[i]), s = script_.lines[p];
    if (t == s) return true;
    if (t.empty()) return false;
    return (i == 0 && s.ends_with(t)) || (i + 1 == text_.size() && s.starts_with(t));
  }

  // The longest run that begins at line `i`, or begins before it, from line `from` on. None: too little, or ambiguous.
  std::optional<Run> longest(std::size_t i, std::size_t from) const {
    const auto places = places_.find(without_blanks(text_[i]));
    if (without_blanks(text_[i]).empty() || places == places_.end() || places->second.size() > kMostPlaces) return {};
    Run best;
    bool is_only = true;
    for (const std::size_t p : places->second) {
      Run run{i, 0, p, &script_};
      while (i + run.count < text_.size() && p + run.count < script_.lines.size() &&
             equal(i + run.count, p + run.count))
        ++run.count;
      is_only = run.count != best.count && (run.count > best.count || is_only);
      if (run.count > best.count) best = run;
    }
    if (!is_only) return {};
    while (best.first > from && best.at > 0 && equal(best.first - 1, best.at - 1))
      --best.first, --best.at, ++best.count;
    constexpr std::size_t kLeastWeight = 6, kLeastAlone = 16;
    std::size_t heavy = 0, most = 0;
    for (std::size_t k = 0; k < best.count; ++k) {
      const std::size_t w = weight(without_blanks(text_[best.first + k]));
      heavy += w >= kLeastWeight;
      most = std::max(most, w);
    }
    if (heavy < 2 && (heavy < 1 || most < kLeastAlone)) return {};
    return best;
  }

  const std::vector<std::string_view>& text_;
  const Script& script_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> places_;
};

bool can_be_quoted(const std::string& path) {
  return path.find_first_of("\"\\\n\r") == std::string::npos;
}

// The path of the first argument of this process that is a Python file; empty: none.
std::string script_argument() {
  const std::optional<std::string> words = read_whole("/proc/self/cmdline");
  if (!words) return "";
  for (std::size_t at = 0; at < words->size();) {
    const std::string word = words->c_str() + at;
    std::error_code none;
    if (word.ends_with(".py") && fs::is_regular_file(word, none)) return fs::absolute(word, none).lexically_normal();
    at += word.size() + 1;
  }
  return "";
}

void add_script(const std::string& path, std::vector<Script>& out) {
  if (!can_be_quoted(path)) return;
  if (const auto text = read_whole(path, kLargestScript)) out.emplace_back(path, *text);
}

std::vector<Script> find_scripts() {
  std::vector<Script> out;
  out.reserve(kMostScripts);
  const std::string first = script_argument();
  if (!first.empty()) add_script(first, out);
  std::error_code problem;
  const fs::path folder = first.empty() ? fs::current_path(problem) : fs::path(first).parent_path();
  constexpr int kDeepest = 3;
  constexpr std::size_t kMostEntries = 20000;
  std::size_t seen = 0;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, problem), end;
       !problem && it != end && out.size() < kMostScripts && ++seen < kMostEntries; it.increment(problem)) {
    const std::string name = it->path().filename();
    std::error_code none;
    if (it->is_directory(none)) {
      if (name.starts_with('.') || name == "site-packages" || name == "node_modules" || it.depth() >= kDeepest)
        it.disable_recursion_pending();
    } else if (name.ends_with(".py") && it->path() != first) {
      add_script(it->path(), out);
    }
  }
  return out;
}

}  // namespace

Script::Script(std::string where, std::string_view text) : path(std::move(where)) {
  for (const std::string_view line : lines_of(text)) lines.emplace_back(without_blanks(line));
}

std::string with_script_lines(const std::string& text, const std::string& name, const std::vector<Script>& scripts) {
  const std::vector<std::string_view> lines = lines_of(text);
  if (lines.size() > kMostLines || !can_be_quoted(name)) return text;
  std::vector<Run> runs;
  std::size_t most = 0;
  for (const Script& script : scripts) {  // one script has the text
    std::vector<Run> found = Matcher(lines, script).runs();
    std::size_t count = 0;
    for (const Run& run : found) count += run.count;
    if (count > most) runs = std::move(found);
    most = std::max(most, count);
  }
  if (runs.empty()) return text;
  const Openings openings(text);
  std::string out;
  std::size_t done = 0;
  const auto copy_to = [&](std::size_t line) {
    for (; done < line; ++done) out.append(lines[done]).append(done + 1 < lines.size() ? "\n" : "");
  };
  for (Run run : runs) {
    for (; run.count > 0 && !openings.is_open(run.first); --run.count) ++run.first, ++run.at;
    const auto ends = [&] { return run.first + run.count == lines.size() || openings.is_open(run.first + run.count); };
    while (run.count > 0 && !ends()) --run.count;
    if (run.count == 0) continue;
    copy_to(run.first);
    out += fmt::format("#line {} \"{}\"\n", run.at + 1, run.script->path);
    copy_to(run.first + run.count);
    if (done < lines.size()) out += fmt::format("#line {} \"{}\"\n", done + 1, name);
  }
  copy_to(lines.size());
  return out;
}

const std::vector<Script>& own_scripts() {
  static const auto& scripts = *new std::vector<Script>(find_scripts());
  return scripts;
}

}  // namespace warpgrind::nvrtc
