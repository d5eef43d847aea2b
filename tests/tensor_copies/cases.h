// The cases of generate.py: tensor maps, the arguments of the kernels, and the bytes that memory holds before and
// after. Plain C++17, used by the runner for the virtual GPU and by the one for a real GPU.
//
// A case without `style` runs twice. A byte of the source is then the low (first run) or the high byte (second run) of
// its own offset in its buffer; the destination holds kUntouched. So the two runs show where each byte came from.
// With `style`, both buffers hold numbers of the type `element`: 0: moderate ones, 1: any bits, 2: special values
// (zeroes, denormals, infinities, NaNs, ties of a rounding to fewer bits).
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "../hashed_results.h"

namespace tensor_copies {

constexpr std::size_t kShared = 20480;    // bytes of shared memory of a block that are filled and written back
constexpr std::size_t kData = 49152;      // bytes of the buffer in global memory
constexpr std::int64_t kBase = 8192;      // offset in it of coordinates 0
constexpr std::size_t kStatusBytes = 32;  // of each block: done, and the mbarrier before and after
constexpr unsigned kUntouched[2] = {0x5a, 0xf5};

// Must match kernels.py.
struct Arguments {
  std::uint64_t out = 0, init = 0, data = 0, map = 0;
  std::int32_t coordinates[5] = {};
  std::uint32_t offsets[3] = {};
  std::uint32_t at = 0, to = 0, barrier = 0, expect = 0, mask = 0, size = 0, ordinal = 0, unused = 0;
  std::uint64_t value = 0, copy = 0;
};
static_assert(sizeof(Arguments) == 112);

struct Case {
  std::string text, kernel;
  std::map<std::string, std::vector<std::int64_t>> keys;

  bool has(const std::string& key) const { return keys.count(key) != 0; }
  std::int64_t get(const std::string& key, std::size_t i = 0, std::int64_t otherwise = 0) const {
    const auto found = keys.find(key);
    return found == keys.end() || i >= found->second.size() ? otherwise : found->second[i];
  }
  std::size_t rank() const { return keys.at("dims").size(); }
  bool is(const char* start) const { return kernel.rfind(start, 0) == 0; }
  bool stores() const {  // from shared to global memory
    return is("store") || is("red") || is("im2colst") || is("im2colred") || is("bulkred_global") || is("bulk_store");
  }
  bool is_im2col() const { return has("lower"); }
  std::size_t blocks() const { return has("mask") && !is("bulk_store_masked") ? 2 : 1; }  // of a cluster
  int runs() const { return has("style") ? 1 : 2; }
};

inline Case parse_case(const std::string& text) {
  Case c;
  c.text = text;
  std::istringstream words(text);
  words >> c.kernel;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    std::vector<std::int64_t>& values = c.keys[word.substr(0, equals)];
    std::istringstream numbers(word.substr(equals + 1));
    for (std::string number; std::getline(numbers, number, ',');) values.push_back(std::stoll(number));
  }
  return c;
}

inline std::vector<Case> read_cases(const std::string& path) {
  std::vector<Case> cases;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') cases.push_back(parse_case(line));
  return cases;
}

inline std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

// Bits of a number, by CUtensorMapDataType.
inline std::uint64_t number(std::int64_t element, std::int64_t style, std::uint64_t random) {
  struct Format {
    unsigned exponent, mantissa;
  };
  Format f{0, 0};
  switch (element) {
    case 6:
      f = {5, 10};
      break;
    case 9:
      f = {8, 7};
      break;
    case 8:
      f = {11, 52};
      break;
    case 7:
    case 10:
    case 11:
    case 12:
      f = {8, 23};
      break;
    default:
      return random;
  }
  if (style == 1) return random;
  if (style == 2) {
    const std::uint64_t top = ((std::uint64_t{1} << f.exponent) - 1) << f.mantissa, one = (top >> 1) & top;
    const std::uint64_t special[] = {0,
                                     1,
                                     (std::uint64_t{1} << f.mantissa) - 1,
                                     std::uint64_t{1} << f.mantissa,
                                     top,
                                     top + 1,
                                     top | std::uint64_t{1} << (f.mantissa - 1),
                                     top - 1,
                                     one,
                                     one | 0x1000,
                                     one | 0x3000,
                                     one | 0x0fff,
                                     one | 0x1001,
                                     random % (std::uint64_t{1} << f.mantissa)};
    return special[(random >> 40) % 14] | (random >> 60 & 1) << (f.exponent + f.mantissa);
  }
  const unsigned bias = (1u << (f.exponent - 1)) - 1;
  const std::uint64_t exponent = bias - 3 + (random >> 57) % 7;
  return (random & ((std::uint64_t{1} << f.mantissa) - 1)) | exponent << f.mantissa |
         (random >> 56 & 1) << (f.exponent + f.mantissa);
}

inline std::size_t element_bytes(std::int64_t element) {
  constexpr std::size_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return element >= 0 && element < 13 ? bytes[element] : 1;
}

// The bytes of a buffer at the start of run `run`. `which`: 0: global, 1: shared memory.
inline std::vector<std::uint8_t> content(const Case& c, int run, unsigned which, std::size_t bytes) {
  std::vector<std::uint8_t> out(bytes);
  if (c.has("style")) {
    const std::int64_t element = c.get("element");
    const std::size_t size = element_bytes(element);
    for (std::size_t i = 0; i + size <= bytes; i += size) {
      const std::uint64_t bits = number(element, c.get("style"), mixed(i / size + 1000003 * (which + 1)));
      std::memcpy(&out[i], &bits, size);
    }
    return out;
  }
  const bool between_blocks = c.is("bulk_peer") || c.is("bulk_own");  // shared memory is source and destination
  const bool source = (which == 1) == (c.stores() || between_blocks);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(source ? i >> (8 * run) : kUntouched[run]);
  return out;
}

