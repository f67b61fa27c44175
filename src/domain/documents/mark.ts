// A word across the pages of a document that is kept, such as COPY. The file that is kept stays as
// it is: what comes out is another file.
import { openPdf } from '../../base/pdf/document.ts';
import { paintPage } from '../../base/pdf/page.ts';
import { wholeFile } from '../../base/pdf/pieces.ts';
import { stampPdf } from '../../base/pdf/stamp.ts';
import { setLine } from '../../base/typeset/lines.ts';
import { notoTypefaces } from '../../base/typeset/noto.ts';
import { kindLabelsOf } from './kind-labels.ts';
import { labelsOf } from './labels.ts';

export type Mark = 'copy' | 'reversed';

export type MarkedFile = {
  file: Uint8Array;
  mark: Mark;
  /** Of the document. */
  locale: string;
  title: string;
};

const size = 100;
const color = '#b42318';

export function markFile({ file, mark, locale, title }: MarkedFile): Buffer {
  const info = { title, language: locale };
  return stampPdf(Buffer.from(file), wordPage(kindLabelsOf(locale)[mark], locale), info);
}

function wordPage(word: string, locale: string): Buffer {
  const { direction } = labelsOf(locale, false);
  const line = setLine(word, { faces: notoTypefaces(locale).bold, size }, direction);
  const box = { width: line.width, height: line.ascent + line.descent };
  const createdOn = Temporal.PlainDate.from('2000-01-01');
  const file = openPdf({ title: word, createdOn, language: locale });
  paintPage(file, { ...box, items: [{ kind: 'text', x: 0, y: 0, ...box, line, size, color }] });
  return wholeFile(file.end());
}
