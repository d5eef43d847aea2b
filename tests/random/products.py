"""Matrix products of the programs from COPIES_FROM on (copies.py): mma and mma.sp of what threads hold, wgmma and wgmma.sp of
that and of the tile, whose layout is random. Metadata of sparse matrices are legal."""
from copies import TILE

# What makes bits numbers of a type: (and, or) for moderate ones, for all below 2, and for any.
TAMED = {'f16': [(0x8fff8fff, 0x30003000), (0xbfffbfff, 0)], 'bf16': [(0x81ff81ff, 0x3e003e00), (0xbfffbfff, 0)],
         'tf32': [(0x81ffffff, 0x3e000000), (0xbfffffff, 0)], 'f32': [(0x81ffffff, 0x3e000000), (0xbfffffff, 0)],
         'e4m3': [(0x9f9f9f9f, 0x20202020), (0xbfbfbfbf, 0)], 'e5m2': [(0x8f8f8f8f, 0x30303030), (0xbfbfbfbf, 0)]}
ANY = (0xffffffff, 0)
FLOAT_8 = ('e4m3', 'e5m2')
SWIZZLE_BYTES = (16, 128, 64, 32)  # by the descriptor's field
# Legal four bits of metadata: two of four elements, or one of two.
TWO_OF_FOUR, ONE_OF_TWO = (0x0d0c0908, 0x0e0e0804), (0x0e040e04, 0x040e040e)


def dense_forms():
    """mma: shape, types of the result, of A and B, registers of A, B and of sums."""
    for d, n in (('f32', 4), ('f16', 2)):
        yield 'm16n8k8', d, 'f16', 'f16', (2, 1, n)
        yield 'm16n8k16', d, 'f16', 'f16', (4, 2, n)
        yield 'm8n8k4', d, 'f16', 'f16', (2, 2, 2 * n)
    yield 'm16n8k8', 'f32', 'bf16', 'bf16', (2, 1, 4)
    yield 'm16n8k16', 'f32', 'bf16', 'bf16', (4, 2, 4)
    yield 'm16n8k4', 'f32', 'tf32', 'tf32', (2, 1, 4)
    yield 'm16n8k8', 'f32', 'tf32', 'tf32', (4, 2, 4)
    for a in FLOAT_8:
        for b in FLOAT_8:
            yield 'm16n8k16', 'f32', a, b, (2, 1, 4)
            yield 'm16n8k32', 'f32', a, b, (4, 2, 4)
    for a in 'su':
        for b in 'su':
            yield 'm16n8k16', 's32', a + '8', b + '8', (2, 1, 4)
            yield 'm16n8k32', 's32', a + '8', b + '8', (4, 2, 4)
            yield 'm16n8k32', 's32', a + '4', b + '4', (2, 1, 4)
            yield 'm16n8k64', 's32', a + '4', b + '4', (4, 2, 4)
    for op in ('and', 'xor'):
        yield 'm16n8k128', 's32', 'b1', 'b1.' + op, (2, 1, 4)
        yield 'm16n8k256', 's32', 'b1', 'b1.' + op, (4, 2, 4)


def sparse_forms():
    """mma.sp: as above, and how many selectors there are."""
    for d, n in (('f32', 4), ('f16', 2)):
        yield 'm16n8k16', d, 'f16', 'f16', (2, 2, n), 4
        yield 'm16n8k32', d, 'f16', 'f16', (4, 4, n), 2
    yield 'm16n8k16', 'f32', 'bf16', 'bf16', (2, 2, 4), 4
    yield 'm16n8k32', 'f32', 'bf16', 'bf16', (4, 4, 4), 2
    yield 'm16n8k8', 'f32', 'tf32', 'tf32', (2, 2, 4), 4
    yield 'm16n8k16', 'f32', 'tf32', 'tf32', (4, 4, 4), 2
    for a in 'su':
        for b in 'su':
            yield 'm16n8k32', 's32', a + '8', b + '8', (2, 2, 4), 2
            yield 'm16n8k64', 's32', a + '8', b + '8', (4, 4, 4), 1
            yield 'm16n8k64', 's32', a + '4', b + '4', (2, 2, 4), 2
            yield 'm16n8k128', 's32', a + '4', b + '4', (4, 4, 4), 1
    for a in FLOAT_8:
        for b in FLOAT_8:
            yield 'm16n8k64', 'f32', a, b, (4, 4, 4), 1


