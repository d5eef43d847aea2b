// An all-reduce of one float array per GPU, in several ways. One host thread drives all GPUs, each by a stream of its
// own.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "harness/harness.h"
#include "kernels.cuh"
#include "nccl_library.h"

namespace collectives {

// What one GPU has: its input, the result, and room for what it receives.
struct Gpu {
  Gpu(int device, const std::vector<float>& values)
      : device(device),
        chosen((CHECK_CUDA(cudaSetDevice(device)), true)),
        in(values),
        out(values.size()),
        received(values.size()) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (cudaEvent_t& e : step) CHECK_CUDA(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  }
  ~Gpu() {
    cudaStreamDestroy(stream);
    for (cudaEvent_t e : step) cudaEventDestroy(e);
  }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  int device;
  bool chosen;  // selects this device before the arrays below are allocated
  lab::DeviceArray<float> in, out, received;
  cudaStream_t stream = nullptr;
  cudaEvent_t step[2 * kMost];  // one for each step of a ring
};

class AllReduce {
 public:
  AllReduce(int devices, long n, unsigned long long seed) : devices_(devices), n_(n) {
    lab::Random random(seed);
    expected_.assign(n, 0.0);
    for (int d = 0; d < devices; ++d) {
      const std::vector<float> values = random.floats(n);
      for (long i = 0; i < n; ++i) expected_[i] += values[i];
      gpus_.push_back(std::make_unique<Gpu>(d, values));
    }
    CHECK_CUDA(cudaSetDevice(0));
  }

  void poison() {
    for (auto& g : gpus_) {
      CHECK_CUDA(cudaSetDevice(g->device));
      g->out.poison();
      g->received.poison();
      CHECK_CUDA(cudaDeviceSynchronize());
    }
    CHECK_CUDA(cudaSetDevice(0));
  }

  // Every GPU must have every sum. Any order of the additions is right.
  lab::Verdict verdict() {
    std::vector<float> got;
    std::vector<double> wanted;
    for (auto& g : gpus_) {
      const std::vector<float> values = g->out.host();
      got.insert(got.end(), values.begin(), values.end());
      wanted.insert(wanted.end(), expected_.begin(), expected_.end());
    }
    return lab::compare(got, wanted, lab::sum_tolerance(devices_, lab::kUnitFloat));
  }

  // The first GPU receives all arrays, adds them, and sends the sum back: its link carries everything.
  void through_one() {
    begin();
    Gpu& first = *gpus_[0];
    for (int d = 1; d < devices_; ++d) {
      CHECK_CUDA(cudaMemcpyPeerAsync(first.received.data(), 0, gpus_[d]->in.data(), d, first.in.bytes(), first.stream));
      add<<<grid(n_), kThreads, 0, first.stream>>>(first.received.data(), d == 1 ? first.in.data() : first.out.data(),
                                                   first.out.data(), n_);
    }
    for (int d = 1; d < devices_; ++d)
      CHECK_CUDA(cudaMemcpyPeerAsync(gpus_[d]->out.data(), d, first.out.data(), 0, first.out.bytes(), first.stream));
    end();
  }

  // Every GPU loads all arrays and adds them: one launch each, but each link carries all arrays.
  void one_shot() {
    begin();
    for (auto& g : gpus_) {
      CHECK_CUDA(cudaSetDevice(g->device));
      sum_all<<<grid(n_), kThreads, 0, g->stream>>>(inputs(0), g->out.data(), n_);
    }
    end();
  }

  // Ring by copies. Each GPU sends a part to the next one, which adds its own; after devices - 1 steps each has the sum
  // of one part. These then go round once more. Each link carries 2 (devices - 1) / devices arrays, which is the least
  // possible.
  void ring_copy() {
    begin();
    for (int s = 0; s < devices_ - 1; ++s) {
      for (int d = 0; d < devices_; ++d) {
        const Part p = part(d - s);
        Gpu &from = *gpus_[d], &to = *gpus_[next(d)];
        CHECK_CUDA(cudaSetDevice(d));
        const float* data = s == 0 ? from.in.data() : from.out.data();
        CHECK_CUDA(
            cudaMemcpyPeerAsync(to.received.data() + p.first, to.device, data + p.first, d, p.bytes(), from.stream));
        CHECK_CUDA(cudaEventRecord(from.step[s], from.stream));
      }
      for (int d = 0; d < devices_; ++d) {
        const Part p = part(d - s);
        Gpu& to = wait(next(d), d, s);
        if (p.count > 0)
          add<<<grid(p.count), kThreads, 0, to.stream>>>(to.received.data() + p.first, to.in.data() + p.first,
                                                         to.out.data() + p.first, p.count);
      }
    }
    for (int s = 0; s < devices_ - 1; ++s) {
      for (int d = 0; d < devices_; ++d) {
        const Part p = part(d + 1 - s);
        Gpu &from = *gpus_[d], &to = *gpus_[next(d)];
        CHECK_CUDA(cudaSetDevice(d));
        CHECK_CUDA(cudaMemcpyPeerAsync(to.out.data() + p.first, to.device, from.out.data() + p.first, d, p.bytes(),
                                       from.stream));
        CHECK_CUDA(cudaEventRecord(from.step[kMost + s], from.stream));
      }
      for (int d = 0; d < devices_; ++d) wait(next(d), d, kMost + s);
    }
    end();
  }

