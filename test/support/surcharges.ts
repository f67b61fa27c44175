// A late payment surcharge, as the nightly job books it.
import { openingFor, transact } from '../../src/base/db/pool.ts';
import { ledgerAccounts } from '../../src/domain/ledger/accounts.ts';
import { book, opening } from '../../src/domain/ledger/book.ts';
import type { TestClient } from './client.ts';
import type { Scene } from './scene.ts';

/** Of the subscription of the bill, or else of one of its party. */
export async function bookSurcharge(
  scene: Scene,
  tenantId: number,
  billId: number,
  minor: number,
): Promise<void> {
  const { rows } = await scene.sql.query(
    `select b.party_id, s.subscription_id from bills b
     join subscriptions s on s.tenant_id = $1
       and s.party_id = b.party_id and s.subscription_id = coalesce(b.subscription_id, b.unit_id)
     where b.tenant_id = $1 and b.bill_id = $2
     union all
     select b.party_id, s.subscription_id from bills b
     join subscriptions s on s.tenant_id = $1 and s.party_id = b.party_id
     where b.tenant_id = $1 and b.bill_id = $2`,
    [tenantId, billId],
  );
  const partyId = Number(rows[0].party_id);
  const subscriptionId = Number(rows[0].subscription_id);
  const owner = { accountId: ledgerAccounts.receivable, partyId, subscriptionId, billId };
  const opens = { kind: 'Surcharge', dueDate: '2026-08-16', component: 'late' } as const;
  const booking = {
    ...{ source: 'Surcharge' as const, sourceId: billId, businessUnitId: 1 },
    postingDate: Temporal.PlainDate.from('2026-08-16'),
    description: 'Late',
    entries: [opening(owner, { kind: 'Surcharge', amount: minor }, opens)],
    against: [{ accountId: ledgerAccounts.income, component: 'late', amount: -minor }],
  };
  const stamp = { at: scene.clock.now(), by: 'test' };
  await transact(scene.api, { opening: openingFor(tenantId) }, (tx) =>
    book(tx, tenantId, [booking], stamp),
  );
}

/** What the audit trail says of a surcharge that is waived. */
export function auditedWaiver(scene: Scene, admin: TestClient, billOf: () => Promise<number>) {
  return {
    waiveSurcharge: {
      call: async () => {
        const billID = await billOf();
        await bookSurcharge(scene, await scene.tenantOf(admin), billID, 500);
        return admin.waiveSurcharge({ data: { billID, reason: 'Bank closed' } });
      },
      subject: 'bill',
      before: { waived: 0, reason: null },
      after: { waived: 500, reason: 'Bank closed' },
    },
  };
}
