# What the language has beside: scans, sorts, histograms, random numbers, the device library, inline PTX, narrow types, printing.
# want elementwise: launches = 1
# output language: equal
import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice

import device


@triton.jit
def largest(a, b):
    return tl.maximum(a, b)


@triton.jit
def whole_block(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, tl.cumsum(v, axis=0))
    tl.store(out + N + i, tl.associative_scan(v, 0, largest))
    tl.store(out + 2 * N + i, tl.sort(v))
    tl.store(out + 3 * N + i, tl.histogram(v & 15, N))
    tl.store(out + 4 * N + i, tl.flip(v, 0))
    tl.store(out + 5 * N + i, tl.gather(v, N - 1 - i, axis=0))
    tl.store(out + 6 * N + i, tl.argmax(v, axis=0) + tl.xor_sum(v, axis=0))
    tl.store(out + 7 * N + i, tl.reduce(v, 0, largest) + tl.min(v, axis=0))
    wide = tl.reshape(v, (N // 16, 16))
    tl.store(out + 8 * N + i, tl.reshape(tl.trans(wide), (N, )))
    tl.store(out + 9 * N + i, tl.randint(7, i))


@triton.jit
def elementwise(x, out, N: tl.constexpr):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    v = tl.load(x + i, eviction_policy="evict_last") + tl.load(x + i, cache_modifier=".cg") * 0
    tl.store(out + i, tl.exp(v) + tl.log(v + 3) + tl.sin(v) * tl.cos(v))
    tl.store(out + N + i, libdevice.tanh(v) + libdevice.pow(v + 2, 1.5) + libdevice.erf(v))
    tl.store(out + 2 * N + i, tl.rsqrt(v + 3) + tl.sqrt(v + 3) + tl.fma(v, v, v) + tl.floor(v) + tl.abs(v))
    tl.store(out + 3 * N + i,
             tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=r,r", [v], dtype=tl.float32, is_pure=True, pack=1))
    tl.store(out + 4 * N + i, libdevice.atan2(v, v + 3) + libdevice.log1p(v + 1.5) + libdevice.cbrt(v) + libdevice.lgamma(v + 2))


@triton.jit
def narrow(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, v.to(tl.float8e5).to(tl.float32))
    tl.store(out + N + i, v.to(tl.bfloat16).to(tl.float32))
    tl.store(out + 2 * N + i, v.to(tl.float16).to(tl.float32) + v.to(tl.float16, fp_downcast_rounding="rtz").to(tl.float32))
    tl.store(out + 3 * N + i, v.to(tl.int8).to(tl.float32) + tl.abs(v).to(tl.uint8).to(tl.float32))


@triton.jit
def atomics(counts, values, n, N: tl.constexpr):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    inside = i < n
    v = tl.load(values + i, mask=inside, other=0)
    tl.atomic_add(counts + v, 1, mask=inside)
    one = tl.zeros([128], dtype=tl.int32) + N
    tl.atomic_max(counts + one, v, mask=inside, sem="relaxed")
    tl.atomic_or(counts + one + 1, 1 << v, mask=inside)
    if tl.program_id(0) == 0:
        tl.device_print("first", tl.load(values))


device.start()
random = np.random.default_rng(5)
N = 256
x = random.integers(0, 1000, N).astype(np.int32)
out = device.zeros((10, N), np.int32)
whole_block[(1, )](device.Array(x), out, N=N)
got = out.get()
expected = [np.cumsum(x), np.maximum.accumulate(x), np.sort(x), np.bincount(x & 15, minlength=N), x[::-1], x[::-1],
            np.full(N, x.argmax() + np.bitwise_xor.reduce(x)), np.full(N, x.max() + x.min()), x.reshape(N // 16, 16).T.ravel()]
for line, one in enumerate(expected):
    assert (got[line] == one).all(), line
print("random", got[9][:4].tolist(), int(np.bitwise_xor.reduce(got[9])))

values = random.uniform(-1, 1, 1024).astype(np.float32)
out = device.zeros((5, 1024), np.float32)
elementwise[(4, )](device.Array(values), out, N=1024)
got, v = out.get(), values.astype(np.float64)
erf, lgamma = (np.vectorize(getattr(__import__("math"), name)) for name in ("erf", "lgamma"))
assert np.allclose(got[0], np.exp(v) + np.log(v + 3) + np.sin(v) * np.cos(v), rtol=1e-5, atol=1e-6)
assert np.allclose(got[1], np.tanh(v) + (v + 2)**1.5 + erf(v), rtol=1e-5, atol=1e-6)
assert np.allclose(got[2], 1 / np.sqrt(v + 3) + np.sqrt(v + 3) + v * v + v + np.floor(v) + abs(v), rtol=1e-5, atol=1e-6)
assert np.allclose(got[3], np.tanh(v), atol=1e-3)
assert np.allclose(got[4], np.arctan2(v, v + 3) + np.log1p(v + 1.5) + np.cbrt(v) + lgamma(v + 2), rtol=1e-5, atol=1e-5)

values = (random.standard_normal(N) * 3).astype(np.float32)
out = device.zeros((4, N), np.float32)
narrow[(1, )](device.Array(values), out, N=N)
got = out.get()
halves = values.astype(np.float16)
assert (got[1].view(np.uint32) >> 16 == device.bfloat16(values)).all()
toward_zero = np.where(abs(halves.astype(np.float32)) > abs(values), np.nextafter(halves, np.float16(0)), halves)
assert (got[2] == halves.astype(np.float32) + toward_zero.astype(np.float32)).all()
assert (abs(got[0] - values) <= abs(values) / 8 + 1e-6).all()
assert (got[3] == values.astype(np.int8) + abs(values).astype(np.uint8).astype(np.float32)).all()

n = 1000
values = random.integers(0, 16, n).astype(np.int32)
counts = device.zeros(18, np.int32)
atomics[(triton.cdiv(n, 128), )](counts, device.Array(values), n, N=16)
got = counts.get()
assert (got[:16] == np.bincount(values, minlength=16)).all() and got[16] == values.max()
assert got[17] == np.bitwise_or.reduce(1 << values)
print("language: equal")
