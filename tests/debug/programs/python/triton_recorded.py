# Launches kernels of triton_rows.py from the PTX that Triton 3.6 made of them for an H200: row_sum.ptx, add.ptx. For machines without Triton.
import ctypes
import pathlib

import driver

HERE = pathlib.Path(__file__).resolve().parent


def code(name):
    return (HERE / f"{name}.ptx").read_text().replace("/work/main/add_rows.py", str(HERE / "triton_rows.py")).encode()


driver.start()
none = ctypes.c_uint64(0)  # Triton's scratch memory, which these kernels do not use
x, y, out = driver.floats(range(1000)), driver.floats([1] * 1000), driver.floats([0] * 1000)
driver.launch(driver.function(code("add"), b"add"), 4, 128, x, y, out, ctypes.c_int(1000), none, none)
print(driver.read(out, 5))
sums = driver.floats([0] * 4)
driver.launch(driver.function(code("row_sum"), b"row_sum"), 4, 128, x, sums, ctypes.c_int(250), none, none, shared=16)
print(driver.read(sums, 4))
