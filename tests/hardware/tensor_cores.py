#!/usr/bin/env python3
"""tensor_cores.py FOLDER: writes tensor_cores.ptx and its cases, tensor_cores.txt, into FOLDER: kernels of mma, mma.sp, wgmma and wgmma.sp
whose inputs show how a tensor core adds (numbers of very different size, subnormals, infinities, NaNs) and where it finds its operands
(all layouts of matrices in shared memory, all selectors of metadata). The lines are those of generate.py. What an H200 gave is in
tensor_cores.expected, written by run_on_gpu.
"""
import os
import sys

WARPS = 16  # of mma: each has its own matrices. The kinds of inputs change with an eighth of the input (inputs.h)
IMAGE = 40960  # bytes of shared memory of a wgmma
HEADER = '.version 8.8\n.target sm_90a\n.address_size 64\n'
BITS = {'f16': 16, 'bf16': 16, 'tf32': 32, 'e4m3': 8, 'e5m2': 8, 's8': 8, 'u8': 8, 's4': 4, 'u4': 4, 'b1': 1, 'f64': 64}


def names(prefix, count):
    return '{' + ', '.join(f'%{prefix}{i}' for i in range(count)) + '}'


class Cases:
    def __init__(self):
        self.ptx, self.lines = [HEADER], []

    def add(self, body, threads, inputs, size, text):
        name = f't{len(self.lines)}'
        self.ptx.append(
            f'.visible .entry {name}(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{{\n'
            '  .reg .pred %p; .reg .b32 %i, %w, %l, %s, %e; .reg .b64 %a, %b, %c, %d, %x, %o;\n'
            '  ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; ld.param.u64 %d, [d];\n'
            '  mov.u32 %i, %tid.x; mov.u32 %w, %ctaid.x; mov.u32 %l, %ntid.x; mad.lo.u32 %i, %w, %l, %i;\n' + body + '  ret;\n}\n')
        self.lines.append(f'{name} | tensor_cores.ptx | {threads} | {" | ".join(inputs)} | raw | {size} | {text}')

    def planes(self, base, prefix, count, size, load, first=0, total=None):
        """Registers first..first+count of `total` of the warp: register r of lane l is word r*32 + l."""
        t = f'b{size * 8}'
        total = total or count
        out = (f'  shr.u32 %w, %i, 5; and.b32 %l, %i, 31; mad.lo.u32 %w, %w, {total * 32}, %l; mul.wide.u32 %o, %w, {size};'
               f' add.u64 %x, {base}, %o;\n')
        for r in range(count):
            at = f'[%x+{(first + r) * 32 * size}]'
            out += f'  ld.global.{t} %{prefix}{r}, {at};\n' if load else f'  st.global.{t} {at}, %{prefix}{r};\n'
        return out

    def mma(self, text, registers, kinds, metadata=None, selector=0):
        """registers: of a, b, c (and d). metadata: the kind of its words, behind those of c."""
        a, b, c = registers
        size = 8 if '.f64.' in text else 4
        body = f'  .reg .b{size * 8} %qa<{a}>, %qb<{b}>, %qc<{c}>, %qd<{c}>;\n'
        body += self.planes('%a', 'qa', a, size, True) + self.planes('%b', 'qb', b, size, True)
        body += self.planes('%c', 'qc', c, size, True)
        operands = ', '.join((names('qd', c), names('qa', a), names('qb', b), names('qc', c)))
        inputs = [f'{k}:{n * size * 32 * WARPS}' for k, n in zip(kinds, registers)]
        if metadata:
            body += f'  mul.wide.u32 %o, %i, 4; add.u64 %x, %c, %o; ld.global.b32 %e, [%x+{c * 4 * 32 * WARPS}];\n'
            operands += f', %e, {selector}'
            inputs[2] += f'+{metadata}:{4 * 32 * WARPS}'
        body += f'  {text} {operands};\n' + self.planes('%d', 'qd', c, size, False)
        note = f' {kinds[0]} {kinds[2]}' + (f' {metadata} {selector}' if metadata else '')
        self.add(body, 32 * WARPS, inputs, c * size * 32 * WARPS, text + note)

    def wgmma(self, text, columns, half_sums, image, b, a=None, registers=None, sums='xf32.0', scale=(1, 1), trans=None, add=1, metadata=None,
              selector=0, note=''):
        """image: what shared memory holds. a, b: descriptors (start, leading, stride, base, swizzle). registers: the kind of A's."""
        n = columns // (4 if half_sums else 2)
        body = (f'  .shared .align 1024 .b8 image[{IMAGE}];\n  .reg .b32 %qd<{n}>, %qa<4>, %t<4>; .reg .b64 %da, %db; .reg .pred %add;\n'
                '  mov.u32 %s, image; mul.wide.u32 %o, %i, 16; add.u64 %x, %a, %o; mov.u32 %e, %i; mad.lo.u32 %s, %i, 16, %s;\n'
                'fill: ld.global.v4.b32 {%t0, %t1, %t2, %t3}, [%x]; st.shared.v4.b32 [%s], {%t0, %t1, %t2, %t3};\n'
                f'  add.u64 %x, %x, 2048; add.u32 %s, %s, 2048; add.u32 %e, %e, 128; setp.lt.u32 %p, %e, {IMAGE // 16}; @%p bra fill;\n')
        inputs = [image, 'none:0', f'{sums}:{n * 512}']
        if registers:
            body += self.planes('%b', 'qa', 4, 4, True)
            inputs[1] = f'{registers}:2048'
        if metadata:
            body += f'  mul.wide.u32 %o, %i, 4; add.u64 %x, %b, %o; ld.global.b32 %e, [%x+{2048 if registers else 0}];\n'
            inputs[1] = (inputs[1] + '+' if registers else '') + f'{metadata}:512'
        body += self.planes('%c', 'qd', n, 4, True)

        def descriptor(register, d):
            start, leading, stride, base, swizzle = d
            bits = start // 16 | leading // 16 << 16 | stride // 16 << 32 | base << 49 | swizzle << 62
            return f'  mov.u32 %s, image; shr.u32 %s, %s, 4; cvt.u64.u32 {register}, %s; add.u64 {register}, {register}, {bits:#x};\n'

        body += descriptor('%db', b) + (descriptor('%da', a) if a else '')
        body += '  fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;\n'
        body += f'  setp.ne.b32 %add, {add}, 0;\n  {text} {names("qd", n)}, {"%da" if a else names("qa", 4)}, %db'
        body += f', %e, {selector}' if metadata else ''
        body += ', %add' + (f', {scale[0]}, {scale[1]}' if scale else '')
        body += ''.join(f', {t}' for t in trans) if trans is not None else ''
        body += ';\n  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n' + self.planes('%d', 'qd', n, 4, False)
        numbers = lambda d: '.'.join(map(str, d)) if d else '-'
        self.add(body, 128, inputs, n * 512,
                 f'{text} {note} a {numbers(a)} b {numbers(b)} image {image} registers {registers} trans {trans} scale {scale} add {add} '
                 f'metadata {metadata} {selector}')


