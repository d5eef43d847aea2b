// Streams: copy in, kernel, copy out, cut into pieces. Each piece has a stream of its own, so that copies and kernels
// of different pieces overlap.
#include <algorithm>

#include "harness/harness.h"
#include "streams/schedule.h"

// Claim: a chain of dependent integer multiply-adds on each word, one warp an SM, takes long but is little work. The
// launch requests a whole SM's shared memory, so that no second kernel fits beside it.
__global__ void long_chain(unsigned* words, long count, int steps) {
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<long>(gridDim.x) * blockDim.x) {
    unsigned x = words[i];
#pragma unroll 1
    for (int s = 0; s < steps; ++s) x = x * 1664525u + 1013904223u;
    words[i] = x;
  }
}

namespace {

const lab::Topic kTopic = {
    .name = "streams",
    .title = "copies and kernels that overlap: streams and the order of issue",
    .document = "001 (Advanced CUDA)",
    .shows =
        "A GPU copies in, computes and copies out at the same time, if the work is split over streams and the host "
        "memory is pinned. With one copy engine, the order of issue "
        "matters.",
    .size_names = "N",
    .quick_sizes = "1048576",
    .full_sizes = "1048576,16777216,67108864",
    .types = "word",
    .models = "gtx280,h200",
    .rungs = {{"default stream", "one copy in, one kernel, one copy out: nothing overlaps"},
              {"one stream", "in 8 pieces, all in one stream: still nothing overlaps, 8 latencies", lab::Role::sweep},
              {"depth-first", "2, 4, 8 streams; all work of one stream, then of the next", lab::Role::sweep},
              {"breadth-first", "2, 4, 8 streams; all copies in, then all kernels, then all copies out",
               lab::Role::sweep}},
    .options = {{"steps", "32", "multiply-adds per word: length of the kernel relative to the copies"}},
};

class PinnedWords {
 public:
  explicit PinnedWords(size_t count) { CHECK_CUDA(cudaMallocHost(&data_, count * sizeof(unsigned))); }
  ~PinnedWords() { cudaFreeHost(data_); }
  PinnedWords(const PinnedWords&) = delete;
  PinnedWords& operator=(const PinnedWords&) = delete;
  unsigned* data() { return data_; }

 private:
  unsigned* data_ = nullptr;
};

// Streams that wait for the default stream, which also waits for them: so the events around a row cover all of them.
class Streams {
 public:
  explicit Streams(int count) : streams_(count) {
    for (cudaStream_t& s : streams_) CHECK_CUDA(cudaStreamCreate(&s));
  }
  ~Streams() {
    for (cudaStream_t s : streams_) cudaStreamDestroy(s);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  cudaStream_t operator[](int i) const { return streams_[i]; }

 private:
  std::vector<cudaStream_t> streams_;
};

class Pipeline {
 public:
  Pipeline(lab::Program& program, const lab::Size& size, int steps)
      : program_(program),
        size_(size),
        n_(size[0]),
        steps_(steps),
        shared_(lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)),
        grid_(lab::device_attribute(cudaDevAttrMultiProcessorCount)),
        in_(n_),
        out_(n_),
        expected_(n_),
        device_(n_),
        streams_(kMostStreams) {
    if (shared_ == 0) shared_ = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    CHECK_CUDA(cudaFuncSetAttribute(long_chain, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_));
    // A chain of affine steps equals one affine step, modulo 2^32.
    unsigned factor = 1, sum = 0;
    for (int s = 0; s < steps; ++s) {
      factor *= 1664525u;
      sum = sum * 1664525u + 1013904223u;
    }
    lab::Random random(5);
    for (long i = 0; i < n_; ++i) {
      in_.data()[i] = random.bits();
      expected_[i] = in_.data()[i] * factor + sum;
    }
  }

  void all() {
    run("default stream", {}, [&] {
      issue({Stage::in, 0, 1}, nullptr), issue({Stage::kernel, 0, 1}, nullptr), issue({Stage::out, 0, 1}, nullptr);
    });
    run("one stream", {{"pieces", kMostStreams}}, [&] {
      for (const Operation& o : schedule(Order::depth_first, kMostStreams)) issue(o, streams_[0]);
    });
    for (const Order order : {Order::depth_first, Order::breadth_first})
      for (const int count : kCounts)
        if (lab::device_attribute(cudaDevAttrAsyncEngineCount) == 0)
          program_.skip({name(order), size_, "word", {}, {{"streams", count}}},
                        "this GPU does not copy during kernels");
        else
          run(name(order), {{"streams", count}}, [&] {
            for (const Operation& o : schedule(order, count)) issue(o, streams_[o.piece]);
          });
    if (lab::device_attribute(cudaDevAttrAsyncEngineCount) == 0) return;
    if (program_.chosen("depth-first") || program_.chosen("breadth-first")) explain();
  }

