import * as Type from 'typebox';
import { partyKinds } from '../../domain/parties/party.ts';
import {
  countParties,
  listPartiesAfter,
  listPartiesAt,
  listPartiesByIds,
  listPartyIdsAfter,
  type PartyFilter,
  type PartySort,
  partySortNames,
} from '../../domain/parties/store.ts';
import { filterOf, id, maybe, metaData, page, text } from '../fields.ts';
import { foundAhead, listing } from '../listing.ts';
import { operation } from '../operation.ts';
import { partySummary, presentParty } from './party-fields.ts';

const userTypes = ['customer', 'employee', 'vendor', ...partyKinds] as const;

export const listUsers = operation({
  path: '/billing/users/list-users',
  method: 'Retrieve',
  action: 'List Parties',
  access: { permission: 'parties:read' },
  summary: 'Lists parties: all, a page, or those that match.',
  request: Type.Object({
    userType: filterOf(userTypes),
    name: maybe(text({ max: 200, description: 'part of the name, in any case' })),
    email: maybe(text({ max: 254 })),
    contactValue: maybe(text({ max: 254 })),
    partyID: maybe(id),
    page: Type.Optional(page),
    metaData: metaData(partySortNames),
  }),
  response: Type.Object({ users: Type.Array(Type.Partial(Type.Object(partySummary))) }),
  errors: [],
  example: { name: 'khan', page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const meta = body.metaData ?? {};
    const filter: PartyFilter = {
      kind: partyKinds.find((kind) => kind.toLowerCase() === body.userType?.toLowerCase()) ?? null,
      name: body.name || null,
      email: body.email || null,
      contactValue: body.contactValue || null,
      partyId: body.partyID ?? null,
      search: meta.search || null,
      includeArchived: meta.includeArchived ?? false,
      updatedSince: meta.updatedSince ?? null,
    };
    const sort: PartySort = { by: meta.sortBy ?? 'partyID', descending: meta.sortOrder === 'desc' };
    return listing(call, {
      page: body.page,
      fields: meta.fields,
      count: (tx) => countParties(tx, tenantId, filter),
      at: (tx, window) => listPartiesAt(tx, tenantId, filter, sort, window),
      after:
        filter.search === null && filter.name === null
          ? (tx, options) => listPartiesAfter(tx, tenantId, filter, sort, options)
          : foundAhead({
              find: (tx, options) => listPartyIdsAfter(tx, tenantId, filter, sort, options),
              rowsOf: (tx, ids) => listPartiesByIds(tx, tenantId, ids),
              idOf: (row) => row.party_id,
            }),
      present: (row) => presentParty(row, call.tenant),
      wrap: (users) => ({ users }),
    });
  },
});
