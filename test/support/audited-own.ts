// Notes, billing groups, details that a customer changes, bills held together, and what the audit
// trail says.
import { codeOf } from './authenticator.ts';
import type { TestClient } from './client.ts';
import { adminPassword, type Scene } from './scene.ts';

export function auditedOwn(scene: Scene, admin: TestClient, firstBill: () => Promise<number>) {
  return {
    ...auditedLinks(scene, admin),
    ...auditedFactor(scene, admin),
    changePassword: {
      call: async () => {
        const login = { username: 'changer', password: adminPassword };
        await admin.makeLogins({ logins: [{ ...login, name: 'C', roles: ['Cashier'] }] });
        const { accessToken: token } = (await scene.visitor('audit').login(login)).data;
        const data = { currentPassword: adminPassword, newPassword: 'staple of the second kind' };
        return scene.visitor('audit').changePassword({ data }, { token });
      },
      subject: 'login',
      actor: 'changer',
      before: null,
      after: { passwordChanged: true },
    },
    updateBillingGroup: {
      call: () => admin.updateBillingGroup({ data: { billingGroupID: 1, description: 'Hill' } }),
      subject: 'billing group',
      before: { name: 'North', description: null },
      after: { name: 'North', description: 'Hill' },
    },
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

/** A login gets links by mail and uses them. */
function auditedLinks(scene: Scene, admin: TestClient) {
  const username = 'linked';
  /** The token of the newest link that was mailed. */
  const newestLink = async (): Promise<string> => {
    const { rows } = await scene.sql.query(
      "select body from notices where kind = 'Access' order by notice_id desc limit 1",
    );
    return /(?:link|reset)=(\S+)/.exec(rows[0]?.body ?? '')?.[1] ?? '';
  };
  const visitor = () => scene.visitor('audit');
  const linked = { subject: 'login', actor: username, before: null };
  return {
    requestLink: {
      call: async () => {
        await admin.updateSettings({ data: { portalAddress: 'https://audit.example.com' } });
        const login = { username, name: 'L', email: 'l@example.com', password: adminPassword };
        const own = { roles: ['Customer' as const], partyNumber: 100_002 };
        await admin.makeLogins({ logins: [{ ...login, ...own }] });
        return visitor().requestLink({ username });
      },
      ...linked,
      after: { event: 'link requested' },
    },
    redeemLink: {
      call: async () => visitor().redeemLink({ link: await newestLink() }),
      ...linked,
      after: { event: 'login by link' },
    },
    requestPasswordReset: {
      call: () => visitor().requestPasswordReset({ username }),
      ...linked,
      after: { event: 'password reset requested' },
    },
    resetPassword: {
      call: async () => {
        const newPassword = 'staple of the third kind';
        return visitor().resetPassword({ link: await newestLink(), newPassword });
      },
      ...linked,
      after: { passwordReset: true },
    },
  };
}

function auditedFactor(scene: Scene, admin: TestClient) {
  return {
    enrolTotp: {
      call: () => admin.enrolTotp({}),
      subject: 'login',
      after: { secondFactor: 'enrolled' },
    },
    confirmTotp: {
      call: async () => {
        const { secret } = (await admin.enrolTotp({})).data;
        return admin.confirmTotp({ code: codeOf(secret, scene.clock.now()) });
      },
      subject: 'login',
      after: { secondFactor: 'on' },
    },
    resetTotp: {
      call: () => admin.resetTotp({ data: { username: 'admin@audit.example' } }),
      subject: 'login',
      after: { secondFactor: 'off' },
    },
  };
}
