"""The instructions that random programs are made of. An operand is a register of a kind (h: 16 bits, r: 32, d: 64,
p: predicate), `#N` an immediate of N bits, `=a b c` one of these words. %x, %y, %z, %k are free within an operation."""
from dataclasses import dataclass, field


@dataclass
class Operation:
    text: str
    operands: dict
    immediates: str = ''    # this operand may be an immediate
    guardable: bool = True
    distinct: bool = False  # sources must be different registers


KIND = {16: 'h', 32: 'r', 64: 'd'}
INTEGER_OPERATIONS, FLOAT_OPERATIONS, HALF_OPERATIONS, CONVERSIONS = [], [], [], []


def add(to, text, d, a='', b='', c='', weight=1, **more):
    """Operands by kind; {d} {a} {b} {c} in the text, other names in `more` when they are operands."""
    fields = {k: more.pop(k) for k in list(more) if k in ('immediates', 'guardable', 'distinct')}
    operands = {k: v for k, v in (('d', d), ('a', a), ('b', b), ('c', c)) if v} | more
    to.extend([Operation(text, operands, **fields)] * weight)


def integers():
    out = INTEGER_OPERATIONS
    for w, k in KIND.items():
        for s in 'us':
            t = f'{s}{w}'
            for op in ('add', 'sub', 'mul.lo', 'mul.hi', 'min', 'max'):
                add(out, f'{op}.{t} {{d}}, {{a}}, {{b}}', k, k, k, immediates='b')
            for op in ('mad.lo', 'mad.hi'):
                add(out, f'{op}.{t} {{d}}, {{a}}, {{b}}, {{c}}', k, k, k, k)
            add(out, f'sad.{t} {{d}}, {{a}}, {{b}}, {{c}}', k, k, k, k)
            add(out, f'shr.{t} {{d}}, {{a}}, {{b}}', k, k, 'r')
            add(out, f'shr.{t} {{d}}, {{a}}, {{b}}', k, k, b='=0 1 5 15 16 31 32 63 64 200')
            scratch = {'h': '%x0', 'r': '%y0', 'd': '%z0'}[k]
            # Never by zero, nor the most negative number by -1. A constant divisor is left out: ptxas 13.0 compiles
            # rem.s16 by 10 wrong.
            mask = (1 << w - 1) - 1
            for op in ('div', 'rem'):
                add(out, f'and.b{w} {scratch}, {{b}}, 0x{mask:x}; or.b{w} {scratch}, {scratch}, 1; {op}.{t} {{d}}, {{a}}, {scratch}', k, k, k)
            for cmp in ('eq', 'ne', 'lt', 'le', 'gt', 'ge') + (('lo', 'ls', 'hi', 'hs') if s == 'u' else ()):
                add(out, f'setp.{cmp}.{t} {{d}}, {{a}}, {{b}}', 'p', k, k, immediates='b')
            add(out, f'setp.{{cmp}}.{{op}}.{t} {{d}}, {{a}}, {{b}}, {{c}}', 'p', k, k, 'p', cmp='=lt ge eq', op='=and or xor')
            add(out, f'set.{{cmp}}.u32.{t} {{d}}, {{a}}, {{b}}', 'r', k, k, cmp='=lt ge eq ne', guardable=False)
            if w < 64:
                add(out, f'mul.wide.{t} {{d}}, {{a}}, {{b}}', KIND[2 * w], k, k)
                add(out, f'mad.wide.{t} {{d}}, {{a}}, {{b}}, {{c}}', KIND[2 * w], k, k, KIND[2 * w])
        add(out, f'abs.s{w} {{d}}, {{a}}', k, k)
        add(out, f'neg.s{w} {{d}}, {{a}}', k, k)
        for op in ('and', 'or', 'xor'):
            add(out, f'{op}.b{w} {{d}}, {{a}}, {{b}}', k, k, k, immediates='b')
        add(out, f'not.b{w} {{d}}, {{a}}', k, k)
        add(out, f'cnot.b{w} {{d}}, {{a}}', k, k)
        add(out, f'shl.b{w} {{d}}, {{a}}, {{b}}', k, k, 'r')
        add(out, f'shl.b{w} {{d}}, {{a}}, {{b}}', k, k, b='=0 1 5 15 16 31 32 63 64 200')
        add(out, f'selp.b{w} {{d}}, {{a}}, {{b}}, {{c}}', k, k, k, 'p', weight=2)
        add(out, f'slct.u{w}.s32 {{d}}, {{a}}, {{b}}, {{c}}', k, k, k, 'r')
        add(out, f'mov.b{w} {{d}}, {{a}}', k, k)
    for w, k in ((32, 'r'), (64, 'd')):
        for op in ('popc', 'clz'):
            add(out, f'{op}.b{w} {{d}}, {{a}}', 'r', k)
        add(out, f'brev.b{w} {{d}}, {{a}}', k, k)
        for s in 'us':
            add(out, f'bfind{{m}}.{s}{w} {{d}}, {{a}}', 'r', k, m='=.shiftamt')
            add(out, f'bfind.{s}{w} {{d}}, {{a}}', 'r', k)
            add(out, f'bfe.{s}{w} {{d}}, {{a}}, {{b}}, {{c}}', k, k, 'r', 'r')
            add(out, f'bfe.{s}{w} {{d}}, {{a}}, {{b}}, {{c}}', k, k, b='=0 3 17 31 40', c='=0 1 7 16 32 50')
        add(out, f'bfi.b{w} {{d}}, {{a}}, {{b}}, {{c}}, {{e}}', k, k, k, 'r', e='r')
        add(out, f'bfi.b{w} {{d}}, {{a}}, {{b}}, {{c}}, {{e}}', k, k, k, c='=0 3 17 31 40', e='=0 1 7 16 32 50')
    add(out, 'add.sat.s32 {d}, {a}, {b}', 'r', 'r', 'r')
    add(out, 'sub.sat.s32 {d}, {a}, {b}', 'r', 'r', 'r')
    add(out, 'mad.hi.sat.s32 {d}, {a}, {b}, {c}', 'r', 'r', 'r', 'r')
    for s in 'us':
        for op in ('lo', 'hi'):
            add(out, f'mul24.{op}.{s}32 {{d}}, {{a}}, {{b}}', 'r', 'r', 'r')
            add(out, f'mad24.{op}.{s}32 {{d}}, {{a}}, {{b}}, {{c}}', 'r', 'r', 'r', 'r')
        for mode in ('clamp', 'wrap'):
            add(out, f'szext.{mode}.{s}32 {{d}}, {{a}}, {{b}}', 'r', 'r', 'r')
    for mode in ('clamp', 'wrap'):
        add(out, f'bmsk.{mode}.b32 {{d}}, {{a}}, {{b}}', 'r', 'r', 'r')
        for side in 'lr':
            add(out, f'shf.{side}.{mode}.b32 {{d}}, {{a}}, {{b}}, {{c}}', 'r', 'r', 'r', 'r')
    add(out, 'lop3.b32 {d}, {a}, {b}, {c}, {e}', 'r', 'r', 'r', 'r', e='#8', weight=3)
    add(out, 'prmt.b32 {d}, {a}, {b}, {c}', 'r', 'r', 'r', 'r', immediates='c')
    add(out, 'prmt.b32{m} {d}, {a}, {b}, {c}', 'r', 'r', 'r', 'r', m='=.f4e .b4e .rc8 .ecl .ecr .rc16')
    for a in 'us':
        for b in 'us':
            add(out, f'dp4a.{a}32.{b}32 {{d}}, {{a}}, {{b}}, {{c}}', 'r', 'r', 'r', 'r')
            add(out, f'dp2a.{{m}}.{a}32.{b}32 {{d}}, {{a}}, {{b}}, {{c}}', 'r', 'r', 'r', 'r', m='=lo hi')
    # Carries: chains of their own, since the flag is not defined elsewhere.
    for t, k in (('u32', 'r'), ('s32', 'r'), ('u64', 'd')):
        y = {'r': '%y', 'd': '%z'}[k]
        add(out, f'add.cc.{t} {y}1, {{a}}, {{b}}; addc.{t} {{d}}, {{c}}, {y}1', k, k, k, k, guardable=False)
        add(out, f'sub.cc.{t} {y}1, {{a}}, {{b}}; subc.{t} {{d}}, {{c}}, {y}1', k, k, k, k, guardable=False)
    add(out, 'mad.lo.cc.u32 %y1, {a}, {b}, {c}; madc.hi.u32 {d}, {a}, {b}, %y1', 'r', 'r', 'r', 'r', guardable=False)
    add(out, 'mov.b64 {d}, {{{a}, {b}}}', 'd', 'r', 'r')
    add(out, 'mov.b64 {{{d}, %y0}}, {a}; xor.b32 {d}, {d}, %y0', 'r', 'd', guardable=False)
    add(out, 'mov.b32 {d}, {{{a}, {b}}}', 'r', 'h', 'h')
    for op in ('and', 'or', 'xor'):
        add(out, f'{op}.pred {{d}}, {{a}}, {{b}}', 'p', 'p', 'p')
    add(out, 'not.pred {d}, {a}', 'p', 'p')


