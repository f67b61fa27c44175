// An invoice or a credit note as UBL 2.1 by EN 16931. Same input, same bytes.
import type { Invoice, InvoiceLine, Period } from './invoice.ts';
import type { InvoiceParty } from './parties.ts';
import type { VatCategory, VatSum } from './vat.ts';
import { decimalOf, group as groupOf, leaf, xmlDocument } from './xml.ts';

const schemas = 'urn:oasis:names:specification:ubl:schema:xsd';

/** UBL has two documents, whose elements differ a little. */
const forms = {
  Invoice: { code: '380', quantity: 'InvoicedQuantity' },
  CreditNote: { code: '381', quantity: 'CreditedQuantity' },
} as const;

const group = (name: string, parts: readonly string[]) => groupOf(`cac:${name}`, parts);
const basic = (name: string, text: unknown) => leaf(`cbc:${name}`, text);

export function ublXml(invoice: Invoice): string {
  const { kind, period } = invoice;
  const amount: Amount = (name, minor) =>
    leaf(`cbc:${name}`, decimalOf(minor, invoice.decimals), `currencyID="${invoice.currency}"`);
  const parts = [
    basic('CustomizationID', 'urn:cen.eu:en16931:2017'),
    basic('ID', invoice.number),
    basic('IssueDate', invoice.issueDate),
    basic('DueDate', invoice.dueDate),
    basic(`${kind}TypeCode`, forms[kind].code),
    basic('Note', invoice.note),
    basic('DocumentCurrencyCode', invoice.currency),
    basic('BuyerReference', invoice.buyer.number),
    periodOf(period),
    group('BillingReference', [
      group('InvoiceDocumentReference', [
        basic('ID', invoice.preceding?.number),
        basic('IssueDate', invoice.preceding?.issueDate),
      ]),
    ]),
    group('AccountingSupplierParty', [partyOf(invoice.seller)]),
    group('AccountingCustomerParty', [partyOf(invoice.buyer)]),
    ...paymentOf(invoice),
    group('PaymentTerms', [basic('Note', invoice.terms)]),
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
    ...invoice.lines.map((line, index) => lineOf(line, index + 1, kind, amount)),
  ];
  const namespaces = [
    `xmlns="${schemas}:${kind}-2"`,
    `xmlns:cac="${schemas}:CommonAggregateComponents-2"`,
    `xmlns:cbc="${schemas}:CommonBasicComponents-2"`,
  ];
  return xmlDocument(kind, namespaces.join(' '), parts);
}

type Amount = (name: string, minor: bigint) => string;

const periodOf = ({ from, to }: Period) =>
  group('InvoicePeriod', [basic('StartDate', from), basic('EndDate', to)]);

const taxScheme = group('TaxScheme', [basic('ID', 'VAT')]);

function partyOf({ number, name, street, city, postalCode, country, vatID }: InvoiceParty): string {
  return group('Party', [
    group('PartyIdentification', [basic('ID', number)]),
    group('PostalAddress', [
      basic('StreetName', street),
      basic('CityName', city),
      basic('PostalZone', postalCode),
      group('Country', [basic('IdentificationCode', country)]),
    ]),
    vatID === '' ? '' : group('PartyTaxScheme', [basic('CompanyID', vatID), taxScheme]),
    group('PartyLegalEntity', [basic('RegistrationName', name)]),
  ]);
}

/** A transfer to each account, with the payment reference of the bill. */
function paymentOf({ accounts, paymentReference }: Invoice): string[] {
  return accounts.map(({ id, name, bic }) =>
    group('PaymentMeans', [
      basic('PaymentMeansCode', '30'),
      basic('PaymentID', paymentReference),
      group('PayeeFinancialAccount', [
        basic('ID', id),
        basic('Name', name),
        group('FinancialInstitutionBranch', [basic('ID', bic)]),
      ]),
    ]),
  );
}

function vatSumOf({ vat, base, tax }: VatSum, amount: Amount): string {
  return group('TaxSubtotal', [
    amount('TaxableAmount', base),
    amount('TaxAmount', tax),
    group('TaxCategory', [
      basic('ID', vat.code),
      basic('Percent', vat.percent),
      basic('TaxExemptionReason', vat.reason),
      taxScheme,
    ]),
  ]);
}

/** A price is never below zero: of what is taken off, the quantity is. */
function lineOf(line: InvoiceLine, number: number, kind: Invoice['kind'], amount: Amount): string {
  const isNegative = line.amount < 0n;
  return group(`${kind}Line`, [
    basic('ID', String(number)),
    leaf(`cbc:${forms[kind].quantity}`, isNegative ? '-1' : '1', 'unitCode="C62"'),
    amount('LineExtensionAmount', line.amount),
    periodOf(line),
    group('Item', [basic('Name', line.name), categoryOf(line.vat)]),
    group('Price', [amount('PriceAmount', isNegative ? -line.amount : line.amount)]),
  ]);
}

function categoryOf({ code, percent }: VatCategory): string {
  return group('ClassifiedTaxCategory', [basic('ID', code), basic('Percent', percent), taxScheme]);
}
