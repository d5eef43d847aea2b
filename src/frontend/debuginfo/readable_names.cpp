#include "debuginfo/readable_names.h"

#include <algorithm>
#include <vector>

#include "base/demangle.h"

namespace warpgrind::debuginfo {

namespace {

constexpr std::string_view kOperator = "operator";

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

// Positions in a C++ name outside all brackets.
struct Outline {
  std::size_t parameters = std::string_view::npos;  // the last `(` outside brackets
  std::size_t parameters_end = 0;                   // behind its `)`
  std::size_t name = 0;                             // behind the last blank before the name
  std::vector<std::size_t> colons;                  // `::`
  std::vector<std::size_t> templates;               // `<`
};

// Behind `operator` and its symbols at `at`: `operator()`, `operator<<`, `operator float` (up to the blank).
std::size_t skip_operator(std::string_view text, std::size_t at) {
  at += kOperator.size();
  if (text.substr(at, 2) == "()" || text.substr(at, 2) == "[]") return at + 2;
  while (at < text.size() && std::string_view("<>=!+-*/%^&|~,").find(text[at]) != std::string_view::npos) ++at;
  return at;
}

// True for what may stand behind a parameter list.
bool is_behind_parameters(std::string_view text) {
  for (const std::string_view word : {"const", "volatile", "&", "[", "noexcept"})
    if (text.starts_with(word)) return true;
  return false;
}

Outline outline(std::string_view text) {
  Outline out;
  unsigned depth = 0;
  bool in_operator = false;  // blanks behind `operator` belong to the name
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (depth == 0 && text.substr(at, kOperator.size()) == kOperator && (at == 0 || !is_name_character(text[at - 1])) &&
        (at + kOperator.size() >= text.size() || !is_name_character(text[at + kOperator.size()]))) {
      at = skip_operator(text, at) - 1;
      in_operator = true;
      continue;
    }
    if (c == '(' || c == '<' || c == '{' || c == '[') {
      if (depth == 0 && c == '(') out.parameters = at;
      if (depth == 0 && c == '<') out.templates.push_back(at);
      ++depth;
    } else if (c == ')' || c == '>' || c == '}' || c == ']') {
      if (c == '>' && at != 0 && text[at - 1] == '-') continue;  // ->
      if (depth != 0) --depth;
      if (depth == 0 && c == ')') out.parameters_end = at + 1;
    } else if (depth == 0 && c == ':' && text.substr(at, 2) == "::") {
      out.colons.push_back(at);
      in_operator = false;
      ++at;
    } else if (depth == 0 && c == ' ' && !in_operator && !is_behind_parameters(text.substr(at + 1))) {
      out.name = at + 1;
    }
  }
  return out;
}

// True for the `(` of a parameter list: behind it only `const`, `&` and the like.
bool are_parameters(std::string_view text, const Outline& o) {
  if (o.parameters == std::string_view::npos || o.parameters_end <= o.parameters) return false;
  return text.substr(o.parameters_end, 2) != "::";
}

std::vector<std::string_view> components(std::string_view name) {
  const Outline o = outline(name);
  std::vector<std::string_view> out;
  std::size_t start = 0;
  for (const std::size_t colon : o.colons) {
    out.push_back(name.substr(start, colon - start));
    start = colon + 2;
  }
  out.push_back(name.substr(start));
  return out;
}

std::string_view without_template(std::string_view component) {
  const Outline o = outline(component);
  if (o.templates.empty()) return component;
  component = component.substr(0, o.templates[0]);
  while (!component.empty() && component.back() == ' ') component.remove_suffix(1);
  return component;
}

// Without ABI tags, as Numba and GCC write them: `scale` of `scale[abi:v1]`.
std::string without_tags(std::string_view component) {
  constexpr std::string_view kTag = "[abi:";
  std::string out;
  for (std::size_t at = 0; at < component.size();) {
    const std::size_t tag = component.find(kTag, at), end = component.find(']', tag);
    out += component.substr(at, tag - at);
    if (tag == component.npos || end == component.npos) break;
    at = end + 1;
  }
  return out;
}

std::string without_blanks(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (text[at] != ' ') out += text[at];
  return out;
}

// Namespaces that no reader of a source writes: of nvcc around static functions, of CCCL around its version.
bool is_hidden_namespace(std::string_view component) {
  return component.starts_with("_INTERNAL_") ||
         (component.starts_with("CUB_") && component.find("_SM_") != component.npos) ||
         (component.starts_with("THRUST_") && component.find("_SM_") != component.npos);
}

FunctionName split(std::string_view text) {
  FunctionName out;
  Outline o = outline(text);
  if (are_parameters(text, o)) {
    out.parameters = text.substr(o.parameters);
    text = text.substr(0, o.parameters);
    o = outline(text);
  }
  // The blank before the name: `float scale<float>`. One inside `(anonymous namespace)` is in brackets.
  text = text.substr(std::min(o.name, text.size()));
  for (const std::string_view part : components(text)) {
    if (is_hidden_namespace(part)) continue;
    if (!out.name.empty()) out.name += "::";
    out.name += part;
  }
  return out;
}

// Parts of a path without `.`, with `..` resolved where a part is before it.
std::vector<std::string_view> path_parts(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (part.empty() || part == ".") continue;
    if (part == ".." && !out.empty() && out.back() != "..")
      out.pop_back();
    else
      out.push_back(part);
  }
  return out;
}

}  // namespace

std::string last_name(const std::string& linkage_name) {
  const std::string name = demangle(linkage_name);
  return std::string(components(name).back());
}

FunctionName readable_name(const std::string& linkage_name) {
  return split(demangle(linkage_name));
}

bool name_matches(std::string_view query, const FunctionName& name) {
  const bool absolute = query.starts_with("::");
  if (absolute) query.remove_prefix(2);
  const FunctionName wanted = split(query);
  if (!wanted.parameters.empty() && without_blanks(wanted.parameters) != without_blanks(name.parameters)) return false;
  const std::vector<std::string_view> want = components(wanted.name), have = components(name.name);
  if (want.size() > have.size() || (absolute && want.size() != have.size())) return false;
  return std::equal(want.rbegin(), want.rend(), have.rbegin(), [](std::string_view w, std::string_view full) {
    if (w.empty()) return false;
    const std::string untagged = without_tags(full);
    const std::string_view h = w.find('[') == w.npos ? untagged : full;
    if (without_blanks(w) == without_blanks(h)) return true;
    return without_template(w) == w && without_blanks(w) == without_blanks(without_template(h));
  });
}

bool name_matches(std::string_view query, const std::string& linkage_name) {
  return query == linkage_name || name_matches(query, readable_name(linkage_name));
}

bool path_matches(std::string_view path, std::string_view suffix) {
  const std::vector<std::string_view> have = path_parts(path), want = path_parts(suffix);
  if (want.empty() || want.size() > have.size()) return false;
  if (suffix.starts_with('/') && want.size() != have.size()) return false;
  return std::equal(want.rbegin(), want.rend(), have.rbegin());
}

}  // namespace warpgrind::debuginfo
