"""The playground's server over HTTP: server_test.py WARPGRIND [CASE...]. Exit code 77 (skipped, with the reason) where it cannot be
started for lack of a sandbox or of the page."""
import gzip
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

SKIPPED = 77
HANG = 300  # seconds until something that never comes is given up

HELLO = '#include <cstdio>\nint main() { puts("hello"); }\n'
SLOW = '#include <cstdio>\n#include <unistd.h>\nint main() { puts("begun"); usleep(800000); puts("ended"); }\n'
KERNEL = """#include <cstdio>
%s
int main() {
  int* data;
  cudaMalloc(&data, 1 << 20);
  cudaMemset(data, 0, 1 << 20);
  %s
  printf("%%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(data);
}
"""


class Server:
    def __init__(self, warpgrind, folder, *options, port=0, jobs=1):
        self.process = subprocess.Popen([warpgrind, "serve", "--listen", str(port), "--data", f"{folder}/data.sqlite", "--jobs", str(jobs), *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        if not found:
            said = self.process.stderr.read()
            if "sandbox" in said or "playground" in said:
                print(f"skipped: {said.strip()}")
                sys.exit(SKIPPED)
            raise AssertionError(f"the server did not start: {line} {said}")
        self.port = int(found[1])

    def end(self, by=signal.SIGTERM):
        self.process.send_signal(by)
        code = self.process.wait(HANG)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def ask(self, method, path, body=None, **headers):
        """Status, headers and body; a header is named with _ for -."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG)
        sent = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
            body = body if isinstance(body, (bytes, str)) else json.dumps(body)
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, answer.headers, text


class User:
    def __init__(self, server):
        self.server = server
        self.cookie = server.ask("GET", "/")[1]["Set-Cookie"].split(";")[0]

    def ask(self, method, path, body=None):
        status, _, text = self.server.ask(method, path, body, Cookie=self.cookie)
        return status, json.loads(text)

    def begin(self, source, **more):
        status, answer = self.ask("POST", "/api/runs", {"source": source, "gpu": "h200", "mode": "run", **more})
        assert status == 200, answer
        return answer["id"]

    def follow(self, run):
        """Its end, with all its output, and the states that it was seen in."""
        at, attempt, state, output, states = 0, 0, "none", "", []
        while state != "done":
            status, answer = self.ask("GET", f"/api/runs/{run}?from={at}&attempt={attempt}&state={state}")
            assert status == 200, answer
            output = output + answer["output"] if answer["from"] else answer["output"]
            at, attempt, state = answer["next"], answer.get("attempt", 0), answer["state"]
            states.append(state)
        return {**answer, "all": output, "states": states}

    def await_begun(self, run):
        while "begun" not in self.ask("GET", f"/api/runs/{run}?from=0&attempt=1&state=running")[1]["output"]:
            time.sleep(0.01)

    def run(self, source, **more):
        return self.follow(self.begin(source, **more))


def equal(got, wanted, what=""):
    assert got == wanted, f"{what}: {got!r}, should be {wanted!r}"


def program(kernel, launch):
    return KERNEL % (kernel, launch)


COPY = program("__global__ void k(int* d) { d[threadIdx.x * 8] = 1; }", "k<<<1, 32>>>(data);")
RACE = program("__global__ void k(int* d) { d[0] = threadIdx.x; }", "k<<<1, 64>>>(data);")


def case_results(warpgrind, folder):
    server = Server(warpgrind, folder)
    user = User(server)
    run = user.begin(COPY, gpu="a100")
    end = user.follow(run)
    equal((end["all"], end["ending"], end["good"], end["report"]), ("no error\n", "exit code 0", True, True), "run")
    status, report = user.ask("GET", f"/api/runs/{run}/report")
    equal((status, report["profiles"][0]["model"]["id"]), (200, "a100"), "report")
    compared = user.begin(COPY.replace("* 8", ""), before=run)
    assert user.follow(compared)["good"]
    kernels = user.ask("GET", f"/api/runs/{compared}/report")[1]["baseline"]["kernels"]
    assert "better" in json.dumps(kernels), kernels
    equal(user.ask("GET", f"/api/runs/{compared}/report")[0], 200)
    checked = user.begin(RACE, mode="check")
    end = user.follow(checked)
    equal(end["good"], False, "the exit code reports a race")
    assert "race" in json.dumps(user.ask("GET", f"/api/runs/{checked}/report")[1]["profiles"][0]["findings"]), end
    wrong = user.run("int main() { return x; }")
    assert re.search(r"main\.cu:1:21: error: use of undeclared identifier", wrong["all"]), wrong
    words = user.run(COPY.replace("int main() {", "int main(int n, char** v) { for (int i = 1; i < n; ++i) puts(v[i]);"), arguments="one --two")
    assert words["all"].startswith("one\n--two\n"), words
    equal(server.end(), 0, "the server's exit code")


def case_steps(warpgrind, folder):
    server = Server(warpgrind, folder)
    user = User(server)
    for mode, block in (("steps", [0, 0, 0]), ("steps 1,0,0", [1, 0, 0])):
        run = user.begin(COPY.replace("<<<1,", "<<<2,"), mode=mode)
        end = user.follow(run)
        assert end["good"] and end["report"], end
        recordings = user.ask("GET", f"/api/runs/{run}/report")[1]["profiles"][0]["recordings"]
        equal([(r["name"], r["index"]) for r in recordings], [("k(int*)", block)], mode)
        assert recordings[0]["steps"], recordings
    for wrong in ("steps ", "steps 1,2", "steps 1,2,3,4", "steps 1,2,-3", "steps 1,2,3 --json /x", "stepsx"):
        body = {"source": COPY, "gpu": "h200", "mode": wrong}
        equal(user.ask("POST", "/api/runs", body)[0], 400, wrong)
    equal(server.end(), 0, "the server's exit code")


def case_judge(warpgrind, folder):
    exercise = pathlib.Path(__file__).resolve().parents[2] / "exercises/vector_add"
    server = Server(warpgrind, folder)
    user = User(server)
    for file, good, said in (("skeleton.cu", False, "not yet"), ("solution.cu", True, "solved")):
        end = user.run((exercise / file).read_text(), mode="judge", exercise="vector_add")
        assert end["good"] == good and said in end["all"], f"{file}: {end}"
    equal(server.end(), 0, "the server's exit code")


def case_output_comes_while_it_runs(warpgrind, folder):
    server = Server(warpgrind, folder)
    user = User(server)
    run = user.begin(SLOW)
    at, attempt, state, seen = 0, 0, "none", []
    while state != "done":
        answer = user.ask("GET", f"/api/runs/{run}?from={at}&attempt={attempt}&state={state}")[1]
        at, attempt, state = answer["next"], answer.get("attempt", 0), answer["state"]
        seen.append((state, answer["output"]))
    assert any(s == "running" and "begun" in o and "ended" not in o for s, o in seen), seen
    server.end()


# The page's files are compressed, and a browser that has them does not get them again.
def case_page_is_sent_once(warpgrind, folder):
    server = Server(warpgrind, folder)
    first = 0
    for path in re.findall(r'(?:src|href)="(/playground[^"]*)"', server.ask("GET", "/")[2].decode()):
        status, headers, text = server.ask("GET", path, Accept_Encoding="gzip")
        equal((status, headers["Content-Encoding"], headers["Vary"]), (200, "gzip", "Accept-Encoding"), path)
        assert gzip.decompress(text) == server.ask("GET", path)[2], f"{path}: compressed it is another text"
        again = server.ask("GET", path, Accept_Encoding="gzip", If_None_Match=headers["ETag"])
        equal((again[0], again[2], again[1]["ETag"]), (304, b"", headers["ETag"]), path)
        equal(server.ask("GET", path, If_None_Match='"another"')[0], 200, path)
        equal(headers.get_all("Cache-Control"), ["no-cache"], path)
        first += len(text) if "licences" not in path else 0
    assert 50_000 < first < 300_000, f"a first visit loads {first} bytes"
    equal(server.ask("GET", "/api/start")[1].get_all("Cache-Control"), ["no-store"], "answers")
    equal(server.end(), 0)


# Beginners find the first exercise first: the order is that of `warpgrind exercise list`, and the lab's that of the chapters.
def case_starts_are_in_order(warpgrind, folder):
    root = pathlib.Path(__file__).resolve().parents[2]
    server = Server(warpgrind, folder)
    starts = [start["name"] for start in json.loads(server.ask("GET", "/api/start")[2])["starts"]]
    exercises = sorted((json.loads(path.read_text())["order"], f"exercise/{path.parent.name}") for path in root.glob("exercises/*/exercise.json"))
    equal([name for name in starts if name.startswith("exercise/")], [name for _, name in exercises], "exercises")
    topics = [name.removeprefix("lab/") for name in starts if name.startswith("lab/")]
    order = json.loads((root / "lab/course/course.json").read_text())["order"]
    equal(topics, sorted(topics, key=order.index), "topics")
    assert len(topics) > 5, topics
    equal(server.end(), 0)


def case_refusals(warpgrind, folder):
    server = Server(warpgrind, folder)
    user, other = User(server), User(server)
    good = {"source": HELLO, "gpu": "h200", "mode": "run"}
    headers = server.ask("GET", "/")[1]
    assert "script-src 'self';" in headers["Content-Security-Policy"] and "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    cookie = headers["Set-Cookie"]
    assert re.search(r"=[0-9a-f]{32};", cookie) and "HttpOnly" in cookie and "SameSite=Strict" in cookie, cookie
    equal(server.ask("POST", "/api/runs", good)[0], 401, "without a session")
    equal(server.ask("POST", "/api/runs", good, Cookie="warpgrind_session=" + "0" * 32)[0], 401, "with an invented one")
    for what, headers in {"another site": {"Origin": "http://evil.example"}, "another port": {"Origin": "http://127.0.0.1:1"},
                          "an opaque origin": {"Origin": "null"}, "a link": {"Sec_Fetch_Site": "cross-site"},
                          "a form": {"Content_Type": "text/plain"}, "a rebound name": {"Host": "evil.example"}}.items():
        equal(server.ask("POST", "/api/runs", good, Cookie=user.cookie, **headers)[0], 403, what)
    equal(server.ask("GET", "/", Host="evil.example")[0], 403, "a rebound name")
    equal(server.ask("GET", "/", Host=f"localhost:{server.port}")[0], 200)
    equal(server.ask("POST", "/api/runs", "x" * (2 << 20), Cookie=user.cookie)[0], 413, "too long")
    for what, body in {"no JSON": "{", "no object": "[]", "a number": {**good, "source": 1}, "no such GPU": {**good, "gpu": "h9"},
                       "a file for a GPU": {**good, "gpu": "/etc/passwd"}, "no such mode": {**good, "mode": "nvcc"},
                       "no such exercise": {**good, "exercise": "../lab"}, "nothing to judge": {**good, "mode": "judge"},
                       "long arguments": {**good, "arguments": "x" * 5000}}.items():
        equal(server.ask("POST", "/api/runs", body, Cookie=user.cookie)[0], 400, what)
    equal(user.ask("POST", "/api/runs", {**good, "source": "x" * 300000})[0], 413, "a long program")
    run = user.begin(HELLO)
    equal(other.ask("GET", f"/api/runs/{run}?from=0")[0], 404, "another user's run")
    equal(other.ask("POST", f"/api/runs/{run}/cancel", {})[0], 404, "another user's run")
    user.follow(run)
    equal(other.ask("GET", f"/api/runs/{run}?from=0")[0], 404, "another user's run that has ended")
    equal(other.ask("GET", f"/api/runs/{run}/report")[0], 404, "and its report")
    for path in ("/api/starts/short/nothing", "/api/starts/lab/../../etc/passwd", "/api/starts/exercise/..%2f..%2fetc", "/api/programs/" + "0" * 32, "/x"):
        equal(server.ask("GET", path)[0], 404, path)
    for _ in range(12):
        status = user.ask("POST", "/api/runs", {**good, "source": SLOW})[0]
    equal(status, 429, "more runs than one may have waiting")
    server.end()
    refused = subprocess.run([warpgrind, "serve", "--public", "--no-sandbox", "--listen", "0.0.0.0:0", "--data", f"{folder}/x"],
                             capture_output=True, text=True, check=False)
    equal((refused.returncode, "--no-sandbox" in refused.stderr), (2, True), "no sandbox for others")
    for listen in ("0.0.0.0:0", "[::]:0"):
        refused = subprocess.run([warpgrind, "serve", "--listen", listen, "--data", f"{folder}/x"], capture_output=True, text=True, check=False)
        equal(refused.returncode, 2, listen)
        assert "--public" in refused.stderr, refused.stderr


def raw(server, *pieces, most=1 << 16):
    """Sends the pieces as they are, until the server stops reading, and returns the first bytes of its answer."""
    answer = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=HANG) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
        except OSError:  # it has answered and closed
            pass
        try:
            while len(answer) < most and (more := connection.recv(1 << 16)):
                answer += more
        except ConnectionResetError:
            pass
    return answer


def status_of(answer):
    found = re.match(rb"HTTP/1\.1 (\d+) ", answer)
    return int(found[1]) if found else answer[:100]


def resident_mib(process):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) // 1024


LINE = b"GET / HTTP/1.1\r\n"
HOST = b"Host: 127.0.0.1\r\n"


def case_requests_have_limits(warpgrind, folder):
    server = Server(warpgrind, folder)
    user = User(server)
    post = b"POST /api/runs HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nCookie: " + user.cookie.encode() + b"\r\n"
    script = server.ask("GET", "/playground.js")[2]
    status, headers, ranged = server.ask("GET", "/playground.js", Range="bytes=" + "0-," * 20 + "0-")
    equal((status, len(ranged), headers["Content-Length"]), (200, len(script), str(len(script))), "ranges are ignored")
    a_mib = b"A" * (1 << 20)
    for what, wanted, pieces in (
            ("8 KiB of ranges", 200, [b"GET /playground.css HTTP/1.1\r\n", HOST, b"Range: bytes=", b"0-," * 2600, b"0-\r\nConnection: close\r\n\r\n"]),
            ("a request line without end", 431, [b"GET /", a_mib, a_mib]),
            ("a header without end", 431, [LINE, HOST, b"X: ", a_mib, a_mib]),
            ("headers without end", 431, [LINE, HOST, *(b"X%d: %s\r\n" % (i, b"y" * 4000) for i in range(1000))]),
            ("a hundred headers", 431, [LINE, HOST, *(b"X%d: y\r\n" % i for i in range(100)), b"\r\n"]),
            ("chunks", 411, [post, b"Transfer-Encoding: chunked\r\n\r\n", *[b"100000\r\n" + a_mib + b"\r\n"] * 8]),
            ("a long body", 413, [post, b"Content-Length: 9000000000000000000\r\n\r\n"]),
            ("a negative length", 400, [post, b"Content-Length: -1\r\n\r\n{}"]),
            ("two lengths", 400, [post, b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"]),
            ("two hosts", 400, [LINE, HOST, b"Host: evil.example\r\n\r\n"]),
            ("another protocol", 400, [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"]),
            ("another site's path", 400, [b"GET http://evil.example/ HTTP/1.1\r\n", HOST, b"\r\n"]),
            ("deep JSON", 400, [post, b"Content-Length: 1000000\r\nConnection: close\r\n\r\n", b"[" * 1000000])):
        answer = raw(server, *pieces)
        if wanted == 200:
            wanted, answer = f"{len(server.ask('GET', '/playground.css')[2])}", re.search(rb"Content-Length: (\d+)", answer)[1].decode()
            equal(answer, wanted, what)
            continue
        equal(status_of(answer), wanted, what)
    both = raw(server, LINE + HOST + b"\r\nHEAD /playground.css HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
    equal(both.count(b"HTTP/1.1 200 OK"), 2, "two requests in one piece")
    assert b"text/css" in both.split(b"</html>")[1] and both.endswith(b"\r\n\r\n"), both[-300:]
    body = json.dumps({"source": HELLO, "gpu": "h200", "mode": "run"}).encode()
    continued = raw(server, post, b"Expect: 100-continue\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body), body)
    assert continued.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK"), continued
    assert resident_mib(server.process) < 200, f"{resident_mib(server.process)} MiB"
    server.end()


def case_slow_clients(warpgrind, folder):
    """Clients that send or read slowly, more of them than there may be connections, keep nobody else waiting."""
    server = Server(warpgrind, folder)
    slow, end = [], threading.Event()

    def connect(request):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=HANG)
        connection.sendall(request)
        slow.append(connection)

    def drip():
        while not end.wait(0.5):
            for connection in slow:
                try:
                    connection.sendall(b"a")
                except OSError:
                    pass

    for i in range(600):
        connect((LINE + HOST + b"X: ", b"G", b"POST /api/runs HTTP/1.1\r\nContent-Length: 1000000\r\n" + HOST + b"\r\n" + b"x" * 50000)[i % 3])
    dripping = threading.Thread(target=drip, daemon=True)
    dripping.start()
    user = User(server)
    equal(user.run(COPY)["ending"], "exit code 0", "a run beside slow senders")
    for _ in range(600):
        connect(b"GET /playground.js HTTP/1.1\r\n" + HOST + b"\r\n")
    equal(user.run(COPY)["ending"], "exit code 0", "a run beside slow readers")
    assert resident_mib(server.process) < 200, f"{resident_mib(server.process)} MiB"
    end.set()
    dripping.join(HANG)
    for connection in slow:
        connection.close()
    server.end()
    server = Server(warpgrind, folder, "--connections", "3")
    slow = []
    for _ in range(4):
        connect(LINE)
    equal(slow[0].recv(1), b"", "the oldest of four connections of an address that may have three")
    equal(server.ask("GET", "/")[0], 200)
    server.end()


def case_endless_kernel(warpgrind, folder):
    """The run ends by itself, long before its limits, and its output names the line that loops."""
    server = Server(warpgrind, folder)
    end = User(server).run(program("__global__ void k(volatile int* d) { while (d[0] == 0) {} }", "k<<<1, 32>>>(data);"))
    assert "the kernel made no progress" in end["all"] and "main.cu:2" in end["all"], end
    assert end["ending"].startswith("exit code"), end
    server.end()


def case_large_files(warpgrind, folder):
    """A file of 250 MiB, which has no content, named as the profile: it does not get into the database."""
    server = Server(warpgrind, folder)
    end = User(server).run("#include <cstdio>\n#include <fcntl.h>\n#include <signal.h>\n#include <sys/syscall.h>\n#include <unistd.h>\nint main() {\n"
                           '  int f = open("profile.json", O_RDWR | O_CREAT, 0644);\n  printf("%d\\n", ftruncate(f, 250l << 20));\n'
                           "  fflush(stdout);\n  kill(getppid(), 9);\n  syscall(SYS_exit_group, 0);\n}\n")
    assert end["all"].startswith("0\n"), end
    kept = sum(path.stat().st_size for path in pathlib.Path(folder).iterdir())
    assert kept < 1 << 20, f"the database has {kept} bytes"
    assert "the profile has more than 8 MiB" in end["output"], end
    equal(end["comparable"], False)
    server.end()


def case_without_sandbox(warpgrind, folder):
    server = Server(warpgrind, folder, "--no-sandbox", "--cpu-seconds", "3")
    user = User(server)
    end = user.run(COPY)
    equal((end["all"], end["ending"], end["report"]), ("no error\n", "exit code 0", True), "a run")
    assert user.run('#include <cstdio>\nint main() { for (;;) puts("all work and no play"); }')["ending"].startswith("stopped: more than 1024 KiB")
    run = user.begin(SLOW.replace("800000", "100000000"))
    user.await_begun(run)
    user.ask("POST", f"/api/runs/{run}/cancel", {})
    equal(user.follow(run)["ending"], "stopped on request")
    server.end()


def case_twenty_users(warpgrind, folder):
    server = Server(warpgrind, folder)
    users = [User(server) for _ in range(20)]
    order, lock = [], threading.Lock()
    # One has four runs before the others come, and no one waits for more than one of his.
    runs = [(0, users[0].begin(SLOW))] + [(0, users[0].begin("x")) for _ in range(3)]
    runs += [(i, users[i].begin("x")) for i in range(1, 20)]

    def follow(index, run):
        users[index].follow(run)
        with lock:
            order.append(run)

    threads = [threading.Thread(target=follow, args=one) for one in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG)
    equal(len(order), 23, "all have ended")
    first = order.index(runs[1][1])
    others = max(order.index(run) for index, run in runs if index)
    # They hear of it side by side, so that the last two may be seen in another order.
    assert first >= others - 1, f"his second was the {first}th of 23, the others' last the {others}th"
    server.end()


def case_restart(warpgrind, folder):
    server = Server(warpgrind, folder)
    user = User(server)
    kept = user.ask("POST", "/api/programs", {"source": HELLO, "gpu": "t4"})[1]["id"]
    done = user.begin("int main() { return y; }")
    before = user.follow(done)
    for by in (signal.SIGKILL, signal.SIGTERM):
        run = user.begin(SLOW)
        waiting = user.begin(COPY)
        user.await_begun(run)
        server.end(by)
        server = Server(warpgrind, folder, port=server.port)
        user.server = server
        equal(user.follow(run)["all"].split("\nwarpgrind")[0].strip(), "begun\nended", f"what ran at {by.name} is run again")
        equal(user.follow(waiting)["ending"], "exit code 0", f"what waited at {by.name} is run")
    equal(user.ask("GET", f"/api/programs/{kept}"), (200, {"source": HELLO, "gpu": "t4", "exercise": ""}), "a kept program")
    equal(user.follow(done)["all"], before["all"], "an old result")
    server.end()


def has_children(process):
    return any(path.read_text().strip() for path in pathlib.Path(f"/proc/{process.pid}/task").glob("*/children"))


def case_workers(warpgrind, folder):
    """Two workers, one of which is killed in the middle of a run: the run is run again, and nothing is lost."""
    broker_program = shutil.which("redis-server")
    if not broker_program:
        print("skipped: redis-server is not installed (CI=1 scripts/setup.sh installs it)")
        sys.exit(SKIPPED)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    pathlib.Path(folder, "password").write_text("secret\n")
    broker = subprocess.Popen([broker_program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder, "--requirepass", "secret"],
                              stdout=subprocess.DEVNULL)
    to_broker = ["--broker", f"127.0.0.1:{port}", "--broker-password", f"{folder}/password"]
    for _ in range(HANG):
        if socket.socket().connect_ex(("127.0.0.1", port)) == 0:
            break
        time.sleep(0.1)
    wrong = subprocess.run([warpgrind, "serve", "--worker", "--broker", f"127.0.0.1:{port}", "--broker-password", "/etc/hostname"],
                           capture_output=True, text=True, check=False)
    equal((wrong.returncode, "password" in wrong.stderr), (2, True), "a wrong password")
    server = Server(warpgrind, folder, *to_broker, jobs=2)
    users = [User(server) for _ in range(3)]
    waiting = users[2].begin(HELLO)  # before there is a worker
    workers = [subprocess.Popen([warpgrind, "serve", "--worker", *to_broker, "--lost-after", "1"], stdout=subprocess.DEVNULL) for _ in range(2)]
    assert users[2].follow(waiting)["all"].startswith("hello"), "what waited for a worker"
    run = users[0].begin(SLOW.replace("800000", "2500000"))
    users[0].await_begun(run)
    victim = next(w for w in workers if has_children(w))
    victim.kill()
    victim.wait()
    other = users[1].run(COPY)
    equal((other["all"], other["ending"], other["report"]), ("no error\n", "exit code 0", True), "another's run")
    end = users[0].follow(run)
    assert end["all"].startswith("begun\nended\n"), f"what the killed worker ran is run again: {end}"
    # A run is cancelled at its worker; and one that is under way goes on while the server is started again.
    run = users[0].begin(SLOW.replace("800000", "100000000"))
    users[0].await_begun(run)
    users[0].ask("POST", f"/api/runs/{run}/cancel", {})
    equal(users[0].follow(run)["ending"], "stopped on request")
    run = users[0].begin(SLOW)
    users[0].await_begun(run)
    server.end(signal.SIGKILL)
    server = Server(warpgrind, folder, *to_broker, port=server.port)
    users[0].server = server
    assert users[0].follow(run)["all"].startswith("begun\nended\n")
    server.end()
    for process in (workers[0] if workers[1] is victim else workers[1], broker):
        process.terminate()
        equal(process.wait(HANG), 0)


# What a hostile program may do to the compiler and to the virtual GPU. Each must end, with a message that fits, and the next
# program run as ever.
HOSTILE = {
    "endless include": ('#include "/dev/zero"\nint main() {}\n', r"stopped: |exit code"),
    "include of a secret": ('#include "/etc/passwd"\nint main() {}\n', r"exit code 2"),
    "include of the server's data": ('#include "DATA"\nint main() {}\n', r"exit code 2"),
    "assembler's include": ('asm(".incbin \\"/etc/passwd\\"");\nint main() {}\n', r"exit code 2"),
    "template bomb": ("template <int N> struct T { static constexpr long v = T<N - 1>::v + T<N - 2>::v * N; };\n"
                      "template <int A, int B> struct U { static constexpr long v = U<A - 1, B * 2>::v + U<A - 1, B * 2 + 1>::v; };\n"
                      "template <int B> struct U<0, B> { static constexpr long v = 1; };\nint main() { return U<24, 1>::v; }\n", r"stopped: |exit code 2"),
    "kernel that hangs": (program("__global__ void k(volatile int* d) { while (d[0] == 0) {} }", "k<<<1, 32>>>(data);"), r"exit code|stopped: "),
    "huge grid": (program("__global__ void k(int* d) { atomicAdd(d, 1); }", "k<<<2147483647, 1024>>>(data);"), r"stopped: "),
    "memory of the GPU": ("#include <cstdio>\nint main() { void* p; for (;;) if (cudaMalloc(&p, 64 << 20) == cudaSuccess) cudaMemset(p, 1, 64 << 20); }\n", r"stopped: "),
    "forged report": ('#include <cstdio>\n#include <cstdlib>\nint main() { void* p; cudaMalloc(&p, 4); atexit([] {}); FILE* f = fopen("report.html", "w"); '
                      'fputs("<script id=\\"data\\">{\\"title\\":1}</script><script>alert(1)</script>", f); fclose(f); _Exit(0); }\n', r"."),
    "links out": ('#include <unistd.h>\nint main() { unlink("report.html"); symlink("/etc/passwd", "report.html"); symlink("/etc/passwd", "profile.json"); _exit(0); }\n', r"."),
    "kills its parents": ('#include <signal.h>\nint main() { kill(-1, 9); }\n', r"exit code|killed"),
}


# What might harm the run of another user.
BESIDE = {
    "fork bomb": "#include <unistd.h>\nint main() { for (;;) fork(); }\n",
    "memory": "#include <cstdlib>\n#include <cstring>\nchar* volatile p;\nint main() { for (;;) { p = (char*)malloc(1 << 20); memset(p, 1, 1 << 20); } }\n",
}


def case_hostile(warpgrind, folder):
    server = Server(warpgrind, folder, "--cpu-seconds", "3", "--memory", "512", jobs=2)
    user = User(server)
    for name, (source, wanted) in HOSTILE.items():
        run = user.begin(source.replace("DATA", f"{folder}/data.sqlite"))
        end = user.follow(run)
        assert re.search(wanted, end["ending"]), f"{name}: {end['ending']}\n{end['all'][:1000]}"
        assert "root:" not in end["all"], f"{name}: {end['all'][:1000]}"
        status, report = user.ask("GET", f"/api/runs/{run}/report")
        assert status == 404 or "root:" not in json.dumps(report), name
        print(f"  {name}: {end['ending']}", flush=True)
    neighbour = User(server)
    for name, source in BESIDE.items():
        bad = user.begin(source)
        end = neighbour.run(COPY)
        equal((end["all"], end["ending"]), ("no error\n", "exit code 0"), f"a program beside: {name}")
        end = user.follow(bad)
        assert end["ending"].startswith("stopped: "), f"{name}: {end}"
        print(f"  {name}: {end['ending']}", flush=True)
    server.end()


def main():
    warpgrind = os.path.abspath(sys.argv[1])
    cases = {name[5:]: f for name, f in globals().items() if name.startswith("case_")}
    for name in sys.argv[2:] or cases:
        with tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            cases[name](warpgrind, folder)
            print(f"ok {name} ({time.monotonic() - started:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
