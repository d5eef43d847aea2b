#!/usr/bin/env python3
"""What docs/editors.md says of editors: the extension for VS Code, the options of a launch, Neovim's configuration.

  editors_test.py --list
  editors_test.py --build DIR CASE     exit code 0 passed, 1 failed, 77 skipped
  editors_test.py --build DIR --write  writes the table of options into the document
"""
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import clients_test as clients  # noqa: E402
import debugger_test as debugger  # noqa: E402

PAGE = HERE.parents[1] / "docs/editors.md"


def extension(build):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "warpgrind.vsix"
        said = subprocess.run([str(build / "bin/warpgrind"), "dap", "--vscode", str(file)], check=True, capture_output=True, text=True,
                              env=clients.environment(build))
        assert f"code --install-extension {file}" in said.stderr and said.stdout == "", said
        return zipfile.ZipFile(io.BytesIO(file.read_bytes()))


def package(build):
    return json.loads(extension(build).read("extension/package.json"))


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.S)


def vscode_extension(build):
    """A whole archive, which starts this warpgrind; `F5` without a launch.json starts the open file."""
    archive = extension(build)
    assert archive.testzip() is None and set(archive.namelist()) == {"[Content_Types].xml", "extension.vsixmanifest", "extension/package.json"}
    told = json.loads(archive.read("extension/package.json"))
    assert f'Version="{told["version"]}"' in archive.read("extension.vsixmanifest").decode()
    adapter, = told["contributes"]["debuggers"]
    assert os.path.samefile(adapter["program"], build / "bin/warpgrind") and os.path.isabs(adapter["program"]), adapter["program"]
    assert "cuda-cpp" in [one["language"] for one in told["contributes"]["breakpoints"]]
    # VS Code would start this command, and send it a launch with the words of the extension.
    client = debugger.Client.__new__(debugger.Client)
    client.__dict__.update(sequence=0, kept=[], messages=debugger.queue.Queue())
    client.process = subprocess.Popen([adapter["program"], *adapter["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clients.environment(build))
    debugger.threading.Thread(target=client.read, daemon=True).start()
    client.call("initialize", adapterID="warpgrind")
    words = {**adapter["initialConfigurations"][0], "program": debugger.SOURCE, "cwd": str(HERE)}
    number = client.send("launch", **words)
    client.event("initialized")
    client.breaks(debugger.TILE)
    client.begin()
    assert client.wait(lambda m: m.get("request_seq") == number)["success"]
    said = [m["body"]["output"] for m in client.kept if m.get("event") == "output"]
    assert not any("no option" in line for line in said), said
    client.call("disconnect")
    client.process.wait(60)


def table(build):
    properties = package(build)["contributes"]["debuggers"][0]["configurationAttributes"]["launch"]["properties"]
    order = re.findall(r'\{"(\w+)", "\w+", "', (HERE.parents[1] / "src/app/debug/vscode_extension.cpp").read_text())
    assert sorted(order) == sorted(properties), "kAttributes is read by its form"
    return "".join(f"| `{name}` | {properties[name]['description']} |\n" for name in order)


def options(build):
    """Extension and document have all options of a launch, and no others."""
    properties = package(build)["contributes"]["debuggers"][0]["configurationAttributes"]["launch"]["properties"]
    own = re.search(r"kOwnOptions\[\] = \{(.*?)\}", (HERE.parents[1] / "src/app/debug/launch_options.h").read_text(), re.S)[1]
    wanted = {*re.findall(r'"(\w+)"', own), "program", "args", "cwd", "env", "stopOnEntry", "host"}
    assert set(properties) == wanted, set(properties) ^ wanted
    shown = re.search(r"<!-- options -->\n(.*?)<!-- end -->", PAGE.read_text(), re.S)[1]
    assert shown == table(build), f"run {__file__} --build DIR --write"
    for text in blocks("json"):
        for configuration in json.loads(text)["configurations"]:
            assert set(configuration) <= wanted | {"type", "request", "name"}, configuration


def neovim_configuration(build):
    """The document's Lua is a configuration of nvim-dap."""
    text, = blocks("lua")
    with tempfile.TemporaryDirectory() as home:
        script = pathlib.Path(home) / "check.lua"
        script.write_text("if vim.env.NVIM_DAP then vim.opt.runtimepath:append(vim.env.NVIM_DAP) end\n"
                          "if not pcall(require, 'dap') then vim.cmd('cquit 77') end\n" + text +
                          "local one = dap.configurations.cuda[1]\n"
                          "if dap.adapters[one.type].command ~= 'warpgrind' or one.program ~= '${file}' then vim.cmd('cquit 1') end\n"
                          "vim.cmd('quitall!')\n")
        if not clients.shutil.which("nvim"):
            clients.skip("nvim is not installed")
        own = {"XDG_STATE_HOME": home, "XDG_DATA_HOME": home} if "NVIM_DAP" in os.environ else {}
        done = subprocess.run(["nvim", "--headless", "-n", "-i", "NONE", *(["-u", "NONE"] if own else []), "-c", f"luafile {script}"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env=clients.environment(build, **own), check=False)
        if done.returncode == 77:
            clients.skip("nvim-dap is not installed")
        assert done.returncode == 0, done.stderr


CASES = [vscode_extension, options, neovim_configuration]

if __name__ == "__main__":
    if sys.argv[1:2] == ["--build"] and sys.argv[3:] == ["--write"]:
        text = re.sub(r"(<!-- options -->\n).*?(<!-- end -->)", lambda m: m[1] + table(pathlib.Path(sys.argv[2]).resolve()) + m[2], PAGE.read_text(), flags=re.S)
        PAGE.write_text(text)
    else:
        debugger.run_cases(CASES, __doc__)
