// malloc and free of device code: first fit in one allocation of fixed size. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "base/result.h"

namespace warpgrind::device {

class DeviceHeap {
 public:
  ~DeviceHeap();
  Status open(std::uint64_t bytes, int device);  // once; later calls do nothing
  bool is_open() const { return base_ != 0; }
  std::uint64_t allocate(std::uint64_t bytes);                  // 0: full
  std::optional<std::uint64_t> release(std::uint64_t address);  // its bytes; nullopt: not from allocate()

 private:
  std::mutex mutex_;
  std::uint64_t base_ = 0, size_ = 0;
  std::map<std::uint64_t, std::uint64_t> free_;  // start -> bytes
  std::map<std::uint64_t, std::uint64_t> used_;
};

}  // namespace warpgrind::device
