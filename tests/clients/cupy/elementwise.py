# What CuPy generates by itself: ufuncs, broadcasting, indexing, fusion, its own elementwise kernels.
import numpy as np
import cupy as cp

rng = np.random.default_rng(1)
x = rng.standard_normal((37, 53)).astype(np.float32)
y = rng.standard_normal((53,)).astype(np.float32)
X, Y = cp.asarray(x), cp.asarray(y)


def same(got, want, rtol=1e-6):
    np.testing.assert_allclose(cp.asnumpy(got), want, rtol=rtol, atol=rtol)


for name in "add subtract multiply maximum hypot copysign logaddexp less_equal".split():
    same(getattr(cp, name)(X, Y), getattr(np, name)(x, y), 1e-5)
for name in "sin exp tanh sqrt log1p floor sign isnan cbrt expm1 arctan".split():
    same(getattr(cp, name)(cp.abs(X)), getattr(np, name)(np.abs(x)), 1e-5)
for dtype in "?bBhHiIlLqQefdFD":
    a, b = (np.arange(1, 40).astype(dtype) for _ in range(2))
    same(cp.asarray(a) * cp.asarray(b[::-1].copy()) + cp.asarray(b), a * b[::-1] + b, 1e-2 if dtype == "e" else 1e-6)
i = np.arange(-500, 500, 7)
same(cp.asarray(i) // 13, i // 13)
same(cp.asarray(i) % -13, i % -13)
same(cp.asarray(i) >> 2, i >> 2)
z = x[:, 0] + 1j * x[:, 1]
same(cp.exp(cp.asarray(z)) * cp.asarray(z).conj(), np.exp(z) * z.conj(), 1e-5)

same(X[::3, ::-2], x[::3, ::-2])
same(X[X > 0], x[x > 0])
take = rng.integers(0, 37, 20)
same(X[cp.asarray(take)], x[take])
same(X.take(cp.asarray(take), axis=0).T, x[take].T)
w, W = x.copy(), X.copy()
w[5:9, 3] = 7
W[5:9, 3] = 7
w[[1, 2], [3, 4]] = y[:2]
W[[1, 2], [3, 4]] = Y[:2]
w[w < -1] = 0
W[W < -1] = 0
same(W, w)
n, N = np.zeros(10, np.int32), cp.zeros(10, np.int32)
np.add.at(n, take % 10, 1)
cp.add.at(N, cp.asarray(take % 10), 1)
same(N, n)
same(cp.where(X > 0, X, Y), np.where(x > 0, x, y))
same(cp.concatenate([X, X[::-1]], axis=1), np.concatenate([x, x[::-1]], axis=1))
same(cp.asarray(x).astype(np.float16).astype(np.float64), x.astype(np.float16).astype(np.float64))

squared_difference = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference")
same(squared_difference(X, Y), (x - y) ** 2, 1e-5)
shift = cp.ElementwiseKernel("raw T x, int32 n", "T y", "y = x[(i + n) % _ind.size()]", "shift")
same(shift(Y, 3, cp.empty_like(Y)), np.roll(y, -3))


@cp.fuse(kernel_name="fused")
def fused(a, b):
    return cp.sqrt(a * a + b * b) - 1


same(fused(X, Y), np.sqrt(x * x + y * y) - 1, 1e-5)


@cp.fuse()
def fused_sum(a, b):
    return cp.sum(a * b, axis=1)


same(fused_sum(X, cp.broadcast_to(Y, X.shape)), (x * y).sum(axis=1), 1e-4)
print("good")
