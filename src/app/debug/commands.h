// The commands of `warpgrind debug`. The table is commands.inc; gdb's words have gdb's meaning.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "debug/line_editor.h"
#include "debug/session.h"

namespace warpgrind::debug {

struct Arguments {
  std::string command;  // its whole name
  std::string format;   // of print/x: "x"
  std::string text;     // the rest of the line
  bool repeated = false;
};

enum class Chapter : std::uint8_t { running, stopping, where, data, other };

struct Command {
  Chapter chapter;
  Status (*run)(Session& session, const Arguments& arguments);
  std::string_view name, aliases;
  bool repeats;
  std::string_view usage, text;
};
const std::vector<Command>& all_commands();

// By its name, an alias or a unique beginning of its name. The error names what a beginning could mean.
Result<const Command*> find_command(std::string_view word);

// Commands, topics of `info` and the like that begin with the last word of a line. Of an expression: its names, which
// the program must stand still for. None: the word is something else.
LineWords complete_line(Session& session, std::string_view line);

// Runs one line. `last`: the line before, for an empty line; it is updated.
Status run_line(Session& session, std::string_view line, std::string& last);

// Shared by chapters.
inline Error command_error(const std::string& message) {
  return {ErrorKind::bad_input, message, ""};
}
std::vector<std::string_view> info_topics();
// Topics of `info` about code.
Status info_line(Session& session, std::string_view place);
Status info_source(Session& session, std::string_view);
Status info_functions(Session& session, std::string_view pattern);
// "EXPRESSION [ROWSxCOLUMNS] [by STRIDE] [of TYPE]" as arguments of `warpgrind/tile`. `number_of` evaluates STRIDE.
Result<Json> read_tile_words(std::string text,
                             const std::function<Result<std::int64_t>(const std::string&)>& number_of);
// "block 3 thread (5,0,0)" as arguments of `warpgrind/focus`.
Result<Json> read_focus(std::string_view text);
// The format behind `print/`, as DAP's `format`; null without letters.
Result<Json> format_of(const std::string& letters);
Status do_warp_values(Session& session, const Arguments& arguments);
// Of an instruction of `disassemble`: "f0:i12", or the address of host code.
std::string place_of_instruction(const Json& instruction);
Status print_ptx(Session& session, const std::string& reference, std::int64_t offset, std::uint64_t count);
Status examine(Session& session, const std::string& format, const std::string& expression, bool again);
Status print_value(Session& session, const std::string& format, const std::string& expression, const std::string& name);
// The number of repetitions of a step: 1 for an empty text.
Result<std::int64_t> read_count(const std::string& text);
// The place that `break` and others name, seen from the selected frame.
Result<Location> read_place(Session& session, const std::string& text);
// The words of a command line, as a shell splits them: quotes and backslashes keep blanks.
std::vector<std::string> split_arguments(std::string_view text);

}  // namespace warpgrind::debug
