// The course on the lab's page, in headless Chromium: the map, every chapter, the glossary. Rows are those stored of a real GPU
// (so that no lab has to run), texts and rules those that `warpgrind lab --report` writes.
// course_test.mjs --warpgrind BINARY --modules DIR --out DIR --results lab/results/GPU [--only NAME]
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { check, open, option, out, picture, run, withData } from "./harness.mjs";

const made = join(out, "vecadd.html");
const lab = spawnSync(option("warpgrind"), ["lab", "vecadd", "--sizes", "64", "--no-models", "--report", made], { encoding: "utf8" });
if (lab.status !== 0) throw new Error(`warpgrind lab --report: ${lab.stdout}${lab.stderr}`);
const stored = (file) => JSON.parse(readFileSync(join(option("results"), file), "utf8"));
const results = stored("lab-full.json");
results.topics = [...results.topics.filter((t) => t.topic !== "multigpu"), ...stored("multigpu-x4.json").topics];
const virtual = { ...results, on: "virtual", topics: results.topics.map((t) => ({ ...t, virtual: true, gpu: "h200", rows: t.rows.map((r) => ({ ...r })) })) };

// The tile of a transpose is drawn from recorded accesses, which a real GPU's rows have not: those of one warp.
const exactPattern = (words) => ({ count: 8192, mask: "0xffffffff", lane_bytes: 4, space: "shared", addresses: words.map((w) => (w - Math.min(...words)) * 4), base: { allocation: null, offset: Math.min(...words) * 4 }, alignment: 0, sectors: 0, lines_128: 0, wavefronts: 1, ideal_sectors: 0, ideal_wavefronts: 1, transactions: [], block: [0, 0, 0], warp: 0 });
for (const [rung, pitch] of [["shared", 32], ["padded", 33]]) {
  const site = (id, kind, words) => ({ id, kind, space: "shared", function: "", ptx: `${kind === "load" ? "ld" : "st"}.shared.f32`, file: "", line: 0, ptx_line: 0, metrics: {}, patterns: [exactPattern(words)], worst: 0, best: 0 });
  const lanes = Array.from({ length: 32 }, (_, l) => l);
  const kernels = [{ name: rung, launches: 1, sources: [], sites: [...[0, 8, 16, 24].map((row, i) => site(i, "store", lanes.map((l) => row * pitch + l))), ...[0, 8].map((column, i) => site(4 + i, "load", lanes.map((l) => l * pitch + column)))] }];
  for (const r of virtual.topics.find((t) => t.topic === "transpose").rows) if (r.rung === rung) r.kernels = kernels;
}

const html = withData(made, "course", { lab: virtual, measured: results });
const course = JSON.parse(readFileSync(html, "utf8").split('id="data">')[1].split("</script>")[0]).course;
const chapters = course.order.filter((t) => results.topics.some((r) => r.topic === t));
const tests = {};

