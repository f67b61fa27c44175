// What a programmer would write for one tariff each: scaled integers, no formulas, full terms only.
// They make the same bill objects as the price book does, and the benchmark checks that they do.
import { parseDay } from '../src/base/days.ts';
import type { Bill, BillLine, BillReading, LineDetail } from '../src/domain/rating/bill.ts';
import type { FrozenInputs, FrozenMeter } from '../src/domain/rating/frozen-inputs.ts';
import type { LineBasis } from '../src/domain/rating/line-basis.ts';

type LineParts = {
  component: string;
  label: string;
  type: BillLine['type'];
  amount: number;
  quantity: string | null;
  unit: string | null;
  details: readonly LineDetail[];
  basis?: LineBasis | undefined;
};

type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

const none: readonly LineDetail[] = [];

/** Decimal text of a scaled integer. */
function text(n: number, scale: number): string {
  if (scale === 0) return String(n);
  const digits = String(Math.abs(n)).padStart(scale + 1, '0');
  const split = digits.length - scale;
  let end = digits.length;
  while (end > split && digits.charCodeAt(end - 1) === 48) end--;
  const sign = n < 0 ? '-' : '';
  if (end === split) return sign + digits.slice(0, split);
  return `${sign}${digits.slice(0, split)}.${digits.slice(split, end)}`;
}

/** Decimal text as an integer of the given scale. */
function scaled(given: string | number | null | undefined, scale: number): number {
  const value = String(given ?? 0);
  const point = value.indexOf('.');
  if (point < 0) return Number(value) * 10 ** scale;
  const decimals = value.length - point - 1;
  return Number(value.slice(0, point) + value.slice(point + 1)) * 10 ** (scale - decimals);
}

/** Half away from zero. */
function halfUp(n: number, divisor: number): number {
  const size = Math.abs(n);
  const whole = Math.floor(size / divisor);
  const rounded = (size - whole * divisor) * 2 >= divisor ? whole + 1 : whole;
  return n < 0 ? -rounded : rounded;
}

function reading(meter: FrozenMeter, use: string): BillReading {
  return {
    meterNumber: meter.number,
    register: meter.register ?? null,
    mf: Number(meter.mf ?? 1),
    previousDate: meter.previous?.date ?? null,
    previousReading: meter.previous?.value ?? null,
    currentDate: meter.current?.date ?? null,
    currentReading: meter.current?.value ?? null,
    readingType: meter.current?.type ?? null,
    estimated: meter.current?.type === 'Estimated' ? 1 : 0,
    rollover: 0,
    consumption: use,
  };
}

function line(
  facts: FrozenInputs,
  plan: string,
  days: number,
  no: number,
  parts: LineParts,
): BillLine {
  const made: Writable<BillLine> = {
    lineNo: no,
    component: parts.component,
    label: parts.label,
    type: parts.type,
    lineType: 'Normal',
    source: 'Computed',
    fromDate: facts.term.startDate,
    toDate: facts.term.endDate,
    days,
    quantity: parts.quantity,
    unit: parts.unit,
    rate: null,
    amount: parts.amount,
    computedAmount: parts.amount,
    details: parts.details,
    tariffCode: plan,
    tariffVersion: 1,
    description: null,
  };
  if (parts.basis !== undefined) made.basis = parts.basis;
  return made;
}

/** A percentage, in hundredths of it, of an amount in minor units. */
function percentOf(hundredths: number, amount: number): LineBasis {
  return { percent: text(hundredths, 2), of: text(amount, 2) };
}

type Head = { service: string; plan: string; label: string; currency: string; days: number };

