// Parts that results of several tools share.
#include "mcp/result_parts.h"

#include <fmt/format.h>

#include "base/json.h"

namespace warpgrind::mcp {

ToolResult refused(const Error& error) {
  ToolResult out;
  out.is_error = true;
  out.text = plain(error.message + (error.detail.empty() ? "" : "\n" + error.detail));
  out.structured = {{"status", "refused"}, {"problem", plain(error.message)}};
  if (!error.detail.empty()) out.structured["detail"] = plain(error.detail);
  return out;
}

void ResultBuilder::list(const char* title, const char* name, const std::vector<std::string>& items) {
  if (items.empty()) return;
  result_.text += fmt::format("{}\n{}", title, bullets(items));
  result_.structured[name] = items;
}

ToolResult ResultBuilder::take(bool is_error) {
  result_.text = cut(plain(result_.text), room_.text);
  result_.is_error = is_error;
  return std::move(result_);
}

void add_end(ResultBuilder& b, const Program& program, const ProgramRun& run, const Room& room) {
  const std::string output = cut(plain(run.output), room.output);
  b.object()["program"] = program.shown;
  b.object()["gpu"] = program.gpu;
  b.object()["end"] = run.end;
  b.object()["output"] = output;
  if (!output.empty()) b.text("OUTPUT\n" + output + (output.ends_with('\n') ? "" : "\n"));
}

ToolResult did_not_start(const Program& program, const ProgramRun& run, const Room& room) {
  ResultBuilder b(room);
  const bool compiler = program.compiles() && !run.stopped && run.output.find("error:") != std::string::npos;
  b.object()["status"] = compiler ? "did_not_compile" : "did_not_start";
  b.line(compiler      ? program.shown + " DID NOT COMPILE. Nothing ran."
         : run.stopped ? fmt::format("{} DID NOT START: {} while it was compiled.", program.shown, run.end)
                       : fmt::format("{} DID NOT START.", program.shown));
  Room more = room;
  more.output = room.text / 2;
  add_end(b, program, run, more);
  return b.take(true);
}

const GpuModel* model_of(const std::string& gpu) {
  const auto model = find_gpu_model(gpu);
  return model ? *model : nullptr;
}

std::string keep(const Program& program, const ProgramRun& run, const Verification& verification, RunStore& runs) {
  if (!run.profile) return "";
  return runs.add({"", program.shown, failure_of(program, run), verification.text, *run.profile});
}

Result<RunOrProgram> find_or_run(const Json& arguments, const Json& given, const CallContext& context,
                                 const Room& room) {
  if (const std::string name = json::text(given, "run"); !name.empty()) {
    if (given.contains("source") || given.contains("path"))
      return Error{ErrorKind::bad_input, "`run` and a program are both given",
                   "name an earlier run, or give a program"};
    auto found = context.runs.find(name);
    if (!found) return found.error();
    return RunOrProgram{found.take(), std::nullopt};
  }
  auto program = read_program(arguments, given, context.settings);
  if (!program) return program.error();
  auto run = run_program(*program, Manner::run, {"--detail", "--quiet"}, context);
  if (!run) return run.error();
  if (!run->compiled) return RunOrProgram{nullptr, did_not_start(*program, *run, room)};
  if (!run->profile) {
    ResultBuilder b(room);
    b.object()["status"] = "no_profile";
    b.line(fmt::format("{} left no profile: {}.", program->shown, run->end));
    if (run->too_slow) b.line(kLessWork);
    add_end(b, *program, *run, room);
    return RunOrProgram{nullptr, b.take(true)};
  }
  auto stored = context.runs.find(
      keep(*program, *run, verify(*program, *run, json::text(arguments, "expect_output")), context.runs));
  if (!stored) return stored.error();
  return RunOrProgram{stored.take(), std::nullopt};
}

}  // namespace warpgrind::mcp
