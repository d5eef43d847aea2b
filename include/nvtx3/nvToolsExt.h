// NVTX, the ranges and marks by which tools know the parts of a program (NVTX documentation, "C API Reference"). Ranges
// go to warpgrind's runtime library; where that is not linked, and for what it does not show (marks, names), nothing
// happens.
#ifndef NVTOOLSEXT_V3
#define NVTOOLSEXT_V3
#define NVTX_VERSION 3

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_INITIALIZER_INLINE inline
#define NVTX_DECLSPEC
#define NVTX_API

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;
typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st* nvtxStringHandle_t;
typedef union nvtxMessageValue_t {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#ifdef __cplusplus
extern "C" {
#endif
int warpgrind_nvtx_push(nvtxDomainHandle_t domain, int32_t type, const void* text) __attribute__((weak));
int warpgrind_nvtx_pop(nvtxDomainHandle_t domain) __attribute__((weak));
nvtxRangeId_t warpgrind_nvtx_start(int32_t type, const void* text) __attribute__((weak));
void warpgrind_nvtx_end(nvtxRangeId_t id) __attribute__((weak));
#ifdef __cplusplus
}
#endif
#ifdef UNICODE
#define nvtxRangePush nvtxRangePushW
#define nvtxMark nvtxMarkW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxDomainCreate nvtxDomainCreateW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#define nvtxDomainNameCategory nvtxDomainNameCategoryW
#else
#define nvtxRangePush nvtxRangePushA
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#endif

#define WG_NVTX static inline __attribute__((unused))
WG_NVTX void nvtxInitialize(const void* reserved) {
  (void)reserved;
}
#define WG_NVTX_NOTHING(name, type) \
  WG_NVTX void name(type v) {       \
    (void)v;                        \
  }
WG_NVTX_NOTHING(nvtxMarkA, const char*)
WG_NVTX_NOTHING(nvtxMarkW, const wchar_t*)
WG_NVTX_NOTHING(nvtxMarkEx, const nvtxEventAttributes_t*)
WG_NVTX_NOTHING(nvtxDomainDestroy, nvtxDomainHandle_t)
#undef WG_NVTX_NOTHING
// Ranges of a thread, which nest, those of each domain by themselves; and of the process, which any thread may end.
WG_NVTX int wg_nvtx_push(nvtxDomainHandle_t domain, int32_t type, const void* text) {
  return warpgrind_nvtx_push ? warpgrind_nvtx_push(domain, type, text) : NVTX_NO_PUSH_POP_TRACKING;
}
WG_NVTX nvtxRangeId_t wg_nvtx_start(int32_t type, const void* text) {
  return warpgrind_nvtx_start ? warpgrind_nvtx_start(type, text) : 0;
}
WG_NVTX int nvtxRangePushA(const char* text) {
  return wg_nvtx_push(0, NVTX_MESSAGE_TYPE_ASCII, text);
}
WG_NVTX int nvtxRangePushW(const wchar_t* text) {
  return wg_nvtx_push(0, NVTX_MESSAGE_TYPE_UNICODE, text);
}
WG_NVTX int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return attributes ? wg_nvtx_push(domain, attributes->messageType, attributes->message.ascii)
                    : wg_nvtx_push(domain, NVTX_MESSAGE_UNKNOWN, 0);
}
WG_NVTX int nvtxRangePushEx(const nvtxEventAttributes_t* attributes) {
  return nvtxDomainRangePushEx(0, attributes);
}
WG_NVTX int nvtxDomainRangePop(nvtxDomainHandle_t domain) {
  return warpgrind_nvtx_pop ? warpgrind_nvtx_pop(domain) : NVTX_NO_PUSH_POP_TRACKING;
}
WG_NVTX int nvtxRangePop(void) {
  return nvtxDomainRangePop(0);
}
WG_NVTX nvtxRangeId_t nvtxRangeStartA(const char* text) {
  return wg_nvtx_start(NVTX_MESSAGE_TYPE_ASCII, text);
}
WG_NVTX nvtxRangeId_t nvtxRangeStartW(const wchar_t* text) {
  return wg_nvtx_start(NVTX_MESSAGE_TYPE_UNICODE, text);
}
WG_NVTX nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* attributes) {
  return attributes ? wg_nvtx_start(attributes->messageType, attributes->message.ascii)
                    : wg_nvtx_start(NVTX_MESSAGE_UNKNOWN, 0);
}
WG_NVTX void nvtxRangeEnd(nvtxRangeId_t id) {
  if (warpgrind_nvtx_end) warpgrind_nvtx_end(id);
}
#define WG_NVTX_NAME(name, type, text)        \
  WG_NVTX void name(type id, const text* n) { \
    (void)id;                                 \
    (void)n;                                  \
  }
WG_NVTX_NAME(nvtxNameOsThreadA, uint32_t, char)
WG_NVTX_NAME(nvtxNameOsThreadW, uint32_t, wchar_t)
WG_NVTX_NAME(nvtxNameCategoryA, uint32_t, char)
WG_NVTX_NAME(nvtxNameCategoryW, uint32_t, wchar_t)
#undef WG_NVTX_NAME
WG_NVTX nvtxDomainHandle_t nvtxDomainCreateA(const char* name) {
  return (nvtxDomainHandle_t)(const void*)name;
}
WG_NVTX nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t* name) {
  return (nvtxDomainHandle_t)(const void*)name;
}
// A registered string of ours is its text, which the caller keeps.
WG_NVTX nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char* text) {
  (void)domain;
  return (nvtxStringHandle_t)(const void*)text;
}
// A wide one is kept in UTF-8: a handle does not say what it is. NVTX has no call that gives it back.
WG_NVTX nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t* text) {
  size_t length = 0, at = 0;
  char* narrow;
  (void)domain;
  while (text && text[length]) length++;
  narrow = (char*)malloc(4 * length + 1);
  if (!narrow) return 0;
  for (size_t i = 0; i < length; i++) {
    const uint32_t c = (uint32_t)text[i];
    if (c < 0x80) {
      narrow[at++] = (char)c;
    } else {
      const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
      narrow[at++] = (char)((0xff00u >> (more + 1) & 0xffu) | c >> 6 * more);
      for (int k = more - 1; k >= 0; k--) narrow[at++] = (char)(0x80 | (c >> 6 * k & 0x3f));
    }
  }
  narrow[at] = 0;
  return (nvtxStringHandle_t)(void*)narrow;
}
WG_NVTX nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  (void)domain;
  return nvtxRangeStartEx(attributes);
}
WG_NVTX void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  (void)domain;
  nvtxRangeEnd(id);
}
WG_NVTX void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  (void)domain;
  nvtxMarkEx(attributes);
}
#define WG_NVTX_DOMAIN_NAME(name, text)                                      \
  WG_NVTX void name(nvtxDomainHandle_t domain, uint32_t id, const text* n) { \
    (void)domain;                                                            \
    (void)id;                                                                \
    (void)n;                                                                 \
  }
WG_NVTX_DOMAIN_NAME(nvtxDomainNameCategoryA, char)
WG_NVTX_DOMAIN_NAME(nvtxDomainNameCategoryW, wchar_t)
#undef WG_NVTX_DOMAIN_NAME
#undef WG_NVTX

#endif
