import glob
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest


def program():
    """LLVM's FileCheck; None: there is none."""
    in_triton = importlib.util.find_spec("triton")
    folders = in_triton.submodule_search_locations if in_triton else []
    found = [shutil.which("FileCheck"), *sorted(glob.glob("/usr/lib/llvm-*/bin/FileCheck"), reverse=True),
             *(str(pathlib.Path(folder, "FileCheck")) for folder in folders)]
    return next((one for one in found if one and pathlib.Path(one).exists()), None)


class Matcher:
    def __init__(self, options, given, parser):
        self.options, self.given, self.parser = options, given, parser
        self.stderr = sys.stderr

    def run(self):
        command = program()
        if not command:
            raise unittest.SkipTest("neither the package filecheck nor LLVM's FileCheck is here")
        with tempfile.NamedTemporaryFile("w", suffix=".checks") as checks:
            checks.write(self.parser.patterns.read())
            checks.flush()
            words = [command, checks.name, "--allow-unused-prefixes", "--check-prefixes=" + ",".join(self.options.check_prefixes)]
            words += [f"--{name.replace('_', '-')}={value}" for name, value in self.options.more.items()]
            ended = subprocess.run(words, input=self.given.content, text=True, capture_output=True)
        self.stderr.write(ended.stderr)
        return ended.returncode
