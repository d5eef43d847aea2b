// Device heap, malloc and free of kernels: first fit in one allocation of fixed size. Freed memory is not reused before
// the rest is used up, so that a use after free is found and named. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace warpgrind::device {

class DeviceHeap {
 public:
  ~DeviceHeap();
  // Only the first call has an effect. by_piece: accesses are checked against the pieces (holds).
  Status open(std::uint64_t bytes, int device, bool by_piece);
  bool is_open() const { return base_ != 0; }
  std::uint64_t allocate(std::uint64_t bytes);  // 0: full
  struct Released {
    enum class Was : std::uint8_t { in_use, freed_before, no_piece } was = Was::in_use;
    std::uint64_t bytes = 0;
  };
  Released release(std::uint64_t address);  // a null pointer: 0 bytes in use

  // Whether all bytes belong to a piece in use. Lock-free: kernels call it at every access.
  bool holds(std::uint64_t address, std::uint64_t bytes) const;
  // Start and end of the piece in use that holds an address, as far as kernels may use it.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> piece_at(std::uint64_t address) const;
  // The piece that holds an address, or the nearest one. nullopt: malloc has allocated nothing.
  struct Near {
    std::uint64_t start = 0, bytes = 0;  // as requested
    bool in_use = true;
  };
  std::optional<Near> near(std::uint64_t address) const;
  // Text for an address outside all pieces in use: "is 4 bytes inside a piece of 64 bytes that was freed".
  std::string describe(std::uint64_t address) const;
  bool was_freed(std::uint64_t address) const;

  struct Piece {
    std::uint64_t start = 0, bytes = 0;  // as requested
  };
  // Which addresses are in use. What is in the memory is kept elsewhere (memory_snapshot.h).
  struct Pieces {
    std::uint64_t left = 0;                       // bytes of the heap not taken by pieces in use
    std::map<std::uint64_t, std::uint64_t> free;  // start -> bytes
    std::map<std::uint64_t, std::uint64_t> used;  // start -> requested bytes
    std::deque<Piece> quarantine;                 // the oldest first
  };
  // For restore(): the same pointer until something is allocated or released. Null: the heap is not open.
  std::shared_ptr<const Pieces> keep();
  // While no kernel runs. Null: what was allocated since the heap was opened is free again.
  void restore(const std::shared_ptr<const Pieces>& kept);

 private:
  // As in CUDA, pieces are multiples of 16 bytes and have 16 bytes between them. The gaps use addresses beyond the
  // heap's size: at most as many bytes as the pieces.
  static constexpr std::uint64_t kUnit = 16, kGap = 16, kRoom = 2;
  static constexpr std::size_t kQuarantined = 65536;
  static std::uint64_t rounded(std::uint64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }
  static std::uint64_t taken(std::uint64_t bytes) { return rounded(bytes) + kGap; }
  std::uint64_t take(std::uint64_t bytes);
  void leave_quarantine();  // releases the oldest
  template <class F>
  bool each_word(std::uint64_t start, std::uint64_t bytes, F&& f) const;
  void mark(std::uint64_t start, std::uint64_t bytes, bool in_use);
  const Piece* freed(std::uint64_t address) const;
  std::optional<Near> find_near(std::uint64_t address) const;  // under mutex_

  mutable std::mutex mutex_;
  std::uint64_t base_ = 0, size_ = 0;  // size_: of the addresses, kRoom times the heap
  Pieces pieces_;
  std::shared_ptr<const Pieces> kept_;  // null: pieces_ has changed since
  struct Free {
    void operator()(void* p) const;
  };
  std::unique_ptr<std::atomic<std::uint64_t>[], Free> in_use_;  // one bit per unit; zeroed pages until touched
};

}  // namespace warpgrind::device
