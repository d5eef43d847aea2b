// Sentences and values of the steps.
import type { RecordedPlace, Recording, SharedVariable } from "../profile_types";
import { fileName } from "../format";
import { type Access, type Memory, type Replay, writes } from "./replay";

export const placeName = (p: RecordedPlace): string => (p.line ? `line ${p.line}` : p.function);
export const fullPlace = (p: RecordedPlace): string => `${p.function}, ${p.line ? `${fileName(p.file)}:${p.line}` : "line not known"}`;

export const threadsOf = (count: number): string => (count === 1 ? "1 lane" : count === 32 ? "all 32 lanes" : `${count} lanes`);

/** The variable that holds an offset of shared memory. */
export function sharedAt(recording: Recording, offset: number): SharedVariable | undefined {
  return recording.shared.find((v) => offset >= v.offset && offset < v.offset + v.bytes);
}

export function nameOf(recording: Recording, a: Access): string {
  if (a.space === "shared") return sharedAt(recording, a.addresses[0] ?? 0)?.name ?? "shared memory";
  const object = a.raw.object === undefined ? undefined : recording.objects[a.raw.object];
  return object?.name || (a.space === "global" ? "global memory" : `${a.space} memory`);
}

/** "32-way bank conflict", "4 sectors"; empty: nothing to say. */
export function costOf(a: Access): { text: string; bad: boolean } {
  const { wavefronts, ideal_wavefronts, sectors, ideal_sectors } = a.raw;
  if (wavefronts !== undefined) {
    const ideal = Math.max(1, ideal_wavefronts ?? 1);
    // Atomic operations of several lanes on one word are no bank conflict, and take a pass each.
    if (wavefronts > ideal && (a.kind === "atomic" || a.kind === "reduction")) return { text: `${wavefronts} passes, updates of one word or bank follow each other`, bad: true };
    if (wavefronts > ideal) return { text: ideal === 1 ? `${wavefronts}-way bank conflict` : `${wavefronts} passes instead of ${ideal}`, bad: true };
    return { text: "no bank conflict", bad: false };
  }
  if (sectors !== undefined) {
    const ideal = ideal_sectors ?? sectors;
    return { text: `${sectors} sector${sectors === 1 ? "" : "s"}${sectors > ideal ? ` instead of ${ideal}` : ""}`, bad: sectors > ideal };
  }
  return { text: "", bad: false };
}

const verbs: Record<string, string> = { load: "reads", store: "writes", atomic: "updates", reduction: "updates" };
export const verb = (a: Access): string => verbs[a.kind] ?? a.kind;

