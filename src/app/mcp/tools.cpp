// Table of the tools: names, texts for models, and the schemas of their arguments.
#include <array>

#include "mcp/folder_files.h"
#include "mcp/tool.h"
#include "mcp/tool_outputs.h"

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

Json number(const char* description, int most) {
  return {{"type", "integer"}, {"description", description}, {"minimum", 1}, {"maximum", most}};
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

Json blocks() {
  return {{"type", "integer"},
          {"description",
           "runs only about so many blocks of each launch and scales counts and times to all: for problems of "
           "a real size. The program's results are then not valid"},
          {"minimum", 3},
          {"maximum", 1000000}};
}

Json expect_output() {
  return text("text that the output must contain for the results to count as verified, e.g. PASS");
}

Json object(Json properties, const Json& more = Json::object(), std::vector<std::string> required = {}) {
  for (const auto& [name, value] : more.items()) properties[name] = value;
  Json out = {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) out["required"] = required;
  return out;
}

// Properties of an object that names an earlier run or a program.
Json run_or_program() {
  return {
      {"run", text("name of an earlier run, e.g. r1; or give a program", 40)}, {"source", source()}, {"path", path()}};
}

// ---- Arguments of each tool

Json run_input() {
  Json more = how();
  more["blocks"] = blocks();
  more["expect_output"] = expect_output();
  more["expect"] = texts(
      "conditions on counters, e.g. \"global_load_sectors_per_request <= 4\" or \"mykernel: occupancy >= 50 %\"", 32);
  more["metrics"] = texts("further counters to show for each kernel, by name (resource warpgrind://counters)", 32);
  more["detail"] = detail();
  return object({{"source", source()}, {"path", path()}}, more);
}

Json check_input() {
  Json more = how();
  more["expect_output"] = expect_output();
  more["only"] = {{"type", "array"},
                  {"description", "only these groups of checks"},
                  {"items", word("group", {"memory", "races", "init", "barriers", "leaks", "api"})},
                  {"maxItems", 6}};
  more["detail"] = detail();
  return object({{"source", source()}, {"path", path()}}, more);
}

Json explain_input() {
  Json more = how();
  more["blocks"] = blocks();
  more["line"] = number("line of the access", 1000000);
  more["kernel"] = text("kernel, if several use the line");
  more["file"] = text("source file of the line, if it is not the only one");
  more["detail"] = detail();
  return object(run_or_program(), more);
}

Json diff_input() {
  Json before = object(run_or_program()), after = before;
  before["description"] = "the earlier variant";
  after["description"] = "the later variant";
  Json more = how();
  more["blocks"] = blocks();
  more["expect_output"] = expect_output();
  more["kernels"] = {{"type", "array"},
                     {"description", "pairs of kernels whose names differ"},
                     {"maxItems", 16},
                     {"items", object({{"before", text("name or pattern")}, {"after", text("name or pattern")}},
                                      Json::object(), {"before", "after"})}};
  more["detail"] = detail();
  return object({{"before", before}, {"after", after}}, more, {"before", "after"});
}

Json scan_input() {
  const Json all = how();
  return object({{"source", source()}, {"path", path()}},
                {{"flags", all["flags"]}, {"gpu", all["gpu"]}, {"detail", detail()}});
}

Json exercise_input() {
  return object({{"action", word("what to do", {"list", "text", "hint", "check"})},
                 {"name", text("of the exercise; not for list", 100)},
                 {"step", number("number of the hint (default 1)", 100)},
                 {"source", text("the answer, without main()", kLargestSource)},
                 {"path", text("instead of `source`: a .cu file inside the server's folder")},
                 {"gpu", how()["gpu"]},
                 {"detail", detail()}},
                Json::object(), {"action"});
}

std::array<Tool, 6> make_tools() {
  return {
      Tool{"run", "Run a CUDA program on a virtual GPU",
           "Compile and run a CUDA program without a GPU. Gives its output and, for each kernel: estimated time and "
           "what binds it, sectors per request, bank conflicts, occupancy, bandwidth against the theoretical one, and "
           "advice "
           "with lines. Also says what the run does NOT prove: kernels that never ran, unverified results, untested "
           "branches. Does not look for races or bounds: use `check`.",
           run_input(), run_output(), call_run},
      Tool{"check", "Find bugs of a CUDA program",
           "Run a CUDA program and report races, out-of-bounds and misaligned accesses, uninitialised values, barrier "
           "errors, leaks and failed API calls, each with file, line, why, and what to do. Slower than `run`: use a "
           "small "
           "problem, whose size is no multiple of the block.",
           check_input(), check_output(), call_check},
      Tool{"explain", "Draw the memory access of a line",
           "Draw which sectors (or banks of shared memory) the 32 lanes of a warp touch at a source line, with the "
           "numbers. Of an earlier run, or of a program that runs now. Without `line`, the most expensive line.",
           explain_input(), explain_output(), call_explain},
      Tool{"diff", "Compare two runs",
           "Compare two earlier runs or two programs: for each kernel and line what got better or worse, and why. The "
           "other arguments hold for programs that run now.",
           diff_input(), diff_output(), call_diff},
      Tool{"scan", "List what a program contains",
           "Compile a program if needed and list its kernels, PTX versions, opcodes, and what the virtual GPU does not "
           "support. Nothing runs.",
           scan_input(), scan_output(), call_scan},
      Tool{"exercise", "CUDA exercises with a judge",
           "Exercises of a CUDA course: list them, read the text and skeleton of one, get a hint, or hand in an answer "
           "(`check`), which is compiled, tested for results and findings, and judged by the counters that the task "
           "asks "
           "for.",
           exercise_input(), exercise_output(), call_exercise},
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
