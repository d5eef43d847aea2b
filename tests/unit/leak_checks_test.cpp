// Leaks, and ignored API errors that are findings.
#include <gtest/gtest.h>

#include "checkers/checker.h"
#include "session/api_findings.h"

namespace warpgrind::checkers {

std::unique_ptr<Checker> make_leaks(const Known& known);

namespace {

using Kind = events::Allocation::Kind;

// A program that calls the runtime's entry points; they name a leak.
struct Program {
  Objects objects;
  Works works;
  Handles handles;
  std::atomic<bool> faulted{false};

  std::string leaks() {
    const Known known{objects, works, **find_gpu_model("h200"), &handles, &faulted};
    std::vector<results::Finding> findings;
    make_leaks(known)->report(findings);
    std::string text;
    for (const results::Finding& f : findings) text += f.kind + "*" + std::to_string(f.count) + " ";
    return text;
  }
};

// Allocations in kernels, by a lane.
struct Heap {
  events::KernelFacts facts;
  events::Launch launch;
  events::WarpEvent by;
  Heap() {
    facts.name = "k";
    facts.sites.emplace_back();
    facts.sites[0].ptx_line = 7;
    launch.facts = &facts;
    by.launch = &launch;
    by.mask = 1;
  }
  events::Allocation piece(std::uint64_t address) const { return {Kind::kernel_heap, 0, address, 16, {}, &by}; }
};

TEST(Leaks, ByPlaceAndOnlyWhatIsLeft) {
  Program p;
  const Heap heap;
  for (const std::uint64_t address : {4096, 8192, 12288}) p.objects.on_allocation(heap.piece(address), 0);
  p.objects.on_deallocation(heap.piece(8192), 0);
  EXPECT_EQ(p.leaks(), "leak-heap*2 ");
  p.objects.on_deallocation(heap.piece(4096), 0);
  p.objects.on_deallocation(heap.piece(12288), 0);
  EXPECT_EQ(p.leaks(), "");
}

TEST(Leaks, NothingAfterAFault) {
  Program p;
  const Heap heap;
  p.objects.on_allocation(heap.piece(4096), 0);
  p.faulted = true;
  EXPECT_EQ(p.leaks(), "");
}

TEST(Leaks, WhatIsNotTheProgramsToFree) {
  Program p;
  p.objects.on_allocation({Kind::variable, 0, 4096, 16, "v"}, 0);
  p.objects.on_allocation({Kind::registered, 0, 8192, 16}, 0);
  p.objects.on_allocation({Kind::device, 0, 12288, 16}, 0);  // no runtime call is on the stack
  EXPECT_EQ(p.leaks(), "");
}

TEST(Leaks, Handles) {
  Program p;
  p.handles.made("stream", 1);
  p.handles.made("event", 2);
  p.handles.destroyed(1);
  ASSERT_EQ(p.handles.all().size(), 2u);
  EXPECT_EQ(p.handles.all()[1].kind, "event");
  EXPECT_FALSE(p.handles.all()[1].destroyed);
  EXPECT_TRUE(p.handles.find(1)->destroyed);
  p.handles.made("stream", 1);  // the same address again
  EXPECT_FALSE(p.handles.find(1)->destroyed);
  p.handles.destroyed_all();
  for (const Handle& h : p.handles.all()) EXPECT_TRUE(h.destroyed) << h.kind;
}

session::ApiErrors::Entry failed(const char* call, const char* error, const char* reason) {
  session::ApiError e;
  e.call = call;
  e.name = error;
  e.text = "some text";
  e.reason = reason;
  return {e, 3};
}

TEST(ApiFindings, Kinds) {
  Checkers all({}, **find_gpu_model("h200"));
  all.handles().made("stream", 77);
  all.handles().destroyed(77);
  auto gone = failed("cudaLaunchKernel", "cudaErrorInvalidResourceHandle", "");
  gone.error.handle = 77;
  const auto found =
      session::api_findings({failed("cudaMemset", "cudaErrorInvalidValue", "8 bytes of 4"),
                             failed("cudaLaunchKernel", "cudaErrorInvalidValue", "2048 threads a block, at most 1024"),
                             failed("cudaLaunchKernel", "cudaErrorNoKernelImageForDevice", ""),
                             failed("cudaEventElapsedTime", "cudaErrorInvalidResourceHandle", ""), gone,
                             failed("cudaStreamQuery", "cudaErrorNotReady", ""),
                             failed("cudaDeviceEnablePeerAccess", "cudaErrorPeerAccessAlreadyEnabled", "")},
                            all);
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[0].kind, "api-error");
  EXPECT_EQ(found[0].count, 3u);
  EXPECT_NE(found[0].message.find("8 bytes of 4"), std::string::npos);
  EXPECT_EQ(found[1].kind, "launch-config");
  EXPECT_EQ(found[2].kind, "api-error");
  EXPECT_EQ(found[3].severity, results::Severity::warning);
  EXPECT_EQ(found[4].kind, "api-misuse");
  EXPECT_TRUE(found[4].cause.has_value());
}

}  // namespace
}  // namespace warpgrind::checkers
