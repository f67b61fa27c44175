// A subscription as it is shown.
import * as Type from 'typebox';
import { formatCompactDate, formatTimestamp } from '../../base/calendar.ts';
import { wireDay } from '../../base/days.ts';
import { majorUnits } from '../../base/money.ts';
import { isOwedByWorkspace } from '../../domain/ledger/accounts.ts';
import { builtInBatch } from '../../domain/pricing/context.ts';
import { isOwnValue, lastDayText } from '../../domain/subscriptions/facts.ts';
import { beginsSince, ownedSince } from '../../domain/subscriptions/own-days.ts';
import type { Quantity, Variant } from '../../domain/subscriptions/subscription.ts';
import type { WholeSubscription } from '../../domain/subscriptions/views.ts';
import type { LedgerView, MeterView, ReadingView } from '../../domain/subscriptions/views-store.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { billView } from '../bills/bill-fields.ts';
import { maySeeNotes, shownName } from '../customer-fields.ts';
import { dunningHoldView } from '../dunning/hold-fields.ts';
import { addressView, money, nullable, timestamp, ts, wholeAddress } from '../fields.ts';
import type { Call } from '../operation.ts';

const text = Type.String();
const maybeText = nullable(Type.String());
const integer = Type.Integer();
/** Objects of any shape: what was sent is read back. */
const anyObject = Type.Unsafe<object>({ type: 'object', additionalProperties: true });

const registerReading = {
  lastReading: maybeText,
  lastReadingDate: maybeText,
};

const meterView = Type.Object({
  number: integer,
  meterType: text,
  brand: text,
  mf: integer,
  status: text,
  meterHealth: text,
  installDate: text,
  removeDate: maybeText,
  registers: Type.Array(Type.Object({ register: text, unit: text, ...registerReading })),
});

const meteredInputView = Type.Object({
  name: text,
  meterNumber: integer,
  register: text,
  unit: text,
  openingReading: maybeText,
  openingDate: maybeText,
  ...registerReading,
  lastReadingType: maybeText,
});

/** Each owner sees itself in a transfer, and not the other party. */
const seenParty = { description: 'null if a customer asks and the actor is another party' };
const seenPartyId = nullable(Type.Integer(seenParty));
const seenPartyName = nullable(Type.String(seenParty));

const transferView = Type.Object({
  transferID: integer,
  transferDate: text,
  fromPartyID: seenPartyId,
  fromPartyName: seenPartyName,
  toPartyID: seenPartyId,
  toPartyName: seenPartyName,
  readings: Type.Array(anyObject),
  balanceHandling: text,
  amountMoved: money,
  reason: maybeText,
  createdAt: timestamp,
  createdBy: text,
});

const readingView = Type.Object({
  readingID: integer,
  number: integer,
  register: text,
  value: text,
  readingDate: text,
  readingType: text,
  status: text,
  consumption: maybeText,
  remark: maybeText,
});

const ledgerView = Type.Object({
  date: text,
  type: text,
  account: text,
  reference: maybeText,
  description: maybeText,
  debit: money,
  credit: money,
});

export const connectionView = Type.Object({
  id: integer,
  connectionNumber: text,
  connectionRefNo: maybeText,
  serviceCode: text,
  tariffCode: text,
  tariffLabel: text,
  batchCode: maybeText,
  status: text,
  disconnectionKind: maybeText,
  chargingType: text,
  postType: text,
  connectionDate: Type.String({ description: 'DDMMYYYY' }),
  billedThrough: nullable(Type.String({ description: 'DDMMYYYY, the last billed day' })),
  description: maybeText,
  paymentMethod: maybeText,
  projectName: maybeText,
  partyID: integer,
  partyNumber: integer,
  partyName: text,
  connectionGroupID: integer,
  connectionGroupLabel: text,
  connectionInputs: Type.Array(Type.Object({ name: text, value: text })),
  meteredConnectionInputs: Type.Array(meteredInputView),
  unmeteredInputs: Type.Array(
    Type.Object({ name: text, value: text, fromDate: text, toDate: maybeText }),
  ),
  meters: Type.Array(meterView),
  accounts: Type.Array(Type.Object({ title: text, balance: money })),
  address: addressView,
  users: Type.Array(
    Type.Object({
      partyID: integer,
      partyNumber: integer,
      partyName: text,
      role: text,
      fromDate: text,
      toDate: maybeText,
    }),
  ),
  addOns: Type.Array(
    Type.Object({
      tariffCode: text,
      tariffLabel: text,
      quantity: text,
      fromDate: text,
      toDate: maybeText,
      status: text,
    }),
  ),
  variants: Type.Array(anyObject),
  documents: Type.Array(text),
  bills: Type.Array(billView),
  transfers: Type.Array(transferView),
  tariffHistory: Type.Array(Type.Object({ tariffCode: text, fromDate: text })),
  statusHistory: Type.Array(
    Type.Object({ status: text, fromDate: text, kind: maybeText, reason: maybeText }),
  ),
  payments: Type.Array(Type.Object({})),
  dunningHold: dunningHoldView,
  readings: Type.Array(readingView),
  ledger: Type.Array(ledgerView),
  createdAt: timestamp,
  createdBy: text,
  modifiedAt: timestamp,
  modifiedBy: text,
  ts,
});

