// The course's texts: a map of the documents, a chapter for each topic, the words they use. They are data of the lab
// (lab/course/, lab/TOPIC/chapter.json); here are their types and their markup: [[term]] or [[term|shown]] leads to the
// glossary, `text` is code.
import type { LabRow, Page, Topic } from "./data";
import { type Child, h } from "./dom";
import { shown } from "./views/lab_rows";
import { address, type State } from "./state";
import type { Answer, StepWords } from "./views/course/claims";

export interface Term {
  term: string;
  means: string;
  documents?: string; // the documents' words for it
  nsight?: string; // Nsight Compute's
  metrics?: string[];
  see?: string[];
}
export interface RowChoice {
  rung: string;
  at?: Record<string, number>; // of the row's parameters
}
export interface StepText extends RowChoice {
  before?: RowChoice;
  text: StepWords;
}
export interface ChartText {
  question: string;
  x: string; // a parameter, "size", or "rung" for bars
  y: string; // "derived.NAME", "cpu_us", "gpu_us", "metric:NAME" or "metric:NAME / NAME"
  name: string; // of the axis, with the unit
  rungs?: string[];
  types?: string[];
  at?: Record<string, number>;
  log?: string; // axes: "x", "y", "xy"
  limit?: "dram" | "fp32" | "fp64";
  models?: boolean | string[]; // the GPU models of the topic beside each other, or only those
  measured?: boolean; // what a real GPU took as well
  answer?: Answer;
}
export interface Chapter {
  topic: string;
  question: string;
  opening: string[];
  steps?: StepText[]; // else the ladder, rung by rung
  rungs?: Record<string, StepWords>; // why: of rungs of a ladder
  compared?: Record<string, string>; // of rungs: the rung to compare with, if it is not the one before
  clock?: "cpu"; // what its steps are about
  access?: Record<string, string>; // of rungs: "shared load", the memory instruction to be drawn
  charts?: ChartText[];
  rules?: "global" | "shared";
  animation?: string;
  take_away: string[];
  try?: { command: string; question: string }[];
  /** Exercises of the topic, in their order; level: 1 to 5. */
  exercises?: { name: string; title: string; level: number }[];
}
export interface Section {
  title: string;
  says: string;
  shown: { topic: string; rung: string }[];
}
export interface CourseDocument {
  id: string;
  title: string;
  short: string;
  about: string;
  sections: Section[];
}
export interface Course {
  title: string;
  opening: string[];
  order: string[]; // of the chapters
  documents: CourseDocument[];
  glossary: Term[];
  chapters: Record<string, Chapter>;
}

/** Topics as chapters, in the course's order; what it does not know comes last. */
export function chapterOrder(page: Page): Topic[] {
  const place = (t: Topic): number => {
    const at = page.course?.order.indexOf(t.topic) ?? -1;
    return at < 0 ? Number.MAX_SAFE_INTEGER : at;
  };
  return [...(page.lab?.topics ?? [])].sort((a, b) => place(a) - place(b));
}

export const chapterState = (topic: string, more: State = {}): State => ({ view: "lab", topic, ...more });

export function termOf(page: Page, name: string): Term | undefined {
  return page.course?.glossary.find((t) => t.term.toLowerCase() === name.toLowerCase());
}

export function termLink(page: Page, name: string, text = name): Child {
  const term = termOf(page, name);
  return term ? h("a", { class: "term", href: address({ view: "glossary", term: term.term }), title: term.means }, text) : text;
}

/** A sentence of the course with its links and code. */
export function rich(page: Page, text: string): Child[] {
  return text.split(/(\[\[[^\]]+\]\]|`[^`]+`)/).map((part) => {
    if (part.startsWith("[[")) {
      const [name, words] = part.slice(2, -2).split("|");
      return termLink(page, name, words ?? name);
    }
    if (!part.startsWith("`")) return part;
    const name = part.slice(1, -1);
    const chapter = page.course?.chapters[name] && page.lab?.topics.some((t) => t.topic === name);
    return chapter ? h("a", { href: address(chapterState(name)) }, name) : h("code", null, name);
  });
}

export const matches = (row: LabRow, choice: RowChoice): boolean => shown(row) && row.rung === choice.rung && Object.entries(choice.at ?? {}).every(([k, v]) => row.parameters?.[k] === v);

/** The sections of the documents that a topic belongs to. */
export function sectionsOf(page: Page, topic: string): { document: CourseDocument; section: Section }[] {
  return (page.course?.documents ?? []).flatMap((document) => document.sections.filter((s) => s.shown.some((x) => x.topic === topic)).map((section) => ({ document, section })));
}
