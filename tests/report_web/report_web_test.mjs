// The report page in headless Chromium: report_web_test.mjs --warpgrind BINARY --modules DIR --out DIR [--only NAME]
// Exit code 77 (skipped, with the reason) where Chromium or the page is not there.
import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { browser, check, kHang, open, picture, report, run, withData } from "./harness.mjs";
import { checked, hostile, kHostile, lab, profile, withKernels } from "./profiles.mjs";

const tests = {};

tests.views = async () => {
  const page = await open(report("views", profile({})));
  const views = {
    "view=summary": ".advice", // three things to do
    "view=kernel&k=1&tab=overview": ".chart svg path",
    "view=kernel&k=1&tab=source": ".source-row .heat",
    "view=kernel&k=1&tab=source&code=ptx": ".source-row .hl-keyword",
    "view=kernel&k=1&tab=access&site=0": ".drawing .link",
    "view=kernel&k=1&tab=access&site=1": ".drawing .word",
    "view=kernel&k=1&tab=block": ".drawing .element.load.now",
    "view=kernel&k=1&tab=flow": ".drawing .edge.split",
    "view=kernel&k=1&tab=memory": ".drawing .pipe",
    "view=kernel&k=1&tab=all": "table td .origin",
    "view=roofline": ".chart svg path",
    "view=timeline": ".chart svg path",
    "view=counters": ".definitions dt",
    "view=about": ".licences",
  };
  for (const [hash, selector] of Object.entries(views)) {
    await page.at(hash);
    await page.waitForSelector(selector, { state: "attached" }).catch(() => check(false, `${hash}: nothing like ${selector}`));
  }
  // The worst request of the load: 32 lanes in 32 sectors; the typical one in 4.
  await page.at("view=kernel&k=1&tab=access&site=0");
  check((await page.locator(".drawing .sector").count()) === 4, "typical request: 4 sectors are drawn");
  await page.selectOption("select[aria-label='Which request']", "1");
  check((await page.locator(".drawing .sector").count()) === 32, "worst request: 32 sectors are drawn");
  await page.at("view=kernel&k=1&tab=access&site=1");
  await page.selectOption("select[aria-label='Which request']", "1");
  check((await page.locator(".drawing .word.conflict").count()) === 31, "32-way conflict: 31 words wait");
};

