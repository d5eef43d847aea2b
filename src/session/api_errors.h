// Errors that API calls returned and that the program never looked at. They are named once, at the end of the run: a
// refused launch would otherwise leave no trace but wrong results.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "results/profile.h"

namespace warpgrind::session {

struct ApiError {
  std::string call;                  // "cudaMemcpy"
  std::string name, text;            // "cudaErrorInvalidValue", "invalid argument"
  std::string reason;                // "2048 threads a block, at most 1024"; may be empty
  std::string kernel;                // of launches
  std::vector<const void*> callers;  // return addresses outside of this library, innermost first
  // What the call was refused for, if any: an address in the allocation that it does not fit into, or a handle.
  std::uint64_t address = 0, handle = 0;
};

// Thread-safe.
class ApiErrors {
 public:
  // A number for asked_for(). Equal errors of one place share it.
  std::size_t add(const ApiError& error);
  void asked_for(std::size_t number);  // one of them is known to the program
  // A finding for each that nobody asked for, in the order of their first occurrence.
  std::vector<results::Finding> not_asked_for() const;
  struct Entry {
    ApiError error;
    std::uint64_t unknown = 0;  // occurrences that the program does not know of
  };
  std::vector<Entry> not_asked_for_entries() const;

 private:
  // Without the reason: that of the first is told.
  using Key = std::tuple<std::string, std::string, std::string, std::vector<const void*>>;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::map<Key, std::size_t> numbers_;
};

bool is_launch(const std::string& call);  // of a kernel

// False: the machine code at the callers reads what the call returned. True: it drops it, as `kernel<<<...>>>()` does.
bool result_dropped(const std::vector<const void*>& callers);

}  // namespace warpgrind::session
