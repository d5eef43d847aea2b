// Name expressions: the variables behind the program, their symbols in the PTX, and NVIDIA's names for static symbols.
#include "nvrtc/name_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

namespace warpgrind::nvrtc {

namespace {

constexpr std::size_t kFirstLine = 2;
constexpr std::string_view kVariable = "wg_nvrtc_name_";

bool in_symbol(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

// As one line: text behind a line break still belongs to the expression.
std::string as_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

// ".visible .const .align 8 .u64 wg_nvrtc_name_3 = generic(dv);"
struct Variable {
  std::size_t index = 0;
  std::string symbol;  // empty: a number, or an address inside a variable
};
bool read_variable(std::string_view line, Variable& out) {
  const auto name = line.find(kVariable);
  const auto equals = line.find(" = ");
  if (name == std::string_view::npos || !line.starts_with('.') || equals == std::string_view::npos) return false;
  const char* const begin = line.data() + name + kVariable.size();
  std::from_chars(begin, line.data() + line.size(), out.index);
  std::string_view value = line.substr(equals + 3);
  constexpr std::string_view kGeneric = "generic(";
  const bool generic = value.starts_with(kGeneric);
  if (generic) value.remove_prefix(kGeneric.size());
  const auto end = static_cast<std::size_t>(std::find_if_not(value.begin(), value.end(), in_symbol) - value.begin());
  const bool whole = value.substr(end) == (generic ? ");" : ";");
  const bool is_number = end == 0 || std::isdigit(static_cast<unsigned char>(value[0])) != 0;
  out.symbol = whole && !is_number ? std::string(value.substr(0, end)) : "";
  return true;
}

std::vector<std::string_view> lines_with_ends(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    out.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return out;
}

// The symbols of a kind (".entry ", ".func ") in declarations and definitions.
std::set<std::string> symbols_after(std::string_view ptx, std::string_view word) {
  std::set<std::string> out;
  for (auto at = ptx.find(word); at != std::string_view::npos; at = ptx.find(word, at + 1)) {
    std::string_view rest = ptx.substr(at + word.size());
    if (rest.starts_with('(')) {  // the result of a function
      const auto end = rest.find(')');
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
      while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest[0])) != 0) rest.remove_prefix(1);
    }
    out.emplace(rest.begin(), std::find_if_not(rest.begin(), rest.end(), in_symbol));
  }
  return out;
}

// NVIDIA's compiler writes no L for static symbols: it has _Z1sPi for _ZL1sPi, and _ZN1a1sEv for _ZN1aL1sEv.
std::string without_static(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  std::string out = "_Z";
  std::size_t at = 2;
  if (symbol.substr(at).starts_with("N")) out += symbol[at++];
  while (at < symbol.size()) {
    if (symbol[at] == 'L') at++;
    std::size_t length = 0;
    const char *const begin = symbol.data() + at, *const end = symbol.data() + symbol.size();
    const auto [rest, problem] = std::from_chars(begin, end, length);
    if (problem != std::errc() || length > static_cast<std::size_t>(end - rest)) break;
    out.append(begin, rest + length);
    at += static_cast<std::size_t>(rest - begin) + length;
  }
  return out + symbol.substr(std::min(at, symbol.size()));
}

// NVIDIA's compiler gives a static variable outside namespaces its plain name: sc for _ZL2sc.
std::string plain_name(const std::string& variable) {
  if (!variable.starts_with("_ZL")) return variable;
  std::size_t length = 0;
  const char *const begin = variable.data() + 3, *const end = variable.data() + variable.size();
  const auto [rest, problem] = std::from_chars(begin, end, length);
  const bool whole = problem == std::errc() && length == static_cast<std::size_t>(end - rest);
  return whole ? std::string(rest, end) : variable;
}

// ".visible .const .align 4 .b8 cv[12];", ".global .align 4 .u32 dv = 3;"
std::set<std::string> variables_of(std::string_view ptx) {
  std::set<std::string> out;
  for (std::string_view line : lines_with_ends(ptx)) {
    if (!line.starts_with('.') ||
        (line.find(".global ") == std::string_view::npos && line.find(".const ") == std::string_view::npos))
      continue;
    line = line.substr(0, line.find_first_of("[=;"));
    while (!line.empty() && !in_symbol(line.back())) line.remove_suffix(1);
    out.emplace(line.substr(line.find_last_of(" \t") + 1));
  }
  return out;
}

