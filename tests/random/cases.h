// Common parts of both runners of the random programs: the input, the list of programs in a PTX file, the hashes of
// their rows. Plain C++17.
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
#include "../tensor_copies/cases.h"

namespace random_programs {

using hashed_results::read_text;

constexpr std::size_t kInputWords = 4096;

inline std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

// Random bits, small numbers, and special and ordinary values of each floating-point width.
inline std::vector<std::uint64_t> input() {
  static const std::uint32_t f32[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                      0x7fc00000, 0x7f7fffff, 0x00800000, 0x007fffff, 0x00000001, 0x80000001,
                                      0x4f000000, 0xcf000000, 0x5f000000, 0x3effffff};
  static const std::uint64_t f64[] = {0,
                                      0x8000000000000000,
                                      0x3ff0000000000000,
                                      0x7ff0000000000000,
                                      0xfff0000000000000,
                                      0x7ff8000000000000,
                                      0x7fefffffffffffff,
                                      0x0010000000000000,
                                      0x000fffffffffffff,
                                      1,
                                      0x41e0000000000000,
                                      0xc1e0000000000000,
                                      0x43e0000000000000,
                                      0x3fdfffffffffffff,
                                      0x36a0000000000000,
                                      0x3810000000000000};
  std::vector<std::uint64_t> words(kInputWords);
  for (std::size_t i = 0; i < kInputWords; ++i) {
    const std::uint64_t r = mixed(i), s = mixed(r);
    const auto ordinary32 = [](std::uint64_t v) {  // 2^-16 to 2^16
      return static_cast<std::uint32_t>((v & 0x807fffff) | (111 + (v >> 33) % 33) << 23);
    };
    switch (i % 8) {
      case 0:
      case 1:
        words[i] = r;
        break;
      case 2:
        words[i] = ((s % 17 - 8) & 0xffffffff) | (r % 5 - 2) << 32;
        break;
      case 3:
        words[i] = f32[r % 16] | std::uint64_t{f32[s % 16]} << 32;
        break;
      case 4:
        words[i] = f64[r % 16];
        break;
      case 5:  // four halves between 2^-7 and 2^8
        words[i] = 0;
        for (int k = 0; k < 4; ++k) {
          const std::uint64_t h = r >> (16 * k);
          words[i] |= ((h & 0x83ff) | (8 + (s >> (8 * k)) % 16) << 10) << (16 * k);
        }
        break;
      case 6:
        words[i] = ordinary32(r) | std::uint64_t{ordinary32(s)} << 32;
        break;
      default:  // a double between 2^-40 and 2^40
        words[i] = (r & 0x800fffffffffffff) | (983 + s % 81) << 52;
    }
  }
  return words;
}

// A texture or surface of a program, as textures.py describes it.
struct Image {
  std::string geometry;
  char kind = 'f';  // f, s, u
  int bits = 0, channels = 0, width = 0, height = 0, depth = 0;
  bool linear = false, normalized = false, normalized_float = false, srgb = false, special = false;
  int address[3] = {1, 1, 1};  // as cudaTextureAddressMode orders them

  bool surface() const { return geometry.rfind("surface", 0) == 0; }
  bool layered() const { return geometry[0] == 'a'; }
  bool cube() const { return geometry == "cube"; }
  bool gather() const { return geometry == "gather"; }
  bool in_linear_memory() const { return geometry == "fetch" || geometry == "pitched"; }
  bool gives_floats() const { return kind == 'f' || normalized_float; }
  std::size_t texel_bytes() const { return static_cast<std::size_t>(bits * channels) / 8; }
  std::size_t rows() const { return static_cast<std::size_t>(height ? height : 1); }
  std::size_t slices() const { return static_cast<std::size_t>(depth ? depth : 1); }
  std::size_t row_bytes() const { return static_cast<std::size_t>(width) * texel_bytes(); }
};

constexpr float kBorder[4] = {0.25f, 0.5f, 0.75f, 0.125f};

// In order x, y, z without padding. Integers are random bits. Floats lie in [-1, 1), halves between 2^-7 and 2^8,
// unless they are special: any bits.
inline std::vector<std::uint8_t> texels(const Image& image, std::uint64_t seed) {
  const std::size_t values =
      image.row_bytes() * image.rows() * image.slices() / (static_cast<std::size_t>(image.bits) / 8);
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < values; ++i) {
    std::uint64_t value = mixed(seed + i);
    if (image.kind == 'f' && !image.special) {
      if (image.bits == 32) {
        const float f = static_cast<float>(static_cast<std::int32_t>(value >> 40) - (1 << 23)) / 8388608.0f;
        std::uint32_t word = 0;
        std::memcpy(&word, &f, 4);
        value = word;
      } else {
        value = (value & 0x83ff) | (8 + (value >> 16) % 16) << 10;
      }
    }
    for (int k = 0; k < image.bits; k += 8) bytes.push_back(static_cast<std::uint8_t>(value >> k));
  }
  return bytes;
}

