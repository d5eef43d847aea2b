"""The program `warpgrind`: where it is, and how one of its commands runs as a child that leaves nothing behind."""
import codecs
import contextlib
import ctypes
import os
import pathlib
import pty
import selectors
import shutil
import signal
import subprocess
import tempfile
import termios
import time

from warpgrind.errors import ProgramNotFound

# In the wheel: the whole installation (scripts/wheel.py).
INSIDE = pathlib.Path(__file__).with_name("installation") / "bin" / "warpgrind"
PATIENCE = 2.0  # seconds that a stopped child has to end by itself
_PR_SET_PDEATHSIG = 1
_C_LIBRARY = ctypes.CDLL(None)  # loaded here, because a forked child of a program with threads must not load anything


def find():
    """Path of the program: the variable WARPGRIND, that of the wheel, or PATH."""
    named = os.environ.get("WARPGRIND")
    if named:
        found = shutil.which(named)
        if found is None:
            raise ProgramNotFound(f"the variable WARPGRIND names {named}, which is no program")
        return found
    if os.access(INSIDE, os.X_OK):
        return str(INSIDE)
    found = shutil.which("warpgrind")
    if found is None:
        raise ProgramNotFound("warpgrind is not in PATH: install the wheel of `make wheel`, put the program into PATH, or name it by "
                              "the variable WARPGRIND")
    return found


def _die_with_parent():
    """In the child: if Python is killed, so is warpgrind, which then ends the CUDA program."""
    _C_LIBRARY.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _raw_terminal():
    """A terminal for the child's output, so that it comes line by line; None where there are none."""
    try:
        ours, child = pty.openpty()
    except OSError:
        return None
    attributes = termios.tcgetattr(child)
    attributes[1] &= ~termios.OPOST  # or "\n" becomes "\r\n"
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(child, termios.TCSANOW, attributes)
    return ours, child


class Ended:
    """What a command left: exit code, output, error output."""

    def __init__(self, code, out, err, timed_out=False):
        self.code, self.out, self.err, self.timed_out = code, out, err, timed_out


def _stop(child):
    """Ends the child and all that it started: politely, then not."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            child.poll()
            if not _group_lives(child.pid):
                return
            time.sleep(0.02)


def _group_lives(group):
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def run(words, on_out=None, on_err=None, stdin="", timeout=None, cwd=None):
    """Runs a command. on_out(text) and on_err(line) get its output while it runs; both are also in the result.
    An interrupt (KeyboardInterrupt) ends the command with its children, and is raised again."""
    terminal = _raw_terminal() if on_out is not None else None
    ours, theirs = terminal if terminal else os.pipe()
    child = None
    try:
        # A child that does not read its input ends nevertheless: the text waits in a file.
        with _input(stdin) as source:
            child = subprocess.Popen(words, stdin=source, stdout=theirs, stderr=subprocess.PIPE, cwd=cwd, start_new_session=True,
                                     preexec_fn=_die_with_parent)
        os.close(theirs)
        theirs = None
        out, err, late = _read_all(child, ours, on_out, on_err, None if timeout is None else time.monotonic() + timeout)
        if late:
            _stop(child)
        return Ended(child.wait(), out, err, late)
    finally:
        if child is not None:
            if child.poll() is None or _group_lives(child.pid):
                _stop(child)
            child.stderr.close()
        os.close(ours)
        if theirs is not None:
            os.close(theirs)


@contextlib.contextmanager
def _input(text):
    if not text:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0)
        yield file


def _read_all(child, ours, on_out, on_err, deadline):
    """Reads both streams to their ends. Returns the texts, and whether the time was over."""
    out, err, rest = [], [], b""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with selectors.DefaultSelector() as selector:
        selector.register(ours, selectors.EVENT_READ, "out")
        selector.register(child.stderr, selectors.EVENT_READ, "err")
        while selector.get_map():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return "".join(out), "".join(err), True
            for key, _ in selector.select(left):
                try:
                    piece = os.read(key.fd, 1 << 16)
                except OSError:  # the other end of a terminal is closed
                    piece = b""
                if not piece:
                    selector.unregister(key.fileobj)
                elif key.data == "out":
                    text = decoder.decode(piece)
                    out.append(text)
                    if on_out is not None:
                        on_out(text)
                else:
                    *lines, rest = (rest + piece).split(b"\n")
                    for line in lines:
                        _add_line(err, line.decode("utf-8", "replace"), on_err)
    if rest:
        _add_line(err, rest.decode("utf-8", "replace"), on_err)
    return "".join(out), "".join(err), False


def _add_line(err, line, on_err):
    err.append(line + "\n")
    if on_err is not None:
        on_err(line)