std::string with_symbol_renamed(std::string_view ptx, const std::string& from, const std::string& to) {
  std::string out;
  std::size_t done = 0;
  for (auto at = ptx.find(from); at != std::string_view::npos; at = ptx.find(from, at + 1)) {
    // Its parameters and labels begin with its name: _ZL1sPi_param_0.
    const bool begins = at == 0 || !in_symbol(ptx[at - 1]);
    const std::string_view rest = ptx.substr(at + from.size());
    if (!begins || (!rest.empty() && in_symbol(rest[0]) && !rest.starts_with("_param_"))) continue;
    out.append(ptx.substr(done, at - done)).append(to);
    done = at + from.size();
  }
  return out.append(ptx.substr(done));
}

}  // namespace

std::string name_map_source(const std::set<std::string>& expressions, bool arguments_of_templates) {
  if (expressions.empty()) return "";
  std::string out = fmt::format("#line {} \"{}\"\n", kFirstLine, kNameMap);
  std::size_t index = 0;
  for (const std::string& expression : expressions) {
    const std::string name = fmt::format("{}{}", kVariable, index++);
    const std::string line = as_line(expression);
    std::string address = "(" + line + ")";
    // Placed outside device code, where clang also finds a kernel among overloads. auto* also fits arrays and
    // functions.
    if (arguments_of_templates) {
      out += fmt::format("typedef wg_nvrtc::address<({})> {}_address; ", line, name);
      address = name + "_address::get";
    }
    out += fmt::format("extern \"C\" __device__ __attribute__((used)) auto* const volatile {} = {};\n", name, address);
  }
  return out;
}

std::string expression_of_line(const std::set<std::string>& expressions, std::size_t line) {
  if (line < kFirstLine || line - kFirstLine >= expressions.size()) return "";
  return *std::next(expressions.begin(), static_cast<std::ptrdiff_t>(line - kFirstLine));
}

NameMap take_names(const std::set<std::string>& expressions, std::string& ptx) {
  NameMap out;
  std::string rest;
  std::map<std::size_t, std::string> symbols;
  for (const std::string_view line : lines_with_ends(ptx)) {
    Variable variable;
    if (read_variable(line.substr(0, line.find('\n')), variable))
      symbols[variable.index] = variable.symbol;
    else
      rest += line;
  }
  const std::set<std::string> kernels = symbols_after(rest, ".entry "), functions = symbols_after(rest, ".func ");
  std::map<std::string, std::string> renamed;
  for (const std::string& kernel : kernels)
    if (const std::string other = without_static(kernel); other != kernel && !kernels.contains(other))
      renamed[kernel] = other;
  const std::set<std::string> variables = variables_of(rest);
  for (const std::string& variable : variables)
    if (const std::string other = plain_name(variable);
        other != variable && !variables.contains(other) && !kernels.contains(other) && !functions.contains(other))
      renamed[variable] = other;
  for (const auto& [from, to] : renamed) rest = with_symbol_renamed(rest, from, to);
  std::size_t index = 0;
  for (const std::string& expression : expressions) {
    const auto found = symbols.find(index);
    const std::string symbol = found == symbols.end() ? "" : found->second;
    const bool function = functions.contains(symbol);
    if (symbol.empty() || function) {
      out.error_count++;
      out.errors += fmt::format(
          "{}({}): error: Name expression {}. Input name expression was: \"{}\"\n\n", kNameMap, kFirstLine + index,
          function ? "cannot form address of a non-__global__ function"
                   : "must form address of a __global__ function or the address of a __device__/__constant__ variable",
          expression);
    } else {
      const auto other = renamed.find(symbol);
      out.lowered[expression] = other == renamed.end() ? symbol : other->second;
    }
    index++;
  }
  ptx = std::move(rest);
  return out;
}

}  // namespace warpgrind::nvrtc
