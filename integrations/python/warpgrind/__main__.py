"""`python -m warpgrind`, and in the wheel the command `warpgrind`: the program with these arguments."""
import os
import sys

from warpgrind import program
from warpgrind.errors import ProgramNotFound


def main():
    try:
        # WARPGRIND or PATH may name this very command, so the program of the wheel comes first.
        path = str(program.INSIDE) if os.access(program.INSIDE, os.X_OK) else program.find()
    except ProgramNotFound as error:
        sys.exit(f"warpgrind: {error}")
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
