// Test of wgmma in every type, with A in registers and in shared memory, in each layout of its descriptors, against
// sums of integers. The layouts are written as the PTX manual draws them, element by element. Uses the driver API only,
// so that it also runs on a GPU: g++ -std=c++20 -O2 warpgroup.cpp -I/usr/local/cuda/include -lcuda && ./a.out (compute
// capability 9.0).
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr unsigned kRows = 64, kThreads = 128, kDepthBytes = 32, kImage = 32768;

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  std::printf("%s: %s\n", what, name ? name : "?");
  std::exit(1);
}

enum class Type { f16, bf16, tf32, e4m3, e5m2, s8, u8, b1 };
unsigned bits_of(Type t) {
  switch (t) {
    case Type::f16:
    case Type::bf16:
      return 16;
    case Type::tf32:
      return 32;
    case Type::b1:
      return 1;
    default:
      return 8;
  }
}
const char* name_of(Type t) {
  constexpr const char* kNames[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "b1"};
  return kNames[static_cast<int>(t)];
}

// The bits of a small integer as a float: sign, exponent with this bias, mantissa.
std::uint32_t floating(int value, int exponent_bits, int mantissa_bits) {
  if (value == 0) return 0;
  const unsigned size = static_cast<unsigned>(std::abs(value));
  int exponent = 0;
  while (size >> (exponent + 1)) ++exponent;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t mantissa = ((size << mantissa_bits) >> exponent) & ((1u << mantissa_bits) - 1);
  return (value < 0 ? 1u : 0u) << (exponent_bits + mantissa_bits) |
         static_cast<std::uint32_t>(exponent + bias) << mantissa_bits | mantissa;
}
std::uint32_t encoded(Type t, int value) {
  switch (t) {
    case Type::f16:
      return floating(value, 5, 10);
    case Type::bf16:
      return floating(value, 8, 7);
    case Type::tf32:
      return floating(value, 8, 23);
    case Type::e4m3:
      return floating(value, 4, 3);
    case Type::e5m2:
      return floating(value, 5, 2);
    default:
      return static_cast<std::uint32_t>(value) & 255u;
  }
}

struct Case {
  Type a, b;
  std::string d;  // "f32"
  unsigned columns;
  bool a_in_registers;
  unsigned a_swizzle, b_swizzle;  // 0, 32, 64, 128 bytes
  bool a_by_depth = false, b_by_depth = false;
  int a_sign = 1, b_sign = 1;
  bool add = true, saturate = false;
  unsigned step = 0;  // index of 32 bytes in a swizzled line

  bool integers() const { return d == "s32"; }
  unsigned depth() const { return kDepthBytes * 8 / bits_of(a); }
  unsigned registers() const { return columns / (d == "f16" ? 4 : 2); }
  std::string text() const {
    return std::string("m64n") + std::to_string(columns) + "k" + std::to_string(depth()) + "." + d + "." + name_of(a) +
           "." + name_of(b) + (a_in_registers ? ", A in registers" : ", A swizzled by " + std::to_string(a_swizzle)) +
           (a_by_depth ? " by depth" : "") + ", B by " + std::to_string(b_swizzle) + (b_by_depth ? " by depth" : "") +
           (add ? "" : ", not added") + (saturate ? ", saturated" : "") + (step ? ", further on" : "");
  }
};

