"""Handwritten sequences for sequences.py, about memory behaviour that the manual leaves open. Each takes its driver."""
import ctypes as C

MIB = 1 << 20
FAR = 1 << 45  # more than any GPU has
STREAM = C.c_void_p(2)  # CU_STREAM_PER_THREAD


class Described(C.Structure):
    """CUDA_ARRAY_DESCRIPTOR, with what CUDA_ARRAY3D_DESCRIPTOR adds."""

    _fields_ = [("width", C.c_size_t), ("height", C.c_size_t), ("depth", C.c_size_t), ("format", C.c_int), ("channels", C.c_uint), ("flags", C.c_uint)]


class Flat(C.Structure):
    _fields_ = [("width", C.c_size_t), ("height", C.c_size_t), ("format", C.c_int), ("channels", C.c_uint)]


class Side(C.Structure):
    _fields_ = [("x", C.c_size_t), ("y", C.c_size_t), ("type", C.c_int), ("host", C.c_void_p), ("device", C.c_uint64), ("array", C.c_void_p),
                ("pitch", C.c_size_t)]


class Rectangle(C.Structure):
    _fields_ = [("source", Side), ("target", Side), ("width", C.c_size_t), ("height", C.c_size_t)]


class Properties(C.Structure):
    """CUmemAllocationProp."""

    _fields_ = [("type", C.c_int), ("handles", C.c_int), ("place", C.c_int), ("device", C.c_int), ("security", C.c_void_p), ("flags", C.c_ubyte * 8)]


class Access(C.Structure):
    _fields_ = [("place", C.c_int), ("device", C.c_int), ("flags", C.c_int)]


def start(d):
    d.call("cuInit", 0)
    context = C.c_void_p()
    d.call("cuCtxCreate_v2", C.byref(context), 0, 0)
    return d.keep("context", context)


def allocate(d, size):
    pointer = C.c_uint64()
    d.call("cuMemAlloc_v2", C.byref(pointer), C.c_size_t(size))
    return d.keep("memory", pointer)


def beyond(named, offset):
    return (f"{named[0]}+{offset}", C.c_uint64(named[1].value + offset))


def memory_sizes(d):
    start(d)
    pointer, other, pitch = C.c_uint64(), C.c_void_p(), C.c_size_t()
    null = ("null", C.c_uint64(0))
    for size in (0, FAR, (1 << 64) - 4):
        d.call("cuMemAlloc_v2", C.byref(pointer), C.c_size_t(size))
        d.call("cuMemAllocManaged", C.byref(pointer), C.c_size_t(size), 1)
        d.call("cuMemAllocAsync", C.byref(pointer), C.c_size_t(size), None)
    for size in (0, (1 << 64) - 4):
        d.call("cuMemAllocHost_v2", C.byref(other), C.c_size_t(size))
        d.call("cuMemHostAlloc", C.byref(other), C.c_size_t(size), 0)
        d.call("cuMemHostRegister_v2", other, C.c_size_t(size), 0)
    for width, height, element in ((0, 1, 4), (1, 0, 4), (100, 10, 0), (100, 10, 3), (100, 10, 16), (1 << 40, 1 << 40, 4)):
        d.call("cuMemAllocPitch_v2", C.byref(pointer), C.byref(pitch), C.c_size_t(width), C.c_size_t(height), element, out=[pitch])
    for flags in (7, 8, 1 << 20):
        d.call("cuMemHostAlloc", C.byref(other), C.c_size_t(64), flags)
    d.call("cuMemFree_v2", null)
    d.call("cuMemFreeAsync", null, None)
    d.call("cuMemFreeHost", None)
    a = allocate(d, 1000)
    d.call("cuMemFree_v2", beyond(a, 4))
    d.call("cuMemFreeAsync", beyond(a, 4), None)
    d.call("cuMemFree_v2", a)
    d.call("cuMemFree_v2", a)


