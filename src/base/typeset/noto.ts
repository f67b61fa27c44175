// The fonts of documents: Noto Sans for Latin, Greek, Cyrillic and Devanagari, Noto Naskh Arabic
// for Arabic and Urdu. They come from npm as font files, under the SIL Open Font License.
import { fileURLToPath } from 'node:url';
import type { Face, Typefaces } from './face.ts';
import { openFace } from './open-type-face.ts';

/** Printable ASCII and Latin-1, with the punctuation and signs of currencies that bills have. */
const latin = [
  ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)),
  ...Array.from({ length: 96 }, (_, index) => String.fromCharCode(160 + index)),
  ...'–—‘’“”•…€₨₹−',
].join('');

let opened: Typefaces | undefined;

/** Read once for the process, when the first document is made. */
export function notoTypefaces(): Typefaces {
  opened ??= {
    regular: [sans('400Regular', 'Regular'), naskh('400Regular', 'Regular')],
    bold: [sans('700Bold', 'Bold'), naskh('700Bold', 'Bold')],
  };
  return opened;
}

function sans(weight: string, style: string): Face {
  const path = fontPath(`noto-sans/${weight}/NotoSans_${weight}.ttf`);
  return openFace({ path, name: `NotoSans-${style}`, ascent: 950, descent: 300, base: latin });
}

/** Its letters go far below the line: lines with it are set wider apart. */
function naskh(weight: string, style: string): Face {
  const path = fontPath(`noto-naskh-arabic/${weight}/NotoNaskhArabic_${weight}.ttf`);
  return openFace({ path, name: `NotoNaskhArabic-${style}`, ascent: 920, descent: 400, base: '' });
}

function fontPath(file: string): string {
  return fileURLToPath(import.meta.resolve(`@expo-google-fonts/${file}`));
}
