"""An interrupt of the kernel's user (SIGINT) ends a cell's program, with all that it started. So does the end of Python."""
import os
import pathlib
import signal
import subprocess
import sys
import time

from samples import WAITS
from warpgrind import api, sources

CHILD = "import sys; sys.path.insert(0, sys.argv[1])\nfrom samples import WAITS\nfrom warpgrind import api\n" \
        "api.launch('run', api.files_of(WAITS), on_out=lambda text: print(text, flush=True))\n"


def running(name):
    """Processes whose command line has this text; not this one."""
    out = []
    for process in pathlib.Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                if name in (process / "cmdline").read_text(errors="replace") and (process / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                    out.append(process.name)
            except OSError:
                pass  # it has ended
    return out


def wait_until_nothing_runs(name):
    deadline = time.monotonic() + 60
    while running(name):
        assert time.monotonic() < deadline, f"still there: {running(name)}"
        time.sleep(0.05)


def interrupted(text):
    if "waits" in text:
        os.kill(os.getpid(), signal.SIGINT)


path = sources.file_with(WAITS)
folder = os.path.dirname(path)  # of this text alone
try:
    api.launch("run", [path], on_out=interrupted)
    raise SystemExit("not interrupted")
except KeyboardInterrupt:
    pass
wait_until_nothing_runs(folder)

# Python is killed, as a kernel's restart may do.
here = os.path.dirname(os.path.abspath(__file__))
child = subprocess.Popen([sys.executable, "-c", CHILD, here], stdout=subprocess.PIPE, text=True)
assert "waits" in child.stdout.readline()
assert running(folder), "the program should run now"
child.kill()
child.wait()
wait_until_nothing_runs(folder)
