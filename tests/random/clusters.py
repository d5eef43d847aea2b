"""Statements of the programs from COPIES_FROM on (copies.py) with which the blocks of a cluster reach each other: copies to several
blocks, copies and stores to another block. A cluster may have one block, which then is its own neighbour."""
import kernels as forms  # of tests/tensor_copies, whose folder copies.py adds to the path
from copies import READ, TILE


class ClusterStatements:
    """Further statements of a Program, beside those of generate.py. All threads of a cluster come to each together."""

    def meet_cluster(self):
        e = self.emit
        aligned = self.rng.pick(['.aligned', ''])
        e('bar.warp.sync 0xffffffff;')
        e(f'barrier.cluster.arrive{self.rng.pick(["", ".release"])}{aligned}; barrier.cluster.wait{self.rng.pick(["", ".acquire"])}{aligned};')

    def multicast(self):
        """One block's copy to several blocks, to the same places; those that it does not reach expect nothing."""
        r = self.rng
        mask, issuer = r.range(1, (1 << self.cluster) - 1), r.below(self.cluster)
        if r.below(4) == 0:
            size = 16 * r.range(1, 200)
            lines = [f'add.u64 %wide, %only, {16 * r.below((READ - size) // 16 + 1)};', f'add.u32 %at, %tile, {self.in_slot(r.below(4), size, 16)};',
                     f'cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%at], [%wide], {size}, [%bar], %mask;']
        else:
            columns = r.below(3) == 0
            keys, c, size, room = self.column_map(False) if columns else self.tile_map(False)
            offsets = ', ' + self.words_of([r.range(0, 3) for _ in c[2:]]) if columns else ''
            lines = [self.map_at('read', keys), f'add.u32 %at, %tile, {self.in_slot(r.below(4), room)};',
                     *self.load_lines('.im2col' if columns else '.tile', c, offsets, ', %mask')]
        skip = self.label()
        self.emit(f'mov.b16 %mask, {mask}; mov.u32 %peer, %cluster_ctarank; shr.u32 %incoming, {mask}, %peer; and.b32 %incoming, %incoming, 1;')
        self.emit(f'mul.lo.u32 %incoming, %incoming, {size}; setp.ne.u32 %late, %peer, {issuer};')
        self.separate(cluster=True)
        self.phase_of([f'@%late bra {skip};', *lines, f'{skip}:'], '%incoming')
        self.meet_cluster()

    def next_block(self):
        """%peer, %to, %turn: another block's rank, place %to and mbarrier."""
        step = self.rng.below(self.cluster)
        return [f'mov.u32 %peer, %cluster_ctarank; add.u32 %peer, %peer, {step}; and.b32 %peer, %peer, {self.cluster - 1};',
                'mapa.shared::cluster.u32 %to, %to, %peer; mapa.shared::cluster.u32 %turn, %bar, %peer;']

    def to_peer(self):
        """Each block's first half to the other half of the next block, as it is or as a reduction."""
        r = self.rng
        size = 16 * r.range(1, r.pick([4, 64, 512]))
        name = r.pick(['cp.async.bulk', 'cp.reduce.async.bulk'])
        kind, op = r.pick(forms.BULK_SHARED)
        op = f'.{op}.{kind}' if 'reduce' in name else ''
        lines = [f'add.u32 %at, %tile, {16 * r.below((TILE // 2 - size) // 16 + 1)};',
                 f'add.u32 %to, %tile, {TILE // 2 + 16 * r.below((TILE // 2 - size) // 16 + 1)};', *self.next_block(),
                 f'{name}.shared::cluster.shared::cta.mbarrier::complete_tx::bytes{op} [%to], [%at], {size}, [%turn];']
        self.separate(cluster=True)
        self.phase_of(lines, size)
        self.meet_cluster()

    def store_to_peer(self):
        """Every thread's registers to the next block, which counts their bytes."""
        r = self.rng
        form, kind, count, width = r.pick([('st.async.weak', 'b32', 1, 4), ('st.async', 'b64', 1, 8), ('st.async', 'v2.b32', 2, 8), ('st.async', 'v4.b32', 4, 16),
                                           ('st.async', 'v2.u64', 2, 16), ('red.async', 'add.u32', 1, 4), ('red.async', 'min.s32', 1, 4),
                                           ('red.async', 'max.u32', 1, 4), ('red.async', 'xor.b32', 1, 4), ('red.async', 'inc.u32', 1, 4),
                                           ('red.async', 'add.u64', 1, 8)])
        names = [self.reg('d' if '64' in kind else 'r') for _ in range(count)]
        value = names[0] if count == 1 else '{' + ', '.join(names) + '}'
        form = 'red.async.relaxed.cluster' if form == 'red.async' else form
        self.separate(cluster=True)
        if self.everyone:
            self.by_one([f'mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], {width * self.threads};'])
            self.emit('bar.sync 0; mbarrier.arrive.shared.b64 %state, [bar];')
        else:
            self.by_one([f'mbarrier.arrive.expect_tx.shared.b64 %state, [bar], {width * self.threads};'])
        self.emit(f'mad.lo.u32 %to, %tid_, {width}, %tile; add.u32 %to, %to, {16 * r.below((TILE - 16 * self.threads) // 16)};')
        for line in self.next_block():
            self.emit(line)
        self.emit(f'{form}.shared::cluster.mbarrier::complete_tx::bytes.{kind} [%to], {value}, [%turn];')
        self.wait_for_phase()
        self.meet_cluster()
