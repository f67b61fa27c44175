import * as Type from 'typebox';
import { Format } from 'typebox/format';
import { isTimeZone } from '../../base/calendar.ts';
import { countries, countryCode } from '../../base/countries.ts';
import { currencyDecimals } from '../../base/currencies.ts';
import { AppError, type ErrorDetail, errorFromDetails } from '../../base/errors.ts';
import { isLocale } from '../../base/locales.ts';
import { amountWords, minorUnitsFrom } from '../../base/money.ts';
import { assertNotStale } from '../../base/stale.ts';
import { documentThreads, documentTurns } from '../../domain/delivery/document-threads.ts';
import { letterheadProblems } from '../../domain/documents/check-letterhead.ts';
import { deliveryChannels } from '../../domain/tenants/channels.ts';
import { isBillNumberFormat, isNumberFormat } from '../../domain/tenants/number-format.ts';
import {
  findSettings,
  hasAmounts,
  type SettingsRow,
  updateSettings,
} from '../../domain/tenants/store.ts';
import { listTemplates } from '../../domain/tenants/templates-store.ts';
import { country, email, empty, filledText, id, maybe, oneOf, tsGuard } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { decimal } from '../pricing-fields.ts';
import { presentSettings } from './settings-fields.ts';

Format.Set('time-zone', isTimeZone);
Format.Set('locale', isLocale);
Format.Set('number-format', isNumberFormat);

const numberFormat = Type.String({
  format: 'number-format',
  maxLength: 80,
  'x-code': 'INVALID_FORMAT',
  description: 'such as {serviceCode}-{number:8}',
});
const billNumberFormat = Type.String({
  format: 'number-format',
  maxLength: 80,
  'x-code': 'INVALID_FORMAT',
  description:
    'such as {serviceCode}-{year}-{number:6}; a new format needs {serviceCode} and {year}',
});
/** Objects of any shape are kept as they come; their text is limited as a whole. */
const freeFormCharactersMax = 65_536;
const freeForm = Type.Unsafe<object>({ type: 'object', additionalProperties: true });

const letterhead = Type.Unsafe<object>({
  type: 'object',
  additionalProperties: true,
  description:
    'The head of documents: name, addressLines, phone, email, website, taxNumber, logo (PNG or ' +
    'JPEG in base64), color (#rrggbb), pageSize (A4 or Letter), codeText, ' +
    'barcodeText; other keys are kept',
});

/** A name that looks like an address would be read as the sender's. */
const isSenderName = (text: string) => /^[^@<>"\p{Cc}\p{Cf}]*$/u.test(text);
Format.Set('sender-name', isSenderName);

const mailSender = Type.Object({
  name: maybe(
    Type.String({
      format: 'sender-name',
      maxLength: 80,
      'x-code': 'INVALID_FORMAT',
      description: 'the name before the address of the server, without @, <, > and quotes',
    }),
  ),
  replyTo: maybe(email),
});

const vatId = /^[A-Z]{2}[0-9A-Z+*]{2,13}$/;
/** Greece and Northern Ireland have prefixes of their own. */
const vatPrefixes = new Set([...countries.map(({ code }) => code), 'EL', 'XI']);
Format.Set('vat-id', (text) => vatId.test(text) && vatPrefixes.has(text.slice(0, 2)));

const componentName = filledText({ max: 100 });

const eInvoice = Type.Object(
  {
    format: oneOf(['UBL', 'FacturX']),
    vatID: Type.String({
      format: 'vat-id',
      maxLength: 15,
      'x-code': 'INVALID_FORMAT',
      description: 'of the seller, with the prefix of its country, such as DE123456789',
    }),
    street: filledText({ max: 200 }),
    city: filledText({ max: 100 }),
    postalCode: filledText({ max: 20 }),
    vat: Type.Array(
      Type.Object({
        component: componentName,
        on: maybe(Type.Array(componentName, { minItems: 1, maxItems: 200 })),
      }),
      { minItems: 1, maxItems: 50 },
    ),
    untaxed: maybe(
      Type.Array(
        Type.Object({
          on: Type.Array(componentName, { minItems: 1, maxItems: 200 }),
          category: oneOf(['Exempt', 'ZeroRated']),
          reason: maybe(filledText({ max: 500 })),
        }),
        { maxItems: 50 },
      ),
    ),
  },
  {
    description:
      'bills are published as e-invoices by EN 16931 too, beside the PDF (UBL) or inside it ' +
      '(FacturX); `vat` names the components that are value added tax and, in `on`, those that ' +
      'each is charged on; `untaxed` says why others have none. Null: they are not',
  },
);

const settingsChange = Type.Object({
  name: Type.Optional(filledText({ max: 200 })),
  timezone: Type.Optional(
    Type.String({
      format: 'time-zone',
      maxLength: 64,
      'x-code': 'INVALID_ENUM',
      description: 'an IANA time zone such as Asia/Karachi',
    }),
  ),
  currency: Type.Optional(
    Type.String({
      format: 'currency',
      maxLength: 3,
      'x-code': 'INVALID_ENUM',
      description: 'ISO 4217',
    }),
  ),
  currencyDecimals: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 4, 'x-code': 'INVALID_NUMBER' }),
  ),
  country: Type.Optional(country),
  locale: Type.Optional(
    Type.String({
      format: 'locale',
      maxLength: 35,
      'x-code': 'INVALID_ENUM',
      description: 'a BCP 47 language tag such as en-PK',
    }),
  ),
  connectionNumberFormat: Type.Optional(numberFormat),
  billNumberFormat: Type.Optional(billNumberFormat),
  deliveryChannels: maybe(
    Type.Array(oneOf(deliveryChannels), { maxItems: deliveryChannels.length }),
  ),
  letterhead: Type.Optional(letterhead),
  reminders: maybe(Type.Array(freeForm, { maxItems: 20 })),
  mailSender: maybe(mailSender),
  accessTokenSeconds: maybe(
    Type.Integer({ minimum: 900, maximum: 86_400, 'x-code': 'INVALID_NUMBER' }),
  ),
  idleSeconds: maybe(Type.Integer({ minimum: 60, maximum: 86_400, 'x-code': 'INVALID_NUMBER' })),
  separationOfDuty: Type.Optional(
    Type.Boolean({ description: 'a login that generated bills of a term may not post it' }),
  ),
  logPartyReads: Type.Optional(
    Type.Boolean({ description: 'the audit trail keeps each opening of the details of a party' }),
  ),
  approvalLimit: maybe(decimal),
  documentRetentionYears: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      'x-code': 'INVALID_NUMBER',
      description: 'after the end of the year of publication, files of documents are deleted',
    }),
  ),
  receiptMail: maybe(
    Type.Object({ templateID: maybe(id) }, { description: 'null: receipts are not mailed' }),
  ),
  portalAddress: maybe(
    Type.String({
      pattern: '^https?://[^/\\s]{1,250}$',
      maxLength: 260,
      'x-code': 'INVALID_FORMAT',
      description: 'of the web pages, such as https://demo.example.com; null: mails have no links',
    }),
  ),
  eInvoice: maybe(eInvoice),
  ts: tsGuard,
});

