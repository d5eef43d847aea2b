// Problem matchers of examples/vscode/tasks.json, on what the commands print. vscode_test.mjs WARPGRIND TASKS FOLDER
// As VS Code matches: a pattern of several lines wants them one after the other.
import {spawnSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';

const [warpgrind, tasksFile, folder] = process.argv.slice(2);
const tasks = JSON.parse(readFileSync(tasksFile, 'utf8')).tasks;

function problems(task, text) {
  const lines = text.split('\n');
  const found = [];
  for (const matcher of task.problemMatcher) {
    const patterns = [matcher.pattern].flat();
    for (let at = 0; at + patterns.length <= lines.length; ++at) {
      const matches = patterns.map((pattern, i) => lines[at + i].match(new RegExp(pattern.regexp)));
      if (!matches.every(Boolean)) continue;
      const problem = {source: matcher.source};
      patterns.forEach((pattern, i) => {
        for (const key of ['file', 'line', 'severity', 'message', 'code'])
          if (pattern[key]) problem[key] = matches[i][pattern[key]];
      });
      found.push(problem);
    }
  }
  return found;
}

const programs = {
  'race.cu': `__global__ void k(int* p) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  p[threadIdx.x] = s[63 - threadIdx.x];
}
int main() { int* p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); cudaDeviceSynchronize(); cudaFree(p); }
`,
  'fault.cu': `__global__ void k(int* p) { p[threadIdx.x + 64] = 1; }
int main() { int* p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); cudaDeviceSynchronize(); cudaFree(p); }
`,
  'wrong.cu': `int main() {
  return undefined_name; }
`,
};
const cases = [
  [0, 'race.cu', [], 'warpgrind check', 3, 'race-shared'],
  [0, 'fault.cu', [], 'warpgrind check', 1, 'oob-global-write'],
  [1, 'fault.cu', [], 'warpgrind run', 1, undefined],
  [0, 'wrong.cu', ['--compiler', 'clang'], 'clang', 2, undefined],
  [1, 'wrong.cu', [], undefined, 2, undefined],  // whichever compiler there is
];
let failed = false;
for (const [name, text] of Object.entries(programs)) writeFileSync(`${folder}/${name}`, text);
for (const [number, file, options, source, line, code] of cases) {
  const task = tasks[number];
  const words = [...task.args.map(word => word.replace('${file}', `${folder}/${file}`))];
  words.splice(1, 0, ...options);
  const run = spawnSync(warpgrind, words, {cwd: folder, encoding: 'utf8'});
  const found = problems(task, run.stdout + run.stderr);
  const right = found.some(p => (!source || p.source === source) && Number(p.line) === line && p.code === code && p.file.endsWith(file) && p.message);
  if (right) continue;
  failed = true;
  console.log(`${words.join(' ')}: ${JSON.stringify(found)} of\n${run.stdout}${run.stderr}`);
}
process.exit(failed ? 1 : 0);
