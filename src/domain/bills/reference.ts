// The reference by which a bill is paid at a bank: digits only, of one width, the last of which
// tells a slip of the finger.

const kind = '1';
const idDigits = 10;

export function billReference(billId: number): string {
  const digits = `${kind}${String(billId).padStart(idDigits, '0')}`;
  return `${digits}${checkDigit(digits)}`;
}

/** Undefined for what is no reference of ours. */
export function billIdOf(reference: string): number | undefined {
  const digits = reference.slice(0, -1);
  const isOurs = /^\d+$/.test(reference) && reference.startsWith(kind);
  if (!isOurs || digits.length !== 1 + idDigits) return undefined;
  if (checkDigit(digits) !== reference.at(-1)) return undefined;
  return Number(digits.slice(1));
}

/** By Luhn: every second digit from the right counts double. */
function checkDigit(digits: string): string {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const counted = index % 2 === 0 ? digit * 2 : digit;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return String((10 - (sum % 10)) % 10);
}
