// Subcommands of warpgrind. Each returns the exit code: 0 success, 2 bad arguments or environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/run_reports.h"
#include "report/access_view.h"
#include "session/options.h"
#include "toolchain/driver.h"

namespace warpgrind::cli {

inline constexpr int kUsageError = 2;

// Core files of kernels that fault (core_options.h).
struct CoreOptions {
  std::string path;  // --core; empty: as CUDA's variables say
  unsigned limit_mib = 1024;
};

struct RunCommand {
  session::RunOptions options;
  bool no_cache = false;
  std::vector<std::string> sources;     // if the program is a .cu file: files compiled and linked with it
  std::vector<std::string> nvcc_flags;  // for these files
  std::string compiler;                 // "nvcc", "clang"; empty: nvcc if it is installed
  std::string nvrtc = "auto";           // "nvidia", "ours": the library that the program finds (nvrtc_choice.h)
  std::vector<std::string> program;     // path and arguments
  std::string trace_block = "0,0,0";
  bool host_lines = false;      // compile .cu files with debug information for host code
  bool debuggable = false;      // compile .cu files with debug information for kernels, and without optimisation
  bool debug_on_fault = false;  // opens the debugger's terminal where a kernel faults
  std::string content_path;     // file for the program's content as JSON, before it runs; empty: none
  CoreOptions core;
  ReportOptions reports;
};
int run(const RunCommand& command);
// Runs the program and returns its exit code. `finished` receives the profiles of its processes; it may be null.
int run_program(const RunCommand& command, FinishedRun* finished);
// The same, but the program's standard output goes to standard error: standard output is for warpgrind's own text.
int run_program_aside(const RunCommand& command, FinishedRun* finished);
struct ShowCommand {
  std::string profile;
  bool quiet = false, each_launch = false;
  ReportOptions reports;
};
int show(const ShowCommand& command);
struct DiffCommand {
  std::string before, after;
  std::vector<std::string> rules, pairs;
};
int diff(const DiffCommand& command);
struct ExplainCommand {
  std::string target;  // program or profile
  std::vector<std::string> arguments;
  RunCommand run;  // --gpu and other options
  report::AccessQuery query;
};
int explain(const ExplainCommand& command);
// Precompiles the headers of CUDA programs, and compiles the kernels of some, so that first runs are short.
struct PrepareCommand {
  std::string gpu = "h200";
  std::vector<std::string> programs;
  bool installation = false;  // for all users, in the folder of warpgrind's libraries
  // For packages: compiles the kernels of the programs for all CPUs into this folder, and does nothing else.
  std::string kernels;
  std::vector<std::string> leave_out;  // kernels whose names contain one of these are not compiled
};
int prepare(const PrepareCommand& command);
int prepare_kernels(const PrepareCommand& command);
struct ScanCommand {
  std::string program;    // or a .cu file
  std::string json_path;  // empty: none
  RunCommand run;         // --gpu and how a .cu file is compiled
};
int scan(const ScanCommand& command);  // 1: something is not supported
struct CompileTimesCommand {
  std::vector<std::string> files;
  std::string kernel;                     // only kernels whose name contains this
  std::string tier;                       // empty: the compiler chooses
  std::string cpu, dump_ir, dump_object;  // of jit::CompileOptions
  bool summary = false;
};
int compile_times(const CompileTimesCommand& command);  // 1: a kernel is outside the bounds
struct CorrelateCommand {
  RunCommand run;                              // program, --gpu and other options
  std::string ncu_path, keep_path, json_path;  // CSV of ncu from elsewhere; copy of the CSV made here; results
  bool all = false;                            // also show equal values
};
int correlate(const CorrelateCommand& command);  // 1: no launch in common
struct CalibrateCommand {
  std::string output_path;  // a GPU model file; an existing one is updated
  std::string model;        // model for the other figures; empty: the model of the GPU's name
  std::string from_path;    // output of lab/calibrate from another machine; empty: run it here
  std::string csv_path, programs;
};
int calibrate(const CalibrateCommand& command);
struct ServeCommand {
  std::string listen = "127.0.0.1:8000";
  bool is_public = false;
  std::vector<std::string> names;  // names by which users call the server
  std::string data;                // database; empty: in the user's data folder
  unsigned jobs = 0;               // at the same time; 0: half of the cores
  double cpu_seconds = 20;         // per run
  unsigned memory_mib = 2048;
  unsigned data_mib = 1024;             // quota of the database
  std::optional<unsigned> connections;  // of one address; 0: no limit
  std::string broker;                   // HOST:PORT of Redis; empty: runs are carried out here
  std::string broker_password;          // file
  bool no_sandbox = false;
  bool worker = false;     // no page: carries out the broker's runs here
  double lost_after = 10;  // a worker that has not reported for so many seconds is lost
};
int serve(const ServeCommand& command);  // until it is interrupted
struct McpCommand {
  std::string folder;  // empty: the current one
  std::string gpu = "h200";
  std::string compiler = "clang";
  unsigned jobs = 0;    // at the same time; 0: half of the cores
  double seconds = 50;  // of a call, by the clock
  unsigned memory_mib = 4096;
  bool no_sandbox = false;
};
int mcp(const McpCommand& command);  // until its input ends
struct DebugCommand {
  RunCommand run;                            // the program, and options of the virtual GPU
  std::vector<std::string> files, commands;  // of the debugger
  bool check = false;                        // all groups of checks, and a stop at each finding
  std::vector<std::string> only;             // only these groups
  bool batch = false;
  bool args = false;  // gdb's --args; changes nothing
  bool host = false;  // host code is debugged, too
  std::string core;   // a core file in place of a program
};
int debug(const DebugCommand& command);  // batch: 1 if a command failed
struct DapCommand {
  RunCommand run;                      // options of the virtual GPU; those of a launch request change them
  std::optional<unsigned short> port;  // of 127.0.0.1; 0: any free one; unset: the standard streams
  bool host = false;                   // host code is debugged, too, unless the launch request says otherwise
  std::string extension;               // a file for VS Code's extension, which is written in place of all else
};
int dap(const DapCommand& command);
int gpus(const std::string& name);                    // empty: all
int nvcc(const std::vector<std::string>& arguments);  // in nvcc's form
int ptxas(const std::vector<std::string>& arguments);
std::string environment_variable(const char* name);  // empty if unset
// Environment variables for the compilers.
toolchain::Surroundings compiler_surroundings();
std::string precompiled_headers_in(const std::string& cache);  // folder; empty: no cache
std::vector<std::string> with_nvcc_variables(const std::vector<std::string>& words);

Status check_writable(const std::string& path);  // accepts "" and "-"
void complain(const Error& error);               // on stderr
void complain(const std::string& message, const std::string& detail = "");

}  // namespace warpgrind::cli
