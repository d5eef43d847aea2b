#!/usr/bin/env python3
"""Compiles a kernel with NVRTC and launches it through the driver API, as PTX and as a cubin:
`warpgrind run launch.py`. Prints which libnvrtc that was, and `good`."""
import ctypes
import sys

KERNEL = """
#include "factor.h"
namespace app { template <class T> __global__ void scale(T* values, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = values[i] * (T)FACTOR + shift;
} }
"""


def check(result, what):
    if result:
        sys.exit(f"{what}: {result}")


def main():
    nvrtc, cuda = ctypes.CDLL("libnvrtc.so.13"), ctypes.CDLL("libcuda.so.1")
    size, name = ctypes.c_size_t(), ctypes.c_char_p()
    context, stream = ctypes.c_void_p(), None
    check(cuda.cuInit(0), "cuInit")
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), "cuDevicePrimaryCtxRetain")
    check(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    for what in ("PTX", "CUBIN"):
        program = ctypes.c_void_p()
        headers = (ctypes.c_char_p * 1)(b"#define FACTOR 3\nstatic __constant__ float shift;\n")
        check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), KERNEL.encode(), b"scale.cu", 1, headers,
                                       (ctypes.c_char_p * 1)(b"factor.h")), "nvrtcCreateProgram")
        check(nvrtc.nvrtcAddNameExpression(program, b"app::scale<float>"), "nvrtcAddNameExpression")
        options = (ctypes.c_char_p * 2)(b"-arch=compute_80" if what == "PTX" else b"-arch=sm_80", b"-lineinfo")
        check(nvrtc.nvrtcCompileProgram(program, 2, options), "nvrtcCompileProgram")
        check(nvrtc.nvrtcGetLoweredName(program, b"app::scale<float>", ctypes.byref(name)), "nvrtcGetLoweredName")
        check(getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)), "size")
        code = ctypes.create_string_buffer(size.value)
        check(getattr(nvrtc, f"nvrtcGet{what}")(program, code), "code")
        launch(cuda, what, code, name)
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    maps = open("/proc/self/maps").read()
    print("warpgrind's" if "nvrtc/libnvrtc.so.13" in maps and "builtins" not in maps else "NVIDIA's", "good")


def launch(cuda, what, code, name):
    module, function, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    check(cuda.cuModuleLoadData(ctypes.byref(module), code), f"cuModuleLoadData of {what}")
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, name), "cuModuleGetFunction")
    shift, one = ctypes.c_uint64(), ctypes.c_float(1)
    check(cuda.cuModuleGetGlobal_v2(ctypes.byref(shift), None, module, b"shift"), "cuModuleGetGlobal")
    check(cuda.cuMemcpyHtoD_v2(shift, ctypes.byref(one), ctypes.c_size_t(4)), "cuMemcpyHtoD of a constant")
    count = 1000
    values = (ctypes.c_float * count)(*range(count))
    check(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4 * count)), "cuMemAlloc")
    check(cuda.cuMemcpyHtoD_v2(memory, values, ctypes.c_size_t(4 * count)), "cuMemcpyHtoD")
    number = ctypes.c_int(count)
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(memory), ctypes.addressof(number))
    check(cuda.cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, None, arguments, None), "cuLaunchKernel")
    check(cuda.cuCtxSynchronize(), "cuCtxSynchronize")
    check(cuda.cuMemcpyDtoH_v2(values, memory, ctypes.c_size_t(4 * count)), "cuMemcpyDtoH")
    wrong = [i for i in range(count) if values[i] != 3 * i + 1]
    check(bool(wrong), f"{what}: wrong values, the first at {wrong[:1]}")
    check(cuda.cuMemFree_v2(memory), "cuMemFree")
    check(cuda.cuModuleUnload(module), "cuModuleUnload")


if __name__ == "__main__":
    main()
