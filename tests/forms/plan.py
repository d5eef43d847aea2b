"""How a form is run: values of its operands, what stands before and after it, what is stored of it."""
import re

from values import FLOATS, width_of

REGISTER = re.compile(r'%([a-z0-9]+)_(\d)')
FLOAT_TYPES = set(FLOATS) | {'f16x2', 'bf16x2'}
TYPE = re.compile(r'(?:[usb](?:4|8|16|32|64|128|1)|[usb]16x2|b?f16x2|bf16|tf32|f(?:16|32|64)|pred|e4m3x2|e5m2x2|e4m3|e5m2)$')
WIDTH = {'pred': 1, 'f16x2': 32, 'bf16x2': 32}
SPACES = ('global', 'shared', 'local', 'const', 'param')
APPROXIMATE = {'sin', 'cos', 'ex2', 'lg2', 'tanh', 'rcp', 'rsqrt', 'sqrt', 'div'}
WARP = {'shfl', 'vote', 'match', 'redux', 'elect', 'activemask', 'mma', 'wmma', 'movmatrix', 'ldmatrix', 'stmatrix'}
BLOCK = {'bar', 'barrier', 'setmaxnreg', 'wgmma', 'griddepcontrol'}
CLUSTER = '.explicitcluster\n.reqnctapercluster 1,1,1'
SLOT = 32  # bytes of memory that a thread has in each space


def bits_of(register_type):
    if register_type in WIDTH:
        return WIDTH[register_type]
    return int(re.sub(r'\D', '', register_type))


class Operand:
    """One mention of a register. Each mention gets a register of its own, so that results and sources differ."""

    def __init__(self, register_type, number, in_address, part):
        self.type, self.number, self.in_address, self.part = register_type, number, in_address, part
        self.name = f'%r{number}'
        self.bits = bits_of(register_type)
        self.kind = None   # of values.py
        self.code = None   # or the instructions that set it
        self.stored = True

    def load(self, inputs):
        if self.code is not None:
            return self.code
        offset = inputs.at(self.kind, self.number)
        if self.type == 'pred':
            return f'ld.global.b32 %t0,[%in+{offset}]; and.b32 %t0,%t0,1; setp.ne.u32 {self.name},%t0,0;'
        if self.bits == 128:
            return (f'ld.global.b64 %x0,[%in+{offset}]; ld.global.b64 %x1,[%in+{offset}]; not.b64 %x1,%x1; '
                    f'mov.b128 {self.name},{{%x0,%x1}};')
        return f'ld.global.b{self.bits} {self.name},[%in+{offset}];'

    def affine(self):
        """Sets an integer to a multiple of the thread's number plus a constant: the form that addresses have."""
        factor = (4, 1, -3, 12, 0)[self.number % 5]
        base = (100, -64, 0x7ffffff0, 7, 31)[self.number % 5]
        if self.type == 'pred':
            return f'setp.lt.u32 {self.name},%me,{20 + 9 * self.number};'
        narrow = f'mad.lo.s32 %t0,%me,{factor},{base};'
        if self.bits == 8:
            return f'{narrow} cvt.u16.u32 %h0,%t0; mov.b16 {{{self.name},%c0}},%h0;'
        if self.bits == 16:
            return f'{narrow} cvt.u16.u32 %h0,%t0; mov.b16 {self.name},%h0;'
        if self.bits == 64:
            return f'cvt.u64.u32 %x0,%me; mad.lo.s64 %x0,%x0,{factor},{base}; mov.b64 {self.name},%x0;'
        return f'{narrow} mov.b32 {self.name},%t0;'

    def slots(self):
        return 2 if self.bits == 128 else 1

    def store(self, offset, stride):
        if self.type == 'pred':
            return f'selp.b32 %t0,1,0,{self.name}; st.global.b32 [%out+{offset}],%t0;'
        if self.bits == 128:
            return f'mov.b128 {{%x0,%x1}},{self.name}; st.global.b64 [%out+{offset}],%x0; st.global.b64 [%out+{offset + stride}],%x1;'
        return f'st.global.b{self.bits} [%out+{offset}],{self.name};'


