// Multimem addresses: those of a multicast object, which stands for memory of several GPUs. The functions of the driver
// API are found at run time, so that the program needs no other library.
#include <cuda.h>

#include "cases.h"

constexpr size_t kPage = 2 << 20;

template <class F>
static F driver_function(const char* name, F) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion(name, &function, 12010, cudaEnableDefault, &found);
  return reinterpret_cast<F>(function);
}
#define DRIVER(name) driver_function(#name, static_cast<decltype(&name)>(nullptr))

// A page of memory of the GPU, and a multicast object of this GPU with it.
struct Object {
  CUmemGenericAllocationHandle memory = 0, object = 0;
  CUdeviceptr plain = 0, multimem = 0;

  explicit Object(bool bound = true) {
    cudaFree(nullptr);
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmulticastObjectProp of_object = {};
    of_object.numDevices = 1;
    of_object.size = kPage;
    DRIVER(cuMemCreate)(&memory, kPage, &properties, 0);
    DRIVER(cuMulticastCreate)(&object, &of_object);
    DRIVER(cuMulticastAddDevice)(object, 0);
    if (bound) DRIVER(cuMulticastBindMem)(object, 0, memory, 0, kPage, 0);
    plain = map(memory);
    multimem = map(object);
    cudaMemset(reinterpret_cast<void*>(plain), 0, kPage);
  }
  ~Object() {
    for (const CUdeviceptr at : {plain, multimem}) {
      DRIVER(cuMemUnmap)(at, kPage);
      DRIVER(cuMemAddressFree)(at, kPage);
    }
    DRIVER(cuMemRelease)(object);
    DRIVER(cuMemRelease)(memory);
  }
  static CUdeviceptr map(CUmemGenericAllocationHandle handle) {
    CUdeviceptr at = 0;
    CUmemAccessDesc access = {};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER(cuMemAddressReserve)(&at, kPage, 0, 0, 0);
    DRIVER(cuMemMap)(at, kPage, 0, handle, 0);
    DRIVER(cuMemSetAccess)(at, kPage, &access, 1);
    return at;
  }
};

#define MULTIMEM_ADD(at, value) \
  asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory")

__global__ void plain_read_of_multimem(const unsigned* multimem, unsigned* out) {
  out[threadIdx.x] = multimem[threadIdx.x];  //! C371 ERROR multimem-address thread=0,0,0 access=read bytes=4 count=32
}
CASE(C371, "a multimem address is read by a plain load") {
  Object object;
  unsigned* out = cases::zeros<unsigned>(32);
  plain_read_of_multimem<<<1, 32>>>(reinterpret_cast<unsigned*>(object.multimem), out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void multimem_of_plain(unsigned* plain) {
  MULTIMEM_ADD(plain + threadIdx.x, 1);  //! C372 ERROR not-multimem thread=0,0,0 bytes=4 count=32
}
CASE(C372, "multimem.red on the address of plain memory") {
  unsigned* plain = cases::zeros<unsigned>(32);
  multimem_of_plain<<<1, 32>>>(plain);
  cudaDeviceSynchronize();
  cudaFree(plain);
}

__global__ void multimem_unbound(unsigned* multimem) {
  MULTIMEM_ADD(multimem + threadIdx.x, 1);  //! C373 ERROR not-multimem thread=0,0,0 bytes=4 count=32
}
CASE(C373, "multimem.red where no memory is bound to the multicast object") {
  Object object(false);
  multimem_unbound<<<1, 32>>>(reinterpret_cast<unsigned*>(object.multimem));
  cudaDeviceSynchronize();
}

// The plain store and the reduction meet in the same memory, at different addresses.
__global__ void multimem_meets_store(unsigned* multimem, unsigned* plain) {
  if (threadIdx.x == 0 && blockIdx.x == 0) plain[0] = 5;               //! C374 ERROR race-global
  if (threadIdx.x == 0 && blockIdx.x == 1) MULTIMEM_ADD(multimem, 1);  //! C374 ERROR race-global
}
CASE(C374, "a plain store and multimem.red of another block to the same memory") {
  Object object;
  multimem_meets_store<<<2, 32>>>(reinterpret_cast<unsigned*>(object.multimem),
                                  reinterpret_cast<unsigned*>(object.plain));
  cudaDeviceSynchronize();
}

__global__ void multimem_all_right(unsigned* multimem, const unsigned* plain, unsigned* out) {
  MULTIMEM_ADD(multimem + threadIdx.x, 1);
  MULTIMEM_ADD(multimem, 1);
  out[threadIdx.x] = plain[threadIdx.x + 1024];
}
CASE(C375, "multimem.red of many threads, and plain reads of other words") {  //! C375 clean
  Object object;
  unsigned* out = cases::zeros<unsigned>(32);
  multimem_all_right<<<4, 32>>>(reinterpret_cast<unsigned*>(object.multimem), reinterpret_cast<unsigned*>(object.plain),
                                out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
