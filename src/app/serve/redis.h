// Redis as the broker between the server and workers on other machines: commands and their replies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

struct redisContext;

namespace warpgrind::serve {

struct Broker {
  std::string host = "127.0.0.1";
  int port = 6379;
  std::string password;  // may be empty
};

struct Reply {
  enum class Kind { nothing, text, number, list, error };
  Kind kind = Kind::nothing;
  std::string text;  // also of an error
  std::int64_t number = 0;
  std::vector<Reply> items;
};

// One connection, for one thread.
class Redis {
 public:
  static Result<std::unique_ptr<Redis>> connect(const Broker& broker);
  ~Redis();
  Redis(const Redis&) = delete;
  Redis& operator=(const Redis&) = delete;
  // An error means that the connection is lost. A command that Redis refuses gives a reply of kind error.
  Result<Reply> ask(const std::vector<std::string>& words);

 private:
  explicit Redis(redisContext* context) : context_(context) {}
  redisContext* context_;
};

// An entry of a stream: its id, and alternating fields and values.
struct Entry {
  std::string id;
  std::vector<std::string> fields;
  const std::string* find(const std::string& field) const;
};
std::vector<Entry> entries_of(const Reply& list);

// Key names shared by server and workers.
namespace keys {
inline constexpr const char* kJobs = "warpgrind:jobs";  // stream: runs to be carried out
inline constexpr const char* kGroup = "workers";
inline std::string said(const std::string& run) {
  return "warpgrind:said:" + run;
}  // stream: reports of the run's workers
inline std::string ended(const std::string& run) {
  return "warpgrind:ended:" + run;
}
inline std::string cancelled(const std::string& run) {
  return "warpgrind:cancelled:" + run;
}
inline constexpr const char* kKept = "3600";  // lifetime of a run's keys, in seconds
}  // namespace keys

}  // namespace warpgrind::serve
