// Parties made by a call, and their views. Use it for tests of parties alone.

import type { TestClient } from './client.ts';

export async function newParty(admin: TestClient, facts: object = {}): Promise<number> {
  const made = await admin.makeUsers({ userType: 'customer', users: [{ name: 'A', ...facts }] });
  return Number(made.headers.get('x-party-number'));
}

export async function view(admin: TestClient, partyNumber: number) {
  return (await admin.getUsers({ partyNumber })).data.user;
}
