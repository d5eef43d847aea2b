"""The magics of `%load_ext warpgrind`: %%cuda and nvcc4jupyter's others, with its options, on the virtual GPU."""
import argparse
import importlib.util
import signal
import sys
import types

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.display import display

from warpgrind import accesses, api, cells, defaults, displays, figures
from warpgrind.errors import CompileError, WarpgrindError

STUB = "nvcc4jupyter"
# Options of ncu that `warpgrind run` has, too; the others choose sections and formats of ncu's report.
_NCU_OPTIONS = {"-k": "-k", "--kernel-name": "-k", "-s": "-s", "--launch-skip": "-s", "-c": "-c", "--launch-count": "-c",
                "--kernel-name-base": "--kernel-name-base"}


class _Parser(argparse.ArgumentParser):
    """Its errors are printed in the cell; nothing exits."""

    def error(self, message):
        raise WarpgrindError(f"{self.format_usage()}{self.prog}: {message}")

    def exit(self, status=0, message=None):
        raise WarpgrindError(message or "")


def _cuda_parser(name):
    parser = _Parser(prog=name, add_help=False, description="Compiles and runs CUDA C++ on a virtual GPU.")
    parser.add_argument("-h", "--help", action="store_true", help="shows this text")
    parser.add_argument("-t", "--timeit", action="store_true", help="times repeated runs, as %%timeit does")
    parser.add_argument("-p", "--profile", action="store_true", help="shows the counters beside the lines of the kernels")
    parser.add_argument("-l", "--profiler", type=defaults.Profiler, metavar="ncu|nsys",
                        help="ncu: counters; nsys: times of kernels, copies and calls")
    parser.add_argument("-a", "--profiler-args", metavar="ARGS",
                        help="options of the profiler: -k, -s, -c, --metrics are used, others are not needed")
    parser.add_argument("-c", "--compiler-args", metavar="ARGS", help="options of the compiler")
    ours = parser.add_argument_group("only here")
    ours.add_argument("--check", action="store_true", help="looks for bugs, and shows them under their lines")
    ours.add_argument("--explain", metavar="LINE", nargs="?", const=0, type=int,
                      help="draws the accesses of this line of the cell, or of the one that costs most")
    ours.add_argument("--gpu", help="GPU model (default: h200)")
    ours.add_argument("--compiler", choices=["nvcc", "clang"])
    ours.add_argument("--blocks", type=int, metavar="N", help="runs about N blocks of each launch; the program's results are not valid then")
    ours.add_argument("--args", default="", metavar="ARGS", help="arguments of the program")
    ours.add_argument("--timeout", type=float, metavar="SECONDS")
    ours.add_argument("--name", help="the run is kept in this variable, for explain() and diff()")
    return parser


def _group_parser(name, *options):
    parser = _Parser(prog=name, add_help=False)
    for short, long in options:
        parser.add_argument(short, long, required=True)
    return parser


def _profiler_options(text):
    """(options of `warpgrind run`, metrics to show, what is not used)"""
    words, used, metrics, unused = cells.split_options(text), [], [], []
    while words:
        word, _, value = words.pop(0).partition("=")
        if word in _NCU_OPTIONS or word == "--metrics":
            value = value or (words.pop(0) if words else "")
            if word == "--metrics":
                metrics += [m for m in value.split(",") if m]
            else:
                used += [_NCU_OPTIONS[word], value]
        else:
            unused.append(word)
            if words and not words[0].startswith("-"):
                unused.append(words.pop(0))
    return used, metrics, unused


