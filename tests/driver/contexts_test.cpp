// Primary contexts and contexts that the program creates.
#include <thread>

#include "driver_test.h"

namespace warpgrind::driver {

namespace {

CUcontext current() {
  CUcontext context = nullptr;
  OK(cuCtxGetCurrent(&context));
  return context;
}

class Contexts : public testing::Test {
 protected:
  Contexts() { test::without_context(); }
};
using InContext = test::WithContext;

}  // namespace

TEST_F(Contexts, ArePushedWhenCreated) {
  CUcontext first = nullptr, second = nullptr, popped = nullptr;
  EXPECT_EQ(current(), nullptr);
  OK(cuCtxCreate_v2(&first, 0, 0));
  OK(cuCtxCreate_v3(&second, nullptr, 0, CU_CTX_SCHED_YIELD, 1));
  EXPECT_EQ(current(), second);
  OK(cuCtxPopCurrent(&popped));
  EXPECT_EQ(popped, second);
  EXPECT_EQ(current(), first);
  OK(cuCtxPushCurrent(second));
  CUdevice device = -1;
  OK(cuCtxGetDevice(&device));
  EXPECT_EQ(device, 1);
  OK(cuCtxGetDevice_v2(&device, first));
  EXPECT_EQ(device, 0);
  OK(cuCtxDestroy(second));
  EXPECT_EQ(current(), first);
  FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxPushCurrent(second));
  FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSetCurrent(second));
  FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxGetDevice_v2(&device, second));
  OK(cuCtxDestroy(first));
  FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxDestroy(first));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&popped));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetDevice(&device));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetDevice_v2(&device, nullptr));
}

TEST_F(Contexts, RefuseWhatIsNone) {
  CUcontext context = nullptr;
  CUcontext const none = reinterpret_cast<CUcontext>(&context);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxCreate_v2(nullptr, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxCreate_v2(&context, 0x1000, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxCreate_v2(&context, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, 0));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&context, nullptr, 0, 2));
  CUexecAffinityParam affinity{};
  FAILS(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, cuCtxCreate_v3(&context, &affinity, 1, 0, 0));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate_v2(&context, 0x1000, 9));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxDestroy(nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxPushCurrent(nullptr));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(none));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(none));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(none));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxGetCurrent(nullptr));
}

TEST_F(Contexts, AreSetAndTakenAway) {
  CUcontext first = nullptr, second = nullptr;
  OK(cuCtxCreate_v2(&first, 0, 0));
  OK(cuCtxCreate_v2(&second, 0, 1));
  OK(cuCtxSetCurrent(first));  // replaces the second, which is no longer on the stack
  EXPECT_EQ(current(), first);
  OK(cuCtxSetCurrent(nullptr));
  EXPECT_EQ(current(), first);  // the context that was created first
  OK(cuCtxSetCurrent(nullptr));
  EXPECT_EQ(current(), nullptr);
  OK(cuCtxSetCurrent(second));
  EXPECT_EQ(current(), second);
}

// Symbols that programs of the first releases of the driver API link.
#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
TEST_F(Contexts, OfCuda2) {
  CUcontext context = nullptr, same = nullptr;
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&context, 0, 3));
  OK(cuCtxCreate(&context, 0, 0));
  OK(cuCtxAttach(&same, 0));
  EXPECT_EQ(context, same);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxAttach(&same, 1));
  OK(cuCtxDetach(context));
  EXPECT_EQ(current(), context);
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(nullptr));
  OK(cuCtxPopCurrent(&same));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&same));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxPushCurrent(nullptr));
  OK(cuCtxPushCurrent(context));
  OK(cuCtxDestroy(context));
  FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxDestroy(context));
  EXPECT_EQ(current(), nullptr);
  OK(cuCtxCreate(&context, 0, 0));
  OK(cuCtxDetach(context));  // the last use ends
  EXPECT_EQ(current(), nullptr);
}
#define cuCtxDestroy cuCtxDestroy_v2

TEST_F(InContext, OtherThreadsHaveNone) {
  std::thread([&] {
    EXPECT_EQ(current(), nullptr);
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    OK(cuCtxSetCurrent(context));
    OK(cuCtxSynchronize());
  }).join();
  EXPECT_EQ(current(), context);
}

