// Inputs, hashes and error bounds shared by hardware_test.cpp (here) and run_on_gpu.cu (a real GPU). Plain C++, so that
// nvcc and g++ make the same bytes.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace hardware {

using Bytes = std::vector<unsigned char>;
constexpr int kCases = 8192;

struct Case {
  std::string kernel, file;
  int threads = 0;
  std::string inputs[3];  // kind:bytes
  std::string output;
  std::size_t output_bytes = 0;
  std::string instruction;

  bool approximate() const {
    return instruction.find("approx") != std::string::npos || instruction.find("full") != std::string::npos;
  }
};

inline std::vector<Case> read_cases(const std::string& path) {
  std::vector<Case> cases;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> fields;
    std::stringstream stream(line);
    for (std::string field; std::getline(stream, field, '|');) {
      const std::size_t from = field.find_first_not_of(' '), to = field.find_last_not_of(' ');
      fields.push_back(field.substr(from, to - from + 1));
    }
    if (fields.size() != 9) continue;
    cases.push_back({fields[0],
                     fields[1],
                     std::atoi(fields[2].c_str()),
                     {fields[3], fields[4], fields[5]},
                     fields[6],
                     static_cast<std::size_t>(std::atoll(fields[7].c_str())),
                     fields[8]});
  }
  return cases;
}

struct Random {
  std::uint64_t state;
  std::uint64_t operator()() {  // xorshift*
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state * 2685821657736338717ull) >> 11;
  }
};

inline std::uint64_t hash(const Bytes& bytes) {  // FNV-1a
  std::uint64_t h = 14695981039346656037ull;
  for (unsigned char b : bytes) h = (h ^ b) * 1099511628211ull;
  return h;
}

// Operand `which` of a floating-point case: combinations of special values first, then random ones with exponents of
// several kinds. With f64 at most one operand is a NaN: the payload of a result of several NaNs is not specified.
template <class T>
Bytes float_values(const std::vector<T>& special, int exponent_bits, int mantissa_bits, int which) {
  Bytes out(kCases * sizeof(T));
  Random random{88172645463325252ull};
  const T sign_bit = static_cast<T>(T(1) << (exponent_bits + mantissa_bits));
  const T infinity = static_cast<T>(((T(1) << exponent_bits) - 1) << mantissa_bits);
  const T bias = static_cast<T>((T(1) << (exponent_bits - 1)) - 1);
  const auto is_nan = [&](T x) { return static_cast<T>(x & (sign_bit - 1)) > infinity; };
  const std::size_t n = special.size();
  for (std::size_t i = 0; i < kCases; ++i) {
    T v[3];
    if (i < 5000 && i < n * n * n) {
      v[0] = special[i % n];
      v[1] = special[i / n % n];
      v[2] = special[i / n / n];
    } else {
      for (T& value : v) {
        T mantissa = static_cast<T>(random()), exponent = 0;
        const std::uint64_t r = random();
        const std::uint64_t spread = exponent_bits == 5 ? 7 : 25;
        switch (i % 4) {
          case 0:
            exponent = static_cast<T>(r);
            break;
          case 1:
            exponent = static_cast<T>(bias + r % 7 - 3);
            break;
          case 2:
            exponent = static_cast<T>(r % 4);
            break;
          default:
            exponent = static_cast<T>(bias + r % (2 * spread) - spread);
        }
        if (random() % 3 == 0) mantissa = static_cast<T>(mantissa & ~((T(1) << (mantissa_bits / 2)) - 1));
        const T magnitude = static_cast<T>(((exponent & ((T(1) << exponent_bits) - 1)) << mantissa_bits) |
                                           (mantissa & ((T(1) << mantissa_bits) - 1)));
        value = static_cast<T>(magnitude | (random() % 2 ? sign_bit : 0));
      }
      if (i % 16 == 5) v[2] = v[0];
      if (i % 16 == 7) v[1] = static_cast<T>(v[0] ^ sign_bit);
    }
    if (exponent_bits == 11)
      for (int k = 1; k < 3; ++k)
        if (is_nan(v[k]) && (is_nan(v[0]) || (k == 2 && is_nan(v[1])))) v[k] = static_cast<T>(bias << mantissa_bits);
    std::memcpy(&out[i * sizeof(T)], &v[which], sizeof(T));
  }
  return out;
}

inline Bytes packed(const Bytes& halves) {  // the upper half takes the values from another position
  Bytes out(2 * halves.size());
  for (std::size_t i = 0; i < kCases; ++i) {
    std::memcpy(&out[4 * i], &halves[2 * i], 2);
    std::memcpy(&out[4 * i + 2], &halves[2 * ((i + 1237) % kCases)], 2);
  }
  return out;
}

