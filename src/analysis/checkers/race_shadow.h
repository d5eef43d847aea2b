// Shadow memory of the race detector: for each 4-byte word, its last write and the reads since then.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/assert.h"
#include "checkers/race_order.h"

namespace warpgrind::checkers {

// Properties shared by all similar accesses of one site.
struct AccessKind {
  std::uint32_t site = 0;
  std::uint32_t bytes = 0;  // per lane; 0: lanes differ (Access::sizes)
  AccessType type = AccessType::load;
  events::MemoryOrder order = events::MemoryOrder::weak;
  events::MemoryScope scope = events::MemoryScope::none;
  bool non_coherent = false, bulk = false;
  bool writes() const { return type != AccessType::load; }
  bool atomic() const { return type == AccessType::atomic || type == AccessType::reduction; }
  bool strong() const { return order != events::MemoryOrder::weak; }
};

// Accesses of one warp at one site that differ only in their lanes.
struct Record : AccessKind {
  Stamp stamp;
};

// Accesses to one word, as record numbers (Shadow::record); 0: none. `other`: a second reader since the last write,
// from another warp (another block if possible). `plain`: if `write` is an atomic, the last write before it that was
// none: later atomics do not conflict with `write`, but may conflict with `plain`.
struct Cell {
  std::uint32_t write = 0, read = 0, other = 0, plain = 0;
  LaneMask readers = 0;  // lanes of `read`
  std::uint8_t write_lane = 0, other_lane = 0, plain_lane = 0;
  std::uint8_t write_bytes = 0, read_bytes = 0, plain_bytes = 0;  // masks of the word's bytes
};

// One more access to a word, if its cell cannot hold all that matters: accesses to other bytes, or by several threads
// of which only some may be ordered.
struct MoreAccess {
  std::uint32_t record = 0;
  std::uint8_t lane = 0, bytes = 0;
  bool write = false;
};

// The additional accesses to one word. Four threads that write one byte each need three.
class MoreList {
 public:
  std::span<const MoreAccess> all() const { return {many_.empty() ? few_.data() : many_.data(), size()}; }
  bool empty() const { return size() == 0; }
  void clear() {
    used_ = 0;
    many_.clear();
  }
  void add(const MoreAccess& access) {
    constexpr std::size_t kMost = 64;
    if (many_.empty() && used_ < few_.size()) {
      few_[used_++] = access;
      return;
    }
    if (many_.empty()) many_.assign(few_.begin(), few_.end());
    if (many_.size() == kMost) many_.erase(many_.begin());
    many_.push_back(access);
  }
  // Removes these bytes from all accesses.
  void forget(std::uint8_t bytes) {
    const auto none_left = [&](MoreAccess& m) { return (m.bytes = static_cast<std::uint8_t>(m.bytes & ~bytes)) == 0; };
    if (many_.empty()) {
      used_ = static_cast<std::size_t>(std::remove_if(few_.begin(), few_.begin() + used_, none_left) - few_.begin());
      return;
    }
    std::erase_if(many_, none_left);
    if (many_.empty()) used_ = 0;
  }

 private:
  std::size_t size() const { return many_.empty() ? used_ : many_.size(); }
  std::array<MoreAccess, 4> few_{};
  std::size_t used_ = 0;          // of few_
  std::vector<MoreAccess> many_;  // empty: all are in few_
};
// By word of the line.
using LineMore = std::array<MoreList, 32>;

// Cells of 32 adjacent words, one array per field, so that 16 words of a field are one vector. 24 bytes per word.
struct alignas(64) LineCells {
  static constexpr unsigned kWords = 32;
  // Bit positions in `parts` of the lanes (5 bits each) and the byte masks (4 bits each).
  static constexpr unsigned kWriteLane = 0, kOtherLane = 5, kPlainLane = 10;
  static constexpr unsigned kWriteBytes = 16, kReadBytes = 20, kPlainBytes = 24;
  using Words = std::array<std::uint32_t, kWords>;
  Words write, read, other, plain, readers, parts;
  LineMore* more;  // of the line; null: never used
};

// Words of a line that one record touched as a whole: the same content as one field of their cells. The lane of word w
// is (w + first) / stride.
struct LinePart {
  enum class Field : std::uint8_t { write, read, other };
  static constexpr unsigned kOneLane = 64;  // stride if all words have the same lane
  std::uint32_t words = 0;                  // bit w: word w of the line
  LaneMask rows = 1;                        // bit d: lane + d touched the word too; bit 0: the word's lane itself
  std::int16_t first = 0;
  std::uint8_t stride = 1;  // words from one lane to the next
  Field field = Field::write;

