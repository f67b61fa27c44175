// HTML as text: whatever is written into it is escaped.
import { imageProblem } from '../../base/pdf/images.ts';

export function tag(
  name: string,
  attributes: Record<string, string>,
  inner: readonly string[],
): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`);
  return `<${name}${written.join('')}>${inner.filter((part) => part !== '').join('\n')}</${name}>`;
}

const entities = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities.get(character) ?? character);
}

/** The media type of a logo, or null if it is not a picture that can be shown. */
export function logoType(logo: Buffer | null): 'image/png' | 'image/jpeg' | null {
  if (logo === null || imageProblem(logo) !== undefined) return null;
  return logo[0] === 0xff ? 'image/jpeg' : 'image/png';
}

/** For a page that must show the logo without fetching it. */
export function logoData(logo: Buffer | null): string | null {
  const type = logoType(logo);
  return type === null || logo === null ? null : `data:${type};base64,${logo.toString('base64')}`;
}
