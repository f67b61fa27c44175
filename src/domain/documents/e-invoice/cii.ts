// An invoice or a credit note as Cross Industry Invoice (UN/CEFACT) by EN 16931, as Factur-X has it
// in its profile EN 16931. Same input, same bytes.
import type { Invoice, InvoiceLine, Period } from './invoice.ts';
import type { InvoiceParty } from './parties.ts';
import type { VatCategory, VatSum } from './vat.ts';
import { decimalOf, group as groupOf, leaf, xmlDocument } from './xml.ts';

const standard = 'urn:un:unece:uncefact:data:standard';
const namespaces = [
  `xmlns:rsm="${standard}:CrossIndustryInvoice:100"`,
  `xmlns:ram="${standard}:ReusableAggregateBusinessInformationEntity:100"`,
  `xmlns:udt="${standard}:UnqualifiedDataType:100"`,
  `xmlns:qdt="${standard}:QualifiedDataType:100"`,
].join(' ');

const codes = { Invoice: '380', CreditNote: '381' } as const;

const group = (name: string, parts: readonly string[]) => groupOf(`ram:${name}`, parts);
const basic = (name: string, text: unknown) => leaf(`ram:${name}`, text);
const day = (name: string, date: string, type = 'udt') =>
  group(name, [leaf(`${type}:DateTimeString`, date.replaceAll('-', ''), 'format="102"')]);

export function ciiXml(invoice: Invoice): string {
  const guideline = group('GuidelineSpecifiedDocumentContextParameter', [
    basic('ID', 'urn:cen.eu:en16931:2017'),
  ]);
  const head = [
    basic('ID', invoice.number),
    basic('TypeCode', codes[invoice.kind]),
    day('IssueDateTime', invoice.issueDate),
    group('IncludedNote', [basic('Content', invoice.note)]),
  ];
  const trade = [
    ...invoice.lines.map((line, index) => lineOf(line, index + 1, invoice.decimals)),
    group('ApplicableHeaderTradeAgreement', [
      basic('BuyerReference', invoice.buyer.number),
      partyOf('SellerTradeParty', invoice.seller),
      partyOf('BuyerTradeParty', invoice.buyer),
    ]),
    // The standard wants it, also where nothing is to be said of a delivery.
    '<ram:ApplicableHeaderTradeDelivery/>',
    settlementOf(invoice),
  ];
  return xmlDocument('rsm:CrossIndustryInvoice', namespaces, [
    groupOf('rsm:ExchangedDocumentContext', [guideline]),
    groupOf('rsm:ExchangedDocument', head),
    groupOf(
      'rsm:SupplyChainTradeTransaction',
      trade.map((part) => `\n${part}`),
    ),
  ]);
}

function lineOf(line: InvoiceLine, number: number, decimals: number): string {
  const isNegative = line.amount < 0n;
  const amount = decimalOf(line.amount, decimals);
  // A price is never below zero: of what is taken off, the quantity is.
  const price = isNegative ? decimalOf(-line.amount, decimals) : amount;
  return group('IncludedSupplyChainTradeLineItem', [
    group('AssociatedDocumentLineDocument', [basic('LineID', String(number))]),
    group('SpecifiedTradeProduct', [basic('Name', line.name)]),
    group('SpecifiedLineTradeAgreement', [
      group('NetPriceProductTradePrice', [basic('ChargeAmount', price)]),
    ]),
    group('SpecifiedLineTradeDelivery', [
      leaf('ram:BilledQuantity', isNegative ? '-1' : '1', 'unitCode="C62"'),
    ]),
    group('SpecifiedLineTradeSettlement', [
      group('ApplicableTradeTax', [basic('TypeCode', 'VAT'), ...rateOf(line.vat)]),
      periodOf(line),
      group('SpecifiedTradeSettlementLineMonetarySummation', [basic('LineTotalAmount', amount)]),
    ]),
  ]);
}

const rateOf = ({ code, percent }: VatCategory) => [
  basic('CategoryCode', code),
  basic('RateApplicablePercent', percent),
];

const periodOf = ({ from, to }: Period) =>
  group('BillingSpecifiedPeriod', [day('StartDateTime', from), day('EndDateTime', to)]);

function partyOf(name: string, party: InvoiceParty): string {
  return group(name, [
    basic('ID', party.number),
    basic('Name', party.name),
    group('PostalTradeAddress', [
      basic('PostcodeCode', party.postalCode),
      basic('LineOne', party.street),
      basic('CityName', party.city),
      basic('CountryID', party.country),
    ]),
    group('SpecifiedTaxRegistration', [leaf('ram:ID', party.vatID, 'schemeID="VA"')]),
  ]);
}

function settlementOf(invoice: Invoice): string {
  const { preceding } = invoice;
  const amount = (name: string, minor: bigint) => basic(name, decimalOf(minor, invoice.decimals));
  return group('ApplicableHeaderTradeSettlement', [
    basic('PaymentReference', invoice.paymentReference),
    basic('InvoiceCurrencyCode', invoice.currency),
    ...paymentOf(invoice),
    ...invoice.vatSums.map((one) => vatSumOf(one, amount)),
    periodOf(invoice.period),
    group('SpecifiedTradePaymentTerms', [
      basic('Description', invoice.terms),
      day('DueDateDateTime', invoice.dueDate),
    ]),
    group('SpecifiedTradeSettlementHeaderMonetarySummation', [
      amount('LineTotalAmount', invoice.net),
      amount('TaxBasisTotalAmount', invoice.net),
      leaf(
        'ram:TaxTotalAmount',
        decimalOf(invoice.tax, invoice.decimals),
        `currencyID="${invoice.currency}"`,
      ),
      invoice.rounding === 0n ? '' : amount('RoundingAmount', invoice.rounding),
      amount('GrandTotalAmount', invoice.net + invoice.tax),
      invoice.prepaid === 0n ? '' : amount('TotalPrepaidAmount', invoice.prepaid),
      amount('DuePayableAmount', invoice.payable),
    ]),
    preceding === null
      ? ''
      : group('InvoiceReferencedDocument', [
          basic('IssuerAssignedID', preceding.number),
          day('FormattedIssueDateTime', preceding.issueDate, 'qdt'),
        ]),
  ]);
}

/** A transfer to each account. */
function paymentOf({ accounts }: Invoice): string[] {
  return accounts.map(({ id, isIban, name, bic }) =>
    group('SpecifiedTradeSettlementPaymentMeans', [
      basic('TypeCode', '30'),
      group('PayeePartyCreditorFinancialAccount', [
        isIban ? basic('IBANID', id) : '',
        basic('AccountName', name),
        isIban ? '' : basic('ProprietaryID', id),
      ]),
      group('PayeeSpecifiedCreditorFinancialInstitution', [basic('BICID', bic)]),
    ]),
  );
}

type Amount = (name: string, minor: bigint) => string;

function vatSumOf({ vat, base, tax }: VatSum, amount: Amount): string {
  return group('ApplicableTradeTax', [
    amount('CalculatedAmount', tax),
    basic('TypeCode', 'VAT'),
    basic('ExemptionReason', vat.reason),
    amount('BasisAmount', base),
    ...rateOf(vat),
  ]);
}
