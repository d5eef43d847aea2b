#!/usr/bin/env python3
"""generate.py FOLDER [FAMILY...]: writes FAMILY.ptx and FAMILY.txt into FOLDER, for each family: kernels of a few instructions on common
inputs, and the bits that they must give, computed here by exact arithmetic. Uses the standard library only. The build calls it (target
test_cases).

FAMILY.txt:   kernel NAME                     a kernel of FAMILY.ptx: NAME(in, out)
              in WIDTH: VALUES                operand k of element i lies at in + 8 * (128 k + i), its bits in hexadecimal here
              out WIDTH: VALUES ; PTX         result j of element i lies at out + 8 * (128 j + i)
"""
import os
import sys

import affine
import bits
import compare
import convert
import integer
import video
import video_by_manual
from cases import ELEMENTS, inputs, width_of

FAMILIES = {'integer': integer, 'affine': affine, 'logic_and_shift': bits, 'compare_and_select': compare, 'data_movement': convert, 'video': video,
            'video_by_manual': video_by_manual}
HEADER = '// Made by reference/generate.py.\n.version 8.6\n.target sm_90\n.address_size 64\n'
INSTRUCTIONS = 10  # a kernel
SOURCES = 'abcf'


def kernel(name, kinds, group):
    lines = [f'.visible .entry {name}(.param .u64 in, .param .u64 out)\n{{',
             '  .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %t, %r<8>; .reg .b64 %o, %in, %out, %q<8>;']
    sources = {}
    for k, kind in enumerate(kinds):
        w = width_of(kind)
        lines.append(f'  .reg .{"pred" if w == 1 else f"b{max(w, 16)}"} %{SOURCES[k]};')
        sources[SOURCES[k]] = f'%{SOURCES[k]}'
    lines += ['  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; cvta.to.global.u64 %in, %in; cvta.to.global.u64 %out, %out;',
              '  mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 8; add.u64 %in, %in, %o; add.u64 %out, %out, %o;']
    for k, kind in enumerate(kinds):
        w = width_of(kind)
        at = f'[%in+{8 * ELEMENTS * k}]'
        if w == 1:
            lines.append(f'  ld.global.b32 %r7, {at}; setp.ne.u32 %{SOURCES[k]}, %r7, 0;')
        else:
            lines.append(f'  ld.global.{f"b{w}" if w > 8 else "u8"} %{SOURCES[k]}, {at};')
    slot = 0
    for n, case in enumerate(group):
        names, after = dict(sources), []
        for letter, w in zip('de', case.to):
            register = f'%{letter}{n}'
            lines.append(f'  .reg .{"pred" if w == 1 else f"b{max(w, 16)}"} {register};')
            names[letter] = register
            at = f'[%out+{8 * ELEMENTS * slot}]'
            if w == 1:
                after.append(f'  selp.b32 %r7, 1, 0, {register}; st.global.b32 {at}, %r7;')
            else:
                after.append(f'  st.global.b{w} {at}, {register};')
            slot += 1
        text = case.text
        for letter, register in names.items():
            text = text.replace('{' + letter + '}', register)
        lines += ['  ' + text + ('' if text.endswith((';', '; }')) else ';')] + after
    return '\n'.join(lines + ['  ret;\n}\n'])


def write_family(folder, name, cases):
    groups = {}
    for case in cases:
        groups.setdefault(case.kinds, []).append(case)
    ptx, text, number = [HEADER], [], 0
    for kinds, members in groups.items():
        values = inputs(kinds)
        for at in range(0, len(members), INSTRUCTIONS):
            group = members[at:at + INSTRUCTIONS]
            label = f'{name}_{number}'
            number += 1
            ptx.append(kernel(label, kinds, group))
            text.append(f'kernel {label}')
            for k, kind in enumerate(kinds):
                text.append(f'in {width_of(kind)}: ' + ' '.join(f'{v[k]:x}' for v in values))
            for case in group:
                rows = [case.results(v) for v in values]
                for j, w in enumerate(case.to):
                    text.append(f'out {w}: ' + ' '.join(f'{r[j]:x}' for r in rows) + ' ; ' + case.text)
    open(os.path.join(folder, name + '.ptx'), 'w').write('\n'.join(ptx))
    open(os.path.join(folder, name + '.txt'), 'w').write('\n'.join(text) + '\n')


if len(sys.argv) < 2:
    sys.exit('usage: generate.py FOLDER [FAMILY...]')
os.makedirs(sys.argv[1], exist_ok=True)
for family, module in FAMILIES.items():
    if len(sys.argv) < 3 or family in sys.argv[2:]:
        write_family(sys.argv[1], family, module.cases())
