"""Random tensor maps, and coordinates that a GPU takes: for the cases of generate.py and for tests/random/copies.py."""
BYTES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4)  # by CUtensorMapDataType
SPAN = (0, 32, 64, 128, 128, 128, 128)          # bytes of the span, by CUtensorMapSwizzle
FLOATS = (6, 7, 8, 9, 10, 11, 12)
ROOM = 32768                                    # bytes that a tensor may take
MOST = 8192                                     # bytes of a box


def product(numbers):
    result = 1
    for n in numbers:
        result *= n
    return result


def ceil(a, b):
    return -(-a // b)


class Maker:
    """Makes maps and coordinates from an object with choice and randint, as of Python's random."""

    def __init__(self, random):
        self.random = random

    def choice(self, *values):
        return self.random.choice(values)

    def between(self, low, high):
        return self.random.randint(low, high)

    def strides(self, dims, size, unit, least):
        """Each stride is at least what the dimension before takes."""
        out, taken = [], max(least, dims[0] * size)
        for dim in dims[1:]:
            stride = ceil(taken, unit) * unit + unit * self.choice(0, 0, 1, 3)
            out.append(stride)
            taken = stride * dim
        return out, taken

    def tiled(self, rank, swizzle=0, interleave=0, element=None, stepped=False, narrow=False):
        """A map that fits, or None."""
        element = self.between(0, 12) if element is None else element
        size = BYTES[element]
        span = SPAN[swizzle] if swizzle else 256
        if interleave:
            inner = 16 * interleave
        else:
            inner = span if not narrow and swizzle else 16 * self.between(1, span // 16)
        if inner // size > 256:
            return None
        box = [inner // size] + [self.choice(1, 2, 3, 4, 5, 8, 13, 16) if rank < 4 else self.choice(1, 2, 3, 4) for _ in range(rank - 1)]
        steps = [1] + [self.choice(1, 2, 3) if stepped else 1 for _ in range(rank - 1)]
        if stepped and self.choice(0, 1):
            steps[0] = self.choice(1, 2)
        dims = [max(1, box[0] + self.choice(0, 0, -3, 5, 16, -box[0] // 2))]
        if interleave:
            dims = [self.choice(inner // size, 3 * inner // size, inner // size + 2)]
        dims += [max(1, b + self.choice(0, 1, -1, 2, 4, -b // 2)) for b in box[1:]]
        unit = 32 if interleave == 2 else 16
        strides, taken = self.strides(dims, size, unit, unit)
        counts = [ceil(b, s) for b, s in zip(box[1:], steps[1:])]
        if interleave:  # a step of dimension 0 is a slice of channels; the box has one slice
            size = inner
            counts[rank - 3] = 1
        moved = product([box[0]] + counts) * size
        if taken > ROOM or moved > MOST:
            return None
        return {'element': element, 'dims': dims, 'strides': strides, 'box': box, 'steps': steps, 'interleave': interleave,
                'swizzle': swizzle, 'fill': self.choice(0, 0, 1) if element in FLOATS else 0}, moved

    def coordinates(self, keys, spread, stores):
        """The first coordinate is a multiple of 16 bytes; those of stores are not negative. A GPU takes no others."""
        out = []
        for k, (b, d) in enumerate(zip(keys['box'], keys['dims'])):
            low, high = (-b - 1, d + 1) if spread == 2 else (-b // 2, d - 1) if spread == 1 else (0, max(0, d - b))
            c = self.between(0 if stores else low, high)
            if k == 0 and not keys['interleave']:
                unit = 16 // BYTES[keys['element']]
                c = c // unit * unit
            out.append(c)
        return out

    def im2col(self, rank, swizzle, interleave, stepped, stores):
        element = self.choice(0, 1, 2, 6, 7)
        size = BYTES[element]
        span = SPAN[swizzle] if swizzle else 128
        channels = (16 * interleave or self.choice(span, 16 * self.between(1, span // 16))) // size
        spatial = rank - 2
        dims = [channels + self.choice(0, 3, -2, channels)] + [self.between(2, 7) for _ in range(spatial)] + [self.between(1, 3)]
        dims[0] = max(1, dims[0])
        lower = [self.between(0 if stores else -2, 1) for _ in range(spatial)]
        upper = [self.between(-2, 0 if stores else 1) for _ in range(spatial)]
        first = 0 if interleave else 1
        box = [dims[first + k] + upper[k] - lower[k] for k in range(spatial)]
        if min(box) < 1:
            return None
        strides, taken = self.strides(dims, size, 32 if interleave == 2 else 16, 16)
        pixels = self.choice(1, 3, 8, 16, 33, 64)
        moved = pixels * (16 * interleave or channels * size)
        if taken > ROOM or moved > MOST:
            return None
        steps = [1] + [self.choice(1, 2, 3) if stepped else 1 for _ in range(spatial)] + [1]
        return {'element': element, 'dims': dims, 'strides': strides, 'lower': lower, 'upper': upper, 'channels': channels, 'pixels': pixels,
                'steps': steps, 'interleave': interleave, 'swizzle': swizzle, 'fill': self.choice(0, 1) if element in FLOATS else 0}, moved, box

    def im2col_coordinates(self, keys, box, loads, wild=False):
        """A GPU takes only pixels inside the bounding box. Wild ones may begin outside."""
        spatial = [keys['lower'][k] + self.between(-2 if wild else 0, box[k] + 1 if wild else box[k] - 1) for k in range(len(box))]
        unit = 1 if keys['interleave'] else 16 // BYTES[keys['element']]
        first = self.choice(0, 0, unit, -unit, keys['channels'])
        c = [first if loads else abs(first)]
        c = (spatial + c if keys['interleave'] else c + spatial) + [self.between(-1 if wild else 0, keys['dims'][-1] if wild else keys['dims'][-1] - 1)]
        return c if loads else [max(0, x) for x in c]
