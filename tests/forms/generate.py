#!/usr/bin/env python3
"""generate.py FOLDER: writes the kernels that run each form of tests/data/forms which ptxas takes, and cases.txt, inputs.bin.

A form runs in up to five modes: operands that differ between lanes, the same under a guard and under its negation, operands
that a warp shares, and integers that are affine in the thread's number. A kernel runs several forms in one mode. Forms that
reasons.txt names are left out. Lines of cases.txt:
    kernel NAME FILE BLOCKS THREADS SLOTS FORMS
    form MODE SLOT COUNT text
A slot is an array of one word of 64 bits a thread."""
import pathlib
import re
import sys

from plan import SLOT, Plan
from values import Inputs, value

HERE = pathlib.Path(__file__).parent
HEADER = '.version 9.0\n.target sm_90a\n.address_size 64\n'
BATCH = 16          # forms of a kernel
MODULE = 40         # kernels of a module
REGION = 64 * SLOT  # bytes of memory that a form has


def reasons():
    lines = (HERE / 'reasons.txt').read_text().splitlines()
    return [re.compile(line.partition(' | ')[0]) for line in lines if line and line[0] != '#']


def forms():
    left_out = reasons()
    for line in (HERE.parent / 'data' / 'forms' / 'forms.txt').read_text().splitlines():
        if line[0] == '+' and not any(r.match(line[2:]) for r in left_out):
            yield line[2:]


