// ldmatrix and stmatrix with elements of a byte or less. The expected places are CUTLASS's copy traits
// (cute/atom/copy_traits_sm100.hpp), written out here as its layouts. Not held against hardware.
#include <array>
#include <random>

#include "device_fixture.h"

namespace warpgrind::device {
namespace {

using MatrixBytes = std::vector<std::uint8_t>;
using RegisterPlanes = std::vector<std::array<std::uint32_t, 32>>;  // by register, lane
constexpr unsigned kByteRow = 16, kByteRows = 32;

// Runs `instruction` with %a, the lane's own row of 16 bytes, and %r0 to %r3. Lane l has row l * 5 % 32, so that rows
// do not stand in the order of lanes.
struct ByteMatrixRun {
  static unsigned row_of(unsigned lane) { return lane * 5 % kByteRows; }
  MatrixBytes memory = MatrixBytes(std::size_t{kByteRows} * kByteRow);
  RegisterPlanes registers = RegisterPlanes(4);

  void run(const std::string& instruction) {
    Device gpu(0, **find_gpu_model("b200"), {});
    const std::string text = R"(.version 8.8
.target sm_100a
.address_size 64
.visible .entry run(.param .u64 memory, .param .u64 registers)
{
  .reg .b32 %a, %t, %r<4>; .reg .b64 %m, %g, %l; .shared .align 16 .b8 data[512];
  ld.param.u64 %m, [memory]; ld.param.u64 %g, [registers];
  mov.u32 %t, %tid.x; mul.lo.u32 %a, %t, 16; cvt.u64.u32 %l, %a; add.u64 %m, %m, %l; add.u64 %g, %g, %l;
  mov.u32 %r0, data; add.u32 %a, %a, %r0;
  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%m]; st.shared.v4.b32 [%a], {%r0, %r1, %r2, %r3};
  mul.lo.u32 %t, %t, 5; and.b32 %t, %t, 31; mov.u32 %a, data; mad.lo.u32 %a, %t, 16, %a;
  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%g]; bar.warp.sync -1;
  INSTRUCTION
  st.global.v4.b32 [%g], {%r0, %r1, %r2, %r3}; bar.warp.sync -1;
  mov.u32 %a, data; cvt.u32.u64 %t, %l; add.u32 %a, %a, %t;
  ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%a]; st.global.v4.b32 [%m], {%r0, %r1, %r2, %r3};
  ret;
})";
    std::string whole = text;
    whole.replace(whole.find("INSTRUCTION"), 11, instruction);
    auto module = ptx::parse(whole, "run.ptx");
    ASSERT_TRUE(module.ok()) << module.error().message << module.error().detail;
    auto loaded = gpu.load(*module);
    ASSERT_TRUE(loaded.ok());
    auto* bytes = reinterpret_cast<std::uint8_t*>(*gpu.allocate(memory.size()));
    auto* words = reinterpret_cast<std::uint32_t*>(*gpu.allocate(4 * kByteRows * 4));
    std::copy(memory.begin(), memory.end(), bytes);
    for (unsigned l = 0; l < kByteRows; ++l)
      for (unsigned r = 0; r < 4; ++r) words[l * 4 + r] = registers[r][l];
    void* arguments[] = {&bytes, &words};
    auto result = gpu.launch(*loaded, 0, shape({1, 1, 1}, {32, 1, 1}), arguments);
    ASSERT_TRUE(result.ok()) << result.error().message << result.error().detail;
    ASSERT_FALSE(result->fault) << result->fault->message;
    std::copy_n(bytes, memory.size(), memory.begin());
    for (unsigned l = 0; l < kByteRows; ++l)
      for (unsigned r = 0; r < 4; ++r) registers[r][l] = words[l * 4 + r];
  }

  // Element `e` of the row of `lane`: bit by bit, first bits first.
  unsigned element(unsigned lane, unsigned e, unsigned bits) const {
    unsigned value = 0;
    for (unsigned b = 0; b < bits; ++b) {
      const unsigned at = e * bits + b;
      value |= (memory[row_of(lane) * kByteRow + at / 8] >> at % 8 & 1u) << b;
    }
    return value;
  }
};

ByteMatrixRun random_byte_run() {
  std::mt19937 random(11);
  ByteMatrixRun run;
  for (std::uint8_t& byte : run.memory) byte = static_cast<std::uint8_t>(random());
  for (auto& r : run.registers)
    for (std::uint32_t& word : r) word = static_cast<std::uint32_t>(random());
  return run;
}