// A box of 64 x 16 halves at (64, 16) of 256 x 64, with the 128-byte swizzle: row 1 of the box lies as 1 0 3 2 5 4 7 6. Lane k of a
// load reads row k from column 24 on: piece 3, which lies at place 3 ^ k.
tests.tensor_copies = async () => {
  const data = profile({ kernels: 1 });
  const [copy, load] = data.kernels[0].sites;
  const dimension = (size, stride, box, coordinate) => ({
    size, stride, box, element_stride: 1, coordinate, lowest: coordinate, highest: coordinate, lower: 0, upper: 0, offset: 0,
  });
  Object.assign(copy, { kind: "bulk_copy", space: "shared", patterns: [], patterns_other: 0, worst: 0, best: 0, copies_other: 0 });
  copy.copies = [{
    count: 2, operation: "load", mode: "tile", element: "f16", interleave: "none", swizzle: "128B", promotion: "none", fill: "zero",
    dimensions: [dimension(256, 0, 64, 64), dimension(64, 512, 16, 16)], rows: [], channels: 0, pixels: 0, halo: 0,
    tensor: { allocation: 0, offset: 0 }, shared: 0, blocks: 0, bytes: 2048, inside: 2048, sectors: 64, block: [0, 0, 0], warp: 0,
  }];
  const addresses = Array.from({ length: 32 }, (_, k) => (k < 8 ? k * 128 + (3 ^ k) * 16 - 48 : null));
  load.kind = "load";
  load.patterns = [{
    ...load.patterns[0], mask: "0x000000ff", lane_bytes: 16, addresses, base: { allocation: null, offset: 48 }, alignment: 48,
    tile: { site: copy.id, begin: 0, pitch: 128, swizzle: "128B", element: "f16" },
  }];
  load.worst = load.best = 0;
  const page = await open(report("tensor_copies", data));
  await page.at("view=kernel&k=0&tab=access&site=0");
  const drawing = (await page.locator("article.site pre").allTextContents()).join("");
  check(drawing.includes("  1.1|  1.0|  1.3|  1.2|  1.5|  1.4|  1.7|  1.6|"), "tensor copy: row 1 of the box in the banks");
  check(/^ +16 \|\.{15}\|#{15}\|\.{15}\|$/m.test(drawing), "tensor copy: the box in the tensor");
  await page.at("view=kernel&k=0&tab=access&site=1");
  const reader = (await page.locator("article.site pre").allTextContents()).join("").replace(/\s+/g, " ");
  check(reader.includes("lane k has row k, column 24."), "reader of a box: row and column of each lane");
  check(reader.includes("without the swizzle: 8 passes"), "reader of a box: passes without the swizzle");
};

// Local memory is interleaved over the lanes; the constant cache gives a word at a time.
// A long word among the facts of a kernel stays in its column.
tests.facts = async () => {
  const data = profile({ kernels: 1 });
  for (const kernel of data.kernels) kernel.metrics.warpgrind__estimated_limit.value = "shared memory throughput";
  for (const width of [1280, 900, 360]) {
    const page = await open(report("facts", data), { width });
    await page.at("view=kernel&k=0&tab=overview");
    const beyond = await page.locator(".facts .fact").evaluateAll((all) => all.filter((f) => {
      const range = document.createRange();
      range.selectNodeContents(f);
      return range.getBoundingClientRect().right > f.getBoundingClientRect().right + 1;
    }).map((f) => f.textContent));
    check(beyond.length === 0, `${width} pixels: beyond their columns: ${beyond.join("; ")}`);
  }
};

tests.other_spaces = async () => {
  const p = profile({});
  const lanes = Array.from({ length: 32 }, (_, lane) => lane);
  const draw = (i, space, addresses) => {
    const site = p.kernels[0].sites[i];
    site.space = space;
    site.patterns = [{ ...site.patterns[0], space, addresses, transactions: [] }];
    site.patterns_other = 0;
    site.worst = 0;
  };
  draw(0, "local", lanes.map(() => 8));
  draw(1, "local", lanes.map((l) => 4 * l));
  draw(2, "const", lanes.map((l) => 4 * (l % 2)));
  const page = await open(report("spaces", p));
  for (const [site, pieces, why] of [[0, 4, "one index for all lanes: neighbouring words"], [1, 32, "an index for each lane: a sector for each"], [2, 2, "two words of constant memory"]]) {
    await page.at(`view=kernel&k=0&tab=access&site=${site}`);
    check((await page.locator(".site .drawing .sector").count()) === pieces, `${why}: ${pieces} pieces are drawn, not ${await page.locator(".site .drawing .sector").count()}`);
  }
  check((await page.textContent(".site")).includes("2 different addresses, so 2 passes"), "passes of the constant cache are shown");
};

tests.inlined_functions = async () => {
  const page = await open(report("inlined", profile({})));
  await page.at("view=kernel&k=0&tab=source&line=12");
  check((await page.getAttribute(".source-row[data-row='11'] .heat", "title")) === `inst_executed: ${1000 + ((11 * 37) % 911) + 7777}`, "a call has what was inlined there too");
  check((await page.locator(".source-row[data-row='11'] .call").count()) === 1, "and is marked");
  check((await page.locator(".source-row .call").count()) === 1, "other lines are not");
  const text = await page.textContent("aside");
  check(text.includes("inlined here") && text.includes("st.global.f32 %f3"), "the instructions of the inlined function are shown");
  await page.at("view=kernel&k=0&tab=source&line=5");
  check((await page.textContent("aside")).includes("inlined at"), "their own line names the call");
};

tests.click_a_line = async () => {
  const page = await open(report("click", profile({})));
  await page.at("view=kernel&k=0&tab=source");
  await page.click(".source-row[data-row='1']");
  await page.waitForSelector("aside .site .drawing");
  const text = await page.textContent("aside");
  check(text.includes("ld.global.f32 %f0"), "the line's PTX is shown");
  check((await page.textContent(".source-row.chosen .line-number")) === "2", "the line is marked");
  const share = () => page.evaluate(() => document.querySelector(".split .rows").clientWidth / document.querySelector(".split").clientWidth);
  check((await share()) < 0.7, "what belongs to the line stands beside the code");
  await page.goBack();
  check((await page.locator("aside .site").count()) === 0, "back leads to no chosen line");
  check((await share()) > 0.95, "with nothing beside it the code has the whole width");
  await page.at("view=kernel&k=0&tab=source&line=400");
  check((await page.textContent("aside")).includes("Nothing of this line"), "a line without instructions says so");
  check((await share()) > 0.95, "and leaves the code its width");
  await page.at("view=kernel&k=0&tab=source");
  // Evidence leads to the source, a number to its definition.
  await page.at("view=summary");
  await page.click(".advice a.place");
  await page.waitForSelector(".source-row.chosen");
  await page.at("view=summary");
  await page.click(".advice .chip a.definition");
  await page.waitForSelector(".definitions .chosen");
};

tests.findings = async () => {
  const page = await open(report("findings", checked()));
  check((await page.getAttribute("html", "data-ready")) === "findings", "a check opens with what it found");
  const rows = () => page.locator("table[aria-label='Findings'] tbody tr").count();
  check((await rows()) === 5, "all findings are listed");
  // Filters: each says how many it leaves, and several of them are one.
  await page.selectOption("select[aria-label='Severity']", "WARNING");
  await page.waitForFunction(() => document.querySelectorAll("table[aria-label='Findings'] tbody tr").length === 1);
  check((await page.textContent("h2#finding")).includes("leak-device"), "what is shown is one of those that are left");
  await page.selectOption("select[aria-label='Severity']", "");
  for (const [label, value, left] of [["Group", "races", 3], ["Kind", "race-shared", 1], ["Kernel", checked().kernels[1].name, 1], ["File", "/src/app/main.cu", 3]]) {
    await page.at("view=findings");
    await page.selectOption(`select[aria-label='${label}']`, value);
    await page.waitForFunction((n) => document.querySelectorAll("table[aria-label='Findings'] tbody tr").length === n, left, { timeout: 60e3 }).catch(() => check(false, `${label} ${value} leaves ${left}`));
    check((await page.textContent("[aria-live]")).includes(`${left} of 5`), `${label}: how many are left is said`);
  }
};

tests.finding_of_two_threads = async () => {
  const page = await open(report("finding_threads", checked()));
  await page.focus("table[aria-label='Findings'] tbody tr");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.id === "finding");
  const text = await page.textContent("main");
  for (const word of ["read after write in shared memory", "thread (37,0,0), block (0,0,0)", "thread (31,0,0)", "__syncthreads() between line 3 and line 9", "127 times"])
    check(text.includes(word), `the finding says "${word}"`);
  check((await page.textContent(".source-row[data-row='2'] .mark-text")).includes("\u2460 write, thread (37,0,0)"), "the line of the first access is marked");
  check((await page.textContent(".source-row[data-row='8'] .mark-text")).includes("\u2461 read, thread (31,0,0)"), "the line of the second too");
  check((await page.locator(".source-row.chosen").count()) === 2, "and no other line");
  check((await page.textContent(".drawing .lane.who0 + text")) === "5", "thread 37 is lane 5");
  check((await page.textContent(".drawing .lane.who1 + text")) === "31", "thread 31 is lane 31");
  const bands = await page.locator(".drawing .band").evaluateAll((all) => all.map((b) => Number(b.getAttribute("x"))));
  check(bands.length === 2 && bands[0] === bands[1], "both are drawn at the same word");
  check((await page.locator("details .site").count()) === 2, "how all requests of the two instructions looked is there");
  check((await page.locator(".missing-edge").count()) === 0, "threads of one launch have no timeline");
};

