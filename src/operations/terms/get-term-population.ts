import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import {
  countBilled,
  countByReason,
  countMembers,
  findTermBefore,
  listMembers,
  type MemberFilter,
  type MemberRow,
  type MembersTerm,
  populationChanges,
  populationReasons,
} from '../../domain/terms/members-store.ts';
import { getTerm } from '../../domain/terms/store.ts';
import { filterOf, id, limits, maybe, nullable } from '../fields.ts';
import { type Call, operation } from '../operation.ts';

const integer = Type.Integer();
const text = Type.String();
const pageDefault = 100;

const row = Type.Object({
  connectionNumber: text,
  connectionStatus: text,
  partyNumber: integer,
  name: text,
  tariffCode: text,
  batchCode: text,
  included: Type.Boolean(),
  reason: nullable(Type.String({ description: populationReasons.join(', ') })),
  change: nullable(Type.String({ description: 'against the last term: New, Gone' })),
});

export const getTermPopulation = operation({
  path: '/billing/terms/get-term-population',
  method: 'Retrieve',
  action: 'Retrieve Term Population',
  access: { permission: 'terms:read' },
  summary: 'Lists which subscriptions a term bills, which it does not and why, and what changed.',
  request: Type.Object({
    termID: id,
    included: maybe(Type.Boolean()),
    reason: filterOf(populationReasons),
    change: filterOf(populationChanges),
    withCounts: maybe(
      Type.Boolean({
        description:
          'false returns `counts` and `difference` as null: of a large batch they take seconds',
      }),
    ),
    page: Type.Optional(
      nullable(
        Type.Object(
          {
            pageNumber: Type.Integer({ minimum: 0, maximum: 1_000_000, 'x-code': 'INVALID_PAGE' }),
            size: Type.Integer({ minimum: 1, maximum: limits.pageSize, 'x-code': 'INVALID_PAGE' }),
          },
          { 'x-code': 'INVALID_PAGE', description: `null returns the first ${pageDefault}` },
        ),
      ),
    ),
  }),
  response: Type.Object({
    rows: Type.Array(row),
    counts: nullable(
      Type.Object({
        included: integer,
        excluded: integer,
        reasons: Type.Array(Type.Object({ reason: text, count: integer })),
      }),
    ),
    difference: nullable(
      Type.Object({ previousTermID: integer, previousLabel: text, new: integer, gone: integer }),
    ),
  }),
  errors: ['TERM_NOT_FOUND'],
  example: { termID: 1, included: false, page: { pageNumber: 0, size: 100 } },
  async handle(call, body) {
    const { tx, tenant } = call;
    const { tenantId } = tenant;
    const found = await getTerm(tx, tenantId, body.termID, { field: 'termID' });
    const term = { ...found, previous: await findTermBefore(tx, tenantId, found) };
    const filter: MemberFilter = {
      isIncluded: body.included ?? null,
      reason: body.reason ?? null,
      change: body.change ?? null,
    };
    const { pageNumber, size } = body.page ?? { pageNumber: 0, size: pageDefault };
    const offset = pageNumber * size;
    const rows = await listMembers(tx, tenantId, term, filter, { offset, limit: size });
    const sums = body.withCounts === false ? null : await sumsOf(call, term);
    const isLast = rows.length < size && (rows.length > 0 || pageNumber === 0);
    const total = isLast
      ? offset + rows.length
      : ((sums && keptTotal(filter, sums)) ?? (await countMembers(tx, tenantId, term, filter)));
    const data = { rows: rows.map((one) => presentMember(one, term)) };
    if (sums === null) {
      const message = counted(total, 'subscription');
      return { message, total, data: { ...data, counts: null, difference: null } };
    }
    const { included, excluded } = sums.counts;
    return {
      message: `${counted(included, 'subscription')} billed, ${excluded} not`,
      total,
      data: { ...data, ...sums },
    };
  },
});

/** The total of a list with one filter is one of the counts; undefined with several filters. */
function keptTotal(
  { isIncluded, reason, change }: MemberFilter,
  { counts, difference }: Awaited<ReturnType<typeof sumsOf>>,
): number | undefined {
  const of = (wanted: string) => counts.reasons.find((one) => one.reason === wanted)?.count ?? 0;
  const listed = counts.excluded - of('OtherBatch');
  const filters = [isIncluded, reason, change].filter((one) => one !== null);
  if (filters.length === 0) return counts.included + listed;
  if (filters.length > 1) return undefined;
  if (reason !== null) return of(reason);
  if (isIncluded !== null) return isIncluded ? counts.included : listed;
  return change === 'New' ? (difference?.new ?? counts.included) : (difference?.gone ?? 0);
}

async function sumsOf({ tx, tenant }: Call, term: MembersTerm) {
  const { tenantId } = tenant;
  const { included, added, kept, reasons } = await countByReason(tx, tenantId, term);
  const listed = populationReasons.flatMap((reason) => {
    const count = reasons[reason] ?? 0;
    return count === 0 ? [] : [{ reason, count }];
  });
  const { previous } = term;
  const difference = previous && {
    previousTermID: previous.term_id,
    previousLabel: previous.label,
    new: added,
    gone: (await countBilled(tx, tenantId, previous.term_id)) - kept,
  };
  return {
    counts: {
      included,
      excluded: listed.reduce((sum, { count }) => sum + count, 0),
      reasons: listed,
    },
    difference: difference ?? null,
  };
}

function presentMember(member: MemberRow, term: MembersTerm) {
  const isNew = member.is_included && !member.was_billed && term.previous !== undefined;
  const isGone = member.was_billed && !member.is_included;
  return {
    connectionNumber: member.subscription_number,
    connectionStatus: member.status,
    partyNumber: member.party_number,
    name: member.party_name,
    tariffCode: member.plan_code,
    batchCode: member.batch_code,
    included: member.is_included,
    reason: member.reason,
    change: isNew ? 'New' : isGone ? 'Gone' : null,
  };
}
