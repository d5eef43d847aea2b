"""Operations and statements of the programs from MODIFIERS_FROM on: sinks (`_`) wherever ptxas takes one, guards and negated
predicates, immediates for every source, and the modifiers that operations.py leaves out."""
from operations import COMPARISONS, KIND, Operation

MODIFIERS_FROM = 1600
SHARED = '  .shared .align 8 .b64 arrivals;'

# Further kinds of operands, beside those of operations.py: H, R, D, a register or an immediate of 16, 32 or 64 bits; F, G, a
# register or a floating-point immediate of 32 or 64 bits; P, a predicate or its negation; "other p", one that is not {d}.
REGISTER_OF = {'H': 'h', 'R': 'r', 'D': 'd', 'F': 'r', 'G': 'd', 'P': 'p'}
FLOATS_32 = ['00000000', '80000000', '3f800000', 'c0200000', '7f800000', '7fffffff', '00000001', '3eaaaaab', '4b000001']
FLOATS_64 = ['0000000000000000', '8000000000000000', '3ff0000000000000', 'c004000000000000', '7ff0000000000000', '3fd5555555555555',
             '0000000000000001', '4330000000000001']


def source(program, kind):
    """An operand of one of these kinds. Constant sources alone would leave nothing to execute: three of four are registers."""
    rng, register = program.rng, program.reg(REGISTER_OF[kind])
    if kind == 'P':
        return rng.pick(['', '!']) + register
    if rng.below(4):
        return register
    if kind == 'F':
        return '0f' + rng.pick(FLOATS_32)
    if kind == 'G':
        return '0d' + rng.pick(FLOATS_64)
    return program.immediate({'H': 16, 'R': 32, 'D': 64}[kind])


OPERATIONS = []


def add(text, weight=1, distinct=False, **operands):
    # ptxas 13.0 crashes at a guarded setp with a sink first, and ignores the guard of set.
    guardable = not (text.startswith('set.') or text.startswith('setp') and ' _|' in text)
    OPERATIONS.extend([Operation(text, operands, guardable=guardable, distinct=distinct)] * weight)


