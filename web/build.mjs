// Bundles the report page into one file: node build.mjs --modules DIR/node_modules --out page.html
// The result holds everything but the data; src/analysis/report/html.cpp puts that in place of the marker. The content security
// policy allows this script alone (by its hash) and no request at all.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return resolve(at > 0 ? process.argv[at + 1] : fallback);
};
const here = dirname(fileURLToPath(import.meta.url));
const modules = option("modules", join(here, "node_modules"));
const out = option("out", join(here, "page.html"));
const esbuild = createRequire(join(modules, "_"))("esbuild");

const shared = { bundle: true, minify: true, write: false, nodePaths: [modules], logLevel: "warning", charset: "ascii" };
const script = await esbuild.build({
  ...shared,
  entryPoints: [join(here, "src/main.ts")],
  format: "iife",
  target: "es2020",
  legalComments: "none", // the licences themselves are in the page
  define: { "process.env.NODE_ENV": '"production"' },
});
const style = await esbuild.build({ ...shared, entryPoints: [join(here, "src/style.css")] });
// An end tag inside a string constant would end the script.
const code = script.outputFiles[0].text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const hash = createHash("sha256").update(code, "utf8").digest("base64");

const licencesOf = (names) => names
  .map((name) => {
    const folder = join(modules, name);
    const version = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;
    const texts = ["NOTICE", "LICENSE", "LICENSE.txt"].map((f) => join(folder, f)).filter((f) => existsSync(f));
    return `== ${name} ${version}\n\n${texts.map((f) => readFileSync(f, "utf8").trim()).join("\n\n")}`;
  })
  .join("\n\n\n");
const drawing = ["echarts", "zrender", "highlight.js", "tslib"];
const licences = licencesOf(drawing).replaceAll("</", "<\\/");

const policy = `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'`;
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="warpgrind">
<link rel="icon" href="data:,">
<title>warpgrind</title>
<style>${style.outputFiles[0].text}</style>
</head>
<body>
<noscript>This report is drawn by a script inside this file; please allow it.</noscript>
<div id="app"></div>
<script type="application/json" id="data"><!--WARPGRIND-DATA--></script>
<script type="text/plain" id="licences">${licences}</script>
<script>${code}</script>
</body>
</html>
`;
writeFileSync(out, page);

// The page of `warpgrind serve`, whose scripts and style are files of their own: its policy allows none inside the page.
// ECharts is a script of its own, loaded with the first chart. Each file is compressed here, once.
const playground = option("playground", join(here, "playground"));
const charts = { name: "charts", setup: (build) => build.onResolve({ filter: /^\.\/echarts$/ }, () => ({ path: "/playground-echarts.js", external: true })) };
const scriptOf = async (entry, plugins) => {
  const made = await esbuild.build({
    ...shared,
    entryPoints: [join(here, entry)],
    plugins,
    format: "esm",
    target: "es2020",
    legalComments: "none", // the licences are a file of their own
    define: { "process.env.NODE_ENV": '"production"' },
  });
  return `/* Licences of what this contains: /playground-licences.txt */\n${made.outputFiles[0].text}`;
};
const editor = [
  ...["autocomplete", "commands", "lang-cpp", "language", "lint", "search", "state", "view"].map((name) => `@codemirror/${name}`),
  ...["common", "cpp", "highlight", "lr"].map((name) => `@lezer/${name}`),
  ...["@marijn/find-cluster-break", "crelt", "style-mod", "w3c-keyname"],
].filter((name) => existsSync(join(modules, name)));
const servedStyle = await esbuild.build({ ...shared, entryPoints: [join(here, "src/playground/style.css")] });
const files = [
  [".js", await scriptOf("src/playground/main.ts", [charts])],
  ["-echarts.js", await scriptOf("src/echarts.ts", [])],
  [".css", servedStyle.outputFiles[0].text],
  ["-licences.txt", licencesOf([...drawing, ...editor])],
];
for (const [name, text] of files) {
  const path = playground + name;
  writeFileSync(path, text);
  writeFileSync(`${path}.gz`, gzipSync(text, { level: 9 }));
}
console.log(`${out}: ${(page.length / 1024).toFixed(0)} KiB`);
