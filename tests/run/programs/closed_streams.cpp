// Output of a program whose standard streams may be closed; with a second argument it closes them itself. It writes
// into the file of its first argument what they are, and whether memory of the GPU changed when it wrote to them. That
// memory is a file, opened after the program's start.
#include <cuda.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

static CUdeviceptr mapped_memory(size_t bytes) {
  CUmemAllocationProp what{};
  what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle memory = 0;
  CUdeviceptr at = 0;
  CUmemAccessDesc access{};
  access.location = what.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const bool good = cuMemCreate(&memory, bytes, &what, 0) == CUDA_SUCCESS &&
                    cuMemAddressReserve(&at, bytes, 0, 0, 0) == CUDA_SUCCESS &&
                    cuMemMap(at, bytes, 0, memory, 0) == CUDA_SUCCESS &&
                    cuMemSetAccess(at, bytes, &access, 1) == CUDA_SUCCESS;
  return good ? at : 0;
}

static std::string stream(int number) {
  char path[64] = "", target[256] = "";
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", number);
  return ::readlink(path, target, sizeof target - 1) < 0 ? "closed" : target;
}

int main(int argc, char** argv) {
  for (int number = 0; number < 3 && argc > 2; number++) ::close(number);
  constexpr size_t kBytes = size_t{2} << 20;
  CUdevice device = 0;
  CUcontext context = nullptr;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxPushCurrent(context);
  const CUdeviceptr memory = mapped_memory(kBytes);
  char before[16] = "as it was", after[16] = "";
  cuMemcpyHtoD(memory, before, sizeof before);
  for (int number = 1; number < 3; number++)
    if (::write(number, "output of the program\n", 22) < 0) continue;  // closed
  cuMemcpyDtoH(after, memory, sizeof after);
  std::string streams;
  for (int number = 0; number < 3; number++) streams += std::to_string(number) + ": " + stream(number) + "\n";
  FILE* const answer = std::fopen(argv[1], "w");
  std::fputs(streams.c_str(), answer);
  std::fprintf(answer, "memory: %s\n", memory && std::memcmp(before, after, sizeof before) == 0 ? "kept" : "changed");
  std::fclose(answer);
  return 0;
}
