// What the steps of a dunning plan do: a reminder is queued, a fee is booked, a subscription is
// disconnected, or connected again when the debt is paid.

import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { majorUnits, minorUnitsFrom } from '../../base/money.ts';
import { type NoticeWriter, openNoticeWriter } from '../delivery/notice-text.ts';
import { insertNotices, type NewNotice } from '../delivery/notices-store.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import { type Booking, book, opening } from '../ledger/book.ts';
import { componentAccounts } from '../ledger/component-accounts.ts';
import { findSettings } from '../tenants/store.ts';
import type { DoneMove, DunningDay, Move } from './move.ts';
import { switchSupply } from './switch-supply.ts';

const by = 'daily job';

/** Subscriptions are locked, then wallets: disconnecting comes first, fees last. */
export async function doSteps(
  tx: Tx,
  tenantId: number,
  moves: readonly Move[],
  day: DunningDay,
): Promise<DoneMove[]> {
  const settings = await findSettings(tx, tenantId);
  const currency = {
    currency: settings.currency,
    currencyDecimals: settings.currency_decimals,
  };
  const done = moves.map(
    (move): DoneMove => ({
      ...move,
      noticeId: null,
      fee: null,
      problem: null,
      isDisconnected: move.episode?.is_disconnected ?? false,
    }),
  );
  for (const move of done) await supply(tx, { tenantId, ...currency }, move, day);
  await remind(tx, tenantId, done, { day, decimals: currency.currencyDecimals });
  await chargeFees(tx, tenantId, done, { day, decimals: currency.currencyDecimals });
  return done;
}

/** Disconnects by the step, or connects again what was disconnected and is paid. */
async function supply(
  tx: Tx,
  workspace: Parameters<typeof switchSupply>[1],
  move: DoneMove,
  day: DunningDay,
): Promise<void> {
  const { step, debt, pricing, subscription } = move;
  const isPaid = debt.oldestDueOn === null;
  const isBack = isPaid && move.isDisconnected && pricing.dunning?.reconnect === 1;
  if (step?.action !== 'Disconnect' && !isBack) return;
  const { subscription_number: number } = subscription;
  const to = isBack ? 'Active' : 'Disconnected';
  const wanted = { number, to, reason: 'Overdue debts', job: 'dunning' } as const;
  move.problem = await switchSupply(tx, workspace, wanted, day);
  if (move.problem === null) move.isDisconnected = !isBack;
}

/** On a reminder: more than a customer would read. */
const itemsMax = 200;

type Night = { day: DunningDay; decimals: number };

async function remind(
  tx: Tx,
  tenantId: number,
  moves: readonly DoneMove[],
  { day, decimals }: Night,
): Promise<void> {
  const writers = new Map<number, NoticeWriter | undefined>();
  const queued: { move: DoneMove; notice: NewNotice }[] = [];
  for (const move of moves) {
    if (move.step?.action !== 'Remind') continue;
    const templateId = move.step.templateID ?? 0;
    if (!writers.has(templateId)) {
      writers.set(templateId, await openNoticeWriter(tx, tenantId, templateId));
    }
    const made = reminderOf(move, writers.get(templateId), { day, decimals });
    if (typeof made === 'string') move.problem = made;
    else queued.push({ move, notice: made });
  }
  const notices = queued.map((one) => one.notice);
  const ids = await insertNotices(tx, tenantId, notices, day.realNow);
  queued.forEach(({ move }, index) => {
    move.noticeId = ids[index] ?? null;
  });
}

/** The mail, or the reason why none can be sent. */
function reminderOf(
  { subscription: on, debt }: DoneMove,
  write: NoticeWriter | undefined,
  { day, decimals }: Night,
): NewNotice | string {
  if (!on.email) return 'The customer has no e-mail address';
  if (!write) return 'The template does not exist';
  try {
    const text = write({
      partyName: on.party_name,
      partyNumber: on.party_number,
      connectionNumber: on.subscription_number,
      serviceCode: on.context_code,
      serviceLabel: on.context_name,
      dueDate: wireDay(debt.oldestDueOn ?? ''),
      outstandingAmount: majorUnits(BigInt(debt.amount), decimals),
      creditBalance: 0,
    });
    const key = {
      partyId: on.party_id,
      subscriptionId: on.subscription_id,
      contextId: on.context_id,
    };
    const reminder = { date: day.localDate.toString(), items: debt.items.slice(0, itemsMax) };
    const facts = { ...text.facts, reminder };
    return { kind: 'Reminder', ...key, recipient: on.email, ...text, facts };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.message;
  }
}

async function chargeFees(
  tx: Tx,
  tenantId: number,
  moves: readonly DoneMove[],
  { day, decimals }: Night,
): Promise<void> {
  const charged = moves.filter((move) => move.step?.action === 'Fee');
  if (charged.length === 0) return;
  const booked = charged.map(componentOf);
  const accountOf = await componentAccounts(tx, tenantId, booked);
  const bookings = charged.flatMap((move, index): Booking[] => {
    const component = booked[index];
    const fee = minorUnitsFrom(String(move.step?.amount ?? ''), decimals);
    if (!component || fee === undefined || fee <= 0) {
      move.problem = 'The fee has no amount in the currency of the workspace';
      return [];
    }
    move.fee = fee;
    return [feeBooking(move, accountOf(component), fee, day.localDate)];
  });
  await book(tx, tenantId, bookings, { at: day.now, by });
}

function componentOf({ pricing, step, subscription }: DoneMove) {
  const found = pricing.components?.find((one) => one.name === step?.component);
  return { account: found?.account, type: found?.type, contextType: subscription.context_type };
}

function feeBooking(
  { subscription: on, step }: DoneMove,
  incomeId: number,
  fee: number,
  localDate: Temporal.PlainDate,
): Booking {
  const component = step?.component ?? null;
  const owner = {
    billId: null,
    partyId: on.party_id,
    subscriptionId: on.subscription_id,
    accountId: ledgerAccounts.receivable,
  };
  const opens = { kind: 'Fee', dueDate: localDate.toString(), component } as const;
  const description = 'Dunning fee';
  return {
    source: 'Fee',
    sourceId: on.subscription_id,
    businessUnitId: on.business_unit_id,
    postingDate: localDate,
    description: `Dunning fee of ${on.subscription_number}`,
    entries: [opening(owner, { kind: 'Fee', amount: fee }, opens, { description })],
    against: [{ accountId: incomeId, component, amount: -fee }],
  };
}
