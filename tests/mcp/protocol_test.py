"""The protocol of `warpgrind mcp`, without a program that runs: protocol_test.py WARPGRIND [CASE...]."""
import json
import random
import signal
import subprocess
import time

from mcp_client import Client, equal, has, main

VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]


def error_of(answer):
    assert "error" in answer, answer
    return answer["error"]["code"]


def case_versions(warpgrind, folder):
    for wanted, got in [*((v, v) for v in VERSIONS), ("2099-01-01", VERSIONS[0]), (7, VERSIONS[0])]:
        client = Client(warpgrind, folder=folder)
        result = client.initialize(wanted)
        equal(result["protocolVersion"], got, f"asked for {wanted}")
        equal((result["serverInfo"]["name"], sorted(result["capabilities"])), ("warpgrind", ["resources", "tools"]))
        has(result["instructions"], "ESTIMATED", str(folder))
        # The newest version wants wrong arguments as a result that the model sees.
        answer = client.ask("tools/call", {"name": "run", "arguments": {"source": 1}})
        if got == VERSIONS[0]:
            has(answer["result"]["content"][0]["text"], "source must be of type string")
            equal(answer["result"]["isError"], True)
        else:
            equal(error_of(answer), -32602, got)
        equal(client.end(), 0)


def case_requests(warpgrind, folder):
    client = Client(warpgrind, folder=folder)
    equal(client.ask("ping")["result"], {})
    equal(error_of(client.ask("tools/list")), -32600, "before initialize")
    client.initialize()
    equal(error_of(client.ask("tools/fetch")), -32601)
    equal(error_of(client.ask("tools/call", {"name": "nothing"})), -32602)
    equal(error_of(client.ask("tools/call", {})), -32602)
    tools = client.ask("tools/list")["result"]["tools"]
    equal([t["name"] for t in tools], ["run", "check", "explain", "diff", "scan", "exercise"])
    for tool in tools:
        equal(tool["inputSchema"]["type"], "object", tool["name"])
        equal(tool["outputSchema"]["type"], "object", tool["name"])
        equal(tool["annotations"]["readOnlyHint"], True, tool["name"])
        assert len(tool["description"]) > 40, tool
    assert len(json.dumps(tools)) < 22000, "the list of tools costs each session of a model a quarter as many tokens"
    for arguments, why in [({}, "`source` and `path` are both missing"), ({"source": "x", "path": "y"}, "both given"), ({"bogus": 1}, 'no argument "bogus"'),
                           ({"source": "x", "gpu": "h20"}, "did you mean h200"), ({"source": "x", "gpu": "/etc/gpu.json"}, "no GPU model"),
                           ({"source": "x", "arguments": [1]}, "each item of arguments must be of type string"), ({"path": "../x.cu"}, "not inside the folder"),
                           ({"path": "/etc/passwd"}, "not inside the folder"), ({"path": "out.cu"}, "not inside the folder"), ({"path": "."}, "not inside the folder"),
                           ({"path": "none.cu"}, "No such file"), ({"source": "x" * (300 << 10)}, "more than 262144 bytes"),
                           ({"source": "x", "expect": ["bogus < 1"]}, 'no metric is called "bogus"'), ({"source": "x", "metrics": ["global_load_sector"]}, "global_load_sectors"),
                           ({"source": "x", "detail": "long"}, "one of: short, full"), ("text", "arguments must be of type object")]:
        if not (folder / "out.cu").is_symlink():
            (folder / "out.cu").symlink_to("/etc/passwd")
        result = client.ask("tools/call", {"name": "run", "arguments": arguments})["result"]
        equal(result["isError"], True, str(arguments)[:80])
        has(result["content"][0]["text"], why)
    for tool, arguments, why in [("explain", {"run": "r1"}, 'no run "r1"'), ("explain", {"run": "r1", "line": 0}, "line must be at least 1"),
                                 ("diff", {"before": {"run": "r1"}}, '"after" is missing'), ("diff", {"before": {"run": "r1"}, "after": {"run": "r2"}}, "before: there is no run"),
                                 ("check", {"source": "x", "only": ["bogus"]}, "one of: memory"), ("scan", {"path": "none"}, "No such file"),
                                 ("exercise", {"action": "text"}, "`name` is missing"), ("exercise", {"action": "hint", "name": "vector_ad"}, "did you mean vector_add"),
                                 ("exercise", {"action": "fly"}, "one of: list")]:
        result = client.call(tool, **arguments)
        equal(result.is_error, True, tool)
        has(result.text, why)
    equal(client.end(), 0)


