"""The few calls of the driver API and of NVRTC that these programs need, by ctypes."""
import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")


def check(result, what):
    if result:
        sys.exit(f"{what}: {result}")


def start():
    context = ctypes.c_void_p()
    check(cuda.cuInit(0), "cuInit")
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), "cuDevicePrimaryCtxRetain")
    check(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")


def function(code, name):
    module, found = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuModuleLoadData(ctypes.byref(module), code), "cuModuleLoadData")
    check(cuda.cuModuleGetFunction(ctypes.byref(found), module, name), "cuModuleGetFunction")
    return found


def floats(values):
    """Device memory with these values."""
    memory = ctypes.c_uint64()
    host = (ctypes.c_float * len(values))(*values)
    check(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4 * len(values))), "cuMemAlloc")
    check(cuda.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(4 * len(values))), "cuMemcpyHtoD")
    return memory


def read(memory, count):
    host = (ctypes.c_float * count)()
    check(cuda.cuMemcpyDtoH_v2(host, memory, ctypes.c_size_t(4 * count)), "cuMemcpyDtoH")
    return list(host)


def launch(kernel, blocks, threads, *arguments, shared=0):
    pointers = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(a) for a in arguments])
    check(cuda.cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, shared, None, pointers, None), "cuLaunchKernel")
    check(cuda.cuCtxSynchronize(), "cuCtxSynchronize")


def compile_text(text, name, options, headers):
    """PTX, or a cubin if an option names machine code (sm_NN)."""
    nvrtc = ctypes.CDLL("libnvrtc.so.13")
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    names, texts = ([s.encode() for s in part] for part in (headers, headers.values()))
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), len(names), (ctypes.c_char_p * len(names))(*texts),
                                   (ctypes.c_char_p * len(names))(*names)), "nvrtcCreateProgram")
    words = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    check(nvrtc.nvrtcCompileProgram(program, len(options), words), "nvrtcCompileProgram")
    what = "CUBIN" if any("sm_" in o for o in options) else "PTX"
    check(getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)), "size")
    code = ctypes.create_string_buffer(size.value)
    check(getattr(nvrtc, f"nvrtcGet{what}")(program, code), "code")
    return code
