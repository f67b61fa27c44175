// Published examples of which a model has one or two cases only.
import { date, feeForDays, termOf } from './published-bills.ts';
import { type Figure, type Loose, plain, price, rowsOf } from './published-plan.ts';

type Expression = (inputs: Loose, expected: Loose) => Figure[];

function trial(inputs: Loose, expected: Loose): Figure[] {
  const [start, end] = inputs.period.split('/');
  const from = date(start, inputs.trialDays);
  const priced = feeForDays(inputs.price, from, date(end, 1), [date(start), date(end)]);
  return [['amount', priced.amount('fee'), expected.amount]];
}

function seconds(inputs: Loose, expected: Loose): Figure[] {
  const unused = inputs.periodEndEpoch - inputs.changeAtEpoch;
  const period = inputs.periodEndEpoch - inputs.periodStartEpoch;
  const priced = price({
    usage: { unusedSeconds: String(unused), periodSeconds: String(period) },
    charges: {
      credit: {
        type: 'Discount',
        formula: `-${inputs.priceMinor / 100} * usage.unusedSeconds / MAX(1, usage.periodSeconds)`,
      },
    },
  });
  return [['credit', priced.amount('credit'), String(expected.creditMinor / 100)]];
}

function invoiceOrder(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    charges: {
      subscription: { formula: inputs.subscriptions, categories: ['taxed'] },
      usage: { formula: inputs.usage, categories: ['taxed'] },
      coupon: { type: 'Discount', formula: `-${inputs.coupons}`, categories: ['taxed'] },
      tax: { type: 'Tax', formula: `SUMCAT("taxed") * ${inputs.taxPercent}%` },
    },
    // A credit note is a credit on the account, prepaid credits are the wallet.
    facts: { account: { arrears: `-${inputs.creditNotes}`, walletApplied: inputs.prepaid } },
  });
  const { bill } = priced;
  return [
    ['before tax', priced.text(bill.currentCharges - bill.taxAmount), expected.subtotalExcl],
    ['tax', priced.total('taxAmount'), expected.tax],
    ['with tax', priced.total(), expected.subtotalIncl],
    ['due', priced.total('payableWithinDueDate'), expected.totalDue],
  ];
}

function minimumProrated(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    charges: {
      usage: { formula: String(inputs.usageMinor / 100), categories: ['spend'] },
      trueUp: {
        formula: `MAX(0, ${inputs.minimumMinor / 100} * segment.factor - SUMCAT("spend"))`,
        categories: ['taxed'],
      },
      tax: { type: 'Tax', formula: `SUMCAT("taxed") * ${inputs.taxPercent}%` },
    },
    facts: {
      term: termOf('01/02/2025', '28/02/2025'),
      connection: { connectionDate: '01/01/2025', disconnectDate: '26/02/2025' },
    },
  });
  return [
    ['true-up', priced.amount('trueUp'), String(expected.trueUpMinor / 100)],
    ['tax', priced.amount('tax'), String(expected.trueUpTaxMinor / 100)],
  ];
}

function weightedSum(inputs: Loose, expected: Loose): Figure[] {
  const [start, end] = inputs.period.split('/');
  const [event] = inputs.events;
  const priced = price({
    quantities: {
      units: [
        [date(start), '0'],
        [date(event.at.slice(0, 10)), event.delta],
      ],
    },
    quantityChange: 'Weighted',
    charges: { charge: `qty.units * ${inputs.unit}` },
    facts: { term: termOf(date(start), date(end)) },
  });
  const units = priced.exact('charge').replace('…', '');
  return [
    ['units', units.slice(0, expected.units.length), expected.units],
    ['amount', priced.amount('charge'), expected.amount],
  ];
}

function lateUsage(inputs: Loose, expected: Loose): Figure[] {
  const total = inputs.usage.reduce((sum: number, units: string) => sum + Number(units), 0);
  const formula = `PACKAGE(usage.units, ${inputs.blockSize}, ${inputs.price})`;
  const previous = termOf('01/06/2025', '30/06/2025');
  const sketch = { charges: { charge: { formula, scope: 'Segment' as const } } };
  const whole = price({ ...sketch, usage: { units: String(total) } });
  const next = price({
    ...sketch,
    facts: {
      previousTerm: {
        term: previous,
        usage: { units: String(total) },
        billed: { charge: inputs.alreadyBilled },
      },
    },
  });
  const adjustment = next.bill.lines.find((line) => line.lineType === 'Adjustment');
  return [
    ['total', whole.amount('charge'), expected.total],
    ['additional', next.text(adjustment?.amount ?? 0), expected.additional],
  ];
}

function fixedMonth(inputs: Loose, expected: Loose): Figure[] {
  const share = `segment.days / ${inputs.fixedDays}`;
  const priced = price({
    charges: {
      fee: { formula: `${inputs.price} * ${share}`, scope: 'Segment' },
      factor: { formula: `ROUND(${share}, 9)`, scope: 'Segment' },
    },
    facts: {
      term: termOf('01/05/2023', '31/05/2023'),
      connection: { connectionDate: date(inputs.from), disconnectDate: date(inputs.to) },
    },
  });
  return [
    ['factor', priced.exact('factor'), expected.factor],
    ['amount', priced.amount('fee'), expected.amount],
  ];
}

