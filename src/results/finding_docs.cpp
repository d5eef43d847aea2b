#include "results/finding_docs.h"

#include <fmt/format.h>

#include <string_view>

#include "results/member_json.h"

namespace warpgrind::results {
namespace {

template <class T>
inline constexpr const char* kName = "";
template <>
inline constexpr const char* kName<InlinedAt> = "InlinedAt";
template <>
inline constexpr const char* kName<AccessedMemory> = "AccessedMemory";
template <>
inline constexpr const char* kName<FindingAccess> = "FindingAccess";
template <>
inline constexpr const char* kName<FindingOrigin> = "FindingOrigin";
template <>
inline constexpr const char* kName<FindingCause> = "FindingCause";
template <>
inline constexpr const char* kName<Finding> = "Finding";

template <class T>
std::string typescript_type() {
  if constexpr (kIsOptional<T>) {
    return kName<typename T::value_type>;
  } else if constexpr (kIsList<T>) {
    return typescript_type<typename T::value_type>() + "[]";
  } else if constexpr (std::is_same_v<T, Dim3>) {
    return "number[]";
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, Severity>) {
    return "string";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return "number";
  } else {
    return kName<T>;
  }
}

struct TypeScriptWriter {
  std::string out;

  template <class T>
  void member(const char* key, const T&, Since since, const char* what) {
    line(key, kIsOptional<T> || since != Since::first, typescript_type<T>(), what);
  }
  template <class T>
  void member_if(bool, const char* key, const T&, const char* what) {
    line(key, true, typescript_type<T>(), what);
  }
  void line(std::string_view key, bool may_lack, const std::string& type, std::string_view what) {
    out += fmt::format("  {}{}: {};{}{}\n", key, may_lack ? "?" : "", type, what.empty() ? "" : " // ", what);
  }
};

struct MarkdownWriter {
  std::string out, above;  // above: "accesses[].memory."

  template <class T>
  void member(const char* key, const T&, Since since, const char* what) {
    row(key, since == Since::if_any || kIsOptional<T>, what);
    if constexpr (kIsOptional<T>) {
      below<typename T::value_type>(key, ".");
    } else if constexpr (kIsList<T>) {
      if constexpr (!std::is_same_v<T, std::vector<std::string>>) below<typename T::value_type>(key, "[].");
    }
  }
  template <class T>
  void member_if(bool, const char* key, const T&, const char* what) {
    row(key, false, what);
  }
  template <class T>
  void below(std::string_view key, std::string_view joint) {
    MarkdownWriter inner;
    inner.above = fmt::format("{}{}{}", above, key, joint);
    T x;
    members(inner, x);
    out += inner.out;
  }
  void row(std::string_view key, bool may_lack, std::string_view what) {
    out += fmt::format("| `{}{}` | {}{}{} |\n", above, key, what, may_lack && !what.empty() ? "; " : "",
                       may_lack ? "only where there is one" : "");
  }
};

template <class T>
std::string interface_of(std::string_view what) {
  TypeScriptWriter w;
  T x;
  members(w, x);
  return fmt::format("\n/** {} */\nexport interface {} {{\n{}}}\n", what, kName<T>, w.out);
}

}  // namespace

std::string findings_as_markdown() {
  MarkdownWriter w;
  Finding x;
  members(w, x);
  return "| member | is |\n|---|---|\n" + w.out;
}

std::string findings_as_typescript() {
  return "// Made from src/results/finding_members.h by WARPGRIND_REBASE=1 build/bin/test_results_finding_format.\n" +
         interface_of<InlinedAt>("A call into which something was inlined.") +
         interface_of<AccessedMemory>("Bytes of an object.") +
         interface_of<FindingAccess>(
             "One that takes part in a finding: an access of a thread, a launch, a copy, a call of the host.") +
         interface_of<FindingOrigin>("Where what is wrong came from.") +
         interface_of<FindingCause>("What made it wrong.") +
         interface_of<Finding>("One thing that is wrong with a program.");
}

}  // namespace warpgrind::results
