// Decoding of the descriptors of tcgen05, and the rules of the PTX manual for their fields.
#include "jit/calls/tensor_descriptor.h"

#include <fmt/format.h>

namespace warpgrind::jit {

namespace {

unsigned field(std::uint64_t bits, unsigned low, unsigned count) {
  return static_cast<unsigned>(bits >> low & ((std::uint64_t{1} << count) - 1));
}

bool is_scaled(TensorKind kind) {
  return kind == TensorKind::mxf8f6f4 || kind == TensorKind::mxf4 || kind == TensorKind::mxf4nvf4;
}

bool is_four_bits(TensorKind kind) {
  return kind == TensorKind::mxf4 || kind == TensorKind::mxf4nvf4;
}

const char* kind_text(TensorKind kind) {
  static constexpr const char* kNames[] = {".kind::f16",      ".kind::tf32", ".kind::f8f6f4",  ".kind::i8",
                                           ".kind::mxf8f6f4", ".kind::mxf4", ".kind::mxf4nvf4"};
  return kNames[static_cast<unsigned>(kind)];
}

// The type that `code` stands for, or a text that says that it stands for none.
std::string factor_type(TensorKind kind, unsigned code, char matrix, TensorElement& type) {
  using E = TensorElement;
  const auto found = [&](E e) { return type = e, std::string(); };
  switch (kind) {
    case TensorKind::f16:
      if (code < 2) return found(code == 0 ? E::f16 : E::bf16);
      break;
    case TensorKind::tf32:
      if (code == 2) return found(E::tf32);
      break;
    case TensorKind::i8:
      if (code < 2) return found(code == 0 ? E::u8 : E::s8);
      break;
    case TensorKind::f8f6f4:
    case TensorKind::mxf8f6f4: {
      static constexpr E kTypes[] = {E::e4m3, E::e5m2, E::f32, E::e2m3, E::e3m2, E::e2m1};
      if (code < std::size(kTypes) && code != 2) return found(kTypes[code]);
      break;
    }
    case TensorKind::mxf4:
    case TensorKind::mxf4nvf4:
      if (code == 1) return found(E::e2m1);
      break;
  }
  return fmt::format("{} is no type of matrix {} with {}", code, matrix, kind_text(kind));
}

std::string sum_type(TensorKind kind, unsigned code, TensorElement& type) {
  const bool integer = kind == TensorKind::i8, half = kind == TensorKind::f16 || kind == TensorKind::f8f6f4;
  if (code == 0 && half) return type = TensorElement::f16, "";
  if (code == 1 && !integer) return type = TensorElement::f32, "";
  if (code == 2 && integer) return type = TensorElement::s32, "";
  return fmt::format("{} is no type of matrix D with {}", code, kind_text(kind));
}

unsigned depth_of(TensorKind kind, bool sparse, bool deeper) {
  if (deeper) return kLongTensorDepth;
  const unsigned dense = kind == TensorKind::f16 ? 16 : kind == TensorKind::tf32 ? 8 : is_four_bits(kind) ? 64 : 32;
  return sparse ? 2 * dense : dense;
}

// PTX ISA, "Matrix Shape".
std::string shape_problem(const TensorForm& f, const TensorProduct& p) {
  const auto says = [&](const char* matrix, unsigned size, const std::string& wanted) {
    return fmt::format("{} = {} is not possible with {}{}.cta_group::{}{}: {}", matrix, size, kind_text(f.kind),
                       f.stationary ? ".ws" : "", f.pair ? 2 : 1, f.sparse ? " and sparse A" : "", wanted);
  };
  const bool scaled = is_scaled(f.kind);
  bool fits = false;
  std::string rows;
  if (f.stationary)
    fits = p.m == 32 || p.m == 64 || p.m == 128, rows = "32, 64 or 128";
  else if (f.pair && scaled && f.sparse)
    fits = p.m == 256, rows = "256";
  else if (f.pair)
    fits = p.m == 128 || p.m == 256, rows = "128 or 256";
  else if (scaled)
    fits = p.m == 128, rows = "128";
  else
    fits = p.m == 64 || p.m == 128, rows = "64 or 128";
  if (!fits) return says("M", p.m, rows);
  if (f.stationary) {
    fits = p.n == 64 || p.n == 128 || (p.n == 256 && !f.sparse);
    return fits ? "" : says("N", p.n, f.sparse ? "64 or 128" : "64, 128 or 256");
  }
  const bool integer = f.kind == TensorKind::i8;
  const unsigned step = (integer ? 16u : 8u) * (f.pair ? 2 : 1);
  fits = p.n >= step && p.n <= 256 && p.n % step == 0;
  if (integer && !f.pair && (p.n == 8 || p.n == 24)) fits = true;
  return fits ? "" : says("N", p.n, fmt::format("a multiple of {} up to 256", step));
}

std::string transpose_problem(const TensorForm& f, const TensorProduct& p) {
  if (!p.transpose_a && !p.transpose_b) return "";
  if (is_four_bits(f.kind)) return fmt::format("{} takes no transposed matrix", kind_text(f.kind));
  const auto small = [](TensorElement e) {
    return e == TensorElement::e2m3 || e == TensorElement::e3m2 || e == TensorElement::e2m1;
  };
  if ((p.transpose_a && small(p.a)) || (p.transpose_b && small(p.b)))
    return "a matrix of 4-bit or 6-bit elements cannot be transposed";
  if (p.transpose_a && f.a_in_tensor_memory) return "matrix A in tensor memory cannot be transposed";
  const bool bytes = tensor_element_bits(p.b, f.kind) == 8;
  const unsigned step = f.pair ? 32 : 16;
  if (bytes && p.transpose_b && p.n % step != 0)
    return fmt::format("a transposed matrix B of 8-bit elements needs N as a multiple of {}, not {}", step, p.n);
  return "";
}

std::string scale_problem(const TensorForm& f, const TensorProduct& p) {
  if (f.kind == TensorKind::mxf8f6f4 || f.kind == TensorKind::mxf4) {
    if (p.scale != ScaleElement::ue8m0) return fmt::format("{} takes scale factors of UE8M0 only", kind_text(f.kind));
  } else if (p.scale == ScaleElement::ue4m3 && f.scale_blocks == 2) {
    return "scale factors of UE4M3 need .scale_vec::4X";
  }
  for (const unsigned id : {p.scale_a_id, p.scale_b_id}) {
    const bool is_long = p.k == kLongTensorDepth;
    if (is_long && f.scale_blocks == 4 && id % 2 != 0)
      return fmt::format("scale factor id {} with blocks of 16 and a K of 96 must be 0 or 2", id);
    if (is_long) continue;
    if (f.scale_blocks == 2 && id % 2 != 0)
      return fmt::format("scale factor id {} with .scale_vec::2X must be 0 or 2", id);
    if (f.scale_blocks == 4 && id != 0) return fmt::format("scale factor id {} with .scale_vec::4X must be 0", id);
  }
  return "";
}

}  // namespace

std::uint32_t TensorForm::code() const {
  return static_cast<std::uint32_t>(kind) | std::uint32_t{pair} << 4 | std::uint32_t{sparse} << 5 |
         std::uint32_t{stationary} << 6 | std::uint32_t{a_in_tensor_memory} << 7 | std::uint32_t{shifts_a} << 8 |
         std::uint32_t{scale_blocks} << 9 | std::uint32_t{masks_lanes} << 12 | std::uint32_t{masks_columns} << 13 |
         std::uint32_t{scale_d} << 14;
}

TensorForm TensorForm::from_code(std::uint32_t code) {
  TensorForm f;
  f.kind = static_cast<TensorKind>(code & 15);
  f.pair = code >> 4 & 1;
  f.sparse = code >> 5 & 1;
  f.stationary = code >> 6 & 1;
  f.a_in_tensor_memory = code >> 7 & 1;
  f.shifts_a = code >> 8 & 1;
  f.scale_blocks = code >> 9 & 7;
  f.masks_lanes = code >> 12 & 1;
  f.masks_columns = code >> 13 & 1;
  f.scale_d = code >> 14 & 15;
  return f;
}

unsigned tensor_element_bits(TensorElement element, TensorKind kind) {
  switch (element) {
    case TensorElement::f16:
    case TensorElement::bf16:
      return 16;
    case TensorElement::tf32:
    case TensorElement::f32:
    case TensorElement::s32:
      return 32;
    case TensorElement::e2m1:
      return is_four_bits(kind) ? 4 : 8;
    case TensorElement::e4m3:
    case TensorElement::e5m2:
    case TensorElement::e2m3:
    case TensorElement::e3m2:
    case TensorElement::u8:
    case TensorElement::s8:
      return 8;
  }
  return 0;
}

std::string decode_tensor_product(std::uint32_t bits, const TensorForm& form, TensorProduct& p) {
  const bool scaled = is_scaled(form.kind), four = is_four_bits(form.kind);
  const auto reserved = [&](unsigned low, unsigned count) {
    return field(bits, low, count) == 0
               ? std::string()
               : fmt::format("reserved bits {} to {} of {:#010x} are not 0", low, low + count - 1, bits);
  };
  std::string problem;
  const auto fails = [&](std::string text) { return !(problem = std::move(text)).empty(); };
  const bool sparse = field(bits, 2, 1) != 0;
  if (sparse != form.sparse)
    return sparse ? "the sparsity bit is 1, but the instruction is not tcgen05.mma.sp"
                  : "the sparsity bit is 0, but the instruction is tcgen05.mma.sp";
  if (fails(reserved(6, 1))) return problem;
  if (scaled) {
    if (fails(reserved(0, 2)) || fails(reserved(3, 1)) || fails(reserved(24, 3)) ||
        fails(four ? reserved(12, 1) : reserved(31, 1)))
      return problem;
    p.scale_b_id = field(bits, 4, 2);
    p.scale_a_id = field(bits, 29, 2);
    p.scale = field(bits, 23, 1) ? ScaleElement::ue8m0 : ScaleElement::ue4m3;
    p.d = TensorElement::f32;
  } else {
    if (fails(reserved(23, 1)) || fails(reserved(29, 1))) return problem;
    p.sparsity_selector = field(bits, 0, 2);
    if (!form.sparse && p.sparsity_selector != 0) return "the sparsity selector is not 0, but A is dense";
    p.saturate = field(bits, 3, 1) != 0;
    if (p.saturate && form.kind != TensorKind::i8) return "only integer sums saturate (bit 3)";
    if (fails(sum_type(form.kind, field(bits, 4, 2), p.d))) return problem;
    if (!form.stationary && fails(reserved(30, 2))) return problem;
  }
  if (fails(factor_type(form.kind, field(bits, 7, 3), 'A', p.a)) ||
      fails(factor_type(form.kind, field(bits, 10, four ? 2 : 3), 'B', p.b)))
    return problem;
  if (form.kind == TensorKind::f16 && p.d == TensorElement::f16 &&
      (p.a != TensorElement::f16 || p.b != TensorElement::f16))
    return "matrix D of F16 needs A and B of F16";
  p.negate_a = field(bits, 13, 1) != 0;
  p.negate_b = field(bits, 14, 1) != 0;
  if (form.kind == TensorKind::i8 && (p.negate_a || p.negate_b)) return ".kind::i8 negates no matrix (bits 13 and 14)";
  p.transpose_a = field(bits, 15, 1) != 0;
  p.transpose_b = field(bits, 16, 1) != 0;
  p.n = field(bits, 17, 6) << 3;
  p.m = scaled ? field(bits, 27, 2) << 7 : field(bits, 24, 5) << 4;
  const bool deeper = four && field(bits, 31, 1) != 0;
  if (deeper && form.sparse) return "a K of 96 (bit 31) is for a dense A";
  p.k = depth_of(form.kind, form.sparse, deeper);
  if (fails(shape_problem(form, p)) || fails(transpose_problem(form, p))) return problem;
  if (scaled && fails(scale_problem(form, p))) return problem;
  if (form.shifts_a && p.m != 128 && p.m != 256) return fmt::format(".ashift needs M of 128 or 256, not {}", p.m);
  return "";
}

std::string MatrixDescriptor::decode(std::uint64_t bits) {
  const auto distance = [&](unsigned low) { return std::uint64_t{field(bits, low, 14)} * kPiece; };
  start = distance(0), leading = distance(16), stride = distance(32);
  base = field(bits, 49, 3);
  absolute = field(bits, 52, 1) != 0;
  if (field(bits, 46, 3) != 1)
    return fmt::format(
        "bits 46 to 48 of the matrix descriptor {:#018x} must be 0b001 (the version of compute "
        "capability 10)",
        bits);
  if (field(bits, 53, 8) != 0) return fmt::format("bits 53 to 60 of the matrix descriptor {:#018x} are not 0", bits);
  switch (field(bits, 61, 3)) {
    case 0:
      swizzle = Swizzle::none;
      break;
    case 1:
      swizzle = Swizzle::bytes_128_by_32;
      break;
    case 2:
      swizzle = Swizzle::bytes_128;
      break;
    case 4:
      swizzle = Swizzle::bytes_64;
      break;
    case 6:
      swizzle = Swizzle::bytes_32;
      break;
    default:
      return fmt::format("{} is no swizzling mode (bits 61 to 63 of the matrix descriptor)", field(bits, 61, 3));
  }
  return "";
}

namespace {

// Pieces of 16 bytes that lie side by side.
unsigned width_of(MatrixDescriptor::Swizzle s) {
  using S = MatrixDescriptor::Swizzle;
  return s == S::none ? 1 : s == S::bytes_32 ? 2 : s == S::bytes_64 ? 4 : 8;
}

}  // namespace

// The 16-byte columns (32-byte ones with 32-byte atoms) of a line are permuted by the number of the line of 128 bytes.
std::uint64_t MatrixDescriptor::swizzled(std::uint64_t address) const {
  const std::uint64_t line = (address >> 7) - base;
  if (swizzle == Swizzle::bytes_128_by_32) return address ^ (line & 3) << 5;
  return address ^ (line & (width_of(swizzle) - 1)) << 4;
}

unsigned MatrixDescriptor::pieces_of_line() const {
  const unsigned width = width_of(swizzle);
  return width - start / kPiece % width;
}

std::uint64_t MatrixDescriptor::of_line(unsigned line, unsigned p) const {
  const unsigned width = width_of(swizzle);
  const std::uint64_t before = std::uint64_t{line % 8} * width * kPiece + line / 8 * stride;
  if (width == 1) return swizzled(start + before + p * leading);
  const unsigned first = pieces_of_line();
  const bool next = absolute && p >= first;
  return swizzled((next ? leading : start) + before + std::uint64_t{next ? p - first : p} * kPiece);
}

std::uint64_t MatrixDescriptor::of_depth(unsigned group, unsigned depth) const {
  const unsigned width = width_of(swizzle), rows = swizzle == Swizzle::bytes_128_by_32 ? 4 : 8;
  const std::uint64_t line = std::uint64_t{depth % rows} * width * kPiece;
  const std::uint64_t far =
      width == 1 ? group * stride + depth / rows * leading
                 : std::uint64_t{group % width} * kPiece + group / width * leading + depth / rows * stride;
  return swizzled(start + line + far);
}

ColumnMask decode_column_mask(std::uint64_t bits, unsigned m, unsigned n) {
  ColumnMask mask;
  mask.shift = field(bits, 56, 6);
  if (field(bits, 39, 1) == 0) return mask;
  // The manual's examples, and CUTLASS, have the two spans the other way round than its table of fields.
  const unsigned zero = field(bits, 40, 8) + 1, used = field(bits, 48, 8) + 1;
  const unsigned parts = m == 32 ? 4 : m == 64 ? 2 : 1, columns = n / parts;
  for (unsigned part = 0; part < parts; ++part) {
    // The pattern of spans begins with one of zeroes if "first span" is 1; its first `skip` columns are left out.
    const bool zero_first = field(bits, 32 + part, 1) != 0;
    const unsigned skip = field(bits, 8 * part, 8), first = zero_first ? zero : used;
    for (unsigned c = 0; c < columns; ++c) {
      const unsigned at = (c + skip) % (used + zero);
      mask.zeroes[part * columns + c] = (at < first) == zero_first;
    }
  }
  return mask;
}

}  // namespace warpgrind::jit
