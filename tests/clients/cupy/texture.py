# Textures and surfaces through cupy.cuda.texture.
import numpy as np
import cupy as cp
from cupy.cuda import texture as tex
from cupy.cuda import runtime as rt

module = cp.RawModule(code=r"""
extern "C" __global__ void fetch(cudaTextureObject_t t, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}
extern "C" __global__ void between(cudaTextureObject_t t, float* out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = tex2D<float>(t, i + 1.0f, 1.0f);
}
extern "C" __global__ void linear(cudaTextureObject_t t, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(t, n - 1 - i);
}
extern "C" __global__ void write(cudaSurfaceObject_t s, int width, int height) {
  int x = threadIdx.x, y = threadIdx.y;
  if (x < width && y < height) surf2Dwrite(float(10 * y + x), s, x * 4, y);
}
""")
width, height = 24, 8
image = np.arange(width * height, dtype=np.float32).reshape(height, width)
channel = tex.ChannelFormatDescriptor(32, 0, 0, 0, rt.cudaChannelFormatKindFloat)


def object_of(array, mode=rt.cudaFilterModePoint):
    return tex.TextureObject(tex.ResourceDescriptor(rt.cudaResourceTypeArray, cuArr=array),
                             tex.TextureDescriptor((rt.cudaAddressModeClamp,) * 2, mode, rt.cudaReadModeElementType))


array = tex.CUDAarray(channel, width, height)
array.copy_from(image)
out = cp.zeros((height, width), np.float32)
module.get_function("fetch")((2, 2), (16, 4), (object_of(array), out, width, height))
np.testing.assert_array_equal(out.get(), image)
between = cp.zeros(width - 1, np.float32)
module.get_function("between")((1,), (32,), (object_of(array, rt.cudaFilterModeLinear), between, width - 1))
np.testing.assert_array_equal(between.get(), (image[0, :-1] + image[0, 1:] + image[1, :-1] + image[1, 1:]) / 4)

flat = cp.asarray(image.ravel())
resource = tex.ResourceDescriptor(rt.cudaResourceTypeLinear, arr=flat, chDesc=channel, sizeInBytes=flat.nbytes)
linear = cp.empty_like(flat)
module.get_function("linear")((6,), (32,), (tex.TextureObject(resource, tex.TextureDescriptor()), linear, flat.size))
np.testing.assert_array_equal(linear.get(), image.ravel()[::-1])

target = tex.CUDAarray(channel, width, height, 0, rt.cudaArraySurfaceLoadStore)
surface = tex.SurfaceObject(tex.ResourceDescriptor(rt.cudaResourceTypeArray, cuArr=target))
module.get_function("write")((1,), (width, height), (surface, width, height))
back = np.empty((height, width), np.float32)
target.copy_to(back)
np.testing.assert_array_equal(back, 10 * np.arange(height)[:, None] + np.arange(width))
print("good")
