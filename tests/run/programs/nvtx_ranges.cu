// Launches in named ranges, whose names come in every form that NVTX has: text and registered strings, narrow and wide.
#include <nvtx3/nvToolsExt.h>

__global__ void work() {}

static void in_domain(nvtxDomainHandle_t domain, nvtxStringHandle_t name) {
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
  in_domain(domain, nvtxDomainRegisterStringA(domain, "registered, narrow"));
  in_domain(domain, nvtxDomainRegisterStringW(domain, L"registered, wide"));
  nvtxRangePushA("narrow");
  nvtxRangePushW(L"wide");
  work<<<1, 32>>>();
  nvtxRangePop();
  nvtxRangePop();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
