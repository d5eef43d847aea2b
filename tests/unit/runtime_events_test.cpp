// Events that a device observer sees from the runtime API: work of streams and its order, waits of the host, copies and
// fills, memory. The program and its kernels are those of tests/api.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "../api/api_test.h"
#include "keep_events.h"
#include "semantics/state.h"

namespace warpgrind::runtime {
namespace {

using namespace semantics;

using Work = events::StreamWork;

class Recorder : public events::Observer {
 public:
  events::Wants wants() const override {
    events::Wants w;
    w.allocations = w.deallocations = w.stream_work = w.host_waits = w.host_copies = w.host_fills = true;
    return w;
  }
  struct Issued {
    Work work;
    std::vector<std::uint64_t> after;
  };
  void on_stream_work(const Work& w, unsigned) override {
    const std::lock_guard lock(mutex);
    issued.push_back({w, {w.after.begin(), w.after.end()}});
    issued.back().work.after = {};
  }
  WG_KEEP(host_wait, HostWait)
  WG_KEEP(host_copy, HostCopy)
  WG_KEEP(host_fill, HostFill)
  WG_KEEP(allocation, Allocation)
  WG_KEEP(deallocation, Allocation)
  void on_launch_begin(const events::Launch& launch) override {
    const std::lock_guard lock(mutex);
    launches.push_back(launch.work);
  }
  void clear() {
    const std::lock_guard lock(mutex);
    issued.clear();
    host_wait.clear();
    host_copy.clear();
    host_fill.clear();
    allocation.clear();
    deallocation.clear();
    launches.clear();
  }
  // The n-th work of its kind.
  const Issued& of(Work::Kind kind, std::size_t n = 0) const {
    for (const Issued& w : issued)
      if (w.work.kind == kind && n-- == 0) return w;
    static const Issued none;
    ADD_FAILURE() << "no such work: " << static_cast<int>(kind);
    return none;
  }
  // Returns whether `earlier` must be over when `later` begins.
  bool ordered(std::uint64_t earlier, std::uint64_t later) const {
    std::set<std::uint64_t> before{later};
    for (auto it = issued.rbegin(); it != issued.rend(); ++it)
      if (before.count(it->work.id)) before.insert(it->after.begin(), it->after.end());
    return earlier != later && before.count(earlier) != 0;
  }
  bool waited_for(std::uint64_t work) const {
    return std::any_of(host_wait.begin(), host_wait.end(), [&](const auto& w) { return w.work == work; });
  }

