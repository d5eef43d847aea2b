"""PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic Instructions"."""
from cases import Case, clamp, range_of, read, signed, unsigned

TYPES = ('u16', 's16', 'u32', 's32', 'u64', 's64')


def width(t):
    return int(t[1:])


def truncated_division(a, b):
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


# The manual leaves division by zero open; an H200 gives all ones, quotient and remainder.
def divide(t):
    return lambda a, b: -1 if read(b, t) == 0 else truncated_division(read(a, t), read(b, t))


def remainder(t):
    def f(a, b):
        a, b = read(a, t), read(b, t)
        return -1 if b == 0 else a - b * truncated_division(a, b)
    return f


def arithmetic():
    for t in TYPES:
        w = width(t)
        two, three = (t, t), (t, t, t)
        r = lambda v, t=t: read(v, t)
        yield Case(f'add.{t} {{d}}, {{a}}, {{b}}', two, w, lambda a, b: a + b)
        yield Case(f'sub.{t} {{d}}, {{a}}, {{b}}', two, w, lambda a, b: a - b)
        yield Case(f'mul.lo.{t} {{d}}, {{a}}, {{b}}', two, w, lambda a, b: a * b)
        yield Case(f'mul.hi.{t} {{d}}, {{a}}, {{b}}', two, w, lambda a, b, r=r, w=w: r(a) * r(b) >> w)
        yield Case(f'mad.lo.{t} {{d}}, {{a}}, {{b}}, {{c}}', three, w, lambda a, b, c: a * b + c)
        yield Case(f'mad.hi.{t} {{d}}, {{a}}, {{b}}, {{c}}', three, w, lambda a, b, c, r=r, w=w: (r(a) * r(b) >> w) + c)
        if w < 64:
            wide = f'{t[0]}{2 * w}'
            yield Case(f'mul.wide.{t} {{d}}, {{a}}, {{b}}', two, 2 * w, lambda a, b, r=r: r(a) * r(b))
            yield Case(f'mad.wide.{t} {{d}}, {{a}}, {{b}}, {{c}}', (t, t, wide), 2 * w, lambda a, b, c, r=r: r(a) * r(b) + c)
        yield Case(f'sad.{t} {{d}}, {{a}}, {{b}}, {{c}}', three, w, lambda a, b, c, r=r: c + abs(r(a) - r(b)))
        yield Case(f'div.{t} {{d}}, {{a}}, {{b}}', two, w, divide(t))
        yield Case(f'rem.{t} {{d}}, {{a}}, {{b}}', two, w, remainder(t))
        yield Case(f'min.{t} {{d}}, {{a}}, {{b}}', two, w, lambda a, b, r=r: min(r(a), r(b)))
        yield Case(f'max.{t} {{d}}, {{a}}, {{b}}', two, w, lambda a, b, r=r: max(r(a), r(b)))
        if t[0] == 's':
            yield Case(f'abs.{t} {{d}}, {{a}}', (t,), w, lambda a, r=r: abs(r(a)))
            yield Case(f'neg.{t} {{d}}, {{a}}', (t,), w, lambda a: -a)
        # Immediate operands.
        yield Case(f'div.{t} {{d}}, {{a}}, 7', (t,), w, lambda a, t=t: divide(t)(a, 7))
        yield Case(f'rem.{t} {{d}}, {{a}}, 10', (t,), w, lambda a, t=t: remainder(t)(a, 10))
        yield Case(f'sub.{t} {{d}}, 5, {{a}}', (t,), w, lambda a: 5 - a)
    s32 = lambda v: signed(v, 32)
    saturated = lambda v: clamp(v, *range_of('s32'))
    yield Case('add.sat.s32 {d}, {a}, {b}', ('s32', 's32'), 32, lambda a, b: saturated(s32(a) + s32(b)))
    yield Case('sub.sat.s32 {d}, {a}, {b}', ('s32', 's32'), 32, lambda a, b: saturated(s32(a) - s32(b)))
    yield Case('mad.hi.sat.s32 {d}, {a}, {b}, {c}', ('s32',) * 3, 32, lambda a, b, c: saturated((s32(a) * s32(b) >> 32) + s32(c)))
    for op in ('min', 'max'):
        f = min if op == 'min' else max
        yield Case(f'{op}.relu.s32 {{d}}, {{a}}, {{b}}', ('s32', 's32'), 32, lambda a, b, f=f: max(0, f(s32(a), s32(b))))


def narrow_products():
    for t in ('u32', 's32'):
        low = (lambda v: signed(v, 24)) if t == 's32' else (lambda v: unsigned(v, 24))
        product = lambda a, b, low=low: low(a) * low(b)
        yield Case(f'mul24.lo.{t} {{d}}, {{a}}, {{b}}', (t, t), 32, product)
        yield Case(f'mul24.hi.{t} {{d}}, {{a}}, {{b}}', (t, t), 32, lambda a, b, p=product: p(a, b) >> 16)
        yield Case(f'mad24.lo.{t} {{d}}, {{a}}, {{b}}, {{c}}', (t, t, t), 32, lambda a, b, c, p=product: p(a, b) + c)
        yield Case(f'mad24.hi.{t} {{d}}, {{a}}, {{b}}, {{c}}', (t, t, t), 32, lambda a, b, c, p=product: (p(a, b) >> 16) + c)
        if t == 's32':
            yield Case('mad24.hi.sat.s32 {d}, {a}, {b}, {c}', (t, t, t), 32,
                       lambda a, b, c, p=product: clamp(signed(p(a, b) >> 16, 32) + signed(c, 32), *range_of('s32')))


