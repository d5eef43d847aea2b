// What nvcc learns of its host compiler; clang is its own.
#ifndef __HOST_CONFIG_H__
#define __HOST_CONFIG_H__
#include "../host_defines.h"
#endif
