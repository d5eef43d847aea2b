// Whole words that a warp reads or writes with ordinary instructions: nearly all of them were touched last by the same
// thread, or before something that orders all of the warp after it. Rows are held against the parts of their lines
// (race_lines.cpp), else against cells, sixteen at once (race_quick.cpp). What is not settled so is compared thread by
// thread (race_launch.h).
#pragma once

#include <array>
#include <cstdint>

#include "checkers/race_shadow.h"

namespace warpgrind::checkers {

// One instruction of a warp.
class QuickAccess {
 public:
  struct Of {
    std::uint32_t warp = 0, record = 0;  // of the accesses now
    bool shared = false;
    bool exact = false;         // each reader matters (LaunchRaces::is_exact)
    bool non_coherent = false;  // it reads by the read-only path
  };
  QuickAccess(Shadow& shadow, const BlockOrder& block, const WarpOrder& warp, const Of& of)
      : shadow_(shadow), block_(block), warp_(warp), of_(of), none_(shadow.none()) {}

  // True: in no conflict, and noted. False: some may be noted, and all are to be compared; what is noted twice changes
  // nothing. read_word: by all of `lanes`.
  bool read_word(std::uint64_t word, LaneMask lanes);
  bool write_word(std::uint64_t word, unsigned lane);
  // `words` words from `first` on, (1 << shift) words for each lane from lane0 on, of the lanes of `lanes` (bit 0 is
  // lane0). rows: bit 0, and one at the distance of each other lane that reads the same.
  bool read_row(std::uint64_t first, unsigned words, unsigned lane0, LaneMask lanes, unsigned shift, LaneMask rows);
  bool write_row(std::uint64_t first, unsigned words, unsigned lane0, LaneMask lanes, unsigned shift);
  // `width` words for each lane, those of the next one `stride` words further: up to kMostStride, from width on.
  static constexpr unsigned kMostStride = 16;  // beyond it lines would hold one lane's words
  bool read_strided(std::uint64_t first, unsigned stride, unsigned width, unsigned lane0, LaneMask lanes);
  bool write_strided(std::uint64_t first, unsigned stride, unsigned width, unsigned lane0, LaneMask lanes);
  // `width` words for each lane, those of the next one `step` bytes further.
  bool read_column(std::uint64_t address, std::int64_t step, unsigned width, unsigned lane0, LaneMask lanes);
  bool write_column(std::uint64_t address, std::int64_t step, unsigned width, unsigned lane0, LaneMask lanes);

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

  // Lines: of the words of `now`, which are of one line.
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
