// Published examples of tiers, packages, percentages and commitments, by model.
import {
  type Figure,
  type Loose,
  type PublishedCase,
  plain,
  price,
  rowsOf,
} from './published-plan.ts';

type Expression = (inputs: Loose, expected: Loose, example: PublishedCase) => Figure[];

function tiered(reading: string): Expression {
  return (inputs, expected) => {
    const priced = price({
      values: { tiers: rowsOf(inputs.tiers) },
      usage: { units: inputs.quantity },
      charges: { charge: `${reading}(usage.units, tiers)` },
    });
    const figures: Figure[] = [['amount', priced.amount('charge'), expected.amount]];
    if (expected.amount_unrounded !== undefined) {
      figures.push(['unrounded', priced.exact('charge'), expected.amount_unrounded]);
    }
    return figures;
  };
}

/** One event at a time, with the running totals before it, as a meter of events uploads them. */
function perEvent(inputs: Loose): string[] {
  let count = 0;
  let sum = 0;
  return inputs.events.map((event: string) => {
    const priced = price({
      values: { rate: `${inputs.rate_percent}%`, fixed: inputs.fixed_per_event },
      usage: { amount: event, eventsBefore: String(count), amountBefore: String(sum) },
      charges: {
        fee: `IF(AND(usage.eventsBefore < ${inputs.free_events},
          usage.amountBefore + usage.amount <= ${inputs.free_amount}), 0,
          usage.amount * rate + fixed)`,
      },
    });
    count += 1;
    sum += Number(event);
    return priced.amount('fee');
  });
}

function percentage(inputs: Loose, expected: Loose): Figure[] {
  if (inputs.free_events !== undefined) {
    const fees = perEvent(inputs);
    return [['events', fees.join(), expected.per_event.map(plain).join()]];
  }
  if (inputs.min_per_tx !== undefined) {
    const { rate_percent: rate, min_per_tx: least, max_per_tx: most } = inputs;
    const fee = (event: string) => `MIN(MAX(usage.${event} * ${rate}%, ${least}), ${most})`;
    const [first, second, third] = inputs.events;
    const priced = price({
      usage: { first, second, third },
      charges: { fees: `SUM(${fee('first')}, ${fee('second')}, ${fee('third')})` },
    });
    return [['amount', priced.exact('fees'), expected.amount]];
  }
  const priced = price({
    usage: { total: inputs.total, events: String(inputs.events_count) },
    charges: {
      fees: `MAX(0, usage.total - ${inputs.free_amount}) * ${inputs.rate_percent}%
        + (usage.events - ${inputs.free_events_effective}) * ${inputs.fixed_per_event}`,
    },
  });
  return [['amount', priced.amount('fees'), expected.amount]];
}

function graduatedPercentage(inputs: Loose, expected: Loose): Figure[] {
  const values = { tiers: rowsOf(inputs.tiers) };
  if (inputs.total !== undefined) {
    const priced = price({
      values,
      usage: { total: inputs.total },
      charges: { fee: 'SLAB(usage.total, tiers)' },
    });
    return [['amount', priced.amount('fee'), expected.amount]];
  }
  let before = 0;
  const fees = inputs.transactions.map((amount: string) => {
    const priced = price({
      values,
      usage: { before: String(before), now: amount },
      charges: {
        fee: `SLAB(usage.before + usage.now, tiers)
          - IF(usage.before = 0, 0, SLAB(usage.before, tiers))`,
      },
    });
    before += Number(amount);
    return priced.amount('fee');
  });
  return [['transactions', fees.join(), expected.per_transaction.map(plain).join()]];
}

function packages(inputs: Loose, expected: Loose): Figure[] {
  const free = inputs.free_units ?? '0';
  const priced = price({
    values: { size: inputs.package_size, packPrice: inputs.package_price },
    usage: { units: inputs.quantity },
    charges: {
      charge: `PACKAGE(usage.units - ${free}, size, packPrice)`,
      packs: `PACKAGE(usage.units - ${free}, size, 1)`,
    },
  });
  const figures: Figure[] = [['amount', priced.amount('charge'), expected.amount]];
  if (expected.packages !== undefined) {
    figures.push(['packages', priced.amount('packs'), expected.packages]);
  }
  return figures;
}

function volumeProrated(inputs: Loose, expected: Loose): Figure[] {
  const priced = price({
    values: { tiers: rowsOf(inputs.tiers) },
    usage: { full: inputs.full_units, prorated: inputs.prorated_units },
    charges: {
      charge: `SLABVOLUME(usage.full, tiers)
        - (usage.full - usage.prorated) * SLABRATE(usage.full, tiers)`,
    },
  });
  return [['amount', priced.amount('charge'), expected.amount]];
}