/** What the step does, in one sentence. */
export function sentence(replay: Replay, at: number): string {
  const { recording } = replay;
  const step = replay.steps[at];
  const place = recording.places[step.place];
  const count = step.lanes ? [...Array(32).keys()].filter((l) => (step.lanes >>> l) & 1).length : 0;
  const parts: string[] = [];
  const said = new Map<string, { access: Access; times: number }>();
  for (const a of step.accesses) {
    const key = `${a.kind} ${nameOf(recording, a)} ${costOf(a).text}`;
    const old = said.get(key);
    if (old) ++old.times;
    else said.set(key, { access: a, times: 1 });
  }
  for (const { access, times } of said.values()) {
    const cost = costOf(access);
    parts.push(`${verb(access)} ${nameOf(recording, access)}${times > 1 ? ` ${times} times` : ""}${cost.text && (cost.bad || access.space !== "shared") ? ` (${cost.text})` : ""}`);
  }
  if (step.unwritten) parts.push(`finds ${step.unwritten === 1 ? "a word" : `${step.unwritten} words`} of it that nothing wrote`);
  const changed = [...new Set((step.raw.changes ?? []).map((c) => recording.variables[c.variable]?.name))].filter(Boolean);
  if (changed.length) parts.push(`sets ${changed.slice(0, 4).join(", ")}${changed.length > 4 ? " and more" : ""}`);
  if (step.raw.waits !== undefined) {
    const barrier = barrierName(replay, step.raw.waits);
    parts.push(step.raw.opens !== undefined ? `is the last at ${barrier}, which opens` : `waits at ${barrier}`);
  }
  const ways = waysOn(replay, at);
  if (!parts.length && ways.length < 2 && !(recording.fault && !ways.length)) parts.push(ways.length ? ways[0] : "ends the recording");
  const list = parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}` : parts[0];
  const fault = recording.fault;
  if (fault && at === replay.steps.length - 1) {
    const done = list ? `${list}. ` : "";
    const lane = fault.step === at && fault.lane !== undefined ? `Fault in lane ${fault.lane}` : "The kernel ends here";
    return `Warp ${step.warp}, ${threadsOf(count)}, ${placeName(place)}: ${done}${lane}: ${fault.text}.`;
  }
  const apart = ways.length > 1 ? `${list ? `${list}. The` : "the"} lanes part: ${ways.slice(0, -1).join(", ")} and ${ways[ways.length - 1]}` : list;
  return `Warp ${step.warp}, ${threadsOf(count)}, ${placeName(place)}: ${apart}.`;
}

/** "the barrier", or with its number where the block has several. */
export const barrierName = (replay: Replay, barrier: string): string => (replay.barriers > 1 ? `barrier ${barrier}` : "the barrier");

/** Where the lanes of a step go on: "goes on at line 5", or a part for each of the ways that they take. */
function waysOn(replay: Replay, at: number): string[] {
  const here = placeName(replay.recording.places[replay.steps[at].place]);
  const ways = new Map<string, number>();
  for (const { place, lanes } of replay.goesOn(at)) {
    const name = place < 0 ? "" : placeName(replay.recording.places[place]);
    ways.set(name, (ways.get(name) ?? 0) + lanes.length);
  }
  const kMost = 4;
  const list = [...ways];
  const way = (name: string, one: boolean): string => (!name ? `${one ? "leaves" : "leave"} the kernel` : name === here ? `${one ? "stays" : "stay"} at ${name}` : `${one ? "goes" : "go"} on at ${name}`);
  if (list.length === 1) return [list[0][0] ? `goes on at ${list[0][0]}` : "leaves the kernel"];
  const out = list.slice(0, kMost).map(([name, lanes], i) => `${lanes}${i ? "" : lanes === 1 ? " lane" : " lanes"} ${way(name, lanes === 1)}`);
  return list.length > kMost ? [...out, `${list.length - kMost} further groups elsewhere`] : out;
}

// ---- Values in shared memory

function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

function one(data: DataView, at: number, format: string, size: number): number | bigint {
  if (format === "floating") return size === 8 ? data.getFloat64(at, true) : data.getFloat32(at, true);
  if (format === "half") return half(data.getUint16(at, true));
  if (format === "bfloat16") {
    const wide = new DataView(new ArrayBuffer(4));
    wide.setUint32(0, data.getUint16(at, true) << 16);
    return wide.getFloat32(0);
  }
  if (format === "signed" || format === "character") return size === 1 ? data.getInt8(at) : size === 2 ? data.getInt16(at, true) : size === 8 ? data.getBigInt64(at, true) : data.getInt32(at, true);
  return size === 1 ? data.getUint8(at) : size === 2 ? data.getUint16(at, true) : size === 8 ? data.getBigUint64(at, true) : data.getUint32(at, true);
}

const text = (value: number | bigint, size: number): string => {
  if (typeof value === "bigint") return String(value);
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "-\u221e" : "\u221e";
  const digits = size === 8 ? 15 : size === 4 ? 7 : 4; // that the type has
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(digits)));
};

/** The numbers in a word of shared memory; of a number of 8 bytes the first word has the text. */
export function wordText(memory: Memory, word: number, variable: SharedVariable | undefined): string {
  const { bytes, defined } = memory;
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = variable?.element_bytes || 4;
  const format = variable?.format || "";
  const at = word * 4;
  const known = (from: number, length: number): boolean => {
    for (let b = from; b < from + length; ++b) if (!defined[b]) return false;
    return true;
  };
  if (variable?.members?.length) return membersText(memory, at, variable);
  if (!format) return known(at, 4) ? `0x${data.getUint32(at, true).toString(16)}` : kUndefined;
  if (size > 4) {
    if ((at - (variable?.offset ?? 0)) % size !== 0 || at + size > bytes.length) return "";
    return known(at, size) ? text(one(data, at, format, size), size) : kUndefined;
  }
  const out: string[] = [];
  for (let b = 0; b + size <= 4; b += size) out.push(known(at + b, size) ? text(one(data, at + b, format, size), size) : kUndefined);
  return out.join(" ");
}

const kUndefined = "?"; // bytes that nothing wrote

/** Offset in the structure that holds an offset of shared memory. */
const inStructure = (offset: number, variable: SharedVariable): number => (offset - variable.offset) % (variable.element_bytes || 4);

/** The numbers of a structure that begin in a word. */
function membersText(memory: Memory, at: number, variable: SharedVariable): string {
  const data = new DataView(memory.bytes.buffer, memory.bytes.byteOffset, memory.bytes.byteLength);
  const out: string[] = [];
  for (let b = 0; b < 4; ++b) {
    const inside = inStructure(at + b, variable);
    const member = variable.members!.find((m) => inside >= m.offset && inside < m.offset + m.bytes);
    if (!member || (inside - member.offset) % member.element_bytes !== 0 || at + b + member.element_bytes > memory.bytes.length) continue;
    let known = true;
    for (let i = 0; i < member.element_bytes; ++i) known &&= !!memory.defined[at + b + i];
    out.push(known ? text(one(data, at + b, member.format, member.element_bytes), member.element_bytes) : kUndefined);
  }
  return out.join(" ");
}

/** What a lane moves, as numbers: `words` begins with the lane's own. Empty: the format does not fit. */
export function valueText(words: number[], bytes: number, format: string, elementBytes: number): string {
  const data = new DataView(new ArrayBuffer(Math.max(4, Math.ceil(bytes / 4) * 4)));
  for (let w = 0; w * 4 < bytes; ++w) data.setUint32(w * 4, (words[w] ?? 0) >>> 0, true);
  const size = [1, 2, 4, 8].includes(elementBytes) && bytes % elementBytes === 0 ? elementBytes : bytes <= 4 ? bytes : 4;
  const fits = format && (format !== "floating" || size >= 4) && !((format === "half" || format === "bfloat16") && size !== 2);
  const out: string[] = [];
  for (let at = 0; at + size <= bytes; at += size)
    out.push(fits ? text(one(data, at, format, size), size) : `0x${(size === 1 ? data.getUint8(at) : size === 2 ? data.getUint16(at, true) : data.getUint32(at, true)).toString(16)}`);
  return out.join(" ");
}

/** At most four or five characters, for a cell: "1024.53" is "1025", 123456 is "123k", -0.25 is "-.25", "12 100 0 255" is "12\u2026". */
export function rounded(words: string): string {
  return shortened(words).replace(/^(-?)0\./, "$1.");
}

function shortened(words: string): string {
  if (words.length <= 4) return words;
  const value = Number(words);
  const [first] = words.split(" ");
  if (first !== words && first.length <= 3) return `${first}\u2026`; // the first of several numbers
  if (words.includes(" ") || words.startsWith("0x") || !Number.isFinite(value)) return "\u00b7";
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-3) return value.toExponential(0).replace("e+", "e");
  if (size >= 1e6) return `${Math.round(value / 1e6)}M`;
  if (size >= 1e4) return `${Math.round(value / 1e3)}k`;
  return size >= 100 ? String(Math.round(value)) : String(Number(value.toFixed(size >= 10 ? (value < 0 ? 0 : 1) : 2 - (value <= -1 ? 1 : 0))));
}

/** "tile[3][4]": the element at an offset of shared memory. */
export function elementName(variable: SharedVariable | undefined, offset: number): string {
  if (!variable) return `byte ${offset}`;
  const dimensions = [...variable.type.matchAll(/\[(\d+)\]/g)].map((m) => Number(m[1]));
  let index = Math.floor((offset - variable.offset) / (variable.element_bytes || 4));
  const indices: number[] = [];
  for (const size of dimensions.slice(1).reverse()) {
    indices.unshift(index % size);
    index = Math.floor(index / size);
  }
  const inside = inStructure(offset, variable);
  const members = (variable.members ?? []).filter((m) => m.offset < inside + 4 && m.offset + m.bytes > inside).map((m) => m.name);
  const member = members.length > 1 ? `.{${members.join(", ")}}` : members.length ? `.${members[0]}` : "";
  return dimensions.length || !variable.members?.length ? `${variable.name}[${[index, ...indices].join("][")}]${member}` : `${variable.name}${member}`;
}

/** The element of global memory that a lane touches. */
export function globalName(recording: Recording, a: Access, i: number): string {
  const object = a.raw.object === undefined ? undefined : recording.objects[a.raw.object];
  const offset = a.addresses[i] - (object?.offset ?? 0);
  if (object?.name && object.element_bytes) return `${object.name}[${Math.floor(offset / object.element_bytes)}]`;
  return `${object?.name || "byte"} ${offset < 0 ? offset : `+${offset}`}`;
}

export const directionOf = (a: Access): string => (writes(a) ? (a.kind === "store" ? "written" : "updated") : "read");
