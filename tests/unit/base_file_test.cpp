// Reading and writing of whole files: what was written is read again, and a write that fails gives its reason.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
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

// Without the bytes beside it, the file would have lost the old ones.
TEST(File, AFailedWriteLeavesTheFileAsItWas) {
  const TemporaryFolder folder;
  ASSERT_EQ(folder.problem, "");
  const std::string path = folder.path + "/kept";
  ASSERT_TRUE(write_whole(path, "old"));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{8, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status s = write_whole(path, "more than eight bytes");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().message, "cannot write " + path + ": File too large");
  EXPECT_EQ(read_whole(path), "old");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path)) files += entry.path().filename() != "lock";
  EXPECT_EQ(files, 1u);
}

TEST(File, LinksAndModesAreKept) {
  const TemporaryFolder folder;
  ASSERT_EQ(folder.problem, "");
  const std::string path = folder.path + "/file", link = folder.path + "/link";
  ASSERT_TRUE(write_whole(path, "old"));
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  std::filesystem::create_symlink("file", link);
  ASSERT_TRUE(write_whole(link, "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_whole(path), "new");
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0640u);
}

TEST(File, AFolderCannotBeRead) {
  EXPECT_FALSE(read_whole("/"));
  EXPECT_EQ(errno, EISDIR);
}

TEST(File, AMissingFolderIsAnError) {
  const Status s = write_whole("/nonexistent/a", "x");
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().message, "cannot write /nonexistent/a: No such file or directory");
}

}  // namespace
}  // namespace warpgrind