function graduatedProrated(inputs: Loose, expected: Loose): Figure[] {
  const usage: Record<string, string> = {};
  const parts: string[] = [];
  let total = 0;
  let highest = 0;
  for (const [index, units] of inputs.event_units.entries()) {
    const before = total;
    total += Number(units);
    highest = Math.max(highest, total);
    // A removal is priced in the tier it leaves.
    usage[`reached${index}`] = String(Math.max(before, total));
    usage[`prorated${index}`] = inputs.event_prorated_units[index];
    parts.push(`usage.prorated${index} * SLABRATE(usage.reached${index}, tiers)`);
  }
  usage.highest = String(highest);
  const flats = inputs.tiers.map((tier: Loose) => ({
    upTo: tier.up_to === null ? null : String(tier.up_to),
    flat: tier.flat,
  }));
  const priced = price({
    values: { tiers: rowsOf(inputs.tiers), flats },
    usage,
    charges: { charge: `${parts.join(' + ')} + SLAB(usage.highest, flats)` },
  });
  return [['amount', priced.amount('charge'), expected.amount]];
}

function graduatedBlocks(inputs: Loose, expected: Loose): Figure[] {
  const { minutes, mbytes } = inputs.units;
  const rows = (unit: Loose) =>
    unit.tiers.map((tier: Loose) => ({
      upTo: tier.max_blocks === null ? null : String(tier.max_blocks),
      rate: tier.price,
    }));
  const priced = price({
    values: { minuteTiers: rows(minutes), mbyteTiers: rows(mbytes) },
    usage: { minutes: minutes.quantity, mbytes: mbytes.quantity },
    charges: {
      charge: `SLAB(CEILING(usage.minutes / ${minutes.block_size}, 1), minuteTiers)
        + SLAB(CEILING(usage.mbytes / ${mbytes.block_size}, 1), mbyteTiers)`,
    },
  });
  return [['amount', priced.amount('charge'), expected.amount]];
}

function volumeBlocks(inputs: Loose, expected: Loose): Figure[] {
  if (inputs.units !== undefined) {
    const { minutes, mbytes } = inputs.units;
    const priced = price({
      usage: { minutes: minutes.quantity, mbytes: mbytes.quantity },
      charges: {
        charge: `PACKAGE(usage.minutes, ${minutes.block_size}, ${minutes.top_price})
          + PACKAGE(usage.mbytes, ${mbytes.block_size}, ${mbytes.top_price})`,
      },
    });
    return [['amount', priced.amount('charge'), expected.amount]];
  }
  let reached = 0;
  const limits = inputs.tiers.map((tier: Loose, index: number) => {
    reached += tier.block_size * tier.max_blocks;
    return index === inputs.tiers.length - 1 ? null : String(reached);
  });
  const table = (key: string) =>
    inputs.tiers.map((tier: Loose, index: number) => ({
      upTo: limits[index],
      rate: String(tier[key]),
    }));
  const priced = price({
    values: { sizes: table('block_size'), prices: table('price') },
    usage: { units: inputs.quantity },
    charges: {
      charge: 'PACKAGE(usage.units, SLABRATE(usage.units, sizes), SLABRATE(usage.units, prices))',
    },
  });
  return [['amount', priced.amount('charge'), expected.amount]];
}

/** A term cut in two: the second part continues where the first ended, under one cap. */
function split(inputs: Loose, expected: Loose): Figure[] {
  const values = {
    ...(inputs.tiers === undefined ? {} : { tiers: rowsOf(inputs.tiers) }),
    cap: inputs.maximum ?? '0',
    priorBilled: inputs.prior_billed ?? '0',
  };
  const usage = { prior: inputs.prior_quantity, now: inputs.line_quantity };
  const gross =
    inputs.tiers === undefined
      ? `ROUND(usage.now * ${inputs.multiplier ?? 0}, 2)`
      : 'SLAB(usage.prior + usage.now, tiers) - SLAB(usage.prior, tiers)';
  const capped = 'MAX(0, comp.gross - MAX(0, cap - priorBilled))';
  const priced = price({
    values,
    usage,
    charges: {
      gross,
      discount: { type: 'Discount', formula: inputs.maximum === undefined ? '0' : `-${capped}` },
    },
  });
  const figures: Figure[] = [['amount', priced.total(), expected.amount]];
  if (expected.before_cap !== undefined) {
    figures.push(['before the cap', priced.amount('gross'), expected.before_cap]);
    figures.push(['discount', priced.amount('discount'), `-${expected.discount}`]);
  }
  return figures;
}

