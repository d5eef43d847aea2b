// SQLite statements and connections.
#include "serve/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/assert.h"

namespace warpgrind::serve {

Statement::Statement(Database& database, std::string_view sql) : lock_(database.mutex_) {
  sqlite3_prepare_v2(database.connection_, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  WG_ASSERT(statement_ != nullptr);  // the SQL text is our own
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

void Statement::end() {
  sqlite3_finalize(statement_);  // a null statement is allowed
  statement_ = nullptr;
  lock_.unlock();
}

Statement& Statement::with(std::string_view text) {
  WG_ASSERT(bound_ < sqlite3_bind_parameter_count(statement_));
  sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::with(std::int64_t number) {
  WG_ASSERT(bound_ < sqlite3_bind_parameter_count(statement_));
  sqlite3_bind_int64(statement_, ++bound_, number);
  return *this;
}

bool Statement::step() {
  return sqlite3_step(statement_) == SQLITE_ROW;
}

bool Statement::go() {
  int result = SQLITE_ROW;
  while (result == SQLITE_ROW) result = sqlite3_step(statement_);
  return result == SQLITE_DONE;
}

std::string Statement::text(int column) const {
  WG_ASSERT(column >= 0 && column < sqlite3_column_count(statement_));
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes != nullptr ? std::string(static_cast<const char*>(bytes), size) : std::string();
}

std::int64_t Statement::number(int column) const {
  WG_ASSERT(column >= 0 && column < sqlite3_column_count(statement_));
  return sqlite3_column_int64(statement_, column);
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, const char* schema) {
  std::unique_ptr<Database> made(new Database);
  const auto failed = [&] {
    return Error{ErrorKind::environment, fmt::format("{}: {}", path, sqlite3_errmsg(made->connection_)),
                 "it must be a database of `warpgrind serve`, or a place where one can be made (--data FILE)"};
  };
  if (sqlite3_open(path.c_str(), &made->connection_) != SQLITE_OK) return failed();
  sqlite3_busy_timeout(made->connection_, 5000);
  if (sqlite3_exec(made->connection_, schema, nullptr, nullptr, nullptr) != SQLITE_OK) return failed();
  return made;
}

Database::~Database() {
  sqlite3_close(connection_);
}

}  // namespace warpgrind::serve
