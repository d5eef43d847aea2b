# The matrices of each type that the tensor cores know. Small whole numbers: each sum is exact, whatever its order, so that
# results must be the same bits everywhere.
# want matmul: launches = 24
# output matmul: equal
import numpy as np
import triton
import triton.language as tl

import device


@triton.jit
def matmul(a, b, c, M, N, K, a_row, a_column, b_row, b_column, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           RESULT: tl.constexpr, PRECISION: tl.constexpr, LEAKY: tl.constexpr):
    tiles = tl.cdiv(N, BN)
    m = (tl.program_id(0) // tiles) * BM + tl.arange(0, BM)
    n = (tl.program_id(0) % tiles) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_at = a + (m % M)[:, None] * a_row + k[None, :] * a_column
    b_at = b + k[:, None] * b_row + (n % N)[None, :] * b_column
    sum = tl.zeros((BM, BN), dtype=RESULT)
    for step in range(0, tl.cdiv(K, BK)):
        left = K - step * BK
        x = tl.load(a_at, mask=k[None, :] < left, other=0.0)
        y = tl.load(b_at, mask=k[:, None] < left, other=0.0)
        sum = tl.dot(x, y, sum, input_precision=PRECISION, out_dtype=RESULT)
        a_at += BK * a_column
        b_at += BK * b_row
    if LEAKY:
        sum = tl.where(sum >= 0, sum, sum * 2)
    tl.store(c + m[:, None] * N + n[None, :], sum, mask=(m[:, None] < M) & (n[None, :] < N))


def float8(values, mantissa):
    """The bits of values that an e5m2 (2) or e4m3 (3) has exactly: their highest bits as a float16, for e4m3 with its bias."""
    bits = values.astype(np.float16).view(np.uint16)
    if mantissa == 2:
        return (bits >> 8).astype(np.uint8)
    moved = np.where(values == 0, 0, (bits & 0x7FFF) - ((15 - 7) << 10))
    return ((bits >> 8) & 0x80 | (moved >> 7)).astype(np.uint8)


KINDS = {
    # name of the type: what Triton sees, from the values; the type of the result; how fp32 is multiplied
    "fp16": (lambda v: device.Array(v.astype(np.float16)), tl.float32, None),
    "bf16": (lambda v: device.Array(device.bfloat16(v), "bfloat16"), tl.float32, None),
    "tf32": (lambda v: device.Array(v.astype(np.float32)), tl.float32, "tf32"),
    "fp32": (lambda v: device.Array(v.astype(np.float32)), tl.float32, "ieee"),
    "int8": (lambda v: device.Array(v.astype(np.int8)), tl.int32, None),
    "fp16 in fp16": (lambda v: device.Array(v.astype(np.float16)), tl.float16, None),
    "float8 e5m2": (lambda v: device.Array(float8(v, 2), "float8_e5m2"), tl.float32, None),
    "float8 e4m3": (lambda v: device.Array(float8(v, 3), "float8_e4m3fn"), tl.float32, None),
}


def one(name, M, N, K, blocks, warps, stages, transposed):
    make, result, precision = KINDS[name]
    if name == "float8 e4m3" and device.attribute(device.CAPABILITY_MAJOR) * 10 + device.attribute(device.CAPABILITY_MINOR) < 89:
        make, result, precision = KINDS["fp16"]
    random = np.random.default_rng(M)
    a, b = random.integers(-2, 3, (M, K)), random.integers(-2, 3, (K, N))
    c = device.zeros((M, N), np.int32 if result == tl.int32 else np.float32)
    b_row, b_column = (1, K) if transposed else (N, 1)
    BM, BN, BK = blocks
    matmul[(triton.cdiv(M, BM) * triton.cdiv(N, BN), )](make(a), make(b.T if transposed else b), c, M, N, K, K, 1, b_row, b_column,
                                                        BM, BN, BK, result, precision, result != tl.int32, num_warps=warps,
                                                        num_stages=stages)
    exact = a.astype(np.int64) @ b
    if result != tl.int32:
        exact = np.where(exact >= 0, exact, exact * 2)
    assert (c.get() == exact).all(), (name, M, N, K, blocks, warps)


device.start()
for name in KINDS:
    one(name, 128, 256, 96, (64, 64, 32), 4, 3, False)
    one(name, 128, 128, 128, (128, 64, 64), 8, 2, True)
    one(name, 70, 50, 130, (16, 32, 32), 2, 4, True)
print("matmul: equal")