@magics_class
class CudaMagics(Magics):
    def __init__(self, shell):
        super().__init__(shell)
        self.cells = cells.Cells()
        self.last = None  # the latest Run or Check

    # ---- Magics

    @cell_magic
    def cuda(self, line, cell):
        """Compiles and runs the CUDA C++ of this cell on a virtual GPU. %%cuda --help lists the options."""
        arguments = self._arguments(_cuda_parser("%%cuda"), line)
        if arguments is not None:
            self._run(arguments, *self.cells.files_of_cell(cell))

    @cell_magic
    def cuda_group_save(self, line, cell):
        """Saves this cell as a source: %%cuda_group_save -n NAME.cu -g GROUP. Sources of the group `shared` belong to every program."""
        arguments = self._arguments(_group_parser("%%cuda_group_save", ("-n", "--name"), ("-g", "--group")), line)
        if arguments is not None:
            self.cells.save(arguments.group, arguments.name, cell)

    @line_magic
    def cuda_group_run(self, line):
        """Compiles and runs the sources of a group: %cuda_group_run -g GROUP, and the options of %%cuda."""
        parser = _cuda_parser("%cuda_group_run")
        parser.add_argument("-g", "--group", required=True)
        arguments = self._arguments(parser, line)
        if arguments is None:
            return
        group = arguments.group
        if not self.cells.known(group):
            raise RuntimeError(f'Group "{group}" does not exist.')
        if not self.cells.has_sources(group):
            raise RuntimeError(f'Group "{group}" does not have any source files.')
        self._run(arguments, *self.cells.files_of_group(group))

    @line_magic
    def cuda_group_delete(self, line):
        """Forgets the sources of a group: %cuda_group_delete -g GROUP."""
        arguments = self._arguments(_group_parser("%cuda_group_delete", ("-g", "--group")), line)
        if arguments is not None:
            self.cells.delete(arguments.group)

    # ---- A run

    @staticmethod
    def _arguments(parser, line):
        """None: the line is wrong or asks for help, which is printed."""
        try:
            arguments = parser.parse_args(cells.split_line(line))
        except WarpgrindError as error:
            print(error)
            return None
        if getattr(arguments, "help", False):
            parser.print_help(sys.stdout)
            return None
        return arguments

    def _run(self, arguments, files, folder):
        values = defaults.VALUES
        flags = cells.split_options(arguments.compiler_args if arguments.compiler_args is not None else values["compiler_args"])
        profiler = arguments.profiler or values["profiler"]
        used, metrics, unused = _profiler_options(arguments.profiler_args if arguments.profiler_args is not None else values["profiler_args"])
        counted = arguments.profile or arguments.explain is not None or arguments.name is not None
        options = used + (["--detail"] if counted and not arguments.check else []) + (["--blocks", str(arguments.blocks)] if arguments.blocks else [])
        ask = dict(args=cells.split_options(arguments.args), gpu=arguments.gpu or values["gpu"], flags=["-I" + folder, *flags],
                   compiler=arguments.compiler or values["compiler"], timeout=arguments.timeout, needs_kernels=False)
        try:
            if arguments.timeit:
                self._timeit(files, ask)
                return
            if arguments.check:
                ran = api.launch("check", files, options=["--error-exitcode", "0"], on_out=_out, on_err=_err, **ask)
            else:
                ran = api.launch("run", files, options=options, on_out=_out, on_err=_err, **ask)
        except CompileError as error:
            self._show_messages(error.messages, folder, error.output)
            return
        except WarpgrindError as error:
            print(error, file=sys.stderr)
            return
        self._keep(ran, arguments.name)
        self._show(ran, arguments, folder, profiler, metrics, unused if arguments.profile and profiler is defaults.Profiler.NCU else [])

    def _keep(self, ran, name):
        self.last = ran
        ran.names_lines(self.cells.name)
        self.shell.user_ns["_cuda"] = ran
        if name:
            self.shell.user_ns[name] = ran

    def _show(self, ran, arguments, folder, profiler, metrics, unused):
        if ran.warnings:
            display(displays.Messages(ran.warnings, self.cells.texts(folder), self.cells.name))
        if arguments.check:
            display(ran)
        elif not (arguments.profile and profiler is defaults.Profiler.NCU) and any(f.severity != "INFO" for f in ran.findings):
            display(displays.Findings(ran))
        if arguments.profile and not arguments.check:
            display(displays.Times(ran) if profiler is defaults.Profiler.NSYS else displays.Profiled(ran, metrics))
            if unused:
                print(f"not used here: {' '.join(unused)}: warpgrind always shows all that it counts")
        if arguments.explain is not None and not arguments.check:
            try:
                display(api.explain(ran, line=arguments.explain or None) if arguments.explain == 0 else _line_of_cell(ran, arguments.explain))
            except (WarpgrindError, KeyError) as error:
                print(error, file=sys.stderr)
        if ran.unexplained():
            print(ran.unexplained(), file=sys.stderr)
        if ran.exit_code:
            print(_ending(ran.exit_code), file=sys.stderr)

    def _show_messages(self, found, folder, output):
        if not found:
            print(output, file=sys.stderr)
            return
        display(displays.Messages(found, self.cells.texts(folder), self.cells.name))

    def _timeit(self, files, ask):
        """As nvcc4jupyter: only the times are shown. They are of the simulation; the GPU's are estimated."""
        first = api.launch("run", files, **ask)
        self.shell.user_ns["_cuda_again"] = lambda: api.launch("run", files, options=["--no-counters"], **ask)
        print(self.shell.run_cell_magic("timeit", "-q -o -r 3 -n 1", "_cuda_again()"))
        del self.shell.user_ns["_cuda_again"]
        print("(the simulation on this CPU, with the start of the program)")
        for kernel in first.kernels:
            if kernel.has("time"):
                print(f"{kernel.short_name}: {figures.duration(kernel.time / max(1, kernel.launches))} a launch on a {first.gpu} (estimated)")


def _line_of_cell(ran, line):
    """The accesses of a line, whichever kernel has it."""
    for kernel in ran.kernels:
        if any(s["line"] == line and s.get("patterns") for s in kernel.json.get("sites", [])):
            return accesses.Accesses(ran, kernel, line)
    lines = sorted({s["line"] for k in ran.kernels for s in k.json.get("sites", []) if s.get("patterns") and s["line"]})
    raise WarpgrindError(f"line {line} of this cell has no access to memory; these lines have: {', '.join(map(str, lines))}")


def _ending(code):
    """A program that a signal ended has the code 128 + signal."""
    try:
        return f"ended by {signal.Signals(-code if code < 0 else code - 128).name}"
    except ValueError:
        return f"exit code {code}"


def _out(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def _err(line):
    # As nvcc4jupyter: one stream, in the order of printing.
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _stub():
    """`nvcc4jupyter`, where it is not installed: it says what is there instead to notebooks that load or import it."""
    module = types.ModuleType(STUB, "Stands in for nvcc4jupyter, which is not installed: warpgrind has its magics.")
    module.load_ipython_extension = lambda shell: print("nvcc4jupyter is not installed: %load_ext warpgrind has brought its magics, "
                                                        "which run on a virtual GPU.")
    module.set_defaults, module.Profiler = defaults.set_defaults, defaults.Profiler
    module.__warpgrind__ = True
    return module


def load(shell):
    shell.register_magics(CudaMagics(shell))
    if STUB not in sys.modules and importlib.util.find_spec(STUB) is None:
        sys.modules[STUB] = _stub()


def unload(shell):
    for kind, names in (("cell", ("cuda", "cuda_group_save")), ("line", ("cuda_group_run", "cuda_group_delete"))):
        for name in names:
            shell.magics_manager.magics[kind].pop(name, None)
    if getattr(sys.modules.get(STUB), "__warpgrind__", False):
        del sys.modules[STUB]
