// Tool of the server: its description for clients, and the function that carries out a call.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "mcp/json_rpc.h"
#include "sandbox/sandbox.h"

namespace warpgrind::mcp {

class RunStore;

// Decided in app/cli.
struct Settings {
  std::string folder;     // real path; programs, and texts that include its files, may read it. Empty: none
  std::string no_folder;  // why there is none
  std::string gpu = "h200";
  std::string compiler = "clang";
  std::string version;     // of warpgrind
  bool boxed = true;       // false: programs run as the current user
  unsigned calls = 1;      // carried out at the same time
  sandbox::Limits limits;  // of each call
};

struct ToolResult {
  std::string text;  // for the model
  Json structured = Json::object();
  bool is_error = false;
};
ToolResult refused(const Error& error);

struct CallContext {
  const Settings& settings;
  RunStore& runs;
  std::stop_token stop;                            // the client has cancelled the call, or is gone
  std::function<void(const std::string&)> report;  // what the call is doing now, for progress
};

struct Tool {
  const char* name = "";
  const char* title = "";
  const char* description = "";
  Json input, output;  // JSON Schemas
  ToolResult (*call)(const Json& arguments, const CallContext& context) = nullptr;
};
std::span<const Tool> tools();
const Tool* find_tool(const std::string& name);  // null: unknown

ToolResult call_run(const Json& arguments, const CallContext& context);
ToolResult call_check(const Json& arguments, const CallContext& context);
ToolResult call_explain(const Json& arguments, const CallContext& context);
ToolResult call_diff(const Json& arguments, const CallContext& context);
ToolResult call_scan(const Json& arguments, const CallContext& context);
ToolResult call_exercise(const Json& arguments, const CallContext& context);

}  // namespace warpgrind::mcp