// A matrix of `lines` rows of A or columns of B in shared memory, byte by byte, and its descriptor.
class Layout {
 public:
  Layout(unsigned swizzle, bool by_depth, unsigned lines, unsigned step)
      : swizzle_(swizzle), by_depth_(by_depth), step_(step) {
    if (swizzle == 0 && !by_depth) {  // cores of eight lines by 16 bytes; those of one depth follow each other
      stride_ = 128, leading_ = lines * 16;
    } else if (swizzle == 0) {  // those of the same lines follow each other
      leading_ = 128, stride_ = 256;
    } else if (!by_depth) {  // eight lines of `swizzle` bytes
      stride_ = 8 * swizzle, leading_ = 16;
    } else {  // eight depths of `swizzle` bytes, then the other eight depths, then other lines
      stride_ = 8 * swizzle, leading_ = 2 * stride_;
    }
  }
  // Offset of byte `at` of a line, along the depth. For 16-bit elements stored by depth: the element's low byte.
  unsigned place(unsigned line, unsigned at) const {
    if (!by_depth_ && swizzle_ == 0) return line / 8 * stride_ + at / 16 * leading_ + line % 8 * 16 + at % 16;
    if (!by_depth_) {
      const unsigned in_line = at + step_ * kDepthBytes;
      return line / 8 * stride_ + line % 8 * swizzle_ + (in_line / 16 ^ turn(line % 8)) * 16 + at % 16;
    }
    const unsigned depth = at / 2, bytes = line * 2;
    if (swizzle_ == 0) return line / 8 * stride_ + depth / 8 * leading_ + depth % 8 * 16 + line % 8 * 2;
    return bytes / swizzle_ * leading_ + depth / 8 * stride_ + depth % 8 * swizzle_ +
           (bytes % swizzle_ / 16 ^ turn(depth % 8)) * 16 + bytes % 16;
  }
  std::uint64_t descriptor(unsigned start) const {
    const std::uint64_t mode = swizzle_ == 128 ? 1 : swizzle_ == 64 ? 2 : swizzle_ == 32 ? 3 : 0;
    const unsigned from = start + (by_depth_ || swizzle_ == 0 ? 0 : step_ * kDepthBytes);
    return from / 16 | std::uint64_t{leading_ / 16} << 16 | std::uint64_t{stride_ / 16} << 32 | mode << 62;
  }

 private:
  unsigned turn(unsigned eighth) const { return swizzle_ == 128 ? eighth : swizzle_ == 64 ? eighth / 2 : eighth / 4; }
  unsigned swizzle_, leading_ = 0, stride_ = 0;
  bool by_depth_;
  unsigned step_;
};

std::string hexadecimal(std::uint64_t v) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

