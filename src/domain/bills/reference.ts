// The number by which a bank knows a bill: digits alone, of one length, the last one a check digit,
// so that a slip of the finger names no other bill.

const kind = '1';
const numberDigits = 9;

export function billReference(billId: number): string {
  const payload = `${kind}${String(billId).padStart(numberDigits, '0')}`;
  return payload + checkDigit(payload);
}

/** Undefined if the text is not a bill reference. */
export function billIdOf(reference: string): number | undefined {
  const payload = reference.slice(0, -1);
  const isOurs = /^\d+$/.test(reference) && reference.startsWith(kind);
  if (!isOurs) return undefined;
  const billId = Number(payload.slice(kind.length));
  return billReference(billId) === reference ? billId : undefined;
}

/** After Luhn: every second digit from the right counts double, as the sum of its own digits. */
function checkDigit(payload: string): string {
  let sum = 0;
  for (let place = 1; place <= payload.length; place += 1) {
    const digit = Number(payload.at(-place));
    const weighed = place % 2 === 1 ? digit * 2 : digit;
    sum += weighed > 9 ? weighed - 9 : weighed;
  }
  return String((10 - (sum % 10)) % 10);
}