struct Result {
  int error = 0;                                   // CUresult of the launch
  std::vector<std::uint8_t> shared[2], global[2];  // by run
  std::uint32_t done[2][2] = {};                   // by run and block
};

inline Arguments arguments_of(const Case& c, std::uint64_t data, std::uint64_t init, std::uint64_t out,
                              std::uint64_t map) {
  Arguments a;
  a.out = out;
  a.init = init;
  a.data = data + kBase;
  a.map = c.has("map") ? map + static_cast<std::uint64_t>(c.get("map")) : 0;
  for (std::size_t k = 0; k < 5; ++k) a.coordinates[k] = static_cast<std::int32_t>(c.get("c", k));
  for (std::size_t k = 0; k < 3; ++k) a.offsets[k] = static_cast<std::uint32_t>(c.get("offsets", k));
  const auto word = [&](const char* key) { return static_cast<std::uint32_t>(c.get(key)); };
  a.at = word("at");
  a.to = word("to");
  a.barrier = word("barrier");
  a.expect = word("expect");
  a.mask = word("mask");
  a.size = word("size");
  a.ordinal = word("ord");
  a.value = static_cast<std::uint64_t>(c.get("value"));
  if (c.is("replace_global_address")) a.value += data;
  a.copy = map + 2048;
  return a;
}

// Takes apart what a kernel wrote: the shared memory of its blocks, and their status.
inline void read_output(const Case& c, int run, const std::vector<std::uint8_t>& out,
                        const std::vector<std::uint8_t>& global, Result* result) {
  const std::size_t shared = kShared * c.blocks();
  result->shared[run].assign(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(shared));
  result->global[run] = global;
  for (std::size_t b = 0; b < c.blocks(); ++b) std::memcpy(&result->done[run][b], &out[shared + b * kStatusBytes], 4);
}

// "error_700", or a hash of all bytes.
inline std::string summary(const Case& c, const Result& r) {
  if (r.error != 0) return "error_" + std::to_string(r.error);
  hashed_results::Fnv fnv;
  for (int run = 0; run < c.runs(); ++run) {
    for (std::size_t b = 0; b < c.blocks(); ++b) fnv.add(r.done[run][b]);
    for (const std::uint8_t byte : r.shared[run]) fnv.value = (fnv.value ^ byte) * 16777619u;
    for (const std::uint8_t byte : r.global[run]) fnv.value = (fnv.value ^ byte) * 16777619u;
  }
  char text[9];
  std::snprintf(text, sizeof text, "%08x", fnv.value);
  return text;
}

// The destination in words: runs of bytes as "offset:source+length", "offset:=value+length" for bytes that have no
// source, typed cases as hexadecimal bytes that changed.
inline std::string picture(const Case& c, const Result& r) {
  if (r.error != 0) return "error " + std::to_string(r.error);
  std::string text = "done";
  for (int run = 0; run < c.runs(); ++run)
    for (std::size_t b = 0; b < c.blocks(); ++b) text += " " + std::to_string(r.done[run][b]);
  text += " |";
  const bool to_global = c.stores();
  if (c.has("style")) {
    const std::vector<std::uint8_t>& now = to_global ? r.global[0] : r.shared[0];
    const std::vector<std::uint8_t> before = content(c, 0, to_global ? 0 : 1, now.size());
    std::size_t printed = 0;
    for (std::size_t i = 0; i + 8 <= now.size() && printed < 64; i += 8) {
      if (std::memcmp(&now[i], &before[i], 8) == 0) continue;
      std::uint64_t word;
      std::memcpy(&word, &now[i], 8);
      char hex[40];
      std::snprintf(hex, sizeof hex, " %zu:%016llx", i, static_cast<unsigned long long>(word));
      text += hex;
      ++printed;
    }
    return text;
  }
  const std::vector<std::uint8_t>& low = to_global ? r.global[0] : r.shared[0];
  const std::vector<std::uint8_t>& high = to_global ? r.global[1] : r.shared[1];
  const auto code = [&](std::size_t i) { return low[i] | high[i] << 8; };
  const int untouched = kUntouched[0] | kUntouched[1] << 8;
  for (std::size_t i = 0; i < low.size();) {
    const int first = code(i);
    std::size_t same = 1, rising = 1;
    while (i + same < low.size() && code(i + same) == first) ++same;
    while (i + rising < low.size() && code(i + rising) == first + static_cast<int>(rising)) ++rising;
    if (first == untouched && same > 1) {
      i += same;
      continue;
    }
    const bool repeats = same > rising || (same == 1 && rising == 1 && first >= static_cast<int>(kData));
    text += " " + std::to_string(i) + ":" + (repeats ? "=" : "") + std::to_string(first) + "+" +
            std::to_string(repeats ? same : rising);
    i += repeats ? same : rising;
  }
  return text;
}

// Lines "SUMMARY case"; others are comments.
inline std::map<std::string, std::string> read_results(const std::string& path) {
  std::map<std::string, std::string> results;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.find(' ');
    results[line.substr(space + 1)] = line.substr(0, space);
  }
  return results;
}

}  // namespace tensor_copies
