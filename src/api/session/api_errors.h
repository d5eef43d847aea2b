// API errors that the program never checked. They are reported once, at the end of the run: otherwise wrong results
// would be the only trace of a refused launch.
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
  // Reason of a refusal, if known: an address in the allocation that is too small, or the invalid handle. 0: none.
  std::uint64_t address = 0, handle = 0;
};

// Thread-safe.
class ApiErrors {
 public:
  // Returns a number for mark_checked(). Equal errors from the same call site share one number.
  std::size_t add(const ApiError& error);
  void mark_checked(std::size_t number);  // the program has read one of these errors
  struct Entry {
    ApiError error;
    std::uint64_t unknown = 0;  // occurrences that the program has not checked
    std::uint64_t taken = 0;    // of these, by take_unchecked()
  };
  // Unchecked errors in the order of their first occurrence. take_unchecked: those since its last call.
  std::vector<Entry> unchecked_entries() const;
  std::vector<Entry> take_unchecked();
  static std::vector<results::Finding> findings_of(const std::vector<Entry>& entries);

 private:
  // Does not include the reason: the finding shows that of the first occurrence.
  using Key = std::tuple<std::string, std::string, std::string, std::vector<const void*>>;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::map<Key, std::size_t> numbers_;
};

bool is_launch(const std::string& call);  // of a kernel
bool only_asks(const std::string& call);  // a query: its failure changes nothing
// The error is an answer: the requested state exists already, or the work is not done yet.
bool is_answer(const std::string& error);

// True: the machine code at the call site ignores the returned error, as `kernel<<<...>>>()` does. False: it reads it.
bool result_dropped(const std::vector<const void*>& callers);

}  // namespace warpgrind::session
