// Rewriter of kernel launches in device code: a lexer, the search for launches, the edits, and clang's overlay files.
#include "toolchain/device_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/assert.h"
#include "base/file.h"
#include "toolchain/messages.h"

namespace warpgrind::toolchain {

namespace {

namespace fs = std::filesystem;

enum class TokenKind : std::uint8_t { name, number, literal, mark };

struct Token {
  TokenKind kind;
  std::size_t begin, end;  // offsets in the source
};

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) > 127;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// C++ tokens, as far as launches need them. Marks are single characters, except "::" and "->".
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> tokens() {
    std::vector<Token> out;
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      if (const auto kind = next()) out.push_back({*kind, begin, at_});
      WG_ASSERT(at_ > begin);
    }
    return out;
  }

 private:
  bool here(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  void skip_to(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }
  void skip_line_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 2 : 1;
  }
  // Skips to the closing quote or to the end of the line (#error don't).
  void skip_quoted(char quote) {
    at_++;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }
  void skip_raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return skip_quoted('"');
    const std::string end = fmt::format("){}\"", text_.substr(at_ + 1, open - at_ - 1));
    at_ = open;
    skip_to(end);
  }

  std::optional<TokenKind> next() {
    const char c = text_[at_];
    if (here("//")) return skip_line_comment(), std::nullopt;
    if (here("/*")) return at_ += 2, skip_to("*/"), std::nullopt;
    if (c == ' ' || (c >= '\t' && c <= '\r') || c == '\\') return at_++, std::nullopt;
    if (c == '"' || c == '\'') return skip_quoted(c), TokenKind::literal;
    if (starts_name(c)) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && (starts_name(text_[at_]) || is_digit(text_[at_]))) at_++;
      const std::string_view name = text_.substr(begin, at_ - begin);
      if (!here("\"") || !name.ends_with('R') || name.size() > 3) return TokenKind::name;
      return skip_raw_string(), TokenKind::literal;
    }
    if (is_digit(c)) {
      while (at_ < text_.size() && (starts_name(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.' ||
                                    (text_[at_] == '\'' && at_ + 1 < text_.size() && text_[at_ + 1] != '\'')))
        at_++;
      return TokenKind::number;
    }
    at_ += here("::") || here("->") ? 2 : 1;
    return TokenKind::mark;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// X <<< configuration >>> ( arguments )
struct LaunchText {
  std::size_t begin;        // of X
  std::size_t open, close;  // of <<< and >>>
  std::size_t end;          // behind the arguments
};

class LaunchFinder {
 public:
  explicit LaunchFinder(std::string_view text) : text_(text), tokens_(Lexer(text).tokens()) {}

  std::vector<LaunchText> launches() const {
    std::vector<LaunchText> out;
    for (std::size_t i = 1; i + 3 < tokens_.size(); i++) {
      if (!three('<', i) || mark(i - 1) == '<') continue;
      if (const auto launch = launch_at(i)) out.push_back(*launch);
    }
    return out;
  }

  // The name at an offset, with the template arguments behind it.
  std::optional<std::pair<std::size_t, std::size_t>> name_at(std::size_t offset) const {
    for (std::size_t i = 0; i < tokens_.size(); i++) {
      if (tokens_[i].begin != offset || tokens_[i].kind != TokenKind::name) continue;
      std::size_t last = i;
      if (i + 1 < tokens_.size() && mark(i + 1) == '<')
        if (const auto close = close_of(i + 1, '<', '>')) last = *close;
      return std::pair(tokens_[i].begin, tokens_[last].end);
    }
    return std::nullopt;
  }

 private:
  char mark(std::size_t i) const {
    WG_ASSERT(i < tokens_.size());
    const Token& token = tokens_[i];
    return token.kind == TokenKind::mark && token.end - token.begin == 1 ? text_[token.begin] : '\0';
  }
  bool is(std::size_t i, std::string_view word) const {
    WG_ASSERT(i < tokens_.size());
    return text_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin) == word;
  }
  bool three(char c, std::size_t i) const {
    return i + 2 < tokens_.size() && mark(i) == c && mark(i + 1) == c && mark(i + 2) == c &&
           tokens_[i + 2].begin == tokens_[i].begin + 2;
  }

  // In template arguments, marks inside parentheses do not count: k<(2 > 1)>.
  std::optional<std::size_t> close_of(std::size_t open, char opens, char closes) const {
    std::size_t depth = 0, parentheses = 0;
    for (std::size_t i = open; i < tokens_.size(); i++) {
      const char c = mark(i);
      if (opens == '<' && c == '(') parentheses++;
      if (opens == '<' && c == ')' && parentheses-- == 0) break;
      if (c == opens && parentheses == 0) depth++;
      if (c == closes && parentheses == 0 && --depth == 0) return i;
      if (opens == '<' && c == ';') break;
    }
    return std::nullopt;
  }
  std::optional<std::size_t> open_of(std::size_t close, char opens, char closes) const {
    std::size_t depth = 0, parentheses = 0;
    for (std::size_t i = close + 1; i-- > 0;) {
      const char c = mark(i);
      if (opens == '<' && c == ')') parentheses++;
      if (opens == '<' && c == '(' && parentheses-- == 0) break;
      if (c == closes && parentheses == 0) depth++;
      if (c == opens && parentheses == 0 && --depth == 0) return i;
      if (c == ';') break;
    }
    return std::nullopt;
  }

  // Finds the >>> at the depth of the <<<; of more than three '>' in a row, the last three.
  std::optional<std::size_t> end_of_configuration(std::size_t i) const {
    int depth = 0;
    for (; i < tokens_.size(); i++) {
      const char c = mark(i);
      if (c == '(' || c == '[' || c == '{') depth++;
      if (c == ')' || c == ']' || c == '}') depth--;
      if (depth < 0 || c == ';') break;
      if (depth == 0 && three('>', i) && !three('>', i + 1)) return i;
    }
    return std::nullopt;
  }

  // Scans backwards from the last token of X: names, template arguments and brackets, joined by ::, . and ->.
  std::optional<std::size_t> begin_of_kernel(std::size_t last) const {
    std::size_t i = last;
    while (true) {
      if (mark(i) == '>' || mark(i) == ']') {
        const auto open = mark(i) == '>' ? open_of(i, '<', '>') : open_of(i, '[', ']');
        if (!open || *open == 0) return std::nullopt;
        i = *open - 1;
        continue;
      }
      if (mark(i) == ')') {
        const auto open = open_of(i, '(', ')');
        if (!open) return std::nullopt;
        i = *open;
      } else if (tokens_[i].kind != TokenKind::name) {
        return std::nullopt;
      }
      if (i > 0 && is(i - 1, "template")) i--;
      if (i == 0 || !(is(i - 1, "::") || is(i - 1, "->") || mark(i - 1) == '.')) return i;
      // ::kernel and a::kernel
      if (i == 1 || !(tokens_[i - 2].kind == TokenKind::name || mark(i - 2) == '>' || mark(i - 2) == ')')) return i - 1;
      if (is(i - 2, "return") || is(i - 2, "else") || is(i - 2, "do")) return i - 1;
      i -= 2;
    }
  }

  std::optional<LaunchText> launch_at(std::size_t i) const {
    const auto begin = begin_of_kernel(i - 1);
    const auto close = end_of_configuration(i + 3);
    if (!begin || !close || *close + 3 >= tokens_.size() || mark(*close + 3) != '(') return std::nullopt;
    const auto end = close_of(*close + 3, '(', ')');
    if (!end) return std::nullopt;
    WG_ASSERT(*begin < i && i + 3 <= *close && *close + 3 < *end);
    return LaunchText{tokens_[*begin].begin, tokens_[i].begin, tokens_[*close].begin, tokens_[*end].end};
  }

  std::string_view text_;
  std::vector<Token> tokens_;
};

