// NCCL, loaded at run time: the program starts without it, and a row reports that it is missing. One process drives all
// GPUs.
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace collectives {

class Nccl {
 public:
  Nccl() {
    library_ = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library_) {
      missing_ = "libnccl.so.2 is not installed";
      return;
    }
    load(init_all_, "ncclCommInitAll");
    load(destroy_, "ncclCommDestroy");
    load(begin_, "ncclGroupStart");
    load(end_, "ncclGroupEnd");
    load(all_reduce_, "ncclAllReduce");
    load(text_, "ncclGetErrorString");
  }
  ~Nccl() {
    for (void* comm : comms_) destroy_(comm);
  }
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  const std::string& missing() const { return missing_; }

  // Makes a communicator of the first `devices` GPUs, instead of the one before.
  void use(int devices) {
    if (static_cast<int>(comms_.size()) == devices) return;
    for (void* comm : comms_) check(destroy_(comm), "ncclCommDestroy");
    comms_.assign(devices, nullptr);
    check(init_all_(comms_.data(), devices, nullptr), "ncclCommInitAll");
  }

  // out[d] = the sum of all in[i], on every GPU d.
  void all_reduce(const std::vector<const float*>& in, const std::vector<float*>& out, size_t count,
                  const std::vector<cudaStream_t>& streams) {
    constexpr int kFloat = 7, kSum = 0;  // ncclFloat32, ncclSum
    check(begin_(), "ncclGroupStart");
    for (size_t d = 0; d < comms_.size(); ++d)
      check(all_reduce_(in[d], out[d], count, kFloat, kSum, comms_[d], streams[d]), "ncclAllReduce");
    check(end_(), "ncclGroupEnd");
  }

 private:
  template <class Function>
  void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (!function && missing_.empty()) missing_ = std::string("libnccl.so.2 has no ") + name;
  }
  void check(int error, const char* call) const {
    if (error == 0) return;
    std::fprintf(stderr, "%s: %s\n", call, text_(error));
    std::exit(3);
  }

  void* library_ = nullptr;
  std::string missing_;
  std::vector<void*> comms_;
  int (*init_all_)(void**, int, const int*) = nullptr;
  int (*destroy_)(void*) = nullptr;
  int (*begin_)() = nullptr;
  int (*end_)() = nullptr;
  int (*all_reduce_)(const void*, void*, size_t, int, int, void*, cudaStream_t) = nullptr;
  const char* (*text_)(int) = nullptr;
};

}  // namespace collectives
