// Sentences of the course that depend on results. A chart's answer is the first of its cases whose conditions hold of the
// values that the chart draws; a step's outcome is the sentence for what its times show. So no sentence contradicts the
// figures beside it, whatever size or GPU was run.

/** A sentence and the conditions on drawn values under which it is true; without conditions it is always true. */
export interface Case {
  if?: string[];
  text: string;
}
export type Answer = string | Case[];

/** The text of a step, and what to add if the second rung is faster, as fast, or slower than the first. */
export interface Outcomes {
  text: string;
  faster?: string;
  same?: string;
  slower?: string;
}
export type StepWords = string | Outcomes;

export const kSame = 0.02; // times that differ by less are the same

/** Lines of a chart by name; points in the order of x. Bars are lines of one point. */
export type Drawn = Map<string, { x: number; y: number }[]>;

// "weak@last < 1.1 weak@first": a line, a place on it (first, last, least, most, or a value of x), a comparison, a factor
// and the same again. Least and most are of y.
const kClaim = /^(.+)@(\S+) (<|>) ([\d.]+) (.+)@(\S+)$/;

function valueAt(drawn: Drawn, line: string, place: string): number | undefined {
  const points = drawn.get(line);
  if (!points?.length) return undefined;
  if (place === "first") return points[0].y;
  if (place === "last") return points[points.length - 1].y;
  const ys = points.map((p) => p.y);
  if (place === "least") return Math.min(...ys);
  if (place === "most") return Math.max(...ys);
  return points.find((p) => p.x === Number(place))?.y;
}

/** False as well where a value that the claim names is not drawn. */
export function holds(claim: string, drawn: Drawn): boolean {
  const parts = kClaim.exec(claim);
  if (!parts) return false;
  const left = valueAt(drawn, parts[1], parts[2]);
  const right = valueAt(drawn, parts[5], parts[6]);
  if (left === undefined || right === undefined) return false;
  const limit = Number(parts[4]) * right;
  return parts[3] === "<" ? left < limit : left > limit;
}

export function answerFor(answer: Answer | undefined, drawn: Drawn): string {
  if (typeof answer !== "object") return answer ?? "";
  return answer.find((c) => (c.if ?? []).every((claim) => holds(claim, drawn)))?.text ?? "";
}

export const wordsOf = (words: StepWords): string => (typeof words === "string" ? words : words.text);

/** The sentence for the times of a step; empty: none is needed, or there are no times. */
export function outcomeOf(words: StepWords, before: number, after: number): string {
  if (typeof words === "string" || !before || !after) return "";
  const factor = before / after;
  return (factor > 1 + kSame ? words.faster : factor < 1 - kSame ? words.slower : words.same) ?? "";
}
