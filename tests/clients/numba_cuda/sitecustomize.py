"""Settings for numba-cuda in a Python that has its packages but is not set up for it: in PYTHONPATH of its scripts and tests.

- `numba.cuda` must be that of the package numba_cuda. Its own .pth file does that only in a site folder, and a folder of
  PYTHONPATH is none.
- The folder stand_ins, after all others, replaces packages that numba-cuda's tests import.
- numpy 2.5 has no `row_stack`, which numba-cuda 0.30 needs when it compiles the first kernel."""
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