export function presentConnection(row: WholeSubscription, call: Call, today: string) {
  const { tenant } = call;
  const amount = (minor: string) => majorUnits(BigInt(minor), tenant.currencyDecimals);
  return {
    id: row.subscription_id,
    connectionNumber: row.subscription_number,
    connectionRefNo: row.reference_number,
    serviceCode: row.context_code,
    tariffCode: row.plan_code,
    tariffLabel: row.plan_label,
    batchCode: row.batch_code === builtInBatch ? null : row.batch_code,
    status: row.status,
    disconnectionKind: row.disconnection_kind,
    chargingType: row.charging_type,
    postType: row.post_type,
    connectionDate: compact(row.connection_date),
    billedThrough: row.billed_through && compact(row.billed_through),
    description: row.description,
    paymentMethod: row.payment_method,
    projectName: row.project_name,
    partyID: row.party_id,
    partyNumber: row.party_number,
    partyName: row.party_name,
    connectionGroupID: row.account_id,
    connectionGroupLabel: row.account_label,
    connectionInputs: row.connection_inputs,
    meteredConnectionInputs: row.meters.flatMap(presentMeteredInputs),
    unmeteredInputs: presentQuantities(row.quantities),
    meters: row.meters.map(presentMeter),
    accounts: [
      isOwedByWorkspace(row.context_type)
        ? { title: 'Payable', balance: amount(`${-BigInt(row.receivable)}`) }
        : { title: 'Receivable', balance: amount(row.receivable) },
      { title: 'Advance', balance: amount(row.wallet_balance) },
      { title: 'Security Deposit', balance: amount(row.deposit) },
      { title: 'Disputed', balance: amount(row.disputed) },
    ],
    address: wholeAddress(row.address),
    ...presentPeople(row, call),
    ...presentPlans(row, today),
    variants: row.variants.map((variant) => presentVariant(variant, tenant)),
    documents: row.documents,
    statusHistory: row.status_history.map(({ status, fromDate, kind, reason }) => ({
      status,
      fromDate: wireDay(fromDate),
      kind: kind ?? null,
      reason: row.viewerId === null ? (reason ?? null) : null,
    })),
    ...(row.readings
      ? { readings: row.readings.map((one) => presentReading(one, row, call)) }
      : {}),
    ...(row.ledger ? { ledger: row.ledger.map((entry) => presentEntry(entry, amount)) } : {}),
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: shownName(call, row.created_by),
    modifiedAt: formatTimestamp(row.modified_at, tenant.timezone),
    modifiedBy: shownName(call, row.modified_by),
    ts: row.ts,
  };
}

function compact(isoDate: string): string {
  return formatCompactDate(Temporal.PlainDate.from(isoDate));
}

function maybeDay(isoDate: string | null | undefined): string | null {
  return isoDate ? wireDay(isoDate) : null;
}

function maybeLastDay(isoDate: string | null | undefined): string | null {
  return isoDate ? lastDayText(isoDate) : null;
}

