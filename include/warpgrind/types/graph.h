// Part of driver_types.h: graphs and their nodes.
#pragma once

typedef enum cudaUserObjectFlags { cudaUserObjectNoDestructorSync = 0x1 } cudaUserObjectFlags;
typedef enum cudaUserObjectRetainFlags { cudaGraphUserObjectMove = 0x1 } cudaUserObjectRetainFlags;
typedef enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel = 0x00,
  cudaGraphNodeTypeMemcpy = 0x01,
  cudaGraphNodeTypeMemset = 0x02,
  cudaGraphNodeTypeHost = 0x03,
  cudaGraphNodeTypeGraph = 0x04,
  cudaGraphNodeTypeEmpty = 0x05,
  cudaGraphNodeTypeWaitEvent = 0x06,
  cudaGraphNodeTypeEventRecord = 0x07,
  cudaGraphNodeTypeExtSemaphoreSignal = 0x08,
  cudaGraphNodeTypeExtSemaphoreWait = 0x09,
  cudaGraphNodeTypeMemAlloc = 0x0a,
  cudaGraphNodeTypeMemFree = 0x0b,
  cudaGraphNodeTypeConditional = 0x0d,
  cudaGraphNodeTypeCount
} cudaGraphNodeType;

typedef struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned int sharedMemBytes;
  void** kernelParams;
  void** extra;
} cudaKernelNodeParams, cudaKernelNodeParamsV2;
typedef struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void* userData;
} cudaHostNodeParams, cudaHostNodeParamsV2;
typedef struct cudaMemcpyNodeParams {
  int flags;
  int reserved[3];
  cudaMemcpy3DParms copyParams;
} cudaMemcpyNodeParams;
typedef struct cudaMemAllocNodeParams {
  cudaMemPoolProps poolProps;
  const cudaMemAccessDesc* accessDescs;
  size_t accessDescCount, bytesize;
  void* dptr;
} cudaMemAllocNodeParams, cudaMemAllocNodeParamsV2;
typedef struct cudaMemFreeNodeParams {
  void* dptr;
} cudaMemFreeNodeParams;
typedef enum cudaGraphChildGraphNodeOwnership {
  cudaGraphChildGraphOwnershipClone = 0,
  cudaGraphChildGraphOwnershipMove = 1
} cudaGraphChildGraphNodeOwnership;
typedef struct cudaChildGraphNodeParams {
  cudaGraph_t graph;
  cudaGraphChildGraphNodeOwnership ownership;
} cudaChildGraphNodeParams;
typedef struct cudaEventRecordNodeParams {
  cudaEvent_t event;
} cudaEventRecordNodeParams, cudaEventWaitNodeParams;
typedef struct cudaExternalSemaphoreSignalNodeParams {
  cudaExternalSemaphore_t* extSemArray;
  const cudaExternalSemaphoreSignalParams* paramsArray;
  unsigned int numExtSems;
} cudaExternalSemaphoreSignalNodeParams, cudaExternalSemaphoreSignalNodeParamsV2;
typedef struct cudaExternalSemaphoreWaitNodeParams {
  cudaExternalSemaphore_t* extSemArray;
  const cudaExternalSemaphoreWaitParams* paramsArray;
  unsigned int numExtSems;
} cudaExternalSemaphoreWaitNodeParams, cudaExternalSemaphoreWaitNodeParamsV2;
typedef enum cudaGraphConditionalHandleFlags { cudaGraphCondAssignDefault = 1 } cudaGraphConditionalHandleFlags;
typedef enum cudaGraphConditionalNodeType {
  cudaGraphCondTypeIf = 0,
  cudaGraphCondTypeWhile = 1,
  cudaGraphCondTypeSwitch = 2
} cudaGraphConditionalNodeType;
typedef struct cudaConditionalNodeParams {
  cudaGraphConditionalHandle handle;
  cudaGraphConditionalNodeType type;
  unsigned int size;
  cudaGraph_t* phGraph_out;
} cudaConditionalNodeParams;
typedef struct cudaGraphNodeParams {
  cudaGraphNodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    cudaKernelNodeParamsV2 kernel;
    cudaMemcpyNodeParams memcpy;
    cudaMemsetParamsV2 memset;
    cudaHostNodeParamsV2 host;
    cudaChildGraphNodeParams graph;
    cudaEventWaitNodeParams eventWait;
    cudaEventRecordNodeParams eventRecord;
    cudaExternalSemaphoreSignalNodeParamsV2 extSemSignal;
    cudaExternalSemaphoreWaitNodeParamsV2 extSemWait;
    cudaMemAllocNodeParamsV2 alloc;
    cudaMemFreeNodeParams free;
    cudaConditionalNodeParams conditional;
  };
  long long reserved2;
} cudaGraphNodeParams;

