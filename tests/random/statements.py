"""Statements of the programs from LATER_FROM on: indirect and recursive calls, loops with two entries, warp operations on
both sides of a branch, barriers that count, copies in the background, matrices, generic addresses, constants, memory of
alloca, floating-point atomics, threads that leave early."""

LATER_FROM = 1200
CONSTANTS = 32
REGISTERS = '  .reg .pred %side; .reg .b32 %all, %own32, %mine; .reg .b64 %target, %stack, %place;'


class LaterStatements:
    """Further statements of a Program, beside those of generate.py."""

    # --- of one thread --------------------------------------------------------------------------------------------------

    def later_alone(self):
        self.rng.pick([self.indirect_call, self.recursive_call, self.two_entries, self.float_atomic, self.float_atomic, self.generic,
                       self.generic, self.constant, self.allocate, self.special, self.bytes])()

    def arguments(self, call):
        a, b, d, e = self.reg('r'), self.reg('d'), self.reg('r'), self.reg('d')
        self.emit('{')
        self.emit('.param .b32 a; .param .b64 b; .param .align 8 .b8 s[16];')
        self.emit(f'st.param.b32 [a], {a}; st.param.b64 [b], {b};')
        for line in call:
            self.emit(line)
        self.emit(f'ld.param.b32 {d}, [s]; ld.param.b64 {e}, [s+8];')
        self.emit('}')

    def indirect_call(self):
        """The lanes of a warp call one or the other function."""
        while len(self.functions) < 2:
            self.define_function()
        one, other = self.functions[0][0], self.functions[1][0]
        prototype = self.label()
        self.emit(f'mov.u64 %target, {one}; mov.u64 %place, {other}; selp.b64 %target, %target, %place, {self.reg("p")};')
        self.emit(f'{prototype}: .callprototype (.param .align 8 .b8 _[16]) _ (.param .b32 _, .param .b64 _);')
        self.arguments([f'call (s), %target, (a, b), {prototype};'])

    def recursive_call(self):
        """Recursion whose depth is given by the lower bits of an argument."""
        if not self.recursive:
            name = self.recursive = f'g{self.number}'
            outer, self.lines, self.in_function, depth, self.depth = self.lines, [], True, self.depth, 0
            self.emit('ld.param.b32 %r0, [a]; ld.param.b64 %d0, [b];')
            self.initialise_from('%r0', '%d0')
            self.straight(3)
            self.emit('ld.param.b32 %own32, [a]; and.b32 %t, %own32, 3; setp.eq.u32 %q, %t, 0; @%q bra base;')
            self.emit('sub.u32 %t, %own32, 1;')
            self.emit('{')
            self.emit('.param .b32 a2; .param .b64 b2; .param .align 8 .b8 s2[16];')
            self.emit(f'st.param.b32 [a2], %t; st.param.b64 [b2], {self.reg("d")};')
            self.emit(f'call (s2), {name}, (a2, b2);')
            self.emit('ld.param.b32 %t, [s2]; ld.param.b64 %z0, [s2+8]; xor.b32 %r1, %r1, %t; xor.b64 %d1, %d1, %z0;')
            self.emit('}')
            self.straight(2)
            self.emit('base:')
            self.emit('st.param.b32 [s], %r1; st.param.b64 [s+8], %d1; ret;')
            body, self.lines, self.in_function, self.depth = self.lines, outer, False, depth
            self.function_texts.append('\n'.join([f'.func (.param .align 8 .b8 s[16]) {name}(.param .b32 a, .param .b64 b)', '{',
                                                  self.registers(), *body, '}']))
        self.arguments([f'call (s), {self.recursive}, (a, b);'])

    def two_entries(self):
        """A loop that begins at either of two places and goes back to either."""
        first, second, end, counter = self.label(), self.label(), self.label(), f'%c{self.depth}'
        if self.depth > 2:
            return self.special()
        self.emit(f'and.b32 {counter}, {self.reg("r")}, 3;')
        self.emit(f'@{self.reg("p")} bra {second};')
        self.emit(f'{first}:')
        self.block(self.rng.range(1, 2))
        self.emit(f'{second}:')
        self.block(self.rng.range(1, 2))
        self.emit(f'setp.eq.u32 %q, {counter}, 0; @%q bra {end};')
        self.emit(f'sub.u32 {counter}, {counter}, 1;')
        self.emit(f'@{self.reg("p")} bra {first};')
        self.emit(f'bra {second};')
        self.emit(f'{end}:')

    def float_atomic(self):
        """On a cell of this thread alone."""
        space, at = self.rng.pick([('.global', '%own'), ('.shared', '%sown')])
        way = self.rng.below(8)
        guard = f'@{self.reg("p")} ' if self.rng.below(4) == 0 else ''
        if way == 0 and space == '.global':
            a, b, c, d = (self.reg('r') for _ in range(4))
            if a == b:
                return
            self.emit(f'{guard}atom.global.v2.f32.add {{{a}, {b}}}, [{at}], {{{c}, {d}}};')
        elif way == 1:
            self.emit(f'{guard}atom{space}.cas.b16 {self.reg("h")}, [{at}], {self.reg("h")}, {self.reg("h")};')
        else:
            t, kind = self.rng.pick([('f32', 'r'), ('f32', 'r'), ('f64', 'd'), ('noftz.f16x2', 'r'), ('noftz.bf16x2', 'r'), ('noftz.f16', 'h'),
                                     ('noftz.bf16', 'h')])
            if self.rng.below(3):
                self.emit(f'{guard}atom{space}.add.{t} {self.reg(kind)}, [{at}], {self.reg(kind)};')
            else:
                self.emit(f'{guard}red{space}.add.{t} [{at}], {self.reg(kind)};')
        self.emit(f'ld{space}.b64 {self.reg("d")}, [{at}];')

    def generic(self):
        """Its own cells through generic addresses, whose space differs between the lanes."""
        self.emit(f'cvt.u64.u32 %target, %sown; cvta.shared.u64 %target, %target; cvta.global.u64 %place, %own;')
        self.emit(f'selp.b64 %place, %target, %place, {self.reg("p")};')
        way = self.rng.below(5)
        kind = self.rng.pick('rd')
        bits = {'r': 32, 'd': 64}[kind]
        if way == 0:
            self.emit(f'isspacep.{self.rng.pick(["shared", "global", "local", "const"])} {self.reg("p")}, %place;')
        elif way == 1:
            self.emit(f'st.b{bits} [%place], {self.reg(kind)};')
        elif way == 2:
            self.emit(f'ld.b{bits} {self.reg(kind)}, [%place];')
        elif way == 3:
            self.emit(f'atom.{self.rng.pick(["exch.b", "max.u", "min.s", "xor.b"])}{bits} {self.reg(kind)}, [%place], {self.reg(kind)};')
        else:
            self.emit(f'cvt.u64.u32 %target, %loc; cvta.local.u64 %target, %target; selp.b64 %place, %target, %place, {self.reg("p")};')
            self.emit(f'st.volatile.b{bits} [%place], {self.reg(kind)};')
            self.emit(f'ld.volatile.b{bits} {self.reg(kind)}, [%place];')

    def constant(self):
        if not self.constants:
            self.constants = f'.const .align 16 .b32 k{self.number}[{CONSTANTS}] = {{{", ".join(str(self.rng.below(1 << 32)) for _ in range(CONSTANTS))}}};'
        size, kind, bytes_ = self.rng.pick([('b32', 'r', 4), ('b64', 'd', 8), ('u8', 'r', 1), ('s8', 'r', 1), ('s16', 'r', 2), ('b16', 'h', 2)])
        self.emit(f'and.b32 %t, {self.reg("r")}, {CONSTANTS * 4 // bytes_ - 1};')
        self.emit(f'cvt.u64.u32 %place, %t; mov.u64 %target, k{self.number}; mad.lo.u64 %place, %place, {bytes_}, %target;')
        self.emit(f'ld.const.{size} {self.reg(kind)}, [%place];')

    def allocate(self):
        """An array of 1 to 8 doubles whose size differs between lanes; what was on the stack before stays."""
        alignment = self.rng.pick([8, 16, 32])
        self.emit(f'and.b32 %t, {self.reg("r")}, 7; add.u32 %t, %t, 1; mul.wide.u32 %place, %t, 8;')
        self.emit('stacksave.u64 %stack;')
        self.emit(f'alloca.u64 %target, %place, {alignment};')
        self.emit(f'and.b64 %place, %target, {alignment - 1};')
        a, b, d = self.reg('d'), self.reg('d'), self.reg('d')
        self.emit(f'add.u64 {self.reg("d")}, {self.reg("d")}, %place;')  # aligned: nothing is added
        self.emit(f'and.b32 %own32, {self.reg("r")}, 7; rem.u32 %own32, %own32, %t; mul.wide.u32 %place, %own32, 8; add.u64 %place, %target, %place;')
        self.emit(f'st.local.b64 [%target], {a}; st.local.b64 [%place], {b};')
        if self.rng.below(2):
            self.call()
        self.emit(f'ld.local.b64 {d}, [%target];')
        self.emit(f'ld.local.b32 {self.reg("r")}, [%place+4];')
        self.emit('stackrestore.u64 %stack;')

    def special(self):
        register = self.rng.pick(['lanemask_eq', 'lanemask_lt', 'lanemask_le', 'lanemask_gt', 'lanemask_ge', 'laneid', 'ntid.x', 'ctaid.x',
                                  'nctaid.x', 'tid.y', 'ntid.z'])
        self.emit(f'mov.u32 {self.reg("r")}, %{register};')

    def bytes(self):
        """Single bytes and halves of local memory."""
        size, mask = self.rng.pick([('8', 63), ('16', 31)])
        self.emit(f'and.b32 %t, {self.reg("r")}, {mask}; mad.lo.u32 %t, %t, {int(size) // 8}, %loc;')
        if self.rng.below(2):
            self.emit(f'st.local.b{size} [%t], {self.reg(self.rng.pick("rdh"))};')
        else:
            self.emit(f'ld.local.{self.rng.pick("us")}{size} {self.reg(self.rng.pick("rdh" if size == "8" else "rd"))}, [%t];')

    # --- of a block: all threads come here together ----------------------------------------------------------------------

    def later_together(self):
        self.rng.pick([self.both_sides, self.both_sides, self.counting_barrier, self.turns, self.background_copy, self.matrix,
                       self.within_warp, self.both_sides])()

    def side(self):
        """%m: the lanes of this side."""
        r = self.rng
        for _ in range(r.range(1, 3)):
            kind = r.below(6)
            if kind == 0:
                self.emit('bfind.u32 %t, %m;')
                self.emit(f'shfl.sync.idx.b32 {self.reg("r")}|{self.reg("p")}, {self.reg("r")}, %t, 0x1f, %m;')
            elif kind == 1:
                self.emit(f'vote.sync.ballot.b32 {self.reg("r")}, {self.reg("p")}, %m;')
            elif kind == 2:
                self.emit(f'redux.sync.{r.pick(["add.s32", "min.u32", "max.s32", "xor.b32"])} {self.reg("r")}, {self.reg("r")}, %m;')
            elif kind == 3:
                self.emit(f'and.b32 %t, {self.reg("r")}, 3; match.any.sync.b32 {self.reg("r")}, %t, %m;')
            elif kind == 4:
                self.emit(f'and.b64 %place, {self.reg("d")}, 1; match.all.sync.b64 {self.reg("r")}|{self.reg("p")}, %place, %m;')
            else:
                self.emit(f'elect.sync {self.reg("r")}|{self.reg("p")}, %m;')
            self.straight(1)

    def both_sides(self):
        other, end = self.label(), self.label()
        self.emit(f'and.pred %side, {self.reg("p")}, {self.reg("p")};')
        self.emit('vote.sync.ballot.b32 %all, %side, %exist;')
        self.emit(f'@%side bra {other};')
        self.emit('not.b32 %m, %all; and.b32 %m, %m, %exist;')
        self.side()
        self.emit(f'bra {end};')
        self.emit(f'{other}:')
        self.emit('mov.b32 %m, %all;')
        self.side()
        self.emit(f'{end}:')
        self.emit('bar.warp.sync %exist;')

    def counting_barrier(self):
        way = self.rng.below(3)
        if way == 0:
            self.emit(f'barrier.cta.red.popc.u32 {self.reg("r")}, 0, {self.reg("p")};')
        else:
            self.emit(f'barrier.cta.red.{self.rng.pick(["and", "or"])}.pred {self.reg("p")}, {self.rng.below(3)}, {self.rng.pick(["", "!"])}{self.reg("p")};')

    def turns(self):
        """A loop of all threads with barriers in it."""
        head = self.label()
        self.emit(f'mov.b32 %all, {self.rng.range(1, 3)};')
        self.emit(f'{head}:')
        self.exchange()
        self.straight(2)
        if self.rng.below(2):
            self.together()
        self.emit('sub.u32 %all, %all, 1; setp.ne.u32 %q, %all, 0;')
        self.emit(f'@%q bra {head};')

    def background_copy(self):
        size = self.rng.pick([4, 8])
        self.emit('bar.sync 0;')
        self.emit(f'mad.lo.u32 %own32, %tid_, 8, %sh;')
        self.emit('mov.b64 %place, 0; st.shared.b64 [%own32], %place;')
        self.input_address(8)
        fill = self.rng.pick(['', '', f', {self.rng.below(size + 1)}'])
        self.emit(f'cp.async.ca.shared.global [%own32], [%ad], {size}{fill};')
        self.emit(self.rng.pick(['cp.async.wait_all;', 'cp.async.commit_group; cp.async.wait_group 0;']))
        self.emit('bar.sync 0;')
        self.emit(f'mad.lo.u32 %t, %tid_, {self.rng.below(9)}, {self.rng.below(200)}; rem.u32 %t, %t, {self.threads}; mad.lo.u32 %t, %t, 8, %sh;')
        self.emit(f'ld.shared.b64 {self.reg("d")}, [%t];')

    def matrix(self):
        if not self.whole_warps:
            return self.within_warp()
        way = self.rng.below(4)
        r = [self.reg('r') for _ in range(6)]
        self.emit('bar.warp.sync %exist;')  # an H200 calls these instructions illegal where a warp has not come together
        if way == 0:
            self.emit(f'movmatrix.sync.aligned.m8n8.trans.b16 {r[0]}, {r[1]};')
        elif way == 1:
            self.emit('bar.sync 0;')
            self.emit(f'mad.lo.u32 %t, %tid_, 8, %sh; st.shared.b64 [%t], {self.reg("d")};')
            self.emit('bar.sync 0;')
            self.emit('and.b32 %own32, %tid_, 0xffe0; mad.lo.u32 %own32, %own32, 8, %sh; and.b32 %t, %lane, 15; mad.lo.u32 %own32, %t, 16, %own32;')
            self.emit('bar.warp.sync %exist;')
            if r[0] != r[1]:
                self.emit(f'ldmatrix.sync.aligned.m8n8.x2{self.rng.pick(["", ".trans"])}.shared.b16 {{{r[0]}, {r[1]}}}, [%own32];')
        else:
            a, b = self.rng.pick('us'), self.rng.pick('us')
            sat = self.rng.pick(['', '.satfinite'])
            to = []
            while len(to) < 2:
                to.append(self.reg('r', to))
            self.emit(f'mma.sync.aligned.m8n8k16.row.col{sat}.s32.{a}8.{b}8.s32 {{{to[0]}, {to[1]}}}, {{{r[2]}}}, {{{r[3]}}}, {{{r[4]}, {r[5]}}};')

    def within_warp(self):
        """Through shared memory, with the lanes of the warp only."""
        kind, width = self.rng.pick([('r', 4), ('d', 8), ('h', 2)])
        self.emit('bar.sync 0;')
        self.emit(f'mad.lo.u32 %t, %tid_, 8, %sh; st.shared.b{8 * width} [%t], {self.reg(kind)};')
        self.emit('bar.warp.sync %exist;')
        self.emit(f'add.u32 %t, %lane, {self.rng.range(1, 31)}; rem.u32 %t, %t, %existing; sub.u32 %own32, %tid_, %lane; add.u32 %t, %t, %own32;')
        self.emit(f'mad.lo.u32 %t, %t, 8, %sh; ld.shared.b{8 * width} {self.reg(kind)}, [%t];')
        self.emit('bar.warp.sync %exist;')

    def departure(self):
        """Some threads leave; the others go on, and barriers wait for them only."""
        self.emit(f'@{self.reg("p")} {self.rng.pick(["ret", "exit"])};')
        for _ in range(2):
            self.straight(2)
            self.together()
            self.store_row()