function presentPeople(row: WholeSubscription, call: Call) {
  const { tenant } = call;
  const nameOf = (partyId: number) => row.parties.get(partyId)?.name ?? '';
  const seen = <Shown>(partyId: number, shown: Shown) =>
    row.viewerId === null || row.viewerId === partyId ? shown : null;
  return {
    users: row.users.map(({ partyId, role, fromDate, toDate }) => ({
      partyID: partyId,
      partyNumber: row.parties.get(partyId)?.party_number ?? 0,
      partyName: nameOf(partyId),
      role,
      fromDate: wireDay(fromDate),
      toDate: maybeLastDay(toDate),
    })),
    transfers: row.transfers.map((transfer) => ({
      transferID: transfer.transferId,
      transferDate: wireDay(transfer.transferDate),
      fromPartyID: seen(transfer.fromPartyId, transfer.fromPartyId),
      fromPartyName: seen(transfer.fromPartyId, nameOf(transfer.fromPartyId)),
      toPartyID: seen(transfer.toPartyId, transfer.toPartyId),
      toPartyName: seen(transfer.toPartyId, nameOf(transfer.toPartyId)),
      readings: transfer.readings,
      balanceHandling: transfer.balanceHandling,
      amountMoved: majorUnits(BigInt(transfer.amountMoved), tenant.currencyDecimals),
      reason: row.viewerId === null ? transfer.reason : null,
      createdAt: formatTimestamp(Temporal.Instant.from(transfer.createdAt), tenant.timezone),
      createdBy: shownName(call, transfer.createdBy),
    })),
  };
}

function presentPlans(row: WholeSubscription, today: string) {
  return {
    addOns: row.add_ons.map(({ planId, quantity, fromDate, toDate }) => ({
      tariffCode: row.plans.get(planId)?.code ?? '',
      tariffLabel: row.plans.get(planId)?.name ?? '',
      quantity,
      fromDate: wireDay(fromDate),
      toDate: maybeLastDay(toDate),
      status: fromDate > today ? 'Pending' : toDate && toDate <= today ? 'Ended' : 'Active',
    })),
    tariffHistory: row.plan_history.map(({ planId, fromDate }) => ({
      tariffCode: row.plans.get(planId)?.code ?? '',
      fromDate: wireDay(fromDate),
    })),
  };
}

/** Each holds until the next one of the same name. */
function presentQuantities(quantities: readonly Quantity[]) {
  return quantities.map(({ name, value, fromDate }, index) => {
    const next = quantities.find((one, at) => at > index && one.name === name);
    return { name, value, fromDate: wireDay(fromDate), toDate: maybeLastDay(next?.fromDate) };
  });
}

function presentVariant(variant: Variant, tenant: Tenant): object {
  if (!isOwnValue(variant)) return variant;
  const { createdAt } = variant;
  return {
    ...variant,
    fromDate: maybeDay(variant.fromDate),
    toDate: maybeLastDay(variant.toDate),
    ...(createdAt === undefined
      ? {}
      : { createdAt: formatTimestamp(Temporal.Instant.from(createdAt), tenant.timezone) }),
  };
}

function presentMeter(meter: MeterView) {
  return {
    number: meter.number,
    meterType: meter.meter_type,
    brand: meter.brand,
    mf: meter.mf,
    status: meter.status,
    meterHealth: meter.health,
    installDate: wireDay(meter.install_date),
    removeDate: maybeDay(meter.remove_date),
    registers: meter.registers.map(({ register, unit, lastReading, lastReadingDate }) => ({
      register,
      unit,
      lastReading,
      lastReadingDate: maybeDay(lastReadingDate),
    })),
  };
}

/** What the meters that are installed now measure. */
function presentMeteredInputs(meter: MeterView) {
  if (meter.remove_date !== null) return [];
  return meter.registers.flatMap((register) => {
    const { input, openingReading, lastReading, lastReadingType } = register;
    if (input === null) return [];
    return {
      name: input,
      meterNumber: meter.number,
      register: register.register,
      unit: register.unit,
      openingReading,
      openingDate: maybeDay(register.openingDate),
      lastReading,
      lastReadingDate: maybeDay(register.lastReadingDate),
      lastReadingType,
    };
  });
}

/** Usage that began in another owner's days is not shown. */
function presentReading(row: ReadingView, of: WholeSubscription, call: Call) {
  const isWhole = of.viewerId === null || beginsSince(ownedSince(of), row);
  return {
    readingID: row.reading_id,
    number: row.number,
    register: row.register,
    value: row.value,
    readingDate: wireDay(row.reading_date),
    readingType: row.reading_type,
    status: row.status,
    consumption: isWhole ? row.consumption : null,
    remark: maySeeNotes(call, row) ? row.remark : null,
  };
}

function presentEntry(entry: LedgerView, amount: (minor: string) => number) {
  const isDebit = !entry.amount.startsWith('-');
  return {
    date: wireDay(entry.posting_date),
    type: entry.kind,
    account: entry.account,
    reference: entry.reference,
    description: entry.description,
    debit: isDebit ? amount(entry.amount) : 0,
    credit: isDebit ? 0 : amount(entry.amount.slice(1)),
  };
}
