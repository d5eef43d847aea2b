// DRAM term. DRAM moves pieces of 64 bytes. A piece that is alone in its line costs more, and more again if its line is
// alone in 256 or 512 bytes: the model's constants dram_piece_bytes_128, 256 and 512. Partly written sectors are read,
// merged and written. A launch that starts with dirty lines in L2 also pays for writing them back.
#include <algorithm>

#include "timing/terms/terms.h"

namespace warpgrind::timing {
namespace {

constexpr double kLineBytes = 128;
constexpr double kPieceBytes = 64;
// Cost in bytes of a partly written sector whose line has 4, 2 or 1 such sectors; the last two are added for lines that
// are alone in 256 and 512 bytes.
constexpr double kPartOfFour = 64, kPartOfTwo = 90, kPartAlone = 179, kPartLonelyLine = 0.385, kPartLonelyPair = 0.07;
// Writes replace dirty lines as part of their own traffic: pure writes pay nothing for evictions, copies a third, reads
// everything.
constexpr double kWritesEvict = 1.3;

double ratio(double a, double b, double otherwise) {
  return b > 0 ? a / b : otherwise;
}

struct Spread {
  double pieces, lines, pairs, fours;  // 1: no part is alone; 2, 4: only one part in 2 or 4 is touched
};
Spread spread(double sectors, double pieces, double lines, double pairs, double fours) {
  return {2 * ratio(pieces, sectors, 0.5), 4 * ratio(lines, sectors, 0.25), 2 * ratio(pairs, lines, 0.5),
          2 * ratio(fours, pairs, 0.5)};
}

// Cost in pieces of one piece of such a spread.
double lonely(const TimingConstants& c, const Spread& a) {
  // More for a piece that is alone in its line, for a line alone in 256 bytes, and for one alone in 512 bytes.
  const double piece = c.dram_piece_bytes_128 / kPieceBytes - 1;
  const double line = (c.dram_piece_bytes_256 - c.dram_piece_bytes_128) / kPieceBytes;
  const double pair = (c.dram_piece_bytes_512 - c.dram_piece_bytes_256) / kPieceBytes;
  double cost = 1;
  if (a.pieces > 1 && a.lines / a.pieces > 1.01) cost += piece * std::clamp(2 * a.lines / a.pieces - 1, 0.0, 1.0);
  if (a.lines / a.pieces > 1.5) cost += line * std::max(0.0, a.pairs - 1) + pair * std::max(0.0, a.fours - 1);
  return cost;
}

double bytes_of_part(const Spread& a) {
  double bytes = a.lines <= 2 ? kPartOfFour + (kPartOfTwo - kPartOfFour) * (a.lines - 1)
                              : kPartOfTwo + (kPartAlone - kPartOfTwo) / 2 * (a.lines - 2);
  if (a.lines > 3)
    bytes *= (1 + kPartLonelyLine * std::max(0.0, a.pairs - 1)) * (1 + kPartLonelyPair * std::max(0.0, a.fours - 1));
  return bytes;
}

}  // namespace

double still_there(const GpuModel& model, double bytes) {
  const double room = 0.636 * static_cast<double>(model.l2_bytes);  // 40 MB on an H200
  return room > 0 ? std::clamp(1.5 - bytes / room, 0.0, 1.0) : 0;
}

DramTraffic dram_traffic(const Setting& s) {
  const LaunchWork& w = s.work;
  const Spread r = spread(w.read_sectors, w.read_pieces, w.read_lines, w.read_pairs, w.read_fours);
  const Spread o = spread(w.write_sectors, w.write_pieces, w.write_lines, w.write_pairs, w.write_fours);
  const double part = std::clamp(ratio(w.partly_written_sectors, w.write_sectors, 0), 0.0, 1.0);
  const double written = w.write_sectors * kSectorBytes;
  DramTraffic d;
  d.read = w.read_sectors * kSectorBytes * r.pieces * lonely(s.model.timing, r) * (1 - s.l2.resident);
  d.written =
      written * (1 - part) * (part < 0.25 ? o.lines : 1) + w.write_sectors * part * bytes_of_part(o) * s.fitted.merge;
  d.written *= 1 - s.l2.resident;
  d.allocated = w.read_lines * kLineBytes + w.write_lines * kLineBytes;
  const double total = std::max(1.0, d.read + d.written);
  if (d.read > 0)
    d.evicted = std::min(s.l2.dirty_bytes, d.allocated) * std::max(0.0, 1 - kWritesEvict * d.written / total);
  return d;
}

void add_dram_term(Terms& t, const Setting& s) {
  const TimingConstants& c = s.model.timing;
  const DramTraffic d = dram_traffic(s);
  const double total = d.read + d.written;
  // Switching between reads and writes costs a tenth if half are writes. The ratio of read to copy bandwidth gives it.
  const double turning = c.dram_copy_gbps > 0 ? std::max(0.0, c.dram_read_gbps / c.dram_copy_gbps - 1) : 0;
  const double mix = total > 0 ? 2 * std::min(d.read, d.written) / total : 0;
  t[Limit::dram_bandwidth] = (total + d.evicted) / c.dram_read_gbps * (1 + turning * mix);
}

}  // namespace warpgrind::timing