ROUNDINGS = ('.rn', '.rz', '.rm', '.rp')
COMPARISONS = '=eq ne lt le gt ge equ neu ltu leu gtu geu num nan'


def floats():
    """Always with a rounding: ptxas may contract add and mul without one. Sources of min and max differ: min.f16 x, x
    keeps a NaN's payload on hardware."""
    out = FLOAT_OPERATIONS
    for w, k in ((32, 'r'), (64, 'd')):
        t = f'f{w}'
        for z in (('', '.ftz') if w == 32 else ('',)):
            sats = ('', '', '.sat') if w == 32 else ('',)
            for rnd in ROUNDINGS:
                for sat in sats:
                    for op in ('add', 'sub', 'mul'):
                        add(out, f'{op}{rnd}{z}{sat}.{t} {{d}}, {{a}}, {{b}}', k, k, k)
                    add(out, f'fma{rnd}{z}{sat}.{t} {{d}}, {{a}}, {{b}}, {{c}}', k, k, k, k, weight=2)
                add(out, f'div{rnd}{z}.{t} {{d}}, {{a}}, {{b}}', k, k, k)
                add(out, f'rcp{rnd}{z}.{t} {{d}}, {{a}}', k, k)
                add(out, f'sqrt{rnd}{z}.{t} {{d}}, {{a}}', k, k)
            for op in ('min', 'max'):
                add(out, f'{op}{z}.{t} {{d}}, {{a}}, {{b}}', k, k, k, weight=2, distinct=True)
                if w == 32:
                    add(out, f'{op}{z}.NaN.{t} {{d}}, {{a}}, {{b}}', k, k, k, distinct=True)
            for op in ('abs', 'neg'):
                add(out, f'{op}{z}.{t} {{d}}, {{a}}', k, k)
            add(out, f'setp.{{cmp}}{z}.{t} {{d}}, {{a}}, {{b}}', 'p', k, k, cmp=COMPARISONS, weight=4)
            add(out, f'set.{{cmp}}{z}.u32.{t} {{d}}, {{a}}, {{b}}', 'r', k, k, cmp=COMPARISONS, guardable=False)
        add(out, f'copysign.{t} {{d}}, {{a}}, {{b}}', k, k, k)
        # Without a guard: ptxas 13.0 ignores the guard of testp.
        add(out, f'testp.{{m}}.{t} {{d}}, {{a}}', 'p', k, m='=finite infinite number notanumber normal subnormal', guardable=False)


