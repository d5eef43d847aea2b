// Numbers as people read them. Units are Nsight's words.

const thin = "\u202f";

export function count(value: number): string {
  if (!Number.isFinite(value)) return "\u2013";
  if (Math.abs(value) >= 1e15) return value.toExponential(3);
  if (Number.isInteger(value)) return value.toString().replace(/\B(?=(\d{3})+(?!\d))/g, thin);
  return significant(value, 4);
}

/** Whole numbers as they are: a count is exact. Others to some digits. */
export function figure(value: number, digits = 4): string {
  return Number.isInteger(value) ? count(value) : significant(value, digits);
}

export function significant(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "\u2013";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(digits - 1);
  return Number(value.toPrecision(digits)).toString();
}

/** 1234567 -> 1.23 M */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "\u2013";
  const size = Math.abs(value);
  for (const [limit, letter] of [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e4, "k"],
  ] as const)
    if (size >= limit) return `${Number((value / (letter === "k" ? 1e3 : limit)).toPrecision(3))}${thin}${letter}`;
  return Number.isInteger(value) ? value.toString() : significant(value);
}

export function time(ns: number): string {
  for (const [limit, unit] of [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "\u00b5s"],
  ] as const)
    if (Math.abs(ns) >= limit) return `${significant(ns / limit)}${thin}${unit}`;
  return `${significant(ns)}${thin}ns`;
}

export function bytes(value: number): string {
  for (const [limit, unit] of [
    [2 ** 40, "TiB"],
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
  ] as const)
    if (Math.abs(value) >= limit) return `${significant(value / limit)}${thin}${unit}`;
  return `${count(value)}${thin}B`;
}

export function withUnit(value: number | string, unit: string): string {
  if (typeof value === "string") return value;
  if (unit === "ns") return time(value);
  if (unit === "byte") return bytes(value);
  // More than all: bytes that are moved once and used several times, by lanes that share them.
  if (unit === "%" && value > 100.05) return `${significant(value / 100)}${thin}\u00d7`;
  if (unit === "%") return `${significant(value)}${thin}%`;
  return unit ? `${count(value)}${thin}${unit}` : count(value);
}

export function percent(part: number): string {
  return `${significant(part * 100, part < 0.1 ? 2 : 3)}${thin}%`;
}

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

/** A demangled name without its parameters: enough to tell kernels apart on screen. */
export function shortKernel(name: string): string {
  const open = name.lastIndexOf("(");
  const text = (open > 0 ? name.slice(0, open) : name).replace(/^void /, "");
  return text.length > 60 ? text.slice(0, 57) + "\u2026" : text;
}

/** A number in a circle: identifies an access of a finding in the list, the source and the drawings. */
export const badge = (i: number): string => (i < 20 ? String.fromCodePoint(0x2460 + i) : `(${i + 1})`);
