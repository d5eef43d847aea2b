// Copy on write of protected memory: what is copied, when, and what comes back.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "device/memory/written_pages.h"

namespace warpgrind::device {
namespace {

class WrittenPagesTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kBytes = 1 << 20, kPiece = 64 << 10, kLimit = 16 << 20;
  void SetUp() override {
    void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    at_ = static_cast<char*>(memory);
  }
  void TearDown() override {
    pages_.end();
    ::munmap(at_, kBytes);
  }
  void begin(const void* writer, std::uint64_t limit = kLimit) {
    const Pages all{reinterpret_cast<std::uint64_t>(at_), reinterpret_cast<std::uint64_t>(at_) + kBytes};
    ASSERT_TRUE(pages_.begin({&all, 1}, limit, writer));
  }
  // A byte that lies at least a piece from those of other numbers, wherever the memory begins.
  volatile char& byte(std::size_t number) { return at_[2 * number * kPiece]; }

  static const void* new_writer() {
    static char writers[32];
    static std::size_t next = 0;
    return &writers[next++ % sizeof writers];
  }

  WrittenPages& pages_ = WrittenPages::instance();
  char* at_ = nullptr;
  const void *kernel_ = new_writer(), *other_ = new_writer();
};

TEST_F(WrittenPagesTest, AWrittenPieceComesBack) {
  byte(3) = 1;
  begin(kernel_);
  EXPECT_EQ(pages_.copied_bytes(), 0u);
  byte(3) = 2;
  EXPECT_EQ(pages_.copied_bytes(), kPiece);
  pages_.restore();
  EXPECT_EQ(byte(3), 1);
}

TEST_F(WrittenPagesTest, PiecesOfTheLastTimeAreCopiedAtOnce) {
  begin(kernel_);
  byte(3) = 1;
  byte(5) = 1;
  pages_.end();
  begin(kernel_);
  EXPECT_EQ(pages_.copied_bytes(), 2 * kPiece);
  byte(3) = 2;
  EXPECT_EQ(pages_.copied_bytes(), 2 * kPiece);
  byte(6) = 2;
  EXPECT_EQ(pages_.copied_bytes(), 3 * kPiece);
  pages_.restore();
  EXPECT_EQ(byte(3), 1);
  EXPECT_EQ(byte(5), 1);
  EXPECT_EQ(byte(6), 0);
}

TEST_F(WrittenPagesTest, AnotherWriterExpectsNothing) {
  begin(kernel_);
  byte(3) = 1;
  pages_.end();
  begin(other_);
  EXPECT_EQ(pages_.copied_bytes(), 0u);
}

TEST_F(WrittenPagesTest, WhatIsNoLongerWrittenIsForgotten) {
  begin(kernel_);
  byte(3) = 1;
  pages_.end();
  std::uint64_t least = kPiece;
  for (unsigned launch = 0; launch < 40; ++launch) {
    begin(kernel_);
    least = std::min(least, pages_.copied_bytes());
    pages_.end();
  }
  EXPECT_EQ(least, 0u);
  begin(kernel_);
  EXPECT_EQ(pages_.copied_bytes(), 0u);
}

// The child of a fork keeps no copies, and no handler of it waits for a thread of the parent.
TEST_F(WrittenPagesTest, AChildMayWrite) {
  begin(kernel_);
  const pid_t child = ::fork();
  if (child == 0) {
    WrittenPages::leave_after_fork();
    byte(3) = 2;
    ::_exit(pages_.copied_bytes() == 0 && byte(3) == 2 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  byte(3) = 1;  // the parent's pages are protected as before
  EXPECT_EQ(pages_.copied_bytes(), kPiece);
}

// Otherwise expected pieces could fill the limit, and a launch that writes others could not go back.
TEST_F(WrittenPagesTest, ExpectedPiecesGetOnlyAPartOfTheLimit) {
  begin(kernel_);
  byte(3) = 1;
  pages_.end();
  begin(kernel_, 4 * kPiece);
  EXPECT_EQ(pages_.copied_bytes(), 0u);
}

// What the parts held at `at`.
std::uint8_t kept_at(const KeptParts& kept, const volatile char& at) {
  const auto address = reinterpret_cast<std::uint64_t>(&at);
  for (const KeptParts::Part& part : kept.parts) {
    if (address < part.low || address >= part.low + part.bytes) continue;
    std::uint8_t out = 0;
    kept.chunks.read(part.at + (address - part.low), &out, 1);
    return out;
  }
  return 255;
}

// Between two launches the pages stay protected, and each launch's copies are its own.
TEST_F(WrittenPagesTest, CopiesAreHandedOver) {
  byte(3) = 1;
  begin(kernel_);
  byte(3) = 2;
  byte(3) = 3;
  KeptParts first = pages_.hand_over();
  begin(other_);
  byte(3) = 4;
  byte(5) = 4;
  KeptParts second = pages_.hand_over();
  EXPECT_EQ(kept_at(first, byte(3)), 1);
  EXPECT_EQ(kept_at(first, byte(5)), 255);
  EXPECT_EQ(kept_at(second, byte(3)), 3);
  EXPECT_EQ(kept_at(second, byte(5)), 0);
  PageStore::instance().give_back(std::move(first.chunks));
  begin(kernel_);
  EXPECT_EQ(kept_at(second, byte(3)), 3);  // the chunks of the first are used again, not these
  byte(6) = 1;
  pages_.restore();
  EXPECT_EQ(byte(3), 4);
  EXPECT_EQ(byte(6), 0);
  PageStore::instance().give_back(std::move(second.chunks));
}

// The host writes after the launch. It is a part of what changed.
TEST_F(WrittenPagesTest, WritesOfTheHostAreCopiedToo) {
  begin(kernel_);
  byte(3) = 1;
  const auto at = reinterpret_cast<std::uint64_t>(&byte(6));
  pages_.copy_before_write(at, at + 1);
  EXPECT_EQ(pages_.copied_bytes(), 2 * kPiece);
  byte(6) = 9;
  KeptParts kept = pages_.hand_over();
  EXPECT_EQ(kept_at(kept, byte(6)), 0);
  PageStore::instance().give_back(std::move(kept.chunks));
}

TEST_F(WrittenPagesTest, BeyondTheLimitOnlyWhenItIsLifted) {
  begin(kernel_, 2 * kPiece);
  ASSERT_TRUE(pages_.lift_limit());
  for (std::size_t k = 0; k < kBytes / kPiece / 2; ++k) byte(k) = 1;
  EXPECT_FALSE(pages_.is_full());
  pages_.restore();
  EXPECT_EQ(byte(7), 0);
  pages_.end();
  begin(kernel_, 2 * kPiece);
  for (std::size_t k = 0; k < kBytes / kPiece / 2; ++k) byte(k) = 1;
  EXPECT_TRUE(pages_.is_full());
}

TEST(PageStore, ReadsAndWritesOverTheBordersOfChunks) {
  Chunks chunks;
  constexpr std::uint64_t kSize = 3 * Chunks::kBytes;
  ASSERT_TRUE(PageStore::instance().extend(chunks, 0, kSize));
  std::vector<std::uint8_t> in(2 * Chunks::kBytes + 100), out(in.size());
  for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<std::uint8_t>(k % 251);
  chunks.write(50, in.data(), in.size());
  ASSERT_TRUE(PageStore::instance().extend(chunks, 50 + in.size(), 10 * Chunks::kBytes));
  chunks.read(50, out.data(), out.size());
  EXPECT_EQ(in, out);
  Chunks first = chunks.take_first(Chunks::kBytes + 1);
  EXPECT_EQ(first.bytes(), 2 * Chunks::kBytes);
  chunks.read(0, out.data(), 100);
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + 100, in.begin() + 2 * Chunks::kBytes - 50));
  PageStore::instance().give_back(std::move(first));
  PageStore::instance().give_back(std::move(chunks));
}

}  // namespace
}  // namespace warpgrind::device