// What copies.py copies: global memory, of which a part is only read and a part belongs to each block, and tensor maps.
constexpr std::size_t kRead = 49152, kOrigin = 8192, kWritten = 32768, kMapBytes = 128;

struct TensorMapLine {
  bool written = false;  // it lies in the part of each block, and each has a map of its own
  tensor_copies::Case keys;
};

struct Case {
  unsigned number = 0, x = 0, y = 0, grid = 0, rows = 0;
  std::vector<Image> images;
  bool copies = false;
  unsigned cluster = 1;
  tensor_copies::Case memory;  // element and style of what it holds
  std::vector<TensorMapLine> maps;
  std::size_t threads() const { return std::size_t{x} * y * grid; }
  // The rows, then a cell a thread, then 16 cells a block.
  std::size_t bytes() const { return 8 * (threads() * (rows + 1) + 16 * grid); }
  std::size_t copied_bytes() const { return kRead + kWritten * grid; }
  std::vector<std::uint8_t> copied() const { return tensor_copies::content(memory, 0, 0, copied_bytes()); }
  std::uint64_t tensor(const TensorMapLine& map, std::uint64_t data, unsigned block) const {
    return data + (map.written ? kRead + kWritten * block : kOrigin);
  }
  std::string name() const { return "case_" + std::to_string(number); }
};

inline std::uint64_t image_seed(const Case& c, std::size_t image) {
  return (std::uint64_t{c.number} * 16 + image) << 32;
}

// The words behind "// image".
inline Image image_of(const std::string& text) {
  std::istringstream words(text);
  Image image;
  std::string flags, address;
  words >> image.geometry >> image.kind >> image.bits >> image.channels >> image.width >> image.height >> image.depth >>
      flags;
  const auto has = [&](const char* flag) { return flags.find(flag) != std::string::npos; };
  image.linear = has("linear");
  image.normalized = has("normalized");
  image.normalized_float = has("float");
  image.srgb = has("srgb");
  image.special = has("special");
  for (int& mode : image.address) {
    words >> address;
    mode = address == "wrap" ? 0 : address == "clamp" ? 1 : address == "mirror" ? 2 : 3;
  }
  return image;
}

inline std::vector<Case> cases_of(const std::string& ptx) {
  std::vector<Case> all;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    Case c;
    if (std::sscanf(line.c_str(), "// case %u: block %u %u grid %u rows %u", &c.number, &c.x, &c.y, &c.grid, &c.rows) ==
        5)
      all.push_back(c);
    unsigned element = 0, style = 0, cluster = 0;
    if (std::sscanf(line.c_str(), "// memory %u %u cluster %u", &element, &style, &cluster) == 3) {
      all.back().copies = true;
      all.back().cluster = cluster;
      all.back().memory.keys = {{"element", {element}}, {"style", {style}}};
    }
    if (line.rfind("// map ", 0) == 0) {
      const tensor_copies::Case keys = tensor_copies::parse_case(line.substr(7));
      all.back().maps.push_back({keys.kernel == "written", keys});
    }
    if (line.rfind("// image ", 0) == 0) all.back().images.push_back(image_of(line.substr(9)));
  }
  return all;
}

// FNV-1a of each row.
inline std::vector<std::uint32_t> row_hashes(const Case& c, const std::vector<std::uint64_t>& output) {
  std::vector<std::uint32_t> hashes;
  for (unsigned row = 0; row < c.rows; ++row) {
    hashed_results::Fnv hash;
    for (std::size_t t = 0; t < c.threads(); ++t) hash.add(output[row * c.threads() + t]);
    hashes.push_back(hash.value);
  }
  return hashes;
}

using Results = std::map<unsigned, std::vector<std::uint32_t>>;

// Lines "N hash hash ...", or "N -": no GPU has run this program as generate.py now writes it. Others are comments.
inline Results read_results(const std::string& path) {
  Results results;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    unsigned number = 0;
    if (line.empty() || line[0] == '#' || !(words >> number)) continue;
    results[number];
    for (std::string word; words >> word && word != "-";)
      results[number].push_back(static_cast<std::uint32_t>(std::strtoul(word.c_str(), nullptr, 16)));
  }
  return results;
}

inline void write_line(std::FILE* file, const Case& c, const std::vector<std::uint32_t>& hashes) {
  std::fprintf(file, "%u", c.number);
  for (const std::uint32_t h : hashes) std::fprintf(file, " %08x", h);
  std::fprintf(file, "\n");
}

}  // namespace random_programs
