// The playground in headless Chromium, from the edit to the drawn access: page_test.mjs --warpgrind BINARY --modules DIR --out DIR
// Exit code 77 (skipped, with the reason) where Chromium, the page or a sandbox is not there.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const kHang = 300e3; // milliseconds until something that never comes is given up; nothing is judged by how long it takes
const option = (name) => resolve(process.argv[process.argv.indexOf(`--${name}`) + 1]);
const skip = (why) => {
  console.log(`skipped: ${why}`);
  process.exit(77);
};
const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((p) => existsSync(p));
if (!chromium) skip("chromium is not installed (CI=1 scripts/setup.sh installs it)");
if (!existsSync(join(option("modules"), "playwright-core"))) skip("this build has no page (no node or npm when it was configured)");
const playwright = createRequire(join(option("modules"), "_"))("playwright-core");
const out = option("out");
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const failures = [];
const check = (good, what) => {
  if (good) return;
  failures.push(what);
  console.log(`FAIL ${what}`);
};

const server = spawn(option("warpgrind"), ["serve", "--listen", "0", "--data", join(out, "data.sqlite")], { stdio: ["ignore", "pipe", "pipe"] });
let said = "";
const address = await new Promise((done) => {
  server.stderr.on("data", (text) => (said += text));
  server.on("exit", () => done(""));
  server.stdout.on("data", (text) => {
    const found = /http:\/\/[\d.:]+/.exec(String(text));
    if (found) done(found[0]);
  });
});
if (!address) skip(said.trim());

const browser = await playwright.chromium.launch({ executablePath: chromium, args: ["--no-sandbox"] });
async function open(path, { scheme = "light", width = 1400 } = {}) {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height: 950 } });
  const page = await context.newPage();
  page.setDefaultTimeout(kHang);
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && check(false, `${path}: console ${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => check(false, `${path}: ${e.message}`));
  page.on("request", (r) => check(r.url().startsWith(address) || r.url().startsWith("data:"), `${path}: request for ${r.url()}`));
  await page.goto(address + path);
  await page.waitForSelector("html[data-ready=playground]");
  page.source = () => page.evaluate(() => document.querySelector(".cm-content").innerText);
  page.type = async (text) => {
    await page.click(".cm-content");
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(text);
  };
  page.done = () => page.waitForSelector("button.main:not([disabled])");
  page.run = async (button) => {
    await page.click(`button:text-is("${button}")`);
    await page.waitForSelector("button.main[disabled]");
    await page.done();
  };
  return page;
}

const program = (body, more = "") => `#include <cstdio>
__global__ void copy(const float* from, float* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  ${body}
}
int main() {
  float *from, *to;
  int n = 4096;
  cudaMalloc(&from, n * sizeof(float));
  cudaMalloc(&to, n * sizeof(float));
  cudaMemset(from, 0, n * sizeof(float));
  copy<<<n / 256, 256>>>(from, to, n);
  printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
  ${more}
  cudaFree(from);
  cudaFree(to);
}
`;

const tests = {};

tests.from_edit_to_drawn_access = async () => {
  const page = await open("/");
  let charts = 0;
  page.on("request", (r) => (charts += r.url().endsWith("/playground-echarts.js") ? 1 : 0));
  check((await page.source()).includes("Coalescing"), "the first program to start from is there");
  check((await page.locator("select[aria-label='GPU model'] option").count()) >= 16, "GPU models are offered");
  check((await page.locator("select[aria-label='Start from'] option").count()) > 15, "so are programs to start from");
  await page.type(program("to[i] = from[i * 32 % n];"));
  await page.run("Run");
  check((await page.textContent(".output")).trim() === "no error", "the program's output");
  check((await page.textContent(".status")) === "exit code 0", "and how it ended");
  check((await page.textContent("#result")).includes("Estimated time"), "the estimate");
  await page.waitForSelector("#result .drawing .link");
  check((await page.locator("#result .drawing .sector").count()) === 32, "a load 128 bytes apart: 32 lanes touch 32 sectors");
  const counts = await page.locator(".counts .count").allTextContents();
  check(counts.includes("128"), `counters beside the lines: ${counts}`); // 4096 / 32 requests
  check((await page.textContent(".columns")).includes("Sectors"), "and what they are");
  await page.screenshot({ path: join(out, "strided.png") });
  // The other version: compared with this one.
  await page.type(program("to[i] = from[i];"));
  await page.run("Run");
  check((await page.locator("#result .drawing .sector").count()) === 4, "neighbours: 4 sectors");
  await page.click("nav.views a:has-text('Changes')");
  await page.waitForSelector("#result[data-view=changes]");
  const changes = await page.textContent("#result");
  check(/better/i.test(changes), `the comparison says that it is better: ${changes.slice(0, 300)}`);
  await page.screenshot({ path: join(out, "changes.png") });
  // A line's own accesses.
  await page.locator(".cm-lineNumbers .cm-gutterElement", { hasText: /^4$/ }).click();
  await page.waitForSelector("#result[data-view=line] .site");
  check((await page.locator("#result .site").count()) === 2, "line 4: a load and a store");
  for (const view of ["summary", "kernel", "timeline", "counters"]) {
    await page.goto(`${page.url().split("#")[0]}#view=${view}`);
    await page.waitForSelector(`#result[data-view=${view}]`);
    if (view === "summary") check(charts === 0, "no chart was needed so far");
  }
  check(charts === 1, `the script of the charts is loaded with the first of them: ${charts}`);
  await page.context().close();
};