typedef enum cudaGraphDependencyType_enum {
  cudaGraphDependencyTypeDefault = 0,
  cudaGraphDependencyTypeProgrammatic = 1
} cudaGraphDependencyType;
#define cudaGraphKernelNodePortDefault 0
#define cudaGraphKernelNodePortProgrammatic 1
#define cudaGraphKernelNodePortLaunchCompletion 2
typedef struct cudaGraphEdgeData_st {
  unsigned char from_port, to_port, type, reserved[5];
} cudaGraphEdgeData;

typedef enum cudaGraphInstantiateResult {
  cudaGraphInstantiateSuccess = 0,
  cudaGraphInstantiateError = 1,
  cudaGraphInstantiateInvalidStructure = 2,
  cudaGraphInstantiateNodeOperationNotSupported = 3,
  cudaGraphInstantiateMultipleDevicesNotSupported = 4,
  cudaGraphInstantiateConditionalHandleUnused = 5
} cudaGraphInstantiateResult;
typedef struct cudaGraphInstantiateParams_st {
  unsigned long long flags;
  cudaStream_t uploadStream;
  cudaGraphNode_t errNode_out;
  cudaGraphInstantiateResult result_out;
} cudaGraphInstantiateParams;
typedef enum cudaGraphInstantiateFlags {
  cudaGraphInstantiateFlagAutoFreeOnLaunch = 1,
  cudaGraphInstantiateFlagUpload = 2,
  cudaGraphInstantiateFlagDeviceLaunch = 4,
  cudaGraphInstantiateFlagUseNodePriority = 8
} cudaGraphInstantiateFlags;
typedef enum cudaGraphExecUpdateResult {
  cudaGraphExecUpdateSuccess = 0,
  cudaGraphExecUpdateError = 1,
  cudaGraphExecUpdateErrorTopologyChanged = 2,
  cudaGraphExecUpdateErrorNodeTypeChanged = 3,
  cudaGraphExecUpdateErrorFunctionChanged = 4,
  cudaGraphExecUpdateErrorParametersChanged = 5,
  cudaGraphExecUpdateErrorNotSupported = 6,
  cudaGraphExecUpdateErrorUnsupportedFunctionChange = 7,
  cudaGraphExecUpdateErrorAttributesChanged = 8
} cudaGraphExecUpdateResult;
typedef struct cudaGraphExecUpdateResultInfo_st {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;
typedef enum cudaGraphKernelNodeField {
  cudaGraphKernelNodeFieldInvalid = 0,
  cudaGraphKernelNodeFieldGridDim,
  cudaGraphKernelNodeFieldParam,
  cudaGraphKernelNodeFieldEnabled
} cudaGraphKernelNodeField;
typedef struct cudaGraphKernelNodeUpdate {
  cudaGraphDeviceNode_t node;
  cudaGraphKernelNodeField field;
  union {
    dim3 gridDim;
    struct {
      const void* pValue;
      size_t offset, size;
    } param;
    unsigned int isEnabled;
  } updateData;
} cudaGraphKernelNodeUpdate;
typedef enum cudaGraphDebugDotFlags {
  cudaGraphDebugDotFlagsVerbose = 1 << 0,
  cudaGraphDebugDotFlagsKernelNodeParams = 1 << 2,
  cudaGraphDebugDotFlagsMemcpyNodeParams = 1 << 3,
  cudaGraphDebugDotFlagsMemsetNodeParams = 1 << 4,
  cudaGraphDebugDotFlagsHostNodeParams = 1 << 5,
  cudaGraphDebugDotFlagsEventNodeParams = 1 << 6,
  cudaGraphDebugDotFlagsExtSemasSignalNodeParams = 1 << 7,
  cudaGraphDebugDotFlagsExtSemasWaitNodeParams = 1 << 8,
  cudaGraphDebugDotFlagsKernelNodeAttributes = 1 << 9,
  cudaGraphDebugDotFlagsHandles = 1 << 10,
  cudaGraphDebugDotFlagsConditionalNodeParams = 1 << 15
} cudaGraphDebugDotFlags;
