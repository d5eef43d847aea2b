// Part of driver_types.h: memory, copies, pools, managed memory.
#pragma once

typedef enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
} cudaMemoryType;
typedef enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
} cudaMemcpyKind;
typedef struct cudaPitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
} cudaPitchedPtr;
typedef struct cudaExtent {
  size_t width, height, depth;
} cudaExtent;
typedef struct cudaPos {
  size_t x, y, z;
} cudaPos;
typedef struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
} cudaMemcpy3DParms;
typedef struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  int srcDevice;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  int dstDevice;
  cudaExtent extent;
} cudaMemcpy3DPeerParms;
typedef struct cudaMemsetParams {
  void* dst;
  size_t pitch;
  unsigned int value, elementSize;
  size_t width, height;  // width in elements
} cudaMemsetParams, cudaMemsetParamsV2;
typedef struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
  long reserved[8];
} cudaPointerAttributes;

typedef enum cudaMemLocationType {
  cudaMemLocationTypeInvalid = 0,
  cudaMemLocationTypeNone = 0,
  cudaMemLocationTypeDevice = 1,
  cudaMemLocationTypeHost = 2,
  cudaMemLocationTypeHostNuma = 3,
  cudaMemLocationTypeHostNumaCurrent = 4
} cudaMemLocationType;
typedef struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
} cudaMemLocation;
typedef enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3,
  cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5,
  cudaMemAdviseUnsetAccessedBy = 6
} cudaMemoryAdvise;
typedef enum cudaMemRangeAttribute {
  cudaMemRangeAttributeReadMostly = 1,
  cudaMemRangeAttributePreferredLocation = 2,
  cudaMemRangeAttributeAccessedBy = 3,
  cudaMemRangeAttributeLastPrefetchLocation = 4,
  cudaMemRangeAttributePreferredLocationType = 5,
  cudaMemRangeAttributePreferredLocationId = 6,
  cudaMemRangeAttributeLastPrefetchLocationType = 7,
  cudaMemRangeAttributeLastPrefetchLocationId = 8
} cudaMemRangeAttribute;

// ---- Stream-ordered memory
typedef enum cudaMemAccessFlags {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3
} cudaMemAccessFlags;
typedef struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
} cudaMemAccessDesc;
typedef enum cudaMemAllocationType {
  cudaMemAllocationTypeInvalid = 0,
  cudaMemAllocationTypePinned = 1,
  cudaMemAllocationTypeManaged = 2,
  cudaMemAllocationTypeMax = 0x7fffffff
} cudaMemAllocationType;
typedef enum cudaMemAllocationHandleType {
  cudaMemHandleTypeNone = 0,
  cudaMemHandleTypePosixFileDescriptor = 1,
  cudaMemHandleTypeWin32 = 2,
  cudaMemHandleTypeWin32Kmt = 4,
  cudaMemHandleTypeFabric = 8
} cudaMemAllocationHandleType;
typedef struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;
  cudaMemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
} cudaMemPoolProps;
typedef struct cudaMemPoolPtrExportData {
  unsigned char reserved[64];
} cudaMemPoolPtrExportData;
typedef enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8
} cudaMemPoolAttr;
typedef enum cudaGraphMemAttributeType {
  cudaGraphMemAttrUsedMemCurrent = 0,
  cudaGraphMemAttrUsedMemHigh = 1,
  cudaGraphMemAttrReservedMemCurrent = 2,
  cudaGraphMemAttrReservedMemHigh = 3
} cudaGraphMemAttributeType;

// ---- Batched copies
typedef enum cudaMemcpyFlags { cudaMemcpyFlagDefault = 0, cudaMemcpyFlagPreferOverlapWithCompute = 1 } cudaMemcpyFlags;
typedef enum cudaMemcpySrcAccessOrder {
  cudaMemcpySrcAccessOrderInvalid = 0,
  cudaMemcpySrcAccessOrderStream = 1,
  cudaMemcpySrcAccessOrderDuringApiCall = 2,
  cudaMemcpySrcAccessOrderAny = 3,
  cudaMemcpySrcAccessOrderMax = 0x7fffffff
} cudaMemcpySrcAccessOrder;
typedef struct cudaMemcpyAttributes {
  cudaMemcpySrcAccessOrder srcAccessOrder;
  cudaMemLocation srcLocHint, dstLocHint;
  unsigned int flags;
} cudaMemcpyAttributes;
typedef enum cudaMemcpy3DOperandType {
  cudaMemcpyOperandTypePointer = 1,
  cudaMemcpyOperandTypeArray = 2,
  cudaMemcpyOperandTypeMax = 0x7fffffff
} cudaMemcpy3DOperandType;
typedef struct cudaOffset3D {
  size_t x, y, z;
} cudaOffset3D;
typedef struct cudaMemcpy3DOperand {
  cudaMemcpy3DOperandType type;
  union {
    struct {
      void* ptr;
      size_t rowLength, layerHeight;
      cudaMemLocation locHint;
    } ptr;
    struct {
      cudaArray_t array;
      cudaOffset3D offset;
    } array;
  } op;
} cudaMemcpy3DOperand;
typedef struct cudaMemcpy3DBatchOp {
  cudaMemcpy3DOperand src, dst;
  cudaExtent extent;
  cudaMemcpySrcAccessOrder srcAccessOrder;
  unsigned int flags;
} cudaMemcpy3DBatchOp;
