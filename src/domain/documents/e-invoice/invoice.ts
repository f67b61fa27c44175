// A bill as the semantic model of EN 16931 has it: lines with their VAT, a breakdown by rate, and
// totals. All amounts are whole minor units: nothing is calculated in binary fractions.
import { AppError } from '../../../base/errors.ts';
import type { BillDocumentInput, DocumentLine } from '../bill-document.ts';
import { lineText } from '../plain-text.ts';
import type { EInvoiceSetting, VatComponent } from './setting.ts';

/** S: taxed at the rate. E: not subject to the tax. */
export type VatCategory = { code: 'S' | 'E'; percent: string };

export type InvoiceLine = {
  name: string;
  amount: bigint;
  fromDate: string;
  toDate: string;
  vat: VatCategory;
};

export type VatSum = { vat: VatCategory; base: bigint; tax: bigint };

export type Invoice = {
  lines: readonly InvoiceLine[];
  vatSums: readonly VatSum[];
  net: bigint;
  tax: bigint;
  prepaid: bigint;
  rounding: bigint;
  payable: bigint;
};

const exempt: VatCategory = { code: 'E', percent: '0' };

/** Throws E_INVOICE_NOT_POSSIBLE with the reason if the bill does not fit the model. */
export function invoiceOf(input: BillDocumentInput, setting: EInvoiceSetting): Invoice {
  const { bill, currencyDecimals: decimals = 2 } = input;
  if (decimals > 2) throw refusal('amounts of an e-invoice have at most two decimals');
  const minor = (amount: number) => minorOf(amount, decimals);
  const taxes = bill.lines.flatMap((line) => {
    const vat = setting.vat.find((one) => one.component === line.component);
    return vat ? [{ line, vat }] : [];
  });
  const others = bill.lines.filter((line) => taxes.every((tax) => tax.line !== line));
  const rateOf = ratesOf(taxes, setting);
  const lines = others.map(
    (line): InvoiceLine => ({
      name: lineText(line.label),
      amount: minor(line.amount),
      fromDate: line.fromDate,
      toDate: line.toDate,
      vat: rateOf.get(line.component) ?? rateOf.get('*') ?? exempt,
    }),
  );
  const vatSums = sumsOf(
    lines,
    taxes.map(({ line }) => [percentOf(line), minor(line.amount)]),
  );
  const net = sum(lines.map((line) => line.amount));
  const tax = sum(vatSums.map((one) => one.tax));
  const charged = minor(bill.currentCharges);
  if (net + tax !== charged) {
    throw refusal(`its lines add up to ${net + tax} and not to ${charged}, in minor units`);
  }
  const rounding = minor(bill.roundingAdjustment);
  const wallet = minor(bill.walletApplied);
  const prepaid = wallet > 0n ? wallet : 0n;
  return { lines, vatSums, net, tax, prepaid, rounding, payable: net + tax - prepaid + rounding };
}

type TaxLine = { line: DocumentLine; vat: VatComponent };

/** The rate on each component; `*` for those that no tax names. */
function ratesOf(taxes: readonly TaxLine[], setting: EInvoiceSetting): Map<string, VatCategory> {
  const rates = new Map<string, VatCategory>();
  for (const { line, vat } of taxes) {
    const percent = percentOf(line);
    for (const component of vat.on ?? ['*']) {
      const known = rates.get(component);
      if (known !== undefined && known.percent !== percent) {
        const what = component === '*' ? 'its charges have' : `component ${component} has`;
        throw refusal(`${what} two rates of VAT, ${known.percent} and ${percent} %`);
      }
      if (setting.vat.some((one) => one.component === component)) {
        throw refusal(`component ${component} is VAT itself: take it out of eInvoice.vat[].on`);
      }
      rates.set(component, { code: 'S', percent });
    }
  }
  return rates;
}

function percentOf(line: DocumentLine): string {
  if (line.basis && 'percent' in line.basis) return line.basis.percent;
  const what = `${lineText(line.label)} is in eInvoice.vat and is not one percentage of an amount`;
  throw refusal(`${what}: write its formula as a product, such as SUMCAT("taxable") * 19%`);
}

/** By rate. The tax of a rate must be that of the lines that have it, to a unit for each line. */
function sumsOf(
  lines: readonly InvoiceLine[],
  taxes: readonly (readonly [percent: string, amount: bigint])[],
): VatSum[] {
  const sums = new Map<string, VatSum>();
  for (const { vat, amount } of lines) {
    const key = `${vat.code}${vat.percent}`;
    const known = sums.get(key) ?? { vat, base: 0n, tax: 0n };
    sums.set(key, { ...known, base: known.base + amount });
  }
  for (const [percent, amount] of taxes) {
    const known = sums.get(`S${percent}`);
    if (known === undefined) throw refusal(`no charge has the VAT of ${percent} %`);
    sums.set(`S${percent}`, { ...known, tax: known.tax + amount });
  }
  for (const { vat, base, tax } of sums.values()) {
    const [whole = '0', fraction = ''] = vat.percent.split('.');
    const scale = 10n ** BigInt(fraction.length);
    const exact = base * BigInt(`${whole}${fraction}`);
    const difference = tax * 100n * scale - exact;
    const allowed = BigInt(lines.length) * 100n * scale;
    if (difference > allowed || -difference > allowed) {
      const what = `VAT of ${vat.percent} % is ${tax}, and its charges are ${base}, in minor units`;
      throw refusal(`${what}: name in eInvoice.vat[].on the components that it is charged on`);
    }
  }
  return [...sums.values()];
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

function minorOf(amount: number, decimals: number): bigint {
  return BigInt(amount.toFixed(decimals).replace('.', ''));
}

function refusal(reason: string): AppError {
  return new AppError('E_INVOICE_NOT_POSSIBLE', { message: `There is no e-invoice: ${reason}` });
}
