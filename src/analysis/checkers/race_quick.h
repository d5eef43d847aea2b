// Fast race check for whole words that a warp reads or writes with ordinary instructions. Nearly all such words were
// last touched by the same thread, or before a barrier that orders the whole warp after it. Rows of words are compared
// with the parts of their lines (race_lines.cpp), other words with cells, 16 at a time (race_quick.cpp). What remains
// undecided is compared thread by thread (race_launch.h).
#pragma once

#include <array>
#include <cstdint>

#include "checkers/race_shadow.h"

namespace warpgrind::checkers {

// One instruction of a warp.
class QuickAccess {
 public:
  struct Of {
    std::uint32_t warp = 0, record = 0;  // of the current access
    bool shared = false;
    bool exact = false;         // each reader matters (LaunchRaces::is_exact)
    bool non_coherent = false;  // read through the read-only path
    std::uint8_t owner = 0;     // Stamp::owner
  };
  QuickAccess(Shadow& shadow, const BlockOrder& block, const WarpOrder& warp, const Of& of)
      : shadow_(shadow), block_(block), warp_(warp), of_(of), none_(shadow.none()) {}

  // True: no conflict, and the access is recorded. False: undecided. The caller must compare the whole access, of which
  // a part may be recorded; recording it twice does no harm. read_word: all of `lanes` read the word.
  bool read_word(std::uint64_t word, LaneMask lanes);
  bool write_word(std::uint64_t word, unsigned lane);
  // `words` words from `first` on, (1 << shift) words for each lane from lane0 on. Only the lanes in `lanes` access
  // theirs (bit 0 is lane0). rows: bit d is set if lane + d reads the same words as lane; bit 0 is always set.
  bool read_row(std::uint64_t first, unsigned words, unsigned lane0, LaneMask lanes, unsigned shift, LaneMask rows);
  bool write_row(std::uint64_t first, unsigned words, unsigned lane0, LaneMask lanes, unsigned shift);
  // `width` words for each lane; lanes are `stride` words apart. width <= stride <= kMostStride.
  static constexpr unsigned kMostStride = 16;  // beyond it, a line would hold words of one lane only
  bool read_strided(std::uint64_t first, unsigned stride, unsigned width, unsigned lane0, LaneMask lanes);
  bool write_strided(std::uint64_t first, unsigned stride, unsigned width, unsigned lane0, LaneMask lanes);
  // `width` words for each lane; lanes are `step` bytes apart.
  bool read_column(std::uint64_t address, std::int64_t step, unsigned width, unsigned lane0, LaneMask lanes);
  bool write_column(std::uint64_t address, std::int64_t step, unsigned width, unsigned lane0, LaneMask lanes);
  // `width` words for each lane, at any addresses. They are multiples of 4.
  bool read_scattered(const std::uint64_t* addresses, unsigned width, LaneMask lanes);
  bool write_scattered(const std::uint64_t* addresses, unsigned width, LaneMask lanes);

 private:
  enum class Known : std::uint8_t { foreign, own_warp, settled };
  Known known(std::uint32_t record) {
    const std::size_t slot = record % kSlots;
    if (memo_[slot].record != record) memo_[slot] = {record, find_out(shadow_.record(record))};
    return memo_[slot].known;
  }
  Known find_out(const Record& record) const;
  std::uint32_t still(std::uint32_t record) const { return record > none_ ? record : 0; }
  bool same_thread(std::uint32_t record, bool one_lane) { return one_lane && known(record) == Known::own_warp; }
  bool ordered(std::uint32_t record, bool same_lanes) {
    const Known k = known(record);
    return k == Known::settled || (same_lanes && k == Known::own_warp);
  }

  // Lines. `now`: the words of the access that lie in `line`.
  template <bool kWrites>
  bool row(std::uint64_t first, unsigned words, unsigned lane0, LaneMask lanes, unsigned shift, LaneMask rows);
  template <bool kWrites>
  bool strided(std::uint64_t first, unsigned stride, unsigned width, unsigned lane0, LaneMask lanes);
  template <bool kWrites>
  bool touch(Line& line, const LinePart& now);
  bool write_parts(Line& line, const LinePart& now);
  bool read_parts(Line& line, const LinePart& now);
  bool read_beside(const Line& line, unsigned part, std::uint32_t& words) const;
  bool note_read(Line& line, const LinePart& now, std::uint32_t words, std::uint32_t others, LinePart* same);
  bool add_part(Line& line, const LinePart& now) const;

  // Cells.
  struct Chunk;  // up to 16 words
  struct Classes;
  template <bool kWrites>
  bool column(std::uint64_t address, std::int64_t step, unsigned width, unsigned lane0, LaneMask lanes);
  template <bool kWrites>
  bool words(std::uint64_t first, unsigned width, unsigned lane);
  template <bool kWrites>
  bool scattered(const std::uint64_t* addresses, unsigned width, LaneMask lanes);
  bool read_cell(Line& line, unsigned w, LaneMask lanes);
  bool write_cell(Line& line, unsigned w, unsigned lane);
  bool read_cells(Line& line, const LinePart& now);
  bool write_cells(Line& line, const LinePart& now);
  void note_other(LineCells& cells, unsigned w, unsigned lane) const;
  bool keeps_other(std::uint32_t other, std::uint32_t read) const;
  void forget_other(LineCells& cells, unsigned w, LaneMask lanes);
  Classes classify(const std::uint32_t* records, unsigned which);
  bool read_chunk(const Chunk& c);
  bool write_chunk(const Chunk& c);

  static constexpr std::size_t kSlots = 4;
  struct Memo {
    std::uint32_t record = 0;
    Known known = Known::foreign;
  };
  Shadow& shadow_;
  const BlockOrder& block_;
  const WarpOrder& warp_;
  const Of of_;
  const std::uint32_t none_;
  std::array<Memo, kSlots> memo_{};
};

}  // namespace warpgrind::checkers
