// What a bank account must be when it is saved, so that the codes on bills can be made from it.
import { isValidBIC, ValidationErrorsIBAN, validateIBAN } from 'ibantools';
import type { ErrorCode, ErrorDetail } from '../../base/errors.ts';
import type { BankAccount, PaymentCode } from '../pricing/context.ts';
import { emvLimits, isEmvText, plainLatin } from './emv-code.ts';
import { templateProblem, withoutPlaceholders } from './template.ts';

type Report = (key: string, code: ErrorCode, message: string) => void;
type Key = keyof PaymentCode;

/** Without spaces and in capital letters. */
export function electronicForm(text: string): string {
  return text.replace(/[\s-]/g, '').toUpperCase();
}

/** Problems of a bank account, each with its path below the given one. */
export function bankAccountProblems(
  account: BankAccount,
  currency: string,
  field: string,
): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  const report: Report = (key, code, message) => {
    problems.push({ field: `${field}.${key}`, code, message: `${field}.${key} ${message}` });
  };
  const { iban, swift, paymentCode: code } = account;
  if (iban) {
    const problem = ibanProblem(iban);
    if (problem !== undefined) report('iban', 'INVALID_FORMAT', problem);
  }
  if (swift && !isValidBIC(swift)) {
    report('swift', 'INVALID_FORMAT', `is not a BIC such as DEUTDEFF or DEUTDEFF500: ${swift}`);
  }
  if (code === null) return problems;
  checkKeys(code, (key, problem, message) => report(`paymentCode.${key}`, problem, message));
  if (problems.length === 0) checkCode(account, code, currency, report);
  return problems;
}

function ibanProblem(iban: string): string | undefined {
  const { valid, errorCodes } = validateIBAN(iban);
  if (valid) return undefined;
  const words = new Map([
    [ValidationErrorsIBAN.NoIBANCountry, 'does not begin with the code of a country with IBANs'],
    [ValidationErrorsIBAN.WrongBBANLength, 'does not have the length of its country'],
    [ValidationErrorsIBAN.WrongBBANFormat, 'does not have the form of its country'],
  ]);
  const found = errorCodes.map((one) => words.get(one)).find((one) => one !== undefined);
  const mistake = found ?? 'has wrong check digits: look for a mistyped character';
  return `${mistake}: ${iban}`;
}

/** The keys that a code of each type must have, and those that it may have. */
const keysOf: Record<PaymentCode['type'], { needed: readonly Key[]; allowed: readonly Key[] }> = {
  EPC: { needed: [], allowed: ['name'] },
  EMVCo: {
    needed: ['tag', 'guid', 'fields', 'city', 'country'],
    allowed: ['name', 'categoryCode'],
  },
  UPI: { needed: ['upiAddress'], allowed: ['name'] },
  Reference: { needed: [], allowed: [] },
  URL: { needed: ['url'], allowed: [] },
};

function checkKeys(code: PaymentCode, report: Report): void {
  const { needed, allowed } = keysOf[code.type];
  const isGiven = (key: Key) => {
    const value = code[key];
    return value !== undefined && value !== null && value.length > 0;
  };
  for (const key of needed) {
    if (!isGiven(key)) report(key, 'REQUIRED_FIELD', `is needed for a code of type ${code.type}`);
  }
  const known = new Set<string>(['type', ...needed, ...allowed]);
  for (const key of Object.keys(code) as Key[]) {
    if (known.has(key) || !isGiven(key)) continue;
    report(key, 'UNKNOWN_FIELD', `is not for a code of type ${code.type}: leave it out`);
  }
}

function checkCode(
  account: BankAccount,
  code: PaymentCode,
  currency: string,
  reportAccount: Report,
): void {
  const report: Report = (key, problem, message) =>
    reportAccount(`paymentCode.${key}`, problem, message);
  if (code.type === 'URL') checkUrl(code.url ?? '', report);
  if (code.type === 'UPI') {
    checkCurrency('INR', account, currency, report);
    if (!upiForm.test(code.upiAddress ?? '')) {
      report('upiAddress', 'INVALID_FORMAT', 'is not a UPI address such as citypower@bank');
    }
  }
  if (code.type === 'EPC') {
    checkCurrency('EUR', account, currency, report);
    if (!account.iban) reportAccount('iban', 'REQUIRED_FIELD', 'is needed for a code of type EPC');
    checkName(account, code, report, (name) => name.length <= 70 && latinForm.test(name));
  }
  if (code.type === 'EMVCo') {
    checkName(account, code, report, (name) => isEmvText(plainLatin(name), emvLimits.name));
    checkEmv(code, report);
  }
}

