// Textures, bit for bit as an H200 returned them: each case of hardware/texture_cases.h (hardware/textures.expected).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "../hardware/texture_cases.h"
#include "device/memory/texture.h"

namespace warpgrind::device {
namespace {

namespace cases = texture_cases;
using Words = std::array<std::uint32_t, 4>;

std::vector<std::vector<Words>> read_expected() {
  std::ifstream in(WARPGRIND_TESTS "/hardware/textures.expected");
  std::vector<std::vector<Words>> out;
  std::string line;
  while (std::getline(in, line)) {
    if (line.starts_with("#")) {
      out.emplace_back();
      continue;
    }
    Words w{};
    EXPECT_EQ(std::sscanf(line.c_str(), "%x %x %x %x", &w[0], &w[1], &w[2], &w[3]), 4) << line;
    out.back().push_back(w);
  }
  return out;
}

ChannelFormat format_of(const cases::Case& c) {
  ChannelFormat format;
  for (unsigned k = 0; k < 4; ++k) format.bits[k] = static_cast<std::uint8_t>(c.bits[k]);
  format.kind = static_cast<ChannelFormat::Kind>(c.kind);
  return format;
}

// An array with texels of one channel. Height 0 makes it one-dimensional.
std::shared_ptr<Array> one_channel(ChannelFormat::Kind kind, std::uint8_t bits, std::uint32_t width,
                                   std::uint32_t height) {
  ChannelFormat format;
  format.bits[0] = bits;
  format.kind = kind;
  ArrayShape shape;
  shape.width = width;
  shape.height = height;
  return Array::create(format, shape);
}

// A case's texture and the resources that it reads.
struct Fixture {
  std::vector<std::uint8_t> data;
  std::shared_ptr<Array> array;
  Texture texture;

  explicit Fixture(const cases::Case& c) : data(cases::texels(c)) {
    TextureResource& r = texture.resource;
    const auto width = static_cast<std::uint64_t>(c.width), height = static_cast<std::uint64_t>(c.height);
    if (c.geometry == cases::fetch1d || c.geometry == cases::pitched) {
      r.kind = c.geometry == cases::pitched ? TextureResource::Kind::pitched : TextureResource::Kind::linear;
      r.address = reinterpret_cast<std::uint64_t>(data.data());
      r.format = format_of(c);
      r.width = width;
      r.height = height;
      r.pitch = width * r.format.bytes();
    } else {
      ArrayShape shape;
      shape.width = width;
      shape.height = height;
      shape.depth = static_cast<std::uint64_t>(c.depth);
      shape.layered = c.geometry == cases::a1d || c.geometry == cases::a2d || c.geometry == cases::acube;
      shape.cubemap = c.geometry == cases::cube || c.geometry == cases::acube;
      array = Array::create(format_of(c), shape);
      std::memcpy(array->data(), data.data(), data.size());
      r.array = array;
    }
    TextureDescription& d = texture.description;
    d.address.fill(static_cast<AddressMode>(c.address));
    d.linear_filter = c.linear;
    d.normalized_float = c.normalized_float;
    d.normalized_coordinates = c.normalized;
    d.srgb = c.srgb;
    const bool floats = c.kind == cases::f || c.normalized_float;
    for (unsigned k = 0; k < 4; ++k) d.border[k] = floats ? cases::kBorder[k] : cases::kIntegerBorder[k];
  }

