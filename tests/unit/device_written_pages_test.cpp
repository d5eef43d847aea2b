// Copy on write of protected memory: what is copied, when, and what comes back.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

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

}  // namespace
}  // namespace warpgrind::device
