// Tool `exercise`: the exercises of the course, and their judge.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/installation.h"
#include "base/json.h"
#include "exercises/exercise.h"
#include "mcp/boxed_command.h"
#include "mcp/folder_files.h"
#include "mcp/result_parts.h"

namespace warpgrind::mcp {

namespace {

namespace fs = std::filesystem;
using exercises::Exercise;

constexpr const char* kVerdict = "verdict.json";

ToolResult list(const std::vector<Exercise>& all, const Room& room) {
  ResultBuilder b(room);
  b.object()["exercises"] = Json::array();
  std::string topic;
  for (const Exercise& e : all) {
    if (e.topic != topic) b.line(e.topic);
    topic = e.topic;
    b.line(fmt::format("  {} (level {}): {}", e.name, e.level, e.title));
    b.object()["exercises"].push_back({{"name", e.name}, {"topic", e.topic}, {"level", e.level}, {"title", e.title}});
  }
  return b.take();
}

ToolResult text(const Exercise& e) {
  const auto task = read_whole(e.file("text.md")), skeleton = read_whole(e.file("skeleton.cu"));
  if (!task || !skeleton)
    return refused({ErrorKind::environment, fmt::format("cannot read the files of {}", e.name), ""});
  const Room room{.text = 24000};  // a task is read once, and whole
  ResultBuilder b(room);
  b.object() = {{"exercise", e.name}, {"task", *task}, {"skeleton", *skeleton}, {"hints", e.hints.size()}};
  b.text(fmt::format("{}\nSKELETON ({} holds what you hand in; no main())\n{}\n", *task, e.hand_in(), *skeleton));
  b.line(fmt::format(R"(Hand in with {{"action": "check", "name": "{}", "source": "..."}}; there are {} hints.)",
                     e.name, e.hints.size()));
  return b.take();
}

ToolResult hint(const Exercise& e, std::size_t step) {
  if (e.hints.empty()) return refused({ErrorKind::bad_input, "there is no hint for " + e.name, ""});
  if (step > e.hints.size())
    return refused({ErrorKind::bad_input, fmt::format("{} has {} hints", e.name, e.hints.size()), ""});
  ResultBuilder b({});
  b.object() = {{"exercise", e.name}, {"step", step}, {"of", e.hints.size()}, {"hint", e.hints[step - 1]}};
  b.line(fmt::format("Hint {} of {}: {}", step, e.hints.size(), e.hints[step - 1]));
  return b.take();
}

// The verdict of one hand-in, as `warpgrind exercise check --json` writes it.
ToolResult verdict(const Exercise& e, const Json& file, const BoxedEnd& end, const Room& room) {
  const auto hand_ins = file.find("hand_ins");
  if (hand_ins == file.end() || !hand_ins->is_array() || hand_ins->empty())
    return refused(
        {ErrorKind::environment, fmt::format("no verdict: {}", end.text), cut(plain(end.output), room.output)});
  const Json& one = (*hand_ins)[0];
  if (const std::string problem = json::text(one, "problem"); !problem.empty())
    return refused({ErrorKind::environment, "no verdict: " + problem, ""});
  ResultBuilder b(room);
  const bool passed = json::get<bool>(one, "passed");
  b.object() = {{"exercise", e.name}, {"passed", passed}, {"rubric", Json::array()}};
  b.line(fmt::format("{}: {}", e.name, passed ? "PASSED" : "NOT PASSED"));
  json::each(one, "rubric", [&](const Json& line) {
    b.line(fmt::format("- {}: {}{}", json::text(line, "outcome"), json::text(line, "asked"),
                       json::text(line, "seen").empty() ? "" : ": " + json::text(line, "seen")));
    Json shown = line;
    const std::string details = cut(json::text(line, "details"), room.output);
    if (line.contains("line"))
      b.line(fmt::format("  at {}:{}", json::text(line, "file"), json::get<std::int64_t>(line, "line")));
    if (const std::string message = json::text(line, "message"); !message.empty()) b.line("  " + message);
    if (!details.empty()) b.line(details), shown["details"] = details;
    b.object()["rubric"].push_back(std::move(shown));
  });
  return b.take();
}

ToolResult judge(const Exercise& e, const Json& arguments, const CallContext& context, const Room& room) {
  auto program = read_program(arguments, arguments, context.settings);
  if (!program) return refused(program.error());
  Result<std::string> source = program->source.empty() ? text_in_folder(context.settings, json::text(arguments, "path"))
                                                       : Result<std::string>(program->source);
  if (!source) return refused(source.error());
  BoxedCommand command;
  std::error_code ignored;
  // The folder itself: in a build it is a link, and the link is not in the box.
  const std::string folder = fs::canonical(exercises_folder(), ignored).string();
  command.files.emplace_back(e.hand_in(), *source);
  command.words = {own_executable(), "exercise", "--exercises", folder,   "check",
                   "--exercise",     e.name,     "--no-cache",  "--json", std::string(kWork) + kVerdict};
  if (arguments.contains("gpu")) command.words.insert(command.words.end(), {"--gpu", program->gpu});
  command.words.push_back(std::string(kWork) + e.hand_in());
  command.taken = {kVerdict};
  context.report("judging " + e.name);
  auto end = run_boxed(command, context);
  if (!end) return refused(end.error());
  const auto file = end->files.find(kVerdict);
  const Json parsed = Json::parse(file == end->files.end() ? "" : file->second, nullptr, false);
  return verdict(e, parsed.is_object() ? parsed : Json::object(), *end, room);
}

}  // namespace

ToolResult call_exercise(const Json& arguments, const CallContext& context) {
  const Room room = room_of(arguments);
  const auto all = exercises::find_exercises(exercises_folder());
  if (!all) return refused(all.error());
  const std::string action = json::text(arguments, "action");
  if (action == "list") return list(*all, room);
  const std::string name = json::text(arguments, "name");
  if (name.empty())
    return refused({ErrorKind::bad_input, "`name` is missing", R"({"action": "list"} gives the names)"});
  const auto e = exercises::find_exercise(*all, name);
  if (!e) return refused(e.error());
  if (action == "text") return text(**e);
  if (action == "hint") return hint(**e, std::max<std::size_t>(1, json::get<std::size_t>(arguments, "step")));
  return judge(**e, arguments, context, room);
}

}  // namespace warpgrind::mcp
