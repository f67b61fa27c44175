import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { listNewestBills } from '../../domain/bills/list-store.ts';
import {
  countSubscriptions,
  listIdsAfter,
  listIdsAt,
  type Narrowed,
  narrow,
  type SubscriptionFilter,
  type SubscriptionSort,
  subscriptionSortNames,
} from '../../domain/subscriptions/list-store.ts';
import { subscriptionStatuses } from '../../domain/subscriptions/subscription.ts';
import { type WholeSubscription, wholeSubscriptions } from '../../domain/subscriptions/views.ts';
import { type BillView, presentBills } from '../bills/bill-fields.ts';
import { shownBills } from '../customer-fields.ts';
import { type ShownHold, shownHolds } from '../dunning/hold-fields.ts';
import { date, filterOf, maybe, metaData, page, text } from '../fields.ts';
import { foundAhead, listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';
import { dateOf } from './connection-fields.ts';
import { connectionView, presentConnection } from './connection-view-fields.ts';

const subscriptionTypes = ['Metered', 'Unmetered', 'Mixed', 'Prepaid', 'Postpaid'] as const;

/** A number that does not exist is not an error: the list is empty. */
const key = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  'x-code': 'INVALID_FILTER_VALUE',
});

const include = maybe(Type.Boolean());

/** Bills that are shown of each subscription, unless days are named. */
const billsMax = 24;
const word = maybe(text({ max: 200 }));

const request = Type.Object({
  serviceCode: maybe(text({ max: 32 })),
  connectionNumber: maybe(text({ max: 120 })),
  partyID: maybe(key),
  subscriptionType: filterOf(subscriptionTypes),
  status: filterOf(subscriptionStatuses),
  filters: maybe(
    Type.Object({
      bills: maybe(
        Type.Boolean({
          description: `the newest ${billsMax} bills of each; all of them with fromDate or toDate`,
        }),
      ),
      payments: include,
      readings: include,
      ledger: include,
      batchCode: maybe(text({ max: 32 })),
      tariffCode: maybe(text({ max: 64 })),
      connectionGroupLabel: word,
      billingGroupID: maybe(key),
      connectionRefNo: maybe(text({ max: 120 })),
      meterNumber: maybe(key),
      city: word,
      block: word,
      society: word,
      fromDate: maybe(date),
      toDate: maybe(date),
    }),
  ),
  metaData: metaData(subscriptionSortNames),
  page: Type.Optional(page),
});
type Request = Type.Static<typeof request>;

export const getConnections = operation({
  path: '/billing/connections/get-connections',
  method: 'Retrieve',
  action: 'Retrieve Subscriptions',
  access: { permission: 'subscriptions:read', own: 'own-subscriptions:read' },
  summary: 'Lists subscriptions: all, a page, or those that match.',
  byKey: ({ connectionNumber, filters }) =>
    Boolean(connectionNumber) && !(filters?.bills || filters?.readings || filters?.ledger),
  request,
  response: Type.Object({ connections: Type.Array(Type.Partial(connectionView)) }),
  errors: [],
  example: {
    serviceCode: 'ELEC',
    status: 'Active',
    filters: { bills: true },
    page: { pageNumber: 0, size: 20 },
  },
  async handle(call, body) {
    const { tenant } = call;
    const { tenantId } = tenant;
    const meta = body.metaData ?? {};
    const filter = await narrowed(call, body);
    if (!filter) return { message: '0 found', total: 0, data: { connections: [] } };
    const sort: SubscriptionSort = {
      by: meta.sortBy ?? 'id',
      descending: meta.sortOrder === 'desc',
    };
    const included = {
      readings: body.filters?.readings ?? false,
      ledger: body.filters?.ledger ?? false,
    };
    const isWithBills = body.filters?.bills ?? false;
    const isDated = Boolean(body.filters?.fromDate || body.filters?.toDate);
    const limit = isDated ? null : billsMax;
    const whole = async (tx: Tx, ids: readonly number[]): Promise<Shown[]> => {
      const rows = await wholeSubscriptions(tx, tenantId, ids, included, call.ownPartyId);
      const bills = isWithBills ? await newestBills(call, tx, ids, limit) : undefined;
      const holds = await shownHolds(tx, call, ids);
      return rows.map((row) => ({
        ...row,
        bills: bills?.get(row.subscription_id) ?? [],
        dunningHold: holds.get(row.subscription_id) ?? null,
      }));
    };
    const find = (tx: Tx, options: Following) => listIdsAfter(tx, tenantId, filter, sort, options);
    const next = async (tx: Tx, options: Following) => whole(tx, await find(tx, options));
    const today = dateIn(call.now, tenant.timezone).toString();
    const payments = body.filters?.payments ? { payments: [] } : {};
    return listing(call, {
      page: body.page,
      ...(isWithBills ? { chunkSize: chunkWithBills } : {}),
      fields: meta.fields,
      count: (tx) => countSubscriptions(tx, tenantId, filter),
      at: async (tx, window) => whole(tx, await listIdsAt(tx, tenantId, filter, sort, window)),
      after: filter.search === null ? next : foundAhead({ find, rowsOf: whole, idOf }),
      present: (row: Shown) => ({
        ...presentConnection(row, call, today),
        bills: row.bills,
        dunningHold: row.dunningHold,
        ...payments,
      }),
      wrap: (connections) => ({ connections }),
    });
  },
});