def halves():
    out = HALF_OPERATIONS
    for t, k in (('f16', 'h'), ('f16x2', 'r'), ('bf16', 'h'), ('bf16x2', 'r')):
        f16 = t[0] == 'f'
        for z in (('', '.ftz') if f16 else ('',)):
            for sat in (('', '.sat') if f16 else ('',)):
                for op in ('add', 'sub', 'mul'):
                    add(out, f'{op}.rn{z}{sat}.{t} {{d}}, {{a}}, {{b}}', k, k, k)
                add(out, f'fma.rn{z}{sat}.{t} {{d}}, {{a}}, {{b}}, {{c}}', k, k, k, k)
            add(out, f'fma.rn{z}.relu.{t} {{d}}, {{a}}, {{b}}, {{c}}', k, k, k, k)
            for op in ('min', 'max'):
                add(out, f'{op}{z}.{t} {{d}}, {{a}}, {{b}}', k, k, k, distinct=True)
                add(out, f'{op}{z}.NaN.{t} {{d}}, {{a}}, {{b}}', k, k, k, distinct=True)
        add(out, f'neg.{t} {{d}}, {{a}}', k, k)
        add(out, f'abs.{t} {{d}}, {{a}}', k, k)
        if t in ('f16', 'bf16'):
            add(out, f'setp.{{cmp}}.{t} {{d}}, {{a}}, {{b}}', 'p', k, k, cmp=COMPARISONS, weight=2)