class Module:
    def __init__(self):
        self.kernels, self.constants, self.call = [], False, False

    def text(self):
        out = HEADER
        if self.constants:
            words = ', '.join(str(value('bits:64', 0, i % 64)) for i in range(REGION // 8))
            out += f'.const .align 16 .b64 fc[{REGION // 8}] = {{{words}}};\n'
        if self.call:
            out += ('.func (.param .b64 r) same(.param .b64 p)\n{ .reg .b64 %x; ld.param.b64 %x,[p]; st.param.b64 [r],%x; ret; }\n')
        return out + '\n'.join(self.kernels)


class Generator:
    def __init__(self, folder):
        self.folder, self.inputs = pathlib.Path(folder), Inputs()
        for number in range(4):  # what memory holds
            self.inputs.at('bits:64', number)
        self.cases, self.modules, self.count = [], [], 0

    def one(self, plan, mode, index, slot, total, label):
        """The code of a form in a mode; returns it and how many slots it fills."""
        lines = ['{', '.reg .b32 %t0,%t1; .reg .b64 %x0,%x1,%x2,%x3,%slot,%region; .reg .b16 %h0; .reg .b8 %c0; .reg .pred %odd,%g;']
        lines += [f'.reg .{o.type} {o.name};' for o in plan.operands]
        lines.append(f'add.s64 %region,%mem,{index * REGION}; cvt.u64.u32 %x0,%at; add.s64 %slot,%region,%x0;')
        guard = ''
        if mode in ('guard', 'not'):
            test = {'lane': 'shr.u32 %t0,%me,2; xor.b32 %t0,%t0,%me; and.b32 %t0,%t0,1;', 'warp': 'and.b32 %t0,%me,32;',
                    'block': 'mov.u32 %t0,%ntid.x;'}[plan.guard]
            guard = ('@%g ' if mode == 'guard' else '@!%g ')
            lines.append(f'{test} setp.ne.u32 %g,%t0,0;')
        lines += [line for line in plan.before if line]
        for o in plan.operands:
            plain = o.code is None and o.kind.split(':')[0] in ('bits', 'shift', 'nonzero')
            lines.append(o.affine() if mode == 'affine' and plain else o.load(self.inputs))
        if plan.small_fill:
            lines += plan.wgmma_fill(self.inputs)
        lines += plan.late
        lines += plan.scope[:1] + [guard + plan.text] + plan.scope[1:] + [line for line in plan.after if line]
        begin = slot
        keep = not (mode == 'uniform' and plan.op == 'atom')  # the order of the lanes is not specified
        for o in plan.operands:
            if o.stored and keep:
                lines.append(o.store(8 * total * slot, 8 * total))
                slot += o.slots()
        for text, count in plan.results:
            lines.append(text.replace('{0}', str(8 * total * slot)))
            slot += count
        if slot == begin:  # nothing but that it went on
            lines.append(f'st.global.b32 [%out+{8 * total * slot}],%me;')
            slot += 1
        lines.append('}')
        text = '\n'.join(lines).replace('$DONE', f'done_{label}').replace('$WAIT', f'wait_{label}')
        return text, slot - begin

    def kernel(self, module, plans, mode, file):
        uniform = mode == 'uniform'
        blocks, threads = (8, 32) if uniform else (1, plans[0].threads)
        total = blocks * threads
        uses = set().union(*(p.uses for p in plans))
        name = f'forms_{self.count}'
        self.count += 1
        body = [f'.visible .entry {name}(.param .b64 in, .param .b64 out, .param .b64 memory, .param .b64 A)',
                *[p.directives for p in plans if p.directives], '{']
        if any('sh' in p.uses or re.search(r'\bsh\b', p.form) for p in plans):
            body.append('.shared .align 1024 .b8 sh[4096];')
        if 'fl' in uses:
            body.append(f'.local .align 16 .b8 fl[{SLOT}];')
        module.constants |= 'fc' in uses
        module.call |= 'call' in uses
        body.append('.reg .b32 %me,%at,%block,%size; .reg .b64 %in,%out,%mem,%step;')
        body.append('ld.param.b64 %in,[in]; ld.param.b64 %out,[out]; ld.param.b64 %mem,[memory];')
        body.append('mov.u32 %me,%tid.x; mov.u32 %block,%ctaid.x; mov.u32 %size,%ntid.x; mad.lo.u32 %me,%block,%size,%me;')
        body.append('mul.wide.u32 %step,%me,8; add.s64 %out,%out,%step;')
        if uniform:  # an element a block
            body.append(f'mul.wide.u32 %step,%block,56; add.s64 %in,%in,%step; mul.lo.u32 %at,%block,{SLOT};')
        else:
            body.append(f'and.b32 %at,%me,63; mul.wide.u32 %step,%at,8; add.s64 %in,%in,%step; mul.lo.u32 %at,%me,{SLOT};')
        slot, lines = 0, []
        for index, plan in enumerate(plans):
            text, count = self.one(plan, mode, index, slot, total, f'{name}_{index}')
            lines.append(f'form {mode} {slot} {count} {plan.form}')
            body.append(text)
            slot += count
        body.append('ret;\n}\n')
        module.kernels.append('\n'.join(body))
        self.cases += [f'kernel {name} {file} {blocks} {threads} {slot} {len(plans)}'] + lines

    def run(self):
        plans = [Plan(form) for form in forms()]
        groups = {}  # of forms with the same modes; each form has all its modes in kernels beside each other
        for plan in plans:
            groups.setdefault('alone' if plan.alone else tuple(plan.modes()), []).append(plan)
        jobs = []
        for group, here in groups.items():
            size = 1 if group == 'alone' else BATCH
            for k in range(0, len(here), size):
                jobs += [(here[k:k + size], mode) for mode in here[k].modes()]
        self.folder.mkdir(parents=True, exist_ok=True)
        for n in range(0, len(jobs), MODULE):
            module, file = Module(), f'forms_{n // MODULE:02}.ptx'
            for job in jobs[n:n + MODULE]:
                self.kernel(module, *job, file)
            (self.folder / file).write_text(module.text())
        (self.folder / 'cases.txt').write_text('\n'.join(self.cases) + '\n')
        self.inputs.write(self.folder / 'inputs.bin')
        print(f'{len(plans)} forms, {self.count} kernels, {-(-len(jobs) // MODULE)} modules')


if __name__ == '__main__':
    Generator(sys.argv[1]).run()