function bill(
  facts: FrozenInputs,
  head: Head,
  readings: readonly BillReading[],
  usage: Bill['usage'],
  lines: readonly BillLine[],
  surcharges: readonly BillLine[],
  roundTo: number,
): Bill {
  let currentCharges = 0;
  let taxAmount = 0;
  for (const item of lines) {
    currentCharges += item.amount;
    if (item.type === 'Tax') taxAmount += item.amount;
  }
  const arrears = scaled(facts.account?.arrears, 2);
  const gross = currentCharges + arrears;
  const totalAmount = halfUp(gross, roundTo) * roundTo;
  const late = surcharges[0]?.amount ?? 0;
  return {
    status: 'Draft',
    serviceCode: head.service,
    tariffCode: head.plan,
    tariffLabel: head.label,
    connectionNumber: facts.connection?.connectionNumber ?? null,
    currency: head.currency,
    currencyScale: 2,
    termLabel: facts.term.label ?? null,
    startDate: facts.term.startDate,
    endDate: facts.term.endDate,
    dueDate: facts.term.dueDate ?? null,
    billedFrom: facts.term.startDate,
    billedTo: facts.term.endDate,
    days: head.days,
    segments: [
      {
        fromDate: facts.term.startDate,
        toDate: facts.term.endDate,
        days: head.days,
        tariffCode: head.plan,
      },
    ],
    meterReadings: readings,
    usage,
    lines,
    surcharges,
    currentCharges,
    taxAmount,
    arrears,
    roundingAdjustment: totalAmount - gross,
    billAmount: currentCharges + totalAmount - gross,
    totalAmount,
    walletApplied: 0,
    payableWithinDueDate: Math.max(0, totalAmount),
    creditBalance: Math.max(0, -totalAmount),
    latePaymentSurcharge: late,
    payableAfterDueDate: Math.max(0, totalAmount) + late,
    errors: [],
  };
}

/** Days of the term; the subscription must be active on all of them. */
function fullTermDays(facts: FrozenInputs): number {
  const start = parseDay(facts.term.startDate) as number;
  const end = parseDay(facts.term.endDate) as number;
  const connected = parseDay(facts.connection?.connectionDate ?? '01/01/1970') as number;
  if (connected > start) throw new Error('not a full term');
  return end - start + 1;
}

function metered(facts: FrozenInputs, scale: number): { use: number; readings: BillReading[] } {
  let use = 0;
  const readings: BillReading[] = [];
  for (const meter of facts.meters ?? []) {
    const start = scaled(meter.previous?.value, scale);
    const end = scaled(meter.current?.value, scale);
    const own = (end - start) * Number(meter.mf ?? 1);
    use += own;
    readings.push(reading(meter, text(own, scale)));
  }
  return { use, readings };
}

/** Graduated slabs: quantities with `scale` decimals, rates in minor units. */
function slabs(
  quantity: number,
  scale: number,
  limits: readonly number[],
  rates: readonly number[],
): { amount: number; details: LineDetail[] } {
  const details: LineDetail[] = [];
  let amount = 0;
  let floor = 0;
  for (const [index, rate] of rates.entries()) {
    const limit = limits[index] ?? Number.MAX_SAFE_INTEGER;
    const units = Math.min(quantity, limit) - floor;
    amount += units * rate;
    details.push({
      quantity: text(units, scale),
      rate: text(rate, 2),
      amount: text(units * rate, scale + 2),
    });
    if (quantity <= limit) break;
    floor = limit;
  }
  return { amount, details };
}

const elecLimits = [100, 200, 300, 700];
const elecRates = [1648, 2295, 2714, 3203, 4272];

