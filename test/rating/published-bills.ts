// Published examples of proration, taxes, discounts, late interest and whole utility bills.
import {
  type Figure,
  type Loose,
  type PublishedCase,
  plain,
  price,
  rowsOf,
} from './published-plan.ts';

type Expression = (inputs: Loose, expected: Loose, example: PublishedCase) => Figure[];

/** YYYY-MM-DD -> DD/MM/YYYY, with days added. */
function date(iso: string, days = 0): string {
  const day = Temporal.PlainDate.from(iso).add({ days });
  const pad = (value: number) => String(value).padStart(2, '0');
  return `${pad(day.day)}/${pad(day.month)}/${day.year}`;
}

function termOf(startDate: string, endDate: string) {
  return { label: 'term', startDate, endDate, months: 1 };
}

/** Billed in advance, changed inside the term: what the next bill corrects. */
function planChange(inputs: Loose, expected: Loose): Figure[] {
  if (inputs.planA !== undefined) return planChangeInArrears(inputs, expected);
  const days = inputs.days_in_period ?? 30;
  const left = inputs.days_remaining ?? days * Number(inputs.fraction_remaining);
  const fee = { formula: 'fee', scope: 'Segment', prorate: 'Days' } as const;
  const start = '2025-01-01';
  const sketch = {
    histories: {
      fee: [
        [date(start), inputs.old_price],
        [date(start, days - left), inputs.new_price],
      ] as [string, string][],
    },
    changeInTerm: 'Split' as const,
    charges: { fee },
  };
  const term = termOf(date(start), date(start, days - 1));
  const again = price({ ...sketch, facts: { term } });
  const [oldPart, newPart] = again.amounts('fee') as [string, string];
  const next = price({
    ...sketch,
    context: { postBilling: 0 },
    facts: {
      term: termOf(date(start, days), date(start, days + 29)),
      previousTerm: { term, billed: { fee: inputs.old_price } },
    },
  });
  const adjustment = next.bill.lines.find((line) => line.lineType === 'Adjustment');
  const figures: Figure[] = [['net', next.text(adjustment?.amount ?? 0), expected.net]];
  const credit = price({ charges: { credit: `${inputs.old_price} - ${oldPart}` } });
  if (expected.credit !== undefined) {
    const published = String(expected.credit).replace('-', '');
    figures.push(['credit', credit.amount('credit'), published]);
    figures.push(['charge', newPart, expected.charge ?? expected.debit]);
  }
  return figures;
}

function planChangeInArrears(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    histories: {
      fee: [
        [date(inputs.start), inputs.planA],
        [date(inputs.change_date), inputs.planB],
      ],
    },
    changeInTerm: 'Split',
    charges: { fee: { formula: 'fee', scope: 'Segment', prorate: 'Days' } },
    facts: { term: termOf(date(inputs.start), date(inputs.start, inputs.days_in_period - 1)) },
  });
  const parts = priced.amounts('fee');
  return [
    ['first plan', parts[0] ?? '', expected.planA_14_days],
    ['second plan', parts[1] ?? '', expected.planB_17_days],
  ];
}

/** A fee for some days of a term. */
function feeForDays(price_: string, from: string, to: string, term: [string, string]) {
  return price({
    charges: { fee: { formula: price_, scope: 'Segment', prorate: 'Days' } },
    facts: {
      term: termOf(...term),
      connection: { connectionDate: from, disconnectDate: to },
    },
  });
}

const major = (minor: number) => String(minor / 100);

function prorationDays(inputs: Loose, expected: Loose): Figure[] {
  if (inputs.period !== undefined) {
    const [start, end] = inputs.period.split('/');
    const [from, to] = inputs.service.split('/');
    const term: [string, string] = [date(start), date(end)];
    const priced = feeForDays(major(inputs.price_minor), date(from), date(to, 1), term);
    return [['amount', priced.amount('fee'), major(expected.amount_minor)]];
  }
  const priced = price({
    quantities: {
      seats: [
        ['01/01/2024', '0'],
        [date(inputs.added), '1'],
      ],
    },
    charges: {
      seats: {
        formula: `qty.seats * ${major(inputs.price_minor)}`,
        scope: 'Segment',
        prorate: 'Days',
      },
    },
    facts: { term: termOf('01/02/2024', '29/02/2024') },
  });
  return [['amount', priced.amount('seats'), major(expected.amount_minor)]];
}

function prorationFactor(inputs: Loose, expected: Loose): Figure[] {
  const [days, of] = expected.factor.split('/');
  // A leading part belongs to the cycle that ends on the billing day.
  const term: [string, string] =
    inputs.end === undefined ? ['13/01/2011', '12/02/2011'] : ['01/02/2012', '29/02/2012'];
  const to = inputs.end === undefined ? '13/02/2011' : date(inputs.end);
  const priced = feeForDays(of, date(inputs.start), to, term);
  return [['days charged at 1 a day', priced.amount('fee'), days]];
}