function accountCredit(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    charges: { charge: inputs.charge },
    facts: { account: { arrears: `-${inputs.credit}` } },
  });
  return [
    ['balance', priced.total('payableWithinDueDate'), expected.balance],
    ['credit applied', priced.text(-priced.bill.arrears), expected.creditApplied],
  ];
}

function discountChain(inputs: Loose, expected: Loose): Figure[] {
  const [first, second] = inputs.couponsPercent;
  const priced = price({
    charges: {
      fee: inputs.amount,
      first: { type: 'Discount', formula: `-comp.fee * ${first}%` },
      second: { type: 'Discount', formula: `-(comp.fee + comp.first) * ${second}%` },
    },
  });
  return [['amount', priced.total(), expected.amount]];
}

function additiveTaxes(inputs: Loose, expected: Loose): Figure[] {
  const [first, second] = inputs.ratesPercent;
  const priced = price({
    charges: {
      fee: { formula: inputs.taxable, categories: ['taxed'] },
      state: { type: 'Tax', formula: `SUMCAT("taxed") * ${first}%` },
      city: { type: 'Tax', formula: `SUMCAT("taxed") * ${second}%` },
    },
  });
  return [['tax', priced.total('taxAmount'), expected.tax]];
}

function discountFloor(inputs: Loose, expected: Loose): Figure[] {
  const [first, second] = inputs.couponsFixed;
  const priced = price({
    charges: {
      fee: { formula: inputs.amount, categories: ['taxed'] },
      first: { type: 'Discount', formula: `-MIN(${first}, comp.fee)`, categories: ['taxed'] },
      second: {
        type: 'Discount',
        formula: `-MIN(${second}, comp.fee + comp.first)`,
        categories: ['taxed'],
      },
      tax: { type: 'Tax', formula: 'SUMCAT("taxed") * 10%' },
    },
  });
  return [
    ['taxable', priced.text(priced.bill.currentCharges - priced.bill.taxAmount), expected.taxable],
    ['tax', priced.total('taxAmount'), expected.tax],
  ];
}

/** A price change inside a term: quantities go by days. */
function quantitySplit(inputs: Loose, expected: Loose): Figure[] {
  const start = '2025-01-01';
  const priced = price({
    histories: {
      rate: [
        [date(start), '1'],
        [date(start, inputs.version1Days), '1'],
      ],
    },
    changeInTerm: 'Split',
    usage: { energy: inputs.quantity },
    charges: { energy: { formula: 'ROUND(usage.energy, 0) * rate', scope: 'Segment' } },
    facts: { term: termOf(date(start), date(start, inputs.consumptionDays - 1)) },
  });
  const parts = priced.amounts('energy');
  return [
    ['first version', parts[0] ?? '', expected.version1Quantity],
    ['second version', parts[1] ?? '', expected.version2Quantity],
  ];
}

function boundProration(inputs: Loose, expected: Loose): Figure[] {
  const [first, second] = inputs.bounds;
  const start = '2025-01-01';
  const priced = price({
    values: { tiers: rowsOf([first, second, null].map((upTo) => ({ upTo, unit: '1' }))) },
    usage: { energy: '1000' },
    charges: { energy: `SLAB(usage.energy, tiers, term.days / ${inputs.normalDays})` },
    facts: { term: termOf(date(start), date(start, inputs.periodDays - 1)) },
  });
  const parts = priced.details('energy').map((part) => Number(part.quantity));
  const bounds = [parts[0] ?? 0, (parts[0] ?? 0) + (parts[1] ?? 0)];
  return [['bounds', bounds.join(), expected.bounds.map(plain).join()]];
}

function demandProration(inputs: Loose, expected: Loose): Figure[] {
  const start = '2025-01-01';
  const rate = `${inputs.unitPerKw} * segment.days / ${inputs.normalDays}`;
  const priced = price({
    usage: { kw: inputs.kw },
    charges: { rate, demand: `usage.kw * ${rate}` },
    facts: { term: termOf(date(start), date(start, inputs.periodDays - 1)) },
  });
  return [
    ['rate', priced.amount('rate'), expected.proratedUnit],
    ['amount', priced.amount('demand'), expected.amount],
  ];
}

function dayWeights(inputs: Loose, expected: Loose): Figure[] {
  const start = '2025-01-01';
  const priced = price({
    histories: {
      whole: [
        [date(start), '100'],
        [date(start, inputs.oldDays), '100'],
      ],
    },
    changeInTerm: 'Split',
    charges: {
      weight: {
        formula: 'whole',
        scope: 'Segment',
        prorate: 'Days',
        rounding: { scale: 1, mode: 'HalfUp' },
      },
    },
    facts: { term: termOf(date(start), date(start, inputs.billDays - 1)) },
  });
  const parts = priced.amounts('weight');
  return [
    ['old', parts[0] ?? '', expected.oldWeightPercent],
    ['new', parts[1] ?? '', expected.newWeightPercent],
  ];
}

