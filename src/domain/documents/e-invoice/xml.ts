// XML as e-invoices are written in: elements with text or with other elements, none of them empty.
import { lineText } from '../plain-text.ts';

/** Left out if none of its parts is there. */
export function group(name: string, parts: readonly string[]): string {
  const inner = parts.filter((part) => part !== '');
  return inner.length === 0 ? '' : `<${name}>${inner.join('')}</${name}>`;
}

/** Left out if it has no text. `attributes` are as they are written. */
export function leaf(name: string, text: unknown, attributes = ''): string {
  const value = lineText(text);
  const open = attributes === '' ? name : `${name} ${attributes}`;
  return value === '' ? '' : `<${open}>${escaped(value)}</${name}>`;
}

/** The parts of the root are a line each. */
export function xmlDocument(root: string, attributes: string, parts: readonly string[]): string {
  const lines = parts.filter((part) => part !== '').join('\n');
  const head = '<?xml version="1.0" encoding="UTF-8"?>';
  return `${head}\n<${root} ${attributes}>\n${lines}\n</${root}>\n`;
}

/** Controls are taken out before; what is left of them is not allowed in XML. */
function escaped(text: string): string {
  return text
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

export function decimalOf(minor: bigint, decimals: number): string {
  const digits = String(minor < 0n ? -minor : minor).padStart(decimals + 1, '0');
  const at = digits.length - decimals;
  const text = decimals === 0 ? digits : `${digits.slice(0, at)}.${digits.slice(at)}`;
  return minor < 0n ? `-${text}` : text;
}
