// The playground's queue, and the pages that may send requests to its server.
#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

#include "serve/job_queue.h"
#include "serve/request_check.h"

namespace warpgrind::serve {
namespace {

RunRequest run_of(const std::string& user, int number) {
  RunRequest run;
  run.id = user + std::to_string(number);
  run.session = user;
  return run;
}

std::string take(JobQueue& queue) {
  const auto run = queue.take({});
  if (!run) return "";
  queue.finished(*run, 1);
  return run->id;
}

TEST(Queue, UsersTakeTurns) {
  const auto queue = make_embedded_queue();
  for (int i = 0; i < 3; ++i) queue->push(run_of("a", i));
  queue->push(run_of("b", 0));
  queue->push(run_of("c", 0));
  queue->push(run_of("b", 1));
  std::string order;
  for (int i = 0; i < 6; ++i) order += take(*queue) + " ";
  EXPECT_EQ(order, "a0 b0 c0 a1 b1 a2 ");
}

TEST(Queue, UsersWithShortRunsGoFirstButNotForEver) {
  const auto queue = make_embedded_queue();
  const auto take_run = [&](double seconds) {
    const auto run = queue->take({});
    queue->finished(*run, seconds);
    return run->id;
  };
  queue->push(run_of("loop", 0));
  EXPECT_EQ(take_run(60), "loop0");
  queue->push(run_of("loop", 1));
  for (int i = 0; i < 5; ++i) queue->push(run_of(std::string(1, static_cast<char>('a' + i)), 0));
  std::string order;
  for (int i = 0; i < 6; ++i) order += take_run(1) + " ";
  EXPECT_EQ(order, "a0 b0 c0 loop1 d0 e0 ");
  queue->push(run_of("loop", 2));
  queue->push(run_of("a", 1));
  EXPECT_EQ(take_run(1), "loop2") << "its last run was short";
}

TEST(Queue, OneRunOfAUserAtATime) {
  const auto queue = make_embedded_queue();
  queue->push(run_of("a", 0));
  queue->push(run_of("a", 1));
  queue->push(run_of("b", 0));
  const auto first = queue->take({}), second = queue->take({});
  EXPECT_EQ(first->id, "a0");
  EXPECT_EQ(second->id, "b0");
  std::stop_source stop;
  std::jthread later([&] { stop.request_stop(); });
  EXPECT_FALSE(queue->take(stop.get_token())) << "a1 was given while a0 runs";
  queue->finished(*first, 1);
  EXPECT_EQ(queue->take({})->id, "a1");
}

TEST(Queue, ServedClientsQueueBehindNewOnes) {
  const auto queue = make_embedded_queue();
  queue->push(run_of("a", 0));
  queue->push(run_of("a", 1));
  const auto first = queue->take({});
  queue->push(run_of("b", 0));
  EXPECT_EQ(queue->ahead_of("b0"), 0u);
  EXPECT_EQ(queue->ahead_of("a1"), 1u);
  queue->finished(*first, 1);
  EXPECT_EQ(take(*queue), "b0");
  EXPECT_EQ(take(*queue), "a1");
}

// 20 users come at once, one with ten runs. No user waits for more than one run of each other user.
TEST(Queue, ClientsWithManyJobsDoNotDelayOthers) {
  const auto queue = make_embedded_queue();
  for (int i = 0; i < 10; ++i) queue->push(run_of("much", i));
  for (int user = 0; user < 19; ++user) queue->push(run_of("u" + std::to_string(user) + "-", 0));
  EXPECT_EQ(queue->waiting(), 29u);
  EXPECT_EQ(queue->waiting_of("much"), 10u);
  EXPECT_EQ(queue->ahead_of("u18-0"), 19u);
  EXPECT_EQ(queue->ahead_of("much1"), 20u);
  std::vector<std::string> order;
  for (int i = 0; i < 29; ++i) order.push_back(take(*queue));
  EXPECT_EQ(order[0], "much0");
  EXPECT_EQ(order[19], "u18-0");
  EXPECT_EQ(order[20], "much1");
}

TEST(Queue, AnnouncedPlacesAreKept) {
  const auto queue = make_embedded_queue();
  for (int i = 0; i < 4; ++i)
    for (int user = 0; user < 5; ++user)
      if ((i + user) % 3 != 0) queue->push(run_of(std::string(1, static_cast<char>('a' + user)), i));
  std::map<std::string, std::size_t> announced;
  for (int user = 0; user < 5; ++user)
    for (int i = 0; i < 4; ++i) {
      const std::string id = run_of(std::string(1, static_cast<char>('a' + user)), i).id;
      if (const auto ahead = queue->ahead_of(id)) announced[id] = *ahead;
    }
  const std::size_t all = queue->waiting();
  EXPECT_EQ(announced.size(), all);
  for (std::size_t i = 0; i < all; ++i) {
    const std::string id = take(*queue);
    EXPECT_EQ(announced[id], i) << id;
  }
}

TEST(Queue, WhatIsRemovedIsNotGiven) {
  const auto queue = make_embedded_queue();
  queue->push(run_of("a", 0));
  queue->push(run_of("a", 1));
  EXPECT_TRUE(queue->remove("a0"));
  EXPECT_FALSE(queue->remove("a0"));
  EXPECT_EQ(take(*queue), "a1");
}

TEST(RequestCheck, AddressesAreRead) {
  struct {
    const char* text;
    const char* host;
    int port;
  } const good[] = {{"8080", "127.0.0.1", 8080},
                    {"0.0.0.0:80", "0.0.0.0", 80},
                    {"[::1]:9", "::1", 9},
                    {"localhost:0", "localhost", 0}};
  for (const auto& [text, host, port] : good) {
    Address address;
    EXPECT_TRUE(read_address(text, address)) << text;
    EXPECT_EQ(address.host, host);
    EXPECT_EQ(address.port, port);
  }
  for (const char* bad : {"", ":", "host", "host:", "host:x", "host:70000", "::1:80", "[::1]", ":80"}) {
    Address address;
    EXPECT_FALSE(read_address(bad, address)) << bad;
  }
  for (const char* host : {"127.0.0.1", "127.9.9.9", "::1", "localhost", "LocalHost"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host :
       {"0.0.0.0", "128.0.0.1", "127.0.0.1.example.org", "::", "localhost.example.org", "127.0.0", ""})
    EXPECT_FALSE(is_loopback(host)) << host;
}

TEST(RequestCheck, OnlyKnownNames) {
  const RequestCheck own("127.0.0.1", {}, false);
  for (const char* host : {"localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST"})
    EXPECT_TRUE(own.knows_host(host)) << host;
  for (const char* host : {"evil.example:8000", "", "127.0.0.1.evil.example", "evil.example:127.0.0.1"})
    EXPECT_FALSE(own.knows_host(host)) << host;
  const RequestCheck named("0.0.0.0", {"play.example"}, true);
  EXPECT_TRUE(named.knows_host("play.example"));
  EXPECT_FALSE(named.knows_host("evil.example"));
  EXPECT_TRUE(RequestCheck("0.0.0.0", {}, true).knows_host("any.example"));
}

TEST(RequestCheck, OnlyItsOwnPage) {
  const RequestCheck own("127.0.0.1", {}, false);
  EXPECT_TRUE(own.is_own_page("127.0.0.1:8000", "", ""));
  EXPECT_TRUE(own.is_own_page("127.0.0.1:8000", "http://127.0.0.1:8000", "same-origin"));
  EXPECT_FALSE(own.is_own_page("127.0.0.1:8000", "http://evil.example", ""));
  EXPECT_FALSE(own.is_own_page("127.0.0.1:8000", "http://127.0.0.1:9000", "")) << "another server of this machine";
  EXPECT_FALSE(own.is_own_page("127.0.0.1:8000", "null", ""));
  EXPECT_FALSE(own.is_own_page("127.0.0.1:8000", "http://127.0.0.1:8000", "same-site"));
  EXPECT_FALSE(own.is_own_page("127.0.0.1:8000", "", "cross-site"));
  const RequestCheck named("127.0.0.1", {"play.example"}, false);
  EXPECT_TRUE(named.is_own_page("127.0.0.1:8000", "https://play.example", "same-origin")) << "behind a proxy";
}

TEST(RequestCheck, Cookies) {
  EXPECT_EQ(session_in("warpgrind_session=abc"), "abc");
  EXPECT_EQ(session_in("a=b; warpgrind_session=abc; c=d"), "abc");
  EXPECT_EQ(session_in("xwarpgrind_session=abc; warpgrind_sessions=d"), "");
  EXPECT_EQ(session_in(""), "");
  EXPECT_NE(cookie_of("abc", true).find("HttpOnly; SameSite=Strict; Secure"), std::string::npos);
  EXPECT_EQ(cookie_of("abc", false).find("Secure"), std::string::npos);
}

}  // namespace
}  // namespace warpgrind::serve