function creditNote(inputs: Loose, expected: Loose): Figure[] {
  const full = price({
    charges: {
      net: { formula: inputs.price, categories: ['taxed'] },
      tax: { type: 'Tax', formula: `SUMCAT("taxed") * ${inputs.tax_percent}%` },
    },
  });
  const credit = price({
    usage: { unused: String(inputs.days_unused) },
    charges: {
      net: {
        formula: `${inputs.price} * usage.unused / ${inputs.days_in_period}`,
        categories: ['taxed'],
      },
      tax: { type: 'Tax', formula: `SUMCAT("taxed") * ${inputs.tax_percent}%` },
    },
  });
  const figures: Figure[] = [
    ['net', credit.amount('net'), expected.net],
    ['tax', credit.amount('tax'), expected.tax],
    ['total', credit.total(), expected.total],
  ];
  if (expected.invoice_tax !== undefined) {
    figures.push(['tax of the invoice', full.amount('tax'), expected.invoice_tax]);
  }
  return figures;
}

function couponThenTax(inputs: Loose, expected: Loose): Figure[] {
  const charges: Record<string, Loose> = {};
  for (const [index, fee] of inputs.fees.entries()) {
    charges[`fee${index}`] = { formula: fee.amount, categories: ['fees'] };
    charges[`coupon${index}`] = {
      type: 'Discount',
      formula: `-${inputs.coupon_fixed} * comp.fee${index} / SUMCAT("fees")`,
    };
    charges[`tax${index}`] = {
      type: 'Tax',
      formula: `(comp.fee${index} + comp.coupon${index}) * ${fee.tax_percent}%`,
    };
  }
  const priced = price({ charges });
  const each = (name: string) =>
    inputs.fees.map((_: Loose, index: number) => priced.amount(`${name}${index}`)).join();
  const negative = (text: string) => `-${plain(text)}`;
  return [
    ['coupon', each('coupon'), expected.coupon_split.map(negative).join()],
    ['taxes', each('tax'), expected.tax.map(plain).join()],
    ['tax', priced.total('taxAmount'), expected.tax_total],
    ['total', priced.total(), expected.total],
  ];
}

function discountThenCap(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    values: { cap: inputs.maximum, priorBilled: inputs.prior_billed },
    usage: { units: inputs.line_quantity },
    charges: {
      gross: `usage.units * ${inputs.unit}`,
      percent: { type: 'Discount', formula: `-comp.gross * ${inputs.discount_percent}%` },
      over: {
        type: 'Discount',
        formula: '-MAX(0, comp.gross + comp.percent - MAX(0, cap - priorBilled))',
      },
    },
  });
  return [
    ['gross', priced.amount('gross'), expected.gross],
    ['percentage', priced.amount('percent'), `-${expected.percent_discount}`],
    ['cap', priced.amount('over'), `-${expected.cap_discount}`],
    ['amount', priced.total(), expected.amount],
  ];
}

function simpleInterest(inputs: Loose, expected: Loose): Figure[] {
  const unpaid = String(Number(inputs.principal ?? inputs.bill) - Number(inputs.paid_on_time ?? 0));
  const rate = `account.overdueAmountDays * ${inputs.rate_percent_per_year}% / 365`;
  const whole = { scale: 0, mode: 'HalfUp' } as const;
  const overdueAmountDays = String(Number(unpaid) * inputs.days);
  const exact = price({ charges: { interest: rate }, facts: { account: { overdueAmountDays } } });
  const next = price({
    charges: {
      maintenance: inputs.next_charge ?? '0',
      interest: { type: 'Surcharge', formula: rate, rounding: whole },
    },
    facts: {
      account: { overdueAmountDays, arrears: inputs.paid_on_time === undefined ? '0' : unpaid },
    },
  });
  const figures: Figure[] = [
    ['rounded interest', next.amount('interest'), expected.interest_rounded],
  ];
  if (expected.interest !== undefined) {
    figures.push(['interest', exact.amount('interest'), expected.interest]);
    figures.push(['next bill', next.total('payableWithinDueDate'), expected.next_bill]);
  }
  return figures;
}

function electricBill(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    values: { tiers: rowsOf(inputs.tiers) },
    fields: { amps: inputs.fixed.amps },
    context: { meteredInputs: [{ name: 'energy', unit: 'kWh' }] },
    charges: {
      energy: 'SLAB(usage.energy, tiers)',
      basic: `input.amps * ${inputs.fixed.per_amp}`,
      ecb: `usage.energy * ${inputs.levies_per_kwh.ecb}`,
      nef: `usage.energy * ${inputs.levies_per_kwh.nef}`,
    },
    facts: { meters: [meter('energy', inputs.previous, inputs.current, 1)] },
  });
  const tiers = priced.details('energy').map((part) => plain(part.amount));
  return [
    ['consumption', priced.bill.usage[0]?.quantity ?? '', expected.consumption],
    ['energy', tiers.join(), expected.energy.map(plain).join()],
    ['basic', priced.amount('basic'), expected.basic],
    ['levies', [priced.amount('ecb'), priced.amount('nef')].join(), expected.levies.join()],
    ['total', priced.total(), expected.total],
  ];
}

