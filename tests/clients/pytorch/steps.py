#!/usr/bin/env python3
"""PyTorch step by step: how far it gets. On the virtual GPU what needs torch's own CUDA kernels stops, since its libraries hold
machine code alone; on a real GPU every step is good.

  steps.py [--expect good|virtual] [STEP...]

A line for each step: `good NAME` or `stops NAME: what was said`. --expect virtual: exit status 1 if a step stops that needs no
kernel of torch's; good: if any does."""
import argparse
import os
import sys
import traceback

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # torch.compile: no helpers of its own

STEPS = {}


def step(kernels=False):
    """kernels: it needs torch's own or a library's, or may need one on its way."""

    def add(function):
        STEPS[function.__name__] = (function, kernels)
        return function

    return add


@step()
def start():
    import torch
    assert torch.cuda.is_available() and torch.cuda.device_count() >= 1
    properties = torch.cuda.get_device_properties(0)
    assert properties.multi_processor_count > 0 and torch.cuda.get_device_capability() >= (7, 0)
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total
    return f"torch {torch.__version__}, {torch.cuda.get_device_name()}, {properties.multi_processor_count} SMs"


@step()
def copies():
    import torch
    for dtype in (torch.float32, torch.float16, torch.int64, torch.uint8, torch.complex64):
        x = torch.arange(1000).to(dtype)
        y = x.to("cuda")
        assert y.is_cuda and torch.equal(y.cpu(), x)
    pinned = torch.arange(1 << 16, dtype=torch.float32).pin_memory()
    y = torch.empty_like(pinned, device="cuda")
    y.copy_(pinned, non_blocking=True)
    torch.cuda.synchronize()
    assert torch.equal(y.cpu(), pinned)
    return f"{torch.cuda.memory_allocated()} bytes allocated"


@step()
def views():
    import torch
    y = torch.arange(24, dtype=torch.float32).reshape(4, 6).to("cuda")
    assert torch.equal(y[1:3].cpu(), torch.arange(6, 18, dtype=torch.float32).reshape(2, 6))
    assert y.t().stride() == (1, 6) and y.view(torch.int32).shape == (4, 6) and y[2, 3].item() == 15
    assert torch.equal(y.clone().cpu(), y.cpu())


@step()
def streams():
    import torch
    stream, begin, end = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    x = torch.arange(1 << 20, dtype=torch.float32).pin_memory()
    with torch.cuda.stream(stream):
        begin.record()
        y = x.to("cuda", non_blocking=True)
        end.record()
    torch.cuda.current_stream().wait_event(end)
    end.synchronize()
    assert end.query() and begin.elapsed_time(end) > 0 and torch.equal(y.cpu(), x)


@step()
def memory():
    import torch
    before = torch.cuda.memory_allocated()
    y = torch.empty(1 << 24, dtype=torch.uint8, device="cuda")
    assert torch.cuda.memory_allocated() - before == 1 << 24
    del y
    torch.cuda.empty_cache()
    assert torch.cuda.memory_allocated() == before and torch.cuda.memory_stats()["num_ooms"] == 0
    try:
        torch.empty(1 << 44, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError:
        return
    raise AssertionError("16 TiB were given")


@step()
def own_kernel():
    """A kernel of the program's, compiled at run time."""
    import torch
    source = 'extern "C" __global__ void axpy(int a, const float* x, float* y, int n) {' \
             " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }"
    axpy = torch.cuda._compile_kernel(source, "axpy")
    x, y = torch.arange(1000, dtype=torch.float32), torch.arange(1000, dtype=torch.float32) * 3
    on_gpu = y.to("cuda")
    axpy(grid=(4, 1, 1), block=(256, 1, 1), args=[2, x.to("cuda"), on_gpu, 1000])
    torch.cuda.synchronize()
    assert torch.equal(on_gpu.cpu(), 2 * x + y)


@step(kernels=True)
def graph():
    """A recorded copy. Recording also includes the state of random numbers, which a kernel sets."""
    import torch
    x, y = torch.arange(1000, dtype=torch.float32).to("cuda"), torch.empty(1000, device="cuda")
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        y.copy_(x)
    recorded.replay()
    torch.cuda.synchronize()
    assert torch.equal(y.cpu(), x.cpu())


@step(kernels=True)
def triton_kernel():
    """By torch.compile: Triton's kernels, made of torch's operations."""
    import torch

    @torch.compile
    def function(a, b):
        return torch.sin(a) * b + (a * a).sum(dim=1, keepdim=True)

    a, b = torch.linspace(-1, 1, 4096).reshape(16, 256), torch.linspace(0, 2, 4096).reshape(16, 256)
    result = function(a.to("cuda"), b.to("cuda")).cpu()
    assert torch.allclose(result, torch.sin(a) * b + (a * a).sum(dim=1, keepdim=True), atol=1e-5)


@step(kernels=True)
def matrix_product():
    """By cuBLAS."""
    import torch
    a, b = torch.arange(64 * 32, dtype=torch.float32).reshape(64, 32), torch.arange(32 * 16, dtype=torch.float32).reshape(32, 16)
    assert torch.allclose((a.to("cuda") @ b.to("cuda")).cpu(), a @ b)


@step(kernels=True)
def first_kernel():
    """A kernel out of libtorch_cuda.so."""
    import torch
    x = torch.arange(1000, dtype=torch.float32)
    assert torch.equal((x.to("cuda") + 1).cpu(), x + 1)


@step(kernels=True)
def network():
    import torch
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    x = torch.randn(8, 16)
    expected = model(x)
    assert torch.allclose(model.to("cuda")(x.to("cuda")).cpu(), expected, atol=1e-5)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--expect", choices=("good", "virtual"), default="good")
    parser.add_argument("steps", nargs="*", default=[], choices=[[], *STEPS])
    arguments = parser.parse_args()
    bad = 0
    for name in arguments.steps or STEPS:
        function, kernels = STEPS[name]
        try:
            said = function()
            print(f"good {name}" + (f": {said}" if said else ""), flush=True)
        except Exception as error:  # whatever a step meets is its result
            lines = [line for line in str(error).splitlines() if line.strip()] or ["no words"]
            place = traceback.extract_tb(error.__traceback__)[1 if len(traceback.extract_tb(error.__traceback__)) > 1 else 0]
            print(f"stops {name}: {type(error).__name__}: {lines[0][:300]} (line {place.lineno})", flush=True)
            bad += arguments.expect == "good" or not kernels
    print(f"{len(arguments.steps or STEPS)} steps, {bad} not as expected")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
