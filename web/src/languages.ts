// Colours for the editor. Our own language is coloured by the rules that other editors use, too.

import { cpp } from "@codemirror/lang-cpp";
import { HighlightStyle, StreamLanguage, syntaxHighlighting, type StringStream } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";
import grammar from "../../editors/textmate/fencewright.tmLanguage.json";

interface Rule {
  include?: string;
  match?: string;
  begin?: string;
  end?: string;
  name?: string;
  captures?: Record<string, { name: string }>;
  patterns?: Rule[];
}

interface FlatRule {
  begin: RegExp;
  end?: RegExp;
  name?: string;
  captures: [number, string][];
}

function flatten(rule: Rule): FlatRule[] {
  if (rule.include) return flatten((grammar.repository as Record<string, Rule>)[rule.include.slice(1)]);
  const inner = (rule.patterns ?? []).flatMap(flatten);
  const begin = rule.match ?? rule.begin;
  if (!begin) return inner;
  const captures = Object.entries(rule.captures ?? {}).map(([group, { name }]) => [Number(group), name] as [number, string]);
  const end = rule.end ? new RegExp(rule.end, "g") : undefined;
  return [...inner, { begin: new RegExp(begin, "dg"), end, name: rule.name, captures }];
}

const rules = flatten(grammar as Rule);

/** The first words of a TextMate scope, and how CodeMirror calls that. */
const scopes: [string, string][] = [
  ["comment", "comment"],
  ["storage.type", "definitionKeyword"],
  ["keyword.operator", "operator"],
  ["keyword.other.fence", "keyword strong"],
  ["keyword", "keyword"],
  ["support.function", "keyword"],
  ["constant.numeric", "number"],
  ["constant.language", "bool"],
  ["entity.name.type", "typeName"],
  ["entity.name.function", "name"],
  ["entity.name.label", "labelName"],
  ["variable.other.constant", "literal"],
];

const style = (scope: string) => scopes.find(([start]) => scope.startsWith(start))?.[1] ?? null;

interface LineState {
  open: FlatRule | undefined;
  /** What is left of the line: where each piece ends, and its style. */
  pieces: [number, string | null][];
}

/** The rule that matches first, and among those the first of the list. */
function first(line: string, at: number): [FlatRule, RegExpExecArray] | undefined {
  let best: [FlatRule, RegExpExecArray] | undefined;
  for (const rule of rules) {
    rule.begin.lastIndex = at;
    const match = rule.begin.exec(line);
    if (match && match[0] && (!best || match.index < best[1].index)) best = [rule, match];
  }
  return best;
}

function pieces(line: string, state: LineState): [number, string | null][] {
  const found: [number, string | null][] = [];
  let at = 0;
  while (at < line.length) {
    if (state.open) {
      const end = state.open.end as RegExp;
      end.lastIndex = at;
      const match = end.exec(line);
      at = match ? match.index + match[0].length : line.length;
      found.push([at, style(state.open.name ?? "")]);
      if (match) state.open = undefined;
      continue;
    }
    const next = first(line, at);
    if (!next) break;
    const [rule, match] = next;
    if (match.index > at) found.push([match.index, null]);
    const end = match.index + match[0].length;
    for (const [group, scope] of rule.captures) {
      const place = match.indices?.[group];
      if (!place) continue;
      found.push([place[0], null], [place[1], style(scope)]);
    }
    found.push([end, rule.name ? style(rule.name) : null]);
    at = end;
    if (rule.end) state.open = rule;
  }
  found.push([line.length, null]);
  return found;
}

const fw = StreamLanguage.define<LineState>({
  name: "fencewright",
  startState: () => ({ open: undefined, pieces: [] }),
  copyState: (state) => ({ open: state.open, pieces: [...state.pieces] }),
  token(stream: StringStream, state: LineState) {
    if (stream.sol()) state.pieces = pieces(stream.string, state);
    while (state.pieces.length && state.pieces[0][0] <= stream.pos) state.pieces.shift();
    const [end, name] = state.pieces.shift() ?? [stream.string.length, null];
    stream.pos = Math.max(end, stream.pos + 1);
    return name;
  },
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } } },
});

/** The other languages: comments, numbers and a few words. */
const plain = StreamLanguage.define<{ comment: boolean }>({
  name: "plain",
  startState: () => ({ comment: false }),
  token(stream, state) {
    if (state.comment || stream.match("(*")) {
      state.comment = !stream.match(/^.*?\*\)/);
      if (state.comment) stream.skipToEnd();
      return "comment";
    }
    if (stream.match(/^(\/\/|#).*/)) return "comment";
    if (stream.match(/^[$]?-?\d+\b/)) return "number";
    if (stream.match(/^%?[re]?(ax|bx|cx|dx|si|di)\b/i) || stream.match(/^\d+:[A-Z]+\b/)) return "typeName";
    if (stream.match(/^(exists|forall|locations|filter|forbidden|data|process|text|initial|transition|write|read|local|mfence|sfence|lfence|lock|xchg|cmpxchg|mov|add|inc|dec|cmp|j\w+)\b/i)) return "keyword";
    stream.match(/^\w+/) || stream.next();
    return null;
  },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, class: "tok-comment" },
  { tag: [tags.keyword, tags.definitionKeyword, tags.controlKeyword, tags.modifier], class: "tok-keyword" },
  { tag: [tags.number, tags.bool, tags.literal, tags.string], class: "tok-number" },
  { tag: [tags.typeName, tags.standard(tags.typeName)], class: "tok-type" },
  { tag: tags.labelName, class: "tok-label" },
]);

/** What a file of this name is coloured by. */
export function colouring(name: string): Extension {
  const language = name.endsWith(".fw") ? fw : /\.[ch]$/.test(name) ? cpp() : plain;
  return [language, syntaxHighlighting(colours)];
}
