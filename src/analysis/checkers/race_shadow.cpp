// Shadow memory: pages of lines, and the packing of cells.
#include "checkers/race_shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "base/assert.h"

namespace warpgrind::checkers {

void* zeroes(std::size_t bytes) {
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  WG_ASSERT(p != MAP_FAILED);
  return p;
}

void give_back(void* zeroes, std::size_t bytes) {
  munmap(zeroes, bytes);
}

Cell Line::get(unsigned w, std::uint32_t none) const {
  WG_DEBUG_ASSERT(by_word && cells && w < kWords);
  using C = LineCells;
  const std::uint32_t p = cells->parts[w];
  const auto still = [&](std::uint32_t number) { return number > none ? number : 0; };
  const auto lane = [&](unsigned at) { return static_cast<std::uint8_t>(p >> at & 31); };
  const auto bytes = [&](unsigned at) { return static_cast<std::uint8_t>(p >> at & 15); };
  Cell c{still(cells->write[w]), still(cells->read[w]), still(cells->other[w]), still(cells->plain[w]),
         cells->readers[w],      lane(C::kWriteLane),   lane(C::kOtherLane),    lane(C::kPlainLane),
         bytes(C::kWriteBytes),  bytes(C::kReadBytes),  bytes(C::kPlainBytes)};
  if (c.write == 0) c.write_bytes = 0;
  if (c.read == 0) c.readers = c.read_bytes = 0;
  return c;
}

void Line::put(unsigned w, const Cell& c) {
  WG_DEBUG_ASSERT(by_word && cells && w < kWords);
  using C = LineCells;
  cells->write[w] = c.write;
  cells->read[w] = c.read;
  cells->other[w] = c.other;
  cells->plain[w] = c.plain;
  records[kNewestWrite] = std::max(records[kNewestWrite], c.write);
  records[kNewestRead] = std::max({records[kNewestRead], c.read, c.other});
  records[kNewestPlain] = std::max(records[kNewestPlain], c.plain);
  cells->readers[w] = c.readers;
  cells->parts[w] = std::uint32_t{c.write_lane} << C::kWriteLane | std::uint32_t{c.other_lane} << C::kOtherLane |
                    std::uint32_t{c.plain_lane} << C::kPlainLane | std::uint32_t{c.write_bytes} << C::kWriteBytes |
                    std::uint32_t{c.read_bytes} << C::kReadBytes | std::uint32_t{c.plain_bytes} << C::kPlainBytes;
}

Shadow::Page& Shadow::far_page(std::uint64_t number) {
  Page*& slot = pages_[number];
  if (!slot) slot = &all_pages_.add();
  near_[number % near_.size()] = {number, slot};
  return *slot;
}

// Converts parts to cells. Old content of the cells is invalid, because a line returns to parts only when all its
// records are forgotten.
void Shadow::fill_cells(Line& line) {
  WG_ASSERT(!line.by_word);
  if (!line.cells) line.cells = &all_cells_.add();
  LineCells& c = *line.cells;
  std::array<std::uint32_t, Line::kParts> newest{};
  if (!line.empty(none_)) c.parts.fill(0);
  for (unsigned i = 0; i < Line::kParts; ++i) {
    const std::uint32_t record = line.records[i];
    const LinePart& part = line.parts[i];
    if (record <= none_) continue;
    const bool writes = part.field == LinePart::Field::write, reads = part.field == LinePart::Field::read;
    std::uint32_t& newest_here = newest[writes ? Line::kNewestWrite : Line::kNewestRead];
    newest_here = std::max(newest_here, record);
    const std::uint32_t reciprocal = part.reciprocal();
    LineCells::Words& field = writes ? c.write : reads ? c.read : c.other;
    for (std::uint32_t left = part.words; left != 0; left &= left - 1) {
      const auto w = static_cast<unsigned>(std::countr_zero(left));
      const unsigned lane = (w + static_cast<unsigned>(part.first)) * reciprocal >> LinePart::kReciprocalBits;
      field[w] = record;
      if (reads) c.readers[w] = part.rows << lane;
      c.parts[w] |= writes  ? lane << LineCells::kWriteLane | 15u << LineCells::kWriteBytes
                    : reads ? 15u << LineCells::kReadBytes
                            : lane << LineCells::kOtherLane;
    }
  }
  line.records = newest;
  line.by_word = true;
}

void Shadow::add_more(Line& line, std::uint64_t word, const MoreAccess& access) {
  WG_DEBUG_ASSERT(line.by_word && line.cells);
  LineMore*& more = line.cells->more;
  if (!more) {
    more_.push_back(std::make_unique<LineMore>());
    more = more_.back().get();
  } else if (!line.has_more(none_)) {
    for (MoreList& list : *more) list.clear();
  }
  line.more_since = none_ + 1;
  (*more)[word % Line::kWords].add(access);
}

void Shadow::forget() {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max() / 2;
  none_ = next() - 1;
  records_.clear();
  if (none_ <= kMost) return;
  for (const auto& [number, page] : pages_)
    for (Line& line : *page) {
      if (line.cells) {
        LineMore* const more = line.cells->more;
        *line.cells = {};
        line.cells->more = more;
      }
      line.records = {};
      line.by_word = false;
      line.more_since = 0;
    }
  none_ = 0;
}

}  // namespace warpgrind::checkers
