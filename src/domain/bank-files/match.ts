// Whose money lines are. What a line names for certain is posted; what is likely is suggested to a
// clerk; the rest is left unmatched. Every lookup is made once for all lines.

import type { Tx } from '../../base/db/pool.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import { mainBusinessUnit } from '../ledger/journal.ts';
import type { Payer, PayerKey } from '../receivables/payment.ts';
import type { Decision, OpenLine, Suggestion } from './bank-line.ts';
import { areSimilar, isTelling, keysIn, type LineKeys, learntKeys, searchedWords } from './keys.ts';
import {
  type FoundBill,
  type FoundParty,
  type FoundSubscription,
  findPartiesNamed,
  type LearntRow,
  listLearnt,
  listNamedBills,
  listNamedParties,
  listNamedSubscriptions,
  listOpenBillsOf,
  type OpenBillRow,
} from './matching-store.ts';

/** Suggestions of one line. */
const suggestionsMax = 5;

export async function matchLines(
  tx: Tx,
  tenantId: number,
  lines: readonly OpenLine[],
): Promise<Decision[]> {
  const incoming = lines.filter((line) => line.amount > 0 && !line.is_reversal);
  const keys = new Map(incoming.map((line) => [line, keysIn(line)]));
  const known = await lookUp(tx, tenantId, keys);
  const found = new Map(incoming.map((line) => [line, targetsOf(keys.get(line), known)]));
  const vague = incoming.filter((line) => !found.get(line)?.some((one) => one.isTelling));
  const weak = vague.flatMap((line) => found.get(line)?.map((one) => one.partyId) ?? []);
  const likely = await lookUpLikely(tx, tenantId, vague, weak);
  return lines.map((line) => {
    const targets = found.get(line);
    return targets ? decide(line, targets, known, likely) : decideOther(line);
  });
}

/** Money that went out, and what the bank took back. */
function decideOther({ amount, is_reversal: isReversal }: OpenLine): Decision {
  if (amount < 0 && isReversal) {
    const reason = 'The bank took money back: reverse the payment, then ignore this line';
    return { status: 'Unmatched', reason };
  }
  const reason = isReversal
    ? 'The bank took back what had gone out'
    : amount < 0
      ? 'Money that went out is not a payment'
      : 'The line has no amount';
  return { status: 'Ignored', reason };
}

type Known = {
  billsById: ReadonlyMap<number, FoundBill>;
  billsByNumber: ReadonlyMap<string, FoundBill>;
  subscriptions: ReadonlyMap<number, FoundSubscription>;
  subscriptionsByNumber: ReadonlyMap<string, FoundSubscription>;
  partiesByNumber: ReadonlyMap<number, FoundParty>;
  parties: Map<number, FoundParty>;
};

async function lookUp(
  tx: Tx,
  tenantId: number,
  keys: ReadonlyMap<OpenLine, LineKeys>,
): Promise<Known> {
  const all = [...keys.values()];
  const words = [...new Set(all.flatMap((one) => one.words))];
  const billIds = [...new Set(all.flatMap((one) => one.billIds))];
  const numbers = [...new Set(all.flatMap((one) => one.numbers.map(({ value }) => value)))];
  const bills = await listNamedBills(tx, tenantId, { billIds, numbers: words });
  const named = await listNamedSubscriptions(tx, tenantId, { numbers: words });
  const ids = bills.flatMap((bill) => bill.subscription_id ?? []);
  const ofBills = await listNamedSubscriptions(tx, tenantId, { ids: [...new Set(ids)] });
  const numbered = await listNamedParties(tx, tenantId, { numbers });
  const partyIds = [...bills, ...named].map((one) => one.party_id);
  const others = await listNamedParties(tx, tenantId, { ids: [...new Set(partyIds)] });
  return {
    billsById: new Map(bills.map((bill) => [bill.bill_id, bill])),
    billsByNumber: new Map(bills.map((bill) => [bill.bill_number, bill])),
    subscriptions: new Map([...named, ...ofBills].map((one) => [one.subscription_id, one])),
    subscriptionsByNumber: new Map(named.map((one) => [one.subscription_number, one])),
    partiesByNumber: new Map(numbered.map((party) => [party.party_number, party])),
    parties: new Map([...numbered, ...others].map((party) => [party.party_id, party])),
  };
}

/** A party that a line names, and how. */
type Target = {
  partyId: number;
  subscriptionId: number | null;
  billId: number | null;
  reason: string;
  /** Whether the line cannot have it by chance. */
  isTelling: boolean;
  isWholeReference: boolean;
};

