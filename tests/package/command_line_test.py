#!/usr/bin/env python3
"""Man pages and completion, made from the command line: nothing is missing from them, their readers have nothing to say of
them, and bash and zsh complete by them.

command_line_test.py BUILD man|bash|zsh; 77: what reads them is not installed."""
import glob
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


def all_commands(app, path=()):
    for command in app["commands"]:
        yield path + (command["name"],), command
        yield from all_commands(command, path + (command["name"],))


def man(share, app):
    """Every subcommand has a page, every option stands in it, and what shows pages has no warning."""
    readers = []
    if shutil.which("mandoc"):
        readers.append(["mandoc", "-Tlint", "-Wwarning"])
    if shutil.which("man") and shutil.which("groff"):
        readers.append(["man", "--warnings=w", "-l"])
    for path, command in [((), app), *all_commands(app)]:
        page = os.path.join(share, "man/man1", "-".join(("warpgrind",) + path) + ".1.gz")
        if not os.path.exists(page):
            expect(False, "no page " + page)
            continue
        with gzip.open(page, "rt", encoding="utf-8") as file:
            text = file.read().replace("\\-", "-")
        for option in command["options"]:
            for name in option["names"] or [option["positional"]]:
                expect("\\fB%s\\fR" % name in text or "\\fI%s\\fR" % name in text, "%s does not have %s" % (page, name))
        for sub in command["commands"]:
            expect(".TP\n\\fB%s\\fR" % sub["name"] in text, "%s does not name %s" % (page, sub["name"]))
        for reader in readers:
            done = subprocess.run([*reader, page], capture_output=True, text=True, env={**os.environ, "MANWIDTH": "80", "MAN_KEEP_STDERR": "1"})
            # mandoc prints messages on stdout, man on stderr (with the page on stdout).
            messages = done.stderr + (done.stdout if reader[0] == "mandoc" else "")
            expect(not messages, "%s: %s" % (reader[0], messages))
    extra = len(glob.glob(os.path.join(share, "man/man1/*"))) - 1 - len(list(all_commands(app)))
    expect(extra == 0, "%d pages of no subcommand" % extra)
    expect(readers, "neither man nor mandoc") if os.environ.get("CI") else None


def complete(script, words, folder):
    """Completions of bash for the last of the words."""
    quoted = " ".join("'%s'" % word for word in words)
    code = ("source '%s'; COMP_WORDS=(%s); COMP_CWORD=%d; _warpgrind; printf '%%s\\n' \"${COMPREPLY[@]}\""
            % (script, quoted, len(words) - 1))
    done = subprocess.run(["bash", "--norc", "-uc", code], capture_output=True, text=True, cwd=folder)
    expect(not done.stderr, "bash said of %s: %s" % (words, done.stderr))
    return set(done.stdout.split())


def bash(share, app):
    script = os.path.join(share, "bash-completion/completions/warpgrind")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("app.cu", "out.json"):
            open(os.path.join(folder, name), "w").close()
        everything = complete(script, ["warpgrind", ""], folder)
        names = {command["name"] for command in app["commands"]}
        expect(everything == names, "subcommands: %s, not %s" % (everything, names))
        for path, command in all_commands(app):
            offered = complete(script, ["warpgrind", *path, "-"], folder)
            options = {name for option in command["options"] for name in option["names"]}
            expect(offered == options, "options of %s: %s" % (path, offered ^ options))
        cases = [
            (["run", "--nv"], {"--nvcc-flags", "--nvrtc"}),
            (["run", "--nvrtc", ""], {"auto", "nvidia", "ours"}),
            (["run", "--nvrtc", "=", "n"], {"nvidia"}),
            (["run", "--nvrtc", "="], {"auto", "nvidia", "ours"}),
            (["run", "--gpu", "h"], {"h100", "h200"}),
            (["run", "--json", "o"], {"out.json"}),
            (["run", "--threads", ""], set()),
            (["run", "--quiet", "a"], {"app.cu"}),
            (["run", "--gpu", "k40c", "a"], {"app.cu"}),
            (["run", "app.cu", "--q"], set()),  # the program's own
            (["run", "app.cu", "o"], {"out.json"}),
            (["check", "--only", "races", "a"], {"app.cu"}),
            (["lab", "--on", ""], {"virtual", "gpu"}),
            (["di"], {"diff"}),
        ]
        for words, wanted in cases:
            offered = complete(script, ["warpgrind", *words], folder)
            expect(offered == wanted, "%s gives %s, not %s" % (words, offered, wanted))


def zsh(share, app):
    """A zsh in a terminal of its own, with the keys a user would press."""
    with tempfile.TemporaryDirectory() as folder:
        open(os.path.join(folder, "app.cu"), "w").close()
        code = """
zmodload zsh/zpty
zpty terminal "ZDOTDIR=%s TERM=dumb zsh -f -i"
zpty -w terminal "PS1=; unsetopt zle_bracketed_paste; fpath=(%s \\$fpath); autoload -Uz compinit; compinit -u -D; cd %s"
zpty -w terminal "zstyle ':completion:*' list-prompt ''; LISTMAX=1000; setopt auto_list no_always_last_prompt; echo rea''dy"
zpty -m terminal '*ready*'
zpty -n -w terminal "$1"$'\\t'
seen=
for i in {1..200}; do
  while zpty -rt terminal piece; do seen+=$piece; done
  [[ $seen == *"$2"* ]] && break
  sleep 0.05
done
print -rn -- "$seen"
zpty -d terminal
""" % (folder, os.path.join(share, "zsh/vendor-completions"), folder)
        for typed, wanted in [("warpgrind ", sorted(command["name"] for command in app["commands"])),
                              ("warpgrind run --nvrtc ", ["auto", "nvidia", "ours"]),
                              ("warpgrind run --gpu=h", ["h100", "h200"]),
                              ("warpgrind run --quiet a", ["app.cu"]),
                              ("warpgrind run --ex", ["--expect"])]:
            done = subprocess.run(["zsh", "-fc", code, "zsh", typed, wanted[-1]], capture_output=True, text=True, timeout=60)
            for word in wanted:
                expect(word in done.stdout, "zsh: %r does not offer %s: %r %s" % (typed, word, done.stdout, done.stderr))


def main():
    build, what = sys.argv[1:]
    share = os.path.abspath(os.path.join(build, "share"))
    if what != "man" and not shutil.which(what):
        print("%s is not installed" % what)
        return 77
    with open(os.path.join(share, "command-line.json"), encoding="utf-8") as file:
        app = json.load(file)
    {"man": man, "bash": bash, "zsh": zsh}[what](share, app)
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