// out: the registers of D, thread by thread; a, b: images of shared memory, or A's registers.
std::string kernel(const Case& c, std::uint64_t a, std::uint64_t b) {
  std::string text =
      ".version 8.4\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 memory[];\n"
      ".visible .entry kernel(.param .u64 out, .param .u64 a, .param .u64 b)\n{\n"
      "  .reg .b32 %d<128>, %a<4>, %i, %n, %v, %s; .reg .b64 %out, %A, %B, %x, %left, %right; .reg .pred %p, %more;\n"
      "  ld.param.u64 %out, [out]; ld.param.u64 %A, [a]; ld.param.u64 %B, [b];\n  mov.u32 %n, %tid.x;\n";
  for (const char* from : {"%A", "%B"}) {
    const std::string label = from[1] == 'A' ? "left" : "right";
    text += "  shl.b32 %i, %n, 2;\n" + label + ":\n  cvt.u64.u32 %x, %i; add.u64 %x, %x, " + from +
            "; ld.global.u32 %v, [%x];\n  mov.u32 %s, memory; add.u32 %s, %s, %i; st.shared.u32 [%s" +
            (from[1] == 'A' ? "" : "+" + std::to_string(kImage)) + "], %v;\n  add.u32 %i, %i, " +
            std::to_string(kThreads * 4) + "; setp.lt.u32 %more, %i, " + std::to_string(kImage) + ";\n  @%more bra " +
            label + ";\n";
  }
  text += "  bar.sync 0;\n  fence.proxy.async.shared::cta;\n";
  const unsigned n = c.registers();
  text += "  mul.lo.u32 %i, %n, " + std::to_string(4 * n) + "; cvt.u64.u32 %x, %i; add.u64 %out, %out, %x;\n";
  for (unsigned r = 0; r < n; ++r)
    text += "  ld.global.u32 %d" + std::to_string(r) + ", [%out+" + std::to_string(4 * r) + "];\n";
  text += "  shl.b32 %i, %n, 4; cvt.u64.u32 %x, %i; add.u64 %A, %A, %x; ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%A];\n";
  // The descriptors hold offsets. The memory may begin at any aligned address.
  text += "  mov.u32 %s, memory; shr.u32 %s, %s, 4; cvt.u64.u32 %x, %s;\n  add.u64 %left, %x, " + hexadecimal(a) +
          "; add.u64 %right, %x, " + hexadecimal(b) + ";\n";
  text += std::string("  setp.ne.u32 %p, 0, ") + (c.add ? "1" : "0") + ";\n  wgmma.fence.sync.aligned;\n";
  text += "  wgmma.mma_async.sync.aligned.m64n" + std::to_string(c.columns) + "k" + std::to_string(c.depth()) +
          (c.saturate ? ".satfinite." : ".") + c.d + "." + name_of(c.a) + "." + name_of(c.b) +
          (c.a == Type::b1 ? ".and.popc {" : " {");
  for (unsigned r = 0; r < n; ++r) text += (r ? ", %d" : "%d") + std::to_string(r);
  text += std::string("}, ") + (c.a_in_registers ? "{%a0, %a1, %a2, %a3}" : "%left") + ", %right, %p";
  if (!c.integers()) text += ", " + std::to_string(c.a_sign) + ", " + std::to_string(c.b_sign);
  if (bits_of(c.a) == 16 && !c.a_in_registers) text += c.a_by_depth ? ", 1" : ", 0";
  if (bits_of(c.a) == 16) text += c.b_by_depth ? ", 1" : ", 0";
  text += ";\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  for (unsigned r = 0; r < n; ++r)
    text += "  st.global.u32 [%out+" + std::to_string(4 * r) + "], %d" + std::to_string(r) + ";\n";
  return text + "  ret;\n}\n";
}

using Image = std::vector<std::uint8_t>;

// A matrix of integers, element [line][k].
struct Matrix {
  Type type;
  std::vector<int> values;
  unsigned depth;
  int at(unsigned line, unsigned k) const { return values[line * depth + k]; }
};

Matrix random_matrix(Type type, unsigned lines, unsigned depth, std::mt19937& random) {
  Matrix m{type, std::vector<int>(lines * depth), depth};
  const int low = type == Type::s8 ? -128 : type == Type::u8 || type == Type::b1 ? 0 : -3;
  const int high = type == Type::s8 ? 127 : type == Type::u8 ? 255 : type == Type::b1 ? 1 : 3;
  for (int& v : m.values) v = low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  return m;
}

// The 32 bytes of a line along the depth.
std::vector<std::uint8_t> bytes_of(const Matrix& m, unsigned line) {
  std::vector<std::uint8_t> out(kDepthBytes);
  const unsigned bits = bits_of(m.type);
  for (unsigned k = 0; k < m.depth; ++k) {
    const std::uint32_t v = bits == 1 ? static_cast<std::uint32_t>(m.at(line, k)) : encoded(m.type, m.at(line, k));
    if (bits == 1)
      out[k / 8] = static_cast<std::uint8_t>(out[k / 8] | v << k % 8);
    else
      std::memcpy(&out[k * bits / 8], &v, bits / 8);
  }
  return out;
}

void place(const Matrix& m, unsigned lines, bool by_depth, const Layout& layout, Image& image) {
  for (unsigned line = 0; line < lines; ++line) {
    const auto bytes = bytes_of(m, line);
    for (unsigned at = 0; at < kDepthBytes; ++at) image[layout.place(line, at) + (by_depth ? at % 2 : 0)] = bytes[at];
  }
}

