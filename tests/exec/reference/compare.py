"""PTX ISA, "Comparison and Selection Instructions", of half precision too."""
from cases import Case, read, signed
from formats import FORMATS

ORDERED = {'eq': lambda a, b: a == b, 'ne': lambda a, b: a != b, 'lt': lambda a, b: a < b, 'le': lambda a, b: a <= b, 'gt': lambda a, b: a > b,
           'ge': lambda a, b: a >= b}
UNSIGNED_NAMES = {'lo': 'lt', 'ls': 'le', 'hi': 'gt', 'hs': 'ge'}
FLOATING = [*ORDERED, *(name + 'u' for name in ORDERED), 'num', 'nan']
BOOLEAN = {'and': lambda p, c: p & c, 'or': lambda p, c: p | c, 'xor': lambda p, c: p ^ c}


def compare_integers(name, t):
    f = ORDERED[UNSIGNED_NAMES.get(name, name)]
    return lambda a, b: int(f(read(a, t), read(b, t)))


def number(bits, fmt):
    if fmt.is_inf(bits):
        return float('-inf') if fmt.negative(bits) else float('inf')
    return fmt.value(bits)


def compare_floats(name, kind, ftz=False):
    fmt = FORMATS[kind]

    def f(a, b):
        if ftz:
            a, b = fmt.flush(a), fmt.flush(b)
        unordered = fmt.is_nan(a) or fmt.is_nan(b)
        if name in ('num', 'nan'):
            return int(unordered == (name == 'nan'))
        if unordered:
            return int(name not in ORDERED)
        return int(ORDERED[name if name in ORDERED else name[:-1]](number(a, fmt), number(b, fmt)))
    return f


def predicates():
    for w in (16, 32, 64):
        for t in (f'u{w}', f's{w}', f'b{w}'):
            names = ['eq', 'ne'] if t[0] == 'b' else [*ORDERED]
            for name in names + ([*UNSIGNED_NAMES] if t[0] == 'u' else []):
                yield Case(f'setp.{name}.{t} {{d}}, {{a}}, {{b}}', (f'b{w}', f'b{w}'), 1, compare_integers(name, t if t[0] != 'b' else f'u{w}'))
    for kind in ('f32', 'f64', 'f16', 'bf16'):
        for name in FLOATING:
            yield Case(f'setp.{name}.{kind} {{d}}, {{a}}, {{b}}', (kind, kind), 1, compare_floats(name, kind))
    for name in ('eq', 'lt', 'gtu'):
        yield Case(f'setp.{name}.ftz.f32 {{d}}, {{a}}, {{b}}', ('f32', 'f32'), 1, compare_floats(name, 'f32', True))
        yield Case(f'setp.{name}.ftz.f16 {{d}}, {{a}}, {{b}}', ('f16', 'f16'), 1, compare_floats(name, 'f16', True))
    for op, join in BOOLEAN.items():
        less, less_f = compare_integers('lt', 's32'), compare_floats('lt', 'f32')
        three = ('s32', 's32', 'pred')
        yield Case(f'setp.lt.{op}.s32 {{d}}, {{a}}, {{b}}, {{c}}', three, 1, lambda a, b, c, j=join, f=less: j(f(a, b), c))
        yield Case(f'setp.lt.{op}.s32 {{d}}, {{a}}, {{b}}, !{{c}}', three, 1, lambda a, b, c, j=join, f=less: j(f(a, b), 1 - c))
        yield Case(f'setp.lt.{op}.s32 {{d}}|{{e}}, {{a}}, {{b}}, {{c}}', three, (1, 1), lambda a, b, c, j=join, f=less: (j(f(a, b), c), j(1 - f(a, b), c)))
        yield Case(f'setp.lt.{op}.f32 {{d}}|{{e}}, {{a}}, {{b}}, {{c}}', ('f32', 'f32', 'pred'), (1, 1),
                   lambda a, b, c, j=join, f=less_f: (j(f(a, b), c), j(1 - f(a, b), c)))
    yield Case('setp.gt.u32 {d}|{e}, {a}, {b}', ('b32', 'b32'), (1, 1), lambda a, b: (a > b, a <= b))
    for kind in ('f16', 'bf16'):
        for name in ('eq', 'ne', 'lt', 'geu', 'nan'):
            f = compare_floats(name, kind)
            two = (kind + 'x2', kind + 'x2')
            yield Case(f'setp.{name}.{kind}x2 {{d}}|{{e}}, {{a}}, {{b}}', two, (1, 1), lambda a, b, f=f: (f(a & 0xffff, b & 0xffff), f(a >> 16, b >> 16)))
        f = compare_floats('lt', kind)
        yield Case(f'setp.lt.and.{kind}x2 {{d}}|{{e}}, {{a}}, {{b}}, {{c}}', (*two, 'pred'), (1, 1),
                   lambda a, b, c, f=f: (f(a & 0xffff, b & 0xffff) & c, f(a >> 16, b >> 16) & c))


