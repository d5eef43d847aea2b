#include "checkers/race_quick.h"

#include <algorithm>
#include <bit>

#include "base/cpu.h"

namespace warpgrind::checkers {

namespace {

constexpr std::uint32_t kWhole = 15;  // all bytes of a word
constexpr unsigned kChunk = 16;
// With sanitizers GCC 12 makes loops over masks of sixteen bits that do not end.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kWordByWord = true;
#else
constexpr bool kWordByWord = false;
#endif

unsigned write_lane(std::uint32_t parts) {
  return parts >> ShadowPage::kWriteLane & 31;
}
unsigned other_lane(std::uint32_t parts) {
  return parts >> ShadowPage::kOtherLane & 31;
}
unsigned read_bytes(std::uint32_t parts) {
  return parts >> ShadowPage::kReadBytes & kWhole;
}
std::uint32_t with_read_bytes(std::uint32_t parts) {
  return parts | kWhole << ShadowPage::kReadBytes;
}

// Each bit of `lanes` becomes (1 << shift) bits, from word `from` on.
std::uint16_t words_of(LaneMask lanes, unsigned shift, unsigned from) {
  const std::uint64_t part = std::uint64_t{lanes} >> (from >> shift);
  if (shift == 0) return static_cast<std::uint16_t>(part);
  unsigned words = 0;
  for (unsigned w = 0; w < kChunk; ++w) words |= static_cast<unsigned>(part >> (w >> shift) & 1) << w;
  return static_cast<std::uint16_t>(words);
}

}  // namespace

struct QuickAccess::Chunk {
  ShadowPage& page;
  std::size_t first;     // word of the page
  unsigned lane, shift;  // of the first word; its neighbours' are (word >> shift) further
  std::uint16_t words;   // that are touched
  LaneMask rows;         // bit 0, and the distance of each other lane that reads the same
};

struct QuickAccess::Classes {
  std::uint16_t own_warp = 0, settled = 0;
};

QuickAccess::Known QuickAccess::find_out(const Record& r) const {
  const Stamp& q = r.stamp;
  if (q.block != block_.number || q.copy != 0) return Known::foreign;
  if (q.epoch < block_.epoch) return Known::settled;
  if (q.warp != of_.warp) return Known::foreign;
  return q.tick < warp_.synced ? Known::settled : Known::own_warp;
}

// ---- Word by word

void QuickAccess::note_other(ShadowPage& page, std::size_t w, unsigned lane) {
  if (const std::uint32_t o = still(page.other[w]); o != 0) {
    if (of_.shared) return;
    const std::uint64_t first = shadow_.record(page.read[w]).stamp.block;
    if (shadow_.record(o).stamp.block != first || block_.number == first) return;
  }
  page.other[w] = of_.record;
  page.parts[w] = (page.parts[w] & ~(31u << ShadowPage::kOtherLane)) | lane << ShadowPage::kOtherLane;
}

// The readers before are ordered before the access of `lanes`: is the other one, too?
void QuickAccess::forget_other(ShadowPage& page, std::size_t w, LaneMask lanes) {
  const std::uint32_t o = still(page.other[w]);
  if (o == 0) return;
  const bool one = lanes == LaneMask{1} << other_lane(page.parts[w]);
  if (known(o) == Known::settled || same_thread(o, one)) page.other[w] = 0;
}

bool QuickAccess::read_word(std::uint64_t word, LaneMask lanes) {
  ShadowPage& p = shadow_.page(word);
  const std::size_t w = word % ShadowPage::kWords;
  const std::uint32_t parts = p.parts[w], written = still(p.write[w]), read = still(p.read[w]);
  if (written != 0 && (of_.non_coherent || (known(written) != Known::settled &&
                                            !same_thread(written, lanes == LaneMask{1} << write_lane(parts)))))
    return false;
  if (still(p.plain[w]) != 0) return false;
  if (read == of_.record) {
    p.readers[w] |= lanes;
    return read_bytes(parts) == kWhole;
  }
  p.newest_read = std::max(p.newest_read, of_.record);
  if (read == 0 || known(read) == Known::settled || same_thread(read, (p.readers[w] & ~lanes) == 0)) {
    p.read[w] = of_.record;
    p.readers[w] = lanes;
    p.parts[w] = with_read_bytes(parts);
    forget_other(p, w, lanes);
    return true;
  }
  if (of_.exact || read_bytes(parts) != kWhole) return false;
  note_other(p, w, static_cast<unsigned>(std::countr_zero(lanes)));
  return true;
}

bool QuickAccess::write_word(std::uint64_t word, unsigned lane) {
  ShadowPage& p = shadow_.page(word);
  const std::size_t w = word % ShadowPage::kWords;
  const std::uint32_t parts = p.parts[w];
  const auto fine = [&](std::uint32_t record, bool one_lane) {
    return record <= none_ || known(record) == Known::settled || same_thread(record, one_lane);
  };
  if (still(p.plain[w]) != 0 || !fine(p.write[w], write_lane(parts) == lane) ||
      !fine(p.read[w], (p.readers[w] & ~(LaneMask{1} << lane)) == 0) || !fine(p.other[w], other_lane(parts) == lane))
    return false;
  p.newest_write = std::max(p.newest_write, of_.record);
  p.write[w] = of_.record;
  p.read[w] = p.other[w] = p.readers[w] = 0;
  p.parts[w] = lane << ShadowPage::kWriteLane | kWhole << ShadowPage::kWriteBytes;
  return true;
}

// ---- Sixteen at once

namespace {

// With nothing above the sixteen bits: GCC 12 with sanitizers leaves there what the stack held, if it converts itself.
WG_AVX512 inline unsigned words(__mmask16 mask) {
  return _cvtmask16_u32(mask);
}

}  // namespace

// Of the words `which`, by what is known of their records.
WG_AVX512 QuickAccess::Classes QuickAccess::classify(const std::uint32_t* records, unsigned which) {
  const __m512i all = _mm512_loadu_si512(records);
  Classes out;
  out.settled = static_cast<std::uint16_t>(
      which & words(_mm512_cmplt_epu32_mask(all, _mm512_set1_epi32(static_cast<int>(of_.settled)))));
  for (unsigned left = which & ~unsigned{out.settled}; left != 0;) {
    const std::uint32_t record = records[std::countr_zero(left)];
    const unsigned same = left & words(_mm512_cmpeq_epi32_mask(all, _mm512_set1_epi32(static_cast<int>(record))));
    const Known k = known(record);
    if (k == Known::settled) out.settled |= static_cast<std::uint16_t>(same);
    if (k == Known::own_warp) out.own_warp |= static_cast<std::uint16_t>(same);
    left &= ~same;
  }
  return out;
}

namespace {

// A chunk's words of one field.
WG_AVX512 inline __m512i load(const ShadowPage::Words& from, std::size_t first, std::uint16_t words) {
  return _mm512_maskz_loadu_epi32(words, from.data() + first);
}
WG_AVX512 inline void store(ShadowPage::Words& to, std::size_t first, unsigned words, const __m512i& v) {
  _mm512_mask_storeu_epi32(to.data() + first, static_cast<__mmask16>(words), v);
}
WG_AVX512 inline __m512i all(std::uint32_t value) {
  return _mm512_set1_epi32(static_cast<int>(value));
}
// The lane of each word.
WG_AVX512 inline __m512i lanes_of(unsigned first, unsigned shift) {
  const __m512i iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_add_epi32(all(first), _mm512_srl_epi32(iota, _mm_cvtsi32_si128(static_cast<int>(shift))));
}

}  // namespace

WG_AVX512 bool QuickAccess::read_chunk(const Chunk& c) {
  ShadowPage& p = c.page;
  const __m512i none = all(none_), lanes = lanes_of(c.lane, c.shift), bits = _mm512_sllv_epi32(all(c.rows), lanes);
  const __m512i read = load(p.read, c.first, c.words), parts = load(p.parts, c.first, c.words);
  if (p.newest_plain > none_ && words(_mm512_cmpgt_epu32_mask(load(p.plain, c.first, c.words), none)) != 0)
    return false;
  if (p.newest_write > none_) {
    const unsigned touched = words(_mm512_cmpgt_epu32_mask(load(p.write, c.first, c.words), none));
    if (touched != 0 && of_.non_coherent) return false;
    const Classes k = classify(p.write.data() + c.first, touched);
    const unsigned own = c.rows != 1 ? 0 : words(_mm512_cmpeq_epi32_mask(_mm512_and_si512(parts, all(31)), lanes));
    if ((touched & ~(k.settled | (k.own_warp & own))) != 0) return false;
  }
  p.newest_read = std::max(p.newest_read, of_.record);
  const __m512i whole = all(kWhole << ShadowPage::kReadBytes), readers = load(p.readers, c.first, c.words);
  const unsigned whole_read = words(_mm512_cmpeq_epi32_mask(_mm512_and_si512(parts, whole), whole));
  const unsigned again = c.words & words(_mm512_cmpeq_epi32_mask(read, all(of_.record)));
  if ((again & ~whole_read) != 0) return false;
  unsigned replaced = c.words & words(_mm512_cmple_epu32_mask(read, none));
  if (const unsigned others = c.words & ~again & ~replaced; others != 0) {
    const Classes k = classify(p.read.data() + c.first, others);
    const __m512i strangers = _mm512_andnot_si512(bits, readers);
    replaced |= k.settled | (k.own_warp & words(_mm512_testn_epi32_mask(strangers, strangers)));
    const unsigned beside = others & ~replaced;
    if (beside != 0 && (of_.exact || (beside & ~whole_read) != 0)) return false;
    // In shared memory one more reader is enough.
    const unsigned known = of_.shared ? words(_mm512_cmpgt_epu32_mask(load(p.other, c.first, c.words), none)) : 0;
    for (unsigned b = beside & ~known; b != 0; b &= b - 1) {
      const auto w = static_cast<unsigned>(std::countr_zero(b));
      note_other(p, c.first + w, c.lane + (w >> c.shift));
    }
  }
  if (again != 0) store(p.readers, c.first, again, _mm512_or_si512(readers, bits));
  if (replaced == 0) return true;
  store(p.read, c.first, replaced, all(of_.record));
  store(p.readers, c.first, replaced, bits);
  store(p.parts, c.first, replaced, _mm512_or_si512(parts, whole));
  for (unsigned o = replaced & words(_mm512_cmpgt_epu32_mask(load(p.other, c.first, c.words), none)); o != 0;
       o &= o - 1) {
    const auto w = static_cast<unsigned>(std::countr_zero(o));
    forget_other(p, c.first + w, c.rows << (c.lane + (w >> c.shift)));
  }
  return true;
}

WG_AVX512 bool QuickAccess::write_chunk(const Chunk& c) {
  ShadowPage& p = c.page;
  const __m512i none = all(none_), lanes = lanes_of(c.lane, c.shift);
  if (p.newest_plain > none_ && words(_mm512_cmpgt_epu32_mask(load(p.plain, c.first, c.words), none)) != 0)
    return false;
  const __m512i parts = load(p.parts, c.first, c.words);
  const auto bad = [&](const ShadowPage::Words& of, unsigned touched, unsigned own) {
    if (touched == 0) return false;
    const Classes k = classify(of.data() + c.first, touched);
    return (touched & ~(k.settled | (k.own_warp & own))) != 0;
  };
  if (p.newest_write > none_ && bad(p.write, words(_mm512_cmpgt_epu32_mask(load(p.write, c.first, c.words), none)),
                                    words(_mm512_cmpeq_epi32_mask(_mm512_and_si512(parts, all(31)), lanes))))
    return false;
  if (p.newest_read > none_) {
    const __m512i others = _mm512_and_si512(_mm512_srli_epi32(parts, ShadowPage::kOtherLane), all(31));
    const __m512i strangers = _mm512_andnot_si512(_mm512_sllv_epi32(all(1), lanes), load(p.readers, c.first, c.words));
    if (bad(p.read, words(_mm512_cmpgt_epu32_mask(load(p.read, c.first, c.words), none)),
            words(_mm512_testn_epi32_mask(strangers, strangers))) ||
        bad(p.other, words(_mm512_cmpgt_epu32_mask(load(p.other, c.first, c.words), none)),
            words(_mm512_cmpeq_epi32_mask(others, lanes))))
      return false;
    const __m512i zero = _mm512_setzero_si512();
    store(p.read, c.first, c.words, zero);
    store(p.other, c.first, c.words, zero);
    store(p.readers, c.first, c.words, zero);
  }
  p.newest_write = std::max(p.newest_write, of_.record);
  store(p.write, c.first, c.words, all(of_.record));
  store(p.parts, c.first, c.words, _mm512_or_si512(lanes, all(kWhole << ShadowPage::kWriteBytes)));
  return true;
}

template <bool kWrites>
bool QuickAccess::row(std::uint64_t first, unsigned words, unsigned lane0, LaneMask lanes, unsigned shift,
                      LaneMask rows) {
  if (!kHaveAvx512 || kWordByWord) {
    for (unsigned w = 0; w < words; ++w) {
      const unsigned l = w >> shift;
      if ((lanes >> l & 1) == 0) continue;
      if (!(kWrites ? write_word(first + w, lane0 + l) : read_word(first + w, rows << (lane0 + l)))) return false;
    }
    return true;
  }
  for (unsigned w = 0; w < words;) {
    const std::size_t in_page = (first + w) % ShadowPage::kWords;
    const unsigned per_lane = 1u << shift;
    // Whole lanes, so that a chunk begins with a lane's first word; only the first may be cut by the page's end.
    unsigned n = static_cast<unsigned>(std::min<std::size_t>({kChunk, words - w, ShadowPage::kWords - in_page}));
    if (n % per_lane != 0 || w % per_lane != 0) n = 1;
    const auto which = static_cast<std::uint16_t>(words_of(lanes, shift, w) & ((1u << n) - 1));
    const Chunk chunk{shadow_.page(first + w), in_page, lane0 + (w >> shift), shift, which, rows};
    if (which != 0 && !(kWrites ? write_chunk(chunk) : read_chunk(chunk))) return false;
    w += n;
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

}  // namespace warpgrind::checkers
