// QuickAccess: comparison of words with their cells.
#include "checkers/race_quick.h"

#include <algorithm>
#include <bit>

#include "base/vectors.h"

namespace warpgrind::checkers {

namespace {

constexpr std::uint32_t kWhole = 15;  // all bytes of a word
constexpr unsigned kChunk = 16;
// Workaround for GCC 12 with sanitizers: it compiles loops over 16-bit masks so that they do not end, because the upper
// bits are stack garbage. Hence word by word.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kWordByWord = true;
#else
constexpr bool kWordByWord = false;
#endif

unsigned write_lane(std::uint32_t parts) {
  return parts >> LineCells::kWriteLane & 31;
}
unsigned other_lane(std::uint32_t parts) {
  return parts >> LineCells::kOtherLane & 31;
}
unsigned read_bytes(std::uint32_t parts) {
  return parts >> LineCells::kReadBytes & kWhole;
}
std::uint32_t with_read_bytes(std::uint32_t parts) {
  return parts | kWhole << LineCells::kReadBytes;
}

}  // namespace

struct QuickAccess::Chunk {
  Line& line;
  unsigned first;         // word of the line
  const LinePart& now;    // of the line
  std::uint16_t touched;  // words of the chunk
};

struct QuickAccess::Classes {
  std::uint16_t own_warp = 0, settled = 0;
};

QuickAccess::Known QuickAccess::find_out(const Record& r) const {
  const Stamp& q = r.stamp;
  if (q.block != block_.number || q.copy != 0) return Known::foreign;
  if (q.epoch < block_.epoch) return Known::settled;
  if (q.warp != of_.warp) return Known::foreign;
  if (q.tick < warp_.synced) return Known::settled;
  return q.owner == of_.owner ? Known::own_warp : Known::foreign;
}

// ---- Word by word

// Should `other` be kept rather than this access? A reader from another block than that of `read` is the most useful.
bool QuickAccess::keeps_other(std::uint32_t other, std::uint32_t read) const {
  if (of_.shared) return true;
  const std::uint64_t first = shadow_.record(read).stamp.block;
  return shadow_.record(other).stamp.block != first || block_.number == first;
}

void QuickAccess::note_other(LineCells& c, unsigned w, unsigned lane) const {
  if (const std::uint32_t o = still(c.other[w]); o != 0 && keeps_other(o, c.read[w])) return;
  c.other[w] = of_.record;
  c.parts[w] = (c.parts[w] & ~(31u << LineCells::kOtherLane)) | lane << LineCells::kOtherLane;
}

// The first readers are ordered before the access of `lanes`. Removes the other reader if it is, too.
void QuickAccess::forget_other(LineCells& c, unsigned w, LaneMask lanes) {
  const std::uint32_t o = still(c.other[w]);
  if (o != 0 && ordered(o, lanes == LaneMask{1} << other_lane(c.parts[w]))) c.other[w] = 0;
}

bool QuickAccess::read_cell(Line& line, unsigned w, LaneMask lanes) {
  LineCells& c = *line.cells;
  const std::uint32_t parts = c.parts[w], read = still(c.read[w]);
  if (line.records[Line::kNewestPlain] > none_ && still(c.plain[w]) != 0) return false;
  if (line.records[Line::kNewestWrite] > none_)
    if (const std::uint32_t written = still(c.write[w]);
        written != 0 && (of_.non_coherent || !ordered(written, lanes == LaneMask{1} << write_lane(parts))))
      return false;
  if (read == of_.record) {
    c.readers[w] |= lanes;
    return read_bytes(parts) == kWhole;
  }
  std::uint32_t& newest = line.records[Line::kNewestRead];
  newest = std::max(newest, of_.record);
  if (read == 0 || ordered(read, (c.readers[w] & ~lanes) == 0)) {
    c.read[w] = of_.record;
    c.readers[w] = lanes;
    c.parts[w] = with_read_bytes(parts);
    forget_other(c, w, lanes);
    return true;
  }
  if (of_.exact || read_bytes(parts) != kWhole) return false;
  note_other(c, w, static_cast<unsigned>(std::countr_zero(lanes)));
  return true;
}

bool QuickAccess::write_cell(Line& line, unsigned w, unsigned lane) {
  LineCells& c = *line.cells;
  const std::uint32_t parts = c.parts[w];
  const auto fine = [&](std::uint32_t record, bool one_lane) { return record <= none_ || ordered(record, one_lane); };
  if (line.records[Line::kNewestPlain] > none_ && still(c.plain[w]) != 0) return false;
  std::uint32_t& newest = line.records[Line::kNewestWrite];
  if (newest > none_ && !fine(c.write[w], write_lane(parts) == lane)) return false;
  if (line.records[Line::kNewestRead] > none_) {
    if (!fine(c.read[w], (c.readers[w] & ~(LaneMask{1} << lane)) == 0) || !fine(c.other[w], other_lane(parts) == lane))
      return false;
    c.read[w] = c.other[w] = c.readers[w] = 0;
  }
  newest = std::max(newest, of_.record);
  c.write[w] = of_.record;
  c.parts[w] = lane << LineCells::kWriteLane | kWhole << LineCells::kWriteBytes;
  return true;
}

// One lane's words. Single lanes of many warps touch the words of a line, so parts cannot describe them: cells only.
template <bool kWrites>
bool QuickAccess::words(std::uint64_t first, unsigned width, unsigned lane) {
  for (std::uint64_t word = first; word < first + width; ++word) {
    Line& line = shadow_.by_word(word);
    if (line.has_more(none_)) return false;
    const auto w = static_cast<unsigned>(word) % Line::kWords;
    if (!(kWrites ? write_cell(line, w, lane) : read_cell(line, w, LaneMask{1} << lane))) return false;
  }
  return true;
}

template <bool kWrites>
bool QuickAccess::column(std::uint64_t address, std::int64_t step, unsigned width, unsigned lane0, LaneMask lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(lanes));
    const std::uint64_t first = (address + static_cast<std::uint64_t>(step * static_cast<std::int64_t>(l))) / 4;
    if (!words<kWrites>(first, width, lane0 + l)) return false;
  }
  return true;
}