export const updateSettingsOperation = operation({
  path: '/billing/settings/update-settings',
  method: 'Update',
  action: 'Update Settings',
  access: { permission: 'settings:write' },
  summary: 'Changes settings of the workspace; those left out stay as they are.',
  request: Type.Object({ data: settingsChange }),
  response: empty,
  errors: [
    'STALE_OBJECT',
    'IN_USE',
    'TEMPLATE_NOT_FOUND',
    'TEMPLATE_INVALID',
    'DOCUMENT_TOO_SLOW',
    'DOCUMENT_FAILED',
  ],
  example: { data: { timezone: 'Asia/Karachi', locale: 'en-PK' } },
  prepare: ({ tenant }, { data }) => {
    assertSmall('data.letterhead', data.letterhead);
    assertSmall('data.reminders', data.reminders);
    return problemsOf(tenant.tenantId, data.letterhead ?? {});
  },
  async handle(call, body, problems) {
    const { tx, tenant } = call;
    if (problems.length > 0) throw errorFromDetails(problems);
    const before = await findSettings(tx, tenant.tenantId, { lock: true });
    assertNotStale(body.data.ts, before, { what: 'The workspace', field: 'data.ts' });
    const wanted = merged(before, body.data);
    assertBillNumbers(before, wanted);
    await assertCurrencyFree(call, before, wanted);
    await assertMailTemplate(call, body.data.receiptMail?.templateID ?? null);
    const stamp = { at: call.now, by: call.principal.name };
    const after = await updateSettings(tx, tenant.tenantId, wanted, stamp);
    call.audit({
      subject: 'settings',
      subjectId: tenant.workspace,
      before: presentSettings(before, call.now),
      after: presentSettings(after, call.now),
    });
    return { message: 'Settings updated', data: {} };
  },
});

async function assertMailTemplate({ tx, tenant }: Call, templateId: number | null): Promise<void> {
  if (templateId === null) return;
  const one = { kind: 'Email', templateId, afterId: 0, limit: 1 };
  if ((await listTemplates(tx, tenant.tenantId, one)).length > 0) return;
  const message = `No template of type Email has the id ${templateId}`;
  throw new AppError('TEMPLATE_NOT_FOUND', { message, field: 'data.receiptMail.templateID' });
}

/** A format from before this rule may be sent back as it was. */
function assertBillNumbers(before: SettingsRow, wanted: SettingsRow): void {
  const { bill_number_format: format } = wanted;
  if (format === before.bill_number_format || isBillNumberFormat(format)) return;
  throw new AppError('INVALID_FORMAT', {
    message:
      `billNumberFormat '${format}' needs {serviceCode} and {year}, and {number} once: ` +
      'bills are numbered without gaps in each service and year. ' +
      'An example is {serviceCode}-{year}-{number:6}',
    field: 'data.billNumberFormat',
    statusCode: 422,
  });
}

