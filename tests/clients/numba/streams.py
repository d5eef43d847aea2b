# want scale: launches = 6
import numpy as np
from numba import cuda


@cuda.jit
def scale(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= factor


n = 10000
streams = [cuda.stream() for _ in range(4)]
host = [cuda.pinned_array(n, np.float32) for _ in streams]
begin, end = cuda.event(), cuda.event()
begin.record(streams[0])
device = []
for k, stream in enumerate(streams):
    host[k][:] = k + 1
    device.append(cuda.to_device(host[k], stream=stream))
    scale[(n + 255) // 256, 256, stream](device[k], k + 0.5)
    device[k].copy_to_host(host[k], stream=stream)
end.record(streams[0])
for stream in streams:
    stream.synchronize()
assert all((host[k] == (k + 1) * (k + 0.5)).all() for k in range(4))
assert cuda.event_elapsed_time(begin, end) > 0

# Device arrays: slices, copies among them, memory that is filled, mapped and managed.
a = cuda.to_device(np.arange(100, dtype=np.int32))
b = cuda.device_array_like(a)
b.copy_to_device(a)
b[10:20] = a[30:40]
got = b.copy_to_host()
assert got[10:20].tolist() == list(range(30, 40)) and got[20:].tolist() == list(range(20, 100))
for memory in (cuda.mapped_array(64, np.float32), cuda.managed_array(64, np.float32)):
    memory[:] = 3
    scale[1, 64](memory, np.float32(2))
    cuda.synchronize()
    assert (memory == 6).all()