def conversions():
    out = CONVERSIONS
    widths = (8, 16, 32, 64)
    for dw in widths:
        for sw in widths:
            for ds in 'us':
                for ss in 'us':
                    d, s = KIND[max(dw, 16)], KIND[max(sw, 16)]
                    if (ds, dw) == (ss, sw):
                        continue
                    # An 8-bit destination leaves the upper bits of a wider register to the extension that PTX defines.
                    add(out, f'cvt.{ds}{dw}.{ss}{sw} {{d}}, {{a}}', d, s)
                    # Saturation exists where the destination lacks some of the source's values. ptxas 13.0: bfe.s32
                    # of a cvt.sat.s32.u32 result is wrong.
                    holds_all = dw > sw and (ds == ss or ss == 'u')
                    if not holds_all and not (ds == 's' and dw == 32 and ss == 'u' and sw == 32):
                        add(out, f'cvt.sat.{ds}{dw}.{ss}{sw} {{d}}, {{a}}', d, s)
    for f, k in (('f16', 'h'), ('f32', 'r'), ('f64', 'd')):
        for w in widths:
            i = KIND[max(w, 16)]
            for s in 'us':
                for rnd in ROUNDINGS:
                    add(out, f'cvt{rnd}.{f}.{s}{w} {{d}}, {{a}}', k, i)
                for rnd in ('.rni', '.rzi', '.rmi', '.rpi'):
                    add(out, f'cvt{rnd}.{s}{w}.{f} {{d}}, {{a}}', i, k)
                    if f == 'f32':
                        add(out, f'cvt{rnd}.ftz.{s}{w}.{f} {{d}}, {{a}}', i, k)
        for rnd in ('.rni', '.rzi', '.rmi', '.rpi'):
            add(out, f'cvt{rnd}.{f}.{f} {{d}}, {{a}}', k, k, weight=4)
            if f != 'f64':
                add(out, f'cvt{rnd}.sat.{f}.{f} {{d}}, {{a}}', k, k)
    for rnd in ROUNDINGS:
        add(out, f'cvt{rnd}.f32.f64 {{d}}, {{a}}', 'r', 'd', weight=4)
        add(out, f'cvt{rnd}.ftz.f32.f64 {{d}}, {{a}}', 'r', 'd', weight=2)
        add(out, f'cvt{rnd}.f16.f32 {{d}}, {{a}}', 'h', 'r', weight=4)
        add(out, f'cvt{rnd}.f16.f64 {{d}}, {{a}}', 'h', 'd', weight=2)
    add(out, 'cvt.f64.f32 {d}, {a}', 'd', 'r', weight=4)
    add(out, 'cvt.ftz.f64.f32 {d}, {a}', 'd', 'r', weight=2)
    add(out, 'cvt.f32.f16 {d}, {a}', 'r', 'h', weight=4)
    add(out, 'cvt.f64.f16 {d}, {a}', 'd', 'h', weight=2)
    add(out, 'cvt.sat.f32.f32 {d}, {a}', 'r', 'r', weight=2)
    for relu in ('', '.relu'):
        for rnd in ('.rn', '.rz'):
            add(out, f'cvt{rnd}{relu}.f16x2.f32 {{d}}, {{a}}, {{b}}', 'r', 'r', 'r', weight=2)
            add(out, f'cvt{rnd}{relu}.bf16x2.f32 {{d}}, {{a}}, {{b}}', 'r', 'r', 'r', weight=2)
            add(out, f'cvt{rnd}{relu}.bf16.f32 {{d}}, {{a}}', 'h', 'r', weight=2)
            add(out, f'cvt{rnd}{relu}.tf32.f32 {{d}}, {{a}}', 'r', 'r')
        add(out, f'cvt.rn.satfinite{relu}.e4m3x2.f32 {{d}}, {{a}}, {{b}}', 'h', 'r', 'r', weight=2)
        add(out, f'cvt.rn.satfinite{relu}.e5m2x2.f32 {{d}}, {{a}}, {{b}}', 'h', 'r', 'r', weight=2)
        add(out, f'cvt.rn{relu}.f16x2.e4m3x2 {{d}}, {{a}}', 'r', 'h')
        add(out, f'cvt.rn{relu}.f16x2.e5m2x2 {{d}}, {{a}}', 'r', 'h')
    add(out, 'cvt.rna.tf32.f32 {d}, {a}', 'r', 'r', weight=2)
    add(out, 'cvt.f32.bf16 {d}, {a}', 'r', 'h', weight=2)
    for t in ('u16', 's16'):
        add(out, f'cvt.pack.sat.{t}.s32 {{d}}, {{a}}, {{b}}', 'r', 'r', 'r', weight=2)
    for t in ('u8', 's8', 'u4', 's4', 'u2', 's2'):
        add(out, f'cvt.pack.sat.{t}.s32.b32 {{d}}, {{a}}, {{b}}, {{c}}', 'r', 'r', 'r', 'r')


integers()
floats()
halves()
conversions()
