#!/usr/bin/env python3
"""Work of the launches in the lab's rows, as input of the time model: lab/results/GPU/launches.csv.

    scripts/collect_launches.py --build build > lab/results/h200/launches.csv
    scripts/collect_launches.py --build build --beside hgemm > lab/results/h200/hgemm_launches.csv

Runs the lab's topics at their full sizes on the virtual GPU, with every launch counted (about 20 minutes on two cores).
Equal launches of a row become one line. Products are counted up to 2048 (tiles of other widths up to 1024), those of 4096 in part.
"""
import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile

OURS = [word for rung in ("one element", "tile", "tensor cores", "stages", "warpgroups", "ring", "clusters", "persistent")
        for word in ("--rung", rung)]
TOPICS = {
    "banks": [[]], "constant": [[]], "texture": [[]], "transpose": [[]], "coalescing": [[]], "divergence": [[]],
    "occupancy": [[]], "local": [[]], "reduction": [[]], "bandwidth": [[]], "vecadd": [[]], "image": [[]], "poisson": [[]],
    "matmul": [["--sizes", "16,64,256,1024,1000x777x1234", "--rung", "naive", "--rung", "tiled*", "--rung", "registers*",
                "--rung", "double buffer", "--rung", "tile width", "--rung", "one tile"],
               ["--sizes", "2048", "--rung", "naive", "--rung", "tiled*", "--rung", "registers*", "--rung", "double buffer"],
               ["--sizes", "16,64", "--rung", "one thread"]],
    "gemm": [["--sizes", "16:2048:x2,1000x777x1234", "--rung", "one element", "--rung", "two*", "--rung", "four*", "--rung",
              "shared*", "--rung", "registers*", "--rung", "double buffer", "--rung", "tensor cores"],
             ["--sizes", "16:128:x2", "--rung", "one thread"]],
}

# Sizes at which about three blocks of each launch run: the others do the same.
IN_PART = {
    "gemm": [["--sizes", "4096", "--rung", "shared*", "--rung", "registers*", "--rung", "double buffer", "--rung", "tensor cores"]],
}

# Topics whose rows take no part in the fits. About three blocks of each launch run; clusters run whole, so they end at 2048.
BESIDE = {
    "hgemm": [["--type", "half,bfloat16", "--sizes", "1024,2048,1000x1032x520", *OURS],
              ["--type", "half,bfloat16", "--sizes", "4096,8192", *OURS[:-4]]],
}


def launches(warpgrind, options, program, arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "work.csv")
        subprocess.run([warpgrind, "run", "--quiet", *options, "--work", path, program, "--full", *arguments],
                       stdout=subprocess.DEVNULL, check=True)
        with open(path, newline="") as f:
            return list(csv.DictReader(f))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("topics", nargs="*")
    arguments = parser.parse_args()
    rows, columns = {}, None
    known_topics = BESIDE if arguments.beside else TOPICS
    whole, part = ["--gpu", arguments.gpu], ["--gpu", arguments.gpu, "--blocks", "3"]
    for topic in arguments.topics or known_topics:
        runs = [(part if arguments.beside else whole, selection) for selection in known_topics[topic]]
        runs += [(part, selection) for selection in ([] if arguments.beside else IN_PART.get(topic, []))]
        for options, selection in runs:
            print(topic, *selection, file=sys.stderr)
            program = os.path.join(arguments.build, "lab", topic)
            for launch in launches(os.path.join(arguments.build, "bin", "warpgrind"), options, program, selection):
                name = re.split(r"(?<! )/(?! )", launch.pop("range"))[-1]  # ranges are nested by "/"
                if ":" not in name:
                    continue
                columns = columns or [c for c in launch if c != "repeat"]
                work = [launch[c] for c in columns]
                known = rows.setdefault(name, [])
                if known and known[-1][1] == work:
                    known[-1][0] += 1
                else:
                    known.append([1, work])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["range", "repeat", *columns])
    for name, known in rows.items():
        for repeat, work in known:
            out.writerow([name, repeat, *work])


if __name__ == "__main__":
    main()
