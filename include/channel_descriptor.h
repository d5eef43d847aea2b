// cudaCreateChannelDesc<T>(): the channels of a texel of type T (CUDA Runtime API reference, "C++ API Routines").
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__

#include "cuda_runtime_api.h"

#ifdef __cplusplus
template <class T>
static inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}
#define WG_CHANNELS(type, x, y, z, w, kind)                                \
  template <>                                                              \
  inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<type>() {    \
    return cudaCreateChannelDesc(x, y, z, w, cudaChannelFormatKind##kind); \
  }
#define WG_CHANNELS_OF(type, name, bits, kind) \
  WG_CHANNELS(type, bits, 0, 0, 0, kind)       \
  WG_CHANNELS(name##1, bits, 0, 0, 0, kind)    \
  WG_CHANNELS(name##2, bits, bits, 0, 0, kind) \
  WG_CHANNELS(name##4, bits, bits, bits, bits, kind)
WG_CHANNELS(char, 8, 0, 0, 0, Signed)
WG_CHANNELS_OF(signed char, char, 8, Signed)
WG_CHANNELS_OF(unsigned char, uchar, 8, Unsigned)
WG_CHANNELS_OF(short, short, 16, Signed)
WG_CHANNELS_OF(unsigned short, ushort, 16, Unsigned)
WG_CHANNELS_OF(int, int, 32, Signed)
WG_CHANNELS_OF(unsigned int, uint, 32, Unsigned)
WG_CHANNELS_OF(float, float, 32, Float)
#if !defined(__LP64__)
WG_CHANNELS_OF(long, long, 32, Signed)
WG_CHANNELS_OF(unsigned long, ulong, 32, Unsigned)
#endif
#undef WG_CHANNELS_OF
#undef WG_CHANNELS

static inline __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
static inline __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf1() {
  return cudaCreateChannelDescHalf();
}
static inline __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}
static inline __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}
#endif

#endif
