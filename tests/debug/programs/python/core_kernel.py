# A kernel that cuda.core compiles, for python_test.py.
import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

CODE = '''template <class T>
__global__ void saxpy(T a, const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T product = a * x[i];
  y[i] = product + y[i];
}
'''


def device_memory(values):
    problem, memory = driver.cuMemAlloc(values.nbytes)
    assert problem == 0, problem
    driver.cuMemcpyHtoD(memory, values.ctypes.data, values.nbytes)
    return memory


device = Device()
device.set_current()
stream = device.create_stream()
program = Program(CODE, code_type='c++', options=ProgramOptions(std='c++17', arch=f'sm_{device.arch}'))
kernel = program.compile('cubin', name_expressions=('saxpy<float>',)).get_kernel('saxpy<float>')
x, y = np.arange(64, dtype=np.float32), np.ones(64, dtype=np.float32)
dx, dy = device_memory(x), device_memory(y)
launch(stream, LaunchConfig(grid=2, block=32), kernel, np.float32(2), int(dx), int(dy), np.int32(64))
stream.sync()
driver.cuMemcpyDtoH(y.ctypes.data, dy, y.nbytes)
print(y[:4].tolist())
