"""Tools of `warpgrind mcp` on programs that run in its sandbox: runs_test.py WARPGRIND [CASE...]. Exit code 77 (skipped, with the reason)
where no sandbox can be made."""
import os
import pathlib
import signal
import subprocess
import time

from mcp_client import Client, await_gone, equal, has, main, processes_with, skip

HERE = pathlib.Path(__file__).resolve().parent
SLOW = (HERE / "slow_transpose.cu").read_text()
FAST = (HERE / "tiled_transpose.cu").read_text()
RACE = """#include <cstdio>
__global__ void shift(int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[(threadIdx.x + 40) % 256];
}
int main() {
  int* out;
  cudaMalloc(&out, 1024);
  shift<<<1, 256>>>(out);
  printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(out);
}
"""
# A launch that is refused, and a program that calls this a success.
FOOLED = """#include <cstdio>
__global__ void fill(float* p) { p[threadIdx.x] = 1; }
int main() {
  float* p;
  cudaMalloc(&p, 8192);
  fill<<<1, 2048>>>(p);
  puts("PASS");
  cudaFree(p);
}
"""
ENDLESS = """#include <cstdio>
__global__ void spin(volatile int* p) { while (*p == 0) {} }
int main(int, char** words) {
  int* p;
  cudaMalloc(&p, 4);
  cudaMemset(p, 0, 4);
  spin<<<1, 32>>>(p);
  printf("%s %d\\n", words[1], (int)cudaDeviceSynchronize());
}
"""


def start(warpgrind, folder, *options, before=()):
    client = Client(warpgrind, *options, folder=folder, before=before)
    text = client.initialize()["instructions"]
    if "allows no sandbox" in text:
        skip(client.call("run", source="int main() {}").text)
    return client


def case_tools(warpgrind, folder):
    """Each tool with what works and what does not; the runs of one serve the next."""
    client = start(warpgrind, folder)
    slow = client.call("run", source=SLOW, expect_output="PASS", expect=["global_store_sectors_per_request <= 4"], metrics=["shared_load_requests"])
    run = slow.structured
    equal((slow.is_error, run["status"], run["verified"], run["run"], run["expectations_hold"], run["never_ran"]), (False, "ran", True, "r1", False, ["scale(float*)"]))
    kernel = run["kernels"][0]
    equal((kernel["global_stores"]["sectors_per_request"], kernel["global_loads"]["sectors_per_request"], kernel["bound_by"] != ""), (32, 4, True))
    equal(kernel["advice"][0]["at"], ["main.cu:6"])
    equal(kernel["metrics"], {"shared_load_requests": "0 (exact)"})
    has(slow.text, "RUN r1: main.cu on a virtual h200: exit code 0", "VERIFIED as far as the program's own test goes", "PASS\n", "estimated", "Kernels that NEVER RAN: scale(float*)",
        "the condition at main.cu:6 had the same outcome for all threads", "FAILS for transpose: 32 sector", 'explain {"run": "r1", "kernel": "transpose", "line": 6}')
    assert len(slow.text) < 8000, "2,000 tokens"

    drawn = client.call("explain", run="r1", line=6)
    has(drawn.text, "32 sectors (ideal 4) in 32 lines")
    equal([(a["kind"], a["sectors"]) for a in drawn.structured["accesses"]], [("load", 4), ("store", 32)])
    has(client.call("explain", run="r1").text, "line 6 is the one that costs most")
    has(client.call("explain", run="r1", line=3).text, "lines with accesses: main.cu: 6")

    (folder / "fast.cu").write_text(FAST)
    (folder / "size.h").write_text("constexpr int kSize = 1000;\n")
    changed = client.call("diff", before={"run": "r1"}, after={"path": "fast.cu"}, kernels=[{"before": "transpose", "after": "tiled"}],
                          expect_output="PASS")
    has(changed.text, "r2: VERIFIED", "DIFF from r1 (main.cu) to r2 (fast.cu)", "KERNEL transpose -> tiled", "times FASTER (estimated)", "excessive sectors", "better")
    assert changed.structured["kernels"][0]["time_us_after"] < changed.structured["kernels"][0]["time_us_before"]
    has(client.call("diff", before={"run": "r1"}, after={"run": "r2"}).text, "KERNEL transpose -> tiled")

    part = client.call("run", path="fast.cu", blocks=32, expect_output="PASS")
    equal((part.structured["status"], part.structured["verified"], part.structured["kernels"][0]["grid"]), ("ran", False, "(32,32,1)"))
    has(part.text, "NOT VERIFIED: only about 32 blocks", "scaled from some of the blocks")
    # A run that fails decides nothing.
    failed = client.call("diff", before={"run": "r1"}, after={"source": SLOW.replace("out[x * kSize + y]", "out[y * kSize + x]")})
    has(failed.text, "r4 did NOT end well: exit code 1", "NO VERDICT on the time")

    found = client.call("check", source=RACE)
    equal((found.structured["status"], found.structured["findings"][0]["kind"], found.structured["findings"][0]["severity"]), ("findings", "race-shared", "ERROR"))
    has(found.text, "race-shared", "main.cu:4", "main.cu:5", "__syncthreads")

    broken = client.call("check", source="int main() {")
    equal((broken.is_error, broken.structured["status"]), (True, "did_not_compile"))
    has(broken.text, "DID NOT COMPILE", "main.cu:1:13: error")

    seen = client.call("scan", path="fast.cu")
    equal([k["name"] for k in seen.structured["kernels"]], ["tiled(float const*, float*)"])
    has(seen.text, "Everything in it is supported")
    equal(client.end(), 0)