def integers():
    for w, k in KIND.items():
        K = k.upper()
        for s in 'us':
            t = f'{s}{w}'
            for op in ('add', 'sub', 'mul.lo', 'mul.hi', 'min', 'max'):
                add(f'{op}.{t} {{d}}, {{a}}, {{b}}', d=k, a=k, b=K)
            add(f'mad.lo.{t} {{d}}, {{a}}, {{b}}, {{c}}', d=k, a=k, b=K, c=K)
            add(f'sad.{t} {{d}}, {{a}}, {{b}}, {{c}}', d=k, a=k, b=K, c=K)
            for outputs, names in (('{d}|{e}', {'d': 'p', 'e': 'other p'}), ('_|{d}', {'d': 'p'}), ('{d}|_', {'d': 'p'})):
                add(f'setp.{{cmp}}.{t} {outputs}, {{a}}, {{b}}', a=k, b=K, cmp='=eq ne lt ge', **names)
                add(f'setp.{{cmp}}.{{op}}.{t} {outputs}, {{a}}, {{b}}, {{c}}', a=k, b=K, c='P', cmp='=lt ge eq', op='=and or xor', **names)
            add(f'set.{{cmp}}.{{op}}.{{to}}.{t} {{d}}, {{a}}, {{b}}, {{c}}', d='r', a=k, b=K, c='P', cmp='=lt ge eq ne', op='=and or xor',
                to='=u32 s32 f32')
            add(f'slct.{t}.s32 {{d}}, {{a}}, {{b}}, {{c}}', d=k, a=k, b=K, c='r')
            add(f'slct{{z}}.{t}.f32 {{d}}, {{a}}, {{b}}, {{c}}', d=k, a=k, b=K, c='r', z='=.ftz .ftz')
            if w < 64:
                add(f'mul.wide.{t} {{d}}, {{a}}, {{b}}', d=KIND[2 * w], a=k, b=K)
                add(f'mad.wide.{t} {{d}}, {{a}}, {{b}}, {{c}}', d=KIND[2 * w], a=k, b=K, c=KIND[2 * w].upper())
            if w > 16:  # ptxas 13.0 compiles rem.s16 by 10 wrong
                for op in ('div', 'rem'):
                    add(f'{op}.{t} {{d}}, {{a}}, {{b}}', d=k, a=k, b='=3 7 10 16 1000 0x7fffffff')
        for op in ('and', 'or', 'xor'):
            add(f'{op}.b{w} {{d}}, {{a}}, {{b}}', d=k, a=k, b=K)
        for op in ('shl.b', 'shr.u', 'shr.s'):
            add(f'{op}{w} {{d}}, {{a}}, {{b}}', d=k, a=k, b='R')
            add(f'{op}{w} {{d}}, {{a}}, {{b}}', d=k, a=K, b='r')
        add(f'selp.b{w} {{d}}, {{a}}, {{b}}, {{c}}', d=k, a=K, b=k, c='P', weight=2)
    for k, w in (('r', 32), ('d', 64)):
        for s in 'us':
            add(f'bfe.{s}{w} {{d}}, {{a}}, {{b}}, {{c}}', d=k, a=k, b='r', c='=1 8 31')
        add(f'bfi.b{w} {{d}}, {{a}}, {{b}}, {{c}}, {{e}}', d=k, a=k.upper(), b=k, c='r', e='=1 8 20')
    for t in ('s16x2', 'u16x2'):
        for op in ('add', 'min', 'max'):
            add(f'{op}.{t} {{d}}, {{a}}, {{b}}', d='r', a='r', b='r')
    for op in ('min', 'max'):
        add(f'{op}.relu.s32 {{d}}, {{a}}, {{b}}', d='r', a='r', b='R')
        add(f'{op}.relu.s16x2 {{d}}, {{a}}, {{b}}', d='r', a='r', b='r')
    for outputs, names in (('{d}|{p}', {'d': 'r', 'p': 'p'}), ('_|{p}', {'p': 'p'})):
        add(f'lop3.{{op}}.b32 {outputs}, {{a}}, {{b}}, {{c}}, {{e}}, {{q}}', a='r', b='R', c='r', e='#8', q='P', op='=and or', weight=2, **names)
    add('shf.{side}.{mode}.b32 {d}, {a}, {b}, {c}', d='r', a='r', b='R', c='R', side='=l r', mode='=clamp wrap', weight=2)
    add('szext.{mode}.{t} {d}, {a}, {b}', d='r', a='r', b='R', mode='=clamp wrap', t='=u32 s32')
    add('bmsk.{mode}.b32 {d}, {a}, {b}', d='r', a='R', b='r', mode='=clamp wrap')
    add('dp4a.{t}.{u} {d}, {a}, {b}, {c}', d='r', a='r', b='R', c='R', t='=u32 s32', u='=u32 s32')
    add('not.pred {d}, {a}', d='p', a='P')
    add('mov.pred {d}, {a}', d='p', a='P')
    for op in ('and', 'or', 'xor'):
        add(f'{op}.pred {{d}}, {{a}}, {{b}}', d='p', a='P', b='P', weight=2)


def moves():
    """Into parts, some of which nobody wants."""
    add('mov.b64 {{{d}, _}}, {a}', d='r', a='d', weight=2)
    add('mov.b64 {{_, {d}}}, {a}', d='r', a='d', weight=2)
    add('mov.b32 {{_, {d}}}, {a}', d='h', a='r')
    add('mov.b32 {{{d}, _}}, {a}', d='h', a='r')
    add('mov.b64 {{_, {d}, _, _}}, {a}', d='h', a='d')
    add('mov.b64 {d}, {{{a}, {b}, {c}, {e}}}', d='d', a='h', b='h', c='h', e='h')


