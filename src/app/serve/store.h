// Persistent data of the server: sessions, kept programs, and runs with their results. Runs that were queued or running
// when the server ended are queued again at its next start.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/database.h"

namespace warpgrind::serve {

// 128 random bits from the kernel, as 32 hexadecimal digits: no one can guess the name of a session, program or run.
std::string unguessable_name();

struct Program {
  std::string source, gpu;
  std::string exercise;  // the exercise that it answers; may be empty
};

struct RunRequest {
  std::string id, session;
  std::string source, gpu;
  std::string mode;       // "run", "check", "judge"
  std::string arguments;  // of the program, separated by spaces
  std::string before;     // id of the run to compare with; may be empty
  std::string exercise;   // the exercise that it answers; may be empty
};

struct RunResult {
  std::string ending;  // "exit code 0", "stopped: more than 20 s of CPU time"
  bool good = false;
  std::string output;
  std::string report;   // the page's data, as JSON; empty: none
  std::string profile;  // for a later run that is compared with this one
};

class Store {
 public:
  static Result<std::unique_ptr<Store>> open(const std::string& path);  // also ":memory:"

  std::string new_session();
  bool knows_session(const std::string& id);

  std::optional<std::string> keep(const Program& program, const std::string& session);  // its id; nullopt: too many
  std::optional<Program> program(const std::string& id);

  void add(const RunRequest& run);
  void finish(const RunRequest& run, const RunResult& result);
  void cancel(const std::string& id);
  std::vector<RunRequest> unfinished();  // in the order of their arrival
  struct StoredRun {
    std::string session;
    bool done;
    RunResult result;
  };
  std::optional<StoredRun> run(const std::string& id);

 private:
  explicit Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  std::unique_ptr<Database> database_;
};

}  // namespace warpgrind::serve