def case_judge(warpgrind, folder):
    client = start(warpgrind, folder)
    names = [e["name"] for e in client.call("exercise", action="list").structured["exercises"]]
    assert "vector_add" in names, names
    task = client.call("exercise", action="text", name="vector_add")
    has(task.text, "SKELETON", "hints")
    has(client.call("exercise", action="hint", name="vector_add", step=1).text, "Hint 1 of")
    judged = client.call("exercise", action="check", name="vector_add", source=task.structured["skeleton"])
    equal((judged.is_error, judged.structured["passed"]), (False, False))
    has(judged.text, "vector_add: NOT PASSED", "passed: it compiles", "failed: the results are right")
    equal(client.end(), 0)


def case_fooled(warpgrind, folder):
    """A program that says PASS and never ran its kernel is not verified; in a sandbox, too, the failed launch is found."""
    client = start(warpgrind, folder)
    run = client.call("run", source=FOOLED, expect_output="PASS", expect=["time < 5 us"])
    equal((run.structured["status"], run.structured["verified"], run.structured["expectations_hold"]), ("no_kernel_ran", False, False))
    has(run.text, "NOT VERIFIED: the output contains `expect_output`, but no kernel ran", "NO KERNEL RAN", "launch refused: 2048 threads a block, at most 1024")
    check = client.call("check", source=FOOLED, expect_output="PASS")
    equal(check.structured["verified"], False)
    equal([f["kind"] for f in check.structured["findings"]], ["launch-config"])
    has(check.text, "NO KERNEL RAN, so nothing in a kernel was checked")
    equal(client.end(), 0)


def case_box(warpgrind, folder):
    """A program reads the server's folder, its arguments and its input, and nothing else."""
    client = start(warpgrind, folder)
    (folder / "data.txt").write_text("inside\n")
    outside = folder.parent / f"outside-{os.getpid()}.txt"
    outside.write_text("outside\n")
    (folder / "link").symlink_to(outside)
    (folder / "cat.cu").write_text("""#include <cstdio>
#include <cstdlib>
#include <unistd.h>
int main(int n, char** words) {
  char line[100];
  while (fgets(line, sizeof line, stdin)) printf("input %s", line);
  for (int i = 1; i < n; ++i) {
    FILE* file = fopen(words[i], "r");
    if (file && fgets(line, sizeof line, file)) printf("%s: %s", words[i], line);
    if (!file) printf("%s: not here\\n", words[i]);
  }
  printf("write: %s\\n", fopen("new.txt", "w") ? "yes" : "no");
  abort();
}
""")
    run = client.call("run", path="cat.cu", arguments=["data.txt", "link", str(outside), "/etc/passwd"], stdin="a b\n")
    outside.unlink()
    equal((run.structured["status"], (folder / "new.txt").exists()), ("failed", False))
    has(run.structured["output"], "input a b", "data.txt: inside", "link: not here", f"{outside}: not here", "/etc/passwd: not here", "write: no")
    has(run.text, "killed by signal 6", "nothing is known about its kernels")
    equal(client.end(), 0)


