"""Parts of a family: cases, grouped into kernels by their sources, and their inputs."""
import itertools
from random import Random

ELEMENTS = 128  # inputs a case


def signed(v, width):
    v &= (1 << width) - 1
    return v - (1 << width) if v >> (width - 1) else v


def unsigned(v, width):
    return v & ((1 << width) - 1)


def clamp(v, low, high):
    return max(low, min(high, v))


def range_of(t):
    """Smallest and largest value of u8 .. s64."""
    w = int(t[1:])
    return (-(1 << (w - 1)), (1 << (w - 1)) - 1) if t[0] == 's' else (0, (1 << w) - 1)


def read(v, t):
    w = int(t[1:])
    return signed(v, w) if t[0] == 's' else unsigned(v, w)


INTEGERS = {w: [0, 1, (1 << w) - 1, 1 << (w - 1), (1 << (w - 1)) - 1, 2, (1 << w) - 2, (1 << (w - 1)) + 1, 7, (1 << w) - 10,
                1 << (w // 2), (1 << (w // 2)) - 1, 1 << (w // 2 - 1)] for w in (8, 16, 32, 64)}
FLOATS = {
    'f16': [0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe12, 0x7c01, 1, 0x83ff, 0x0400, 0x8401, 0x7bff, 0x3bff, 0x4248, 0xd640, 0x3800,
            0xb800, 0x3e00, 0xbe00, 0x4100, 0xfbff, 0x57f8],
    'bf16': [0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 1, 0x807f, 0x0080, 0x8081, 0x7f7f, 0x3f7f, 0x4049, 0xc2c8,
             0x3f00, 0xbf00, 0x3fc0, 0xbfc0, 0x4f00, 0xcf00, 0x5f00],
    'f32': [0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc01234, 0x7f800001, 1, 0x807fffff, 0x00800000,
            0x80800001, 0x7f7fffff, 0x3f7fffff, 0x40490fdb, 0xc2c80000, 0x3f000000, 0xbf000000, 0x3fc00000, 0xbfc00000, 0x40200000,
            0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0x5effffff, 0x5f000000, 0xdf000000, 0x5f7fffff, 0x5f800000,
            0x477fefff, 0x477ff000, 0x477fe000, 0x33000000, 0x33000001, 0x38800000, 0x387fe000, 0x387ff000, 0x43e00000, 0x43e80000, 0x43e80001,
            0x47600000, 0x47680000, 0x47700000, 0x3a800000, 0x3a800001, 0x42ff0000, 0x437f8000, 0xc3008000, 0x3f801000, 0x3f803000, 0x7f7fefff,
            0x7f7ff000, 0x7f7f7fff, 0x7f7f8000, 0x3f808000, 0x3f818000, 0x3f808001, 0x46fffe00, 0x46ffff00, 0x477fff00],
    'f64': [0, 1 << 63, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000001234,
            0x7ff0000000000001, 1, 0x800fffffffffffff, 0x0010000000000000, 0x8010000000000001, 0x7fefffffffffffff, 0x3fefffffffffffff,
            0x400921fb54442d18, 0xc059000000000000, 0x3fe0000000000000, 0xbfe0000000000000, 0x3ff8000000000000, 0xbff8000000000000,
            0x41dfffffffc00000, 0x41dfffffffe00000, 0x41e0000000000000, 0xc1e0000000000000, 0xc1e0000000100000, 0xc1e0000000200000,
            0x41efffffffe00000, 0x41effffffff00000, 0x43dfffffffffffff, 0x43e0000000000000, 0xc3e0000000000000, 0x43efffffffffffff,
            0x43f0000000000000, 0x47efffffe0000000, 0x47efffffefffffff, 0x47effffff0000000, 0x36a0000000000000, 0x3690000000000000,
            0x3690000000000001, 0x380fffffc0000000, 0x380fffffe0000000, 0x380ffffff0000000, 0x3ff0000010000000, 0x3ff0000030000000,
            0x3ff0000010000001, 0x40effdffffffffff, 0x40effe0000000000, 0x3e60000000000001, 0x3ff0020000000000, 0x3ff0020000000001],
}
SHIFTS = [0, 1, 31, 32, 33, 63, 64, 65, 5, 15, 16, 17, 255, 256, 0x80000000, 0xffffffff, 7, 8, 24, 30, 257]


def edges(kind):
    """kind: u32, s16, b64 ...: integers; f32 ...; shift: amounts; index: the element's number; a tuple: exactly these values."""
    if isinstance(kind, tuple):
        return list(kind), None
    if kind == 'shift':
        return SHIFTS, None
    if kind == 'pred':
        return [0, 1], None
    if kind in FLOATS:
        return FLOATS[kind], int(kind.lstrip('bf'))
    if kind.endswith('x2') and kind[:-2] in FLOATS:
        base = FLOATS[kind[:-2]]
        return [base[i] | base[(i * 7 + 3) % len(base)] << 16 for i in range(len(base))], 32
    if kind.endswith('x2'):
        base = INTEGERS[16]
        return [base[i] | base[(i * 5 + 2) % len(base)] << 16 for i in range(len(base))], 32
    width = int(kind[1:])
    return INTEGERS[width], width


def inputs(kinds):
    """ELEMENTS tuples: combinations of edges first (thinned out when there are too many), then random bits."""
    if kinds == ('index',):
        return [(i,) for i in range(ELEMENTS)]
    random = Random('/'.join(map(str, kinds)))
    sets = [edges(k) for k in kinds]
    product = list(itertools.product(*(s for s, _ in sets))) if len(kinds) < 4 else []
    room = ELEMENTS * 3 // 4
    if len(product) > room or not product:
        product = [tuple(s[random.getrandbits(16) % len(s)] for s, _ in sets) for _ in range(room)]
    out = product[:]
    while len(out) < ELEMENTS:
        out.append(tuple(s[random.getrandbits(16) % len(s)] if w is None else random.getrandbits(w) for s, w in sets))
    return out


class Case:
    """`text`: PTX with {d}, {e} for destinations, {a} {b} {c} {f} for sources. `kinds`: of the sources; `to`: widths of the destinations
    (1: a predicate); `function`: the expected bits, of the sources' bits (one value or a tuple)."""

    def __init__(self, text, kinds, to, function):
        self.text, self.kinds, self.function = text, tuple(kinds), function
        self.to = to if isinstance(to, tuple) else (to,)

    def results(self, values):
        r = self.function(*values)
        r = r if isinstance(r, tuple) else (r,)
        return [unsigned(int(v), w) for v, w in zip(r, self.to)]


def width_of(kind):
    if isinstance(kind, tuple) or kind in ('shift', 'index') or kind.endswith('x2'):
        return 32
    return {'pred': 1}.get(kind) or int(kind.lstrip('ubsf'))
