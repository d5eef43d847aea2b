// Cost of a change between the queue of kernels and a copy engine, from the time between events. Each argument is a
// sequence of operations in the default stream, one letter each:
//   S      a kernel that spins for 200 us, so that the rest queues up behind it
//   K      a kernel that adds 1 to 4 MiB of words
//   F      a fill of 1 MiB
//   C, D   a copy of 4 MiB to the device, to the host
//   c, d   a copy of 4 bytes to the device, to the host
//   digit  the record of an event
// Prints the medians of the times between one event and the next, in microseconds, as `SEQUENCE,FIRST,SECOND,...`. Runs
// on a real GPU as well: lab/results/h200/engines.csv was made by `engines $(cut -d, -f1 engines.csv)` on an H200.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../cuda_check.h"

constexpr int kWords = 1 << 20, kThreads = 256, kRepetitions = 41;
constexpr size_t kBytes = kWords * sizeof(float);
constexpr long kSpin = 400000;  // cycles

__global__ void add_one(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 1;
}

__global__ void spin(long cycles) {
  const long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

struct Buffers {
  float *in, *out, *copied, *host;
};

void issue(char operation, const Buffers& b, std::vector<cudaEvent_t>& events) {
  const size_t bytes = operation == 'c' || operation == 'd' ? sizeof(float) : kBytes;
  switch (operation) {
    case 'S':
      spin<<<1, 1>>>(kSpin);
      break;
    case 'K':
      add_one<<<kWords / kThreads, kThreads>>>(b.in, b.out);
      break;
    case 'F':
      CHECK(cudaMemsetAsync(b.out, 0, 1 << 20));
      break;
    case 'C':
    case 'c':
      CHECK(cudaMemcpyAsync(b.copied, b.host, bytes, cudaMemcpyHostToDevice));
      break;
    case 'D':
    case 'd':
      CHECK(cudaMemcpyAsync(b.host, b.copied, bytes, cudaMemcpyDeviceToHost));
      break;
    default:
      events.emplace_back();
      CHECK(cudaEventCreate(&events.back()));
      CHECK(cudaEventRecord(events.back()));
  }
}

int main(int argc, char** argv) {
  Buffers b;
  CHECK(cudaMalloc(&b.in, kBytes));
  CHECK(cudaMalloc(&b.out, kBytes));
  CHECK(cudaMalloc(&b.copied, kBytes));
  CHECK(cudaMallocHost(&b.host, kBytes));
  for (int i = 1; i < argc; ++i) {
    std::vector<std::vector<float>> times;
    for (int r = 0; r < kRepetitions; ++r) {
      std::vector<cudaEvent_t> events;
      CHECK(cudaDeviceSynchronize());
      for (const char* o = argv[i]; *o; ++o) issue(*o, b, events);
      CHECK(cudaDeviceSynchronize());
      times.resize(events.size() - 1);
      for (size_t e = 1; e < events.size(); ++e) {
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, events[e - 1], events[e]));
        times[e - 1].push_back(ms * 1000);
      }
      for (cudaEvent_t event : events) CHECK(cudaEventDestroy(event));
    }
    std::printf("%s", argv[i]);
    for (std::vector<float>& t : times) {
      std::sort(t.begin(), t.end());
      std::printf(",%.2f", t[t.size() / 2]);
    }
    std::printf("\n");
  }
  return 0;
}
