"""PTX ISA, "Data Movement and Conversion Instructions": cvt of all type pairs, cvt.pack, mov of vectors."""
from fractions import Fraction

from cases import Case, clamp, range_of, read, unsigned
from formats import BF16, E4M3, E5M2, F16, F32, F64, FORMATS, TF32, Format, round_integer

INTEGERS = ('u8', 's8', 'u16', 's16', 'u32', 's32', 'u64', 's64')
UNBOUNDED_F32 = Format('f32 with a long exponent', 13, 23, 0)
SMALLEST_NORMAL = Fraction(1, 1 << 126)
MODES = ('rn', 'rz', 'rm', 'rp')


def between_integers():
    for to in INTEGERS:
        for of in INTEGERS:
            width, low_high = int(to[1:]), range_of(to)
            store = max(width, 16)
            source = ('u32' if of[1:] == '8' else of,)  # an 8-bit source lies in a wider register, whose upper bits do not count
            extended = (lambda v, to=to: unsigned(read(v, to), 16)) if width == 8 else (lambda v: v)
            yield Case(f'cvt.{to}.{of} {{d}}, {{a}}', source, store, lambda a, of=of, x=extended: x(read(a, of)))
            of_range = range_of(of)
            if low_high[0] <= of_range[0] and of_range[1] <= low_high[1]:
                continue  # nothing to saturate: the assembler refuses .sat
            yield Case(f'cvt.sat.{to}.{of} {{d}}, {{a}}', source, store, lambda a, of=of, x=extended, r=low_high: x(clamp(read(a, of), *r)))


def to_integer(of, to, mode, ftz=False):
    fmt, w = FORMATS[of], int(to[1:])

    def f(a):
        if ftz:
            a = fmt.flush(a)
        if fmt.is_nan(a):
            v = read(nan_to_integer(of, to), to)
        elif fmt.is_inf(a):
            v = range_of(to)[0 if fmt.negative(a) else 1]
        else:
            v = clamp(round_integer(fmt.value(a), mode), *range_of(to))
        return unsigned(unsigned(v, w) if to[0] == 'u' else v, max(w, 16))
    return f


def nan_to_integer(of, to):
    """The manual: 0 unless the source is f64 or the destination has 64 bits."""
    if of == 'f64' or to[1:] == '64':
        return 1 << (int(to[1:]) - 1)
    return 0


def floats_to_integers():
    for of in ('f16', 'bf16', 'f32', 'f64'):
        for to in INTEGERS:
            if of == 'bf16' and to[1:] == '8':
                continue  # no such form
            store = max(int(to[1:]), 16)
            for mode in ('rni', 'rzi', 'rmi', 'rpi'):
                yield Case(f'cvt.{mode}.{to}.{of} {{d}}, {{a}}', (of,), store, to_integer(of, to, mode))
    for to in ('s32', 'u64'):
        yield Case(f'cvt.rpi.ftz.{to}.f32 {{d}}, {{a}}', ('f32',), int(to[1:]), to_integer('f32', to, 'rpi', True))


def saturate(bits, fmt):
    """To [+0, 1]; NaN gives +0."""
    one = fmt.bias << fmt.mantissa
    if fmt.is_nan(bits) or fmt.negative(bits):
        return 0
    return min(bits, one)


def integers_to_floats():
    for of in INTEGERS:
        source = ('u32' if of[1:] == '8' else of,)
        for to in ('f16', 'bf16', 'f32', 'f64'):
            if to == 'bf16' and of[1:] == '8':
                continue  # no such form
            for mode in MODES:
                yield Case(f'cvt.{mode}.{to}.{of} {{d}}, {{a}}', source, FORMATS[to].width,
                           lambda a, of=of, to=to, mode=mode: FORMATS[to].encode(as_fraction(read(a, of)), mode))
    yield Case('cvt.rn.sat.f32.s32 {d}, {a}', ('s32',), 32, lambda a: saturate(F32.encode(as_fraction(read(a, 's32')), 'rn'), F32))


def as_fraction(v):
    return Fraction(v)


def convert(bits, of, to, mode='rn', satfinite=False, ftz=False, relu=False):
    if ftz and of is F32:
        bits = of.flush(bits)
    if of.is_nan(bits):
        return nan_of(of.nan if ftz and of is F32 else bits, of, to)
    negative = of.negative(bits)
    if relu and negative:
        return 0
    if of.is_inf(bits):
        r = (to.largest if satfinite or not to.infinity else to.inf) | (to.sign if negative else 0)
    else:
        r = to.encode(of.value(bits), mode, negative, satfinite)
    if ftz and to is F32 and of is F64:  # tiny is what still is after rounding with an unbounded exponent
        return r & to.sign if 0 < abs(UNBOUNDED_F32.value(UNBOUNDED_F32.encode(of.value(bits), mode))) < SMALLEST_NORMAL else r
    return to.flush(r) if ftz and to is F32 else r


