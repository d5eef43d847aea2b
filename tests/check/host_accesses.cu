// Accesses of the host to managed and pinned memory while work may use it: `host_accesses NAME` does one thing.
// host_accesses_test.py says of which of them the check has to say something.
#include <cuda_runtime.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

constexpr int kCount = 4096;

__global__ void fill(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 3;
}
__global__ void add_one(const int* p, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = p[i] + 1;
}
__global__ void publish(int* data, volatile int* flag) {
  data[threadIdx.x] = 7;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    *flag = 1;
  }
}
__global__ void publish_fence_each(int* data, volatile int* flag) {
  data[threadIdx.x] = 7;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *flag = 1;
}
__global__ void publish_last_block(int* data, unsigned* blocks, volatile int* flag) {
  data[blockIdx.x * blockDim.x + threadIdx.x] = 7;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(blocks, 1) == gridDim.x - 1) {
    __threadfence_system();
    *flag = 1;
  }
}
__global__ void publish_too_early(int* data, volatile int* flag) {
  __threadfence_system();
  *flag = 1;
  data[threadIdx.x] = 7;
}
__global__ void answer(volatile int* question, volatile int* reply) {
  while (*question == 0) {
  }
  __threadfence_system();
  *reply = *question + 1;
}
__global__ void progress(int* count) {
  atomicAdd_system(count, 1);
}
__managed__ int variable[4];
__global__ void set_variable() {
  variable[threadIdx.x] = threadIdx.x;
}

int* managed() {
  int* p;
  cudaMallocManaged(&p, kCount * sizeof(int));
  std::memset(p, 0, kCount * sizeof(int));
  return p;
}
int* pinned() {
  int* p;
  cudaMallocHost(&p, kCount * sizeof(int));
  std::memset(p, 0, kCount * sizeof(int));
  return p;
}
int* device() {
  int* p;
  cudaMalloc(&p, kCount * sizeof(int));
  cudaMemset(p, 0, kCount * sizeof(int));
  cudaDeviceSynchronize();
  return p;
}
long sum(const int* p, int n) {
  long s = 0;
  for (int i = 0; i < n; ++i) s += p[i];
  return s;
}
void wait_for(const int* flag, int value) {
  while (*static_cast<const volatile int*>(flag) < value) {
  }
}
constexpr size_t kBytes = kCount * sizeof(int);
constexpr const char* kFile = "/proc/self/exe";

std::mutex mutex;
std::condition_variable done_signal;
bool is_done = false;

// Right: what it adds up has to be the same as on a GPU.
long right(const std::string& name, cudaStream_t stream) {
  if (name == "flag" || name == "flag_fence_each") {
    int* h = pinned();
    (name == "flag" ? publish : publish_fence_each)<<<1, 64, 0, stream>>>(h, h + 64);
    wait_for(h + 64, 1);
    return sum(h, 64);
  }
  if (name == "flag_last_block") {
    int* h = managed();
    publish_last_block<<<16, 64, 0, stream>>>(h, reinterpret_cast<unsigned*>(device()), h + 2048);
    auto* flag = reinterpret_cast<std::atomic<int>*>(h + 2048);
    while (!flag->load(std::memory_order_acquire)) {
    }
    return sum(h, 1024);
  }
  if (name == "asks_kernel") {
    int* h = pinned();
    answer<<<1, 1, 0, stream>>>(h, h + 1);
    *static_cast<volatile int*>(h) = 5;
    wait_for(h + 1, 1);
    return h[1];
  }
  if (name == "progress") {
    int* h = managed();
    progress<<<10, 32, 0, stream>>>(h);
    wait_for(h, 320);
    return *h;
  }
  if (name == "event") {
    int* h = managed();
    cudaEvent_t event;
    cudaEventCreate(&event);
    fill<<<16, 256, 0, stream>>>(h, kCount);
    cudaEventRecord(event, stream);
    cudaEventSynchronize(event);
    return sum(h, kCount);
  }
  if (name == "query") {
    int* h = managed();
    fill<<<16, 256, 0, stream>>>(h, kCount);
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
    cudaGetLastError();
    return sum(h, kCount);
  }
  if (name == "host_function") {
    int* h = pinned();
    cudaMemcpyAsync(h, device(), kBytes, cudaMemcpyDeviceToHost, stream);
    const auto signal_done = [](void*) {
      const std::lock_guard lock(mutex);
      is_done = true;
      done_signal.notify_all();
    };
    cudaLaunchHostFunc(stream, signal_done, nullptr);
    std::unique_lock lock(mutex);
    done_signal.wait(lock, [] { return is_done; });
    return sum(h, kCount);
  }
  if (name == "other_half") {  // of a page
    int* h = managed();
    fill<<<2, 256, 0, stream>>>(h, 512);
    for (int i = 512; i < 1024; ++i) h[i] = 1;
    const long other = sum(h + 512, 512);
    cudaDeviceSynchronize();
    return other + sum(h, 512);
  }
  if (name == "other_bytes") {  // of a word
    char* h = reinterpret_cast<char*>(managed());
    cudaMemsetAsync(h + 1, 5, 1, stream);
    h[0] = 1;
    h[2] = 2;
    std::memset(h + 100, 1, 1000);
    cudaDeviceSynchronize();
    return h[0] + h[1] + h[2] + h[100];
  }
  if (name == "both_read") {
    int* h = managed();
    add_one<<<16, 256, 0, stream>>>(h, device());
    return sum(h, kCount) + write(open("/dev/null", O_WRONLY), h, kBytes);
  }
  if (name == "reads_file") {  // beside what the copy reads, on the same page
    char* h = reinterpret_cast<char*>(pinned());
    char* behind = h + kBytes / 2 + 100;
    cudaMemcpyAsync(device(), h, kBytes / 2 + 100, cudaMemcpyHostToDevice, stream);
    long read_bytes = static_cast<long>(fread(behind, 1, 4000, fopen(kFile, "rb")));
    read_bytes += read(open(kFile, O_RDONLY), behind, 3000);
    return read_bytes + behind[1];
  }
  if (name == "registered") {
    std::vector<int> x(5 * 1024);
    cudaHostRegister(x.data(), x.size() * sizeof(int), 0);
    cudaMemcpyAsync(device(), x.data(), 2048 * sizeof(int), cudaMemcpyHostToDevice, stream);
    for (size_t i = 2048; i < x.size(); ++i) x[i] = 1;
    cudaDeviceSynchronize();
    cudaHostUnregister(x.data());
    return sum(x.data(), static_cast<int>(x.size()));
  }
  if (name == "memset") {  // of managed memory: done when the call returns
    int* h = managed();
    cudaMemset(h, 1, kBytes);
    return h[7];
  }
  if (name == "pageable") {  // staged
    std::vector<int> x(100);
    cudaMemcpyAsync(device(), x.data(), 400, cudaMemcpyHostToDevice, stream);
    x[3] = 1;
    return x[3];
  }
  if (name == "thread") {
    int* h = managed();
    std::thread([&] {
      fill<<<16, 256, 0, stream>>>(h, kCount);
      cudaStreamSynchronize(stream);
    }).join();
    return sum(h, kCount);
  }
  return -1;
}

