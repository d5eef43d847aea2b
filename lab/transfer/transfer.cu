// Transfers between host and device: the cost of a copy by size and kind of host memory, and four ways to avoid it.
#include "transfer/buffers.h"

constexpr int kThreads = 256;

// Claim: reads every word once, in order, from any memory: device memory, mapped host memory or managed memory.
__global__ void multiply(const unsigned* in, unsigned* out, unsigned factor, long n) {
  for (long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x; i < n;
       i += static_cast<long>(gridDim.x) * kThreads)
    out[i] = in[i] * factor;
}

namespace {

const lab::Topic kTopic = {
    .name = "transfer",
    .title = "host to device and back: pageable, pinned, pieces, overlap, zero copy, managed",
    .document = "001 (Advanced CUDA)",
    .shows =
        "A copy has a latency and a bandwidth: small copies pay the latency, pageable memory costs bandwidth. "
        "With pinned memory, the CPU works during the copy; kernels can also read host memory directly, which pays if "
        "they read "
        "once.",
    .size_names = "BYTES",
    .quick_sizes = "1024,65536,1048576,16777216,67108864",
    .full_sizes = "1024,65536,1048576,16777216,67108864,268435456,1073741824",
    .types = "byte",
    .rungs = {{"pageable to device", "memory of malloc: staged through the driver's buffers", lab::Role::sweep},
              {"pinned to device", "page-locked memory: read by the GPU itself", lab::Role::sweep},
              {"pageable to host", "the way back", lab::Role::sweep},
              {"pinned to host", "the way back", lab::Role::sweep},
              {"pieces", "the same bytes in 1, 16 and 256 copies: each pays the latency", lab::Role::sweep},
              {"copy, then CPU", "wait for the copy, then work on the CPU", lab::Role::sweep},
              {"copy beside CPU", "the CPU works during cudaMemcpyAsync, and polls with cudaEventQuery",
               lab::Role::sweep},
              {"stream query", "cudaStreamQuery until the copy is done", lab::Role::sweep},
              {"stream synchronise", "cudaStreamSynchronize: the CPU waits", lab::Role::sweep},
              {"event synchronise", "cudaEventSynchronize: the CPU waits", lab::Role::sweep},
              {"explicit copy", "copy to the device, then kernels read it there 1 or 8 times", lab::Role::sweep},
              {"zero copy", "kernels read mapped host memory over the link, 1 or 8 times", lab::Role::sweep},
              {"managed", "managed memory written by the host: pages move when touched", lab::Role::sweep},
              {"managed, prefetched", "cudaMemPrefetchAsync first: moved as one copy", lab::Role::sweep}},
};

using Kind = HostBuffer::Kind;
constexpr long kCopiesOnly = 256L << 20;  // more bytes show nothing new for the other rungs, and take long

// Result of a query. "Not ready" is no error; it is cleared, because some runtimes keep it as the last error.
bool still_running(cudaError_t state) {
  if (state != cudaErrorNotReady) {
    CHECK_CUDA(state);
    return false;
  }
  cudaGetLastError();
  return true;
}

class Transfers {
 public:
  Transfers(lab::Program& program, const lab::Size& size)
      : program_(program),
        size_(size),
        bytes_(size[0]),
        words_(words_of(bytes_)),
        host_(random_words(7, words_)),
        back_(words_),
        pinned_(Kind::pinned, words_ * 4),
        device_(words_),
        out_(words_) {
    std::memcpy(pinned_.data(), host_.data(), words_ * 4);
    cudaFuncAttributes ignored;  // loads the kernel, so that no row times its first launch
    CHECK_CUDA(cudaFuncGetAttributes(&ignored, multiply));
  }

  void copies() {
    to_device("pageable to device", host_.data());
    to_device("pinned to device", pinned_.data());
    to_host("pageable to host", back_.data());
    HostBuffer pinned_back(Kind::pinned, words_ * 4);
    to_host("pinned to host", pinned_back.data());
  }

