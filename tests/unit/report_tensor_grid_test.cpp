// Drawings of tensor copies. The expected places of pieces come from plain loops over the tables of the PTX manual
// ("Swizzling Modes"), not from the code under test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "report/tensor_grid.h"
#include "results/tensor_copies.h"

namespace warpgrind::report {
namespace {

results::RecordedCopy copy_of_halves(std::uint32_t width, std::uint32_t height, unsigned box_width, unsigned box_height,
                                     TensorSwizzle swizzle) {
  results::RecordedCopy c;
  c.map.element = TensorElement::f16;
  c.map.rank = 2;
  c.map.sizes = {width - 1, height - 1};
  c.map.strides[0] = 2 * width;
  c.map.box = {static_cast<std::uint16_t>(box_width), static_cast<std::uint16_t>(box_height)};
  c.map.swizzle = swizzle;
  return c;
}

results::RecordedCopy at(results::RecordedCopy c, std::int32_t x, std::int32_t y) {
  c.copy.coordinates = {x, y};
  return c;
}

// The manual's tables: which piece lies at each of the 8 places of a line of 128 bytes. After the last line the table
// begins again.
const std::map<TensorSwizzle, std::vector<std::string>> kTables = {
    {TensorSwizzle::none, {"01234567"}},
    {TensorSwizzle::b32, {"01234567", "10325476"}},
    {TensorSwizzle::b64, {"01234567", "10325476", "23016745", "32107654"}},
    {TensorSwizzle::b128,
     {"01234567", "10325476", "23016745", "32107654", "45670123", "54761032", "67452301", "76543210"}},
};

// Cells of the line "+N |  0.0|  0.1| ...|", without spaces; by N.
std::map<unsigned, std::vector<std::string>> cells_of(const std::string& grid) {
  std::map<unsigned, std::vector<std::string>> out;
  std::istringstream lines(grid);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80u) << line;
    unsigned offset = 0;
    if (std::sscanf(line.c_str(), " +%u |", &offset) != 1) continue;
    std::istringstream cells(line.substr(line.find('|') + 1));
    for (std::string cell; std::getline(cells, cell, '|');)
      out[offset].push_back(cell.substr(std::min(cell.find_first_not_of(' '), cell.size())));
  }
  return out;
}

TEST(TensorGrid, PiecesLieWhereTheManualPutsThem) {
  for (const auto& [swizzle, table] : kTables)
    for (const unsigned row_bytes : {32u, 64u, 128u})
      for (const unsigned begin : {0u, 128u, 640u, 1024u}) {
        if (swizzle == TensorSwizzle::b32 && row_bytes > 32) continue;  // a row has at most the swizzle's bytes
        if (swizzle == TensorSwizzle::b64 && row_bytes > 64) continue;
        const unsigned pitch = swizzle == TensorSwizzle::b128 ? 128 : swizzle == TensorSwizzle::b64 ? 64 : row_bytes;
        const auto c = copy_of_halves(512, 512, row_bytes / 2, 64, swizzle);
        const auto drawn = cells_of(piece_grid(c, begin, {}));
        ASSERT_GE(drawn.size(), 8u);
        for (const auto& [offset, cells] : drawn) {
          ASSERT_EQ(cells.size(), 8u);
          const std::string& line = table[(begin + offset) / 128 % table.size()];
          for (unsigned place = 0; place < 8; ++place) {
            const unsigned byte = offset + static_cast<unsigned>(line[place] - '0') * 16, row = byte / pitch;
            const std::string expected =
                byte % pitch < row_bytes ? std::to_string(row) + "." + std::to_string(byte % pitch / 16) : "";
            EXPECT_EQ(cells[place], expected) << row_bytes << " bytes from " << begin << ", line " << offset;
          }
        }
      }
}

