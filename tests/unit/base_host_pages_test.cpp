// Accesses to watched pages: which are recorded, and that they have their normal effect.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <thread>

#include "base/host_pages.h"
#include "base/x86_access.h"

namespace warpgrind {
namespace {

class HostPagesTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kPages = 4, kPage = HostPages::kPage;
  void SetUp() override {
    void* memory = ::mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    at_ = static_cast<char*>(memory);
  }
  void TearDown() override {
    pages_.watch({});
    pages_.take();
    ::munmap(at_, kPages * kPage);
  }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(at_); }
  void watch(std::uint64_t first, std::uint64_t last, bool readable) {
    pages_.watch({{address() + first * kPage, address() + last * kPage, readable}});
  }
  volatile int& word(std::size_t index) { return reinterpret_cast<volatile int*>(at_)[index]; }

  HostPages& pages_ = HostPages::instance();
  char* at_ = nullptr;
};

TEST_F(HostPagesTest, EachAccessIsNotedAndHappens) {
  word(3) = 5;
  watch(0, 2, false);
  const int seen = word(3);
  word(4) = seen + 1;
  const auto touches = pages_.take();
  ASSERT_EQ(touches.size(), 2u);
  EXPECT_EQ(touches[0].address, address() + 12);
  EXPECT_FALSE(touches[0].write);
  EXPECT_EQ(touches[1].address, address() + 16);
  EXPECT_TRUE(touches[1].write);
  EXPECT_EQ(touches[1].bytes, 4u);
  pages_.watch({});
  EXPECT_EQ(word(4), 6);
  EXPECT_TRUE(pages_.take().empty());
}

TEST_F(HostPagesTest, ReadablePagesReportWritesOnly) {
  watch(0, 1, true);
  const int seen = word(0);
  EXPECT_TRUE(pages_.take().empty());
  word(1) = seen + 1;
  EXPECT_EQ(pages_.take().size(), 1u);
}

TEST_F(HostPagesTest, OtherPagesAreFree) {
  watch(1, 2, false);
  word(0) = 1;
  word(2 * kPage / 4) = 1;
  EXPECT_TRUE(pages_.take().empty());
}

TEST_F(HostPagesTest, ALoopIsOneTouch) {
  watch(0, 2, false);
  for (std::size_t k = 0; k < 300; ++k) word(k) = static_cast<int>(k);
  const auto touches = pages_.take();
  pages_.watch({});
  std::uint64_t bytes = 0;
  for (const auto& t : touches) bytes += t.bytes;
  EXPECT_LE(touches.size(), 8u);  // the compiler may unroll it
  EXPECT_EQ(bytes >= 300 * 4, true);
  for (std::size_t k = 0; k < 300; ++k) ASSERT_EQ(word(k), static_cast<int>(k));
}

TEST_F(HostPagesTest, AnAccessAcrossTwoPagesHappens) {
  watch(0, 2, false);
  using Unaligned __attribute__((aligned(1))) = long;
  volatile Unaligned* across = reinterpret_cast<volatile Unaligned*>(at_ + kPage - 4);
  *across = 0x1122334455667788;
  EXPECT_FALSE(pages_.take().empty());
  pages_.watch({});
  EXPECT_EQ(*across, 0x1122334455667788);
}

// Only the bytes of an access: 4 on each page, of a store of 8.
TEST_F(HostPagesTest, AnAccessAcrossTwoPagesIsNotedByItsBytes) {
  using Unaligned __attribute__((aligned(1))) = long;
  volatile Unaligned* across = reinterpret_cast<volatile Unaligned*>(at_ + kPage - 4);
  watch(0, 2, false);
  *across = 1;
  auto touches = pages_.take();
  ASSERT_EQ(touches.size(), 1u);
  EXPECT_EQ(touches[0].address, address() + kPage - 4);
  EXPECT_EQ(touches[0].bytes, 8u);
  watch(1, 2, false);
  *across = 2;
  touches = pages_.take();
  ASSERT_EQ(touches.size(), 1u);
  EXPECT_EQ(touches[0].address, address() + kPage);
  EXPECT_EQ(touches[0].bytes, 4u);
  EXPECT_TRUE(touches[0].write);
}

TEST_F(HostPagesTest, NothingIsNotedDuringAPause) {
  watch(0, 2, false);
  pages_.pause();
  pages_.pause();
  word(0) = 1;
  pages_.resume();
  word(1) = 1;
  EXPECT_TRUE(pages_.take().empty());
  pages_.resume();
  word(2) = 1;
  EXPECT_EQ(pages_.take().size(), 1u);
}

