// Launches in named ranges. The names come in every form of NVTX: text and registered strings, narrow and wide; ranges
// of the process, which another thread ends; ranges of two domains that do not nest. Returns the number of wrong
// values.
#include <nvtx3/nvToolsExt.h>

#include <thread>

__global__ void work() {}

static void push_in_domain(nvtxDomainHandle_t domain, nvtxStringHandle_t name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = name;
  nvtxDomainRangePushEx(domain, &attributes);
  work<<<1, 32>>>();
  nvtxDomainRangePop(domain);
}

int main() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("tests");
  push_in_domain(domain, nvtxDomainRegisterStringA(domain, "registered, narrow"));
  push_in_domain(domain, nvtxDomainRegisterStringW(domain, L"registered, wide"));
  nvtxRangePushA("narrow");
  nvtxRangePushW(L"wide");
  work<<<1, 32>>>();
  nvtxRangePop();
  nvtxRangePop();
  int wrong = cudaDeviceSynchronize() != cudaSuccess;

  const nvtxRangeId_t first = nvtxRangeStartA("first"), second = nvtxRangeStartW(L"second");
  wrong += first == second;
  nvtxRangePushA("mine");
  work<<<1, 32>>>();
  std::thread([&] {
    nvtxRangeEnd(first);  // before the second; the other thread's own ranges stay
    work<<<1, 32>>>();
  }).join();
  work<<<1, 32>>>();
  wrong += nvtxRangePop() != 0;
  nvtxRangeEnd(second);
  nvtxRangeEnd(second);  // a second time, then a range that never existed
  nvtxRangeEnd(12345);

  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "of the domain";
  wrong += nvtxDomainRangePushEx(domain, &attributes) != 0;
  wrong += nvtxRangePushA("of none") != 0;
  wrong += nvtxDomainRangePop(domain) != 0;
  work<<<1, 32>>>();
  wrong += nvtxDomainRangePop(domain) >= 0;
  wrong += nvtxRangePop() != 0;
  const nvtxRangeId_t in_domain = nvtxDomainRangeStartEx(domain, &attributes);
  work<<<1, 32>>>();
  nvtxDomainRangeEnd(domain, in_domain);
  work<<<1, 32>>>();
  nvtxMarkA("nothing to see");
  return wrong + (cudaDeviceSynchronize() != cudaSuccess);
}
