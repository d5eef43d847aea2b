#!/usr/bin/env python3
"""Poisson over MPI on two hosts: network namespaces of this machine with names and addresses of their own, and a link between
them. mpirun starts the second rank by way of a script that enters the other namespace, where elsewhere it uses ssh.

  hosts.py --list
  hosts.py --build DIR NAME     exit code 0 passed, 1 failed, 77 skipped (the reason is printed)

All of it happens in namespaces of this script's own, which it enters by starting itself again as the first process of a process
namespace: whatever ends that process, ctest's limit too, ends all others, and with them go interfaces and addresses. No packet
leaves them. Nothing here waits for a length of time: a step waits for what it is about, and ctest's limit is the only one.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import whole_run  # noqa: E402

SKIP = 77
INSIDE = "WARPGRIND_HOSTS_INSIDE"
OWN = ["--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
TOOLS = {"mpirun": "openmpi-bin", "ip": "iproute2", "unshare": "util-linux", "nsenter": "util-linux"}
# Each sweep sends a row of 32 KiB each way: long rows, few of them.
COLUMNS = 4096
SIZE = f"8x{COLUMNS}"
ROW_BYTES = 8 * COLUMNS
# Seconds between SIGTERM and SIGKILL (and before SIGTERM): by default 1, in which a busy machine writes no profile.
GENTLE = ["--mca", "odls_base_sigkill_timeout", "10"]


class Host:
    """A namespace with a name, an address, and a hosts file. One that has its processes for itself can be lost."""

    def __init__(self, name, folder, own_processes):
        self.name = name
        spaces = OWN if own_processes else [o for o in OWN if o in ("--net", "--uts", "--mount")]
        self.holder = subprocess.Popen(["unshare", *spaces, "sh", "-c", "echo ready; exec sleep infinity"],
                                       stdout=subprocess.PIPE, text=True)
        assert self.holder.stdout.readline() == "ready\n", f"{name} does not start"
        self.pid = children_of(self.holder.pid)[0] if own_processes else self.holder.pid
        self.enter = ["nsenter", "-t", str(self.pid), "-n", "-u", "-m", *(["-p"] if own_processes else []), "--"]
        (folder / name).mkdir()
        (folder / f"{name}.pid").write_text(str(self.pid))

    def run(self, *command):
        return subprocess.run([*self.enter, *command], check=True, capture_output=True, text=True).stdout

    def connect(self, interface, address, hosts_file):
        self.run("hostname", self.name)
        self.run("mount", "--bind", str(hosts_file), "/etc/hosts")
        self.run("ip", "link", "set", "lo", "up")
        self.run("ip", "address", "add", f"{address}/24", "dev", interface)
        self.run("ip", "link", "set", interface, "up")
        self.interface = interface

    def bytes_sent_and_received(self):
        counters = json.loads(self.run("ip", "-s", "-j", "link", "show", "dev", self.interface))[0]["stats64"]
        return counters["tx"]["bytes"], counters["rx"]["bytes"]


class Job:
    """Two hosts, and mpirun over both."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.alpha, self.beta = Host("alpha", folder, False), Host("beta", folder, True)
        hosts = folder / "hosts"
        hosts.write_text("127.0.0.1 localhost\n10.77.0.1 alpha\n10.77.0.2 beta\n")
        subprocess.run(["ip", "link", "add", "to_beta", "netns", str(self.alpha.pid), "type", "veth",
                        "peer", "name", "to_alpha", "netns", str(self.beta.pid)], check=True)
        self.alpha.connect("to_beta", "10.77.0.1", hosts)
        self.beta.connect("to_alpha", "10.77.0.2", hosts)
        self.agent = folder / "agent"
        # As ssh does it: nothing of the caller's environment.
        self.agent.write_text(f'''#!/bin/sh
host=$1
shift
exec nsenter -t "$(cat {folder}/$host.pid)" -n -u -m -p -- env -i PATH="$PATH" HOME="$HOME" TMPDIR={folder}/$host sh -c "$*"
''')
        self.agent.chmod(0o755)
        self.profile = {rank: folder / f"p.rank{rank}.json" for rank in (0, 1)}

    def start(self, *arguments, mpi=()):
        program = program_of(self.build)
        environment = whole_run.environment(XDG_CACHE_HOME=str(self.build / "test-cache"), TMPDIR=str(self.folder / "alpha"))
        command = ["mpirun", "--allow-run-as-root", "--mca", "plm_rsh_agent", str(self.agent), "-H", "alpha:1,beta:1", "-np", "2",
                   "-x", "XDG_CACHE_HOME", *mpi, str(self.build / "bin/warpgrind"), "run", "--json", str(self.folder / "p.json"),
                   str(program), SIZE, *arguments]
        print("$", " ".join(command), flush=True)
        self.out, self.err = open(self.folder / "stdout", "w+"), open(self.folder / "stderr", "w+")
        self.before = self.alpha.bytes_sent_and_received()
        self.mpirun = subprocess.Popen([*self.alpha.enter, *command], stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err,
                                       env=environment)

    def traffic(self):
        now = self.alpha.bytes_sent_and_received()
        return [n - b for n, b in zip(now, self.before)]

    def until_rows_travel(self):
        """Until both ranks are in their sweeps: starting takes a fraction of this traffic."""
        while min(self.traffic()) < 50 * ROW_BYTES:
            assert self.mpirun.poll() is None, f"mpirun ended early: {self.said()}"
            time.sleep(0.05)

    def process_of_rank(self, rank):
        """The program itself, which is a child of warpgrind."""
        found = [pid for pid in processes() if command_of(pid).startswith("poisson_mpi")
                 and f"OMPI_COMM_WORLD_RANK={rank}" in variables_of(pid)]
        assert len(found) == 1, f"processes of rank {rank}: {found}"
        return found[0]

    def until_nothing_runs(self):
        while any(command_of(pid).startswith(("poisson_mpi", "warpgrind", "orted")) for pid in processes()):
            time.sleep(0.05)

    def said(self):
        text = ""
        for stream in (self.out, self.err):
            stream.seek(0)
            text += stream.read()
        return text

    def finish(self, good, patterns):
        """Problems of its end: a wrong exit code, or missing messages."""
        code = self.mpirun.wait()
        problems = [] if (code == 0) == good else [f"mpirun ended with {code}"]
        text = self.said()
        problems += [f"nothing is said like {p!r}" for p in patterns if not re.search(p, text, re.M)]
        if report := whole_run.sanitizer_report(text):
            problems.append(report)
        return problems

    def check_profiles(self, *ranks):
        """There are these, with the kernel of the first rung, and no others."""
        problems = []
        for rank, path in self.profile.items():
            if path.exists() != (rank in ranks):
                problems.append(f"{path.name} " + ("is missing" if rank in ranks else "is there"))
            elif rank in ranks and not any("jacobi_rows" in k["name"] for k in json.loads(path.read_text())["kernels"]):
                problems.append(f"{path.name} has no kernel jacobi_rows")
        return problems


