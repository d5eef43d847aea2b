# Reductions, scans and what is made of them.
import numpy as np
import cupy as cp

rng = np.random.default_rng(2)
x = rng.standard_normal((70, 33, 5))
X = cp.asarray(x)


def same(got, want, rtol=1e-10):
    np.testing.assert_allclose(cp.asnumpy(got), want, rtol=rtol, atol=rtol)


for name in "sum prod max min argmax argmin mean var std any all ptp".split():
    for axis in (None, 0, 1, 2, -1):
        same(getattr(cp, name)(X, axis=axis), getattr(np, name)(x, axis=axis))
same(X.sum(axis=(0, 2), keepdims=True), x.sum(axis=(0, 2), keepdims=True))
same(cp.sum(X[::2, :, ::-1], axis=1), x[::2, :, ::-1].sum(axis=1))
for dtype in (np.int8, np.int32, np.uint64, np.float16, np.float32, np.complex64, np.bool_):
    a = (rng.integers(0, 3, 3000)).astype(dtype)
    same(cp.asarray(a).sum(), a.sum(), 1e-2)
    same(cp.asarray(a).max(), a.max())
nan = np.where(x > 1, np.nan, x)
same(cp.nansum(cp.asarray(nan), axis=0), np.nansum(nan, axis=0))
same(cp.nanargmax(cp.asarray(nan)), np.nanargmax(nan))
same(cp.count_nonzero(X > 0), np.count_nonzero(x > 0))

for size in (1, 31, 512, 513, 5000):
    a = rng.integers(-50, 50, size)
    same(cp.cumsum(cp.asarray(a)), np.cumsum(a))
    same(cp.cumprod(cp.asarray(a[:7].astype(float))), np.cumprod(a[:7].astype(float)))
same(cp.cumsum(X, axis=1), np.cumsum(x, axis=1))
same(cp.nonzero(cp.asarray(x[:, 0, 0] > 0))[0], np.nonzero(x[:, 0, 0] > 0)[0])
same(cp.diff(X, axis=0), np.diff(x, axis=0))

l2norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
same(l2norm(X, axis=1), np.sqrt((x * x).sum(axis=1)))
same(l2norm(X), np.sqrt((x * x).sum()))
print("good")
