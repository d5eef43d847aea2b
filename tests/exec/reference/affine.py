"""Arithmetic on values of the form base + lane * step, which the JIT keeps as such: bases and steps whose sums wrap inside a warp."""
from cases import Case, signed, unsigned

# PTX on x (the affine value, 32 bits), result width, reference on its bits.
OPERATIONS = [
    ('mov.b32 {d}, x;', 32, lambda x: x),
    ('cvt.u64.u32 {d}, x;', 64, lambda x: x),
    ('cvt.s64.s32 {d}, x;', 64, lambda x: signed(x, 32)),
    ('mul.wide.u32 {d}, x, 4;', 64, lambda x: x * 4),
    ('mul.wide.s32 {d}, x, 4;', 64, lambda x: signed(x, 32) * 4),
    ('mul.wide.s32 {d}, x, -12;', 64, lambda x: signed(x, 32) * -12),
    ('mul.wide.u32 {d}, x, 0xfffffff0;', 64, lambda x: x * 0xfffffff0),
    ('mad.wide.u32 {d}, x, 8, 0x7fffffffffffff00;', 64, lambda x: x * 8 + 0x7fffffffffffff00),
    ('mad.wide.s32 {d}, x, 8, 256;', 64, lambda x: signed(x, 32) * 8 + 256),
    ('mul.hi.u32 {d}, x, 0x80000003;', 32, lambda x: x * 0x80000003 >> 32),
    ('mul.hi.s32 {d}, x, -3;', 32, lambda x: signed(x, 32) * -3 >> 32),
    ('shl.b32 {d}, x, 3;', 32, lambda x: x << 3),
    ('shl.b32 {d}, x, 32;', 32, lambda x: 0),
    ('shr.u32 {d}, x, 5;', 32, lambda x: x >> 5),
    ('shr.s32 {d}, x, 5;', 32, lambda x: signed(x, 32) >> 5),
    ('and.b32 {d}, x, 31;', 32, lambda x: x & 31),
    ('and.b32 {d}, x, -32;', 32, lambda x: x & ~31),
    ('and.b32 {d}, x, 12;', 32, lambda x: x & 12),
    ('or.b32 {d}, x, 1;', 32, lambda x: x | 1),
    ('or.b32 {d}, x, 0x40000000;', 32, lambda x: x | 0x40000000),
    ('xor.b32 {d}, x, 0x55;', 32, lambda x: x ^ 0x55),
    ('not.b32 {d}, x;', 32, lambda x: ~x),
    ('neg.s32 {d}, x;', 32, lambda x: -x),
    ('abs.s32 {d}, x;', 32, lambda x: abs(signed(x, 32))),
    ('add.u32 {d}, x, x;', 32, lambda x: 2 * x),
    ('sub.u32 {d}, x, x;', 32, lambda x: 0),
    ('sub.u32 {d}, 7, x;', 32, lambda x: 7 - x),
    ('mul.lo.u32 {d}, x, x;', 32, lambda x: x * x),
    ('mul.lo.s32 {d}, x, -7;', 32, lambda x: x * -7),
    ('mad.lo.s32 {d}, x, 3, x;', 32, lambda x: x * 4),
    ('add.sat.s32 {d}, x, 100;', 32, lambda x: min(signed(x, 32) + 100, 0x7fffffff)),
    ('add.cc.u32 {d}, x, 20; addc.u32 {d}, 0, 0;', 32, lambda x: x + 20 >> 32),
    ('div.u32 {d}, x, 10;', 32, lambda x: x // 10),
    ('rem.u32 {d}, x, 10;', 32, lambda x: x % 10),
    ('max.s32 {d}, x, -5;', 32, lambda x: max(signed(x, 32), -5)),
    ('mul.wide.u16 {d}, h, 3;', 32, lambda x: unsigned(x, 16) * 3),
    ('cvt.u64.u16 {d}, h;', 64, lambda x: unsigned(x, 16)),
    ('cvt.s64.s8 {d}, x;', 64, lambda x: signed(x, 8)),
    ('cvt.u64.u32 w, x; shl.b64 {d}, w, 2;', 64, lambda x: x << 2),
    ('cvt.s64.s32 w, x; mul.lo.u64 {d}, w, 24;', 64, lambda x: signed(x, 32) * 24),
    ('cvt.u64.u32 w, x; add.u64 {d}, w, 0xfffffffffffffff0;', 64, lambda x: x - 16),
    ('cvt.s64.s32 w, x; sub.u64 {d}, 100, w;', 64, lambda x: 100 - signed(x, 32)),
    ('cvt.s64.s32 w, x; neg.s64 {d}, w;', 64, lambda x: -signed(x, 32)),
    ('cvt.u64.u32 w, x; shl.b64 w, w, 2; cvt.u32.u64 {d}, w;', 32, lambda x: x << 2),
    ('mul.wide.s32 w, x, 4; add.u64 w, w, 40; shr.u64 {d}, w, 3;', 64, lambda x: unsigned(signed(x, 32) * 4 + 40, 64) >> 3),
    ('mul.wide.u32 w, x, 4; add.u64 w, w, w; sub.u64 {d}, w, 1;', 64, lambda x: x * 8 - 1),
    ('setp.lt.s32 p, x, 0; selp.b32 {d}, x, 17, p;', 32, lambda x: x if x >> 31 else 17),
    ('setp.lt.u32 p, x, 50; @p add.u32 x, x, 1000; mov.b32 {d}, x;', 32, lambda x: x + 1000 if x < 50 else x),
    ('setp.lt.u32 p, x, 50; mov.u32 {d}, 3; @p mad.lo.u32 {d}, x, 4, 8;', 32, lambda x: x * 4 + 8 if x < 50 else 3),
    ('cvt.rn.f32.u32 {d}, x;', 32, None),
]


def rounded(x):
    from fractions import Fraction
    from formats import F32
    return F32.encode(Fraction(x))


def cases():
    out = []
    for step, base in ((1, 0), (4, 5), (1, 0xfffffff0), (4, 0x7fffffc0), (-1, 20), (-4, 0x80000010), (0x10000000, 3), (16, 0xfffffe00), (2, 0xff80)):
        for ptx, width, function in OPERATIONS:
            f = function or rounded
            text = f'{{ .reg .b32 x; .reg .b64 w; .reg .b16 h; .reg .pred p; mad.lo.s32 x, %t, {step}, {base:#x}; cvt.u16.u32 h, x; {ptx} }}'
            out.append(Case(text, ('index',), width, lambda i, f=f, step=step, base=base: f(unsigned(i * step + base, 32))))
    return out
