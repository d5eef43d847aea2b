// Parser of nvcc's command line, with the option table of options.inc.
#include "toolchain/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/edit_distance.h"
#include "base/file.h"

namespace warpgrind::toolchain {

Error bad_option(std::string message, std::string detail) {
  return {ErrorKind::bad_input, std::move(message), std::move(detail)};
}

namespace {

constexpr int kDeepestOptionsFile = 8;

const Option* find(bool is_long, std::string_view name) {
  for (const Option& o : options())
    if ((is_long ? o.long_name : o.short_name) == name) return &o;
  return nullptr;
}

std::string did_you_mean(std::string_view word) {
  std::vector<std::string> names;
  for (const Option& o : options()) {
    names.push_back("-" + std::string(o.short_name));
    names.push_back("--" + std::string(o.long_name));
  }
  // The most common mistake is one dash too many or too few.
  const std::string bare(word.substr(std::min(word.find_first_not_of('-'), word.size())));
  const std::string_view name = std::string_view(bare).substr(0, bare.find('='));
  if (find(false, name)) return fmt::format("did you mean -{}?", bare);
  if (find(true, name)) return fmt::format("did you mean --{}?", bare);
  const std::string written = std::string(word.substr(0, word.find('=')));
  const auto near = nearest_names(written, names, std::min<std::size_t>(2, written.size() / 3));
  return near.empty() ? "" : fmt::format("did you mean {}?", names[near[0]]);
}

Status check_value(const Option& option, const std::string& value) {
  if (option.takes == Takes::number &&
      (value.empty() || !std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; })))
    return bad_option(fmt::format("-{}: '{}': expected a number", option.short_name, value));
  if (option.takes == Takes::boolean && value != "true" && value != "false")
    return bad_option(fmt::format("-{}: '{}': expected true or false", option.short_name, value));
  return Ok{};
}

class Parser {
 public:
  Status take(const std::vector<std::string>& words, int depth) {
    for (std::size_t i = 0; i < words.size(); i++) {
      const std::string& word = words[i];
      if (word.size() < 2 || word[0] != '-') {
        line_.inputs.push_back(word);
        continue;
      }
      Found found = look_up(word);
      if (!found.option) {
        unknown_.push_back(word);
        continue;
      }
      if (found.option->takes != Takes::nothing && !found.has_value) {
        if (i + 1 == words.size()) return bad_option(fmt::format("argument expected after '{}'", word));
        found.value = words[++i];
      }
      if (Status s = add(*found.option, found.value, depth); !s) return s;
    }
    return Ok{};
  }

  Result<CommandLine> finish() {
    const bool forwards = line_.has(OptionId::forward_to_host_compiler) ||
                          line_.has(OptionId::forward_to_host_linker) || line_.has(OptionId::forward_unknown_opts);
    if (!unknown_.empty() && !forwards)
      return bad_option(fmt::format("unknown option '{}'", unknown_[0]), did_you_mean(unknown_[0]));
    line_.unknown = std::move(unknown_);
    return std::move(line_);
  }

 private:
  struct Found {
    const Option* option = nullptr;
    bool has_value = false;
    std::string value;
  };

  static Found look_up(const std::string& word) {
    const bool is_long = word.starts_with("--");
    const std::string name = word.substr(is_long ? 2 : 1);
    if (const Option* option = find(is_long, name)) return {option, false, ""};
    const std::size_t equals = name.find('=');
    if (equals != std::string::npos)
      if (const Option* option = find(is_long, name.substr(0, equals)); option && option->takes != Takes::nothing)
        return {option, true, name.substr(equals + 1)};
    if (is_long || name.empty()) return {};
    const Option* option = find(false, name.substr(0, 1));
    // -O2 and -t4, but not -Ofast, which is gcc's.
    const bool fits =
        option && option->joined && (option->takes != Takes::number || check_value(*option, name.substr(1)));
    return fits ? Found{option, true, name.substr(1)} : Found{};
  }

  Status add(const Option& option, const std::string& value, int depth) {
    if (Status s = check_value(option, value); !s) return s;
    if (option.meaning == Meaning::refused)
      return Error{ErrorKind::unsupported, fmt::format("-{} is not supported", option.short_name),
                   std::string(option.text)};
    if (option.id == OptionId::options_file) {
      for (const std::string& path : split_list(value))
        if (Status s = read_options_file(path, depth); !s) return s;
      return Ok{};
    }
    if (option.takes != Takes::list) {
      line_.given.push_back({&option, value});
      return Ok{};
    }
    for (std::string& element : split_list(value)) line_.given.push_back({&option, std::move(element)});
    return Ok{};
  }

  Status read_options_file(const std::string& path, int depth) {
    if (depth == kDeepestOptionsFile)
      return bad_option(fmt::format("options files name each other: {}", path), "is it naming itself?");
    const std::optional<std::string> text = read_whole(path);
    if (!text) return bad_option(fmt::format("could not open options file '{}'", path));
    return take(split_words(*text), depth + 1);
  }

  CommandLine line_;
  std::vector<std::string> unknown_;
};

}  // namespace

std::span<const Option> options() {
  static constexpr Option kTable[] = {
#define NVCC_OPTION(id, long_name, short_name, takes, joined, meaning, text) \
  {OptionId::id, long_name, short_name, Takes::takes, joined, Meaning::meaning, text},
#include "toolchain/options.inc"
#undef NVCC_OPTION
  };
  return kTable;
}

bool CommandLine::has(OptionId id) const {
  return std::any_of(given.begin(), given.end(), [id](const Given& g) { return g.option->id == id; });
}

std::string CommandLine::last(OptionId id) const {
  const auto found = std::find_if(given.rbegin(), given.rend(), [id](const Given& g) { return g.option->id == id; });
  return found == given.rend() ? "" : found->value;
}

std::vector<std::string> CommandLine::all(OptionId id) const {
  std::vector<std::string> out;
  for (const Given& g : given)
    if (g.option->id == id) out.push_back(g.value);
  return out;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> out = {""};
  char quote = 0;
  int brackets = 0;
  for (std::size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      out.back() += text[++i];
    } else if (c == ',' && quote == 0 && brackets == 0) {
      out.emplace_back();
    } else {
      if (quote != 0 ? c == quote : c == '"' || c == '\'') quote = quote != 0 ? '\0' : c;
      if (c == '[') brackets++;
      if (c == ']' && brackets > 0) brackets--;
      out.back() += c;
    }
  }
  return out;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  bool begun = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
      if (begun) out.push_back(std::exchange(word, ""));
      begun = false;
      continue;
    }
    begun = true;
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote != 0 ? '\0' : c;
    } else {
      word += c;
    }
  }
  if (begun) out.push_back(word);
  return out;
}

Result<CommandLine> parse_command_line(const std::vector<std::string>& words) {
  Parser parser;
  if (Status s = parser.take(words, 0); !s) return s.error();
  return parser.finish();
}

}  // namespace warpgrind::toolchain
