// Notes, details that a customer changes, and bills held together, and what the audit trail says.
import type { TestClient } from './client.ts';
import { adminPassword, type Scene } from './scene.ts';

export function auditedOwn(scene: Scene, admin: TestClient, firstBill: () => Promise<number>) {
  return {
    makeNotes: {
      call: () => admin.makeNotes({ notes: [{ partyNumber: 100_001, text: 'Calls back' }] }),
      subject: 'note',
      before: null,
      after: { partyID: 1, kind: 'Note' },
    },
    holdBills: {
      call: async () => {
        const billIDs = [await firstBill()];
        await admin.holdBills({ data: { billIDs, hold: true, reason: 'Look' } });
        return admin.holdBills({ data: { billIDs, hold: false, reason: 'Looked' } });
      },
      subject: 'bill',
      before: { hold: true, reason: 'Look' },
      after: { hold: false },
    },
    updateOwnDetails: {
      call: async () => {
        const login = { username: 'owner', password: adminPassword };
        const own = { ...login, name: 'O', roles: ['Customer' as const], partyNumber: 100_002 };
        await admin.makeLogins({ logins: [own] });
        const { accessToken: token } = (await scene.visitor('audit').login(login)).data;
        const data = { language: 'ur', deliveryChannel: 'Portal' as const };
        return scene.visitor('audit').updateOwnDetails({ data }, { token });
      },
      subject: 'party',
      actor: 'owner',
      before: { language: null, deliveryChannels: null },
      after: { language: 'ur', deliveryChannels: ['Portal'] },
    },
  };
}
