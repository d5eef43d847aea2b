// Reading of the arguments of DAP's `launch` request.
#include "debug/launch_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/json.h"

namespace warpgrind::debug {

namespace {

// Arguments that the protocol itself or this file reads, and those that editors add for themselves.
constexpr std::string_view kOtherNames[] = {"program",
                                            "args",
                                            "cwd",
                                            "env",
                                            "stopOnEntry",
                                            "host",
                                            "noDebug",
                                            "name",
                                            "type",
                                            "request",
                                            "presentation",
                                            "console",
                                            "linux",
                                            "preLaunchTask",
                                            "postDebugTask",
                                            "debugServer",
                                            "serverReadyAction",
                                            "internalConsoleOptions",
                                            "debugAdapter",
                                            "suppressMultipleSessionWarning"};

bool is_known(std::string_view name) {
  return name.starts_with("__") ||
         std::find(std::begin(kOtherNames), std::end(kOtherNames), name) != std::end(kOtherNames) ||
         std::find(std::begin(kOwnOptions), std::end(kOwnOptions), name) != std::end(kOwnOptions);
}

Error wrong(const char* name, const char* form) {
  return {ErrorKind::bad_input, fmt::format("launch: \"{}\" must be {}", name, form), ""};
}

}  // namespace

Result<LaunchOptions> read_launch(const Json& arguments) {
  LaunchOptions out;
  if (!arguments.is_object()) return wrong("arguments", "an object");
  out.all = arguments;
  out.program.push_back(json::text(arguments, "program"));
  if (const auto core = arguments.find("core"); core != arguments.end() && !core->is_null() && !core->is_string())
    return wrong("core", "the path of a core file");
  if (out.program[0].empty() && json::text(arguments, "core").empty())
    return wrong("program", "the path of an executable or a .cu file");
  if (const auto args = arguments.find("args"); args != arguments.end() && !args->is_null()) {
    if (!args->is_array()) return wrong("args", "a list of texts");
    for (const Json& word : *args) {
      if (!word.is_string()) return wrong("args", "a list of texts");
      out.program.push_back(word.get<std::string>());
    }
  }
  if (const auto host = arguments.find("host"); host != arguments.end() && !host->is_null()) {
    if (!host->is_boolean()) return wrong("host", "true or false");
    out.host = host->get<bool>();
  }
  if (const auto folder = arguments.find("cwd"); folder != arguments.end() && !folder->is_null()) {
    if (!folder->is_string()) return wrong("cwd", "the path of a folder");
    out.folder = folder->get<std::string>();
  }
  if (const auto env = arguments.find("env"); env != arguments.end() && !env->is_null()) {
    if (!env->is_object()) return wrong("env", "an object of texts; null unsets a variable");
    for (const auto& [name, value] : env->items()) {
      if (value.is_null())
        out.unset.push_back(name);
      else if (value.is_string())
        out.set.push_back(name + "=" + value.get<std::string>());
      else
        return wrong("env", "an object of texts; null unsets a variable");
    }
  }
  for (const auto& [name, value] : arguments.items())
    if (!is_known(name)) out.unknown.push_back(name);
  return out;
}

}  // namespace warpgrind::debug