def memory_pointers(d):
    context = start(d)
    a, value = allocate(d, 1000), C.c_uint64()
    managed, pinned = C.c_uint64(), C.c_void_p()
    d.call("cuMemAllocManaged", C.byref(managed), C.c_size_t(1000), 1)
    d.call("cuMemAllocHost_v2", C.byref(pinned), C.c_size_t(1000))
    own = C.create_string_buffer(64)
    places = [a, beyond(a, 999), beyond(a, 1000), d.keep("managed", managed), d.keep("pinned", pinned), ("own", C.c_uint64(C.addressof(own))),
              ("null", C.c_uint64(0))]
    low = lambda: value.value & 0xffffffff  # noqa: E731
    shown = {1: lambda: value.value == context[1].value, 2: low, 6: low, 8: low, 9: low, 10: None, 12: None, 13: low, 14: None, 15: None, 16: low,
             17: low, 18: None, 20: None, 21: None}
    base, size = C.c_uint64(), C.c_size_t()
    for place in places:
        for attribute in list(range(1, 22)) + [99]:
            value.value = 0
            out = shown.get(attribute)
            d.call("cuPointerGetAttribute", C.byref(value), attribute, place, out=[out] if out else [])
        d.call("cuMemGetAddressRange_v2", C.byref(base), C.byref(size), place, out=[size])
        d.call("cuPointerSetAttribute", C.byref(C.c_uint(1)), 6, place)
        d.call("cuPointerSetAttribute", C.byref(C.c_uint(1)), 7, place)
        kinds, answers = (C.c_int * 3)(2, 8, 9), [C.c_uint(77) for _ in range(3)]
        data = (C.c_void_p * 3)(*[C.addressof(x) for x in answers])
        d.call("cuPointerGetAttributes", 3, kinds, data, place, out=answers)
    flags, device = C.c_uint(), C.c_uint64()
    for place in places:
        d.call("cuMemHostGetFlags", C.byref(flags), place, out=[flags])
        d.call("cuMemHostGetDevicePointer_v2", C.byref(device), place, 0)
        d.call("cuMemHostGetDevicePointer_v2", C.byref(device), place, 1)
        d.call("cuMemHostUnregister", place)
    d.call("cuMemGetAddressRange_v2", None, None, a)