tests.finding_of_two_streams = async () => {
  const page = await open(report("finding_streams", checked()));
  await page.click("a:text-is('race-stream')");
  await page.waitForSelector(".missing-edge", { state: "attached" });
  check((await page.locator(".drawing .work.who0").count()) === 1 && (await page.locator(".drawing .work.who1").count()) === 1, "both pieces of work are drawn");
  const label = await page.getAttribute(".drawing:has(.missing-edge)", "aria-label");
  check(label.includes("stream 3") && label.includes("stream 4") && label.includes("nothing orders them"), `the drawing says it in words: ${label}`);
  check((await page.textContent(".source-row[data-row='1'] .mark-text")).includes("stream 3"), "the lines of the launches are marked");
  await page.at("view=findings&f=4");
  const host = await page.getAttribute(".drawing:has(.missing-edge)", "aria-label");
  check(host.includes("\u2461 write on host, at any time"), `what has no time is drawn too: ${host}`);
  check((await page.locator(".drawing path.work.who1").count()) === 1, "as a mark of its own");
  await page.at("view=findings&f=2");
  check((await page.locator(".word.outside").count()) > 0 && (await page.locator(".drawing .limit").count()) === 1, "where the object ends is drawn");
  check((await page.locator(".source-row[data-row='3'] .marks", { hasText: "origin" }).count()) === 1, "where the memory was made is marked");
};

