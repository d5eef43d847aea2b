#!/usr/bin/env python3
"""generate.py FOLDER: writes floating_point.ptx, matrix.ptx, consistency.ptx and their cases, and those of tensor_cores.py, into FOLDER: one small kernel an instruction
form. The build calls it (target test_cases). hardware_test runs the kernels here, and run_on_gpu.cu on an NVIDIA GPU. A line of cases.txt is
    kernel | file | threads | input a | input b | input c | output type | bytes of output | instruction
where an input is kind:bytes (see inputs.h). Expected hashes are kept in expected.txt, written by run_on_gpu.
"""
import os
import sys

import tensor_cores

if len(sys.argv) != 2:
    sys.exit('usage: generate.py FOLDER')
FOLDER = sys.argv[1]
HEADER = '.version 8.8\n.target sm_90\n.address_size 64\n'
CASES = 8192  # values of each operand
lines = []


def kernel(name, body):
    return (f'.visible .entry {name}(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{{\n'
            '  .reg .pred %p; .reg .b32 %i, %j, %k; .reg .b64 %a, %b, %c, %d, %x, %y, %z, %o;\n'
            '  ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; ld.param.u64 %d, [d];\n'
            '  cvta.to.global.u64 %a, %a; cvta.to.global.u64 %b, %b; cvta.to.global.u64 %c, %c; cvta.to.global.u64 %d, %d;\n'
            '  mov.u32 %i, %tid.x; mov.u32 %j, %ctaid.x; mov.u32 %k, %ntid.x; mad.lo.u32 %i, %j, %k, %i;\n' + body + '  ret;\n}\n')


def floating_point():
    ops = []  # (operand bits, number of sources, instruction)
    for r in ('rn', 'rz', 'rm', 'rp'):
        for f in ('', '.ftz'):
            for s in ('', '.sat'):
                ops += [(32, 2, f'{o}.{r}{f}{s}.f32') for o in ('add', 'sub', 'mul')]
                ops.append((32, 3, f'fma.{r}{f}{s}.f32'))
            ops += [(32, 2, f'div.{r}{f}.f32'), (32, 1, f'rcp.{r}{f}.f32'), (32, 1, f'sqrt.{r}{f}.f32')]
        ops += [(64, 2, f'{o}.{r}.f64') for o in ('add', 'sub', 'mul', 'div')]
        ops += [(64, 3, f'fma.{r}.f64'), (64, 1, f'rcp.{r}.f64'), (64, 1, f'sqrt.{r}.f64')]
    for f in ('', '.ftz'):
        ops += [(32, 1, f'neg{f}.f32'), (32, 1, f'abs{f}.f32')]
        for o in ('min', 'max'):
            ops += [(32, 2, f'{o}{f}{m}{x}.f32') for m in ('', '.NaN') for x in ('', '.xorsign.abs')]
    ops += [(32, 2, 'copysign.f32'), (64, 1, 'neg.f64'), (64, 1, 'abs.f64')]
    ops += [(64, 2, f'{o}.f64') for o in ('min', 'max', 'copysign')]
    for w, t in ((16, 'f16'), (16, 'bf16'), (32, 'f16x2'), (32, 'bf16x2')):
        f16 = not t.startswith('b')
        for f in ('', '.ftz') if f16 else ('',):
            for s in ('', '.sat') if f16 else ('',):
                ops += [(w, 2, f'{o}.rn{f}{s}.{t}') for o in ('add', 'sub', 'mul')]
                ops.append((w, 3, f'fma.rn{f}{s}.{t}'))
            ops += [(w, 3, f'fma.rn{f}.relu.{t}'), (w, 1, f'neg{f}.{t}'), (w, 1, f'abs{f}.{t}')]
            for o in ('min', 'max'):
                ops += [(w, 2, f'{o}{f}{m}{x}.{t}') for m in ('', '.NaN') for x in ('', '.xorsign.abs')]
    for o in ('finite', 'infinite', 'number', 'notanumber', 'normal', 'subnormal'):
        ops += [(32, 1, f'testp.{o}.f32'), (64, 1, f'testp.{o}.f64')]
    # Approximations: compared with the mathematical function, see inputs.h.
    for f in ('', '.ftz'):
        ops += [(32, 1, f'{o}.approx{f}.f32') for o in ('rcp', 'sqrt', 'rsqrt', 'sin', 'cos', 'lg2', 'ex2')]
        ops += [(32, 2, f'div.{o}{f}.f32') for o in ('approx', 'full')]
    ops += [(32, 1, 'tanh.approx.f32'), (64, 1, 'rcp.approx.ftz.f64'), (64, 1, 'rsqrt.approx.ftz.f64'), (64, 1, 'rsqrt.approx.f64')]
    out = [HEADER]
    for n, (w, count, op) in enumerate(ops):
        size = w // 8
        kind = op.split('.')[-1]
        reg = {'f32': 'f32', 'f64': 'f64'}.get(kind, f'b{w}')
        body = f'  mul.wide.u32 %o, %i, {size};\n  .reg .{reg} %s<3>, %r; .reg .b{w} %t<3>, %v;\n'
        for k in range(count):
            base = '%' + 'abc'[k]
            body += f'  add.u64 %x, {base}, %o; ld.global.b{w} %t{k}, [%x]; mov.b{w} %s{k}, %t{k};\n'
        sources = ', '.join(f'%s{k}' for k in range(count))
        if op.startswith('testp'):
            body += f'  {op} %p, {sources}; selp.b{w} %v, 1, 0, %p;\n'
        else:
            body += f'  {op} %r, {sources}; mov.b{w} %v, %r;\n'
        body += f'  add.u64 %x, %d, %o; st.global.b{w} [%x], %v;\n'
        out.append(kernel(f'f{n}', body))
        source = ' | '.join(f'{kind}.{k}:{CASES * size}' if k < count else 'none:0' for k in range(3))
        lines.append(f'f{n} | floating_point.ptx | {CASES} | {source} | {kind} | {CASES * size} | {op}')
    open(os.path.join(FOLDER, 'floating_point.ptx'), 'w').write('\n'.join(out))


