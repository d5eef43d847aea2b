# Calls of the driver API that fail: lookups of functions, as clients try them, and an error.
import ctypes

import driver

driver.start()
found, state = ctypes.c_void_p(), ctypes.c_int()
for name in b"cuNosuchFunction", b"cuMemAlloc":
    for function in "cuGetProcAddress_v2", "cuGetProcAddress":
        print(getattr(driver.cuda, function)(name, ctypes.byref(found), 99999 if function.endswith("v2") else 13000, ctypes.c_uint64(0), ctypes.byref(state)))
driver.cuda.cuMemAlloc_v2(ctypes.byref(found), ctypes.c_size_t(0))