template <class T>
void fill(Bytes& bytes, Random& random, const std::vector<T>& choices) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    const T v = choices[random() % choices.size()];
    std::memcpy(&bytes[i], &v, sizeof(T));
  }
}

// Floating-point format of `bytes` bytes. e4m3 has no infinity.
struct Format {
  const char* name;
  int exponent_bits, mantissa_bits, bytes;
};

// Elements whose products and sums show how a tensor core adds. Values of `mode`:
// 0: numbers of similar size; 1: of very different size; 2: subnormals and the smallest normal numbers;
// 3: mostly zeros; 4: a few infinities, NaNs and the largest numbers;
// 5: ones and their neighbours, which cancel; 6: powers of two; 7: any finite numbers.
inline void fill_adversarial(unsigned char* to, std::size_t count, const Format& f, int mode, Random& random) {
  const std::uint64_t ones = (1ull << f.exponent_bits) - 1, mantissas = 1ull << f.mantissa_bits;
  const std::int64_t bias = static_cast<std::int64_t>(ones >> 1);
  const auto around = [&](std::int64_t spread) {
    spread = spread < bias ? spread : bias - 1;
    return static_cast<std::uint64_t>(bias - spread +
                                      static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * spread + 1)));
  };
  const bool wide = f.exponent_bits >= 8;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t exponent = around(3), mantissa = random() % mantissas;
    const std::uint64_t r = random(), sign = random() % 2;
    if (mode == 1) exponent = around(wide ? 24 : 13);
    if (mode == 2) {
      static constexpr std::uint64_t kSmall[] = {0, 0, 0, 1, 2, 3},
                                     kWide[] = {0, 0, 1, 60, 62, 63, 64, 65, 85, 95, 100, 103};
      exponent = wide ? kWide[r % 12] : kSmall[r % 6];
    }
    if (mode == 3) {
      exponent = around(wide ? 20 : 9);
      if (r % 8 != 0) exponent = mantissa = 0;
    }
    if (mode == 4 && r % 64 < 5) {
      exponent = ones;
      if (r % 64 == 1) exponent = ones - 1, mantissa = mantissas - 1;
      if (r % 64 >= 2) mantissa = 0;
    }
    if (mode == 5) {
      exponent = static_cast<std::uint64_t>(bias) - r % 2;
      mantissa = r % 16 < 8 ? 0 : r % 16 < 12 ? 1 : mantissas - 1;
    }
    if (mode == 6) exponent = around(wide ? 20 : 9), mantissa = 0;
    if (mode == 7) exponent = r % ones;
    const std::uint64_t bits = (sign << f.exponent_bits | exponent) << f.mantissa_bits | mantissa;
    std::memcpy(to + i * static_cast<std::size_t>(f.bytes), &bits, static_cast<std::size_t>(f.bytes));
  }
}

// Unit matrices, numbers of elements and metadata of tensor_cores.py. Returns false for another kind.
inline bool fill_matrix_pattern(Bytes& bytes, const std::string& kind, Random& random) {
  const auto put = [&](std::size_t at, std::uint32_t value, std::size_t size) {
    std::memcpy(&bytes[at], &value, size);
  };
  const auto half_of = [](std::uint32_t n) {  // below 2048
    std::uint32_t exponent = 0;
    while (n >> exponent > 1) ++exponent;
    return n == 0 ? 0 : (exponent + 15) << 10 | (n << (10 - exponent) & 1023);
  };
  const auto float_of = [](std::uint32_t n) {
    const float f = static_cast<float>(n);
    std::uint32_t bits;
    std::memcpy(&bits, &f, sizeof bits);
    return bits;
  };
  const std::size_t size = bytes.size();
  if (kind == "index")
    for (std::uint32_t i = 0; i < size / 2; ++i) put(i * 2, half_of(i % 2048), 2);
  else if (kind == "index32")
    for (std::uint32_t i = 0; i < size / 4; ++i) put(i * 4, float_of(i % 2048), 4);
  else if (kind == "byte0")
    for (std::uint32_t i = 0; i < size; ++i) put(i, i & 255, 1);
  else if (kind == "unit8" || kind == "unit16" || kind == "unit32") {
    // Registers of A of a wgmma: row i has a one at depth i, of 32 bytes.
    const std::uint32_t element = kind == "unit8" ? 1 : kind == "unit16" ? 2 : 4;
    for (std::uint32_t i = 0; i < 64; ++i) {
      const std::uint32_t at = i % (32 / element) * element, word = at / 4, row = i % 16;
      const std::uint32_t plane = word / 4 * 2 + row / 8, lane = row % 8 * 4 + word % 4;
      put(((i / 16 * 4 + plane) * 32 + lane) * 4 + at % 4,
          element == 1   ? 1
          : element == 2 ? 0x3c00
                         : 0x3f800000,
          element);
    }
  } else if (kind == "unit16k" || kind == "unit32k") {
    // B in shared memory by columns without swizzle: column n has a one at depth n.
    const std::uint32_t n = kind == "unit16k" ? 16 : 32;
    for (std::uint32_t i = 0; i < n; ++i) put(i / 8 * (n * 16) + i / 8 * 128 + i % 8 * 16 + i % 8 * 2, 0x3c00, 2);
  } else if (kind == "meta24" || kind == "meta12") {
    static constexpr unsigned k24[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe}, k12[] = {0x4, 0xe};
    for (unsigned char& b : bytes) {
      const auto nibble = [&] { return kind == "meta24" ? k24[random() % 6] : k12[random() % 2]; };
      const unsigned low = nibble(), high = nibble();
      b = static_cast<unsigned char>(low | high << 4);
    }
  } else if (kind == "even24") {
    for (unsigned char& b : bytes) b = 0x88;
  } else if (kind == "even12") {
    for (unsigned char& b : bytes) b = 0x44;
  } else {
    return kind == "zero";
  }
  return true;
}