def nan_of(bits, of, to):
    """NaNs as an H200 converts them: conversions to f64, from f64 and from bf16 to f32 keep sign and upper payload (f64 quiet); all others give one NaN."""
    if to is F64 or of is F64 or (of is BF16 and to is F32):
        payload = bits & ((1 << of.mantissa) - 1)
        if F64 in (of, to):
            payload |= 1 << (of.mantissa - 1)
        shift = to.mantissa - of.mantissa
        payload = payload << shift if shift >= 0 else payload >> -shift
        return (to.sign if of.negative(bits) else 0) | ((1 << to.exponent) - 1) << to.mantissa | payload
    return to.nan


def integral(bits, fmt, mode):
    """Rounds to an integral value in the same format."""
    if fmt.is_nan(bits):
        return nan_of(bits, fmt, fmt)
    if fmt.is_inf(bits):
        return bits
    return fmt.encode(Fraction(round_integer(fmt.value(bits), mode)), 'rn', fmt.negative(bits))


def between_floats():
    for mode in MODES:
        for of, to in ((F32, F16), (F64, F16), (F64, F32), (F64, BF16), (F32, BF16)):
            yield Case(f'cvt.{mode}.{to.name}.{of.name} {{d}}, {{a}}', (of.name,), to.width, lambda a, of=of, to=to, m=mode: convert(a, of, to, m))
    for of, to in ((F16, F32), (BF16, F32), (F16, F64), (BF16, F64), (F32, F64), (F32, F32), (F64, F64)):
        if of is not to:
            yield Case(f'cvt.{to.name}.{of.name} {{d}}, {{a}}', (of.name,), to.width, lambda a, of=of, to=to: convert(a, of, to))
    for mode in MODES:
        yield Case(f'cvt.{mode}.bf16.f16 {{d}}, {{a}}', ('f16',), 16, lambda a, m=mode: convert(a, F16, BF16, m))
        yield Case(f'cvt.{mode}.f16.bf16 {{d}}, {{a}}', ('bf16',), 16, lambda a, m=mode: convert(a, BF16, F16, m))
    for fmt in (F16, F32, F64, BF16):
        for mode in ('rni', 'rzi', 'rmi', 'rpi'):
            yield Case(f'cvt.{mode}.{fmt.name}.{fmt.name} {{d}}, {{a}}', (fmt.name,), fmt.width, lambda a, fmt=fmt, m=mode: integral(a, fmt, m))
    yield Case('cvt.rmi.ftz.f32.f32 {d}, {a}', ('f32',), 32, lambda a: integral(F32.flush(a), F32, 'rmi'))
    yield Case('cvt.sat.f32.f32 {d}, {a}', ('f32',), 32, lambda a: saturate(a, F32))
    yield Case('cvt.ftz.f32.f32 {d}, {a}', ('f32',), 32, lambda a: F32.nan if F32.is_nan(a) else F32.flush(a))
    yield Case('cvt.rzi.sat.f32.f32 {d}, {a}', ('f32',), 32, lambda a: saturate(integral(a, F32, 'rzi'), F32))
    yield Case('cvt.rn.sat.f32.f64 {d}, {a}', ('f64',), 32, lambda a: saturate(convert(a, F64, F32), F32))
    yield Case('cvt.sat.f64.f32 {d}, {a}', ('f32',), 64, lambda a: saturate(convert(a, F32, F64), F64))
    yield Case('cvt.rn.sat.f16.f32 {d}, {a}', ('f32',), 16, lambda a: saturate(convert(a, F32, F16), F16))
    yield Case('cvt.sat.f32.f16 {d}, {a}', ('f16',), 32, lambda a: saturate(convert(a, F16, F32), F32))
    for mode in ('rn', 'rz', 'rm', 'rp'):
        yield Case(f'cvt.{mode}.ftz.f32.f64 {{d}}, {{a}}', ('f64',), 32, lambda a, m=mode: convert(a, F64, F32, m, ftz=True))
    yield Case('cvt.rn.ftz.f16.f32 {d}, {a}', ('f32',), 16, lambda a: convert(a, F32, F16, ftz=True))
    yield Case('cvt.ftz.f64.f32 {d}, {a}', ('f32',), 64, lambda a: convert(a, F32, F64, ftz=True))
    for to in (F16, BF16):
        for mode in ('rn', 'rz'):
            yield Case(f'cvt.{mode}.relu.{to.name}.f32 {{d}}, {{a}}', ('f32',), 16, lambda a, to=to, m=mode: convert(a, F32, to, m, relu=True))
            for relu in ('', '.relu'):
                yield Case(f'cvt.{mode}{relu}.{to.name}x2.f32 {{d}}, {{a}}, {{b}}', ('f32', 'f32'), 32,
                           lambda a, b, to=to, m=mode, r=bool(relu): convert(a, F32, to, m, relu=r) << 16 | convert(b, F32, to, m, relu=r))


