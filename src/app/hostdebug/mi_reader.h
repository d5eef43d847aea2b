// Lines that gdb prints in its machine interface, gdb/MI (gdb's manual, chapter "The gdb/mi Interface").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dap/message_reader.h"

namespace warpgrind::hostdebug {

using dap::Json;

struct MiRecord {
  enum class Kind : std::uint8_t { result, event, console, other };
  Kind kind = Kind::other;
  std::int64_t token = -1;  // result: the number in front of the command; -1: none
  std::string name;         // result: "done", "running", "error", "exit"; event: "stopped", "library-loaded", ...
  // Members of a result or an event. A tuple is an object, a list an array (names of its elements are left out), and
  // all other values are texts. Of two members with one name the first counts.
  Json values = Json::object();
  std::string text;  // console
};

// One line without its end. nullopt: the line is not MI, or is broken. Any bytes are allowed.
std::optional<MiRecord> read_mi(std::string_view line);

// MI writes numbers as texts. 0: there is none.
std::int64_t number_of(const Json& values, std::string_view name);

// The text in quotation marks, as an argument of an MI command.
std::string mi_quoted(std::string_view text);

}  // namespace warpgrind::hostdebug