std::string braced_registers(unsigned registers) {
  std::string s = "{%r0";
  for (unsigned r = 1; r < registers; ++r) s += ", %r" + std::to_string(r);
  return s + "}";
}

// Byte of the warp's bits in which a layout puts byte `v` of thread `t`: thread (4,8):(256,8), value (8,2,2,n):(1,128,
// 64,1024) in bits.
unsigned transposed_byte(unsigned t, unsigned v) {
  return t % 4 * 32 + t / 4 + v % 2 * 16 + v / 2 % 2 * 8 + v / 4 * 128;
}

struct PackedSource {
  const char* name;
  unsigned bits;
};
constexpr PackedSource kPacked[] = {{"b8x16.b6x16_p32", 6}, {"b8x16.b4x16_p64", 4}};

TEST(ByteMatrices, LoadOfEightRows) {
  for (const PackedSource& source : kPacked)
    for (const unsigned count : {1u, 2u, 4u}) {
      ByteMatrixRun run = random_byte_run();
      const ByteMatrixRun before = run;
      run.run("ldmatrix.sync.aligned.m8n16.x" + std::to_string(count) + ".shared." + source.name + " " +
              braced_registers(count) + ", [%a];");
      for (unsigned j = 0; j < count; ++j)
        for (unsigned t = 0; t < 32; ++t) {
          std::uint32_t word = 0;
          for (unsigned b = 0; b < 4; ++b) {
            const unsigned byte = t * 4 + b;  // thread 32:32, value (32,n):(1,1024) in bits
            word |= before.element(j * 8 + byte / 16, byte % 16, source.bits) << 8 * b;
          }
          EXPECT_EQ(run.registers[j][t], word) << source.name << " x" << count << " register " << j << " lane " << t;
        }
      for (unsigned r = count; r < 4; ++r) EXPECT_EQ(run.registers[r], before.registers[r]);
    }
}

// CUTLASS loads the rows of thread (2,2,4,n):(128,1024,256,2048), and then exchanges bytes of two registers.
TEST(ByteMatrices, TransposedLoadOfSixteenRows) {
  for (const PackedSource& source : {PackedSource{"b8", 8}, kPacked[0], kPacked[1]})
    for (const unsigned count : {1u, 2u}) {
      ByteMatrixRun run = random_byte_run();
      const ByteMatrixRun before = run;
      run.run("ldmatrix.sync.aligned.m16n16.x" + std::to_string(count) + ".trans.shared." + source.name + " " +
              braced_registers(2 * count) + ", [%a];");
      std::array<unsigned, 32> lane_of_row;
      for (unsigned l = 0; l < 32; ++l) lane_of_row[l % 2 + l / 2 % 2 * 8 + l / 4 % 4 * 2 + l / 16 * 16] = l;
      for (unsigned j = 0; j < count; ++j)
        for (unsigned t = 0; t < 32; ++t) {
          const auto byte = [&](unsigned r, unsigned b) { return run.registers[2 * j + r][t] >> 8 * b & 255; };
          const std::uint32_t exchanged[8] = {byte(0, 0), byte(0, 1), byte(1, 0), byte(1, 1),
                                              byte(0, 2), byte(0, 3), byte(1, 2), byte(1, 3)};
          for (unsigned v = 0; v < 8; ++v) {
            const unsigned at = transposed_byte(t, v), row = at / 16 + 16 * j;
            EXPECT_EQ(exchanged[v], before.element(lane_of_row[row], at % 16, source.bits))
                << source.name << " x" << count << " lane " << t << " value " << v;
          }
        }
      for (unsigned r = 2 * count; r < 4; ++r) EXPECT_EQ(run.registers[r], before.registers[r]);
    }
}

TEST(ByteMatrices, TransposedStoreOfEightColumns) {
  for (const unsigned count : {1u, 2u, 4u}) {
    ByteMatrixRun run = random_byte_run();
    const ByteMatrixRun before = run;
    run.run("stmatrix.sync.aligned.m16n8.x" + std::to_string(count) + ".trans.shared.b8 [%a], " +
            braced_registers(count) + ";");
    MatrixBytes expected = before.memory;
    for (unsigned t = 0; t < 32; ++t)
      for (unsigned v = 0; v < 4 * count; ++v) {
        const unsigned at = transposed_byte(t, v);
        expected[ByteMatrixRun::row_of(at / 16) * kByteRow + at % 16] =
            static_cast<std::uint8_t>(before.registers[v / 4][t] >> 8 * (v % 4));
      }
    EXPECT_EQ(run.memory, expected) << "x" << count;
  }
}

}  // namespace
}  // namespace warpgrind::device
