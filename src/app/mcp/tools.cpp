// Table of the tools: names, texts for models, and the schemas of their arguments.
#include <array>

#include "base/assert.h"
#include "mcp/folder_files.h"
#include "mcp/tool.h"

namespace warpgrind::mcp {

namespace {

Json text(const char* description, std::size_t most = 4096) {
  return {{"type", "string"}, {"description", description}, {"maxLength", most}};
}

Json texts(const char* description, std::size_t most = 64) {
  return {{"type", "array"},
          {"description", description},
          {"items", {{"type", "string"}, {"maxLength", 4096}}},
          {"maxItems", most}};
}

Json word(const char* description, std::initializer_list<const char*> words) {
  return {{"type", "string"},
          {"description", description},
          {"enum", Json(std::vector<std::string>(words.begin(), words.end()))}};
}

Json source() {
  return text("CUDA C++ source of a whole program with main()", kLargestSource);
}

Json path() {
  return text("instead of `source`: a .cu file or a compiled program, inside the server's folder");
}

Json detail() {
  return word("short (default, about 2,000 tokens) or full (about 8,000)", {"short", "full"});
}

// Arguments that say how a program is compiled and run.
Json how() {
  return {{"arguments", texts("command-line arguments of the program")},
          {"flags", texts("compiler flags, e.g. -DN=1024, -std=c++17", 32)},
          {"gpu", text("GPU model, e.g. h200, a100, rtx4090 (resource warpgrind://gpus)", 64)},
          {"stdin", text("standard input of the program", 1 << 20)}};
}

Json object(Json properties, const Json& more = Json::object(), std::vector<std::string> required = {}) {
  for (const auto& [name, value] : more.items()) properties[name] = value;
  Json out = {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) out["required"] = required;
  return out;
}

Json run_or_program(const char* description) {
  Json out = object({{"run", text("name of an earlier run, e.g. r1", 40)}, {"source", source()}, {"path", path()}});
  out["description"] = description;
  return out;
}

std::array<Tool, 6> make_tools() {
  return {
      Tool{"run", "Run a CUDA program on a virtual GPU",
           "Compile and run a CUDA program without a GPU. Gives its output and, for each kernel: estimated time and "
           "what "
           "binds it, sectors per request, bank conflicts, occupancy, bandwidth against the theoretical one, advice "
           "with "
           "lines; and what the run does NOT prove (kernels that never ran, unverified results, untested branches). "
           "Does "
           "not look for races or bounds: use `check`.",
           object({{"source", source()}, {"path", path()}},
                  [] {
                    Json more = how();
                    more["expect_output"] =
                        text("text that the output must contain for the results to count as verified, e.g. PASS");
                    more["expect"] = texts(
                        "conditions on counters, e.g. \"global_load_sectors_per_request <= 4\" or \"mykernel: "
                        "occupancy >= 50 %\"",
                        32);
                    more["metrics"] =
                        texts("further counters to show for each kernel, by name (resource warpgrind://counters)", 32);
                    more["detail"] = detail();
                    return more;
                  }()),
           call_run},
      Tool{"check", "Find bugs of a CUDA program",
           "Run a CUDA program and report races, out-of-bounds and misaligned accesses, uninitialised values, barrier "
           "errors, leaks and failed API calls, each with file, line, why, and what to do. About 10 times slower than "
           "`run`.",
           object({{"source", source()}, {"path", path()}},
                  [] {
                    Json more = how();
                    more["only"] = {
                        {"type", "array"},
                        {"description", "only these groups of checks"},
                        {"items",
                         {{"type", "string"}, {"enum", {"memory", "races", "init", "barriers", "leaks", "api"}}}},
                        {"maxItems", 6}};
                    more["detail"] = detail();
                    return more;
                  }()),
           call_check},
      Tool{"explain", "Draw the memory access of a line",
           "Draw which sectors (or banks of shared memory) the 32 lanes of a warp touch at a source line, with the "
           "numbers. Without `line`, the most expensive line.",
           object({{"run", text("name of an earlier run, e.g. r1; or give a program", 40)},
                   {"source", source()},
                   {"path", path()}},
                  [] {
                    Json more = how();
                    more["line"] = {{"type", "integer"},
                                    {"description", "line of the access"},
                                    {"minimum", 1},
                                    {"maximum", 1000000}};
                    more["kernel"] = text("kernel, if several use the line");
                    more["file"] = text("source file of the line, if it is not the only one");
                    more["detail"] = detail();
                    return more;
                  }()),
           call_explain},
      Tool{"diff", "Compare two runs",
           "Compare two earlier runs or two programs: for each kernel and line what got better or worse, and why. "
           "Arguments, flags, gpu and stdin hold for programs that run now.",
           object({{"before", run_or_program("the earlier variant")}, {"after", run_or_program("the later variant")}},
                  [] {
                    Json more = how();
                    more["kernels"] = {
                        {"type", "array"},
                        {"description", "pairs of kernels whose names differ"},
                        {"maxItems", 16},
                        {"items", object({{"before", text("name or pattern")}, {"after", text("name or pattern")}},
                                         Json::object(), {"before", "after"})}};
                    more["detail"] = detail();
                    return more;
                  }(),
                  {"before", "after"}),
           call_diff},
      Tool{"scan", "List what a program contains",
           "Compile a program if needed and list its kernels, PTX versions, opcodes, and what the virtual GPU does not "
           "support. Nothing runs.",
           object({{"source", source()}, {"path", path()}},
                  {{"flags", how()["flags"]}, {"gpu", how()["gpu"]}, {"detail", detail()}}),
           call_scan},
      Tool{"exercise", "CUDA exercises with a judge",
           "Exercises of a CUDA course: list them, read the text and skeleton of one, get a hint, or hand in an answer "
           "(`check`), which is compiled, tested for results and findings, and judged by the counters that the task "
           "asks for.",
           object({{"action", word("what to do", {"list", "text", "hint", "check"})},
                   {"name", text("of the exercise; not for list", 100)},
                   {"step",
                    {{"type", "integer"},
                     {"description", "number of the hint (default 1)"},
                     {"minimum", 1},
                     {"maximum", 100}}},
                   {"source", text("the answer, without main()", kLargestSource)},
                   {"path", text("instead of `source`: a .cu file inside the server's folder")},
                   {"gpu", how()["gpu"]},
                   {"detail", detail()}},
                  Json::object(), {"action"}),
           call_exercise},
  };
}

}  // namespace

std::span<const Tool> tools() {
  static const std::array<Tool, 6> all = make_tools();
  return all;
}

const Tool* find_tool(const std::string& name) {
  for (const Tool& tool : tools())
    if (name == tool.name) return &tool;
  return nullptr;
}

}  // namespace warpgrind::mcp