TEST_F(InContext, IsStillCurrentWhereItWasDestroyed) {
  CUcontext other = nullptr;
  OK(cuCtxCreate_v2(&other, 0, 1));
  std::thread([&] { OK(cuCtxDestroy(other)); }).join();
  EXPECT_EQ(current(), other);
  FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
  FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemFree(0));
  CUdevice device = -1;
  unsigned flags = 9;
  OK(cuCtxGetDevice(&device));
  EXPECT_EQ(device, 1);
  OK(cuCtxGetFlags(&flags));
  EXPECT_EQ(flags, 0u);
  OK(cuCtxSetCurrent(context));
}

TEST_F(InContext, HasFlagsAndIds) {
  CUcontext other = nullptr;
  unsigned flags = 99, version = 0;
  OK(cuCtxCreate_v4(&other, nullptr, CU_CTX_SCHED_BLOCKING_SYNC, 0));
  OK(cuCtxGetFlags(&flags));
  EXPECT_EQ(flags & CU_CTX_SCHED_MASK, unsigned{CU_CTX_SCHED_BLOCKING_SYNC});
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxGetFlags(nullptr));
  OK(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
  OK(cuCtxGetFlags(&flags));
  EXPECT_EQ(flags & CU_CTX_SCHED_MASK, unsigned{CU_CTX_SCHED_SPIN});
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxSetFlags(0x4000));
  unsigned long long first = 0, second = 0, mine = 0;
  OK(cuCtxGetId(context, &first));
  OK(cuCtxGetId(other, &second));
  OK(cuCtxGetId(nullptr, &mine));
  EXPECT_NE(first, second);
  EXPECT_EQ(mine, second);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxGetId(context, nullptr));
  OK(cuCtxGetApiVersion(context, &version));
  EXPECT_GE(version, 3010u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxGetApiVersion(context, nullptr));
  OK(cuCtxDestroy(other));
  CUctxCigParam graphics{};
  CUctxCreateParams parameters{};
  parameters.cigParams = &graphics;
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuCtxCreate_v4(&other, &parameters, 0, 0));
}

TEST_F(InContext, HasLimitsAndSettings) {
  size_t value = 0;
  OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(value, 4096u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE));
  OK(cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE));
  EXPECT_EQ(value, size_t{132} << 16);
  FAILS(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 4096));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1 << 30));
  FAILS(CUDA_ERROR_NOT_PERMITTED, cuCtxSetLimit(CU_LIMIT_SHMEM_SIZE, 1));
  OK(cuCtxGetLimit(&value, CU_LIMIT_SHMEM_SIZE));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit(CU_LIMIT_MAX, 1));
  CUfunc_cache cache{};
  OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  OK(cuCtxGetCacheConfig(&cache));
  EXPECT_EQ(cache, CU_FUNC_CACHE_PREFER_L1);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxGetCacheConfig(nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxSetCacheConfig(static_cast<CUfunc_cache>(9)));
  CUsharedconfig shared{};
  OK(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE));
  OK(cuCtxGetSharedMemConfig(&shared));
  EXPECT_EQ(shared, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxGetSharedMemConfig(nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(9)));
  int least = 1, greatest = 1;
  OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT_GE(least, greatest);
  OK(cuCtxResetPersistingL2Cache());
  CUexecAffinityParam affinity{};
  OK(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
  EXPECT_EQ(affinity.param.smCount.val, 132u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxGetExecAffinity(nullptr, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
  OK(cuCtxSynchronize());
  OK(cuCtxSynchronize_v2(context));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize_v2(reinterpret_cast<CUcontext>(&value)));
  OK(cuProfilerStart());
  OK(cuProfilerStop());
}

TEST_F(InContext, SeesPeersWhenItAsks) {
  CUcontext other = nullptr, sibling = nullptr;
  OK(cuCtxCreate_v2(&sibling, 0, 0));
  OK(cuCtxCreate_v2(&other, 0, 1));
  OK(cuCtxSetCurrent(context));
  OK(cuCtxEnablePeerAccess(other, 0));
  FAILS(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(other, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxEnablePeerAccess(other, 1));
  FAILS(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(context, 0));
  FAILS(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(sibling, 0));
  OK(cuCtxDisablePeerAccess(other));
  FAILS(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(other));
}

// Retaining it again after that returns the same handle.
TEST_F(Contexts, OfDevicesEndWithTheirLastUse) {
  CUcontext primary = nullptr, own = nullptr;
  CUdeviceptr a = 0, b = 0;
  int active = -1;
  OK(cuCtxCreate_v2(&own, 0, 1));  // a separate context
  OK(cuMemAlloc(&b, 64));
  OK(cuDevicePrimaryCtxGetState(1, nullptr, &active));
  EXPECT_EQ(active, 0);
  OK(cuDevicePrimaryCtxRetain(&primary, 1));
  OK(cuCtxSetCurrent(primary));
  OK(cuMemAlloc(&a, 64));
  OK(cuDevicePrimaryCtxRelease(1));
  FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
  EXPECT_EQ(current(), primary);
  OK(cuCtxSetCurrent(own));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(a));  // freed with its context
  OK(cuMemFree(b));
  OK(cuDevicePrimaryCtxRetain(&primary, 1));
  OK(cuCtxSetCurrent(primary));
  OK(cuCtxSynchronize());
  OK(cuDevicePrimaryCtxReset(1));
  OK(cuDevicePrimaryCtxGetState(1, nullptr, &active));
  EXPECT_EQ(active, 0);
  FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&a, 64));
  OK(cuDevicePrimaryCtxRelease(1));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(1));
  OK(cuCtxDestroy(own));
}

