#!/usr/bin/env python3
"""Clients that others wrote, with `warpgrind dap`: start, break, variables, evaluate, step, back, continue.

  clients_test.py --list
  clients_test.py --build DIR CASE     exit code 0 passed, 1 failed, 77 skipped: the client is not installed

vscode: `npm install @vscode/debugadapter-testsupport`, and NODE_PATH names the folder node_modules.
neovim: nvim, and nvim-dap among its plugins or in the folder that NVIM_DAP names. Neovim 0.7 (Debian 12) takes its releases up to 0.7.0.
emacs: Debian's emacs-nox and elpa-dap-mode.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import debugger_test as debugger  # noqa: E402
import processes_test as processes  # noqa: E402


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def succeeds(command, **more):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False, **more).returncode == 0


def environment(build, **more):
    return debugger.whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache"), **more)


def vscode(build):
    if not shutil.which("node"):
        skip("node is not installed")
    if not succeeds(["node", "-e", "require('@vscode/debugadapter-testsupport')"]):
        skip("@vscode/debugadapter-testsupport is not installed")
    server = subprocess.Popen([str(build / "bin/warpgrind"), "dap", "--port", "0"], stderr=subprocess.PIPE, text=True, env=environment(build))
    try:
        port = re.search(r":(\d+)", server.stderr.readline())[1]
        subprocess.run(["node", str(HERE / "vscode_client.js"), port, debugger.SOURCE, str(debugger.TILE)], check=True, timeout=200)
    finally:
        server.kill()
        server.wait()


def run_in_neovim(build, script, program, line):
    if not shutil.which("nvim"):
        skip("nvim is not installed")
    with tempfile.TemporaryDirectory() as home:
        own = {"XDG_STATE_HOME": home, "XDG_DATA_HOME": home} if "NVIM_DAP" in os.environ else {}
        inside = environment(build, WARPGRIND=str(build / "bin/warpgrind"), PROGRAM=program, LINE=str(line), **own)
        command = ["nvim", "--headless", "-n", "-i", "NONE", *(["-u", "NONE"] if own else [])]
        has = "lua if vim.env.NVIM_DAP then vim.opt.runtimepath:append(vim.env.NVIM_DAP) end if not pcall(require, 'dap') then vim.cmd('cquit 1') end"
        if not succeeds([*command, "-c", has, "-c", "quitall!"], env=inside, timeout=60):
            skip("nvim-dap is not installed")
        subprocess.run([*command, "-c", f"luafile {HERE / script}"], stdin=subprocess.DEVNULL, env=inside, check=True, timeout=280)


def neovim(build):
    run_in_neovim(build, "neovim_client.lua", debugger.SOURCE, debugger.TILE)


def neovim_processes(build):
    """A session for each process."""
    run_in_neovim(build, "neovim_processes.lua", processes.SOURCE, processes.LINE)


def emacs(build):
    if not shutil.which("emacs"):
        skip("emacs is not installed")
    with tempfile.TemporaryDirectory() as home:
        inside = environment(build, WARPGRIND=str(build / "bin/warpgrind"), PROGRAM=debugger.SOURCE, LINE=str(debugger.TILE), HOME=home)
        command = ["emacs", "--batch"]
        if not succeeds([*command, "--eval", "(progn (package-initialize) (require 'dap-mode))"], env=inside, timeout=120):
            skip("dap-mode is not installed")
        subprocess.run([*command, "-l", str(HERE / "emacs_client.el")], stdin=subprocess.DEVNULL, env=inside, check=True, timeout=280)


CASES = [vscode, neovim, neovim_processes, emacs]


if __name__ == "__main__":
    debugger.run_cases(CASES, __doc__)
