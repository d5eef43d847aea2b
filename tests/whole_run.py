"""Common parts of whole runs (`warpgrind run PROGRAM`) in all tests."""
import argparse
import os
import re
import shlex
import subprocess
import sys

# What our library says of itself, whatever else the run prints and however it ends.
SANITIZER_REPORT = re.compile(r"^(WARNING: ThreadSanitizer|.*ERROR: (Address|Leak)Sanitizer|.*: runtime error:).*", re.M)


def compilers(build):
    """Compilers of the CUDA programs in this folder (a pathlib.Path): the first builds NAME, the second (clang, if any) NAME_clang."""
    return (build / "compilers.txt").read_text().split()


def program_name(build, name, compiler):
    """The file name of NAME as the compiler builds it here, or None. What an earlier build has left does not count."""
    here = compilers(build)
    if compiler not in here:
        return None
    return name if compiler == here[0] else f"{name}_{compiler}"


def environment(**changes):
    """Environment of a run. In a build for a sanitizer (tests/CMakeLists.txt) the program is not instrumented, but our library is: then
    the sanitizer's own library must come first."""
    result = {**os.environ, **changes}
    if "WARPGRIND_TEST_PRELOAD" in os.environ:
        result["LD_PRELOAD"] = os.environ["WARPGRIND_TEST_PRELOAD"]
    return result


def program_options(description, *flags):
    """Options of a script that compares what `warpgrind run PROGRAM` gives with stored values: --warpgrind FILE --program FILE and these
    flags. Ends the script with 77 where the program is not built."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warpgrind", required=True)
    parser.add_argument("--program", required=True)
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    if not os.path.exists(options.program):
        print(f"skipped: {options.program} is not built")
        sys.exit(77)
    return options


def output_of(command):
    """What the command prints. Ends the script with 1 where the command fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment(), check=False)
    if done.returncode != 0:
        print(f"{' '.join(command)} ended with {done.returncode}")
        sys.exit(1)
    return done.stdout


def in_shell(step, environment):
    """The step and the environment of the shell that runs it. libtsan breaks programs that hold nothing instrumented and call
    setjmp(), as shells do: only what the shell starts has it."""
    preloaded = environment.get("LD_PRELOAD")
    if not preloaded:
        return step, environment
    return (f"export LD_PRELOAD={shlex.quote(preloaded)}; {step}",
            {name: value for name, value in environment.items() if name != "LD_PRELOAD"})


def sanitizer_report(text):
    """The first report of a sanitizer, or None."""
    found = SANITIZER_REPORT.search(text)
    return found.group(0) if found else None