tests.map = async () => {
  const page = await open(html);
  const text = await page.textContent("main");
  for (const d of course.documents) check(text.includes(d.title), `the map names ${d.title}`);
  check((await page.locator(".sections > li").count()) === course.documents.reduce((n, d) => n + d.sections.length, 0), "and all their sections");
  check((await page.locator(".chapters > li").count()) === chapters.length, "the chapters are listed");
  const image = await page.locator(".chapters > li", { hasText: " image:" }).textContent();
  check(/up to \d+ times as fast \(histogram \/ wide at/.test(image), `a gain is within one ladder: ${image}`);
  check((await page.textContent(".chapters > li >> nth=0")).includes(" vecadd:"), "the first chapter is that for beginners");
  const kept = (topic, rung) => results.topics.find((t) => t.topic === topic)?.rows.some((r) => r.rung === rung);
  const links = (await page.locator("a.rung-link").evaluateAll((all) => [...new Set(all.map((a) => a.getAttribute("href")))])).filter((href) => {
    const wanted = new URLSearchParams(href.slice(1));
    return kept(wanted.get("topic"), wanted.get("rung")); // a rung newer than the stored results has no rows here
  });
  check(links.length > 80, `the map leads to ${links.length} rungs`);
  for (const href of links) {
    await page.at(href.slice(1));
    const wanted = new URLSearchParams(href.slice(1));
    const target = page.locator("main .target").first();
    const good = (await target.count()) === 1 && (((await target.getAttribute("data-rungs")) ?? "").split("|").includes(wanted.get("rung")) || (await target.textContent()).includes(wanted.get("rung")));
    check(good, `${href} leads to what shows the rung`);
    check(await page.locator(".tabs [aria-current]", { hasText: wanted.get("topic") }).first().isVisible(), `${href} opens its chapter`);
  }
  await page.at("view=lab&topic=nothing");
  check((await page.textContent("main")).includes("no topic nothing"), "an address of no chapter says so");
};

tests.chapters = async () => {
  for (const scheme of ["light", "dark"])
    for (const width of [1300, 360]) {
      const page = await open(html, { scheme, width });
      for (const topic of chapters) {
        await page.at(`view=lab&topic=${topic}`);
        const chapter = course.chapters[topic];
        check((await page.textContent(".opening h2")) === chapter.question, `${topic} opens with its question`);
        check((await page.locator(".take-away li").count()) === chapter.take_away.length, `${topic} ends with what to take away`);
        await page.waitForFunction(() => [...document.querySelectorAll(".chart")].every((c) => c.querySelector("svg path")));
        const steps = await page.locator(".step").count();
        check(steps > 0, `${topic} has steps`);
        await page.getByText("Open all").click();
        await page.waitForFunction((n) => document.querySelectorAll(".step[open] .step-times li").length >= n, steps, { timeout: 60e3 }).catch(() => check(false, `${topic}: each step has times`));
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        check(wide <= width, `${topic} at ${width} pixels is ${wide} wide`);
        if ((scheme === "light") === (width === 1300)) await picture(page, `${topic}-${scheme}-${width}.png`);
      }
      for (const hash of ["view=lab", "view=glossary"]) {
        await page.at(hash);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        check(wide <= width, `${hash} at ${width} pixels is ${wide} wide`);
      }
    }
};

tests.glossary = async () => {
  const page = await open(html);
  const wanted = new Set();
  for (const hash of ["view=lab", ...chapters.map((t) => `view=lab&topic=${t}`)]) {
    await page.at(hash);
    for (const href of await page.locator("a.term").evaluateAll((all) => all.map((a) => a.getAttribute("href")))) wanted.add(href);
  }
  check(wanted.size > 15, `the chapters use ${wanted.size} terms`);
  for (const href of wanted) {
    await page.at(href.slice(1));
    check((await page.locator(".glossary .chosen dt").count()) === 1, `${href} is in the glossary`);
  }
  await page.at("view=glossary");
  for (const href of await page.locator(".glossary a.definition").evaluateAll((all) => [...new Set(all.map((a) => a.getAttribute("href")))])) {
    await page.at(href.slice(1));
    check((await page.locator(".definitions .chosen").count()) === 1, `${href} is a counter`);
  }
  await page.at("view=glossary");
  await page.fill("input[aria-label='Filter the glossary']", "half-warp");
  check((await page.locator(".glossary > div:visible").count()) < 8, "the filter leaves few terms");
};

tests.rules = async () => {
  const page = await open(html);
  await page.at("view=lab&topic=coalescing");
  const models = readdirSync(new URL("../../src/common/gpu/models", import.meta.url)).length;
  check((await page.locator(".rules-table tbody tr:has(th[scope=row])").count()) === models, "all GPU models stand beside each other");
  check((await page.locator(".rules-table .rule").count()) === 4, "under the four rules");
  // A load shifted by one float: a transaction a lane on 1.0, three segments on 1.3, two lines on 2.0, five sectors since.
  for (const [gpu, figure] of [["Quadro FX 5600", "32 / 1024"], ["GeForce GTX 280", "3 / 224"], ["Tesla M2090", "2 / 256"], ["H200", "5 / 160"]])
    check((await page.textContent(`.rules-table button[aria-label*="${gpu}, shifted by 1 float:"]`)) === figure, `${gpu}: ${figure}`);
  const cell = page.locator('.rules-table button[aria-label*="GTX 280, shifted by 1 float:"]');
  await cell.focus();
  await page.keyboard.press("Enter");
  check((await cell.getAttribute("aria-pressed")) === "true", "a figure can be chosen with the keyboard");
  check((await page.locator(".rule-drawing .drawing .sector").count()) === 3, "and is drawn: three segments");
  await page.at("view=lab&topic=banks");
  await page.locator('.rules-table button[aria-label*="H200, stride of 32 words:"]').click();
  check((await page.locator(".rule-drawing .word.conflict").count()) === 31, "31 words of a stride of 32 wait");
};

// Drawings to step through: by keys and by buttons, never by themselves, with the same in words.
tests.steppers = async () => {
  const page = await open(html);
  const said = () => page.textContent(".stage-text");
  for (const [topic, steps] of [["matmul", 11], ["reduction", 7], ["transpose", 7], ["multigpu", 4], ["streams", 4]]) {
    await page.at(`view=lab&topic=${topic}`);
    check((await page.locator(".stepper").count()) === 1, `${topic} has a drawing to step through`);
    const labels = new Set();
    await page.focus(".stepper");
    for (let i = 0; i < 40; ++i) {
      labels.add(await page.getAttribute(".stage .drawing", "aria-label"));
      check((await page.locator(".all-steps li[aria-current]").count()) === 1, `${topic}: the list marks the step`);
      await page.keyboard.press("ArrowRight");
    }
    const last = Number(/of (\d+)/.exec(await said())[1]);
    check((await said()).startsWith(`Step ${last} of ${last}`) && last >= steps, `${topic}: keys go to the last of ${steps} steps: ${await said()}`);
    check(await page.isDisabled("button[aria-label='One step forward']"), `${topic}: there it ends`);
    check(labels.size >= Math.min(4, steps - 1), `${topic}: drawings say what they show: ${labels.size}`);
    await page.keyboard.press("Home");
    const before = await said();
    await page.waitForTimeout(300);
    check((await said()) === before && before.startsWith("Step 1 "), `${topic}: nothing moves by itself`);
    await page.click("button[aria-label='One step forward']");
    check((await said()).startsWith("Step 2 "), `${topic}: a button steps too`);
    check((await page.locator(".all-steps li").count()) === last, `${topic}: all steps are there in words`);
  }
  // What they say is what the rungs do.
  await page.at("view=lab&topic=transpose");
  for (const [rung, passes] of [["shared", "1 bank: 32 passes"], ["padded", "32 banks: 1 pass"]]) {
    await page.click(`.stepper button[aria-label='Show ${rung}']`);
    await page.focus(".stepper");
    await page.keyboard.press("End");
    check((await said()).includes(passes), `${rung}: ${passes}, not ${await said()}`);
    check((await page.locator(".stage .cell.clash").count()) === (rung === "shared" ? 33 : 0), `${rung}: words that collide are marked`);
  }
  await page.at("view=lab&topic=reduction");
  for (const [rung, words] of [["interleaved, divergent", "Both warps run with some lanes off"], ["interleaved", "2 passes, a bank conflict"], ["sequential", "One warp is full, the other has nothing to do. No two lanes"]]) {
    await page.click(`.stepper button[aria-label='Show ${rung}']`);
    await page.focus(".stepper");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    check((await said()).includes(words), `${rung}: ${words}, not ${await said()}`);
  }
};

// What the page says follows from the rows it shows: with other times it says something else.
tests.verdicts = async () => {
  const withTimes = (name, topic, choose, microseconds) => {
    const changed = (result) => ({
      ...result,
      topics: result.topics.map((t) => (t.topic !== topic ? t : { ...t, rows: t.rows.map((r) => (choose(r) ? { ...r, gpu_us: { ...r.gpu_us, median: microseconds(r) }, derived: { ...r.derived, time_us: microseconds(r) } } : r)) })),
    });
    return withData(made, name, { lab: changed(virtual), measured: changed(results) });
  };
  const cardOf = (page, question) => page.locator(".chart-card", { hasText: question }).locator(".chart-answer");
  const weak = (times) => withTimes("weak", "multigpu", (r) => r.rung === "weak", (r) => times[r.parameters.devices]);
  for (const [times, begin] of [[{ 1: 55, 2: 56, 4: 57 }, "Nearly:"], [{ 1: 55, 2: 70, 4: 80 }, "Not quite:"], [{ 1: 55, 2: 108, 4: 119 }, "No:"]]) {
    const page = await open(weak(times));
    await page.at("view=lab&topic=multigpu");
    const said = await cardOf(page, "Does the time stay the same").textContent();
    check(said.startsWith(begin), `${JSON.stringify(times)}: '${said}' begins with ${begin}`);
    check((await page.locator(".chart-card", { hasText: "Does the time stay the same" }).textContent()).includes("8192x8192 double"), "the chart names its size");
  }
  // A step's sentence: the caches serve few reads as well, or they do not.
  for (const [factor, words] of [[0.6, "tile and barrier cost more than they save"], [1, "the caches are as good"], [3, ""]]) {
    const page = await open(withTimes("edges", "image", (r) => ["edges / global", "edges / shared"].includes(r.rung), (r) => (r.rung === "edges / global" ? 30 : 30 / factor)));
    await page.at("view=lab&topic=image");
    const said = await page.locator('.step[data-rung="edges / shared"] .step-text').textContent();
    check(words ? said.includes(words) : !said.includes("(at "), `${factor} times as fast: '${said}'`);
  }
  // The graph of naive sweeps stands beside the naive sweeps, not beside the rung in between.
  const page = await open(html);
  await page.at("view=lab&topic=poisson");
  check((await page.getAttribute('.step[data-rung="graph"]', "data-before")) === "naive", "graph is compared with naive");
};

// Axes are to scale: from 16 to 32 is twice as far as from 8 to 16.
tests.axes = async () => {
  const page = await open(html);
  await page.at("view=lab&topic=constant");
  const chart = page.locator(".chart-card .chart").first();
  await chart.locator("svg path").first().waitFor({ state: "attached" });
  const at = await chart.locator("svg text").evaluateAll((all) => Object.fromEntries(all.map((t) => [t.textContent, t.getBoundingClientRect()]).map(([text, box]) => [text, box.x + box.width / 2])));
  check(Math.abs((at[32] - at[16]) / (at[16] - at[8]) - 2) < 0.1, `places of 8, 16 and 32: ${at[8]}, ${at[16]}, ${at[32]}`);
};

tests.reading = async () => {
  const page = await open(html, { width: 360 });
  for (const hash of ["view=lab", "view=lab&topic=coalescing", "view=lab&topic=matmul"]) {
    await page.at(hash);
    const levels = await page.locator("h1, h2, h3, h4, h5").evaluateAll((all) => all.filter((h) => h.offsetParent).map((h) => Number(h.tagName[1])));
    check(levels.every((l, i) => i === 0 || l <= levels[i - 1] + 1), `${hash}: no level of headings is left out: ${levels}`);
    const nameless = await page.locator("svg[role=img]:not([aria-label]), select:not([aria-label]), nav:not([aria-label]), table:not([aria-label])").evaluateAll((all) => all.filter((e) => !e.closest("label")).length);
    check(nameless === 0, `${hash}: ${nameless} drawings, choices or tables have no name`);
    check((await page.locator("main, header, nav").count()) >= 3, `${hash}: landmarks`);
  }
  // Contrast of text in both schemes, by WCAG's formula.
  for (const scheme of ["light", "dark"]) {
    const p = await open(html, { scheme });
    await p.at("view=lab&topic=coalescing");
    await p.locator(".step summary").first().click();
    const low = await p.evaluate(() => {
      const rgb = (text) => {
        const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        canvas.fillStyle = text;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
      };
      const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const background = (e) => {
        for (let at = e; at; at = at.parentElement) {
          const c = rgb(getComputedStyle(at).backgroundColor);
          if (c[3] === 255) return c;
        }
        return [255, 255, 255];
      };
      const out = [];
      for (const e of document.querySelectorAll("main p, main a, main li, main td, main th, main h2, main h3, main button, main summary, main dt, header a, .step-gain, .bar-name, .bar-value")) {
        if (!e.offsetParent || !e.textContent.trim()) continue;
        const [a, b] = [light(rgb(getComputedStyle(e).color)), light(background(e))].sort((x, y) => y - x);
        const contrast = (a + 0.05) / (b + 0.05);
        if (contrast < 4.5) out.push(`${e.tagName}.${e.className} ${contrast.toFixed(2)} ${e.textContent.slice(0, 30)}`);
      }
      return [...new Set(out)];
    });
    check(low.length === 0, `${scheme}: too little contrast: ${low.slice(0, 5).join("; ")}`);
  }
};

tests.print = async () => {
  const page = await open(html);
  await page.at("view=lab&topic=transpose");
  await page.emulateMedia({ media: "print" });
  check(!(await page.isVisible("nav.views")) && !(await page.isVisible(".chapter-nav")), "print leaves the navigation out");
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  check((await page.locator(".step:not([open])").count()) === 0, "and opens the steps");
  await picture(page, "transpose.pdf");
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  check((await page.locator(".step[open]").count()) === 0, "which are closed again afterwards");
};

await run(tests);
