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
    if (expected.amountUnrounded !== undefined) {
      figures.push(['unrounded', priced.exact('charge'), expected.amountUnrounded]);
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
      values: { rate: `${inputs.ratePercent}%`, fixed: inputs.fixedPerEvent },
      usage: { amount: event, eventsBefore: String(count), amountBefore: String(sum) },
      charges: {
        fee: `IF(AND(usage.eventsBefore < ${inputs.freeEvents},
          usage.amountBefore + usage.amount <= ${inputs.freeAmount}), 0,
          usage.amount * rate + fixed)`,
      },
    });
    count += 1;
    sum += Number(event);
    return priced.amount('fee');
  });
}

function percentage(inputs: Loose, expected: Loose): Figure[] {
  if (inputs.freeEvents !== undefined) {
    const fees = perEvent(inputs);
    return [['events', fees.join(), expected.perEvent.map(plain).join()]];
  }
  if (inputs.minPerTx !== undefined) {
    const { ratePercent: rate, minPerTx: least, maxPerTx: most } = inputs;
    const fee = (event: string) => `MIN(MAX(usage.${event} * ${rate}%, ${least}), ${most})`;
    const [first, second, third] = inputs.events;
    const priced = price({
      usage: { first, second, third },
      charges: { fees: `SUM(${fee('first')}, ${fee('second')}, ${fee('third')})` },
    });
    return [['amount', priced.exact('fees'), expected.amount]];
  }
  const priced = price({
    usage: { total: inputs.total, events: String(inputs.eventsCount) },
    charges: {
      fees: `MAX(0, usage.total - ${inputs.freeAmount}) * ${inputs.ratePercent}%
        + (usage.events - ${inputs.freeEventsEffective}) * ${inputs.fixedPerEvent}`,
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
  return [['transactions', fees.join(), expected.perTransaction.map(plain).join()]];
}

function packages(inputs: Loose, expected: Loose): Figure[] {
  const free = inputs.freeUnits ?? '0';
  const priced = price({
    values: { size: inputs.packageSize, packPrice: inputs.packagePrice },
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
    usage: { full: inputs.fullUnits, prorated: inputs.proratedUnits },
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
  for (const [index, units] of inputs.eventUnits.entries()) {
    const before = total;
    total += Number(units);
    highest = Math.max(highest, total);
    // A removal is priced in the tier it leaves.
    usage[`reached${index}`] = String(Math.max(before, total));
    usage[`prorated${index}`] = inputs.eventProratedUnits[index];
    parts.push(`usage.prorated${index} * SLABRATE(usage.reached${index}, tiers)`);
  }
  usage.highest = String(highest);
  const flats = inputs.tiers.map((tier: Loose) => ({
    upTo: tier.upTo === null ? null : String(tier.upTo),
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
      upTo: tier.maxBlocks === null ? null : String(tier.maxBlocks),
      rate: tier.price,
    }));
  const priced = price({
    values: { minuteTiers: rows(minutes), mbyteTiers: rows(mbytes) },
    usage: { minutes: minutes.quantity, mbytes: mbytes.quantity },
    charges: {
      charge: `SLAB(CEILING(usage.minutes / ${minutes.blockSize}, 1), minuteTiers)
        + SLAB(CEILING(usage.mbytes / ${mbytes.blockSize}, 1), mbyteTiers)`,
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
        charge: `PACKAGE(usage.minutes, ${minutes.blockSize}, ${minutes.topPrice})
          + PACKAGE(usage.mbytes, ${mbytes.blockSize}, ${mbytes.topPrice})`,
      },
    });
    return [['amount', priced.amount('charge'), expected.amount]];
  }
  let reached = 0;
  const limits = inputs.tiers.map((tier: Loose, index: number) => {
    reached += tier.blockSize * tier.maxBlocks;
    return index === inputs.tiers.length - 1 ? null : String(reached);
  });
  const table = (key: string) =>
    inputs.tiers.map((tier: Loose, index: number) => ({
      upTo: limits[index],
      rate: String(tier[key]),
    }));
  const priced = price({
    values: { sizes: table('blockSize'), prices: table('price') },
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
    priorBilled: inputs.priorBilled ?? '0',
  };
  const usage = { prior: inputs.priorQuantity, now: inputs.lineQuantity };
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
  if (expected.beforeCap !== undefined) {
    figures.push(['before the cap', priced.amount('gross'), expected.beforeCap]);
    figures.push(['discount', priced.amount('discount'), `-${expected.discount}`]);
  }
  return figures;
}

function commitmentOverage(inputs: Loose, expected: Loose): Figure[] {
  const least = inputs.trueUp ? 'MAX(usage.units, commit)' : 'usage.units';
  const priced = price({
    values: { unit: inputs.unit, commit: inputs.commitQuantity, factor: inputs.overageFactor },
    usage: { units: inputs.quantity },
    charges: {
      charge: `MIN(${least}, commit) * unit + MAX(0, usage.units - commit) * unit * factor`,
    },
  });
  return [['amount', priced.amount('charge'), expected.amount]];
}

function timeOfUseCommitment(inputs: Loose, expected: Loose): Figure[] {
  const least = inputs.trueUp ? 'commit' : '0';
  const priced = price({
    values: { unit: inputs.unit, commit: inputs.commitAmount, factor: inputs.overageFactor },
    usage: { units: inputs.windowQuantity },
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
  graduatedPercentage: graduatedPercentage,
  package: packages,
  volumeProrated: volumeProrated,
  graduatedProrated: graduatedProrated,
  graduatedBlocks: graduatedBlocks,
  volumeBlocks: volumeBlocks,
  maximumCapSplit: split,
  graduatedSplitPeriod: split,
  commitmentOverage: commitmentOverage,
  timeOfUseCommitment: timeOfUseCommitment,
  perUnit: simple((inputs) => `usage.units * ${inputs.unit}`, units),
  multiplier: simple((inputs) => `usage.units * ${inputs.multiplier}`, units),
  capacityCommitment: simple(
    (inputs) =>
      `${inputs.price} + MAX(0, usage.units - ${inputs.included}) * ${inputs.overageUnit}`,
    units,
  ),
  flatPlusOverage: (inputs, expected) => {
    const priced = price({
      values: { tiers: rowsOf(inputs.tiers) },
      usage: units(inputs),
      quantities: { users: [['01/01/2025', inputs.users]] },
      charges: {
        users: `qty.users * ${inputs.flatPerUser}`,
        overage: 'SLAB(usage.units, tiers)',
      },
    });
    return [['amount', priced.total(), expected.amount]];
  },
  stairstep: (inputs, expected) => {
    const rows = inputs.bands.map((band: Loose, index: number) => ({
      upTo: index === inputs.bands.length - 1 ? null : String(band.upTo),
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
  minimumTrueUp: (inputs, expected) => {
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
      ['true-up', priced.amount('trueUp'), expected.trueUp],
      ['amount', priced.total(), expected.amount],
    ];
  },
  freeUnitsSplit: (inputs, expected) => {
    const priced = price({
      usage: { prior: inputs.priorQuantity, now: inputs.lineQuantity },
      charges: {
        free: `MIN(usage.now, MAX(0, ${inputs.freeUnits} - usage.prior))`,
        billable: 'usage.now - comp.free',
      },
    });
    return [
      ['billable', priced.amount('billable'), expected.billable],
      ['free units used', priced.amount('free'), expected.freeUsedHere],
    ];
  },
};
