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
  const days = inputs.daysInPeriod ?? 30;
  const left = inputs.daysRemaining ?? days * Number(inputs.fractionRemaining);
  const fee = { formula: 'fee', scope: 'Segment', prorate: 'Days' } as const;
  const start = '2025-01-01';
  const sketch = {
    histories: {
      fee: [
        [date(start), inputs.oldPrice],
        [date(start, days - left), inputs.newPrice],
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
      previousTerm: { term, billed: { fee: inputs.oldPrice } },
    },
  });
  const adjustment = next.bill.lines.find((line) => line.lineType === 'Adjustment');
  const figures: Figure[] = [['net', next.text(adjustment?.amount ?? 0), expected.net]];
  const credit = price({ charges: { credit: `${inputs.oldPrice} - ${oldPart}` } });
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
        [date(inputs.changeDate), inputs.planB],
      ],
    },
    changeInTerm: 'Split',
    charges: { fee: { formula: 'fee', scope: 'Segment', prorate: 'Days' } },
    facts: { term: termOf(date(inputs.start), date(inputs.start, inputs.daysInPeriod - 1)) },
  });
  const parts = priced.amounts('fee');
  return [
    ['first plan', parts[0] ?? '', expected.planA14Days],
    ['second plan', parts[1] ?? '', expected.planB17Days],
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
    const priced = feeForDays(major(inputs.priceMinor), date(from), date(to, 1), term);
    return [['amount', priced.amount('fee'), major(expected.amountMinor)]];
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
        formula: `qty.seats * ${major(inputs.priceMinor)}`,
        scope: 'Segment',
        prorate: 'Days',
      },
    },
    facts: { term: termOf('01/02/2024', '29/02/2024') },
  });
  return [['amount', priced.amount('seats'), major(expected.amountMinor)]];
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
      tax: { type: 'Tax', formula: `SUMCAT("taxed") * ${inputs.taxPercent}%` },
    },
  });
  const credit = price({
    usage: { unused: String(inputs.daysUnused) },
    charges: {
      net: {
        formula: `${inputs.price} * usage.unused / ${inputs.daysInPeriod}`,
        categories: ['taxed'],
      },
      tax: { type: 'Tax', formula: `SUMCAT("taxed") * ${inputs.taxPercent}%` },
    },
  });
  const figures: Figure[] = [
    ['net', credit.amount('net'), expected.net],
    ['tax', credit.amount('tax'), expected.tax],
    ['total', credit.total(), expected.total],
  ];
  if (expected.invoiceTax !== undefined) {
    figures.push(['tax of the invoice', full.amount('tax'), expected.invoiceTax]);
  }
  return figures;
}

function couponThenTax(inputs: Loose, expected: Loose): Figure[] {
  const charges: Record<string, Loose> = {};
  for (const [index, fee] of inputs.fees.entries()) {
    charges[`fee${index}`] = { formula: fee.amount, categories: ['fees'] };
    charges[`coupon${index}`] = {
      type: 'Discount',
      formula: `-${inputs.couponFixed} * comp.fee${index} / SUMCAT("fees")`,
    };
    charges[`tax${index}`] = {
      type: 'Tax',
      formula: `(comp.fee${index} + comp.coupon${index}) * ${fee.taxPercent}%`,
    };
  }
  const priced = price({ charges });
  const each = (name: string) =>
    inputs.fees.map((_: Loose, index: number) => priced.amount(`${name}${index}`)).join();
  const negative = (text: string) => `-${plain(text)}`;
  return [
    ['coupon', each('coupon'), expected.couponSplit.map(negative).join()],
    ['taxes', each('tax'), expected.tax.map(plain).join()],
    ['tax', priced.total('taxAmount'), expected.taxTotal],
    ['total', priced.total(), expected.total],
  ];
}

function discountThenCap(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    values: { cap: inputs.maximum, priorBilled: inputs.priorBilled },
    usage: { units: inputs.lineQuantity },
    charges: {
      gross: `usage.units * ${inputs.unit}`,
      percent: { type: 'Discount', formula: `-comp.gross * ${inputs.discountPercent}%` },
      over: {
        type: 'Discount',
        formula: '-MAX(0, comp.gross + comp.percent - MAX(0, cap - priorBilled))',
      },
    },
  });
  return [
    ['gross', priced.amount('gross'), expected.gross],
    ['percentage', priced.amount('percent'), `-${expected.percentDiscount}`],
    ['cap', priced.amount('over'), `-${expected.capDiscount}`],
    ['amount', priced.total(), expected.amount],
  ];
}