tests.step_through = async () => {
  for (const width of [1400, 390]) {
    const page = await open("/", { width });
    await page.type(program("if (i % 2) to[i] = from[i];"));
    await page.run("Step through");
    await page.waitForSelector(".steps .st-words");
    const words = () => page.textContent(".st-words");
    const first = await words();
    check(first.startsWith("Warp 0, all 32 lanes, line 2"), `${width}: ${first}`);
    await page.keyboard.press("ArrowRight");
    check((await words()).includes("line 3: sets i"), `${width}: the keys step at once: ${await words()}`);
    await page.click("[aria-label^='One step of this warp forwards']");
    check((await words()).includes("the lanes part"), `${width}: ${await words()}`);
    await page.click("[aria-label^='One step of this warp back']");
    await page.click("[aria-label^='One step of this warp back']");
    check((await words()) === first, `${width}: and back`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(wide <= 0, `nothing scrolls sideways at ${width} pixels, but ${wide}`);
    await page.screenshot({ path: join(out, `steps-${width}.png`) });
    await page.fill(".st-block input", "3,0,0");
    await page.click("button:text-is('Record this block')");
    await page.waitForSelector("button.main[disabled]");
    await page.done();
    await page.waitForSelector(".steps .st-words");
    await page.keyboard.press("ArrowRight");
    check((await page.textContent(".st-var-value >> nth=0")).length > 0 && (await page.inputValue(".st-block input")) === "3,0,0", `${width}: another block`);
    await page.context().close();
  }
};

tests.compile_errors_in_their_lines = async () => {
  const page = await open("/");
  await page.type(program("to[i] = form[i];"));
  await page.run("Run");
  check((await page.textContent(".output")).includes("use of undeclared identifier 'form'"), "the compiler's message");
  await page.waitForSelector(".cm-lint-marker-error");
  check((await page.locator(".cm-lintRange-error").textContent()) === "form", "the word is marked");
  check((await page.getAttribute(".status", "class")).includes("bad"), "it has failed");
  await page.context().close();
};

tests.findings_in_their_lines = async () => {
  const page = await open("/?start=short/bounds", { scheme: "dark" });
  await page.run("Check");
  await page.waitForSelector("#result[data-view=findings]");
  check((await page.textContent("#result")).includes("out-of-bounds") || /outside|out of bounds/i.test(await page.textContent("#result")), "the finding is told");
  await page.waitForSelector(".cm-lint-marker-error");
  await page.screenshot({ path: join(out, "findings.png") });
  await page.context().close();
};

tests.hostile_output_is_text = async () => {
  const page = await open("/");
  const bad = "<img src=x onerror=alert(1)><script>alert(2)</script>";
  page.on("dialog", () => check(false, "a program's output was run"));
  await page.type(program("to[i] = from[i];", `puts("${bad}"); fputs("\\x1b[31m\\xff\\xfe", stdout);`));
  await page.run("Run");
  check((await page.textContent(".output")).includes(bad), "output is shown as it is");
  check((await page.locator("#result img, #result script").count()) === 0, "and makes no elements");
  await page.context().close();
};

tests.link_keeps_a_program = async () => {
  const page = await open("/");
  await page.type("// kept\nint main() {}\n");
  await page.selectOption("select[aria-label='GPU model']", "t4");
  await page.click("button:text-is('Link')");
  await page.waitForURL(/\/p\/[0-9a-f]{32}/);
  const other = await open(new URL(page.url()).pathname, { width: 390 });
  check((await other.source()).includes("// kept"), "the link gives the program");
  check((await other.inputValue("select[aria-label='GPU model']")) === "t4", "and its GPU");
  check(await other.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth + 1), "nothing is wider than a phone");
  await other.screenshot({ path: join(out, "phone.png") });
  // Counters beside the lines leave no room for the code: they are there on request.
  await other.type(program("to[i] = from[i];"));
  await other.run("Run");
  await other.waitForSelector(".columns input");
  const codeBegins = () => other.evaluate(() => document.querySelector(".cm-content").getBoundingClientRect().x);
  check((await codeBegins()) < 80, `the code has the phone's width: it begins at ${await codeBegins()}`);
  await other.click(".columns input");
  await other.waitForSelector(".counts .count:visible");
  check((await codeBegins()) > 80, "the counters are shown on request");
  await other.screenshot({ path: join(out, "phone_counters.png") });
  await page.context().close();
  await other.context().close();
};

tests.stop = async () => {
  const page = await open("/");
  await page.type("#include <unistd.h>\nint main() { write(1, \"here\\n\", 5); for (;;) sleep(1); }\n");
  await page.click("button:text-is('Run')");
  await page.waitForFunction(() => document.querySelector(".output")?.textContent.includes("here"));
  await page.click("button:text-is('Stop')");
  await page.done();
  check((await page.textContent(".status")) === "stopped on request", "a run can be stopped");
  await page.context().close();
};

for (const [name, test] of Object.entries(tests)) {
  const before = failures.length;
  try {
    await test();
  } catch (error) {
    check(false, `${name}: ${error.message}`);
  }
  console.log(`${failures.length === before ? "ok" : "FAILED"} ${name}`);
}
await browser.close();
server.kill("SIGTERM");
await new Promise((done) => (server.exitCode === null ? server.on("exit", done) : done()));
check(server.exitCode === 0, `the server ends well: ${server.exitCode} ${said}`);
process.exit(failures.length ? 1 : 0);
