#!/usr/bin/env python3
"""Random commands to `warpgrind debug`, valid and not, with a real program.

  terminal_fuzz_test.py --list
  terminal_fuzz_test.py --build DIR CASE                            a short run, the same every time
  terminal_fuzz_test.py --build DIR --seed S --commands N CASE      a longer one
  terminal_fuzz_test.py --build DIR --everything --commands N CASE  programs, compilers' options and --check change, too (fuzzing.py)

Whatever is typed: a prompt comes back, the debugger does not crash, and the program does not end by a signal.
"""
import os
import pathlib
import random
import re
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import debugger_test as debugger  # noqa: E402
import fuzzing  # noqa: E402

PROMPT = b"(warpgrind) "
PATIENCE = 4      # seconds until Ctrl-C is pressed
FOR_START = 90    # the same where the program is compiled and started
LONGEST = 150     # seconds for a prompt

EXPRESSIONS = ["v", "i", "n", "p", "p.weight", "p.weight[1]", "p.x + p.y", "tile", "tile[threadIdx.x]", "tile[0]@8", "&tile[3]", "in", "in[i]", "*in@4",
               "out[0]@4", "threadIdx", "threadIdx.x", "blockIdx.x", "pair", "kind", "counter", "scale", "step", "square(3)", "nosuch", "1 / 0", "(", ")",
               "$1", "$", "$$2", "$99", "%r1", "%f3", "%rd2", "sizeof(int)", "(float)i", "i == 3 ? 1 : 2", "*(int*)0", "in[1 << 30]", "tile[-1]", "\"", "'a",
               "v = 3", "i++", "a" * 2000, "(" * 400 + "1" + ")" * 400, "&&", "p.", "->", "0x", "1e999", "é", "@", "1 @ 2", "lane", "warp"]
CONDITIONS = ["threadIdx.x == 3", "i == 70", "step == 8", "blockIdx.x == 1", "v > 2", "nosuch", "(", "1 / 0", "0", "1", "p", ""]
NO_LINES = [1, 0, 9999, 2**31, "x", "-1", ""]
PLACES = ["{kernel}", "{kernel}", "{kernel}", "square", "nosuch", "square<float>", "{file}:{line}", "{line}", "{line}", "nosuch.cu:3", "{file}:", ":7",
          "*0x10", "", "::", "{path}:{line}"]
COUNTS = ["", "", "", "1", "2", "3", "10", "0", "-1", "x", "99999999999999999999", "2 3"]
FORMATS = ["", "", "/x", "/d", "/t", "/c", "/f", "/a", "/o", "/u", "/s", "/q", "/", "/xx", "/3x"]
TRIPLES = ["(0,0,0)", "(1,0,0)", "(3,0,0)", "5", "(63,0,0)", "(64,0,0)", "(1,", "(,)", "(99999999999,0,0)", "-1", "", "0", "x"]
NONSENSE = ["", " ", "\t", "#", "# text", "foo", "break break", "\x01\x02", "\x7f", "é", "\U0001f600", "run run run run", "'", '"', "\\", "%s%n", "{}",
            "x/0x tile", "x/", "x/4", "info", "info nosuch", "info cuda", "help nosuch", "help", "(", "/x", "p/x", "print/", ".", ";", "next;next",
            "re", "i", "w", "a" * 70000, "echo " + "b" * 5000, "set", "set var", "set var =", "set args", "cuda", "cuda kernel 0", "thread apply all bt",
            "dprintf", "condition", "ignore", "ignore 1", "undisplay 99", "frame 99", "up 99", "down 99", "list 1,", "list ,", "list 5,1", "list sum"]
MOVES = ["step", "next", "stepi", "nexti", "reverse-step", "reverse-next", "reverse-stepi", "reverse-nexti"]


class Failure(Exception):
    pass


