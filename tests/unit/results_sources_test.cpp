// Source texts: from this machine, or from a program that was built elsewhere (results/sources.h).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "results/sources.h"

namespace warpgrind::results {
namespace {

namespace fs = std::filesystem;

Profile naming(const std::string& file) {
  Profile profile;
  KernelProfile kernel;
  SiteProfile site;
  site.file = file;
  kernel.sites.push_back(site);
  profile.kernels.push_back(kernel);
  return profile;
}

class BroughtSources : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "own_topic");
    std::ofstream(folder_ / "own_topic" / "kernels.cuh") << "brought along\n";
  }
  void TearDown() override { fs::remove_all(folder_ / "own_topic"); }
  const fs::path folder_ = fs::read_symlink("/proc/self/exe").parent_path() / "source";
};

TEST_F(BroughtSources, AsMuchOfThePathAsFits) {
  for (const char* named : {"/home/nobody/lab/own_topic/kernels.cuh", "own_topic/kernels.cuh"}) {
    Profile profile = naming(named);
    read_sources(profile);
    ASSERT_EQ(profile.sources.size(), 1u);
    EXPECT_EQ(profile.sources[0].file, named);
    EXPECT_EQ(profile.sources[0].text, "brought along\n") << profile.sources[0].missing;
  }
}

TEST_F(BroughtSources, AnotherFolderIsAnotherFile) {
  Profile profile = naming("/home/nobody/lab/own_topic_2/kernels.cuh");
  read_sources(profile);
  ASSERT_EQ(profile.sources.size(), 1u);
  EXPECT_EQ(profile.sources[0].text, "");
  EXPECT_NE(profile.sources[0].missing.find("/home/nobody/lab/own_topic_2/kernels.cuh: No such file"),
            std::string::npos)
      << profile.sources[0].missing;
}

TEST_F(BroughtSources, WhatIsThereComesFirst) {
  const fs::path there = folder_ / "own_topic" / "lab" / "own_topic" / "kernels.cuh";
  fs::create_directories(there.parent_path());
  std::ofstream(there) << "in its place\n";
  Profile profile = naming(there);
  read_sources(profile);
  ASSERT_EQ(profile.sources.size(), 1u);
  EXPECT_EQ(profile.sources[0].text, "in its place\n");
}

}  // namespace
}  // namespace warpgrind::results