/** RES-A1 of the worked tariffs in July 2025. */
export function elecBill(facts: FrozenInputs): Bill {
  const days = fullTermDays(facts);
  const { use, readings } = metered(facts, 0);
  const inputs = facts.connection?.connectionInputs ?? [];
  const load = Number(inputs.find((input) => input.name === 'sanctionedLoad')?.value);
  const energy = slabs(use, 0, elecLimits, elecRates);
  const fixed = use > 300 ? load * 20_000 : 0;
  const rent = 2500;
  const twoAgo = Number(facts.usageHistory?.energy?.[1]?.quantity ?? 0);
  const fuel = halfUp(twoAgo * 8543, 100);
  const minimum = Math.max(0, 7500 - energy.amount - fixed);
  const duty = halfUp((energy.amount + fuel) * 15, 1000);
  const taxable = energy.amount + fixed + rent + fuel + minimum + duty;
  const gst = halfUp(taxable * 18, 100);
  const lines: BillLine[] = [];
  const push = (
    component: string,
    label: string,
    type: BillLine['type'],
    amount: number,
    quantity: string | null,
    details: readonly LineDetail[],
    basis?: LineBasis,
  ) => {
    if (amount === 0) return;
    const unit = quantity === null ? null : 'kWh';
    const parts = { component, label, type, amount, quantity, unit, details, basis };
    lines.push(line(facts, 'RES-A1', days, lines.length + 1, parts));
  };
  const loadBasis = { quantity: String(load), unit: null, rate: '200' };
  const fuelBasis = { quantity: String(twoAgo), unit: 'kWh', rate: '0.8543' };
  const dutyBasis = percentOf(150, energy.amount + fuel);
  push('energyCharge', 'Energy charges', 'Charge', energy.amount, String(use), energy.details);
  push('fixedCharge', 'Fixed charges', 'Charge', fixed, null, none, loadBasis);
  push('meterRent', 'Meter rent', 'Charge', rent, null, none);
  push('fuelAdjustment', 'Fuel price adjustment', 'Charge', fuel, null, none, fuelBasis);
  push('minimumAdjustment', 'Minimum charge adjustment', 'Charge', minimum, null, none);
  push('electricityDuty', 'Electricity duty', 'Tax', duty, null, none, dutyBasis);
  push('gst', 'General sales tax', 'Tax', gst, null, none, percentOf(1800, taxable));
  push('tvFee', 'TV fee', 'Charge', 3500, null, none);
  const current = taxable + gst + 3500;
  const late = halfUp(Math.max(0, current), 1000) * 100;
  const surcharges: BillLine[] = [];
  if (late !== 0) {
    const parts: LineParts = {
      component: 'lateSurcharge',
      label: 'Late payment surcharge',
      type: 'LateSurcharge',
      amount: late,
      quantity: null,
      unit: null,
      details: none,
      basis: percentOf(1000, current),
    };
    surcharges.push(line(facts, 'RES-A1', days, lines.length + 1, parts));
  }
  const usage = [{ input: 'energy', unit: 'kWh', quantity: String(use) }];
  const head = {
    service: 'ELEC',
    plan: 'RES-A1',
    label: 'Residential A-1',
    currency: 'PKR',
    days,
  };
  return bill(facts, head, readings, usage, lines, surcharges, 100);
}

const waterLimits = [100, 250, 500];
const waterRates = [1200, 2150, 3800, 6000];
const pipes = new Map([
  ['15', 25_000],
  ['20', 45_000],
  ['25', 90_000],
  ['40', 240_000],
]);

/** WAT-MET of the worked tariffs. */
export function waterBill(facts: FrozenInputs): Bill {
  const days = fullTermDays(facts);
  const { use, readings } = metered(facts, 1);
  const inputs = facts.connection?.connectionInputs ?? [];
  const size = inputs.find((input) => input.name === 'pipeSize')?.value ?? '';
  const category = inputs.find((input) => input.name === 'category')?.value;
  const pipe = pipes.get(size);
  if (pipe === undefined) throw new Error('no row for the pipe size');
  const water = slabs(use, 1, waterLimits, waterRates);
  const charge = halfUp(water.amount, 10);
  const sewerage = halfUp(charge * 65, 100);
  const maintenance = 4000;
  const minimum = Math.max(0, 60_000 - pipe - charge);
  const fee = facts.connection?.isFirstBill === true ? 150_000 : 0;
  const base = pipe + charge + sewerage + maintenance + minimum;
  const vat = category === 'Commercial' ? halfUp(base * 5, 100) : 0;
  const lines: BillLine[] = [];
  const push = (
    component: string,
    label: string,
    type: BillLine['type'],
    amount: number,
    quantity: string | null,
    details: readonly LineDetail[],
    basis?: LineBasis,
  ) => {
    if (amount === 0) return;
    const unit = quantity === null ? null : 'm3';
    const parts = { component, label, type, amount, quantity, unit, details, basis };
    lines.push(line(facts, 'WAT-MET', days, lines.length + 1, parts));
  };
  push('pipeCharge', 'Fixed charge', 'Charge', pipe, null, none);
  push('waterCharge', 'Water charge', 'Charge', charge, text(use, 1), water.details);
  push('sewerage', 'Sewerage', 'Charge', sewerage, null, none, percentOf(6500, charge));
  push('meterMaintenance', 'Meter maintenance', 'Charge', maintenance, null, none);
  push('minimumAdjustment', 'Minimum charge adjustment', 'Charge', minimum, null, none);
  push('connectionFee', 'New connection fee', 'Charge', fee, null, none);
  push('vat', 'Tax', 'Tax', vat, null, none, percentOf(500, base));
  const usage = [{ input: 'water', unit: 'm3', quantity: text(use, 1) }];
  const head = {
    service: 'WATER',
    plan: 'WAT-MET',
    label: 'Metered water',
    currency: 'INR',
    days,
  };
  return bill(facts, head, readings, usage, lines, [], 1);
}

