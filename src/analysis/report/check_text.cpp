// Text of a finding of `warpgrind check` with source excerpts, and the summary.
#include "report/check_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/words.h"
#include "report/format.h"
#include "report/source_lines.h"

namespace warpgrind::report {
namespace {

using results::Finding;
using results::FindingAccess;

std::string wrapped_after(std::string_view first, std::string_view text, std::size_t indent) {
  std::string out, line(first);
  bool fresh = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!fresh && line.size() + 1 + word.size() > kTerminalWidth) {
      out += line + "\n";
      line = std::string(indent, ' ');
      fresh = true;
    }
    line += (fresh ? "" : " ") + std::string(word);
    fresh = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + line + "\n";
}

std::string place(const FindingAccess& a) {
  if (a.line != 0) return fmt::format("{}:{}", base_name(a.file), a.line);
  if (a.ptx_line != 0) return fmt::format("PTX {}", a.ptx_line);
  return a.function.empty() ? "-" : a.function;
}

// "read of 4 bytes   thread (37,0,0), block (0,0,0)   bytes 148..151 of `s`"
std::string describe_access(const FindingAccess& a) {
  std::string text = a.access;
  if (a.bytes != 0 && a.of_thread) text += " of " + counted(a.bytes, "byte");
  if (a.of_thread) text += fmt::format(", thread {}, block {}", compact_dim3(a.thread), compact_dim3(a.block));
  if (!a.object.empty()) text += ", " + a.object;
  if (!a.stream.empty()) text += ", in " + a.stream;
  return text;
}

// Source lines of the accesses in one file, each with its neighbours; nearby lines are joined.
std::string excerpt(const std::set<std::uint32_t>& lines, const std::string& file, const results::Profile& profile) {
  constexpr std::uint32_t kAround = 1, kJoined = 4;
  std::string out;
  std::uint32_t shown = 0;
  for (const std::uint32_t line : lines) {
    const std::uint32_t from = std::max({std::uint32_t{1}, line - std::min(line, kAround), shown + 1});
    if (shown != 0 && from > shown + kJoined) {
      out += "            ...\n";
    } else if (shown != 0) {
      for (std::uint32_t l = shown + 1; l < from; ++l)
        out += fmt::format("    {:>6} | {}\n", l, line_text(profile, file, l));
    }
    for (std::uint32_t l = from; l <= line + kAround; ++l) {
      const std::string text = line_text(profile, file, l);
      if (l > line && (lines.contains(l) || text.empty())) break;
      out += fmt::format("  {} {:>6} | {}\n", lines.contains(l) ? ">" : " ", l, text);
      shown = l;
    }
  }
  return out;
}

std::string cut(const std::string& text) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.size() > kTerminalWidth) line = line.substr(0, kTerminalWidth - 3) + "...";
    out += line + "\n";
    at = end + 1;
  }
  return out;
}

std::string sources(const Finding& f, const results::Profile& profile) {
  std::vector<std::string> files;  // in the order of the accesses
  std::map<std::string, std::set<std::uint32_t>> lines;
  const auto add = [&](const std::string& file, std::uint32_t line) {
    if (line == 0 || line_text(profile, file, line).empty()) return;
    if (lines[file].empty()) files.push_back(file);
    lines[file].insert(line);
  };
  for (const FindingAccess& a : f.accesses) add(a.file, a.line);
  std::string out;
  for (const std::string& file : files) {
    if (files.size() > 1) out += "    " + shortened_path(file, kTerminalWidth - 4) + "\n";
    out += cut(excerpt(lines[file], file, profile));
  }
  return out;
}

}  // namespace

std::string check_finding_text(const Finding& f, const results::Profile& profile, const TextOptions& options) {
  const std::string head = fmt::format("{}: {}: ", results::name(f.severity), f.kind);
  std::string out = wrapped_after(head, f.message, 2);
  if (options.colour) {
    const char* colour = f.severity == results::Severity::error     ? "\033[1;31m"
                         : f.severity == results::Severity::warning ? "\033[1;33m"
                                                                    : "\033[1m";
    out = colour + out.substr(0, head.size()) + "\033[0m" + out.substr(head.size());
  }
  std::string kernel;
  for (const FindingAccess& a : f.accesses) {
    if (!a.kernel.empty() && a.kernel != kernel && a.of_thread) {
      kernel = a.kernel;
      out += wrapped_after("  in ", kernel, 5);
    }
    const std::string role = a.role.empty() ? "" : a.role + ": ";
    out += wrapped_after(fmt::format("  {:<14} ", place(a)), role + describe_access(a), 17);
    for (const results::InlinedAt& i : a.inlined_at)
      out += wrapped_after("                 ", fmt::format("called at {}:{}", base_name(i.file), i.line), 17);
    if (a.line == 0 && !a.ptx.empty()) out += wrapped_after("                 ", a.ptx, 17);
  }
  out += sources(f, profile);
  if (f.origin) {
    std::string text = f.origin->object.empty() ? f.origin->kind : f.origin->object;
    const std::string made = fmt::format("{}:{}", base_name(f.origin->file), f.origin->line);
    if (f.origin->line != 0 && text.find(made) == std::string::npos) text += ", made at " + made;
    out += wrapped_after("  from    ", text, 10);
    for (const std::string& step : f.origin->way) out += wrapped_after("          ", step, 10);
  }
  if (f.cause)
    out += wrapped_after("  cause   ",
                         f.cause->line != 0
                             ? fmt::format("{}:{}: {}", base_name(f.cause->file), f.cause->line, f.cause->text)
                             : f.cause->text,
                         10);
  if (!f.missing.empty()) out += wrapped_after("  missing ", f.missing, 10);
  for (const std::string& note : f.notes) out += wrapped_after("  note    ", note, 10);
  if (!f.advice.empty()) out += wrapped_after("  do      ", f.advice, 10);
  return out;
}

std::string check_summary(const CheckCounts& c) {
  std::string text = counted(c.errors, "error") + ", " + counted(c.warnings, "warning");
  if (c.infos != 0) text += fmt::format("; {} of severity INFO (--print-level info shows them)", c.infos);
  if (c.suppressed != 0) text += fmt::format("; {} suppressed", c.suppressed);
  return wrapped_after("warpgrind check: ", text, 2);
}

}  // namespace warpgrind::report
