// Bills as the model of EN 16931 has them, as UBL and as CII: rates, amounts below zero, rounding,
// credit notes, and what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SaxesParser } from 'saxes';
import type { BillDocumentInput, DocumentLine } from '../../src/domain/documents/bill-document.ts';
import { ciiXml } from '../../src/domain/documents/e-invoice/cii.ts';
import { invoiceOf } from '../../src/domain/documents/e-invoice/invoice.ts';
import type { EInvoiceSetting } from '../../src/domain/documents/e-invoice/setting.ts';
import { ublXml } from '../../src/domain/documents/e-invoice/ubl.ts';
import { billOf, charge, eInvoiceSamples, seller, vat } from './e-invoice-samples.ts';

const sampleOf = (name: string): BillDocumentInput => {
  const sample = eInvoiceSamples[name];
  assert.ok(sample, name);
  return sample.input;
};

/** The texts of elements by their names, without prefixes. */
function textsOf(xml: string): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  const parser = new SaxesParser();
  let text = '';
  parser.on('error', (error) => assert.fail(error));
  parser.on('opentag', () => {
    text = '';
  });
  parser.on('text', (more) => {
    text += more;
  });
  parser.on('closetag', ({ name }) => {
    const own = name.slice(name.indexOf(':') + 1);
    texts.set(own, [...(texts.get(own) ?? []), text.trim()]);
    text = '';
  });
  parser.write(xml).close();
  return texts;
}

test('an e-invoice has the charges and the VAT of each rate, exact to the cent', () => {
  const over = { roundingAdjustment: -0.6, walletApplied: 30 };
  const lines = [
    charge('energy', 10_033),
    charge('rebate', -2055),
    charge('water', 3333),
    charge('deposit', 5000),
    // 79.78 * 0.19 = 15.1582
    vat('vat19', '19', '79.78', 1516),
    vat('vat7', '7', '33.33', 233),
  ];
  const invoice = invoiceOf(billOf(lines, over), seller, 'DE');
  assert.deepEqual(
    invoice.vatSums.map(({ vat: { code, percent }, base, tax }) => [code, percent, base, tax]),
    [
      ['S', '19', 7978n, 1516n],
      ['S', '7', 3333n, 233n],
      ['E', '0', 5000n, 0n],
    ],
  );
  // 163.11 + 17.49 - 30.00 - 0.60
  const { net, tax, payable } = invoice;
  assert.deepEqual([net, tax, payable], [16_311n, 1749n, 15_000n]);
});

test('components without VAT are zero-rated, or exempt for their reasons', () => {
  const { vatSums } = invoiceOf(sampleOf('en-many-rates'), seller, 'DE');
  const untaxed = vatSums.filter(({ vat: { code } }) => code !== 'S');
  assert.deepEqual(
    untaxed.map(({ vat: { code, reason }, base, tax }) => [code, base, tax, reason]),
    [
      // 5.00 of a VAT of 0 %, and 2.50 in eInvoice.untaxed.
      ['Z', 750n, 0n, ''],
      ['E', 5199n, 0n, 'Insurance, section 4 no. 10 UStG; Not subject to value added tax'],
    ],
  );
});

test('UBL and CII of a bill say the same', () => {
  for (const [name, { input, setting = seller }] of Object.entries(eInvoiceSamples)) {
    const invoice = invoiceOf(input, setting, 'DE');
    const ubl = textsOf(ublXml(invoice));
    const cii = textsOf(ciiXml(invoice));
    const pairs = [
      ['PayableAmount', 'DuePayableAmount'],
      ['TaxInclusiveAmount', 'GrandTotalAmount'],
      ['TaxableAmount', 'BasisAmount'],
      ['PrepaidAmount', 'TotalPrepaidAmount'],
      ['PayableRoundingAmount', 'RoundingAmount'],
      ['TaxExemptionReason', 'ExemptionReason'],
      ['PriceAmount', 'ChargeAmount'],
      [invoice.kind === 'Invoice' ? 'InvoicedQuantity' : 'CreditedQuantity', 'BilledQuantity'],
    ] as const;
    for (const [inUbl, inCii] of pairs) {
      assert.deepEqual(ubl.get(inUbl), cii.get(inCii), `${name}: ${inUbl}`);
    }
    for (const price of ubl.get('PriceAmount') ?? []) assert.doesNotMatch(price, /^-/, name);
  }
});

