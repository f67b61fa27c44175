// Setting text: fonts, directions, lines.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Blob, Face, Font } from 'harfbuzzjs';
import { readFontTables } from '../../src/base/typeset/font-tables.ts';
import { setLine, setLines } from '../../src/base/typeset/lines.ts';
import { notoTypefaces } from '../../src/base/typeset/noto.ts';
import { cutSubset } from '../../src/base/typeset/subset.ts';
import { formatsOf } from '../../src/domain/documents/formats.ts';
import { joined, type Wording } from '../../src/domain/documents/wording.ts';
import { textOf } from './page-check.ts';

const { regular, bold } = notoTypefaces();
const style = { faces: regular, size: 10 };

function fontFile(path: string): Buffer {
  return readFileSync(fileURLToPath(import.meta.resolve(`@expo-google-fonts/${path}`)));
}

const files = [
  'noto-sans/400Regular/NotoSans_400Regular.ttf',
  'noto-sans/700Bold/NotoSans_700Bold.ttf',
  'noto-naskh-arabic/400Regular/NotoNaskhArabic_400Regular.ttf',
  'noto-naskh-arabic/700Bold/NotoNaskhArabic_700Bold.ttf',
];

test('a subset draws every glyph as the whole font does, composed ones too', () => {
  for (const path of files) {
    const file = fontFile(path);
    const tables = readFontTables(file);
    const glyphs = Array.from({ length: 400 }, (_, index) => (index * 7) % tables.glyphCount);
    const { file: cut, numbers } = cutSubset(tables, glyphs);
    const whole = new Font(new Face(new Blob(file)));
    const part = new Font(new Face(new Blob(cut)));
    for (const glyph of glyphs) {
      const number = numbers.get(glyph);
      assert.ok(number !== undefined);
      assert.equal(part.glyphToPath(number), whole.glyphToPath(glyph), `${path} glyph ${glyph}`);
      assert.equal(part.glyphHAdvance(number), whole.glyphHAdvance(glyph));
    }
    assert.ok(cut.length < file.length);
  }
});

test('the fonts cover Latin, Greek, Cyrillic, Devanagari, Arabic, Urdu and signs of currencies', () => {
  const wanted = 'AZaz09äßñçŁőΩЖ₹₨€£¥–—’“…×हिन्दी१२३ابپٹڈےںہ۱۲۳،۔؟';
  for (const faces of [regular, bold]) {
    for (const character of wanted) {
      const code = character.codePointAt(0) as number;
      assert.ok(
        faces.some((face) => face.covers(code)),
        character,
      );
    }
  }
});

function glyphsOf(text: string): number[] {
  return setLine(text, style, 'ltr').runs.flatMap((run) =>
    run.words.flatMap((word) => word.glyphs),
  );
}

test('Arabic letters take the form of their place in the word', () => {
  const alone = new Set(glyphsOf('م'));
  const middle = glyphsOf('محم');
  assert.equal(middle.length, 3);
  assert.ok(!middle.some((glyph) => alone.has(glyph)));
  assert.equal(new Set(middle).size, 3, 'first, middle and last differ');
});

test('Devanagari conjuncts are drawn as one', () => {
  assert.ok(glyphsOf('क्ष').length < 3);
  // The short i is drawn before the letter it follows.
  const [first] = glyphsOf('कि');
  const [letter] = glyphsOf('क');
  assert.notEqual(first, letter);
});

/** Words from left to right. */
function drawnWords(text: string, direction: 'ltr' | 'rtl'): string[] {
  return setLine(text, style, direction)
    .runs.flatMap((run) => run.words)
    .map(
      (word) => word.spans.map(({ text: told }) => told ?? '').join('') || [...word.texts].join(''),
    )
    .filter((word) => word.trim() !== '');
}

