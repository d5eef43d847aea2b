"""Copies that no GPU of ours can make (compute capability 10), with what the PTX manual says that they do.

Each case has two lines: the case as in generate.py, and the destination as picture() of cases.h describes it."""
import random

from generate import text
from maps import BYTES, SPAN, Maker

UNTOUCHED = 0xf55a
BASE, DATA, SHARED = 8192, 49152, 20480


def picture(codes):
    """`codes`: where each byte of the destination comes from. Runs of rising or of equal codes."""
    out, i = [], 0
    while i < len(codes):
        same = rising = 1
        while i + same < len(codes) and codes[i + same] == codes[i]:
            same += 1
        while i + rising < len(codes) and codes[i + rising] == codes[i] + rising:
            rising += 1
        if codes[i] == UNTOUCHED and same > 1:
            i += same
            continue
        repeats = same > rising or (same == 1 and rising == 1 and codes[i] >= DATA)
        length = same if repeats else rising
        out.append(f'{i}:{"=" if repeats else ""}{codes[i]}+{length}')
        i += length
    return ''.join(' ' + run for run in out)


def swizzled(swizzle, address):
    """Swizzle<B, 4, 3>: the 16-byte chunk in a row of 128 bytes changes with the number of the row."""
    return address ^ ((address >> 7) % (1, 2, 4, 8)[swizzle] << 4)


def rows(make, kernel):
    """Four rows of a matrix, one below the other in shared memory."""
    element, swizzle = make.choice(0, 1, 2, 6, 7), make.choice(0, 1, 2, 3)
    size = BYTES[element]
    inner = make.choice(16, 32, 64, 128)
    inner = min(inner, SPAN[swizzle] or inner)
    box, pitch = [inner // size, 1], SPAN[swizzle] or inner
    dims, stride = [box[0] + make.choice(0, 16 // size, 3), make.between(2, 30)], 192
    stores = kernel.startswith('store')
    column = 16 // size * make.choice(0, 0, 1, *([] if stores else [-1]))
    numbers = [make.between(0 if stores else -2, dims[1] + 1) for _ in range(4)]
    if stores:
        numbers = make.random.sample(range(dims[1] + 3), 4)
    at = 128 * make.between(0, 8)
    codes = [UNTOUCHED] * (DATA if stores else SHARED)
    for k, number in enumerate(numbers):
        for i in range(inner):
            place = swizzled(swizzle, at + k * pitch + i)
            first = column * size + i
            inside = 0 <= number < dims[1] and 0 <= first < dims[0] * size
            memory = BASE + number * stride + first
            chunk_inside = 0 <= number < dims[1] and 0 <= first // 16 * 16 < dims[0] * size  # stores move whole chunks
            if stores and chunk_inside:
                codes[memory] = place
            if not stores:
                codes[place] = memory if inside else 0
    keys = {'element': element, 'dims': dims, 'strides': [stride], 'box': box, 'steps': [1, 1], 'interleave': 0, 'swizzle': swizzle, 'fill': 0}
    return text(kernel, **keys, c=[column, *numbers], at=at, expect=None if stores else 4 * inner), picture(codes)


def masked(make):
    at, size, mask = 16 * make.between(0, 60), 16 * make.between(1, 20), make.between(0, 0xffff)
    codes = [UNTOUCHED] * DATA
    for i in range(size):
        if mask >> i % 16 & 1:
            codes[BASE + i] = at + i
    return text('bulk_store_masked', at=at, size=size, mask=mask), picture(codes)


def cases():
    make = Maker(random.Random(100))
    for kernel in ('load_rows', 'load_rows_own', 'store_rows'):
        for _ in range(16):
            yield rows(make, kernel)
    for _ in range(8):
        yield masked(make)
