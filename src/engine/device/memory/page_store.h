// Memory for copies of pages. It consists of chunks that change hands: what was copied while a launch ran is kept for
// going back to it later, without copying it again.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace warpgrind::device {

// Chunks one after the other; a position counts the bytes from the first one's beginning. write() and read() are
// async-signal-safe.
class Chunks {
 public:
  static constexpr std::uint64_t kBytes = 64 << 10;

  std::uint64_t bytes() const { return all_.size() * kBytes; }
  void write(std::uint64_t position, const std::uint8_t* from, std::uint64_t bytes) const;
  void read(std::uint64_t position, std::uint8_t* to, std::uint64_t bytes) const;
  // Splits off the chunks that hold the first `bytes`.
  Chunks take_first(std::uint64_t bytes);

 private:
  friend class PageStore;
  std::vector<std::uint8_t*> all_;
};

// What parts of memory held at an earlier moment.
struct KeptParts {
  static constexpr std::uint64_t kZeros = ~std::uint64_t{0};
  struct Part {
    std::uint64_t low = 0, bytes = 0;
    std::uint64_t at = kZeros;  // position in `chunks`; kZeros: it held zeros
  };
  std::vector<Part> parts;
  Chunks chunks;
  std::uint64_t bytes = 0;  // of `chunks` in use
};

class PageStore {
 public:
  static PageStore& instance();

  // `chunks` becomes at least as large, and its first `filled` bytes stay. Only what is written takes memory. Of the
  // new chunks, those that were used before come first, because new pages would take longer than the copies.
  // False: no address space is left.
  bool extend(Chunks& chunks, std::uint64_t filled, std::uint64_t bytes);
  void give_back(Chunks&& chunks);

 private:
  std::mutex mutex_;
  std::vector<std::uint8_t*> used_;  // and given back
};

}  // namespace warpgrind::device
