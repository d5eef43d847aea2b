// Copies over the link to the host and to another GPU; fills; managed and mapped memory.
#pragma once

#include <cstring>

#include "calibrate/memory.cuh"

namespace calibrate {

static __global__ void touch_pages(unsigned* data, size_t count, size_t step, unsigned* out) {
  const size_t i = (blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x) * step;
  if (i < count && data[i] == 12345) *out = 1;
}

// Measures by events: bytes a nanosecond of a large transfer, and nanoseconds of one of 4 bytes.
template <class Transfer>
void copies(Bench& b, const char* name, Transfer transfer, size_t bytes, Figure rate, Figure latency) {
  const Sample small = b.time([&] { transfer(size_t{4}); });
  const Sample half = b.time([&] { transfer(bytes / 2); }), all = b.time([&] { transfer(bytes); });
  b.report.row("transfer", text("%s;bytes=4", name), small, small.ns, "ns");
  b.report.row("transfer", text("%s;bytes=%zu", name, bytes), all, static_cast<double>(bytes) / all.ns, "GB/s");
  b.report.set(rate, static_cast<double>(bytes) / 2 / (all.ns - half.ns));
  b.report.set(latency, small.ns);
}

// The same measured by the host's clock, until the bytes have arrived.
template <class Transfer>
void host_copies(Bench& b, const char* name, Transfer transfer, size_t bytes, Figure rate, Figure latency) {
  const auto ns = [&](size_t size) {
    std::vector<double> samples;
    for (int i = 0; i < b.many(9, 1); ++i) {
      CHECK_CUDA(cudaDeviceSynchronize());
      const double begin = lab::wall_us();
      transfer(size);
      CHECK_CUDA(cudaDeviceSynchronize());  // a small copy to the device returns before it has ended
      samples.push_back((lab::wall_us() - begin) * 1e3);
    }
    return Bench::median(samples);
  };
  const double small = ns(4), large = ns(bytes);
  b.report.row("transfer", text("%s;bytes=4", name), {small, 0}, small, "ns");
  b.report.row("transfer", text("%s;bytes=%zu", name, bytes), {large, 0}, static_cast<double>(bytes) / large, "GB/s");
  b.report.set(rate, static_cast<double>(bytes) / (large - small));
  b.report.set(latency, small);
}

inline void link(Bench& b) {
  const size_t pinned_bytes = b.dry ? 1 << 16 : size_t{64} << 20, pageable_bytes = b.dry ? 1 << 16 : size_t{16} << 20;
  char* pinned = nullptr;
  CHECK_CUDA(cudaMallocHost(&pinned, pinned_bytes));
  std::memset(pinned, 0, pinned_bytes);
  std::vector<char> pageable(pageable_bytes, 0);
  copies(
      b, "pinned to device", [&](size_t n) { CHECK_CUDA(cudaMemcpyAsync(b.data, pinned, n, cudaMemcpyHostToDevice)); },
      pinned_bytes, Figure::pinned_to_device_gbps, Figure::pinned_to_device_latency_ns);
  copies(
      b, "pinned to host", [&](size_t n) { CHECK_CUDA(cudaMemcpyAsync(pinned, b.data, n, cudaMemcpyDeviceToHost)); },
      pinned_bytes, Figure::pinned_to_host_gbps, Figure::pinned_to_host_latency_ns);
  host_copies(
      b, "pageable to device",
      [&](size_t n) { CHECK_CUDA(cudaMemcpy(b.data, pageable.data(), n, cudaMemcpyHostToDevice)); }, pageable_bytes,
      Figure::pageable_to_device_gbps, Figure::pageable_to_device_latency_ns);
  host_copies(
      b, "pageable to host",
      [&](size_t n) { CHECK_CUDA(cudaMemcpy(pageable.data(), b.data, n, cudaMemcpyDeviceToHost)); }, pageable_bytes,
      Figure::pageable_to_host_gbps, Figure::pageable_to_host_latency_ns);
  b.report.set(Figure::next_copy_ns,
               b.slope(
                   [&](int count) {
                     for (int i = 0; i < count; ++i)
                       CHECK_CUDA(cudaMemcpyAsync(b.data + 1024 * i, pinned, 4, cudaMemcpyHostToDevice));
                   },
                   4, b.many(36, 5), 400000));
  copies(
      b, "fill", [&](size_t n) { CHECK_CUDA(cudaMemsetAsync(b.data, 0, n)); }, b.bytes, Figure::fill_gbps,
      Figure::fill_latency_ns);
  cudaFreeHost(pinned);
}

inline void mapped(Bench& b) {
  const size_t bytes = b.dry ? 1 << 18 : size_t{64} << 20;
  char *host = nullptr, *device = nullptr;
  CHECK_CUDA(cudaHostAlloc(&host, bytes, cudaHostAllocMapped));
  std::memset(host, 0, bytes);
  CHECK_CUDA(cudaHostGetDevicePointer(&device, host, 0));
  const auto rate = [&](const char* name, auto launch) {
    const Sample half = b.time([&] { launch(lab::blocks(static_cast<long>(bytes / 32), 256)); });
    const Sample all = b.time([&] { launch(lab::blocks(static_cast<long>(bytes / 16), 256)); });
    b.report.row("transfer", text("%s;bytes=%zu", name, bytes), all, static_cast<double>(bytes) / all.ns, "GB/s");
    return static_cast<double>(bytes) / 2 / (all.ns - half.ns);
  };
  auto* elements = reinterpret_cast<uint4*>(device);
  b.report.set(Figure::mapped_read_gbps, rate("mapped read", [&](int blocks) {
                 read_once<<<blocks, 256>>>(elements, reinterpret_cast<unsigned*>(b.other));
               }));
  b.report.set(Figure::mapped_write_gbps,
               rate("mapped write", [&](int blocks) { write_once<<<blocks, 256>>>(elements); }));
  const int loads = b.many(256, 8);
  make_chain<<<1, loads>>>(device, 4096, static_cast<size_t>(loads) * 4096 <= bytes ? loads : bytes / 4096);
  CHECK_KERNEL();
  const Sample s = b.time(
      [&] { chase<Level::l2><<<1, 1>>>(device, 0, loads, b.clocks.data(), reinterpret_cast<const char**>(b.other)); },
      Before::busy, 1);
  b.report.row("transfer", "mapped chain", s, s.cycles / loads, "cycle");
  b.report.set(Figure::mapped_latency_ns, s.cycles / loads / b.ghz);
  cudaFreeHost(host);
}

inline void prefetch_to_device(const void* data, size_t bytes) {
  int device = 0;
  CHECK_CUDA(cudaGetDevice(&device));
#if CUDART_VERSION >= 13000
  CHECK_CUDA(cudaMemPrefetchAsync(data, bytes, {cudaMemLocationTypeDevice, device}, 0, nullptr));
#else
  CHECK_CUDA(cudaMemPrefetchAsync(data, bytes, device, nullptr));
#endif
}

// Memory written by the host, then used on the GPU, then used by the host again.
inline void managed(Bench& b) {
  if (!lab::device_attribute(cudaDevAttrConcurrentManagedAccess)) return;
  constexpr size_t kPage = 4096;
  const size_t bytes = b.dry ? 1 << 18 : size_t{64} << 20;
  unsigned* data = nullptr;
  CHECK_CUDA(cudaMallocManaged(&data, bytes));
  auto* out = reinterpret_cast<unsigned*>(b.other);
  lab::Event start, stop;
  const auto on_host = [&] {
    const double begin = lab::wall_us();
    for (size_t i = 0; i < bytes / 4; i += kPage / 4) reinterpret_cast<volatile unsigned*>(data)[i] = 1;
    return (lab::wall_us() - begin) * 1e3;
  };
  const auto timed = [&](auto work) {
    CHECK_CUDA(cudaDeviceSynchronize());
    start.record();
    work();
    stop.record();
    return stop.us_since(start) * 1e3;
  };
  // A separate allocation: in a large one the driver would first have to split a page of 2 MiB.
  unsigned* small = nullptr;
  CHECK_CUDA(cudaMallocManaged(&small, kPage));
  const auto small_on_host = [small] { *static_cast<volatile unsigned*>(small) = 1; };
  std::vector<double> one, large_one, all, prefetched, first_page, back;
  const int pages = lab::blocks(static_cast<long>(bytes / kPage), 256);
  for (int i = 0; i < b.many(5, 1); ++i) {
    small_on_host();
    one.push_back(timed([&] { touch_pages<<<1, 1>>>(small, kPage / 4, 1, out); }));
    small_on_host();
    first_page.push_back(timed([&] { prefetch_to_device(small, kPage); }));
    on_host();
    large_one.push_back(timed([&] { touch_pages<<<1, 1>>>(data, bytes / 4, kPage / 4, out); }));
    on_host();
    all.push_back(timed([&] { touch_pages<<<pages, 256>>>(data, bytes / 4, kPage / 4, out); }));
    back.push_back(on_host());
    prefetched.push_back(timed([&] { prefetch_to_device(data, bytes); }));
  }
  const auto row = [&](const char* name, const std::vector<double>& samples) {
    const double ns = Bench::median(samples);
    b.report.row("transfer", name, {ns, 0}, ns, "ns");
    return ns;
  };
  const double size = static_cast<double>(bytes);
  row("managed;one page of many", large_one);
  b.report.set(Figure::page_fault_ns, row("managed;one page", one) - b.report[Figure::launch_event_ns]);
  b.report.set(Figure::migration_gbps, size / row("managed;all pages", all));
  row("managed;back to the host", back);
  b.report.set(Figure::prefetch_latency_ns, row("managed;prefetch one page", first_page));
  b.report.set(Figure::prefetch_gbps, size / row("managed;prefetch all", prefetched));
  cudaFree(small);
  cudaFree(data);
}

inline void peer(Bench& b) {
  int count = 0, possible = 0;
  CHECK_CUDA(cudaGetDeviceCount(&count));
  if (count < 2) return;
  CHECK_CUDA(cudaDeviceCanAccessPeer(&possible, 0, 1));
  if (!possible) return;
  const size_t bytes = std::min(b.bytes, b.dry ? size_t{1} << 16 : size_t{256} << 20);
  char* there = nullptr;
  CHECK_CUDA(cudaSetDevice(1));
  CHECK_CUDA(cudaMalloc(&there, bytes));
  CHECK_CUDA(cudaSetDevice(0));
  CHECK_CUDA(cudaDeviceEnablePeerAccess(1, 0));
  copies(
      b, "to another GPU", [&](size_t n) { CHECK_CUDA(cudaMemcpyPeerAsync(there, 1, b.data, 0, n)); }, bytes,
      Figure::peer_copy_gbps, Figure::peer_copy_latency_ns);
  cudaFree(there);
}

inline void transfers(Bench& b) {
  link(b);
  if (lab::device_attribute(cudaDevAttrCanMapHostMemory)) mapped(b);
  managed(b);
  peer(b);
}

}  // namespace calibrate