// kind:bytes, or several joined by '+'. `which`: index of the operand.
inline Bytes make_input(const std::string& spec, int which) {
  using H = std::uint16_t;
  if (const std::size_t plus = spec.find('+'); plus != std::string::npos) {
    Bytes first = make_input(spec.substr(0, plus), which);
    const Bytes second = make_input(spec.substr(plus + 1), which + 3);
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }
  const std::string kind = spec.substr(0, spec.find(':')), base = kind.substr(0, kind.find('.'));
  const auto half = [&] {
    return float_values<H>({0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe12, 0x7c01, 1, 0x83ff, 0x0400,
                            0x8401, 0x7bff, 0x3bff, 0x4248, 0xd640},
                           5, 10, which);
  };
  const auto bfloat = [&] {
    return float_values<H>({0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 1, 0x807f, 0x0080,
                            0x8081, 0x7f7f, 0x3f7f, 0x4049, 0xc2c8},
                           8, 7, which);
  };
  if (base == "f32")
    return float_values<std::uint32_t>(
        {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc01234, 0x7f800001, 1,
         0x807fffff, 0x00800000, 0x80800001, 0x7f7fffff, 0x3f7fffff, 0x40490fdb, 0xc2c80000},
        8, 23, which);
  if (base == "f64")
    return float_values<std::uint64_t>(
        {0, 1ull << 63, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000,
         0x7ff8000000000000, 0xfff8000000001234, 0x7ff0000000000001, 1, 0x800fffffffffffff, 0x0010000000000000,
         0x8010000000000001, 0x7fefffffffffffff, 0x3fefffffffffffff, 0x400921fb54442d18, 0xc059000000000000},
        11, 52, which);
  if (base == "f16") return half();
  if (base == "bf16") return bfloat();
  if (base == "f16x2") return packed(half());
  if (base == "bf16x2") return packed(bfloat());
  // Matrices: numbers small enough for every sum to be exact in any order.
  Bytes bytes(static_cast<std::size_t>(std::atoll(spec.c_str() + spec.find(':') + 1)));
  Random random{1442695040888963407ull + static_cast<std::uint64_t>(which)};
  static constexpr Format kFormats[] = {{"xf16", 5, 10, 2}, {"xbf16", 8, 7, 2}, {"xtf32", 8, 23, 4}, {"xf32", 8, 23, 4},
                                        {"xe4m3", 4, 3, 1}, {"xe5m2", 5, 2, 1}, {"xf64", 11, 52, 8}};
  for (const Format& f : kFormats)
    if (base == f.name) {
      const std::size_t dot = kind.find('.'), count = bytes.size() / static_cast<std::size_t>(f.bytes);
      if (dot != std::string::npos)
        fill_adversarial(bytes.data(), count, f, std::atoi(kind.c_str() + dot + 1), random);
      else
        for (int part = 0; part < 8; ++part)
          fill_adversarial(bytes.data() + static_cast<std::size_t>(part) * bytes.size() / 8, count / 8, f, part,
                           random);
      return bytes;
    }
  if (fill_matrix_pattern(bytes, kind, random)) return bytes;
  if (kind == "sf16") fill<H>(bytes, random, {0, 0x3c00, 0x4000, 0x4200, 0xbc00, 0xc000, 0xc200, 0x3800});
  if (kind == "sbf16") fill<H>(bytes, random, {0, 0x3f80, 0x4000, 0x4040, 0xbf80, 0xc000, 0xc040, 0x3f00});
  if (kind == "se4m3") fill<std::uint8_t>(bytes, random, {0, 0x38, 0x40, 0x44, 0xb8, 0xc0, 0xc4, 0x30});
  if (kind == "se5m2") fill<std::uint8_t>(bytes, random, {0, 0x3c, 0x40, 0x42, 0xbc, 0xc0, 0xc2, 0x38});
  if (kind == "sf32") fill<float>(bytes, random, {-4, -3, -2, -1, 0, 1, 2, 3, 4});
  if (kind == "sf64") fill<double>(bytes, random, {-4, -3, -2, -1, 0, 1, 2, 3, 4});
  if (kind == "s32") fill<std::int32_t>(bytes, random, {-1000, -77, -1, 0, 1, 5, 123, 999});
  if (kind == "big") fill<std::int32_t>(bytes, random, {0x7fffff00, -0x7fffff00});
  if (kind == "raw")
    for (unsigned char& b : bytes) b = static_cast<unsigned char>(random());
  return bytes;
}

