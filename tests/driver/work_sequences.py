"""Random sequences for sequences.py around what a stream does: captures, graphs, events, memory in stream order, libraries and
their kernels. One context, which stays. What may have ended or not by chance is waited for before it is asked."""
import ctypes as C

MIB = 1 << 20


class MemsetNode(C.Structure):
    """CUDA_MEMSET_NODE_PARAMS."""

    _fields_ = [("dst", C.c_uint64), ("pitch", C.c_size_t), ("value", C.c_uint), ("element", C.c_uint), ("width", C.c_size_t), ("height", C.c_size_t)]


class UpdateResult(C.Structure):
    """CUgraphExecUpdateResultInfo."""

    _fields_ = [("result", C.c_int), ("node", C.c_void_p), ("other", C.c_void_p)]


def memory_of(d, r):
    live = d.kinds.get("memory", [])
    return r.choice(live) if live else ("null", C.c_uint64(0))


def streams(d, r):
    which, stream, value = r.randrange(8), C.c_void_p(), C.c_int(-9)
    named = d.some(r, "stream", 0.15)
    if which <= 1:
        if d.call("cuStreamCreate", C.byref(stream), r.choice([0, 1, 1])) == 0:
            d.keep("stream", stream)
    elif which == 2:
        if d.call("cuStreamDestroy_v2", named) == 0:
            d.drop("stream", named)
    elif which == 3:
        if d.call("cuStreamSynchronize", named) == 0:
            d.call("cuStreamQuery", named)
    elif which == 4:
        d.call("cuStreamWaitEvent", named, d.some(r, "event", 0.1), r.choice([0, 0, 0, 1, 2]))
    elif which == 5:
        d.call("cuStreamGetPriority", named, C.byref(value), out=[value])
    elif which == 6:
        d.call("cuCtxSynchronize")
    else:
        d.call("cuStreamCopyAttributes", named, d.some(r, "stream"))


def events(d, r):
    which, event, ms = r.randrange(7), C.c_void_p(), C.c_float()
    named = d.some(r, "event", 0.1)
    if which <= 1:
        if d.call("cuEventCreate", C.byref(event), r.choice([0, 0, 1, 2, 6])) == 0:
            d.keep("event", event)
    elif which <= 3:
        d.call("cuEventRecordWithFlags", named, d.some(r, "stream", 0.3), r.choice([0, 0, 0, 1, 2]))
    elif which == 4:
        if d.call("cuEventSynchronize", named) == 0:
            d.call("cuEventQuery", named)
    elif which == 5:
        other = d.some(r, "event", 0.1)
        if d.call("cuEventSynchronize", named) == 0 and d.call("cuEventSynchronize", other) == 0:
            d.call("cuEventElapsedTime", C.byref(ms), named, other)
    elif d.call("cuEventDestroy_v2", named) == 0:
        d.drop("event", named)


def captures(d, r):
    which, value, graph, number = r.randrange(8), C.c_int(-9), C.c_void_p(), C.c_uint64()
    named = d.some(r, "stream", 0.1)
    if which <= 2:
        d.call("cuStreamBeginCapture_v2", named, r.choice([0, 0, 1, 2, 2, 9]))
    elif which <= 4:
        if d.call("cuStreamEndCapture", named, C.byref(graph), out=[lambda: "graph" if graph.value else "null"]) == 0 and graph.value:
            d.keep("graph", graph)
    elif which == 5:
        d.call("cuStreamIsCapturing", named, C.byref(value), out=[value])
    elif which == 6:
        mode = C.c_int(r.choice([0, 1, 2, 9]))
        d.call("cuThreadExchangeStreamCaptureMode", C.byref(mode), out=[mode])
    else:
        d.call("cuStreamGetCaptureInfo_v2", named, C.byref(value), C.byref(number), None, None, None, out=[value])


def work(d, r):
    which, pointer, stream = r.randrange(8), C.c_uint64(), d.some(r, "stream", 0.3)
    named = memory_of(d, r)
    if which == 0:
        if d.call("cuMemAlloc_v2", C.byref(pointer), C.c_size_t(4096)) == 0:
            d.keep("memory", pointer)
    elif which == 1:
        if d.call("cuMemAllocAsync", C.byref(pointer), C.c_size_t(r.choice([64, 4096])), stream) == 0:
            d.keep("pooled", pointer)
    elif which == 2 and d.kinds.get("pooled"):
        pooled = r.choice(d.kinds["pooled"])
        if d.call("cuMemFreeAsync", pooled, stream) == 0:
            d.drop("pooled", pooled)
    elif which == 3:
        if d.call("cuMemFree_v2", named) == 0 and named[0] != "null":
            d.drop("memory", named)
    elif which == 4:
        d.call("cuMemcpyDtoDAsync_v2", named, memory_of(d, r), C.c_size_t(r.choice([0, 64, 4096])), stream)
    elif which == 5:
        d.call("cuMemsetD32_v2", named, 7, C.c_size_t(r.choice([0, 16, 1024, 1025])))
    else:
        d.call("cuMemsetD8Async", named, r.randrange(9), C.c_size_t(r.choice([0, 64, 4096, 4097])), stream)


