// Texture reads for all lanes at once (device/calls/texture_lanes.h) against the same lanes one by one, which match an
// H200 (device_texture_test.cpp): values, texels read, and their order.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "device/calls/texture_lanes.h"
#include "device/calls/texture_levels.h"
#include "sanitized.h"

namespace warpgrind::device {
namespace {

using jit::TextureCall;
using Kind = ChannelFormat::Kind;

struct Format {
  Kind kind;
  std::uint8_t bits, channels;
  bool normalized_float;
};
constexpr Format kFormats[] = {{Kind::floating, 32, 1, false},         {Kind::floating, 32, 2, false},
                               {Kind::floating, 32, 4, false},         {Kind::floating, 16, 2, false},
                               {Kind::unsigned_integer, 8, 1, true},   {Kind::unsigned_integer, 8, 4, true},
                               {Kind::unsigned_integer, 16, 2, true},  {Kind::signed_integer, 8, 4, true},
                               {Kind::unsigned_integer, 8, 4, false},  {Kind::signed_integer, 16, 1, false},
                               {Kind::unsigned_integer, 32, 4, false}, {Kind::signed_integer, 16, 2, true},
                               {Kind::floating, 16, 1, false},         {Kind::signed_integer, 8, 2, false},
                               {Kind::unsigned_integer, 16, 4, false}};

bool is_cube(TextureGeometry g) {
  return g == TextureGeometry::cube || g == TextureGeometry::acube;
}
bool is_layered(TextureGeometry g) {
  return g == TextureGeometry::a1d || g == TextureGeometry::a2d || g == TextureGeometry::acube;
}
unsigned axes_of(TextureGeometry g) {
  return g == TextureGeometry::d3 ? 3 : g == TextureGeometry::d1 || g == TextureGeometry::a1d ? 1 : 2;
}

class Lanes : public testing::TestWithParam<std::tuple<Format, bool>> {
 protected:
  std::mt19937 random_{7};
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_()) % n; }

