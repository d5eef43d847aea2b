// The editor: CodeMirror with what is known of the lines beside them. Marks move with the text until the next run.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, RangeSet, type RangeSetBuilder, RangeSetBuilder as Builder, StateEffect, StateField } from "@codemirror/state";
import { drawSelection, EditorView, gutter, GutterMarker, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { cell, type LineCounters, type Message } from "./marks";

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.typeName, tags.modifier, tags.controlKeyword], color: "var(--keyword)" },
  { tag: [tags.string, tags.character], color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.meta, tags.processingInstruction], color: "var(--number)" },
  { tag: tags.comment, color: "var(--comment)", fontStyle: "italic" },
]);

class Count extends GutterMarker {
  constructor(
    private readonly text: string,
    private readonly title: string,
    private readonly part: number,
  ) {
    super();
  }
  eq(other: Count): boolean {
    return other.text === this.text && other.title === this.title;
  }
  toDOM(): Node {
    const element = document.createElement("span");
    element.className = "count";
    element.textContent = this.text;
    element.title = this.title;
    element.style.setProperty("--heat", `${(this.part * 55).toFixed(0)}%`);
    return element;
  }
}

type Columns = RangeSet<GutterMarker>[];
const setColumns = StateEffect.define<Columns>();
const kMost = 4;
const columnsField = StateField.define<Columns>({
  create: () => [],
  update(columns, transaction) {
    for (const effect of transaction.effects) if (effect.is(setColumns)) return effect.value;
    return transaction.docChanged ? columns.map((c) => c.map(transaction.changes)) : columns;
  },
});

export class Editor {
  readonly view: EditorView;
  constructor(parent: HTMLElement, changed: () => void, chosen: (line: number) => void, run: () => void) {
    const countGutters = Array.from({ length: kMost }, (_, i) =>
      gutter({
        class: "counts",
        markers: (view) => view.state.field(columnsField)[i] ?? RangeSet.empty,
        domEventHandlers: {
          click: (view, block) => {
            chosen(view.state.doc.lineAt(block.from).number);
            return true;
          },
        },
      }),
    );
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          columnsField,
          lintGutter(),
          lineNumbers({
            domEventHandlers: {
              click: (view, block) => {
                chosen(view.state.doc.lineAt(block.from).number);
                return true;
              },
            },
          }),
          countGutters,
          history(),
          drawSelection(),
          indentOnInput(),
          indentUnit.of("  "),
          bracketMatching(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          cpp(),
          syntaxHighlighting(colours),
          keymap.of([{ key: "Mod-Enter", run: () => (run(), true) }, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
          EditorView.updateListener.of((update) => update.docChanged && changed()),
          EditorView.contentAttributes.of({ "aria-label": "CUDA program", spellcheck: "false" }),
        ],
      }),
    });
  }

  get source(): string {
    return this.view.state.doc.toString();
  }
  set source(text: string) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text }, selection: { anchor: 0 }, scrollIntoView: true });
    this.clear();
  }

  clear(): void {
    this.mark([]);
    this.count(undefined);
  }

  mark(messages: Message[]): void {
    const { doc } = this.view.state;
    const diagnostics: Diagnostic[] = messages
      .filter((m) => m.line >= 1 && m.line <= doc.lines)
      .map((m) => {
        const line = doc.line(m.line);
        const from = Math.min(line.to, m.column ? line.from + m.column - 1 : line.from + (line.text.length - line.text.trimStart().length));
        const word = m.column ? (/^\w+/.exec(line.text.slice(m.column - 1))?.[0].length ?? 1) : line.length;
        return { from, to: Math.min(line.to, Math.max(from, from + word)), severity: m.severity, message: m.text };
      });
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics.sort((a, b) => a.from - b.from)));
  }

  count(counters: LineCounters | undefined): void {
    const { doc } = this.view.state;
    const lines = [...(counters?.lines ?? [])].filter(([line]) => line >= 1 && line <= doc.lines).sort((a, b) => a[0] - b[0]);
    const columns = (counters?.columns ?? []).map((column) => {
      const builder: RangeSetBuilder<GutterMarker> = new Builder();
      const most = Math.max(1, ...lines.map(([, metrics]) => cell(metrics, column).value));
      for (const [line, metrics] of lines) {
        const { text, value } = cell(metrics, column);
        if (text) builder.add(doc.line(line).from, doc.line(line).from, new Count(text, `${column.title}: ${value}`, column.per ? 0 : Math.sqrt(value / most)));
      }
      return builder.finish();
    });
    this.view.dispatch({ effects: setColumns.of(columns) });
  }

  show(line: number): void {
    if (line < 1 || line > this.view.state.doc.lines) return;
    const at = this.view.state.doc.line(line).from;
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
  }
}
