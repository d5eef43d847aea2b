// Requests of wmma.load and wmma.store: those of the machine code that ptxas 13.0 makes of tests/h200/wmma.cu (LDG,
// STG, LDS, STS and LDSM, their number and width).
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "ptx/parser.h"
#include "ptx/wmma.h"

namespace warpgrind::ptx {
namespace {

using enum WmmaMove::Way;

struct Form {
  const char* text;  // up to the type
  unsigned registers;
  WmmaMove::Way way;
  unsigned requests, bytes, lanes = 32;
};

std::optional<WmmaMove> move_of(const Form& form) {
  const std::string text = form.text;
  const bool store = text.starts_with("store"), wide = text.ends_with("f64");
  std::string fragment = "{", name = wide ? "d" : text.ends_with("f32") && !text.ends_with("tf32") ? "f" : "r";
  for (unsigned k = 0; k < form.registers; ++k) fragment += (k ? ", " : "") + name + std::to_string(k);
  fragment += "}";
  const auto parsed = parse(
      ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 r<8>, s; .reg .f32 f<8>;\n"
      ".reg .f64 d<8>; .reg .b64 p;\nwmma." +
          text + " " + (store ? "[p], " + fragment : fragment + ", [p]") + ", s;\nret;\n}\n",
      "test.ptx");
  EXPECT_TRUE(parsed.ok()) << text << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
  return parsed.ok() ? wmma_move((*parsed)->functions[0].body[0]) : std::nullopt;
}

TEST(Wmma, RequestsAreThoseOfPtxas) {
  const Form all[] = {
      {"load.a.sync.aligned.row.m16n16k16.global.f16", 8, tiles, 4, 4},
      {"load.a.sync.aligned.col.m16n16k16.global.f16", 8, turned, 4, 4},
      {"load.b.sync.aligned.col.m8n32k16.global.f16", 8, tiles, 8, 4},
      {"load.a.sync.aligned.row.m8n32k16.f16", 8, tiles, 2, 4},
      {"load.b.sync.aligned.row.m16n16k16.bf16", 4, turned, 4, 4},
      {"load.a.sync.aligned.row.m16n16k16.shared.f16", 8, rows, 1, 16},
      {"load.a.sync.aligned.col.m32n8k16.shared.f16", 8, turned_rows, 2, 16},
      {"load.b.sync.aligned.col.m32n8k16.shared.f16", 8, rows, 1, 16, 16},
      {"load.a.sync.aligned.row.m16n16k16.global.s8", 2, tiles, 2, 4},
      {"load.b.sync.aligned.row.m8n32k16.global.u8", 4, elements, 16, 1},
      {"load.a.sync.aligned.row.m32n8k16.shared.s8", 4, rows, 2, 16, 16},
      {"load.a.sync.aligned.row.m8n32k16.shared.s8", 1, rows, 1, 16, 8},
      {"load.a.sync.aligned.col.m16n16k16.shared.s8", 2, elements, 8, 1},
      {"load.a.sync.aligned.row.m8n8k32.global.s4", 1, tiles, 1, 4},
      {"load.b.sync.aligned.col.m8n8k128.shared.b1", 1, rows, 1, 16, 8},
      {"load.a.sync.aligned.col.m16n16k8.shared.tf32", 4, elements, 4, 4},
      {"load.b.sync.aligned.col.m16n16k8.tf32", 4, tiles, 4, 4},
      {"load.a.sync.aligned.col.m8n8k4.f64", 1, elements, 1, 8},
      {"load.c.sync.aligned.row.m16n16k16.global.f32", 8, tiles, 4, 8},
      {"load.c.sync.aligned.col.m16n16k16.shared.f32", 8, elements, 8, 4},
      {"load.c.sync.aligned.row.m8n32k16.global.f32", 8, elements, 8, 4},
      {"load.c.sync.aligned.col.m8n32k16.global.s32", 8, tiles, 4, 8},
      {"store.d.sync.aligned.row.m32n8k16.shared.f16", 4, tiles, 4, 4},
      {"store.d.sync.aligned.col.m32n8k16.global.f16", 4, turned, 4, 4},
      {"store.d.sync.aligned.row.m8n8k4.global.f64", 2, tiles, 1, 16},
      {"store.d.sync.aligned.col.m8n8k4.global.f64", 2, elements, 2, 8},
  };
  for (const Form& form : all) {
    const auto w = move_of(form);
    ASSERT_TRUE(w) << form.text;
    EXPECT_EQ(w->way, form.way) << form.text;
    EXPECT_EQ(w->requests, form.requests) << form.text;
    EXPECT_EQ(w->request_bytes, form.bytes) << form.text;
    EXPECT_EQ(w->request_lanes, form.lanes) << form.text;
    // Each byte of the matrix is moved once.
    std::set<std::pair<unsigned, unsigned>> moved;
    const unsigned neighbours = w->request_bytes * 8u / w->element_bits;
    for (unsigned r = 0; r < w->requests; ++r)
      for (unsigned lane = 0; lane < w->request_lanes; ++lane)
        for (unsigned k = 0; k < neighbours; ++k) {
          const WmmaMove::Place at = w->place(r, lane);
          EXPECT_LT(at.place + k, w->dense_stride()) << form.text;
          EXPECT_TRUE(moved.insert({at.line, at.place + k}).second) << form.text;
        }
    EXPECT_EQ(moved.size(), std::size_t{w->lines} * w->depth) << form.text;
  }
}

TEST(Wmma, LinesThatNeedAnAddress) {
  EXPECT_EQ(move_of({"load.a.sync.aligned.row.m16n16k16.global.f16", 8, tiles, 0, 0})->line_count(), 2u);
  EXPECT_EQ(move_of({"load.a.sync.aligned.row.m32n8k16.global.f16", 8, tiles, 0, 0})->line_count(), 4u);
  EXPECT_EQ(move_of({"load.c.sync.aligned.col.m16n16k16.global.f32", 8, tiles, 0, 0})->line_count(), 4u);
  EXPECT_EQ(move_of({"load.b.sync.aligned.row.m16n16k16.shared.f16", 8, tiles, 0, 0})->line_count(), 1u);
}

}  // namespace
}  // namespace warpgrind::ptx
