// Origin of each allocation, for the pointers that a debugger shows: the call that made it, or a variable's name.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "base/host_stack.h"
#include "events/observer.h"

namespace warpgrind::adapter {

class MemoryOrigins final : public events::Observer {
 public:
  // Text of a call of the program: "cudaMalloc at main.cu:31".
  using DescribeCall = std::string (*)(const HostStack& stack);
  explicit MemoryOrigins(DescribeCall describe) : describe_(describe) {}

  // Wants undefined copies, too: devices then track which bits were never written.
  events::Wants wants() const override;
  void on_allocation(const events::Allocation& allocation, unsigned) override;
  void on_deallocation(const events::Allocation& allocation, unsigned) override;

  // "table+4" or "cudaMalloc at main.cu:31"; empty: the address is in no allocation that was seen. Thread-safe.
  std::string describe(std::uint64_t address) const;

 private:
  struct Made {
    std::uint64_t bytes = 0;
    std::string name;  // of a variable; empty: `stack` made it
    HostStack stack;
  };
  DescribeCall describe_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Made> made_;  // by address
};

}  // namespace warpgrind::adapter