def sums_of(t):
    return 'xf16' if t == 'f16' else 's32' if t == 's32' else 'xf32'


def dense(c):
    def forms(shape, registers, d, a, b, kinds=None, extra=''):
        for k in kinds or [('x' + a, 'x' + b, sums_of(d))]:
            c.mma(f'mma.sync.aligned.{shape}.row.col{extra}.{d}.{a}.{b}.{d}', registers, k)

    for d, n in (('f32', 4), ('f16', 2)):
        forms('m16n8k8', (2, 1, n), d, 'f16', 'f16')
        forms('m16n8k16', (4, 2, n), d, 'f16', 'f16')
    forms('m16n8k8', (2, 1, 4), 'f32', 'bf16', 'bf16')
    forms('m16n8k16', (4, 2, 4), 'f32', 'bf16', 'bf16')
    forms('m16n8k4', (2, 1, 4), 'f32', 'tf32', 'tf32')
    forms('m16n8k8', (4, 2, 4), 'f32', 'tf32', 'tf32')
    for a in ('e4m3', 'e5m2'):
        for b in ('e4m3', 'e5m2'):
            forms('m16n8k16', (2, 1, 4), 'f32', a, b)
            forms('m16n8k32', (4, 2, 4), 'f32', a, b)
    # Deeper products of f64 meet several NaNs here, and which payload results is not specified.
    forms('m8n8k4', (1, 1, 2), 'f64', 'f64', 'f64', [('xf64', 'xf64', 'xf64')])
    forms('m16n8k4', (2, 1, 4), 'f64', 'f64', 'f64', [('xf64', 'xf64', 'xf64')])
    for d, n in (('f32', 8), ('f16', 4)):
        c.mma(f'mma.sync.aligned.m8n8k4.row.col.{d}.f16.f16.{d}', (2, 2, n), ('xf16', 'xf16', sums_of(d)))


