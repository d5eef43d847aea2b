// QuickAccess: comparison of rows with the parts of their lines.
#include <algorithm>
#include <bit>
#include <iterator>

#include "base/assert.h"
#include "base/cpu.h"
#include "checkers/race_quick.h"

namespace warpgrind::checkers {

namespace {

std::uint32_t first_bits(unsigned n) {
  return n >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << n) - 1;
}

// Expands each bit of `lanes` to (1 << shift) bits. Returns `count` of these bits (at most 32), from bit `from` on.
std::uint32_t words_of(LaneMask lanes, unsigned shift, unsigned from, unsigned count) {
  if (shift == 0) return lanes >> from & first_bits(count);
  constexpr std::uint64_t kFirst[] = {~0ull, ~0ull / 3, ~0ull / 15, ~0ull / 255, ~0ull / 65535};  // each lane's first
  WG_ASSERT(shift < std::size(kFirst));
  const std::uint64_t words = _pdep_u64(lanes >> (from >> shift), kFirst[shift]) * ((1ull << (1u << shift)) - 1);
  return static_cast<std::uint32_t>(words >> (from & ((1u << shift) - 1))) & first_bits(count);
}

}  // namespace

// Stores the part in an unused or forgotten slot. False: there is none.
bool QuickAccess::add_part(Line& line, const LinePart& now) const {
  for (unsigned i = 0; i < Line::kParts; ++i) {
    if (line.records[i] > none_) continue;
    line.records[i] = of_.record;
    line.parts[i] = now;
    return true;
  }
  return false;
}

// As write_cell(), for several words.
bool QuickAccess::write_parts(Line& line, const LinePart& now) {
  LinePart* same = nullptr;
  std::uint32_t* room = nullptr;
  bool replaces = false;
  for (unsigned i = 0; i < Line::kParts; ++i) {
    LinePart& p = line.parts[i];
    std::uint32_t& record = line.records[i];
    const bool same_lanes = p.same_lanes(now) && p.rows == 1;
    if (record <= none_) {
      room = &record;
    } else if (record == of_.record && same_lanes) {
      same = &p;
    } else if ((p.words & now.words) != 0) {
      if (!ordered(record, same_lanes)) return false;
      replaces = true;
      if ((p.words & ~now.words) == 0) room = &record;
    }
  }
  if (!same && !room) return false;
  if (replaces)
    for (unsigned i = 0; i < Line::kParts; ++i)
      if (&line.parts[i] != same && (line.parts[i].words &= ~now.words) == 0) line.records[i] = 0;
  if (same) {
    same->words |= now.words;
    return true;
  }
  *room = of_.record;
  line.parts[static_cast<std::size_t>(room - line.records.data())] = now;
  return true;
}

// `words`: words whose first reader (`part`) is unordered with this access. Removes those that keep another reader.
// False: only cells can describe the result.
bool QuickAccess::read_beside(const Line& line, unsigned part, std::uint32_t& words) const {
  for (unsigned i = 0; i < Line::kParts; ++i) {
    const LinePart& p = line.parts[i];
    if (line.records[i] <= none_ || p.field != LinePart::Field::other || (p.words & words) == 0) continue;
    if (!keeps_other(line.records[i], line.records[part])) return false;
    words &= ~p.words;
  }
  return true;
}

// As read_cell(), for several words.
bool QuickAccess::read_parts(Line& line, const LinePart& now) {
  using Field = LinePart::Field;
  std::uint32_t again = 0, beside = 0;
  LinePart* same = nullptr;
  unsigned first_reader = Line::kParts;
  for (unsigned i = 0; i < Line::kParts; ++i) {
    LinePart& p = line.parts[i];
    const std::uint32_t record = line.records[i], both = p.words & now.words;
    if (record <= none_ || p.field == Field::other) continue;
    const bool same_lanes = p.same_lanes(now);
    if (record == of_.record && same_lanes && p.rows == now.rows) {
      same = &p;
      again = both;
    } else if (both == 0) {
      continue;
    } else if (p.field == Field::write) {
      if (of_.non_coherent || !ordered(record, same_lanes && now.rows == 1)) return false;
    } else if (record == of_.record) {
      return false;  // it would add lanes to some words of a part
    } else if (!ordered(record, same_lanes && (p.rows & ~now.rows) == 0)) {
      // Same warp: each word's lanes decide whether its reader is replaced.
      if (of_.exact || first_reader != Line::kParts || known(record) == Known::own_warp) return false;
      first_reader = i;
      beside = both;
    }
  }
  if (again == now.words) return true;
  std::uint32_t others = beside;
  if (beside != 0 && !read_beside(line, first_reader, others)) return false;
  return note_read(line, now, now.words & ~again & ~beside, others, same);
}