template <bool kWrites>
bool QuickAccess::scattered(const std::uint64_t* addresses, unsigned width, LaneMask lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(lanes));
    WG_DEBUG_ASSERT(addresses[l] % 4 == 0);
    if (!words<kWrites>(addresses[l] / 4, width, l)) return false;
  }
  return true;
}

bool QuickAccess::read_scattered(const std::uint64_t* addresses, unsigned width, LaneMask lanes) {
  return scattered<false>(addresses, width, lanes);
}
bool QuickAccess::write_scattered(const std::uint64_t* addresses, unsigned width, LaneMask lanes) {
  return scattered<true>(addresses, width, lanes);
}

bool QuickAccess::read_column(std::uint64_t address, std::int64_t step, unsigned width, unsigned lane0,
                              LaneMask lanes) {
  return column<false>(address, step, width, lane0, lanes);
}
bool QuickAccess::write_column(std::uint64_t address, std::int64_t step, unsigned width, unsigned lane0,
                               LaneMask lanes) {
  return column<true>(address, step, width, lane0, lanes);
}

// ---- Sixteen at once

namespace {

using Vector = avx512::Words;

// Loads `words` of one field; the others are 0.
WG_AVX512 inline Vector load(const LineCells::Words& from, unsigned first, std::uint16_t words) {
  return avx512::words(_mm512_maskz_loadu_epi32(words, from.data() + first));
}
WG_AVX512 inline void store(LineCells::Words& to, unsigned first, unsigned words, const Vector& v) {
  _mm512_mask_storeu_epi32(to.data() + first, static_cast<__mmask16>(words), reinterpret_cast<__m512i>(v));
}
// The lane of each word from `from` on.
WG_AVX512 inline Vector lanes_of(const LinePart& part, unsigned from) {
  const Vector iota = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return (iota + (from + part.first)) * part.reciprocal() >> LinePart::kReciprocalBits;
}

}  // namespace

// Classifies the words `which` by known() of their records.
WG_AVX512 QuickAccess::Classes QuickAccess::classify(const std::uint32_t* records, unsigned which) {
  const auto of_words = avx512::loaded<Vector>(records);
  Classes out;
  for (unsigned left = which; left != 0;) {
    const std::uint32_t record = records[std::countr_zero(left)];
    const unsigned same = left & avx512::signs(of_words == record);
    const Known k = known(record);
    if (k == Known::settled) out.settled |= static_cast<std::uint16_t>(same);
    if (k == Known::own_warp) out.own_warp |= static_cast<std::uint16_t>(same);
    left &= ~same;
  }
  return out;
}