def tf32():
    wide = lambda r: r << 13
    for mode in ('rna', 'rn', 'rz'):
        keep = mode == 'rna'  # ... a NaN's upper payload
        yield Case(f'cvt.{mode}.tf32.f32 {{d}}, {{a}}', ('f32',), 32,
                   lambda a, m=mode, k=keep: a & 0xffffe000 if k and F32.is_nan(a) else wide(convert(a, F32, TF32, m)))
        if mode != 'rna':
            yield Case(f'cvt.{mode}.relu.tf32.f32 {{d}}, {{a}}', ('f32',), 32, lambda a, m=mode: wide(convert(a, F32, TF32, m, relu=True)))


def eight_bits():
    for to in (E4M3, E5M2):
        for relu in ('', '.relu'):
            c = lambda v, of, to=to, r=bool(relu): convert(v, of, to, satfinite=True, relu=r)
            yield Case(f'cvt.rn.satfinite{relu}.{to.name}x2.f32 {{d}}, {{a}}, {{b}}', ('f32', 'f32'), 16, lambda a, b, c=c: c(a, F32) << 8 | c(b, F32))
            yield Case(f'cvt.rn.satfinite{relu}.{to.name}x2.f16x2 {{d}}, {{a}}', ('f16x2',), 16,
                       lambda a, c=c: c(a >> 16, F16) << 8 | c(a & 0xffff, F16))
            back = lambda v, of=to, r=bool(relu): convert(v, of, F16, relu=r)
            yield Case(f'cvt.rn{relu}.f16x2.{to.name}x2 {{d}}, {{a}}', ('b16',), 32, lambda a, back=back: back(a >> 8) << 16 | back(a & 0xff))


def pack():
    s32 = lambda v: read(v, 's32')
    for to in ('s16', 'u16'):
        part = lambda v, to=to: unsigned(clamp(s32(v), *range_of(to)), 16)
        yield Case(f'cvt.pack.sat.{to}.s32 {{d}}, {{a}}, {{b}}', ('s32', 's32'), 32, lambda a, b, p=part: p(a) << 16 | p(b))
    for to in ('s8', 'u8', 's4', 'u4', 's2', 'u2'):
        w = int(to[1:])
        part = lambda v, to=to, w=w: unsigned(clamp(s32(v), *range_of(to)), w)
        small = tuple(unsigned(v, 32) for v in (0, 1, -1, 2, -2, 3, -3, 4, 7, 8, -8, -9, 15, 16, 127, 128, -128, -129, 255, 256, 1 << 31, (1 << 31) - 1))
        yield Case(f'cvt.pack.sat.{to}.s32.b32 {{d}}, {{a}}, {{b}}, {{c}}', (small, small, 'b32'), 32,
                   lambda a, b, c, p=part, w=w: p(b) | p(a) << w | c << (2 * w))


def vectors():
    yield Case('mov.b32 {d}, {{a}, {b}}', ('b16', 'b16'), 32, lambda a, b: b << 16 | a)
    yield Case('mov.b64 {d}, {{a}, {b}}', ('b32', 'b32'), 64, lambda a, b: b << 32 | a)
    yield Case('mov.b64 {d}, {{a}, {b}, {c}, {f}}', ('b16',) * 4, 64, lambda a, b, c, f: f << 48 | c << 32 | b << 16 | a)
    yield Case('mov.b32 {{d}, {e}}, {a}', ('b32',), (16, 16), lambda a: (a, a >> 16))
    yield Case('mov.b64 {{d}, {e}}, {a}', ('b64',), (32, 32), lambda a: (a, a >> 32))
    yield Case('mov.b64 {_, {d}}, {a}', ('b64',), 32, lambda a: a >> 32)
    yield Case('mov.b64 {{d}, _, {e}, _}, {a}', ('b64',), (16, 16), lambda a: (a, a >> 32))
    yield Case('mov.b64 {{d}, {e}}, {a}; mov.b64 {{e}, {d}}, {a}', ('b64',), (32, 32), lambda a: (a >> 32, a))


def cases():
    return [*between_integers(), *floats_to_integers(), *integers_to_floats(), *between_floats(), *tf32(), *eight_bits(), *pack(), *vectors()]