def case_resources(warpgrind, folder):
    client = Client(warpgrind, folder=folder)
    client.initialize()
    names = [r["uri"] for r in client.ask("resources/list")["result"]["resources"]]
    equal(names, ["warpgrind://rules", "warpgrind://counters", "warpgrind://gpus"])
    for uri, part in [*((n, "h200" if n.endswith("gpus") else "| ") for n in names), ("warpgrind://counters/global_load_sectors_per_request", "sectors"),
                      ("warpgrind://gpus/a100", "A100")]:
        has(client.ask("resources/read", {"uri": uri})["result"]["contents"][0]["text"], part)
    assert client.ask("resources/templates/list")["result"]["resourceTemplates"]
    for uri, code in [("warpgrind://counters/bogus", -32002), ("warpgrind://gpus//etc/x.json", -32002), ("file:///etc/passwd", -32002), (None, -32602)]:
        equal(error_of(client.ask("resources/read", {"uri": uri})), code, str(uri))
    equal(client.end(), 0)


def case_lines(warpgrind, folder):
    """Whole lines, half ones, batches, and what is no message."""
    client = Client(warpgrind, folder=folder)
    client.initialize("2025-03-26")
    for line, code in [(b"{", -32700), (b"no", -32700), (b"[" * 100000, -32700), (b"7", -32600), (b"[]", -32600), (b'{"jsonrpc":"1.0","id":5,"method":"ping"}', -32600),
                       (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":5,"method":7}', -32600),
                       (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":[]}', -32602), (b'\xff\xfe"', -32700), (b'"' + b"x" * (5 << 20) + b'"', -32700)]:
        client.send_bytes(line + b"\n")
        equal(error_of(client.next()), code, str(line[:60]))
    for part in [b'  \n\r\n{"jsonrpc":', b'"2.0","id":"a","met', b'hod":"ping"}', b"\n"]:
        client.send_bytes(part)
        time.sleep(0.02)
    equal(client.next(), {"jsonrpc": "2.0", "id": "a", "result": {}})
    client.send([{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/initialized"}, 3,
                 {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "explain", "arguments": {"run": "r9"}}}])
    replies = client.next()
    equal(sorted(str(r["id"]) for r in replies), ["1", "2", "None"], "a batch")
    client.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}])
    # The last line needs no newline.
    client.send_bytes(b'{"jsonrpc":"2.0","id":"last","method":"ping"}')
    client.process.stdin.close()
    equal(client.next()["id"], "last")
    equal((client.next(), client.process.wait(60)), (None, 0))


def random_value(choose, depth=0):
    kind = choose.randrange(9 if depth < 4 else 7)
    if kind == 0:
        return choose.choice([None, True, False])
    if kind == 1:
        return choose.choice([0, -1, 1 << 63, 10**30, 1.5, 1e300])
    if kind < 7:
        return choose.choice(["", "run", "tools/call", "initialize", "2.0", "r1", "\0", "é\u202e", "x" * 300, "../..", "ping", "notifications/cancelled", "list", "short"])
    if kind == 7:
        return [random_value(choose, depth + 1) for _ in range(choose.randrange(4))]
    return {choose.choice(KEYS): random_value(choose, depth + 1) for _ in range(choose.randrange(6))}


