#ifndef __DEVICE_TYPES_H__
#define __DEVICE_TYPES_H__
#include "host_defines.h"
typedef enum cudaRoundMode {
  cudaRoundNearest = 0,
  cudaRoundZero = 1,
  cudaRoundPosInf = 2,
  cudaRoundMinInf = 3
} cudaRoundMode;
#endif
