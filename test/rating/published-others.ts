// Published examples that stand alone: one or two cases of a model.
import { date, feeForDays, termOf } from './published-bills.ts';
import { type Figure, type Loose, plain, price, rowsOf } from './published-plan.ts';

type Expression = (inputs: Loose, expected: Loose) => Figure[];

function trial(inputs: Loose, expected: Loose): Figure[] {
  const [start, end] = inputs.period.split('/');
  const from = date(start, inputs.trial_days);
  const priced = feeForDays(inputs.price, from, date(end, 1), [date(start), date(end)]);
  return [['amount', priced.amount('fee'), expected.amount]];
}

function seconds(inputs: Loose, expected: Loose): Figure[] {
  const unused = inputs.period_end_epoch - inputs.change_at_epoch;
  const period = inputs.period_end_epoch - inputs.period_start_epoch;
  const priced = price({
    usage: { unusedSeconds: String(unused), periodSeconds: String(period) },
    charges: {
      credit: {
        type: 'Discount',
        formula: `-${inputs.price_minor / 100} * usage.unusedSeconds / MAX(1, usage.periodSeconds)`,
      },
    },
  });
  return [['credit', priced.amount('credit'), String(expected.credit_minor / 100)]];
}

function invoiceOrder(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    charges: {
      subscription: { formula: inputs.subscriptions, categories: ['taxed'] },
      usage: { formula: inputs.usage, categories: ['taxed'] },
      coupon: { type: 'Discount', formula: `-${inputs.coupons}`, categories: ['taxed'] },
      tax: { type: 'Tax', formula: `SUMCAT("taxed") * ${inputs.tax_percent}%` },
    },
    // A credit note is a credit on the account, prepaid credits are the wallet.
    facts: { account: { arrears: `-${inputs.credit_notes}`, walletApplied: inputs.prepaid } },
  });
  const { bill } = priced;
  return [
    ['before tax', priced.text(bill.currentCharges - bill.taxAmount), expected.subtotal_excl],
    ['tax', priced.total('taxAmount'), expected.tax],
    ['with tax', priced.total(), expected.subtotal_incl],
    ['due', priced.total('payableWithinDueDate'), expected.total_due],
  ];
}

function minimumProrated(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    charges: {
      usage: { formula: String(inputs.usage_minor / 100), categories: ['spend'] },
      trueUp: {
        formula: `MAX(0, ${inputs.minimum_minor / 100} * segment.factor - SUMCAT("spend"))`,
        categories: ['taxed'],
      },
      tax: { type: 'Tax', formula: `SUMCAT("taxed") * ${inputs.tax_percent}%` },
    },
    facts: {
      term: termOf('01/02/2025', '28/02/2025'),
      connection: { connectionDate: '01/01/2025', disconnectDate: '26/02/2025' },
    },
  });
  return [
    ['true-up', priced.amount('trueUp'), String(expected.true_up_minor / 100)],
    ['tax', priced.amount('tax'), String(expected.true_up_tax_minor / 100)],
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
  const formula = `PACKAGE(usage.units, ${inputs.block_size}, ${inputs.price})`;
  const previous = termOf('01/06/2025', '30/06/2025');
  const sketch = { charges: { charge: { formula, scope: 'Segment' as const } } };
  const whole = price({ ...sketch, usage: { units: String(total) } });
  const next = price({
    ...sketch,
    facts: {
      previousTerm: {
        term: previous,
        usage: { units: String(total) },
        billed: { charge: inputs.already_billed },
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
  const share = `segment.days / ${inputs.fixed_days}`;
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
    ['credit applied', priced.text(-priced.bill.arrears), expected.credit_applied],
  ];
}

function discountChain(inputs: Loose, expected: Loose): Figure[] {
  const [first, second] = inputs.coupons_percent;
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
  const [first, second] = inputs.rates_percent;
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
  const [first, second] = inputs.coupons_fixed;
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
        [date(start, inputs.version1_days), '1'],
      ],
    },
    changeInTerm: 'Split',
    usage: { energy: inputs.quantity },
    charges: { energy: { formula: 'ROUND(usage.energy, 0) * rate', scope: 'Segment' } },
    facts: { term: termOf(date(start), date(start, inputs.consumption_days - 1)) },
  });
  const parts = priced.amounts('energy');
  return [
    ['first version', parts[0] ?? '', expected.version1_quantity],
    ['second version', parts[1] ?? '', expected.version2_quantity],
  ];
}

