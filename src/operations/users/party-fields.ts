// The wire shape of a party, as it is sent and as it is shown.
import * as Type from 'typebox';
import { Format } from 'typebox/format';
import { formatTimestamp } from '../../base/calendar.ts';
import { countryCode } from '../../base/countries.ts';
import { parseDay } from '../../base/days.ts';
import type { ErrorDetail } from '../../base/errors.ts';
import { isPlainAddress } from '../../base/mail/address.ts';
import { type Contact, contactTypes, type PartyDetails } from '../../domain/parties/party.ts';
import type { PartyRow } from '../../domain/parties/store.ts';
import { deliveryChannels } from '../../domain/tenants/channels.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import {
  address,
  archiveStatus,
  country,
  date,
  email,
  filledText,
  maybe,
  nullable,
  oneOf,
  text,
  timestamp,
  ts,
} from '../fields.ts';

const canonicalContactType = new Map(contactTypes.map((type) => [type.toLowerCase(), type]));
Format.Set('contact-type', (word) => canonicalContactType.has(word.toLowerCase()));

const contact = Type.Object({
  contactType: Type.String({
    format: 'contact-type',
    maxLength: 20,
    'x-code': 'INVALID_ENUM',
    description: contactTypes.join(', '),
  }),
  contactValue: filledText({ max: 254, description: 'an e-mail address if the type is Email' }),
});

const competency = Type.Object({
  name: filledText({ max: 120 }),
  level: maybe(text({ max: 120 })),
  validFrom: maybe(date),
  validTo: maybe(date),
});

/** The facts that may be given on create and on update. */
export const partyFields = {
  email: maybe(email),
  country: maybe(country),
  contacts: maybe(Type.Array(contact, { maxItems: 50 })),
  identityNumber: maybe(text({ max: 120 })),
  taxNumber: maybe(text({ max: 120 })),
  address: maybe(address),
  language: maybe(text({ max: 35 })),
  competencies: maybe(Type.Array(competency, { maxItems: 50 })),
  deliveryChannels: maybe(
    Type.Array(oneOf(deliveryChannels), {
      minItems: 1,
      maxItems: deliveryChannels.length,
      description: 'Bills go out by each of these; null leaves it to the workspace',
    }),
  ),
};

export const partySummary = {
  partyID: Type.Integer(),
  partyNumber: Type.Integer(),
  name: Type.String(),
  email: nullable(Type.String()),
  userType: Type.String(),
  country: nullable(Type.String()),
  contacts: Type.Array(Type.Object({ contactType: Type.String(), contactValue: Type.String() })),
  archiveStatus,
  createdAt: timestamp,
  createdBy: Type.String(),
  modifiedAt: timestamp,
  modifiedBy: Type.String(),
  ts,
};

type SentFacts = {
  name?: string;
  email?: string | null;
  country?: string | null;
  contacts?: readonly { contactType: string; contactValue: string }[] | null;
  identityNumber?: string | null;
  taxNumber?: string | null;
  address?: object | null;
  language?: string | null;
  competencies?: PartyDetails['competencies'] | null;
  deliveryChannels?: PartyDetails['deliveryChannels'];
};

/** Problems of a party in a request that its schema does not find. */
export function factProblems(sent: SentFacts, place: string): ErrorDetail[] {
  return [...contactProblems(sent, place), ...skillProblems(sent, place)];
}

/** Bills go there where the party has no other address. */
function contactProblems({ contacts }: SentFacts, place: string): ErrorDetail[] {
  return (contacts ?? []).flatMap((sent, index): ErrorDetail[] => {
    const { contactType, contactValue } = canonicalContact(sent);
    if (contactType !== 'Email' || isPlainAddress(contactValue)) return [];
    const field = `${place}.contacts[${index}].contactValue`;
    const message = `${field} is not an e-mail address`;
    return [{ field, code: 'INVALID_EMAIL', message, rejectedValue: sent.contactValue }];
  });
}

/** Skills that end before they begin. */
function skillProblems({ competencies }: SentFacts, place: string): ErrorDetail[] {
  return (competencies ?? []).flatMap(({ validFrom, validTo }, index): ErrorDetail[] => {
    const [from, to] = [parseDay(validFrom ?? ''), parseDay(validTo ?? '')];
    if (from === undefined || to === undefined || from <= to) return [];
    const field = `${place}.competencies[${index}].validTo`;
    return [{ field, code: 'INVALID_DATE', message: `${field} is before validFrom` }];
  });
}

/** The facts that were sent; those left out, and arrays sent as null, are left out here too. */
export function factsSent(sent: SentFacts): Partial<PartyDetails> {
  return {
    ...(sent.name === undefined ? {} : { name: sent.name.trim() }),
    ...(sent.email === undefined ? {} : { email: sent.email }),
    ...(sent.country === undefined ? {} : { country: countryOf(sent.country) }),
    ...(sent.contacts ? { contacts: sent.contacts.map(canonicalContact) } : {}),
    ...(sent.identityNumber === undefined ? {} : { identityNumber: sent.identityNumber }),
    ...(sent.taxNumber === undefined ? {} : { taxNumber: sent.taxNumber }),
    ...(sent.address === undefined ? {} : { address: sent.address }),
    ...(sent.language === undefined ? {} : { language: sent.language }),
    ...(sent.competencies ? { competencies: sent.competencies } : {}),
    ...(sent.deliveryChannels === undefined
      ? {}
      : { deliveryChannels: each(sent.deliveryChannels) }),
  };
}

function each<T>(items: readonly T[] | null): readonly T[] | null {
  return items && [...new Set(items)];
}

const blank: PartyDetails = {
  name: '',
  email: null,
  country: null,
  contacts: [],
  identityNumber: null,
  taxNumber: null,
  address: null,
  language: null,
  competencies: [],
  deliveryChannels: null,
};

/** On create null means that nothing was given; the country is then that of the workspace. */
export function newParty(sent: SentFacts, country: string): PartyDetails {
  const given = Object.entries(factsSent(sent)).filter(([, value]) => value !== null);
  return { ...blank, country, ...Object.fromEntries(given) };
}

function countryOf(code: string | null): string | null {
  return code === null ? null : (countryCode(code) ?? null);
}

function canonicalContact(sent: Contact): Contact {
  return {
    contactType: canonicalContactType.get(sent.contactType.toLowerCase()) ?? sent.contactType,
    contactValue: sent.contactValue.trim(),
  };
}

export function presentParty(row: PartyRow, tenant: Tenant) {
  return {
    partyID: row.party_id,
    partyNumber: row.party_number,
    name: row.name,
    email: row.email,
    userType: row.kind,
    country: row.country,
    contacts: row.contacts,
    archiveStatus: row.archived ? 1 : 0,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: row.created_by,
    modifiedAt: formatTimestamp(row.modified_at, tenant.timezone),
    modifiedBy: row.modified_by,
    ts: row.ts,
  };
}
