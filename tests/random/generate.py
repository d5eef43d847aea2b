#!/usr/bin/env python3
"""Random PTX programs: straight-line arithmetic of all widths, conversions, divergent branches and loops, calls, local and
shared memory, warp operations with differing masks, atomics; from number 1000 on also textures and surfaces (textures.py), from
1200 on what statements.py adds, from 1600 on what modifiers.py adds, from 4000 on copies in the background (copies.py) and
matrix products of all kinds (products.py).
The same seed and numbers give the same text everywhere.

  generate.py [--seed N] [--first N] [--count N] [--trace] --out FOLDER

FOLDER/NNN.ptx hold CASES_PER_FILE programs each. With --trace every instruction of the entry also writes its result to a
row of its own: `run_random --print THREAD` then shows what each gave.

A program is an entry `case_N(in, out)`. Every few statements each thread writes one of its registers to a row of `out`
(8 bytes a thread); results.txt holds a hash of every row as an H200 gave it. Every program is defined behaviour: no
division by zero, no lane of a mask that does not take part, no result that depends on the order of atomics. Left out are
forms that ptxas 13.0 itself compiles wrong (each with its reason at the place).
"""
import argparse
import os
import re

import copies  # before clusters: it makes the modules of tests/tensor_copies known
import modifiers
from clusters import ClusterStatements
from copies import COPIES_FROM, CopyStatements
from modifiers import MODIFIERS_FROM, ModifierStatements
from operations import (CONVERSIONS, FLOAT_OPERATIONS, HALF_OPERATIONS, INTEGER_OPERATIONS)
from products import ProductStatements
from rng import Rng
from statements import LATER_FROM, REGISTERS, LaterStatements
from textures import Image

CASES_PER_FILE = 20
TEXTURES_FROM, IMAGES = 1000, 3
INPUT_WORDS = 4096  # 8 bytes each; inputs.h makes them
POOL = {'h': 8, 'r': 12, 'd': 8, 'p': 5}
BITS = {'h': 16, 'r': 32, 'd': 64}
SHAPES = [(32, 1), (33, 1), (64, 1), (50, 1), (96, 1), (8, 8), (16, 3), (5, 7), (128, 1)]
LOCAL_WORDS = 8
SHARED_CELLS = 16  # of 8 bytes: what lanes of a block add to together