function boundProration(inputs: Loose, expected: Loose): Figure[] {
  const [first, second] = inputs.bounds;
  const start = '2025-01-01';
  const priced = price({
    values: { tiers: rowsOf([first, second, null].map((up_to) => ({ up_to, unit: '1' }))) },
    usage: { energy: '1000' },
    charges: { energy: `SLAB(usage.energy, tiers, term.days / ${inputs.normal_days})` },
    facts: { term: termOf(date(start), date(start, inputs.period_days - 1)) },
  });
  const parts = priced.details('energy').map((part) => Number(part.quantity));
  const bounds = [parts[0] ?? 0, (parts[0] ?? 0) + (parts[1] ?? 0)];
  return [['bounds', bounds.join(), expected.bounds.map(plain).join()]];
}

function demandProration(inputs: Loose, expected: Loose): Figure[] {
  const start = '2025-01-01';
  const rate = `${inputs.unit_per_kw} * segment.days / ${inputs.normal_days}`;
  const priced = price({
    usage: { kw: inputs.kw },
    charges: { rate, demand: `usage.kw * ${rate}` },
    facts: { term: termOf(date(start), date(start, inputs.period_days - 1)) },
  });
  return [
    ['rate', priced.amount('rate'), expected.prorated_unit],
    ['amount', priced.amount('demand'), expected.amount],
  ];
}

function dayWeights(inputs: Loose, expected: Loose): Figure[] {
  const start = '2025-01-01';
  const priced = price({
    histories: {
      whole: [
        [date(start), '100'],
        [date(start, inputs.old_days), '100'],
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
    facts: { term: termOf(date(start), date(start, inputs.bill_days - 1)) },
  });
  const parts = priced.amounts('weight');
  return [
    ['old', parts[0] ?? '', expected.old_weight_percent],
    ['new', parts[1] ?? '', expected.new_weight_percent],
  ];
}

function demandBill(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    usage: { energy: inputs.kwh },
    charges: {
      customer: inputs.customer_charge,
      energy: `usage.energy * ${inputs.energy_unit}`,
      adjustment: `usage.energy * ${inputs.energy_adjustment_unit}`,
      demand: inputs.demand_charge,
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
  const fixed = Object.entries(inputs.fixed_by_meter_size) as [string, string][];
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
  const first = { up_to: inputs.tier1_units, unit: inputs.unit };
  const priced = price({
    values: { tiers: rowsOf([first, { up_to: null, unit: '6.17' }]) },
    fields: { dwellings: String(inputs.dwellings) },
    usage: { water: String(inputs.tier1_units * inputs.dwellings) },
    charges: { water: 'SLAB(usage.water, tiers, input.dwellings)' },
  });
  return [['first tier', priced.amount('water'), expected.tier1]];
}

function combinedBill(inputs: Loose, expected: Loose): Figure[] {
  const base = inputs.water_base.join(' + ');
  const priced = price({
    values: { tiers: rowsOf(inputs.water_tiers_per_1000) },
    usage: { gallons: inputs.gallons },
    charges: {
      water: `${base} + SLAB(usage.gallons / 1000, tiers)`,
      sewer: `${inputs.sewer_base} + MAX(0, usage.gallons / 1000 - ${inputs.sewer_free_1000})
        * ${inputs.sewer_per_1000}`,
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
    fields: { area: inputs.area_sqft },
    charges: {
      fund: `${inputs.construction_cost_per_sqft} * ${inputs.rate_percent_per_year}%
        * input.area / 12 * term.months`,
    },
  });
  return [['monthly', priced.amount('fund'), expected.monthly]];
}

export const otherModels: Record<string, Expression> = {
  proration_trial: trial,
  proration_seconds: seconds,
  invoice_total_order: invoiceOrder,
  minimum_true_up_prorated: minimumProrated,
  weighted_sum: weightedSum,
  late_usage_delta: lateUsage,
  proration_fixed_30: fixedMonth,
  account_credit: accountCredit,
  discount_chain: discountChain,
  tax_additive: additiveTaxes,
  discount_floor: discountFloor,
  tariff_change_quantity_split: quantitySplit,
  tier_bound_proration: boundProration,
  demand_proration: demandProration,
  tariff_change_day_weight: dayWeights,
  utility_bill_demand: demandBill,
  slab_table_by_total: tableByTotal,
  utility_bill_water: waterBill,
  tier_times_dwellings: dwellings,
  per_unit_plus_fixed: totalOf((inputs) => ({
    energy: `usage.energy * ${inputs.unit}`,
    customer: inputs.customer_charge,
  })),
  time_of_use: totalOf((inputs) => ({
    energy: `usage.energy * ${inputs.on_peak_share} * ${inputs.on_peak_unit}
      + usage.energy * (1 - ${inputs.on_peak_share}) * ${inputs.off_peak_unit}`,
    customer: inputs.customer_charge,
  })),
  utility_bill_combined: combinedBill,
  formula_area: repairFund,
};
