// Whole numbers of something in Arabic. The number takes the gender of what is counted, and that
// takes its form from the number: one, two, three to ten, eleven and more.

export type Counted = {
  readonly one: string;
  readonly two: string;
  /** Two before what belongs to them: مليونا جنيه. */
  readonly twoOf?: string;
  /** Three to ten. */
  readonly few: string;
  /** Eleven to ninety-nine. */
  readonly many: string;
  readonly isFeminine?: boolean;
};

const unitsOfMasculine = [
  '',
  'واحد',
  'اثنان',
  'ثلاثة',
  'أربعة',
  'خمسة',
  'ستة',
  'سبعة',
  'ثمانية',
  'تسعة',
  'عشرة',
];
const unitsOfFeminine = [
  '',
  'واحدة',
  'اثنتان',
  'ثلاث',
  'أربع',
  'خمس',
  'ست',
  'سبع',
  'ثمان',
  'تسع',
  'عشر',
];
const tens = ['', '', 'عشرون', 'ثلاثون', 'أربعون', 'خمسون', 'ستون', 'سبعون', 'ثمانون', 'تسعون'];
const hundreds = [
  '',
  'مائة',
  'مائتان',
  'ثلاثمائة',
  'أربعمائة',
  'خمسمائة',
  'ستمائة',
  'سبعمائة',
  'ثمانمائة',
  'تسعمائة',
];

const scales: readonly { size: bigint; counted: Counted }[] = [
  {
    size: 10n ** 12n,
    counted: {
      one: 'تريليون',
      two: 'تريليونان',
      twoOf: 'تريليونا',
      few: 'تريليونات',
      many: 'تريليونًا',
    },
  },
  {
    size: 10n ** 9n,
    counted: { one: 'مليار', two: 'ملياران', twoOf: 'مليارا', few: 'مليارات', many: 'مليارًا' },
  },
  {
    size: 10n ** 6n,
    counted: { one: 'مليون', two: 'مليونان', twoOf: 'مليونا', few: 'ملايين', many: 'مليونًا' },
  },
  {
    size: 10n ** 3n,
    counted: { one: 'ألف', two: 'ألفان', twoOf: 'ألفا', few: 'آلاف', many: 'ألفًا' },
  },
];

const and = ' و';

/** Such as `ثلاثة جنيهات`. */
export function arabicCount(value: bigint, counted: Counted): string {
  if (value === 0n) return `صفر ${counted.one}`;
  if (value === 1n) return `${counted.one} ${counted.isFeminine ? 'واحدة' : 'واحد'}`;
  if (value === 2n) return counted.two;
  const last = value % 1000n;
  const groups = scaleGroups(value, last === 0n);
  if (last > 0n) groups.push(below1000(Number(last), counted.isFeminine === true, true));
  return `${groups.join(and)} ${nounAfter(Number(value % 100n), counted)}`;
}

/** Thousands and more. The last of them is bound to the noun if nothing comes between. */
function scaleGroups(value: bigint, isBound: boolean): string[] {
  const groups: string[] = [];
  let rest = value;
  for (const { size, counted } of scales) {
    const count = Number(rest / size);
    rest %= size;
    if (count === 0) continue;
    if (count === 1) groups.push(counted.one);
    else if (count === 2) {
      const isLast = isBound && rest === 0n;
      groups.push(isLast ? (counted.twoOf ?? counted.two) : counted.two);
    } else groups.push(`${below1000(count, false, true)} ${nounAfter(count % 100, counted)}`);
  }
  return groups;
}

function nounAfter(lastTwo: number, { one, few, many }: Counted): string {
  if (lastTwo >= 3 && lastTwo <= 10) return few;
  return lastTwo >= 11 ? many : one;
}

function below1000(value: number, isFeminine: boolean, isBound: boolean): string {
  const rest = value % 100;
  const hundred = Math.floor(value / 100);
  const words: string[] = [];
  if (hundred > 0)
    words.push(hundred === 2 && rest === 0 && isBound ? 'مائتا' : hundredOf(hundred));
  if (rest > 0) words.push(below100(rest, isFeminine));
  return words.join(and);
}

function hundredOf(count: number): string {
  return hundreds[count] ?? '';
}

function below100(value: number, isFeminine: boolean): string {
  const units = isFeminine ? unitsOfFeminine : unitsOfMasculine;
  if (value <= 10) return units[value] ?? '';
  if (value < 20) return teen(value - 10, isFeminine);
  const unit = value % 10;
  const ten = tens[Math.floor(value / 10)] ?? '';
  if (unit === 0) return ten;
  if (unit === 1) return `${isFeminine ? 'إحدى' : 'واحد'}${and}${ten}`;
  return `${units[unit]}${and}${ten}`;
}

function teen(unit: number, isFeminine: boolean): string {
  const ten = isFeminine ? 'عشرة' : 'عشر';
  if (unit === 1) return `${isFeminine ? 'إحدى' : 'أحد'} ${ten}`;
  if (unit === 2) return `${isFeminine ? 'اثنتا' : 'اثنا'} ${ten}`;
  const units = isFeminine ? unitsOfFeminine : unitsOfMasculine;
  // Eight has its last letter back before ten: ثماني عشرة.
  const name = isFeminine && unit === 8 ? 'ثماني' : units[unit];
  return `${name} ${ten}`;
}