// Registers of the fragment of A: word r of lane l of warp w has row 16w + l/4 + 8(r%2), bytes 16(r/2) + 4(l%4).
void place_in_registers(const Matrix& m, Image& image) {
  for (unsigned thread = 0; thread < kThreads; ++thread)
    for (unsigned r = 0; r < 4; ++r) {
      const unsigned l = thread % 32, row = thread / 32 * 16 + l / 4 + 8 * (r % 2);
      std::memcpy(&image[thread * 16 + r * 4], &bytes_of(m, row)[r / 2 * 16 + l % 4 * 4], 4);
    }
}

struct Place {
  unsigned row, column;
};
Place place_of(unsigned thread, unsigned element) {  // elements of D; f16 has two a register
  const unsigned l = thread % 32;
  return {thread / 32 * 16 + l / 4 + 8 * (element / 2 % 2), element / 4 * 8 + l % 4 * 2 + element % 2};
}

bool run(const Case& c) {
  std::mt19937 random(c.columns * 31 + static_cast<unsigned>(c.a));
  const Matrix a = random_matrix(c.a, kRows, c.depth(), random), b = random_matrix(c.b, c.columns, c.depth(), random);
  const Layout left(c.a_swizzle, c.a_by_depth, kRows, c.step), right(c.b_swizzle, c.b_by_depth, c.columns, c.step);
  Image a_image(kImage), b_image(kImage);
  if (c.a_in_registers)
    place_in_registers(a, a_image);
  else
    place(a, kRows, c.a_by_depth, left, a_image);
  place(b, c.columns, c.b_by_depth, right, b_image);
  const std::string text = kernel(c, left.descriptor(0), right.descriptor(kImage));

  // Initial D: small numbers, but large ones for saturated integers.
  const unsigned elements = c.columns / 2, element_bytes = c.d == "f16" ? 2 : 4;
  Image d(kThreads * elements * element_bytes);
  std::vector<std::int64_t> before(kRows * c.columns);
  for (unsigned thread = 0; thread < kThreads; ++thread)
    for (unsigned e = 0; e < elements; ++e) {
      const Place p = place_of(thread, e);
      const int value =
          c.saturate ? (p.column % 2 ? INT32_MAX - 5 : INT32_MIN + 5) : static_cast<int>((p.row * 7 + p.column) % 100);
      before[p.row * c.columns + p.column] = value;
      const std::uint32_t word = c.integers()   ? static_cast<std::uint32_t>(value)
                                 : c.d == "f16" ? floating(value, 5, 10)
                                                : floating(value, 8, 23);
      std::memcpy(&d[(thread * elements + e) * element_bytes], &word, element_bytes);
    }

  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr memory = 0;
  check(cuModuleLoadData(&module, text.c_str()), c.text().c_str());
  check(cuModuleGetFunction(&function, module, "kernel"), "cuModuleGetFunction");
  check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 2 * kImage),
        "cuFuncSetAttribute");
  check(cuMemAlloc(&memory, 2 * kImage + d.size()), "cuMemAlloc");
  CUdeviceptr from_a = memory, from_b = memory + kImage, out = memory + 2 * kImage;
  check(cuMemcpyHtoD(from_a, a_image.data(), kImage), "cuMemcpyHtoD");
  check(cuMemcpyHtoD(from_b, b_image.data(), kImage), "cuMemcpyHtoD");
  check(cuMemcpyHtoD(out, d.data(), d.size()), "cuMemcpyHtoD");
  void* arguments[] = {&out, &from_a, &from_b};
  check(cuLaunchKernel(function, 1, 1, 1, kThreads, 1, 1, 2 * kImage, nullptr, arguments, nullptr), "cuLaunchKernel");
  check(cuMemcpyDtoH(d.data(), out, d.size()), c.text().c_str());
  check(cuMemFree(memory), "cuMemFree");
  check(cuModuleUnload(module), "cuModuleUnload");

  unsigned wrong = 0;
  for (unsigned thread = 0; thread < kThreads; ++thread)
    for (unsigned e = 0; e < elements; ++e) {
      const Place p = place_of(thread, e);
      std::int64_t sum = c.add ? before[p.row * c.columns + p.column] : 0;
      for (unsigned k = 0; k < c.depth(); ++k) sum += c.a_sign * c.b_sign * a.at(p.row, k) * b.at(p.column, k);
      if (c.saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      const int value = static_cast<int>(sum);
      std::uint32_t word = 0;
      std::memcpy(&word, &d[(thread * elements + e) * element_bytes], element_bytes);
      const std::uint32_t expected = c.integers()   ? static_cast<std::uint32_t>(value)
                                     : c.d == "f16" ? floating(value, 5, 10)
                                                    : floating(value, 8, 23);
      wrong += word != expected;
    }
  if (wrong) std::printf("%s: %u of %u differ\n", c.text().c_str(), wrong, kRows * c.columns);
  return wrong == 0;
}