def sparse(c):
    def forms(shape, registers, d, a, b, selectors, extra='', meta='meta24', raw='raw', kinds=None):
        small = {'f16': 'sf16', 'bf16': 'sbf16', 'tf32': 'sf32', 'e4m3': 'se4m3', 'e5m2': 'se5m2'}
        exact = (small.get(a, 'raw'), small.get(b, 'raw'), {'f32': 'sf32', 'f16': 'sf16', 's32': 's32'}[d])
        wide = ('x' + a, 'x' + b, sums_of(d))
        for mode in ('sp', 'sp::ordered_metadata'):
            text = f'mma.{mode}.sync.aligned.{shape}.row.col{extra}.{d}.{a}.{b}.{d}'
            for s in range(selectors):
                if mode == 'sp' and s and s + 1 < selectors:
                    continue
                c.mma(text, registers, kinds or exact, meta, s)
            if d != 's32':
                c.mma(text, registers, wide, meta, selectors - 1)
            c.mma(text, registers, kinds or exact, raw, 0)

    for d, n in (('f32', 4), ('f16', 2)):
        forms('m16n8k16', (2, 2, n), d, 'f16', 'f16', 4)
        forms('m16n8k32', (4, 4, n), d, 'f16', 'f16', 2)
    forms('m16n8k16', (2, 2, 4), 'f32', 'bf16', 'bf16', 4)
    forms('m16n8k32', (4, 4, 4), 'f32', 'bf16', 'bf16', 2)
    forms('m16n8k8', (2, 2, 4), 'f32', 'tf32', 'tf32', 4, meta='meta12')
    forms('m16n8k16', (4, 4, 4), 'f32', 'tf32', 'tf32', 2, meta='meta12')
    for a in ('s8', 'u8'):
        for b in ('s8', 'u8'):
            forms('m16n8k32', (2, 2, 4), 's32', a, b, 2)
            forms('m16n8k64', (4, 4, 4), 's32', a, b, 1)
            x, y = a[0] + '4', b[0] + '4'
            forms('m16n8k64', (2, 2, 4), 's32', x, y, 2)
            forms('m16n8k128', (4, 4, 4), 's32', x, y, 1)
    forms('m16n8k64', (4, 4, 4), 's32', 's8', 's8', 1, extra='.satfinite', kinds=('raw', 'raw', 'big'))
    for a in ('e4m3', 'e5m2'):
        for b in ('e4m3', 'e5m2'):
            forms('m16n8k64', (4, 4, 4), 'f32', a, b, 1)


