"""Launches kernels of PTX text by the driver API."""
import ctypes

# copy: thread i copies word i. strided: word 32 * i. race: threads write and read neighbours' words without a barrier.
# outside: thread i writes word i, and the array is too short.
PTX = b"""
.version 7.0
.target sm_80
.address_size 64

.visible .entry copy(.param .u64 from, .param .u64 to)
{
  .reg .u32 %r<4>;
  .reg .u64 %rd<5>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  ld.global.u32 %r2, [%rd1];
  st.global.u32 [%rd2], %r2;
  ret;
}

.visible .entry strided(.param .u64 from, .param .u64 to)
{
  .reg .u32 %r<4>;
  .reg .u64 %rd<6>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 128;
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd4;
  ld.global.u32 %r2, [%rd1];
  st.global.u32 [%rd2], %r2;
  ret;
}

.visible .entry race(.param .u64 from, .param .u64 to)
{
  .reg .u32 %r<6>;
  .reg .u64 %rd<4>;
  .shared .align 4 .b8 tile[512];
  ld.param.u64 %rd2, [to];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 2;
  add.u32 %r4, %r2, %r3;
  st.shared.u32 [%r4], %r1;
  xor.b32 %r3, %r3, 256;
  add.u32 %r4, %r2, %r3;
  ld.shared.u32 %r5, [%r4];
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd2, %rd2, %rd3;
  st.global.u32 [%rd2], %r5;
  ret;
}
"""

driver = None  # opened by the first test that needs it


def call(name, *arguments):
    error = getattr(driver, name)(*arguments)
    assert error == 0, f"{name}: CUDA error {error}"


class Gpu:
    def __init__(self):
        global driver
        driver = ctypes.CDLL("libcuda.so.1")
        driver.cuMemFree_v2.argtypes = [ctypes.c_uint64]
        self.context, self.module = ctypes.c_void_p(), ctypes.c_void_p()
        call("cuInit", 0)
        call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        call("cuCtxSetCurrent", self.context)
        call("cuModuleLoadData", ctypes.byref(self.module), PTX)

    def array(self, words):
        memory = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(4 * words))
        call("cuMemsetD32_v2", memory, 1, ctypes.c_size_t(words))
        return memory

    def run(self, name, threads, words):
        """Launches a kernel with two arrays and waits for it."""
        function = ctypes.c_void_p()
        call("cuModuleGetFunction", ctypes.byref(function), self.module, name.encode())
        arrays = [self.array(words), self.array(words)]
        arguments = (ctypes.c_void_p * 2)(*(ctypes.cast(ctypes.pointer(a), ctypes.c_void_p) for a in arrays))
        call("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, 0, None, arguments, None)
        call("cuCtxSynchronize")
        for array in arrays:
            call("cuMemFree_v2", array)


_gpu = None


def run(name, threads=64, words=4096):
    global _gpu
    _gpu = _gpu or Gpu()
    _gpu.run(name, threads, words)
