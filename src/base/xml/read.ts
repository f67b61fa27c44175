// An XML file of any size, as small trees: the caller says which elements become trees; those above
// them are only opened and closed. Document types are refused, so no entity is ever expanded.
import { SaxesParser } from 'saxes';
import { decode, type Encoding } from '../csv/decode.ts';
import { AppError } from '../errors.ts';

export type XmlTree = {
  name: string;
  attributes: Readonly<Record<string, string>>;
  text: string;
  children: XmlTree[];
};

/** `path` has the names of the elements around it and its own, without prefixes. */
export type XmlEvent =
  | { kind: 'open'; path: readonly string[]; attributes: XmlTree['attributes']; line: number }
  | { kind: 'tree'; path: readonly string[]; tree: XmlTree; line: number }
  | { kind: 'close'; path: readonly string[]; line: number };

export type XmlOptions = {
  encoding: Encoding | null;
  isTree(path: readonly string[]): boolean;
};

const depthMax = 64;
/** Elements of one tree. */
const elementsMax = 10_000;
const textMax = 65_536;
/** Characters without a new element: longer texts would fill the memory. */
const gapMax = 1_048_576;

/** The events in chunks, one for each piece of the file. */
export async function* readXml(
  bytes: AsyncIterable<Uint8Array>,
  { encoding, isTree }: XmlOptions,
): AsyncGenerator<XmlEvent[]> {
  const reader = startReader(isTree);
  const { named, whole } = await declaredEncoding(bytes);
  for await (const text of decode(whole, encoding ?? named)) yield reader.write(text);
  yield reader.end();
}

type Reader = { write(text: string): XmlEvent[]; end(): XmlEvent[] };

function startReader(isTree: XmlOptions['isTree']): Reader {
  const parser = new SaxesParser<{ xmlns?: false; position: true }>({ position: true });
  const path: string[] = [];
  const trees: XmlTree[] = [];
  let events: XmlEvent[] = [];
  let elements = 0;
  let lastEventAt = 0;
  const refuse = (message: string): never => {
    const place = `Line ${parser.line}, column ${parser.column}`;
    throw new AppError('INVALID_FORMAT', { message: `${place}: ${message}`, field: 'content' });
  };
  parser.on('error', (error) => refuse(plainReason(error.message)));
  parser.on('doctype', () => refuse('the file has a document type, which is not accepted'));
  parser.on('opentag', ({ name: sent, attributes }) => {
    const name = sent.slice(sent.indexOf(':') + 1);
    path.push(name);
    lastEventAt = parser.position;
    if (path.length > depthMax) refuse(`elements are nested more than ${depthMax} deep`);
    const outer = trees.at(-1);
    if (!outer && !isTree(path)) {
      events.push({ kind: 'open', path: [...path], attributes, line: parser.line });
      return;
    }
    elements = outer ? elements + 1 : 1;
    if (elements > elementsMax) refuse(`${path.at(-1)} is in an element with too many others`);
    const tree = { name, attributes, text: '', children: [] };
    outer?.children.push(tree);
    trees.push(tree);
  });
  const addText = (text: string) => {
    const tree = trees.at(-1);
    lastEventAt = parser.position;
    if (!tree) return;
    tree.text += text;
    if (tree.text.length > textMax) refuse(`the text of ${tree.name} is too long`);
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const tree = trees.pop();
    const line = parser.line;
    lastEventAt = parser.position;
    if (tree) tree.text = tree.text.trim();
    if (!tree) events.push({ kind: 'close', path: [...path], line });
    else if (trees.length === 0) events.push({ kind: 'tree', path: [...path], tree, line });
    path.pop();
  });
  const taken = () => {
    const done = events;
    events = [];
    return done;
  };
  return {
    write(text) {
      parser.write(text);
      if (parser.position - lastEventAt > gapMax) refuse('a text or an element does not end');
      return taken();
    },
    end() {
      parser.close();
      return taken();
    },
  };
}

/** Without the position, which the parser puts before its reason. */
function plainReason(message: string): string {
  const reason = message.replace(/^(?:undefined:|\d+:)*\s*/, '').replace(/\.$/, '');
  return `the XML is not well formed: ${reason}`;
}

const declaration = /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([A-Za-z0-9._-]+)["']/;
const declarationBytes = 256;
const encodings: Readonly<Record<string, Encoding>> = {
  'iso-8859-1': 'windows-1252',
  latin1: 'windows-1252',
  'windows-1252': 'windows-1252',
  'us-ascii': 'utf-8',
  'utf-8': 'utf-8',
};

/** What the first line declares; bytes of UTF-16 are recognized by their mark. */
async function declaredEncoding(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ named: Encoding | null; whole: AsyncIterable<Uint8Array> }> {
  const pieces = bytes[Symbol.asyncIterator]();
  let first = Buffer.alloc(0);
  let isDone = false;
  while (first.length < declarationBytes && !isDone) {
    const { value, done } = await pieces.next();
    if (done) isDone = true;
    else first = Buffer.concat([first, value]);
  }
  const text = first.subarray(0, declarationBytes).toString('latin1');
  const name = declaration.exec(text.replace(/^\u00ef\u00bb\u00bf/, ''))?.[1]?.toLowerCase();
  const isWide = name === undefined || name.startsWith('utf-16');
  const named = isWide ? null : encodings[name];
  if (named === undefined) {
    const message = `The encoding ${name} is not known: save the file as UTF-8`;
    throw new AppError('INVALID_FORMAT', { message, field: 'content' });
  }
  return { named, whole: joined(first, isDone ? undefined : pieces) };
}

async function* joined(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array> | undefined,
): AsyncGenerator<Uint8Array> {
  yield first;
  for (;;) {
    const next = await rest?.next();
    if (!next || next.done) return;
    yield next.value;
  }
}

/** The text of the element at a path below a tree; undefined if it is missing or empty. */
export function textAt(tree: XmlTree | undefined, ...names: string[]): string | undefined {
  return treeAt(tree, ...names)?.text || undefined;
}

export function treeAt(tree: XmlTree | undefined, ...names: string[]): XmlTree | undefined {
  return names.reduce<XmlTree | undefined>(
    (found, name) => found?.children.find((child) => child.name === name),
    tree,
  );
}
