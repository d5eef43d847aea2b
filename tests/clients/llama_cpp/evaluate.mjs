// Evaluates models with llama.cpp (node-llama-cpp), on the GPU or the CPU, and writes all logits.
//
//   evaluate.mjs MODULES cuda|cpu PLAN OUT       MODULES: a folder node_modules; PLAN: JSON, a list of
//     {name, model, flash, batches: [tokens of each batch], generate: tokens to add greedily, keys: type of the KV cache (optional)}
//
// OUT: JSON, a list of {name, flash, logits: [numbers of each position, in the order of tokens], tokens: the generated ones}.
import {createRequire} from "node:module";
import {readFileSync, writeFileSync} from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";

const [modules, device, plan, out] = process.argv.slice(2);
const main = createRequire(path.join(path.resolve(modules), "x.js")).resolve.paths("node-llama-cpp")[0];
const {getLlama} = await import(pathToFileURL(path.join(main, "node-llama-cpp/dist/index.js")));

const llama = await getLlama({
    gpu: device === "cuda" ? "cuda" : false, build: "never", skipDownload: true, vramPadding: 0, maxThreads: 1, logLevel: "warn", progressLogs: false
});

function inOrder(logits) {
    const values = new Array(logits.size);
    for (const [token, logit] of logits)
        values[token] = logit;
    return values;
}

async function evaluate({model: modelPath, flash, batches, generate, keys}) {
    const model = await llama.loadModel({modelPath, gpuLayers: device === "cuda" ? 99 : 0, useMmap: false, ignoreMemorySafetyChecks: true});
    const context = await model.createContext({
        contextSize: 256, batchSize: Math.max(...batches.map((batch) => batch.length)), flashAttention: flash, threads: 1, ignoreMemorySafetyChecks: true,
        ...(keys ? {experimentalKvCacheKeyType: keys, experimentalKvCacheValueType: keys} : {})
    });
    const sequence = context.getSequence();
    const options = {generateNext: {logits: true, token: true, options: {temperature: 0}}};
    const logits = [];
    let last;
    const add = async (tokens) => {
        for (const result of await sequence.controlledEvaluate(tokens.map((token) => [token, options]))) {
            logits.push(inOrder(result.next.logits));
            last = result.next.token;
        }
    };
    for (const batch of batches)
        await add(batch);
    const tokens = [];
    while (tokens.length < generate) {
        tokens.push(last);
        await add([last]);
    }
    await context.dispose();
    await model.dispose();
    return {logits, tokens};
}

const results = [];
for (const one of JSON.parse(readFileSync(plan, "utf8")))
    results.push({name: one.name, flash: one.flash, ...await evaluate(one)});
writeFileSync(out, JSON.stringify(results));
await llama.dispose();