# Where each element of B, and of A, is read: a unit matrix is the other factor, and shared memory holds the number of each element,
# modulo 2048 because that is exact in f16.
def layouts(c):
    f16 = lambda n: f'wgmma.mma_async.sync.aligned.m64n{n}k16.f32.f16.f16'
    descriptors = [(0, 128, 256, 0, 0), (0, 2048, 128, 0, 0), (64, 272, 528, 0, 0), (0, 2560, 640, 3, 0),
                   (0, 16, 256, 0, 3), (0, 4096, 512, 0, 3), (32, 1024, 256, 0, 3), (128, 16, 256, 0, 3), (128, 16, 256, 1, 3), (16, 16, 256, 0, 3),
                   (0, 16, 512, 0, 2), (0, 4096, 1024, 0, 2), (32, 1024, 512, 0, 2), (256, 16, 512, 0, 2), (256, 16, 512, 2, 2), (48, 16, 512, 0, 2),
                   (0, 16, 1024, 0, 1), (0, 8192, 1024, 0, 1), (32, 16, 1024, 0, 1), (64, 2048, 2048, 0, 1), (96, 16, 1024, 0, 1),
                   (256, 16, 1024, 0, 1), (256, 16, 1024, 2, 1), (384, 16, 1152, 5, 1), (112, 16, 1024, 0, 1)]
    for n, d in enumerate(descriptors):
        for trans in (0, 1):
            # B: rows of A in registers select a depth each.
            c.wgmma(f16(64 if n % 3 else 72), 64 if n % 3 else 72, False, f'index:{IMAGE}', d, registers='unit16', sums='zero', trans=(trans,),
                    note='place')
            # A: the columns of B select a depth each; B lies at the end.
            c.wgmma(f16(16), 16, False, f'index:{IMAGE - 512}+unit16k:512', (IMAGE - 512, 128, 256, 0, 0), a=d, sums='zero', trans=(trans, 0),
                    note='place')
    # B stored by depth, wide: more columns than the swizzle has.
    for d in ((0, 2048, 1024, 0, 1), (0, 4096, 1024, 0, 1), (0, 1024, 4096, 0, 1), (0, 1024, 512, 0, 2), (0, 512, 256, 0, 3),
              (0, 2048, 256, 0, 0)):
        c.wgmma(f16(256), 256, False, f'index:{IMAGE}', d, registers='unit16', sums='zero', trans=(1,), note='place')
    # Bytes and tf32: only by rows.
    for d in descriptors[::3]:
        c.wgmma('wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8', 64, False, f'byte0:{IMAGE}', d, registers='unit8', sums='zero', scale=None,
                note='place')
        c.wgmma('wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32', 64, False, f'index32:{IMAGE}', d, registers='unit32', sums='zero',
                note='place')
    # Sparse: B is twice as deep, A is packed.
    sp16 = lambda n: f'wgmma.mma_async.sp.sync.aligned.m64n{n}k32.f32.f16.f16'
    for d in descriptors:
        for trans in (0, 1):
            c.wgmma(sp16(64), 64, False, f'index:{IMAGE}', d, registers='unit16', sums='zero', trans=(trans,), metadata='even24', note='place')
        c.wgmma('wgmma.mma_async.sp.sync.aligned.m64n64k16.f32.tf32.tf32', 64, False, f'index32:{IMAGE}', d, registers='unit32', sums='zero',
                metadata='even12', note='place')
    for d in descriptors[::3]:
        c.wgmma('wgmma.mma_async.sp.sync.aligned.m64n64k64.s32.u8.u8', 64, False, f'byte0:{IMAGE}', d, registers='unit8', sums='zero', scale=None,
                metadata='even24', note='place')
        for trans in (0, 1):
            c.wgmma(sp16(32), 32, False, f'index:{IMAGE - 2048}+unit32k:2048', (IMAGE - 2048, 128, 512, 0, 0), a=d, sums='zero',
                    trans=(trans, 0), metadata='even24', note='place')


