// The editor. It lives in a shadow tree, because there its styles are objects and the page's policy can forbid all
// others.

import { autocompletion, closeBrackets, completeFromList, type Completion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, linter } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import styles from "./editor.css?inline";
import { colouring } from "./languages";

/** What is known of a text while somebody types. */
export interface Reading {
  diagnostics: Diagnostic[];
  names: Completion[];
}

export interface EditorHost {
  /** Reads a text. */
  read(text: string): Promise<Reading>;
  /** The text is another one now. */
  changed(): void;
  /** Somebody wants an answer. */
  ask(): void;
}

export class Editor {
  private readonly view: EditorView;
  private readonly language = new Compartment();
  private readonly words = new Compartment();
  private keywords: Completion[] = [];
  private names: Completion[] = [];

  constructor(parent: HTMLElement, private readonly host: EditorHost) {
    const root = parent.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    const state = EditorState.create({
      extensions: [
        lineNumbers(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), closeBrackets(),
        indentUnit.of("    "), lintGutter(),
        linter((view) => this.lint(view.state.doc.toString()), { delay: 250 }),
        this.language.of([]), this.words.of([]),
        keymap.of([
          { key: "Mod-Enter", run: () => (host.ask(), true) },
          ...lintKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab,
        ]),
        EditorView.contentAttributes.of({ "aria-label": "The program's text", spellcheck: "false", tabindex: "0" }),
        EditorView.updateListener.of((update) => update.docChanged && host.changed()),
        EditorView.lineWrapping,
      ],
    });
    this.view = new EditorView({ state, parent: root as unknown as Element, root });
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /** Another text; the change can be undone. */
  replace(text: string): void {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text }, selection: { anchor: 0 } });
  }

  /** The text belongs to a file of this name. */
  named(name: string): void {
    this.view.dispatch({ effects: this.language.reconfigure(colouring(name)) });
    this.offer(name);
  }

  /** Words of the language, for completion. */
  offers(keywords: Completion[], name: string): void {
    this.keywords = keywords;
    this.offer(name);
  }

  private offer(name: string): void {
    const words = () => [...this.names, ...(name.endsWith(".fw") ? this.keywords : [])];
    const complete = autocompletion({ override: [(context) => completeFromList(words())(context)] });
    this.view.dispatch({ effects: this.words.reconfigure(complete) });
  }

  private async lint(text: string): Promise<Diagnostic[]> {
    const reading = await this.host.read(text);
    this.names = reading.names;
    const length = this.view.state.doc.length;
    return reading.diagnostics.map((found) => ({ ...found, from: Math.min(found.from, length), to: Math.min(found.to, length) }));
  }
}
