#!/usr/bin/env python3
"""whisper.cpp from npm on the virtual GPU: transcripts against the same models on the CPU.

  compare.py WARPGRIND WORK [--gpu h200] [--models F16 Q5_1 ...] [--nccl FOLDER] [--wrong]

WORK: folder for the packages of npm (204 MB in three packages, 73 of them compressed). Models are random ones that model.py writes, so their
words are the most probable of 51,864 that are almost equally improbable: small errors change them. Each model transcribes six sounds.
--wrong: the GPU's model has other weights in one of its matrices, which must be noticed. --nccl: folder of libnccl.so.2, which the library needs.

Exit code 77: no Node, npm cannot install the packages, or there is no libnccl.so.2."""
import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "llama_cpp")]
import compare as llama  # noqa: E402
import model as models  # noqa: E402

SOUNDS = (1.1, 1.3, 1.5, 1.7, 1.9, 2.1)  # seconds
EXACT = ("F32", "F16")  # quantised types round differently: the first word must be the same for most sounds
# With flash attention their transcripts have a single word, and a tie can decide on it.
FLASHES = lambda kind: (False, True) if kind in EXACT else (False,)


def find_nccl(warpgrind, given):
    """Whether there is a libnccl.so.2. Without one, the package says so in a warning and computes on the CPU."""
    if any((folder / "libnccl.so.2").exists() for folder in (given, warpgrind.resolve().parent.parent / "lib") if folder):
        return True
    try:
        ctypes.CDLL("libnccl.so.2")
        return True
    except OSError:
        return False


def evaluate(under, device, plan, modules, folder, environment):
    """Words by (model, sound, flash attention)."""
    at, out = folder / f"plan_{device}.json", folder / f"out_{device}.json"
    at.write_text(json.dumps(plan))
    command = [*under, "node", str(HERE / "transcribe.cjs"), str(modules), device, str(at), str(out)]
    ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment)
    if ended.returncode != 0:
        sys.exit(f"FAILED on {device}: exit code {ended.returncode}\n" + ended.stdout[-2000:] + ended.stderr[-3000:])
    return {(one["name"], one["sound"], one["flash"]): one["text"].split() for one in json.loads(out.read_text())}


def judge(kind, cpu, gpu):
    """Why the transcripts differ too much; "": they do not. Both: lists of words by sound."""
    if not all(cpu):
        return "a transcript has no word"
    if kind in EXACT:
        wrong = [f"{' '.join(a)} became {' '.join(b)}" for a, b in zip(cpu, gpu) if a != b]
        return wrong[0] if wrong else ""
    same = sum(a[0] == b[0] for a, b in zip(cpu, gpu) if b)
    return "" if same >= len(cpu) - 1 else f"only {same} of {len(cpu)} transcripts begin with the same word"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("warpgrind", nargs="?")
    parser.add_argument("work", nargs="?", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="the models that are tried")
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--models", nargs="*", default=list(models.FILE_TYPES))
    parser.add_argument("--nccl", type=pathlib.Path)
    parser.add_argument("--wrong", action="store_true")
    args = parser.parse_args()
    if args.list:
        print(*models.FILE_TYPES, sep="\n")
        return 0
    if not find_nccl(pathlib.Path(args.warpgrind), args.nccl):
        llama.skip("there is no libnccl.so.2, which whisper.cpp's CUDA library needs")
    modules = llama.install(args.work.resolve(), HERE)
    if not args.models:
        return 0  # only the packages were wanted
    environment = dict(os.environ)
    if args.nccl:
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [str(args.nccl.resolve()), os.environ.get("LD_LIBRARY_PATH")]))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for seconds in SOUNDS:
            (folder / f"{seconds}.wav").write_bytes(models.sound(seconds))

        def plan_of(wrong):
            for kind in args.models:
                (folder / f"{kind}.bin").write_bytes(models.whisper(kind, wrong=wrong))
            return [dict(name=kind, model=str(folder / f"{kind}.bin"), sound=str(folder / f"{seconds}.wav"), flash=flash)
                    for kind in args.models for flash in FLASHES(kind) for seconds in SOUNDS]

        cpu = evaluate([], "cpu", plan_of(False), modules, folder, environment)
        begin = time.monotonic()
        under = [args.warpgrind, "run", "--quiet", "--no-counters", "--require-kernels", "*norm_f32*", "--gpu", args.gpu]
        gpu = evaluate(under, "cuda", plan_of(args.wrong), modules, folder, environment)
        seconds = time.monotonic() - begin
    failed = 0
    for kind in args.models:
        for flash in FLASHES(kind):
            pick = lambda results: [words for (name, _, with_flash), words in results.items() if (name, with_flash) == (kind, flash)]
            why = judge(kind, pick(cpu), pick(gpu))
            name = f"{kind} on {args.gpu}, flash attention {'on' if flash else 'off'}"
            failed += bool(why) != args.wrong
            words = sum(map(len, pick(cpu)))
            print(f"FAILED {name}: {why or 'the wrong matrix was not noticed'}" if bool(why) != args.wrong else f"passed {name} [{words} words]")
    print(f"{failed} failed, {seconds:.0f} s on the virtual GPU")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
