// Values of several lanes, as src/analysis/recorder/lane_text.h writes them in runs, and sets of lanes.

/** ":5" one value, "4:x" four equal ones, "3+2:10" the numbers 10, 12, 14; separated by tabs. */
export function texts(runs: string): string[] {
  const out: string[] = [];
  for (const run of runs ? runs.split("\t") : []) {
    const colon = run.indexOf(":");
    const head = run.slice(0, colon);
    const first = run.slice(colon + 1);
    const plus = head.indexOf("+");
    const count = head === "" ? 1 : Number(plus < 0 ? head : head.slice(0, plus));
    const step = plus < 0 ? 0 : Number(head.slice(plus + 1));
    for (let i = 0; i < count; ++i) out.push(step ? String(Number(first) + i * step) : first);
  }
  return out;
}

export const numbers = (runs: string): number[] => texts(runs).map(Number);

export const mask = (text: string): number => Number.parseInt(text, 16) >>> 0;

export function lanesOf(bits: number): number[] {
  const out: number[] = [];
  for (let lane = 0; lane < 32; ++lane) if ((bits >>> lane) & 1) out.push(lane);
  return out;
}

export const has = (bits: number, lane: number): boolean => ((bits >>> lane) & 1) === 1;

/** "0\u20133, 7"; "1, 3, \u2026 31" for equal distances */
export function ranges(list: number[]): string {
  const out: string[] = [];
  const kLeastOfSeries = 5;
  for (let i = 0; i < list.length; ) {
    let end = i;
    const distance = list[i + 1] - list[i];
    while (distance > 1 && list[end + 1] - list[end] === distance) ++end;
    if (end - i + 1 >= kLeastOfSeries) {
      out.push(`${list[i]}, ${list[i + 1]}, \u2026 ${list[end]}`);
      i = end + 1;
      continue;
    }
    end = i;
    while (end + 1 < list.length && list[end + 1] === list[end] + 1) ++end;
    out.push(end > i + 1 ? `${list[i]}\u2013${list[end]}` : end > i ? `${list[i]}, ${list[end]}` : `${list[i]}`);
    i = end + 1;
  }
  return out.join(", ");
}