KEYS = ["jsonrpc", "id", "method", "params", "name", "arguments", "run", "path", "before", "after", "line", "detail", "_meta", "progressToken", "requestId", "uri",
        "action", "step", "kernels", "expect", "metrics", "only", "stdin", "gpu", "kernel", "protocolVersion"]
TOOLS = ["run", "check", "explain", "diff", "scan", "exercise"]


def random_line(choose):
    kind = choose.randrange(6)
    if kind == 0:
        return bytes(choose.randrange(256) for _ in range(choose.randrange(60))).replace(b"\n", b"")
    if kind == 1:
        value = random_value(choose)
    elif kind == 2:
        value = {"jsonrpc": "2.0", "id": choose.randrange(100), "method": choose.choice(["ping", "tools/list", "resources/read", "initialize", "x"]), "params": random_value(choose)}
    elif kind == 3:
        value = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": random_value(choose)}}
    else:
        # No source: nothing is compiled.
        arguments = {choose.choice(KEYS): random_value(choose) for _ in range(choose.randrange(5))}
        value = {"jsonrpc": "2.0", "id": choose.randrange(10**6), "method": "tools/call", "params": {"name": choose.choice(TOOLS), "arguments": arguments,
                                                                                                    "_meta": {"progressToken": random_value(choose)}}}
    line = json.dumps(value).encode()
    if kind == 4 and choose.randrange(3) == 0:
        at = choose.randrange(len(line))
        line = line[:at] + bytes([choose.randrange(256)]).replace(b"\n", b"\r") + line[at + choose.randrange(3):]
    return line if choose.randrange(8) else line[:choose.randrange(len(line) + 1)]


def case_fuzz(warpgrind, folder):
    """Whatever the lines are, the server answers the pings between them, and ends when its input does."""
    choose = random.Random(31)
    client = Client(warpgrind, folder=folder, errors=subprocess.DEVNULL)
    client.initialize()
    for part in range(40):
        client.send_bytes(b"\n".join(random_line(choose) for _ in range(100)) + b"\n")
        number = f"ping {part}"
        client.send({"jsonrpc": "2.0", "id": number, "method": "ping"})
        client.answer_to(number)
    for line in [b'{"a":' * 200000, b"[" * (3 << 20), b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","arguments":' + b"[" * 20 + b"]" * 20 + b"}}", b"\0" * (1 << 20)]:
        client.send_bytes(line + b"\n")
    client.send({"jsonrpc": "2.0", "id": "end", "method": "ping"})
    client.answer_to("end")
    equal(client.end(), 0)


def case_folder(warpgrind, folder):
    """Which folder is served; and what is refused at the start."""
    for option, why in [("/", "the sandbox has a folder"), ("/tmp", "the sandbox has a folder"), ("/none", "No such file"), ("/etc/passwd", "not a folder")]:
        ended = subprocess.run([warpgrind, "mcp", "--folder", option], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        equal((ended.returncode, ended.stdout), (2, ""), option)
        has(ended.stderr, why)
    has(subprocess.run([warpgrind, "mcp", "--gpu", "h20"], stdin=subprocess.DEVNULL, capture_output=True, text=True).stderr, "did you mean h200")
    client = Client(warpgrind, folder="/")
    has(client.initialize()["instructions"], "this server reads no files")
    has(client.call("run", path="etc/passwd").text, "reads no files: it was started in / without --folder")
    equal(client.end(), 0)


def case_reader_is_gone(warpgrind, folder):
    """A client that stops to read, and one that is killed."""
    client = subprocess.Popen([warpgrind, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder)
    client.stdout.close()
    try:
        for _ in range(1000):
            client.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
            client.stdin.flush()
    except BrokenPipeError:
        pass
    equal(client.wait(60), 0)
    client = Client(warpgrind, folder=folder)
    client.initialize()
    client.process.send_signal(signal.SIGTERM)
    equal(client.process.wait(60), 0)


if __name__ == "__main__":
    main({name[5:]: case for name, case in list(globals().items()) if name.startswith("case_")})
