// Two texts beside each other, line by line: a longest common subsequence. Functions are short, so that the table of all
// pairs of lines is small.

export interface DiffRow {
  before?: number; // index of the line; none: it is new
  after?: number; // none: it is gone
}

const same = (a: string, b: string): boolean => a.trimEnd() === b.trimEnd();

/** In order; within a change what is gone comes beside what is new. */
export function diffLines(before: string[], after: string[]): DiffRow[] {
  const width = after.length + 1;
  const longest = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; --i)
    for (let j = after.length - 1; j >= 0; --j)
      longest[i * width + j] = same(before[i], after[j])
        ? longest[(i + 1) * width + j + 1] + 1
        : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
  const rows: DiffRow[] = [];
  let gone: number[] = [];
  let fresh: number[] = [];
  const flush = (): void => {
    for (let k = 0; k < Math.max(gone.length, fresh.length); ++k) rows.push({ before: gone[k], after: fresh[k] });
    gone = [];
    fresh = [];
  };
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    if (i < before.length && j < after.length && same(before[i], after[j])) {
      flush();
      rows.push({ before: i++, after: j++ });
    } else if (j >= after.length || (i < before.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) gone.push(i++);
    else fresh.push(j++);
  }
  flush();
  return rows;
}

/** Is the line in both texts? */
export const isSame = (row: DiffRow, before: string[], after: string[]): boolean => row.before !== undefined && row.after !== undefined && same(before[row.before], after[row.after]);
