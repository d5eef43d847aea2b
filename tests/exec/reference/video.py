"""PTX ISA, "Video Instructions", scalar and SIMD."""
import re

from cases import Case, clamp, range_of, signed, unsigned
from compare import ORDERED


def pick(v, selector, t):
    """One byte, halfword or word, extended by type."""
    if not selector:
        return signed(v, 32) if t == 's32' else v
    w = 8 if selector[0] == 'b' else 16
    v = unsigned(v >> (w * int(selector[1])), w)
    return signed(v, w) if t == 's32' else v


OPERATIONS = {'vadd': lambda a, b: a + b, 'vsub': lambda a, b: a - b, 'vabsdiff': lambda a, b: abs(a - b), 'vmin': min, 'vmax': max,
              'vavrg': lambda a, b: (a + b + (a + b >= 0)) >> 1}


def dotted(selector):
    return '.' + selector if selector else ''


def finish(tmp, dtype, sat, dsel, op2, c):
    w = {'b': 8, 'h': 16}.get(dsel[:1], 32)
    if sat:
        tmp = clamp(tmp, *range_of(f'{dtype[0]}{w}'))
    if op2:
        as_type = (lambda v: signed(v, 32)) if dtype == 's32' else (lambda v: unsigned(v, 32))
        return {'add': tmp + c, 'min': min(as_type(tmp), as_type(c)), 'max': max(as_type(tmp), as_type(c))}[op2]
    if dsel:
        at = w * int(dsel[1])
        field = ((1 << w) - 1) << at
        return c & ~field | tmp << at & field
    return tmp


def scalar_case(op, function, dtype, atype, btype, sat, asel, bsel, dsel='', op2='', mode=''):
    name = '.'.join(x for x in (op, dtype, atype, btype, 'sat' if sat else '', mode, op2) if x)
    third = ', {c}' if dsel or op2 else ''
    text = f'{name} {{d}}{dotted(dsel)}, {{a}}{dotted(asel)}, {{b}}{dotted(bsel)}{third}'

    def f(a, b, c):
        return finish(function(pick(a, asel, atype), pick(b, bsel, btype)), dtype, sat, dsel, op2, c)
    return Case(text, ('b32', 'shift' if op in ('vshl', 'vshr') else 'b32', 'b32'), 32, f)


def scalar():
    forms = [('s32', 's32', 's32', False, '', ''), ('u32', 'u32', 'u32', True, '', ''), ('s32', 'u32', 's32', True, '', ''),
             ('s32', 's32', 's32', True, 'b0', 'b3'), ('u32', 's32', 'u32', True, 'h1', 'b2'), ('u32', 'u32', 'u32', False, 'h0', 'h1'),
             ('s32', 's32', 's32', True, 'b1', 'h0', 'h1'), ('u32', 'u32', 's32', True, '', 'b1', 'b2'), ('s32', 'u32', 'u32', False, 'b3', 'b0', 'b0'),
             ('s32', 's32', 's32', False, 'b0', 'b1', '', 'add'), ('u32', 'u32', 'u32', True, 'h0', 'h1', '', 'max'),
             ('s32', 's32', 'u32', True, '', 'h1', '', 'min'), ('u32', 'u32', 'u32', True, 'b2', 'b2', '', 'add')]
    for op in ('vadd', 'vsub', 'vabsdiff', 'vmin', 'vmax'):
        for form in forms:
            yield scalar_case(op, OPERATIONS[op], *form)


def shifts():
    for mode in ('clamp', 'wrap'):
        amount = (lambda b: min(b, 32)) if mode == 'clamp' else (lambda b: b & 31)
        for op, f in (('vshl', lambda a, b, n=amount: a << n(b)), ('vshr', lambda a, b, n=amount: a >> n(b))):
            for dtype, atype, sat, asel, dsel, op2 in (('u32', 'u32', False, '', '', ''), ('s32', 's32', False, '', '', ''), ('u32', 'u32', True, 'b1', '', ''),
                                                       ('s32', 's32', True, 'h1', 'b3', ''), ('u32', 'u32', False, 'h0', '', 'add'),
                                                       ('s32', 's32', False, 'b0', '', 'max')):
                yield scalar_case(op, f, dtype, atype, 'u32', sat, asel, '', dsel, op2, mode)


def multiply_add():
    for dtype, atype, btype in (('s32', 's32', 's32'), ('u32', 'u32', 'u32'), ('s32', 'u32', 's32')):
        for sat in (False, True):
            for scale in ('', 'shr7', 'shr15'):
                for asel, bsel in (('', ''), ('b1', 'h0'), ('h1', 'b3')):
                    if not asel and scale:
                        continue
                    for plus_one in (False, True):
                        name = '.'.join(x for x in ('vmad', dtype, atype, btype, 'po' if plus_one else '', 'sat' if sat else '', scale) if x)
                        is_signed = 's32' in (atype, btype)

                        def f(a, b, c, asel=asel, bsel=bsel, atype=atype, btype=btype, sat=sat, scale=scale, one=plus_one, s=is_signed):
                            tmp = pick(a, asel, atype) * pick(b, bsel, btype) + (signed(c, 32) if s else c) + one
                            tmp >>= {'': 0, 'shr7': 7, 'shr15': 15}[scale]
                            return clamp(tmp, *range_of('s32' if s else 'u32')) if sat else tmp
                        if dtype == 's32' or not is_signed:
                            yield Case(f'{name} {{d}}, {{a}}{dotted(asel)}, {{b}}{dotted(bsel)}, {{c}}', ('b32', 'b32', 'b32'), 32, f)