class Plan:
    def __init__(self, form):
        self.form = form
        head, _, rest = form.rstrip(';').partition(' ')
        self.op = head.split('.')[0]
        self.modifiers = head.split('.')[1:]
        self.types = [m for m in self.modifiers if TYPE.match(m)]
        self.space = next((s for m in self.modifiers for s in SPACES if m.split('::')[0] == s), None)
        self.operands = []
        self.before, self.late, self.after, self.results = [], [], [], []  # results: (instructions that store it at {0}, slots)
        self.scope = []          # lines around the instruction that open a scope
        self.guard = 'block' if self.op in BLOCK else 'warp' if self.op in WARP or 'aligned' in self.modifiers or \
            (self.op == 'bar' and 'warp' in self.modifiers) else 'lane'
        self.alone = self.must_run = False
        self.threads = 64
        self.directives = ''
        self.uses = set()        # sh, fl, fc, call
        self.small_fill = None   # what shared memory holds for wgmma
        self.uniform = self.is_affine = False
        self.text = self.rename(head, rest)
        self.prepare()

    def rename(self, head, rest):
        depth, braces, part, out, at = 0, 0, 0, '', 0
        for match in REGISTER.finditer(rest):
            between = rest[at:match.start()]
            for c in between:
                depth += (c == '[') - (c == ']')
                braces += (c == '{') - (c == '}')
                part += c == ',' and depth == 0 and braces == 0
            operand = Operand(match.group(1), len(self.operands), depth > 0, part)
            self.operands.append(operand)
            out += between + operand.name
            at = match.end()
        text = head + (' ' + out + rest[at:] if rest else '') + ';'
        return text

    def prepare(self):
        for operand in self.operands:
            operand.kind = self.kind(operand)
        if self.op in ('addc', 'subc', 'madc') or 'cc' in self.modifiers:
            self.carry()
        special = getattr(self, 'prepare_' + self.op, None)
        if special:
            special()
        elif any(o.in_address for o in self.operands) or '[' in self.form:
            self.prepare_memory()
        else:
            self.uniform = self.guard != 'block'
            self.is_affine = self.guard == 'lane' and not any(t in FLOAT_TYPES for t in self.types) and \
                all(o.bits <= 64 for o in self.operands) and self.op not in APPROXIMATE and self.op not in ('div', 'rem', 'fns')

    def carry(self):
        """Every other thread comes with a carry or borrow; what the instruction leaves of it is a result too."""
        down = self.op in ('sub', 'subc')
        self.late.append('and.b32 %t0,%me,1; ' + ('mov.u32 %t1,0; sub.cc.u32 %t1,%t1,%t0;' if down else 'mov.u32 %t1,-1; add.cc.u32 %t1,%t1,%t0;'))
        self.results.append((f'{"subc" if down else "addc"}.u32 %t0,0,0; st.global.b32 [%out+{{0}}],%t0;', 1))

    # The values of an operand.
    def kind(self, operand):
        if operand.type == 'pred':
            return 'bits:32'
        last = self.types[-1] if self.types else None
        if self.op in APPROXIMATE and ('approx' in self.modifiers or 'full' in self.modifiers):
            return f'exact:{self.op}.{last}'
        for t in [last] + self.types:
            if t in FLOAT_TYPES and t != 'tf32' and width_of(t) == operand.bits:
                # What these leave of a NaN depends on what ptxas makes of the code around them.
                nan = not (self.op in ('abs', 'neg') and t == 'f32' or self.op == 'cvt' and self.types == ['f32', 'f32'])
                return f'{"float" if nan else "number"}:{t}'
        if self.op in ('div', 'rem'):
            return f'nonzero:{operand.bits}'
        number = operand.part
        if (self.op in ('shl', 'shr', 'vshl', 'vshr', 'szext') and number == 2) or (self.op == 'shf' and number == 3) or \
           (self.op in ('bfe', 'bmsk') and number >= (2 if self.op == 'bfe' else 1)) or (self.op == 'bfi' and number >= 3):
            return 'shift'
        if self.op == 'fns':
            return ('bits:32', 'bits:32', 'below:32', 'below:5')[number]
        if self.op == 'nanosleep':
            return 'below:50'
        return 'bits:64' if operand.bits == 128 else f'bits:{max(operand.bits, 8)}'

    def address(self, operand, space, offset=0):
        """Sets the operand to the thread's slot of a space; generic addresses are those of global memory."""
        operand.stored = False
        width = operand.bits
        if space in (None, 'global'):
            operand.code = f'mov.b64 {operand.name},%slot;' if not offset else f'add.s64 %x0,%slot,{offset}; mov.b64 {operand.name},%x0;'
            return
        array = {'shared': 'sh', 'local': 'fl', 'const': 'fc'}[space]
        self.uses.add(array)
        own = '' if space == 'local' else 'add.u32 %t0,%t0,%at;'
        if width == 64:
            own = '' if space == 'local' else 'cvt.u64.u32 %x1,%at; add.s64 %x0,%x0,%x1;'
            operand.code = f'mov.u64 %x0,{array}; {own} add.s64 %x0,%x0,{offset}; mov.b64 {operand.name},%x0;'
            return
        operand.code = f'mov.u32 %t0,{array}; {own} '
        if offset:
            operand.code += f'add.u32 %t0,%t0,{offset}; '
        if width == 16:
            operand.code += f'cvt.u16.u32 %h0,%t0; mov.b16 {operand.name},%h0;'
        else:
            operand.code += f'mov.b32 {operand.name},%t0;'

    def fill(self, space):
        """Copies the thread's slot of global memory to its slot of another space."""
        array = {'shared': 'sh', 'local': 'fl'}[space]
        self.uses.add(array)
        own = '' if space == 'local' else ' add.u32 %t0,%t0,%at;'
        self.before.append(f'mov.u32 %t0,{array};{own} ' + ' '.join(
            f'ld.global.b64 %x0,[%slot+{8 * k}]; st.{space}.b64 [%t0+{8 * k}],%x0;' for k in range(SLOT // 8)))

    def store_slot(self, space):
        """The thread's slot of a space as four results."""
        if space in (None, 'global'):
            for k in range(SLOT // 8):
                self.results.append((f'ld.global.b64 %x0,[%slot+{8 * k}]; st.global.b64 [%out+{{0}}],%x0;', 1))
            return
        array = {'shared': 'sh', 'local': 'fl'}[space]
        own = '' if space == 'local' else ' add.u32 %t0,%t0,%at;'
        for k in range(SLOT // 8):
            self.results.append((f'mov.u32 %t0,{array};{own} ld.{space}.b64 %x0,[%t0+{8 * k}]; st.global.b64 [%out+{{0}}],%x0;', 1))

    def prepare_memory(self):
        space = self.space
        for operand in self.operands:
            if operand.in_address:
                self.address(operand, None if space == 'param' else space)
        if space in ('shared', 'local'):
            self.fill(space)
        if '[sh' in self.form or 'sh[' in self.form:  # the first thread's slot
            self.before.append('bar.sync 0;')
        if self.op in ('ld', 'ldu'):
            self.uniform = '[sh' not in self.form and 'sh[' not in self.form
            return
        if space == 'const' or space == 'param':
            return
        self.after.append('bar.warp.sync -1;' if self.guard == 'lane' else '')
        self.store_slot(space)
        self.uniform = self.op == 'st' or (self.op in ('red', 'atom') and not any(t in FLOAT_TYPES for t in self.types))
        compares = [o for o in self.operands if o.part == 2]
        if self.op == 'atom' and 'cas' in self.modifiers and compares:  # equal in every other thread
            compare = compares[0]
            address = next(o for o in self.operands if o.in_address)
            word = f'b{compare.bits}'
            self.late.append(f'and.b32 %t0,%me,1; setp.ne.u32 %odd,%t0,0; @%odd ld.{space or "global"}.{word} {compare.name},[{address.name}];')

    # Warps.
    def of_part(self, part, kind):
        for operand in self.operands:
            if operand.part == part and operand.type != 'pred':
                operand.kind = kind

    def prepare_shfl(self):
        self.uniform = True
        self.of_part(2, 'bits:32')
        self.of_part(3, 'const:4096' if 'up' in self.modifiers else 'segment:1')  # quarters of a warp, or halves
        self.of_part(4, 'const:4294967295')

    def prepare_vote(self, mask=2):
        self.uniform = not any(o.part == mask and o.type != 'pred' for o in self.operands)
        self.of_part(mask, 'groups')

    def prepare_redux(self):
        self.prepare_vote()

    def prepare_elect(self):
        self.prepare_vote(1)

    def prepare_match(self):
        self.prepare_vote()
        self.of_part(1, 'below:3')

    # Barriers.
    def prepare_bar(self):
        self.prepare_barrier()

    def prepare_barrier(self):
        sources = self.operands
        if 'warp' in self.modifiers:
            sources[0].kind = 'groups'
            return
        self.alone = True
        if 'cluster' in self.modifiers:
            self.after = ['barrier.cluster.wait;'] if 'arrive' in self.modifiers else []
            self.before = ['barrier.cluster.arrive;'] if 'wait' in self.modifiers else []
            return
        numbers = [o for o in sources if o.type != 'pred']
        if 'red' in self.modifiers:
            return
        if numbers and ',0,' not in self.form:
            if re.search(r' 0,%', self.form):
                numbers[0].kind = 'const:64'
            else:
                numbers[0].kind = 'const:1'
                if len(numbers) > 1:
                    numbers[1].kind = 'const:64'
        if 'arrive' in self.modifiers:  # one warp arrives, the other waits
            self.guard = None
            self.scope = ['and.b32 %t0,%me,32; setp.ne.u32 %odd,%t0,0; @%odd bar.sync 1,64; @%odd bra $DONE; ', '$DONE:']

    # Matrices.
    def prepare_mma(self):
        groups = re.findall(r'\{[^}]*\}', self.text)
        names = [re.findall(r'%r\d+', g) for g in groups]
        types = self.types if len(self.types) >= 4 else [self.types[0], 'f16', 'f16', self.types[-1]]
        for operand in self.operands:
            group = next((g for g, n in enumerate(names) if operand.name in n), None)
            if group is not None:
                operand.kind = f'small:{types[group]}'
        self.uniform = False

    def prepare_wmma(self):
        if 'mma' in self.modifiers:
            return self.prepare_mma()
        for operand in self.operands:
            if operand.in_address:
                operand.stored = False
                operand.code = f'and.b32 %t0,%me,32; mul.wide.u32 %x0,%t0,{SLOT}; add.s64 %x0,%x0,%region; mov.b64 {operand.name},%x0;'
            elif operand.name + ';' in self.text and 'load' in self.modifiers:
                operand.kind = 'const:16'
        if 'store' in self.modifiers:
            self.after.append('bar.warp.sync -1;')
            self.store_slot('global')

    def prepare_ldmatrix(self):
        self.fill('shared')
        self.before.append('bar.warp.sync -1;')
        self.row_address()

    def row_address(self):
        address = next(o for o in self.operands if o.in_address)
        address.stored = False
        address.code = (f'mul.lo.u32 %t0,%me,7; and.b32 %t0,%t0,31; and.b32 %t1,%me,32; or.b32 %t0,%t0,%t1; mul.lo.u32 %t0,%t0,{SLOT}; '
                        f'mov.u32 %t1,sh; add.u32 %t0,%t0,%t1; mov.b32 {address.name},%t0;')

    def prepare_stmatrix(self):
        self.prepare_ldmatrix()
        self.after.append('bar.warp.sync -1;')
        self.store_slot('shared')

    def prepare_wgmma(self):
        self.alone, self.threads = True, 128
        if 'mma_async' not in self.modifiers:
            return
        self.uses.add('sh')
        groups = re.findall(r'\{[^}]*\}', self.text)
        names = [re.findall(r'%r\d+', g) for g in groups]
        kind_a = self.types[1]
        for operand in self.operands:
            group = next((g for g, n in enumerate(names) if operand.name in n), None)
            if operand.type == 'pred':
                operand.code = f'setp.eq.u32 {operand.name},0,0;'  # one value for the warp
            elif group == 0:
                operand.kind = f'small:{self.types[0]}'
            elif group == 1:
                operand.kind = f'small:{kind_a}'
            elif operand.bits == 64:  # start, 128 bytes between matrices of the leading dimension, 256 between those of the other
                operand.stored = False
                operand.code = (f'mov.u32 %t0,sh; add.u32 %t0,%t0,{1024 * (operand.number % 2)}; shr.u32 %t0,%t0,4; and.b32 %t0,%t0,16383; cvt.u64.u32 %x0,%t0; '
                                f'or.b64 %x0,%x0,{(128 >> 4) << 16 | (256 >> 4) << 32}; mov.b64 {operand.name},%x0;')
        # 128 threads write 32 bytes each: 4096 bytes.
        self.small_fill = kind_a
        self.after = ['wgmma.commit_group.sync.aligned;', 'wgmma.wait_group.sync.aligned 0;']

    def wgmma_fill(self, inputs):
        lines = []
        for k in range(8):
            offset = inputs.at(f'small:{self.small_fill}', 100 + k)
            lines.append(f'ld.global.b32 %t0,[%in+{offset}]; mov.u32 %t1,sh; add.u32 %t1,%t1,%at; st.shared.b32 [%t1+{4 * k}],%t0;')
        return lines + ['fence.proxy.async;', 'bar.sync 0;', 'wgmma.fence.sync.aligned;']

    # Asynchronous copies, memory barriers.
    def prepare_cp(self):
        if 'wait_group' in self.modifiers:
            return
        if 'bulk' in self.modifiers:
            return self.prepare_bulk()
        shared, source = [o for o in self.operands if o.in_address]
        self.address(shared, 'shared')
        self.address(source, 'global', 16)
        self.fill('shared')
        self.alone = 'L2::cache_hint' in self.modifiers
        for operand in self.operands[2:]:
            if operand.bits == 64:
                operand.code = f'createpolicy.fractional.L2::evict_last.b64 %x0,1.0; mov.b64 {operand.name},%x0;'
                operand.stored = False
            elif operand.type != 'pred':
                operand.kind = 'below:5'
        self.after += ['cp.async.commit_group;', 'cp.async.wait_group 0;']
        self.store_slot('shared')

    def barrier_word(self, count):
        """A memory barrier of the thread's own, at the end of its slot of shared memory."""
        self.uses.add('sh')
        self.before.append(f'mov.u32 %t0,sh; add.u32 %t0,%t0,%at; mbarrier.init.shared.b64 [%t0+24],{count};')

    def wait(self, bytes_expected):
        self.before.append(f'mov.u32 %t0,sh; add.u32 %t0,%t0,%at; mbarrier.arrive.expect_tx.shared.b64 _,[%t0+24],{bytes_expected};')
        self.after.append('mov.u32 %t0,sh; add.u32 %t0,%t0,%at; $WAIT: mbarrier.try_wait.parity.shared.b64 %odd,[%t0+24],0; @!%odd bra $WAIT;')

    def store_three(self):
        for k in range(3):
            self.results.append((f'mov.u32 %t0,sh; add.u32 %t0,%t0,%at; ld.shared.b64 %x0,[%t0+{8 * k}]; st.global.b64 [%out+{{0}}],%x0;', 1))

    def prepare_bulk(self):
        self.alone = True
        addresses = [o for o in self.operands if o.in_address]
        for operand in self.operands:
            if operand.in_address:
                continue
            if operand.bits == 64:
                operand.code = f'createpolicy.fractional.L2::evict_last.b64 %x0,1.0; mov.b64 {operand.name},%x0;'
                operand.stored = False
            else:
                operand.kind = 'const:1' if operand.bits == 16 else 'const:16'
        self.fill('shared')
        if 'bulk_group' in self.modifiers:
            self.address(addresses[0], 'global')
            self.address(addresses[1], 'shared', 16)
            self.before.append('fence.proxy.async;')
            self.after = ['cp.async.bulk.commit_group;', 'cp.async.bulk.wait_group 0;']
            self.store_slot('global')
            return
        self.address(addresses[0], 'shared')
        self.address(addresses[1], 'global', 16)
        self.address(addresses[2], 'shared', 24)
        self.barrier_word(1)
        self.before.append('fence.mbarrier_init.release.cluster; fence.proxy.async;')
        self.modes_of_completion(16)

    def modes_of_completion(self, count):
        self.wait(count)
        self.store_three()
        self.guard, self.must_run = 'block', True  # otherwise nothing ends the wait

    def asynchronous(self):
        self.alone, self.directives = True, CLUSTER
        self.address(self.operands[0], 'shared')
        self.address([o for o in self.operands if o.in_address][1], 'shared', 24)
        self.fill('shared')
        self.barrier_word(1)
        size = int(re.sub(r'\D', '', self.types[-1])) // 8
        self.before.append('fence.mbarrier_init.release.cluster;')
        self.modes_of_completion(size * (2 if 'v2' in self.modifiers else 1))

    def prepare_st(self):
        if 'async' in self.modifiers:
            return self.asynchronous()
        if 'param' in self.modifiers:
            return self.prepare_call()
        return self.prepare_memory()

    def prepare_red(self):
        if 'async' in self.modifiers:
            return self.asynchronous()
        return self.prepare_memory()

    def prepare_call(self):
        self.uses.add('call')
        self.guard = None  # the assembler takes none
        self.scope = ['{ .param .b64 pp; .param .b64 rr; st.param.b64 [pp],0;', 'call (rr),same,(pp); ld.param.b64 %x2,[rr]; }']
        self.results.append(('st.global.b64 [%out+{0}],%x2;', 1))

    def prepare_mbarrier(self):
        self.alone = True
        for operand in self.operands:
            if operand.in_address:
                self.address(operand, 'shared', 24)
            elif operand.type != 'pred':
                operand.kind = 'const:2' if 'init' in self.modifiers else 'const:1'
                if operand.bits == 64:
                    operand.stored = False
        self.fill('shared')
        self.barrier_word(3)
        self.before.append('mov.u32 %t0,sh; add.u32 %t0,%t0,%at; mbarrier.arrive.shared.b64 %x3,[%t0+24];')
        state = [o for o in self.operands if o.bits == 64 and not o.in_address]
        if 'arrive' in self.modifiers:
            for o in state:
                self.results.append((f'mbarrier.pending_count.b64 %t0,{o.name}; st.global.b32 [%out+{{0}}],%t0;', 1))
                o.code = f'mov.b64 {o.name},%x3;'
        else:
            for o in state:
                o.code = f'mov.b64 {o.name},%x3;'
        if 'pending_count' in self.modifiers:
            return
        if 'init' in self.modifiers:
            self.before.append('mbarrier.inval.shared.b64 [%t0+24];')
        if 'try_wait' in self.modifiers:  # of a phase that is over: it need not wait
            self.before.append('mbarrier.arrive.shared.b64 _,[%t0+24]; mbarrier.arrive.shared.b64 _,[%t0+24];')
            for o in self.operands:
                if o.bits == 32 and not o.in_address:
                    o.kind = 'const:0'
        # How many arrivals are left, read by arriving. A phase that waits for bytes does not end.
        expects = 'expect_tx' in self.modifiers
        for k in range(2 if expects else 4):
            arrive = 'mbarrier.arrive.shared.b64 _,[%t0+24]; ' if k == 0 or not expects else ''
            self.results.append(('mov.u32 %t0,sh; add.u32 %t0,%t0,%at; mbarrier.test_wait.parity.shared.b64 %odd,[%t0+24],0; '
                                 f'{arrive}selp.b32 %t0,1,0,%odd; st.global.b32 [%out+{{0}}],%t0;', 1))
        if expects or 'init' in self.modifiers:
            self.guard, self.must_run = 'block', True

    # Addresses.
    def prepare_cvta(self):
        result, source = self.operands
        result.stored = False
        space = self.space or 'global'
        if space == 'param':
            self.guard, self.must_run, source.stored = 'block', True, False
            to = 'to' in self.modifiers
            source.code = f'mov.u64 %x0,A; cvta.param.u64 {source.name},%x0;' if to else f'mov.u64 {source.name},A;'
            result.code = f'mov.b64 {result.name},%slot;'
            self.results.append((f'ld{".param" if to else ""}.b64 %x0,[{result.name}]; st.global.b64 [%out+{{0}}],%x0;', 1))
            return
        loaded = 'ld.global' if 'to' in self.modifiers and space == 'global' else 'ld' if 'to' not in self.modifiers else f'ld.{space}'
        if space in ('shared', 'local'):
            self.fill(space)
        if 'to' not in self.modifiers:
            self.address(source, space)
        elif space == 'global':
            self.address(source, None)
        else:
            array = {'shared': 'sh', 'local': 'fl', 'const': 'fc'}[space]
            self.uses.add(array)
            own = '' if space == 'local' else 'cvt.u64.u32 %x1,%at; add.s64 %x0,%x0,%x1;'
            source.code = f'mov.u64 %x0,{array}; {own} cvta.{space}.u64 {source.name},%x0;'
        result.code = f'mov.b64 {result.name},%slot;'
        source.stored = False
        self.guard, self.must_run = 'block', True
        self.results.append((f'{loaded}.b64 %x0,[{result.name}]; st.global.b64 [%out+{{0}}],%x0;', 1))

    def prepare_isspacep(self):
        source = self.operands[1]
        source.stored = False
        self.uses |= {'sh', 'fl'}
        source.code = (f'mov.u64 %x0,sh; cvta.shared.u64 %x0,%x0; mov.u64 %x1,fl; cvta.local.u64 %x1,%x1; rem.u32 %t0,%me,3; '
                       f'setp.eq.u32 %odd,%t0,1; selp.b64 %x0,%x0,%x1,%odd; setp.eq.u32 %odd,%t0,2; selp.b64 %x0,%slot,%x0,%odd; mov.b64 {source.name},%x0;')

    def prepare_mapa(self):
        result, source, rank = self.operands
        self.alone, self.directives = True, CLUSTER
        self.guard, self.must_run = 'block', True
        self.fill('shared')
        rank.kind = 'const:0'
        source.stored = result.stored = False
        generic = source.bits == 64 and 'shared::cluster' not in self.modifiers
        if generic:
            source.code = f'mov.u64 %x0,sh; cvt.u64.u32 %x1,%at; add.s64 %x0,%x0,%x1; cvta.shared.u64 {source.name},%x0;'
        else:
            self.address(source, 'shared')
        result.code = f'mov.b{result.bits} {result.name},0;'
        self.results.append((f'{"ld" if generic else "ld.shared::cluster"}.b64 %x0,[{result.name}]; st.global.b64 [%out+{{0}}],%x0;', 1))

    def prepare_getctarank(self):
        source = self.operands[1]
        self.uses.add('sh')
        source.stored = False
        generic = 'shared::cluster' not in self.modifiers and source.bits == 64
        if source.bits == 64:
            source.code = f'mov.u64 %x0,sh; {"cvta.shared.u64 %x0,%x0;" if generic else ""} mov.b64 {source.name},%x0;'
        else:
            source.code = f'mov.u32 %t0,sh; mov.b32 {source.name},%t0;'

    def prepare_alloca(self):
        result = self.operands[0]
        for o in self.operands[1:]:
            o.kind = 'const:64'
        result.stored = False
        self.alone, self.guard, self.must_run = True, 'block', True
        self.results.append((f'ld.global.b64 %x0,[%slot]; st.local.b64 [{result.name}+8],%x0; ld.local.b64 %x1,[{result.name}+8]; '
                             'st.global.b64 [%out+{0}],%x1;', 1))

    # Hints: what they leave of memory.
    def hint(self):
        for operand in self.operands:
            if operand.in_address:
                operand.stored = False
                operand.code = f'mov.b64 {operand.name},%region;'
        self.store_slot('global')

    def prepare_applypriority(self):
        self.hint()

    def prepare_prefetch(self):
        self.hint()

    def prepare_prefetchu(self):
        self.hint()

    def prepare_fence(self):
        self.hint()

    def prepare_createpolicy(self):
        for operand in self.operands:
            if operand.type in ('f32',) or operand.bits == 32:
                operand.kind = 'const:1056964608'  # 0.5

    def prepare_setmaxnreg(self):
        self.alone, self.threads, self.directives = True, 128, '.maxnreg 24'

    def modes(self):
        if 'cc' in self.modifiers or self.op in ('set', 'testp') or (self.op == 'cvt' and 'pack' in self.modifiers and self.operands[0].bits > 32):
            self.guard = None  # ptxas 13.0 changes lanes (or their carry) whose guard is false
        if self.op in ('setp', 'lop3') and ' _' in self.form:
            self.guard = None  # ptxas 13.0 ends with a segmentation fault
        out = ['lanes'] + ([] if not self.guard else ['guard'] if self.must_run else ['guard', 'not'])
        if self.uniform and self.guard != 'block':
            out.append('uniform')
        if self.is_affine:
            out.append('affine')
        return out