function meter(input: string, previous: string, current: string, mf: number) {
  return {
    number: 1,
    input,
    mf,
    previous: { date: '30/06/2025', value: previous },
    current: { date: '31/07/2025', value: current },
  };
}

function meterUse(inputs: Loose, expected: Loose): Figure[] {
  const mf = Number(inputs.multiplier ?? 1);
  const priced = price({
    context: { meteredInputs: [{ name: 'energy', unit: 'kWh' }] },
    charges: { energy: 'usage.energy' },
    facts: { meters: [meter('energy', inputs.previous, inputs.current, mf)] },
  });
  return [['consumption', priced.bill.usage[0]?.quantity ?? '', expected.consumption]];
}

function conversion(inputs: Loose, expected: Loose): Figure[] {
  if (inputs.ccf !== undefined) {
    const formula = `usage.ccf * ${inputs.billing_factor}`;
    const priced = price({
      usage: { ccf: inputs.ccf },
      charges: { exact: formula, therms: `ROUND(${formula}, 0)` },
    });
    return [
      ['therms, exact', priced.exact('exact'), expected.therms_exact],
      ['therms', priced.amount('therms'), expected.therms],
    ];
  }
  if (inputs.m3 !== undefined) {
    const priced = price({
      usage: { m3: inputs.m3 },
      charges: {
        kwh: `usage.m3 * ${inputs.volume_correction} * ${inputs.calorific_value}
          / ${inputs.divide_by}`,
      },
    });
    return [
      ['kWh, exact', priced.exact('kwh'), expected.kwh_exact],
      ['kWh, half up', priced.amount('kwh'), expected.kwh_half_up],
    ];
  }
  const billed = `CEILING(usage.units / ${inputs.divide_by}, 1)`;
  const priced = price({
    usage: { units: inputs.quantity },
    charges: { billed, charge: `comp.billed * ${inputs.unit}` },
  });
  return [
    ['billed units', priced.amount('billed'), expected.billed_units],
    ['amount', priced.amount('charge'), expected.amount],
  ];
}

function minimumBlocks(inputs: Loose, expected: Loose): Figure[] {
  const rows = [
    { upTo: inputs.minimum_covers_m3, rate: '0', flat: inputs.minimum_charge },
    { upTo: String(inputs.blocks[0].to), rate: inputs.blocks[0].unit, flat: '0' },
    { upTo: null, rate: inputs.blocks[1].unit, flat: '0' },
  ];
  const amounts = inputs.quantities.map((quantity: string) =>
    price({
      values: { blocks: rows },
      usage: { water: quantity },
      charges: { water: 'SLAB(usage.water, blocks)' },
    }).amount('water'),
  );
  return [['amounts', amounts.join(), expected.amounts.map(plain).join()]];
}

function taxedTiers(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    values: { tiers: rowsOf(inputs.tiers) },
    usage: { water: inputs.quantity },
    charges: {
      water: { formula: 'SLAB(usage.water, tiers)', categories: ['taxed'] },
      tax: { type: 'Tax', formula: `SUMCAT("taxed") * ${inputs.tax_percent}%` },
    },
  });
  return [
    ['subtotal', priced.amount('water'), expected.subtotal],
    ['total', priced.total(), expected.total],
  ];
}

function lateFee(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    values: { handling: inputs.handling_per_month, interest: inputs.interest_per_month },
    usage: { daysLate: String(inputs.days_late) },
    charges: {
      interest: { type: 'Surcharge', formula: 'INT(usage.daysLate / 30) * interest' },
      handling: { type: 'Surcharge', formula: 'INT(usage.daysLate / 30) * handling' },
    },
    facts: { account: { arrears: inputs.principal } },
  });
  return [
    ['interest', priced.amount('interest'), expected.interest],
    ['handling', priced.amount('handling'), expected.handling],
    ['total', priced.total('payableWithinDueDate'), expected.total],
  ];
}

export const billModels: Record<string, Expression> = {
  proration_plan_change: planChange,
  proration_days: prorationDays,
  proration_factor: prorationFactor,
  credit_note_rounding: creditNote,
  coupon_allocation_then_tax: couponThenTax,
  discount_then_cap: discountThenCap,
  late_interest_simple: simpleInterest,
  utility_bill_electric: electricBill,
  meter_difference: meterUse,
  meter_multiplier: meterUse,
  unit_conversion: conversion,
  minimum_charge_blocks: minimumBlocks,
  graduated_plus_tax: taxedTiers,
  late_fee_flat_plus_interest: lateFee,
};
export { date, feeForDays, termOf };
