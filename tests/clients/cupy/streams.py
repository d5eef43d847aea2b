# Memory of all kinds, streams, events, captured graphs.
import numpy as np
import cupy as cp
import cupyx

pool = cp.get_default_memory_pool()
a = cp.zeros(1 << 20, np.uint8)
assert pool.used_bytes() >= 1 << 20
del a
held = pool.total_bytes()
assert pool.used_bytes() == 0 and held >= 1 << 20
pool.free_all_blocks()
assert pool.total_bytes() == 0
pool.set_limit(size=1 << 20)
try:
    cp.zeros(1 << 21, np.uint8)
except cp.cuda.memory.OutOfMemoryError:
    pass
else:
    raise AssertionError("more than the limit")
pool.set_limit(size=0)

x = np.arange(5000, dtype=np.float64)
for allocator in (cp.cuda.malloc_managed, cp.cuda.malloc_async, cp.cuda.MemoryAsyncPool().malloc, pool.malloc):
    with cp.cuda.using_allocator(cp.cuda.MemoryPool(allocator).malloc if allocator == cp.cuda.malloc_managed else allocator):
        np.testing.assert_array_equal((cp.asarray(x) * 2 + 1).get(), 2 * x + 1)
free, total = cp.cuda.Device().mem_info
assert 0 < free <= total

pinned = cupyx.empty_pinned(5000, np.float64)
pinned[:] = x
stream, other = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream()
done = cp.cuda.Event()
start, stop = cp.cuda.Event(), cp.cuda.Event()
with stream:
    start.record()
    d = cp.empty(5000, np.float64)
    d.set(pinned)
    d += 1
    stop.record()
    done.record()
other.wait_event(done)
with other:
    e = d * 2
    back = e.get(stream=other, blocking=True)
np.testing.assert_array_equal(back, (x + 1) * 2)
stop.synchronize()
assert stop.done and cp.cuda.get_elapsed_time(start, stop) > 0
called = []
stream.launch_host_func(called.append, 3)
stream.synchronize()
assert called == [3]

with stream:
    b = cp.zeros(100, np.int32)
    b += 1  # compiled before the capture
    b -= 1
    stream.synchronize()
    stream.begin_capture()
    assert stream.is_capturing()
    for _ in range(3):
        b += 1
    graph = stream.end_capture()
    for _ in range(4):
        graph.launch(stream)
stream.synchronize()
assert (b.get() == 12).all()

with cp.cuda.Device(0) as device:
    assert device.compute_capability and device.attributes["MultiProcessorCount"] > 0
    device.synchronize()
assert cp.cuda.runtime.getDeviceProperties(0)["totalGlobalMem"] == total
memory = cp.cuda.alloc(64)
memory.memset(0x11, 64)
assert cp.ndarray(16, np.int32, memory)[3] == 0x11111111
print("good")
