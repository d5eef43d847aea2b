#!/usr/bin/env python3
"""Signals end a run as they would end the program alone, and nothing stays behind: no process, no temporary folder.

  signals.py --list
  signals.py --build DIR NAME     exit code 0 passed, 1 failed

Nothing here waits for a length of time: a step waits for what it is about, and ctest's limit is the only one.
"""
import argparse
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import whole_run  # noqa: E402


class Run:
    """`warpgrind run processes wait` whose kernel runs (or another program that says "running")."""

    def __init__(self, build, folder, terminal=False, command="run", mode="wait"):
        self.folder = folder
        self.temporary = folder / "tmp"
        self.temporary.mkdir(exist_ok=True)
        self.profile = folder / "profile.json"
        environment = whole_run.environment(TMPDIR=str(self.temporary), XDG_CACHE_HOME=str(build / "test-cache"))
        program = build / "tests/run/processes"
        command = [str(build / "bin/warpgrind"), command, "--json", str(self.profile), str(program), mode]
        self.stderr = open(folder / "stderr", "w+")
        self.terminal = None
        if terminal:
            self.terminal, inside = pty.openpty()

            def own_terminal():
                os.setsid()
                import fcntl
                import termios
                fcntl.ioctl(inside, termios.TIOCSCTTY, 0)

            self.process = subprocess.Popen(command, stdin=inside, stdout=subprocess.PIPE, stderr=self.stderr, text=True,
                                            env=environment, preexec_fn=own_terminal)
            os.close(inside)
        else:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.stderr,
                                            text=True, env=environment, start_new_session=True)
        line = self.process.stdout.readline()
        assert line == "running\n", f"the program said {line!r}: {self.said()}"
        self.children = children_of(self.process.pid)

    def said(self):
        self.stderr.seek(0)
        return self.stderr.read()

    def check(self, code):
        got = self.process.wait()
        for child in self.children:
            while alive(child):
                time.sleep(0.01)
        problems = [] if got == code else [f"ended with {got}, expected {code}"]
        left = sorted(p.name for p in self.temporary.iterdir())
        if left:
            problems.append(f"left behind: {left}")
        if report := whole_run.sanitizer_report(self.said()):
            problems.append(report)
        return problems


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(word) for word in f.read().split()]


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def stopped_kernel(run, number=signal.SIGINT):
    """One signal: the kernel says where it was, and the profile is written."""
    problems = run.check(-number)
    if "interrupted" not in run.said():
        problems.append("no word of the interrupted kernel")
    if not run.profile.exists():
        problems.append("no profile")
    return problems


def int_to_warpgrind_alone(build, folder):
    run = Run(build, folder)
    run.process.send_signal(signal.SIGINT)
    return stopped_kernel(run)


def int_to_the_group(build, folder):
    run = Run(build, folder)
    os.killpg(run.process.pid, signal.SIGINT)
    return stopped_kernel(run)


def ctrl_c_in_a_terminal(build, folder):
    run = Run(build, folder, terminal=True)
    os.write(run.terminal, b"\x03")
    return stopped_kernel(run)


def term(build, folder):
    run = Run(build, folder)
    run.process.send_signal(signal.SIGTERM)
    return stopped_kernel(run, signal.SIGTERM)


def term_to_the_group(build, folder):
    """As `timeout` does."""
    run = Run(build, folder)
    os.killpg(run.process.pid, signal.SIGTERM)
    return stopped_kernel(run, signal.SIGTERM)


def ended_between_kernels(build, folder, number, to_program=False):
    run = Run(build, folder, mode="host")
    os.kill(run.children[0] if to_program else run.process.pid, number)
    problems = run.check(-number)
    kernels = json.loads(run.profile.read_text())["kernels"] if run.profile.exists() else []
    return problems + ([] if kernels else ["no kernel in the profile"])


def term_between_kernels(build, folder):
    return ended_between_kernels(build, folder, signal.SIGTERM)


def int_between_kernels(build, folder):
    return ended_between_kernels(build, folder, signal.SIGINT)


