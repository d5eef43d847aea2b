// Program of a tool call: read from its arguments, compiled and run in the sandbox.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "mcp/tool.h"
#include "results/profile.h"

namespace warpgrind::mcp {

struct Program {
  std::string source;  // CUDA source as text; empty: a path
  std::string path;    // real path of a .cu file or a compiled program in the server's folder
  std::string shown;   // for people: "main.cu", or the path as given
  std::vector<std::string> arguments, flags;
  std::string gpu, input;
  std::uint64_t blocks = 0;  // of each launch that run, about; 0: all
  bool compiles() const { return !source.empty() || path.ends_with(".cu"); }
};

// Members "source" or "path", "arguments", "flags", "gpu", "stdin", "blocks" of an object whose types are checked.
// `given`: the object with "source" or "path", if it is another one.
Result<Program> read_program(const Json& arguments, const Json& given, const Settings& settings);

// Kernels that the compiled program has, whether they ran or not.
struct ProgramContent {
  std::vector<std::string> kernels;  // demangled
  std::vector<std::string> refused;  // why launches of kernels would be refused
  bool compiles_at_run_time = false;
  Json all = Json::object();  // what `warpgrind scan --json` writes
};

struct ProgramRun {
  bool compiled = false;  // false: it did not start; `output` says why
  bool ended_well = false;
  bool exited = false;    // not killed
  bool stopped = false;   // by a limit, or the client
  bool too_slow = false;  // by the limit of time
  std::string end;        // "exit code 0"
  std::string output;     // of the compiler and the program
  std::string source;     // text of the source, if there is one
  double seconds = 0;     // by the clock, compiling included
  std::optional<ProgramContent> content;
  std::optional<results::Profile> profile;
};

// Why its figures are not those of a whole run; empty: it ended well.
std::string failure_of(const Program& program, const ProgramRun& run);

enum class Manner { run, check, scan };
// `options`: further options of `warpgrind run` or `warpgrind check`.
Result<ProgramRun> run_program(const Program& program, Manner manner, const std::vector<std::string>& options,
                               const CallContext& context);

}  // namespace warpgrind::mcp
