// Matrices of wgmma in shared memory, given by descriptors (PTX ISA, "Shared Memory Matrix Layout" and "Matrix
// Descriptor Format"). They consist of pieces of 16 bytes, each contiguous in every layout, and are read by accesses to
// shared memory.
#include "jit/calls/warpgroup_matrix.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "device/access/access.h"
#include "device/symbols.h"

namespace warpgrind::device {

namespace {

constexpr unsigned kPiece = 16;       // bytes
constexpr unsigned kEight = 8;        // rows of a core matrix; 16-bit elements per piece
constexpr unsigned kBytesOfHalf = 2;  // of the types that may be stored by depth

// Bits of the descriptor: 0-13 start, 16-29 leading and 32-45 stride dimension byte offset, each divided by 16; 49-51
// base offset; 62-63 swizzling.
struct Descriptor {
  std::uint64_t start, leading, stride;
  unsigned base;   // of the swizzling pattern, in lines of 128 bytes
  unsigned width;  // adjacent pieces: 1 (not swizzled), 8 (128 bytes), 4, 2

  explicit Descriptor(std::uint64_t bits) {
    static constexpr unsigned kWidths[] = {1, 8, 4, 2};
    const auto field = [&](unsigned shift) { return (bits >> shift & 0x3fff) * 16; };
    start = field(0), leading = field(16), stride = field(32);
    base = static_cast<unsigned>(bits >> 49 & 7);
    width = kWidths[bits >> 62];
  }

  TensorSwizzle swizzle() const {
    return width == 8   ? TensorSwizzle::b128
           : width == 4 ? TensorSwizzle::b64
           : width == 2 ? TensorSwizzle::b32
                        : TensorSwizzle::none;
  }
  // The 16-byte columns inside `width` are permuted by the number of the line of 128 bytes.
  std::uint64_t swizzled(std::uint64_t address) const {
    return address ^ ((((address >> 7) - base) & (width - 1)) * kPiece);
  }
  // Address of piece `p` of row (A) or column (B) `line`.
  std::uint64_t of_line(unsigned line, unsigned p) const {
    const std::uint64_t beside = std::uint64_t{p % width} * kPiece + p / width * leading;
    return swizzled(start + std::uint64_t{line % kEight} * width * kPiece + line / kEight * stride + beside);
  }
  // Address of eight rows (columns) from 8*`group` on, at one `depth`.
  std::uint64_t of_depth(unsigned group, unsigned depth) const {
    const std::uint64_t line = std::uint64_t{depth % kEight} * width * kPiece;
    const std::uint64_t far =
        width == 1 ? group * stride + depth / kEight * leading
                   : std::uint64_t{group % width} * kPiece + group / width * leading + depth / kEight * stride;
    return swizzled(start + line + far);
  }
};

// Reads pieces, 32 at a time, to host memory.
class Reader {
 public:
  Reader(jit::WarpContext& w, std::uint32_t site) : w_(w), access_(access_of(w, site)) {
    access_.form = {StateSpace::shared, AccessType::load, kPiece};
    access_.element = kPiece;
    access_.path = events::AccessPath::bulk_copy;  // observers see ranges that the async proxy reads
    access_.counted = false;
  }
  // Call before the reads of each matrix: one event has one layout.
  void begin(const Descriptor& d) {
    flush();
    access_.swizzle = d.swizzle();
    access_.swizzle_base = static_cast<std::uint8_t>(d.base);
  }
  void read(std::uint64_t address, std::uint8_t* to) {
    WG_DEBUG_ASSERT(waiting_ < kWarpSize);
    addresses_[waiting_] = address;
    to_[waiting_] = to;
    if (++waiting_ == kWarpSize) flush();
  }
  void flush() {
    if (waiting_ == 0) return;
    const LaneMask lanes = waiting_ == kWarpSize ? kFullMask : (LaneMask{1} << waiting_) - 1;
    std::uint64_t offsets[kWarpSize];
    std::fill(addresses_ + waiting_, addresses_ + kWarpSize, addresses_[0]);
    own_offsets(w_, addresses_, offsets);  // descriptors have no rank
    Access access = access_.at(Lanes<SharedOffset>(offsets), lanes);
    const Place place = pass(access);
    for (unsigned l = 0; l < waiting_; ++l)
      if (access.mask >> l & 1)
        std::memcpy(to_[l], place.of(l), kPiece);
      else
        std::memset(to_[l], 0, kPiece);
    waiting_ = 0;
  }

 private:
  jit::WarpContext& w_;
  Access access_;
  unsigned waiting_ = 0;
  std::uint64_t addresses_[kWarpSize];
  std::uint8_t* to_[kWarpSize];
};

// Reads `count` rows of A or columns of B from `first` on, of `bytes` each.
void read_matrix(Reader& reader, const Descriptor& d, bool by_depth, unsigned bytes, unsigned first, unsigned count,
                 std::uint8_t* to) {
  WG_ASSERT(count % kEight == 0 && first % kEight == 0);
  reader.begin(d);
  if (by_depth) {
    for (unsigned k = 0; k < bytes / kBytesOfHalf; ++k)
      for (unsigned g = 0; g < count / kEight; ++g, to += kPiece) reader.read(d.of_depth(first / kEight + g, k), to);
  } else {
    for (unsigned line = 0; line < count; ++line)
      for (unsigned p = 0; p < bytes / kPiece; ++p, to += kPiece) reader.read(d.of_line(first + line, p), to);
  }
}

}  // namespace

}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

// code, flags: jit::WarpgroupProduct. left: 32 descriptors, or planes of registers; right: 32 descriptors. Descriptors
// and the predicate are equal in all lanes. metadata: of a sparse A, a word a lane.
static void wg_warpgroup_mma(void* context, std::uint32_t site, std::uint32_t code, std::uint32_t flags,
                             std::uint32_t* sums, const void* left, const std::uint64_t* right, std::uint32_t add,
                             std::uint32_t mask, const std::uint32_t* metadata) {
  if (mask == 0) return;
  jit::WarpContext& w = warp(context);
  ++fiber_of(w).products;
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  const auto product = jit::WarpgroupProduct::from_code(code, flags);
  jit::WarpgroupTiles tiles;
  tiles.metadata = metadata;
  Reader reader(w, site);
  if (product.has(jit::kWarpgroupAInShared))
    read_matrix(reader, Descriptor(static_cast<const std::uint64_t*>(left)[lane]), product.has(jit::kWarpgroupAByDepth),
                jit::kWarpgroupDepthBytes, w.warp % jit::kWarpgroupWarps * jit::kWarpgroupRows, jit::kWarpgroupRows,
                tiles.a);
  else
    jit::warpgroup_rows(static_cast<const std::uint32_t*>(left), tiles.a);
  read_matrix(reader, Descriptor(right[lane]), product.has(jit::kWarpgroupBByDepth), product.depth_bytes_of_b(), 0,
              product.columns, tiles.b);
  reader.flush();
  jit::multiply_warpgroup(product, tiles, (add >> lane & 1) != 0, w.capability, sums);
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> warpgroup_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_warpgroup_mma", reinterpret_cast<void*>(&wg_warpgroup_mma)}};
  return symbols;
}

}  // namespace warpgrind::device
