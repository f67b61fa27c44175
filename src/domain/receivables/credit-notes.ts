// Credit notes for lines of posted bills, or for all that is left of them.

import type { Tx } from '../../base/db/pool.ts';
import type { RowProblem } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import {
  insertCreditNotes,
  type KnownCreditNote,
  listCreditNoteReferences,
} from '../bills/credit-notes-store.ts';
import {
  addCredit,
  type Creditable,
  type CreditLine,
  linesOf,
  restOf,
} from '../bills/posting/credit-bill.ts';
import { bookCreditNotes, type WantedNote } from '../bills/posting/credit-notes.ts';
import { isOwedByWorkspace } from '../ledger/accounts.ts';
import { lockCreditable } from './creditable.ts';
import { problemsOfRace, type Taken, takeNew } from './references.ts';

export type WantedCreditNote = {
  reference: string | null;
  billId: number;
  /** Minor units; null for all that is left of the bill. */
  lines: readonly { component: string; amount: number }[] | null;
  reason: string;
};

export type MadeCreditNotes = {
  problems: readonly RowProblem[];
  /** By row, also of those that were made before. */
  creditNoteIds: readonly number[];
  repeated: number;
};

/** All are made or, where one is refused, none. */
export async function makeCreditNotes(
  tx: Tx,
  tenantId: number,
  wanted: readonly WantedCreditNote[],
  { today, stamp }: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<MadeCreditNotes> {
  const refused = (problems: readonly RowProblem[]) => {
    return { problems, creditNoteIds: [], repeated: 0 };
  };
  const { bills, problems: missing } = await lockCreditable(tx, tenantId, wanted, {
    list: 'creditNotes',
    verb: 'credited',
  });
  if (missing.length > 0) return refused(missing);
  const references = wanted.flatMap((one) => one.reference ?? []);
  const known = await listCreditNoteReferences(tx, tenantId, references);
  const taken = takeNotes(wanted, known);
  if (taken.problems.length > 0) return refused(taken.problems);
  const { notes, problems } = notesOf(taken, bills);
  if (problems.length > 0) return refused(problems);
  const made =
    notes.length === 0 ? [] : await bookCreditNotes(tx, tenantId, notes, { today, stamp });
  if (made.length > 0) {
    const raced = problemsOfRace(made, await insertCreditNotes(tx, tenantId, made, stamp));
    if (raced.length > 0) return refused(raced);
  }
  const idOf = new Map(taken.rows.map((one, at) => [one.id, made[at]?.creditNoteId ?? 0]));
  const creditNoteIds = taken.ids.map((id) => idOf.get(id) ?? id);
  return { problems: [], creditNoteIds, repeated: wanted.length - made.length };
}

/** A reference that was used for the same bill and amount is a repetition. */
function takeNotes(
  wanted: readonly WantedCreditNote[],
  known: ReadonlyMap<string, KnownCreditNote>,
): Taken<WantedCreditNote> {
  return takeNew(wanted, known, {
    // Ids are gapless and given when the notes are booked: until then they are below zero.
    firstId: -wanted.length,
    keep: (one, id, reference) => {
      return { reference, id, bill_id: one.billId, amount: totalOf(one) ?? 0 };
    },
    isSame: (one, before) =>
      before.bill_id === one.billId && (totalOf(one) ?? before.amount) === before.amount,
    name: (before) => `a credit note of bill ${before.bill_id} with another amount`,
  });
}

function totalOf({ lines }: WantedCreditNote): number | null {
  return lines?.reduce((sum, line) => sum + line.amount, 0) ?? null;
}

/** Several credit notes of a call may be of one bill: each leaves less for the next. */
function notesOf(
  taken: Taken<WantedCreditNote>,
  bills: ReadonlyMap<number, Creditable>,
): { notes: WantedNote[]; problems: RowProblem[] } {
  const left = new Map([...bills].map(([id, bill]) => [id, { ...bill, parts: [...bill.parts] }]));
  const notes: WantedNote[] = [];
  const problems: RowProblem[] = [];
  for (const { wanted: one, row } of taken.rows) {
    const bill = bills.get(one.billId);
    const rest = left.get(one.billId);
    if (!bill || !rest) throw new Error(`bill ${one.billId} was not read`);
    const { lines, problems: wrong } = linesWanted(rest, one, row);
    problems.push(...wrong);
    notes.push({ bill, lines, reason: one.reason, reference: one.reference, cancelsBill: false });
  }
  return { notes, problems };
}

/** Takes the lines off what is left of the bill. */
function linesWanted(
  bill: Creditable,
  wanted: WantedCreditNote,
  row: number,
): { lines: CreditLine[]; problems: RowProblem[] } {
  const refuse = (name: string, message: string, rejectedValue: unknown = null) => {
    const problem = { row, name, code: 'AMOUNT_ABOVE_OPEN', message, rejectedValue } as const;
    return { lines: [], problems: [problem] };
  };
  const name = `bill ${bill.billNumber}`;
  if (wanted.lines === null) {
    const rest = restOf(bill);
    if (rest.length === 0) return refuse('fullBill', `Nothing is left to credit of ${name}`, true);
    if (bill.parts.some((part) => part.amount < 0n && part.paid !== 0n)) {
      return refuse('fullBill', `${name} is below zero and has paid other bills`, true);
    }
    addCredit(bill, rest);
    const isAbove = isAbovePayable(bill);
    return isAbove ? refuse('fullBill', paidToParty(name), true) : { lines: rest, problems: [] };
  }
  const all: CreditLine[] = [];
  for (const [index, line] of wanted.lines.entries()) {
    const { component } = line;
    const at = `lines[${index}]`;
    if (!bill.parts.some((part) => part.charges.some((one) => one.component === component))) {
      const message = `${name} has no component ${component}`;
      const problem = { code: 'COMPONENT_NOT_FOUND', message, rejectedValue: component } as const;
      return { lines: [], problems: [{ row, name: `${at}.component`, ...problem }] };
    }
    const { lines, above } = linesOf(bill, line);
    if (above > 0) {
      return refuse(`${at}.amount`, `More than is left to credit of ${component} on ${name}`);
    }
    addCredit(bill, lines);
    if (isAbovePayable(bill)) return refuse(`${at}.amount`, paidToParty(name));
    all.push(...lines);
  }
  return { lines: all, problems: [] };
}

/** What the workspace has paid out comes back by a reversal, and is in no wallet. */
function isAbovePayable({ contextType, parts }: Creditable): boolean {
  const isAbove = parts.some((part) => part.paid + part.credited + part.gone > part.amount);
  return isOwedByWorkspace(contextType) && isAbove;
}

function paidToParty(name: string): string {
  return `More than is open on ${name}: what was paid to the party is taken back by a reversal`;
}
