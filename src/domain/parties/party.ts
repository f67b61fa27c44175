// What a party is, in the words of the domain.
import type { Channel } from '../tenants/channels.ts';

export const partyKinds = ['Customer', 'Employee', 'Vendor'] as const;
export type PartyKind = (typeof partyKinds)[number];

export const contactTypes = ['Mobile', 'Phone', 'WhatsApp', 'Email', 'Fax', 'Other'] as const;

export type Contact = { contactType: string; contactValue: string };

export type Competency = {
  name: string;
  level?: string | null;
  validFrom?: string | null;
  validTo?: string | null;
};

/** Skills are of employees and vendors: those of a customer mean nothing. */
export function hasIdleSkills(kind: PartyKind, skills: readonly unknown[] | null | undefined) {
  return kind === 'Customer' && (skills?.length ?? 0) > 0;
}

/** The facts about a party that callers give. */
export type PartyDetails = {
  name: string;
  email: string | null;
  country: string | null;
  contacts: readonly Contact[];
  identityNumber: string | null;
  taxNumber: string | null;
  address: object | null;
  language: string | null;
  competencies: readonly Competency[];
  /** By which its bills go out, all of them; null where the workspace decides. */
  deliveryChannels: readonly Channel[] | null;
};

/** Text in the form in which it is searched: one line, letters of one case and one Unicode form. */
export function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll('\n', ' ');
}

/** Everything a search looks at, one piece a line, the name first. */
export function searchText(party: PartyDetails, partyNumber: number): string {
  const contacts = party.contacts.map((contact) => contact.contactValue);
  const pieces = [party.name, String(partyNumber), party.email ?? '', ...contacts];
  return pieces.map(folded).join('\n');
}