def begin_endless(client, word, **meta):
    number = client.begin("tools/call", {"name": "run", "arguments": {"source": ENDLESS, "arguments": [word]}, "_meta": meta})
    end = time.monotonic() + 120
    while not [p for p in processes_with(word) if " run " not in p and "sh -c" not in p]:
        assert time.monotonic() < end, "the program did not start"
        time.sleep(0.05)
    return number


def case_ends(warpgrind, folder):
    """Runs end when the client cancels them, closes the server's input, or kills the server; and by the limit. Nothing is left."""
    client = start(warpgrind, folder)
    word = f"endless-{os.getpid()}-a"
    number = begin_endless(client, word, progressToken="p")
    equal(client.ask("ping")["result"], {}, "while a call runs")
    progress, end = [], time.monotonic() + 60
    while not progress and time.monotonic() < end:
        time.sleep(0.1)
        client.ask("ping")  # also reads what came before the answer
        progress = [m["params"] for m in client.others if m.get("method") == "notifications/progress"]
    assert progress and progress[0]["progressToken"] == "p" and "running main.cu" in progress[0]["message"], progress
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, "reason": "test"}})
    await_gone(word)
    equal(client.ask("ping")["result"], {})
    assert not [m for m in client.others if m.get("id") == number], "a cancelled request gets no answer"
    word = f"endless-{os.getpid()}-b"
    begin_endless(client, word)
    equal(client.end(30), 0, "the input is closed")
    await_gone(word)
    client = start(warpgrind, folder)
    word = f"endless-{os.getpid()}-c"
    begin_endless(client, word)
    client.process.send_signal(signal.SIGKILL)
    await_gone(word)
    client = start(warpgrind, folder, "--seconds", "8")
    limited = client.call("run", source=ENDLESS, arguments=["x"])
    assert limited.structured["status"] in ("failed", "faulted"), limited.text
    # The kernel that did not end, unless the machine is so busy that it got no time.
    assert "spin" in limited.text or "not done after" in limited.text, limited.text
    assert "NEVER RAN" not in limited.text, limited.text
    equal(client.end(), 0)


def case_without_sandbox(warpgrind, folder):
    """Where no sandbox is possible, runs are refused, unless the user allows them without one."""
    before = ["unshare", "--user", "--map-root-user", "sh", "-c", 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"', "sh"]
    if subprocess.run([*before, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        skip("user namespaces cannot be forbidden here")
    client = Client(warpgrind, folder=folder, before=before)
    has(client.initialize()["instructions"], "Every run will be refused")
    for tool, more in [("run", {}), ("check", {}), ("scan", {}), ("explain", {}), ("exercise", {"action": "check", "name": "vector_add"})]:
        refused = client.call(tool, source="int main() {}", **more)
        equal((refused.is_error, refused.structured["status"]), (True, "refused"), tool)
        has(refused.text, "cannot be put into a sandbox on this machine", "--no-sandbox")
    has(client.call("exercise", action="list").text, "vector_add")
    equal(client.end(), 0)
    client = Client(warpgrind, "--no-sandbox", folder=folder, before=before)
    has(client.initialize()["instructions"], "NO SANDBOX")
    equal([t["annotations"]["readOnlyHint"] for t in client.ask("tools/list")["result"]["tools"]], [False] * 6)
    word = f"endless-{os.getpid()}-d"
    begin_endless(client, word)
    equal(client.end(30), 0, "the input is closed")
    await_gone(word)


if __name__ == "__main__":
    main({name[5:]: case for name, case in list(globals().items()) if name.startswith("case_")})
