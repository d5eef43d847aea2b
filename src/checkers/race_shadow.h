// What is remembered of each 4-byte word of memory: who wrote it last, and who has read it since.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
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

// Numbers of records (Shadow::record); 0: none. `other`: of the readers since the last write one more of another warp,
// of another block if there is one. `plain`: the last write that was no atomic, where `write` is one: other atomics are
// in no conflict with that, and may be with this.
struct Cell {
  std::uint32_t write = 0, read = 0, other = 0, plain = 0;
  LaneMask readers = 0;  // of `read`
  std::uint8_t write_lane = 0, other_lane = 0, plain_lane = 0;
  std::uint8_t write_bytes = 0, read_bytes = 0, plain_bytes = 0;  // masks of the word's bytes
};

// 1024 cells, each field of its own, so that a warp's 16 neighbours are one vector: 24 bytes a word.
struct ShadowPage {
  static constexpr std::size_t kWords = 1024;
  // Of `parts`: where the lanes (5 bits each) and the masks of bytes (4 bits each) are.
  static constexpr unsigned kWriteLane = 0, kOtherLane = 5, kPlainLane = 10;
  static constexpr unsigned kWriteBytes = 16, kReadBytes = 20, kPlainBytes = 24;
  using Words = std::array<std::uint32_t, kWords>;
  // The newest record of any word: what is old need not be looked at, and memory that is only written costs a third.
  std::uint32_t newest_write = 0, newest_read = 0, newest_plain = 0;
  Words write{}, read{}, other{}, plain{}, readers{}, parts{};

  // Numbers up to `none` are nobody's.
  Cell get(std::size_t w, std::uint32_t none) const {
    const std::uint32_t p = parts[w];
    const auto still = [&](std::uint32_t number) { return number > none ? number : 0; };
    const auto lane = [&](unsigned at) { return static_cast<std::uint8_t>(p >> at & 31); };
    const auto bytes = [&](unsigned at) { return static_cast<std::uint8_t>(p >> at & 15); };
    Cell c{still(write[w]),    still(read[w]),    still(other[w]),   still(plain[w]),
           readers[w],         lane(kWriteLane),  lane(kOtherLane),  lane(kPlainLane),
           bytes(kWriteBytes), bytes(kReadBytes), bytes(kPlainBytes)};
    if (c.write == 0) c.write_bytes = 0;
    if (c.read == 0) c.readers = c.read_bytes = 0;
    return c;
  }
  void put(std::size_t w, const Cell& c) {
    write[w] = c.write;
    read[w] = c.read;
    other[w] = c.other;
    plain[w] = c.plain;
    newest_write = std::max(newest_write, c.write);
    newest_read = std::max({newest_read, c.read, c.other});
    newest_plain = std::max(newest_plain, c.plain);
    readers[w] = c.readers;
    parts[w] = std::uint32_t{c.write_lane} << kWriteLane | std::uint32_t{c.other_lane} << kOtherLane |
               std::uint32_t{c.plain_lane} << kPlainLane | std::uint32_t{c.write_bytes} << kWriteBytes |
               std::uint32_t{c.read_bytes} << kReadBytes | std::uint32_t{c.plain_bytes} << kPlainBytes;
  }
};

// One more access to a word, where a cell cannot hold all that matters: other bytes, or several threads in kernels
// where some may be ordered and others not.
struct MoreAccess {
  std::uint32_t record = 0;
  std::uint8_t lane = 0, bytes = 0;
  bool write = false;
};

// Of one block's shared memory, or of the global memory that a launch has touched. Words by address / 4. What it holds
// is forgotten without touching it: numbers of records go on, and the old ones are nobody's.
class Shadow {
 public:
  ShadowPage& page(std::uint64_t word) {
    const std::uint64_t number = word / ShadowPage::kWords;
    Near& near = near_[number % near_.size()];
    if (near.page && near.number == number) return *near.page;
    ShadowPage*& slot = pages_[number];
    if (!slot) slot = &new_page();
    near = {number, slot};
    return *slot;
  }
  std::vector<MoreAccess>* more(std::uint64_t word) {
    if (more_.empty()) return nullptr;
    const auto it = more_.find(word);
    return it == more_.end() ? nullptr : &it->second;
  }
  bool has_more() const { return !more_.empty(); }
  void add_more(std::uint64_t word, const MoreAccess& access) {
    constexpr std::size_t kMost = 64;
    std::vector<MoreAccess>& list = more_[word];
    if (list.size() == kMost) list.erase(list.begin());
    list.push_back(access);
  }

  std::uint32_t none() const { return none_; }  // numbers up to this one are of what is forgotten
  std::uint32_t next() const { return none_ + static_cast<std::uint32_t>(records_.size()) + 1; }
  const Record& record(std::uint32_t number) const { return records_[number - none_ - 1]; }
  Record& add() { return records_.emplace_back(); }  // whose number was next()
  void forget();

 private:
  struct Near {
    std::uint64_t number = 0;
    ShadowPage* page = nullptr;
  };
  // Zeroes of the system, which costs least: a large shadow is written once.
  struct Slab {
    explicit Slab(std::size_t pages);
    Slab(Slab&& other) noexcept : pages(std::exchange(other.pages, nullptr)), count(other.count) {}
    Slab& operator=(Slab&&) = delete;
    ~Slab();
    ShadowPage* pages;
    std::size_t count, used = 0;
  };
  ShadowPage& new_page();

  std::array<Near, 64> near_{};  // pages that were used lately
  std::unordered_map<std::uint64_t, ShadowPage*> pages_;
  std::vector<Slab> slabs_;
  std::unordered_map<std::uint64_t, std::vector<MoreAccess>> more_;
  std::uint32_t none_ = 0;
  std::vector<Record> records_;
};

}  // namespace warpgrind::checkers