TEST(TensorGrid, OneTileOfARowOf64Halves) {
  const std::string grid = piece_grid(copy_of_halves(512, 512, 64, 16, TensorSwizzle::b128), 0, {});
  EXPECT_EQ(grid,
            "      banks |  0-3|  4-7| 8-11|12-15|16-19|20-23|24-27|28-31|\n"
            "         +0 |  0.0|  0.1|  0.2|  0.3|  0.4|  0.5|  0.6|  0.7|\n"
            "       +128 |  1.1|  1.0|  1.3|  1.2|  1.5|  1.4|  1.7|  1.6|\n"
            "       +256 |  2.2|  2.3|  2.0|  2.1|  2.6|  2.7|  2.4|  2.5|\n"
            "       +384 |  3.3|  3.2|  3.1|  3.0|  3.7|  3.6|  3.5|  3.4|\n"
            "       +512 |  4.4|  4.5|  4.6|  4.7|  4.0|  4.1|  4.2|  4.3|\n"
            "       +640 |  5.5|  5.4|  5.7|  5.6|  5.1|  5.0|  5.3|  5.2|\n"
            "       +768 |  6.6|  6.7|  6.4|  6.5|  6.2|  6.3|  6.0|  6.1|\n"
            "       +896 |  7.7|  7.6|  7.5|  7.4|  7.3|  7.2|  7.1|  7.0|\n"
            "             ... 7 more lines like these\n"
            "      +1920 | 15.7| 15.6| 15.5| 15.4| 15.3| 15.2| 15.1| 15.0|\n");
}

// The tensor has 100 columns and 250 rows. The box of 64 x 16 at (64, 240) has 36 columns (72 bytes: four pieces and a
// half) and 10 rows inside.
TEST(TensorGrid, PiecesOutsideAreMarked) {
  auto c = at(copy_of_halves(100, 250, 64, 16, TensorSwizzle::none), 64, 240);
  c.map.strides[0] = 208;
  const auto drawn = cells_of(piece_grid(c, 0, {}));
  const std::vector<std::string> first = {"0.0", "0.1", "0.2", "0.3", "0.4o", "0.5o", "0.6o", "0.7o"};
  const std::vector<std::string> last = {"9.0", "9.1", "9.2", "9.3", "9.4o", "9.5o", "9.6o", "9.7o"};
  const std::vector<std::string> out = {"10.0o", "10.1o", "10.2o", "10.3o", "10.4o", "10.5o", "10.6o", "10.7o"};
  ASSERT_TRUE(drawn.contains(0) && drawn.contains(9 * 128) && drawn.contains(10 * 128));
  EXPECT_EQ(drawn.at(0), first);
  EXPECT_EQ(drawn.at(9 * 128), last);
  EXPECT_EQ(drawn.at(10 * 128), out);
}

TEST(TensorGrid, BoxInside) {
  EXPECT_EQ(box_grid(at(copy_of_halves(4096, 512, 64, 128, TensorSwizzle::b128), 128, 256), {}),
            "dimension 0 0               128             192             4096\n"
            "          0 |...............|...............|...............|\n"
            "        256 |...............|###############|...............|\n"
            "            |...............|###############|...............|\n"
            "        384 |...............|...............|...............|\n"
            "        512  dimension 1 downwards; not to scale\n");
}

TEST(TensorGrid, BoxOutsideOnTwoSides) {
  EXPECT_EQ(box_grid(at(copy_of_halves(256, 256, 64, 16, TensorSwizzle::none), -16, 250), {}),
            "dimension 0 -16             0               48              256\n"
            "          0 |               |...............|...............|\n"
            "        250 |ooooooooooooooo|###############|...............|\n"
            "            |ooooooooooooooo|###############|...............|\n"
            "        256 |ooooooooooooooo|ooooooooooooooo|               |\n"
            "            |ooooooooooooooo|ooooooooooooooo|               |\n"
            "        266  dimension 1 downwards; not to scale\n");
}

TEST(TensorGrid, GatheredRows) {
  auto c = copy_of_halves(64, 100, 64, 1, TensorSwizzle::none);
  c.copy.mode = TensorMode::rows;
  c.copy.coordinates = {0, 7, 50, 8, 120};
  EXPECT_EQ(box_grid(c, {}),
            "dimension 0 0               64\n"
            "          0 |...............|\n"
            "          7 |###############|\n"
            "          8 |###############|\n"
            "          9 |...............|\n"
            "         50 |###############|\n"
            "         51 |...............|\n"
            "        100 |               |\n"
            "        120 |ooooooooooooooo|\n"
            "        121  dimension 1 downwards; not to scale\n");
}

