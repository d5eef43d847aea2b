// Transcribes a sound with models of whisper.cpp (@fugood/whisper.node), on the GPU or the CPU.
//
//   transcribe.cjs MODULES cuda|cpu PLAN OUT       MODULES: a folder node_modules; PLAN: JSON, a list of {name, model, sound, flash}
//
// OUT: JSON, a list of {name, sound, flash, text, segments}.
const {readFileSync, writeFileSync} = require("node:fs");
const path = require("node:path");

const [modules, device, plan, out] = process.argv.slice(2);
const {initWhisper} = require(path.join(path.resolve(modules), "@fugood/whisper.node"));

async function transcribe({name, model, sound, flash}) {
    const context = await initWhisper({filePath: model, useGpu: device === "cuda", useFlashAttn: flash}, device === "cuda" ? "cuda" : "default");
    // No second attempt by chance when the words are improbable, as they are here.
    const {promise} = context.transcribeFile(sound, {language: "en", temperature: 0, temperatureInc: 0, maxThreads: 1, bestOf: 1});
    const {result, segments} = await promise;
    await context.release();
    return {name, sound, flash, text: result, segments};
}

// The binding's promise does not keep Node alive, and after an error it stays unsettled.
const alive = setTimeout(() => { throw new Error("no transcript after 10 minutes"); }, 600000);
(async () => {
    const results = [];
    for (const one of JSON.parse(readFileSync(plan, "utf8")))
        results.push(await transcribe(one));
    writeFileSync(out, JSON.stringify(results));
    clearTimeout(alive);
})();
