// The header that every program of the lab includes. Host side only; kernels need none of it.
#pragma once

#include "harness/clock.h"
#include "harness/cuda.h"
#include "harness/json.h"
#include "harness/program.h"
#include "harness/random.h"
#include "harness/topic.h"
#include "harness/verify.h"

#ifndef LAB_COMPILED_HARNESS
#include "harness/harness_inl.h"
#endif
