// Virtual time: operations that overlap or wait.
#include <gtest/gtest.h>

#include "timing/timeline.h"

namespace {

using namespace warpgrind::timing;

TEST(Timeline, StreamsOverlapAndKeepTheirOrder) {
  Timeline t(1, 2, true);
  HostClock host;
  StreamId a = t.add_stream(0, StreamKind::blocking), b = t.add_stream(0, StreamKind::blocking);
  Span first = t.kernel(a, host, {100, 100}, 0.5), second = t.kernel(a, host, {100, 100}, 0.5),
       other = t.kernel(b, host, {100, 100}, 0.5);
  EXPECT_EQ(first.begin, 0);
  EXPECT_EQ(second.begin, 100);
  EXPECT_EQ(other.begin, 0);
}

TEST(Timeline, KernelsOneAfterTheOtherCostLess) {
  Timeline t(1, 2, true);
  HostClock host;
  const StreamId a = t.add_stream(0, StreamKind::blocking);
  EXPECT_EQ(t.kernel(a, host, {100, 60}, 0.5).end, 100);
  EXPECT_EQ(t.kernel(a, host, {100, 60}, 0.5).end, 160);
  t.synchronize(host, a);
  EXPECT_EQ(t.kernel(a, host, {100, 60}, 0.5).end, 260);  // issued on an idle stream
  t.work(a, host, 5);
  EXPECT_EQ(t.kernel(a, host, {100, 60}, 0.5).end, 365);
}

TEST(Timeline, KernelsThatFillTheGpuRunOneAfterTheOther) {
  Timeline t(1, 2, true);
  HostClock host;
  StreamId a = t.add_stream(0, StreamKind::blocking), b = t.add_stream(0, StreamKind::blocking);
  t.kernel(a, host, {100, 100}, 1.0);
  EXPECT_EQ(t.kernel(b, host, {100, 100}, 1.0).begin, 100);
}

TEST(Timeline, NoConcurrentKernelsOnOldGpus) {
  Timeline t(1, 1, false);
  HostClock host;
  StreamId a = t.add_stream(0, StreamKind::blocking), b = t.add_stream(0, StreamKind::blocking);
  t.kernel(a, host, {100, 100}, 0.1);
  EXPECT_EQ(t.kernel(b, host, {100, 100}, 0.1).begin, 100);
}

TEST(Timeline, LegacyDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  Timeline t(1, 2, true);
  HostClock host;
  StreamId blocking = t.add_stream(0, StreamKind::blocking), free = t.add_stream(0, StreamKind::non_blocking);
  t.kernel(blocking, host, {100, 100}, 0.1);
  EXPECT_EQ(t.kernel(Timeline::legacy_default(0), host, {50, 50}, 0.1).begin, 100);
  EXPECT_EQ(t.kernel(blocking, host, {10, 10}, 0.1).begin, 150);
  EXPECT_EQ(t.kernel(free, host, {10, 10}, 0.1).begin, 0);
}

TEST(Timeline, CopiesOfBothDirectionsNeedTwoEngines) {
  for (unsigned engines : {1u, 2u}) {
    Timeline t(1, engines, true);
    HostClock host;
    StreamId a = t.add_stream(0, StreamKind::non_blocking), b = t.add_stream(0, StreamKind::non_blocking);
    t.copy(a, host, CopyEngine::to_device, {100, 100});
    EXPECT_EQ(t.copy(b, host, CopyEngine::to_host, {100, 100}).begin, engines == 1 ? 100 : 0);
  }
}

TEST(Timeline, CopiesBehindEachOtherPayTheLatencyOnce) {
  Timeline t(1, 2, true);
  HostClock host;
  StreamId a = t.add_stream(0, StreamKind::non_blocking), b = t.add_stream(0, StreamKind::non_blocking);
  EXPECT_EQ(t.copy(a, host, CopyEngine::to_device, {100, 70}).end, 100);
  EXPECT_EQ(t.copy(a, host, CopyEngine::to_device, {100, 70}).end, 170);
  EXPECT_EQ(t.copy(b, host, CopyEngine::to_device, {100, 70}).end, 240);  // they share the engine
  EXPECT_EQ(t.copy(b, host, CopyEngine::to_host, {100, 70}).end, 340);    // another engine, which is idle
  t.synchronize_device(host, 0);
  EXPECT_EQ(t.copy(a, host, CopyEngine::to_device, {100, 70}).end, 440);  // issued on an idle engine
}

TEST(Timeline, TheOtherEngineBehindWorkOfItsStreamBeginsLater) {
  Timeline t(1, 2, true, {.host_wait = 0, .engine_switch = 30});
  HostClock host;
  const StreamId a = t.add_stream(0, StreamKind::non_blocking);
  EXPECT_EQ(t.copy(a, host, CopyEngine::to_device, {100, 70}).end, 100);
  EXPECT_EQ(t.kernel(a, host, {100, 60}, 1).end, 230);
  EXPECT_EQ(t.kernel(a, host, {100, 60}, 1).end, 290);
  EXPECT_EQ(t.copy(a, host, CopyEngine::to_device, {100, 70, true}).end, 390);  // sent with the commands
  EXPECT_EQ(t.copy(a, host, CopyEngine::to_host, {100, 70}).end, 520);
  t.synchronize(host, a);
  EXPECT_EQ(t.kernel(a, host, {100, 60}, 1).end, 620);  // the GPU was idle
}

// As on an H200 (lab/results/h200/engines.csv): an event behind a copy is recorded before the change of engines. The
// kernel behind the event pays for that change. Behind a fill there is no change.
TEST(Timeline, AnEventIsRecordedBeforeTheChangeOfEngines) {
  Timeline t(1, 2, true, {.host_wait = 0, .engine_switch = 30});
  HostClock host;
  const StreamId a = t.add_stream(0, StreamKind::non_blocking);
  t.copy(a, host, CopyEngine::to_device, {100, 70});
  EXPECT_EQ(t.work(a, host, 5).end, 105);
  EXPECT_EQ(t.kernel(a, host, {100, 60}, 1).end, 235);
  t.copy(a, host, CopyEngine::to_host, {100, 70});
  t.fill(a, host, 10);
  EXPECT_EQ(t.work(a, host, 5).end, 410);
  EXPECT_EQ(t.kernel(a, host, {100, 60}, 1).end, 510);
}

TEST(Timeline, NodesOfAGraph) {
  Timeline t(1, 2, true);
  HostClock host;
  const StreamId a = t.add_stream(0, StreamKind::graph);
  const KernelTime time{100, 60, 90, 40};
  EXPECT_EQ(t.kernel(a, host, time, 1).end, 90);
  t.work(a, host, 0);
  t.chain(a);
  EXPECT_EQ(t.kernel(a, host, time, 1).end, 130);
}

TEST(Timeline, WordFromAnotherGpuTakesItsTime) {
  Timeline t(2, 2, true, {.other_gpu = 15});
  HostClock host;
  const StreamId a = t.add_stream(0, StreamKind::blocking), b = t.add_stream(1, StreamKind::blocking),
                 c = t.add_stream(0, StreamKind::blocking);
  const double end = t.kernel(a, host, {100, 100}, 0.1).end;
  t.wait(b, end, true);
  t.wait(c, end);
  EXPECT_EQ(t.kernel(b, host, {10, 10}, 0.1).begin, 115);
  EXPECT_EQ(t.kernel(c, host, {10, 10}, 0.1).begin, 100);
}

TEST(Timeline, TheHostNoticesLater) {
  Timeline t(1, 2, true, {.host_wait = 25, .engine_switch = 0});
  HostClock host, other;
  const StreamId a = t.add_stream(0, StreamKind::blocking);
  t.synchronize(host, a);
  EXPECT_EQ(t.now(host), 0);  // no work to wait for
  t.kernel(a, host, {100, 100}, 1);
  t.host_work(other, 110);
  for (HostClock* clock : {&host, &other}) {
    t.synchronize(*clock, a);
    EXPECT_EQ(t.now(*clock), 125);
  }
  t.catch_up(host, 130);
  EXPECT_EQ(t.now(host), 130);
  t.synchronize(host, a);
  EXPECT_EQ(t.now(host), 130);
}

TEST(Timeline, HostMovesOnWhenItWaits) {
  Timeline t(2, 2, true);
  HostClock host;
  StreamId a = t.add_stream(0, StreamKind::blocking), b = t.add_stream(1, StreamKind::blocking);
  t.kernel(a, host, {100, 100}, 1);
  EXPECT_FALSE(t.finished(host, a));
  t.synchronize(host, a);
  EXPECT_TRUE(t.finished(host, a));
  EXPECT_EQ(t.now(host), 100);
  EXPECT_EQ(t.kernel(b, host, {5, 5}, 1).begin, 100);  // not issued before
  t.synchronize_device(host, 1);
  EXPECT_EQ(t.now(host), 105);
}

TEST(Timeline, WaitingForAnEvent) {
  Timeline t(1, 2, true);
  HostClock host;
  StreamId a = t.add_stream(0, StreamKind::blocking), b = t.add_stream(0, StreamKind::blocking);
  t.kernel(a, host, {100, 100}, 0.1);
  double event = t.work(a, host, 0).end;
  t.wait(b, event);
  EXPECT_EQ(t.kernel(b, host, {10, 10}, 0.1).begin, 100);
}

}  // namespace
