// Textures for all lanes at once (device/calls/texture_lanes.h) against the same lanes one by one, which an H200's
// answers hold (device_texture_test.cpp): values, what was read, and in which order.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "device/calls/texture_lanes.h"

namespace warpgrind::device {
namespace {

using jit::TextureCall;
using Kind = ChannelFormat::Kind;

struct Format {
  Kind kind;
  std::uint8_t bits, channels;
  bool normalized_float;
};
constexpr Format kFormats[] = {
    {Kind::floating, 32, 1, false},        {Kind::floating, 32, 2, false},        {Kind::floating, 32, 4, false},
    {Kind::floating, 16, 2, false},        {Kind::unsigned_integer, 8, 1, true},  {Kind::unsigned_integer, 8, 4, true},
    {Kind::unsigned_integer, 16, 2, true}, {Kind::signed_integer, 8, 4, true},    {Kind::unsigned_integer, 8, 4, false},
    {Kind::signed_integer, 16, 1, false},  {Kind::unsigned_integer, 32, 4, false}};

class Lanes : public testing::TestWithParam<Format> {
 protected:
  std::mt19937 random_{7};
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_()) % n; }

  Texture texture(TextureGeometry geometry) {
    const Format& f = GetParam();
    ChannelFormat format;
    format.kind = f.kind;
    for (unsigned k = 0; k < f.channels; ++k) format.bits[k] = f.bits;
    const bool layered = geometry == TextureGeometry::a1d || geometry == TextureGeometry::a2d;
    ArrayShape shape;
    shape.width = 1 + below(40);
    if (geometry == TextureGeometry::d2 || geometry == TextureGeometry::a2d) shape.height = 1 + below(24);
    if (layered) shape.depth = 1 + below(3), shape.layered = true;
    std::shared_ptr<Array> array = Array::create(format, shape);
    for (std::uint64_t i = 0; i < array->size(); ++i) array->data()[i] = static_cast<std::uint8_t>(random_());
    Texture t;
    t.resource.array = array;
    TextureDescription& d = t.description;
    for (AddressMode& mode : d.address) mode = static_cast<AddressMode>(below(4));
    d.linear_filter = below(2) != 0;
    d.normalized_coordinates = below(2) != 0;
    d.normalized_float = f.normalized_float;
    d.border = {0.25f, -1.5f, 0.75f, 1};
    return t;
  }

  float coordinate(bool normalized) {
    const float special[] = {0.0f, -0.0f, 1.0f, std::numeric_limits<float>::quiet_NaN(), 0x1p-130f, -0x1p20f, 0.5f};
    if (below(12) == 0) return special[below(std::size(special))];
    const float whole = static_cast<float>(below(1u << 20)) * 0x1p-20f;  // 0 to 1
    return (whole * 3 - 1) * (normalized ? 1.0f : 40.0f);
  }
};

// Of sums of several not-a-numbers the compiler chooses whose payload stays.
std::uint32_t bits_of(std::uint32_t value, bool sum) {
  return sum && std::isnan(std::bit_cast<float>(value)) ? 0x7fffffff : value;
}

constexpr TextureGeometry kGeometries[] = {TextureGeometry::d1, TextureGeometry::d2, TextureGeometry::a1d,
                                           TextureGeometry::a2d};

void expect_same(const Texels& all, unsigned lane, const TexelList& one) {
  for (unsigned k = 0; k < one.count; ++k) {
    ASSERT_LT(k, all.most);
    EXPECT_TRUE(all.on[k] >> lane & 1);
    EXPECT_EQ(all.addresses[k][lane], one.at[k].address);
    EXPECT_EQ(all.layout[k][lane], one.at[k].layout);
  }
  for (unsigned k = one.count; k < all.most; ++k) EXPECT_FALSE(all.on[k] >> lane & 1);
}

TEST_P(Lanes, EqualLaneByLane) {
  unsigned together = 0;
  for (unsigned turn = 0; turn < 600; ++turn) {
    const TextureGeometry geometry = kGeometries[turn % 4];
    const Texture t = texture(geometry);
    const bool layered = geometry == TextureGeometry::a1d || geometry == TextureGeometry::a2d;
    const unsigned axes = geometry == TextureGeometry::d2 || geometry == TextureGeometry::a2d ? 2 : 1;
    TextureCall call;
    call.geometry = geometry;
    call.coordinates = static_cast<std::uint8_t>(axes + layered);
    call.integer_coordinates = below(4) == 0;
    alignas(64) std::uint32_t words[3 * kWarpSize];
    for (unsigned k = 0; k < call.coordinates; ++k)
      for (unsigned l = 0; l < kWarpSize; ++l)
        words[k * kWarpSize + l] = layered && k == 0 ? below(5)
                                   : call.integer_coordinates
                                       ? below(44) - 2
                                       : std::bit_cast<std::uint32_t>(coordinate(t.description.normalized_coordinates));
    const LaneMask mask = turn % 3 ? ~LaneMask{0} : static_cast<LaneMask>(random_()) | 1;
    std::uint32_t out[4 * kWarpSize];
    LaneTexels together_read;
    if (!read_lanes(t, call, words, mask, out, together_read)) continue;
    Texels texels;
    together_read.add_to(texels);
    ++together;
    for (unsigned l = 0; l < kWarpSize; ++l) {
      if (!(mask >> l & 1)) continue;
      float f[3] = {0, 0, 0};
      std::int32_t n[3] = {0, 0, 0};
      for (unsigned k = 0; k < axes; ++k) {
        n[k] = static_cast<std::int32_t>(words[(k + layered) * kWarpSize + l]);
        f[k] = std::bit_cast<float>(n[k]);
      }
      const auto layer = layered ? static_cast<std::int32_t>(words[l]) : 0;
      TexelList read;
      const Texel one =
          call.integer_coordinates ? fetch(t, geometry, n, layer, &read) : sample(t, geometry, f, layer, &read);
      const bool sums = t.description.linear_filter && !call.integer_coordinates;
      for (unsigned k = 0; k < 4; ++k)
        ASSERT_EQ(bits_of(out[k * kWarpSize + l], sums), bits_of(one.channel[k], sums))
            << "turn " << turn << " lane " << l << " channel " << k << " at " << f[0] << ", " << f[1];
      expect_same(texels, l, read);
    }
  }
  EXPECT_GT(together, 200u);  // most of them are of the kinds that it takes
}

INSTANTIATE_TEST_SUITE_P(Formats, Lanes, testing::ValuesIn(kFormats));

}  // namespace
}  // namespace warpgrind::device
