# 64 x 64 points in blocks of 16 x 16 with a border in shared memory.
# want blur: launches = 1
# want blur: launch__shared_mem_per_block_static = 1296
# want blur: warpgrind__flop_fp32.sum = 20480
import numpy as np
from numba import cuda, float32


@cuda.jit
def blur(image, out):
    tile = cuda.shared.array((18, 18), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    width, height = image.shape[1], image.shape[0]
    tile[ty, tx] = image[y, x]
    if tx == 1:
        tile[ty, 0] = image[y, max(x - 1, 0)]
    if tx == 16:
        tile[ty, 17] = image[y, min(x + 1, width - 1)]
    if ty == 1:
        tile[0, tx] = image[max(y - 1, 0), x]
    if ty == 16:
        tile[17, tx] = image[min(y + 1, height - 1), x]
    cuda.syncthreads()
    out[y, x] = (tile[ty, tx] + tile[ty, tx - 1] + tile[ty, tx + 1] + tile[ty - 1, tx] + tile[ty + 1, tx]) * float32(0.25)


image = np.random.default_rng(2).integers(0, 100, (64, 64)).astype(np.float32)
out = cuda.device_array_like(image)
blur[(4, 4), (16, 16)](cuda.to_device(image), out)
edge = np.pad(image, 1, mode="edge")
want = (edge[1:-1, 1:-1] + edge[1:-1, :-2] + edge[1:-1, 2:] + edge[:-2, 1:-1] + edge[2:, 1:-1]) * np.float32(0.25)
assert (out.copy_to_host() == want).all()
