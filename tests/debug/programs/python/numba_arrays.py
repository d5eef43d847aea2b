# A kernel of numba-cuda with a device function, for python_test.py. Where numba-cuda is not installed, numba_recorded.py launches the PTX
# that it made of this file (numba_arrays.ptx, by `numba_arrays.py FILE`). So its lines must stay where they are.
import sys
import warnings

import numpy as np
from numba import cuda

warnings.simplefilter("ignore")
if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack  # numba-cuda 0.30 needs it, and numpy 2.5 has it no longer


@cuda.jit(device=True, debug=True, opt=False)
def weighed(value, factor):
    heavy = value * factor
    return heavy + 1


@cuda.jit(debug=True, opt=False)
def scale(x, y, factor):
    i = cuda.grid(1)
    tile = cuda.shared.array(32, dtype=np.float32)
    if i < x.size:
        v = x[i]
        tile[i % 32] = v
        y[i] = weighed(tile[i % 32], factor)


x = np.arange(64, dtype=np.float32)
y = np.zeros_like(x)
scale[2, 32](x, y, 3)
print(y[:4].tolist())
if len(sys.argv) > 1:
    open(sys.argv[1], "w").write(next(iter(scale.overloads.values()))._codelibrary.get_asm_str())
