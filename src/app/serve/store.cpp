// SQLite store of sessions, programs, and runs with their results.
#include "serve/store.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <ctime>

#include "base/assert.h"

namespace warpgrind::serve {

namespace {

constexpr const char* kSchema = R"(
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA journal_size_limit = 33554432;
CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, seen INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS programs (id TEXT PRIMARY KEY, session TEXT NOT NULL, source TEXT NOT NULL, gpu TEXT NOT NULL,
  exercise TEXT NOT NULL, made INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS programs_of_session ON programs (session);
CREATE TABLE IF NOT EXISTS runs (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL,
  source TEXT NOT NULL, gpu TEXT NOT NULL, mode TEXT NOT NULL, arguments TEXT NOT NULL, before TEXT NOT NULL,
  exercise TEXT NOT NULL,
  done INTEGER NOT NULL DEFAULT 0, ending TEXT NOT NULL DEFAULT '', good INTEGER NOT NULL DEFAULT 0,
  output TEXT NOT NULL DEFAULT '', report TEXT NOT NULL DEFAULT '', profile TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS runs_of_session ON runs (session, number);
)";

constexpr int kProgramsOfSession = 1000;
constexpr int kProgramsOfAll = 50000;
constexpr std::uint64_t kSessionsOfAll = 100000;
constexpr int kRunsOfAll = 2000;                  // whose results are kept, of all users
constexpr int kRunsOfSession = 12;                // whose results are kept, per session
constexpr std::uint64_t kSmallResult = 64 << 10;  // bytes that a run without a report may need
constexpr std::int64_t kForgotten = 30 * 86400;   // seconds until an unused session is deleted with its runs

std::int64_t now() {
  return std::time(nullptr);
}

}  // namespace

std::string unguessable_name() {
  std::array<unsigned char, 16> bytes;
  // getrandom() never returns fewer than requested for up to 256 bytes.
  WG_ASSERT(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  std::string name;
  for (const unsigned char byte : bytes) name += fmt::format("{:02x}", byte);
  WG_ASSERT(name.size() == 2 * bytes.size());
  return name;
}

Result<std::unique_ptr<Store>> Store::open(const std::string& path, std::uint64_t bytes) {
  auto database = Database::open(path, kSchema);
  if (!database) return database.error();
  std::unique_ptr<Store> store(new Store(database.take(), bytes));
  store->forget_sessions();
  Statement programs(*store->database_, "SELECT total(length(CAST(source AS BLOB))) FROM programs");
  if (programs.step()) store->program_bytes_ = static_cast<std::uint64_t>(programs.number(0));
  return store;
}

void Store::forget_sessions() {
  const std::int64_t oldest = now() - kForgotten;
  Statement(*database_, "DELETE FROM runs WHERE session IN (SELECT id FROM sessions WHERE seen < ?)").with(oldest).go();
  Statement(*database_, "DELETE FROM sessions WHERE seen < ?").with(oldest).go();
  Statement(*database_,
            "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE id NOT IN (SELECT session FROM runs) "
            "ORDER BY seen DESC LIMIT -1 OFFSET ?)")
      .with(static_cast<std::int64_t>(kSessionsOfAll * 9 / 10))
      .go();
  Statement count(*database_, "SELECT count(*) FROM sessions");
  if (count.step()) sessions_ = static_cast<std::uint64_t>(count.number(0));
}

// Bytes of all pages in use. Pages of deleted rows are used again before the file grows.
std::uint64_t Store::used() {
  Statement pages(*database_,
                  "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, "
                  "pragma_page_size");
  return pages.step() ? static_cast<std::uint64_t>(pages.number(0)) : 0;
}

bool Store::make_room(std::uint64_t bytes) {
  while (used() + bytes > quota_) {
    Statement oldest(*database_, "SELECT min(number) FROM runs WHERE done = 1");
    const std::int64_t number = oldest.step() ? oldest.number(0) : 0;
    if (number == 0) return false;
    oldest.end();
    if (!Statement(*database_, "DELETE FROM runs WHERE number = ?").with(number).go()) return false;
  }
  return true;
}

std::string Store::new_session() {
  const std::lock_guard lock(mutex_);
  if (sessions_ >= kSessionsOfAll) forget_sessions();
  std::string id = unguessable_name();
  if (!Statement(*database_, "INSERT INTO sessions VALUES (?, ?)").with(id).with(now()).go()) return "";
  ++sessions_;
  return id;
}

bool Store::knows_session(const std::string& id) {
  const std::int64_t at = now();
  {
    Statement find(*database_, "SELECT seen FROM sessions WHERE id = ?");
    if (!find.with(id).step()) return false;
    if (at - find.number(0) < 3600) return true;
  }
  Statement(*database_, "UPDATE sessions SET seen = ? WHERE id = ?").with(at).with(id).go();
  return true;
}

std::optional<std::string> Store::keep(const Program& program, const std::string& session) {
  {
    Statement count(*database_, "SELECT count(*), (SELECT count(*) FROM programs) FROM programs WHERE session = ?");
    const bool counted = count.with(session).step();
    if (counted && (count.number(0) >= kProgramsOfSession || count.number(1) >= kProgramsOfAll)) return std::nullopt;
  }
  const std::lock_guard lock(mutex_);
  if (program_bytes_ + program.source.size() > quota_ / 2 || !make_room(program.source.size())) return std::nullopt;
  std::string id = unguessable_name();
  const bool is_kept = Statement(*database_,
                                 "INSERT INTO programs (id, session, source, gpu, exercise, made) VALUES "
                                 "(?, ?, ?, ?, ?, ?)")
                           .with(id)
                           .with(session)
                           .with(program.source)
                           .with(program.gpu)
                           .with(program.exercise)
                           .with(now())
                           .go();
  if (!is_kept) return std::nullopt;
  program_bytes_ += program.source.size();
  return id;
}

std::optional<Program> Store::program(const std::string& id) {
  Statement find(*database_, "SELECT source, gpu, exercise FROM programs WHERE id = ?");
  if (!find.with(id).step()) return std::nullopt;
  return Program{find.text(0), find.text(1), find.text(2)};
}

bool Store::add(const RunRequest& run) {
  if (!make_room(run.source.size() + kSmallResult)) return false;
  return Statement(*database_,
                   "INSERT INTO runs (id, session, source, gpu, mode, arguments, before, exercise) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      .with(run.id)
      .with(run.session)
      .with(run.source)
      .with(run.gpu)
      .with(run.mode)
      .with(run.arguments)
      .with(run.before)
      .with(run.exercise)
      .go();
}

bool Store::write_result(const RunRequest& run, const RunResult& result) {
  if (!make_room(result.output.size() + result.report.size() + result.profile.size())) return false;
  return Statement(*database_,
                   "UPDATE runs SET done = 1, ending = ?, good = ?, output = ?, report = ?, profile = ? WHERE id = ?")
      .with(result.ending)
      .with(std::int64_t{result.good})
      .with(result.output)
      .with(result.report)
      .with(result.profile)
      .with(run.id)
      .go();
}

void Store::finish(const RunRequest& run, RunResult result) {
  const auto limit = [&](std::string& part, std::size_t largest, const char* what) {
    if (part.size() <= largest) return;
    part.clear();
    result.ending += fmt::format("; its {} is too large to be kept", what);
  };
  limit(result.output, kLargestOutput, "output");
  limit(result.report, kLargestReport, "report");
  limit(result.profile, kLargestProfile, "profile");
  if (!write_result(run, result)) {
    result.report.clear();
    result.profile.clear();
    result.output.clear();
    result.ending += "; its results are lost: the server's database is full";
    write_result(run, result);
  }
  Statement(*database_,
            "DELETE FROM runs WHERE session = ?1 AND done = 1 AND number NOT IN "
            "(SELECT number FROM runs WHERE session = ?1 AND done = 1 ORDER BY number DESC LIMIT ?2)")
      .with(run.session)
      .with(std::int64_t{kRunsOfSession})
      .go();
  Statement(*database_,
            "DELETE FROM runs WHERE done = 1 AND number <= "
            "(SELECT number FROM runs WHERE done = 1 ORDER BY number DESC LIMIT 1 OFFSET ?)")
      .with(std::int64_t{kRunsOfAll})
      .go();
}

void Store::cancel(const std::string& id) {
  Statement(*database_, "UPDATE runs SET done = 1, ending = 'stopped on request' WHERE id = ? AND done = 0")
      .with(id)
      .go();
}

std::vector<RunRequest> Store::unfinished() {
  Statement find(
      *database_,
      "SELECT id, session, source, gpu, mode, arguments, before, exercise FROM runs WHERE done = 0 ORDER BY number");
  std::vector<RunRequest> runs;
  while (find.step())
    runs.push_back({find.text(0), find.text(1), find.text(2), find.text(3), find.text(4), find.text(5), find.text(6),
                    find.text(7)});
  return runs;
}

std::optional<Store::StoredRun> Store::run(const std::string& id) {
  Statement find(*database_, "SELECT session, done, ending, good, output, report, profile FROM runs WHERE id = ?");
  if (!find.with(id).step()) return std::nullopt;
  return StoredRun{
      find.text(0), find.number(1) != 0, {find.text(2), find.number(3) != 0, find.text(4), find.text(5), find.text(6)}};
}

}  // namespace warpgrind::serve
