// What is remembered of each 4-byte word of memory: who wrote it last, and who has read it since.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "checkers/race_order.h"

namespace warpgrind::checkers {

// Accesses of one warp at one site that nothing can tell apart but their lanes.
struct Record {
  Stamp stamp;
  std::uint32_t site = 0;
  std::uint32_t bytes = 0;  // of a lane; of a stretch: 0
  AccessType type = AccessType::load;
  events::MemoryOrder order = events::MemoryOrder::weak;
  events::MemoryScope scope = events::MemoryScope::none;
  bool non_coherent = false, bulk = false;
  bool writes() const { return type != AccessType::load; }
  bool atomic() const { return type == AccessType::atomic || type == AccessType::reduction; }
  bool strong() const { return order != events::MemoryOrder::weak; }
};

// Indexes into a table of records; 0: none. `other`: of the readers since the last write one more of another warp, of
// another block if there is one. `plain`: the last write that was no atomic, where `write` is one: other atomics are in
// no conflict with that, and may be with this.
struct Cell {
  std::uint32_t write = 0, read = 0, other = 0, plain = 0;
  LaneMask readers = 0;  // of `read`
  std::uint8_t write_lane = 0, other_lane = 0, plain_lane = 0;
  std::uint8_t write_bytes = 0, read_bytes = 0, plain_bytes = 0;  // masks of the word's bytes
};

// One more access to a word, where a cell cannot hold all that matters: other bytes, or several threads in kernels
// where some may be ordered and others not.
struct MoreAccess {
  std::uint32_t record = 0;
  std::uint8_t lane = 0, bytes = 0;
  bool write = false;
};

// Of one block's shared memory, or of the global memory that a launch has touched. Words by address / 4.
class Shadow {
 public:
  static constexpr std::size_t kPageWords = 1024;
  using Page = std::array<Cell, kPageWords>;

  Cell& cell(std::uint64_t word) {
    const std::uint64_t page = word / kPageWords;
    if (page != last_page_ || !last_) {
      std::unique_ptr<Page>& slot = pages_[page];
      if (!slot) slot = std::make_unique<Page>();
      last_page_ = page;
      last_ = slot.get();
    }
    return (*last_)[word % kPageWords];
  }
  std::vector<MoreAccess>* more(std::uint64_t word) {
    if (more_.empty()) return nullptr;
    const auto it = more_.find(word);
    return it == more_.end() ? nullptr : &it->second;
  }
  void add_more(std::uint64_t word, const MoreAccess& access) {
    constexpr std::size_t kMost = 64;
    std::vector<MoreAccess>& list = more_[word];
    if (list.size() == kMost) list.erase(list.begin());
    list.push_back(access);
  }
  std::vector<Record>& records() { return records_; }

 private:
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t last_page_ = 0;
  Page* last_ = nullptr;
  std::unordered_map<std::uint64_t, std::vector<MoreAccess>> more_;
  std::vector<Record> records_ = std::vector<Record>(1);  // the first is none
};

}  // namespace warpgrind::checkers