TEST_F(HostPagesTest, LibraryFunctionsAndStringInstructions) {
  watch(0, 4, false);
  std::memset(at_ + 100, 7, 3 * kPage);
  char copy[64];
  std::memcpy(copy, at_ + 200, sizeof copy);
  EXPECT_EQ(copy[63], 7);
  const auto touches = pages_.take();
  ASSERT_FALSE(touches.empty());
  EXPECT_TRUE(touches.front().write);
  EXPECT_EQ(touches.front().address / kPage, address() / kPage);
}

TEST_F(HostPagesTest, SystemCallsAreLetThrough) {
  watch(0, 2, false);
  pages_.open(at_, 100);
  at_[99] = 1;
  pages_.close(at_, 100, 50, true, __builtin_return_address(0));
  const auto touches = pages_.take();
  ASSERT_EQ(touches.size(), 1u);
  EXPECT_EQ(touches[0].bytes, 50u);
  at_[0] = 1;
  EXPECT_EQ(pages_.take().size(), 1u);  // closed again
}

TEST_F(HostPagesTest, SeveralThreads) {
  watch(0, 4, false);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      for (std::size_t k = 0; k < 200; ++k) word(4 * k + t) = static_cast<int>(t);
    });
  for (std::thread& t : threads) t.join();
  pages_.watch({});
  for (std::size_t k = 0; k < 800; ++k) ASSERT_EQ(word(k), static_cast<int>(k % 4));
}

TEST_F(HostPagesTest, APageThatIsUsedALotStaysOpen) {
  watch(0, 1, false);
  const std::uint64_t before = pages_.pages_given_up();
  for (int k = 0; k < 10000; ++k) word(0) = word(0) + 1;
  EXPECT_GT(pages_.pages_given_up(), before);
  EXPECT_EQ(word(0), 10000);
}

// Bytes that the instruction reads or writes.
unsigned read_bytes(std::initializer_list<std::uint8_t> code, bool write = false) {
  std::uint8_t text[16] = {};
  std::copy(code.begin(), code.end(), text);
  return access_bytes(text, write);
}
unsigned written_bytes(std::initializer_list<std::uint8_t> code) {
  return read_bytes(code, true);
}

TEST(X86Access, Bytes) {
  EXPECT_EQ(read_bytes({0x8b, 0x07}), 4u);                       // mov (%rdi),%eax
  EXPECT_EQ(read_bytes({0x48, 0x8b, 0x07}), 8u);                 // mov (%rdi),%rax
  EXPECT_EQ(written_bytes({0x66, 0x89, 0x07}), 2u);              // mov %ax,(%rdi)
  EXPECT_EQ(written_bytes({0x88, 0x07}), 1u);                    // mov %al,(%rdi)
  EXPECT_EQ(read_bytes({0x0f, 0xb6, 0x07}), 1u);                 // movzbl (%rdi),%eax
  EXPECT_EQ(read_bytes({0x48, 0x63, 0x07}), 4u);                 // movslq (%rdi),%rax
  EXPECT_EQ(written_bytes({0xf0, 0x48, 0x0f, 0xc1, 0x07}), 8u);  // lock xadd %rax,(%rdi)
  EXPECT_EQ(written_bytes({0x48, 0x0f, 0xc7, 0x0f}), 16u);       // cmpxchg16b (%rdi)
  EXPECT_EQ(read_bytes({0x0f, 0x38, 0xf0, 0x07}), 4u);           // movbe (%rdi),%eax
  EXPECT_EQ(written_bytes({0x48, 0x0f, 0x38, 0xf1, 0x07}), 8u);  // movbe %rax,(%rdi)
  EXPECT_EQ(written_bytes({0x66, 0x0f, 0x38, 0xf1, 0x07}), 2u);  // movbe %ax,(%rdi)
  EXPECT_EQ(read_bytes({0xf2, 0x0f, 0x38, 0xf0, 0x07}), 1u);     // crc32b (%rdi),%eax
  EXPECT_EQ(read_bytes({0xff, 0x37}), 8u);                       // push (%rdi)
  EXPECT_EQ(written_bytes({0x8f, 0x07}), 8u);                    // pop (%rdi)
}

