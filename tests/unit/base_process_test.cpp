// Child processes: start, streams, environment, capture, limits and ends.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/process.h"
#include "base/temporary_folder.h"

namespace {
std::atomic<int> g_late_signals{0};
}

// In place of libc's kill(): also counts the signals to an id that no child of this process has any more, and which may
// be another process's.
extern "C" int kill(pid_t process, int signal) noexcept {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(std::abs(process)), &info, WEXITED | WNOHANG | WNOWAIT) != 0) ++g_late_signals;
  return static_cast<int>(syscall(SYS_kill, process, signal));
}

namespace warpgrind {
namespace {

ProcessCommand shell(const std::string& script) {
  return {.words = {"sh", "-c", script}};
}

Captured captured(ProcessCommand command, const CaptureSettings& settings = {}) {
  auto out = run_captured(std::move(command), settings);
  EXPECT_TRUE(out.ok()) << out.error().message;
  return out ? out.take() : Captured{};
}

TEST(Process, OutputErrorsAndExitCode) {
  const Captured run = captured(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(run.output, "out\n");
  EXPECT_EQ(run.errors, "err\n");
  EXPECT_EQ(run.end.shell_code(), 3);
  EXPECT_EQ(run.end.signal(), 0);
  EXPECT_FALSE(run.end.good());
  EXPECT_EQ(run.end.text(), "exit code 3");
  EXPECT_EQ(run.stop, Captured::Stop::none);
}

TEST(Process, JoinedStreamsKeepTheirOrder) {
  EXPECT_EQ(captured(shell("echo 1; echo 2 >&2; echo 3"), {.joined = true}).output, "1\n2\n3\n");
}

TEST(Process, Signal) {
  const Captured run = captured(shell("kill -SEGV $$"));
  EXPECT_EQ(run.end.signal(), SIGSEGV);
  EXPECT_EQ(run.end.shell_code(), 128 + SIGSEGV);
  EXPECT_EQ(run.end.text(), "killed by signal 11 (Segmentation fault)");
}

TEST(Process, MissingProgram) {
  const auto run = run_captured({.words = {"no-such-program"}});
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().message, "cannot start no-such-program: No such file or directory");
  EXPECT_FALSE(start_process({.words = {"/"}}).ok());
}

TEST(Process, MissingFolderAndFile) {
  const auto folder = start_process({.words = {"true"}, .folder = "/no/such"});
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().message, "cannot start true (/no/such): No such file or directory");
  const auto file = start_process({.words = {"true"}, .output = Stream::file("/no/such")});
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().message, "cannot write /no/such: No such file or directory");
}

TEST(Process, WordsReachNoShell) {
  EXPECT_EQ(captured({.words = {"printf", "%s|", "a b", "$HOME", "", "*"}}).output, "a b|$HOME||*|");
}

TEST(Process, Environment) {
  setenv("WG_TEST_GONE", "1", 1);
  setenv("WG_TEST_KEPT", "2", 1);
  setenv("WG_TEST_CHANGED", "3", 1);
  ProcessCommand command = shell("echo \"$WG_TEST_GONE,$WG_TEST_KEPT,$WG_TEST_CHANGED,$WG_TEST_NEW\"");
  command.unset = {"WG_TEST_GONE", "WG_TEST"};
  command.set = {"WG_TEST_CHANGED=a=b", "WG_TEST_NEW=x y"};
  EXPECT_EQ(captured(command).output, ",2,a=b,x y\n");
  EXPECT_STREQ(getenv("WG_TEST_GONE"), "1");
  command.no_environment = true;
  EXPECT_EQ(captured(command).output, ",,a=b,x y\n");
}

TEST(Process, Folder) {
  EXPECT_EQ(captured({.words = {"pwd"}, .folder = "/usr"}).output, "/usr\n");
}

TEST(Process, StreamsOfFiles) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_whole(folder.path + "/in", "text").ok());
  ProcessCommand command = shell("cat; echo err >&2");
  command.input = Stream::open_file(open((folder.path + "/in").c_str(), O_RDONLY | O_CLOEXEC));
  command.output = Stream::file(folder.path + "/out");
  command.errors = Stream::file(folder.path + "/err");
  const auto process = start_process(command);
  ASSERT_TRUE(process.ok());
  EXPECT_TRUE(process->wait().good());
  EXPECT_EQ(close(command.input.descriptor), 0);
  EXPECT_EQ(read_whole(folder.path + "/out"), "text");
  EXPECT_EQ(read_whole(folder.path + "/err"), "err\n");
}

// Without O_CLOEXEC, and above the numbers that a shell uses itself.
TEST(Process, OtherDescriptorsOnlyOnRequest) {
  const Descriptor first(fcntl(STDERR_FILENO, F_DUPFD, 100)), second(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 101));
  const auto open_ones = [&](ProcessCommand command) {
    command.words = {"sh", "-c", "for n in $0 $1; do [ -e /proc/self/fd/$n ] && echo open || echo closed; done",
                     std::to_string(first.get()), std::to_string(second.get())};
    return captured(command).output;
  };
  EXPECT_EQ(open_ones({}), "closed\nclosed\n");
  EXPECT_EQ(open_ones({.inherits_files = true}), "open\nclosed\n");
  EXPECT_EQ(open_ones({.kept = {second.get()}}), "closed\nopen\n");
  EXPECT_EQ(open_ones({.kept = {second.get(), first.get()}}), "open\nopen\n");
}

