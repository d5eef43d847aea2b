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

// kind:bytes. `which`: index of the operand.
inline Bytes make_input(const std::string& spec, int which) {
  using H = std::uint16_t;
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
