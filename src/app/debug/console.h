// Commands of `warpgrind debug` in an editor's console. It is for expressions; what is none may be one of these
// commands: a variable over the warp, the view of all warps, another lane, the last write of a value.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dap/channel.h"

namespace warpgrind::debug {

using dap::Json;

struct ConsoleCommand {
  std::string request;  // to the debug adapter; empty: none, and `text` is called with an empty object
  Json arguments;
  std::function<std::string(const Json& body)> text;  // what the console shows
  bool is_value = false;                              // the response is that of `evaluate`, and is passed on
  bool moves = false;                                 // the focus: the editor must select another thread
};

// nullopt: the line does not begin with a command. `asked`: arguments of the editor's `evaluate`. `thread`: that of the
// focus. Error: the command cannot be used so.
std::optional<Result<ConsoleCommand>> read_console(std::string_view line, const Json& asked, std::int64_t thread);

}  // namespace warpgrind::debug
