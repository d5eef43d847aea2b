"""Statements of the programs from COPIES_FROM on: copies in the background by tensor maps and of whole ranges, their reductions,
in clusters, with mbarriers, and what threads then read. products.py has the products of the same programs.

Shared memory has a tile of TILE bytes, which copies fill and threads read. Global memory has a range that is only read, and one
of WRITTEN bytes of each block, which copies write and read. A tensor map lies in one of them (cases.h): it is a parameter of
the kernel or an entry of a table in global memory. clusters.py has what blocks of a cluster do for each other."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / 'tensor_copies'))
import kernels as forms  # noqa: E402  (of tests/tensor_copies)
from maps import BYTES, SPAN, Maker, ceil  # noqa: E402

COPIES_FROM = 4000
TILE, SLOT = 32768, 8192  # a copy writes within one slot of the tile
READ, ORIGIN, WRITTEN = 49152, 8192, 32768  # ORIGIN: of the tensors in the range that is only read
COPY_SHAPES = [(128, 1), (128, 1), (128, 1), (16, 8), (32, 4), (64, 1), (256, 1)]
REGISTERS = ('  .reg .pred %one, %late, %met; .reg .b32 %tile, %bar, %at, %to, %peer, %turn, %incoming; .reg .b16 %mask;\n'
             '  .reg .b64 %map, %maps, %only, %written, %fold, %word, %policy, %state, %wide;')
SHARED = f'  .shared .align 1024 .b8 tile[{TILE}];\n  .shared .align 8 .b64 bar;'
# Elements that a GPU takes for a reduction by a tensor map (CUtensorMapDataType).
REDUCED = {'add': (2, 3, 4, 6, 7, 8, 9, 10, 11, 12), 'min': (2, 3, 4, 5, 6, 9), 'max': (2, 3, 4, 5, 6, 9), 'inc': (2,), 'dec': (2,),
           'and': (2, 3, 4), 'or': (2, 3, 4), 'xor': (2, 3, 4)}


class AsRandom:
    """An Rng where Maker wants Python's random."""

    def __init__(self, rng):
        self.rng = rng

    def choice(self, values):
        return self.rng.pick(values)

    def randint(self, low, high):
        return self.rng.range(low, high)


