// Record of what the program does with the GPU, and of what it leaves undone without an error of its own. That is
// kernels that are never launched, errors that it reads and says nothing about, and libraries that it does not find.
// Thread-safe. Lives as long as the session.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "results/profile.h"
#include "session/api_errors.h"

namespace warpgrind::session {

class Activity {
 public:
  void device_count_read();
  void device_used();  // a context on a GPU becomes active
  void kernel_loaded(const std::string& mangled_name);
  // A launch has run, or began to run and faulted. name: demangled.
  void kernel_ran(const std::string& mangled_name, const std::string& name);
  void call_failed(const ApiError& error);  // and the program has read the result

  results::Activity of_run() const;
  results::Activity of_section() const;  // since begin_section(), or since the start
  void begin_section();

 private:
  struct Failure {
    ApiError first;
    std::uint64_t count = 0;
  };
  struct Record {
    bool asked_for_devices = false, used_device = false;
    std::set<std::string> loaded;
    std::map<std::string, results::LaunchedKernel> launched;  // by mangled name
    std::vector<Failure> failures;
    std::map<std::pair<std::string, std::string>, std::size_t> failure_index;  // call, error
  };
  template <class Note>
  void add(Note&& note);
  results::Activity result_of(Record record) const;

  mutable std::mutex mutex_;
  Record run_;
  std::unique_ptr<Record> section_;  // null: the run is one section so far
};

}  // namespace warpgrind::session
