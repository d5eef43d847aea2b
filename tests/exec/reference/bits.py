"""PTX ISA, "Logic and Shift Instructions" and the bit-field instructions."""
from cases import Case, signed, unsigned


def logic():
    for w in (16, 32, 64):
        t, ones = f'b{w}', (1 << w) - 1
        yield Case(f'and.{t} {{d}}, {{a}}, {{b}}', (t, t), w, lambda a, b: a & b)
        yield Case(f'or.{t} {{d}}, {{a}}, {{b}}', (t, t), w, lambda a, b: a | b)
        yield Case(f'xor.{t} {{d}}, {{a}}, {{b}}', (t, t), w, lambda a, b: a ^ b)
        yield Case(f'not.{t} {{d}}, {{a}}', (t,), w, lambda a, ones=ones: a ^ ones)
        yield Case(f'cnot.{t} {{d}}, {{a}}', (t,), w, lambda a: a == 0)
        yield Case(f'shl.{t} {{d}}, {{a}}, {{b}}', (t, 'shift'), w, lambda a, b, w=w: a << b if b < w else 0)
        for u in (f'b{w}', f'u{w}'):
            yield Case(f'shr.{u} {{d}}, {{a}}, {{b}}', (t, 'shift'), w, lambda a, b, w=w: a >> b if b < w else 0)
        yield Case(f'shr.s{w} {{d}}, {{a}}, {{b}}', (t, 'shift'), w, lambda a, b, w=w: signed(a, w) >> min(b, w))
        yield Case(f'shl.{t} {{d}}, {{a}}, {w}', (t,), w, lambda a: 0)
        yield Case(f'shr.s{w} {{d}}, {{a}}, 3', (t,), w, lambda a, w=w: signed(a, w) >> 3)
    for op, f in (('and', lambda a, b: a & b), ('or', lambda a, b: a | b), ('xor', lambda a, b: a ^ b)):
        yield Case(f'{op}.pred {{d}}, {{a}}, {{b}}', ('pred', 'pred'), 1, f)
    yield Case('not.pred {d}, {a}', ('pred', 'pred'), 1, lambda a, b: 1 - a)
    for mode in ('clamp', 'wrap'):
        amount = (lambda c: min(c, 32)) if mode == 'clamp' else (lambda c: c & 31)
        three = ('b32', 'b32', 'shift')
        yield Case(f'shf.l.{mode}.b32 {{d}}, {{a}}, {{b}}, {{c}}', three, 32, lambda a, b, c, n=amount: (b << 32 | a) << n(c) >> 32)
        yield Case(f'shf.r.{mode}.b32 {{d}}, {{a}}, {{b}}, {{c}}', three, 32, lambda a, b, c, n=amount: (b << 32 | a) >> n(c))


def look_up(table):
    def f(a, b, c):
        r = 0
        for k in range(8):
            if table >> k & 1:
                r |= (a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c)
        return unsigned(r, 32)
    return f


def lop3():
    three = ('b32', 'b32', 'b32')
    for table in (0x00, 0x01, 0x80, 0x96, 0xe8, 0xca, 0xfe, 0x1b, 0xf0, 0xff):
        yield Case(f'lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table:#x}', three, 32, look_up(table))
    for op in ('or', 'and'):
        join = (lambda p, q: p | q) if op == 'or' else (lambda p, q: p & q)
        yield Case(f'lop3.{op}.b32 {{d}}|{{e}}, {{a}}, {{b}}, {{c}}, 0x80, {{f}}', (*three, 'pred'), (32, 1),
                   lambda a, b, c, q, join=join: (look_up(0x80)(a, b, c), join(int(look_up(0x80)(a, b, c) != 0), q)))


def bfind(t, shift_amount):
    w = int(t[1:])

    def f(a):
        if t[0] == 's' and a >> (w - 1):
            a = unsigned(~a, w)
        if a == 0:
            return -1
        top = a.bit_length() - 1
        return w - 1 - top if shift_amount else top
    return f


def fns(mask, base, offset):
    base, offset = unsigned(base, 32), signed(offset, 32)
    if base > 31:
        return -1
    if offset == 0:
        return base if mask >> base & 1 else -1
    order = range(base, 32) if offset > 0 else range(base, -1, -1)
    set_bits = [k for k in order if mask >> k & 1]
    return set_bits[abs(offset) - 1] if len(set_bits) >= abs(offset) else -1


