// The view "Steps" in headless Chromium, on a recording made here: two warps fill a tile of 4 x 32 floats by rows, meet at a barrier,
// and read it by columns. Options as in harness.mjs.
import { check, open, report, run, withData } from "./harness.mjs";

const kColumns = 32;
const lines = ["__global__ void k(const float* in, float* out) {", "  __shared__ float tile[4][32];", "  int i = threadIdx.x;", "  tile[i / 32][i % 32] = in[i];", "  __syncthreads();", "  if (i % 2)", "    out[i] = tile[0][0];", "  else", "    out[i] = 1;", "}"];
const bits = (x) => new Uint32Array(new Float32Array([x]).buffer)[0];
const all = (f) => Array.from({ length: 32 }, (_, lane) => `:${f(lane)}`).join("\t");

function recording(conflict) {
  const places = [3, 4, 5, 6, 7, 9].map((line) => ({ file: "k.cu", line, function: "k" }));
  const at = (line) => places.findIndex((p) => p.line === line);
  const shared = (kind, addresses, more) => ({ kind, space: "shared", bytes: 4, mask: "0xffffffff", addresses, wavefronts: 1, ideal_wavefronts: 1, ...more });
  const steps = [];
  for (const warp of [0, 1]) {
    steps.push({ warp, place: at(3), lanes: "ffffffff", changes: [{ variable: 0, mask: "0xffffffff", values: `32+1:${32 * warp}` }] });
    steps.push({ warp, place: at(4), accesses: [{ kind: "load", space: "global", bytes: 4, mask: "0xffffffff", addresses: `32+4:${128 * warp}`, object: 0, sectors: 4, ideal_sectors: 4 }, shared("store", `32+4:${128 * warp}`, { values: all((l) => bits(32 * warp + l + 0.5)) })] });
    steps.push({ warp, place: at(5), waits: "0", ...(warp ? { opens: "0" } : {}) });
  }
  for (const warp of [1, 0]) {
    steps.push({ warp, place: at(6) });
    steps.push({ warp, place: at(7), lanes: "aaaaaaaa", accesses: [shared("load", conflict ? "2+128:0" : "2+0:0", { mask: "0x0000000a", wavefronts: conflict ? 2 : 1 })] });
    steps.push({ warp, place: at(9), lanes: "55555555" });
  }
  for (const s of steps) s.accesses_left_out = 0;
  return {
    name: "k(float const*, float*)", mangled_name: "_Z1k", device: 0, launch: 0, grid: [1, 1, 1], block: [64, 1, 1], index: [0, 0, 0], shared_bytes: 512,
    places,
    variables: [{ name: "i", type: "int", function: "k", line: 3, parameter: false }],
    shared: [{ name: "tile", type: "float[4][32]", format: "floating", offset: 0, bytes: 512, element_bytes: 4 }],
    objects: [{ name: "in", type: "float", allocation: null, offset: 0, element_bytes: 4 }],
    steps,
  };
}

const profile = (conflict) => ({
  format: 2, program: "k", gpu: "NVIDIA H200", command: "k", detail: true, not_modelled: [], kernels: [], transfers: [], findings: [],
  sources: [{ file: "k.cu", text: lines.join("\n") }], recordings: [recording(conflict)],
});

async function start(html, options) {
  const page = await open(html, options);
  await page.at("view=steps");
  await page.waitForSelector(".steps .st-words");
  await page.focus(".steps");
  return page;
}
const dom = (page) => page.evaluate(() => document.querySelector(".steps").innerHTML);
const words = (page) => page.textContent(".st-words");

