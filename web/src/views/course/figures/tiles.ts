// The work of block (0,0) of a tiled product, as in the documents: 4 x 4 matrices, tiles of 2 x 2, two phases.
import { type Child, drawing, h, s } from "../../../dom";
import { type Frame, stepper } from "./stepper";

const kN = 4;
const kTile = 2;
const kCell = 40;
const threads = [0, 1].flatMap((y) => [0, 1].map((x) => ({ x, y })));

interface Look {
  phase: number;
  loading?: "both";
  loaded: boolean; // tiles of this phase are in shared memory
  k?: number; // compute: which product
  done: number; // products added so far
}

const cellName = (name: string, y: number, x: number): string => `${name}${y},${x}`;

function matrix(name: string, x0: number, y0: number, n: number, kind: (y: number, x: number) => string, text: (y: number, x: number) => string): Child {
  const cells: Child[] = [s("text", { x: x0 + (n * kCell) / 2, y: y0 - 8, class: "middle strong" }, name)];
  for (let y = 0; y < n; ++y)
    for (let x = 0; x < n; ++x)
      cells.push(
        s("rect", { x: x0 + x * kCell, y: y0 + y * kCell, width: kCell - 3, height: kCell - 3, rx: 4, class: `cell ${kind(y, x)}` }),
        s("text", { x: x0 + x * kCell + (kCell - 3) / 2, y: y0 + y * kCell + 23, class: "small middle" }, text(y, x)),
      );
  return cells;
}

function picture(look: Look): Child {
  const first = look.phase * kTile;
  const inA = (y: number, x: number): boolean => y < kTile && x >= first && x < first + kTile;
  const inB = (y: number, x: number): boolean => x < kTile && y >= first && y < first + kTile;
  const global = (inside: boolean): string => (inside ? (look.loading ? "now" : look.loaded ? "held" : "") : "");
  const used = (on: boolean): string => (look.k !== undefined && on ? "now" : look.loaded ? "held" : "empty");
  const w = 4 * kCell;
  return drawing(
    720,
    2 * w + 74,
    `Block (0,0), phase ${look.phase}: ${look.loading ? "loads a tile of A and of B" : look.k !== undefined ? `multiplies column ${look.k} of A's tile by row ${look.k} of B's` : "waits"}`,
    matrix("A, global memory", 10, 34, kN, (y, x) => global(inA(y, x)), (y, x) => cellName("A", y, x)),
    matrix("B, global memory", 10, w + 68, kN, (y, x) => global(inB(y, x)), (y, x) => cellName("B", y, x)),
    look.loading ? s("path", { d: `M ${w + 20} ${w / 2 + 34} H ${w + 78} M ${w + 20} ${w + w / 2 + 68} H ${w + 78}`, class: "flow-arrow", "marker-end": "none" }) : null,
    look.loading ? [s("path", { d: `M ${w + 78} ${w / 2 + 28} l 10 6 l -10 6 z`, class: "arrow" }), s("path", { d: `M ${w + 78} ${w + w / 2 + 62} l 10 6 l -10 6 z`, class: "arrow" })] : null,
    matrix("tile of A, shared", w + 100, 74, kTile, (_, x) => used(x === look.k), (y, x) => (look.loaded ? cellName("A", y, first + x) : "")),
    matrix("tile of B, shared", w + 100, w + 108, kTile, (y) => used(y === look.k), (y, x) => (look.loaded ? cellName("B", first + y, x) : "")),
    s("text", { x: w + 270, y: 26, class: "strong" }, "Sums, a register of each thread"),
    threads.map((t, i) => {
      const terms = Array.from({ length: look.done }, (_, k) => `A${t.y},${k} B${k},${t.x}`);
      const y = 40 + i * 74;
      return [
        s("rect", { x: w + 270, y, width: 270, height: 62, rx: 6, class: look.k !== undefined ? "cell now" : "cell" }),
        s("text", { x: w + 280, y: y + 18, class: "small strong" }, `thread (${t.x},${t.y})`),
        s("text", { x: w + 280, y: y + 36, class: "small" }, terms.length ? terms.slice(0, 2).join(" + ") : "0"),
        terms.length > 2 ? s("text", { x: w + 280, y: y + 52, class: "small" }, `+ ${terms.slice(2).join(" + ")}`) : null,
      ];
    }),
  );
}

export function tilesFigure(): HTMLElement {
  const frames: Frame[] = [{ title: "before the loop", text: "Four threads, each with a sum of 0. Without tiles each of them would load a row of A and a column of B: 8 loads a thread, 32 in all.", draw: () => picture({ phase: 0, loaded: false, done: 0 }) }];
  for (let phase = 0; phase < kN / kTile; ++phase) {
    const first = phase * kTile;
    frames.push({ title: `phase ${phase}, load`, text: `Each thread loads one element of A and one of B: thread (x,y) takes A[y][${first ? `${first} + ` : ""}x] and B[${first ? `${first} + ` : ""}y][x]. Rows of the tiles are rows of memory, so the loads are coalesced.`, draw: () => picture({ phase, loading: "both", loaded: true, done: first }) });
    frames.push({ title: `phase ${phase}, barrier`, text: "All threads wait: no thread may use an element that another thread has not stored yet.", draw: () => picture({ phase, loaded: true, done: first }) });
    for (let k = 0; k < kTile; ++k)
      frames.push({ title: `phase ${phase}, compute, k = ${k}`, text: `Every thread reads an element of column ${k} of A's tile and of row ${k} of B's tile from shared memory. Each of them serves two threads.`, draw: () => picture({ phase, loaded: true, k, done: first + k + 1 }) });
    frames.push({ title: `phase ${phase}, barrier`, text: phase + 1 < kN / kTile ? "All threads wait again: no thread may overwrite a tile that another thread still reads." : "The last barrier; then each thread writes its sum to C. Loads from global memory: 4 a thread, 16 in all, half of those without tiles. A tile of W divides them by W.", draw: () => picture({ phase, loaded: true, done: first + kTile }) });
  }
  return stepper("What does one block do, phase by phase?", h("p", { class: "soft" }, "Block (0,0) of a 4 x 4 product with tiles of 2 x 2."), [{ name: "tiled", frames }]);
}
