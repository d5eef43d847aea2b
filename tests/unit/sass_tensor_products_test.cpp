// Matrix products on the tensor cores, per warp, as Nsight Compute counts them on an H200
// (lab/results/h200/asynchronous_counters.csv).
#include <gtest/gtest.h>

#include <string>

#include "ptx/parser.h"
#include "sass/tensor_products.h"

namespace warpgrind::sass {
namespace {

TensorUse use_of(const std::string& instruction) {
  const auto parsed = ptx::parse(
      ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 a<8>, b<8>, i<256>;\n"
      ".reg .f32 d<256>; .reg .f64 x<16>; .reg .b64 da, db; .reg .pred p;\n" +
          instruction + "\nret;\n}\n",
      "test.ptx");
  EXPECT_TRUE(parsed.ok()) << instruction << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
  return parsed.ok() ? tensor_use((*parsed)->functions[0].body[0]) : TensorUse{};
}

std::string registers(const char* name, unsigned n) {
  std::string all = "{";
  for (unsigned k = 0; k < n; ++k) all += (k ? "," : "") + (name + std::to_string(k));
  return all + "}";
}

struct OfWarp {
  const char* shape;
  const char* types;
  unsigned a, b, d;
  const char* accumulator;
  TensorPipe pipe;
  float instructions, cycles;
};

TEST(TensorProducts, OfOneWarp) {
  using enum TensorPipe;
  const OfWarp all[] = {{"m16n8k8", "f32.f16.f16.f32", 2, 1, 4, "d", hmma, 1, 4},
                        {"m16n8k16", "f32.bf16.bf16.f32", 4, 2, 4, "d", hmma, 1, 6},
                        {"m16n8k16", "f16.f16.f16.f16", 4, 2, 2, "i", hmma, 1, 6},
                        {"m16n8k4", "f32.tf32.tf32.f32", 2, 1, 4, "d", hmma, 1, 4},
                        {"m16n8k32", "s32.s8.s8.s32", 4, 2, 4, "i", imma, 1, 6},
                        {"m16n8k64", "s32.u4.u4.s32", 4, 2, 4, "i", imma, 2, 12},
                        {"m16n8k32", "s32.u4.u4.s32", 2, 1, 4, "i", imma, 2, 8},
                        {"m16n8k32", "f32.e4m3.e4m3.f32", 4, 2, 4, "d", hmma, 2, 12},
                        {"m16n8k4", "f64.f64.f64.f64", 2, 1, 4, "x", dmma, 1, 16},
                        {"m16n8k8", "f64.f64.f64.f64", 4, 2, 4, "x", dmma, 1, 32},
                        {"m16n8k16", "f64.f64.f64.f64", 8, 4, 4, "x", dmma, 1, 64}};
  for (const OfWarp& e : all) {
    const bool wide = e.pipe == dmma;
    const std::string d = registers(e.accumulator, e.d);
    const TensorUse use =
        use_of(std::string("mma.sync.aligned.") + e.shape + ".row.col." + e.types + " " + d + ", " +
               registers(wide ? "x" : "a", e.a) + ", " + registers(wide ? "x" : "b", e.b) + ", " + d + ";");
    EXPECT_EQ(use.pipe, e.pipe) << e.shape << e.types;
    EXPECT_EQ(use.instructions, e.instructions) << e.shape << e.types;
    EXPECT_EQ(use.cycles, e.cycles) << e.shape << e.types;
  }
}

TEST(TensorProducts, OfOneWarpSparse) {
  using enum TensorPipe;
  const OfWarp all[] = {{"m16n8k16", "f32.f16.f16.f32", 2, 2, 4, "d", hmma, 1, 6},
                        {"m16n8k32", "f32.f16.f16.f32", 4, 4, 4, "d", hmma, 1, 8},
                        {"m16n8k64", "s32.s8.s8.s32", 4, 4, 4, "i", imma, 1, 8},
                        {"m16n8k128", "s32.u4.u4.s32", 4, 4, 4, "i", imma, 2, 16},
                        {"m16n8k64", "f32.e4m3.e4m3.f32", 4, 4, 4, "d", hmma, 2, 16}};
  for (const OfWarp& e : all) {
    const std::string d = registers(e.accumulator, e.d);
    const TensorUse use =
        use_of(std::string("mma.sp::ordered_metadata.sync.aligned.") + e.shape + ".row.col." + e.types + " " + d +
               ", " + registers("a", e.a) + ", " + registers("b", e.b) + ", " + d + ", a0, 0;");
    EXPECT_EQ(use.pipe, e.pipe) << e.shape << e.types;
    EXPECT_EQ(use.instructions, e.instructions) << e.shape << e.types;
    EXPECT_EQ(use.cycles, e.cycles) << e.shape << e.types;
  }
}

// lab/results/h200/wmma.csv; 4-bit integers by the machine code of ptxas.
TEST(TensorProducts, OfWmma) {
  using enum TensorPipe;
  struct OfWmma {
    const char* form;
    unsigned a, b, d;
    const char* accumulator;
    TensorPipe pipe;
    float instructions, cycles;
  };
  const OfWmma all[] = {{"row.col.m16n16k16.f32.f32", 8, 8, 8, "d", hmma, 2, 12},
                        {"row.col.m8n32k16.f16.f16", 8, 8, 4, "i", hmma, 2, 12},
                        {"row.col.m16n16k16.f32.bf16.bf16.f32", 4, 4, 8, "d", hmma, 2, 12},
                        {"row.col.m16n16k8.f32.tf32.tf32.f32", 4, 4, 8, "d", hmma, 4, 16},
                        {"row.col.m32n8k16.s32.s8.s8.s32", 4, 1, 8, "i", imma, 2, 8},
                        {"row.col.m8n8k32.s32.s4.s4.s32", 1, 1, 2, "i", imma, 2, 8},
                        {"row.col.m8n8k4.f64.f64.f64.f64", 1, 1, 2, "x", dmma, 1, 16}};
  for (const OfWmma& e : all) {
    const bool wide = e.pipe == dmma;
    const std::string d = registers(e.accumulator, e.d);
    const TensorUse use =
        use_of(std::string("wmma.mma.sync.aligned.") + e.form + " " + d + ", " + registers(wide ? "x" : "a", e.a) +
               ", " + registers(wide ? "x" : "b", e.b) + ", " + d + ";");
    EXPECT_EQ(use.pipe, e.pipe) << e.form;
    EXPECT_EQ(use.instructions, e.instructions) << e.form;
    EXPECT_EQ(use.cycles, e.cycles) << e.form;
  }
  const std::string bits = ".popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {i0, i1}, {a0}, {b0}, {i0, i1};";
  EXPECT_EQ(use_of("wmma.mma.and" + bits).instructions, 1);
  EXPECT_EQ(use_of("wmma.mma.xor" + bits).instructions, 2);
}

// Columns, and the wavefronts of shared memory with A there and with A in registers.
struct OfGroup {
  unsigned columns;
  float cycles, a_in_shared, a_in_registers;
};

TEST(TensorProducts, OfAWarpgroup) {
  const OfGroup all[] = {{8, 4, 4.5f, 0.5f}, {64, 32, 8, 4}, {128, 64, 12, 8}, {256, 128, 20, 16}};
  for (const OfGroup& e : all) {
    const std::string op = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(e.columns) + "k16.f32.f16.f16 " +
                           registers("d", e.columns / 2);
    const TensorUse shared = use_of(op + ", da, db, p, 1, 1, 0, 0;"),
                    own = use_of(op + ", {a0,a1,a2,a3}, db, p, 1, 1, 0;");
    EXPECT_EQ(shared.pipe, TensorPipe::hmma);
    EXPECT_TRUE(shared.group);
    EXPECT_EQ(shared.cycles, e.cycles) << e.columns;
    EXPECT_EQ(own.cycles, e.cycles) << e.columns;
    EXPECT_EQ(shared.wavefronts, e.a_in_shared) << e.columns;
    EXPECT_EQ(own.wavefronts, e.a_in_registers) << e.columns;
  }
  const TensorUse sparse = use_of("wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16 " + registers("d", 32) +
                                  ", da, db, a0, 0, p, 1, 1, 0, 0;");
  EXPECT_EQ(sparse.cycles, 32);
  EXPECT_EQ(sparse.wavefronts, 12);
  const TensorUse half =
      use_of("wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 " + registers("i", 16) + ", da, db, p, 1, 1, 0, 0;");
  EXPECT_EQ(half.cycles, 32);
  EXPECT_EQ(use_of("wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 " + registers("i", 32) + ", da, db, p;").pipe,
            TensorPipe::imma);
}

// Forms that were not counted on an H200 have no figures.
TEST(TensorProducts, OthersAreNotKnown) {
  EXPECT_EQ(use_of("wgmma.fence.sync.aligned;").pipe, TensorPipe::none);
  EXPECT_EQ(use_of("add.s32 a0, a1, a2;").pipe, TensorPipe::none);
}

}  // namespace
}  // namespace warpgrind::sass