def nodes_of(d, graph):
    d.nodes = getattr(d, "nodes", {})
    return d.nodes.setdefault(graph[0], [])


def add_node(d, r, graph):
    """Adds a node of a random kind after some of the graph's nodes."""
    node, number = C.c_void_p(), r.randrange(3)
    before = r.sample(nodes_of(d, graph), min(number, len(nodes_of(d, graph))))
    array = (C.c_void_p * 4)(*[n[1].value for n in before])
    named, kind = memory_of(d, r), r.randrange(4)
    d.lines.append(f"after {' '.join(n[0] for n in before) or 'nothing'}")
    if kind == 0:
        width = r.choice([16, 1024, 2000, 0])
        parameters = MemsetNode(named[1].value, 0, 3, r.choice([1, 4, 4, 3]), width, 1)
        d.lines.append(f"memset of {named[0]}, {width} elements of {parameters.element}")
        error = d.call("cuGraphAddMemsetNode", C.byref(node), graph, array, C.c_size_t(len(before)), C.byref(parameters), d.kinds["context"][0])
    elif kind == 1:
        error = d.call("cuGraphAddEventRecordNode", C.byref(node), graph, array, C.c_size_t(len(before)), d.some(r, "event", 0.1))
    elif kind == 2:
        error = d.call("cuGraphAddChildGraphNode", C.byref(node), graph, array, C.c_size_t(len(before)), d.some(r, "graph", 0.1))
    else:
        error = d.call("cuGraphAddEmptyNode", C.byref(node), graph, array, C.c_size_t(len(before)))
    if error == 0:
        nodes_of(d, graph).append(d.keep("node", node))


def graphs(d, r):
    which, handle, count, kind = r.randrange(14), C.c_void_p(), C.c_size_t(99), C.c_int(-9)
    graph, exec_ = d.some(r, "graph", 0.08), d.some(r, "exec", 0.08)
    nodes = nodes_of(d, graph)
    if which <= 1:
        if d.call("cuGraphCreate", C.byref(handle), r.choice([0, 0, 0, 1])) == 0:
            d.keep("graph", handle)
    elif which <= 4:
        add_node(d, r, graph)
    elif which == 5:
        d.call("cuGraphGetNodes", graph, None, C.byref(count), out=[count])
        d.call("cuGraphGetRootNodes", graph, None, C.byref(count), out=[count])
    elif which == 6 and len(nodes) > 1:
        first, second = r.choice(nodes), r.choice(nodes)
        one, other = (C.c_void_p * 1)(first[1].value), (C.c_void_p * 1)(second[1].value)
        d.lines.append(f"{first[0]} before {second[0]}")
        d.call(r.choice(["cuGraphAddDependencies_v2", "cuGraphRemoveDependencies_v2"]), graph, one, other, None, C.c_size_t(1))
    elif which == 7 and nodes:
        node = r.choice(nodes)
        if r.random() < 0.5:
            d.call("cuGraphNodeGetType", node, C.byref(kind), out=[kind])
        elif d.call("cuGraphDestroyNode", node) == 0:
            nodes.remove(node)
            d.drop("node", node)
    elif which <= 9:
        if d.call("cuGraphInstantiateWithFlags", C.byref(handle), graph, C.c_uint64(r.choice([0, 0, 1, 8, 64]))) == 0:
            d.keep("exec", handle)
    elif which == 10:
        stream = d.some(r, "stream", 0.3)
        if d.call("cuGraphLaunch", exec_, stream) == 0:
            d.call("cuStreamSynchronize", stream)
    elif which == 11:
        result = UpdateResult()
        d.call("cuGraphExecUpdate_v2", exec_, graph, C.byref(result), out=[lambda: result.result])
    elif which == 12:
        if d.call("cuGraphClone", C.byref(handle), graph) == 0:
            d.keep("graph", handle)
    elif r.random() < 0.5:
        if d.call("cuGraphExecDestroy", exec_) == 0:
            d.drop("exec", exec_)
    elif d.call("cuGraphDestroy", graph) == 0:
        for node in nodes:
            d.drop("node", node)
        nodes.clear()
        d.drop("graph", graph)


