import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { counted } from '../../base/counted.ts';
import { decimalText, exactFrom } from '../../base/numbers/decimal-text.ts';
import { add, zero } from '../../base/numbers/exact.ts';
import { type BilledUsageRow, listBilledUsage } from '../../domain/bills/usage-store.ts';
import { findPartyIds } from '../../domain/parties/notes-store.ts';
import { id, maybe, nullable, text } from '../fields.ts';
import { type Call, operation } from '../operation.ts';

/** Two years and the month before them, so that each of 13 months has the same month last year. */
const monthsMax = 25;
const shownMonths = 13;
const billsMax = 500;

const quantity = nullable(Type.String({ description: 'null if no bill has that month' }));
const series = {
  months: Type.Array(
    Type.Object({
      month: Type.String({ description: 'MM/YYYY' }),
      quantity,
      lastYear: quantity,
    }),
    { description: `the last ${shownMonths}, oldest first` },
  ),
};

const usage = Type.Object({
  connectionNumber: Type.String(),
  input: nullable(Type.String()),
  unit: nullable(Type.String()),
  meterNumber: nullable(Type.Integer({ description: 'null: all meters of the input together' })),
  register: nullable(Type.String()),
  ...series,
});

export const getUsage = operation({
  path: '/billing/connections/get-usage',
  method: 'Retrieve',
  action: 'Retrieve Usage',
  access: { permission: 'subscriptions:read', own: 'own-subscriptions:read' },
  summary: 'Shows billed usage by month, per input and per meter, against the year before.',
  request: Type.Object({
    partyNumber: maybe(id),
    connectionNumber: maybe(text({ max: 120 })),
  }),
  response: Type.Object({ usage: Type.Array(usage) }),
  errors: ['PARTY_NOT_FOUND'],
  example: { partyNumber: 100001, connectionNumber: 'ELEC-00000001' },
  async handle(call, body) {
    const partyId = await partyOf(call, body.partyNumber ?? null);
    const today = dateIn(call.now, call.tenant.timezone);
    const first = today.with({ day: 1 }).subtract({ months: monthsMax - 1 });
    const rows =
      partyId === null
        ? []
        : await listBilledUsage(call.tx, call.tenant.tenantId, {
            partyId,
            subscriptionNumber: body.connectionNumber || null,
            // Customers see what is published.
            statuses: call.ownPartyId === null ? ['Posted', 'Published'] : ['Published'],
            since: first.toString(),
            limit: billsMax,
          });
    const shown = seriesOf(rows, today);
    return { message: counted(shown.length, 'series', 'series'), data: { usage: shown } };
  },
});

/** A customer asks of itself; of any other party nothing is found. */
async function partyOf(call: Call, partyNumber: number | null): Promise<number | null> {
  const { tx, tenant, ownPartyId } = call;
  if (partyNumber === null) return ownPartyId ?? call.principal.partyId;
  const found = (await findPartyIds(tx, tenant.tenantId, [partyNumber])).get(partyNumber) ?? null;
  return ownPartyId !== null && found !== ownPartyId ? null : found;
}

type Key = Pick<
  Type.Static<typeof usage>,
  'connectionNumber' | 'input' | 'unit' | 'meterNumber' | 'register'
>;

function seriesOf(rows: readonly BilledUsageRow[], today: Temporal.PlainDate) {
  const all = new Map<string, { key: Key; sums: Map<string, string> }>();
  const note = (key: Key, month: string, value: string) => {
    const name = JSON.stringify(key);
    const one = all.get(name) ?? { key, sums: new Map<string, string>() };
    all.set(name, one);
    const sum = add(exactFrom(one.sums.get(month) ?? '0') ?? zero, exactFrom(value) ?? zero);
    one.sums.set(month, decimalText(sum));
  };
  for (const { subscription_number: connectionNumber, month, usage: used, readings } of rows) {
    for (const { input, unit, quantity: value } of used ?? []) {
      const key = {
        connectionNumber,
        input,
        unit: unit ?? null,
        meterNumber: null,
        register: null,
      };
      note(key, month, value);
    }
    for (const { meterNumber, register, consumption } of readings ?? []) {
      const meter = { meterNumber, register: register ?? null };
      note({ connectionNumber, input: null, unit: null, ...meter }, month, consumption);
    }
  }
  return [...all.values()].map(({ key, sums }) => ({ ...key, months: monthsOf(sums, today) }));
}

function monthsOf(sums: ReadonlyMap<string, string>, today: Temporal.PlainDate) {
  return Array.from({ length: shownMonths }, (_, index) => {
    const month = today.toPlainYearMonth().subtract({ months: shownMonths - 1 - index });
    const [year, number] = month.toString().split('-');
    return {
      month: `${number}/${year}`,
      quantity: sums.get(month.toString()) ?? null,
      lastYear: sums.get(month.subtract({ years: 1 }).toString()) ?? null,
    };
  });
}
