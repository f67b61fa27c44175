// The fonts of documents: Noto Sans for Latin, Greek, Cyrillic and Devanagari, Noto Naskh Arabic
// for Arabic and Urdu. They come from npm as font files, under the SIL Open Font License.
import { fileURLToPath } from 'node:url';
import type { FaceList, Typefaces } from './face.ts';
import { openFaces } from './open-type-face.ts';

/**
 * The characters of most bills in Latin letters: some 8 kB of each weight. ASCII, letters with
 * accents of the larger languages, punctuation, signs of currencies, and the sign for characters
 * that no font has. A no-break space separates currency and amount.
 */
const latin = [
  ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)),
  ...'ÄÖÜäöüßÀÂÇÈÉÊàâçèéêëîïôûùÑñÁÍÓÚáíóúÃÕãõÅåÆæØø',
  ...'\u00a0–—‘’“”•…×·°€£₨₹−\ufffd',
].join('');

type Weight = '400Regular' | '700Bold';

const sansFile = (weight: Weight) => `noto-sans/${weight}/NotoSans_${weight}.ttf`;
const naskhFile = (weight: Weight) => `noto-naskh-arabic/${weight}/NotoNaskhArabic_${weight}.ttf`;

let opened: Typefaces | undefined;

/** Read once for the process, when the first document is made. */
export function notoTypefaces(): Typefaces {
  opened ??= { regular: ofWeight('400Regular'), bold: ofWeight('700Bold') };
  return opened;
}

/** Naskh goes far below the line: lines with it are set wider apart. */
function ofWeight(weight: Weight): FaceList {
  const style = weight.slice(3);
  const sans = openFaces({
    path: fontPath(sansFile(weight)),
    name: `NotoSans-${style}`,
    ascent: 950,
    descent: 300,
    common: latin,
  });
  const naskh = openFaces({
    path: fontPath(naskhFile(weight)),
    name: `NotoNaskhArabic-${style}`,
    ascent: 920,
    descent: 400,
    common: '',
  });
  return [sans.common, sans.others, naskh.others];
}

function fontPath(file: string): string {
  return fileURLToPath(import.meta.resolve(`@expo-google-fonts/${file}`));
}