def program_of(build):
    return build / "lab/poisson_mpi"


def children_of(pid):
    return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def processes():
    """Processes that still run (neither ended nor zombies). All are in our process namespace, beta's too."""
    alive = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (path / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                alive.append(int(path.name))
        except OSError:
            pass
    return alive


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def variables_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0")
    except OSError:
        return []


def verified(job, way, *arguments):
    sweeps = 10
    job.start("--sweeps", str(sweeps), *arguments)
    problems = job.finish(True, [r"^rank 0: alpha, GPU 0 of 1$", r"^rank 1: beta, GPU 0 of 1$", rf"^{way}",
                                 r"^exchange ranks 2 .*PASS", r"^overlap ranks 2 .*PASS", r"^PASS: 2 of 2 rows verified$"])
    halo = 2 * sweeps * ROW_BYTES  # of two rungs, each way
    traffic = job.traffic()
    print(f"{way}: {traffic[0]} and {traffic[1]} bytes over the link, of them {halo} of edge rows each way")
    if min(traffic) < halo:
        problems.append("that is less: rows went another way")
    return problems + job.check_profiles(0, 1)


def staged(job):
    """Halo exchange for Debian's MPI, which is not CUDA-aware."""
    return verified(job, "staged through pinned host memory")


def device_pointers(job):
    return verified(job, "device pointers, handed to MPI", "--halo", "device")


ENDLESS = ["--sweeps", "100000", "--patience", "0"]
SURVIVOR = [r"^poisson_mpi: rank 0 on alpha was ended by SIGTERM while it exchanged rows with rank 1 on beta$",
            r"^warpgrind: rank 0 of 2 on alpha was ended by a signal \(Terminated\) before its program was done\n"
            r".*a host is down.*\n.*start the job again without it \(mpirun -H\)\n  profile of the run until then .*p\.rank0\.json$"]


def host_killed(job):
    """All processes of beta end at once, as when its power fails but the network still answers for it. What Open MPI says
    differs: the rank's connection breaks, or mpirun's own."""
    job.start(*ENDLESS, mpi=GENTLE)
    job.until_rows_travel()
    os.kill(job.beta.pid, signal.SIGKILL)
    problems = job.finish(False, SURVIVOR)
    job.until_nothing_runs()
    return problems + job.check_profiles(0)


def link_down(job):
    """No host answers the other: found by the probes of the operating systems, which answer however busy the ranks are. What Open
    MPI says differs here, too: that it lost a daemon, or that it could not start one reliably."""
    probes = ["--mca", "oob_tcp_keepalive_time", "5", "--mca", "oob_tcp_keepalive_intvl", "1", "--mca", "oob_tcp_keepalive_probes", "3"]
    job.start(*ENDLESS, mpi=[*GENTLE, *probes])
    job.until_rows_travel()
    job.alpha.run("ip", "link", "set", job.alpha.interface, "down")
    problems = job.finish(False, SURVIVOR)
    job.until_nothing_runs()  # on beta, too, where the daemon has lost mpirun
    return problems + job.check_profiles(0, 1)


def rank_killed(job):
    """The program of one rank, as when memory runs out: warpgrind, which started it, says so at once."""
    job.start(*ENDLESS, mpi=GENTLE)
    job.until_rows_travel()
    os.kill(job.process_of_rank(1), signal.SIGKILL)
    problems = job.finish(False, [*SURVIVOR,
                                  r"^warpgrind: rank 1 of 2 on beta was ended by a signal \(Killed\) before its program was done\n"
                                  r".*ends the other ranks now\n  profile of the run until then .*: none: it was killed"])
    job.until_nothing_runs()
    return problems + job.check_profiles(0)


def rank_stopped(job):
    """A rank that neither ends nor sends: its neighbour's patience ends the job."""
    job.start("--sweeps", "100000", "--patience", "3", mpi=GENTLE)
    job.until_rows_travel()
    os.kill(job.process_of_rank(1), signal.SIGSTOP)
    problems = job.finish(False, [r"^poisson_mpi: rank 0 on alpha: no rows were exchanged with rank 1 on beta for 3 s: .*mpirun -H"])
    job.until_nothing_runs()
    return problems + job.check_profiles(0, 1)  # mpirun wakes what it ends


CASES = [staged, device_pointers, host_killed, link_down, rank_killed, rank_stopped]


def start_again_inside(build):
    """Why that is not possible here; else it does not return."""
    for tool, package in TOOLS.items():
        if not shutil.which(tool):
            return f"{tool} is not installed ({package})"
    if not program_of(build).exists():
        return "poisson_mpi was not built"
    link = "ip link add wg0 type veth peer name wg1"
    for own in (OWN, ["--map-root-user", *OWN]):  # as root, or where any user may have namespaces
        if subprocess.run(["unshare", *own, "sh", "-c", link], capture_output=True).returncode == 0:
            os.environ[INSIDE] = "1"
            os.execvp("unshare", ["unshare", *own, sys.executable, *sys.argv])
    return f"this system does not let us make network namespaces with a link (unshare --net; {link})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("name", nargs="?")
    args = parser.parse_args()
    if args.list:
        print("\n".join(c.__name__ for c in CASES))
        return 0
    case, build = next(c for c in CASES if c.__name__ == args.name), args.build.resolve()
    if not os.environ.pop(INSIDE, None):
        print("skipped:", start_again_inside(build))
        return SKIP
    with tempfile.TemporaryDirectory(prefix="hosts-") as folder:
        job = Job(build, pathlib.Path(folder))
        problems = case(job)
        for problem in problems:
            print("FAILED:", problem)
        if problems:
            print(job.said())
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