TEST(Process, LargeOutputOnBothPipes) {
  constexpr std::size_t kBytes = 4 << 20;  // a pipe holds 64 KiB
  const Captured run = captured(shell("head -c 4194304 /dev/zero >&2; head -c 4194304 /dev/zero"));
  EXPECT_EQ(run.output.size(), kBytes);
  EXPECT_EQ(run.errors.size(), kBytes);
  EXPECT_TRUE(run.end.good());
}

TEST(Process, LimitOfOutput) {
  std::size_t seen = 0;
  const Captured run = captured({.words = {"yes"}, .own_session = true},
                                {.bytes = 1000, .on_output = [&](auto more) { seen += more.size(); }});
  EXPECT_EQ(run.stop, Captured::Stop::bytes);
  EXPECT_EQ(run.output.size(), 1000u);
  EXPECT_EQ(seen, 1000u);
  EXPECT_EQ(run.end.signal(), SIGKILL);
}

TEST(Process, LimitOfTimeEndsTheGroup) {
  ProcessCommand command = shell("sleep 1000 & echo started; wait");
  command.own_session = true;
  const Captured run = captured(command, {.seconds = 0.3});
  EXPECT_EQ(run.stop, Captured::Stop::time);
  EXPECT_EQ(run.output, "started\n");
  EXPECT_EQ(run.end.signal(), SIGKILL);
}

TEST(Process, LimitOfTimeWithClosedOutput) {
  EXPECT_EQ(captured(shell("exec sleep 1000 >&- 2>&-"), {.seconds = 0.3}).stop, Captured::Stop::time);
}

TEST(Process, WhatIsLeftBehindEndsWithTheSession) {
  ProcessCommand command = shell("sleep 1000 & exit 5");  // the output stays open
  command.own_session = true;
  const Captured run = captured(command);
  EXPECT_EQ(run.end.shell_code(), 5);
  EXPECT_EQ(run.stop, Captured::Stop::none);
}

TEST(Process, Cancelled) {
  std::atomic<int> ticks = 0;
  const Captured run = captured(
      shell("exec sleep 1000"),
      {.tick = std::chrono::milliseconds(5), .on_tick = [&] { ++ticks; }, .cancelled = [&] { return ticks > 3; }});
  EXPECT_EQ(run.stop, Captured::Stop::cancelled);
  EXPECT_EQ(run.end.signal(), SIGKILL);
}

TEST(Process, SignalsOfTheChild) {
  std::signal(SIGUSR1, [](int) { _exit(9); });
  std::signal(SIGUSR2, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  // Blocked signals of this thread are not blocked in the child.
  EXPECT_EQ(captured(shell("kill -USR2 $$; kill -TERM $$")).end.signal(), SIGTERM);
  EXPECT_EQ(captured(shell("kill -USR1 $$")).end.signal(), SIGUSR1);
  ProcessCommand command = shell("kill -TERM $$; kill -USR2 $$; exit 4");
  command.blocked = &blocked;
  EXPECT_EQ(captured(command).end.shell_code(), 4);
  command.resets_ignored = true;
  EXPECT_EQ(captured(command).end.signal(), SIGUSR2);
  pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  std::signal(SIGUSR1, SIG_DFL);
  std::signal(SIGUSR2, SIG_DFL);
}

TEST(Process, SendAndEnded) {
  const auto process = start_process({.words = {"sleep", "1000"}});
  ASSERT_TRUE(process.ok());
  EXPECT_FALSE(process->ended().has_value());
  process->send(SIGTERM);
  EXPECT_EQ(process->wait().signal(), SIGTERM);
  EXPECT_TRUE(process->wait().lost);  // there is no such child any more
}

// A record of the id is cleared while the id is still the child's.
TEST(Process, AtEndComesBeforeTheIdIsFree) {
  const auto waited = start_process({.words = {"true"}}), seen = start_process({.words = {"true"}});
  ASSERT_TRUE(waited.ok());
  ASSERT_TRUE(seen.ok());
  const int late = g_late_signals;
  int calls = 0;
  EXPECT_TRUE(waited->wait([&] { calls += kill(waited->id(), 0) == 0; }).good());
  EXPECT_EQ(calls, 1);
  std::optional<ProcessEnd> end;
  while (!end) end = seen->ended([&] { calls += kill(seen->id(), 0) == 0; });
  EXPECT_TRUE(end->good());
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(g_late_signals, late);
  waited->send(0);  // the id is free
  EXPECT_EQ(g_late_signals, late + 1);
}

TEST(Process, TheSessionGetsNoSignalAfterItsEnd) {
  ProcessCommand command = shell("exit 5");
  command.own_session = true;
  const int late = g_late_signals;
  EXPECT_EQ(captured(command).end.shell_code(), 5);
  EXPECT_EQ(g_late_signals, late);
}

// The child ends with the thread that started it.
TEST(Process, DeathSignal) {
  pid_t child = 0;
  std::thread starter([&] {
    const auto process = start_process({.words = {"sleep", "1000"}, .death_signal = SIGKILL});
    if (process) child = process->id();
  });
  starter.join();
  ASSERT_GT(child, 0);
  EXPECT_EQ(Process(child, false).wait().signal(), SIGKILL);
}

TEST(Process, InChild) {
  const Captured run = captured({.words = {"echo", "program"}, .in_child = [] {
                                   if (write(STDOUT_FILENO, "before ", 7) != 7) raise(SIGKILL);
                                 }});
  EXPECT_EQ(run.output, "before program\n");
}

// Starts from several threads: no pipe of one child stays open in another.
TEST(Process, SeveralThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&good] {
      for (int k = 0; k < 25; ++k) {
        const auto run = run_captured({.words = {"echo", "word"}});
        good += run.ok() && run->output == "word\n" && run->end.good();
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(good, 100);
}

}  // namespace
}  // namespace warpgrind
