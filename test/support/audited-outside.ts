// Webhooks, gateways and erased parties, and what the audit trail says.
import type { TestClient } from './client.ts';
import type { Scene } from './scene.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
/** A name that no machine has: nothing is ever sent there. */
const url = 'https://hooks.invalid/';

export function auditedOutside(scene: Scene, admin: TestClient) {
  return {
    makeWebhooks: {
      call: () => admin.makeWebhooks({ webhooks: [{ url, secret, description: 'ERP' }] }),
      subject: 'webhook',
      before: null,
      after: { url, description: 'ERP' },
    },
    updateWebhook: {
      call: () => admin.updateWebhook({ data: { webhookID: 1, status: 'Paused' } }),
      subject: 'webhook',
      before: { status: 'Active' },
      after: { status: 'Paused' },
    },
    redeliverEvent: {
      call: async () => {
        const { rows } = await scene.sql.query<{ id: string }>(
          'select min(event_id)::text as id from events',
        );
        const eventID = Number(rows[0]?.id);
        return admin.redeliverEvent({ data: { eventID, webhookID: 1 } });
      },
      subject: 'webhook',
      before: null,
    },
    makeGateways: {
      call: async () => {
        const bankAccountID = await firstBankAccount(scene);
        return admin.makeGateways({ gateways: [{ adapter: 'standard', bankAccountID, secret }] });
      },
      subject: 'gateway',
      before: null,
    },
    updateGateway: {
      call: () => admin.updateGateway({ data: { adapter: 'standard', status: 'Paused' } }),
      subject: 'gateway',
      before: { status: 'Active' },
      after: { status: 'Paused' },
    },
    eraseParty: {
      call: async () => {
        const user = { name: 'Former Customer', email: 'former@example.com' };
        const { headers } = await admin.makeUsers({ userType: 'customer', users: [user] });
        const partyNumber = Number(headers.get('x-party-number'));
        await admin.updateUser({ user: { partyNumber, archiveStatus: 1 } });
        return admin.eraseParty({ user: { partyNumber, reason: 'Asked for by letter' } });
      },
      subject: 'party',
      before: null,
      after: { reason: 'Asked for by letter' },
    },
  };
}

async function firstBankAccount(scene: Scene): Promise<number> {
  const { rows } = await scene.sql.query<{ id: string }>(
    'select min(bank_account_id)::text as id from bank_accounts',
  );
  return Number(rows[0]?.id);
}