tests.no_findings = async () => {
  const page = await open(report("no_findings", checked({ findings: false })));
  check((await page.textContent("main")).includes("Nothing was found."), "that nothing was found is said");
  check((await page.textContent("main")).includes("Looked for: memory, races"), "and what was looked for");
  const plain = await open(report("no_check", profile({})));
  check(!(await plain.textContent("nav")).includes("Findings"), "a profile without findings that is no check has no such view");
};

tests.block_slider = async () => {
  const page = await open(report("slider", profile({})));
  await page.at("view=kernel&k=0&tab=block");
  const now = () => page.locator(".element.now").count();
  const first = await now();
  check((await page.textContent(".step")).includes("up to its first barrier"), "the first phase ends at the first barrier");
  check(first === 128, `phase 1 touches 64 elements of each of two memories, drawn: ${first}`);
  await page.focus("input[aria-label='Phase']");
  await page.keyboard.press("ArrowRight");
  check((await page.textContent(".step")).includes("after its last barrier"), "an arrow key moves to the next phase");
  await page.focus("input[aria-label^='Access']");
  await page.keyboard.press("ArrowRight");
  check((await page.textContent(".step")).startsWith("Warp 0: ld.shared"), "an arrow key shows the first access of the phase");
  check((await now()) === 32, "one access touches 32 elements");
};

tests.keyboard = async () => {
  const page = await open(report("keyboard", profile({})));
  await page.keyboard.press("Tab");
  check((await page.evaluate(() => document.activeElement.className)) === "skip", "the first stop skips to the content");
  await page.at("view=kernel&k=0&tab=overview");
  await page.focus("#tab-overview");
  await page.keyboard.press("ArrowRight");
  await page.waitForSelector("#tab-source[aria-selected=true]");
  await page.focus(".rows");
  for (let i = 0; i < 3; ++i) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".source-row.chosen");
  await page.at("view=summary");
  await page.focus("tr.opens");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#tab-overview[aria-selected=true]");
};

