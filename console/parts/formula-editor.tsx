// The editor of formulas, loaded when the first one is shown.
import './formula-editor.css';
import {
  autocompletion,
  type CompletionContext,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tagHighlighter, tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { type FormulaName, type FormulaProblem, functions } from './formula-language.ts';

/** Numbers, texts, functions and names; all else is plain. */
const language = StreamLanguage.define({
  token(stream) {
    if (stream.match(/\d+(\.\d+)?%?/)) return 'number';
    if (stream.match(/"[^"]*"?|'[^']*'?/)) return 'string';
    const word = stream.match(/[A-Za-z_][\w.]*/) as RegExpMatchArray | null;
    if (word) return isFunction(word[0], stream.peek()) ? 'keyword' : 'variableName';
    stream.next();
    return null;
  },
});

function isFunction(word: string, next: string | undefined): boolean {
  const upper = word.toUpperCase();
  return (next === '(' && upper in functions) || upper === 'TRUE' || upper === 'FALSE';
}

const colours = tagHighlighter([
  { tag: tags.keyword, class: 'f-function' },
  { tag: tags.variableName, class: 'f-name' },
  { tag: tags.number, class: 'f-number' },
  { tag: tags.string, class: 'f-text' },
]);

type Props = {
  value: string;
  onChange: (value: string) => void;
  names: readonly FormulaName[];
  problems: readonly FormulaProblem[];
  isReadOnly: boolean;
  labelledBy: string;
  describedBy: string | null;
};

export default function FormulaEditor(props: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const attributes = useRef(new Compartment());
  const { value, problems, labelledBy, describedBy, isReadOnly } = props;

  useEffect(() => {
    const made = new EditorView({
      ...(place.current ? { parent: place.current } : {}),
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [...extensionsFor(latest), attributes.current.of([])],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, []);

  // What was typed comes back unchanged; another text replaces the one that is shown.
  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    const { length } = editor.state.doc;
    editor.dispatch({ changes: { from: 0, to: length, insert: value } });
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    editor.dispatch(setDiagnostics(editor.state, diagnosticsOf(editor.state, problems)));
    editor.dispatch({
      effects: attributes.current.reconfigure([
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({
          'aria-labelledby': labelledBy,
          'aria-invalid': String(problems.length > 0),
          dir: 'ltr',
          ...(describedBy === null ? {} : { 'aria-describedby': describedBy }),
        }),
      ]),
    });
  }, [problems, labelledBy, describedBy, isReadOnly]);

  const mark = problems.length > 0 ? { 'data-invalid': true } : {};
  return <div ref={place} className="formula" dir="ltr" {...mark} />;
}

function extensionsFor(latest: { current: Props }): Extension[] {
  return [
    history(),
    bracketMatching(),
    closeBrackets(),
    EditorView.lineWrapping,
    language,
    syntaxHighlighting(colours),
    autocompletion({ override: [(context) => completionsAt(context, latest.current.names)] }),
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) latest.current.onChange(update.state.doc.toString());
    }),
  ];
}

function completionsAt(context: CompletionContext, names: readonly FormulaName[]) {
  const word = context.matchBefore(/[A-Za-z_][\w.]*/);
  if (!word && !context.explicit) return null;
  return {
    from: word?.from ?? context.pos,
    validFor: /^[\w.]*$/,
    options: [
      ...names.map(({ name, detail }) => ({ label: name, detail, type: 'variable' })),
      ...Object.entries(functions).map(([name, detail]) => ({
        label: name,
        detail,
        type: 'function',
        apply: `${name}(`,
      })),
    ],
  };
}

/** From the place that the server names to the end of the word there. */
function diagnosticsOf(state: EditorState, problems: readonly FormulaProblem[]): Diagnostic[] {
  const text = state.doc.toString();
  return problems.map(({ message, position }) => {
    const from = Math.min(position ?? 0, text.length);
    const word = /^[\w.]+|^./.exec(text.slice(from))?.[0] ?? '';
    const to = position === null ? text.length : from + word.length;
    return { from, to, severity: 'error' as const, message };
  });
}
