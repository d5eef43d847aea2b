// A session of VS Code's own test client with `warpgrind dap --port`. clients_test.py starts it: node vscode_client.js PORT PROGRAM LINE
const assert = require('assert');
const { DebugClient } = require('@vscode/debugadapter-testsupport');

async function session(port, program, line) {
  const client = new DebugClient('node', 'not started by the client', 'warpgrind');
  client.defaultTimeout = 60000;
  await client.start(port);
  let printed = '';
  client.on('output', event => { if (event.body.category === 'stdout') printed += event.body.output; });
  const stopped = () => client.waitForEvent('stopped', 60000);

  // Launch, and stop at a breakpoint with a condition. hitBreakpoint() of the client has no conditions.
  const first = stopped();
  await Promise.all([
    client.waitForEvent('initialized').then(async () => {
      const set = await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line, condition: 'i == 69' }] });
      assert.strictEqual(set.body.breakpoints.length, 1);
      await client.setExceptionBreakpointsRequest({ filters: ['fault', 'assert'] });
      await client.configurationDoneRequest();
    }),
    client.launch({ program }),
  ]);
  const stop = (await first).body;
  assert.strictEqual(stop.reason, 'breakpoint');
  const thread = stop.threadId;
  const top = async () => (await client.stackTraceRequest({ threadId: thread })).body.stackFrames[0];
  const threads = (await client.threadsRequest()).body.threads;
  assert.ok(threads.some(t => t.id === thread), JSON.stringify(threads));
  let frame = await top();
  assert.strictEqual(frame.line, line);
  assert.strictEqual(frame.source.path, program);

  // Variables: i is 69 and in[i] is 69 % 7 = 6.
  const scopes = (await client.scopesRequest({ frameId: frame.id })).body.scopes;
  const locals = (await client.variablesRequest({ variablesReference: scopes.find(s => s.name === 'Locals').variablesReference })).body.variables;
  const value = name => locals.find(v => v.name === name);
  assert.strictEqual(value('i').value, '69');
  const point = (await client.variablesRequest({ variablesReference: value('p').variablesReference })).body.variables;
  assert.deepStrictEqual(point.slice(0, 2).map(v => [v.name, v.value]), [['x', '69'], ['y', '138']]);
  const evaluate = async expression => (await client.evaluateRequest({ expression, frameId: (await top()).id, context: 'watch' })).body.result;
  assert.strictEqual(await evaluate('v * 2'), '12');
  await assert.rejects(client.evaluateRequest({ expression: 'nosuch', frameId: frame.id, context: 'watch' }), /nosuch/);

  // A step forward, and one back.
  const step = async name => { const next = stopped(); await client[name]({ threadId: thread }); await next; };
  await step('nextRequest');
  assert.strictEqual((await top()).line, line + 1);
  assert.strictEqual(await evaluate('tile[5]'), '72');
  await step('stepBackRequest');
  assert.strictEqual((await top()).line, line);

  // On to the end: the sums of the squares, doubled.
  await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
  const ended = client.waitForEvent('terminated', 60000);
  await client.continueRequest({ threadId: thread });
  await ended;
  let wanted = [0, 0, 0, 0];
  for (let n = 0; n < 256; ++n) wanted[n >> 6] += 2 * (n % 7) ** 2;
  assert.strictEqual(printed, wanted.join(' ') + '\n');
  await client.stop();  // sends `disconnect`
}

const [port, program, line] = process.argv.slice(2);
session(Number(port), program, Number(line)).then(() => process.exit(0), error => {
  console.error(error);
  process.exit(1);
});
