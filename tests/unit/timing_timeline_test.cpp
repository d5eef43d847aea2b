// Virtual time: what overlaps and what waits.
#include <gtest/gtest.h>

#include "timing/timeline.h"

namespace {

using namespace warpgrind::timing;

TEST(Timeline, StreamsOverlapAndKeepTheirOrder) {
  Timeline t(1, 2, true);
  StreamId a = t.add_stream(0, StreamKind::blocking), b = t.add_stream(0, StreamKind::blocking);
  Span first = t.kernel(a, 100, 0.5), second = t.kernel(a, 100, 0.5), other = t.kernel(b, 100, 0.5);
  EXPECT_EQ(first.begin, 0);
  EXPECT_EQ(second.begin, 100);
  EXPECT_EQ(other.begin, 0);
}

TEST(Timeline, KernelsThatFillTheGpuRunOneAfterTheOther) {
  Timeline t(1, 2, true);
  StreamId a = t.add_stream(0, StreamKind::blocking), b = t.add_stream(0, StreamKind::blocking);
  t.kernel(a, 100, 1.0);
  EXPECT_EQ(t.kernel(b, 100, 1.0).begin, 100);
}

TEST(Timeline, NoConcurrentKernelsOnOldGpus) {
  Timeline t(1, 1, false);
  StreamId a = t.add_stream(0, StreamKind::blocking), b = t.add_stream(0, StreamKind::blocking);
  t.kernel(a, 100, 0.1);
  EXPECT_EQ(t.kernel(b, 100, 0.1).begin, 100);
}

TEST(Timeline, LegacyDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  Timeline t(1, 2, true);
  StreamId blocking = t.add_stream(0, StreamKind::blocking), free = t.add_stream(0, StreamKind::non_blocking);
  t.kernel(blocking, 100, 0.1);
  EXPECT_EQ(t.kernel(Timeline::legacy_default(0), 50, 0.1).begin, 100);
  EXPECT_EQ(t.kernel(blocking, 10, 0.1).begin, 150);
  EXPECT_EQ(t.kernel(free, 10, 0.1).begin, 0);
}

TEST(Timeline, CopiesOfBothDirectionsNeedTwoEngines) {
  for (unsigned engines : {1u, 2u}) {
    Timeline t(1, engines, true);
    StreamId a = t.add_stream(0, StreamKind::non_blocking), b = t.add_stream(0, StreamKind::non_blocking);
    t.copy(a, CopyEngine::to_device, 100);
    EXPECT_EQ(t.copy(b, CopyEngine::to_host, 100).begin, engines == 1 ? 100 : 0);
  }
}

TEST(Timeline, HostMovesOnWhenItWaits) {
  Timeline t(2, 2, true);
  StreamId a = t.add_stream(0, StreamKind::blocking), b = t.add_stream(1, StreamKind::blocking);
  t.kernel(a, 100, 1);
  EXPECT_FALSE(t.finished(a));
  t.synchronize(a);
  EXPECT_TRUE(t.finished(a));
  EXPECT_EQ(t.host_now(), 100);
  EXPECT_EQ(t.kernel(b, 5, 1).begin, 100);  // not issued before
  t.synchronize_device(1);
  EXPECT_EQ(t.host_now(), 105);
}

TEST(Timeline, WaitingForAnEvent) {
  Timeline t(1, 2, true);
  StreamId a = t.add_stream(0, StreamKind::blocking), b = t.add_stream(0, StreamKind::blocking);
  t.kernel(a, 100, 0.1);
  double event = t.work(a, 0).end;
  t.wait(b, event);
  EXPECT_EQ(t.kernel(b, 10, 0.1).begin, 100);
}

}  // namespace