def libraries(d, r):
    which, handle, number, pointer, size = r.randrange(12), C.c_void_p(), C.c_uint(99), C.c_uint64(), C.c_size_t()
    value, offset, text = C.c_int(-9), C.c_size_t(), C.c_char_p()
    named, kernel, function = d.some(r, "library", 0.08), d.some(r, "kernel", 0.08), d.some(r, "function", 0.08)
    name = r.choice([b"add_one", b"add_one", b"add_two", b"word", b""])
    attribute, device = r.choice([0, 1, 2, 8, 9, 10, 15, 99, -1]), r.choice([0, 0, 0, 1, -1])
    if which <= 1:
        code = r.choice([d.ptx, d.ptx, d.ptx, b".version 1.0 nonsense" + b" " * 40 + b"\0"])
        if d.call("cuLibraryLoadData", C.byref(handle), code, None, None, 0, None, None, 0) == 0:
            d.keep("library", handle)
    elif which == 2:
        if d.call("cuLibraryUnload", named) == 0:
            d.drop("library", named)
            for kind in ("kernel", "function"):
                d.kinds.pop(kind, None)
    elif which == 3:
        if d.call("cuLibraryGetKernel", C.byref(handle), named, name) == 0:
            d.keep("kernel", handle)
    elif which == 4:
        d.call("cuLibraryGetKernelCount", C.byref(number), named, out=[number])
    elif which == 5:
        d.call(r.choice(["cuLibraryGetGlobal", "cuLibraryGetManaged"]), C.byref(pointer), C.byref(size), named, name, out=[size])
    elif which == 6:
        if d.call("cuKernelGetFunction", C.byref(handle), kernel) == 0:
            d.keep("function", handle)
    elif which == 7:
        d.call("cuKernelGetAttribute", C.byref(value), attribute, kernel, device, out=[value] if attribute in (0, 1, 8, 9, 10) else [])
    elif which == 8:
        d.call("cuKernelSetAttribute", attribute, r.choice([0, 1024, 50 << 10, 1 << 20, -1]), kernel, device)
    elif which == 9:
        d.call("cuFuncSetAttribute", function, attribute, r.choice([0, 1024, 50 << 10, 1 << 20, -1]))
    elif which == 10:
        d.call("cuFuncGetParamInfo", function, C.c_size_t(r.choice([0, 1, 2, 9])), C.byref(offset), C.byref(size), out=[offset, size])
    else:
        d.call(r.choice(["cuFuncGetName", "cuKernelGetName"]), C.byref(text), function if r.random() < 0.5 else kernel, out=[text])


def addresses(d, r):
    """Virtual memory: one reservation at a time."""
    which, handle, flags, size = r.randrange(6), C.c_uint64(), C.c_uint64(77), C.c_size_t(2 * MIB * r.choice([1, 1, 2]))
    space, memory = d.some(r, "space", 0), d.some(r, "handle", 0)
    at = 2 * MIB * r.choice([0, 1, 2])
    there = (f"{space[0]}+{at}", C.c_uint64((space[1].value or 0) + at))
    place = (C.c_int * 8)(1, 0, 1, 0)  # CUmemAllocationProp: pinned, no handle type, device 0
    access = (C.c_int * 3)(1, 0, r.choice([0, 1, 3, 3]))
    if space[0] == "null":
        pointer = C.c_uint64()
        if d.call("cuMemAddressReserve", C.byref(pointer), C.c_size_t(8 * MIB), C.c_size_t(0), C.c_uint64(0), C.c_uint64(0)) == 0:
            d.keep("space", pointer)
    elif memory[0] == "null" or which == 0:
        if d.call("cuMemCreate", C.byref(handle), size, place, C.c_uint64(0)) == 0:
            d.keep("handle", handle)
    elif which == 1:
        d.call("cuMemMap", there, size, C.c_size_t(0), memory, C.c_uint64(0))
    elif which == 2:
        d.call("cuMemUnmap", there, size)
    elif which == 3:
        d.lines.append(f"access {access[2]}")
        d.call("cuMemSetAccess", there, size, access, C.c_size_t(1))
    elif which == 4:
        d.call("cuMemsetD8_v2", there, 1, C.c_size_t(64))
        d.call("cuMemGetAccess", C.byref(flags), access, there, out=[flags])
    elif d.call("cuMemRelease", memory) == 0:
        d.drop("handle", memory)


GROUPS = [streams, events, captures, work, work, graphs, graphs, libraries, addresses]
STEPS = 50


def furnish(d):
    """One or two of each kind, so that not most calls get null."""
    handle, pointer = C.c_void_p, C.c_uint64
    for kind, name, *arguments in (("stream", "cuStreamCreate", 1), ("stream", "cuStreamCreate", 0), ("event", "cuEventCreate", 0), ("graph", "cuGraphCreate", 0),
                                   ("library", "cuLibraryLoadData", d.ptx, None, None, 0, None, None, 0)):
        made = handle()
        if d.call(name, C.byref(made), *arguments) == 0:
            d.keep(kind, made)
    for _ in range(2):
        made = pointer()
        if d.call("cuMemAlloc_v2", C.byref(made), C.c_size_t(4096)) == 0:
            d.keep("memory", made)
    kernel, function = handle(), handle()
    if d.call("cuLibraryGetKernel", C.byref(kernel), d.kinds["library"][0], b"add_one") == 0:
        d.keep("kernel", kernel)
        if d.call("cuKernelGetFunction", C.byref(function), ("kernel0", kernel)) == 0:
            d.keep("function", function)


def random_work(d, r, ptx):
    d.ptx = ptx
    d.call("cuInit", 0)
    context = C.c_void_p()
    if d.call("cuCtxCreate_v2", C.byref(context), 0, 0) != 0:
        return
    d.keep("context", context)
    favourites = r.sample(GROUPS, 4)
    furnish(d)
    for _ in range(STEPS):
        r.choice(favourites if r.random() < 0.75 else GROUPS)(d, r)
