"""Values of the operands of forms: 64 of each kind, one a lane of two warps. inputs.bin holds what the kernels load."""
import struct

COUNT = 64
MASK = (1 << 64) - 1


def mixed(x):  # splitmix64
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


FLOATS = {  # bits of exponent and mantissa
    'f16': (5, 10), 'bf16': (8, 7), 'f32': (8, 23), 'tf32': (8, 23), 'f64': (11, 52)}


def width_of(kind):
    digits = ''.join(c for c in kind.replace('x2', '') if c.isdigit())
    return int(digits) * (2 if kind.endswith('x2') else 1)


def float_bits(kind, value):
    """The bits of a number that the format holds exactly."""
    if kind == 'f64':
        return struct.unpack('<Q', struct.pack('<d', value))[0]
    if kind == 'f16':
        return struct.unpack('<H', struct.pack('<e', value))[0]
    word = struct.unpack('<I', struct.pack('<f', value))[0]
    return word >> 16 if kind == 'bf16' else word


def integer(width, random, i):
    top = 1 << (width - 1)
    special = [0, 1, 2, top - 1, top, top + 1, (1 << width) - 1, (1 << width) - 2, 0x55, 1 << (width // 2)]
    choice = i % 4
    if choice == 0:
        return special[random % len(special)]
    if choice == 1:
        return (random % 33 - 16) & ((1 << width) - 1)
    return random & ((1 << width) - 1)


def floating(kind, random, i, number):
    """Special values, ordinary numbers and any bits. The payload of a result of several NaNs of 64 bits is not specified, so
    of such operands only one a lane is a NaN."""
    exponent, mantissa = FLOATS[kind]
    infinity = ((1 << exponent) - 1) << mantissa
    sign = 1 << (exponent + mantissa)
    bias = (1 << (exponent - 1)) - 1
    special = [0, sign, bias << mantissa, sign | bias << mantissa, infinity, infinity | sign, infinity | 1 << (mantissa - 1),
               infinity - 1, 1 << mantissa, (1 << mantissa) - 1, 1, sign | 1, (bias << mantissa) - 1, (bias + 1) << mantissa]
    choice = i % 3
    if choice == 0:
        value = special[random % len(special)]
    elif choice == 1:
        spread = min(12, bias - 2)
        value = (random & (sign | (1 << mantissa) - 1)) | (bias - spread + (random >> 53) % (2 * spread)) << mantissa
    else:
        value = random & (2 * sign - 1)
    if kind == 'f64' and (value & (sign - 1)) > infinity and i % 4 != number % 4:
        value = (value & sign) | bias << mantissa
    return value


def exact(kind, function, random, i):
    """Operands of approximations whose result is exact: special values, powers of four, or what `function` needs."""
    numbers = [0.0, float('inf'), float('nan')]
    if function in ('sin', 'cos'):
        numbers = [0.0, -0.0]
    elif function == 'ex2':
        numbers += [float('-inf')] + [float(n) for n in range(-8, 9)]
    elif function == 'tanh':
        numbers += [-0.0, float('-inf')]
    elif function == 'div':
        numbers = [4.0 ** n for n in range(-5, 6)]
    else:
        numbers += [4.0 ** n for n in range(-5, 6)]
    return float_bits(kind, numbers[random % len(numbers)])


SMALL = [-4, -3, -2, -1, 0, 1, 2, 3, 4, 0.5]  # sums of their products are exact in any order
SMALL_BITS = {'e4m3': [0, 0x38, 0x40, 0x44, 0xb8, 0xc0, 0xc4, 0x30], 'e5m2': [0, 0x3c, 0x40, 0x42, 0xbc, 0xc0, 0xc2, 0x38]}


def small(kind, random):
    """A 32- or 64-bit register of a matrix fragment."""
    if kind == 'f64':
        return float_bits(kind, float(SMALL[random % 9]))
    if kind in ('f32', 'tf32'):
        return float_bits('f32', float(SMALL[random % 9]))
    if kind in ('f16', 'bf16'):
        return float_bits(kind, SMALL[random % 10]) | float_bits(kind, SMALL[(random >> 8) % 10]) << 16
    if kind in SMALL_BITS:
        bits = SMALL_BITS[kind]
        return sum(bits[(random >> 8 * k) % 8] << 8 * k for k in range(4))
    if kind == 's32':
        return (random % 2001 - 1000) & 0xffffffff
    return random & 0xffffffff


def value(kind, number, i):
    seed = sum(ord(c) * 131 ** n for n, c in enumerate(kind))
    random = mixed(mixed(seed * 1000 + number) + i)
    base, _, rest = kind.partition(':')
    if base == 'bits':
        return integer(int(rest), random, i)
    if base == 'nonzero':
        return integer(int(rest), random, i) or 7
    if base == 'float':
        if rest.endswith('x2'):
            half = rest[:-2]
            return floating(half, random, i, number) | floating(half, mixed(random), i + 1, number) << width_of(half)
        return floating(rest, random, i, number)
    if base == 'number':  # no NaN
        word = floating(rest, random, i, number)
        infinity = float_bits(rest, float('inf'))
        return word if word & ((1 << width_of(rest) - 1) - 1) <= infinity else float_bits(rest, 1.0)
    if base == 'exact':
        function, number_kind = rest.split('.')
        if number_kind.endswith('x2'):
            half = number_kind[:-2]
            return exact(half, function, random, i) | exact(half, function, mixed(random), i) << 16
        return exact(number_kind, function, random, i)
    if base == 'small':
        return small(rest, random)
    if base == 'below':
        return random % int(rest)
    if base == 'shift':
        return (random % 80, random % 33, 1 << 20)[0 if i % 8 else random % 3]
    if base == 'const':
        return int(rest) & MASK
    if base == 'groups':  # masks of three groups of lanes, the same for each lane of a group
        return (0x0f0ff00f, 0xe0f00ff0, 0x10000000)[0 if 0x0f0ff00f >> (i % 32) & 1 else 1 if 0xe0f00ff0 >> (i % 32) & 1 else 2]
    if base == 'segment':  # clamp and mask of shfl: whole warps, halves, quarters
        return (0x1f, 0x101f, 0x181f, 0x0)[int(rest)] if rest else 0x1f
    raise ValueError(kind)


class Inputs:
    """The arrays that were asked for, each once. An array has COUNT words of 64 bits."""

    def __init__(self):
        self.offsets, self.words = {}, []

    def at(self, kind, number):
        key = (kind, number)
        if key not in self.offsets:
            self.offsets[key] = 8 * len(self.words)
            self.words += [value(kind, number, i) for i in range(COUNT)]
        return self.offsets[key]

    def write(self, path):
        with open(path, 'wb') as file:
            file.write(struct.pack(f'<{len(self.words)}Q', *self.words))