/** A logo is decoded in a thread: its pixels may be many more than its bytes. */
async function problemsOf(tenantId: number, letterhead: object): Promise<ErrorDetail[]> {
  const field = 'data.letterhead';
  if (!('logo' in letterhead)) return letterheadProblems(letterhead, field);
  return documentTurns.run(tenantId, () => documentThreads().checkLetterhead(letterhead, field));
}

function assertSmall(field: string, value: object | null | undefined): void {
  if (!value || JSON.stringify(value).length <= freeFormCharactersMax) return;
  throw new AppError('FIELD_TOO_LONG', {
    message: `${field} may have at most ${freeFormCharactersMax} characters as JSON`,
    field,
  });
}

function merged(before: SettingsRow, sent: Type.Static<typeof settingsChange>): SettingsRow {
  const currency = sent.currency ?? before.currency;
  const usualDecimals =
    sent.currency === undefined ? before.currency_decimals : currencyDecimals(currency);
  return {
    ...before,
    name: sent.name?.trim() ?? before.name,
    timezone: sent.timezone ?? before.timezone,
    currency,
    currency_decimals: sent.currencyDecimals ?? usualDecimals,
    country: (sent.country && countryCode(sent.country)) ?? before.country,
    locale: sent.locale ?? before.locale,
    connection_number_format: sent.connectionNumberFormat ?? before.connection_number_format,
    bill_number_format: sent.billNumberFormat ?? before.bill_number_format,
    delivery_channels: [...new Set(sent.deliveryChannels ?? before.delivery_channels)],
    letterhead: sent.letterhead ?? before.letterhead,
    reminders: sent.reminders ?? before.reminders,
    mail_sender: senderFrom(sent.mailSender, before),
    access_token_seconds:
      sent.accessTokenSeconds === undefined ? before.access_token_seconds : sent.accessTokenSeconds,
    idle_seconds: sent.idleSeconds === undefined ? before.idle_seconds : sent.idleSeconds,
    separates_duties: sent.separationOfDuty ?? before.separates_duties,
    logs_party_reads: sent.logPartyReads ?? before.logs_party_reads,
    approval_limit: limitOf(before, sent),
    document_retention_years: sent.documentRetentionYears ?? before.document_retention_years,
    receipt_mail:
      sent.receiptMail === undefined
        ? before.receipt_mail
        : sent.receiptMail && { templateID: sent.receiptMail.templateID ?? null },
    portal_address: sent.portalAddress === undefined ? before.portal_address : sent.portalAddress,
    e_invoice: sent.eInvoice === undefined ? before.e_invoice : eInvoiceFrom(sent.eInvoice),
  };
}

function eInvoiceFrom(sent: Type.Static<typeof eInvoice> | null): SettingsRow['e_invoice'] {
  if (sent === null) return null;
  const vat = sent.vat.map(({ component, on }) => ({ component, on: on ? [...on] : null }));
  const untaxed = (sent.untaxed ?? []).map(({ on, category, reason }) => ({
    on: [...on],
    category,
    reason: reason?.trim() ?? null,
  }));
  return { ...sent, vat, untaxed };
}

/** Null returns to the name of the server and the address of the letterhead. */
function senderFrom(
  sent: Type.Static<typeof settingsChange>['mailSender'],
  before: SettingsRow,
): SettingsRow['mail_sender'] {
  if (sent === undefined) return before.mail_sender;
  return { name: sent?.name?.trim() || null, replyTo: sent?.replyTo || null };
}

/** Refunds and write-offs above it need a second person; null: none do. */
function limitOf(
  before: SettingsRow,
  { approvalLimit: sent }: Type.Static<typeof settingsChange>,
): number | null {
  if (sent === undefined) return before.approval_limit;
  if (sent === null) return null;
  const { currency_decimals: decimals } = before;
  const minor = minorUnitsFrom(String(sent), decimals);
  if (minor !== undefined && minor >= 0) return minor;
  const field = 'data.approvalLimit';
  const message = `${field} is ${amountWords(decimals)}, zero or above, or null`;
  throw new AppError('INVALID_NUMBER', { message, field });
}

/** Amounts are stored in minor units: once there are some, their unit cannot change. */
async function assertCurrencyFree(
  call: Call,
  before: SettingsRow,
  wanted: SettingsRow,
): Promise<void> {
  const isSame =
    wanted.currency === before.currency && wanted.currency_decimals === before.currency_decimals;
  if (isSame || !(await hasAmounts(call.tx, call.tenant.tenantId))) return;
  throw new AppError('IN_USE', {
    message: `There are prices or amounts in ${before.currency}; the currency can no longer change`,
    field: 'data.currency',
  });
}