tests.hostile = async () => {
  const html = report("hostile", hostile());
  const page = await open(html);
  const hashes = ["view=findings", "view=summary", "view=roofline", "view=timeline", "view=counters", ...["overview", "source", "access", "block", "flow", "memory", "all"].map((t) => `view=kernel&k=0&tab=${t}`), "view=kernel&k=0&tab=source&code=ptx"];
  for (const hash of hashes) {
    await page.at(hash);
    await page.waitForTimeout(100);
    const made = await page.evaluate(() => document.querySelectorAll("#app script, #app img, #app iframe").length + (window.pwned ? 1 : 0));
    check(made === 0, `${hash}: text of the profile became an element or ran`);
  }
  await page.at("view=kernel&k=0&tab=source");
  check((await page.textContent(".source-row[data-row='0'] .code")) === kHostile, "the source is shown as it is");
  check((await page.title()).startsWith("script>"), "the title is text"); // the last part of the program's path
};

tests.lab = async () => {
  const html = report("lab_base", profile({}));
  const page = await open(withData(html, "lab", { lab: lab(), measured: lab(true), profiles: [] }));
  check((await page.getAttribute("html", "data-ready")) === "lab", "a result of the lab opens with the lab");
  for (const title of ["How fast is each rung, and how far is the limit?", "How does the size change it?", "What does tile change?", "What does tile of tile width change on other GPU models?", "The roofline of NVIDIA H200"])
    check((await page.locator("h2", { hasText: title }).count()) > 0, `the lab shows "${title}"`);
  await page.waitForFunction(() => [...document.querySelectorAll(".chart")].every((c) => c.querySelector("svg path")));
  for (const title of ["All 14 rows", "A note", "Compare any two rows"]) {
    await page.locator("summary", { hasText: title }).click();
    check(await page.locator("details[open]", { has: page.locator("summary", { hasText: title }) }).isVisible(), `"${title}" can be opened`);
  }
  await page.getByText("Open all").click();
  await page.waitForSelector(".step[open] .why");
  const text = await page.textContent("main");
  check(text.includes("Left out: poisson (it needs <script>"), "what the build left out is named, as text");
  check(text.includes("better than naive: <script>"), "each rung says why it is better, in text");
  check(text.includes("skipped: needs more memory"), "a row that was skipped says why");
  const ladder = await page.locator(".card", { hasText: "How fast is each rung" }).first();
  check((await ladder.locator(".bar-line.predicted").count()) === 3 && (await ladder.locator(".bar-line.measured").count()) === 3, "predicted stands beside measured");
};