class Program(LaterStatements, ModifierStatements, CopyStatements, ClusterStatements, ProductStatements):
    def __init__(self, seed, number, trace=False):
        self.number = number
        self.trace, self.in_function = trace, False
        self.rng = Rng(seed * 0x9E3779B9 + number)
        self.shape = self.rng.pick(SHAPES)
        self.blocks = self.rng.pick([1, 1, 2])
        self.threads = self.shape[0] * self.shape[1]
        self.whole_warps = self.threads % 32 == 0
        self.later = number >= LATER_FROM
        self.modified = number >= MODIFIERS_FROM
        self.copying, self.cluster = number >= COPIES_FROM, 1
        self.recursive, self.constants = '', ''
        with_images = number >= TEXTURES_FROM and (not self.later or self.rng.below(4) == 0)
        self.images = [Image(self.rng, k) for k in range(IMAGES)] if with_images else []
        self.lines, self.functions = [], []
        self.rows, self.labels, self.depth = 0, 0, 0
        if self.copying:
            self.begin_copies()

    # --- pieces -------------------------------------------------------------------------------------------------------

    def emit(self, text):
        self.lines.append('  ' + '  ' * self.depth + text)
        writes = re.match(r'(?:@!?%p\d+ )?[a-z][\w.:]* (%[rdhp]\d+)[,|]', text)
        if self.trace and writes and not self.in_function:
            self.store(writes.group(1), text)

    def reg(self, kind, not_these=()):
        while True:
            name = f'%{kind}{self.rng.below(POOL[kind])}'
            if name not in not_these:
                return name

    def label(self):
        self.labels += 1
        return f'L{self.labels}'

    def immediate(self, bits):
        rng = self.rng
        value = rng.pick([rng.below(1 << bits), rng.below(256), rng.pick([0, 1, 2, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1])])
        return f'0x{value & ((1 << bits) - 1):x}'

    def operation(self, ops):
        op = self.rng.pick(ops)
        values = {}
        used = []
        for name, kind in op.operands.items():
            if kind.startswith('#'):  # an immediate of so many bits
                values[name] = self.immediate(int(kind[1:]))
            elif kind.startswith('='):  # one of these words
                values[name] = self.rng.pick(kind[1:].split())
            elif kind == 'other p':
                values[name] = self.reg('p', [values['d']])
            elif kind in modifiers.REGISTER_OF:
                values[name] = modifiers.source(self, kind)
            elif kind in 'hrd' and op.immediates and name != 'd' and self.rng.below(8) == 0 and name == op.immediates:
                values[name] = self.immediate(BITS[kind])
            else:
                values[name] = self.reg(kind, used if op.distinct and name != 'd' else ())
                if name != 'd':
                    used.append(values[name])
        guard = ''
        if op.guardable and self.rng.below(3 if self.modified else 8) == 0:
            guard = self.rng.pick(['@', '@!']) + self.reg('p') + ' '
        for line in op.text.split('; '):
            self.emit(f'{guard}{line.format(**values)};')

    def straight(self, count):
        for _ in range(count):
            if self.modified and self.rng.below(2):
                self.operation(modifiers.OPERATIONS)
                continue
            self.operation(self.rng.pick([INTEGER_OPERATIONS, INTEGER_OPERATIONS, INTEGER_OPERATIONS, FLOAT_OPERATIONS,
                                          FLOAT_OPERATIONS, HALF_OPERATIONS, CONVERSIONS, CONVERSIONS]))

    def store_row(self):
        kind = self.rng.pick('rrrddhp')
        self.store(self.reg(kind), '')

    def store(self, name, why):
        widened = {'r': 'cvt.u64.u32 %row, {};', 'h': 'cvt.u64.u16 %row, {};', 'p': 'selp.b64 %row, 1, 0, {};'}
        self.emit(widened.get(name[1], 'mov.b64 %row, {};').format(name))
        self.emit(f'st.global.b64 [%out+{self.rows * self.threads * self.blocks * 8}], %row;  // row {self.rows} {why}'.rstrip())
        self.rows += 1

    # --- statements of one thread -------------------------------------------------------------------------------------

    def branch(self):
        end = self.label()
        p = self.reg('p')
        if self.rng.below(2):
            other = self.label()
            self.emit(f'@{p} bra {other};')
            self.block(self.rng.range(1, 4))
            self.emit(f'bra {end};')
            self.emit(f'{other}:')
        else:
            self.emit(f'@!{p} bra {end};')
        self.block(self.rng.range(1, 4))
        self.emit(f'{end}:')

    def loop(self):
        """The number of turns differs between lanes; sometimes a lane leaves early."""
        counter, head, end = f'%c{self.depth}', self.label(), self.label()
        self.emit(f'and.b32 {counter}, {self.reg("r")}, {self.rng.pick([1, 3, 7])};')
        self.emit(f'{head}:')
        self.block(self.rng.range(1, 4))
        if self.rng.below(3) == 0:
            self.emit(f'@{self.reg("p")} bra {end};')
        self.emit(f'setp.eq.u32 %q, {counter}, 0;')
        self.emit(f'sub.u32 {counter}, {counter}, 1;')
        self.emit(f'@!%q bra {head};')
        self.emit(f'{end}:')

    def switch(self):
        end, ways = self.label(), [self.label() for _ in range(4)]
        table = self.label()
        self.emit(f'and.b32 %t, {self.reg("r")}, 3;')
        self.emit(f'{table}: .branchtargets {", ".join(ways)};')
        self.emit(f'brx.idx %t, {table};')
        for way in ways:
            self.emit(f'{way}:')
            self.block(self.rng.range(1, 2))
            self.emit(f'bra {end};')
        self.emit(f'{end}:')

    def block(self, count):
        """Statements a thread executes alone, one level deeper."""
        self.depth += 1
        for _ in range(count):
            if self.images and self.rng.below(3) == 0:
                self.texture()
                continue
            if self.modified and self.rng.below(3) == 0:
                self.modified_alone()
                continue
            if self.later and self.rng.below(2):
                self.later_alone()
                continue
            kind = self.rng.below(12)
            if kind == 0 and self.depth < 3:
                self.branch()
            elif kind == 1 and self.depth < 3:
                self.loop()
            elif kind == 2 and self.depth < 2:
                self.switch()
            elif kind == 3:
                self.call()
            elif kind in (4, 5):
                self.memory()
            elif kind == 6:
                self.own_atomic()
            else:
                self.straight(self.rng.range(1, 3))
        self.depth -= 1

    def call(self):
        if not self.functions or (len(self.functions) < 3 and self.rng.below(2)):
            self.define_function()
        name, indirect_table = self.rng.pick(self.functions)
        a, b, d, e = self.reg('r'), self.reg('d'), self.reg('r'), self.reg('d')
        self.emit('{')
        self.emit('.param .b32 a; .param .b64 b; .param .b32 c; .param .align 8 .b8 s[16];')
        self.emit(f'st.param.b32 [a], {a}; st.param.b64 [b], {b};')
        self.emit(f'call (s), {name}, (a, b);')
        self.emit(f'ld.param.b32 {d}, [s]; ld.param.b64 {e}, [s+8];')
        self.emit('}')

    def define_function(self):
        name = f'f{self.number}_{len(self.functions)}'
        outer, self.lines, self.in_function = self.lines, [], True
        depth, self.depth = self.depth, 0
        self.emit('ld.param.b32 %r0, [a]; ld.param.b64 %d0, [b];')
        self.initialise_from('%r0', '%d0')
        self.straight(self.rng.range(3, 6))
        if self.rng.below(2):  # a branch of its own, and sometimes a return inside
            end = self.label()
            self.emit(f'@{self.reg("p")} bra {end};')
            self.straight(2)
            if self.rng.below(2):
                self.emit(f'st.param.b32 [s], {self.reg("r")}; st.param.b64 [s+8], {self.reg("d")}; ret;')
            self.emit(f'{end}:')
        self.emit(f'st.param.b32 [s], {self.reg("r")}; st.param.b64 [s+8], {self.reg("d")}; ret;')
        body, self.lines, self.in_function = self.lines, outer, False
        self.depth = depth
        text = [f'.func (.param .align 8 .b8 s[16]) {name}(.param .b32 a, .param .b64 b)', '{', self.registers(), *body, '}']
        self.functions.append((name, None))
        self.function_texts.append('\n'.join(text))

    def initialise_from(self, r, d):
        """Every register of the pool from one 32-bit and one 64-bit value."""
        for k in range(1, POOL['r']):
            self.emit(f'mad.lo.u32 %r{k}, {r}, {2 * k + 1}, {k * 0x1234567 & 0xffffffff};')
        for k in range(1, POOL['d']):
            self.emit(f'mad.lo.u64 %d{k}, {d}, {2 * k + 1}, {k * 0x123456789};')
        for k in range(POOL['h']):
            self.emit(f'cvt.u16.u32 %h{k}, %r{k};')
        for k in range(POOL['p']):
            self.emit(f'setp.lt.s32 %p{k}, %r{k}, %r{k + 1};')

    def memory(self):
        """Loads of the input, and a small array in local memory."""
        way = self.rng.below(6)
        if way == 0:
            size, kind = self.rng.pick([('u8', 'r'), ('s8', 'r'), ('u16', 'r'), ('s16', 'r'), ('b32', 'r'), ('b64', 'd'), ('b16', 'h'),
                                        ('s32', 'd'), ('u8', 'd'), ('s8', 'h'), ('f32', 'r'), ('f64', 'd')])
            self.input_address(8)
            if size[0] == 'f':
                size = 'b' + size[1:]
            self.emit(f'ld.global.{size} {self.reg(kind)}, [%ad];')
        elif way == 1:
            width, kind, n = self.rng.pick([('b32', 'r', 2), ('b32', 'r', 4), ('b64', 'd', 2), ('b16', 'h', 2), ('b16', 'h', 4)])
            self.input_address(16)
            to = []
            while len(to) < n:
                to.append(self.reg(kind, to))
            self.emit(f'ld{self.rng.pick([".global", ".global.nc", ""])}.v{n}.{width} {{{", ".join(to)}}}, [%ad];')
        else:
            kind, width = self.rng.pick([('r', 4), ('d', 8), ('h', 2)])
            self.emit(f'and.b32 %t, {self.reg("r")}, {LOCAL_WORDS * 8 // width - 1};')
            self.emit(f'mad.lo.u32 %t, %t, {width}, %loc;')
            if way < 4:
                self.emit(f'st.local.b{8 * width} [%t], {self.reg(kind)};')
            else:
                self.emit(f'ld.local.b{8 * width} {self.reg(kind)}, [%t];')

    def texture(self):
        """One access to one of the images, by each thread at a place of its own."""
        image = self.rng.pick(self.images)
        to = []
        while len(to) < 4:
            to.append(self.reg('r', to))
        guard = f'@{self.reg("p")} ' if self.rng.below(8) == 0 else ''
        for line in image.access(self.rng, to, lambda: self.reg('r')):
            self.emit(line.replace('@GUARD@ ', guard))
        return to

    def input_address(self, alignment):
        self.emit(f'and.b32 %t, {self.reg("r")}, {INPUT_WORDS * 8 // alignment - 1};')
        self.emit(f'mad.wide.u32 %ad, %t, {alignment}, %in;')

    def own_atomic(self):
        """On a cell of this thread alone: the old value is defined."""
        space, at = self.rng.pick([('.global', '%own'), ('.shared', '%sown')])
        kind, types = self.rng.pick([('r', ['u32', 's32', 'b32']), ('d', ['u64', 's64', 'b64'])])
        t = self.rng.pick(types)
        op = self.rng.pick(['and', 'or', 'xor', 'exch', 'cas'] if t[0] == 'b' else ['add', 'min', 'max'] + (['inc', 'dec'] if t == 'u32' else []))
        if t == 's64' and op == 'add':
            op = 'max'
        values = [self.reg(kind)] + ([self.reg(kind)] if op == 'cas' else [])
        self.emit(f'atom{space}.{op}.{t} {self.reg(kind)}, [{at}], {", ".join(values)};')

    # --- statements of a block: all threads come here together ----------------------------------------------------------

    def exchange(self):
        """Through shared memory and a barrier."""
        kind, width = self.rng.pick([('r', 4), ('d', 8), ('h', 2)])
        self.emit('bar.sync 0;')
        self.emit(f'mad.lo.u32 %t, %tid_, {width}, %sh;')
        self.emit(f'st.shared.b{8 * width} [%t], {self.reg(kind)};')
        self.emit(f'{self.rng.pick(["bar.sync 0", "barrier.sync 0", "bar.sync 1"])};')
        self.emit(f'mad.lo.u32 %t, %tid_, {self.rng.below(9)}, {self.rng.below(200)};')
        self.emit(f'rem.u32 %t, %t, {self.threads};')
        self.emit(f'mad.lo.u32 %t, %t, {width}, %sh;')
        self.emit(f'ld.shared.b{8 * width} {self.reg(kind)}, [%t];')

    def together(self):
        """Commutative reductions on cells that the block shares, read behind a barrier."""
        space, at, base = self.rng.pick([('.global', '%ad', '%cells'), ('.shared', '%t', '%scells')])
        kind, t = self.rng.pick([('r', 'u32'), ('r', 's32'), ('d', 'u64'), ('d', 's64'), ('r', 'b32'), ('d', 'b64')])
        ops = {'u': ['add', 'min', 'max'], 's': ['min', 'max'], 'b': ['and', 'or', 'xor']}[t[0]]
        op = self.rng.pick(ops)
        value, cell = self.reg(kind), self.reg('r')
        guard = self.rng.pick(['', f'@{self.reg("p")} '])

        def address():
            self.emit(f'and.b32 %t, {cell}, {SHARED_CELLS - 1};')
            if space == '.global':
                self.emit(f'mad.wide.u32 %ad, %t, 8, {base};')
            else:
                self.emit(f'mad.lo.u32 %t, %t, 8, {base};')

        self.emit('bar.sync 0;')
        address()
        self.emit(f'{guard}red{space}.{op}.{t} [{at}], {value};')
        self.emit('bar.sync 0;')
        self.emit(f'ld{space}.b{BITS[kind]} {self.reg(kind, [value])}, [{at}];')

    def masks(self):
        """%m: each lane's own member mask, %n: its lanes, %b: its first lane."""
        way = self.rng.below(3) if self.whole_warps else 0
        if way == 0:
            self.emit('mov.b32 %m, %exist; mov.b32 %n, %existing; mov.b32 %b, 0;')
        else:
            n = self.rng.pick([16, 8])
            self.emit(f'and.b32 %b, %lane, {32 - n}; shl.b32 %m, {(1 << n) - 1}, %b; mov.b32 %n, {n};')

    def warp(self):
        r = self.rng
        kind = r.below(7)
        self.masks()
        if kind < 2:
            self.emit(f'rem.u32 %t, {self.reg("r")}, %n; add.u32 %t, %t, %b;')
            self.emit(f'shfl.sync.idx.b32 {self.reg("r")}{r.pick(["", "|" + self.reg("p")])}, {self.reg("r")}, %t, 0x1f, %m;')
        elif kind == 2 and self.whole_warps:
            mode = r.pick(['up', 'down', 'bfly'])
            c = 0 if mode == 'up' else 0x1f
            width = r.pick([32, 16, 8])
            c |= (32 - width) << 8
            self.emit(f'shfl.sync.{mode}.b32 {self.reg("r")}|{self.reg("p")}, {self.reg("r")}, {r.below(width)}, {c}, 0xffffffff;')
        elif kind == 3:
            self.emit(f'vote.sync.{r.pick(["all", "any", "uni"])}.pred {self.reg("p")}, {self.reg("p")}, %m;')
        elif kind == 4:
            self.emit(f'vote.sync.ballot.b32 {self.reg("r")}, {r.pick(["", "!"])}{self.reg("p")}, %m;')
        elif kind == 5:
            op, t = r.pick([('add', 'u32'), ('add', 's32'), ('min', 'u32'), ('max', 's32'), ('and', 'b32'), ('or', 'b32'), ('xor', 'b32')])
            self.emit(f'redux.sync.{op}.{t} {self.reg("r")}, {self.reg("r")}, %m;')
        else:
            self.emit(f'and.b32 %t, {self.reg("r")}, 3;')
            if r.below(2):
                self.emit(f'match.any.sync.b32 {self.reg("r")}, %t, %m;')
            else:
                self.emit(f'match.all.sync.b32 {self.reg("r")}|{self.reg("p")}, %t, %m;')

    def some_lanes(self):
        """Warp operations of the first lanes, the others pass by."""
        n = self.rng.pick([4, 8, 16])
        end = self.label()
        self.emit(f'setp.ge.u32 %q, %lane, {n};')
        self.emit(f'and.b32 %m, %exist, {(1 << n) - 1};')
        self.emit(f'min.u32 %n, %existing, {n};')
        self.emit(f'@%q bra {end};')
        for _ in range(2):
            if self.rng.below(2):
                self.emit(f'rem.u32 %t, {self.reg("r")}, %n;')
                self.emit(f'shfl.sync.idx.b32 {self.reg("r")}, {self.reg("r")}, %t, 0x1f, %m;')
            else:
                self.emit(f'vote.sync.ballot.b32 {self.reg("r")}, {self.reg("p")}, %m;')
        self.emit(f'{end}:')

    # --- the whole --------------------------------------------------------------------------------------------------------

    def text(self):
        self.function_texts = []
        self.prologue()
        if self.copying:
            self.prepare_copies()
        for _ in range(self.rng.range(6, 10) if self.copying else self.rng.range(8, 14)):
            if self.copying and self.rng.below(3):
                self.rng.pick([self.copy_statement, self.copy_statement, self.product_statement])()
                continue
            if self.images and self.rng.below(3):
                self.store(self.rng.pick(self.texture()), '')
                continue
            if self.modified and self.rng.below(3) == 0:
                self.rng.pick([self.modified_together, self.modified_alone])()
                self.store_row()
                continue
            if self.later and self.rng.below(2):
                self.rng.pick([self.later_together, self.later_alone])()
                self.store_row()
                continue
            kind = self.rng.below(12)
            if kind == 0:
                self.exchange()
            elif kind == 1:
                self.together()
            elif kind in (2, 3):
                self.warp()
            elif kind == 4:
                self.some_lanes()
            elif kind == 5:
                self.branch()
            elif kind == 6:
                self.loop()
            elif kind == 7:
                self.block(2)
            else:
                self.straight(self.rng.range(2, 5))
            self.store_row()
        if self.copying:
            self.fold_written()
            self.meet_cluster()
        for k in range(0, POOL['r'], 2):
            self.store(f'%r{k}', '')
        if self.later and self.rng.below(3) == 0:
            self.departure()
        self.emit('ret;')
        head = f'// case {self.number}: block {self.shape[0]} {self.shape[1]} grid {self.blocks} rows {self.rows}'
        parameters = ''.join(f', .param .u64 image{image.number}' for image in self.images) + (self.copy_parameters() if self.copying else '')
        cluster = f' .reqnctapercluster {self.cluster}, 1, 1' if self.copying else ''
        entry = [head, *(image.description() for image in self.images), *(self.copy_header() if self.copying else []),
                 *([self.constants] if self.constants else []), *self.function_texts,
                 f'.visible .entry case_{self.number}(.param .u64 in, .param .u64 out{parameters}){cluster}', '{', self.registers(),
                 *([f'  .reg .b64 %image<{IMAGES}>;'] if self.images else []),
                 f'  .local .align 16 .b8 loc[{LOCAL_WORDS * 8}];',
                 f'  .shared .align 16 .b8 sh[{self.threads * 8}];',
                 f'  .shared .align 16 .b8 cells[{SHARED_CELLS * 8}];',
                 f'  .shared .align 16 .b8 own[{self.threads * 8}];', *([modifiers.SHARED] if self.modified else []),
                 *([copies.SHARED] if self.copying else []), *self.lines, '}']
        text = '\n'.join(entry)
        return text.replace('@SCRATCH@', str(self.rows * self.threads * self.blocks * 8))

    def registers(self):
        return ('  .reg .pred %p<8>, %q, %k<4>; .reg .b16 %h<12>, %x<4>; .reg .b32 %r<16>, %y<8>, %c<8>; .reg .b64 %d<12>, %z<4>;\n'
                '  .reg .b32 %t, %tid_, %gid, %loc, %sh, %scells, %sown, %lane, %existing, %exist, %m, %n, %b;\n'
                '  .reg .b64 %in, %out, %row, %ad, %own, %cells;' + ('\n' + REGISTERS if self.later else '') +
                ('\n' + copies.REGISTERS if self.copying else ''))

    def prologue(self):
        e = self.emit
        threads = self.threads
        e('ld.param.u64 %in, [in]; ld.param.u64 %out, [out];')
        e('cvta.to.global.u64 %in, %in; cvta.to.global.u64 %out, %out;')
        for image in self.images:
            e(f'ld.param.u64 %image{image.number}, [image{image.number}];')
        e('mov.u32 %t, %tid.y; mov.u32 %c0, %ntid.x; mov.u32 %c1, %tid.x; mad.lo.u32 %tid_, %t, %c0, %c1;')
        e(f'mov.u32 %t, %ctaid.x; mad.lo.u32 %gid, %t, {threads}, %tid_;')
        # Behind the rows: a cell a thread, then the cells each block shares.
        e(f'add.u64 %own, %out, @SCRATCH@; mad.wide.u32 %own, %gid, 8, %own;')
        e(f'add.u64 %cells, %out, @SCRATCH@; add.u64 %cells, %cells, {threads * self.blocks * 8};')
        e(f'mad.wide.u32 %cells, %t, {SHARED_CELLS * 8}, %cells;')
        e('mad.wide.u32 %out, %gid, 8, %out;')
        e('mov.u32 %loc, loc; mov.u32 %sh, sh; mov.u32 %scells, cells; mov.u32 %t, own; mad.lo.u32 %sown, %tid_, 8, %t;')
        e('and.b32 %lane, %tid_, 31;')
        e(f'sub.u32 %existing, {threads}, %tid_; add.u32 %existing, %existing, %lane; min.u32 %existing, %existing, 32;')
        e('sub.u32 %t, 32, %existing; mov.b32 %exist, 0xffffffff; shr.u32 %exist, %exist, %t;')
        e('mov.b64 %ad, 0;')
        e('st.shared.b64 [%sown], %ad;')
        e(f'setp.lt.u32 %q, %tid_, {SHARED_CELLS}; mad.lo.u32 %t, %tid_, 8, %scells; @%q st.shared.b64 [%t], %ad;')
        e('bar.sync 0;')
        for k in range(LOCAL_WORDS):
            e(f'st.local.b64 [loc+{8 * k}], {k * 0x0123456789ab};')
        # Registers: irregular (loaded), uniform, affine.
        for kind, count in (('r', POOL['r']), ('d', POOL['d']), ('h', POOL['h'])):
            for k in range(count):
                way = self.rng.below(6)
                name, bits = f'%{kind}{k}', BITS[kind]
                if way < 4:
                    e(f'mad.lo.u32 %t, %gid, {2 * self.rng.below(1 << 20) + 1}, {self.rng.below(1 << 20)};')
                    e(f'and.b32 %t, %t, {INPUT_WORDS - 1}; mad.wide.u32 %ad, %t, 8, %in; ld.global.b{bits} {name}, [%ad];')
                elif way == 4:
                    e(f'ld.global.b{bits} {name}, [%in+{8 * self.rng.below(INPUT_WORDS)}];')
                else:
                    e(f'mad.lo.u32 %t, %tid_, {self.rng.below(100)}, {self.rng.below(1 << 20)};')
                    e({'r': f'mov.b32 {name}, %t;', 'd': f'cvt.u64.u32 {name}, %t;', 'h': f'cvt.u16.u32 {name}, %t;'}[kind])
        for k in range(POOL['p']):
            e(f'setp.{self.rng.pick(["lt.s32", "gt.u32", "ne.s32", "ge.u32"])} %p{k}, %r{2 * k}, %r{2 * k + 1};')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--count', type=int, default=520)
    parser.add_argument('--trace', action='store_true')
    parser.add_argument('--out', required=True)
    a = parser.parse_args()
    os.makedirs(a.out, exist_ok=True)
    for start in range(a.first, a.first + a.count, CASES_PER_FILE):
        numbers = range(start, min(start + CASES_PER_FILE, a.first + a.count))
        texts = [Program(a.seed, n, a.trace).text() for n in numbers]
        with open(os.path.join(a.out, f'{start // CASES_PER_FILE:03}.ptx'), 'w') as f:
            target = '.version 8.8\n.target sm_90a' if start >= COPIES_FROM else '.version 8.6\n.target sm_90'
            f.write(f'{target}\n.address_size 64\n\n' + '\n\n'.join(texts) + '\n')


if __name__ == '__main__':
    main()