struct Edit {
  std::size_t at, removed;
  std::string text;
};

std::string edited(std::string_view source, std::vector<Edit> edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.at < b.at; });
  std::string out;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    WG_ASSERT(edit.at <= source.size() && edit.removed <= source.size() - edit.at);
    if (edit.at < at) continue;  // inside a removed range
    out.append(source.substr(at, edit.at - at)).append(edit.text);
    at = edit.at + edit.removed;
  }
  return out.append(source.substr(at));
}

// The line breaks of a removed text, so that the lines behind it keep their numbers.
std::string newlines_of(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); i++)
    if (text[i] == '\n') out += i > 0 && text[i - 1] == '\\' ? "\\\n" : "\n";
  return out;
}

std::size_t offset_of(std::string_view source, unsigned line, unsigned column) {
  std::size_t at = 0;
  for (unsigned k = 1; k < line && at != std::string_view::npos; k++) {
    at = source.find('\n', at);
    if (at != std::string_view::npos) at++;
  }
  return at == std::string_view::npos ? at : at + column - 1;
}

std::optional<unsigned> number_behind(std::string_view& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size() || text.size() - colon > 9) return std::nullopt;
  unsigned value = 0;
  for (const char c : text.substr(colon + 1)) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  text = text.substr(0, colon);
  return value;
}

std::string full_path(const std::string& path) {
  std::error_code problem;
  return fs::absolute(path, problem).lexically_normal().string();
}

// Writes copies of the texts, and the overlay file in which clang finds them. Returns the overlay's path.
Result<std::string> write_overlay(const std::map<std::string, std::string>& texts, const std::string& prefix) {
  nlohmann::json roots = nlohmann::json::array();
  for (const auto& [path, text] : texts) {
    const std::string copy = fmt::format("{}-{}", prefix, roots.size());
    if (Status s = write_whole(copy, text); !s) return s.error();
    roots.push_back({{"type", "file"}, {"name", path}, {"external-contents", copy}});
  }
  // The overlay format is YAML, which includes JSON.
  const nlohmann::json overlay = {{"version", 0}, {"use-external-names", false}, {"roots", roots}};
  const std::string path = prefix + ".overlay";
  if (Status s = write_whole(path, overlay.dump()); !s) return s.error();
  return path;
}

}  // namespace