function commitmentOverage(inputs: Loose, expected: Loose): Figure[] {
  const least = inputs.true_up ? 'MAX(usage.units, commit)' : 'usage.units';
  const priced = price({
    values: { unit: inputs.unit, commit: inputs.commit_quantity, factor: inputs.overage_factor },
    usage: { units: inputs.quantity },
    charges: {
      charge: `MIN(${least}, commit) * unit + MAX(0, usage.units - commit) * unit * factor`,
    },
  });
  return [['amount', priced.amount('charge'), expected.amount]];
}

function timeOfUseCommitment(inputs: Loose, expected: Loose): Figure[] {
  const least = inputs.true_up ? 'commit' : '0';
  const priced = price({
    values: { unit: inputs.unit, commit: inputs.commit_amount, factor: inputs.overage_factor },
    usage: { units: inputs.window_quantity },
    charges: {
      charge: `MAX(${least}, MIN(usage.units * unit, commit))
        + MAX(0, usage.units * unit - commit) * factor`,
    },
  });
  return [['amount', priced.amount('charge'), expected.amount]];
}

function simple(
  formula: (inputs: Loose) => string,
  usage: (inputs: Loose) => Record<string, string>,
): Expression {
  return (inputs, expected) => {
    const priced = price({ usage: usage(inputs), charges: { charge: formula(inputs) } });
    return [['amount', priced.amount('charge'), expected.amount]];
  };
}

const units = (inputs: Loose) => ({ units: inputs.quantity });

export const tierModels: Record<string, Expression> = {
  volume: tiered('SLABVOLUME'),
  graduated: tiered('SLAB'),
  percentage,
  graduated_percentage: graduatedPercentage,
  package: packages,
  volume_prorated: volumeProrated,
  graduated_prorated: graduatedProrated,
  graduated_blocks: graduatedBlocks,
  volume_blocks: volumeBlocks,
  maximum_cap_split: split,
  graduated_split_period: split,
  commitment_overage: commitmentOverage,
  time_of_use_commitment: timeOfUseCommitment,
  per_unit: simple((inputs) => `usage.units * ${inputs.unit}`, units),
  multiplier: simple((inputs) => `usage.units * ${inputs.multiplier}`, units),
  capacity_commitment: simple(
    (inputs) =>
      `${inputs.price} + MAX(0, usage.units - ${inputs.included}) * ${inputs.overage_unit}`,
    units,
  ),
  flat_plus_overage: (inputs, expected) => {
    const priced = price({
      values: { tiers: rowsOf(inputs.tiers) },
      usage: units(inputs),
      quantities: { users: [['01/01/2025', inputs.users]] },
      charges: {
        users: `qty.users * ${inputs.flat_per_user}`,
        overage: 'SLAB(usage.units, tiers)',
      },
    });
    return [['amount', priced.total(), expected.amount]];
  },
  stairstep: (inputs, expected) => {
    const rows = inputs.bands.map((band: Loose, index: number) => ({
      upTo: index === inputs.bands.length - 1 ? null : String(band.up_to),
      flat: band.price,
    }));
    const amountOf = (quantity: string) =>
      price({
        values: { bands: rows },
        usage: { units: quantity },
        charges: { charge: 'SLABVOLUME(usage.units, bands)' },
      }).amount('charge');
    return [
      ['amount', amountOf(inputs.quantity), expected.amount],
      ['amount at 1500', amountOf('1500'), expected.amount],
    ];
  },
  minimum_true_up: (inputs, expected) => {
    const priced = price({
      values: { minimum: inputs.minimum },
      usage: units(inputs),
      charges: {
        usage: { formula: `usage.units * ${inputs.unit}`, categories: ['spend'] },
        trueUp: 'MAX(0, minimum * segment.factor - SUMCAT("spend"))',
      },
    });
    return [
      ['usage', priced.amount('usage'), expected.usage],
      ['true-up', priced.amount('trueUp'), expected.true_up],
      ['amount', priced.total(), expected.amount],
    ];
  },
  free_units_split: (inputs, expected) => {
    const priced = price({
      usage: { prior: inputs.prior_quantity, now: inputs.line_quantity },
      charges: {
        free: `MIN(usage.now, MAX(0, ${inputs.free_units} - usage.prior))`,
        billable: 'usage.now - comp.free',
      },
    });
    return [
      ['billable', priced.amount('billable'), expected.billable],
      ['free units used', priced.amount('free'), expected.free_used_here],
    ];
  },
};
