"""Starts the test session again under `warpgrind run` or `warpgrind check`."""
import os
import shlex
import shutil
import sys

import pytest

from warpgrind import program as warpgrind_program
from warpgrind import sections
from warpgrind.errors import ProgramNotFound

STARTED = "WARPGRIND_PYTEST_STARTED"  # set for the session that runs on the virtual GPU


def program(options):
    """Path of warpgrind; a UsageError if there is none."""
    named = options.warpgrind_program
    if named:
        found, why = shutil.which(named), f"{named} is no program"
    else:
        try:
            return warpgrind_program.find()
        except ProgramNotFound as error:
            found, why = None, str(error)
    if found:
        return found
    raise pytest.UsageError(f"--warpgrind: the program warpgrind was not found: {why}; name it by --warpgrind-program FILE "
                            "or the variable WARPGRIND")


def _python_command(args):
    """The command line of this session. A script that calls pytest.main() cannot be started again from here."""
    words = list(getattr(sys, "orig_argv", []))
    count = len(args)
    if not words or words[len(words) - count:] != [str(a) for a in args]:
        raise pytest.UsageError("--warpgrind: this session was not started from the command line (pytest.main() was called); "
                                "start the whole program under `warpgrind run`")
    return [sys.executable, *words[1:]]


def _warpgrind_command(options):
    given = shlex.split(options.warpgrind_args or "")
    out = [program(options), "check" if options.warpgrind_check else "run"]

    def add(option, *values):
        if not any(word == option or word.startswith(option + "=") for word in given):
            out.extend([option, *values])

    if options.warpgrind_gpu:
        out.extend(["--gpu", options.warpgrind_gpu])
    if options.warpgrind_check:
        # Findings fail their tests, so the exit code is pytest's and the findings are not printed twice. Leaks are known
        # only at the end of the process, where Python frees little.
        add("--error-exitcode", "0")
        add("--print-level", "fatal")
        add("--leak-check", "no")
        add("--require-cuda-init", "no")
        if options.warpgrind_suppress:
            out.extend(["--suppress", os.path.abspath(options.warpgrind_suppress)])
    else:
        add("--quiet")
    return [*out, *given]


def start_again(config, options, args):
    """Does not return, unless this session runs under warpgrind already."""
    if sections.available():
        return
    if os.environ.get(STARTED):
        raise pytest.UsageError("--warpgrind: warpgrind started this session, but its library is not in the process: "
                                "is LD_PRELOAD changed by the Python interpreter's start script?")
    if options.warpgrind_suppress and not os.path.exists(options.warpgrind_suppress):
        raise pytest.UsageError(f"--warpgrind-suppress: there is no {options.warpgrind_suppress}")
    command = [*_warpgrind_command(options), *_python_command(args)]
    os.environ[STARTED] = "1"
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()  # gives the standard streams back
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(command[0], command)
    except OSError as error:
        raise pytest.UsageError(f"--warpgrind: cannot start {command[0]}: {error.strerror}") from None
