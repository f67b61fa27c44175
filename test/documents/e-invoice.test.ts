// Bills as the model of EN 16931 has them: rates, amounts below zero, rounding, and what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SaxesParser } from 'saxes';
import type { DocumentLine } from '../../src/domain/documents/bill-document.ts';
import { invoiceOf } from '../../src/domain/documents/e-invoice/invoice.ts';
import { ublInvoice } from '../../src/domain/documents/e-invoice/ubl.ts';
import { line, ordinary, ordinaryBill } from './ordinary-bill.ts';

const setting = {
  format: 'UBL' as const,
  vatID: 'DE123456789',
  street: 'Marktplatz 1',
  city: 'Bonn',
  postalCode: '53111',
  vat: [
    { component: 'vat19', on: ['energy', 'rebate'] },
    { component: 'vat7', on: ['water'] },
  ],
};

const charge = (component: string, amount: number) => line({ component, label: component, amount });
const vat = (component: string, percent: string, of: string, amount: number): DocumentLine => ({
  ...line({ component, label: component, amount, type: 'Tax' }),
  basis: { percent, of },
});

function billOf(lines: readonly DocumentLine[], over: object = {}) {
  const cents = lines.reduce((sum, one) => sum + Math.round(one.amount * 100), 0);
  const amounts = { currentCharges: cents / 100, roundingAdjustment: 0, walletApplied: 0 };
  return { ...ordinary, bill: { ...ordinaryBill, currency: 'EUR', lines, ...amounts, ...over } };
}

test('an e-invoice has the charges and the VAT of each rate, exact to the cent', () => {
  const lines = [
    charge('energy', 100.33),
    charge('rebate', -20.55),
    charge('water', 33.33),
    charge('deposit', 50),
    // 79.78 * 0.19 = 15.1582
    vat('vat19', '19', '79.78', 15.16),
    vat('vat7', '7', '33.33', 2.33),
  ];
  const over = { roundingAdjustment: -0.6, walletApplied: 30 };
  const invoice = invoiceOf(billOf(lines, over), setting);
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

test('an e-invoice is XML whatever names are in it, and has no price below zero', () => {
  const hostile = '<&>"\u0000 ]]> \u202e محمد';
  const lines = [{ ...charge('rebate', -10), label: hostile }, vat('vat19', '19', '-10', -1.9)];
  const xml = ublInvoice(billOf(lines, { partyName: hostile }), setting, 'DE');
  const parser = new SaxesParser();
  parser.on('error', (error) => assert.fail(error));
  parser.write(xml).close();
  assert.match(xml, /<cbc:InvoicedQuantity unitCode="C62">-1</);
  assert.match(xml, /<cbc:PriceAmount currencyID="EUR">10\.00</);
  assert.match(xml, /<cbc:PayableAmount currencyID="EUR">-11\.90</);
});

test('a bill that does not fit the standard is refused with the reason', () => {
  const refused: [RegExp, readonly DocumentLine[], object?][] = [
    [/two rates of VAT, 19 and 20 %/, [vat('vat19', '19', '1', 1), vat('vat19', '20', '1', 1)]],
    [/is not one percentage/, [charge('energy', 10), charge('vat19', 1.9)]],
    [/VAT of 19 % is 950/, [charge('energy', 10), vat('vat19', '19', '50', 9.5)]],
    [
      /add up to 1190 and not to 2000/,
      [charge('energy', 10), vat('vat19', '19', '10', 1.9)],
      {
        currentCharges: 20,
      },
    ],
  ];
  for (const [reason, lines, over] of refused) {
    assert.throws(() => invoiceOf(billOf(lines, over), setting), {
      code: 'E_INVOICE_NOT_POSSIBLE',
      message: reason,
    });
  }
});