def comparisons():
    for atype, btype, name, asel, bsel, dsel, op2 in (('s32', 's32', 'lt', '', '', '', ''), ('u32', 'u32', 'ge', 'b0', 'b1', '', ''),
                                                      ('s32', 'u32', 'ne', 'h1', 'b2', '', ''), ('u32', 'u32', 'eq', 'h0', 'h0', 'h1', ''),
                                                      ('s32', 's32', 'gt', 'b3', 'b3', '', 'add'), ('u32', 's32', 'le', '', 'b1', '', 'max')):
        text = '.'.join(x for x in ('vset', atype, btype, name, op2) if x)
        third = ', {c}' if dsel or op2 else ''

        def f(a, b, c, atype=atype, btype=btype, name=name, asel=asel, bsel=bsel, dsel=dsel, op2=op2):
            return finish(int(ORDERED[name](pick(a, asel, atype), pick(b, bsel, btype))), 'u32', False, dsel, op2, c)
        yield Case(f'{text} {{d}}{dotted(dsel)}, {{a}}{dotted(asel)}, {{b}}{dotted(bsel)}{third}', ('b32', 'b32', 'b32'), 32, f)


def lanes(a, b, selector, parts, t):
    """Parts of {b, a} in the order of the selector's digits, the last digit being part 0."""
    w = 32 // parts
    pool = b << 32 | a
    out = []
    for digit in reversed(selector[1:]):
        v = unsigned(pool >> (w * int(digit)), w)
        out.append(signed(v, w) if t == 's32' else v)
    return out


def simd_case(op, parts, function, dtype, atype, btype, sat, asel, bsel, mask, add, compare=''):
    w = 32 // parts
    letter = 'h' if parts == 2 else 'b'
    default_a = letter + ''.join(str(k) for k in reversed(range(parts)))
    default_b = letter + ''.join(str(k + parts) for k in reversed(range(parts)))
    name = '.'.join(x for x in (f'{op}{parts}', '' if compare else dtype, atype, btype, compare, 'sat' if sat else '', 'add' if add else '') if x)
    on = [str(k) in (mask or default_a) for k in range(parts)]

    def f(a, b, c):
        t = [function(x, y) for x, y in zip(lanes(a, b, asel or default_a, parts, atype), lanes(a, b, bsel or default_b, parts, btype))]
        if sat:
            t = [clamp(v, *range_of(f'{dtype[0]}{w}')) for v in t]
        if add:
            return c + sum(v for v, o in zip(t, on) if o)
        return sum(unsigned(v if o else c >> (w * k), w) << (w * k) for k, (v, o) in enumerate(zip(t, on)))
    text = f'{name} {{d}}{dotted(mask)}, {{a}}{dotted(asel)}, {{b}}{dotted(bsel)}, {{c}}'
    return Case(text, ('b32', 'b32', 'b32'), 32, f)


def simd():
    for parts in (2, 4):
        select = {2: [('', ''), ('h01', 'h32'), ('h30', 'h21')], 4: [('', ''), ('b0123', 'b7654'), ('b7520', 'b1346')]}[parts]
        masks = {2: ['', 'h0', 'h1'], 4: ['', 'b20', 'b3']}[parts]
        for op in ('vadd', 'vsub', 'vavrg', 'vabsdiff', 'vmin', 'vmax'):
            for n, (dtype, atype, btype, sat) in enumerate((('s32', 's32', 's32', False), ('u32', 'u32', 'u32', True), ('s32', 's32', 's32', True),
                                                            ('u32', 's32', 'u32', True), ('u32', 'u32', 'u32', False))):
                for m in range(2):
                    asel, bsel = select[(n + m) % 3] if n else select[0]
                    yield simd_case(op, parts, OPERATIONS[op], dtype, atype, btype, sat, asel, bsel, masks[(n * 2 + m) % 3] if n else '', m == 1 and not sat)
        for n, name in enumerate(ORDERED):
            f = lambda a, b, g=ORDERED[name]: int(g(a, b))
            asel, bsel = select[n % 3]
            yield simd_case('vset', parts, f, 'u32', 's32' if n & 1 else 'u32', 's32' if n & 1 else 'u32', False, asel, bsel, masks[n // 2 % 3], n & 1 == 1, name)


# Forms of which an H200 gives something else than the manual says: it has no scalar video instructions, and what the assembler makes
# of these saturates or shifts with the wrong signedness. The family video_by_manual is not run on a GPU.
DIFFERENT = re.compile(r'v(add|sub|absdiff|min|max)\.s32\.s32\.s32\.sat .d.\.h1|v(add|min)\.u32\.u32\.s32\.sat|vadd\.u32\.u32\.u32\.sat .d., .a., .b.$'
                       r'|vmad\.u32\.u32\.u32.*(shr|sat)|vmad\.s32\.u32\.s32.*sat .d., .a., .b.,|vset\.u32\.u32\.eq'
                       r'|vsh[lr].*\.sat\.|vshl\.[su]32.*\.(min|max)|vset\.s32\.s32\..*\.max|vmad\.s32\.u32\.u32.*shr15')


def everything():
    return [*scalar(), *shifts(), *multiply_add(), *comparisons(), *simd()]


def cases():
    return [c for c in everything() if not DIFFERENT.match(c.text)]