def floats():
    for w, k, K in ((32, 'r', 'F'), (64, 'd', 'G')):
        t = f'f{w}'
        for op in ('add', 'sub', 'mul', 'fma'):
            c = ', {c}' if op == 'fma' else ''
            add(f'{op}{{rnd}}.{t} {{d}}, {{a}}, {{b}}{c}', d=k, a=k, b=K, rnd='=.rn .rz .rm .rp', **({'c': K} if c else {}), weight=2)
        for z in (('', '.ftz') if w == 32 else ('',)):
            for outputs, names in (('{d}|{e}', {'d': 'p', 'e': 'other p'}), ('_|{d}', {'d': 'p'})):
                add(f'setp.{{cmp}}.{{op}}{z}.{t} {outputs}, {{a}}, {{b}}, {{c}}', a=k, b=K, c='P', cmp=COMPARISONS, op='=and or xor', **names)
            add(f'set.{{cmp}}.{{op}}{z}.{{to}}.{t} {{d}}, {{a}}, {{b}}, {{c}}', d='r', a=k, b=K, c='P', cmp=COMPARISONS, op='=and or xor',
                to='=u32 s32 f32')
        add(f'selp.{t} {{d}}, {{a}}, {{b}}, {{c}}', d=k, a=K, b=k, c='P')
    for op in ('min', 'max'):
        for z in ('', '.ftz'):
            for nan in ('', '.NaN'):
                add(f'{op}{z}{nan}.xorsign.abs.f32 {{d}}, {{a}}, {{b}}', d='r', a='r', b='r', distinct=True)
    for t, k in (('f16', 'h'), ('f16x2', 'r'), ('bf16', 'h'), ('bf16x2', 'r')):
        for op in ('min', 'max'):
            add(f'{op}{{nan}}.xorsign.abs.{t} {{d}}, {{a}}, {{b}}', d=k, a=k, b=k, nan='=.NaN .NaN', distinct=True)
        # The NaN that stands for "outside the tensor", and its neighbours.
        wide, x, outside = ('b32', '%y0', '=0x7ff77ff7 0x3c00fff7 0xfff73c00 0x7ff67ff8') if k == 'r' else ('b16', '%x0', '=0x7ff7 0xfff7 0x7ff6 0x7ff8')
        for relu in ('', '.relu'):
            add(f'selp.{wide} {x}, {{e}}, {{a}}, {{p}}; fma.rn.oob{relu}.{t} {{d}}, {x}, {{b}}, {{c}}', d=k, a=k, b=k, c=k, e=outside, p='P')
            add(f'fma.rn.oob{relu}.{t} {{d}}, {{a}}, {{b}}, {{c}}', d=k, a=k, b=k, c=k)
        if k == 'r':
            for outputs, names in (('{d}|{e}', {'d': 'p', 'e': 'other p'}), ('_|{d}', {'d': 'p'}), ('{d}|_', {'d': 'p'})):
                add(f'setp.{{cmp}}.{{op}}.{t} {outputs}, {{a}}, {{b}}, {{c}}', a=k, b=k, c='P', cmp=COMPARISONS, op='=and or xor', **names)
            add(f'set.{{cmp}}.{t}.{t} {{d}}, {{a}}, {{b}}', d='r', a=k, b=k, cmp=COMPARISONS)
        else:
            add(f'set.{{cmp}}.{{op}}.u16.{t} {{d}}, {{a}}, {{b}}, {{c}}', d='h', a=k, b=k, c='P', cmp=COMPARISONS, op='=and or xor')
            add(f'set.{{cmp}}.{t}.{t} {{d}}, {{a}}, {{b}}', d='h', a=k, b=k, cmp=COMPARISONS)


def conversions():
    for rnd in ('.rn', '.rz'):
        for relu in ('', '.relu'):
            add(f'cvt{rnd}{relu}.satfinite.f16.f32 {{d}}, {{a}}', d='h', a='r')
            add(f'cvt{rnd}{relu}.f16.f32 {{d}}, {{a}}', d='h', a='r')
    add('cvt.rna.satfinite.tf32.f32 {d}, {a}', d='r', a='r')
    add('cvt.f64.bf16 {d}, {a}', d='d', a='h')
    for rnd in ('.rn', '.rz', '.rm', '.rp'):
        add(f'cvt{rnd}.bf16.f64 {{d}}, {{a}}', d='h', a='d')
        add(f'cvt{rnd}.bf16.s32 {{d}}, {{a}}', d='h', a='r')
        add(f'cvt{rnd}.bf16.f16 {{d}}, {{a}}', d='h', a='h')
        add(f'cvt{rnd}.f16.bf16 {{d}}, {{a}}', d='h', a='h')
        add(f'cvt{rnd}i.bf16.bf16 {{d}}, {{a}}', d='h', a='h')
        for t, k in (('u16', 'h'), ('s32', 'r'), ('u64', 'd')):
            add(f'cvt{rnd}i.{t}.bf16 {{d}}, {{a}}', d=k, a='h')


