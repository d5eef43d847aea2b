// Program of a tool call.
#include "mcp/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/installation.h"
#include "base/json.h"
#include "gpu/gpu_model.h"
#include "mcp/boxed_command.h"
#include "mcp/folder_files.h"
#include "results/json.h"

namespace warpgrind::mcp {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = "main.cu";
constexpr const char* kProfile = "profile.json";
constexpr const char* kContent = "content.json";

std::vector<std::string> strings(const Json& object, const char* name) {
  std::vector<std::string> out;
  if (const auto list = object.find(name); list != object.end() && list->is_array())
    for (const Json& one : *list)
      if (one.is_string()) out.push_back(one.get<std::string>());
  return out;
}

// By name alone: find_gpu_model() would also read a file.
Result<std::string> known_gpu(const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".json"))
    return Error{ErrorKind::bad_input, fmt::format("there is no GPU model \"{}\"", name.substr(0, 60)),
                 "the resource warpgrind://gpus lists them"};
  auto model = find_gpu_model(name);
  if (!model) return model.error();
  return (*model)->id;
}

// A word for `--nvcc-flags`, which splits its text at blanks as a shell does.
std::string quoted_flag(const std::string& flag) {
  std::string out = "'";
  for (const char c : flag) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> command_line(const Program& program, Manner manner, const std::vector<std::string>& options,
                                      const Settings& settings) {
  const std::string target = program.source.empty() ? program.path : std::string(kWork) + kSource;
  const std::string content = std::string(kWork) + kContent;
  // stdbuf: otherwise what the program has printed into the pipe is lost if it is killed.
  std::vector<std::string> out = {"/usr/bin/stdbuf", "-oL", own_executable(),
                                  manner == Manner::run     ? "run"
                                  : manner == Manner::check ? "check"
                                                            : "scan"};
  out.insert(out.end(), {"--gpu", program.gpu, "--compiler", settings.compiler});
  std::vector<std::string> flags = program.flags;
  if (!program.source.empty() && !settings.folder.empty()) flags.push_back("-I" + settings.folder);
  for (const std::string& flag : flags) out.insert(out.end(), {"--nvcc-flags", quoted_flag(flag)});
  if (manner == Manner::scan) {
    out.insert(out.end(), {"--json", content, target});
    return out;
  }
  // A kernel that never ends is named after a quarter of the time. The run's own limit, which does not count nvcc or
  // clang, ends before the sandbox's: its message names the kernels that still ran.
  const double seconds = settings.limits.wall_seconds;
  out.insert(out.end(),
             {"--no-cache", "--stall", fmt::format("{}", seconds / 4), "--timeout", fmt::format("{}", 0.75 * seconds),
              "--content", content, "--json", std::string(kWork) + kProfile});
  out.insert(out.end(), options.begin(), options.end());
  if (program.blocks != 0) out.insert(out.end(), {"--blocks", fmt::format("{}", program.blocks)});
  out.insert(out.end(), {target, "--"});
  out.insert(out.end(), program.arguments.begin(), program.arguments.end());
  return out;
}

std::optional<ProgramContent> content_of(const std::string& text) {
  ProgramContent out;
  out.all = Json::parse(text, nullptr, false);
  if (!out.all.is_object()) return std::nullopt;
  json::each(out.all, "kernels", [&](const Json& kernel) { out.kernels.push_back(json::text(kernel, "name")); });
  out.refused = strings(out.all, "refused");
  out.compiles_at_run_time = json::get<bool>(out.all, "compiles_at_run_time");
  return out;
}

}  // namespace

Result<Program> read_program(const Json& arguments, const Json& given, const Settings& settings) {
  Program out;
  out.source = json::text(given, "source");
  const std::string path = json::text(given, "path");
  if (out.source.empty() == path.empty())
    return Error{ErrorKind::bad_input,
                 path.empty() ? "there is no program: `source` and `path` are both missing or empty"
                              : "`source` and `path` are both given",
                 "give the text of a CUDA program as `source`, or the `path` of one in the server's folder"};
  out.shown = path.empty() ? kSource : path;
  if (!path.empty()) {
    auto real = file_in_folder(settings, path);
    if (!real) return real.error();
    out.path = real.take();
  }
  auto gpu = known_gpu(arguments.contains("gpu") ? json::text(arguments, "gpu") : settings.gpu);
  if (!gpu) return gpu.error();
  out.gpu = gpu.take();
  out.arguments = strings(arguments, "arguments");
  out.flags = strings(arguments, "flags");
  out.input = json::text(arguments, "stdin");
  out.blocks = json::get<std::uint64_t>(arguments, "blocks");
  for (const auto* words : {&out.arguments, &out.flags})
    for (const std::string& word : *words)
      if (word.find('\0') != std::string::npos)
        return Error{ErrorKind::bad_input, "an argument contains a NUL character", ""};
  return out;
}

std::string failure_of(const Program& program, const ProgramRun& run) {
  if (!run.compiled) return "it did not start";
  // If only some blocks run, the program's own test fails.
  if (!run.ended_well && !(program.blocks != 0 && run.exited)) return run.end;
  return run.profile ? "" : "it left no profile";
}

Result<ProgramRun> run_program(const Program& program, Manner manner, const std::vector<std::string>& options,
                               const CallContext& context) {
  BoxedCommand command;
  command.words = command_line(program, manner, options, context.settings);
  if (!program.source.empty()) command.files.emplace_back(kSource, program.source);
  command.taken = {kProfile, kContent};
  command.input = program.input;
  command.in_folder = !program.path.empty();
  context.report("compiling and running " + program.shown);
  auto end = run_boxed(command, context);
  if (!end) return end.error();
  context.report("reading the results of " + program.shown);
  ProgramRun out;
  out.end = end->text;
  out.ended_well = end->end.ok();
  out.exited = end->end.how == sandbox::Ending::exited;
  out.stopped = end->stopped();
  out.too_slow = end->end.how == sandbox::Ending::wall_time || end->end.how == sandbox::Ending::cpu_time;
  out.output = std::move(end->output);
  out.seconds = end->end.wall_seconds;
  out.source = !program.source.empty() ? program.source
               : program.compiles()    ? read_whole(program.path, kLargestSource).value_or("")
                                       : "";
  if (const auto file = end->files.find(kContent); file != end->files.end()) out.content = content_of(file->second);
  out.compiled = out.content.has_value();
  if (const auto file = end->files.find(kProfile); file != end->files.end())
    if (auto profile = results::from_json(file->second, kProfile)) out.profile = profile.take();
  return out;
}

}  // namespace warpgrind::mcp