  Texture texture(TextureGeometry geometry) {
    const Format f = std::get<0>(GetParam());
    ChannelFormat format;
    format.kind = f.kind;
    for (unsigned k = 0; k < f.channels; ++k) format.bits[k] = f.bits;
    ArrayShape shape;
    shape.width = 1 + below(40);
    if (axes_of(geometry) > 1) shape.height = 1 + below(24);
    if (axes_of(geometry) > 2) shape.depth = 1 + below(5);
    if (is_layered(geometry)) shape.depth = 1 + below(3), shape.layered = true;
    if (is_cube(geometry)) {
      shape.height = shape.width;
      shape.depth = 6 * (shape.layered ? shape.depth : 1);
      shape.cubemap = true;
    }
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

// A sum of several NaNs keeps the payload that the compiler chooses.
std::uint32_t bits_of(std::uint32_t value, bool sum) {
  return sum && std::isnan(std::bit_cast<float>(value)) ? 0x7fffffff : value;
}

constexpr TextureGeometry kGeometries[] = {TextureGeometry::d1,   TextureGeometry::d2,  TextureGeometry::d3,
                                           TextureGeometry::a1d,  TextureGeometry::a2d, TextureGeometry::cube,
                                           TextureGeometry::acube};

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
  const bool wide = std::get<1>(GetParam());
  if (wide && !kHaveAvx512) GTEST_SKIP();
  unsigned together = 0;
  for (unsigned turn = 0; turn < (kSanitized ? 280 : 1400); ++turn) {
    const TextureGeometry geometry = kGeometries[turn % std::size(kGeometries)];
    const Texture t = texture(geometry);
    const bool layered = is_layered(geometry), cube = is_cube(geometry);
    const unsigned axes = axes_of(geometry), words_a_point = cube ? 3 : axes;
    TextureCall call;
    call.geometry = geometry;
    call.coordinates = static_cast<std::uint8_t>(words_a_point + layered);
    call.gather = axes == 2 && below(4) == 0;
    call.component = call.gather ? static_cast<std::uint8_t>(below(4)) : 0;
    call.integer_coordinates = !call.gather && !cube && below(4) == 0;
    alignas(64) std::uint32_t words[4 * kWarpSize];
    for (unsigned k = 0; k < call.coordinates; ++k)
      for (unsigned l = 0; l < kWarpSize; ++l)
        words[k * kWarpSize + l] = layered && k == 0 ? below(5)
                                   : call.integer_coordinates
                                       ? below(44) - 2
                                       : std::bit_cast<std::uint32_t>(coordinate(t.description.normalized_coordinates));
    const LaneMask mask = turn % 3 ? ~LaneMask{0} : static_cast<LaneMask>(random_()) | 1;
    std::uint32_t out[4 * kWarpSize];
    LaneTexels together_read;
    const LaneSampler sampler(t, call);
    if (sampler.kind == LaneSampler::Kind::none || !sampler.read(words, mask, out, together_read, wide)) continue;
    Texels texels;
    together_read.add_to(texels);
    ++together;
    for (unsigned l = 0; l < kWarpSize; ++l) {
      if (!(mask >> l & 1)) continue;
      float f[3] = {0, 0, 0};
      std::int32_t n[3] = {0, 0, 0};
      for (unsigned k = 0; k < words_a_point; ++k) {
        n[k] = static_cast<std::int32_t>(words[(k + layered) * kWarpSize + l]);
        f[k] = std::bit_cast<float>(n[k]);
      }
      const auto layer = layered ? static_cast<std::int32_t>(words[l]) : 0;
      TexelList read;
      const Texel one = call.gather                ? gather4(t, geometry, f, layer, call.component, &read)
                        : call.integer_coordinates ? fetch(t, geometry, n, layer, &read)
                                                   : sample(t, geometry, f, layer, &read);
      const bool sums = t.description.linear_filter && !call.integer_coordinates && !call.gather;
      for (unsigned k = 0; k < 4; ++k)
        ASSERT_EQ(bits_of(out[k * kWarpSize + l], sums), bits_of(one.channel[k], sums))
            << "turn " << turn << " lane " << l << " channel " << k << " at " << f[0] << ", " << f[1] << ", " << f[2];
      expect_same(texels, l, read);
    }
  }
  EXPECT_GT(together, kSanitized ? 100u : 500u);  // most cases are of the kinds that it handles
}

// A mipmapped array of the format. Each level has half the size of the one before.
class Levels : public Lanes {
 protected:
  std::shared_ptr<const Texture> mipmapped() {
    TextureResource resource;
    const Texture first = texture(TextureGeometry::d2);
    TextureDescription description = first.description;
    description.linear_levels = below(2) != 0;
    description.level_bias = below(2) ? 0.25f : 0;
    description.most_level = 3;
    ArrayShape shape;
    shape.width = shape.height = 16u << below(2);
    for (unsigned level = 0; level < 4; ++level, shape.width /= 2, shape.height /= 2) {
      std::shared_ptr<Array> array = Array::create(first.format(), shape);
      for (std::uint64_t i = 0; i < array->size(); ++i) array->data()[i] = static_cast<std::uint8_t>(random_());
      resource.levels.push_back(array);
    }
    resource.array = resource.levels.front();
    const std::uint64_t handle = create_texture(resource, description);
    std::shared_ptr<const Texture> made = find_texture(handle);
    destroy_texture(handle);
    return made;
  }
  // The same level for all lanes, one of two levels, or any; sometimes none.
  float level(unsigned turn) {
    const float some = static_cast<float>(below(1024)) / 256;
    return turn % 3 == 0 ? 1.375f : turn % 3 == 1 ? 1 + some / 4 : below(20) ? some - 0.5f : std::nanf("");
  }
};

TEST_P(Levels, EqualLaneByLane) {
  unsigned together = 0, planes = 0;
  for (unsigned turn = 0; turn < (kSanitized ? 80 : 400); ++turn) {
    const std::shared_ptr<const Texture> t = mipmapped();
    TextureCall call;
    call.geometry = TextureGeometry::d2;
    call.coordinates = 2;
    call.integer_coordinates = below(3) == 0;
    const bool steps = !call.integer_coordinates && below(3) == 0;
    TextureCall base = call;
    call.detail = steps ? jit::TextureDetail::gradients : jit::TextureDetail::level;
    std::vector<LaneSampler> samplers;
    for (const auto& one : t->levels) samplers.emplace_back(*one, base);
    alignas(64) std::uint32_t words[jit::kTextureWords * kWarpSize];
    for (unsigned k = 0; k < 2 + (steps ? 4u : 1u); ++k)
      for (unsigned l = 0; l < kWarpSize; ++l) {
        float value = k < 2 ? coordinate(t->description.normalized_coordinates) : level(turn);
        if (steps && k >= 2) value = turn % 2 ? 0.125f : value / 16;
        words[k * kWarpSize + l] =
            call.integer_coordinates ? below(k < 2 ? 18 : 5) : std::bit_cast<std::uint32_t>(value);
      }
    const LaneMask mask = turn % 4 ? ~LaneMask{0} : static_cast<LaneMask>(random_()) | 1;
    std::uint32_t out[4 * kWarpSize];
    LevelTexels read_together;
    if (!read_levels(*t, samplers, call, words, mask, out, read_together)) continue;
    ++together;
    planes += read_together.count;
    Texels& texels = read_together.by_lanes;
    for (unsigned p = 0; p < read_together.count; ++p) read_together.planes[p].add_to(texels);
    for (unsigned l = 0; l < kWarpSize; ++l) {
      if (!(mask >> l & 1)) continue;
      const auto word = [&](unsigned k) { return words[k * kWarpSize + l]; };
      const auto number = [&](unsigned k) { return std::bit_cast<float>(word(k)); };
      const float f[2] = {number(0), number(1)}, dx[2] = {number(2), number(3)}, dy[2] = {number(4), number(5)};
      const std::int32_t n[2] = {static_cast<std::int32_t>(word(0)), static_cast<std::int32_t>(word(1))};
      TexelList read;
      const Texel one = call.integer_coordinates
                            ? fetch_level(*t, call.geometry, n, 0, static_cast<std::int32_t>(word(2)), &read)
                            : sample_level(*t, call.geometry, f, 0,
                                           steps ? level_of_gradients(*t, call.geometry, dx, dy) : number(2), &read);
      for (unsigned k = 0; k < 4; ++k)
        ASSERT_EQ(bits_of(out[k * kWarpSize + l], true), bits_of(one.channel[k], true))
            << "turn " << turn << " lane " << l << " channel " << k;
      expect_same(texels, l, read);
    }
  }
  EXPECT_GT(together, kSanitized ? 8u : 80u);
  EXPECT_GT(planes, kSanitized ? 4u : 50u);  // of one or two levels for all lanes
}

INSTANTIATE_TEST_SUITE_P(Formats, Levels, testing::Combine(testing::ValuesIn(kFormats), testing::Values(false)));
INSTANTIATE_TEST_SUITE_P(Formats, Lanes, testing::Combine(testing::ValuesIn(kFormats), testing::Bool()));

}  // namespace
}  // namespace warpgrind::device