def memory_copies(d):
    start(d)
    a, b, own = allocate(d, 256), allocate(d, 256), C.create_string_buffer(bytes(range(256)), 256)
    here = ("own", C.c_uint64(C.addressof(own)))
    null = ("null", C.c_uint64(0))
    d.call("cuMemcpyHtoD_v2", a, own, C.c_size_t(256))
    for to, source, size in ((a, b, 256), (a, b, 257), (a, here, 256), (here, a, 256), (here, here, 64), (a, null, 4), (null, a, 4), (null, null, 0)):
        for name in ("cuMemcpy", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemcpyDtoD_v2"):
            d.call(name, to, source, C.c_size_t(size))
    for name, sizes in (("cuMemsetD8_v2", (0, 256, 257)), ("cuMemsetD16_v2", (128, 129)), ("cuMemsetD32_v2", (64, 65))):
        for size in sizes:
            for offset in (0, 1, 2):
                d.call(name, beyond(a, offset), 7, C.c_size_t(size))
        d.call(name, here, 7, C.c_size_t(4))
        d.call(name, null, 7, C.c_size_t(4))
    for name in ("cuMemsetD2D8_v2", "cuMemsetD2D16_v2", "cuMemsetD2D32_v2"):
        for pitch, width, height in ((0, 4, 1), (0, 4, 2), (4, 8, 1), (4, 8, 2), (17, 4, 2), (16, 4, 2), (64, 16, 5), (64, 0, 4), (64, 4, 0)):
            d.call(name, a, C.c_size_t(pitch), 3, C.c_size_t(width), C.c_size_t(height))
    for source, target in ((1, 2), (2, 2), (4, 4), (2, 1), (1, 1), (0, 2), (9, 2)):
        for pitch, x, width, height in ((32, 0, 32, 4), (0, 0, 32, 4), (16, 0, 32, 1), (16, 0, 32, 4), (32, 8, 32, 2), (32, 8, 24, 2), (32, 0, 0, 4)):
            r = Rectangle()
            for side, kind, memory in ((r.source, source, a), (r.target, target, b)):
                side.type, side.host, side.device, side.pitch, side.x = kind, C.addressof(own), memory[1].value, pitch, x
            r.width, r.height = width, height
            what = C.c_char_p(f"{source}>{target} pitch {pitch} x {x} {width}x{height}".encode())
            d.lines.append(what.value.decode())
            d.call("cuMemcpy2D_v2", C.byref(r))
            d.call("cuMemcpy2DUnaligned_v2", C.byref(r))


def memory_arrays(d):
    start(d)
    array, own, back = C.c_void_p(), C.create_string_buffer(bytes(range(128)), 128), Described()
    for d3 in ((8, 4, 0, 3, 1, 0), (8, 0, 0, 3, 1, 0), (0, 4, 0, 3, 1, 0), (8, 4, 0, 3, 3, 0), (8, 4, 0, 99, 1, 0), (8, 4, 0, 0, 1, 0), (8, 4, 6, 3, 1, 4),
               (8, 8, 6, 3, 1, 4), (8, 8, 5, 3, 1, 1), (8, 0, 5, 3, 1, 0), (1 << 20, 4, 0, 3, 1, 0), (8, 4, 0, 3, 1, 1 << 20)):
        d.lines.append(f"array {d3}")
        if d.call("cuArray3DCreate_v2", C.byref(array), C.byref(Described(*d3))) == 0:
            d.call("cuArray3DGetDescriptor_v2", C.byref(back), ("array", array), out=[lambda: [getattr(back, n) for n, _ in Described._fields_]])
            d.call("cuArrayDestroy", ("array", array))
    d.call("cuArrayDestroy", None)
    d.call("cuArrayCreate_v2", C.byref(array), C.byref(Flat(8, 4, 3, 1)))
    named = d.keep("array", array)
    for offset, size in ((0, 128), (0, 32), (32, 32), (16, 32), (4, 4), (2, 4), (0, 3), (128, 4), (0, 129)):
        d.call("cuMemcpyHtoA_v2", named, C.c_size_t(offset), own, C.c_size_t(size))
        d.call("cuMemcpyAtoH_v2", own, named, C.c_size_t(offset), C.c_size_t(size))
        d.call("cuMemcpyAtoA_v2", named, C.c_size_t(offset), named, C.c_size_t(0), C.c_size_t(size))
    d.call("cuMemcpyHtoA_v2", None, C.c_size_t(0), own, C.c_size_t(4))
    flat = Flat()
    d.call("cuArrayGetDescriptor_v2", C.byref(flat), None)
    d.call("cuArrayDestroy", named)


def memory_pools(d):
    start(d)
    pool, value, pointer = C.c_void_p(), C.c_uint64(), C.c_uint64()
    d.call("cuDeviceGetDefaultMemPool", C.byref(pool), 0)
    named = d.keep("pool", pool)
    for attribute in list(range(0, 10)):
        value.value = 0
        d.call("cuMemPoolGetAttribute", named, attribute, C.byref(value), out=[value])
    for attribute in (1, 4, 5, 6, 7, 8, 9):
        for number in (0, 1):
            d.call("cuMemPoolSetAttribute", named, attribute, C.byref(C.c_uint64(number)))
    d.call("cuMemAllocFromPoolAsync", C.byref(pointer), C.c_size_t(64), named, None)
    d.call("cuMemAllocFromPoolAsync", C.byref(pointer), C.c_size_t(0), named, None)
    d.call("cuMemAllocFromPoolAsync", C.byref(pointer), C.c_size_t(64), None, None)
    flags = C.c_int(77)
    for place, device in ((1, 0), (1, 77), (2, 0), (0, 0)):
        d.call("cuMemPoolGetAccess", C.byref(flags), named, C.byref(Access(place, device)), out=[flags])
        d.call("cuMemPoolSetAccess", named, C.byref(Access(place, device, 3)), C.c_size_t(1))
    d.call("cuMemPoolTrimTo", named, C.c_size_t(0))
    d.call("cuMemPoolDestroy", named)


def virtual_memory(d):
    start(d)
    space, handle, size, seen = C.c_uint64(), C.c_uint64(), C.c_size_t(), Properties()
    here = Properties(1, 0, 1, 0)
    for p in (here, Properties(0, 0, 1, 0), Properties(2, 0, 1, 0), Properties(1, 0, 0, 0), Properties(1, 0, 1, 77), Properties(1, 99, 1, 0)):
        d.lines.append(f"properties {p.type} {p.handles} {p.place} {p.device}")
        for option in (0, 1, 9):
            d.call("cuMemGetAllocationGranularity", C.byref(size), C.byref(p), option, out=[size])
        d.call("cuMemCreate", C.byref(handle), C.c_size_t(2 * MIB), C.byref(p), C.c_uint64(0))
    for amount in (0, 4096, MIB, 3 * MIB, FAR):
        d.call("cuMemCreate", C.byref(handle), C.c_size_t(amount), C.byref(here), C.c_uint64(0))
    d.call("cuMemCreate", C.byref(handle), C.c_size_t(2 * MIB), C.byref(here), C.c_uint64(1))
    for amount, alignment, flags in ((0, 0, 0), (100, 0, 0), (4096, 0, 0), (65536, 0, 0), (MIB, 0, 0), (2 * MIB, 3, 0), (2 * MIB, 64 * MIB, 0), (2 * MIB, 0, 1),
                                     (1 << 52, 0, 0)):
        if d.call("cuMemAddressReserve", C.byref(space), C.c_size_t(amount), C.c_size_t(alignment), C.c_uint64(0), C.c_uint64(flags)) == 0:
            d.call("cuMemAddressFree", ("space", space), C.c_size_t(amount))
    d.call("cuMemAddressReserve", C.byref(space), C.c_size_t(16 * MIB), C.c_size_t(0), C.c_uint64(0), C.c_uint64(0))
    whole = d.keep("space", C.c_uint64(space.value))
    d.call("cuMemCreate", C.byref(handle), C.c_size_t(4 * MIB), C.byref(here), C.c_uint64(0))
    named = d.keep("handle", C.c_uint64(handle.value))
    d.call("cuMemAddressFree", whole, C.c_size_t(2 * MIB))
    d.call("cuMemAddressFree", beyond(whole, 2 * MIB), C.c_size_t(2 * MIB))
    for at, amount, offset, flags in ((0, 0, 0, 0), (0, 2 * MIB, 0, 0), (0, 2 * MIB, 2 * MIB, 0), (4096, 4 * MIB, 0, 0), (0, 4 * MIB, 0, 1), (0, 8 * MIB, 0, 0),
                                      (14 * MIB, 4 * MIB, 0, 0)):
        if d.call("cuMemMap", beyond(whole, at), C.c_size_t(amount), C.c_size_t(offset), named, C.c_uint64(flags)) == 0:
            d.call("cuMemUnmap", beyond(whole, at), C.c_size_t(amount))
    for at in (0, 0, 2 * MIB, 4 * MIB):
        d.call("cuMemMap", beyond(whole, at), C.c_size_t(4 * MIB), C.c_size_t(0), named, C.c_uint64(0))
    flags, other = C.c_uint64(77), C.c_uint64()
    d.call("cuMemsetD8_v2", whole, 1, C.c_size_t(16))
    for at, amount, place, device, access in ((0, 2 * MIB, 1, 0, 3), (0, 4 * MIB, 1, 77, 3), (0, 4 * MIB, 0, 0, 3), (0, 4 * MIB, 1, 0, 2), (0, 12 * MIB, 1, 0, 3),
                                              (0, 8 * MIB, 1, 0, 3)):
        d.call("cuMemSetAccess", beyond(whole, at), C.c_size_t(amount), C.byref(Access(place, device, access)), C.c_size_t(1))
    for at in (0, 5 * MIB, 9 * MIB, 20 * MIB):
        d.call("cuMemGetAccess", C.byref(flags), C.byref(Access(1, 0)), beyond(whole, at), out=[flags])
        d.call("cuMemRetainAllocationHandle", C.byref(other), beyond(whole, at), out=[lambda: other.value == handle.value])
        base = C.c_uint64()
        d.call("cuMemGetAddressRange_v2", C.byref(base), C.byref(size), beyond(whole, at), out=[lambda: base.value - whole[1].value, size])
        for attribute in (2, 12, 13, 18):
            value = C.c_uint64(0)
            d.call("cuPointerGetAttribute", C.byref(value), attribute, beyond(whole, at), out=[value])
    d.call("cuMemsetD8_v2", beyond(whole, 2 * MIB), 1, C.c_size_t(4 * MIB))
    d.call("cuMemFree_v2", whole)
    d.call("cuMemGetAllocationPropertiesFromHandle", C.byref(seen), named, out=[lambda: (seen.type, seen.handles, seen.place, seen.device)])
    d.call("cuMemAddressFree", whole, C.c_size_t(16 * MIB))
    d.call("cuMemUnmap", whole, C.c_size_t(2 * MIB))
    for _ in range(4):
        d.call("cuMemRelease", named)
    d.call("cuMemUnmap", whole, C.c_size_t(8 * MIB))
    d.call("cuMemUnmap", whole, C.c_size_t(8 * MIB))
    d.call("cuMemAddressFree", whole, C.c_size_t(16 * MIB))
    d.call("cuMemAddressFree", whole, C.c_size_t(16 * MIB))


QUESTIONS = (memory_sizes, memory_pointers, memory_copies, memory_arrays, memory_pools, virtual_memory)
