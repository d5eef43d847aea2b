"""Exceptions of the package. Each message says what is wrong and what to do."""


class WarpgrindError(Exception):
    """The base of all exceptions here."""


class ProgramNotFound(WarpgrindError):
    """The program `warpgrind`, or the CUDA program to run, is not there."""


class CompileError(WarpgrindError):
    """The CUDA source does not compile. `messages`: list of messages.Message; `output`: all that the compiler said."""

    def __init__(self, text, messages=(), output=""):
        super().__init__(text)
        self.messages = list(messages)
        self.output = output


class Refused(WarpgrindError):
    """warpgrind did not run the program: a wrong option, an unknown GPU model, or a program without CUDA code."""


class TimedOut(WarpgrindError):
    """The run took longer than its `timeout`, and was stopped."""
