"""The parts of the benchmark: each measures, prints its table as it goes, and returns figures {name: value}."""
import json
import os
import statistics
import tempfile

from programs import middle
from rows import (FIRST_LAUNCHES, KERNELS, LAUNCHES, MANY_LAUNCHES, MANY_LAUNCHES_MIB, SIXTEEN_THREADS_GOAL, STARTS,
                  TWO_THREADS_GOAL, UNITS)

BY_NAME = {kernel.name: kernel for kernel in KERNELS}


def ratio(a, b):
    return a["rate"] / b["rate"] if a and b and b["rate"] else None


def number(value, width=8):
    if value is None:
        return f"{'-':>{width}}"
    return f"{value:{width}.0f}" if abs(value) >= 100 else f"{value:{width}.2f}"


def rate(result, width=8):
    return number(result["rate"] if result else None, width)


def kernels(only):
    return [k for k in KERNELS if not only or k.name in only]


def peers(programs, args):
    figures = {}
    print("\nMillion work items a second (multiplication: lane-FMAs), all counters and bounds checks on\n")
    print(f"{'':36} {'warpgrind':>17} {'PoCL':>17} {'x PoCL':>13} {'goal':>5} {'plain C++':>10} {'Oclgrind':>9} {'x':>7}")
    print(f"{'kernel':36} {'1 thread':>8} {'2':>8} {'1 thread':>8} {'2':>8} {'1':>6} {'2':>6} {'':>5} {'1 thread':>10} "
          f"{'1 thread':>9}")
    for k in kernels(args.only):
        if not k.goal:
            continue
        runs = {t: programs.pairs(k.name, k.size, t) for t in (1, 2)}
        ours, pocl = ({t: middle([pair[side] for pair in runs[t] if pair[side]]) for t in (1, 2)} for side in (0, 1))
        native, grind = programs.native(k.name, k.size, 1), programs.oclgrind(k.name, k.small)
        times = {}
        for t in (1, 2):
            of_pairs = [times_pocl for times_pocl in (ratio(*pair) for pair in runs[t]) if times_pocl]
            times[t] = statistics.median(of_pairs) if of_pairs else None
            spread = {".least": min(of_pairs), ".most": max(of_pairs)} if of_pairs else {}
            figures.update({f"pocl.{k.name}.{t}{end}": value for end, value in {"": times[t], **spread}.items()})
            figures[f"rate.{k.name}.{t}"] = ours[t] and ours[t]["rate"]
        print(f"{k.title:36} {rate(ours[1])} {rate(ours[2])} {rate(pocl[1])} {rate(pocl[2])} {number(times[1], 6)} "
              f"{number(times[2], 6)} {k.goal:5} {rate(native, 10)} {rate(grind, 9)} {number(ratio(ours[1], grind), 7)}",
              flush=True)
    return figures