function simpleInterest(inputs: Loose, expected: Loose): Figure[] {
  const unpaid = String(Number(inputs.principal ?? inputs.bill) - Number(inputs.paidOnTime ?? 0));
  const rate = `account.overdueAmountDays * ${inputs.ratePercentPerYear}% / 365`;
  const whole = { scale: 0, mode: 'HalfUp' } as const;
  const overdueAmountDays = String(Number(unpaid) * inputs.days);
  const exact = price({ charges: { interest: rate }, facts: { account: { overdueAmountDays } } });
  const next = price({
    charges: {
      maintenance: inputs.nextCharge ?? '0',
      interest: { type: 'Surcharge', formula: rate, rounding: whole },
    },
    facts: {
      account: { overdueAmountDays, arrears: inputs.paidOnTime === undefined ? '0' : unpaid },
    },
  });
  const figures: Figure[] = [
    ['rounded interest', next.amount('interest'), expected.interestRounded],
  ];
  if (expected.interest !== undefined) {
    figures.push(['interest', exact.amount('interest'), expected.interest]);
    figures.push(['next bill', next.total('payableWithinDueDate'), expected.nextBill]);
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
      basic: `input.amps * ${inputs.fixed.perAmp}`,
      ecb: `usage.energy * ${inputs.leviesPerKwh.ecb}`,
      nef: `usage.energy * ${inputs.leviesPerKwh.nef}`,
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
    const formula = `usage.ccf * ${inputs.billingFactor}`;
    const priced = price({
      usage: { ccf: inputs.ccf },
      charges: { exact: formula, therms: `ROUND(${formula}, 0)` },
    });
    return [
      ['therms, exact', priced.exact('exact'), expected.thermsExact],
      ['therms', priced.amount('therms'), expected.therms],
    ];
  }
  if (inputs.m3 !== undefined) {
    const priced = price({
      usage: { m3: inputs.m3 },
      charges: {
        kwh: `usage.m3 * ${inputs.volumeCorrection} * ${inputs.calorificValue}
          / ${inputs.divideBy}`,
      },
    });
    return [
      ['kWh, exact', priced.exact('kwh'), expected.kwhExact],
      ['kWh, half up', priced.amount('kwh'), expected.kwhHalfUp],
    ];
  }
  const billed = `CEILING(usage.units / ${inputs.divideBy}, 1)`;
  const priced = price({
    usage: { units: inputs.quantity },
    charges: { billed, charge: `comp.billed * ${inputs.unit}` },
  });
  return [
    ['billed units', priced.amount('billed'), expected.billedUnits],
    ['amount', priced.amount('charge'), expected.amount],
  ];
}

function minimumBlocks(inputs: Loose, expected: Loose): Figure[] {
  const rows = [
    { upTo: inputs.minimumCoversM3, rate: '0', flat: inputs.minimumCharge },
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
      tax: { type: 'Tax', formula: `SUMCAT("taxed") * ${inputs.taxPercent}%` },
    },
  });
  return [
    ['subtotal', priced.amount('water'), expected.subtotal],
    ['total', priced.total(), expected.total],
  ];
}

function lateFee(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    values: { handling: inputs.handlingPerMonth, interest: inputs.interestPerMonth },
    usage: { daysLate: String(inputs.daysLate) },
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
  prorationPlanChange: planChange,
  prorationDays: prorationDays,
  prorationFactor: prorationFactor,
  creditNoteRounding: creditNote,
  couponAllocationThenTax: couponThenTax,
  discountThenCap: discountThenCap,
  lateInterestSimple: simpleInterest,
  utilityBillElectric: electricBill,
  meterDifference: meterUse,
  meterMultiplier: meterUse,
  unitConversion: conversion,
  minimumChargeBlocks: minimumBlocks,
  graduatedPlusTax: taxedTiers,
  lateFeeFlatPlusInterest: lateFee,
};
export { date, feeForDays, termOf };