  void pieces() {
    for (const long count : {1L, 16L, 256L}) {
      if (count > bytes_) continue;
      program_.run(
          row("pieces", {{"copies", static_cast<double>(count)}}), [&] { device_.poison(); },
          [&] {
            char* to = reinterpret_cast<char*>(device_.data());
            const char* from = reinterpret_cast<const char*>(pinned_.data());
            for (long i = 0; i < count; ++i) {
              const long begin = bytes_ * i / count, end = bytes_ * (i + 1) / count;
              CHECK_CUDA(cudaMemcpyAsync(to + begin, from + begin, end - begin, cudaMemcpyHostToDevice, nullptr));
            }
          },
          [&] { return on_device(); });
    }
  }

  // A unit of the CPU's work is one step of a generator. The same number of units runs beside the copy and after it.
  void beside_cpu() {
    if (!program_.chosen("copy, then CPU") && !program_.chosen("copy beside CPU")) return;
    const auto copy = [&] {
      begin_.record();
      CHECK_CUDA(cudaMemcpyAsync(device_.data(), pinned_.data(), bytes_, cudaMemcpyHostToDevice, nullptr));
      end_.record();
    };
    long units = 0;
    const auto unit = [&] {
      ++units;
      for (int i = 0; i < 200; ++i) cpu_.bits();
      return still_running(cudaEventQuery(end_.get()));
    };
    sample("copy beside CPU", [&] {
      units = 0;
      copy();
      while (unit()) continue;
      beside_units_ = units;
    });
    sample("copy, then CPU", [&] {
      copy();
      CHECK_CUDA(cudaEventSynchronize(end_.get()));
      for (long i = 0; i < std::max(1L, beside_units_); ++i) unit();
    });
  }

  void waiting() {
    bool any = false;
    for (const char* rung : {"stream query", "stream synchronise", "event synchronise"}) any |= program_.chosen(rung);
    if (!any) return;
    cudaStream_t stream;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const auto copy = [&] {
      begin_.record(stream);
      CHECK_CUDA(cudaMemcpyAsync(device_.data(), pinned_.data(), bytes_, cudaMemcpyHostToDevice, stream));
      end_.record(stream);
    };
    sample("stream query", [&] {
      copy();
      queries_ = 1;
      while (still_running(cudaStreamQuery(stream))) ++queries_;
    });
    sample("stream synchronise", [&] {
      copy();
      CHECK_CUDA(cudaStreamSynchronize(stream));
    });
    sample("event synchronise", [&] {
      copy();
      CHECK_CUDA(cudaEventSynchronize(end_.get()));
    });
    CHECK_CUDA(cudaStreamDestroy(stream));
  }

  void around_the_copy() {
    HostBuffer mapped(Kind::mapped, words_ * 4);
    std::memcpy(mapped.data(), host_.data(), words_ * 4);
    for (const int reads : {1, 8}) {
      run_kernels(
          "explicit copy", reads, device_.data(), [] {},
          [&] {
            CHECK_CUDA(cudaMemcpyAsync(device_.data(), pinned_.data(), words_ * 4, cudaMemcpyHostToDevice, nullptr));
          });
      run_kernels(
          "zero copy", reads, mapped.on_device(), [] {}, [] {});
    }
  }

  void managed() {
    const bool can = lab::device_attribute(cudaDevAttrConcurrentManagedAccess) != 0;
    for (const bool prefetched : {false, true}) {
      const char* rung = prefetched ? "managed, prefetched" : "managed";
      if (!can) {
        program_.skip(row(rung), "this GPU does not move pages of managed memory on demand");
        continue;
      }
      HostBuffer buffer(Kind::managed, words_ * 4);
      // The host writes it again each time, so its pages are on the host when the kernels begin.
      run_kernels(
          rung, 1, buffer.data(), [&] { std::memcpy(buffer.data(), host_.data(), words_ * 4); },
          [&] {
            if (prefetched) prefetch(buffer.data(), words_ * 4, nullptr);
          });
    }
  }

  void explain() {
    if (lines_.empty()) return;
    char text[200];
    std::string out = "us                      CPU timer     the copy, by events\n" + lines_;
    if (beside_units_ > 0) {
      std::snprintf(text, sizeof text,
                    "beside the copy the CPU did %ld units of work of its own, each followed by cudaEventQuery.\n",
                    beside_units_);
      out += text;
    }
    if (queries_ > 0) {
      std::snprintf(text, sizeof text, "cudaStreamQuery said cudaErrorNotReady %ld times before cudaSuccess.\n",
                    queries_ - 1);
      out += text;
    }
    if (lab::on_virtual_gpu())
      out += "The virtual host's clock counts CUDA calls only: a unit of work costs it the query.\n";
    program_.note("the CPU during a copy of " + size_.text() + " bytes", out);
  }

