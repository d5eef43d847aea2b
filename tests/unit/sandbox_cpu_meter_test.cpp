// CPU time of processes for which no parent waited.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/cpu_meter.h"

namespace warpgrind::sandbox {
namespace {

TEST(LostTime, TimeThatAParentReapedIsNotLost) {
  LostTime lost;
  EXPECT_EQ(lost.add({{1, 10, 0, 0}, {2, 20, 1, 0}, {3, 30, 5, 0}}), 0);
  EXPECT_EQ(lost.add({{1, 10, 0, 0}, {2, 20, 1, 5.5}}), 0) << "2 waited for 3, which had used more meanwhile";
  EXPECT_EQ(lost.add({{1, 10, 0, 7}}), 0) << "1 reaped 2 with what 2 had reaped";
}

TEST(LostTime, TimeThatNoParentHasIsLost) {
  LostTime lost;
  lost.add({{1, 10, 0, 0}, {2, 20, 1, 0}, {3, 30, 5, 2}});
  EXPECT_EQ(lost.add({{1, 10, 0, 0}, {2, 20, 1, 0}}), 7);
  EXPECT_EQ(lost.add({{1, 10, 0, 0}, {2, 20, 1, 0}}), 7);
}

TEST(LostTime, ANumberThatIsUsedAgainIsAnotherProcess) {
  LostTime lost;
  lost.add({{1, 10, 0, 0}, {2, 20, 4, 0}});
  EXPECT_EQ(lost.add({{1, 10, 0, 0}, {2, 21, 1, 0}}), 4);
}

void use_cpu(double seconds) {
  timespec now;
  do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  while (static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 < seconds);
}

class CpuMeterKind : public testing::TestWithParam<CpuMeter::Kind> {};

TEST_P(CpuMeterKind, CountsChildrenThatTheKernelReaps) {
  int gate[2], done[2];
  ASSERT_EQ(pipe(gate), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t first = fork();
  if (first == 0) {
    char byte = 0;
    if (read(gate[0], &byte, 1) != 1) _exit(1);
    signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < 4; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        use_cpu(0.05);
        _exit(0);
      }
      while (waitpid(child, nullptr, 0) > 0) {
      }
    }
    if (write(done[1], "d", 1) != 1) _exit(1);
    pause();
  }
  {
    CpuMeter meter(first, GetParam());
    const bool is_there = meter.kind() == GetParam();
    char byte = 0;
    if (is_there) {
      EXPECT_EQ(write(gate[1], "g", 1), 1);
      EXPECT_EQ(read(done[0], &byte, 1), 1);
      EXPECT_GE(meter.seconds({}), 0.2);
    }
    kill(first, SIGKILL);
    waitpid(first, nullptr, 0);
    for (const int descriptor : {gate[0], gate[1], done[0], done[1]}) close(descriptor);
    if (!is_there) GTEST_SKIP() << "not allowed here";
  }
}

INSTANTIATE_TEST_SUITE_P(, CpuMeterKind, testing::Values(CpuMeter::Kind::counter, CpuMeter::Kind::cgroup),
                         [](const auto& info) { return info.param == CpuMeter::Kind::counter ? "counter" : "cgroup"; });

}  // namespace
}  // namespace warpgrind::sandbox