class CopyStatements:
    """Further statements of a Program, beside those of generate.py. All threads of a block come to each together."""

    def begin_copies(self):
        r = self.rng
        self.maker = Maker(AsRandom(r))
        self.shape = r.pick(COPY_SHAPES)
        self.threads = self.shape[0] * self.shape[1]
        self.whole_warps = True
        self.cluster = r.pick([1, 1, 2, 2, 4])
        self.blocks = self.cluster * r.pick([1, 2] if self.cluster < 4 else [1])
        self.element, self.style = r.pick([(0, 1), (2, 1), (7, 0), (7, 2), (6, 0), (6, 2), (9, 0), (9, 2), (8, 0), (8, 2), (6, 1), (9, 1)])
        self.everyone = r.below(3) == 0  # all threads arrive at the mbarrier, not one
        self.maps, self.phase = [], 0

    def copy_header(self):
        lines = [f'// memory {self.element} {self.style} cluster {self.cluster}']
        for place, keys in self.maps:
            words = ' '.join(f'{k}={",".join(map(str, v)) if isinstance(v, list) else v}' for k, v in keys.items())
            lines.append(f'// map {place} {words}')
        return lines

    def copy_parameters(self):
        by_value = ''.join(f', .param .align 64 .b8 map{k}[128]' for k, (place, _) in enumerate(self.maps) if place == 'read')
        return ', .param .u64 data, .param .u64 maps' + by_value

    def prepare_copies(self):
        """The tile begins as a part of what global memory holds."""
        e, turn = self.emit, self.label()
        e('mov.u32 %tile, tile; mov.u32 %bar, bar; setp.eq.u32 %one, %tid_, 0;')
        e('ld.param.u64 %only, [data]; ld.param.u64 %maps, [maps]; cvta.to.global.u64 %only, %only;')
        e(f'mov.u32 %t, %ctaid.x; mul.wide.u32 %written, %t, {WRITTEN}; add.u64 %written, %written, %only; add.u64 %written, %written, {READ};')
        e('mul.wide.u32 %word, %t, 128; add.u64 %maps, %maps, %word;')
        e(f'mul.lo.u32 %to, %t, {16 * self.rng.range(1, 99)}; mad.lo.u32 %turn, %tid_, 8, 0;')
        e(f'{turn}: add.u32 %t, %turn, %to; cvt.u64.u32 %word, %t; add.u64 %word, %word, %only; ld.global.b64 %word, [%word];')
        e(f'add.u32 %t, %turn, %tile; st.shared.b64 [%t], %word; add.u32 %turn, %turn, {8 * self.threads};')
        e(f'setp.lt.u32 %q, %turn, {TILE}; @%q bra {turn};')
        e(f'@%one mbarrier.init.shared.b64 [bar], {self.threads if self.everyone else 1};')
        e('fence.mbarrier_init.release.cluster;')
        e('mov.b64 %fold, 0; bar.sync 0;')
        self.meet_cluster()

    # --- pieces ---------------------------------------------------------------------------------------------------------

    def separate(self, cluster=False):
        """What threads did before comes before what copies do next."""
        self.emit('fence.proxy.async;')
        if cluster:
            self.meet_cluster()
        else:
            self.emit('bar.sync 0;')

    def by_one(self, lines):
        end = self.label()
        self.emit(f'@!%one bra {end};')
        for line in lines:
            self.emit(line)
        self.emit(f'{end}:')

    def in_slot(self, slot, size, align=128):
        """A place in the tile for so many bytes."""
        return slot * SLOT + align * self.rng.below((SLOT - size) // align + 1)

    def map_at(self, place, keys):
        """%map: the address of a new map."""
        number = len(self.maps)
        self.maps.append((place, keys))
        if place == 'read' and self.rng.below(2):
            return f'mov.b64 %map, map{number}; cvta.param.u64 %map, %map;'
        return f'add.u64 %map, %maps, {number * self.blocks * 128};'

    def tile_map(self, stores, element=None, rank=None):
        """The map of a tile, coordinates, bytes that are copied, bytes that they take in shared memory."""
        r = self.rng
        while True:
            interleave, swizzle = r.pick([(0, 0), (0, 0), (0, 0), (0, 1), (0, 2), (0, 3), (0, 3), (1, r.below(4)), (2, 1)])
            n = rank or r.range(3 if interleave else 1, 5)
            found = self.maker.tiled(n, swizzle=swizzle, interleave=interleave, element=element, stepped=r.below(3) == 0 and n > 1,
                                     narrow=r.below(2) == 0)
            if found and self.room(*found) <= SLOT:
                keys, size = found
                room, first = self.room(keys, size), keys['box'][0]
                if keys['interleave']:  # there, dimension 0 is one of space, whose element stride counts
                    size = size // first * ceil(first, keys['steps'][0])
                return keys, self.maker.coordinates(keys, r.below(3), stores), size, room

    def column_map(self, stores, element=None):
        r = self.rng
        while True:
            interleave, swizzle = r.pick([(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 3), (2, 1)])
            found = self.maker.im2col(r.range(3, 5), swizzle, interleave, r.below(3) == 0, stores)
            if found and (element is None or found[0]['element'] in element) and self.room(*found[:2]) <= SLOT:
                keys, size, box = found
                return keys, self.maker.im2col_coordinates(keys, box, not stores), size, self.room(keys, size)

    def room(self, keys, size):
        """A row takes whole spans of the swizzle."""
        if not keys['swizzle'] or keys['interleave']:
            return size
        row, span = (keys.get('channels') or keys['box'][0]) * BYTES[keys['element']], SPAN[keys['swizzle']]
        return size // row * ceil(row, span) * span

    def words_of(self, numbers):
        return '{' + ', '.join(map(str, numbers)) + '}'

    def hint(self):
        """A modifier and an operand, with what makes the operand."""
        if self.rng.below(4):
            return '', '', []
        how = self.rng.pick(['createpolicy.fractional.L2::evict_first.b64 %policy, 1.0;', 'createpolicy.fractional.L2::evict_last.b64 %policy, 0.5;',
                             'mov.b64 %policy, 0x14f0000000000000;'])
        return '.L2::cache_hint', ', %policy', [how]

    # --- mbarriers ------------------------------------------------------------------------------------------------------

    def phase_of(self, issue, size):
        """One phase of the mbarrier, in which copies of `size` bytes (or a register) complete."""
        r = self.rng
        arrive = r.pick(['mbarrier.arrive.shared.b64 {}, [bar];', 'mbarrier.arrive.release.cta.shared::cta.b64 {}, [bar];'])
        expect = r.pick(['mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], {};', 'mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], {};'])
        both = r.pick(['mbarrier.arrive.expect_tx.shared.b64 %state, [bar], {};',
                       'mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %state, [bar], {};'])
        ways = [[both.format(size), *issue], [both.format(size), *issue], [expect.format(size), *issue, arrive.format('%state')],
                [*issue, both.format(size)]]
        if isinstance(size, int) and size >= 32:
            part = 16 * r.range(1, size // 16 - 1) if size > 32 else 16
            ways.append([expect.format(part), *issue, both.format(size - part)])
            ways.append([expect.format(size + part), *issue, f'mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], {part};',
                         arrive.format('%state')])
        self.by_one(r.pick(ways))
        if self.everyone:
            self.emit(f'@!%one {arrive.format("%state")}')
        self.wait_for_phase()

    def wait_for_phase(self):
        r, turn = self.rng, self.label()
        self.emit(f'{turn}:')
        order = r.pick(['', '.acquire.cta'])
        space = '.shared' if not order else '.shared::cta'
        kind = r.pick(['try', 'try', 'test'])
        if self.everyone and r.below(2):
            self.emit(f'mbarrier.{kind}_wait{order}{space}.b64 %q, [bar], %state;')
        else:
            suspend = ', 1000' if kind == 'try' and r.below(3) == 0 else ''
            self.emit(f'mbarrier.{kind}_wait.parity{order}{space}.b64 %q, [bar], {self.phase}{suspend};')
        self.emit(f'@!%q bra {turn};')
        self.phase ^= 1

    # --- what threads do with the tile ------------------------------------------------------------------------------------

    def fold_tile(self):
        """Every word of the tile goes into the row of a thread."""
        e, turn = self.emit, self.label()
        e('mad.lo.u32 %at, %tid_, 8, %tile; mov.b32 %turn, 0;')
        self.fold_range(turn, 'ld.shared.b64 %word, [%at];', f'add.u32 %at, %at, {8 * self.threads};', TILE)

    def fold_written(self):
        """Likewise for what the copies of this block wrote to global memory."""
        e, turn = self.emit, self.label()
        e('fence.proxy.async; mul.wide.u32 %wide, %tid_, 8; add.u64 %wide, %wide, %written; mov.b32 %turn, 0;')
        self.fold_range(turn, 'ld.relaxed.gpu.global.b64 %word, [%wide];', f'add.u64 %wide, %wide, {8 * self.threads};', WRITTEN)

    def fold_range(self, turn, load, step, size):
        e, row = self.emit, self.threads * self.blocks * 8
        if self.trace:
            e(f'add.u64 %ad, %out, {self.rows * row};')
            for k in range(size // 8 // self.threads):
                e(f'// row {self.rows + k} word {k}')
            self.rows += size // 8 // self.threads
        e(f'{turn}: {load} {step} add.u32 %turn, %turn, 1;')
        if self.trace:
            e(f'st.global.b64 [%ad], %word; add.u64 %ad, %ad, {row};')
        e('mad.lo.u64 %fold, %fold, 0x9e3779b97f4a7c15, %word;')
        e(f'setp.lt.u32 %q, %turn, {size // 8 // self.threads}; @%q bra {turn};')
        self.store('%fold', '')

    def read_tile(self):
        """Registers of the pool from places of the tile that depend on what threads hold."""
        for _ in range(self.rng.range(2, 4)):
            size, kind, width = self.rng.pick([('b32', 'r', 4), ('b32', 'r', 4), ('b64', 'd', 8), ('b16', 'h', 2), ('u8', 'r', 1), ('s16', 'r', 2)])
            self.emit(f'and.b32 %t, {self.reg("r")}, {TILE // width - 1}; mad.lo.u32 %t, %t, {width}, %tile;')
            self.emit(f'ld.shared.{size} {self.reg(kind)}, [%t];')

    def write_tile(self):
        """Each thread to places of its own."""
        self.emit('bar.sync 0;')
        for _ in range(self.rng.range(1, 2)):
            kind, width = self.rng.pick([('r', 4), ('d', 8), ('h', 2)])
            stride = self.rng.pick([w for w in (8, 16, 24, 40, 72, 128) if w * self.threads <= TILE])
            start = 8 * self.rng.below((TILE - stride * self.threads) // 8 + 1)
            self.emit(f'mad.lo.u32 %t, %tid_, {stride}, %tile; st.shared.b{8 * width} [%t+{start}], {self.reg(kind)};')
            self.emit('bar.sync 0;')

    # --- statements -------------------------------------------------------------------------------------------------------

    def copy_statement(self):
        r = self.rng
        if r.below(3) == 0:
            self.write_tile()
        loads = [self.load_tiles, self.load_tiles, self.load_tiles, self.load_columns, self.load_columns, self.load_range, self.prefetch]
        stores = [self.store_tile, self.store_tile, self.reduce_tile, self.reduce_tile, self.store_columns, self.store_range, self.reduce_range]
        clusters = [self.multicast, self.multicast, self.to_peer, self.to_peer, self.store_to_peer]
        kind = r.below(8)
        chosen = r.pick(loads if kind < 3 else stores if kind < 6 else clusters)
        chosen()
        if chosen in stores:
            if r.below(2):
                self.read_written()
        else:
            self.fold_tile()
            self.read_tile()

    def load_lines(self, mode, c, offsets='', mask=''):
        """A load by %map to %at."""
        modifier, operand, how = self.hint()
        space = 'shared::cluster' if mask or self.rng.below(3) else 'shared::cta'
        multicast = '.multicast::cluster' if mask else ''
        return [*how, f'cp.async.bulk.tensor.{len(c)}d.{space}.global{mode}.mbarrier::complete_tx::bytes{multicast}{modifier} [%at], '
                      f'[%map, {self.words_of(c)}], [%bar]{offsets}{mask}{operand};']

    def load_tiles(self):
        r, lines, total = self.rng, [], 0
        for slot in range(r.range(1, 3)):
            keys, c, size, room = self.tile_map(False)
            lines += [self.map_at(r.pick(['read', 'read', 'written']), keys), f'add.u32 %at, %tile, {self.in_slot(slot, room)};',
                      *self.load_lines(r.pick(['', '.tile']), c)]
            total += size
        self.separate()
        self.phase_of(lines, total)

    def load_columns(self):
        r = self.rng
        keys, c, size, room = self.column_map(False)
        offsets = [r.range(0, 3) for _ in c[2:]]
        lines = [self.map_at(r.pick(['read', 'written']), keys), f'add.u32 %at, %tile, {self.in_slot(r.below(4), room)};',
                 *self.load_lines('.im2col', c, ', ' + self.words_of(offsets))]
        self.separate()
        self.phase_of(lines, size)

    def load_range(self):
        r, lines, total = self.rng, [], 0
        for slot in range(r.range(1, 3)):
            size = 16 * r.range(1, r.pick([4, 64, 512]))
            modifier, operand, how = self.hint()
            source, room = r.pick([('%only', READ), ('%written', WRITTEN)])
            lines += how
            lines += [f'add.u64 %wide, {source}, {16 * r.below((room - size) // 16 + 1)};', f'add.u32 %at, %tile, {self.in_slot(slot, size, 16)};',
                      f'cp.async.bulk.{r.pick(["shared::cluster", "shared::cta"])}.global.mbarrier::complete_tx::bytes{modifier} [%at], [%wide], '
                      f'{size}, [%bar]{operand};']
            total += size
        self.separate()
        self.phase_of(lines, total)

    def prefetch(self):
        r = self.rng
        if r.below(3) == 0:
            size = 16 * r.range(1, 99)
            lines = [f'add.u64 %wide, %only, {16 * r.below(999)};', f'cp.async.bulk.prefetch.L2.global [%wide], {size};']
        elif r.below(2):
            keys, c, _, _ = self.tile_map(False)
            lines = [self.map_at('read', keys), f'cp.async.bulk.prefetch.tensor.{len(c)}d.L2.global.tile [%map, {self.words_of(c)}];']
        else:
            keys, c, _, _ = self.column_map(False)
            lines = [self.map_at('read', keys), f'cp.async.bulk.prefetch.tensor.{len(c)}d.L2.global.im2col [%map, {self.words_of(c)}], '
                                                f'{self.words_of([r.range(0, 3) for _ in c[2:]])};']
        if r.below(2) and lines[0].startswith(('mov.b64 %map', 'add.u64 %map')):
            lines.insert(1, 'prefetch.tensormap [%map];')
        self.by_one(lines)

    def grouped(self, lines):
        """Copies from shared to global memory, done when this returns."""
        r = self.rng
        wait = r.pick([['cp.async.bulk.wait_group 0;'], ['cp.async.bulk.wait_group.read 0;', 'cp.async.bulk.wait_group 0;'],
                       ['cp.async.bulk.commit_group;', 'cp.async.bulk.wait_group 1;', 'cp.async.bulk.wait_group 0;']])
        self.separate()
        self.by_one([*lines, 'cp.async.bulk.commit_group;', *wait, 'fence.proxy.async;'])
        self.emit('bar.sync 0;')

    def store_tile(self):
        keys, c, size, room = self.tile_map(True)
        modifier, operand, how = self.hint()
        self.grouped([self.map_at('written', keys), f'add.u32 %at, %tile, {self.in_slot(self.rng.below(4), room)};', *how,
                      f'cp.async.bulk.tensor.{len(c)}d.global.shared::cta{self.rng.pick(["", ".tile"])}.bulk_group{modifier} [%map, {self.words_of(c)}], '
                      f'[%at]{operand};'])

    def store_columns(self):
        r = self.rng
        op = r.pick(['', 'add', 'max', 'xor'])
        keys, c, size, room = self.column_map(True, REDUCED[op] if op else None)
        name, op = ('cp.reduce.async.bulk.tensor', '.' + op) if op else ('cp.async.bulk.tensor', '')
        self.grouped([self.map_at('written', keys), f'add.u32 %at, %tile, {self.in_slot(r.below(4), room)};',
                      f'{name}.{len(c)}d.global.shared::cta{op}.im2col_no_offs.bulk_group [%map, {self.words_of(c)}], [%at];'])

    def reduce_tile(self):
        r = self.rng
        op = r.pick(forms.REDUCTIONS)
        keys, c, size, room = self.tile_map(True, element=r.pick(REDUCED[op]))
        modifier, operand, how = self.hint()
        self.grouped([self.map_at('written', keys), f'add.u32 %at, %tile, {self.in_slot(r.below(4), room)};', *how,
                      f'cp.reduce.async.bulk.tensor.{len(c)}d.global.shared::cta.{op}{r.pick(["", ".tile"])}.bulk_group{modifier} '
                      f'[%map, {self.words_of(c)}], [%at]{operand};'])

    def range_of_written(self):
        size = 16 * self.rng.range(1, self.rng.pick([4, 64, 512]))
        return size, [f'add.u64 %wide, %written, {16 * self.rng.below((WRITTEN - size) // 16 + 1)};',
                      f'add.u32 %at, %tile, {16 * self.rng.below((TILE - size) // 16 + 1)};']

    def store_range(self):
        size, lines = self.range_of_written()
        self.grouped([*lines, f'cp.async.bulk.global.shared::cta.bulk_group [%wide], [%at], {size};'])

    def reduce_range(self):
        kind, op = self.rng.pick(forms.BULK_GLOBAL)
        size, lines = self.range_of_written()
        self.grouped([*lines, f'cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{kind} [%wide], [%at], {size};'])

    def read_written(self):
        """What copies wrote to global memory, or a word of one's own that the next copy reads."""
        for _ in range(2):
            self.emit(f'and.b32 %t, {self.reg("r")}, {WRITTEN // 8 - 1}; mad.wide.u32 %wide, %t, 8, %written;')
            self.emit(f'ld.relaxed.gpu.global.b64 {self.reg("d")}, [%wide];')
        if self.rng.below(2):
            self.emit(f'bar.sync 0; mad.wide.u32 %wide, %tid_, {self.rng.pick([8, 16, 40])}, %written; st.global.b64 [%wide], {self.reg("d")};')
            self.emit('fence.proxy.async; bar.sync 0;')