type Shown = WholeSubscription & { bills: readonly BillView[]; dunningHold: ShownHold };
type Following = { after: Shown | undefined; limit: number };

const idOf = (row: Shown) => row.subscription_id;

/** As many subscriptions with their bills take the memory of a thousand without. */
const chunkWithBills = 50;

/** Customers see what was published to them, not to the owner before them. */
async function newestBills(
  call: Call,
  tx: Tx,
  ids: readonly number[],
  limit: number | null,
): Promise<Map<number, BillView[]>> {
  const { ownPartyId: partyId, tenant } = call;
  const statuses = partyId === null ? null : (['Published'] as const);
  const rows = await listNewestBills(tx, tenant.tenantId, ids, { limit, statuses, partyId });
  const views = shownBills(call, await presentBills(tx, call.tenant, rows));
  const found = new Map<number, BillView[]>();
  rows.forEach((row, index) => {
    const known = found.get(row.of_subscription) ?? [];
    found.set(row.of_subscription, [...known, views[index] as BillView]);
  });
  return found;
}

/** Ids instead of codes; undefined when nothing can match. */
async function narrowed(call: Call, body: Request): Promise<Narrowed | undefined> {
  const { ownPartyId } = call;
  const wanted = filterOfBody(body);
  if (ownPartyId === null) return narrow(call.tx, call.tenant.tenantId, wanted);
  if (wanted.partyId !== null && wanted.partyId !== ownPartyId) return undefined;
  return narrow(call.tx, call.tenant.tenantId, { ...wanted, partyId: ownPartyId });
}

function filterOfBody(body: Request): SubscriptionFilter {
  const { subscriptionType: type } = body;
  const narrowing = body.filters ?? {};
  const meta = body.metaData ?? {};
  return {
    contextCode: body.serviceCode || null,
    planCode: narrowing.tariffCode || null,
    batchCode: narrowing.batchCode || null,
    chargingType: type === 'Prepaid' || type === 'Postpaid' ? type : null,
    isMetered: type === 'Metered' || type === 'Mixed' ? true : type === 'Unmetered' ? false : null,
    hasQuantities: type === 'Mixed' ? true : null,
    status: body.status ?? null,
    number: body.connectionNumber || null,
    referenceNumber: narrowing.connectionRefNo || null,
    meterNumber: narrowing.meterNumber ?? null,
    partyId: body.partyID ?? null,
    accountLabel: narrowing.connectionGroupLabel || null,
    billingGroupId: narrowing.billingGroupID ?? null,
    city: narrowing.city || null,
    block: narrowing.block || null,
    society: narrowing.society || null,
    fromDate: dateOf(narrowing.fromDate),
    toDate: dateOf(narrowing.toDate),
    search: meta.search || null,
    updatedSince: meta.updatedSince ?? null,
  };
}
