#!/usr/bin/env python3
"""Generator of the man pages and the completions for bash and zsh, from the output of `warpgrind command-line`.

command_line.py DESCRIPTION.json FOLDER [DATE] writes FOLDER/man/man1/warpgrind*.1.gz (a page for the whole and one a
subcommand), FOLDER/bash-completion/completions/warpgrind and FOLDER/zsh/vendor-completions/_warpgrind: the folders that
Debian has for them. Every word of an option's text comes from the command itself."""
import gzip
import json
import os
import re
import sys
import textwrap

# Commands that run a program: the first word that is no option is the program; all following words are its arguments.
PROGRAM = {"run", "check", "correlate", "explain"}
# Commands whose whole command line belongs to another tool.
FOREIGN = {"nvcc", "ptxas"}
EXIT = [("0", "Success. run and check return the program's own exit code if nothing was found."),
        ("1", "A finding was reported, a condition of --expect does not hold, or diff found something worse."),
        ("2", "The arguments or the environment are wrong. The message names the cause and what to do.")]


def commands(app, path=()):
    """All subcommands with their paths; nested ones follow their parent."""
    for command in app["commands"]:
        here = path + (command["name"],)
        yield here, command
        yield from commands(command, here)


def roff(text):
    out = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq").replace("^", "\\(ha").replace("~", "\\(ti")
    out = out.replace('"', "\\(dq")
    out = re.sub(r"\\\(ga(.+?)\\\(ga", r"\\fB\1\\fR", out)
    lines = textwrap.wrap(out, 78, break_long_words=False, break_on_hyphens=False)
    return "\n".join("\\&" + line if line.startswith(".") else line for line in lines)


def value_of(option):
    if option["choices"] and option["type"] == "TEXT" and len(option["choices"]) < 8:
        return "|".join(option["choices"])
    return {"TEXT": "TEXT", "INT": "N", "UINT": "N", "FLOAT": "NUMBER"}.get(option["type"], option["type"] or "TEXT")


def option_roff(option):
    names = ", ".join("\\fB%s\\fR" % roff(name) for name in option["names"])
    if option["positional"]:
        names = "\\fI%s\\fR" % roff(option["positional"])
    elif option["takes_value"]:
        names += " \\fI%s\\fR" % roff(value_of(option))
    text = sentence(option["what"]) if option["what"] else ""
    if option["choices"] and value_of(option) != "|".join(option["choices"]):
        text += " One of: %s." % ", ".join(option["choices"])
    if option["default"]:
        text += " Default: %s." % option["default"]
    return ".TP\n%s\n%s\n" % (names, roff(text) or "\\&")


def sentence(text):
    text = text[0].upper() + text[1:] if text[:1].isalpha() and not text.startswith(("nvcc", "ncu")) else text
    return text if text.endswith((".", "?", "!")) else text + "."


def synopsis(path, command):
    footer = [line.strip() for line in command["footer"].split("\n") if line.strip().startswith("warpgrind ")]
    if footer:
        return footer
    words = ["warpgrind", *path]
    if command["commands"]:
        words.append("COMMAND")
    if any(not option["positional"] for option in command["options"]):
        words.append("[OPTIONS]")
    if path and path[0] in FOREIGN:
        words.append("[OPTIONS...] [FILE...]")
    for option in command["options"]:
        if option["positional"]:
            words.append(option["positional"] if option["required"] else "[%s]" % option["positional"])
    return [" ".join(words)]


def see_also(names):
    return ".SH SEE ALSO\n" + ",\n".join(".BR %s (1)" % roff(n) if i == 0 else "\\fB%s\\fR(1)" % roff(n) for i, n in enumerate(names)) + "\n"


def page(app, path, command, date):
    name = "-".join(("warpgrind",) + path)
    what = command["what"].split("warpgrind: ")[-1]
    out = '.TH %s 1 "%s" "warpgrind %s" "User Commands"\n' % (roff(name.upper()), date, app["version"])
    # Without the final dot: whatis adds one.
    out += ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n" % (roff(name), roff(what.rstrip(".")))
    out += ".br\n".join("\\fB%s\\fR\n" % roff(line) for line in synopsis(path, command))
    out += ".SH DESCRIPTION\n%s\n" % roff(sentence(what))
    notes = [line.strip() for line in command["footer"].split("\n") if line.strip() and not line.strip().startswith("warpgrind ")]
    for note in notes:
        out += ".PP\n%s\n" % roff(note)
    if path and path[0] in FOREIGN:
        out += ".PP\nAccepts the options of NVIDIA\\(aqs tool of the same name; \\fBwarpgrind %s \\-\\-help\\fR lists them.\n" % path[0]
    below = [(p, c) for p, c in commands(command, path) if len(p) == len(path) + 1]
    if below:
        out += ".SH COMMANDS\n"
        for sub, its in below:
            out += ".TP\n\\fB%s\\fR\n%s\n" % (roff(sub[-1]), roff(sentence(its["what"])))
    groups = {}
    for option in command["options"]:
        groups.setdefault("ARGUMENTS" if option["positional"] else option["group"].upper(), []).append(option)
    for group in sorted(groups, key=lambda g: (g != "ARGUMENTS", g != "OPTIONS")):
        out += ".SH %s\n%s" % (roff(group), "".join(option_roff(option) for option in groups[group]))
    if not path:
        out += ".SH EXIT STATUS\n" + "".join(".TP\n\\fB%s\\fR\n%s\n" % (code, roff(text)) for code, text in EXIT)
        out += see_also(["warpgrind-" + "-".join(p) for p, _ in commands(app)])
    else:
        out += see_also(["warpgrind"])
    return out


def bash(app):
    tree, values, flags, words, programs = [], [], [], [], []
    for path, command in [((), app), *commands(app)]:
        key = " ".join(path)
        for sub in command["commands"]:
            tree.append('"%s"' % " ".join(path + (sub["name"],)))
        names = [n for option in command["options"] for n in option["names"]]
        flags.append('    "%s") echo "%s" ;;' % (key, " ".join(names)))
        words.append('    "%s") echo "%s" ;;' % (key, " ".join(sub["name"] for sub in command["commands"])))
        for option in command["options"]:
            if option["takes_value"] and option["names"]:
                keys = "|".join('"%s:%s"' % (key, n) for n in option["names"])
                if option["choices"]:
                    action = 'words="%s"' % " ".join(option["choices"])
                    if "file" in option["what"].lower() or "see `warpgrind gpus`" in option["what"]:
                        action += "; files=1"
                elif option["type"] in ("INT", "UINT", "FLOAT"):
                    action = "files="
                else:
                    action = "files=1"
                values.append("    %s) %s ;;" % (keys, action))
            elif option["positional"] and option["choices"]:
                words[-1] = '    "%s") echo "%s" ;;' % (key, " ".join(option["choices"]))
        if path and path[0] in PROGRAM:
            programs.append('"%s"' % key)
    return """# bash completion of warpgrind, made from the command line's own description (scripts/command_line.py)
_warpgrind_is_command() {
  case $1 in
    %s) ;;
    *) return 1 ;;
  esac
}
_warpgrind_takes_program() {
  case $1 in
    %s) ;;
    *) return 1 ;;
  esac
}
_warpgrind_options() {
  case $1 in
%s
  esac
}
_warpgrind_words() {
  case $1 in
%s
  esac
}
# Possible values of option $2 of command $1: sets words and files. Status 1: it takes no value.
_warpgrind_value() {
  words="" files=""
  case "$1:$2" in
%s
    *) return 1 ;;
  esac
}
_warpgrind() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev="" path="" words files i word next
  COMPREPLY=()
  # "--gpu=h2" arrives as three words where = parts words.
  if [[ $cur == "=" ]]; then cur="" prev=${COMP_WORDS[COMP_CWORD - 1]}
  elif ((COMP_CWORD >= 2)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD - 2]}
  elif ((COMP_CWORD >= 1)); then prev=${COMP_WORDS[COMP_CWORD - 1]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    next="${path:+$path }$word"
    if _warpgrind_is_command "$next"; then path=$next
    elif [[ $word == "=" ]]; then ((i++))
    elif [[ $word == -?* && $word != -- ]]; then
      if [[ ${COMP_WORDS[i + 1]} != "=" ]] && _warpgrind_value "$path" "$word"; then
        ((i + 1 == COMP_CWORD)) || ((i++))
      fi
    elif _warpgrind_takes_program "$path"; then  # the program's own arguments
      COMPREPLY=($(compgen -f -- "$cur"))
      compopt -o filenames 2>/dev/null
      return
    fi
  done
  if [[ $prev == -* ]] && _warpgrind_value "$path" "$prev"; then
    [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$cur"))
    if [[ -n $files ]]; then
      COMPREPLY+=($(compgen -f -- "$cur"))
      compopt -o filenames 2>/dev/null
    fi
  elif [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$(_warpgrind_options "$path")" -- "$cur"))
  else
    words=$(_warpgrind_words "$path")
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    if [[ -n $path && -z $words ]]; then
      COMPREPLY+=($(compgen -f -- "$cur"))
      compopt -o filenames 2>/dev/null
    fi
  fi
}
complete -F _warpgrind warpgrind
""" % ("|".join(tree), "|".join(programs), "\n".join(flags), "\n".join(words), "\n".join(values))


def zsh_text(text):
    return text.replace("\\", "\\\\").replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:").replace("`", "\\`").replace("$", "\\$")


def zsh_action(option):
    if option["choices"]:
        return "(%s)" % " ".join(option["choices"])
    return " " if option["type"] in ("INT", "UINT", "FLOAT") else "_files"


def zsh_specs(command, path):
    out = []
    for option in command["options"]:
        star = "*" if option["several"] else ""
        if option["positional"]:
            continue
        others = "" if option["several"] or len(option["names"]) < 2 else "(%s)" % " ".join(option["names"])
        for name in option["names"]:
            sign, value = "", ""
            if option["takes_value"]:
                sign = "=" if name.startswith("--") else "+"
                value = ":%s:%s" % (zsh_text(value_of(option)), zsh_action(option))
            out.append("'%s%s%s%s[%s]%s'" % (others, star, name, sign, zsh_text(option["what"].replace("`", "")).replace("\\`", ""), value))
    if path and path[0] in PROGRAM:
        out.append("'(-)1:program:_files'")
        out.append("'*:arguments:_files'")
    elif not command["commands"]:
        for option in command["options"]:
            if option["positional"]:
                out.append("'*:%s:%s'" % (zsh_text(option["positional"]), zsh_action(option)))
        if path and path[0] in FOREIGN:
            out.append("'*:file:_files'")
    return out


def zsh(app):
    out = "#compdef warpgrind\n# zsh completion of warpgrind, made from the command line's own description (scripts/command_line.py)\n"
    for path, command in [*commands(app), ((), app)]:
        function = "_".join(("_warpgrind",) + path).replace("-", "_")
        specs = zsh_specs(command, path)
        out += "\n%s() {\n" % function
        if not command["commands"]:
            out += "  _arguments -S %s\n}\n" % " \\\n    ".join(specs) if specs else "  _files\n}\n"
            continue
        described = " \\\n    ".join("'%s:%s'" % (sub["name"], zsh_text(sub["what"])) for sub in command["commands"])
        # Inside "(...)" of a spec -C keeps the context, and words begins with the subcommand.
        out += "  local context state line curcontext=$curcontext\n  local -a commands=(%s)\n" % described
        out += "  _arguments -C %s\n" % " \\\n    ".join(specs + ["'1: :->command'", "'*:: :->rest'"])
        out += "  case $state in\n    command) _describe command commands ;;\n    rest)\n      case $line[1] in\n"
        for sub in command["commands"]:
            out += "        %s) %s_%s ;;\n" % (sub["name"], function, sub["name"].replace("-", "_"))
        out += "      esac ;;\n  esac\n}\n"
    return out + '\n_warpgrind "$@"\n'


def write(path, text, packed=False):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    data = text.encode()
    with open(path, "wb") as file:
        file.write(gzip.compress(data, 9, mtime=0) if packed else data)  # the same bytes at every build


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        app = json.load(file)
    folder, date = sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
    app["name"] = ""
    for path, command in [((), app), *commands(app)]:
        write(os.path.join(folder, "man/man1", "-".join(("warpgrind",) + path) + ".1.gz"), page(app, path, command, date), True)
    write(os.path.join(folder, "bash-completion/completions/warpgrind"), bash(app))
    write(os.path.join(folder, "zsh/vendor-completions/_warpgrind"), zsh(app))


if __name__ == "__main__":
    main()