TEST(X86Access, FloatingPointUnit) {
  EXPECT_EQ(read_bytes({0xdb, 0x2f}), 10u);          // fldt (%rdi)
  EXPECT_EQ(written_bytes({0xdd, 0x1f}), 8u);        // fstpl (%rdi)
  EXPECT_EQ(written_bytes({0xd9, 0x3f}), 2u);        // fnstcw (%rdi)
  EXPECT_EQ(read_bytes({0x0f, 0xae, 0x17}), 4u);     // ldmxcsr (%rdi)
  EXPECT_EQ(written_bytes({0x0f, 0xae, 0x27}), 1u);  // xsave (%rdi): its mask decides
}

TEST(X86Access, StringInstructionsCountAsOneElement) {
  EXPECT_EQ(read_bytes({0xf3, 0xa4}), 1u);           // rep movsb
  EXPECT_EQ(written_bytes({0xf3, 0x48, 0xa5}), 8u);  // rep movsq
  EXPECT_EQ(written_bytes({0xf3, 0xab}), 4u);        // rep stosl
  EXPECT_EQ(read_bytes({0x66, 0xa7}), 2u);           // cmpsw
}

TEST(X86Access, Vectors) {
  EXPECT_EQ(read_bytes({0xf3, 0x0f, 0x10, 0x07}), 4u);                  // movss (%rdi),%xmm0
  EXPECT_EQ(read_bytes({0xf2, 0x0f, 0x58, 0x07}), 8u);                  // addsd (%rdi),%xmm0
  EXPECT_EQ(read_bytes({0x66, 0x0f, 0x2e, 0x07}), 8u);                  // ucomisd (%rdi),%xmm0
  EXPECT_EQ(written_bytes({0x0f, 0x29, 0x07}), 16u);                    // movaps %xmm0,(%rdi)
  EXPECT_EQ(read_bytes({0xf3, 0x0f, 0x6f, 0x07}), 16u);                 // movdqu (%rdi),%xmm0
  EXPECT_EQ(read_bytes({0x66, 0x0f, 0x38, 0x2a, 0x07}), 16u);           // movntdqa (%rdi),%xmm0
  EXPECT_EQ(written_bytes({0x66, 0x0f, 0x3a, 0x14, 0x07, 0x01}), 1u);   // pextrb $1,%xmm0,(%rdi)
  EXPECT_EQ(read_bytes({0xc5, 0xfe, 0x6f, 0x07}), 32u);                 // vmovdqu (%rdi),%ymm0
  EXPECT_EQ(read_bytes({0xc5, 0xfa, 0x10, 0x07}), 4u);                  // vmovss (%rdi),%xmm0
  EXPECT_EQ(read_bytes({0xc4, 0xe2, 0x7d, 0x18, 0x07}), 4u);            // vbroadcastss (%rdi),%ymm0
  EXPECT_EQ(read_bytes({0xc4, 0xe2, 0xf5, 0xa8, 0x07}), 32u);           // vfmadd213pd (%rdi),%ymm1,%ymm0
  EXPECT_EQ(read_bytes({0xc4, 0xe2, 0x71, 0xa9, 0x07}), 4u);            // vfmadd213ss (%rdi),%xmm1,%xmm0
  EXPECT_EQ(read_bytes({0xc4, 0xe2, 0x7d, 0x31, 0x07}), 8u);            // vpmovzxbd (%rdi),%ymm0
  EXPECT_EQ(written_bytes({0xc4, 0xe3, 0x7d, 0x19, 0x07, 0x01}), 16u);  // vextractf128 $1,%ymm0,(%rdi)
  EXPECT_EQ(read_bytes({0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x07}), 64u);     // vmovdqu64 (%rdi),%zmm0
  EXPECT_EQ(read_bytes({0x62, 0xf1, 0x7c, 0x48, 0x10, 0x07}), 64u);     // vmovups (%rdi),%zmm0
  EXPECT_EQ(read_bytes({0x62, 0xf1, 0x74, 0x58, 0x58, 0x07}), 4u);      // vaddps (%rdi){1to16},%zmm1,%zmm0
  EXPECT_EQ(written_bytes({0x62, 0xf2, 0x7e, 0x48, 0x32, 0x07}), 8u);   // vpmovqb %zmm0,(%rdi)
  EXPECT_EQ(read_bytes({0xc4, 0xe1, 0xf8, 0x90, 0x0f}), 8u);            // kmovq (%rdi),%k1
}