WG_AVX512 bool QuickAccess::read_chunk(const Chunk& k) {
  LineCells& c = *k.line.cells;
  const std::uint16_t touched = k.touched;
  const unsigned first = k.first;
  const Vector lanes = lanes_of(k.now, first), bits = avx512::shifted_up(avx512::all(k.now.rows), lanes);
  const auto still = [&](const LineCells::Words& of)
                         WG_AVX512 { return avx512::signs(load(of, first, touched) > none_); };
  if (k.line.records[Line::kNewestPlain] > none_ && still(c.plain) != 0) return false;
  const Vector read = load(c.read, first, touched), parts = load(c.parts, first, touched);
  if (k.line.records[Line::kNewestWrite] > none_) {
    const unsigned written = still(c.write);
    if (written != 0 && of_.non_coherent) return false;
    const Classes of = classify(c.write.data() + first, written);
    const unsigned own = k.now.rows != 1 ? 0 : avx512::signs((parts & 31) == lanes);
    if ((written & ~(of.settled | (of.own_warp & own))) != 0) return false;
  }
  std::uint32_t& newest = k.line.records[Line::kNewestRead];
  newest = std::max(newest, of_.record);
  const Vector whole = avx512::all(kWhole << LineCells::kReadBytes), readers = load(c.readers, first, touched);
  const unsigned whole_read = avx512::signs((parts & whole) == whole);
  const unsigned again = touched & avx512::signs(read == of_.record);
  if ((again & ~whole_read) != 0) return false;
  unsigned replaced = touched & avx512::signs(read <= none_);
  if (const unsigned others = touched & ~again & ~replaced; others != 0) {
    const Classes of = classify(c.read.data() + first, others);
    const unsigned same_lanes = avx512::signs((readers & ~bits) == 0);
    replaced |= of.settled | (of.own_warp & same_lanes);
    const unsigned beside = others & ~replaced;
    if (beside != 0 && (of_.exact || (beside & ~whole_read) != 0)) return false;
    // In shared memory one other reader is enough.
    for (unsigned b = beside & ~(of_.shared ? still(c.other) : 0); b != 0; b &= b - 1) {
      const unsigned w = first + static_cast<unsigned>(std::countr_zero(b));
      note_other(c, w, k.now.lane(w));
    }
  }
  if (again != 0) store(c.readers, first, again, readers | bits);
  if (replaced == 0) return true;
  store(c.read, first, replaced, avx512::all(of_.record));
  store(c.readers, first, replaced, bits);
  store(c.parts, first, replaced, parts | whole);
  for (unsigned o = replaced & still(c.other); o != 0; o &= o - 1) {
    const unsigned w = first + static_cast<unsigned>(std::countr_zero(o));
    forget_other(c, w, k.now.rows << k.now.lane(w));
  }
  return true;
}

WG_AVX512 bool QuickAccess::write_chunk(const Chunk& k) {
  LineCells& c = *k.line.cells;
  const std::uint16_t touched = k.touched;
  const unsigned first = k.first;
  const Vector lanes = lanes_of(k.now, first), parts = load(c.parts, first, touched);
  const auto still = [&](const LineCells::Words& of)
                         WG_AVX512 { return avx512::signs(load(of, first, touched) > none_); };
  const auto bad = [&](const LineCells::Words& of, unsigned own) WG_AVX512 {
    const unsigned known = still(of);
    if (known == 0) return false;
    const Classes classes = classify(of.data() + first, known);
    return (known & ~(classes.settled | (classes.own_warp & own))) != 0;
  };
  if (k.line.records[Line::kNewestPlain] > none_ && still(c.plain) != 0) return false;
  std::uint32_t& newest = k.line.records[Line::kNewestWrite];
  if (newest > none_ && bad(c.write, avx512::signs((parts & 31) == lanes))) return false;
  if (k.line.records[Line::kNewestRead] > none_) {
    const Vector bits = avx512::shifted_up(avx512::all(1u), lanes), strangers = load(c.readers, first, touched) & ~bits;
    if (bad(c.read, avx512::signs(strangers == 0)) ||
        bad(c.other, avx512::signs((parts >> LineCells::kOtherLane & 31) == lanes)))
      return false;
    for (LineCells::Words* of : {&c.read, &c.other, &c.readers}) store(*of, first, touched, Vector{});
  }
  newest = std::max(newest, of_.record);
  store(c.write, first, touched, avx512::all(of_.record));
  store(c.parts, first, touched, lanes | kWhole << LineCells::kWriteBytes);
  return true;
}

// ---- Words of a line

bool QuickAccess::read_cells(Line& line, const LinePart& now) {
  if (kHaveAvx512 && !kWordByWord) {
    for (unsigned first = 0; first < Line::kWords; first += kChunk) {
      const auto touched = static_cast<std::uint16_t>(now.words >> first);
      if (touched != 0 && !read_chunk({line, first, now, touched})) return false;
    }
    return true;
  }
  for (std::uint32_t left = now.words; left != 0; left &= left - 1) {
    const auto w = static_cast<unsigned>(std::countr_zero(left));
    if (!read_cell(line, w, now.rows << now.lane(w))) return false;
  }
  return true;
}

bool QuickAccess::write_cells(Line& line, const LinePart& now) {
  if (kHaveAvx512 && !kWordByWord) {
    for (unsigned first = 0; first < Line::kWords; first += kChunk) {
      const auto touched = static_cast<std::uint16_t>(now.words >> first);
      if (touched != 0 && !write_chunk({line, first, now, touched})) return false;
    }
    return true;
  }
  for (std::uint32_t left = now.words; left != 0; left &= left - 1) {
    const auto w = static_cast<unsigned>(std::countr_zero(left));
    if (!write_cell(line, w, now.lane(w))) return false;
  }
  return true;
}

}  // namespace warpgrind::checkers
