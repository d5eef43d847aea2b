"""Device memory for Triton's kernels without torch: NumPy arrays, moved by the driver API, and a driver for Triton that asks
the driver API what it else asks torch. So the scripts here need triton and numpy alone, on the virtual GPU and on a real one."""
import ctypes
import math

import numpy as np
import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.driver import CudaDriver, CudaLauncher, CudaUtils

CAPABILITY_MAJOR, CAPABILITY_MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
_cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    status = getattr(_cuda, name)(*arguments)
    if status:
        text = ctypes.c_char_p()
        _cuda.cuGetErrorName(status, ctypes.byref(text))
        raise RuntimeError(f"{name}: {text.value.decode()}")


def attribute(which):
    value = ctypes.c_int()
    call("cuDeviceGetAttribute", ctypes.byref(value), which, 0)
    return value.value


class Driver(CudaDriver):
    """Triton's own, but for the four questions that it puts to torch."""

    def __init__(self):
        call("cuInit", 0)
        context = ctypes.c_void_p()
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        call("cuCtxSetCurrent", context)
        self.utils = CudaUtils()
        self.launcher_cls = CudaLauncher
        self.capability = attribute(CAPABILITY_MAJOR), attribute(CAPABILITY_MINOR)
        self.get_device_capability = lambda device: self.capability
        self.get_current_stream = lambda device: 0
        self.get_current_device = lambda: 0
        self.set_current_device = lambda device: None

    def get_current_target(self):
        return GPUTarget("cuda", self.capability[0] * 10 + self.capability[1], 32)


class Array:
    """`data` (any NumPy array, or a shape and a type) in device memory. `name` is the type that Triton sees: NumPy has no
    bfloat16 and no float8, which are the bits of an unsigned integer here."""

    def __init__(self, data, name=None):
        self.host = np.ascontiguousarray(data)
        self.dtype = name or self.host.dtype.name
        self.shape = self.host.shape
        self.bytes = max(1, self.host.nbytes)
        self.pointer = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(self.pointer), ctypes.c_size_t(self.bytes))
        call("cuMemcpyHtoD_v2", self.pointer, self.host.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(self.host.nbytes))

    def data_ptr(self):
        return self.pointer.value

    def get(self):
        out = np.empty_like(self.host)
        call("cuMemcpyDtoH_v2", out.ctypes.data_as(ctypes.c_void_p), self.pointer, ctypes.c_size_t(out.nbytes))
        return out

    def stride(self, dimension):
        return self.host.strides[dimension] // self.host.itemsize


def zeros(shape, dtype, name=None):
    return Array(np.zeros(shape, dtype), name)


def scratch(size, alignment, stream):
    """Allocator of scratch memory for kernels (triton.set_allocator)."""
    return zeros(math.ceil(size), np.int8)


def bfloat16(values):
    """The bits of the nearest bfloat16 of each float, ties to even."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def start():
    triton.runtime.driver.set_active(Driver())
    triton.set_allocator(scratch)
