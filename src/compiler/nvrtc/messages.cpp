// Converter from clang's messages to NVRTC's log.
#include "nvrtc/messages.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <vector>

#include "nvrtc/name_map.h"
#include "toolchain/messages.h"

namespace warpgrind::nvrtc {

namespace {

struct Header {
  std::string_view file;  // empty: about the command line
  std::size_t line = 0;
  std::string_view kind, text;
};

constexpr std::string_view kKinds[] = {"fatal error", "error", "warning", "remark", "note"};

// "k.cu:3:7: error: text", "error: text"
std::optional<Header> read_header(std::string_view line) {
  for (const std::string_view kind : kKinds) {
    if (line.starts_with(fmt::format("{}: ", kind))) return Header{"", 0, kind, line.substr(kind.size() + 2)};
    const std::string mark = fmt::format(": {}: ", kind);
    const auto at = line.find(mark);
    if (at == std::string_view::npos) continue;
    Header out{line.substr(0, at), 0, kind, line.substr(at + mark.size())};
    const auto column = out.file.rfind(':');
    const auto row = column == std::string_view::npos || column == 0 ? column : out.file.rfind(':', column - 1);
    if (row == std::string_view::npos) continue;
    const std::string_view number = out.file.substr(row + 1, column - row - 1);
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), out.line);
    if (problem != std::errc() || end != number.data() + number.size()) continue;
    out.file = out.file.substr(0, row);
    return out;
  }
  return std::nullopt;
}

// The name between single quotes, when `text` is `before`'NAME'`after`.
std::optional<std::string> quoted_between(std::string_view text, std::string_view before, std::string_view after) {
  const std::string begin = std::string(before) + "'", end = "'" + std::string(after);
  if (!text.starts_with(begin)) return std::nullopt;
  const auto close = text.find(end, begin.size());
  if (close == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(begin.size(), close - begin.size()));
}

class Converter {
 public:
  explicit Converter(const Origin& origin) : origin_(origin) {}

  Messages convert(std::string_view said) {
    for (const std::string_view line : toolchain::lines_of(said)) {
      if (line.starts_with("In file included from ") || line.find(" generated when compiling for ") != line.npos ||
          line.ends_with(" generated."))
        continue;
      if (const auto header = read_header(line); header)
        begin(*header);
      else if (open_ && !origin_.brief && !in_name_map_)
        out_.log += fmt::format("  {}\n", line);
    }
    end();
    return std::move(out_);
  }

 private:
  void begin(const Header& header) {
    if (header.kind != "note") {
      end();
      in_name_map_ = header.file == kNameMap;
    }
    if (header.text.starts_with("too many errors emitted")) return;
    if (in_name_map_) {
      if (header.kind == "error") about_expression(header);
      return;
    }
    open_ = true;
    out_.log += place(header) + words(header) + "\n";
    if (header.kind.ends_with("error")) out_.errors++;
  }

  // Reports one error for each expression, without the source line, which is our own text.
  void about_expression(const Header& header) {
    if (!reported_.insert(header.line).second) return;
    const std::string expression = expression_of_line(origin_.expressions, header.line);
    bool about_ours = false;
    for (const char* part : {"wg_nvrtc", "template argument", "non-type template parameter"})
      about_ours |= header.text.find(part) != std::string_view::npos;
    if (!about_ours) {
      out_.log += place(header) + words(header) + "\n";
      out_.errors++;
    }
    out_.log += place(header) + fmt::format(
                                    "error: Name expression must form address of a __global__ function or the "
                                    "address of a __device__/__constant__ variable. Input name expression was: "
                                    "\"{}\"\n{}",
                                    expression, origin_.brief ? "" : "\n");
    out_.errors++;
  }

  void end() {
    if (!open_) return;
    if (!origin_.brief) out_.log += "\n";
    open_ = false;
  }

  std::string place(const Header& header) const {
    std::string_view file = header.file;
    if (file.empty() || file.starts_with('<')) return "Command-line ";
    if (file.starts_with(origin_.header_folder)) file.remove_prefix(origin_.header_folder.size());
    return fmt::format("{}({}): ", file, header.line);
  }

  std::string words(const Header& header) {
    if (const auto missing = quoted_between(header.text, "", " file not found"); missing) {
      out_.catastrophic = true;
      const bool on_command_line = header.file.starts_with('<');
      return fmt::format("{}error: {} open source file \"{}\"{}", on_command_line ? "" : "catastrophic ",
                         origin_.search_list || on_command_line ? "cannot" : "could not", *missing,
                         origin_.search_list || on_command_line ? "" : " (no directories in search list)");
    }
    const std::string_view kind = header.kind == "fatal error" ? "error" : header.kind;
    for (const std::string_view before : {"use of undeclared identifier ", "unknown type name "})
      if (const auto name = quoted_between(header.text, before, ""); name)
        return fmt::format("{}: identifier \"{}\" is undefined", kind, *name);
    return fmt::format("{}: {}", kind, header.text);
  }

  const Origin& origin_;
  Messages out_;
  bool open_ = false, in_name_map_ = false;
  std::set<std::size_t> reported_;
};

}  // namespace

Messages log_of(std::string_view said, const Origin& origin) {
  return Converter(origin).convert(said);
}

std::string summary(const Messages& messages, const std::string& program_name) {
  if (messages.errors == 0) return "";
  if (messages.catastrophic && messages.errors == 1)
    return fmt::format("1 catastrophic error detected in the compilation of \"{}\".\nCompilation terminated.\n",
                       program_name);
  const char* const stopped = messages.catastrophic ? "Compilation terminated.\n" : "";
  return fmt::format("{} error{} detected in the compilation of \"{}\".\n{}", messages.errors,
                     messages.errors == 1 ? "" : "s", program_name, stopped);
}

}  // namespace warpgrind::nvrtc
