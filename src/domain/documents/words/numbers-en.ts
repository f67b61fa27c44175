// Whole numbers in English: in millions or, as South Asia counts, in lakhs and crores.

const below20 = [
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen',
  'sixteen seventeen eighteen nineteen',
].flatMap((row) => row.split(' '));
const tens = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

type Scale = readonly [size: bigint, name: string];

const western: readonly Scale[] = [
  [10n ** 12n, 'trillion'],
  [10n ** 9n, 'billion'],
  [10n ** 6n, 'million'],
  [10n ** 3n, 'thousand'],
];
/** Of more than a hundred crores, the crores are counted as a number of their own. */
const southAsian: readonly Scale[] = [
  [10n ** 7n, 'crore'],
  [10n ** 5n, 'lakh'],
  [10n ** 3n, 'thousand'],
];

export function englishNumber(value: bigint, isSouthAsian: boolean): string {
  if (value === 0n) return 'zero';
  const words: string[] = [];
  let rest = value;
  for (const [size, name] of isSouthAsian ? southAsian : western) {
    const count = rest / size;
    if (count > 0n) words.push(englishNumber(count, isSouthAsian), name);
    rest %= size;
  }
  const hundreds = Number(rest / 100n);
  if (hundreds > 0) words.push(below20[hundreds] ?? '', 'hundred');
  const last = Number(rest % 100n);
  if (last > 0) words.push(below100(last));
  return words.join(' ');
}

function below100(value: number): string {
  if (value < 20) return below20[value] ?? '';
  const ten = tens[Math.floor(value / 10)] ?? '';
  return value % 10 === 0 ? ten : `${ten}-${below20[value % 10]}`;
}
