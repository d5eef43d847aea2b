// Program and kernels that all tests of the runtime API share (api_test.h).
#include "api_test.h"

#include <cstdlib>
#include <string>

namespace warpgrind::runtime::test {

char fill, add, bounded, read_2d, write_2d, bank, from_bank, word, broken;

namespace {

constexpr const char* kPtx = R"(
.version 8.0
.target sm_90
.address_size 64

.const .align 4 .b8 bank[1024];
.global .align 4 .u32 word[4] = {1, 2, 3, 4};

.visible .entry fill(.param .u64 p, .param .u32 value) {
  .reg .u64 %rd<3>;
  .reg .u32 %r<6>;
  ld.param.u64 %rd0, [p];
  ld.param.u32 %r0, [value];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd1, %r4, 4;
  add.u64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r0;
  ret;
}
.visible .entry add(.param .u64 p) {
  .reg .u64 %rd<1>;
  .reg .u32 %r<2>;
  ld.param.u64 %rd0, [p];
  ld.global.u32 %r0, [%rd0];
  add.u32 %r1, %r0, 1;
  st.global.u32 [%rd0], %r1;
  ret;
}
.visible .entry bounded(.param .u64 p) .maxntid 128, 1, 1 {
  .reg .u64 %rd<1>;
  ld.param.u64 %rd0, [p];
  st.global.u32 [%rd0], 7;
  ret;
}
.visible .entry read_2d(.param .u64 out, .param .u64 texture, .param .u32 x, .param .u32 y) {
  .reg .u64 %rd<2>;
  .reg .s32 %r<6>;
  ld.param.u64 %rd0, [out];
  ld.param.u64 %rd1, [texture];
  ld.param.s32 %r0, [x];
  ld.param.s32 %r1, [y];
  tex.2d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r0, %r1}];
  st.global.u32 [%rd0], %r2;
  ret;
}
.visible .entry write_2d(.param .u64 surface, .param .u32 x, .param .u32 y, .param .u32 value) {
  .reg .u64 %rd<1>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd0, [surface];
  ld.param.u32 %r0, [x];
  ld.param.u32 %r1, [y];
  ld.param.u32 %r2, [value];
  shl.b32 %r0, %r0, 2;
  sust.b.2d.b32.trap [%rd0, {%r0, %r1}], {%r2};
  ret;
}
.visible .entry from_bank(.param .u64 out) {
  .reg .u64 %rd<1>;
  .reg .u32 %r<1>;
  ld.param.u64 %rd0, [out];
  ld.const.u32 %r0, [bank + 12];
  st.global.u32 [%rd0], %r0;
  ret;
}
.visible .entry broken(.param .u64 p) {
  .reg .u64 %rd<1>;
  mov.u64 %rd0, 16;
  st.global.u32 [%rd0], 1;
  ret;
}
)";

// A fatbin with the PTX, uncompressed, and the wrapper that compiled programs pass to __cudaRegisterFatBinary.
struct Wrapper {
  int magic = 0x466243b1, version = 1;
  const void* data = nullptr;
  void* unused = nullptr;
};

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string fatbin(std::string text, bool machine_code) {
  text.push_back('\0');
  while (text.size() % 8) text.push_back('\0');
  std::string entry;
  append<std::uint16_t>(entry, machine_code ? 2 : 1), append<std::uint16_t>(entry, 0x0101),
      append<std::uint32_t>(entry, 64);
  append<std::uint64_t>(entry, text.size()), append<std::uint32_t>(entry, 0), append<std::uint32_t>(entry, 0);
  append<std::uint16_t>(entry, 0), append<std::uint16_t>(entry, 8),
      append<std::uint32_t>(entry, machine_code ? 35 : 90);
  append<std::uint32_t>(entry, 64), append<std::uint32_t>(entry, 0), append<std::uint64_t>(entry, 0x11);
  append<std::uint64_t>(entry, 0), append<std::uint64_t>(entry, 0);
  std::string out;
  append<std::uint32_t>(out, 0xBA55ED50), append<std::uint16_t>(out, 1), append<std::uint16_t>(out, 16);
  append<std::uint64_t>(out, entry.size() + text.size());
  return out + entry + text;
}

struct Program {
  Program() {
    // Two virtual GPUs, for the peer calls: the same as `warpgrind run --devices 2`, which starts some of the tests.
    ::setenv("WARPGRIND_OPTIONS", R"({"gpu": "h200", "devices": 2, "threads": 2, "quiet": true})", 0);
    static const std::string data = fatbin(kPtx, false);
    static Wrapper wrapper{.data = data.data()};
    void** handle = __cudaRegisterFatBinary(&wrapper);
    const auto kernel = [&](char* host, const char* name) {
      __cudaRegisterFunction(handle, host, host, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    };
    kernel(&fill, "fill");
    kernel(&add, "add");
    kernel(&bounded, "bounded");
    kernel(&read_2d, "read_2d");
    kernel(&write_2d, "write_2d");
    kernel(&from_bank, "from_bank");
    kernel(&broken, "broken");
    __cudaRegisterVar(handle, &bank, &bank, "bank", 0, 1024, 1, 0);
    __cudaRegisterVar(handle, &word, &word, "word", 0, 16, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
  }
} program;

}  // namespace

void** register_program(const std::string& image, const char* name, const void* host, bool machine_code) {
  // As in a compiled program, both stay alive and in place.
  auto* data = new std::string(fatbin(image, machine_code));
  auto* wrapper = new Wrapper{.data = data->data()};
  void** handle = __cudaRegisterFatBinary(wrapper);
  __cudaRegisterFunction(handle, static_cast<const char*>(host), nullptr, name, -1, nullptr, nullptr, nullptr, nullptr,
                         nullptr);
  __cudaRegisterFatBinaryEnd(handle);
  return handle;
}

Words::Words(std::size_t count, unsigned value) : count_(count) {
  EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data_), count * 4), cudaSuccess);
  std::vector<unsigned> values(count, value);
  EXPECT_EQ(cudaMemcpy(data_, values.data(), count * 4, cudaMemcpyHostToDevice), cudaSuccess);
}
Words::~Words() {
  EXPECT_EQ(cudaFree(data_), cudaSuccess);
}
std::vector<unsigned> Words::read() const {
  std::vector<unsigned> values(count_);
  EXPECT_EQ(cudaMemcpy(values.data(), data_, count_ * 4, cudaMemcpyDeviceToHost), cudaSuccess);
  return values;
}

cudaError_t launch_fill(unsigned* p, unsigned value, unsigned count, cudaStream_t stream) {
  void* parameters[] = {&p, &value};
  return cudaLaunchKernel(&fill, {1, 1, 1}, {count, 1, 1}, parameters, 0, stream);
}

}  // namespace warpgrind::runtime::test
