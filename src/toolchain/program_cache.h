// Programs that `warpgrind run app.cu` compiled before: taken again when nothing that they were made of has changed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "toolchain/driver.h"

namespace warpgrind::toolchain {

class ProgramCache {
 public:
  // folder: where programs are kept, each in a folder named after its key; empty: no cache.
  // words: of the command, without -o. The key is they, the folder they are called in, the environment, and the
  // compiler.
  ProgramCache(const std::string& folder, const std::vector<std::string>& words, const Surroundings& surroundings);

  struct Found {
    std::string program;
    std::string messages;  // what the compiler said then
  };
  // Only when every file it was made of is as it was, by content.
  std::optional<Found> find() const;
  // A failure (full disk) only loses the speed-up. The program stays at its place where this returns nothing, else it
  // is in the cache now.
  std::optional<std::string> store(const std::string& program, const Outcome& outcome) const;

 private:
  void evict() const;

  std::string folder_, entry_;  // empty: no cache
};

}  // namespace warpgrind::toolchain
