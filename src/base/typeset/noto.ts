// The fonts of documents: Noto Sans for Latin, Greek, Cyrillic and Devanagari, Noto Nastaliq Urdu
// for Urdu, Noto Naskh Arabic for Arabic and other languages of that script. They come from npm as
// font files, under the SIL Open Font License.
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
  ...'\u00a0–—‘’“”•…×·°²³€£₨₹−\ufffd',
].join('');

type Weight = '400Regular' | '700Bold';
/** How Arabic script is written. */
type Hand = 'naskh' | 'nastaliq';

const sansFile = (weight: Weight) => `noto-sans/${weight}/NotoSans_${weight}.ttf`;
const naskhFile = (weight: Weight) => `noto-naskh-arabic/${weight}/NotoNaskhArabic_${weight}.ttf`;
const nastaliqFile = (weight: Weight) =>
  `noto-nastaliq-urdu/${weight}/NotoNastaliqUrdu_${weight}.ttf`;

const opened = new Map<Hand, Typefaces>();

/**
 * Read once for the process, when the first document is made. Readers of Urdu expect Nastaliq; a
 * document in Arabic too has one hand for both.
 */
export function notoTypefaces(...locales: readonly (string | null | undefined)[]): Typefaces {
  const languages = new Set(locales.map((locale) => locale?.split('-')[0]?.toLowerCase()));
  const hand = languages.has('ur') && !languages.has('ar') ? 'nastaliq' : 'naskh';
  let found = opened.get(hand);
  if (found === undefined) {
    found = {
      regular: ofWeight('400Regular', hand),
      bold: ofWeight('700Bold', hand),
      isSloping: hand === 'nastaliq',
    };
    opened.set(hand, found);
  }
  return found;
}

const sansFaces = new Map<Weight, ReturnType<typeof openFaces>>();

/** One for all hands, so that its common characters are cut once. */
function sansOf(weight: Weight): ReturnType<typeof openFaces> {
  let found = sansFaces.get(weight);
  if (found === undefined) {
    found = openFaces({
      path: fontPath(sansFile(weight)),
      name: `NotoSans-${weight.slice(3)}`,
      ascent: 950,
      descent: 300,
      common: latin,
    });
    sansFaces.set(weight, found);
  }
  return found;
}

/**
 * Naskh goes far below the line: lines with it are set wider apart; its figures are smaller than
 * Latin ones of their size, so that it is drawn larger. Words in Nastaliq slope from
 * high above the line down to it, and its letters are larger than others of their size.
 */
function ofWeight(weight: Weight, hand: Hand): FaceList {
  const style = weight.slice(3);
  const sans = sansOf(weight);
  const arabic =
    hand === 'nastaliq'
      ? openFaces({
          path: fontPath(nastaliqFile(weight)),
          name: `NotoNastaliqUrdu-${style}`,
          ascent: 950,
          descent: 300,
          common: '',
          scale: 0.8,
          isSloping: true,
        })
      : openFaces({
          path: fontPath(naskhFile(weight)),
          name: `NotoNaskhArabic-${style}`,
          ascent: 980,
          descent: 430,
          common: '',
          scale: 1.14,
        });
  return [sans.common, sans.others, arabic.others];
}

function fontPath(file: string): string {
  return fileURLToPath(import.meta.resolve(`@expo-google-fonts/${file}`));
}
