"""Defaults of the magics, which set_defaults() changes as nvcc4jupyter's does."""
import enum


class Profiler(enum.Enum):
    """What `%%cuda -p` shows: ncu the counters beside the lines, nsys the times of kernels, copies and calls."""

    NCU = "ncu"
    NSYS = "nsys"


VALUES = {"profiler": Profiler.NCU, "compiler_args": "", "profiler_args": "", "gpu": None, "compiler": None}


def set_defaults(profiler=None, compiler_args=None, profiler_args=None, gpu=None, compiler=None):
    """Sets those that are given. gpu: the model of cells that name none. compiler: nvcc or clang."""
    given = {"profiler": None if profiler is None else Profiler(profiler), "compiler_args": compiler_args, "profiler_args": profiler_args,
             "gpu": gpu, "compiler": compiler}
    VALUES.update({name: value for name, value in given.items() if value is not None})
