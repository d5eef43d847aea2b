#!/usr/bin/env python3
"""generate.py FOLDER: writes kernels.ptx, and cases.txt with one case a line: KERNEL KEY=NUMBER,... (cases.h reads them);
kernels_100.ptx and by_manual.txt (by_manual.py).

Keys: element (CUtensorMapDataType), dims, strides (bytes), box, steps (element strides), interleave, swizzle, fill of the map;
lower, upper, channels, pixels of an im2col map; c: coordinates, offsets: of im2col; at: the offset in shared memory;
expect: bytes that the mbarrier expects. base: the offset of the tensor in the buffer, 8192 if not given."""
import pathlib
import random
import sys

import kernels
from maps import BYTES, FLOATS, Maker


def text(kernel, **keys):
    def join(value):
        return ','.join(str(v) for v in value) if isinstance(value, (list, tuple)) else str(value)
    return ' '.join([kernel] + [f'{key}={join(value)}' for key, value in keys.items() if value is not None])


class CaseMaker(Maker):
    def cases(self, kernel, count, rank, stepped=False, spread=None, align=128, **options):
        made = 0
        while made < count:
            found = self.tiled(rank, stepped=stepped, **options)
            if not found:
                continue
            keys, moved = found
            c = self.coordinates(keys, made % 3 if spread is None else spread, kernel.startswith(('store', 'red')))
            at = align * self.between(0, 1024 // align)
            yield text(kernel, **keys, c=c, at=at, expect=moved if kernel.startswith(('load', 'multi', 'peer')) else None)
            made += 1

    def im2col_cases(self, kernel, count, rank, stepped=False, swizzle=0, interleave=0):
        made = 0
        loads = kernel == f'im2col_{rank}'
        while made < count:
            found = self.im2col(rank, swizzle, interleave, stepped, not loads)
            if not found:
                continue
            keys, moved, box = found
            c = self.im2col_coordinates(keys, box, loads, made % 12 == 11)
            offsets = [self.choice(0, 1, 2, 3) for _ in range(rank - 2)] if loads else None
            yield text(kernel, **keys, c=c, offsets=offsets, at=128 * self.between(0, 8), expect=moved if loads else None)
            made += 1


def tiles(make):
    for rank in range(1, 6):
        for kernel in (f'load_{rank}', f'store_{rank}'):
            yield from make.cases(kernel, 12, rank)
            if rank > 1:
                yield from make.cases(kernel, 9, rank, stepped=True)
            for swizzle in (1, 2, 3):
                yield from make.cases(kernel, 6, rank, swizzle=swizzle)
                yield from make.cases(kernel, 6, rank, swizzle=swizzle, narrow=True)
                if rank > 1:
                    yield from make.cases(kernel, 3, rank, swizzle=swizzle, narrow=True, stepped=True)
            if rank >= 3:
                for interleave, swizzle in ((1, 0), (1, 1), (1, 2), (1, 3), (2, 1)):
                    yield from make.cases(kernel, 6, rank, swizzle=swizzle, interleave=interleave)
    for swizzle in (4, 5, 6):
        yield from make.cases('load_2', 3, 2, swizzle=swizzle)
        yield from make.cases('store_2', 3, 2, swizzle=swizzle)
    for element in range(13):
        for kernel in ('load_2', 'store_2'):
            yield from make.cases(kernel, 3, 2, element=element)
    for kernel in ('loadcta_2', 'loadhint_2'):
        yield from make.cases(kernel, 3, 2)
    yield from make.cases('prefetch_2', 3, 2)


def typed(make):
    """Numbers: what loads and stores of each type make of them, and the reductions."""
    flat = {'strides': [128], 'steps': [1, 1], 'interleave': 0, 'swizzle': 0, 'fill': 0, 'c': [0, 0], 'at': 256}
    for element in range(13):
        columns = 64 // BYTES[element]
        shape = {'element': element, 'dims': [columns, 6], 'box': [columns, 4], **flat}
        for style in (0, 1, 2):
            yield text('load_2', style=style, **shape, expect=256)
            yield text('store_2', style=style, **shape)
        for op in kernels.REDUCTIONS:
            yield text(f'red_{op}_2', style=0, **shape)
            if element in FLOATS and op in ('add', 'min', 'max'):
                yield text(f'red_{op}_2', style=1, **shape)
                yield text(f'red_{op}_2', style=2, **shape)
    for rank in range(1, 6):
        for swizzle in (0, 1, 3):
            for case in make.cases(f'red_add_{rank}', 2, rank, swizzle=swizzle, element=make.choice(2, 3, 4, 6, 7, 9)):
                yield case + ' style=0'
    kinds = {'f16': 6, 'bf16': 9, 'f32': 7, 'f64': 8, 'u32': 2, 's32': 3, 'b32': 2, 'u64': 4, 's64': 5, 'b64': 4}
    for kind, op in kernels.BULK_GLOBAL:
        for style in (0, 1, 2):
            yield text(f'bulkred_global_{op.partition(".")[0]}_{kind}', style=style, element=kinds[kind], at=64, size=208)
    for kind, op in kernels.BULK_SHARED:
        for style in (0, 1):
            yield text(f'bulkred_shared_{op}_{kind}', style=style, element=kinds[kind], at=64, to=4096, size=208, expect=208, mask=2)
    yield text('bulkred_own', style=0, element=2, at=64, to=4096, size=208, expect=208, mask=1)


def columns(make):
    for rank in (3, 4, 5):
        for swizzle in (0, 1, 2, 3):
            yield from make.im2col_cases(f'im2col_{rank}', 12, rank, swizzle=swizzle)
        yield from make.im2col_cases(f'im2col_{rank}', 12, rank, stepped=True)
        for interleave, swizzle in ((1, 0), (1, 3), (2, 1)):
            yield from make.im2col_cases(f'im2col_{rank}', 6, rank, interleave=interleave, swizzle=swizzle)
        yield from make.im2col_cases(f'im2colst_{rank}', 16, rank)
        yield from make.im2col_cases(f'im2colst_{rank}', 8, rank, swizzle=3)
        yield from make.im2col_cases(f'im2colst_{rank}', 8, rank, stepped=True)
        for case in make.im2col_cases(f'im2colred_{rank}', 3, rank):
            yield case + ' style=0'


def clusters(make):
    for mask in (1, 2, 3):
        for case in make.cases('multi_2', 3, 2, swizzle=make.choice(0, 3)):
            yield f'{case} mask={mask}'
        yield text('bulk_multi', at=256, size=208, expect=208, mask=mask)
    for case in make.cases('peer_2', 3, 2):
        yield case + ' mask=2'
    yield text('bulk_peer', at=64, to=4096, size=208, expect=208, mask=2)
    yield text('bulk_own', at=64, to=4096, size=208, expect=208, mask=1)


def replaced():
    """The copy is made with a map of which one field has changed."""
    base = {'element': 2, 'dims': [40, 20], 'strides': [192], 'box': [16, 8], 'steps': [1, 1], 'interleave': 0, 'swizzle': 0, 'fill': 0,
            'c': [32, 15], 'at': 1024}
    yield text('replace_global_address_2', **base, value=8192 + 256, expect=512)
    yield text('replace_rank_2', **base, value=1, expect=512)
    for ordinal, value in ((0, 7), (0, 8), (0, 12), (0, 64), (1, 3), (1, 4), (1, 16), (1, 256 // 2)):
        yield text('replace_box_dim_2', **base, ord=ordinal, value=value, expect=value * (8 if ordinal == 0 else 16) * 4)
    for ordinal, value in ((0, 33), (0, 34), (1, 16), (1, 17), (1, 30)):
        yield text('replace_global_dim_2', **base, ord=ordinal, value=value, expect=512)
    for ordinal, value in ((0, 160), (0, 208), (0, 12), (0, 13)):
        yield text('replace_global_stride_2', **base, ord=ordinal, value=value, expect=512)
    for ordinal, value, expect in ((1, 1, 512), (1, 2, 256), (1, 3, 192), (1, 8, 64), (0, 1, 512)):
        yield text('replace_element_stride_2', **base, ord=ordinal, value=value, expect=expect)
    for value in range(13):
        yield text('replace_elemtype_2', **{**base, 'element': 0, 'box': [64, 8], 'dims': [160, 20]}, value=value, expect=64 * 8 * (1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4)[value])
    for value in (1, 2):
        yield text('replace_swizzle_mode_2', **{**base, 'box': [16 if value == 2 else 8, 8]}, value=value, expect=512 if value == 2 else 256)
    yield text('replace_swizzle_mode_2', **{**base, 'box': [32, 8]}, value=3, expect=1024)
    yield text('replace_swizzle_mode_2', **{**base, 'swizzle': 2}, value=0, expect=512)
    yield text('replace_fill_mode_2', **{**base, 'element': 7}, value=1, expect=512)
    yield text('replace_fill_mode_2', **{**base, 'element': 7, 'fill': 1}, value=0, expect=512)
    yield text('replace_interleave_layout_2', **base, value=0, expect=512)


def errors():
    """What a copy does that is not allowed. `map`: offset of the map in global memory, `blank`: its bytes are zero."""
    two = {'element': 2, 'dims': [40, 20], 'strides': [192], 'box': [16, 8], 'steps': [1, 1], 'interleave': 0, 'swizzle': 0, 'fill': 0}
    c = {'c': [4, 2]}
    yield text('load_2', **two, **c, at=0, map=0, expect=512)
    for first in ([3, 2], [2, 2], [-1, 2]):
        yield text('load_2', **two, c=first, at=0, expect=512)
        yield text('store_2', **two, c=first, at=0)
    yield text('prefetch_2', **two, c=[3, 2], at=0)
    for first in ([-4, 2], [4, -1], [0, -30]):
        yield text('store_2', **two, c=first, at=0)
        yield text('red_add_2', **two, c=first, at=0, style=0)
    for at in (8, 16, 32, 64):
        yield text('load_2', **two, **c, at=at, expect=512)
        yield text('store_2', **two, **c, at=at)
        yield text('red_add_2', **two, **c, at=at, style=0)
    for at in (16, 64, 128, 256, 512):
        yield text('load_2', **{**two, 'swizzle': 3, 'box': [32, 8]}, **c, at=at, expect=1024)
        yield text('store_2', **{**two, 'swizzle': 3, 'box': [32, 8]}, **c, at=at)
    for at in (60000, 229376, 260000 // 128 * 128):
        yield text('load_2', **two, **c, at=at, expect=512)
        yield text('store_2', **two, **c, at=at)
    yield text('load_2', **two, **c, at=0, barrier=4, expect=512)
    yield text('load_2', **two, **c, at=0, barrier=8, expect=512)
    for offset in (16, 32, 64):
        yield text('load_2', **two, **c, at=0, map=offset, expect=512)
    yield text('load_2', **two, **c, at=0, map=0, blank=1, expect=512)
    yield text('store_2', **two, **c, at=0, map=0, blank=1)
    yield text('prefetch_2', **two, **c, at=0, map=0, blank=1)
    yield text('load_3', **two, c=[4, 2, 0], at=0, expect=512)
    yield text('load_1', **two, c=[4], at=0, expect=512)
    three = {**two, 'dims': [40, 5, 4], 'strides': [192, 960], 'box': [16, 4, 2], 'steps': [1, 1, 1]}
    yield text('load_2', **three, **c, at=0, expect=512)
    yield text('store_2', **three, **c, at=0)
    yield text('im2col_3', **three, c=[4, 2, 0], offsets=[0], at=0, expect=512)
    yield text('im2colst_3', **three, c=[4, 2, 0], at=0)
    im2col = {'element': 2, 'dims': [16, 5, 4], 'strides': [64, 320], 'lower': [0], 'upper': [0], 'channels': 16, 'pixels': 8, 'steps': [1, 1, 1],
              'interleave': 0, 'swizzle': 0, 'fill': 0}
    yield text('load_3', **im2col, c=[0, 0, 0], at=0, expect=512)
    yield text('store_3', **im2col, c=[0, 0, 0], at=0)
    for base in (-(1 << 30), 1 << 40):
        yield text('load_2', **two, **c, at=0, base=base, expect=512)
        yield text('store_2', **two, **c, at=0, base=base)
        yield text('prefetch_2', **two, **c, at=0, base=base)
    yield text('load_2', **{**two, 'dims': [40, 20000000], 'strides': [192]}, c=[0, 19000000], at=0, expect=512)
    yield text('store_2', **{**two, 'dims': [40, 20000000], 'strides': [192]}, c=[0, 19000000], at=0)
    for expect in (516, 1024):
        yield text('load_2', **two, **c, at=0, expect=expect)
    for keys in ({'at': 8, 'size': 208}, {'at': 64, 'size': 200}, {'at': 64, 'size': 0}):
        yield text('bulkred_global_add_u32', style=0, element=2, **keys)
        yield text('bulkred_shared_add_u32', style=0, element=2, **keys, to=4096, expect=keys['size'], mask=2)


def cases():
    make = CaseMaker(random.Random(29))
    yield text('bulk_load', at=128, size=208, expect=208)
    yield text('bulk_store', at=128, size=208)
    yield from tiles(make)
    yield from columns(make)
    yield from typed(make)
    yield from clusters(make)
    yield from replaced()
    yield from errors()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'kernels.ptx').write_text('\n'.join(kernels.kernels()))
    (folder / 'cases.txt').write_text('\n'.join(dict.fromkeys(cases())) + '\n')
    import by_manual  # it imports this file
    (folder / 'kernels_100.ptx').write_text('\n'.join(kernels.kernels_100()))
    (folder / 'by_manual.txt').write_text(''.join(f'{case}\n{picture}\n' for case, picture in by_manual.cases()))


if __name__ == '__main__':
    main()
