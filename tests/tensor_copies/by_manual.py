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
    """Swizzle<B, 4, 3>: the 16-byte chunk in a row of 128 bytes changes with the number of the row. 4: chunks of 32 bytes."""
    if swizzle == 4:
        return address ^ ((address >> 7) % 4 << 5)
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


def walk(first, image, low, high, step):
    """W and image of each pixel from the first on. After the right end of the bounding box follows the next image."""
    while True:
        yield first, image
        first += step
        if first > high:
            first, image = low, image + 1


def along_width(make, kernel, rank, of_128):
    """Pixels of one row of each image, and the halo behind them. Of 128 pixels, each quarter has a halo."""
    element, swizzle = make.choice(0, 1, 2, 6, 7), make.choice(2, 3, 4)
    size, pitch = BYTES[element], SPAN[swizzle]
    inner = make.choice(pitch, 16 * make.between(1, pitch // 16))
    channels = inner // size
    while True:
        dims = [channels + make.choice(0, 0, 16 // size, 3), make.between(2, 40)] + [make.between(1, 2) for _ in range(rank - 3)]
        dims.append(make.between(1, 9))
        strides, taken = make.strides(dims, size, 16, 16)
        low, high = make.between(-2, 1), dims[1] - 1 + make.between(-1, 1)
        if taken <= 32768 and low <= high:
            break
    step, pixels = make.choice(1, 1, 2, 3), 128 if of_128 else make.choice(1, 5, 16, 33, 64)
    halo, offset = make.between(0, 3), make.between(0, 3)
    first = make.between(low - 3, high)
    column = 16 // size * make.choice(0, 0, 1, -1)
    constant = [make.between(-1, 2) for _ in range(rank - 3)]  # H and D
    image = make.between(-1, dims[-1] - 1)
    places = walk(first, image, low, high, step)
    visited = [next(places) for _ in range(pixels + halo)]
    wanted = list(range(pixels + halo))
    if of_128:
        wanted = list(range(128)) + [32 * quarter + k for k in range(halo) for quarter in (1, 2, 3, 4)]
    at = 128 * make.between(0, 8)
    codes = [UNTOUCHED] * SHARED
    for row, number in enumerate(wanted):
        w, n = visited[number]
        pixel = [w + offset, *constant, n]
        inside = all(0 <= c < dim for c, dim in zip(pixel, dims[1:]))
        for i in range(inner):
            byte = column * size + i
            place = swizzled(swizzle, at + row * pitch + i)
            memory = BASE + byte + sum(c * stride for c, stride in zip(pixel, strides))
            codes[place] = memory if inside and 0 <= byte < dims[0] * size else 0
    keys = {'element': element, 'dims': dims, 'strides': strides, 'lower': low, 'upper': high - dims[1] + 1, 'channels': channels,
            'pixels': pixels, 'steps': [1, step] + [1] * (rank - 2), 'interleave': 0, 'swizzle': swizzle, 'fill': 0, 'wide': int(of_128)}
    return text(kernel, **keys, c=[column, first, *constant, image], offsets=[halo, offset], at=at, expect=len(wanted) * inner), picture(codes)


def cases():
    make = Maker(random.Random(100))
    for rank in (3, 4, 5):
        for space, count in (('cluster', 16), ('cta', 4)):
            for _ in range(count):
                yield along_width(make, f'width_{space}_{rank}', rank, False)
                yield along_width(make, f'width128_{space}_{rank}', rank, True)
    for kernel in ('load_rows', 'load_rows_own', 'store_rows'):
        for _ in range(16):
            yield rows(make, kernel)
    for _ in range(8):
        yield masked(make)
