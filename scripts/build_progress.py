#!/usr/bin/env python3
"""Filter for the output of ninja: prints a line of progress at least each minute, and all messages of compilers unchanged.

Use: NINJA_STATUS='[%f/%t] ' ninja ... | build_progress.py
"""
import re
import sys
import threading
import time

STEP = re.compile(r"^\[(\d+)/(\d+)\] (.*)")
NOISE = re.compile(r"^(-- |ninja: (Entering|no work))")
EVERY = 30  # seconds between two lines of progress


def object_name(text):
    """"Building CXX object src/CMakeFiles/wg_ptx.dir/Unity/unity_wg_ptx_1_cxx.cxx.o" becomes "compiling wg_ptx"."""
    found = re.search(r"CMakeFiles/([^/]+)\.dir/", text)
    if found and text.startswith("Building"):
        return "compiling " + found.group(1)
    return text.replace("Linking CXX ", "linking ")


def minutes(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class Progress:
    def __init__(self):
        self.begin = time.monotonic()
        self.printed = self.begin - EVERY + 5
        self.done, self.all, self.step = 0, 0, ""
        self.lock = threading.Lock()

    def line(self):
        seconds = time.monotonic() - self.begin
        text = f"build: {self.done} of {self.all} steps after {minutes(seconds)}"
        if self.done >= self.all / 20 and self.done < self.all and seconds > 10:
            text += f", about {minutes(seconds * (self.all - self.done) / self.done)} left"
        return text + (f"; {self.step}" if self.done < self.all else "")

    def show(self, now):
        with self.lock:
            if self.all and (now or time.monotonic() - self.printed >= EVERY):
                print(self.line(), flush=True)
                self.printed = time.monotonic()

    def tick(self):
        while True:
            time.sleep(5)
            self.show(False)


def main():
    progress = Progress()
    threading.Thread(target=progress.tick, daemon=True).start()
    for line in sys.stdin:
        step = STEP.match(line)
        if step:
            with progress.lock:
                progress.done, progress.all = int(step.group(1)), int(step.group(2))
                progress.step = object_name(step.group(3))
            progress.show(False)
        elif not NOISE.match(line):
            print(line, end="", flush=True)
    if progress.all > 1:
        progress.show(True)


if __name__ == "__main__":
    main()
