# Loads CUDA before any test, as conftest files of GPU projects do. A session that loads this without the virtual GPU has no GPU.
import ctypes

try:
    ctypes.CDLL("libcuda.so.1").cuInit(0)
    HAS_GPU = True
except OSError:
    HAS_GPU = False
