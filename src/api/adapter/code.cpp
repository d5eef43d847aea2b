// Requests about code: instructions of the PTX, functions, and the instructions of a source line.
#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <filesystem>
#include <set>

#include "adapter/requests.h"
#include "base/json.h"
#include "debuginfo/readable_names.h"
#include "ptx/printer.h"

namespace warpgrind::adapter {

std::string place_in_ptx(debuginfo::CodePlace code) {
  return fmt::format("f{}:i{}", code.function, code.instruction);
}

namespace {
constexpr unsigned kInstructionBits = 32;
}  // namespace

std::string ptx_address(std::uint32_t function, std::int64_t instruction) {
  return fmt::format("{:#x}", ((std::uint64_t{function} + 1) << kInstructionBits) + std::uint64_t(instruction));
}

std::optional<PtxPlace> read_ptx_place(const std::string& text) {
  PtxPlace out;
  if (std::sscanf(text.c_str(), "f%u:i%" SCNd64, &out.function, &out.instruction) == 2) return out;
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t address = 0;
  const auto [end, problem] = std::from_chars(text.data() + 2, text.data() + text.size(), address, 16);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  // Instructions before the function's first one are just below its number.
  const std::uint64_t function = (address + (std::uint64_t{1} << (kInstructionBits - 1))) >> kInstructionBits;
  if (function == 0 || function > 0xffff'ffff) return std::nullopt;
  out.function = static_cast<std::uint32_t>(function - 1);
  out.instruction = static_cast<std::int64_t>(address - (function << kInstructionBits));
  return out;
}

// With `wholeFunction`, all instructions of the function around memoryReference.
Requests::Body Requests::disassemble(const Json& arguments) {
  const std::string from = json::text(arguments, "memoryReference");
  const auto at = read_ptx_place(from);
  if (!at) return Error{ErrorKind::bad_input, fmt::format("'{}' is no place in the PTX", from), ""};
  const std::uint32_t function = at->function;
  constexpr std::int64_t kFarthest = std::int64_t{1} << 30;
  const std::int64_t instruction =
      std::clamp(at->instruction + json::get<std::int32_t>(arguments, "offset"), -kFarthest, kFarthest);
  const debugger::StoppedWarp look = debugger_.look_at(*focus_warp_);
  const ptx::Module& module = look.info().module();
  if (function >= module.functions.size()) return Error{ErrorKind::bad_input, "no such function", ""};
  const ptx::Function& body = module.functions[function];
  constexpr std::int64_t kMost = 10000;
  std::int64_t first = instruction + json::get<std::int32_t>(arguments, "instructionOffset");
  std::int64_t count = std::clamp(json::get<std::int64_t>(arguments, "instructionCount"), std::int64_t{0}, kMost);
  if (json::get<bool>(arguments, "wholeFunction")) {
    const auto all = static_cast<std::int64_t>(body.body.size());
    first = all <= kMost ? 0 : std::clamp(instruction - kMost / 2, std::int64_t{0}, all - kMost);
    count = std::min(all, kMost);
  }
  Json list = Json::array();
  for (std::int64_t n = first; n < first + count; ++n) {
    if (n < 0 || n >= static_cast<std::int64_t>(body.body.size())) {
      list.push_back({{"address", ptx_address(function, n)}, {"instruction", "??"}, {"presentationHint", "invalid"}});
      continue;
    }
    const debuginfo::CodePlace code{function, static_cast<std::uint32_t>(n)};
    const debuginfo::SourcePlace place = look.info().place(code);
    Json one = {{"address", ptx_address(function, n)},
                {"instructionBytes", place_in_ptx(code)},
                {"instruction", ptx::print(body.body[code.instruction], body, module)}};
    if (place.line) {
      one["line"] = place.line;
      one["location"] = sources_.describe(place.file);
    }
    list.push_back(std::move(one));
  }
  return Json{{"instructions", std::move(list)}, {"function", look.info().function(function).name}};
}

namespace {

// A regular expression of POSIX, as gdb's `info functions` takes it.
class Pattern {
 public:
  explicit Pattern(const std::string& text) {
    good_ = text.size() <= kLongest && text.find('{') == std::string::npos &&
            regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0;
  }
  ~Pattern() {
    if (good_) regfree(&compiled_);
  }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  bool good() const { return good_; }
  bool matches(const std::string& text) const { return regexec(&compiled_, text.c_str(), 0, nullptr, 0) == 0; }

 private:
  static constexpr std::size_t kLongest = 200;  // counts {m,n} of a long pattern would take much memory
  regex_t compiled_{};
  bool good_ = false;
};

// Calls `use` for all calls that were inlined into a scope.
template <class F>
void for_inlined(const debuginfo::Scope& scope, const F& use) {
  for (const debuginfo::Scope& inner : scope.inner) {
    if (inner.kind == debuginfo::ScopeKind::inlined) use(inner);
    for_inlined(inner, use);
  }
}

std::uint32_t first_instruction(const debuginfo::Scope& scope) {
  std::uint32_t first = ~0u;
  for (const debuginfo::CodeRange& range : scope.code) first = std::min(first, range.begin);
  return first == ~0u ? 0 : first;
}

Json function_row(Sources& sources, const debuginfo::DebugInfo& info, const debuginfo::Scope& scope,
                  debuginfo::CodePlace code) {
  const ptx::Function& in = info.module().functions[code.function];
  debuginfo::SourcePlace place = scope.declared;
  if (place.line == 0) place = info.place(code);
  const bool inlined = scope.kind == debuginfo::ScopeKind::inlined;
  Json one = {{"name", scope.name},
              {"linkageName", scope.linkage_name},
              {"line", place.line},
              {"kernel", in.is_entry && !inlined},
              {"inlined", inlined},
              {"instructions", inlined ? 0 : in.body.size()},
              {"instructionPointerReference", ptx_address(code.function, code.instruction)}};
  if (!place.file.empty()) one["source"] = sources.describe(place.file);
  return one;
}

}  // namespace

// Functions of the stopped kernel's module: those whose name matches a regular expression (`pattern`), or those that a
// breakpoint on `name` means. A function that was inlined is listed once.
Requests::Body Requests::functions(const Json& arguments) {
  const std::string text = json::text(arguments, "pattern"), name = json::text(arguments, "name");
  const Pattern pattern(text);
  if (!pattern.good())
    return Error{ErrorKind::bad_input, fmt::format("'{}' is no regular expression that can be used here", text), ""};
  const debugger::StoppedWarp look = debugger_.look_at(*focus_warp_);
  const debuginfo::DebugInfo& info = look.info();
  std::set<std::string> known;
  Json list = Json::array();
  const auto add = [&](const debuginfo::Scope& scope, debuginfo::CodePlace code) {
    const bool wanted = name.empty() ? pattern.matches(scope.name) : debuginfo::name_matches(name, scope.linkage_name);
    if (wanted && known.insert(scope.linkage_name.empty() ? scope.name : scope.linkage_name).second)
      list.push_back(function_row(sources_, info, scope, code));
  };
  const std::vector<ptx::Function>& all = info.module().functions;
  for (std::uint32_t f = 0; f < all.size(); ++f)
    if (all[f].has_body) add(info.function(f), {f, info.body_begin(f)});
  for (std::uint32_t f = 0; f < all.size(); ++f) {
    if (!all[f].has_body) continue;
    for_inlined(info.function(f), [&](const debuginfo::Scope& s) { add(s, {f, first_instruction(s)}); });
  }
  return Json{{"functions", std::move(list)}};
}

// The instructions of a line of `source`, in runs that follow each other; `line` is the next one with code if the line
// has none. Without runs, no kernel of the module has code there.
Requests::Body Requests::code_of_line(const Json& arguments) {
  std::string file;
  if (const auto source = arguments.find("source"); source != arguments.end()) file = json::text(*source, "path");
  auto line = json::get<std::uint32_t>(arguments, "line");
  const debugger::StoppedWarp look = debugger_.look_at(*focus_warp_);
  const debuginfo::DebugInfo& info = look.info();
  const std::vector<debuginfo::StopPlace> stops = info.find_line(file, line);
  if (!stops.empty()) line = stops.front().place.line;
  Json runs = Json::array();
  const std::vector<ptx::Function>& all = info.module().functions;
  for (std::uint32_t f = 0; f < all.size(); ++f) {
    std::uint32_t count = 0;
    const auto end_run = [&](std::uint32_t end) {
      if (count != 0)
        runs.push_back({{"function", info.function(f).name},
                        {"first", place_in_ptx({f, end - count})},
                        {"last", place_in_ptx({f, end - 1})},
                        {"count", count}});
      count = 0;
    };
    const auto size = static_cast<std::uint32_t>(all[f].body.size());
    for (std::uint32_t i = 0; i < size; ++i) {
      const debuginfo::SourcePlace place = info.place({f, i});
      if (place.line == line && debuginfo::path_matches(place.file, file))
        ++count;
      else
        end_run(i);
    }
    end_run(size);
  }
  return Json{{"line", line}, {"runs", std::move(runs)}};
}

}  // namespace warpgrind::adapter
