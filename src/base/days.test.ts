import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDay, formatIsoDay, parseDay } from './days.ts';

test('every day of six centuries is the number Temporal gives it, and formats back', () => {
  const epoch = Temporal.PlainDate.from('1970-01-01');
  for (let number = -135_000; number < 85_000; number += 1) {
    if (number % 7 !== 0 && Math.abs(number % 1461) > 3) continue;
    const date = epoch.add({ days: number });
    const pad = (value: number, width: number) => String(value).padStart(width, '0');
    const text = `${pad(date.day, 2)}/${pad(date.month, 2)}/${pad(date.year, 4)}`;
    assert.equal(formatDay(number), text);
    assert.equal(formatIsoDay(number), date.toString());
    assert.equal(parseDay(text), number);
  }
});

const refused = [
  '31/02/2025',
  '29/02/2025',
  '29/02/1900',
  '00/01/2025',
  '01/13/2025',
  '01/00/2025',
  '1/1/2025',
  '01-01-2025',
  '01/01/25',
  '01/01/0000',
  ' 1/01/2025',
  '01/01/2O25',
  '٠١/٠١/٢٠٢٥',
  '',
];

for (const text of refused) {
  test(`parseDay refuses "${text}"`, () => {
    assert.equal(parseDay(text), undefined);
  });
}

test('a leap day is a day in 2024 and 2000', () => {
  assert.equal(formatDay((parseDay('28/02/2024') ?? 0) + 1), '29/02/2024');
  assert.notEqual(parseDay('29/02/2000'), undefined);
});
