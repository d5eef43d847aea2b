"""Messages of the compilers: nvcc's "a.cu(3): error: ...", and those of clang and gcc, "a.cu:3:8: error: ..."."""
import os
import re

_PATTERN = re.compile(r"^(?P<file>[^\s:()][^:()\n]*)(?:\((?P<a>\d+)\)|:(?P<b>\d+)(?::(?P<column>\d+))?): "
                      r"(?P<severity>fatal error|error|warning|note|remark|catastrophic error)(?: #[\w-]+)?: (?P<text>.*)$")
_SUMMARY = re.compile(r"^\d+ (errors?|warnings?)\b.*(detected|generated)|^In file included from |^Remark: ")

# warpgrind passes -O3 in front of the user's -O.
_NOISE = re.compile(r"^nvcc warning : incompatible redefinition for option 'optimize'")


class Message:
    """One message. `more`: the lines below it, which quote the source."""

    def __init__(self, file, line, column, severity, text):
        self.file, self.line, self.column, self.severity, self.text = file, line, column, severity, text
        self.more = []

    @property
    def is_error(self):
        return "error" in self.severity

    def as_dict(self):
        return {"file": self.file, "line": self.line, "column": self.column, "severity": self.severity, "text": self.text}

    def __repr__(self):
        return f"<Message {os.path.basename(self.file)}:{self.line}: {self.severity}: {self.text}>"


class Parser:
    """Takes a program's error output line by line, and keeps what a compiler said about `sources`."""

    def __init__(self):
        self.messages, self.lines = [], []
        self._open = False

    def take(self, line):
        """True: the line is of a compiler, and kept."""
        if _NOISE.match(line):
            return True
        match = _PATTERN.match(line)
        if match:
            column = match["column"]
            self.messages.append(Message(match["file"], int(match["a"] or match["b"]), int(column) if column else 0, match["severity"],
                                         match["text"]))
        elif self._open and (line.startswith((" ", "\t")) or not line.strip()):
            self.messages[-1].more.append(line)
        elif not _SUMMARY.match(line):
            self._open = False
            return False
        self._open = bool(self.messages)
        self.lines.append(line)
        return True
