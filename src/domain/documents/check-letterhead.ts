// What a letterhead must be when it is saved. Keys that documents do not read are kept as they are.
import type { ErrorCode, ErrorDetail } from '../../base/errors.ts';
import { isPlainAddress } from '../../base/mail/address.ts';
import { imageProblem, imageSideMax, openImage } from '../../base/pdf/images.ts';
import { addressLinesMax, colorPattern, pageSizes, readLogo } from './letterhead.ts';
import { templateProblem } from './template.ts';

type Judgement = { code: ErrorCode; message: string } | undefined;
type Check = (value: string) => Judgement;

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['name', atMost(200)],
  ['phone', atMost(60)],
  ['website', atMost(200)],
  ['taxNumber', atMost(60)],
  ['complaintPhone', atMost(60)],
  ['officeHours', atMost(200)],
  ['email', addressProblem],
  ['complaintEmail', addressProblem],
  ['color', (value) => unless(colorPattern.test(value), 'INVALID_FORMAT', 'is not like #0b6e4f')],
  [
    'pageSize',
    (value) => unless(isSize(value), 'INVALID_ENUM', `is not ${pageSizes.join(' or ')}`),
  ],
  ['codeText', (value) => atMost(300)(value) ?? codeProblem(value)],
  ['barcodeText', (value) => atMost(300)(value) ?? codeProblem(value)],
  ['logo', logoProblem],
]);

/** Problems of settings.letterhead, each with its path below the given one. */
export function letterheadProblems(letterhead: object, field: string): ErrorDetail[] {
  return Object.entries(letterhead).flatMap(([name, value]) => {
    // An empty key is one that is taken away.
    if (value === null || value === '') return [];
    if (name === 'addressLines') return linesProblems(value, `${field}.${name}`);
    const check = checks.get(name);
    return check === undefined ? [] : told(`${field}.${name}`, textJudgement(value, check));
  });
}

function linesProblems(value: unknown, field: string): ErrorDetail[] {
  if (!Array.isArray(value)) return told(field, { code: 'INVALID_TYPE', message: 'is not a list' });
  if (value.length > addressLinesMax) {
    const message = `has more than ${addressLinesMax} lines`;
    return told(field, { code: 'TOO_MANY_ITEMS', message });
  }
  return value.flatMap((line, index) =>
    told(`${field}[${index}]`, textJudgement(line, atMost(200))),
  );
}

function told(field: string, judgement: Judgement): ErrorDetail[] {
  if (judgement === undefined) return [];
  return [{ field, code: judgement.code, message: `${field} ${judgement.message}` }];
}

function textJudgement(value: unknown, check: Check): Judgement {
  return typeof value === 'string'
    ? check(value)
    : { code: 'INVALID_TYPE', message: 'must be a text' };
}

function atMost(characters: number): Check {
  return (value) =>
    unless(value.length <= characters, 'FIELD_TOO_LONG', `is longer than ${characters} characters`);
}

function unless(isFine: boolean, code: ErrorCode, message: string): Judgement {
  return isFine ? undefined : { code, message };
}

function addressProblem(value: string): Judgement {
  return unless(isPlainAddress(value), 'INVALID_EMAIL', 'is not an address');
}

function isSize(value: string): boolean {
  return (pageSizes as readonly string[]).includes(value);
}

function codeProblem(value: string): Judgement {
  const problem = templateProblem(value);
  return problem === undefined ? undefined : { code: 'TEMPLATE_INVALID', message: `: ${problem}` };
}

function logoProblem(value: string): Judgement {
  const bytes = readLogo(value);
  const isLarge = bytes !== null && imageProblem(bytes) === 'size';
  if (isLarge) return { code: 'INVALID_FORMAT', message: `is larger than ${imageSideMax} pixels` };
  const isPicture = bytes !== null && openImage(bytes) !== undefined;
  return unless(isPicture, 'INVALID_FORMAT', 'is not a PNG or JPEG picture in base64');
}