  std::mutex mutex;
  std::vector<Issued> issued;
  std::vector<std::uint64_t> launches;
};

Recorder& seen() {
  static Recorder* recorder = [] {
    auto* made = new Recorder;
    session::devices()[0].add_observer(made);
    return made;
  }();
  return *recorder;
}

std::uint64_t address(const void* p) {
  return reinterpret_cast<std::uint64_t>(p);
}

class StreamEvents : public testing::Test {
 protected:
  void SetUp() override {
    OK(cudaFree(nullptr));
    seen();
    OK(cudaMalloc(reinterpret_cast<void**>(&data_), 4096));
    OK(cudaStreamCreateWithFlags(&a_, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b_, cudaStreamNonBlocking));
    seen().clear();
  }
  void TearDown() override {
    OK(cudaDeviceSynchronize());
    OK(cudaStreamDestroy(a_));
    OK(cudaStreamDestroy(b_));
    OK(cudaFree(data_));
  }
  unsigned* data_ = nullptr;
  cudaStream_t a_ = nullptr, b_ = nullptr;
};

TEST_F(StreamEvents, EventsOrderStreams) {
  cudaEvent_t event = nullptr;
  OK(cudaEventCreate(&event));
  OK(test::launch_fill(data_, 1, 32, a_));
  OK(cudaEventRecord(event, a_));
  OK(test::launch_fill(data_, 2, 32, a_));
  OK(cudaStreamWaitEvent(b_, event, 0));
  OK(test::launch_fill(data_ + 64, 3, 32, b_));  // separate memory, not ordered with the second stream
  OK(cudaStreamSynchronize(b_));
  const auto first = seen().of(Work::Kind::grid).work, second = seen().of(Work::Kind::grid, 1).work,
             third = seen().of(Work::Kind::grid, 2).work;
  EXPECT_LT(first.id, second.id);
  EXPECT_EQ(first.stream, second.stream);
  EXPECT_NE(first.stream, third.stream);
  EXPECT_TRUE(seen().ordered(first.id, second.id));
  EXPECT_TRUE(seen().ordered(first.id, third.id));
  EXPECT_FALSE(seen().ordered(second.id, third.id));
  EXPECT_TRUE(seen().ordered(first.id, seen().of(Work::Kind::event_record).work.id));
  EXPECT_TRUE(seen().waited_for(third.id));
  EXPECT_FALSE(seen().waited_for(second.id));
  OK(cudaStreamSynchronize(a_));
  EXPECT_TRUE(seen().waited_for(second.id));
  std::vector<std::uint64_t> launches = seen().launches;
  std::sort(launches.begin(), launches.end());
  EXPECT_EQ(launches, (std::vector{first.id, second.id, third.id}));
  OK(cudaEventDestroy(event));
}

TEST_F(StreamEvents, TheDefaultStreamOrdersAllThatBlock) {
  cudaStream_t blocking = nullptr;
  OK(cudaStreamCreate(&blocking));
  OK(test::launch_fill(data_, 1, 32, blocking));
  for (int n = 0; n < 100; ++n) OK(test::launch_fill(data_ + 64, 1, 32, a_));
  OK(test::launch_fill(data_, 2, 32, nullptr));
  const auto first = seen().of(Work::Kind::grid).work, other = seen().of(Work::Kind::grid, 1).work,
             last = seen().of(Work::Kind::grid, 101).work;
  EXPECT_TRUE(seen().ordered(first.id, last.id));
  EXPECT_FALSE(seen().ordered(other.id, last.id));
  OK(test::launch_fill(data_, 3, 32, blocking));
  EXPECT_TRUE(seen().ordered(last.id, seen().of(Work::Kind::grid, 102).work.id));
  OK(cudaStreamDestroy(blocking));
}

TEST_F(StreamEvents, WhatTheHostWaitsFor) {
  cudaEvent_t event = nullptr;
  OK(cudaEventCreate(&event));
  OK(cudaEventRecord(event, a_));
  OK(cudaEventSynchronize(event));
  const std::uint64_t record = seen().of(Work::Kind::event_record).work.id;
  EXPECT_TRUE(seen().waited_for(record));
  seen().clear();
  while (cudaEventQuery(event) == cudaErrorNotReady) {
  }
  EXPECT_TRUE(seen().waited_for(record));
  EXPECT_TRUE(seen().issued.empty());
  OK(cudaMemset(data_, 0, 4));
  OK(cudaDeviceSynchronize());
  ASSERT_FALSE(seen().host_wait.empty());
  EXPECT_EQ(seen().host_wait.back().work, events::HostWait::kAll);
  unsigned word = 1;
  OK(cudaMemcpy(&word, data_, 4, cudaMemcpyDeviceToHost));
  EXPECT_TRUE(seen().waited_for(seen().of(Work::Kind::copy).work.id));
  OK(test::launch_fill(data_, 1, 32, a_));
  while (cudaStreamQuery(a_) == cudaErrorNotReady) {
  }
  EXPECT_TRUE(seen().waited_for(seen().of(Work::Kind::grid).work.id));
  OK(cudaEventDestroy(event));
}

TEST_F(StreamEvents, Copies) {
  unsigned host[64] = {};
  OK(cudaMemcpyAsync(data_, host, 64, cudaMemcpyHostToDevice, a_));
  OK(cudaMemcpy2D(host, 16, data_ + 16, 32, 8, 3, cudaMemcpyDeviceToHost));
  OK(cudaMemcpyToSymbol(&test::word, host, 8, 4, cudaMemcpyHostToDevice));
  OK(cudaMemcpyPeer(data_ + 256, 0, data_ + 512, 0, 128));  // not what the first copy writes: nothing orders them
  OK(cudaStreamSynchronize(a_));
  ASSERT_EQ(seen().host_copy.size(), 4u);
  std::map<std::uint64_t, events::HostCopy> by_work;
  for (const auto& c : seen().host_copy) by_work[c.work] = c;
  using M = events::CopyMemory;
  const auto copy = [&](std::size_t n) { return by_work[seen().of(Work::Kind::copy, n).work.id]; };
  EXPECT_EQ(copy(0).to.address, address(data_));
  EXPECT_EQ(copy(0).to.memory, M::device);
  EXPECT_EQ(copy(0).from.memory, M::pageable);
  EXPECT_TRUE(copy(0).staged);
  EXPECT_EQ(copy(0).bytes, 64u);
  EXPECT_EQ(copy(1).to.address, address(host));
  EXPECT_FALSE(copy(1).staged);
  EXPECT_EQ(copy(1).bytes, 8u);
  EXPECT_EQ(copy(1).rows, 3u);
  EXPECT_EQ(copy(1).to.pitch, 16u);
  EXPECT_EQ(copy(1).from.pitch, 32u);
  void* word = nullptr;
  OK(cudaGetSymbolAddress(&word, &test::word));
  EXPECT_EQ(copy(2).to.address, address(word) + 4);
  EXPECT_EQ(copy(3).from.address, address(data_ + 512));
  EXPECT_EQ(copy(3).from.memory, M::device);
}

TEST_F(StreamEvents, BoxesAndArrays) {
  seen().clear();
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc words = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindUnsigned);
  OK(cudaMallocArray(&array, &words, 16, 4, 0));
  ASSERT_EQ(seen().allocation.size(), 1u);
  EXPECT_EQ(seen().allocation[0].kind, events::Allocation::Kind::array);
  EXPECT_EQ(seen().allocation[0].bytes, 256u);
  OK(cudaMemcpy2DToArray(array, 8, 1, data_, 64, 16, 2, cudaMemcpyDeviceToDevice));
  ASSERT_EQ(seen().host_copy.size(), 1u);
  const events::HostCopy& c = seen().host_copy[0];
  EXPECT_EQ(c.to.memory, events::CopyMemory::array);
  EXPECT_EQ(c.to.address, seen().allocation[0].address + 64 + 8);
  EXPECT_EQ(c.to.pitch, 64u);
  OK(cudaFreeArray(array));
  ASSERT_EQ(seen().deallocation.size(), 1u);
  EXPECT_EQ(seen().deallocation[0].address, seen().allocation[0].address);

