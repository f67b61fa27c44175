// Refunds and write-offs above the limit of the workspace wait for a second person.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

const agreed = { decision: 'Approve', reason: 'Agreed' } as const;

test('a refund above the limit is booked when another manager approves it', async () => {
  const place = await openOwing(scene, 'approve-refund');
  const { client } = place;
  await client.updateSettings({ data: { approvalLimit: 100 } });
  await place.pay({ amount: 500 });
  const refund = (reference: string, amount: number) =>
    client.refundPayment({ data: { partyID: 1, amount, reference, paymentMethod: 'Bank' } });
  await refund('F1', 100);
  await refuses(refund('F2', 100.01), 'APPROVAL_REQUIRED', { statusCode: 409 });
  await refuses(refund('F2', 100.01), 'APPROVAL_REQUIRED');
  await refuses(refund('F3', 1000), 'WALLET_TOO_LOW', { statusCode: 422 });
  assert.equal(await place.wallet(), 400);
  const { data } = await client.getApprovals({ status: 'Waiting' });
  assert.deepEqual(
    data.approvals.map(({ kind, reference, amount }) => [kind, reference, amount]),
    [['Refund', 'F2', 100.01]],
  );
  const approvalID = data.approvals[0]?.approvalID ?? 0;
  const field = 'data.approvalID';
  const own = client.decideApproval({ data: { approvalID, ...agreed } });
  await refuses(own, 'PERMISSION_DENIED', { field, statusCode: 403 });
  const accountant = await scene.loginAs(client, ['Accountant']);
  const lesser = accountant.decideApproval({ data: { approvalID, ...agreed } });
  await refuses(lesser, 'PERMISSION_DENIED', { field });
  const manager = await scene.loginAs(client, ['Billing Manager']);
  const { message } = await manager.decideApproval({ data: { approvalID, ...agreed } });
  assert.equal(message, `Approval ${approvalID} is given. Refund F2 is made`);
  // 500 - 100 - 100.01
  assert.equal(await place.wallet(), 299.99);
  const again = manager.decideApproval({ data: { approvalID, ...agreed } });
  await refuses(again, 'INVALID_STATE', { field, statusCode: 409 });
  const none = manager.decideApproval({ data: { approvalID: 99, ...agreed } });
  await refuses(none, 'APPROVAL_NOT_FOUND', { field, statusCode: 404 });
  // What was approved is a repetition from now on.
  assert.equal((await refund('F2', 100.01)).message, 'Refund F2 was already made');
  await assertChecks(scene, place.tenantId);
});

test('a write-off above the limit is rejected, asked for again and approved', async () => {
  const place = await openOwing(scene, 'approve-write-off');
  const { client } = place;
  const number = await place.connectOld();
  await place.bill({ [number]: 500 });
  await client.updateSettings({ data: { approvalLimit: '50.00' } });
  const giveUp = (amount: number, kind: 'WriteOff' | 'Credit') => {
    const one = { reference: `A-${kind}`, connectionNumber: number, component: 'fee' };
    return client.makeAdjustments({
      adjustments: [{ ...one, kind, amount, reason: 'Moved away' }],
    });
  };
  await giveUp(-60, 'Credit');
  await refuses(giveUp(-440, 'WriteOff'), 'APPROVAL_REQUIRED');
  assert.deepEqual(await place.left(), [440]);
  const manager = await scene.loginAs(client, ['Billing Manager']);
  const first = { approvalID: 1, decision: 'Reject', reason: 'The customer has paid' } as const;
  await manager.decideApproval({ data: first });
  assert.deepEqual(await place.left(), [440]);
  await refuses(giveUp(-440, 'WriteOff'), 'APPROVAL_REQUIRED');
  const { data } = await client.getApprovals({});
  assert.deepEqual(
    data.approvals.map((one) => [one.approvalID, one.status]),
    [
      [2, 'Waiting'],
      [1, 'Rejected'],
    ],
  );
  await place.pay({ amount: 100 });
  // Only 340 of 440 are open by now.
  const late = manager.decideApproval({ data: { approvalID: 2, ...agreed } });
  await refuses(late, 'AMOUNT_ABOVE_OPEN', { statusCode: 422 });
  assert.deepEqual(await place.left(), [340]);
  const bad = client.updateSettings({ data: { approvalLimit: -1 } });
  await refuses(bad, 'INVALID_NUMBER', { field: 'data.approvalLimit' });
  await assertChecks(scene, place.tenantId);
});
