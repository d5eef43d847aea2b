// Earlier runs of this server's client, by short names ("r1"), for `explain` and `diff`.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "results/profile.h"

namespace warpgrind::mcp {

struct StoredRun {
  std::string name;          // "r1"
  std::string program;       // what ran, for people: "main.cu (text)", "bench/copy.cu"
  std::string failed;        // why its results are not those of a whole run; empty: it ended well
  std::string verification;  // whether its results were verified
  results::Profile profile;
};

class RunStore {
 public:
  static constexpr std::size_t kKept = 24;

  // Returns the name that the run gets. The oldest run goes when there are more than kKept.
  std::string add(StoredRun run);
  Result<std::shared_ptr<const StoredRun>> find(const std::string& name) const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const StoredRun>> runs_;
  unsigned next_ = 1;
};

}  // namespace warpgrind::mcp