TRUE = {'u32': 0xffffffff, 's32': 0xffffffff, 'f32': 0x3f800000, 'f16': 0x3c00, 'bf16': 0x3f80, 'u16': 0xffff, 's16': 0xffff}


def values():
    for to in ('u32', 's32', 'f32'):
        for t in ('u16', 's16', 'u32', 's32', 'u64', 's64'):
            w = t[1:]
            yield Case(f'set.le.{to}.{t} {{d}}, {{a}}, {{b}}', (f'b{w}', f'b{w}'), 32, lambda a, b, f=compare_integers('le', t), y=TRUE[to]: y * f(a, b))
        for kind in ('f32', 'f64'):
            for name in ('lt', 'neu', 'num'):
                yield Case(f'set.{name}.{to}.{kind} {{d}}, {{a}}, {{b}}', (kind, kind), 32,
                           lambda a, b, f=compare_floats(name, kind), y=TRUE[to]: y * f(a, b))
    yield Case('set.gt.ftz.u32.f32 {d}, {a}, {b}', ('f32', 'f32'), 32, lambda a, b, f=compare_floats('gt', 'f32', True): 0xffffffff * f(a, b))
    yield Case('set.lt.xor.u32.s32 {d}, {a}, {b}, {c}', ('s32', 's32', 'pred'), 32,
               lambda a, b, c, f=compare_integers('lt', 's32'): 0xffffffff * (f(a, b) ^ c))
    for kind in ('f16', 'bf16'):
        for to in (kind, 'u16', 's16', 'u32', 's32'):
            w = 16 if to.endswith('16') else 32
            yield Case(f'set.lt.{to}.{kind} {{d}}, {{a}}, {{b}}', (kind, kind), w, lambda a, b, f=compare_floats('lt', kind), y=TRUE[to]: y * f(a, b))
        f, y = compare_floats('gtu', kind), TRUE[kind]
        yield Case(f'set.gtu.{kind}x2.{kind}x2 {{d}}, {{a}}, {{b}}', (kind + 'x2', kind + 'x2'), 32,
                   lambda a, b, f=f, y=y: y * f(a & 0xffff, b & 0xffff) | y * f(a >> 16, b >> 16) << 16)


def selection():
    for t in ('b16', 'u16', 's16', 'b32', 'u32', 's32', 'f32', 'b64', 'u64', 's64', 'f64'):
        w = int(t[1:])
        kind = f'b{w}'
        yield Case(f'selp.{t} {{d}}, {{a}}, {{b}}, {{c}}', (kind, kind, 'pred'), w, lambda a, b, c: a if c else b)
        yield Case(f'slct.{t}.s32 {{d}}, {{a}}, {{b}}, {{c}}', (kind, kind, 's32'), w, lambda a, b, c: a if signed(c, 32) >= 0 else b)
        at_least = compare_floats('ge', 'f32')
        yield Case(f'slct.{t}.f32 {{d}}, {{a}}, {{b}}, {{c}}', (kind, kind, 'f32'), w, lambda a, b, c, f=at_least: a if f(c, 0) else b)
    yield Case('slct.ftz.u32.f32 {d}, {a}, {b}, {c}', ('b32', 'b32', 'f32'), 32, lambda a, b, c, f=compare_floats('ge', 'f32', True): a if f(c, 0) else b)
    yield Case('selp.b32 {d}, {a}, 5, !{c}', ('b32', 'b32', 'pred'), 32, lambda a, b, c: 5 if c else a)


def cases():
    return [*predicates(), *values(), *selection()]
