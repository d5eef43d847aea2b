// Cache of programs that `warpgrind run app.cu` compiled. A program is reused if none of its inputs has changed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "toolchain/driver.h"

namespace warpgrind::toolchain {

class ProgramCache {
 public:
  // Programs of clang. `folder`: each program has a folder in it, named after its key; empty: no cache. `words`: of the
  // command, without -o. The key is made of them, the current folder, the environment and the compiler.
  static ProgramCache of_clang(const std::string& folder, const std::vector<std::string>& words,
                               const Surroundings& surroundings);
  // Programs of NVIDIA's nvcc.
  static ProgramCache of_nvcc(const std::string& folder, const std::string& nvcc, const std::vector<std::string>& words,
                              const Surroundings& surroundings);

  struct Found {
    std::string program;
    std::string messages;  // of the compiler at that time
  };
  // Returns a program only if every file it was made from has the same content as then.
  std::optional<Found> find() const;
  // Copies the program into the cache and returns its path there. Of two processes that do so at the same time, both
  // get the first program. nullopt (full disk): only the speed-up is lost.
  std::optional<std::string> store(const std::string& program, const Outcome& outcome) const;

 private:
  // files: of the compiler. more: what else decides about a program.
  ProgramCache(const std::string& folder, const std::vector<std::string>& words, const Surroundings& surroundings,
               const std::vector<std::string>& files, const std::string& more);
  ProgramCache() = default;
  void evict() const;

  std::string folder_, entry_;  // empty: no cache
};

}  // namespace warpgrind::toolchain