const upiForm = /^[a-zA-Z0-9._-]{2,190}@[a-zA-Z][a-zA-Z0-9.-]{1,63}$/;
/** What banks of the SEPA countries accept as a name. */
const latinForm = /^[\p{Script=Latin}\p{M}0-9 /?:().,'+&-]+$/u;

function checkCurrency(
  needed: string,
  account: BankAccount,
  currency: string,
  report: Report,
): void {
  const other = [account.currency ?? needed, currency].find((one) => one !== needed);
  if (other === undefined) return;
  report('type', 'DEFINITION_INVALID', `is for payments in ${needed}, and this is ${other}`);
}

function checkName(
  { title }: BankAccount,
  { type, name }: PaymentCode,
  report: Report,
  isFine: (name: string) => boolean,
): void {
  if (isFine(name || title)) return;
  const most = type === 'EMVCo' ? emvLimits.name : 70;
  const rule = `at most ${most} Latin letters, digits and signs`;
  if (name) report('name', 'INVALID_FORMAT', `must have ${rule}`);
  else report('name', 'REQUIRED_FIELD', `is needed, with ${rule}: the title does not fit the code`);
}

function checkEmv(code: PaymentCode, report: Report): void {
  const { tag = '', guid = '', fields, city, categoryCode } = code;
  if (!/^(?:2[6-9]|[34]\d|5[01])$/.test(tag ?? '')) {
    report('tag', 'INVALID_FORMAT', 'is not a number from 26 to 51');
  }
  if (!/^[a-zA-Z0-9.-]{1,32}$/.test(guid ?? '')) {
    report('guid', 'INVALID_FORMAT', 'is not an id such as A000000677010112 or com.example.pay');
  }
  if (!isEmvText(plainLatin(city ?? ''), emvLimits.city)) {
    const most = `at most ${emvLimits.city} Latin letters, digits and signs`;
    report('city', 'INVALID_FORMAT', `must have ${most}`);
  }
  if (categoryCode && !/^\d{4}$/.test(categoryCode)) {
    report('categoryCode', 'INVALID_FORMAT', 'is not a merchant category of four digits');
  }
  checkEmvFields(guid ?? '', fields ?? [], report);
}

function checkEmvFields(
  guid: string,
  fields: readonly { tag: string; value: string }[],
  report: Report,
): void {
  let size = 4 + guid.length;
  fields.forEach(({ tag, value }, index) => {
    const key = `fields[${index}]`;
    const fixed = withoutPlaceholders(value, '');
    size += 4 + fixed.length;
    const problem = templateProblem(value);
    if (!/^(?:0[1-9]|[1-9]\d)$/.test(tag)) {
      report(`${key}.tag`, 'INVALID_FORMAT', 'is not a number from 01 to 99');
    } else if (fields.findIndex((one) => one.tag === tag) < index) {
      report(`${key}.tag`, 'DUPLICATE', `${tag} appears twice`);
    }
    if (problem !== undefined) report(`${key}.value`, 'TEMPLATE_INVALID', `: ${problem}`);
    else if (fixed !== '' && !isEmvText(fixed, emvLimits.value)) {
      report(`${key}.value`, 'INVALID_FORMAT', 'has other characters than printable ASCII');
    }
  });
  if (size <= emvLimits.value) return;
  const message = `are longer than ${emvLimits.value} characters together with the guid`;
  report('fields', 'FIELD_TOO_LONG', message);
}

/** A placeholder in the name of the host would let a bill choose where the customer pays. */
const urlForm = /^https:\/\/[^\s/?#{}@\\]+(?:[/?#]\S*)?$/;

function checkUrl(url: string, report: Report): void {
  const problem = templateProblem(url);
  if (problem !== undefined) {
    report('url', 'TEMPLATE_INVALID', `: ${problem}`);
    return;
  }
  const filled = withoutPlaceholders(url, 'x');
  if (urlForm.test(filled) && urlForm.test(url) && URL.canParse(filled)) return;
  const example = 'https://pay.example.com/{{bill.billRefNo}}';
  report('url', 'INVALID_FORMAT', `is not an address such as ${example}`);
}