const seatLimits = [15, 50];
const seatRates = [1500, 1200, 900];
const salesTaxes = new Map([['US-NY-NYC', 8875]]);

/** APP-TEAM of the worked tariffs, one number of seats for the whole term. */
export function appBill(facts: FrozenInputs): Bill {
  const days = fullTermDays(facts);
  const connection = facts.connection ?? {};
  const seats = Number(connection.unmeteredInputs?.[0]?.value);
  const calls = Number(facts.uploadedUsage?.apiCalls ?? 0);
  let platform = 9900;
  let discountRate = 0;
  let commitment = 0;
  for (const variant of connection.variants ?? []) {
    if (variant.name === 'platformFee') platform = scaled(String(variant.value), 2);
    else if (variant.name === 'discountPct') discountRate = scaled(String(variant.value), 4);
    else if (variant.name === 'commitment') commitment = scaled(String(variant.value), 2);
  }
  const rate = seatRates[seatLimits.filter((limit) => seats > limit).length] as number;
  const seatCharge = seats * rate;
  const over = Math.max(0, calls - 1_000_000);
  const overage = slabs(over, 3, [200_000], [40, 25]);
  const api = halfUp(overage.amount, 1000);
  const discount = halfUp(-(platform + seatCharge) * discountRate, 10_000) + 0;
  const shortfall = Math.max(0, commitment - (platform + seatCharge + api + discount));
  const region = connection.connectionInputs?.[0]?.value ?? '';
  const taxable = platform + seatCharge + api + discount + shortfall;
  const tax = halfUp(taxable * (salesTaxes.get(region) ?? 0), 100_000);
  const lines: BillLine[] = [];
  const push = (
    component: string,
    label: string,
    type: BillLine['type'],
    amount: number,
    quantity: string | null,
    unit: string | null,
    details: readonly LineDetail[],
    basis?: LineBasis,
  ) => {
    if (amount === 0) return;
    const parts = { component, label, type, amount, quantity, unit, details, basis };
    lines.push(line(facts, 'APP-TEAM', days, lines.length + 1, parts));
  };
  const seatDetails = [
    { quantity: String(seats), rate: text(rate, 2), amount: text(seatCharge, 2) },
  ];
  push('platform', 'Platform fee', 'Charge', platform, null, null, none);
  push('seatCharge', 'Seats', 'Charge', seatCharge, String(seats), 'seat', seatDetails);
  const label = 'API calls above the allowance';
  push('apiOverage', label, 'Charge', api, String(calls), 'call', overage.details);
  const discounted = percentOf(discountRate, -(platform + seatCharge));
  push('discount', 'Loyalty discount', 'Discount', discount, null, null, none, discounted);
  push('commitShortfall', 'Minimum commitment', 'Charge', shortfall, null, null, none);
  push('tax', 'Sales tax', 'Tax', tax, null, null, none);
  const usage = [{ input: 'apiCalls', unit: 'call', quantity: String(calls) }];
  const head = { service: 'APP', plan: 'APP-TEAM', label: 'Team', currency: 'USD', days };
  return bill(facts, head, [], usage, lines, [], 1);
}