// Records this access as the first reader of `words` and the other reader of `others`. same: a part that `words` can
// extend. False: cells are needed, and the whole access must be recorded there.
bool QuickAccess::note_read(Line& line, const LinePart& now, std::uint32_t words, std::uint32_t others,
                            LinePart* same) {
  using Field = LinePart::Field;
  for (unsigned i = 0; i < Line::kParts && words != 0; ++i) {
    LinePart& p = line.parts[i];
    if (line.records[i] <= none_ || p.field == Field::write || (p.words & words) == 0) continue;
    // The first readers are ordered before this access. If the other reader is not, it stays.
    if (p.field == Field::other && !ordered(line.records[i], p.same_lanes(now) && now.rows == 1)) continue;
    if ((p.words &= ~words) == 0) line.records[i] = 0;
  }
  LinePart part = now;
  part.words = words;
  if (words != 0 && same)
    same->words |= words;
  else if (words != 0 && !add_part(line, part))
    return false;
  part.words = others;
  part.rows = 1;
  part.field = Field::other;
  return others == 0 || add_part(line, part);
}

template <bool kWrites>
bool QuickAccess::touch(Line& line, const LinePart& now) {
  if (line.by_word && line.empty(none_)) line.by_word = false;
  if (!line.by_word) {
    if (kWrites ? write_parts(line, now) : read_parts(line, now)) return true;
    shadow_.fill_cells(line);
  }
  if (line.has_more(none_)) return false;
  return kWrites ? write_cells(line, now) : read_cells(line, now);
}

template <bool kWrites>
bool QuickAccess::row(std::uint64_t first, unsigned words, unsigned lane0, LaneMask lanes, unsigned shift,
                      LaneMask rows) {
  WG_DEBUG_ASSERT(lane0 < kWarpSize && (rows & 1) != 0);
  constexpr LinePart::Field kField = kWrites ? LinePart::Field::write : LinePart::Field::read;
  for (unsigned done = 0; done < words;) {
    const auto in_line = static_cast<unsigned>(first + done) % Line::kWords;
    const unsigned count = std::min(Line::kWords - in_line, words - done);
    const int from = static_cast<int>((lane0 << shift) + done) - static_cast<int>(in_line);
    const LinePart now{words_of(lanes, shift, done, count) << in_line, rows, static_cast<std::int16_t>(from),
                       static_cast<std::uint8_t>(1u << shift), kField};
    if (now.words != 0 && !touch<kWrites>(shadow_.line(first + done), now)) return false;
    done += count;
  }
  return true;
}

bool QuickAccess::read_row(std::uint64_t first, unsigned words, unsigned lane0, LaneMask lanes, unsigned shift,
                           LaneMask rows) {
  return row<false>(first, words, lane0, lanes, shift, rows);
}
bool QuickAccess::write_row(std::uint64_t first, unsigned words, unsigned lane0, LaneMask lanes, unsigned shift) {
  return row<true>(first, words, lane0, lanes, shift, 1);
}

template <bool kWrites>
bool QuickAccess::strided(std::uint64_t first, unsigned stride, unsigned width, unsigned lane0, LaneMask lanes) {
  constexpr LinePart::Field kField = kWrites ? LinePart::Field::write : LinePart::Field::read;
  std::uint64_t begin = first - first % Line::kWords;
  std::uint32_t words = 0;  // of the line that begins there
  const auto touched = [&] {
    const auto from = static_cast<std::int64_t>(std::uint64_t{lane0} * stride + begin - first);
    return words == 0 || touch<kWrites>(shadow_.line(begin), {words, 1, static_cast<std::int16_t>(from),
                                                              static_cast<std::uint8_t>(stride), kField});
  };
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const std::uint64_t word = first + static_cast<unsigned>(std::countr_zero(left)) * std::uint64_t{stride};
    for (std::uint64_t w = word; w < word + width; ++w) {
      if (w - begin >= Line::kWords) {
        if (!touched()) return false;
        words = 0;
        begin = w - w % Line::kWords;
      }
      words |= std::uint32_t{1} << (w - begin);
    }
  }
  return touched();
}

bool QuickAccess::read_strided(std::uint64_t first, unsigned stride, unsigned width, unsigned lane0, LaneMask lanes) {
  return strided<false>(first, stride, width, lane0, lanes);
}
bool QuickAccess::write_strided(std::uint64_t first, unsigned stride, unsigned width, unsigned lane0, LaneMask lanes) {
  return strided<true>(first, stride, width, lane0, lanes);
}

bool QuickAccess::read_word(std::uint64_t word, LaneMask lanes) {
  WG_DEBUG_ASSERT(lanes != 0);
  const auto w = static_cast<unsigned>(word) % Line::kWords;
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  if ((lanes & (lanes - 1)) == 0) return read_column(word * 4, 0, 1, lane, 1);
  return touch<false>(shadow_.line(word),
                      {std::uint32_t{1} << w, lanes >> lane, static_cast<std::int16_t>(lane * LinePart::kOneLane),
                       LinePart::kOneLane, LinePart::Field::read});
}
bool QuickAccess::write_word(std::uint64_t word, unsigned lane) {
  return write_column(word * 4, 0, 1, lane, 1);
}

}  // namespace warpgrind::checkers