// A convolution of 3 x 3 over an image of 6 x 4 pixels, borders of one pixel: the bounding box has W -1 to 4 and H -1
// to 2. Eight pixels from (-1, -1) on, moved by the offset (0, 0): six of row -1, all outside, then two of row 0.
TEST(TensorGrid, PixelsOfAColumn) {
  results::RecordedCopy c;
  c.map.kind = TensorMapKind::im2col;
  c.map.element = TensorElement::f16;
  c.map.rank = 4;
  c.map.sizes = {7, 5, 3, 1};  // 8 channels, W 6, H 4, 2 images
  c.map.strides = {16, 96, 384};
  c.map.lower_corner = {-1, -1};
  c.map.upper_corner = {-1, -1};
  c.map.channels_per_pixel = 8;
  c.map.pixels_per_column = 8;
  c.copy.mode = TensorMode::im2col;
  c.copy.coordinates = {0, -1, -1, 0};
  EXPECT_EQ(box_grid(c, {}),
            "             W from -1 to 5, H downwards\n"
            "         -1 |oooooo |\n"
            "          0 |o#.....|\n"
            "          1 | ......|\n");
}

// Eight rows of 128 bytes: the same piece of all lies in the same four banks without a swizzle, and in all 32 with one.
TEST(TensorGrid, PassesOfColumns) {
  const GpuModel* h200 = nullptr;
  for (const GpuModel& m : gpu_models())
    if (m.id == "h200") h200 = &m;
  ASSERT_NE(h200, nullptr);
  const auto c = copy_of_halves(512, 512, 64, 64, TensorSwizzle::b128);
  EXPECT_EQ(column_passes(c, 0, TensorSwizzle::b128, *h200, 8, 16), 1u);
  EXPECT_EQ(column_passes(c, 0, TensorSwizzle::none, *h200, 8, 16), 8u);
  EXPECT_EQ(column_passes(c, 0, TensorSwizzle::b128, *h200, 32, 4), 4u);
  EXPECT_EQ(column_passes(c, 0, TensorSwizzle::none, *h200, 32, 4), 32u);
}

TEST(TensorGrid, ProfilesKeepMapAndCoordinates) {
  auto c = at(copy_of_halves(104, 250, 64, 16, TensorSwizzle::b128), 64, 240);
  c.map.address = 512;
  c.map.fill = TensorFill::nan;
  c.map.element_strides = {1, 2, 1, 1, 1};
  results::TensorCopyProfile profile = results::profile_of(c.map, c.copy);
  profile.operation = "load";
  profile.tensor.offset = 512;
  const auto back = results::recorded_copy(profile);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->map, c.map);
  EXPECT_EQ(back->copy.coordinates, c.copy.coordinates);
  // Rows 240, 242 ... 248 of 250, 40 of 64 columns.
  EXPECT_EQ(profile.bytes, 8u * 128);
  EXPECT_EQ(profile.inside, 5u * 80);
}

// A profile file may hold anything.
TEST(TensorGrid, ImpossibleBoxesAreNotDrawn) {
  const auto c = copy_of_halves(512, 512, 64, 16, TensorSwizzle::b128);
  const auto refused = [&](auto&& change) {
    results::TensorCopyProfile profile = results::profile_of(c.map, c.copy);
    EXPECT_TRUE(results::recorded_copy(profile));
    change(profile);
    return !results::recorded_copy(profile);
  };
  EXPECT_TRUE(refused([](auto& p) { p.swizzle = "512B"; }));
  EXPECT_TRUE(refused([](auto& p) { p.dimensions[1].box = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.dimensions[1].box = ~0u; }));
  EXPECT_TRUE(refused([](auto& p) { p.dimensions.resize(5, p.dimensions[0]); }));
  EXPECT_TRUE(refused([](auto& p) { p.dimensions.clear(); }));
  EXPECT_TRUE(refused([](auto& p) { p.shared = ~0ull; }));
  EXPECT_TRUE(refused([](auto& p) { p.mode = "rows"; }));
  EXPECT_TRUE(refused([](auto& p) { p.mode = "im2col"; }));
}

}  // namespace
}  // namespace warpgrind::report