def halves(f):
    return lambda a, b: unsigned(f(a & 0xffff, b & 0xffff), 16) | unsigned(f(a >> 16, b >> 16), 16) << 16


def packed():
    for t in ('u16', 's16'):
        r = lambda v, t=t: read(v, t)
        two = (t + 'x2', t + 'x2')
        yield Case(f'add.{t}x2 {{d}}, {{a}}, {{b}}', two, 32, halves(lambda a, b: a + b))
        yield Case(f'min.{t}x2 {{d}}, {{a}}, {{b}}', two, 32, halves(lambda a, b, r=r: min(r(a), r(b))))
        yield Case(f'max.{t}x2 {{d}}, {{a}}, {{b}}', two, 32, halves(lambda a, b, r=r: max(r(a), r(b))))
        if t == 's16':
            yield Case('min.relu.s16x2 {d}, {a}, {b}', two, 32, halves(lambda a, b, r=r: max(0, min(r(a), r(b)))))
            yield Case('max.relu.s16x2 {d}, {a}, {b}', two, 32, halves(lambda a, b, r=r: max(0, max(r(a), r(b)))))


def dot_products():
    def part(v, at, w, t):
        v = unsigned(v >> at, w)
        return signed(v, w) if t == 's32' else v
    for ta in ('u32', 's32'):
        for tb in ('u32', 's32'):
            three = ('b32', 'b32', 'b32')
            yield Case(f'dp4a.{ta}.{tb} {{d}}, {{a}}, {{b}}, {{c}}', three, 32,
                       lambda a, b, c, ta=ta, tb=tb: c + sum(part(a, 8 * k, 8, ta) * part(b, 8 * k, 8, tb) for k in range(4)))
            for mode, first in (('lo', 0), ('hi', 2)):
                yield Case(f'dp2a.{mode}.{ta}.{tb} {{d}}, {{a}}, {{b}}, {{c}}', three, 32,
                           lambda a, b, c, ta=ta, tb=tb, first=first:
                           c + sum(part(a, 16 * k, 16, ta) * part(b, 8 * (first + k), 8, tb) for k in range(2)))


def extended():
    """Two-word arithmetic through CC.CF; the second result shows the last carry (or borrow). A subtraction leaves CF = no borrow."""
    for w in (32, 64):
        t, q = f'u{w}', 'r' if w == 32 else 'q'
        lowest = lambda v, w=w: v & ((1 << w) - 1)
        three, m = (t, t, t), 1 << w
        yield Case(f'add.cc.{t} {{d}}, {{a}}, {{b}}; addc.{t} {{e}}, {{c}}, 0', three, (w, w), lambda a, b, c, m=m: (a + b, c + (a + b >= m)))
        yield Case(f'add.cc.{t} {{d}}, {{a}}, {{b}}; addc.cc.{t} {{d}}, {{c}}, {{b}}; addc.{t} {{e}}, 0, 0', three, (w, w),
                   lambda a, b, c, m=m: (c + b + (a + b >= m), c + b + (a + b >= m) >= m))
        yield Case(f'sub.cc.{t} {{d}}, {{a}}, {{b}}; subc.{t} {{e}}, {{c}}, 0', three, (w, w), lambda a, b, c: (a - b, c - (a < b)))
        yield Case(f'sub.cc.{t} {{d}}, {{a}}, {{b}}; subc.cc.{t} {{d}}, {{c}}, {{b}}; subc.{t} {{e}}, 0, 0', three, (w, w),
                   lambda a, b, c: (c - b - (a < b), -(c - b - (a < b) < 0)))
        low = lambda a, b, w=w: a * b & ((1 << w) - 1)
        high = lambda a, b, w=w: a * b >> w
        yield Case(f'mad.lo.cc.{t} {{d}}, {{a}}, {{b}}, {{c}}; madc.hi.{t} {{e}}, {{a}}, {{b}}, 0', three, (w, w),
                   lambda a, b, c, m=m, low=low, high=high: (a * b + c, high(a, b) + (low(a, b) + c >= m)))
        yield Case(f'mad.hi.cc.{t} {{d}}, {{a}}, {{b}}, {{c}}; addc.{t} {{e}}, 0, 0', three, (w, w),
                   lambda a, b, c, m=m, high=high: (high(a, b) + c, high(a, b) + c >= m))
        yield Case(f'add.cc.{t} {{d}}, {{a}}, {{b}}; madc.lo.cc.{t} {{d}}, {{a}}, {{b}}, {{c}}; addc.{t} {{e}}, 0, 0', three, (w, w),
                   lambda a, b, c, m=m, low=low: (low(a, b) + c + (a + b >= m), low(a, b) + c + (a + b >= m) >= m))
        yield Case(f'sub.cc.{t} {{d}}, {{a}}, {{b}}; madc.hi.cc.{t} {{d}}, {{a}}, {{b}}, {{c}}; addc.{t} {{e}}, 0, 0', three, (w, w),
                   lambda a, b, c, m=m, high=high: (high(a, b) + c + (a >= b), high(a, b) + c + (a >= b) >= m))


def cases():
    return [*arithmetic(), *narrow_products(), *packed(), *dot_products(), *extended()]
