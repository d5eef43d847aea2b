#!/usr/bin/env python3
"""llama.cpp from npm on the virtual GPU: logits and greedy text against the same models on the CPU.

  compare.py WARPGRIND WORK [--gpu h200] [--models F16 Q4_0 ...] [--flash on off] [--json FILE]
  compare.py WARPGRIND WORK --models Q4_0 --wrong-bit      the GPU's model has one wrong bit: must be noticed

WORK: folder for the packages of npm (180 MB in three packages, 143 of them compressed). Models are random ones that gguf.py writes: a
type of weights, "TYPE experts" (a mixture of experts) or "TYPE keys KIND" (a cache of keys and values of another type).
Exit code 77: no Node, or npm cannot install the packages.

Each model evaluates batches of 1, 2, 8, 12, 40 and 130 tokens and then generates four, so each way to multiply matrices runs: products
with one and few vectors, tensor cores on small tiles, quantised tiles, and cuBLAS."""
import argparse
import json
import math
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import gguf

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
BATCHES = (1, 2, 8, 12, 40, 130)
GENERATED = 4
MODELS = [*gguf.TYPES, "F16 experts", "Q4_K experts", "MXFP4 experts", "F16 keys Q8_0", "F16 keys Q4_0", "F16 keys BF16"]
# Largest RMS of the differences over the RMS of the logits, of a position or of a token. F32: sums in another order, keys and values of
# 16 bits in both. F16 and BF16: ggml's CPU code also rounds the other factor to 11 and to 8 bits, the GPU code may not.
# Quantised types: both sides round the other factor to 8 bits, the CPU in blocks of 32 or 256 and the GPU in blocks of 32.
BOUNDS = {"F32": 0.006, "F16": 0.006, "BF16": 0.02}
QUANTISED = 0.1
# Where two experts have almost the same score, a small difference chooses another one: share of the positions that are left out.
OTHER_EXPERT = 0.05


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def install(work, here=HERE):
    """The folder node_modules with what package-lock.json of `here` names; it stays for the next test."""
    for program in ("node", "npm"):
        if not shutil.which(program):
            skip(f"{program} is not installed")
    modules, lock = work / "node_modules", here / "package-lock.json"
    installed = modules / "installed.lock"
    if installed.exists() and installed.read_bytes() == lock.read_bytes():
        return modules
    work.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(here / name, work / name)
    # Not "npm ci": the registry may lack packages for other systems, which the lock file then does not name.
    command = ["npm", "install", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"]
    npm = subprocess.run(command, cwd=work, capture_output=True, text=True)
    if npm.returncode != 0:
        skip("npm cannot install the packages: " + (npm.stderr.strip().splitlines() or ["?"])[0])
    shutil.copy(lock, installed)
    return modules


def bound_of(model):
    return QUANTISED if " keys Q" in model else BOUNDS.get(model.split()[0], QUANTISED)


def write_model(name, folder):
    """Path of the model. The same name gives the same bytes."""
    kind, *more = name.split()
    path = folder / (name.replace(" ", "_") + ".gguf")
    path.write_bytes(gguf.llama(kind, experts=4 if more == ["experts"] else 0))
    return path


def flip(path, kind):
    """Flips one bit of the output matrix, the last tensor: the sign of the first scale or number of a row in the middle."""
    content = bytearray(path.read_bytes())
    row = len(gguf.weights(random.Random(0), kind, 256, 1))
    at = len(content) - 160 * row
    # Where the first block holds its 16-bit scale: its last two bytes for three of the types, its first for the others.
    last = {"Q3_K": 110, "Q6_K": 210}.get(kind)
    width = {"F32": 4}.get(kind, 2)
    content[at + (last or width) - 1] ^= 0x80
    wrong = path.with_name("wrong_" + path.name)
    wrong.write_bytes(content)
    return wrong


def plan_of(models, flashes, paths):
    rng = random.Random(7)
    batches = [[rng.randrange(3, 320) for _ in range(count)] for count in BATCHES]
    plan = []
    for name in models:
        for flash in flashes:
            keys = name.split(" keys ")[1] if " keys " in name else None
            if keys in ("Q8_0", "Q4_0") and not flash:
                continue  # llama.cpp has quantised values only with flash attention
            plan.append(dict(name=name, model=str(paths[name]), flash=flash, batches=batches, generate=GENERATED, keys=keys))
    return plan


def evaluate(under, device, plan, modules, folder):
    """Results by (name, flash)."""
    at, out = folder / f"plan_{device}.json", folder / f"out_{device}.json"
    at.write_text(json.dumps(plan))
    command = [*under, "node", str(HERE / "evaluate.mjs"), str(modules), device, str(at), str(out)]
    ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if ended.returncode != 0:
        sys.exit(f"FAILED on {device}: exit code {ended.returncode}\n" + ended.stdout[-3000:] + ended.stderr[-3000:])
    return {(one["name"], one["flash"]): one for one in json.loads(out.read_text())}


def launched_kernels(profile):
    """(mangled names of the kernels that ran, number of kernels in the loaded libraries): of the process that launched some."""
    for file in sorted(profile.parent.glob(f"{profile.stem}*.json")):
        activity = json.loads(file.read_text()).get("activity", {})
        if activity.get("launched"):
            return [one["mangled_name"] for one in activity["launched"]], activity["loaded_kernels"]
    return [], 0


def rms(values):
    return math.sqrt(sum(value * value for value in values) / len(values))


def differences(cpu, gpu, left_out):
    """Largest relative RMS difference of each batch's positions, and of the tokens over all positions; left_out: share of the positions."""
    scale = rms([logit for row in cpu["logits"] for logit in row])
    delta = [[a - b for a, b in zip(one, other)] for one, other in zip(cpu["logits"], gpu["logits"])]
    if any(not math.isfinite(value) for row in delta for value in row):
        return {count: math.inf for count in BATCHES}, math.inf
    sizes = [rms(row) / scale for row in delta]
    most = sorted(sizes)[-1 - int(left_out * len(sizes))]
    kept = [(size, row) for size, row in zip(sizes, delta) if size <= most]
    batch_of = [count for count in BATCHES for _ in range(count)] + [1] * GENERATED
    by_batch = {count: max((size for size, batch in zip(sizes, batch_of) if batch == count and size <= most), default=0.0) for count in BATCHES}
    return by_batch, max(rms(column) for column in zip(*(row for _, row in kept))) / scale


def same_text(cpu, gpu, bound):
    """Whether the greedy tokens are the same, up to a token that was almost as good; the rest has another beginning then."""
    first = len(cpu["logits"]) - GENERATED - 1
    for index, (one, other) in enumerate(zip(cpu["tokens"], gpu["tokens"])):
        if one != other:
            row = cpu["logits"][first + index]
            return row[one] - row[other] <= 4 * bound * rms(row), index
    return True, len(cpu["tokens"])


def judge(cpu, gpu, bound, left_out):
    """(why it failed or "", row of the table)"""
    close, tokens = same_text(cpu, gpu, bound)
    cut = len(cpu["logits"]) - GENERATED + tokens  # positions with the same tokens before them
    cpu, gpu = (dict(one, logits=one["logits"][:cut]) for one in (cpu, gpu))
    by_batch, by_token = differences(cpu, gpu, left_out)
    worst = max(*by_batch.values(), by_token)
    why = f"logits differ by {worst:.1e}, more than {bound}" if not worst <= bound else "" if close else "the text differs"
    return why, dict(differences={str(count): value for count, value in by_batch.items()}, by_token=by_token, tokens=tokens)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("warpgrind", nargs="?")
    parser.add_argument("work", nargs="?", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="the models that are tried")
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--flash", nargs="*", choices=("on", "off"), default=["off", "on"])
    parser.add_argument("--wrong-bit", action="store_true")
    parser.add_argument("--json", type=pathlib.Path, help="file for the differences and the names of the kernels that ran")
    parser.add_argument("--options", nargs=argparse.REMAINDER, default=["--no-counters"], help="options of `warpgrind run`, last")
    args = parser.parse_args()
    if args.list:
        print(*MODELS, sep="\n")
        return 0
    modules = install(args.work.resolve())
    if not args.models:
        return 0  # only the packages were wanted
    flashes = [one == "on" for one in args.flash]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = {model: write_model(model, folder) for model in args.models}
        cpu = evaluate([], "cpu", plan_of(args.models, flashes, paths), modules, folder)
        if args.wrong_bit:
            paths = {model: flip(path, model.split()[0]) for model, path in paths.items()}
        begin = time.monotonic()
        profile = folder / "profile.json"
        under = [args.warpgrind, "run", "--quiet", "--gpu", args.gpu, "--json", str(profile), *args.options]
        gpu = evaluate(under, "cuda", plan_of(args.models, flashes, paths), modules, folder)
        seconds = time.monotonic() - begin
        launched, kernels = launched_kernels(profile)
    if not launched:
        print("FAILED: no kernel ran")
        return 1
    failed, rows = 0, []
    for (model, flash), result in gpu.items():
        why, row = judge(cpu[model, flash], result, bound_of(model), OTHER_EXPERT if model.endswith("experts") else 0)
        name = f"{model} on {args.gpu}, flash attention {'on' if flash else 'off'}"
        rows.append(dict(model=model, gpu=args.gpu, flash=flash, why=why, **row))
        if args.wrong_bit:
            failed += not why
            print(f"FAILED {name}: the wrong bit was not noticed" if not why else f"passed {name}: the wrong bit was noticed: {why}")
            continue
        failed += bool(why)
        numbers = " ".join(f"{count}:{value:.1e}" for count, value in row["differences"].items())
        print(f"FAILED {name}: {why}" if why else f"passed {name}", f"[{numbers} token:{row['by_token']:.1e} text:{row['tokens']}]")
    print(f"{failed} failed, {seconds:.0f} s on the virtual GPU, {len(launched)} of {kernels} kernels ran")
    if args.json:
        args.json.write_text(json.dumps(dict(rows=rows, launched=launched, kernels=kernels), indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
