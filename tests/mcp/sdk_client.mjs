// `warpgrind mcp` with the official client: sdk_client.mjs --warpgrind PATH --modules FOLDER --folder FOLDER
// The client checks each answer against the protocol's schemas, and prints a line that begins with "skipped" where no sandbox can be made.
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { warpgrind: { type: "string" }, modules: { type: "string" }, folder: { type: "string" } } });
const require = createRequire(path.join(values.modules, "client.js"));
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { LATEST_PROTOCOL_VERSION } = require("@modelcontextprotocol/sdk/types.js");

let agreed = "";
class Transport extends StdioClientTransport {
  set onmessage(handle) {
    this.handle = (message) => {
      agreed ||= message.result?.protocolVersion ?? "";
      handle(message);
    };
  }
  get onmessage() {
    return this.handle;
  }
}
const transport = new Transport({ command: values.warpgrind, args: ["mcp", "--folder", values.folder], stderr: "ignore" });
const client = new Client({ name: "test", version: "1" });
await client.connect(transport);
assert.equal(agreed, LATEST_PROTOCOL_VERSION);
if (client.getInstructions().includes("allows no sandbox")) {
  console.log("skipped: no sandbox can be made here");
  process.exit(77);
}

const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), ["run", "check", "explain", "diff", "scan", "exercise"]);
// From here on, the client checks each structured result against the tool's schema.
assert.ok(tools.every((tool) => tool.outputSchema.properties.status.type === "string"));
assert.ok(tools.every((tool) => tool.annotations.readOnlyHint && !tool.annotations.openWorldHint));
const { resources } = await client.listResources();
assert.equal(resources.length, 3);
assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 2);
assert.match((await client.readResource({ uri: "warpgrind://counters/occupancy" })).contents[0].text, /Theoretical occupancy/);

const text = (result) => result.content[0].text;
const call = (name, input, options) => client.callTool({ name, arguments: input }, undefined, options);
const slow = fs.readFileSync(path.join(import.meta.dirname, "slow_transpose.cu"), "utf8");

const stages = [];
const run = await call("run", { source: slow, expect_output: "PASS" }, { onprogress: (progress) => stages.push(progress), resetTimeoutOnProgress: true });
assert.equal(run.isError, false);
assert.equal(run.structuredContent.verified, true);
assert.match(text(run), /RUN r1: .*\n.*VERIFIED/);
assert.ok(stages.every((stage, i) => i === 0 || stage.progress > stages[i - 1].progress));
assert.match(text(await call("explain", { run: "r1", line: 6 })), /32 sectors \(ideal 4\)/);

assert.ok((await call("exercise", { action: "list" })).structuredContent.exercises.length > 20);
assert.equal((await call("scan", { source: slow })).structuredContent.kernels.length, 2);

const wrong = await call("run", { source: 1 });
assert.equal(wrong.isError, true);
assert.match(text(wrong), /source must be of type string/);
await assert.rejects(call("nothing", {}), /there is no tool/);
await assert.rejects(client.readResource({ uri: "warpgrind://bogus" }), /no resource/);

// A cancelled call leaves the server as it was.
const cancel = new AbortController();
setTimeout(() => cancel.abort("test"), 300);
await assert.rejects(call("run", { source: slow }, { signal: cancel.signal }));
assert.deepEqual(await client.ping(), {});

const pid = transport.pid;
await client.close();
assert.throws(() => process.kill(pid, 0), "the server ends with its input");
console.log("as expected");
