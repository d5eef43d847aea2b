// The subcommands; each returns the exit code of warpgrind: 0 good, 2 bad arguments or environment.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/run_reports.h"
#include "report/access_view.h"
#include "session/options.h"
#include "toolchain/driver.h"

namespace warpgrind::cli {

inline constexpr int kUsageError = 2;

struct RunCommand {
  session::RunOptions options;
  bool no_cache = false;
  std::vector<std::string> sources;     // program is a .cu file: what is compiled and linked with it
  std::vector<std::string> nvcc_flags;  // for them
  std::string compiler;                 // "nvcc", "clang"; empty: nvcc when it is there
  std::string nvrtc = "auto";           // "nvidia", "ours": which the program finds (nvrtc_choice.h)
  std::vector<std::string> program;     // path and arguments
  std::string trace_block = "0,0,0";
  bool host_lines = false;  // .cu files are compiled with the host's debug information
  ReportOptions reports;
};
int run(const RunCommand& command);
// Runs the program and returns its exit code; `finished` (null: nobody asks) gets the profiles of its processes.
int run_program(const RunCommand& command, FinishedRun* finished);
// The same, with what the program prints on standard error: standard output is for what we say.
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
  RunCommand run;  // --gpu and the like
  report::AccessQuery query;
};
int explain(const ExplainCommand& command);
int scan(const std::string& path);
struct CompileTimesCommand {
  std::vector<std::string> files;
  std::string kernel;                     // only those whose name contains this
  std::string tier;                       // empty: as the compiler chooses
  std::string cpu, dump_ir, dump_object;  // of jit::CompileOptions
  bool summary = false;
};
int compile_times(const CompileTimesCommand& command);  // 1: a kernel is outside the bounds
struct CorrelateCommand {
  RunCommand run;                              // program, --gpu and the like
  std::string ncu_path, keep_path, json_path;  // CSV of ncu from elsewhere; where what it says here is kept; results
  bool all = false;                            // equal values too
};
int correlate(const CorrelateCommand& command);  // 1: no launch in common
struct CalibrateCommand {
  std::string output_path;  // a GPU model: merged into when it is there
  std::string model;        // whose other figures are taken; empty: that of the GPU's name
  std::string from_path;    // what lab/calibrate left on another machine; empty: it is run here
  std::string csv_path, programs;
};
int calibrate(const CalibrateCommand& command);
struct ServeCommand {
  std::string listen = "127.0.0.1:8000";
  bool is_public = false;
  std::vector<std::string> names;  // what users call the server
  std::string data;                // database; empty: in the user's data folder
  unsigned jobs = 0;               // at a time; 0: half of the cores
  double cpu_seconds = 20;         // of a run
  unsigned memory_mib = 2048;
  std::string broker;           // HOST:PORT of Redis; empty: runs are carried out here
  std::string broker_password;  // file
  bool no_sandbox = false;
  bool worker = false;     // no page: runs of the broker are carried out here
  double lost_after = 10;  // seconds until a worker that is not heard of is taken for lost
};
int serve(const ServeCommand& command);               // until it is interrupted
int gpus(const std::string& name);                    // empty: all
int nvcc(const std::vector<std::string>& arguments);  // as nvcc takes them
int ptxas(const std::vector<std::string>& arguments);
std::string environment_variable(const char* name);  // empty if it is not set
// What the environment says to compilers.
toolchain::Surroundings compiler_surroundings();
std::vector<std::string> with_nvcc_variables(const std::vector<std::string>& words);

Status check_writable(const std::string& path);  // nothing to say about "" and "-"
void complain(const Error& error);               // on stderr
void complain(const std::string& message, const std::string& detail = "");

}  // namespace warpgrind::cli
