// Where undefined bits in memory come from, as far as stores of kernels and copies tell: what nobody has moved comes
// from its own allocation and needs no record. Records are made only where undefined bits are moved, and are a help:
// there is a limit to their number.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "events/events.h"

namespace warpgrind::device {

inline constexpr unsigned kLongestWay = 8;  // steps that are kept of the way of a value

class UndefinedOrigins {
 public:
  static UndefinedOrigins& instance();

  // Shared and local memory is used again by other blocks and warps: whose a record is. Global memory: 0.
  struct Owner {
    std::uint64_t launch = 0, block = 0;
    bool operator==(const Owner&) const = default;
  };

  // host: the address of the bytes on the host, which for global memory is also the device's.
  void stored(std::uint64_t host, std::uint64_t bytes, const Owner& owner, const events::UndefinedOrigin& origin);
  void copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::uint64_t work);
  std::optional<events::UndefinedOrigin> find(std::uint64_t host, const Owner& owner);
  void forget(std::uint64_t address, std::uint64_t bytes);  // the memory is new

 private:
  struct Record {
    Owner owner;
    std::uint32_t origin = 0;
  };
  struct Copy {
    std::uint64_t to = 0, from = 0, bytes = 0, work = 0;
  };
  std::optional<events::UndefinedOrigin> find_locked(std::uint64_t host, const Owner& owner, unsigned depth);

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Record> sectors_;  // by address / 32
  std::vector<events::UndefinedOrigin> origins_;
  std::map<std::string, std::uint32_t> known_;  // what it says -> index into origins_
  std::vector<Copy> copies_;                    // in their order
};

}  // namespace warpgrind::device
