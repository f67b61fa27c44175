import * as Type from 'typebox';
import { instantOf, parseLocalDateTime } from '../../base/calendar.ts';
import { counted } from '../../base/counted.ts';
import { type ErrorDetail, errorFromRows } from '../../base/errors.ts';
import { findTakenClientIds, insertClients } from '../../domain/access/clients-store.ts';
import { takeNumbers } from '../../domain/tenants/numbers-store.ts';
import { empty, localDateTime, maybe } from '../fields.ts';
import { operation } from '../operation.ts';
import { hashAll, hashingTurns } from './hashing-fields.ts';
import { allowedAddresses, clientId, clientRoles, clientSecret } from './login-fields.ts';

const clientsMax = 50;

export const makeClients = operation({
  path: '/billing/auth/make-clients',
  method: 'Create',
  action: 'Create API Clients',
  access: { permission: 'access:write' },
  summary: 'Creates machine clients; the caller supplies each secret.',
  request: Type.Object({
    clients: Type.Array(
      Type.Object({
        clientID: clientId,
        clientSecret,
        roles: clientRoles,
        expiresAt: maybe(localDateTime),
        allowedAddresses: maybe(allowedAddresses),
      }),
      { minItems: 1, maxItems: clientsMax },
    ),
  }),
  response: empty,
  errors: ['DUPLICATE'],
  example: {
    clients: [
      {
        clientID: 'meter-gateway',
        clientSecret: 'a secret of at least thirty-two characters',
        roles: ['Meter Reader'],
      },
    ],
  },
  turns: hashingTurns,
  prepare: (call, { clients }) =>
    hashAll(
      call,
      clients.map((one) => one.clientSecret),
    ),
  async handle(call, body, hashes) {
    const { tx, tenant } = call;
    const ids = body.clients.map((client) => client.clientID);
    const problems = [
      ...duplicates(ids, await findTakenClientIds(tx, tenant.tenantId, ids)),
      // Like every token a client ends by the machine's time.
      ...ended(body.clients, call.now.subtract({ milliseconds: tenant.clockOffsetMs }), tenant),
    ];
    if (problems.length > 0) throw errorFromRows(problems);
    const clients = body.clients.map((one, index) => ({
      clientId: one.clientID,
      secretHash: hashes[index] as string,
      roles: [...new Set(one.roles)],
      expiresAt: expiryOf(one.expiresAt ?? null, tenant.timezone),
      allowedAddresses: one.allowedAddresses ?? [],
    }));
    const first = await takeNumbers(tx, tenant.tenantId, 'client', clients.length);
    const stamp = { at: call.now, by: call.principal.name };
    await insertClients(tx, tenant.tenantId, first, clients, stamp);
    clients.forEach(({ secretHash: _, ...after }, index) => {
      call.audit({ subject: 'client', subjectId: first + index, before: null, after });
    });
    const resourceIds = clients.map((_, index) => first + index);
    return {
      message: `${counted(clients.length, 'API client')} created`,
      data: {},
      ids: { resourceIds },
    };
  },
});

export function expiryOf(local: string | null, timezone: string): Temporal.Instant | null {
  const parsed = local === null ? undefined : parseLocalDateTime(local);
  return parsed ? instantOf(parsed, timezone) : null;
}

function ended(
  clients: readonly { expiresAt?: string | null }[],
  realNow: Temporal.Instant,
  { timezone }: { timezone: string },
): ErrorDetail[] {
  return clients.flatMap(({ expiresAt = null }, index): ErrorDetail[] => {
    const expiry = expiryOf(expiresAt, timezone);
    if (expiry === null || Temporal.Instant.compare(expiry, realNow) > 0) return [];
    const field = `clients[${index}].expiresAt`;
    const message = `${field} is in the past`;
    return [{ field, code: 'INVALID_DATETIME', message, rejectedValue: expiresAt }];
  });
}

function duplicates(ids: readonly string[], taken: Set<string>): ErrorDetail[] {
  return ids.flatMap((id, index): ErrorDetail[] => {
    if (ids.indexOf(id) === index && !taken.has(id)) return [];
    const message = taken.has(id)
      ? `An API client named ${id} exists already`
      : `${id} appears twice in this request`;
    const field = `clients[${index}].clientID`;
    return [{ field, code: 'DUPLICATE', message, rejectedValue: id }];
  });
}