def counts():
    for w in (32, 64):
        t = f'b{w}'
        yield Case(f'popc.{t} {{d}}, {{a}}', (t,), 32, lambda a: bin(a).count('1'))
        yield Case(f'clz.{t} {{d}}, {{a}}', (t,), 32, lambda a, w=w: w - a.bit_length())
        yield Case(f'brev.{t} {{d}}, {{a}}', (t,), w, lambda a, w=w: int(f'{a:0{w}b}'[::-1], 2))
        for u in (f'u{w}', f's{w}'):
            yield Case(f'bfind.{u} {{d}}, {{a}}', (t,), 32, bfind(u, False))
            yield Case(f'bfind.shiftamt.{u} {{d}}, {{a}}', (t,), 32, bfind(u, True))
    offsets = tuple(range(-5, 6)) + (32, -32, 33)
    yield Case('fns.b32 {d}, {a}, {b}, {c}', ('b32', tuple(range(32)), tuple(unsigned(o, 32) for o in offsets)), 32, fns)


def extract(t):
    w = int(t[1:])

    def f(a, start, length):
        if w == 32:  # the manual: 8 bits count; an H200 looks at all bits in the 64-bit form
            start, length = start & 255, length & 255
        if length == 0:
            return 0
        sign = a >> min(start + length - 1, w - 1) & 1 if t[0] == 's' else 0
        r = 0
        for i in range(w):
            r |= ((a >> (start + i) & 1) if i < length and start + i < w else sign) << i
        return r
    return f


def insert(w):
    def f(a, b, start, length):
        if w == 32:
            start, length = start & 255, length & 255
        for i in range(min(length, w)):
            if start + i < w:
                b = b & ~(1 << (start + i)) | (a >> i & 1) << (start + i)
        return b
    return f


def mask_of(mode):
    def f(start, length):
        if mode == 'wrap':
            start, length = start & 31, length & 31
        return unsigned(((1 << min(length, 32)) - 1) << start, 32) if start < 32 else 0
    return f


def extend(t, mode):
    def f(a, n):
        n = min(n, 32) if mode == 'clamp' else n & 31
        if n == 0:
            return 0
        low = unsigned(a, n)
        return signed(low, n) if t[0] == 's' else low
    return f


def fields():
    for w in (32, 64):
        for t in (f'u{w}', f's{w}'):
            yield Case(f'bfe.{t} {{d}}, {{a}}, {{b}}, {{c}}', (f'b{w}', 'shift', 'shift'), w, extract(t))
            yield Case(f'bfe.{t} {{d}}, {{a}}, 8, 8', (f'b{w}',), w, lambda a, t=t: extract(t)(a, 8, 8))
        yield Case(f'bfi.b{w} {{d}}, {{a}}, {{b}}, {{c}}, {{f}}', (f'b{w}', f'b{w}', 'shift', 'shift'), w, insert(w))
    for mode in ('clamp', 'wrap'):
        yield Case(f'bmsk.{mode}.b32 {{d}}, {{a}}, {{b}}', ('shift', 'shift'), 32, mask_of(mode))
        for t in ('u32', 's32'):
            yield Case(f'szext.{mode}.{t} {{d}}, {{a}}, {{b}}', ('b32', 'shift'), 32, extend(t, mode))


def permute(mode):
    def f(a, b, c):
        byte = lambda k: (b << 32 | a) >> (8 * (k & 7)) & 255
        n = c & 3
        picks = {'f4e': [n + k for k in range(4)], 'b4e': [n - k for k in range(4)], 'rc8': [n] * 4, 'ecl': [max(n, k) for k in range(4)],
                 'ecr': [min(n, k) for k in range(4)], 'rc16': [2 * (n & 1), 2 * (n & 1) + 1] * 2}
        if mode:
            return sum(byte(p) << (8 * k) for k, p in enumerate(picks[mode]))
        r = 0
        for k in range(4):
            selector = c >> (4 * k) & 15
            v = byte(selector & 7)
            if selector & 8:
                v = 255 if v & 128 else 0
            r |= v << (8 * k)
        return r
    return f


def permutes():
    three = ('b32', 'b32', (0x3210, 0x7654, 0x0123, 0x4567, 0x8888, 0xfedc, 0xba98, 0x5410, 0x7632, 0x1032, 0xffff3321, 0, 1, 2, 3, 0x80000003))
    for mode in ('', 'f4e', 'b4e', 'rc8', 'ecl', 'ecr', 'rc16'):
        yield Case(f'prmt.b32{"." + mode if mode else ""} {{d}}, {{a}}, {{b}}, {{c}}', three, 32, permute(mode))
    yield Case('prmt.b32 {d}, {a}, {b}, 0x5410', ('b32', 'b32'), 32, lambda a, b: permute('')(a, b, 0x5410))


def cases():
    return [*logic(), *lop3(), *counts(), *fields(), *permutes()]