test('an e-invoice is XML whatever names are in it', () => {
  const xml = textsOf(ublXml(invoiceOf(sampleOf('hostile'), seller, 'DE')));
  assert.equal(xml.get('RegistrationName')?.[1], '<&>" ]]> محمد \ufffd');
});

test('an amount below zero has the quantity -1 and asks for no payment', () => {
  const xml = textsOf(ublXml(invoiceOf(sampleOf('en-negative'), seller, 'DE')));
  assert.deepEqual(xml.get('InvoicedQuantity'), ['-1']);
  assert.deepEqual(xml.get('PayableAmount'), ['-119.00']);
  assert.equal(xml.get('PaymentMeansCode'), undefined);
});

test('a credit note names the bill, and has its components at the rates of the bill', () => {
  const invoice = invoiceOf(sampleOf('credited'), seller, 'DE');
  const ubl = ublXml(invoice);
  assert.match(ubl, /<CreditNote [^>]*>\n/);
  const texts = textsOf(ubl);
  assert.deepEqual(texts.get('CreditNoteTypeCode'), ['381']);
  assert.equal(invoice.preceding?.number, 'ELEC-2025-000991');
  assert.equal(invoice.preceding?.issueDate, '2025-08-02');
  // 10.00 at 19 %, and 0.03 of the rounding of the bill.
  assert.deepEqual([invoice.net, invoice.tax, invoice.payable], [1000n, 190n, 1193n]);
  assert.deepEqual(textsOf(ciiXml(invoice)).get('TypeCode')?.[0], '381');
});

test('the buyer is in the country of its address, otherwise in that of the workspace', () => {
  const countryOf = (name: string) => invoiceOf(sampleOf(name), seller, 'DE').buyer.country;
  assert.equal(countryOf('other-country'), 'AT');
  assert.equal(countryOf('no-address'), 'DE');
});

test('a currency without minor units has amounts without a point', () => {
  const invoice = invoiceOf(sampleOf('no-decimals'), seller, 'DE');
  assert.deepEqual(textsOf(ublXml(invoice)).get('PayableAmount'), ['11939']);
});

type Refused = [RegExp, readonly DocumentLine[], object?, Partial<EInvoiceSetting>?];

test('a bill that does not fit the standard is refused with the reason', () => {
  const energy = charge('energy', 1000);
  const refused: Refused[] = [
    [/two rates of VAT, 19 and 20 %/, [vat('vat19', '19', '1', 1), vat('vat19', '20', '1', 1)]],
    [/is not one percentage/, [energy, charge('vat19', 190)]],
    [/a rate below zero/, [energy, vat('vat19', '-19', '10', -190)]],
    [/VAT of 19 % is 950/, [energy, vat('vat19', '19', '50', 950)]],
    [/no charge has the VAT of 7 %/, [energy, vat('vat7', '7', '0', 0)]],
    [/has no charges/, []],
    [
      /add up to 1190 and not to 2000/,
      [energy, vat('vat19', '19', '10', 190)],
      { currentCharges: 20 },
    ],
    [
      /energy is in eInvoice.untaxed and has VAT of 19 %/,
      [energy, vat('vat19', '19', '10', 190)],
      {},
      { untaxed: [{ on: ['energy'], category: 'Exempt' }] },
    ],
    // A hundred charges could be a unit of the currency apart, which the standard does not allow.
    [
      /VAT of 19 % is 2000/,
      [
        ...Array.from({ length: 120 }, () => charge('energy', 83)),
        vat('vat19', '19', '99.6', 2000),
      ],
    ],
  ];
  for (const [reason, lines, over, setting] of refused) {
    assert.throws(() => invoiceOf(billOf(lines, over), { ...seller, ...setting }, 'DE'), {
      code: 'E_INVOICE_NOT_POSSIBLE',
      message: reason,
    });
  }
});

test('a credit note whose VAT is not that of what it credits is refused', () => {
  const { creditNote, ...bill } = sampleOf('credited');
  assert.ok(creditNote);
  const lines = creditNote.lines.filter(({ component }) => component === 'energy');
  const input = { ...bill, creditNote: { ...creditNote, lines, amount: 10 } };
  assert.throws(() => invoiceOf(input, seller, 'DE'), /VAT of 19 % is 0/);
});