def video():
    part = '=.b0 .b1 .b2 .b3 .h0 .h1'
    for op in ('vadd', 'vsub', 'vabsdiff', 'vmin', 'vmax'):
        add(f'{op}.{{t}}.{{u}}.{{v}}{{sat}} {{d}}, {{a}}{{x}}, {{b}}{{y}}', d='r', a='r', b='r', x=part, y=part, t='=u32 s32', u='=u32 s32',
            v='=u32 s32', sat='=.sat .sat')
        add(f'{op}.{{t}}.{{u}}.{{v}}.{{then}} {{d}}, {{a}}{{x}}, {{b}}{{y}}, {{c}}', d='r', a='r', b='r', c='r', x=part, y=part, t='=u32 s32',
            u='=u32 s32', v='=u32 s32', then='=add min max')
    for lanes in '24':
        for op in ('vadd', 'vsub', 'vavrg', 'vabsdiff', 'vmin', 'vmax'):
            add(f'{op}{lanes}.{{t}}.{{u}}.{{v}}{{sat}} {{d}}, {{a}}, {{b}}, {{c}}', d='r', a='r', b='r', c='r', t='=u32 s32', u='=u32 s32',
                v='=u32 s32', sat='=.sat .add')


integers()
moves()
floats()
conversions()
video()


