// What a GPU has mapped around allocations: tests/data/h200/mapped.csv is a summary of what this prints.
//   nvcc -std=c++17 -arch=sm_90 -o mapped mapped.cu && ./mapped FILE.csv [WORKERS]
// The parent never uses CUDA. A child makes the allocations of a scenario and probes addresses by a kernel of one
// thread; a fault ends the child, and the next one goes on with the next probe.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

typedef long long i64;
__device__ int variable;

__global__ void probe(const volatile unsigned* p, unsigned* out) {
  *out = *p;
}
__global__ void probe_write(volatile unsigned* p, unsigned* out) {
  unsigned v = *p;
  *p = v;
  *out = v;
}

struct Step {
  char what;
  i64 bytes;
  int of;
};  // 'a': allocate; 'f': free allocation number `of`; 'm': managed; 'k': launch first
struct Scenario {
  std::string name;
  std::vector<Step> steps;
  int target;
  bool write;
};
struct Job {
  int scenario;
  std::string side;
  std::vector<i64> offsets;
};  // relative to the target's begin

const i64 K = 1024, M = 1024 * K, G = 1024 * M;
std::vector<Scenario> scenarios;
std::vector<Job> jobs;
std::mutex mutex;
FILE* results;
std::chrono::steady_clock::time_point start;
int limit_s = 165;

void child(const Scenario& s, const std::vector<i64>& offsets, size_t from, int fd) {
  FILE* to = fdopen(fd, "w");
  setvbuf(to, nullptr, _IOLBF, 0);
  unsigned* out;
  if (cudaMallocHost(&out, 64) != cudaSuccess) {
    fprintf(to, "E no context\n");
    fclose(to);
    _exit(3);
  }
  std::vector<char*> at;
  for (const Step& t : s.steps) {
    char* p = nullptr;
    if (t.what == 'a') {
      if (cudaMalloc(&p, t.bytes) != cudaSuccess) {
        fprintf(to, "E malloc\n");
        _exit(3);
      }
      at.push_back(p);
    }
    if (t.what == 'm') {
      cudaMallocManaged(&p, t.bytes);
      at.push_back(p);
    }
    if (t.what == 'f') cudaFree(at[t.of]);
    if (t.what == 'k') {
      cudaMalloc(&p, 4);
      probe<<<1, 1>>>((unsigned*)p, out);
      cudaDeviceSynchronize();
      cudaFree(p);
    }
  }
  if (from == 0) {
    void* v = nullptr;
    cudaGetSymbolAddress(&v, variable);
    size_t freed, total;
    cudaMemGetInfo(&freed, &total);
    fprintf(to, "A variable=%p free=%zu", v, freed);
    for (char* p : at) fprintf(to, " %p", p);
    fprintf(to, "\n");
  }
  for (size_t k = from; k < offsets.size(); ++k) {
    *out = 0xdeadbeef;
    unsigned* p = (unsigned*)(at[s.target] + offsets[k]);
    if (s.write)
      probe_write<<<1, 1>>>(p, out);
    else
      probe<<<1, 1>>>(p, out);
    cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) {
      fprintf(to, "F %zu %s\n", k, cudaGetErrorName(e));
      fflush(to);
      _exit(0);
    }
    fprintf(to, "R %zu %08x\n", k, *out);
  }
  fflush(to);
  _exit(0);
}

void run(const Job& job) {
  const Scenario& s = scenarios[job.scenario];
  size_t next = 0;
  int broken = 0;
  while (next < job.offsets.size() && broken < 3) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > limit_s) {
      std::lock_guard<std::mutex> l(mutex);
      fprintf(results, "%s,%s,,stopped\n", s.name.c_str(), job.side.c_str());
      return;
    }
    int fds[2];
    pid_t pid;
    {
      std::lock_guard<std::mutex> l(mutex);
      if (pipe(fds)) return;
      pid = fork();
      if (pid == 0) {
        close(fds[0]);
        child(s, job.offsets, next, fds[1]);
      }
      close(fds[1]);
    }
    FILE* in = fdopen(fds[0], "r");
    char line[4096];
    const size_t before = next;
    while (fgets(line, sizeof line, in)) {
      line[strcspn(line, "\n")] = 0;
      std::lock_guard<std::mutex> l(mutex);
      size_t k;
      char word[64];
      if (line[0] == 'A' || line[0] == 'E')
        fprintf(results, "%s,%s,,%s\n", s.name.c_str(), job.side.c_str(), line);
      else if (sscanf(line, "%*c %zu %63s", &k, word) == 2) {
        fprintf(results, "%s,%s,%lld,%s %s\n", s.name.c_str(), job.side.c_str(), job.offsets[k],
                line[0] == 'R' ? "read" : "fault", word);
        next = k + 1;
      }
      fflush(results);
    }
    fclose(in);
    int status;
    waitpid(pid, &status, 0);
    if (next == before) ++broken;
  }
}