def unread_output(build, folder):
    """A closed pipe, as of `| head`: the program's next write causes SIGPIPE."""
    return ended_between_kernels(build, folder, signal.SIGPIPE, to_program=True)


def term_of_a_check(build, folder):
    """SIGTERM, as of `timeout`: the findings are reported, here the place of the kernel."""
    run = Run(build, folder, command="check")
    run.process.send_signal(signal.SIGTERM)
    problems = run.check(-signal.SIGTERM)
    return problems + ([] if "ERROR: interrupted" in run.said() else ["no word of the interrupted kernel"])


def check_ended_between_kernels(build, folder, number, to_program=False):
    run = Run(build, folder, command="check", mode="host")
    os.kill(run.children[0] if to_program else run.process.pid, number)
    problems = run.check(-number)
    if "ERROR: race-global" not in run.said():
        problems.append("no finding is reported")
    if "leak-" in run.said():
        problems.append("reported a leak of a program that could no longer free memory")
    return problems


def term_of_a_check_between_kernels(build, folder):
    return check_ended_between_kernels(build, folder, signal.SIGTERM)


def int_of_a_check_between_kernels(build, folder):
    return check_ended_between_kernels(build, folder, signal.SIGINT)


def check_with_unread_output(build, folder):
    """A closed pipe, as of `| head`: the program's next write causes SIGPIPE."""
    return check_ended_between_kernels(build, folder, signal.SIGPIPE, to_program=True)


def hangup(build, folder):
    run = Run(build, folder)
    run.process.send_signal(signal.SIGHUP)
    return run.check(-signal.SIGHUP)


def kill_takes_the_program_along(build, folder):
    run = Run(build, folder)
    run.process.kill()
    problems = [p for p in run.check(-signal.SIGKILL) if "left behind" not in p]
    # That run could not clean up; the next one does.
    next_run = Run(build, folder)
    next_run.process.send_signal(signal.SIGTERM)
    return problems + next_run.check(-signal.SIGTERM)


def folder_of_a_living_run_stays(build, folder):
    run = Run(build, folder)
    second = Run(build, folder)
    second.process.send_signal(signal.SIGTERM)
    second.process.wait()
    problems = [] if any(run.temporary.iterdir()) else ["the other run's folder was removed"]
    run.process.send_signal(signal.SIGTERM)
    return problems + run.check(-signal.SIGTERM)


def signal_after_the_end(build, folder):
    """A signal to `warpgrind` is not passed on once the program's id may be another process's."""
    environment = whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache"))
    library = str(build / "tests/run/libsignal_after_end.so")
    environment["LD_PRELOAD"] = " ".join(filter(None, [environment.get("LD_PRELOAD"), library]))
    with open(folder / "stderr", "w+") as stderr:
        subprocess.run([str(build / "bin/warpgrind"), "run", "true"], stderr=stderr, env=environment)
        stderr.seek(0)
        said = stderr.read()
    problems = [] if "signal_after_end: waited" in said else ["nothing was waited for"]
    return problems + (["a signal to an id that is free"] if "id that is free" in said else [])


CASES = [int_to_warpgrind_alone, int_to_the_group, ctrl_c_in_a_terminal, term, term_to_the_group,
         term_between_kernels, int_between_kernels, unread_output, term_of_a_check,
         term_of_a_check_between_kernels, int_of_a_check_between_kernels, check_with_unread_output, hangup,
         kill_takes_the_program_along, folder_of_a_living_run_stays, signal_after_the_end]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("name", nargs="?")
    args = parser.parse_args()
    if args.list:
        print("\n".join(c.__name__ for c in CASES))
        return 0
    case = next(c for c in CASES if c.__name__ == args.name)
    with tempfile.TemporaryDirectory(prefix="signals-") as folder:
        problems = case(args.build.resolve(), pathlib.Path(folder))
        for problem in problems:
            print("FAILED:", problem)
        if problems:
            print((pathlib.Path(folder) / "stderr").read_text())
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