def sums(c):
    """How wgmma adds: matrices by rows without swizzle."""
    def image(kind):
        return f'{kind}:{IMAGE}'

    for t, k, d in (('f16', 16, 'f32'), ('f16', 16, 'f16'), ('bf16', 16, 'f32'), ('tf32', 8, 'f32'), ('e4m3', 32, 'f32'), ('e5m2', 32, 'f32'),
                    ('e4m3', 32, 'f16'), ('e5m2', 32, 'f16')):
        half = d == 'f16'
        for sparse in (False, True):
            depth = 2 * k if sparse else k
            for mode in range(8):
                trans = (0,) if BITS[t] == 16 else None
                meta = dict(metadata='meta12' if t == 'tf32' else 'meta24') if sparse else {}
                text = f'wgmma.mma_async{".sp" if sparse else ""}.sync.aligned.m64n32k{depth}.{d}.{t}.{t}'
                c.wgmma(text, 32, half, image(f'x{t}.{mode}'), (0, 2048, 128, 0, 0), registers=f'x{t}.{mode}', sums=f'xf{16 if half else 32}.{mode}',
                        trans=trans, note='sums', **meta)
            c.wgmma(text, 32, half, image(f'x{t}.0'), (0, 2048, 128, 0, 0), a=(16384, 1024, 128, 0, 0), sums=f'xf{16 if half else 32}.0',
                    trans=(0, 0) if trans else None, scale=(-1, 1), note='sums', **meta)
            c.wgmma(text, 32, half, image(f'x{t}.3'), (0, 2048, 128, 0, 0), registers=f'x{t}.3', sums=f'xf{16 if half else 32}.3', trans=trans,
                    scale=(-1, -1), note='sums', **meta)
            c.wgmma(text, 32, half, image(f'x{t}.3'), (0, 2048, 128, 0, 0), registers=f'x{t}.3', sums=f'xf{16 if half else 32}.3', trans=trans,
                    scale=(1, -1), add=0, note='sums', **meta)
    for a, b in (('e4m3', 'e5m2'), ('e5m2', 'e4m3')):
        c.wgmma(f'wgmma.mma_async.sync.aligned.m64n32k32.f32.{a}.{b}', 32, False, image(f'x{b}.0'), (0, 2048, 128, 0, 0), registers=f'x{a}.0',
                sums='xf32.0', note='sums')
        c.wgmma(f'wgmma.mma_async.sp.sync.aligned.m64n32k64.f32.{a}.{b}', 32, False, image(f'x{b}.0'), (0, 2048, 128, 0, 0), registers=f'x{a}.0',
                sums='xf32.0', metadata='meta24', note='sums')
    for sat in ('', '.satfinite'):
        for a in ('s8', 'u8'):
            for b in ('s8', 'u8'):
                for sparse in (False, True):
                    c.wgmma(f'wgmma.mma_async{".sp" if sparse else ""}.sync.aligned.m64n32k{64 if sparse else 32}{sat}.s32.{a}.{b}', 32, False,
                            image('raw'), (0, 2048, 128, 0, 0), registers='raw', sums='big' if sat else 's32', scale=None,
                            metadata='meta24' if sparse else None, note='sums')
    c.wgmma('wgmma.mma_async.sync.aligned.m64n32k256.s32.b1.b1.and.popc', 32, False, image('raw'), (0, 2048, 128, 0, 0), registers='raw', sums='s32',
            scale=None, note='sums')
    for trans in (0, 1):
        for swizzle, stride in ((0, 256), (3, 256), (2, 512), (1, 1024)):
            c.wgmma('wgmma.mma_async.sp.sync.aligned.m64n96k32.f32.f16.f16', 96, False, image('sf16'), (0, 4096, stride, 0, swizzle), registers='sf16',
                    sums='sf32', trans=(trans,), metadata='meta24', note='sums')
    # Metadata: each selector, and patterns that are not allowed.
    for t, depth, small, selectors in (('f16', 32, 'sf16', 2), ('tf32', 16, 'sf32', 2), ('e4m3', 64, 'se4m3', 1)):
        for meta in (('meta12', 'raw') if t == 'tf32' else ('meta24', 'raw')):
            for s in range(selectors):
                c.wgmma(f'wgmma.mma_async.sp.sync.aligned.m64n64k{depth}.f32.{t}.{t}', 64, False, image(small), (0, 2048, 128, 0, 0), registers=small,
                        sums='sf32', trans=(0,) if t == 'f16' else None, metadata=meta, selector=s, note='metadata')
    for meta in ('meta24', 'raw'):
        c.wgmma('wgmma.mma_async.sp.sync.aligned.m64n64k64.s32.s8.s8', 64, False, image('raw'), (0, 2048, 128, 0, 0), registers='raw', sums='s32',
                scale=None, metadata=meta, note='metadata')


def main(folder):
    c = Cases()
    dense(c)
    sparse(c)
    layouts(c)
    sums(c)
    with open(os.path.join(folder, 'tensor_cores.ptx'), 'w') as f:
        f.write('\n'.join(c.ptx))
    with open(os.path.join(folder, 'tensor_cores.txt'), 'w') as f:
        f.write('\n'.join(c.lines) + '\n')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: tensor_cores.py FOLDER')
    main(sys.argv[1])
