// The playground's database: its quota, and the largest parts of a result.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/temporary_folder.h"
#include "serve/store.h"

namespace warpgrind::serve {
namespace {

constexpr std::size_t kMiB = 1 << 20;

RunRequest request_of(const std::string& session, const std::string& id) {
  RunRequest run;
  run.id = id;
  run.session = session;
  run.source = "int main() {}";
  run.mode = "run";
  return run;
}

RunResult result_of(std::size_t bytes) {
  return {"exit code 0", true, "output", std::string(bytes / 2, 'r'), std::string(bytes / 2, 'p')};
}

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = Store::open(file(), 16 * kMiB);
    ASSERT_TRUE(opened) << opened.error().message;
    store = opened.take();
    session = store->new_session();
  }
  std::string file() const { return folder.path + "/data.sqlite"; }

  const TemporaryFolder folder;
  std::unique_ptr<Store> store;
  std::string session;
};

TEST_F(StoreTest, OldResultsMakeRoomForNewOnes) {
  for (int i = 0; i < 20; ++i) {
    const RunRequest run = request_of(store->new_session(), std::to_string(i));
    ASSERT_TRUE(store->add(run));
    store->finish(run, result_of(4 * kMiB));
  }
  EXPECT_FALSE(store->run("0"));
  EXPECT_FALSE(store->run("15"));
  ASSERT_TRUE(store->run("19"));
  EXPECT_EQ(store->run("19")->result.profile.size(), 2 * kMiB);
  EXPECT_LT(std::filesystem::file_size(file()), 24 * kMiB);
}

TEST_F(StoreTest, PartsThatAreTooLargeAreNotKept) {
  const RunRequest run = request_of(session, "large");
  ASSERT_TRUE(store->add(run));
  store->finish(run, {"exit code 0", true, "output", "report", std::string(kLargestProfile + 1, 'p')});
  const auto kept = store->run("large");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->result.profile, "");
  EXPECT_EQ(kept->result.report, "report");
  EXPECT_EQ(kept->result.ending, "exit code 0; its profile is too large to be kept");
}

TEST_F(StoreTest, ResultsWithoutRoomAreLostButTheirEndIsKept) {
  const RunRequest waits = request_of(session, "waits");
  ASSERT_TRUE(store->add(waits));
  const RunRequest run = request_of(session, "run");
  ASSERT_TRUE(store->add(run));
  store->finish(run, {"exit code 0", true, "output", std::string(8 * kMiB, 'r'), std::string(8 * kMiB, 'p')});
  ASSERT_TRUE(store->run("run"));
  EXPECT_EQ(store->run("run")->result.ending, "exit code 0; its results are lost: the server's database is full");
  EXPECT_FALSE(store->run("waits")->done);
}

TEST_F(StoreTest, ProgramsHaveHalfOfTheQuota) {
  const Program program{std::string(kMiB, 's'), "h200", ""};
  int kept = 0;
  while (kept < 100 && store->keep(program, session)) ++kept;
  EXPECT_EQ(kept, 8);
  EXPECT_TRUE(store->add(request_of(session, "run"))) << "programs leave room for runs";
  store.reset();
  auto opened = Store::open(file(), 16 * kMiB);
  ASSERT_TRUE(opened);
  EXPECT_FALSE((*opened)->keep(program, session)) << "the sum is known after a restart";
}

}  // namespace
}  // namespace warpgrind::serve
