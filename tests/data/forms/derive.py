#!/usr/bin/env python3
"""derive.py [PTXAS]: adds to forms.txt what follows from its lines: a constant for each source, `_` for each result, a negated predicate
for each predicate that is read, a register for the mask of lanes, and the other state spaces of atomic operations. One line for each
opcode, types and operand, whatever its other modifiers. What ptxas refuses is not added."""
import pathlib
import re
import sys

from record import CHUNK, refused

HERE = pathlib.Path(__file__).parent
REGISTER = re.compile(r'%([a-z0-9]+)_\d')
TYPE = re.compile(r'(?:[usb](?:4|8|16|32|64|128|1)|[usb]16x2|b?f16x2|bf16|tf32|f(?:16|32|64)|pred|e4m3x2|e5m2x2)$')
VALUES = set('''abs add addc and bfe bfi bfind bmsk brev clz cnot copysign cos cvt div dp2a dp4a ex2 fma fns lg2 lop3 mad mad24 madc max min
mov mul mul24 neg not or popc prmt rcp rem rsqrt sad selp set setp shf shl shr sin slct sqrt sub subc szext tanh testp xor vabsdiff vadd
vmax vmin vsub vmad vset vshl vshr vadd2 vadd4 vset2 vset4 shfl vote match redux elect'''.split())
WITHOUT_RESULT = {'st', 'red'}
MASKED = {'shfl', 'vote', 'match', 'redux', 'elect'}


def operands(rest):
    """The operands outside braces and brackets."""
    depth, out = 0, ['']
    for c in rest:
        depth += c in '[{'
        depth -= c in ']}'
        if c == ',' and depth == 0:
            out.append('')
        else:
            out[-1] += c
    return out


def constant(types, register):
    bits = int(re.sub(r'\D', '', register.replace('x2', '')) or 0)
    for t in reversed(types):
        if t in ('f32', 'f64') and int(t[1:]) == bits:
            return '0f40490fdb' if t == 'f32' else '0d400921fb54442d18'
    return '5'


def derived(form):
    """(kind, line) of each form that follows."""
    head, _, rest = form.rstrip(';').partition(' ')
    op, modifiers = head.split('.')[0], head.split('.')[1:]
    types = [m for m in modifiers if TYPE.match(m)]
    parts = operands(rest)
    join = lambda k, new: f"{head} {','.join(parts[:k] + [new] + parts[k + 1:])};"
    key = op + '.' + '.'.join(types)
    if op in VALUES or op in ('atom', 'red', 'st'):
        first = 0 if op in WITHOUT_RESULT else 1
        for k, part in enumerate(parts):
            register = REGISTER.fullmatch(part)
            mask = op in MASKED and k == len(parts) - 1  # a constant other than -1 names lanes that may not be there
            if k >= first and register and register.group(1) != 'pred' and not mask:
                yield f'{key} constant {k}', join(k, constant(types, register.group(1)))
            if k >= first and register and register.group(1) == 'pred':
                yield f'{key} negated {k}', join(k, '!' + part)
            if k >= first and op in MASKED and part == '-1':
                yield f'{key} mask {k}', join(k, '%b32_7')
            if k == 0 and first == 1:
                if register:
                    yield f'{key} sink', join(0, '_')
                if '|' in part:
                    a, b = part.split('|')
                    yield f'{key} sink of the first', join(0, f'_|{b}')
                    yield f'{key} sink of the second', join(0, f'{a}|_')
                elif register and op in ('setp', 'shfl', 'match', 'lop3', 'elect') and part != '_':
                    yield f'{key} second result', join(0, f'{part}|%pred_7')
                    yield f'{key} second result alone', join(0, '_|%pred_7')
    if op in ('ld', 'mov', 'tex', 'ldu') and parts[0].startswith('{') and ',' in parts[0] and '_,' not in parts[0]:
        items = parts[0][1:-1].split(',')
        for k in range(len(items)):
            yield f'{key} {len(items)} sink {k}', join(0, '{' + ','.join(items[:k] + ['_'] + items[k + 1:]) + '}')
    if op in ('atom', 'red') and 'global' in modifiers and 'async' not in modifiers:
        others = [m for m in modifiers if m != 'global']
        for space in ('shared', ''):
            new = '.'.join([op] + [space] * bool(space) + others)
            yield f'{new}', f'{new} {rest};'


def main():
    ptxas = sys.argv[1] if len(sys.argv) > 1 else 'ptxas'
    path = HERE / 'forms.txt'
    lines = path.read_text().splitlines()
    there, keys, new = {line[2:] for line in lines}, set(), []
    for line in lines:
        if line[0] != '+' or re.search(r'%[us]\d|%f\d', REGISTER.sub(lambda m: m.group(0) if m.group(0)[1] in 'usf' else '', line.replace('%u64_0]', ']'))):  # registers of one type are enough
            continue
        if re.search(r'[ ,{|]_[,|;}]|[ ,]5[,;]|0[fd][0-9a-f]{8}|!%|_7', line):  # derived itself
            continue
        for key, form in derived(line[2:]):
            if key not in keys and form not in there:
                new.append((key, form))
            keys.add(key)
    head = (HERE / 'head.txt').read_text()
    for begin in range(0, len(new), CHUNK):
        chunk = new[begin:begin + CHUNK]
        bad = refused(ptxas, head, [form for _, form in chunk])
        lines += ['+ ' + form for k, (_, form) in enumerate(chunk) if k not in bad]
    path.write_text('\n'.join(lines) + '\n')
    print(f'{len(new)} tried, {len(lines)} lines')


if __name__ == '__main__':
    main()