std::vector<Case> cases() {
  std::vector<Case> out;
  constexpr unsigned kSwizzles[] = {0, 32, 64, 128};
  static constexpr struct {
    Type a, b;
    const char* d;
  } kTypes[] = {{Type::f16, Type::f16, "f32"},   {Type::f16, Type::f16, "f16"},   {Type::bf16, Type::bf16, "f32"},
                {Type::tf32, Type::tf32, "f32"}, {Type::e4m3, Type::e5m2, "f32"}, {Type::e5m2, Type::e4m3, "f16"},
                {Type::s8, Type::u8, "s32"},     {Type::u8, Type::s8, "s32"},     {Type::b1, Type::b1, "s32"}};
  const auto both_places = [&](Case c) {
    for (const bool registers : {false, true}) {
      c.a_in_registers = registers;
      out.push_back(c);
    }
  };
  for (const unsigned swizzle : kSwizzles) {
    for (const auto& [a, b, d] : kTypes)
      both_places(
          {.a = a, .b = b, .d = d, .columns = 32, .a_in_registers = false, .a_swizzle = swizzle, .b_swizzle = swizzle});
    // 16-bit types may be stored by depth, A and B separately.
    for (const unsigned columns : {64u, 128u})
      for (const unsigned way : {1u, 2u, 3u})
        out.push_back({.a = Type::f16,
                       .b = Type::f16,
                       .d = "f32",
                       .columns = columns,
                       .a_in_registers = false,
                       .a_swizzle = swizzle,
                       .b_swizzle = swizzle,
                       .a_by_depth = (way & 1) != 0,
                       .b_by_depth = (way & 2) != 0});
    // Starts at the second 32 bytes of a line.
    if (swizzle > 32)
      out.push_back({.a = Type::f16,
                     .b = Type::f16,
                     .d = "f32",
                     .columns = 32,
                     .a_in_registers = false,
                     .a_swizzle = swizzle,
                     .b_swizzle = swizzle,
                     .step = 1});
  }
  for (const unsigned columns : {8u, 24u, 96u, 200u, 256u})
    both_places({.a = Type::bf16,
                 .b = Type::bf16,
                 .d = "f32",
                 .columns = columns,
                 .a_in_registers = false,
                 .a_swizzle = 128,
                 .b_swizzle = 128,
                 .a_sign = -1,
                 .add = columns != 24});
  both_places({.a = Type::f16,
               .b = Type::f16,
               .d = "f16",
               .columns = 16,
               .a_in_registers = false,
               .a_swizzle = 64,
               .b_swizzle = 128,
               .b_sign = -1,
               .add = false});
  both_places({.a = Type::s8,
               .b = Type::s8,
               .d = "s32",
               .columns = 32,
               .a_in_registers = false,
               .a_swizzle = 32,
               .b_swizzle = 0,
               .saturate = true});
  return out;
}

}  // namespace

int main() {
  check(cuInit(0), "cuInit");
  CUcontext context = nullptr;
  check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  unsigned good = 0, all = 0;
  for (const Case& c : cases()) {
    good += run(c);
    ++all;
  }
  std::printf("%u of %u forms equal\n", good, all);
  return good == all ? 0 : 1;
}
