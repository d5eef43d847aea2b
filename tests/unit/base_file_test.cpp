// Reading and writing of whole files: what was written is read again, and a write that fails gives its reason.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace warpgrind {
namespace {

TEST(File, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  ASSERT_EQ(folder.problem, "");
  const std::string path = folder.path + "/bytes";
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(write_whole(path, "more than four bytes"));
  ASSERT_TRUE(write_whole(path, bytes));
  EXPECT_EQ(read_whole(path), bytes);
  EXPECT_FALSE(read_whole(path + "x"));
}

TEST(File, AFullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const Status small = write_whole("/dev/full", "x"), large = write_whole("/dev/full", std::string(1 << 20, 'x'));
  for (const Status* s : {&small, &large}) {
    ASSERT_FALSE(s->ok());
    EXPECT_EQ(s->error().kind, ErrorKind::environment);
    EXPECT_EQ(s->error().message, "cannot write /dev/full: No space left on device");
  }
}

TEST(File, AMissingFolderIsAnError) {
  const Status s = write_whole("/nonexistent/a", "x");
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().message, "cannot write /nonexistent/a: No such file or directory");
}

}  // namespace
}  // namespace warpgrind
