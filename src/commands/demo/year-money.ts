// How the customers of the demo pay: most in time, some late or ahead; a cheque bounces, a bill is
// disputed, a debt is paid by instalments.
import { dateIn, formatDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { amountText } from '../../base/money.ts';
import type { Stamp } from '../../base/stamp.ts';
import { importBankFile } from '../../billrun/import-bank-file.ts';
import { saveMappings } from '../../domain/bank-files/files-store.ts';
import type { MappingColumns } from '../../domain/bank-files/mapping.ts';
import { makePlans } from '../../domain/collections/arrangements.ts';
import { closeMonth } from '../../domain/ledger/months.ts';
import { closeDay } from '../../domain/receivables/cash-desks.ts';
import {
  type CashDesk,
  listCashDesks,
  listDeskTotals,
} from '../../domain/receivables/cash-desks-store.ts';
import { makeDisputes } from '../../domain/receivables/disputes.ts';
import type { PaymentMethod, WantedPayment } from '../../domain/receivables/payment.ts';
import { listReferences } from '../../domain/receivables/payments-store.ts';
import { reversePayment } from '../../domain/receivables/reverse.ts';
import { makePayments } from '../../domain/receivables/take-payments.ts';
import { author, type Maker, stampOf, transactIn, yearBatch } from './year-days.ts';
import { type DemoPayer, findBankAccount, listPayers, listUnpaid } from './year-store.ts';

const mappingName = 'First Bank';

type Story = {
  /** In which months of the year the customer pays when: see `paysOn`. */
  pays: 'InTime' | 'Late' | 'InHalves' | 'Ahead' | 'Stops' | 'ByInstalments';
  method: PaymentMethod;
};

/** By the place of the subscription in the batch. */
const stories: readonly Story[] = [
  { pays: 'InTime', method: 'Bank' },
  { pays: 'InTime', method: 'Cash' },
  { pays: 'InTime', method: 'Online' },
  { pays: 'InTime', method: 'Card' },
  { pays: 'Ahead', method: 'Bank' },
  { pays: 'Late', method: 'Cash' },
  { pays: 'InTime', method: 'Cash' },
  { pays: 'InHalves', method: 'Bank' },
  { pays: 'ByInstalments', method: 'Cash' },
  { pays: 'Stops', method: 'Bank' },
  { pays: 'InTime', method: 'Online' },
  { pays: 'InTime', method: 'DirectDebit' },
];
const bouncing = { place: 2, month: 5 };
const disputing = { place: 3, month: 8 };
const lastPaidMonth = 7;

/** What the customer pays on the day that is in time, or on the late one, in minor units. */
function paysOn(story: Story, owed: number, month: number, when: 'InTime' | 'Late'): number {
  switch (story.pays) {
    case 'Late':
      return when === 'Late' ? owed : 0;
    case 'InHalves':
      return when === 'Late' ? owed : Math.floor(owed / 2);
    case 'Ahead':
      return when === 'InTime' && month % 4 === 0 ? owed * 4 : 0;
    case 'Stops':
    case 'ByInstalments':
      return when === 'InTime' && month < lastPaidMonth ? owed : 0;
    default:
      return when === 'InTime' ? owed : 0;
  }
}

export async function takeMoney(
  maker: Maker,
  day: Temporal.PlainDate,
  month: number,
  when: 'InTime' | 'Late',
): Promise<void> {
  const { tenantId } = maker.tenant;
  const posting = { today: day, stamp: stampOf(maker, day) };
  await transactIn(maker, async (tx) => {
    if (when === 'InTime' && month === disputing.month) {
      const payers = await listPayers(tx, tenantId, yearBatch);
      await disputeBill(tx, maker, payers[disputing.place], posting);
    }
    const desk = (await listCashDesks(tx, tenantId))[0];
    const payments = (await listPayers(tx, tenantId, yearBatch)).flatMap((payer, place) => {
      const story = stories[place % stories.length] as Story;
      const amount = paysOn(story, payer.owed, month, when);
      const isCheque = place === bouncing.place && month === bouncing.month && when === 'InTime';
      const method = isCheque ? 'Cheque' : story.method;
      return amount > 0 ? [paymentOf(payer, { amount, method, day, desk })] : [];
    });
    // A small demo has no customer that pays late.
    if (payments.length > 0) await mustWork(makePayments(tx, tenantId, payments, posting));
    if (desk) await closeDesk(tx, tenantId, desk, posting);
  });
}

type Taken = {
  amount: number;
  method: PaymentMethod;
  day: Temporal.PlainDate;
  desk: CashDesk | undefined;
};

function paymentOf(payer: DemoPayer, { amount, method, day, desk }: Taken): WantedPayment {
  const isAtDesk = method === 'Cash' || method === 'Cheque';
  return {
    reference: referenceOf(payer, day),
    payer: { partyId: null, partyNumber: null, billId: null, connectionNumber: payer.number },
    ...{ amount, valueDate: day, paymentMethod: method },
    ...{ bankAccountId: null, allocations: [], remark: null },
    desk: isAtDesk && desk ? desk : null,
    chequeNumber: method === 'Cheque' ? '004711' : null,
  };
}

function referenceOf({ number }: DemoPayer, day: Temporal.PlainDate): string {
  return `P-${day.toString().replaceAll('-', '')}-${number}`;
}

async function mustWork(making: Promise<{ problems: readonly { message: string }[] }>) {
  const [problem] = (await making).problems;
  if (problem) throw new Error(problem.message);
}

type Posting = { today: Temporal.PlainDate; stamp: Stamp };

async function closeDesk(tx: Tx, tenantId: number, desk: CashDesk, posting: Posting) {
  const day = posting.today;
  const totals = await listDeskTotals(tx, tenantId, [desk.cash_desk_id], day);
  if (totals.length === 0) return;
  const counted = new Map(totals.map((one) => [one.payment_method, one.amount]));
  await closeDay(tx, tenantId, { cashDesk: desk.code, day, counted, reason: null }, posting);
}

/** A part of the newest bill is disputed; the rest is paid. */
async function disputeBill(
  tx: Tx,
  { tenant }: Maker,
  payer: DemoPayer | undefined,
  posting: Posting,
): Promise<void> {
  const [bill] = payer ? await listUnpaid(tx, tenant.tenantId, payer.subscription_id) : [];
  if (!bill) return;
  const amount = Math.floor(bill.open / 4);
  const dispute = { billId: bill.bill_id, amount, reason: 'The meter was read wrongly' };
  await mustWork(makeDisputes(tx, tenant.tenantId, [dispute], posting));
}

export async function bounceCheque(
  maker: Maker,
  day: Temporal.PlainDate,
  month: number,
): Promise<void> {
  if (month !== bouncing.month) return;
  const { tenantId } = maker.tenant;
  await transactIn(maker, async (tx) => {
    const payer = (await listPayers(tx, tenantId, yearBatch))[bouncing.place];
    if (!payer) return;
    const reference = referenceOf(payer, day.subtract({ days: 5 }));
    const paymentId = (await listReferences(tx, tenantId, [reference])).get(reference)?.id ?? 0;
    const wanted = { paymentId, reason: 'The cheque bounced', fee: null };
    await reversePayment(tx, tenantId, wanted, { today: day, stamp: stampOf(maker, day) });
  });
}

/** A bank file with lines of unknown payers, an instalment plan, and months that are closed. */
export async function endYear(tx: Tx, maker: Maker): Promise<void> {
  const { tenant, now } = maker;
  const { tenantId } = tenant;
  const today = dateIn(now, tenant.timezone);
  const posting = { today, stamp: { at: now, by: author } };
  const payers = await listPayers(tx, tenantId, yearBatch);
  const place = stories.findIndex(({ pays }) => pays === 'ByInstalments');
  await planInstalments(tx, maker, payers[place], posting);
  await importDemoFile(tx, maker, payers);
  const month = Temporal.PlainDate.from(maker.year.start).add({ months: 9 });
  const closing = { month, reason: 'Reconciled with the bank', carriesResult: false };
  await closeMonth(tx, tenantId, closing, posting);
}

async function planInstalments(
  tx: Tx,
  { tenant }: Maker,
  payer: DemoPayer | undefined,
  posting: Posting,
): Promise<void> {
  if (!payer) return;
  const bills = await listUnpaid(tx, tenant.tenantId, payer.subscription_id);
  const total = bills.reduce((sum, bill) => sum + bill.open, 0);
  const third = Math.floor(total / 3);
  const instalments = [third, third, total - 2 * third].map((amount, index) => ({
    amount,
    dueDate: posting.today.add({ days: 15, months: index }),
  }));
  const plan = {
    connectionNumber: payer.number,
    billIds: bills.map((bill) => bill.bill_id),
    ...{ instalments, reason: 'Lost the job' },
  };
  await mustWork(makePlans(tx, tenant.tenantId, [plan], posting));
}

const columns: MappingColumns = {
  ...{ date: 'Date', amount: 'Amount', reference: 'Reference', payer: 'Payer' },
  ...{ text: 'Text', bankID: 'ID', dateFormat: 'DD/MM/YYYY', decimal: '.' },
};

/** The bank names the subscription on one line, and nothing that is known on the others. */
async function importDemoFile(tx: Tx, maker: Maker, payers: readonly DemoPayer[]): Promise<void> {
  const { tenant, now } = maker;
  await saveMappings(tx, tenant.tenantId, [{ name: mappingName, columns }], {
    at: now,
    by: author,
  });
  const day = formatDate(dateIn(now, tenant.timezone).subtract({ days: 1 }));
  const [known] = payers.filter((payer) => payer.owed > 0).slice(-1);
  const amount = known ? amountText(BigInt(known.owed), tenant.currencyDecimals) : '100.00';
  const text = [
    'Date,Amount,Reference,Payer,Text,ID',
    `${day},${amount},${known?.number ?? ''},${known?.party_name ?? ''},Electricity,TX-1`,
    `${day},1500.00,,Unknown Traders,Thank you,TX-2`,
    `${day},820.00,FLAT 12,A. Rahman,Rent and light,TX-3`,
    `${day},64.50,,,Cash deposit,TX-4`,
  ].join('\r\n');
  const file = {
    bankAccountId: await findBankAccount(tx, tenant.tenantId),
    format: 'CSV' as const,
    ...{ name: 'first-bank.csv', mappingName, encoding: 'utf-8' as const },
    bytes: async function* () {
      yield Buffer.from(text);
    },
  };
  await importBankFile(tx, file, { tenant, now, by: author });
}
