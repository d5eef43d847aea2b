// What the tests of the report page share: headless Chromium, pages with made-up or stored data, and checks that are counted.
// Options: --warpgrind BINARY --modules DIR --out DIR [--only NAME] [--pictures]: also pictures of every view, to look at (Chromium
// draws them on the CPU, which takes most of the time). Exit code 77 (skipped, with the reason) where Chromium or
// the page is not there.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const kSkipped = 77;
export const kHang = 300e3; // milliseconds until something that never comes is given up; nothing is judged by how long it takes
export const option = (name) => resolve(process.argv[process.argv.indexOf(`--${name}`) + 1]);
const skip = (why) => {
  console.log(`skipped: ${why}`);
  process.exit(kSkipped);
};
const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((p) => existsSync(p));
if (!chromium) skip("chromium is not installed (CI=1 scripts/setup.sh installs it)");
if (!existsSync(join(option("modules"), "playwright-core"))) skip("this build has no report page (no node or npm when it was configured)");
const playwright = createRequire(join(option("modules"), "_"))("playwright-core");
export const out = option("out");
mkdirSync(out, { recursive: true });

const failures = [];
export const check = (good, what) => {
  if (good) return;
  failures.push(what);
  console.log(`FAIL ${what}`);
};

export function report(name, data) {
  const json = join(out, `${name}.json`);
  const html = join(out, `${name}.html`);
  writeFileSync(json, JSON.stringify(data));
  const run = spawnSync(option("warpgrind"), ["show", "--quiet", "--report", html, json], { encoding: "utf8" });
  if (run.status !== 0) throw new Error(`warpgrind show --report: ${run.stdout}${run.stderr}`);
  return html;
}

/** The same page with other data: results of the lab, with or without a measured one. */
export function withData(html, name, data) {
  const text = readFileSync(html, "utf8");
  const begin = text.indexOf('id="data">') + 10;
  const end = text.indexOf("</script>", begin);
  const page = { ...JSON.parse(text.slice(begin, end)), ...data };
  const file = join(out, `${name}.html`);
  writeFileSync(file, text.slice(0, begin) + JSON.stringify(page).replaceAll("<", "\\u003c") + text.slice(end));
  return file;
}

/** A picture of the page, or with the end .pdf the page as printed. */
export async function picture(page, name) {
  if (!process.argv.includes("--pictures")) return;
  const path = join(out, name);
  await (name.endsWith(".pdf") ? page.pdf({ path }) : page.screenshot({ path, fullPage: true }));
}

export const browser = await playwright.chromium.launch({ executablePath: chromium, args: ["--no-sandbox"] });

export async function open(html, { scheme = "light", width = 1300 } = {}) {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(kHang);
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && check(false, `${html}: console ${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => check(false, `${html}: ${e.message}`));
  const url = pathToFileURL(html).href;
  page.on("request", (r) => check(r.url().startsWith(url) || r.url().startsWith("data:"), `${html}: request for ${r.url()}`));
  page.at = async (hash) => {
    await page.goto(`${url}#${hash}`);
    await page.waitForSelector("html[data-ready]");
  };
  await page.at("");
  return page;
}

/** Runs them one after the other and ends the process: 1 if any check failed. */
export async function run(tests) {
  const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1] : "";
  for (const [name, test] of Object.entries(tests)) {
    if (only && only !== name) continue;
    const before = failures.length;
    const begin = Date.now();
    try {
      await test();
    } catch (e) {
      check(false, `${name}: ${e.message}`);
    }
    for (const context of browser.contexts()) await context.close();
    console.log(`${failures.length === before ? "ok  " : "FAIL"} ${name} (${Date.now() - begin} ms)`);
  }
  await browser.close();
  process.exit(failures.length ? 1 : 0);
}
