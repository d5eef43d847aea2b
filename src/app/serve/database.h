// Small SQLite interface: statements with values, rows with columns. One connection, used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace warpgrind::serve {

class Database;

// A running statement. The database is locked during its life.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& with(std::string_view text);  // binds the next value
  Statement& with(std::int64_t number);
  bool step();  // moves to the next row; false: no more rows, or an error
  bool go();    // runs a statement without rows; false: an error, such as a full disk
  void end();   // frees the database; the statement is not used again
  std::string text(int column) const;
  std::int64_t number(int column) const;

 private:
  std::unique_lock<std::mutex> lock_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

class Database {
 public:
  static Result<std::unique_ptr<Database>> open(const std::string& path, const char* schema);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

 private:
  friend class Statement;
  Database() = default;
  sqlite3* connection_ = nullptr;
  std::mutex mutex_;
};

}  // namespace warpgrind::serve