 private:
  template <class Issue>
  void run(const char* rung, std::vector<std::pair<std::string, double>> parameters, Issue issue_all) {
    program_.run(
        {rung, size_, "word", {8.0 * n_, 0}, std::move(parameters), /*cold=*/false},
        [&] {
          std::fill_n(out_.data(), n_, ~0u);
          device_.poison();
        },
        issue_all, [&] { return lab::compare(std::vector<unsigned>(out_.data(), out_.data() + n_), expected_); });
  }

  void issue(const Operation& o, cudaStream_t stream) {
    const long begin = n_ * o.piece / o.pieces, count = n_ * (o.piece + 1) / o.pieces - begin;
    unsigned* on_device = device_.data() + begin;
    if (count == 0) return;  // fewer words than pieces
    if (o.stage == Stage::in)
      CHECK_CUDA(cudaMemcpyAsync(on_device, in_.data() + begin, count * 4, cudaMemcpyHostToDevice, stream));
    if (o.stage == Stage::kernel) {
      long_chain<<<grid_, 32, shared_, stream>>>(on_device, count, steps_);
      CHECK_CUDA(cudaGetLastError());
    }
    if (o.stage == Stage::out)
      CHECK_CUDA(cudaMemcpyAsync(out_.data() + begin, on_device, count * 4, cudaMemcpyDeviceToHost, stream));
  }

  // Begin and end of each operation in microseconds from the first, from an event behind each operation.
  std::vector<Span> timeline(const std::vector<Operation>& operations, bool one_stream, int engines) {
    CHECK_CUDA(cudaDeviceSynchronize());
    lab::Event start;
    std::vector<lab::Event> ends(operations.size());
    start.record(streams_[0]);
    for (int i = 1; i < kMostStreams; ++i) CHECK_CUDA(cudaStreamWaitEvent(streams_[i], start.get(), 0));
    for (size_t i = 0; i < operations.size(); ++i) {
      cudaStream_t stream = streams_[one_stream ? 0 : operations[i].piece];
      issue(operations[i], stream);
      ends[i].record(stream);
    }
    std::vector<double> end_us;
    for (lab::Event& end : ends) end_us.push_back(end.us_since(start));
    return spans_of(operations, end_us, one_stream, engines);
  }

  // The drawings, and the measured time beside the time expected from single pieces.
  void explain() {
    const int engines = lab::device_attribute(cudaDevAttrAsyncEngineCount);
    char line[200];
    std::snprintf(line, sizeof line,
                  "%d copy engine%s. H: copy to the device, K: kernel, D: copy to the host, '.': the stream waits.\n",
                  engines, engines == 1 ? ": both directions take turns" : "s: one for each direction");
    std::string drawings = line;
    std::string table = "streams  order            h      k      d   one after the other   expected   observed  (us)\n";
    for (const int count : kCounts) {
      const std::vector<Operation> in_order = schedule(Order::depth_first, count);
      const Times piece = times_of(in_order, timeline(in_order, true, engines));
      for (const Order order : {Order::depth_first, Order::breadth_first}) {
        const std::vector<Operation> operations = schedule(order, count);
        const std::vector<Span> spans = timeline(operations, false, engines);
        const double total = last_end(spans), expected = expected_us(piece, count, order, engines);
        std::snprintf(line, sizeof line, "%7d  %-13s %6.1f %6.1f %6.1f   %19.1f   %8.1f   %8.1f\n", count, name(order),
                      piece.in, piece.kernel, piece.out, count * (piece.in + piece.kernel + piece.out), expected,
                      total);
        table += line;
        std::snprintf(line, sizeof line, "%d stream%s, %s, %.1f us\n", count, count == 1 ? "" : "s", name(order),
                      total);
        drawings += line + draw(operations, spans, count);
      }
    }
    table +=
        "h, k, d: one piece alone. Expected, n streams: two copy engines: h + k + d + (n-1) max(h, k, d).\n"
        "One engine, depth-first: n (h + k + d), since the next copy in stands behind this piece's copy out;\n"
        "breadth-first: as with two, but at least n (h + d), which the one engine copies.\n";
    program_.note("overlap expected and observed, N = " + size_.text(), table);
    program_.note("timelines, N = " + size_.text(), drawings);
  }

  static constexpr int kMostStreams = 8;
  static constexpr int kCounts[] = {1, 2, 4, 8};
  lab::Program& program_;
  const lab::Size& size_;
  long n_;
  int steps_, shared_, grid_;
  PinnedWords in_, out_;
  std::vector<unsigned> expected_;
  lab::DeviceArray<unsigned> device_;
  Streams streams_;
};

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  const int steps = static_cast<int>(program.line().option_number("steps", 1, 1000000));
  for (const lab::Size& size : program.sizes())
    if (program.fits(size, 4.0 * size[0], 16.0 * size[0])) Pipeline(program, size, steps).all();
  return program.finish();
}
