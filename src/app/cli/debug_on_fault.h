// `warpgrind run --debug-on-fault`: the program runs under the debugger without breakpoints, and the terminal of
// `warpgrind debug` opens where a kernel faults. With `warpgrind check`, also at each finding.
#pragma once

#include "base/process.h"
#include "cli/commands.h"
#include "cli/prepared_run.h"

namespace warpgrind::cli {

void set_debuggable(RunCommand& command);  // the options of a run under the debugger
// The same for `warpgrind run`. Error: another option needs what such a run does not record.
Status prepare_debug_on_fault(RunCommand& command);
// In place of run_child(); with checks, findings stop the program, too. Returns the end of the program: exit code 1 if
// the user left the debugger before it.
Result<ProcessEnd> run_until_fault(const RunCommand& command, const PreparedRun& prepared);

}  // namespace warpgrind::cli