class Terminal:
    def __init__(self, build, target):
        options = ["--check"] if target.check else []
        self.process = subprocess.Popen([str(build / "bin/warpgrind"), "debug", *options, target.program, *target.words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        env=debugger.whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache")))
        self.target, self.recent = target, []
        said = []
        if self.read_to_prompt(patience=FOR_START, said=said) is None:
            raise Failure(f"{target}: the debugger ended with {self.process.wait(LONGEST)} before its first prompt: {said[0][-500:]!r}")

    def read_to_prompt(self, echo=b"", patience=PATIENCE, said=None):
        """The text up to a prompt. Ctrl-C is pressed, twice at most, if none comes for a while. None: the debugger has ended."""
        begin, pressed, text = time.monotonic(), 0, b""
        stream = self.process.stdout.fileno()
        while True:
            if text.endswith(PROMPT) and not select.select([stream], [], [], 0)[0]:
                return text[len(echo):-len(PROMPT)].decode(errors="replace")
            waited = time.monotonic() - begin
            if waited > patience * (pressed + 1) and pressed < 2:
                pressed += 1
                self.process.send_signal(signal.SIGINT)
            if waited > LONGEST:
                raise Failure(f"no prompt after {waited:.0f} s; {self.target}; commands before: {self.recent}; text: {text[-500:]!r}")
            if not select.select([stream], [], [], 0.1)[0]:
                continue
            got = os.read(stream, 1 << 16)
            if not got:
                if said is not None:
                    said.append(text)
                return None
            text += got

    def do(self, command):
        """What the command prints; None: the debugger has ended."""
        self.recent = [*self.recent[-11:], command[:200]]
        bytes_ = command.encode(errors="replace")
        self.process.stdin.write(bytes_ + b"\n")
        self.process.stdin.flush()
        starts = command.strip().split(" ")[0] in ("r", "run", "start")
        text = self.read_to_prompt(bytes_ + b"\n", FOR_START if starts else PATIENCE)
        if text is None and self.process.wait(LONGEST) != 0:
            raise Failure(f"the debugger ended with {self.process.returncode}; {self.target}; commands before: {self.recent}")
        if text and "was killed by signal" in text and not re.search(r"signal 9|signal 6 \(Aborted\)", text):
            raise Failure(f"the program crashed: {text[-300:]}; {self.target}; commands before: {self.recent}")
        return text

    def leave(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                if self.process.wait(LONGEST) != 0:
                    raise Failure(f"the debugger ended with {self.process.returncode}; {self.target}; commands before: {self.recent}")
            finally:
                self.process.kill()
        self.process.stdout.close()


class Commands:
    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.target = None

    def pick(self, values):
        return self.chance.choice(values)

    def line(self):
        return self.pick(NO_LINES if self.chance.random() < 0.3 else self.target.code_lines)

    def expression(self):
        return self.pick(self.target.names if self.target.names and self.chance.random() < 0.3 else EXPRESSIONS)

    def place(self):
        return self.pick(PLACES).format(line=self.line(), path=self.target.source, file=f"{self.target.name}.cu", kernel=self.pick(self.target.kernels))

    def condition(self):
        return f" if {self.pick(CONDITIONS)}" if self.chance.random() < 0.4 else ""

    def numbers(self):
        return " ".join(str(self.chance.randrange(12)) for _ in range(self.chance.randrange(3)))

    def one(self):
        chance, pick = self.chance, self.pick
        makers = [
            (20, lambda: f"{pick(MOVES)} {pick(COUNTS)}"),
            (4, lambda: f"{pick(['continue', 'c', 'reverse-continue', 'rc', 'finish', 'reverse-finish', 'until'])}"),
            (1, lambda: f"continue {pick(COUNTS)}"),
            (2, lambda: f"{pick(['until', 'advance'])} {self.place()}"),
            (6, lambda: f"{pick(['break', 'b', 'tbreak'])} {self.place()}{self.condition()}"),
            (3, lambda: f"{pick(['watch', 'rwatch', 'awatch'])} {self.expression()}{self.condition()}"),
            (1, lambda: "catch " + pick(["launch", f"launch {pick(self.target.kernels)}", "fault", "assert", "api", "barrier", "divergence", "nosuch", ""])),
            (2, lambda: f'dprintf {self.place()},"{pick(["here", "{v} {i}", "{", "{nosuch}", "}", ""])}"'),
            (4, lambda: f"{pick(['delete', 'disable', 'enable'])} {self.numbers() or '1'}"),
            (1, lambda: pick(["delete", "disable", "enable", "clear"])),
            (1, lambda: f"clear {self.place()}"),
            (2, lambda: f"condition {chance.randrange(8)} {pick(CONDITIONS)}"),
            (1, lambda: f"ignore {chance.randrange(8)} {pick(COUNTS)}"),
            (8, lambda: f"print{pick(FORMATS)} {self.expression()}"),
            (4, lambda: f"x{pick(['', '/4xw', '/8f', '/s', '/i', '/2i', '/3dg', '/c', '/0x', '/q', '/100000xb'])} {pick(['tile', '&v', 'in', '$pc', '0', '-1', 'nosuch', 'out'])}"),
            (3, lambda: f"warp {self.expression()}"),
            (3, lambda: f"tile{pick(FORMATS)} {self.expression()}{pick(['', ' 2x4', ' 8x8', ' 0x0', ' 9999999x9999999'])}{pick(['', ' by 4', ' by 0'])}"
                        f"{pick(['', ' of half', ' of s4x2', ' of e4m3', ' of nosuch'])}"),
            (1, lambda: f"inferior {pick(COUNTS)}"),
            (4, lambda: f"{pick(['thread', 'block', 'warp', 'lane', 'cuda block', 'cuda thread'])} {pick(TRIPLES)}"),
            (1, lambda: f"block {pick(TRIPLES)} thread {pick(TRIPLES)}"),
            (2, lambda: f"last-write {self.expression()}"),
            (3, lambda: f"set var {self.expression()} = {self.expression()}"),
            (2, lambda: f"display{pick(FORMATS)} {self.expression()}"),
            (1, lambda: f"undisplay {self.numbers()}"),
            (3, lambda: f"list {pick(['', '-', '1,5', '5,1', self.place()])}"),
            (5, lambda: "info " + pick(["args", "blocks", "breakpoints", "display", "frame", "lanes", "launches", "line", "locals", "registers",
                                        "source", "sources", "threads", "warps", "kernels", "watchpoints", "registers %r1", "variables", "inferiors"])),
            (3, lambda: pick(["backtrace", "backtrace 1", "up", "down", "frame", "frame 1", "disassemble", "help", "help step", "where"])),
            (1, lambda: f"whatis {self.expression()}"),
            (6, lambda: pick(NONSENSE)),
            (3, lambda: ""),
            (2, lambda: "".join(chr(chance.randrange(32, 0x250)) for _ in range(chance.randrange(40)))),
        ]
        return chance.choices([m for _, m in makers], [w for w, _ in makers])[0]()


# ---- Cases

def any_commands(build, seed, commands, targets):
    chance = random.Random(seed)
    words = Commands(seed + 1)
    sent = lives = 0
    while sent < commands:
        words.target = targets.next()
        terminal = Terminal(build, words.target)
        lives += 1
        try:
            for _ in range(chance.randrange(3)):
                sent += 1
                if terminal.do(words.one()) is None:
                    break
            ended = terminal.process.poll() is not None
            if ended:
                print(f"left by {terminal.recent[-1]!r}")
                continue
            terminal.do(f"break {chance.choice(words.target.kernels)}")
            terminal.do("run")
            stay = 150 if targets.everything else commands
            while sent < commands and stay > 0 and not ended:
                odds = chance.random()
                command = "run" if odds < 0.004 else "start" if odds < 0.007 else "kill" if odds < 0.009 else "quit" if odds < 0.011 else words.one()
                text = terminal.do(command)
                sent += 1
                stay -= 1
                ended = text is None
                if text and text.endswith("The program is not being run.\n") and chance.random() < 0.5:
                    terminal.do(f"tbreak {chance.choice(words.target.kernels)}")
                    terminal.do("run")
        finally:
            terminal.leave()
    print(f"{sent} commands in {lives} sessions")


QUESTIONS = ["info frame", "info args", "info locals", "info registers", "info warps", "info lanes", "backtrace", "warp threadIdx.x"]


class Walk:
    """Steps of one program in one session."""

    def __init__(self, build, chance, target):
        self.terminal, self.chance, self.target = Terminal(build, target), chance, target

    def state(self):
        """All that the terminal shows of a place: variables, registers, shared and global memory, and the warps."""
        pointers = re.findall(r"^(\w+) = .*0x[0-9a-f]{6,}", self.terminal.do("info args"), re.M)
        # Variables of shared memory, and what the arguments point to.
        more = [f"x/64xw {name}" for name in pointers] + [f"print {name}" for name in ("tile", "data[0]@64", "counter")]
        return [(question, re.sub(r"^\$\d+ = ", "", self.terminal.do(question))) for question in QUESTIONS + more]

    def begin(self):
        """At a random line. False: the program did not stop there."""
        self.terminal.do("delete")
        place = self.chance.choice(self.target.kernels + [f"{self.target.name}.cu:{n}" for n in self.target.code_lines])
        block = f" && blockIdx.x == {self.chance.randrange(2)}" if self.chance.random() < 0.5 else ""
        self.terminal.do(f"tbreak {place} if threadIdx.x % 32 == {self.chance.randrange(32)}{block}")
        return "[The program " not in self.terminal.do("run")

    def there_and_back(self):
        """Some instructions forward and back. Returns the number of steps, and whether the state was compared."""
        before, done = self.state(), 0
        for _ in range(self.chance.randrange(1, 9)):
            text = self.terminal.do("stepi")
            if "[" in text.split("\n")[0] or "topped by" in text or "[The program " in text:  # the warp ended, waits or faults: the step went to another one
                return done, False
            done += 1
        for _ in range(done):
            if "cannot go back" in self.terminal.do("reverse-stepi"):
                return 2 * done, False
        after = self.state()
        if after != before:
            wrong = [(old, new) for old, new in zip(before, after) if old != new]
            raise Failure(f"{self.target}: {done} steps forward and back: {wrong[0]}; commands before: {self.terminal.recent}")
        return 2 * done, True


def forward_and_back(build, seed, commands, targets):
    """From a random place n steps forward and n back: the same place, variables, registers and memory, byte for byte."""
    chance = random.Random(seed)
    sent = rounds = 0
    while sent < commands:
        walk = Walk(build, chance, targets.next(may_check=False))
        try:
            for _ in range(5 if targets.everything else commands):
                if sent >= commands:
                    break
                sent += 3
                if not walk.begin():
                    continue
                for _ in range(3):
                    for _ in range(chance.randrange(4)):
                        walk.terminal.do(chance.choice(["stepi", "next", "step"]))
                    steps, compared = walk.there_and_back()
                    sent += steps + 2 * len(QUESTIONS)
                    rounds += compared
        finally:
            walk.terminal.leave()
    print(f"{sent} commands; {rounds} times the same state after going forward and back")
    assert rounds > 0


CASES = {any_commands: 300, forward_and_back: 150}


if __name__ == "__main__":
    sys.exit(fuzzing.run(CASES, __doc__, "commands", Failure))