TEST(X86Access, MasksCountAsOneElement) {
  EXPECT_EQ(read_bytes({0xc4, 0xe2, 0x75, 0x2c, 0x07}), 4u);                 // vmaskmovps (%rdi),%ymm1,%ymm0
  EXPECT_EQ(written_bytes({0xc4, 0xe2, 0x75, 0x2f, 0x07}), 8u);              // vmaskmovpd %ymm0,%ymm1,(%rdi)
  EXPECT_EQ(written_bytes({0xc4, 0xe2, 0xf1, 0x8e, 0x07}), 8u);              // vpmaskmovq %xmm0,%xmm1,(%rdi)
  EXPECT_EQ(written_bytes({0x66, 0x0f, 0xf7, 0xc1}), 1u);                    // maskmovdqu %xmm1,%xmm0
  EXPECT_EQ(read_bytes({0x62, 0xf1, 0xfe, 0x49, 0x6f, 0x07}), 8u);           // vmovdqu64 (%rdi),%zmm0{%k1}
  EXPECT_EQ(written_bytes({0x62, 0xf1, 0x7e, 0x29, 0x7f, 0x07}), 4u);        // vmovdqu32 %ymm0,(%rdi){%k1}
  EXPECT_EQ(read_bytes({0x62, 0xf1, 0x7f, 0x89, 0x6f, 0x07}), 1u);           // vmovdqu8 (%rdi),%xmm0{%k1}{z}
  EXPECT_EQ(written_bytes({0x62, 0xf2, 0x7d, 0x49, 0x8b, 0x07}), 4u);        // vpcompressd %zmm0,(%rdi){%k1}
  EXPECT_EQ(read_bytes({0xc4, 0xe2, 0x6d, 0x90, 0x04, 0x8f}), 4u);           // vpgatherdd %ymm2,(%rdi,%ymm1,4),%ymm0
  EXPECT_EQ(written_bytes({0x62, 0xf2, 0x7d, 0x49, 0xa0, 0x04, 0x8f}), 4u);  // vpscatterdd %zmm0,(%rdi,%zmm1,4){%k1}
}

// Bytes that the instruction accesses from `address` on, with rdi = 0x1000, rcx = 3, and an address in the code for
// rip.
unsigned bytes_from(std::uint64_t address, std::initializer_list<std::uint8_t> code, bool write = false) {
  std::uint8_t text[16] = {};
  std::copy(code.begin(), code.end(), text);
  X86Registers registers{};
  registers[1] = 3;
  registers[7] = 0x1000;
  return access_bytes_from(address, text, write, registers);
}

TEST(X86Access, BytesBehindAPlaceInTheAccess) {
  EXPECT_EQ(bytes_from(0x1000, {0x8b, 0x07}), 4u);                                 // mov (%rdi),%eax
  EXPECT_EQ(bytes_from(0x1001, {0x8b, 0x07}), 3u);                                 // likewise
  EXPECT_EQ(bytes_from(0x1003, {0x48, 0x89, 0x47, 0xfc}, true), 1u);               // mov %rax,-4(%rdi)
  EXPECT_EQ(bytes_from(0x1020, {0x48, 0x8b, 0x44, 0xcf, 0x04}), 4u);               // mov 4(%rdi,%rcx,8),%rax
  EXPECT_EQ(bytes_from(0x1002, {0xf3, 0x48, 0xa5}, true), 6u);                     // rep movsq
  EXPECT_EQ(bytes_from(0x1010, {0xc5, 0xfe, 0x6f, 0x07}), 16u);                    // vmovdqu (%rdi),%ymm0
  EXPECT_EQ(bytes_from(0x100a, {0x62, 0xf1, 0x7e, 0x29, 0x7f, 0x07}, true), 2u);   // vmovdqu32 %ymm0,(%rdi){%k1}
  EXPECT_EQ(bytes_from(0x1040, {0x62, 0xf1, 0x7c, 0x48, 0x10, 0x47, 0x01}), 64u);  // vmovups 64(%rdi),%zmm0
  EXPECT_EQ(bytes_from(0x1002, {0xc4, 0xe2, 0x6d, 0x90, 0x04, 0x8f}), 4u);         // vpgatherdd: any lane
  EXPECT_EQ(bytes_from(0x2002, {0x64, 0x8b, 0x07}), 4u);                           // mov %fs:(%rdi),%eax
}

TEST(X86Access, UnknownInstructions) {
  EXPECT_EQ(read_bytes({0x06}), 1u);  // not valid in 64-bit mode
}

}  // namespace
}  // namespace warpgrind