  OK(cudaMemset3D({data_, 64, 64, 4}, 7, {12, 2, 3}));
  OK(cudaDeviceSynchronize());
  ASSERT_EQ(seen().host_fill.size(), 1u);
  const events::HostFill& f = seen().host_fill[0];
  EXPECT_EQ(f.bytes, 12u);
  EXPECT_EQ(f.rows, 2u);
  EXPECT_EQ(f.slices, 3u);
  EXPECT_EQ(f.pitch, 64u);
  EXPECT_EQ(f.slice, 256u);
  EXPECT_EQ(f.value, 7u);
  EXPECT_EQ(f.work, seen().of(Work::Kind::fill).work.id);
}

TEST_F(StreamEvents, MemoryOfStreamsComesAndGoesInTheirOrder) {
  void* p = nullptr;
  OK(cudaMallocAsync(&p, 100, a_));
  OK(test::launch_fill(static_cast<unsigned*>(p), 1, 25, a_));
  OK(cudaFreeAsync(p, a_));
  ASSERT_FALSE(seen().allocation.empty());  // the kernel module's allocations follow if no test launched it before
  EXPECT_EQ(seen().allocation[0].kind, events::Allocation::Kind::pool);
  EXPECT_EQ(seen().allocation[0].bytes, 100u);
  const Work made = seen().of(Work::Kind::allocation).work, freed = seen().of(Work::Kind::deallocation).work;
  EXPECT_EQ(made.address, address(p));
  EXPECT_EQ(freed.address, address(p));
  const std::uint64_t grid = seen().of(Work::Kind::grid).work.id;
  EXPECT_TRUE(seen().ordered(made.id, grid));
  EXPECT_TRUE(seen().ordered(grid, freed.id));
  OK(cudaStreamSynchronize(a_));
  ASSERT_EQ(seen().deallocation.size(), 1u);
  EXPECT_EQ(seen().deallocation[0].address, address(p));
}

TEST_F(StreamEvents, HostMemory) {
  void* pinned = nullptr;
  alignas(4096) static unsigned char mine[8192];
  using Kind = events::Allocation::Kind;
  OK(cudaMallocHost(&pinned, 5000));
  OK(cudaHostRegister(mine, sizeof mine, 0));
  ASSERT_EQ(seen().allocation.size(), 2u);
  EXPECT_EQ(seen().allocation[0].kind, Kind::host);
  EXPECT_EQ(seen().allocation[0].bytes, 5000u);
  EXPECT_EQ(seen().allocation[1].kind, Kind::registered);
  EXPECT_EQ(seen().allocation[1].address, address(mine));
  OK(cudaMemcpyAsync(data_, pinned, 4, cudaMemcpyHostToDevice, a_));
  OK(cudaStreamSynchronize(a_));
  ASSERT_EQ(seen().host_copy.size(), 1u);
  EXPECT_EQ(seen().host_copy[0].from.memory, events::CopyMemory::pinned);
  EXPECT_FALSE(seen().host_copy[0].staged);
  OK(cudaHostUnregister(mine));
  OK(cudaFreeHost(pinned));
  ASSERT_EQ(seen().deallocation.size(), 2u);
  EXPECT_EQ(seen().deallocation[0].kind, Kind::registered);
  EXPECT_EQ(seen().deallocation[1].bytes, 5000u);
}

void nothing(void*) {}

// Two nodes depend on a first one, with no edge between them.
TEST_F(StreamEvents, GraphsOrderTheirNodes) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t root = nullptr, left = nullptr, right = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams zero{};
  zero.dst = data_;
  zero.elementSize = 4;
  zero.width = 8;
  zero.height = 1;
  OK(cudaGraphAddMemsetNode(&root, graph, nullptr, 0, &zero));
  cudaHostNodeParams host{&nothing, nullptr};
  OK(cudaGraphAddHostNode(&left, graph, &root, 1, &host));
  OK(cudaGraphAddMemcpyNode1D(&right, graph, &root, 1, data_ + 64, data_, 16, cudaMemcpyDeviceToDevice));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(test::launch_fill(data_, 1, 32, a_));
  OK(cudaGraphLaunch(exec, a_));
  OK(test::launch_fill(data_, 2, 32, a_));
  OK(cudaStreamSynchronize(a_));
  const auto fill = seen().of(Work::Kind::fill).work, function = seen().of(Work::Kind::host_function).work,
             copy = seen().of(Work::Kind::copy).work;
  const std::uint64_t before = seen().of(Work::Kind::grid).work.id, after = seen().of(Work::Kind::grid, 1).work.id;
  EXPECT_EQ(fill.stream, Work::kNoStream);
  EXPECT_TRUE(seen().ordered(before, fill.id));
  EXPECT_TRUE(seen().ordered(fill.id, function.id));
  EXPECT_TRUE(seen().ordered(fill.id, copy.id));
  EXPECT_FALSE(seen().ordered(function.id, copy.id));
  EXPECT_FALSE(seen().ordered(copy.id, function.id));
  EXPECT_TRUE(seen().ordered(function.id, after));
  EXPECT_TRUE(seen().ordered(copy.id, after));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

}  // namespace
}  // namespace warpgrind::runtime
