# Two kernels of Triton for python_test.py. Where Triton is not installed, triton_recorded.py launches the PTX that Triton 3.6 made
# of this file on an H200 (add.ptx, row_sum.ptx). So its lines must stay where they are.
import torch, triton, triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask)
    b = tl.load(y + offsets, mask=mask)
    total = a + 2 * b
    tl.store(out + offsets, total, mask=mask)


@triton.jit
def row_sum(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + at, mask=at < columns, other=0.0)
    tl.store(out + row, tl.sum(total))


if __name__ == "__main__":
    n = 1000
    x = torch.arange(n, dtype=torch.float32).cuda()  # PyTorch's own kernels hold no PTX
    y = torch.ones(n).cuda()
    out = torch.empty_like(x)
    add[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
    sums = torch.empty(4, device="cuda")
    row_sum[(4,)](x, sums, 250, BLOCK=128)
    print(out.cpu()[:5].tolist(), sums.cpu().tolist())
