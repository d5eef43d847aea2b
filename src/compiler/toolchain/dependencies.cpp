// Reader, writer and merger of make rules.
#include "toolchain/dependencies.h"

#include <fmt/format.h>

#include <unordered_set>

#include "base/file.h"

namespace warpgrind::toolchain {

// Parses rules such as "target: a.cu \", "  b\ c.h". Blanks separate words. A backslash keeps a blank or a '#', "$$" is
// a '$', and a backslash at the end of a line continues it.
Result<std::vector<std::string>> read_dependencies(const std::string& path) {
  const std::optional<std::string> content = read_whole(path);
  if (!content) return Error{ErrorKind::environment, fmt::format("cannot read the dependencies in {}", path), ""};
  const std::string& text = *content;
  std::vector<std::string> out;
  std::string word;
  const auto colon = text.find(": ");
  if (colon == std::string::npos) return out;
  for (std::size_t i = colon + 2; i < text.size(); i++) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && next == '\n') {
      i++;
    } else if (c == '\\' && (next == ' ' || next == '#')) {
      word += next;
      i++;
      continue;
    } else if (c == '$' && next == '$') {
      word += '$';
      i++;
      continue;
    } else if (c != ' ' && c != '\t' && c != '\n') {
      word += c;
      continue;
    }
    if (!word.empty()) out.push_back(std::exchange(word, ""));
    if (c == '\n') break;  // the end of the rule
  }
  if (!word.empty()) out.push_back(word);
  return out;
}

std::string escaped_for_make(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == ' ' || c == '#') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

std::string dependency_rule(const std::string& target, const std::vector<std::string>& files, bool phony) {
  std::string out = target + ":";
  for (const std::string& file : files) out += fmt::format(" \\\n  {}", escaped_for_make(file));
  out += '\n';
  for (std::size_t i = 1; phony && i < files.size(); i++) out += fmt::format("{}:\n", escaped_for_make(files[i]));
  return out;
}

std::vector<std::string> merged(std::vector<std::string> first, const std::vector<std::string>& second) {
  std::unordered_set<std::string> known(first.begin(), first.end());
  for (const std::string& file : second)
    if (known.insert(file).second) first.push_back(file);
  return first;
}

}  // namespace warpgrind::toolchain
