// Bills that are taken back after they were posted.
import assert from 'node:assert/strict';
import { billsOf, generate, post, type Running, rowsOf } from './bill-run.ts';

/** 310 a month, and a tenth of it as tax. */
export const fee = {
  service: {
    components: [
      { name: 'fee', label: 'Fee', type: 'Charge' as const, sequence: 1, categories: ['taxed'] },
      { name: 'gst', label: 'GST', type: 'Tax' as const, sequence: 2 },
    ],
  },
  tariff: {
    componentRules: [
      { component: 'fee', formula: '310', prorate: 'Days' as const },
      { component: 'gst', scope: 'Term' as const, formula: 'SUMCAT("taxed") * 0.1' },
    ],
  },
};
/** Generated without errors, and posted. */
export async function billed(run: Running, termId: number) {
  await generate(run, termId);
  const bills = await billsOf(run, termId);
  assert.deepEqual(
    bills.map((bill) => [bill.status, bill.errors]),
    bills.map(() => ['Draft', []]),
  );
  await post(run, termId);
  return billsOf(run, termId);
}
export function cancel({ client }: Running, billID: number, rebill?: boolean, reason = 'misread') {
  return client.cancelBill({ data: { billID, reason, ...(rebill !== undefined && { rebill }) } });
}

/** The term that bills a cancelled bill again. */
export async function termAgain({ client }: Running, billID: number): Promise<number> {
  const { data } = await client.getCreditNotes({ billID });
  const termID = data.creditNotes[0]?.rebillTermID;
  assert.ok(termID);
  return termID;
}

export async function onlyBill(run: Running, termId: number) {
  const [bill, ...others] = (await billsOf(run, termId)).filter(
    (one) => one.status !== 'Cancelled',
  );
  assert.ok(bill && others.length === 0);
  return bill;
}

/** By account, of what is owed and of what was earned. */
export async function bookedOn(run: Running): Promise<Record<string, number>> {
  const rows = await rowsOf<{ code: string; amount: string }>(
    run,
    `select a.code, sum(l.amount) as amount
     from journal_lines l
     join ledger_accounts a on a.tenant_id = l.tenant_id
       and a.ledger_account_id = l.ledger_account_id
     where l.tenant_id = $1 group by a.code having sum(l.amount) <> 0`,
  );
  return Object.fromEntries(rows.map((row) => [row.code, Number(row.amount)]));
}
