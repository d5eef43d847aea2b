"""Textures and surfaces of random programs: resource, description, and accesses of them. A line

  // image GEOMETRY KIND BITS CHANNELS WIDTH HEIGHT DEPTH FLAGS ADDRESS ADDRESS ADDRESS

behind the line of a program describes each; cases.h makes the texels.

Left out, since hardware/texture_cases.h and device/memory/texture.cpp name them as not exact: linear filtering in 3D.
"""
import struct

SIZES = [37, 64, 19, 8, 33, 100]
# Geometry of the resource: word of the instruction, coordinates, whether a layer comes first.
GEOMETRIES = {'1d': ('1d', 1, False), '2d': ('2d', 2, False), '3d': ('3d', 3, False), 'a1d': ('a1d', 1, True),
              'a2d': ('a2d', 2, True), 'cube': ('cube', 3, False), 'fetch': ('1d', 1, False), 'pitched': ('2d', 2, False),
              'gather': ('2d', 2, False), 'surface1d': ('1d', 1, False), 'surface2d': ('2d', 2, False),
              'surface3d': ('3d', 3, False)}
CHOICES = ['1d', '1d', '2d', '2d', '2d', '2d', '3d', 'a1d', 'a2d', 'cube', 'fetch', 'pitched', 'gather', 'surface1d',
           'surface2d', 'surface3d']


def literal(x):
    return f'0f{struct.unpack("<I", struct.pack("<f", x))[0]:08x}'