  // n / stride == n * reciprocal() >> kReciprocalBits, if n and stride are at most a few thousand.
  static constexpr unsigned kReciprocalBits = 20;
  std::uint32_t reciprocal() const { return ((1u << kReciprocalBits) + stride - 1) / stride; }
  unsigned lane(unsigned w) const { return static_cast<unsigned>(static_cast<int>(w) + first) / stride; }
  bool same_lanes(const LinePart& other) const { return first == other.first && stride == other.stride; }
};

// Known accesses to 32 words. Warps mostly touch whole rows. Then a few parts describe them, and the cells (12 times as
// much memory) are not used. Otherwise the cells are used, until all their records are forgotten.
struct alignas(64) Line {
  static constexpr unsigned kWords = LineCells::kWords, kParts = 3;
  // Indices in `records` while the cells are used: the newest record of any word. If that is forgotten, the field of
  // the cells need not be read.
  static constexpr unsigned kNewestWrite = 0, kNewestRead = 1, kNewestPlain = 2;
  std::array<std::uint32_t, kParts> records;  // of each part
  std::array<LinePart, kParts> parts;
  LineCells* cells;  // null: never used
  bool by_word;      // the cells are in use, not the parts
  // Number of forgotten records, plus 1, when a word of the line got more accesses (Shadow::add_more()): it has none if
  // others were forgotten since then.
  std::uint32_t more_since;

  bool has_more(std::uint32_t none) const { return more_since == none + 1; }
  bool empty(std::uint32_t none) const { return records[0] <= none && records[1] <= none && records[2] <= none; }
  // Read and write the cell of word w. Record numbers up to `none` are forgotten.
  Cell get(unsigned w, std::uint32_t none) const;
  void put(unsigned w, const Cell& c);
};
static_assert(sizeof(Line) == 64);  // a cache line

void* zeroes(std::size_t bytes);
void give_back(void* zeroes, std::size_t bytes);

// Pool of zero-initialised objects with stable addresses. The memory is zero pages of the system (mmap), which is
// cheapest: a large shadow is then written once, not twice.
template <class T>
class Slabs {
 public:
  T& add() {
    constexpr std::size_t kMost = 1024;  // objects per slab; slabs start with kFirst and double
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
  std::size_t used_ = 0;  // objects of the last slab
};

// Shadow of one block's shared memory, or of the global memory that a launch has touched. A word's number is address /
// 4. forget() does not touch the lines: record numbers continue, and the old numbers become invalid.
class Shadow {
 public:
  // Line of a word, which has the index word % Line::kWords in it.
  Line& line(std::uint64_t word) {
    const std::uint64_t number = word / kPageWords;
    const Near& near = near_[number % near_.size()];
    Page& page = near.page && near.number == number ? *near.page : far_page(number);
    return page[word % kPageWords / Line::kWords];
  }
  // As line(), with the cells in use; fills them in if necessary.
  Line& by_word(std::uint64_t word) {
    Line& l = line(word);
    if (!l.by_word) fill_cells(l);
    return l;
  }
  void fill_cells(Line& line);
  // `line`: of the word. Null: the word has none.
  MoreList* more(const Line& line, std::uint64_t word) const {
    if (!line.has_more(none_)) return nullptr;
    MoreList& list = (*line.cells->more)[word % Line::kWords];
    return list.empty() ? nullptr : &list;
  }
  void add_more(Line& line, std::uint64_t word, const MoreAccess& access);

  std::uint32_t none() const { return none_; }  // numbers up to this one are forgotten
  std::uint32_t next() const { return none_ + static_cast<std::uint32_t>(records_.size()) + 1; }
  const Record& record(std::uint32_t number) const {
    WG_DEBUG_ASSERT(number > none_ && number < next());
    return records_[number - none_ - 1];
  }
  Record& add() { return records_.emplace_back(); }  // the record that next() numbered
  void forget();

 private:
  static constexpr std::size_t kPageWords = 1024;
  using Page = std::array<Line, kPageWords / Line::kWords>;
  struct Near {
    std::uint64_t number = 0;
    Page* page = nullptr;
  };
  Page& far_page(std::uint64_t number);

  std::array<Near, 64> near_{};  // direct-mapped cache of recently used pages
  std::unordered_map<std::uint64_t, Page*> pages_;
  Slabs<Page> all_pages_;
  Slabs<LineCells> all_cells_;
  std::vector<std::unique_ptr<LineMore>> more_;
  std::uint32_t none_ = 0;
  std::vector<Record> records_;
};

}  // namespace warpgrind::checkers
