// Records of the origins of undefined bits in memory, made by stores of kernels and by copies. Bits that were never
// moved come from their own allocation and need no record. Records are made only where undefined bits are moved. They
// are only hints: their number is limited.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "events/events.h"

namespace warpgrind::device {

inline constexpr unsigned kLongestWay = 8;  // most steps kept of the way of a value

class UndefinedOrigins {
 public:
  static UndefinedOrigins& instance();

  // Owner of a record: shared and local memory is reused by other blocks and warps. Global memory: 0.
  struct Owner {
    std::uint64_t launch = 0, block = 0;
    bool operator==(const Owner&) const = default;
  };

  // host: host address of the bytes; for global memory also the device address.
  void stored(std::uint64_t host, std::uint64_t bytes, const Owner& owner, const events::UndefinedOrigin& origin);
  void copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::uint64_t work);
  std::optional<events::UndefinedOrigin> find(std::uint64_t host, const Owner& owner);
  void forget(std::uint64_t address, std::uint64_t bytes);  // call when the memory is newly allocated

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
  std::map<std::string, std::uint32_t> known_;  // text of an origin -> index into origins_
  std::vector<Copy> copies_;                    // in order of issue
};

}  // namespace warpgrind::device
