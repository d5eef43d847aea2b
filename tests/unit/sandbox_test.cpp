// Sandboxed programs: well-behaved ones, and those of tests/sandbox/hostile.cpp. None may escape, survive, or use more
// than its limits. Skipped if no sandbox can be made.
#include "sandbox/sandbox.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "base/temporary_folder.h"
#include "read_file.h"

namespace warpgrind::sandbox {
namespace {

class Sandbox : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_none().empty()) GTEST_SKIP() << why_none();
    ASSERT_TRUE(folder_.problem.empty());
    work_ = folder_.path + "/work";
    ASSERT_EQ(mkdir(work_.c_str(), 0755), 0);
  }

  Job job(std::vector<std::string> command) const {
    Job made;
    made.command = std::move(command);
    made.work = work_;
    made.limits = {.cpu_seconds = 0.4,
                   .wall_seconds = 0.6,
                   .memory_bytes = 96 << 20,
                   .processes = 48,
                   .output_bytes = 64 << 10,
                   .disk_bytes = 8 << 20,
                   .files = 200};
    return made;
  }
  static End run_it(const Job& job, std::stop_token cancel = {}) {
    Result<End> end = run(job, std::move(cancel));
    EXPECT_TRUE(end.ok()) << end.error().message << ": " << end.error().detail;
    return end ? *end : End{};
  }

  TemporaryFolder folder_;
  std::string work_;
};

TEST_F(Sandbox, GivesOutputAndExitCode) {
  End end = run_it(job({"sh", "-c", "echo out; echo err >&2; exit 3"}));
  EXPECT_EQ(end.output, "out\nerr\n");
  EXPECT_EQ(end.how, Ending::exited);
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(text_of(end, {}), "exit code 3");
}

TEST_F(Sandbox, SaysWhichSignal) {
  End end = run_it(job({"sh", "-c", "kill -SEGV $$"}));
  EXPECT_EQ(end.how, Ending::signalled);
  EXPECT_EQ(end.code, SIGSEGV);
}

TEST_F(Sandbox, FilesGoInAndComeOut) {
  std::ofstream(work_ + "/in") << "given\n";
  mkdir((work_ + "/deep").c_str(), 0755);
  std::ofstream(work_ + "/deep/in") << "below\n";
  End end = run_it(
      job({"sh", "-c",
           "cat in deep/in; mkdir made; echo new > made/out; echo changed > in; ln -s /etc/passwd link; mkfifo pipe"}));
  EXPECT_EQ(end.output, "given\nbelow\n");
  EXPECT_EQ(read_file(work_ + "/made/out"), "new\n");
  EXPECT_EQ(read_file(work_ + "/in"), "changed\n");
  struct stat about;
  EXPECT_NE(lstat((work_ + "/link").c_str(), &about), 0);
  EXPECT_NE(lstat((work_ + "/pipe").c_str(), &about), 0);
}

TEST_F(Sandbox, FilesThatLeaveTheBoxHaveALimit) {
  Job making =
      job({"sh", "-c", "truncate -s 100M hole; head -c 2000 /dev/zero > large; mkdir in; cp large in; echo x > small"});
  making.limits.file_bytes = 1000;
  End end = run_it(making);
  std::sort(end.too_large.begin(), end.too_large.end());
  EXPECT_EQ(end.too_large, (std::vector<std::string>{"hole", "in/large", "large"}));
  EXPECT_EQ(read_file(work_ + "/small"), "x\n");
  for (const char* name : {"/hole", "/large", "/in/large"}) EXPECT_NE(access((work_ + name).c_str(), F_OK), 0) << name;
}

TEST_F(Sandbox, OnlyNamedFilesLeaveTheBox) {
  Job making = job({"sh", "-c", "echo x > wanted; echo y > other"});
  making.taken = {"wanted", "missing"};
  run_it(making);
  EXPECT_EQ(read_file(work_ + "/wanted"), "x\n");
  EXPECT_NE(access((work_ + "/other").c_str(), F_OK), 0);
}

