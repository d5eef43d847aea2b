"""The magics of %load_ext warpgrind, with nvcc4jupyter's options, in an IPython shell."""
import contextlib
import io
import sys

from IPython.core.interactiveshell import InteractiveShell
from samples import COPY, OUTSIDE, WRONG
from warpgrind import magics

shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "warpgrind")
shown = []  # what was displayed
magics.display = shown.append


def cell(line, text, name="cuda"):
    """Runs a cell. Returns what it printed, to either stream."""
    shown.clear()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        shell.run_cell_magic(name, line, text)
    return printed.getvalue()


def line(name, text):
    shown.clear()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        shell.run_line_magic(name, text)
    return printed.getvalue()


def has(text, *words):
    for word in words:
        assert word in text, (word, text)


# ---- A cell

assert cell("", COPY) == "done with 0 arguments\n" and not shown, shown
assert cell('--args "a b"', COPY) == "done with 2 arguments\n"
has(cell('-p -a "--section MemoryWorkloadAnalysis" -c "--optimize 3"', COPY), "done with 0 arguments", "not used here: --section MemoryWorkloadAnalysis")
# The first line of a cell is that of the magic, as in the notebook's own count.
has(shown[0]._repr_html_(), "counts are exact", "to[i] = from[i * stride];", ">5</span>")
has(cell('-p -a "--metrics smsp__inst_executed.sum,nix -k copy" --gpu t4', COPY), "done with")
has(shown[0]._repr_html_(), "Virtual Tesla T4", "smsp__inst_executed.sum", "not counted")
has(cell("-p -l nsys", COPY), "done with")
has(shown[0]._repr_html_(), "cudaLaunchKernel", "copy(float const*", "estimated")
has(cell("-t", COPY), " per loop (mean", "copy: ", "(estimated)")
cell("--explain 5 --name kept", COPY)
has(shown[0]._repr_html_(), "copy, line 5", "<svg")
assert shell.user_ns["kept"].kernels["copy"].global_load_sectors_per_request == 4 and shell.user_ns["_cuda"] is shell.user_ns["kept"]
has(cell("--explain 4", COPY), "line 4 of this cell has no access", "these lines have: 5")
has(cell("--nix", COPY), "usage: %%cuda", "unrecognized arguments: --nix")
has(cell("--help", COPY), "--profiler-args", "--check")
has(cell("--gpu nix", COPY), "no GPU model is called")
assert cell("", '#include <cstdio>\nint main() { printf("host only\\n"); }\n') == "host only\n"
has(cell("", "#include <cstdlib>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); cudaDeviceSynchronize(); std::abort(); }\n"), "ended by SIGABRT")

# ---- Errors under their lines

assert cell("", WRONG) == "", "the message is displayed, not printed"
has(repr(shown[0]), "line 4 of this cell: error: ", "*p = no_such_name;")
has(shown[0]._repr_html_(), "line 4 of this cell", "*p = no_such_name;")
cell("", '__global__ void k() { int nobody; }\nint main() { k<<<1, 1>>>(); cudaDeviceSynchronize(); }\n')
if shown:  # nvcc warns, clang does not
    has(repr(shown[0]), "line 2 of this cell: warning: ", "nobody")
cell("-p", OUTSIDE)
assert len(shown) == 1 and shown[0]._repr_html_().count("illegal address") == 1, shown
has(cell("", OUTSIDE), "exit code 3")
has(shown[0]._repr_html_(), "illegal address", "line 3 of this cell", "p[threadIdx.x] = 1;")
cell("--check", OUTSIDE)
has(shown[0]._repr_html_(), "1 error", "oob-global-write", "line 3 of this cell")

# ---- Groups

cell('-g shared --name "twice.h"', "#pragma once\ninline int twice(int x) { return 2 * x; }\n", "cuda_group_save")
cell("--group sum --name sum.cu", "__global__ void sum(int* p) { *p += 20; }\n", "cuda_group_save")
MAIN = """#include <cstdio>
#include "twice.h"
__global__ void sum(int* p);
int main() {
  int* p;
  cudaMallocManaged(&p, sizeof(int));
  *p = twice(1);
  sum<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  printf("%d\\n", *p);
}
"""
cell('--group "sum" --name "main.cu"', MAIN, "cuda_group_save")
assert line("cuda_group_run", '--group "sum"') == "22\n"
assert line("cuda_group_run", '-g sum --compiler-args "-O2"') == "22\n"
cell('--group "sum" --name "main.cu"', MAIN.replace("twice(1)", "thrice(1)"), "cuda_group_save")
line("cuda_group_run", "-g sum")
has(repr(shown[0]), "line 8 of the cell of main.cu: error: ", "thrice")
line("cuda_group_delete", '-g "sum"')
for group, word in (("sum", 'Group "sum" does not exist.'), ("shared", 'Group "shared" does not have any source files.')):
    try:
        line("cuda_group_run", f"-g {group}")
        raise SystemExit(f"group {group} runs")
    except RuntimeError as error:
        has(str(error), word)
try:
    cell("-g sum -n wrong.txt", "text\n", "cuda_group_save")
    raise SystemExit("wrong.txt is saved")
except ValueError as error:
    has(str(error), "wrong.txt")

# ---- A rerun compiles nothing: only warpgrind is started.

with_compiler = """#include <cstdio>
int main() { printf("%s\\n", __TIME__); }
"""
first = cell("", with_compiler)
assert cell("", with_compiler) == first, "an unchanged cell was compiled again"
cell("-g parts -n main.cu", "void show();\nint main() { show(); }\n", "cuda_group_save")
cell("-g parts -n show.cu", with_compiler.replace("int main", "void show"), "cuda_group_save")
of_parts = line("cuda_group_run", "-g parts")
assert line("cuda_group_run", "-g parts") == of_parts, "an unchanged group was compiled again"
assert cell('-c "-DOTHER"', with_compiler.replace("TIME", "DATE")) != first

# ---- Defaults and nvcc4jupyter

if getattr(sys.modules.get("nvcc4jupyter"), "__warpgrind__", False):
    from nvcc4jupyter import set_defaults
    set_defaults(compiler_args="-DVALUE=41", profiler_args="")
    assert cell("", '#include <cstdio>\nint main() { printf("%d\\n", VALUE); }\n') == "41\n"
    set_defaults(compiler_args="")
    has(line("load_ext", "nvcc4jupyter"), "nvcc4jupyter is not installed", "virtual GPU")
shell.run_line_magic("unload_ext", "warpgrind")
assert "cuda" not in shell.magics_manager.magics["cell"] and "nvcc4jupyter" not in sys.modules