 private:
  lab::Case row(const char* rung, std::vector<std::pair<std::string, double>> parameters = {}) const {
    return {rung, size_, "byte", {static_cast<double>(bytes_), 0}, std::move(parameters), /*cold=*/false};
  }
  lab::Verdict on_device() {
    CHECK_CUDA(cudaMemcpy(back_.data(), device_.data(), bytes_, cudaMemcpyDeviceToHost));
    return same_bytes(back_.data(), host_.data(), bytes_);
  }

  void to_device(const char* rung, const unsigned* from) {
    program_.run(
        row(rung), [&] { device_.poison(); },
        [&] { CHECK_CUDA(cudaMemcpy(device_.data(), from, bytes_, cudaMemcpyHostToDevice)); },
        [&] { return on_device(); });
  }
  void to_host(const char* rung, unsigned* to) {
    device_.upload(host_);
    program_.run(
        row(rung), [&] { std::memset(to, 0xff, bytes_); },
        [&] { CHECK_CUDA(cudaMemcpy(to, device_.data(), bytes_, cudaMemcpyDeviceToHost)); },
        [&] { return same_bytes(to, host_.data(), bytes_); });
  }

  // Rows that the program times itself: GPU time between its two events, host time of everything.
  template <class Once>
  void sample(const char* rung, Once once) {
    std::vector<double> gpu, cpu;
    const int count = lab::on_virtual_gpu() || program_.line().once() ? 1 : 15;
    for (int i = 0; i < count; ++i) {
      device_.poison();
      CHECK_CUDA(cudaDeviceSynchronize());
      const double t = lab::host_us();
      once();
      cpu.push_back(lab::host_us() - t);
      gpu.push_back(end_.us_since(begin_));
    }
    const lab::Timing by_events = lab::Timing::of(gpu), by_cpu = lab::Timing::of(cpu);
    program_.row(row(rung), by_events, by_cpu, on_device());
    char line[96];
    std::snprintf(line, sizeof line, "%-20s %12.2f %12.2f\n", rung, by_cpu.median, by_events.median);
    lines_ += line;
  }

  // Runs kernels that read `in` `reads` times, after `bring` has moved the data there.
  template <class Prepare, class Bring>
  void run_kernels(const char* rung, int reads, const unsigned* in, Prepare prepare, Bring bring) {
    program_.run(
        row(rung, {{"reads", static_cast<double>(reads)}}),
        [&] {
          CHECK_CUDA(cudaDeviceSynchronize());
          out_.poison();
          prepare();
        },
        [&] {
          const int grid = static_cast<int>(std::min(65535L, (words_ + kThreads - 1) / kThreads));
          bring();
          for (int i = 0; i < reads; ++i) multiply<<<grid, kThreads>>>(in, out_.data(), 3 + i, words_);
        },
        [&] {
          std::vector<unsigned> expected(host_);
          for (unsigned& v : expected) v *= 3 + reads - 1;  // result of the last launch
          const std::vector<unsigned> got = out_.host();
          return same_bytes(got.data(), expected.data(), words_ * 4);
        });
  }

  lab::Program& program_;
  const lab::Size& size_;
  long bytes_, words_;
  std::vector<unsigned> host_, back_;
  HostBuffer pinned_;
  lab::DeviceArray<unsigned> device_, out_;
  lab::Event begin_, end_;
  lab::Random cpu_{11};
  long beside_units_ = 0, queries_ = 0;
  std::string lines_;  // text of the note
};

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  for (const lab::Size& size : program.sizes()) {
    if (!program.fits(size, 2.0 * size[0], 8.0 * size[0])) continue;
    Transfers transfers(program, size);
    transfers.copies();
    if (size[0] > kCopiesOnly) {
      for (size_t i = 4; i < kTopic.rungs.size(); ++i)
        program.skip({kTopic.rungs[i].name, size, "byte", {}}, "above 256 MiB only plain copies are run");
      continue;
    }
    transfers.pieces();
    transfers.beside_cpu();
    transfers.waiting();
    transfers.around_the_copy();
    transfers.managed();
    transfers.explain();
  }
  return program.finish();
}
