// Memory transactions of a warp's request, by the published rules of each generation, from the 32 addresses alone.
// Independent of the virtual GPU's code, so that the two can be compared.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>

struct Transactions {
  int count = 0, bytes = 0;  // of one warp
};

// Lane `lane` of the warp accesses the word of kWordBytes at start + lane * step, in bytes. `start` is less than 128
// bytes from an aligned address.
struct Request {
  int start, step;
  int address(int lane) const { return start + lane * step; }
};
constexpr int kWordBytes = 4;

// One transaction for each distinct piece of `bytes` that the lanes touch.
inline Transactions pieces(const Request& r, int bytes) {
  std::set<int> touched;
  for (int lane = 0; lane < 32; ++lane) touched.insert(r.address(lane) / bytes);
  const int count = static_cast<int>(touched.size());
  return {count, count * bytes};
}

// Compute capability 1.0: a half-warp takes one 64-byte transaction if lane k accesses word k of an aligned segment.
// Otherwise it takes one of 32 bytes for each lane.
inline Transactions strict_half_warps(const Request& r) {
  Transactions t;
  for (const int first : {0, 16}) {
    const bool good = r.step == kWordBytes && r.address(first) % 64 == 0;
    t.count += good ? 1 : 16;
    t.bytes += good ? 64 : 16 * 32;
  }
  return t;
}

// 1.2 and 1.3: the 128-byte segments of a half-warp, each shrunk to 64 or 32 bytes if these hold all requested words.
inline Transactions shrunk_segments(const Request& r) {
  Transactions t;
  for (const int first : {0, 16}) {
    std::map<int, std::pair<int, int>> segments;  // lowest and highest requested byte of each segment
    for (int lane = first; lane < first + 16; ++lane) {
      const int low = r.address(lane), high = low + kWordBytes - 1;
      auto [at, fresh] = segments.try_emplace(low / 128, low, high);
      if (!fresh) at->second = {std::min(at->second.first, low), std::max(at->second.second, high)};
    }
    for (const auto& [segment, range] : segments) {
      int bytes = 128;
      while (bytes > 32 && range.first / (bytes / 2) == range.second / (bytes / 2)) bytes /= 2;
      ++t.count;
      t.bytes += bytes;
    }
  }
  return t;
}

// The load rules of each generation: the columns of the note.
struct Rule {
  const char* name;
  Transactions (*loads)(const Request&);
};
inline const Rule kRules[] = {
    {"1.0", strict_half_warps},
    {"1.3", shrunk_segments},
    {"2.0", [](const Request& r) { return pieces(r, 128); }},
    {"3.5 to 9.0", [](const Request& r) { return pieces(r, 32); }},
};
