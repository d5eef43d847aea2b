// Reading and writing of whole files: what was written is read again, and a write that fails gives its reason.
#include <gtest/gtest.h>
#include <sys/mount.h>
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

// No part can be made beside the file.
TEST(File, ADiskWithoutRoomForAFileLosesNone) {
  const TemporaryFolder folder;
  ASSERT_EQ(folder.problem, "");
  const std::string disk = folder.path + "/disk", path = disk + "/kept";
  ASSERT_EQ(mkdir(disk.c_str(), 0755), 0);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "nr_inodes=2") != 0) GTEST_SKIP() << "only root may mount";
  EXPECT_TRUE(write_whole(path, "old"));
  const Status s = write_whole(path, "new");
  const std::string kept = read_whole(path).value_or("");
  umount(disk.c_str());
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().message, "cannot write " + path + ": No space left on device");
  EXPECT_EQ(kept, "old");
}

TEST(File, TheNameMayBeAsLongAsNamesCanBe) {
  const TemporaryFolder folder;
  const std::string path = folder.path + "/" + std::string(255, 'n');
  ASSERT_TRUE(write_whole(path, "old"));
  ASSERT_TRUE(write_whole(path, "new"));
  EXPECT_EQ(read_whole(path), "new");
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

TEST(File, AFileWithoutEndIsNotRead) {
  EXPECT_FALSE(read_whole("/dev/zero", 1 << 20));
  EXPECT_EQ(errno, EFBIG);
  const TemporaryFolder folder;
  const std::string path = folder.path + "/file";
  ASSERT_TRUE(write_whole(path, "12345"));
  EXPECT_EQ(read_whole(path, 5), "12345");
  EXPECT_FALSE(read_whole(path, 4));
}

}  // namespace
}  // namespace warpgrind