std::set<SourcePlace> device_launches(std::string_view messages) {
  constexpr std::string_view kError = ": error: ";
  std::set<SourcePlace> out;
  std::optional<SourcePlace> unmatched;  // a call that fits no candidate; the notes after it give the reason
  for (const std::string& line : plain_lines(messages)) {
    if (unmatched && line.find("candidate function not viable: call to __global__ function ") != std::string::npos)
      out.insert(*unmatched);
    const auto at = line.find(kError);
    if (at == std::string::npos) continue;
    const std::string_view said = std::string_view(line).substr(at + kError.size());
    std::string_view file = std::string_view(line).substr(0, at);
    const auto column = number_behind(file);
    const auto row = column ? number_behind(file) : std::nullopt;
    unmatched.reset();
    if (!row) continue;
    const SourcePlace place{std::string(file), *row, *column};
    if (said.starts_with("reference to __global__ function ") ||
        said.starts_with("reference to __host__ function '__cudaPushCallConfiguration' "))
      out.insert(place);
    if (said.starts_with("no matching function for call to ")) unmatched = place;
  }
  return out;
}

std::string with_calls_for_launches(std::string_view source) {
  std::vector<Edit> edits;
  for (const LaunchText& launch : LaunchFinder(source).launches()) {
    const std::string_view configuration = source.substr(launch.open + 3, launch.close - launch.open - 3);
    edits.push_back({launch.begin, 0, fmt::format("(::__wg_configure_launch({}), ", configuration)});
    edits.push_back({launch.open, launch.close + 3 - launch.open, ""});
    edits.push_back({launch.end, 0, ", ::__wg_launch())"});
  }
  return edited(source, std::move(edits));
}

std::string without_launches_at(std::string_view source, const std::vector<SourcePlace>& places) {
  const LaunchFinder finder(source);
  const std::vector<LaunchText> launches = finder.launches();
  std::vector<Edit> edits;
  for (const SourcePlace& place : places) {
    const std::size_t at = offset_of(source, place.line, place.column);
    const auto launch = std::find_if(launches.begin(), launches.end(), [at](const LaunchText& candidate) {
      return candidate.begin <= at && at < candidate.open + 3;
    });
    if (launch != launches.end()) {
      const std::string lines = newlines_of(source.substr(launch->begin, launch->open - launch->begin));
      edits.push_back({launch->begin, launch->open + 3 - launch->begin, lines + "(::__wg_leave_launch("});
      edits.push_back({launch->close, 3, "), ::__wg_leave_launch"});
      edits.push_back({launch->end, 0, ")"});
    } else if (const auto name = finder.name_at(at)) {
      edits.push_back({name->first, name->second - name->first, "nullptr"});
    }
  }
  return edited(source, std::move(edits));
}

Result<std::optional<LaunchRewriting::Options>> LaunchRewriting::next_round(
    std::string_view host_said, std::string_view device_said, const std::vector<std::string>& files,
    const std::map<std::string, std::string>& copies, const std::string& prefix) {
  const std::set<SourcePlace> of_host = device_launches(host_said);
  if (of_host.empty() && (begun_ || device_launches(device_said).empty())) return std::optional<Options>{};
  bool changed = !begun_;
  if (!begun_) {
    for (const std::string& file : files)
      if (const auto text = read_whole(file); text && text->find("<<<") != std::string::npos)
        device_[full_path(file)] = with_calls_for_launches(*text);
    for (const auto& [file, copy] : copies) {
      const std::string text = read_whole(copy).value_or("");
      host_[full_path(file)] = text;
      device_[full_path(file)] = with_calls_for_launches(text);
    }
    begun_ = true;
  }
  std::map<std::string, std::vector<SourcePlace>> places;
  for (const SourcePlace& place : of_host) places[full_path(place.file)].push_back(place);
  for (const auto& [path, of_file] : places) {
    // The columns refer to the text that clang compiled.
    const auto before = host_.find(path);
    const std::string text = before != host_.end() ? before->second : read_whole(path).value_or("");
    std::string after = without_launches_at(text, of_file);
    changed |= after != text;
    host_[path] = std::move(after);
  }
  if (!changed) return std::optional<Options>{};
  Options out;
  for (const auto& [texts, options, name] :
       {std::tuple(&host_, &out.host, ".host"), std::tuple(&device_, &out.device, ".device")}) {
    const auto overlay = write_overlay(*texts, prefix + name);
    if (!overlay) return overlay.error();
    *options = {"-ivfsoverlay", *overlay};
  }
  return std::optional(std::move(out));
}

}  // namespace warpgrind::toolchain