// A rung beside the one before: sources, counters, and the access that matters.
tests.lab_steps = async () => {
  const without = await open(withData(report("lab_base", profile({})), "lab_no_steps", { lab: lab(), profiles: [] }));
  await without.locator(".step summary").first().click();
  await without.waitForSelector(".step[open] .note");
  check((await without.locator(".step[open] .diff").count()) === 0, "without a detailed run there are no sources");
  const html = withData(report("lab_base", profile({})), "lab_steps", { lab: withKernels(lab()), profiles: [] });
  const page = await open(html);
  check((await page.locator(".step").count()) === 2 && (await page.locator(".step .diff").count()) === 0, "two steps, and nothing of them is made before it is wanted");
  await page.locator(".step summary").first().click();
  const step = page.locator(".step").first();
  await step.locator(".diff.side").waitFor();
  check((await step.textContent()).includes("(1024x1024 float)"), "of the largest size, without what is swept at another one");
  check((await step.locator(".diff.side .code.gone").count()) === 2 && (await step.locator(".diff.side .code.fresh").count()) === 3, "two lines are gone, three are new");
  const side = await step.locator(".diff.side").textContent();
  check(side.includes("6 lines that are the same") && side.includes(kHostile), "lines far from a change are left out, and sources are text");
  check((await step.locator(".diff.side .gone.line-number").first().textContent()) === "15", "lines have the numbers of their file");
  check((await step.locator(".step-counters tbody tr", { hasText: "sectors of global loads" }).textContent()).includes("\u00f7 8"), "the table says by how much a counter shrinks");
  const drawings = step.locator(".step-access");
  check((await drawings.nth(0).locator(".drawing .sector").count()) === 32, "what wastes most is drawn: 32 sectors");
  check((await drawings.nth(1).locator(".drawing .word.conflict").count()) === 31, "and a 32-way conflict, where that is what wastes");
  await drawings.nth(1).locator("select").first().selectOption("0");
  check((await drawings.nth(1).locator(".drawing .sector").count()) === 4, "another instruction can be chosen");
  check((await page.locator(".card", { hasText: "is the fastest here" }).first().textContent()).includes("Alone, DRAM bandwidth would take 40\u202f\u00b5s of the"), "why the fastest does not reach all of what it waits for");
  await page.at("view=lab&topic=matmul&rung=register tile");
  check((await page.locator(".step.target[open]").getAttribute("data-rung")) === "register tile", "the address opens a step");
  check((await page.locator(".step.target").textContent()).includes("both run the same source"), "one template twice is said to be one source");
  await page.locator("summary", { hasText: "Compare any two rows" }).click();
  await page.selectOption("select[aria-label='After']", { label: "register tile, 1024x1024 float" });
  check((await page.locator("details", { hasText: "Compare any two rows" }).locator(".step-counters").count()) === 1, "any two rows can be compared");
  const narrow = await open(html, { width: 420, scheme: "dark" });
  await narrow.locator(".step summary").first().click();
  await narrow.locator(".step .diff.unified").first().waitFor();
  check(!(await narrow.isVisible(".diff.side")) && (await narrow.isVisible(".diff.unified")), "on a narrow screen one text with both");
  check((await narrow.locator(".diff.unified tr").evaluateAll((rows) => rows.map((r) => (r.querySelector(".gone") ? "-" : r.querySelector(".fresh") ? "+" : "")).join(""))) === "--+++", "first what is gone, then what is new");
  check(await narrow.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "and nothing is wider than it");
};

tests.lab_of_few_points = async () => {
  const result = lab();
  const topic = result.topics[0];
  const [first] = topic.rows.filter((r) => r.parameters?.tile !== undefined);
  for (const r of topic.rows) if (r.parameters?.tile !== undefined) r.parameters.tile = r === first ? 4 : 16;
  const page = await open(withData(report("lab_base", profile({})), "lab_few", { lab: result, profiles: [] }));
  check((await page.locator("h2", { hasText: "What does tile change?" }).count()) === 0, "two points are no curve");
};

// Calls and ranges of the host: a row for each thread and depth.
tests.host_timeline = async () => {
  const p = profile({});
  const row = (kind, name, stream, begin_ns, end_ns) => ({ device: 0, stream, kind, name, begin_ns, end_ns, bytes: 0, work: 0 });
  p.host_timeline = [row("call", "cudaMalloc", 1, 0, 10), row("range", "inner", 1, 20, 30), row("range", kHostile, 1, 5, 50), row("range", "next", 1, 50, 60), row("call", "cudaMemcpy", 2, 7, 9)];
  p.host_timeline_left_out = 7;
  const page = await open(report("host_timeline", p));
  await page.at("view=timeline");
  await page.waitForSelector(".chart svg path", { state: "attached" });
  const text = await page.textContent("main");
  for (const lane of ["thread 1: calls", "thread 1: ranges", "thread 1: ranges 2", "thread 2: calls"]) check(text.includes(lane), `the row "${lane}"`);
  check(!text.includes("thread 1: ranges 3"), "ranges after each other share a row");
  check(text.includes("7 later calls of the host are left out"), "what is left out is said");
};

