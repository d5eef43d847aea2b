// What is remembered of each 4-byte word of memory: who wrote it last, and who has read it since.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "checkers/race_order.h"

namespace warpgrind::checkers {

// What all accesses of a site that are alike share.
struct AccessKind {
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

// Accesses of one warp at one site that nothing can tell apart but their lanes.
struct Record : AccessKind {
  Stamp stamp;
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

// 32 neighbours' cells, each field of its own, so that a warp's 16 words are one vector: 24 bytes a word.
struct alignas(64) LineCells {
  static constexpr unsigned kWords = 32;
  // Of `parts`: where the lanes (5 bits each) and the masks of bytes (4 bits each) are.
  static constexpr unsigned kWriteLane = 0, kOtherLane = 5, kPlainLane = 10;
  static constexpr unsigned kWriteBytes = 16, kReadBytes = 20, kPlainBytes = 24;
  using Words = std::array<std::uint32_t, kWords>;
  Words write, read, other, plain, readers, parts;
};

// Words of a line that one record touched, whole, as one field of their cells knows them. The lane of word w is
// (w + first) / stride.
struct LinePart {
  enum class Field : std::uint8_t { write, read, other };
  static constexpr unsigned kOneLane = 64;  // as stride: the same for all words
  std::uint32_t words = 0;                  // bit w: word w of the line
  LaneMask rows = 1;                        // the lane of the word, and those at these distances from it
  std::int16_t first = 0;
  std::uint8_t stride = 1;  // words from a lane's to the next one's
  Field field = Field::write;

  // That / stride is * reciprocal() >> kReciprocalBits, as long as neither is above a few thousand.
  static constexpr unsigned kReciprocalBits = 20;
  std::uint32_t reciprocal() const { return ((1u << kReciprocalBits) + stride - 1) / stride; }
  unsigned lane(unsigned w) const { return static_cast<unsigned>(static_cast<int>(w) + first) / stride; }
  bool same_lanes(const LinePart& other) const { return first == other.first && stride == other.stride; }
};

// What is known of 32 words. Warps mostly touch whole rows: then a few parts say it all, and the cells, 12 times as
// much memory, are not looked at. Else the cells hold it, until all of it is forgotten.
struct alignas(64) Line {
  static constexpr unsigned kWords = LineCells::kWords, kParts = 3;
  // Of `records`, where the cells are used: the newest of any word. What is old need not be looked at.
  static constexpr unsigned kNewestWrite = 0, kNewestRead = 1, kNewestPlain = 2;
  std::array<std::uint32_t, kParts> records;  // of each part
  std::array<LinePart, kParts> parts;
  LineCells* cells;  // once they have been used
  bool by_word;      // the cells are used

  bool empty(std::uint32_t none) const { return records[0] <= none && records[1] <= none && records[2] <= none; }
  // Of its cells. Numbers up to `none` are nobody's.
  Cell get(unsigned w, std::uint32_t none) const;
  void put(unsigned w, const Cell& c);
};
static_assert(sizeof(Line) == 64);  // of the cache

// One more access to a word, where a cell cannot hold all that matters: other bytes, or several threads in kernels
// where some may be ordered and others not.
struct MoreAccess {
  std::uint32_t record = 0;
  std::uint8_t lane = 0, bytes = 0;
  bool write = false;
};

void* zeroes(std::size_t bytes);
void give_back(void* zeroes, std::size_t bytes);

// Zeroes of the system, which costs least: a large shadow is written once. They stay where they are.
template <class T>
class Slabs {
 public:
  T& add() {
    constexpr std::size_t kMost = 1024;  // at a time; the first are few
    if (slabs_.empty() || used_ == slabs_.back().count) {
      const std::size_t count = std::min(kMost, kFirst << std::min<std::size_t>(slabs_.size(), 10));
      slabs_.push_back({static_cast<T*>(zeroes(count * sizeof(T))), count});
      used_ = 0;
    }
    return slabs_.back().first[used_++];
  }
  Slabs() = default;
  Slabs(const Slabs&) = delete;
  Slabs& operator=(const Slabs&) = delete;
  ~Slabs() {
    for (const Slab& s : slabs_) give_back(s.first, s.count * sizeof(T));
  }

 private:
  static constexpr std::size_t kFirst = 4;
  struct Slab {
    T* first;
    std::size_t count;
  };
  std::vector<Slab> slabs_;
  std::size_t used_ = 0;  // of the last
};

// Of one block's shared memory, or of the global memory that a launch has touched. Words by address / 4. What it holds
// is forgotten without touching it: numbers of records go on, and the old ones are nobody's.
class Shadow {
 public:
  // Of a word: word % Line::kWords is its number there.
  Line& line(std::uint64_t word) {
    const std::uint64_t number = word / kPageWords;
    const Near& near = near_[number % near_.size()];
    Page& page = near.page && near.number == number ? *near.page : far_page(number);
    return page[word % kPageWords / Line::kWords];
  }
  // Of which the cells are used: they are filled in.
  Line& by_word(std::uint64_t word) {
    Line& l = line(word);
    if (!l.by_word) fill_cells(l);
    return l;
  }
  void fill_cells(Line& line);
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
  static constexpr std::size_t kPageWords = 1024;
  using Page = std::array<Line, kPageWords / Line::kWords>;
  struct Near {
    std::uint64_t number = 0;
    Page* page = nullptr;
  };
  Page& far_page(std::uint64_t number);

  std::array<Near, 64> near_{};  // pages that were used lately
  std::unordered_map<std::uint64_t, Page*> pages_;
  Slabs<Page> all_pages_;
  Slabs<LineCells> all_cells_;
  std::unordered_map<std::uint64_t, std::vector<MoreAccess>> more_;
  std::uint32_t none_ = 0;
  std::vector<Record> records_;
};

}  // namespace warpgrind::checkers
