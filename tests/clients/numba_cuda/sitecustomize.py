"""What numba-cuda needs of a Python that has its packages, but was not set up for it: in PYTHONPATH of its scripts and tests.

- `numba.cuda` is the package numba_cuda's. Its own .pth file does that where it lies in a site folder; a folder that
  only PYTHONPATH names is none.
- Behind all other folders: what stands in for packages that numba-cuda's tests import (stand_ins).
- numpy 2.5 has no `row_stack`, which numba-cuda 0.30 asks for when it compiles the first kernel."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "stand_ins"))
try:
    import _numba_cuda_redirector  # noqa: F401
except ImportError:
    pass
try:
    import numpy
except ImportError:
    numpy = None
if numpy and not hasattr(numpy, "row_stack"):
    numpy.row_stack = numpy.vstack