class Image:
    def __init__(self, rng, number):
        self.number = number
        self.geometry = rng.pick(CHOICES)
        self.surface = self.geometry.startswith('surface')
        self.instruction, self.dimensions, self.layered = GEOMETRIES[self.geometry]
        self.kind = rng.pick('ffus')
        self.bits = rng.pick([32, 32, 16]) if self.kind == 'f' else rng.pick([8, 8, 16, 32])
        self.channels = rng.pick([1, 2, 4])
        self.size = [rng.pick(SIZES), rng.pick(SIZES) if self.dimensions > 1 else 0, rng.pick([5, 7, 8]) if self.dimensions == 3 else 0]
        if self.layered:
            self.size[2] = rng.pick([1, 3, 5])
        if self.geometry == 'cube':
            side = rng.pick([8, 16])
            self.size = [side, side, 6]
        if self.geometry == 'pitched':
            self.size[0] = 64
        flags = []
        if not self.surface:
            if self.kind != 'f' and self.bits < 32 and rng.below(3):
                flags.append('float')
            self.floats = self.kind == 'f' or 'float' in flags
            if self.geometry == 'cube' or (self.geometry != 'fetch' and rng.below(2)):
                flags.append('normalized')
            if self.floats and self.geometry not in ('fetch', '3d') and rng.below(2):
                flags.append('linear')
            if 'float' in flags and (self.kind, self.bits, self.channels) == ('u', 8, 4) and rng.below(3) == 0:
                flags.append('srgb')
            if self.kind == 'f' and 'linear' not in flags and rng.below(2):
                flags.append('special')
        self.flags = flags
        modes = ['wrap', 'clamp', 'mirror', 'border'] if 'normalized' in flags else ['clamp', 'border']
        self.addresses = [rng.pick(modes) for _ in range(3)]
        if self.geometry in ('cube', 'fetch') or self.surface:
            self.addresses = ['clamp'] * 3

    def description(self):
        return (f'// image {self.geometry} {self.kind} {self.bits} {self.channels} {" ".join(map(str, self.size))} '
                f'{",".join(self.flags) or "-"} {" ".join(self.addresses)}')

    def access(self, rng, to, register):
        """Lines that read the image at coordinates made of registers into the four registers `to`."""
        if not self.surface and rng.below(12) == 0:
            what = rng.pick(['width'] + ['height'] * (self.dimensions > 1 and self.geometry != 'cube'))
            return [f'@GUARD@ txq.{what}.b32 {to[0]}, [%image{self.number}];']
        if self.surface:
            return self.surface_access(rng, to, register)
        lines = []
        if self.geometry == 'fetch':
            lines.append(f'and.b32 %y0, {register()}, 127; sub.s32 %y0, %y0, {rng.pick([0, 0, 5])};')
            coordinates = '%y0'
        else:
            for d in range(self.dimensions):
                lines += self.coordinate(rng, d, register())
            words = [f'%y{d}' for d in range(self.dimensions)]
            if self.layered:
                lines.append(f'and.b32 %y3, {register()}, 7; sub.s32 %y3, %y3, 1;')
                words = ['%y3'] + words
            if len(words) == 3:
                words.append(words[-1])
            coordinates = words[0] if len(words) == 1 else f'{{{", ".join(words)}}}'
        result = 'f32' if self.floats else 'u32' if self.kind == 'u' else 's32'
        point = 's32' if self.geometry == 'fetch' else 'f32'
        if self.geometry == 'gather' and rng.below(4):
            # (A component the format lacks is not defined.)
            lines.append(f'@GUARD@ tld4.{"rgba"[rng.below(self.channels)]}.2d.v4.{result}.f32 {{{", ".join(to)}}}, [%image{self.number}, {coordinates}];')
        elif self.kind == 'f' and self.bits == 16 and rng.below(4) == 0:
            # Without a guard: ptxas 13.0 converts the components under the guard into registers that hold nothing yet, and
            # packs them without one, so that lanes whose guard is off lose the old value for anything.
            lines.append(f'tex.{self.instruction}.v2.f16x2.{point} {{{to[0]}, {to[1]}}}, [%image{self.number}, {coordinates}];')
        elif self.geometry not in ('fetch', 'pitched') and rng.below(8) == 0:
            lines.append(f'@GUARD@ tex.level.{self.instruction}.v4.{result}.f32 {{{", ".join(to)}}}, [%image{self.number}, {coordinates}], {literal(0.0)};')
        else:
            lines.append(f'@GUARD@ tex.{self.instruction}.v4.{result}.{point} {{{", ".join(to)}}}, [%image{self.number}, {coordinates}];')
        return lines

    def coordinate(self, rng, d, register):
        n, at = self.size[d], f'%y{d}'
        if self.geometry == 'cube':
            return [f'and.b32 {at}, {register}, 0xffff; cvt.rn.f32.u32 {at}, {at};',
                    f'fma.rn.f32 {at}, {at}, {literal(2 / 65536)}, {literal(-0.9999)};']
        unit = n if 'normalized' in self.flags else 1
        way = rng.below(8)
        if way == 0:  # anything, infinity and NaN too
            return [f'mov.b32 {at}, {register};']
        if way < 3:  # centres and edges of texels
            return [f'and.b32 {at}, {register}, 255; cvt.rn.f32.u32 {at}, {at};',
                    f'fma.rn.f32 {at}, {at}, {literal(0.5 / unit)}, {literal(-float(n // 2) / unit)};']
        return [f'and.b32 {at}, {register}, 0xffff; cvt.rn.f32.u32 {at}, {at};',
                f'fma.rn.f32 {at}, {at}, {literal(3 * n / 65536 / unit)}, {literal(-n / unit)};']

    def surface_access(self, rng, to, register):
        """Reads only: what a surface holds after a write is not defined within the same kernel. x counts bytes."""
        bytes_ = self.bits * self.channels // 8
        lines = []
        for d in range(self.dimensions):
            n = self.size[d]
            lines.append(f'rem.u32 %y{d}, {register()}, {n + 6}; sub.s32 %y{d}, %y{d}, 3;')
        lines.append(f'mul.lo.s32 %y0, %y0, {bytes_};')
        form = {1: 'b8', 2: 'b16', 4: 'b32', 8: 'v2.b32', 16: 'v4.b32'}[bytes_]
        words = [f'%y{d}' for d in range(self.dimensions)]
        if len(words) == 3:
            words.append(words[-1])
        at = words[0] if len(words) == 1 else f'{{{", ".join(words)}}}'
        boundary = rng.pick(['clamp', 'zero'])
        if bytes_ <= 2:
            return lines + [f'@GUARD@ suld.b.{self.instruction}.{form}.{boundary} %x0, [%image{self.number}, {at}]; @GUARD@ cvt.u32.u16 {to[0]}, %x0;']
        result = to[0] if bytes_ == 4 else f'{{{", ".join(to[:bytes_ // 4])}}}'
        return lines + [f'@GUARD@ suld.b.{self.instruction}.{form}.{boundary} {result}, [%image{self.number}, {at}];']
