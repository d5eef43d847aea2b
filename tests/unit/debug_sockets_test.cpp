// Sockets by which processes find the debugger: paths, peers, and descriptors that are passed on.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "base/temporary_folder.h"
#include "dap/local_socket.h"

namespace warpgrind::dap {
namespace {

constexpr std::chrono::milliseconds kShort{200};

TEST(DebugSockets, ConnectsAtAPathOfAnyLength) {
  const TemporaryFolder folder;
  const std::string deep = folder.path + "/" + std::string(200, 'a');
  std::filesystem::create_directories(deep);
  const auto listener = listen_at(deep + "/debugger");
  ASSERT_TRUE(listener) << listener.error().message;
  pid_t peer = 0;
  EXPECT_LT(accept_at(listener->get(), peer).get(), 0);  // does not wait
  const auto client = connect_to(deep + "/debugger", kShort);
  ASSERT_TRUE(client) << client.error().message;
  const Descriptor server = accept_at(listener->get(), peer);
  ASSERT_GE(server.get(), 0);
  EXPECT_EQ(peer, getpid());
  ASSERT_EQ(send(client->get(), "x", 1, 0), 1);
  char byte = 0;
  EXPECT_EQ(recv(server.get(), &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'x');
}

TEST(DebugSockets, AnswersWithoutAListener) {
  const TemporaryFolder folder;
  EXPECT_FALSE(connect_to(folder.path + "/none", kShort));
  EXPECT_FALSE(connect_to(folder.path + "/no/folder", kShort));
  std::string path = folder.path + "/left";
  { ASSERT_TRUE(listen_at(path)); }  // closed again, as by a debugger that has ended
  EXPECT_FALSE(connect_to(path, kShort));
  EXPECT_FALSE(listen_at(path));  // the file is there
  EXPECT_FALSE(listen_at(folder.path + "/" + std::string(120, 'n')));
}

// Nothing accepts: the connections wait in the socket's queue until it is full. The next one must not wait for ever.
TEST(DebugSockets, GivesUpAtAFullQueue) {
  const TemporaryFolder folder;
  const std::string path = folder.path + "/debugger";
  const auto listener = listen_at(path);
  ASSERT_TRUE(listener);
  ASSERT_EQ(listen(listener->get(), 0), 0);  // room for one
  const auto first = connect_to(path, kShort);
  ASSERT_TRUE(first);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(connect_to(path, kShort));
  EXPECT_GE(std::chrono::steady_clock::now() - start, kShort);
}

TEST(DebugSockets, PassesADescriptor) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  Pipe pipe;
  ASSERT_TRUE(pipe.open());
  ASSERT_TRUE(pass_descriptor(from.get(), pipe.write.get()));
  pipe.write.reset();
  {
    const auto passed = receive_descriptor(to.get(), kShort);
    ASSERT_TRUE(passed);
    ASSERT_EQ(write(passed->get(), "y", 1), 1);
  }
  char bytes[2];
  EXPECT_EQ(read(pipe.read.get(), bytes, 2), 1);
  EXPECT_EQ(read(pipe.read.get(), bytes, 2), 0);       // the last descriptor of the write end is closed
  EXPECT_FALSE(receive_descriptor(to.get(), kShort));  // nothing more comes
  ASSERT_EQ(send(from.get(), "z", 1, 0), 1);
  EXPECT_FALSE(receive_descriptor(to.get(), kShort));  // a byte without a descriptor
  to.reset();
  EXPECT_FALSE(pass_descriptor(from.get(), pipe.read.get()));
}

}  // namespace
}  // namespace warpgrind::dap
