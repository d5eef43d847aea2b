// Persistent data of the server: sessions, kept programs, and runs with their results. Runs that were queued or running
// when the server ended are queued again at its next start.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
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
  std::string mode;       // "run", "check", "judge", "steps", "steps X,Y,Z" (step_mode.h)
  std::string arguments;  // of the program, separated by spaces
  std::string before;     // id of the run to compare with; may be empty
  std::string exercise;   // the exercise that it answers; may be empty
};

// Largest parts of a result. The store refuses larger ones, also from a worker on another machine.
inline constexpr std::size_t kLargestOutput = 2 << 20;
inline constexpr std::size_t kLargestReport = 8 << 20;
inline constexpr std::size_t kLargestProfile = 8 << 20;

struct RunResult {
  std::string ending;  // "exit code 0", "stopped: more than 20 s of CPU time"
  bool good = false;
  std::string output;
  std::string report;   // the page's data, as JSON; empty: none
  std::string profile;  // for a later run that is compared with this one
};

class Store {
 public:
  // `bytes`: quota of the database. When it is used up, the oldest results go. Links have half of it.
  static Result<std::unique_ptr<Store>> open(const std::string& path, std::uint64_t bytes);  // also ":memory:"

  std::string new_session();  // empty: the database is full
  bool knows_session(const std::string& id);

  std::optional<std::string> keep(const Program& program, const std::string& session);  // its id; nullopt: too many
  std::optional<Program> program(const std::string& id);

  bool add(const RunRequest& run);  // false: the database is full
  // A part that is too large, or for which there is no room, is left out, and the ending says so.
  void finish(const RunRequest& run, RunResult result);
  void cancel(const std::string& id);
  std::vector<RunRequest> unfinished();  // in the order of their arrival
  struct StoredRun {
    std::string session;
    bool done;
    RunResult result;
  };
  std::optional<StoredRun> run(const std::string& id);

 private:
  Store(std::unique_ptr<Database> database, std::uint64_t quota) : database_(std::move(database)), quota_(quota) {}
  std::uint64_t used();
  bool make_room(std::uint64_t bytes);  // deletes old results; false: there is no room for so many bytes
  bool write_result(const RunRequest& run, const RunResult& result);
  void forget_sessions();  // those unused for a month, and the oldest without results if there are too many

  std::unique_ptr<Database> database_;
  const std::uint64_t quota_;
  std::mutex mutex_;  // of the two sums
  std::uint64_t program_bytes_ = 0;
  std::uint64_t sessions_ = 0;
};

}  // namespace warpgrind::serve
