"""Tables of what `make bench` measures, with target values. A new row is a line here."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Kernel:
    """A kernel of kernels.cu (and, for peers, of kernels.cl and native.cc)."""
    name: str
    title: str
    size: int
    small: int = 0  # for Oclgrind
    goal: float = 0  # multiples of PoCL on the same threads; 0: PoCL does not run it
    large: int = 0  # for scaling to many threads; 0: not measured


KERNELS = (
    Kernel("mm", "naive multiplication 512, 16 x 16", 512, 64, 25, 1024),
    Kernel("mmt", "tiled multiplication 512", 512, 64, 20, 1024),
    Kernel("reduce", "tree reduction 2^22", 1 << 22, 1 << 16, 8, 1 << 25),
    Kernel("transpose", "tiled transpose 1024^2", 1024, 128, 5, 4096),
    Kernel("jacobi", "Jacobi 1024^2, double", 1024, 128, 1.2, 4096),
    Kernel("vecadd", "vector addition 2^24", 1 << 24, 1 << 16, 1.0, 1 << 26),
    # Addresses that data decides. Work items are accesses of a lane.
    Kernel("gather", "random gather from 4 MiB", 1 << 22),
    Kernel("gather_far", "random gather from 64 MiB", 1 << 22),
    Kernel("gather_masked", "the same from 4 MiB, half the lanes", 1 << 22),
    Kernel("gather_bytes", "random gather of bytes from 1 MiB", 1 << 22),
    Kernel("gather_halves", "random gather of halves from 2 MiB", 1 << 22),
    Kernel("scatter", "random scatter to 16 MiB", 1 << 22),
    Kernel("shared_gather", "random gather from shared memory", 1 << 17),
    Kernel("local_histogram", "a histogram a thread, local memory", 1 << 17),
    Kernel("local_sort", "insertion sort in local memory", 1 << 15),
    Kernel("shared_atomics", "random atomicAdd, shared memory", 1 << 17),
    Kernel("global_atomics", "random atomicAdd, 4 MiB", 1 << 17),
)
OCLGRIND_GOAL = 1000


@dataclass(frozen=True)
class Unit:
    """A kernel of units.cu and units.cc: what a GPU has hardware of its own for."""
    name: str
    title: str
    items: str
    size: int  # threads
    goal: float = 0.5  # of plain C++


UNITS = (
    Unit("mma", "ldmatrix and mma, 16 x 8 x 16 halves", "FMAs", 1 << 16),
    Unit("halves", "__hfma2", "FMAs", 1 << 17),
    Unit("video", "vabsdiff4 with a sum", "bytes", 1 << 17),
    Unit("texture", "tex2D of floats, linear filter", "samples", 1 << 17),
    Unit("volume", "tex3D of floats, linear filter", "samples", 1 << 17),
    Unit("colours", "tex2D of four bytes from 0 to 1, linear filter, wrapped", "samples", 1 << 17),
)
TWO_THREADS_GOAL, SIXTEEN_THREADS_GOAL = 1.9, 12
FIRST_LAUNCHES = ("vecadd", "mm", "mmt", "reduce", "empty")


@dataclass(frozen=True)
class Launches:
    """A way of launches.cu: microseconds for each of `count` x `nodes`."""
    name: str
    title: str
    way: str
    count: int
    nodes: int = 1
    goal: float = 3  # microseconds


LAUNCHES = (
    Launches("stream", "100,000 launches, one wait", "stream", 100_000),
    Launches("synchronized", "launch and wait, 20,000 times", "synchronized", 20_000),
    Launches("graph", "graph of 100 kernels, 1,000 times", "graph", 1_000, 100),
)
MANY_LAUNCHES, MANY_LAUNCHES_MIB = 1_000_000, 200


@dataclass(frozen=True)
class Start:
    """A whole process; the kernel of `kernel` comes from the disk cache."""
    name: str
    title: str
    arguments: tuple
    goal: float = 60  # milliseconds


STARTS = (
    Start("none", "cudaFree(0) alone", ("none",)),
    Start("kernel", "one kernel, from the disk cache", ("kernel",)),
)
