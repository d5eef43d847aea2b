"""warpgrind from Python: run, check, explain and diff CUDA programs without a GPU, in scripts and in notebooks (docs/python.md).

`profile` has the objects over a profile's JSON; `sections` makes the profile of a part of the running process
(include/warpgrind/sections.h). `%load_ext warpgrind` brings the magics of `magics`."""
from warpgrind.api import check, diff, explain, run
from warpgrind.defaults import Profiler, set_defaults
from warpgrind.errors import CompileError, ProgramNotFound, Refused, TimedOut, WarpgrindError
from warpgrind.profile import Finding, Kernel, Kernels, Profile

__all__ = ["CompileError", "Finding", "Kernel", "Kernels", "Profile", "Profiler", "ProgramNotFound", "Refused", "TimedOut", "WarpgrindError",
           "check", "diff", "explain", "run", "set_defaults"]


def load_ipython_extension(shell):
    from warpgrind import magics  # needs IPython
    magics.load(shell)


def unload_ipython_extension(shell):
    from warpgrind import magics
    magics.unload(shell)