// Exact value of an approximated function, and the PTX manual's error bound: relative, or absolute if negative.
struct Reference {
  const char* prefix;
  double (*function)(double, double);
  double bound;
};
inline const std::vector<Reference>& references() {
  static const std::vector<Reference> all = {
      {"rcp.approx.ftz.f64", [](double a, double) { return 1 / a; }, 0x1p-19},
      {"rsqrt.approx.ftz.f64", [](double a, double) { return 1 / std::sqrt(a); }, 0x1p-19},
      {"rsqrt.approx.f64", [](double a, double) { return 1 / std::sqrt(a); }, 0x1p-22},
      {"rcp", [](double a, double) { return 1 / a; }, 0x1p-23},
      {"sqrt", [](double a, double) { return std::sqrt(a); }, 0x1p-23},
      {"rsqrt", [](double a, double) { return 1 / std::sqrt(a); }, 0x1.2p-23},
      {"sin", [](double a, double) { return std::sin(a); }, -0x1p-20},
      {"cos", [](double a, double) { return std::cos(a); }, -0x1p-20},
      {"lg2", [](double a, double) { return std::log2(a); }, 0x1p-22},
      {"ex2", [](double a, double) { return std::exp2(a); }, 0x1p-22},
      {"tanh", [](double a, double) { return std::tanh(a); }, 0x1p-10},
      {"div", [](double a, double b) { return a / b; }, 0x1p-22},
  };
  return all;
}

inline double number(const Bytes& bytes, std::size_t i, bool is_double) {
  if (bytes.empty()) return 0;
  if (is_double) {
    double d;
    std::memcpy(&d, &bytes[8 * i], 8);
    return d;
  }
  float f;
  std::memcpy(&f, &bytes[4 * i], 4);
  return f;
}

// Largest error as a multiple of the bound; sin and cos within one period.
inline double worst_error(const Case& c, const Bytes& in_a, const Bytes& in_b, const Bytes& out) {
  const Reference* reference = nullptr;
  for (const Reference& r : references())
    if (!reference && c.instruction.rfind(r.prefix, 0) == 0) reference = &r;
  if (!reference) return HUGE_VAL;
  const bool is_double = c.output == "f64", ftz = c.instruction.find("ftz") != std::string::npos,
             absolute = reference->bound < 0;
  const double largest = is_double ? 1.797e308 : 3.4028234e38, smallest = is_double ? 0x1p-1022 : 0x1p-126;
  double worst = 0;
  for (std::size_t i = 0; i < kCases; ++i) {
    double a = number(in_a, i, is_double);
    const double b = number(in_b, i, is_double), r = number(out, i, is_double);
    if (is_double && ftz) {  // only the upper half counts
      std::uint64_t bits;
      std::memcpy(&bits, &a, 8);
      bits &= 0xffffffff00000000u;
      std::memcpy(&a, &bits, 8);
    }
    if (ftz && std::fabs(a) < smallest) continue;
    if (absolute && std::fabs(a) > 6.3 && !std::isinf(a)) continue;
    if (c.instruction.rfind("div", 0) == 0 && (std::fabs(b) > 0x1p+126 || std::fabs(b) < 0x1p-126)) continue;
    const double exact = reference->function(a, b);
    if (std::isnan(exact) != std::isnan(r)) return HUGE_VAL;
    if (std::isnan(exact) || exact == r || std::fabs(exact) > largest || std::fabs(exact) < smallest) continue;
    const bool near_one = c.instruction.rfind("lg2", 0) == 0 && a > 0.5 && a < 2;
    worst = std::fmax(
        worst, std::fabs(r - exact) / (absolute || near_one ? 1 : std::fabs(exact)) / std::fabs(reference->bound));
  }
  return worst;
}

}  // namespace hardware
