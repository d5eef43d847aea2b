// Short names of kernels and pattern matching.
#include "report/kernel_names.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

namespace warpgrind::report {
namespace {

// Position of the first (`last`: the last) `what` outside <> and (); npos if there is none. For "operator>" etc., a
// closing bracket without an opening one counts as text.
std::size_t find_outside(std::string_view text, char what, bool last) {
  int depth = 0;
  std::size_t found = std::string_view::npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && c == what) {
      if (!last) return i;
      found = i;
    }
    if (c == '<' || c == '(') ++depth;
    if ((c == '>' || c == ')') && depth > 0) --depth;
  }
  return found;
}

std::string without_templates(std::string_view name) {
  return std::string(name.substr(0, find_outside(name, '<', false)));
}

// "add[abi:v1]" -> "add": Numba marks its kernels so.
std::string without_tags(const std::string& name) {
  return name.substr(0, name.find("[abi:"));
}

std::string unqualified(const std::string& name) {
  const std::size_t at = find_outside(name, ':', true);
  return at == std::string::npos ? name : name.substr(at + 1);
}

}  // namespace

std::string short_name(std::string_view demangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string name(demangled);
  for (auto at = name.find(kAnonymous); at != std::string::npos; at = name.find(kAnonymous))
    name.erase(at, kAnonymous.size());
  name = name.substr(0, find_outside(name, '(', false));
  const std::size_t result = find_outside(name, ' ', true);
  return result == std::string::npos ? name : name.substr(result + 1);
}

std::string function_name(std::string_view demangled) {
  return unqualified(without_templates(short_name(demangled)));
}

bool matches(const std::string& pattern, const results::KernelProfile& kernel) {
  const std::string name = short_name(kernel.name), plain = without_templates(name);
  for (const std::string& candidate : {kernel.name, name, plain, unqualified(name), unqualified(plain),
                                       unqualified(without_tags(plain)), kernel.mangled_name})
    if (candidate == pattern || fnmatch(pattern.c_str(), candidate.c_str(), 0) == 0) return true;
  return false;
}

std::string kernel_list(const std::vector<const results::KernelProfile*>& kernels, std::size_t most) {
  std::vector<std::string> names;
  for (const results::KernelProfile* k : kernels)
    if (const std::string name = short_name(k->name); std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  const std::size_t all = names.size();
  names.resize(std::min(all, most));
  return fmt::format("{}{}", fmt::join(names, ", "), all > most ? fmt::format(" and {} more", all - most) : "");
}

}  // namespace warpgrind::report
