// Answers of the playground's API to a viewer that waits for news.
#include <gtest/gtest.h>

#include <vector>

#include "serve/api.h"

namespace warpgrind::serve {
namespace {

class ApiTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = Store::open(":memory:", 64 << 20);
    ASSERT_TRUE(opened) << opened.error().message;
    store = opened.take();
    live.on_change([this](const std::string& id) { woken.push_back(id); });
    api.emplace(*store, *queue, live, sandbox::Limits{});
  }
  std::string begin(const std::string& session) {
    const Answer answer = api->run(session, R"({"source": "int main() {}", "mode": "run"})");
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.body.value("id", "");
  }

  std::unique_ptr<Store> store;
  std::unique_ptr<JobQueue> queue = make_embedded_queue();
  LiveRuns live;
  std::optional<Api> api;
  std::vector<std::string> woken;
};

TEST_F(ApiTest, AViewerWaitsForNews) {
  const std::string id = begin("a");
  EXPECT_TRUE(api->look("a", id, {0, 0, "none", {}}, false)) << "the state is news";
  EXPECT_FALSE(api->look("a", id, {0, 0, "queued", {}}, false));
  EXPECT_TRUE(api->look("a", id, {0, 0, "queued", {}}, true)) << "after some time there must be an answer";
  EXPECT_EQ(api->look("b", id, {0, 0, "queued", {}}, false)->status, 404) << "another user's run";
  live.find(id)->begin();
  EXPECT_EQ(woken, std::vector<std::string>{id});
  EXPECT_TRUE(api->look("a", id, {0, 0, "queued", {}}, false));
  EXPECT_FALSE(api->look("a", id, {0, 1, "running", {}}, false));
  live.find(id)->say("text");
  EXPECT_EQ(api->look("a", id, {0, 1, "running", {}}, false)->body["output"], "text");
}

TEST_F(ApiTest, AWaitingUserSeesTheOwnPlace) {
  const std::string first = begin("a"), second = begin("b"), third = begin("c");
  EXPECT_EQ(api->look("c", third, {0, 0, "none", {}}, false)->body["ahead"], 2);
  EXPECT_FALSE(api->look("c", third, {0, 0, "queued", 2}, false));
  woken.clear();
  EXPECT_EQ(api->cancel("b", second).status, 200);
  EXPECT_NE(std::find(woken.begin(), woken.end(), third), woken.end()) << "its viewer is woken";
  const auto moved = api->look("c", third, {0, 0, "queued", 2}, false);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->body["ahead"], 1);
}

}  // namespace
}  // namespace warpgrind::serve
