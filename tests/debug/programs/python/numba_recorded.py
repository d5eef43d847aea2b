# Launches the kernel of numba_arrays.py from the PTX that numba-cuda 0.30.4 made of it: numba_arrays.ptx. For machines without numba-cuda.
import ctypes
import pathlib
import re

import driver

HERE = pathlib.Path(__file__).resolve().parent
text = re.sub(r'"[^"\n]*/numba_arrays.py"', f'"{HERE / "numba_arrays.py"}"', (HERE / "numba_arrays.ptx").read_text())


def array(memory, count):
    """The parameters of an array: no owner, its size, the size of an element, its memory, shape and strides."""
    return [ctypes.c_uint64(n) for n in (0, 0, count, 4)] + [memory] + [ctypes.c_uint64(n) for n in (count, 4)]


driver.start()
kernel = driver.function(text.encode(), re.search(r"\.entry (\w+)", text)[1].encode())
x, y = driver.floats(range(64)), driver.floats([0] * 64)
driver.launch(kernel, 2, 32, *array(x, 64), *array(y, 64), ctypes.c_uint64(3))
print(driver.read(y, 4))