def group_forms():
    """wgmma: depth of a dense product, types of the result, of A and of B."""
    for d in ('f16', 'f32'):
        yield 16, d, 'f16', 'f16'
        for a in FLOAT_8:
            for b in FLOAT_8:
                yield 32, d, a, b
    yield 16, 'f32', 'bf16', 'bf16'
    yield 16, 'f32', 'bf16', 'bf16'
    yield 8, 'f32', 'tf32', 'tf32'
    yield 8, 'f32', 'tf32', 'tf32'
    for a in 'su':
        for b in 'su':
            yield 32, 's32', a + '8', b + '8'
    yield 256, 's32', 'b1', 'b1'


DENSE, SPARSE, GROUP = list(dense_forms()), list(sparse_forms()), list(group_forms())


def names(prefix, count):
    return '{' + ', '.join(f'%{prefix}{i}' for i in range(count)) + '}'


class ProductStatements:
    """Further statements of a Program, beside those of generate.py. All threads of a block come to each together."""

    def product_statement(self):
        r = self.rng
        if self.threads % 128 == 0 and r.below(2):
            self.group_product()
        else:
            self.warp_product()

    def tamed(self, kind):
        r = self.rng
        return r.pick([TAMED[kind][0]] * 4 + [TAMED[kind][1]] * 3 + [ANY]) if kind in TAMED else ANY

    def fill(self, prefix, count, kind):
        """Registers from those of the pool."""
        r, (mask, bits) = self.rng, self.tamed(kind)
        for k in range(count):
            name = f'%{prefix}{k}'
            way = r.below(4)
            if way == 0:
                self.emit(f'mov.b32 {name}, {self.reg("r")};')
            elif way == 1:
                self.emit(f'mad.lo.u32 {name}, {self.reg("r")}, {2 * r.below(1 << 30) + 1}, {r.below(1 << 32)};')
            elif way == 2:
                self.emit(f'xor.b32 {name}, {self.reg("r")}, {r.below(1 << 32)};')
            else:
                self.emit(f'and.b32 %t, {self.reg("r")}, {TILE // 4 - 1}; mad.lo.u32 %t, %t, 4, %tile; ld.shared.b32 {name}, [%t];')
            if (mask, bits) != ANY:
                self.emit(f'and.b32 {name}, {name}, {mask:#x}; or.b32 {name}, {name}, {bits:#x};')

    def metadata(self, kind):
        """%turn: eight groups of four bits, chosen by a register."""
        low, high = ONE_OF_TWO if kind == 'tf32' else TWO_OF_FOUR
        self.emit(f'mov.b32 %at, {low:#x}; mov.b32 %to, {high:#x}; mul.lo.u32 %turn, {self.reg("r")}, 0x9e3779b1; and.b32 %t, %turn, 0x7777;')
        self.emit('prmt.b32 %peer, %at, %to, %t; shr.u32 %t, %turn, 16; and.b32 %t, %t, 0x7777; prmt.b32 %t, %at, %to, %t;')
        self.emit('shl.b32 %t, %t, 4; or.b32 %turn, %t, %peer;')

    def keep(self, prefix, count):
        """All results into one row, and some into the pool."""
        self.emit('mov.b64 %fold, 0;')
        for k in range(count):
            self.emit(f'cvt.u64.u32 %word, %{prefix}{k}; mad.lo.u64 %fold, %fold, 0x9e3779b97f4a7c15, %word;')
            if self.trace:
                self.store('%word', f'result {k}')
        for _ in range(3):
            self.emit(f'mov.b32 {self.reg("r")}, %{prefix}{self.rng.below(count)};')
        self.store('%fold', '')

    def warp_product(self):
        """mma, mostly mma.sp, sometimes with the sums of one as those of the next."""
        r = self.rng
        sparse = r.below(4) > 0
        shape, d, a, b, (na, nb, nd), *selectors = r.pick(SPARSE if sparse else DENSE)
        saturate = '.satfinite' if d == 's32' and a != 'b1' and r.below(2) else ''
        b, _, op = b.partition('.')
        text = f'.sync.aligned.{shape}.row.col{saturate}.{d}.{a}.{b}.{d}' + (f'.{op}.popc' if op else '')
        self.emit('{')
        self.emit(f'.reg .b32 %qa<{na}>, %qb<{nb}>, %qd<{nd}>;')
        self.fill('qd', nd, d)
        for _ in range(r.pick([1, 1, 2])):
            self.fill('qa', na, a)
            self.fill('qb', nb, b)
            operands = f'{names("qd", nd)}, {names("qa", na)}, {names("qb", nb)}, {names("qd", nd)}'
            mode = 'mma'
            if sparse:
                self.metadata(a)
                mode = r.pick(['mma.sp', 'mma.sp::ordered_metadata'])
                operands += f', %turn, {r.below(selectors[0])}'
            self.emit('bar.warp.sync 0xffffffff;')
            self.emit(f'{mode}{text} {operands};')
        self.keep('qd', nd)
        self.emit('}')

    def descriptor(self, rows, depth, across):
        """A matrix in the tile: `rows` rows of `depth` bytes, or across: `depth` / 2 rows of `rows` halves each."""
        r = self.rng
        while True:
            swizzle = r.below(4)
            width = SWIZZLE_BYTES[swizzle]
            atom = 8 * width
            stride = r.pick([atom, atom, 2 * atom, atom + 128, 16 * r.range(1, 200), 128 * r.range(1, 16)])
            leading = r.pick([16, 128, atom, 2 * atom, 1024, 16 * r.range(1, 200)])
            start = r.pick([0, 1024 * r.below(16), 16 * r.below(8), 32 * r.below(64), 16 * r.below(512)])
            base = r.pick([0, 0, 0, 0, r.below(8)]) if swizzle else 0
            pieces = rows // 8 + depth // 16 if across or not swizzle else rows // 8
            reach = start + pieces * max(stride, leading if across or not swizzle else 0) + atom + depth + 1024
            if reach <= TILE:
                return start // 16 | leading // 16 << 16 | stride // 16 << 32 | base << 49 | swizzle << 62

    def tame_tile(self, kind):
        mask, bits = self.tamed(kind)
        turn = self.label()
        self.emit('bar.sync 0;')
        if (mask, bits) != ANY:
            self.emit('mad.lo.u32 %at, %tid_, 8, %tile; mov.b32 %turn, 0;')
            self.emit(f'{turn}: ld.shared.b64 %word, [%at]; and.b64 %word, %word, {mask << 32 | mask:#x}; or.b64 %word, %word, {bits << 32 | bits:#x};')
            self.emit(f'st.shared.b64 [%at], %word; add.u32 %at, %at, {8 * self.threads}; add.u32 %turn, %turn, 1;')
            self.emit(f'setp.lt.u32 %q, %turn, {TILE // 8 // self.threads}; @%q bra {turn}; bar.sync 0;')

    def group_product(self):
        r = self.rng
        depth, d, a, b = r.pick(GROUP)
        sparse = a != 'b1' and r.below(2) == 0
        columns = r.pick([8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 8 * r.range(1, 32)])
        if d == 's32' and columns > 24:  # only multiples of 16
            columns = columns // 16 * 16
        n = columns // (4 if d == 'f16' else 2)
        saturate = '.satfinite' if d == 's32' and a != 'b1' and r.below(2) else ''
        text = (f'wgmma.mma_async{".sp" if sparse else ""}.sync.aligned.m64n{columns}k{2 * depth if sparse else depth}{saturate}.{d}.{a}.{b}'
                f'{".and.popc" if a == "b1" else ""}')
        in_registers = r.below(3) == 0
        half = a in ('f16', 'bf16')
        across = (r.below(2) if half and not in_registers else 0, r.below(2) if half else 0)
        self.emit('{')
        self.emit(f'.reg .b32 %qa<4>, %qd<{n}>; .reg .b64 %da, %db; .reg .pred %add;')
        self.tame_tile(b)
        self.fill('qd', n, d)
        if in_registers:
            self.fill('qa', 4, a)
        if sparse:
            self.metadata(a)
        self.emit('fence.proxy.async; bar.sync 0;')
        self.emit('wgmma.fence.sync.aligned;')
        for _ in range(r.pick([1, 1, 2, 3])):
            def matrix(register, *what):
                # In a cluster, the upper bits of an address of shared memory are the block's rank: a descriptor has 18 bits.
                cut = 'and.b32 %t, %tile, 0x3ffff; shr.u32 %t, %t, 4' if self.cluster > 1 else 'shr.u32 %t, %tile, 4'
                self.emit(f'{cut}; cvt.u64.u32 {register}, %t; add.u64 {register}, {register}, {self.descriptor(*what):#x};')
            if not in_registers:
                matrix('%da', 64, 32, across[0])
            matrix('%db', columns, 64 if sparse else 32, across[1])
            self.emit(f'setp.{r.pick(["ne", "ne", "ne", "eq"])}.u32 %add, {r.pick(["%tile", "%bar"])}, 0xffffffff;')
            operands = f'{names("qd", n)}, {names("qa", 4) if in_registers else "%da"}, %db'
            operands += f', %turn, {r.below(1 if depth == 32 else 2)}' if sparse else ''
            operands += ', %add'
            if d != 's32':
                operands += f', {r.pick([1, 1, -1])}, {r.pick([1, 1, -1])}'
            if half:
                operands += f', {across[1]}' if in_registers else f', {across[0]}, {across[1]}'
            self.emit(f'{text} {operands};')
        self.emit('wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;')
        self.keep('qd', n)
        self.emit('}')