  // The same ring without copies: each GPU's kernel loads the part from the GPU before it.
  void ring_load() {
    begin();
    for (int s = 0; s < devices_ - 1; ++s)
      for (int d = 0; d < devices_; ++d) {
        const Part p = part(d - s);
        Gpu& to = s == 0 ? on(next(d)) : wait(next(d), d, s - 1);
        const float* data = s == 0 ? gpus_[d]->in.data() : gpus_[d]->out.data();
        if (p.count > 0)
          add<<<grid(p.count), kThreads, 0, to.stream>>>(data + p.first, to.in.data() + p.first,
                                                         to.out.data() + p.first, p.count);
        CHECK_CUDA(cudaEventRecord(to.step[s], to.stream));
      }
    for (int s = 0; s < devices_ - 1; ++s)
      for (int d = 0; d < devices_; ++d) {
        const Part p = part(d + 1 - s);
        Gpu& to = wait(next(d), d, s == 0 ? devices_ - 2 : kMost + s - 1);
        if (p.count > 0)
          fetch<<<grid(p.count), kThreads, 0, to.stream>>>(gpus_[d]->out.data() + p.first, to.out.data() + p.first,
                                                           p.count);
        CHECK_CUDA(cudaEventRecord(to.step[kMost + s], to.stream));
      }
    end();
  }

  // As much on each link as in a ring, but in two steps instead of 2 (devices - 1): each GPU adds one part of all
  // arrays, then loads the other sums.
  void two_shot() {
    begin();
    for (int d = 0; d < devices_; ++d) {
      const Part p = part(d);
      Gpu& g = on(d);
      if (p.count > 0)
        sum_all<<<grid(p.count), kThreads, 0, g.stream>>>(inputs(p.first), g.out.data() + p.first, p.count);
      CHECK_CUDA(cudaEventRecord(g.step[0], g.stream));
    }
    for (int d = 0; d < devices_; ++d)
      for (int away = 1; away < devices_; ++away) {  // each GPU begins at another one
        const int other = (d + away) % devices_;
        const Part p = part(other);
        Gpu& g = wait(d, other, 0);
        if (p.count > 0)
          fetch<<<grid(p.count), kThreads, 0, g.stream>>>(gpus_[other]->out.data() + p.first, g.out.data() + p.first,
                                                          p.count);
      }
    end();
  }

  void by(Nccl& nccl) {
    std::vector<const float*> in;
    std::vector<float*> out;
    std::vector<cudaStream_t> streams;
    for (auto& g : gpus_) {
      in.push_back(g->in.data());
      out.push_back(g->out.data());
      streams.push_back(g->stream);
    }
    begin();
    nccl.all_reduce(in, out, n_, streams);
    end();
  }

 private:
  struct Part {
    long first = 0, count = 0;
    size_t bytes() const { return count * sizeof(float); }
  };
  // The array in as many parts as GPUs, at multiples of four elements. index: may be negative.
  Part part(int index) const {
    const int k = (index % devices_ + devices_) % devices_;
    const long each = (n_ / 4 + devices_ - 1) / devices_ * 4;
    const long first = std::min(n_, each * k), last = k == devices_ - 1 ? n_ : std::min(n_, each * (k + 1));
    return {first, last - first};
  }
  int next(int d) const { return (d + 1) % devices_; }
  static int grid(long n) {
    return std::max(1,
                    std::min(lab::blocks(n, 4 * kThreads), 4 * lab::device_attribute(cudaDevAttrMultiProcessorCount)));
  }

  Gpu& on(int d) {
    CHECK_CUDA(cudaSetDevice(d));
    return *gpus_[d];
  }
  // Lets GPU d wait until `other` has done a step.
  Gpu& wait(int d, int other, int step) {
    Gpu& g = on(d);
    CHECK_CUDA(cudaStreamWaitEvent(g.stream, gpus_[other]->step[step], 0));
    return g;
  }
  Arrays inputs(long first) const {
    Arrays all{};
    all.count = devices_;
    for (int d = 0; d < devices_; ++d) all.of[d] = gpus_[d]->in.data() + first;
    return all;
  }
  // All streams begin after the first GPU's default stream, which then waits for all.
  void begin() {
    begin_.record();
    for (auto& g : gpus_) {
      CHECK_CUDA(cudaSetDevice(g->device));
      CHECK_CUDA(cudaStreamWaitEvent(g->stream, begin_.get(), 0));
    }
    CHECK_CUDA(cudaSetDevice(0));
  }
  void end() {
    for (auto& g : gpus_) {
      CHECK_CUDA(cudaSetDevice(g->device));
      CHECK_CUDA(cudaEventRecord(g->step[2 * kMost - 1], g->stream));
    }
    CHECK_CUDA(cudaSetDevice(0));
    for (auto& g : gpus_) CHECK_CUDA(cudaStreamWaitEvent(nullptr, g->step[2 * kMost - 1], 0));
  }

  int devices_;
  long n_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  std::vector<double> expected_;
  lab::Event begin_;
};

}  // namespace collectives