TEST_F(Sandbox, WhatIsReadableCannotBeWritten) {
  const std::string shown = folder_.path + "/shown";
  ASSERT_EQ(mkdir(shown.c_str(), 0755), 0);
  std::ofstream(shown + "/file") << "shown\n";
  Job reading = job({"sh", "-c", "cat " + shown + "/file; echo x > " + shown + "/file"});
  EXPECT_EQ(run_it(reading).output.find("shown\n"), std::string::npos);
  reading.readable = {shown};
  EXPECT_EQ(run_it(reading).output.find("shown\n"), 0u);
  EXPECT_EQ(read_file(shown + "/file"), "shown\n");
}

TEST_F(Sandbox, OutputArrivesWhileTheProgramRuns) {
  Job slow = job({"sh", "-c", "echo first; sleep 0.3; echo second"});
  std::string first;
  slow.on_output = [&](std::string_view more) { first = first.empty() ? std::string(more) : first; };
  EXPECT_EQ(run_it(slow).output, "first\nsecond\n");
  EXPECT_EQ(first, "first\n");
}

TEST_F(Sandbox, IsStoppedOnRequest) {
  std::stop_source cancel;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancel.request_stop();
  });
  Job long_one = job({"sleep", "100"});
  long_one.limits.wall_seconds = 100;
  EXPECT_EQ(run_it(long_one, cancel.get_token()).how, Ending::cancelled);
}

TEST_F(Sandbox, SystemFoldersAreNotShown) {
  for (const char* path : {"/", "/proc", "/tmp", "relative", "/tmp/box/x"}) {
    Job wrong = job({"true"});
    wrong.readable = {path};
    Result<End> end = run(wrong);
    ASSERT_FALSE(end.ok()) << path;
    EXPECT_EQ(end.error().kind, ErrorKind::bad_input);
  }
}

// --- hostile programs ---

// The allowed endings of each. A program ends with 0 if its attempt is only refused.
struct Hostile {
  const char* name;
  std::vector<Ending> endings;
};
const Hostile kHostile[] = {
    {"fork_bomb", {Ending::processes, Ending::cpu_time, Ending::wall_time}},
    {"fork_bomb_in_sessions", {Ending::processes, Ending::cpu_time, Ending::wall_time}},
    {"vfork_and_exec", {Ending::processes, Ending::cpu_time, Ending::wall_time}},
    {"many_threads", {Ending::processes, Ending::cpu_time, Ending::wall_time}},
    {"memory", {Ending::memory}},
    {"memory_of_many", {Ending::memory}},
    {"memory_file", {Ending::memory}},
    {"memory_files_allocated", {Ending::memory}},
    {"memory_shared", {Ending::memory}},
    {"page_tables", {Ending::memory, Ending::cpu_time}},
    {"system_v_memory", {Ending::exited}},
    {"stack_overflow", {Ending::signalled}},
    {"endless_output", {Ending::output}},
    {"endless_errors", {Ending::output}},
    {"endless_loop", {Ending::cpu_time, Ending::wall_time}},
    {"sleeps_for_ever", {Ending::wall_time}},
    {"loops_in_children", {Ending::cpu_time, Ending::wall_time}},
    {"unwaited_children", {Ending::cpu_time}},
    {"deaf_to_signals", {Ending::wall_time}},
    {"daemonizes", {Ending::exited}},
    {"closes_output_and_stays", {Ending::wall_time}},
    {"fills_the_disk", {Ending::exited}},
    {"fills_tmp", {Ending::exited}},
    {"many_files", {Ending::disk}},
    {"many_folders", {Ending::disk}},
    {"sparse_file", {Ending::exited}},
    {"many_pipes", {Ending::exited}},
    {"reads_outside", {Ending::exited}},
    {"climbs_up", {Ending::exited}},
    {"links_out", {Ending::exited}},
    {"writes_to_the_system", {Ending::exited}},
    {"proc_tricks", {Ending::exited}},
    {"sees_other_processes", {Ending::exited}},
    {"inherited_files", {Ending::exited}},
    {"environment_of_others", {Ending::exited}},
    {"signals_the_parent", {Ending::exited, Ending::signalled}},
    {"kills_the_first", {Ending::exited}},
    {"traces", {Ending::exited}},
    {"reads_memory_of_others", {Ending::exited}},
    {"raises_priority", {Ending::exited}},
    {"becomes_root", {Ending::exited}},
    {"runs_setuid_programs", {Ending::exited}},
    {"new_namespaces", {Ending::exited}},
    {"mounts", {Ending::exited}},
    {"makes_devices", {Ending::exited}},
    {"kernel_calls", {Ending::exited}},
    {"calls_of_32_bits", {Ending::signalled}},
    {"calls_of_x32", {Ending::signalled}},
    {"own_filter_off", {Ending::exited}},
    {"types_into_the_terminal", {Ending::exited}},
    {"network", {Ending::exited}},
    {"unix_sockets", {Ending::exited}},
    {"runs_other_programs", {Ending::exited}},
};

