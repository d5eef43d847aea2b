#!/usr/bin/env python3
"""Lines typed at a terminal: editing, the history, the Tab key, Ctrl-C and Ctrl-D.

  editing_test.py --list
  editing_test.py --build DIR CASE     exit code 0 passed, 1 failed, 77 skipped: built without libedit
"""
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import debugger_test as debugger  # noqa: E402
from clients_test import skip  # noqa: E402

LEFT, UP, TAB, CONTROL_A, CONTROL_C, CONTROL_D = "\x1b[D", "\x1b[A", "\t", "\x01", "\x03", "\x04"


class Screen:
    def __init__(self, build, home, seconds=100, words=None):
        if "libedit" not in subprocess.run(["ldd", str(build / "bin/warpgrind")], stdout=subprocess.PIPE, text=True, check=False).stdout:
            skip("warpgrind was built without libedit")
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            environment = debugger.whole_run.environment(TERM="xterm", HOME=home, XDG_STATE_HOME=home, LC_ALL="C.UTF-8",
                                                         XDG_CACHE_HOME=str(build / "test-cache"))
            os.execve(str(build / "bin/warpgrind"), ["warpgrind", "debug", *(words or ["/bin/sleep", str(seconds)])], environment)
        self.text = ""
        self.wait("(warpgrind) ")

    def wait(self, wanted, seconds=30):
        """The text since the last call, without the terminal's control sequences, up to `wanted`."""
        end = time.monotonic() + seconds
        while wanted not in self.text:
            assert time.monotonic() < end, f"{wanted!r} does not come: {self.text!r}"
            if select.select([self.terminal], [], [], 0.2)[0]:
                try:
                    got = os.read(self.terminal, 4096).decode(errors="replace")
                except OSError:  # the other side is closed
                    got = ""
                assert got, f"ended before {wanted!r}: {self.text!r}"
                self.text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x07", "", self.text + got)
        at = self.text.index(wanted) + len(wanted)
        out, self.text = self.text[:at], self.text[at:]
        return out

    def type(self, text):
        os.write(self.terminal, text.encode())

    def end(self, seconds=30):
        end = time.monotonic() + seconds
        while (found := os.waitpid(self.process, os.WNOHANG)) == (0, 0):
            if time.monotonic() > end:
                os.kill(self.process, signal.SIGKILL)
                os.waitpid(self.process, 0)
                raise AssertionError(f"does not end: {self.text!r}")
            if select.select([self.terminal], [], [], 0.05)[0]:
                try:
                    self.text += os.read(self.terminal, 4096).decode(errors="replace")
                except OSError:  # the other side is closed
                    time.sleep(0.05)
        assert os.waitstatus_to_exitcode(found[1]) == 0
        os.close(self.terminal)


def edits(build):
    with tempfile.TemporaryDirectory() as home:
        screen = Screen(build, home)
        screen.type("cho one\\n" + CONTROL_A + "e\n")
        screen.wait("\r\none\r\n")
        screen.type("echo tw\\n" + LEFT * 2 + "o\n")
        screen.wait("\r\ntwo\r\n")
        screen.type("echo größe\\n\n")
        screen.wait("\r\ngröße\r\n")
        screen.type(UP * 3 + "\n")
        screen.wait("\r\none\r\n")
        screen.type(CONTROL_D)
        screen.end()
        # The history outlives the session.
        screen = Screen(build, home)
        screen.type(UP + "\n")
        screen.wait("\r\none\r\n")
        screen.type("quit\n")
        screen.end()


def completes(build):
    with tempfile.TemporaryDirectory() as home:
        screen = Screen(build, home)
        screen.type("ech" + TAB + "three\\n\n")
        screen.wait("\r\nthree\r\n")
        screen.type("help undis" + TAB + "\n")
        screen.wait("undisplay [N...]")
        screen.type("info l" + TAB)
        screen.wait("lanes  launches  line  locals")
        screen.type("au" + TAB + "\n")  # launches
        screen.wait("The program is not being run.\r\n")
        screen.type("info" + CONTROL_C)
        screen.wait("Quit\r\n")
        screen.wait("(warpgrind) ")
        screen.type("nosuch" + TAB + "\n")
        screen.wait('Undefined command: "nosuch"')
        screen.type("quit\n")
        screen.end()


def completes_expressions(build):
    """Variables and members at the place where the program stands."""
    with tempfile.TemporaryDirectory() as home:
        screen = Screen(build, home, words=[debugger.SOURCE])
        screen.type("print p" + TAB + "\n")  # nothing runs: there are no names
        screen.wait("The program is not being run.")
        screen.type(f"break {debugger.TILE} if i == 70\n")
        screen.wait("Breakpoint 1")
        screen.type("run\n")
        screen.wait("thread (6,0,0)")
        screen.wait("(warpgrind) ")
        screen.type("print pai" + TAB + ".s" + TAB + "\n")
        screen.wait("$1 = -1\r\n")
        screen.type("print i + p.")
        screen.type(TAB)
        screen.wait("p.weight  p.x  p.y")
        screen.type("w" + TAB + "[2]\n")
        screen.wait("$2 = 73\r\n")
        screen.type("set var p.weight[t" + TAB + "hreadIdx.z] = p.wei" + TAB + "[2]\n")
        screen.wait("(warpgrind) ")
        screen.type("display/x blockI" + TAB + ".x\n")
        screen.wait("1: blockIdx.x = 0x1\r\n")
        screen.type("watch til" + TAB + "[6]\n")
        screen.wait("Watchpoint 2: tile[6]")
        screen.type("break 33 if thr" + TAB + "Idx.x == 3\n")
        screen.wait("Breakpoint 3")
        screen.type("print nosuc" + TAB + "\n")
        screen.wait("there is no variable 'nosuc' here")
        screen.type("quit\n")
        screen.end()


def interrupts(build):
    """Ctrl-C ends a line; in a program that runs no kernel it says what happens, and a second one ends the program."""
    with tempfile.TemporaryDirectory() as home:
        screen = Screen(build, home)
        screen.type("echo not this\\n" + CONTROL_C)
        screen.wait("Quit\r\n")
        screen.wait("(warpgrind) ")
        screen.type("run\n")
        time.sleep(1)
        screen.type(CONTROL_C)
        screen.wait("The program has not used CUDA yet: its first kernel will stop. Ctrl-C again ends the program.\r\n")
        screen.type(CONTROL_C)
        screen.wait("[The program was killed by signal 9 (Killed)]")
        screen.wait("(warpgrind) ")
        screen.type(CONTROL_D)
        screen.end()


def typed_ahead(build):
    """What is typed while the program runs is for the next prompt. So is a Ctrl-D, although no editor has the terminal then."""
    with tempfile.TemporaryDirectory() as home:
        screen = Screen(build, home, seconds=1)
        screen.type("run\n")
        time.sleep(0.3)
        screen.type("echo four\\n\n" + CONTROL_D)
        screen.wait("\r\nfour\r\n")
        screen.end()


CASES = [edits, completes, completes_expressions, interrupts, typed_ahead]


if __name__ == "__main__":
    debugger.run_cases(CASES, __doc__)
