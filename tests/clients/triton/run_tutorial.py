#!/usr/bin/env python3
"""A tutorial of Triton's, or another script that uses torch beside it, as it is, without its benchmarks.

  run_tutorial.py PATH

Triton's kernels run on the GPU; what the script does with torch is done on the host (on_host.py). At the end the kernels that
were launched and the tensors that the script leaves are printed: equal on the virtual GPU and on a real one, the latter as
sums, since sums of a real GPU may be taken in another order."""
import collections
import hashlib
import runpy
import sys

import torch
import triton

try:
    import on_host
    around = on_host.OnHost
except ImportError:  # a torch without dispatch
    import contextlib
    around = contextlib.nullcontext

LAUNCHES = collections.Counter()


class LeftOut:
    """Replacement of triton.testing.perf_report that measures nothing."""

    def __init__(self, function):
        self.function = function

    def run(self, *arguments, **keywords):
        print(f"benchmark {self.function.__name__}: left out")

    def __call__(self, *arguments, **keywords):
        return self.function(*arguments, **keywords)


def once(kernel, quantiles=None, **_):
    """In place of triton.testing.do_bench: the autotuner tries each of its choices once and takes the first, everywhere."""
    kernel()
    return [1.0] * len(quantiles or [0])


def describe(name, tensor):
    values = tensor.detach().cpu().contiguous()
    digest = hashlib.sha256(values.reshape(-1).view(torch.uint8).numpy().tobytes()).hexdigest()[:16]
    total = values.to(torch.float64).abs().sum().item()
    return f"{name}: {tuple(values.shape)} {values.dtype}, sum of sizes {total:.5g}, bits {digest}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    path = sys.argv[1]
    sys.argv = [path]
    triton.testing.perf_report = lambda benchmarks: LeftOut
    triton.testing.do_bench = once
    triton.backends.nvidia.driver.CudaDriver.get_benchmarker = lambda driver: once
    triton.knobs.runtime.launch_enter_hook.add(lambda metadata: LAUNCHES.update([metadata.get()["name"]]))
    with around():
        left = runpy.run_path(path, run_name="__main__")
        for name, count in sorted(LAUNCHES.items()):
            print(f"launched {name}: {count}")
        for name, value in left.items():
            if isinstance(value, torch.Tensor) and value.is_cuda:
                print(describe(name, value))
    print("end")


if __name__ == "__main__":
    main()