class ModifierStatements:
    """Further statements of a Program, beside those of generate.py and statements.py."""

    # --- of one thread --------------------------------------------------------------------------------------------------

    def modified_alone(self):
        self.rng.pick([self.parts_of_memory, self.parts_of_memory, self.ways_to_load, self.ways_to_store, self.sunk_atomic, self.sunk_atomic,
                       self.ordered_atomic])()

    def guard(self):
        return self.rng.pick(['', '', '@', '@!'])

    def guarded(self, text):
        guard = self.guard()
        self.emit((f'{guard}{self.reg("p")} ' if guard else '') + text)

    def cell(self):
        """A place of 8 bytes that is this thread's alone."""
        return self.rng.pick([('.global', '%own'), ('.shared', '%sown')])

    def some_sunk(self, kind, n):
        """n destinations, of which at least one is a register."""
        to, kept = [], self.rng.below(n)
        for k in range(n):
            to.append(self.reg(kind, to) if k == kept or self.rng.below(2) else '_')
        return '{' + ', '.join(to) + '}'

    def parts_of_memory(self):
        kind, width, n = self.rng.pick([('r', 'b32', 2), ('h', 'b16', 2), ('h', 'b16', 4), ('r', 'u8', 4), ('h', 's8', 4), ('d', 's16', 2),
                                        ('r', 's8', 2), ('d', 'u32', 2)])
        space, at = self.cell()
        if self.rng.below(3) == 0 and kind == 'r' and width == 'b32':
            self.input_address(16)
            return self.guarded(f'ld.global.v4.b32 {self.some_sunk("r", 4)}, [%ad];')
        self.guarded(f'ld{space}.v{n}.{width} {self.some_sunk(kind, n)}, [{at}];')

    def ways_to_load(self):
        r = self.rng
        kind, width = r.pick([('r', 'b32'), ('d', 'b64'), ('r', 'u16'), ('d', 's8'), ('h', 'b16')])
        if r.below(3) == 0:
            self.input_address(8)
            how = r.pick(['.global.nc', '.global.nc.L1::evict_first', '.global.L1::evict_last', '.global.L1::no_allocate.L2::128B', '.global.ca',
                          '.global.nc.L2::256B'])
            return self.guarded(f'ld{how}.{width} {self.reg(kind)}, [%ad];')
        space, at = self.cell()
        how = r.pick([f'{space}.ca', f'{space}.cg', f'{space}.cs', f'{space}.cv', f'.weak{space}', f'.volatile{space}', f'.relaxed.cta{space}',
                      f'.acquire.gpu{space}', f'.relaxed.sys{space}'])
        self.guarded(f'ld{how}.{width} {self.reg(kind)}, [{at}];')

    def ways_to_store(self):
        r, (space, at) = self.rng, self.cell()
        if r.below(3) == 0:
            kind, width, n = r.pick([('R', 'b32', 2), ('H', 'b16', 2), ('H', 'b16', 4), ('r', 'b8', 4), ('r', 'b8', 2)])
            values = ', '.join(source(self, kind) if kind.isupper() else self.reg(kind) for _ in range(n))
            return self.guarded(f'st{space}.v{n}.{width} [{at}], {{{values}}};')
        kind, width = r.pick([('R', 'b32'), ('D', 'b64'), ('r', 'b16'), ('d', 'b8'), ('H', 'b16'), ('F', 'f32'), ('G', 'f64')])
        how = r.pick([f'{space}.wb', f'{space}.cg', f'{space}.cs', f'.weak{space}', f'.volatile{space}', f'.relaxed.cta{space}',
                      f'.release.gpu{space}', f'.relaxed.sys{space}'])
        value = source(self, kind) if kind.isupper() else self.reg(kind)
        self.guarded(f'st{how}.{width} [{at}], {value};')

    def sunk_atomic(self):
        """The old value goes nowhere, in some of them."""
        space, at = self.cell()
        kind, types = self.rng.pick([('r', ['u32', 's32', 'b32']), ('d', ['u64', 's64', 'b64'])])
        t = self.rng.pick(types)
        op = self.rng.pick(['and', 'or', 'xor', 'exch', 'cas'] if t[0] == 'b' else ['min', 'max'] + (['inc', 'dec'] if t == 'u32' else []))
        values = [source(self, kind.upper()) for _ in range(2 if op == 'cas' else 1)]
        self.guarded(f'atom{space}.{op}.{t} {self.rng.pick(["_", "_", self.reg(kind)])}, [{at}], {", ".join(values)};')

    def ordered_atomic(self):
        space, at = self.cell()
        order = self.rng.pick(['.relaxed', '.acquire', '.release', '.acq_rel']) + self.rng.pick(['.cta', '.gpu', '.sys'])
        if self.rng.below(3) == 0:
            order = self.rng.pick(['.relaxed', '.release']) + self.rng.pick(['.cta', '.gpu'])
            return self.guarded(f'red{order}{space}.add.u64 [{at}], {source(self, "D")};')
        self.guarded(f'atom{order}{space}.add.u32 {self.reg("r")}, [{at}], {source(self, "R")};')

    # --- of a block: all threads come here together -----------------------------------------------------------------------

    def modified_together(self):
        self.rng.pick([self.sunk_in_warp, self.sunk_in_warp, self.arrivals])()

    def sunk_in_warp(self):
        r = self.rng
        self.masks()
        for _ in range(r.range(1, 3)):
            kind = r.below(6)
            if kind == 0:
                self.emit(f'elect.sync _|{self.reg("p")}, %m;')
            elif kind == 1:
                self.emit(f'rem.u32 %t, {self.reg("r")}, %n; add.u32 %t, %t, %b;')
                self.emit(f'shfl.sync.idx.b32 {self.reg("r")}|_, {source(self, "R")}, %t, 0x1f, %m;')
            elif kind == 2:
                self.emit(f'and.b32 %t, {self.reg("r")}, 1;')
                self.emit(f'match.all.sync.b32 {r.pick(["_|" + self.reg("p"), self.reg("r") + "|_", self.reg("r")])}, %t, %m;')
            elif kind == 3:
                self.emit(f'vote.sync.{r.pick(["all", "any", "uni"])}.pred {self.reg("p")}, {source(self, "P")}, %m;')
            elif kind == 4:
                self.emit(f'vote.sync.ballot.b32 {self.reg("r")}, {source(self, "P")}, %m;')
            else:
                self.emit(f'redux.sync.{r.pick(["add.s32", "min.u32", "max.s32", "xor.b32"])} {self.reg("r")}, {source(self, "R")}, %m;')
            if r.below(2):
                self.straight(1)
        self.emit('bar.warp.sync %exist;')

    def arrivals(self):
        """One phase of an mbarrier, and what a thread wrote before it."""
        r, turn = self.rng, self.label()
        self.emit('bar.sync 0; setp.eq.u32 %q, %tid_, 0;')
        self.emit(f'@%q mbarrier.init.shared.b64 [arrivals], {self.threads};')
        self.emit(f'mad.lo.u32 %t, %tid_, 8, %sh; st.shared.b64 [%t], {self.reg("d")};')
        self.emit('bar.sync 0;')
        self.emit(r.pick(['mbarrier.arrive.shared.b64 _, [arrivals];', 'mbarrier.arrive.release.cta.shared::cta.b64 _, [arrivals], 1;',
                          'mbarrier.arrive.expect_tx.shared.b64 _, [arrivals], 0;', 'mbarrier.arrive_drop.shared.b64 _, [arrivals];']))
        self.emit(f'{turn}:')
        self.emit(f'mbarrier.{r.pick(["try", "test"])}_wait.parity.shared.b64 %q, [arrivals], 0;')
        self.emit(f'@!%q bra {turn};')
        self.emit(f'mad.lo.u32 %t, %tid_, {r.below(9)}, {r.below(200)}; rem.u32 %t, %t, {self.threads}; mad.lo.u32 %t, %t, 8, %sh;')
        self.emit(f'ld.shared.b64 {self.reg("d")}, [%t];')
        self.emit('bar.sync 0; setp.eq.u32 %q, %tid_, 0;')
        self.emit('@%q mbarrier.inval.shared.b64 [arrivals];')
