// Parties as rows of a file.
import * as Type from 'typebox';
import type { ImportRow, LineProblem, Loader } from '../../domain/imports/import-rows.ts';
import { contactTypes, type PartyDetails, type PartyKind } from '../../domain/parties/party.ts';
import { findPartyNames, insertParties } from '../../domain/parties/store.ts';
import { passNumbers, takeNumbers } from '../../domain/tenants/numbers-store.ts';
import { findSettings } from '../../domain/tenants/store.ts';
import { filledText, id, maybe, oneOf } from '../fields.ts';
import { factProblems, newParty, partyFields } from '../users/party-fields.ts';
import {
  address,
  addressColumns,
  type Cells,
  checkItems,
  type GoodRow,
  given,
  type ImportContext,
  type Item,
  problemsOf,
  whole,
  withoutBad,
} from './row-fields.ts';

/** One column for each type of contact. */
const contactColumns = [
  'mobile',
  'phone',
  'whatsApp',
  'otherEmail',
  'fax',
  'otherContact',
] as const;

export const partyColumns = [
  'partyNumber',
  'userType',
  'name',
  'email',
  'country',
  ...contactColumns,
  'identityNumber',
  'taxNumber',
  'language',
  ...addressColumns,
] as const;

export function partyItem(cells: Cells): Item {
  const contacts = contactColumns.flatMap((column, index) => {
    const contactValue = cells.get(column);
    return contactValue === undefined ? [] : [{ contactValue, contactType: contactTypes[index] }];
  });
  return given({
    partyNumber: whole(cells, 'partyNumber'),
    userType: cells.get('userType')?.toLowerCase(),
    name: cells.get('name'),
    email: cells.get('email'),
    country: cells.get('country'),
    contacts: contacts.length === 0 ? undefined : contacts,
    identityNumber: cells.get('identityNumber'),
    taxNumber: cells.get('taxNumber'),
    language: cells.get('language'),
    address: address(cells),
  });
}

export const partySent = Type.Object({
  partyNumber: maybe(id),
  userType: maybe(oneOf(['customer', 'employee', 'vendor'])),
  name: filledText({ max: 200 }),
  ...partyFields,
});
export type PartySent = Type.Static<typeof partySent>;

const schema = Type.Object({ rows: Type.Array(partySent) });
const kind = { columns: partyColumns, itemOf: partyItem };

export function partiesLoader(context: ImportContext): Loader {
  return {
    columns: partyColumns,
    requiredColumns: ['name'],
    prefixes: [],
    ignoredColumns: [],
    load: (rows) => load(context, rows),
  };
}

async function load(context: ImportContext, rows: readonly ImportRow[]): Promise<LineProblem[]> {
  const { good, problems } = checkItems<PartySent>(schema, rows, kind);
  const facts = good.flatMap(({ item }, index) => factProblems(item, `rows[${index}]`));
  const lines = good.map(({ row }) => row);
  problems.push(...problemsOf(facts, 'rows', lines, kind));
  const numbers = good.flatMap(({ item }) => item.partyNumber ?? []);
  await holdNumbers(context, numbers);
  const taken = new Set(
    (await findPartyNames(context.tx, context.tenant.tenantId, numbers)).keys(),
  );
  for (const { row, item } of good) {
    const { partyNumber: rejectedValue } = item;
    if (rejectedValue == null) continue;
    if (taken.has(rejectedValue)) {
      const message = `A party has the number ${rejectedValue} already`;
      const column = 'partyNumber';
      problems.push({ line: row.line, column, code: 'DUPLICATE', message, rejectedValue });
    }
    taken.add(rejectedValue);
  }
  await storeParties(context, withoutBad(good, problems).map(sentOf));
  return problems;
}

/** Holds off others who make parties, so that a number which is found free stays free. */
export async function holdNumbers(
  { tx, tenant }: ImportContext,
  brought: readonly number[],
): Promise<void> {
  if (brought.length > 0) await takeNumbers(tx, tenant.tenantId, 'party', 0);
}

function sentOf({ item }: GoodRow<PartySent>): PartySent {
  return item;
}

const kindByUserType = { customer: 'Customer', employee: 'Employee', vendor: 'Vendor' } as const;

/** Stores new parties and returns their numbers, in order: given ones, or the next ones. */
export async function storeParties(
  { tx, tenant, stamp }: ImportContext,
  parties: readonly PartySent[],
): Promise<number[]> {
  if (parties.length === 0) return [];
  const { tenantId } = tenant;
  const { country } = await findSettings(tx, tenantId);
  const brought = parties.flatMap(({ partyNumber }) => partyNumber ?? []);
  const firstId = await takeNumbers(tx, tenantId, 'party', parties.length);
  if (brought.length > 0) await passNumbers(tx, tenantId, 'party-number', Math.max(...brought));
  const numberless = parties.length - brought.length;
  let next = await takeNumbers(tx, tenantId, 'party-number', numberless);
  const numbered = parties.map((party, index) => {
    const number = party.partyNumber ?? next;
    if (party.partyNumber == null) next += 1;
    const facts = newParty(party, country);
    return {
      id: firstId + index,
      number,
      kind: kindByUserType[party.userType ?? 'customer'],
      facts,
    };
  });
  for (const [kindOf, some] of Map.groupBy(numbered, (party) => party.kind)) {
    await storeKind({ tx, tenantId, stamp }, kindOf, some);
  }
  return numbered.map((party) => party.number);
}

type Numbered = { id: number; number: number; facts: PartyDetails };

async function storeKind(
  { tx, tenantId, stamp }: Pick<ImportContext, 'tx' | 'stamp'> & { tenantId: number },
  partyKind: PartyKind,
  parties: readonly Numbered[],
): Promise<void> {
  const facts = parties.map((party) => party.facts);
  const numbers = {
    idOf: (index: number) => parties[index]?.id ?? 0,
    numberOf: (index: number) => parties[index]?.number ?? 0,
  };
  await insertParties(tx, tenantId, partyKind, facts, numbers, stamp);
}