  Texel read(const cases::Case& c, const float* at) const {
    const auto layer = static_cast<std::int32_t>(at[3]);
    switch (c.geometry) {
      case cases::d1:
        return sample(texture, TextureGeometry::d1, at, 0);
      case cases::d3:
        return sample(texture, TextureGeometry::d3, at, 0);
      case cases::a1d:
        return sample(texture, TextureGeometry::a1d, at, layer);
      case cases::a2d:
        return sample(texture, TextureGeometry::a2d, at, layer);
      case cases::cube:
        return sample(texture, TextureGeometry::cube, at, 0);
      case cases::acube:
        return sample(texture, TextureGeometry::acube, at, layer);
      case cases::gather:
        return gather4(texture, TextureGeometry::d2, at, 0, static_cast<unsigned>(c.component));
      case cases::fetch1d: {
        const std::int32_t x[1] = {static_cast<std::int32_t>(at[0])};
        return fetch(texture, TextureGeometry::d1, x, 0);
      }
      default:
        return sample(texture, TextureGeometry::d2, at, 0);
    }
  }
};

// Allowed difference from the hardware; 0: the same bits. The last bit of the hardware's weights in 3D is not known.
double tolerance(const cases::Case& c) {
  return c.geometry == cases::d3 && c.linear ? 3.0 / 256 : 0;
}

bool agrees(const Texel& got, const Words& want, double within) {
  for (unsigned k = 0; k < 4; ++k) {
    if (got.channel[k] == want[k]) continue;
    const double difference = double{std::bit_cast<float>(got.channel[k])} - double{std::bit_cast<float>(want[k])};
    if (!(std::fabs(difference) <= within)) return false;
  }
  return true;
}

TEST(TextureTest, ReturnsWhatTheHardwareReturns) {
  const auto expected = read_expected();
  ASSERT_EQ(expected.size(), cases::all().size());
  for (std::size_t n = 0; n < expected.size(); ++n) {
    const cases::Case& c = cases::all()[n];
    const Fixture fixture(c);
    const std::vector<float> coordinates = cases::coordinates(c);
    int wrong = 0;
    for (int i = 0; i < cases::kSamples; ++i) {
      const float* at = &coordinates[static_cast<std::size_t>(i) * 4];
      const Texel got = fixture.read(c, at);
      const Words& want = expected[n][static_cast<std::size_t>(i)];
      if (agrees(got, want, tolerance(c))) continue;
      ++wrong;
      if (wrong > 3) continue;
      ADD_FAILURE() << c.name << ", sample " << i << " at (" << at[0] << ", " << at[1] << ", " << at[2] << "; " << at[3]
                    << "): " << std::hex << got.channel[0] << ' ' << got.channel[1] << ' ' << got.channel[2] << ' '
                    << got.channel[3] << " instead of " << want[0] << ' ' << want[1] << ' ' << want[2] << ' '
                    << want[3];
    }
    if (wrong) std::printf("%-45s %d of %d differ\n", c.name, wrong, cases::kSamples);
  }
}

// A constant area of signed bytes, and a border of colour 0: the bits from an H200.
TEST(TextureTest, SignedBytesAreWidenedAsTheHardwareDoes) {
  const std::shared_ptr<Array> array = one_channel(ChannelFormat::Kind::signed_integer, 8, 4, 4);
  Texture texture;
  texture.resource.array = array;
  texture.description.address.fill(AddressMode::border);
  texture.description.linear_filter = texture.description.normalized_float = true;
  const std::pair<int, std::uint32_t> known[] = {{-128, 0xbf800000}, {-64, 0xbf010102}, {-50, 0xbec99193},
                                                 {-1, 0xbc010102},   {1, 0x3c010102},   {64, 0x3f010302}};
  for (const auto& [byte, bits] : known) {
    std::memset(array->data(), byte, 16);
    const float inside[2] = {2, 2}, outside[2] = {-9, -9};
    EXPECT_EQ(sample(texture, TextureGeometry::d2, inside, 0).channel[0], bits) << byte;
    EXPECT_EQ(sample(texture, TextureGeometry::d2, outside, 0).channel[0], 0u) << "not -0";
  }
  texture.description.linear_filter = false;
  const float outside[2] = {-9, -9};
  EXPECT_EQ(sample(texture, TextureGeometry::d2, outside, 0).channel[0], 0u) << "not -0";
}

TEST(TextureTest, FetchOutsideLinearMemoryIsZero) {
  const cases::Case& c = cases::all()[46];
  ASSERT_EQ(c.geometry, cases::fetch1d);
  const Fixture fixture(c);
  for (const std::int32_t x : {-1, c.width, INT32_MAX, INT32_MIN}) {
    const Texel t = fetch(fixture.texture, TextureGeometry::d1, &x, 0);
    EXPECT_EQ(t.channel[0], 0u) << x;
  }
}

TEST(TextureTest, HandlesAreNeverReused) {
  const Fixture fixture(cases::all()[0]);
  const std::uint64_t first = create_texture(fixture.texture.resource, fixture.texture.description);
  EXPECT_NE(first, 0u);
  ASSERT_NE(find_texture(first), nullptr);
  EXPECT_TRUE(destroy_texture(first));
  EXPECT_FALSE(destroy_texture(first));
  EXPECT_EQ(find_texture(first), nullptr);
  const std::uint64_t second = create_texture(fixture.texture.resource, fixture.texture.description);
  EXPECT_NE(first, second);
  EXPECT_EQ(find_texture(0), nullptr);
  EXPECT_TRUE(destroy_texture(second));
}

// A texture of unsigned words that count the texels.
Texture counting(ArrayShape shape, AddressMode mode, bool normalized) {
  ChannelFormat format;
  format.bits[0] = 32;
  format.kind = ChannelFormat::Kind::unsigned_integer;
  Texture texture;
  const std::shared_ptr<Array> array = Array::create(format, shape);
  texture.resource.array = array;
  for (std::uint32_t k = 0; k < shape.width * shape.rows() * shape.slices(); ++k)
    std::memcpy(array->data() + std::size_t{4} * k, &k, 4);
  texture.description.address.fill(mode);
  texture.description.normalized_coordinates = normalized;
  return texture;
}

// The texel that an H200 read (tests/random, programs 1008, 1018, 1023, 1087, 1092, 1119, 1144).
TEST(TextureTest, CoordinatesAreRoundedAsTheHardwareDoes) {
  struct {
    AddressMode mode;
    bool normalized;
    std::uint64_t width;
    std::uint32_t coordinate, texel;
  } const known[] = {
      {AddressMode::clamp, true, 33, 0x3f3a2e8c, 23},  // 0.72727275: 24 / 33 and a bit
      {AddressMode::wrap, true, 19, 0x405af287, 7},    // 3.4210527: 3 + 8 / 19 and a bit
      {AddressMode::mirror, true, 19, 0x3fd79436, 6},  // 1.6842105
      {AddressMode::mirror, true, 19, 0x405af287, 11}, {AddressMode::wrap, true, 8, 0x9b14dd7d, 7},  // -1.2e-22
      {AddressMode::wrap, true, 19, 0x7d3f3289, 0},                                                  // 1.6e37
      {AddressMode::mirror, true, 19, 0xff800000, 0},                                                // -infinity
      {AddressMode::mirror, true, 19, 0x5a3ba952, 0},                                                // 1.3e16
      {AddressMode::wrap, true, 33, 0xffffffff, 0},                                                  // NaN
      {AddressMode::border, false, 19, 0xfffffffe, 0},                                               // NaN
      {AddressMode::wrap, true, 8, 0x80000001, 0},                                                   // -1.4e-45
  };
  for (const auto& k : known) {
    ArrayShape shape;
    shape.width = k.width;
    const Texture texture = counting(shape, k.mode, k.normalized);
    const auto x = std::bit_cast<float>(k.coordinate);
    EXPECT_EQ(sample(texture, TextureGeometry::d1, &x, 0).channel[0], k.texel) << std::hex << k.coordinate;
  }
}

// On an edge between faces of a cube, z takes precedence over y, and y over x (programs 1051, 1084, 1113, 1129).
TEST(TextureTest, CubeEdgesBelongToTheLaterAxis) {
  ArrayShape shape;
  shape.width = shape.height = 8;
  shape.depth = 6;
  shape.cubemap = true;
  const Texture texture = counting(shape, AddressMode::clamp, true);
  const std::pair<std::array<float, 3>, unsigned> known[] = {{{0.3143395f, 0.3143395f, 0.225f}, 2},
                                                             {{-0.9999f, -0.9999f, -0.317f}, 3},
                                                             {{-0.9999f, -0.398f, -0.9999f}, 5},
                                                             {{0.857f, 1.00007f, 1.00007f}, 4},
                                                             {{-0.9999f, -0.9999f, -0.9999f}, 5}};
  for (const auto& [at, face] : known)
    EXPECT_EQ(sample(texture, TextureGeometry::cube, at.data(), 0).channel[0] / 64, face) << at[0] << ' ' << at[1];
}

// Halves around a point, and the filtered result (programs 1034, 1040, 1041, 1083, 1114, 1118, 1139).
TEST(TextureTest, HalvesAreAlignedBeforeTheyAreAdded) {
  struct {
    int x, y;  // fraction in 1/256
    std::uint16_t halves[4];
    std::uint32_t sum;
  } const known[] = {
      {9, 128, {0x21a9, 0xd0f4, 0xbb39, 0x416c}, 0xbf7ec000},
      {192, 128, {0xb234, 0xb234, 0x597a, 0x597a}, 0x42af2000},
      {254, 214, {0xb338, 0x26c6, 0xd612, 0x3e5b}, 0x3f0f0000},
      {249, 19, {0x38c9, 0x202f, 0xce11, 0xc481}, 0xbec7e000},
      {10, 128, {0x387b, 0xdc81, 0x387b, 0xdc81}, 0xc12bc000},
      {255, 128, {0x5838, 0x287c, 0x5838, 0x287c}, 0x3f0f0000},
      {18, 128, {0xaded, 0xd534, 0xaded, 0xd534}, 0xc0be0000},
      {128, 128, {0xd09a, 0x51e9, 0xa7c3, 0xafdb}, 0x40252000},
      {76, 128, {0x4d64, 0xce77, 0xbb53, 0x51b7}, 0x41236000},
      {128, 171, {0x50e1, 0x50e1, 0x2cff, 0x2cff}, 0x41502000},
  };
  const std::shared_ptr<Array> array = one_channel(ChannelFormat::Kind::floating, 16, 2, 2);
  Texture texture;
  texture.resource.array = array;
  texture.description.linear_filter = true;
  for (const auto& k : known) {
    std::memcpy(array->data(), k.halves, 8);
    const float at[2] = {0.5f + static_cast<float>(k.x) / 256, 0.5f + static_cast<float>(k.y) / 256};
    EXPECT_EQ(sample(texture, TextureGeometry::d2, at, 0).channel[0], k.sum) << k.x << ' ' << k.y;
  }
}

// A gathered half that is NaN becomes the half 0x7fff. Sampled, it keeps its payload (programs 1162, 1047).
TEST(TextureTest, HalvesThatAreNotANumber) {
  const std::shared_ptr<Array> array = one_channel(ChannelFormat::Kind::floating, 16, 2, 2);
  Texture texture;
  texture.resource.array = array;
  const std::uint16_t halves[4] = {0xfe01, 0x7e00, 0x3c00, 0x7c01};
  std::memcpy(array->data(), halves, 8);
  const float middle[2] = {1, 1};
  const Texel got = gather4(texture, TextureGeometry::d2, middle, 0, 0);
  const std::uint32_t want[4] = {0x3f800000, 0x7fffe000, 0x7fffe000, 0x7fffe000};
  for (unsigned k = 0; k < 4; ++k) EXPECT_EQ(got.channel[k], want[k]) << k;
  const float first[2] = {0.5f, 0.5f};
  EXPECT_EQ(sample(texture, TextureGeometry::d2, first, 0).channel[0] & 0xffff, 0x2000u);
}

// The address mode of y also applies to a 1D texture, with normalised coordinates or not (programs 1153, 1157).
TEST(TextureTest, FilteredLinesAreHalfBorder) {
  const std::shared_ptr<Array> array = one_channel(ChannelFormat::Kind::floating, 32, 4, 0);
  Texture texture;
  texture.resource.array = array;
  const float values[4] = {1, 1, 1, 1};
  std::memcpy(array->data(), values, 16);
  texture.description.linear_filter = true;
  texture.description.address[1] = AddressMode::border;
  texture.description.border.fill(0.5f);
  for (const bool normalized : {false, true}) {
    texture.description.normalized_coordinates = normalized;
    const float middle = normalized ? 0.5f : 2.0f;
    EXPECT_EQ(sample(texture, TextureGeometry::d1, &middle, 0).channel[0], std::bit_cast<std::uint32_t>(0.75f));
  }
}

// The border of an sRGB texture is a byte too (program 1064). A NaN colour becomes 0.
TEST(TextureTest, BordersOfSrgbTextures) {
  ChannelFormat format;
  for (unsigned c = 0; c < 4; ++c) format.bits[c] = 8;
  format.kind = ChannelFormat::Kind::unsigned_integer;
  ArrayShape shape;
  shape.width = shape.height = 2;
  Texture texture;
  texture.resource.array = Array::create(format, shape);
  texture.description.normalized_float = texture.description.srgb = true;
  texture.description.address.fill(AddressMode::border);
  texture.description.border = {NAN, 0.5f, INFINITY, 0};
  const float outside[2] = {-1, -1};
  const Texel got = sample(texture, TextureGeometry::d2, outside, 0);
  const float want[4] = {0, 129.0f / 256, 1, 0};
  for (unsigned k = 0; k < 4; ++k) EXPECT_EQ(got.channel[k], std::bit_cast<std::uint32_t>(want[k])) << k;
}

// A gathered signed byte is widened like a filtered one (programs 1037, 1085).
TEST(TextureTest, GatheredSignedBytesAreWidened) {
  const std::shared_ptr<Array> array = one_channel(ChannelFormat::Kind::signed_integer, 8, 4, 4);
  Texture texture;
  texture.resource.array = array;
  texture.description.normalized_float = true;
  const float inside[2] = {2, 2};
  for (const auto& [byte, bits] : {std::pair<int, std::uint32_t>{32, 0x3e810102}, {63, 0x3efdf9fc}}) {
    std::memset(array->data(), byte, 16);
    EXPECT_EQ(gather4(texture, TextureGeometry::d2, inside, 0, 0).channel[0], bits) << byte;
  }
}

TEST(TextureTest, NotANumberAndInfinityAreSafe) {
  for (const cases::Case& c : cases::all()) {
    if (c.geometry == cases::fetch1d) continue;
    const Fixture fixture(c);
    for (const float x : {NAN, INFINITY, -INFINITY, 3e38f, -3e38f}) {
      const float at[4] = {x, x, x, 0};
      (void)fixture.read(c, at);
    }
  }
}

// Every mixture of two signed bytes or words that was measured on an H200, and every signed byte alone.
TEST(Texture, SignedNormalisedFiltering) {
  std::ifstream in(WARPGRIND_TESTS "/hardware/signed_normalized.txt");
  unsigned compared = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string format, comma;
    std::int16_t texels[2];
    words >> format >> texels[0] >> texels[1] >> comma;
    std::vector<std::uint32_t> want;
    for (std::string word; words >> word;)
      want.push_back(static_cast<std::uint32_t>(std::strtoul(word.c_str(), nullptr, 16)));
    const bool bytes = format == "s8";
    const std::int8_t narrow[2] = {static_cast<std::int8_t>(texels[0]), static_cast<std::int8_t>(texels[1])};
    Texture texture;
    texture.resource.kind = TextureResource::Kind::linear;
    texture.resource.address =
        bytes ? reinterpret_cast<std::uint64_t>(narrow) : reinterpret_cast<std::uint64_t>(texels);
    texture.resource.format.bits[0] = bytes ? 8 : 16;
    texture.resource.format.kind = ChannelFormat::Kind::signed_integer;
    texture.resource.width = 2;
    texture.description.normalized_float = texture.description.linear_filter = true;
    const bool alone = want.size() == 2;
    for (std::size_t k = 0; k < want.size(); ++k, ++compared) {
      const float x = 0.5f + static_cast<float>(k) / (alone ? 2 : 32);
      const std::uint32_t got = sample(texture, TextureGeometry::d1, &x, 0).channel[0];
      EXPECT_EQ(got, want[k]) << line.substr(0, line.find(':')) << ", " << k << ": "
                              << std::bit_cast<float>(got) * 32767;
    }
  }
  EXPECT_EQ(compared, 2 * 256u + 17 * 33u);
}

}  // namespace
}  // namespace warpgrind::device