tests.baseline = async () => {
  const change = (verdict, before, after) => ({ label: "excessive sectors", metric: "derived__memory_l2_theoretical_sectors_global_excessive", unit: "sector", before, after, verdict, origin: "exact" });
  const kernels = [
    { name: "void k<4>(float*)", state: "both", changes: [change("worse", 100, 250)], lines: [{ file: "/src/a.cu", text: kHostile, before: 3, after: 5, changes: [change("better", 10, 0)] }] },
    { name: "same()", state: "both", changes: [], lines: [] },
    { name: "fresh()", state: "new", changes: [], lines: [] },
    { name: "old()", state: "gone", changes: [], lines: [] },
  ];
  const html = report("baseline_base", profile({}));
  const page = await open(withData(html, "baseline", { baseline: { file: "before.json", command: "./app", notes: [kHostile], kernels } }));
  check((await page.textContent("nav.views")).includes("Changes (1 worse)"), "the view says how many kernels are worse");
  await page.at("view=changes");
  const text = await page.textContent("main");
  for (const part of ["before.json (./app)", "+150 %", "worse", "\u2212100 %", "better", "a.cu:3 \u2192 5", "Unchanged: same", "Only now: fresh", "Only in the baseline: old", kHostile])
    check(text.includes(part), `the changes show "${part}"`);
  const without = await open(html);
  check(!(await without.textContent("nav.views")).includes("Changes"), "no baseline, no view");
};

tests.large = async () => {
  const html = report("large", profile({ kernels: 200, lines: 100000 }));
  const size = statSync(html).size;
  check(size < 20e6, `200 kernels and 100,000 lines: ${(size / 1e6).toFixed(1)} MB, not under 20 MB`);
  const context = await browser.newContext({ viewport: { width: 1300, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(kHang);
  for (const hash of ["view=summary", "view=kernel&k=150&tab=source&line=400"]) {
    await page.goto("about:blank");
    await page.goto(`${pathToFileURL(html).href}#${hash}`);
    await page.waitForSelector("html[data-ready]");
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    // What it costs to open is what it makes: elements for the 200 kernels (about 45 a row), none for the lines out of sight.
    const made = await page.evaluate(() => document.querySelectorAll("*").length);
    check(made < 12000, `${hash} makes ${made} elements`);
    console.log(`large: ${(size / 1e6).toFixed(1)} MB, ${hash}: ${made} elements`);
  }
  const one = await open(report("long_file", profile({ kernels: 1, lines: 30000 })));
  await one.at("view=kernel&k=0&tab=source");
  await one.focus(".rows");
  await one.keyboard.press("End");
  await one.waitForSelector(".source-row[data-row='29999']");
  check((await one.locator(".source-row").count()) < 200, "only the rows on screen exist");
};

tests.looks = async () => {
  const base = report("looks", profile({}));
  const labs = withData(base, "looks_lab", { lab: withKernels(lab()), measured: lab(true) });
  const checks = report("looks_findings", checked());
  for (const scheme of ["light", "dark"])
    for (const width of [1300, 390]) {
      const page = await open(labs, { scheme, width });
      for (const hash of ["view=lab", "view=summary", "view=roofline", "view=timeline", ...["overview", "source&line=2", "access&site=1", "block", "flow", "memory"].map((t) => `view=kernel&k=0&tab=${t}`)]) {
        await page.at(hash);
        await page.waitForTimeout(150);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        check(wide <= width, `${hash} at ${width} pixels is ${wide} wide`);
        await picture(page, `${hash.replace(/[^a-z0-9]+/g, "_")}-${scheme}-${width}.png`);
      }
      const found = await open(checks, { scheme, width });
      for (const hash of ["f=0", "f=1", "f=2"]) {
        await found.at(`view=findings&${hash}`);
        await found.waitForTimeout(150);
        const wide = await found.evaluate(() => document.documentElement.scrollWidth);
        check(wide <= width, `findings, ${hash} at ${width} pixels is ${wide} wide`);
        await picture(found, `findings_${hash.replace("=", "")}-${scheme}-${width}.png`);
      }
      if (width === 1300) {
        await page.at("view=kernel&k=0&tab=source");
        await page.emulateMedia({ media: "print" });
        check(!(await page.isVisible("nav.views")), "print leaves the navigation out");
        await picture(page, `source-${scheme}.pdf`);
      }
    }
};

await run(tests);
