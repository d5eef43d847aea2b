// Tool `scan`: what a program contains, and what is not supported. Nothing runs.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "mcp/result_parts.h"

namespace warpgrind::mcp {

ToolResult call_scan(const Json& arguments, const CallContext& context) {
  const Room room = room_of(arguments);
  auto program = read_program(arguments, arguments, context.settings);
  if (!program) return refused(program.error());
  auto run = run_program(*program, Manner::scan, {}, context);
  if (!run) return refused(run.error());
  if (!run->compiled) return did_not_start(*program, *run, room);
  const Json& all = run->content->all;
  ResultBuilder b(room);
  b.object() = {{"program", program->shown},
                {"kernels", Json::array()},
                {"not_supported", run->content->refused},
                {"compiles_at_run_time", run->content->compiles_at_run_time}};
  b.line(fmt::format("SCAN of {}: nothing ran.", program->shown));
  json::each(all, "images", [&](const Json& image) {
    if (json::text(image, "kind") == "ptx")
      b.line(fmt::format("PTX {} for sm_{}", json::text(image, "ptx_version"), json::get<std::int64_t>(image, "arch")));
    else
      b.line(fmt::format("machine code for sm_{}", json::get<std::int64_t>(image, "arch")));
  });
  json::each(all, "kernels", [&](const Json& kernel) {
    if (b.object()["kernels"].size() >= room.opcodes * 2) return;
    b.object()["kernels"].push_back(kernel);
    b.line(fmt::format("kernel {}: {} PTX instructions, {} parameters", json::text(kernel, "name"),
                       json::get<std::int64_t>(kernel, "instructions"), json::get<std::int64_t>(kernel, "parameters")));
  });
  if (run->content->kernels.empty()) b.line("There is NO kernel in it.");
  if (run->content->compiles_at_run_time) b.line("It compiles kernels at run time (NVRTC): those are not seen here.");
  b.list("NOT SUPPORTED (a launch of such a kernel is refused)", "not_supported", run->content->refused);
  if (run->content->refused.empty() && !run->content->kernels.empty()) b.line("Everything in it is supported.");
  std::vector<std::pair<std::int64_t, std::string>> opcodes;
  if (const auto found = all.find("opcodes"); found != all.end() && found->is_object())
    for (const auto& [spelling, count] : found->items())
      if (count.is_number()) opcodes.emplace_back(count.get<std::int64_t>(), spelling);
  std::sort(opcodes.rbegin(), opcodes.rend());
  std::string line;
  for (const auto& [count, spelling] : opcodes) {
    if (b.object()["opcodes"].size() == room.opcodes) break;
    b.object()["opcodes"][spelling] = count;
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", spelling, count);
  }
  if (!line.empty()) b.line(fmt::format("{} opcodes, most frequent: {}", opcodes.size(), line));
  return b.take();
}

}  // namespace warpgrind::mcp
