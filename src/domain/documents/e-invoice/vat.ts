// The value added tax of an e-invoice: which category and rate each charge has, and their sums. All
// amounts are whole minor units: nothing is calculated in binary fractions.
import type { DocumentLine } from '../bill-document.ts';
import { lineText } from '../plain-text.ts';
import { refusal } from './refusal.ts';
import type { EInvoiceSetting, UntaxedComponents, VatComponent } from './setting.ts';

/** S: taxed at the rate. Z: taxed at zero. E: exempt, with the reason. */
export type VatCategory = { code: 'S' | 'Z' | 'E'; percent: string; reason: string };

export type VatSum = { vat: VatCategory; base: bigint; tax: bigint };

/** A charge with its amount; a tax with its rate. */
export type Charged = { vat: VatCategory; amount: bigint };
export type Tax = { percent: string; amount: bigint };

const notTaxed = 'Not subject to value added tax';
const zeroRated: VatCategory = { code: 'Z', percent: '0', reason: '' };

export type VatTable = {
  /** The setting of a component that is value added tax itself. */
  vatOf(component: string | null): VatComponent | undefined;
  categoryOf(component: string): VatCategory;
  /** Of a component that is value added tax. */
  percentOf(component: string): string;
};

/** From the lines of the bill. Throws if a component has two rates. */
export function vatTable(lines: readonly DocumentLine[], setting: EInvoiceSetting): VatTable {
  const vatOf = (component: string | null) =>
    setting.vat.find((one) => one.component === component);
  const percents = new Map<string, string>();
  /** By component; `*` for components that no tax names. */
  const rates = new Map<string, VatCategory>();
  for (const { on, ...how } of setting.untaxed ?? []) {
    for (const component of on) rates.set(component, untaxedCategory(how));
  }
  for (const line of lines) {
    const vat = vatOf(line.component);
    if (vat === undefined) continue;
    const percent = percentOfLine(line);
    percents.set(line.component, percent);
    for (const component of vat.on ?? ['*']) {
      if (vatOf(component)) {
        throw refusal(`component ${component} is VAT itself: take it out of eInvoice.vat[].on`);
      }
      addRate(rates, component, percent);
    }
  }
  return {
    vatOf,
    categoryOf: (component) =>
      rates.get(component) ?? rates.get('*') ?? { code: 'E', percent: '0', reason: notTaxed },
    percentOf(component) {
      const percent = percents.get(component);
      if (percent === undefined) throw refusal(`the bill has no line of component ${component}`);
      return percent;
    },
  };
}

function addRate(rates: Map<string, VatCategory>, component: string, percent: string): void {
  const known = rates.get(component);
  const what = component === '*' ? 'its charges have' : `component ${component} has`;
  if (known?.code === 'E') {
    throw refusal(`component ${component} is in eInvoice.untaxed and has VAT of ${percent} %`);
  }
  if (known !== undefined && known.percent !== percent) {
    throw refusal(`${what} two rates of VAT, ${known.percent} and ${percent} %`);
  }
  rates.set(component, percent === '0' ? zeroRated : { code: 'S', percent, reason: '' });
}

function untaxedCategory({ category, reason }: Omit<UntaxedComponents, 'on'>): VatCategory {
  if (category === 'ZeroRated') return zeroRated;
  return { code: 'E', percent: '0', reason: lineText(reason) || notTaxed };
}

/** As short as it can be written, so that 19.0 and 19 are one rate. */
function percentOfLine(line: DocumentLine): string {
  const what = `${lineText(line.label)} is in eInvoice.vat`;
  if (!line.basis || !('percent' in line.basis)) {
    const advice = 'write its formula as a product, such as SUMCAT("taxable") * 19%';
    throw refusal(`${what} and is not one percentage of an amount: ${advice}`);
  }
  const { percent } = line.basis;
  if (percent.startsWith('-')) throw refusal(`${what} and has a rate below zero, ${percent} %`);
  return percent.includes('.') ? percent.replace(/0+$/, '').replace(/\.$/, '') : percent;
}

/** By category and rate. The tax of a rate must be that of its charges, to a unit for each. */
export function vatSums(
  charges: readonly Charged[],
  taxes: readonly Tax[],
  decimals: number,
): VatSum[] {
  const sums = new Map<string, VatSum>();
  for (const { vat, amount } of charges) {
    const key = `${vat.code}${vat.percent}`;
    const known = sums.get(key) ?? { vat, base: 0n, tax: 0n };
    const reasons = new Set([...known.vat.reason.split('; '), vat.reason]);
    const reason = [...reasons].filter((one) => one !== '').join('; ');
    sums.set(key, { ...known, vat: { ...vat, reason }, base: known.base + amount });
  }
  for (const { percent, amount } of taxes) {
    const key = percent === '0' ? 'Z0' : `S${percent}`;
    const known = sums.get(key);
    if (known === undefined) throw refusal(`no charge has the VAT of ${percent} %`);
    sums.set(key, { ...known, tax: known.tax + amount });
  }
  for (const sum of sums.values()) assertIsTaxOf(sum, charges.length, decimals);
  return [...sums.values()];
}

/** The standard allows less than one unit of the currency, however many charges there are. */
function assertIsTaxOf({ vat, base, tax }: VatSum, charges: number, decimals: number): void {
  const [whole = '0', fraction = ''] = vat.percent.split('.');
  const one = 100n * 10n ** BigInt(fraction.length);
  const difference = tax * one - base * BigInt(`${whole}${fraction}`);
  const distance = difference < 0n ? -difference : difference;
  const unit = 10n ** BigInt(decimals);
  if (distance <= BigInt(charges) * one && distance < unit * one) return;
  const what = `VAT of ${vat.percent} % is ${tax}, and its charges are ${base}, in minor units`;
  throw refusal(`${what}: name in eInvoice.vat[].on the components that it is charged on`);
}
