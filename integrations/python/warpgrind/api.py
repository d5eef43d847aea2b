"""The functions `run`, `check`, `explain` and `diff`."""
import glob
import json
import os
import pathlib
import re
import shlex
import tempfile

from warpgrind import accesses, changes, messages, program, results, sources
from warpgrind.errors import CompileError, ProgramNotFound, Refused, TimedOut

_OWN = re.compile(r"^warpgrind( check)?: ")
_DOES_NOT_COMPILE = re.compile(r"does not compile \(see the compiler's messages above\)|was not compiled: see the message above")


def words_of(options):
    """Options as a text or as a list."""
    return shlex.split(options) if isinstance(options, str) else [str(option) for option in options or ()]


class _Errors:
    """Splits the error output: what the compiler said, what warpgrind says, and the program's own lines, which are passed on at once."""

    def __init__(self, on_err):
        self.compiler, self.own, self.program = messages.Parser(), [], []
        self._on_err, self._in_own = on_err, False

    def take(self, line):
        if _OWN.match(line) or (self._in_own and line.startswith("  ")):
            self._in_own = True
            self.own.append(line)
            return
        self._in_own = False
        if not self.compiler.take(line):
            self.program.append(line)
            if self._on_err is not None:
                self._on_err(line)


def files_of(target, name="source.cu"):
    """The path or paths that `target` names; a source text becomes a file."""
    if isinstance(target, (list, tuple)):
        return [file for one in target for file in files_of(one)]
    if sources.is_text(target):
        return [str(sources.file_with(target, name))]
    path = os.fspath(target)
    if not os.path.exists(path):
        raise ProgramNotFound(f"there is no program or source {path}")
    return [path if os.path.dirname(path) else os.path.join(".", path)]


def _command(verb, files, args, gpu, flags, options, profile, compiler):
    """options, flags: lists"""
    is_source = files[0].endswith(".cu")
    out = [program.find(), verb, "--json", profile, *options]
    if verb == "run":
        out.append("--quiet")
    elif not any(o.startswith("--print-level") for o in options):
        out += ["--print-level", "fatal"]
    out += ["--gpu", gpu] if gpu else []
    if is_source:
        out += ["--compiler", compiler] if compiler else []
        out += ["--nvcc-flags", shlex.join(flags)] if flags else []
    return [*out, *files, *(["--"] if is_source else []), *map(str, args)]


def _profiles(path):
    """The first process's profile, then those of the others: out.process2.json, ..."""
    stem = path[:-len(".json")]
    others = sorted(glob.glob(glob.escape(stem) + ".*.json"), key=lambda p: [int(n) for n in re.findall(r"\d+", os.path.basename(p))])
    return [json.loads(pathlib.Path(p).read_text(encoding="utf-8")) for p in [path, *others] if os.path.exists(p)]


def launch(verb, files, args=(), gpu=None, flags=(), options=(), stdin="", timeout=None, compiler=None, cwd=None, on_out=None, on_err=None,
           needs_kernels=True):
    """Runs warpgrind on these files. on_out(text) and on_err(line) get the program's output while it runs. Returns a Run or a Check.
    needs_kernels: a program without CUDA is refused. Raises CompileError, Refused, TimedOut; KeyboardInterrupt ends all processes."""
    errors = _Errors(on_err)
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "profile.json")
        ended = program.run(_command(verb, files, args, gpu, list(flags), list(options), profile, compiler), on_out=on_out, on_err=errors.take,
                            stdin=stdin, timeout=timeout, cwd=cwd)
        found = _profiles(profile)
    own = "\n".join(errors.own)
    said = "\n".join([*errors.compiler.lines, *errors.program])
    if _DOES_NOT_COMPILE.search(own):
        what = [f"{m.file}:{m.line}: {m.severity}: {m.text}" for m in errors.compiler.messages if m.is_error] or [said]
        raise CompileError(f"{os.path.basename(files[0])} does not compile:\n" + "\n".join(what), errors.compiler.messages, said)
    if ended.timed_out:
        raise TimedOut(f"stopped after {timeout} s; its output so far: {ended.out[-500:]}")
    code = ended.code
    if not found and code == 2 and errors.own:
        if needs_kernels or "no CUDA code found" not in own:
            raise Refused(re.sub(_OWN, "", own))
        code, errors.own = 0, []  # a host program, which ended well
    kind = results.Check if verb == "check" else results.Run
    return kind(found, output=ended.out, errors="\n".join(errors.program), exit_code=code, warnings=errors.compiler.messages,
                messages="\n".join(line for line in errors.own if not line.startswith("warpgrind check: ")))


def run(target, args=(), gpu=None, flags=(), detail=True, blocks=None, stdin="", timeout=None, compiler=None, options=()):
    """Runs a program on the virtual GPU and counts.

    target: a program, a .cu file, a source text, or a list of files that are one program. args: its arguments. gpu: a name that
    `warpgrind gpus` lists (h200). flags: of the compiler. detail: also counts lines and records how accesses looked, which is slower.
    blocks: runs about so many blocks of each launch and scales the counts; the program's results are then not valid. timeout: seconds.
    options: more of `warpgrind run`. Returns a results.Run."""
    more = words_of(options) + (["--detail"] if detail else []) + (["--blocks", str(blocks)] if blocks else [])
    return launch("run", files_of(target), args, gpu, words_of(flags), more, stdin, timeout, compiler)


def check(target, args=(), gpu=None, flags=(), only=None, stdin="", timeout=None, compiler=None, options=()):
    """Looks for bugs: accesses outside memory, races, uninitialised values, failed calls (docs/checks.md). only: groups of checks, such
    as "memory,races". Returns a results.Check; its `bad` is True if there is an error or a warning."""
    more = words_of(options) + (["--only", only] if only else []) + ["--error-exitcode", "0"]
    return launch("check", files_of(target), args, gpu, words_of(flags), more, stdin, timeout, compiler)


def explain(target, kernel=None, line=None, args=(), gpu=None, flags=(), file=None, timeout=None, compiler=None):
    """Draws how the 32 lanes of a warp access memory in one source line. target: as for `run`, or what `run` returned. Without `kernel` the
    slowest one, without `line` the one that costs most. line: a number, or a part of the line's text. Returns accesses.Accesses."""
    ran = target if isinstance(target, results.Run) else run(target, args, gpu, flags, timeout=timeout, compiler=compiler)
    found = accesses.find_kernel(ran, kernel)
    if not ran.data.get("detail"):
        raise Refused("this run has no details: run(..., detail=True)")
    if isinstance(line, str):
        line = accesses.line_with(ran, found, line)
    return accesses.Accesses(ran, found, line if line is not None else accesses.worst_line(found), file)


def diff(before, after, pairs=(), **options):
    """Compares two runs, programs or sources. pairs: [("naive", "tiled")] for kernels of different names, which may be of one run:
    diff(run, run, pairs=...). options: as for `run`. Returns changes.Diff."""
    before, after = (one if isinstance(one, results.Run) else run(one, **options) for one in (before, after))
    return changes.Diff(before, after, [pairs] if pairs and isinstance(pairs[0], str) else pairs)
