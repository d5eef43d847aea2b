// Texture objects that free themselves, over linear memory, pitched memory and arrays of floats.
#pragma once

#include <cstring>
#include <vector>

#include "harness/cuda.h"

struct Sampling {
  cudaTextureAddressMode address = cudaAddressModeClamp;
  cudaTextureFilterMode filter = cudaFilterModePoint;
  bool normalised = false;  // coordinates from 0 to 1; wrap and mirror require it
};

class Texture {
 public:
  Texture(const cudaResourceDesc& resource, const Sampling& sampling) {
    cudaTextureDesc description;
    std::memset(&description, 0, sizeof description);
    for (auto& mode : description.addressMode) mode = sampling.address;
    description.filterMode = sampling.filter;
    description.readMode = cudaReadModeElementType;
    description.normalizedCoords = sampling.normalised;
    CHECK_CUDA(cudaCreateTextureObject(&object_, &resource, &description, nullptr));
  }
  ~Texture() { cudaDestroyTextureObject(object_); }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;
  operator cudaTextureObject_t() const { return object_; }

 private:
  cudaTextureObject_t object_ = 0;
};

inline cudaResourceDesc resource_of(cudaResourceType type) {
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof resource);
  resource.resType = type;
  return resource;
}

inline cudaResourceDesc linear_resource(lab::DeviceArray<float>& data) {
  cudaResourceDesc resource = resource_of(cudaResourceTypeLinear);
  resource.res.linear.devPtr = data.data();
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = data.bytes();
  return resource;
}

// Linear memory whose row pitch suits the texture units (cudaMallocPitch).
class Pitched {
 public:
  Pitched(const std::vector<float>& host, size_t width, size_t height) : width_(width), height_(height) {
    CHECK_CUDA(cudaMallocPitch(&data_, &pitch_, width * sizeof(float), height));
    CHECK_CUDA(cudaMemcpy2D(data_, pitch_, host.data(), width * sizeof(float), width * sizeof(float), height,
                            cudaMemcpyHostToDevice));
  }
  ~Pitched() { cudaFree(data_); }
  Pitched(const Pitched&) = delete;
  Pitched& operator=(const Pitched&) = delete;
  cudaResourceDesc resource() const {
    cudaResourceDesc resource = resource_of(cudaResourceTypePitch2D);
    resource.res.pitch2D = {data_, cudaCreateChannelDesc<float>(), width_, height_, pitch_};
    return resource;
  }

 private:
  size_t width_, height_, pitch_ = 0;
  void* data_ = nullptr;
};

// Texture memory in the hardware's own layout. Height 0 is a one-dimensional array.
class Array {
 public:
  Array(const std::vector<float>& host, size_t width, size_t height, unsigned flags = 0) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK_CUDA(cudaMallocArray(&array_, &format, width, height, flags));
    const size_t row = width * sizeof(float);
    CHECK_CUDA(cudaMemcpy2DToArray(array_, 0, 0, host.data(), row, row, height ? height : 1, cudaMemcpyHostToDevice));
  }
  ~Array() { cudaFreeArray(array_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  cudaResourceDesc resource() const {
    cudaResourceDesc resource = resource_of(cudaResourceTypeArray);
    resource.res.array.array = array_;
    return resource;
  }

 private:
  cudaArray_t array_ = nullptr;
};
