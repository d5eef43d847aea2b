// The page's scripts against its types, part of which is made from the tables of the profile's members: the bundler
// takes types away without a look at them. node page_types_test.mjs --web DIR --modules DIR/node_modules
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const option = (name) => resolve(process.argv[process.argv.indexOf(`--${name}`) + 1]);
const modules = option("modules");
const compiler = join(modules, "typescript/bin/tsc");
if (!existsSync(compiler)) {
  console.log("skipped: the page's packages are not installed");
  process.exit(77);
}
const run = spawnSync(process.execPath, [compiler, "--noEmit", "--project", option("web"), "--baseUrl", modules], { stdio: "inherit" });
process.exit(run.status ?? 1);