WORD = {'r': ('b32', 4), 'f': ('f32', 4), 'd': ('f64', 8)}


def names(prefix, count):
    return '{' + ', '.join(f'%{prefix}{i}' for i in range(count)) + '}'


def planes(base, prefix, count, word, load):
    """Register r of lane l is element r*32 + l."""
    t, size = WORD[word]
    move = f'  mul.wide.u32 %o, %i, {size}; add.u64 %x, {base}, %o;\n'
    for r in range(count):
        at = f'[%x+{r * 32 * size}]'
        move += f'  ld.global.{t} %{prefix}{r}, {at};\n' if load else f'  st.global.{t} {at}, %{prefix}{r};\n'
    return move


def matrix():
    out = [HEADER]

    def add(body, inputs, output, size, text):
        name = f'm{len(out)}'
        out.append(kernel(name, body))
        lines.append(f'{name} | matrix.ptx | 32 | {" | ".join(inputs)} | {output} | {size} | {text}')

    def mma(text, a, b, c, kinds, d=None):
        d = d or c
        groups = (('d', d), ('a', a), ('b', b), ('c', c))
        body = ''.join(f'  .reg .{WORD[w][0]} %{p}<{n}>;\n' for p, (w, n) in (('qd', d), ('qa', a), ('qb', b), ('qc', c)))
        for p, (w, n) in groups[1:]:
            body += planes('%' + p, 'q' + p, n, w, True)
        body += f'  mma.sync.aligned.{text} ' + ', '.join(names('q' + p, n) for p, (w, n) in groups) + ';\n'
        body += planes('%d', 'qd', d[1], d[0], False)
        size = lambda g: g[1] * 32 * WORD[g[0]][1]
        add(body, [f'{k}:{size(g)}' for k, g in zip(kinds, (a, b, c))], 'raw', size(d), 'mma.sync.aligned.' + text)

    for t in ('f16', 'bf16'):
        mma(f'm16n8k8.row.col.f32.{t}.{t}.f32', ('r', 2), ('r', 1), ('f', 4), ('s' + t, 's' + t, 'sf32'))
        mma(f'm16n8k16.row.col.f32.{t}.{t}.f32', ('r', 4), ('r', 2), ('f', 4), ('s' + t, 's' + t, 'sf32'))
    mma('m16n8k8.row.col.f16.f16.f16.f16', ('r', 2), ('r', 1), ('r', 2), ('sf16',) * 3)
    mma('m16n8k16.row.col.f16.f16.f16.f16', ('r', 4), ('r', 2), ('r', 2), ('sf16',) * 3)
    mma('m16n8k4.row.col.f32.tf32.tf32.f32', ('r', 2), ('r', 1), ('f', 4), ('sf32',) * 3)
    mma('m16n8k8.row.col.f32.tf32.tf32.f32', ('r', 4), ('r', 2), ('f', 4), ('sf32',) * 3)
    mma('m8n8k4.row.col.f64.f64.f64.f64', ('d', 1), ('d', 1), ('d', 2), ('sf64',) * 3)
    for k, n in ((4, 2), (8, 4), (16, 8)):
        mma(f'm16n8k{k}.row.col.f64.f64.f64.f64', ('d', n), ('d', n // 2), ('d', 4), ('sf64',) * 3)
    for t, u in (('s8', 's8'), ('u8', 'u8'), ('s8', 'u8'), ('u8', 's8'), ('s4', 's4'), ('u4', 'u4')):
        k = 16 if t[1] == '8' else 32
        mma(f'm8n8k{k}.row.col.s32.{t}.{u}.s32', ('r', 1), ('r', 1), ('r', 2), ('raw', 'raw', 's32'))
        mma(f'm16n8k{k}.row.col.s32.{t}.{u}.s32', ('r', 2), ('r', 1), ('r', 4), ('raw', 'raw', 's32'))
        mma(f'm16n8k{2 * k}.row.col.s32.{t}.{u}.s32', ('r', 4), ('r', 2), ('r', 4), ('raw', 'raw', 's32'))
    mma('m16n8k32.row.col.satfinite.s32.s8.s8.s32', ('r', 4), ('r', 2), ('r', 4), ('raw', 'raw', 'big'))
    mma('m16n8k32.row.col.s32.s8.s8.s32', ('r', 4), ('r', 2), ('r', 4), ('raw', 'raw', 'big'))
    mma('m8n8k128.row.col.s32.b1.b1.s32.xor.popc', ('r', 1), ('r', 1), ('r', 2), ('raw', 'raw', 's32'))
    mma('m16n8k128.row.col.s32.b1.b1.s32.and.popc', ('r', 2), ('r', 1), ('r', 4), ('raw', 'raw', 's32'))
    mma('m16n8k256.row.col.s32.b1.b1.s32.xor.popc', ('r', 4), ('r', 2), ('r', 4), ('raw', 'raw', 's32'))
    mma('m16n8k32.row.col.f32.e4m3.e5m2.f32', ('r', 4), ('r', 2), ('f', 4), ('se4m3', 'se5m2', 'sf32'))
    mma('m16n8k32.row.col.f32.e5m2.e4m3.f32', ('r', 4), ('r', 2), ('f', 4), ('se5m2', 'se4m3', 'sf32'))
    for la in ('row', 'col'):
        for lb in ('row', 'col'):
            mma(f'm8n8k4.{la}.{lb}.f32.f16.f16.f32', ('r', 2), ('r', 2), ('f', 8), ('sf16', 'sf16', 'sf32'))
            mma(f'm8n8k4.{la}.{lb}.f16.f16.f16.f16', ('r', 2), ('r', 2), ('r', 4), ('sf16',) * 3)
    wmma_cases(add)
    rows_cases(add)
    open(os.path.join(FOLDER, 'matrix.ptx'), 'w').write('\n'.join(out))


def wmma_cases(add):
    def wmma(shape, layouts, types, a, b, c, d, text, kind, c_kind):
        la, lb, lc, ld = layouts
        m, n, k = (int(x) for x in shape.replace('m', ' ').replace('n', ' ').replace('k', ' ').split())
        more = 128 if types[0] in ('s4', 'u4', 'b1') else 8  # rows do not touch
        stride = [(k if la == 'row' else m) + more, (n if lb == 'row' else k) + more, (n if lc == 'row' else m) + 8, (n if ld == 'row' else m) + 8]
        body = ''.join(f'  .reg .{WORD[w][0]} %q{p}<{count}>;\n' for p, (w, count) in zip('abcd', (a, b, c, d)))
        for p, layout, group, t, s in zip('abc', (la, lb, lc), (a, b, c), types, stride):
            body += f'  wmma.load.{p}.sync.aligned.{layout}.{shape}.global.{t} {names("q" + p, group[1])}, [%{p}], {s};\n'
        operation, suffix = (text.split(' ') + [''])[:2]
        fragments = ', '.join(names('q' + p, g[1]) for p, g in zip('dabc', (d, a, b, c)))
        body += f'  wmma.mma{suffix}.sync.aligned.{la}.{lb}.{shape}.{operation} {fragments};\n'
        body += f'  wmma.store.d.sync.aligned.{ld}.{shape}.global.{types[3]} [%d], {names("qd", d[1])}, {stride[3]};\n'
        add(body, [f'{kind}:32768', f'{kind}:32768', f'{c_kind}:16384'], 'raw', 16384, f'wmma.mma{suffix}.{la}.{lb}.{shape}.{operation} {lc} {ld}')

    both = ('row', 'col')
    for shape, a, b in (('m16n16k16', 4, 4), ('m32n8k16', 8, 2), ('m8n32k16', 2, 8)):
        for la in both:
            for lb in both:
                wmma(shape, (la, lb, 'row', 'col'), ('f16', 'f16', 'f32', 'f32'), ('r', 8), ('r', 8), ('f', 8), ('f', 8), 'f32.f32', 'sf16', 'sf32')
                wmma(shape, (la, lb, 'col', 'row'), ('f16', 'f16', 'f16', 'f16'), ('r', 8), ('r', 8), ('r', 4), ('r', 4), 'f16.f16', 'sf16', 'sf16')
        for layouts in (('row', 'col', 'col', 'row'), ('col', 'row', 'row', 'row')):
            wmma(shape, layouts, ('bf16', 'bf16', 'f32', 'f32'), ('r', a), ('r', b), ('f', 8), ('f', 8), 'f32.bf16.bf16.f32', 'sbf16', 'sf32')
            for t in ('s8', 'u8'):
                wmma(shape, layouts, (t, t, 's32', 's32'), ('r', a // 2), ('r', b // 2), ('r', 8), ('r', 8), f's32.{t}.{t}.s32', 'raw', 's32')
    wmma('m16n16k16', ('row', 'col', 'row', 'col'), ('f16', 'f16', 'f16', 'f32'), ('r', 8), ('r', 8), ('r', 4), ('f', 8), 'f32.f16', 'sf16', 'sf16')
    wmma('m16n16k16', ('row', 'col', 'row', 'row'), ('s8', 's8', 's32', 's32'), ('r', 2), ('r', 2), ('r', 8), ('r', 8), 's32.s8.s8.s32.satfinite', 'raw', 'big')
    for la in both:
        for lb in both:
            wmma('m16n16k8', (la, lb, 'row', 'col'), ('tf32', 'tf32', 'f32', 'f32'), ('r', 4), ('r', 4), ('f', 8), ('f', 8), 'f32.tf32.tf32.f32', 'sf32', 'sf32')
            wmma('m8n8k4', (la, lb, 'col', 'row'), ('f64', 'f64', 'f64', 'f64'), ('d', 1), ('d', 1), ('d', 2), ('d', 2), 'f64.f64.f64.f64', 'sf64', 'sf64')
    for t in ('s4', 'u4'):
        wmma('m8n8k32', ('row', 'col', 'row', 'col'), (t, t, 's32', 's32'), ('r', 1), ('r', 1), ('r', 2), ('r', 2), f's32.{t}.{t}.s32', 'raw', 's32')
    for op in ('.xor.popc', '.and.popc'):
        wmma('m8n8k128', ('row', 'col', 'row', 'row'), ('b1', 'b1', 's32', 's32'), ('r', 1), ('r', 1), ('r', 2), ('r', 2), f's32.b1.b1.s32 {op}', 'raw', 's32')


def rows_cases(add):
    shared = '  .shared .align 16 .b8 s[1536]; .reg .b32 %w, %at;\n'
    address = '  mul.lo.u32 %at, %i, 7; rem.u32 %at, %at, 32; mul.lo.u32 %at, %at, 48; mov.u32 %j, s; add.u32 %at, %at, %j;\n'
    fill = '  mul.wide.u32 %o, %i, 4; add.u64 %x, {0}, %o; mov.u32 %j, s; mad.lo.u32 %k, %i, 4, %j;\n' + ''.join(
        f'  ld.global.b32 %w, [%x+{128 * r}]; st.shared.b32 [%k+{128 * r}], %w;\n' for r in range(12)) + '  bar.warp.sync -1;\n'
    for n in (1, 2, 4):
        for trans in ('', '.trans'):
            q = f'  .reg .b32 %q<{n}>;\n'
            load = f'ldmatrix.sync.aligned.m8n8.x{n}{trans}.shared.b16'
            add(shared + q + fill.format('%a') + address + f'  {load} {names("q", n)}, [%at];\n' + planes('%d', 'q', n, 'r', False),
                ['raw:1536', 'none:0', 'none:0'], 'raw', n * 128, load)
            store = f'stmatrix.sync.aligned.m8n8.x{n}{trans}.shared.b16'
            empty = '  bar.warp.sync -1; mul.wide.u32 %o, %i, 4; add.u64 %x, %d, %o; mov.u32 %j, s; mad.lo.u32 %k, %i, 4, %j;\n' + ''.join(
                f'  ld.shared.b32 %w, [%k+{128 * r}]; st.global.b32 [%x+{128 * r}], %w;\n' for r in range(12))
            add(shared + q + fill.format('%b') + address + planes('%a', 'q', n, 'r', True) + f'  {store} [%at], {names("q", n)};\n' + empty,
                [f'raw:{n * 128}', 'raw:1536', 'none:0'], 'raw', 1536, store)
    add('  .reg .b32 %q<1>;\n' + planes('%a', 'q', 1, 'r', True) + '  movmatrix.sync.aligned.m8n8.trans.b16 %q0, %q0;\n' + planes('%d', 'q', 1, 'r', False),
        ['raw:128', 'none:0', 'none:0'], 'raw', 128, 'movmatrix.sync.aligned.m8n8.trans.b16')


def consistency():
    """Forms the H200 does not have (sm_100), against forms it has: each kernel writes zeros if they agree."""
    out = [HEADER.replace('8.8', '9.0').replace('sm_90', 'sm_100')]

    def add(body, text):
        name = f'c{len(out)}'
        registers = '  .reg .b32 %u<5>; .reg .f32 %f<8>; .reg .b16 %h<4>; .reg .b64 %q<5>;\n  mul.wide.u32 %o, %i, 4;\n'
        loads = ''.join(f'  add.u64 %{p}, %{p}, %o; ld.global.f32 %f{k}, [%{p}];\n' for k, p in enumerate('abc'))
        out.append(kernel(name, registers + loads + '  ' + body + '\n  add.u64 %d, %d, %o; st.global.b32 [%d], %u0;\n'))
        more.append(f'{name} | consistency.ptx | {CASES} | f32.0:{4 * CASES} | f32.1:{4 * CASES} | f32.2:{4 * CASES} | f32 | {4 * CASES} | {text}')

    more = []
    differ = 'mov.b32 %u1, %f3; mov.b32 %u2, %f4; xor.b32 %u0, %u1, %u2;'
    for op, n in (('add.rn', 2), ('sub.rn', 2), ('mul.rz.ftz', 2), ('fma.rn', 3), ('fma.rp.ftz', 3)):
        body = ' '.join(f'mov.b64 %q{k}, {{%f{k}, %f{(k + 1) % 3}}};' for k in range(3))
        body += f' {op}.f32x2 %q4, ' + ', '.join(f'%q{k}' for k in range(n)) + '; mov.b64 {%u1, %u2}, %q4;'
        for half in range(2):
            body += f' {op}.f32 %f{4 + half}, ' + ', '.join(f'%f{(k + half) % 3}' for k in range(n)) + f'; mov.b32 %u{3 + half}, %f{4 + half};'
        add(body + ' xor.b32 %u1, %u1, %u3; xor.b32 %u2, %u2, %u4; or.b32 %u0, %u1, %u2;', f'{op}.f32x2')
    for t in ('f16', 'bf16'):
        wide = f'mov.b32 {{%h0, %h1}}, %f0; mov.b32 {{%h2, %h3}}, %f1; cvt.f32.{t} %f5, %h0; cvt.f32.{t} %f6, %h2; '
        add(wide + f'fma.rn.f32.{t} %f3, %h0, %h2, %f2; fma.rn.f32 %f4, %f5, %f6, %f2; ' + differ, f'fma.rn.f32.{t}')
        add(wide + f'add.rn.f32.{t} %f3, %h0, %f2; add.rn.f32 %f4, %f5, %f2; ' + differ, f'add.rn.f32.{t}')
        for op in ('tanh.approx', 'ex2.approx' + ('.ftz' if t == 'bf16' else '')):
            add(f'mov.b32 %u1, %f0; mov.b32 {{%h0, %h1}}, %u1; {op}.{t}x2 %u2, %u1; {op}.{t} %h2, %h0; {op}.{t} %h3, %h1; '
                'mov.b32 %u3, {%h2, %h3}; xor.b32 %u0, %u2, %u3;', f'{op}.{t}x2')
    add('min.f32 %f3, %f0, %f1, %f2; min.f32 %f4, %f0, %f1; min.f32 %f4, %f4, %f2; ' + differ, 'min.f32 of three')
    add('mad.rn.f32 %f3, %f0, %f1, %f2; fma.rn.f32 %f4, %f0, %f1, %f2; ' + differ, 'mad.rn.f32')
    open(os.path.join(FOLDER, 'consistency.ptx'), 'w').write('\n'.join(out))
    open(os.path.join(FOLDER, 'consistency.txt'), 'w').write('\n'.join(more) + '\n')


os.makedirs(FOLDER, exist_ok=True)
floating_point()
matrix()
consistency()
open(os.path.join(FOLDER, 'cases.txt'), 'w').write('\n'.join(lines) + '\n')
tensor_cores.main(FOLDER)