def instructions_of(programs, kernel, size):
    """Warp instructions of one launch."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.json")
        if not programs.fields([*programs.run_command("--json", path), programs.folder / "kernels", kernel, size, 1], 9):
            return None
        with open(path) as file:
            profile = json.load(file)
    row = next(k for k in profile["kernels"] if k["launches"])
    return row["metrics"]["smsp__inst_executed.sum"]["value"] / row["launches"]


def instructions(programs, args):
    figures = {}
    print("\nMillion warp instructions (of PTX) a second, and what counters cost (1 thread; bounds checks stay on)\n")
    print(f"{'kernel':36} {'counters':>9} {'without':>9} {'ratio':>7}")
    for k in kernels(args.only):
        count = instructions_of(programs, k.name, k.size)
        on = programs.virtual_gpu(k.name, k.size, 1)
        off = programs.virtual_gpu(k.name, k.size, 1, ["--no-counters"])
        speeds = [count / r["median_s"] / 1e6 if count and r else None for r in (on, off)]
        figures[f"instructions.{k.name}"], figures[f"counters.{k.name}"] = speeds[0], ratio(off, on)
        print(f"{k.title:36} {number(speeds[0], 9)} {number(speeds[1], 9)} {number(ratio(off, on), 7)}", flush=True)
    return figures


def units(programs, args):
    figures = {}
    print("\nWhat a GPU has units for, against plain C++ of the same arithmetic (1 thread): million items a second\n")
    print(f"{'':36} {'items':>8} {'counters':>9} {'without':>9} {'plain C++':>10} {'ratio':>7} {'goal':>5}")
    for u in UNITS:
        on, off = (programs.virtual_gpu(u.name, u.size, 1, options, program="units") for options in ([], ["--no-counters"]))
        plain = programs.native(u.name, u.size, 1, "native_units")
        figures[f"units.{u.name}"] = ratio(on, plain)
        print(f"{u.title:36} {u.items:>8} {rate(on, 9)} {rate(off, 9)} {rate(plain, 10)} {number(ratio(on, plain), 7)} {u.goal:5}",
              flush=True)
    return figures


def scaling(programs, args):
    """Scaling: small sizes on two threads, large ones on more threads if requested. Plain C++ shows the
    limits of the machine, such as its memory."""
    figures, counts = {}, args.threads
    print("\nScaling: times one thread\n")
    print(f"{'':36} {'warpgrind':<{7 * len(counts)}} plain C++")
    print(f"{'kernel':36} " + " ".join(f"{n:>6}" for n in 2 * counts))
    for k in kernels(args.only):
        if not k.large:
            continue
        size = k.large if max(counts) > 2 else k.size
        cells = []
        for measure, suffix in ((programs.virtual_gpu, ""), (programs.native, ".plain")):
            one = measure(k.name, size, 1)
            row = {n: ratio(measure(k.name, size, n), one) for n in counts}
            figures.update({f"scaling.{k.name}.{n}{suffix}": v for n, v in row.items()})
            cells += row.values()
        print(f"{k.title.split(' 2^')[0].split(' 1024')[0] + f', {size}':36} " + " ".join(number(c, 6) for c in cells),
              flush=True)
    return figures


def launches(programs, args):
    figures = {}
    print("\nLaunches of an empty kernel: microseconds each\n")
    print(f"{'':36} {'wall':>8} {'CPU':>8} {'goal':>5} {'wall, without counters':>23} {'CPU':>8}")
    for row in LAUNCHES:
        on, off = (programs.launches(row.way, row.count, row.nodes, o) or {} for o in ([], ["--no-counters"]))
        figures[f"launch.{row.name}"], figures[f"launch.{row.name}.cpu"] = on.get("us"), on.get("cpu_us")
        figures[f"launch.{row.name}.uncounted"] = off.get("us")
        print(f"{row.title:36} {number(on.get('us'))} {number(on.get('cpu_us'))} {row.goal:5} {number(off.get('us'), 23)} "
              f"{number(off.get('cpu_us'))}", flush=True)
    many = programs.launches("stream", MANY_LAUNCHES, 1) or {}
    figures["memory.launches"] = many.get("mib")
    print(f"{MANY_LAUNCHES:,} launches: {number(many.get('us'), 1)} us each, the process needs {number(many.get('mib'), 1)} MiB")
    return figures


def start_up(programs, args):
    figures = {}
    print("\nStart-up: whole processes, ms (`warpgrind run --quiet`)\n")
    print(f"{'':36} {'wall':>8} {'CPU':>8} {'goal':>5}")
    for row in STARTS:
        command = [*programs.run_command(), programs.folder / "launches", *row.arguments]
        programs.whole(command, repetitions=1)  # fills the disk cache
        took = programs.whole(command)
        figures[f"start.{row.name}"], figures[f"start.{row.name}.cpu"] = took["ms"], took["cpu_ms"]
        print(f"{row.title:36} {number(took['ms'])} {number(took['cpu_ms'])} {row.goal:5}", flush=True)
    print(f"\n{'first launch beyond the others':36} {'compiled':>8} {'cached':>8}")
    with tempfile.TemporaryDirectory() as cache:
        for kernel in FIRST_LAUNCHES:
            size = {"vecadd": 1024, "reduce": 1024, "empty": 1}.get(kernel, 32)
            command = [*programs.run_command("--threads", 1), programs.folder / "kernels", kernel, size, 5]
            runs = [programs.once(command, {"XDG_CACHE_HOME": os.path.join(cache, kernel)}) for _ in range(2)]
            if all(runs):
                first = [1e3 * (r["first_s"] - r["median_s"]) for r in runs]
                figures[f"first.{kernel}"], figures[f"first.{kernel}.cached"] = first
                print(f"{kernel:36} {number(first[0])} {number(first[1])}", flush=True)
    return figures


def checks(programs, args):
    """Checks, at smaller sizes: with much written and shared memory a run takes hundreds of times as long."""
    groups = ("memory", "init", "barriers", "races", None)
    figures = {}
    print("\nCost of `warpgrind check` (times the median launch of a run, 1 thread, by group of --only)\n")
    print(f"{'kernel':36} {'run, ms':>8} " + " ".join(f"{g or 'all':>9}" for g in groups))
    for k in kernels(args.only):
        if not k.goal:
            continue
        small = k.size // 2 if k.size < 1 << 16 else k.size // 16
        run = programs.virtual_gpu(k.name, small, 1, repetitions=3)
        row = {}
        for group in groups:
            only = ["--only", group] if group else []
            checked = programs.once([programs.warpgrind, "check", "--threads", "1", "--error-exitcode", "0", *only,
                                     programs.folder / "kernels", k.name, small, 3])
            row[group or "all"] = checked["median_s"] / run["median_s"] if checked and run else None
        figures.update({f"check.{k.name}.{g}": v for g, v in row.items()})
        print(f"{' '.join(k.title.split(' ')[:2]) + f', {small}':36} {number(1e3 * run['median_s'] if run else None)} "
              + " ".join(number(v, 9) for v in row.values()), flush=True)
    return figures


PARTS = {"peers": peers, "scaling": scaling, "instructions": instructions, "units": units, "launches": launches,
         "start_up": start_up, "checks": checks}


def goals():
    """{figure: (what it is, unit, goal, whether less is better)}"""
    out = {}
    for k in KERNELS:
        if k.goal:
            for t in (1, 2):
                out[f"pocl.{k.name}.{t}"] = (f"{k.title}, {t} thread{'s'[:t - 1]}", "x PoCL", k.goal, False)
    for threads, goal in ((2, TWO_THREADS_GOAL), (16, SIXTEEN_THREADS_GOAL)):
        for k in KERNELS:
            if k.large:
                title = k.title if threads == 2 else f"{k.title.split(',')[0].rsplit(' ', 1)[0]}, {k.large}"
                out[f"scaling.{k.name}.{threads}"] = (f"{title}: {threads} threads", "x one", goal, False)
                out[f"scaling.{k.name}.{threads}.plain"] = (f"{title}: {threads} threads, plain C++", "x one", None, False)
    for u in UNITS:
        out[f"units.{u.name}"] = (f"{u.title}, 1 thread", "x plain C++", u.goal, False)
    for row in LAUNCHES:
        out[f"launch.{row.name}"] = (row.title, "us each", row.goal, True)
        out[f"launch.{row.name}.cpu"] = (f"{row.title}: CPU time", "us each", None, True)
        out[f"launch.{row.name}.uncounted"] = (f"{row.title}, without counters", "us each", row.goal, True)
    out["memory.launches"] = (f"memory of {MANY_LAUNCHES:,} launches", "MiB", MANY_LAUNCHES_MIB, True)
    for row in STARTS:
        out[f"start.{row.name}"] = (f"start: {row.title}", "ms", row.goal, True)
        out[f"start.{row.name}.cpu"] = (f"start: {row.title}: CPU time", "ms", None, True)
    for k in KERNELS:
        out[f"instructions.{k.name}"] = (f"{k.title}: warp instructions", "million/s", None, False)
    return out