function targetsOf(keys: LineKeys | undefined, known: Known): Target[] {
  if (!keys) return [];
  const ofBill = (bill: FoundBill | undefined, reason: string): Target[] =>
    bill ? [target(bill, { billId: bill.bill_id, reason, isTelling: true })] : [];
  return [
    ...keys.billIds.flatMap((id) =>
      ofBill(known.billsById.get(id), `bill reference of bill ${id}`),
    ),
    ...keys.words.flatMap((word) => ofBill(known.billsByNumber.get(word), `bill number ${word}`)),
    ...keys.words.flatMap((word) => {
      const found = known.subscriptionsByNumber.get(word);
      const reason = `connection number ${word}`;
      return found ? [target(found, { billId: null, reason, isTelling: isTelling(word) })] : [];
    }),
    ...keys.numbers.flatMap(({ value, isWholeReference }) => {
      const found = known.partiesByNumber.get(value);
      const about = { billId: null, reason: `party number ${value}`, isTelling: false };
      return found
        ? [{ ...target({ ...found, subscription_id: null }, about), isWholeReference }]
        : [];
    }),
  ];
}

function target(
  of: { party_id: number; subscription_id: number | null },
  about: Pick<Target, 'billId' | 'reason' | 'isTelling'>,
): Target {
  const { party_id: partyId, subscription_id: subscriptionId } = of;
  return { partyId, subscriptionId, ...about, isWholeReference: false };
}

type Likely = {
  learnt: ReadonlyMap<string, LearntRow>;
  /** Party and amount of open bills. */
  openAmounts: ReadonlySet<string>;
  /** Open bills of exactly the amount, of parties with the name of the payer. */
  billsOf: ReadonlyMap<OpenLine, OpenBillRow[]>;
  parties: ReadonlyMap<number, FoundParty>;
  subscriptions: ReadonlyMap<number, FoundSubscription>;
};

async function lookUpLikely(
  tx: Tx,
  tenantId: number,
  lines: readonly OpenLine[],
  weak: readonly number[],
): Promise<Likely> {
  const rows = await listLearnt(tx, tenantId, uniqueKeys(lines));
  const searched = lines.flatMap((line) => {
    const words = searchedWords(line.payer);
    return words ? [{ line, words }] : [];
  });
  const named = await findPartiesNamed(
    tx,
    tenantId,
    searched.map((one) => one.words),
  );
  const partyIds = [...new Set([...named, ...rows].map((one) => one.party_id))];
  const parties = new Map(
    (await listNamedParties(tx, tenantId, { ids: partyIds })).map((one) => [one.party_id, one]),
  );
  const amounts = [...new Set(lines.map((line) => line.amount))];
  const owing = [...new Set([...partyIds, ...weak])];
  const bills = await listOpenBillsOf(tx, tenantId, { partyIds: owing, amounts });
  const byParty = Map.groupBy(bills, (bill) => bill.party_id);
  const byPlace = Map.groupBy(named, (one) => Number(one.place));
  const billsOf = new Map(
    searched.map(({ line }, index) => {
      const own = (byPlace.get(index + 1) ?? []).flatMap(({ party_id }) => {
        const isSimilar = areSimilar(line.payer, parties.get(party_id)?.name ?? null);
        return isSimilar ? (byParty.get(party_id) ?? []) : [];
      });
      return [line, own.filter((bill) => bill.open === line.amount)];
    }),
  );
  const ids = [...bills, ...rows].flatMap((one) => one.subscription_id ?? []);
  const subscriptions = await listNamedSubscriptions(tx, tenantId, { ids: [...new Set(ids)] });
  return {
    learnt: new Map(rows.map((row) => [`${row.kind} ${row.key}`, row])),
    openAmounts: new Set(bills.map((bill) => `${bill.party_id} ${bill.open}`)),
    billsOf,
    parties,
    subscriptions: new Map(subscriptions.map((one) => [one.subscription_id, one])),
  };
}

function uniqueKeys(lines: readonly OpenLine[]) {
  const keys = lines.flatMap(learntKeys);
  return [...new Map(keys.map((one) => [`${one.kind} ${one.key}`, one])).values()];
}

function decide(
  line: OpenLine,
  targets: readonly Target[],
  known: Known,
  likely: Likely,
): Decision {
  const telling = targets.filter((one) => one.isTelling);
  const vague = targets.filter((one) => isConfirmed(line, one, known, likely));
  const chosen = telling.length > 0 ? telling : vague;
  const parties = new Set(chosen.map((one) => one.partyId));
  const [first] = chosen;
  if (first && parties.size === 1) {
    const obstacle = obstacleOf(chosen, known);
    if (obstacle === undefined) return { status: 'Posted', ...payerOf(chosen, known) };
    return suggested(line, chosen, known, obstacle);
  }
  if (first) return suggested(line, chosen, known, 'The line names several parties');
  const whole = targets.filter((one) => one.isWholeReference);
  const guesses = [...guessesOf(line, likely), ...suggestionsOf(line, whole, known)];
  if (guesses.length === 0) return { status: 'Unmatched', reason: null };
  return { status: 'Suggested', suggestions: distinct(guesses), reason: null };
}

