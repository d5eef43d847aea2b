// Scanner for the outermost level of CUDA C++ sources.
#include "exercises/prototypes.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "exercises/rules.h"

namespace warpgrind::exercises {

namespace {

std::string in_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool space = c == '\n' || c == ' ' || c == '\t' || c == '\r';
    if (!space) out += c;
    if (space && !out.empty() && out.back() != ' ') out += ' ';
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

bool has_word(const std::string& text, std::string_view word) {
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !in_name(text[at - 1])) && (end == text.size() || !in_name(text[end]))) return true;
  }
  return false;
}

bool is_type(const std::string& text) {
  for (const char* word : {"struct", "class", "enum", "union", "using", "typedef"})
    if (text.starts_with(word) && has_word(text, word)) return true;
  return false;
}

bool is_function(const std::string& head) {
  const std::size_t bracket = head.find('(');
  return bracket != std::string::npos && head.find('=') > bracket && !is_type(head);
}

bool can_be_called(const std::string& head) {
  if (has_word(head, "__global__")) return !has_word(head, "template") && !has_word(head, "static");
  for (const char* word : {"__device__", "static", "template", "inline", "constexpr"})
    if (has_word(head, word)) return false;
  return true;
}

// The position behind the brace that closes the one at `open`.
std::size_t end_of_braces(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return text.size();
}

// Preprocessor lines, with their continuations, become blank.
std::string without_directives(std::string text) {
  bool directive = false, begins = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (begins && text[at] == '#') directive = true;
    if (text[at] == '\n') {
      if (directive && at > 0 && text[at - 1] != '\\') directive = false;
      begins = true;
      continue;
    }
    if (text[at] != ' ' && text[at] != '\t') begins = false;
    if (directive && text[at] != '\\') text[at] = ' ';
  }
  std::replace(text.begin(), text.end(), '\\', ' ');
  return text;
}

// Texts and characters become blank: a brace in them is no brace.
std::string without_texts(std::string text) {
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool digits = c == '\'' && at > 0 && std::isdigit(static_cast<unsigned char>(text[at - 1])) != 0;  // 1'000
    if (quote == 0 && (c == '"' || c == '\'') && !digits) {
      quote = c;
    } else if (quote != 0 && (c == quote || c == '\n')) {
      quote = 0;
    } else if (quote != 0) {
      if (c == '\\' && at + 1 < text.size()) text[at++] = ' ';
      text[at] = ' ';
    }
  }
  return text;
}

}  // namespace

Declarations declarations_of(const std::string& source) {
  const std::string text = without_texts(without_directives(without_comments(source)));
  Declarations out;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{') {
      const std::string head = in_one_line(std::string_view(text).substr(begin, at - begin));
      at = end_of_braces(text, at) - 1;
      if (!is_function(head)) continue;  // of a type or a value, which ends with a semicolon
      if (can_be_called(head)) out.prototypes += head + ";\n";
      begin = at + 1;
    } else if (text[at] == ';') {
      const std::string whole = in_one_line(std::string_view(text).substr(begin, at + 1 - begin));
      if (is_type(whole) || whole.starts_with("constexpr ")) out.types += whole + "\n";
      begin = at + 1;
    }
  }
  return out;
}

}  // namespace warpgrind::exercises