test('text from right to left begins on the right, figures and Latin inside it do not turn', () => {
  const words = drawnWords('رقم 14,842.00 PKR تک', 'rtl');
  assert.equal(words.length, 4);
  assert.deepEqual(words.slice(1, 3), ['PKR', '14,842.00']);
  assert.deepEqual(drawnWords('Dear محمد خان, pay', 'ltr').at(0), 'Dear');
});

test('a value that is walled off keeps its order inside a sentence from right to left', () => {
  const phone = '+92 42 111';
  assert.deepEqual(drawnWords(`فون \u2068${phone}\u2069`, 'rtl').slice(0, 3), ['+92', '42', '111']);
});

test('what is put together of several values is read from right to left as the text around it', () => {
  const wording = { direction: 'rtl' } as Wording;
  const phone = joined(wording, ' ', ['فون', '+92 42 111']);
  const drawn = drawnWords(joined(wording, ' · ', [phone, 'care@x.example']), 'rtl');
  assert.deepEqual(drawn.slice(0, 5), ['care@x.example', '·', '+92', '42', '111']);
  assert.equal(drawn.length, 6);
});

test('lines are no wider than wanted, lose no word and break words only if they must', () => {
  const text = 'The quick brown fox jumps over the lazy dog, again and again and again.';
  const lines = setLines(text, style, { width: 90, direction: 'ltr', linesMax: 99 });
  assert.ok(lines.length > 3);
  for (const line of lines) assert.ok(line.width <= 90);
  assert.equal(lines.map(textOf).join(' '), text);
  const long = setLines('x'.repeat(200), style, { width: 90, direction: 'ltr', linesMax: 99 });
  assert.equal(long.map(textOf).join(''), 'x'.repeat(200));
});

test('what does not fit its lines ends in an ellipsis', () => {
  for (const text of ['word '.repeat(1_000), 'x'.repeat(4_000), 'لفظ '.repeat(1_000)]) {
    const lines = setLines(text, style, { width: 90, direction: 'ltr', linesMax: 2 });
    assert.equal(lines.length, 2);
    for (const line of lines) assert.ok(line.width <= 90);
    assert.match(textOf(lines[1] as (typeof lines)[0]), /…/);
  }
});

test('a character of no font is drawn as the sign for that', () => {
  assert.equal(textOf(setLine('a😀b', style, 'ltr')), 'a\ufffdb');
});

test('amounts and dates are written in characters that the fonts have, in every locale', () => {
  const locales =
    'am-ET ar-EG as-IN bn-BD de-CH dz-BT el-GR en-PK fa-IR fr-FR gu-IN he-IL hi-IN hy-AM ja-JP ' +
    'ka-GE km-KH kn-IN ko-KR lo-LA ml-IN mr-IN my-MM ne-NP or-IN pa-IN ps-AF ru-RU sd-PK si-LK ' +
    'ta-IN te-IN th-TH ur-PK vi-VN zh-CN ar-EG-u-nu-latn bn-u-nu-beng';
  for (const locale of locales.split(' ')) {
    const { money, date, short, quantity } = formatsOf(locale, 'PKR', 2);
    const months = Array.from(
      { length: 12 },
      (_, at) => `15/${String(at + 1).padStart(2, '0')}/2026`,
    );
    const written = [money(-1_234_567.89), quantity('0.5'), short(0), short(123_456_789)];
    const text = [...written, ...months.map(date)].join('');
    const missing = [...text].filter((character) => {
      const codePoint = character.codePointAt(0) ?? 0;
      return character !== ' ' && !regular.some((face) => face.covers(codePoint));
    });
    assert.deepEqual(missing, [], locale);
    assert.notEqual(date('15/08/2026'), '15/08/2026', locale);
  }
  assert.match(formatsOf('ja-JP', 'JPY', 0).date('15/08/2026'), /Aug/);
  assert.match(formatsOf('bn-BD', 'BDT', 2).money(1_234.5), /1,234\.50/);
  assert.match(formatsOf('fr-FR', 'EUR', 2).date('15/08/2026'), /août/);
});