void PrintTo(const Hostile& hostile, std::ostream* out) {
  *out << hostile.name;
}

class HostileProgram : public Sandbox, public testing::WithParamInterface<Hostile> {};

// Counts processes of this machine that this test started.
int left_over(const std::string& mark) {
  int count = 0;
  DIR* processes = opendir("/proc");
  while (const dirent* entry = readdir(processes)) {
    if (atoi(entry->d_name) == 0 || atoi(entry->d_name) == getpid()) continue;
    count += read_file(std::string("/proc/") + entry->d_name + "/cmdline").find(mark) != std::string::npos ? 1 : 0;
  }
  closedir(processes);
  return count;
}

TEST_P(HostileProgram, StaysInTheBox) {
  setenv("WARPGRIND_TEST_SECRET", "secret text", 1);
  const std::string outside = folder_.path + "/outside";
  ASSERT_EQ(mkdir(outside.c_str(), 0777), 0);
  chmod(outside.c_str(), 0777);  // only the sandbox protects it
  std::ofstream(outside + "/secret") << "secret text";
  const std::string program = std::string(WARPGRIND_BUILD) + "/tests/sandbox/hostile";
  Job hostile = job({program, GetParam().name, outside, std::to_string(getpid())});
  hostile.readable = {program};
  const auto may_end_by = [](Ending ending) {
    const std::vector<Ending>& endings = GetParam().endings;
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
  };
  // On a slow machine, or with sanitizers, the intended limit may come late.
  if (!may_end_by(Ending::wall_time)) hostile.limits.wall_seconds = 25;
  if (!may_end_by(Ending::cpu_time)) hostile.limits.cpu_seconds = 25;
  const auto started = std::chrono::steady_clock::now();
  End end = run_it(hostile);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;

  EXPECT_EQ(end.output.find("ESCAPED"), std::string::npos) << end.output.substr(0, 2000);
  EXPECT_TRUE(may_end_by(end.how)) << text_of(end, hostile.limits) << "\n" << end.output.substr(0, 2000);
  EXPECT_TRUE(end.how != Ending::exited || end.code == 0) << end.output.substr(0, 2000);
  EXPECT_LE(end.output.size(), hostile.limits.output_bytes);
  EXPECT_LE(end.peak_memory, 8 * hostile.limits.memory_bytes);
  EXPECT_LT(took.count(), 30) << "limits end a job, even on a busy machine";
  EXPECT_EQ(left_over(outside), 0) << "processes that are still there";
  EXPECT_EQ(read_file(outside + "/secret"), "secret text");
  struct stat about;
  EXPECT_NE(lstat((outside + "/made").c_str(), &about), 0);
  EXPECT_NE(lstat((work_ + "/result.json").c_str(), &about), 0) << "a link was copied out";
  const bool copied = lstat((work_ + "/root").c_str(), &about) == 0;
  EXPECT_TRUE(!copied || (about.st_mode & 07000) == 0) << "a setuid file was copied out";
}

INSTANTIATE_TEST_SUITE_P(, HostileProgram, testing::ValuesIn(kHostile),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace warpgrind::sandbox
