// A word across every page of a PDF file that this program wrote. The pages themselves are copied
// as they are; the word is drawn once and shown on each of them.
import { type MergeInfo, openMerged, readPdf, referenceAfter, type Source } from './merge.ts';

/** Light enough to leave what is below it readable. */
const opacity = 0.13;
/** At most, of the diagonal of the page. */
const lengthPart = 0.55;
const heightPart = 0.2;

const markName = 'Mark';
const stateName = 'MarkState';

/** `mark` is a file of one page, no larger than the word on it. */
export function stampPdf(file: Buffer, mark: Buffer, info: MergeInfo): Buffer {
  const merged = openMerged();
  const source = readPdf(file);
  const word = readPdf(mark);
  const { form, size } = addForm(merged, word);
  const state = merged.add({ text: `<<\n/Type /ExtGState\n/ca ${opacity}\n>>`, stream: null });
  const begin = merged.add(streamOf('q\n'));
  const copied = new Map<number, number>();
  for (const page of source.pages) {
    merged.addPage(source, page, copied, (text, own) => {
      const resources = source.object(referenceAfter(own, 'Resources')).text;
      const withMark = withForm(merged.renumbered(source, resources, copied), form);
      const states = `/ExtGState << /${stateName} ${state} 0 R >>`;
      const shown = merged.add({ text: withMark.replace('<<', `<<\n${states}`), stream: null });
      const draw = merged.add(streamOf(drawing(boxOf(own), size)));
      return text
        .replace(/\/Resources \d+ 0 R/, `/Resources ${shown} 0 R`)
        .replace(/\/Contents (\d+ 0 R)/, `/Contents [${begin} 0 R $1 ${draw} 0 R]`);
    });
  }
  return merged.end(info);
}

type Size = { width: number; height: number };

function addForm(
  merged: ReturnType<typeof openMerged>,
  word: Source,
): { form: number; size: Size } {
  const page = word.object(word.pages[0] ?? 0).text;
  const size = boxOf(page);
  const resources = merged.copy(word, referenceAfter(page, 'Resources'), new Map());
  const { text, stream } = word.object(referenceAfter(page, 'Contents'));
  const box = `/BBox [0 0 ${size.width} ${size.height}]`;
  // One group: where glyphs overlap, the word is not darker.
  const group = '/Group << /S /Transparency >>';
  const kind = `/Type /XObject\n/Subtype /Form\n${box}\n${group}`;
  const form = `${kind}\n/Resources ${resources} 0 R`;
  return { form: merged.add({ text: text.replace('<<', `<<\n${form}`), stream }), size };
}

function withForm(resources: string, form: number): string {
  const entry = `/${markName} ${form} 0 R`;
  return resources.includes('/XObject <<')
    ? resources.replace('/XObject <<', `/XObject <<\n${entry}`)
    : resources.replace('<<', `<<\n/XObject << ${entry} >>`);
}

function boxOf(page: string): Size {
  const [, width, height] = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(page) ?? [];
  return { width: Number(width), height: Number(height) };
}

function streamOf(content: string) {
  const stream = Buffer.from(content, 'latin1');
  return { text: `<<\n/Length ${stream.length}\n>>`, stream };
}

/** From the lower left to the upper right, through the middle of the page. */
function drawing(page: Size, mark: Size): string {
  const diagonal = Math.hypot(page.width, page.height);
  const scale = diagonal * Math.min(lengthPart / mark.width, heightPart / mark.height);
  const cos = (page.width / diagonal) * scale;
  const sin = (page.height / diagonal) * scale;
  const x = page.width / 2 - (cos * mark.width - sin * mark.height) / 2;
  const y = page.height / 2 - (sin * mark.width + cos * mark.height) / 2;
  const matrix = [cos, sin, -sin, cos, x, y].map((value) => value.toFixed(4)).join(' ');
  return `Q\nq /${stateName} gs ${matrix} cm /${markName} Do Q\n`;
}