/** A number that may be there by chance counts if the payer's name or the amount says the same. */
function isConfirmed(line: OpenLine, one: Target, known: Known, likely: Likely): boolean {
  if (one.isTelling) return false;
  const party = known.parties.get(one.partyId);
  if (party && areSimilar(line.payer, party.name)) return true;
  return likely.openAmounts.has(`${one.partyId} ${line.amount}`);
}

/** Why a clerk has to look at it. */
function obstacleOf(chosen: readonly Target[], known: Known): string | undefined {
  const party = known.parties.get(chosen[0]?.partyId ?? 0);
  if (!party || party.is_archived) return 'The party is archived';
  if (!party.is_customer) return 'The party is not a customer';
  for (const { subscriptionId } of chosen) {
    const found = subscriptionId === null ? undefined : known.subscriptions.get(subscriptionId);
    if (found?.is_closed) return `Subscription ${found.subscription_number} is closed`;
    if (found && !found.is_sale) return `Subscription ${found.subscription_number} is not a sale`;
  }
  return undefined;
}

/** The bill or the subscription, if the line names no other subscription; else the party. */
function payerOf(chosen: readonly Target[], known: Known): { payer: PayerKey; by?: Payer } {
  const none = { partyId: null, partyNumber: null, connectionNumber: null, billId: null };
  const ids = [...new Set(chosen.flatMap((one) => one.subscriptionId ?? []))];
  const bill = chosen.find((one) => one.billId !== null);
  if (ids.length <= 1 && bill) return { payer: { ...none, billId: bill.billId } };
  const only = ids.length === 1 ? known.subscriptions.get(ids[0] ?? 0) : undefined;
  if (!only) return { payer: { ...none, partyId: chosen[0]?.partyId ?? 0 } };
  return { payer: { ...none, connectionNumber: only.subscription_number }, by: ownerOf(only) };
}

/** A line that names a subscription is paid by its owner, who is a customer. */
function ownerOf(found: FoundSubscription): Payer {
  const { party_id: partyId, subscription_id: subscriptionId } = found;
  return {
    ...{ partyId, subscriptionId, isArchived: false, isPaidByWorkspace: false },
    settlementMethod: found.settlement_method ?? 'Chronology',
    cashAccountId: found.cash_account_id ?? ledgerAccounts.cash,
    businessUnitId: found.business_unit_id ?? mainBusinessUnit,
  };
}

function suggested(
  line: OpenLine,
  targets: readonly Target[],
  known: Known,
  reason: string,
): Decision {
  return { status: 'Suggested', suggestions: suggestionsOf(line, targets, known), reason };
}

function suggestionsOf(line: OpenLine, targets: readonly Target[], known: Known): Suggestion[] {
  return distinct(
    targets.flatMap(({ partyId, subscriptionId, billId, reason }) => {
      const partyNumber = known.parties.get(partyId)?.party_number;
      const found = known.subscriptions.get(subscriptionId ?? 0);
      const connectionNumber = found?.subscription_number ?? null;
      const about = { partyId, connectionNumber, billId, amount: line.amount, reason };
      return partyNumber === undefined ? [] : [{ ...about, partyNumber }];
    }),
  );
}

function guessesOf(line: OpenLine, likely: Likely): Suggestion[] {
  const guess = (
    of: { party_id: number; subscription_id: number | null },
    billId: number | null,
    reason: string,
  ): Suggestion[] => {
    const party = likely.parties.get(of.party_id);
    const found = likely.subscriptions.get(of.subscription_id ?? 0);
    if (!party) return [];
    const { party_id: partyId, party_number: partyNumber } = party;
    const connectionNumber = found?.subscription_number ?? null;
    return [{ partyId, partyNumber, connectionNumber, billId, amount: line.amount, reason }];
  };
  const learnt = learntKeys(line).flatMap(({ kind, key }) => {
    const row = likely.learnt.get(`${kind} ${key}`);
    const what = kind === 'Account' ? 'the same bank account' : 'the same payer';
    return row ? guess(row, null, `Money of ${what} was matched to this party before`) : [];
  });
  const bills = likely.billsOf.get(line) ?? [];
  const parties = new Set(bills.map((bill) => bill.party_id));
  const reason = 'The amount of an open bill, and the name of the payer';
  const equal = bills.flatMap((bill) => guess(bill, bill.bill_id, reason));
  return [...learnt, ...(parties.size <= suggestionsMax ? equal : [])];
}

/** One for each party and subscription, the first of each. */
function distinct(suggestions: readonly Suggestion[]): Suggestion[] {
  const seen = new Map<string, Suggestion>();
  for (const one of suggestions) {
    const key = `${one.partyId} ${one.connectionNumber}`;
    if (!seen.has(key)) seen.set(key, one);
  }
  return [...seen.values()].slice(0, suggestionsMax);
}