function demandBill(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    usage: { energy: inputs.kwh },
    charges: {
      customer: inputs.customerCharge,
      energy: `usage.energy * ${inputs.energyUnit}`,
      adjustment: `usage.energy * ${inputs.energyAdjustmentUnit}`,
      demand: inputs.demandCharge,
    },
  });
  return [
    ['energy', priced.amount('energy'), expected.energy],
    ['adjustment', priced.amount('adjustment'), expected.adjustment],
    ['demand', priced.amount('demand'), expected.demand],
    ['total', priced.total(), expected.total],
  ];
}

/** The total use decides which table applies. */
function tableByTotal(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    values: {
      small: [{ upTo: null, rate: '1.00' }],
      large: [
        { upTo: '200', rate: '2.00' },
        { upTo: null, rate: '3.00' },
      ],
    },
    usage: { energy: inputs.quantity },
    charges: {
      energy: 'SLAB(usage.energy, IF(usage.energy <= 100, small, large))',
      fixed: 'IF(usage.energy <= 100, 20, 30)',
    },
  });
  return [['total', priced.total(), expected.total]];
}

function waterBill(inputs: Loose, expected: Loose): Figure[] {
  const fixed = Object.entries(inputs.fixedByMeterSize) as [string, string][];
  const priced = price({
    values: {
      tiers: rowsOf(inputs.tiers),
      sizes: fixed.map(([size, monthly]) => ({ size, monthly })),
    },
    fields: { size: fixed[0]?.[0] ?? '' },
    usage: { water: inputs.quantity },
    charges: {
      water: 'SLAB(usage.water, tiers)',
      fixed: 'LOOKUP(sizes, input.size, "monthly")',
    },
  });
  const tiers = priced.details('water').map((part) => plain(part.amount));
  return [
    ['tiers', tiers.join(), expected.tiers.map(plain).join()],
    ['fixed', priced.amount('fixed'), expected.fixed],
    ['total', priced.total(), expected.total],
  ];
}

function dwellings(inputs: Loose, expected: Loose): Figure[] {
  const first = { upTo: inputs.tier1Units, unit: inputs.unit };
  const priced = price({
    values: { tiers: rowsOf([first, { upTo: null, unit: '6.17' }]) },
    fields: { dwellings: String(inputs.dwellings) },
    usage: { water: String(inputs.tier1Units * inputs.dwellings) },
    charges: { water: 'SLAB(usage.water, tiers, input.dwellings)' },
  });
  return [['first tier', priced.amount('water'), expected.tier1]];
}

function combinedBill(inputs: Loose, expected: Loose): Figure[] {
  const base = inputs.waterBase.join(' + ');
  const priced = price({
    values: { tiers: rowsOf(inputs.waterTiersPer1000) },
    usage: { gallons: inputs.gallons },
    charges: {
      water: `${base} + SLAB(usage.gallons / 1000, tiers)`,
      sewer: `${inputs.sewerBase} + MAX(0, usage.gallons / 1000 - ${inputs.sewerFree1000})
        * ${inputs.sewerPer1000}`,
    },
  });
  return [
    ['water', priced.amount('water'), expected.water],
    ['sewer', priced.amount('sewer'), expected.sewer],
  ];
}

function totalOf(charges: (inputs: Loose) => Record<string, string>): Expression {
  return (inputs, expected) => {
    const priced = price({ usage: { energy: inputs.kwh }, charges: charges(inputs) });
    return [['total', priced.total(), expected.total]];
  };
}

function repairFund(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    fields: { area: inputs.areaSqft },
    charges: {
      fund: `${inputs.constructionCostPerSqft} * ${inputs.ratePercentPerYear}%
        * input.area / 12 * term.months`,
    },
  });
  return [['monthly', priced.amount('fund'), expected.monthly]];
}

export const otherModels: Record<string, Expression> = {
  prorationTrial: trial,
  prorationSeconds: seconds,
  invoiceTotalOrder: invoiceOrder,
  minimumTrueUpProrated: minimumProrated,
  weightedSum: weightedSum,
  lateUsageDelta: lateUsage,
  prorationFixed30: fixedMonth,
  accountCredit: accountCredit,
  discountChain: discountChain,
  taxAdditive: additiveTaxes,
  discountFloor: discountFloor,
  tariffChangeQuantitySplit: quantitySplit,
  tierBoundProration: boundProration,
  demandProration: demandProration,
  tariffChangeDayWeight: dayWeights,
  utilityBillDemand: demandBill,
  slabTableByTotal: tableByTotal,
  utilityBillWater: waterBill,
  tierTimesDwellings: dwellings,
  perUnitPlusFixed: totalOf((inputs) => ({
    energy: `usage.energy * ${inputs.unit}`,
    customer: inputs.customerCharge,
  })),
  timeOfUse: totalOf((inputs) => ({
    energy: `usage.energy * ${inputs.onPeakShare} * ${inputs.onPeakUnit}
      + usage.energy * (1 - ${inputs.onPeakShare}) * ${inputs.offPeakUnit}`,
    customer: inputs.customerCharge,
  })),
  utilityBillCombined: combinedBill,
  formulaArea: repairFund,
};
