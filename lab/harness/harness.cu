// The harness, compiled once for all programs of the lab (harness_inl.h).
#define LAB_INLINE
#include "harness/harness_inl.h"
