// Parts that results of several tools share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gpu_model.h"
#include "mcp/program.h"
#include "mcp/run_store.h"
#include "mcp/short_text.h"
#include "mcp/tool.h"
#include "mcp/verification.h"

namespace warpgrind::mcp {

// Builds text and object of a result side by side.
class ResultBuilder {
 public:
  explicit ResultBuilder(const Room& room) : room_(room) {}
  void line(const std::string& text) { result_.text += text + "\n"; }
  void text(const std::string& text) { result_.text += text; }
  // A titled list in the text, and a list of strings in the object; nothing if it is empty.
  void list(const char* title, const char* name, const std::vector<std::string>& items);
  Json& object() { return result_.structured; }
  // Cut to the room. `is_error`: the tool could not do what it was asked for.
  ToolResult take(bool is_error = false);

 private:
  Room room_;
  ToolResult result_;
};

// How the program ended, and its output.
void add_end(ResultBuilder& builder, const Program& program, const ProgramRun& run, const Room& room);
// The result if the program did not compile or start. `scan` has no other reason.
ToolResult did_not_start(const Program& program, const ProgramRun& run, const Room& room);
const GpuModel* model_of(const std::string& gpu);  // null: unknown

// The object's member "run" is the name of an earlier run; otherwise its program runs now, in detail, and gets a name.
struct RunOrProgram {
  std::shared_ptr<const StoredRun> run;  // null: it did not start, or left no profile
  std::optional<ToolResult> failed;      // then
};
Result<RunOrProgram> find_or_run(const Json& arguments, const Json& given, const CallContext& context,
                                 const Room& room);

// Keeps the run's profile and returns its name; "" if there is none.
std::string keep(const Program& program, const ProgramRun& run, const Verification& verification, RunStore& runs);

// Advice where a run took too long.
inline constexpr const char* kLessWork =
    "Use a smaller problem, or \"blocks\": 16, which runs only about 16 blocks of each launch and scales the counts.";

}  // namespace warpgrind::mcp
