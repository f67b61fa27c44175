import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { majorUnits } from '../../base/money.ts';
import {
  countJournals,
  type JournalLineRow,
  type JournalRow,
  listJournals,
  listLinesOf,
} from '../../domain/ledger/journals-store.ts';
import { date, fieldsOnly, id, maybe, money, nullable, page, text, timestamp } from '../fields.ts';
import { listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';
import { daysOf } from './ledger-fields.ts';

const day = Type.String({ description: 'DD/MM/YYYY' });

const journalView = {
  journalID: Type.Integer(),
  postingDate: day,
  valueDate: Type.String({ description: 'DD/MM/YYYY: the day from which the money counts' }),
  sourceType: Type.String({ description: 'what it was posted for: Bills, Payment, Reversal, …' }),
  sourceID: Type.Integer(),
  description: Type.String(),
  reversesJournalID: nullable(Type.Integer()),
  createdAt: timestamp,
  createdBy: Type.String(),
  lines: Type.Array(
    Type.Object({
      accountCode: Type.String(),
      debit: money,
      credit: money,
      component: nullable(Type.String()),
      connectionNumber: nullable(
        Type.String({ description: 'if the line belongs to one subscription alone' }),
      ),
    }),
  ),
};

type Listed = JournalRow & { lines: readonly JournalLineRow[] };

export const getJournals = operation({
  path: '/billing/ledger/get-journals',
  method: 'Retrieve',
  action: 'Retrieve Journals',
  access: { permission: 'ledger:read' },
  summary: 'Lists journals with their lines, by posting date.',
  request: Type.Object({
    journalID: maybe(id),
    sourceType: maybe(text({ max: 40 })),
    accountCode: maybe(text({ max: 64 })),
    fromDate: maybe(date),
    toDate: maybe(date),
    page: Type.Optional(page),
    metaData: fieldsOnly,
  }),
  response: Type.Object({ journals: Type.Array(Type.Partial(Type.Object(journalView))) }),
  errors: [],
  example: { fromDate: '01/07/2025', toDate: '31/07/2025', page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const filter = {
      journalId: body.journalID ?? null,
      sourceType: body.sourceType || null,
      accountCode: body.accountCode || null,
      ...daysOf(body),
    };
    const list = async (
      tx: Tx,
      window: { after?: JournalRow | undefined; offset: number; limit: number },
    ) => withLines(tx, tenantId, await listJournals(tx, tenantId, filter, window));
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countJournals(tx, tenantId, filter),
      at: (tx, window) => list(tx, window),
      after: (tx, { after, limit }) => list(tx, { after, limit, offset: 0 }),
      present: (row: Listed) => present(row, call),
      wrap: (journals) => ({ journals }),
    });
  },
});

async function withLines(tx: Tx, tenantId: number, rows: readonly JournalRow[]): Promise<Listed[]> {
  const ids = rows.map((row) => row.journal_id);
  const lines = ids.length === 0 ? [] : await listLinesOf(tx, tenantId, ids);
  const byJournal = Map.groupBy(lines, (line) => line.journal_id);
  return rows.map((row) => ({ ...row, lines: byJournal.get(row.journal_id) ?? [] }));
}

function present(row: Listed, { tenant }: Call) {
  const amount = (minor: bigint) => majorUnits(minor > 0n ? minor : 0n, tenant.currencyDecimals);
  return {
    journalID: row.journal_id,
    postingDate: wireDay(row.posting_date),
    valueDate: wireDay(row.value_date),
    sourceType: row.source_type,
    sourceID: row.source_id,
    description: row.description,
    reversesJournalID: row.reverses_journal_id,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: row.created_by,
    lines: row.lines.map((line) => ({
      accountCode: line.account_code,
      debit: amount(BigInt(line.amount)),
      credit: amount(-BigInt(line.amount)),
      component: line.component,
      connectionNumber: line.subscription_number,
    })),
  };
}