long wrong(const std::string& name, cudaStream_t stream) {
  if (name == "library_function") {
    int* h = pinned();
    std::vector<int> x(kCount);
    cudaMemcpyAsync(h, device(), kBytes, cudaMemcpyDeviceToHost, stream);
    std::memcpy(x.data(), h + kCount / 2, kBytes / 2);  // here library_function
    return x[5];
  }
  if (name == "whole_array") {
    int* h = managed();
    fill<<<16, 256, 0, stream>>>(h, kCount);
    return sum(h, kCount);  // sum
  }
  if (name == "system_call") {
    int* h = pinned();
    cudaMemcpyAsync(h, device(), kBytes, cudaMemcpyDeviceToHost, stream);
    return write(open("/dev/null", O_WRONLY), h, kBytes);  // here system_call
  }
  if (name == "reads_file_into_source") {
    int* h = pinned();
    cudaMemcpyAsync(device(), h, kBytes, cudaMemcpyHostToDevice, stream);
    return static_cast<long>(fread(h, 4, kCount, fopen(kFile, "rb")));  // here reads_file_into_source
  }
  if (name == "other_stream") {
    cudaStream_t other;
    cudaStreamCreate(&other);
    int* h = managed();
    fill<<<16, 256, 0, stream>>>(h, kCount);
    cudaStreamSynchronize(other);
    return h[7];  // here other_stream
  }
  if (name == "variable") {
    set_variable<<<1, 4, 0, stream>>>();
    return variable[2];  // here variable
  }
  if (name == "registered_source") {
    std::vector<int> x(64 * 1024);
    cudaHostRegister(x.data(), x.size() * sizeof(int), 0);
    int* d;
    cudaMalloc(&d, x.size() * sizeof(int));
    cudaMemcpyAsync(d, x.data(), x.size() * sizeof(int), cudaMemcpyHostToDevice, stream);
    x[30000] = 1;  // here registered_source
    cudaDeviceSynchronize();
    cudaHostUnregister(x.data());
    return x[30000];
  }
  if (name == "kernel_reads") {
    int* h = managed();
    add_one<<<16, 256, 0, stream>>>(h, device());
    h[1000] = 5;  // here kernel_reads
    return 0;
  }
  if (name == "graph") {
    int* h = managed();
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    fill<<<16, 256, 0, stream>>>(h, kCount);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, stream);
    return h[9];  // here graph
  }
  if (name == "after_flag") {
    int* h = managed();
    publish_too_early<<<1, 32, 0, stream>>>(h, h + 1024);
    wait_for(h + 1024, 1);
    return h[5];  // here after_flag
  }
  return -1;
}

int main(int, char** argv) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  const long r = right(argv[1], stream), w = r < 0 ? wrong(argv[1], stream) : 0;
  if (r < 0 && w < 0) return 2;
  cudaDeviceSynchronize();
  if (r >= 0) std::printf("%ld\n", r);
  return cudaGetLastError() == cudaSuccess ? 0 : 3;
}
