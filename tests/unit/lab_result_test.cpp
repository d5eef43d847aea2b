// Results of the lab: measured rows that come from several files.
#include <gtest/gtest.h>

#include "lab/result.h"

namespace warpgrind::lab {
namespace {

Row measured_row(const std::string& rung, const std::string& size, double us) {
  Row row;
  row.rung = rung;
  row.size_text = size;
  row.type = "byte";
  row.derived.time_us = us;
  return row;
}

TEST(LabResult, RowsMeasuredLaterAreAdded) {
  LabResult first, later;
  first.topics.resize(1);
  first.topics[0].topic = "image";
  first.topics[0].rows = {measured_row("median", "64x64", 1), measured_row("median", "8x8", 2)};
  later.topics.resize(2);
  later.topics[0].topic = "image";
  later.topics[0].rows = {measured_row("tiles", "64x64", 3), measured_row("median", "8x8", 4)};
  later.topics[1].topic = "gemm";
  later.topics[1].rows = {measured_row("fitted", "64x64x64", 5)};

  add_missing_rows(first, std::move(later));

  ASSERT_EQ(first.topics.size(), 2u);
  const std::vector<Row>& image = first.topics[0].rows;
  ASSERT_EQ(image.size(), 3u);
  EXPECT_EQ(image[1].derived.time_us, 2) << "a row that is there stays";
  EXPECT_EQ(image[2].rung, "tiles");
  EXPECT_EQ(first.topics[1].topic, "gemm");
  EXPECT_EQ(first.topics[1].rows.size(), 1u);
}

}  // namespace
}  // namespace warpgrind::lab