int main(int argc, char** argv) {
  results = argc > 1 ? fopen(argv[1], "w") : stdout;
  const int workers = argc > 2 ? atoi(argv[2]) : 6;
  start = std::chrono::steady_clock::now();
  fprintf(results, "scenario,side,offset,result\n");
  auto add = [&](std::string name, std::vector<Step> steps, int target, i64 size, bool write = false) {
    scenarios.push_back({name, steps, target, write});
    Job low{(int)scenarios.size() - 1, "before", {}}, high{(int)scenarios.size() - 1, "after", {}};
    for (i64 d = 4; d <= 64 * M; d *= 2) low.offsets.push_back(-d);
    high.offsets.push_back(size);
    for (i64 d = 4; d <= 64 * M; d *= 2) high.offsets.push_back(size + d);
    jobs.push_back(low);
    jobs.push_back(high);
  };
  // First what Rodinia's srad_v2 does, then sizes of first allocations, then later ones.
  add("first 16M", {{'a', 16 * M, 0}}, 0, 16 * M);
  add("first 4", {{'a', 4, 0}}, 0, 4);
  add("first 1M", {{'a', M, 0}}, 0, M);
  add("first 2M", {{'a', 2 * M, 0}}, 0, 2 * M);
  add("first 3M", {{'a', 3 * M, 0}}, 0, 3 * M);
  add("first 64M", {{'a', 64 * M, 0}}, 0, 64 * M);
  add("first 1G", {{'a', G, 0}}, 0, G);
  add("second 16M after 4", {{'a', 4, 0}, {'a', 16 * M, 0}}, 1, 16 * M);
  add("second 4 after 16M", {{'a', 16 * M, 0}, {'a', 4, 0}}, 1, 4);
  add("second 16M after 16M", {{'a', 16 * M, 0}, {'a', 16 * M, 0}}, 1, 16 * M);
  add("middle of three 16M", {{'a', 16 * M, 0}, {'a', 16 * M, 0}, {'a', 16 * M, 0}}, 1, 16 * M);
  add("third 4", {{'a', 4, 0}, {'a', 4, 0}, {'a', 4, 0}}, 2, 4);
  add("third 1M", {{'a', M, 0}, {'a', M, 0}, {'a', M, 0}}, 2, M);
  add("freed 16M", {{'a', 16 * M, 0}, {'f', 0, 0}}, 0, 0);
  add("freed 4", {{'a', 4, 0}, {'f', 0, 0}}, 0, 0);
  add("freed 4 beside 4", {{'a', 4, 0}, {'a', 4, 0}, {'f', 0, 1}}, 1, 0);
  add("first 16M after a kernel", {{'k', 0, 0}, {'a', 16 * M, 0}}, 0, 16 * M);
  add("first 4K", {{'a', 4 * K, 0}}, 0, 4 * K);
  add("first 64K", {{'a', 64 * K, 0}}, 0, 64 * K);
  add("first 256M", {{'a', 256 * M, 0}}, 0, 256 * M);
  add("second 3M after 3M", {{'a', 3 * M, 0}, {'a', 3 * M, 0}}, 1, 3 * M);
  add("first 16M, read and written", {{'a', 16 * M, 0}}, 0, 16 * M, true);
  add("managed 4M", {{'m', 4 * M, 0}}, 0, 4 * M);
  // Every 2 MiB around an allocation of 16 MiB, and every 64 KiB of the first 2 MiB.
  {
    Job all{0, "each 2M", {}};
    for (i64 d = 1; d <= 24; ++d) all.offsets.push_back(-d * 2 * M);
    for (i64 d = 0; d <= 24; ++d) all.offsets.push_back(16 * M + d * 2 * M);
    jobs.push_back(all);
    Job one{1, "each 64K", {}};
    for (i64 d = 1; d <= 40; ++d) one.offsets.push_back(-d * 64 * K), one.offsets.push_back(d * 64 * K);
    jobs.push_back(one);
  }
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w)
    threads.emplace_back([&] {
      for (size_t j; (j = next++) < jobs.size();) run(jobs[j]);
    });
  for (auto& t : threads) t.join();
  fprintf(results, "end,,,%.1f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  fclose(results);
}