await run({
  async keys() {
    const page = await start(report("steps", profile(true)));
    const seen = [await dom(page)];
    for (let i = 0; i < 5; ++i) {
      await page.keyboard.press("ArrowRight");
      seen.push(await dom(page));
    }
    check(new Set(seen).size === seen.length, "each step of warp 0 looks different");
    check((await words(page)).startsWith("Warp 0, 16 lanes, line 9"), "five steps forwards: the last line of warp 0");
    for (let i = 4; i >= 0; --i) {
      await page.keyboard.press("ArrowLeft");
      check((await dom(page)) === seen[i], `step ${i} is the same backwards and forwards`);
    }
    await page.keyboard.press("End");
    check((await page.textContent(".st-counter")) === "12 of 12", "End is the last step");
    await page.keyboard.press("Home");
    check((await dom(page)) === seen[0], "Home is the first step again");
    await page.keyboard.press("ArrowDown");
    check((await page.textContent(".st-warp-name")) === "Warp 1", "down chooses the next warp");
    await page.keyboard.press("ArrowRight");
    check((await words(page)).startsWith("Warp 1, all 32 lanes, line 3"), "and right goes to its first step");
    check((await page.textContent(".st-strip-row:first-child .st-strip-state")) === "waits", "warp 0 waits at the barrier");
    check(new URL(page.url()).hash.includes("step=4"), "the address keeps the step");
  },
  async memory() {
    const page = await start(report("steps", profile(true)));
    const count = (kind) => page.locator(`.st-cell${kind}`).count();
    check((await count("")) === 4 * kColumns && (await count(".full")) === 0, "the tile is empty at first");
    await page.keyboard.press("ArrowRight");
    check((await count(".full")) === kColumns && (await count(".writes")) === kColumns, "32 words are written in the second step");
    check((await page.textContent(".st-cell.full >> nth=1")) === "1.5", "values are floats");
    check((await words(page)).includes("reads in (4 sectors) and writes tile"), await words(page));
    for (let i = 0; i < 3; ++i) await page.keyboard.press("ArrowRight");
    check((await page.textContent(".st-said")).includes("Bank 0 must serve 2 words"), "the bank conflict is named");
    check((await count(".later")) === 1 && (await page.locator(".st-bank i.bad").count()) === 1, "one word waits for its bank");
    check((await page.locator(".st-lane.active").count()) === 16 && (await page.locator(".st-lane[class*=path]").count()) === 16, "two paths of 16 lanes");
    await page.click(".st-cell >> nth=1");
    check((await page.textContent(".st-detail")).includes("tile[0][1] in bank 1: 1.5, written by warp 0 in step 2"), "a cell says what it is");
    const quiet = await start(report("steps_without", profile(false)));
    for (let i = 0; i < 4; ++i) await quiet.keyboard.press("ArrowRight");
    check((await quiet.locator(".st-cell.later").count()) === 0, "lanes that share a word do not wait");
    check((await quiet.textContent(".st-said")).includes("no bank conflict"), `and have no conflict: ${await quiet.textContent(".st-said")}`);
  },
  async variables() {
    const page = await start(report("steps", profile(true)));
    check((await page.textContent(".st-var-value")) === "0", "lane 0 has i = 0");
    await page.click(".st-lane >> nth=5");
    check((await page.textContent(".st-var-value")) === "5", "lane 5 has i = 5");
    check((await page.textContent(".st-var-over")).includes("0 \u2026 31"), "the range over the warp");
    await page.click(".st-var-head");
    check((await page.locator(".st-value.changed").count()) === 32, "all lanes changed");
  },
  async branches() {
    const page = await start(report("steps", profile(true)));
    for (let i = 0; i < 3; ++i) await page.keyboard.press("ArrowRight");
    check((await words(page)) === "Warp 0, all 32 lanes, line 6: the lanes part: 16 lanes go on at line 7 and 16 go on at line 9.", await words(page));
    const colours = async () => page.evaluate(() => [...document.querySelectorAll(".st-lane")].map((l) => /active|path\d|left|none/.exec(l.className)[0]));
    await page.keyboard.press("ArrowRight");
    const first = await colours();
    check(first.every((c, lane) => (c === "active") === (lane % 2 === 1)), `lanes of the active mask aaaaaaaa are active: ${first}`);
    check(new Set(first.filter((c) => c !== "active")).size === 1, "all others are on one path");
    await page.keyboard.press("ArrowRight");
    const second = await colours();
    check(second.every((c, lane) => c === (lane % 2 ? "left" : "active")), `odd lanes have left: ${second}`);
    check((await words(page)).endsWith("line 9: leaves the kernel."), await words(page));
  },
  async atomics_on_one_word() {
    const data = profile(true);
    const step = data.recordings[0].steps[1];
    step.accesses = [{ kind: "atomic", space: "shared", bytes: 4, mask: "0xffffffff", addresses: "32:0", values: "32:32", wavefronts: 32, ideal_wavefronts: 1 }];
    const page = await start(report("steps_atomics", data));
    await page.keyboard.press("ArrowRight");
    check((await words(page)).includes("updates tile (32 passes, updates of one word or bank follow each other)"), await words(page));
    check(!(await page.textContent(".st-said")).includes("bank conflict"), "lanes that update one word have no bank conflict");
    check((await page.locator(".st-bank i.bad").count()) === 0, "and no bank is red");
  },
  async structures() {
    // Words of {float sum; short count; uchar4 flags}: by their own formats, and an undefined one is no number.
    const data = profile(true);
    const [one] = data.recordings;
    const member = (name, format, offset, bytes, element_bytes) => ({ name, format, offset, bytes, element_bytes });
    one.shared = [{ name: "tile", type: "Partial[42]", format: "", offset: 0, bytes: 504, element_bytes: 12,
      members: [member("sum", "floating", 0, 4, 4), member("count", "signed", 4, 2, 2), member("flags.x", "unsigned", 8, 1, 1), member("flags.y", "unsigned", 9, 1, 1)] }];
    one.variables.push({ name: "p", type: "Partial", function: "k", line: 4, parameter: false });
    one.steps[1].changes = [{ variable: 1, mask: "0xffffffff", values: "32:{sum = 2.5, count = 7, flags = {x = 1}}" }];
    const values = (l) => [bits(2.5), 0xffff0000 | 7, 3 + 256 * 200][l % 3] >>> 0;
    Object.assign(one.steps[1].accesses[1], { values: all(values) });
    const page = await start(report("steps_structures", data), { width: 1280 });
    await page.keyboard.press("ArrowRight");
    const cell = (n) => page.textContent(`.st-cell >> nth=${n}`);
    check((await cell(0)) === "2.5" && (await cell(1)) === "7" && (await cell(2)) === "3\u2026", `members have their own formats: ${await cell(0)}, ${await cell(1)}, ${await cell(2)}`);
    await page.click(".st-cell >> nth=5");
    check((await page.textContent(".st-detail")).includes("tile[1].{flags.x, flags.y} in bank 5: 3 200, written"), await page.textContent(".st-detail"));
    await page.click(".st-cell >> nth=3");
    check((await page.textContent(".st-detail")).includes("tile[1].sum in bank 3: 2.5"), await page.textContent(".st-detail"));
    const whole = await page.evaluate(() => [...document.querySelectorAll(".st-var.long .st-var-value")].map((e) => [e.textContent, e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight + 2]));
    check(whole.length === 1 && whole[0][1], `a structure is shown whole: ${JSON.stringify(whole)}`);
  },
  async long_lines() {
    // The line of the step is whole at every width, also where the page has two columns.
    const data = profile(true);
    data.sources[0].text = lines.map((l, i) => (i === 3 ? `  tile[i / 32][i % 32] = in[${"i + ".repeat(30)}0];` : l)).join("\n");
    for (const width of [390, 1280]) {
      const page = await start(report("steps_long", data), { width });
      await page.keyboard.press("ArrowRight");
      const fits = await page.evaluate(() => {
        const box = document.querySelector(".st-code").getBoundingClientRect();
        const row = document.querySelector(".st-line.now .st-text").getBoundingClientRect();
        return row.right <= box.right + 1 && row.height > 30;
      });
      check(fits, `the line of the step is wrapped at ${width} pixels`);
    }
  },
  async fault_of_another_block() {
    const data = profile(true);
    const access = { role: "", access: "", kernel: "k(float const*, float*)", file: "k.cu", line: 4, object: "", function: "", ptx: "", ptx_line: 0, launch: 1, stream: "", inlined_at: [], block: [0, 2, 0], thread: [5, 0, 0], bytes: 4 };
    data.findings = [{ kind: "illegal address", severity: "ERROR", kernel: "k(float const*, float*)", file: "k.cu", line: 4, message: "read of 4 bytes is outside", advice: "check the index", ptx: "", ptx_line: 0, block: [0, 2, 0], thread: [5, 0, 0], notes: [], accesses: [access] }];
    const page = await start(report("steps_fault", data));
    const told = await page.textContent("main .note");
    check(told.includes("Another block did not end well: read of 4 bytes is outside. To step through block (0,2,0): warpgrind run --steps --block 0,2,0 -k k"), told);
    await page.at("view=summary");
    check((await page.textContent("main")).includes("Built for debugging. This run recorded steps of code without optimisation"), "the summary says what its figures are of");
    await page.at("view=findings");
    await page.waitForSelector(".finding-facts");
    const facts = await page.textContent(".finding-facts");
    check(facts.includes("k.cu:4: 4 bytes, thread (5,0,0), block (0,2,0)") && facts.includes("--block 0,2,0"), facts);
    check((await page.textContent("main")).includes("1 error. The run ended there"), "errors are counted in words");
    access.block = [0, 0, 0];
    Object.assign(data.recordings[0], { fault: { text: "read of 4 bytes is outside", advice: "", step: 11, lane: 5 } });
    const own = await open(report("steps_own_fault", data));
    await own.at("view=findings");
    await own.click(".finding-facts a.button");
    await own.waitForSelector(".steps .st-words");
    check((await own.textContent(".st-counter")) === "12 of 12", "a finding in the recorded block leads to its last step");
  },
  async undefined_bytes() {
    const data = profile(true);
    const { steps } = data.recordings[0];
    steps[4].accesses = []; // warp 1 writes nothing, and warp 0 a half of each word
    Object.assign(steps[1].accesses[1], { bytes: 2, addresses: "32+4:0", values: all(() => 7) });
    const page = await start(report("steps_undefined", data));
    for (let i = 0; i < 4; ++i) await page.keyboard.press("ArrowRight");
    check((await words(page)).includes("finds 2 words of it that nothing wrote"), await words(page));
    check((await page.getAttribute(".st-words", "class")).includes("bad"), "and it is marked");
    check((await page.locator(".st-cell.part").count()) === 32, "words of which a half was written look different");
    check((await page.textContent(".st-cell.part >> nth=0")) === "?", "a number with undefined bytes has no value");
    check((await page.textContent(".st-said")).includes("never written"), await page.textContent(".st-said"));
  },
  async values_of_global_memory() {
    const data = profile(true);
    data.recordings[0].objects[0].format = "floating";
    data.recordings[0].steps[1].accesses[0].values = all((l) => bits(l + 0.25));
    const page = await start(report("steps_global", data));
    await page.keyboard.press("ArrowRight");
    await page.click(".st-access:has-text('reads in')");
    await page.click(".st-lane >> nth=5");
    check((await page.textContent("[aria-label=Accesses] .st-said")).includes("Lane 5: in[5]. It gets 5.25."), await page.textContent("[aria-label=Accesses] .st-said"));
    check((await page.locator(".st-moved .st-value").count()) === 32, "the values of all lanes");
  },
  async fault() {
    const data = profile(true);
    const r = data.recordings[0];
    r.steps.length = 5;
    r.cut = "write of 4 bytes at 0x10";
    r.fault = { text: "write of 4 bytes at 0x10", advice: "check the index", step: 4, lane: 3 };
    const page = await start(report("steps_fault", data));
    check((await page.textContent("main")).includes("What to do: check the index."), "the page begins with what happened");
    await page.click("button:has-text('Go to step 5')");
    await page.waitForSelector(".st-line.now.fault");
    check((await words(page)).includes("Fault in lane 3: write of 4 bytes at 0x10."), await words(page));
    check((await page.locator(".st-lane.fault").count()) === 1 && (await page.textContent(".st-lane.fault")) === "3", "the lane is marked");
    check((await page.locator(".st-strip-state:text-is('fault')").count()) === 1, "and its warp");
    await page.keyboard.press("ArrowLeft");
    check((await page.locator(".st-lane.fault").count()) === 0 && (await page.locator(".st-line.fault").count()) === 0, "a step before there is no fault");
  },
  async deadlock() {
    const data = profile(true);
    const r = data.recordings[0];
    r.steps.length = 6;
    r.steps[5] = { warp: 1, place: r.steps[5].place, waits: "2", accesses_left_out: 0 };
    r.cut = "deadlock";
    r.fault = { text: "deadlock", advice: "" };
    const page = await start(report("steps_deadlock", data));
    await page.keyboard.press("End");
    check((await words(page)).endsWith("waits at barrier 2. The kernel ends here: deadlock."), await words(page));
    const states = await page.locator(".st-strip-state").allTextContents();
    check(states.join() === "waits: barrier 0,waits: barrier 2", `each warp with its barrier: ${states}`);
  },
  async lab() {
    const data = profile(true);
    const row = (rung, recordings) => ({ rung, what: rung, role: "rung", size: [64], size_text: "64", type: "float", parameters: {}, range: rung, verified: true, origin: "estimated", gpu_us: { median: 1, low: 1, high: 1, count: 3 }, recordings });
    const topic = { topic: "t", title: "t", document: "", shows: "", gpu: "h200", virtual: true, error: "", device: {}, rows: [row("first", [0]), row("second")], notes: [], models: [], recordings: data.recordings, recorded_sources: data.sources };
    const html = withData(report("steps", profile(true)), "steps_lab", { profiles: [], lab: { command: "", date: "", machine: "", on: "virtual", full: false, topics: [topic] } });
    const page = await open(html);
    await page.at("view=lab&topic=t&rung=second");
    await page.waitForSelector(".step-through");
    check((await page.textContent(".step-through")).includes("Not recorded: second."), await page.textContent(".step-through"));
    await page.click(".step-through a:has-text('first: k')");
    await page.waitForSelector(".steps .st-words");
    check((await words(page)).startsWith("Warp 0, all 32 lanes, line 3"), await words(page));
    check((await page.locator(".st-line").count()) > 5, "with its source");
    check((await page.getAttribute(".st-head a.button", "href")).includes("topic=t&rung=first"), "and the way back");
  },
  async phone() {
    for (const scheme of ["light", "dark"]) {
      const page = await start(report("steps", profile(true)), { width: 360, scheme });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      check(wide <= 0, `${scheme}: nothing scrolls sideways at 360 pixels, but ${wide}`);
      const size = await page.locator(".st-main .st-button:visible").first().boundingBox();
      check(size.width >= 40 && size.height >= 40, "buttons are large enough for a finger");
      await page.at("view=steps&step=6&warp=1");
      const hidden = await page.waitForFunction(() => {
        const line = document.querySelector(".st-line.now")?.getBoundingClientRect();
        const box = document.querySelector(".st-code").getBoundingClientRect();
        return line && line.top >= box.top && line.bottom <= box.bottom;
      }, null, { timeout: 20e3 }).then(() => false, () => true);
      check(!hidden, "the line of the step is in sight");
      await page.at("view=steps&step=1");
      await page.click("[aria-label^='One step of this warp forwards']");
      check((await words(page)).includes("line 4"), "the button steps");
    }
  },
});