// Events, streams and functions carry their contexts.
TEST_F(InContext, NeedNotBeCurrentForHandles) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUcontext popped = nullptr;
  OK(cuStreamCreate(&stream, 0));
  OK(cuEventCreate(&event, 0));
  OK(cuEventRecord(event, stream));
  OK(cuCtxPopCurrent_v2(&popped));
  OK(cuStreamSynchronize(stream));
  OK(cuEventSynchronize(event));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuStreamSynchronize(nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventSynchronize(nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(stream, nullptr, 9));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(&stream, 9));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuStreamCreate(&stream, 0));
  OK(cuCtxSetCurrent(context));
  OK(cuStreamDestroy(stream));
  OK(cuEventDestroy(event));
}

TEST_F(Contexts, OfDevicesAreRetained) {
  CUcontext first = nullptr, again = nullptr;
  unsigned flags = 99;
  int active = -1;
  OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
  EXPECT_EQ(active, 0);
  EXPECT_EQ(flags, 0u);
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(1));
  OK(cuDevicePrimaryCtxSetFlags(1, CU_CTX_SCHED_SPIN));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDevicePrimaryCtxSetFlags(1, 0x10000));
  OK(cuDevicePrimaryCtxRetain(&first, 1));
  OK(cuDevicePrimaryCtxRetain(&again, 1));
  EXPECT_EQ(first, again);
  EXPECT_EQ(current(), nullptr);  // it does not become current
  OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
  EXPECT_EQ(active, 1);
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_SPIN});
  OK(cuCtxSetCurrent(first));
  CUdevice device = -1;
  OK(cuCtxGetDevice(&device));
  EXPECT_EQ(device, 1);
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(first));
  OK(cuDevicePrimaryCtxRelease(1));
  OK(cuDevicePrimaryCtxRelease(1));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(1));
  OK(cuDevicePrimaryCtxReset(1));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxReset(2));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRetain(&first, 2));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxGetState(2, &flags, &active));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDevicePrimaryCtxSetFlags(1, CU_CTX_MAP_HOST));
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxSetFlags
#undef cuDevicePrimaryCtxReset
  OK(cuDevicePrimaryCtxSetFlags(1, 0));
  OK(cuDevicePrimaryCtxRetain(&first, 1));
  FAILS(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, cuDevicePrimaryCtxSetFlags(1, 0));
  OK(cuDevicePrimaryCtxRelease(1));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(1));
  OK(cuDevicePrimaryCtxReset(1));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxReset(-1));
}

}  // namespace warpgrind::driver
