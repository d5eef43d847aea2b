"""Sends wrong, endless, slow and random HTTP to a playground's server on loopback: http_fuzz.py WARPGRIND [--seconds S] [--seed N]
[--deaf S]. It fails if the server ends, has more than 200 MiB of memory, or answers an honest request later than --deaf seconds (2).
`--seconds 3600` is the long run; ctest runs the short one, which allows more time: other tests run beside it."""
import argparse
import os
import random
import socket
import sys
import tempfile
import threading
import time

import server_test

MOST_MIB = 200
SENDERS = 24
HELD = 700  # connections that all senders together keep open: more than the server keeps


def request(rng, cookie):
    """An honest request, as pieces that a mutation may change."""
    path = rng.choice(["/", "/playground.js", "/playground.css", "/api/start", "/api/starts/short/race", "/api/runs/" + "0" * 32 + "?from=0", "/p/" + "a" * 32])
    method = rng.choice(["GET", "GET", "HEAD", "POST"])
    lines = [b"Host: 127.0.0.1"]
    body = b""
    if method == "POST":
        path = rng.choice(["/api/runs", "/api/programs", "/api/runs/" + "0" * 32 + "/cancel"])
        body = rng.choice([b"{}", b"[]", b'{"source":1}', b'{"source":"int main() {}","gpu":"h9"}', b"[" * 50000, b'{"a":' * 20000, rng.randbytes(3000)])
        lines += [b"Content-Type: application/json", b"Cookie: " + cookie, b"Content-Length: %d" % len(body)]
    if rng.random() < 0.3:
        lines.append(b"Cookie: " + cookie)
    return [f"{method} {path} HTTP/1.1".encode(), *lines], body


def mutated(rng, lines, body):
    kind = rng.randrange(14)
    extra = {0: b"Range: bytes=" + b"0-," * rng.randrange(3000) + b"0-",
             1: b"X: " + b"y" * rng.choice([100, 7000, 9000, 200000]),
             2: b"Transfer-Encoding: " + rng.choice([b"chunked", b"gzip, chunked", b"identity", b"chunked, chunked"]),
             3: b"Content-Length: " + rng.choice([b"-1", b"0x10", b"99999999999999999999", b"1048577", b"5, 5", b""]),
             4: b"Host: evil.example", 5: b"Expect: 100-continue", 6: b"Connection: " + rng.choice([b"close", b"upgrade", b"keep-alive, close"]),
             7: b" folded: header", 8: b"No colon", 9: b": no name"}.get(kind)
    if extra is not None:
        lines.insert(rng.randrange(1, len(lines) + 1), extra)
    elif kind == 10:
        lines += [b"X%d: %d" % (i, i) for i in range(rng.choice([60, 70, 3000]))]
    elif kind == 11:
        lines[0] = rng.choice([b"GET  / HTTP/1.1", b"GET / HTTP/9.9", b"GET /" + b"%" * 50 + b" HTTP/1.1", b"GET /" + b"a" * rng.choice([4000, 9000, 300000]) + b" HTTP/1.1",
                               b"\x16\x03\x01\x02\x00", b"GET http://evil/ HTTP/1.1", b"PRI * HTTP/2.0", b"", b"GET /api/starts/..%2f..%2fetc%2fpasswd HTTP/1.1"])
    text = bytearray(b"\r\n".join(lines) + b"\r\n\r\n" + body)
    if kind >= 12:
        for _ in range(rng.randrange(1, 20)):
            text[rng.randrange(len(text))] = rng.randrange(256)
    if rng.random() < 0.1:
        del text[rng.randrange(len(text)):]
    return bytes(text)


class Fuzz:
    def __init__(self, server, cookie):
        self.server, self.cookie = server, cookie
        self.end = threading.Event()
        self.sent = 0
        self.slowest = 0.0
        self.problems = []

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.server.port), timeout=30)
        connection.settimeout(0.2)
        return connection

    def send_one(self, rng, held):
        connection = self.connect()
        how = rng.randrange(6)
        text = b"".join(mutated(rng, *request(rng, self.cookie)) for _ in range(rng.choice([1, 1, 1, 5, 40])))
        if how == 0:  # slowly, and perhaps for ever
            connection.sendall(text[:rng.randrange(len(text) + 1)])
            held.append(connection)
            return
        if how == 1:  # without end
            for _ in range(rng.randrange(1, 64)):
                connection.sendall(text[-65536:])
        else:
            connection.sendall(text)
        if how == 2:  # nothing is read
            held.append(connection)
            return
        if how == 3:
            connection.shutdown(socket.SHUT_WR)
        for _ in range(rng.randrange(40)):
            if not connection.recv(65536):
                break
        connection.close()

    def send(self, seed):
        rng, held = random.Random(seed), []
        while not self.end.is_set():
            try:
                self.send_one(rng, held)
            except OSError:  # refused, closed, or waiting for more than we sent
                pass
            self.sent += 1
            for connection in rng.sample(held, min(len(held), 4)):
                try:
                    connection.send(b"a")
                except OSError:
                    held.remove(connection)
            while len(held) > HELD // SENDERS:
                held.pop(0).close()

    def probe(self, deaf):
        while not self.end.wait(0.1):
            begun = time.monotonic()
            try:
                status = self.server.ask("GET", "/api/start")[0]
            except OSError as problem:  # closed to make room: an honest client asks again
                status = 200 if isinstance(problem, ConnectionError) and self.server.process.poll() is None else problem
            took = time.monotonic() - begun
            self.slowest = max(self.slowest, took)
            if status != 200 or took > deaf:
                self.problems.append(f"an honest request: {status} after {took:.2f} s")
                self.end.set()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("warpgrind")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deaf", type=float, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = server_test.Server(os.path.abspath(options.warpgrind), folder, "--no-sandbox")
        fuzz = Fuzz(server, server_test.User(server).cookie.encode())
        threads = [threading.Thread(target=fuzz.send, args=(options.seed * 1000 + i,), daemon=True) for i in range(SENDERS)]
        threads.append(threading.Thread(target=fuzz.probe, args=(options.deaf,), daemon=True))
        for thread in threads:
            thread.start()
        most, until = 0, time.monotonic() + options.seconds
        while time.monotonic() < until and not fuzz.end.wait(0.2):
            if server.process.poll() is not None:
                fuzz.problems.append(f"the server ended: {server.process.returncode}: {server.process.stderr.read()[-2000:]}")
                break
            most = max(most, server_test.resident_mib(server.process))
            if most > MOST_MIB:
                fuzz.problems.append(f"{most} MiB of memory")
                break
        fuzz.end.set()
        for thread in threads:
            thread.join(60)
        print(f"{fuzz.sent} requests, seed {options.seed}: at most {most} MiB, the slowest honest answer took {fuzz.slowest:.2f} s")
        if not fuzz.problems:
            server_test.equal(server.ask("GET", "/")[0], 200, "after all that")
            server_test.equal(server.end(), 0, "the server's exit code")
    for problem in fuzz.problems:
        print(f"failed: {problem}")
    sys.exit(1 if fuzz.problems else 0)


if __name__ == "__main__":
    main()
