#!/usr/bin/env python3
"""NCCL between two hosts: two network namespaces, joined by a pair of virtual interfaces. No root is needed.

  nccl_hosts.py TEST_LIBRARIES_NCCL

The first "host" has another network, which the second cannot reach and which comes first. Exit code 77: this system allows no namespaces."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TEST = "NcclProcesses.DISABLED_RankOfHosts"
# Of the first host: wg0 and wg1 are its other network, wghost0 leads to the second host.
NETWORK = """ip link set lo up
ip link add wg0 type veth peer name wg1
ip addr add 10.77.0.1/24 dev wg0
ip link set wg0 up
ip link set wg1 up
ip link add wghost0 type veth peer name wghost1 netns {other}
ip addr add 10.9.0.1/24 dev wghost0
ip link set wghost0 up"""
NETWORK_OF_OTHER = ["ip link set lo up", "ip addr add 10.9.0.2/24 dev wghost1", "ip link set wghost1 up"]


def start(program, under, rank, file, interfaces):
    environment = dict(os.environ, NCCL_TEST_RANK=str(rank), NCCL_TEST_FILE=str(file))
    environment.pop("NCCL_SOCKET_IFNAME", None)
    if interfaces is not None:
        environment["NCCL_SOCKET_IFNAME"] = interfaces
    return subprocess.Popen([*under, program, f"--gtest_filter={TEST}", "--gtest_also_run_disabled_tests"], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def try_hosts(program, under, folder, interfaces, expected):
    """expected: words of the root's output if it has to refuse; "": both ranks have to pass."""
    file = folder / f"id.{interfaces}"
    root = start(program, [], 0, file, interfaces)
    other = None if expected else start(program, under, 1, file, interfaces)
    said = other.communicate()[0] if other else ""
    if other and other.returncode != 0:
        root.kill()  # it would wait
    said = root.communicate()[0] + said
    good = expected in said and root.returncode != 0 if expected else root.returncode == other.returncode == 0
    print(f"{'passed' if good else 'FAILED'}: NCCL_SOCKET_IFNAME is {interfaces}" + ("" if good else "\n" + said), flush=True)
    return good


def inside(program):
    """In a namespace of its own, where it may change the network."""
    other = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; read end"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    other.stdout.readline()
    under = ["nsenter", f"--target={other.pid}", "--net"]
    commands = [line.split() for line in NETWORK.format(other=other.pid).splitlines()]
    for command in commands + [under + line.split() for line in NETWORK_OF_OTHER]:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"skipped: `{' '.join(command)}`: {done.stderr.strip()}")
            return 77
    with tempfile.TemporaryDirectory() as folder:
        cases = ((None, ""), ("wghost", ""), ("=wghost0,wghost1", ""), ("^wg0,lo", ""), ("none", "NCCL_SOCKET_IFNAME=none"))
        failed = sum(not try_hosts(program, under, pathlib.Path(folder), *case) for case in cases)
    other.stdin.close()
    other.wait()
    return 1 if failed else 0


def main():
    if len(sys.argv) == 3:
        return inside(sys.argv[1])
    missing = [name for name in ("unshare", "nsenter", "ip") if not shutil.which(name)]
    if missing:
        print(f"skipped: {missing[0]} is not installed")
        return 77
    namespace = ["unshare", "--user", "--map-root-user", "--net"]
    if subprocess.run([*namespace, "true"], capture_output=True).returncode != 0:
        print("skipped: this system allows no namespaces of a user")
        return 77
    return subprocess.run([*namespace, sys.executable, __file__, sys.argv[1], "inside"]).returncode


if __name__ == "__main__":
    sys.exit(main())
