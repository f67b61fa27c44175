// A bill as UBL 2.1 by EN 16931. Same input, same bytes.
import { parseDate } from '../../../base/calendar.ts';
import type { BillDocumentInput } from '../bill-document.ts';
import { lineText } from '../plain-text.ts';
import { type InvoiceLine, invoiceOf, type VatCategory, type VatSum } from './invoice.ts';
import type { EInvoiceSetting } from './setting.ts';

const namespaces = [
  'xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"',
  'xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"',
  'xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"',
].join(' ');

/** Of a seller and a buyer in the country of the workspace. */
export function ublInvoice(
  input: BillDocumentInput,
  setting: EInvoiceSetting,
  country: string,
): string {
  const { bill, letterhead, currencyDecimals: decimals = 2 } = input;
  const invoice = invoiceOf(input, setting);
  const amount = (name: string, minor: bigint) =>
    `<cbc:${name} currencyID="${bill.currency}">${decimalOf(minor, decimals)}</cbc:${name}>`;
  const seller = { ...setting, name: letterhead.name, country, vatID: setting.vatID };
  const body = [
    basic('CustomizationID', 'urn:cen.eu:en16931:2017'),
    basic('ID', bill.billNumber ?? ''),
    basic('IssueDate', isoDay(bill.issueDate)),
    basic('DueDate', isoDay(bill.dueDate)),
    basic('InvoiceTypeCode', '380'),
    basic('DocumentCurrencyCode', bill.currency),
    basic('BuyerReference', String(bill.partyNumber)),
    group('InvoicePeriod', [
      basic('StartDate', isoDay(bill.billedFrom)),
      basic('EndDate', isoDay(bill.billedTo)),
    ]),
    group('AccountingSupplierParty', [partyOf(seller)]),
    group('AccountingCustomerParty', [
      partyOf({
        name: bill.partyName,
        street: streetOf(bill.address),
        city: lineText(bill.address?.city),
        postalCode: '',
        country,
        vatID: '',
      }),
    ]),
    ...paymentOf(input),
    group('TaxTotal', [
      amount('TaxAmount', invoice.tax),
      ...invoice.vatSums.map((one) => vatSumOf(one, amount)),
    ]),
    group('LegalMonetaryTotal', [
      amount('LineExtensionAmount', invoice.net),
      amount('TaxExclusiveAmount', invoice.net),
      amount('TaxInclusiveAmount', invoice.net + invoice.tax),
      invoice.prepaid === 0n ? '' : amount('PrepaidAmount', invoice.prepaid),
      invoice.rounding === 0n ? '' : amount('PayableRoundingAmount', invoice.rounding),
      amount('PayableAmount', invoice.payable),
    ]),
    ...invoice.lines.map((line, index) => lineOf(line, index + 1, amount)),
  ];
  const lines = body.filter((part) => part !== '').join('\n');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Invoice ${namespaces}>\n${lines}\n</Invoice>\n`;
}

type InvoiceParty = Pick<EInvoiceSetting, 'vatID' | 'street' | 'city' | 'postalCode'> & {
  name: string;
  country: string;
};

function partyOf({ name, street, city, postalCode, country, vatID }: InvoiceParty): string {
  const scheme = group('TaxScheme', [basic('ID', 'VAT')]);
  return group('Party', [
    group('PostalAddress', [
      basic('StreetName', street),
      basic('CityName', city),
      basic('PostalZone', postalCode),
      group('Country', [basic('IdentificationCode', country)]),
    ]),
    vatID === '' ? '' : group('PartyTaxScheme', [basic('CompanyID', vatID), scheme]),
    group('PartyLegalEntity', [basic('RegistrationName', name)]),
  ]);
}

function streetOf(address: Readonly<Record<string, unknown>> | null | undefined): string {
  const parts = ['shopNo', 'buildingNo', 'buildingName', 'street', 'block', 'society'] as const;
  return parts
    .map((part) => lineText(address?.[part]))
    .filter((text) => text !== '')
    .join(', ');
}

/** A transfer to each account, with the payment reference of the bill. */
function paymentOf({ bill, bankAccounts }: BillDocumentInput): string[] {
  if (bill.payableWithinDueDate <= 0) return [];
  return (bankAccounts ?? bill.bankAccounts).flatMap((bank) => {
    const account = lineText(bank.iban) || lineText(bank.accountNumber);
    if (account === '') return [];
    return group('PaymentMeans', [
      basic('PaymentMeansCode', '30'),
      basic('PaymentID', bill.billRefNo),
      group('PayeeFinancialAccount', [basic('ID', account), basic('Name', bank.title)]),
    ]);
  });
}

type Amount = (name: string, minor: bigint) => string;

const notTaxed = 'Not subject to value added tax';

function vatSumOf({ vat, base, tax }: VatSum, amount: Amount): string {
  return group('TaxSubtotal', [
    amount('TaxableAmount', base),
    amount('TaxAmount', tax),
    group('TaxCategory', [
      basic('ID', vat.code),
      basic('Percent', vat.percent),
      vat.code === 'E' ? basic('TaxExemptionReason', notTaxed) : '',
      group('TaxScheme', [basic('ID', 'VAT')]),
    ]),
  ]);
}

/** A price is never below zero: of what is taken off, the quantity is. */
function lineOf(line: InvoiceLine, number: number, amount: Amount): string {
  const isNegative = line.amount < 0n;
  return group('InvoiceLine', [
    basic('ID', String(number)),
    `<cbc:InvoicedQuantity unitCode="C62">${isNegative ? '-1' : '1'}</cbc:InvoicedQuantity>`,
    amount('LineExtensionAmount', line.amount),
    group('InvoicePeriod', [
      basic('StartDate', isoDay(line.fromDate)),
      basic('EndDate', isoDay(line.toDate)),
    ]),
    group('Item', [basic('Name', line.name), categoryOf(line.vat)]),
    group('Price', [amount('PriceAmount', isNegative ? -line.amount : line.amount)]),
  ]);
}

function categoryOf({ code, percent }: VatCategory): string {
  return group('ClassifiedTaxCategory', [
    basic('ID', code),
    basic('Percent', percent),
    group('TaxScheme', [basic('ID', 'VAT')]),
  ]);
}

function group(name: string, parts: readonly string[]): string {
  const inner = parts.filter((part) => part !== '');
  return inner.length === 0 ? '' : `<cac:${name}>${inner.join('')}</cac:${name}>`;
}

function basic(name: string, text: unknown): string {
  const value = lineText(text);
  return value === '' ? '' : `<cbc:${name}>${escaped(value)}</cbc:${name}>`;
}

/** Controls are taken out before; what is left of them is not allowed in XML. */
function escaped(text: string): string {
  return text
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

function decimalOf(minor: bigint, decimals: number): string {
  const digits = String(minor < 0n ? -minor : minor).padStart(decimals + 1, '0');
  const at = digits.length - decimals;
  const text = decimals === 0 ? digits : `${digits.slice(0, at)}.${digits.slice(at)}`;
  return minor < 0n ? `-${text}` : text;
}

function isoDay(day: string | null | undefined): string {
  return parseDate(day ?? '')?.toString() ?? '';
}
