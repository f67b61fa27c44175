import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { listGateways } from '../../domain/bank-files/gateways-store.ts';
import { nullable, timestamp, ts } from '../fields.ts';
import { found } from '../listing.ts';
import { operation } from '../operation.ts';

export const getGateways = operation({
  path: '/billing/gateways/get-gateways',
  method: 'Retrieve',
  action: 'Retrieve Gateways',
  access: { permission: 'settings:read' },
  summary: 'Lists the payment gateways of the workspace; never their secrets.',
  request: Type.Object({}),
  response: Type.Object({
    gateways: Type.Array(
      Type.Object({
        adapter: Type.String(),
        path: Type.String({ description: 'Where the gateway sends its notices.' }),
        bankAccountID: Type.Integer(),
        status: Type.String({ description: 'Active or Paused.' }),
        oldSecretUntil: nullable(timestamp),
        createdAt: timestamp,
        modifiedAt: timestamp,
        modifiedBy: Type.String(),
        ts,
      }),
    ),
  }),
  errors: [],
  example: {},
  async handle(call) {
    const { tenantId, workspace, timezone } = call.tenant;
    const rows = await listGateways(call.tx, tenantId);
    const gateways = rows.map((row) => ({
      adapter: row.adapter,
      path: `/gateways/${workspace}/${row.adapter}`,
      bankAccountID: row.bank_account_id,
      status: row.status,
      oldSecretUntil: row.old_secret_until && formatTimestamp(row.old_secret_until, timezone),
      createdAt: formatTimestamp(row.created_at, timezone),
      modifiedAt: formatTimestamp(row.modified_at, timezone),
      modifiedBy: row.modified_by,
      ts: row.ts,
    }));
    return { message: found(rows.length), total: rows.length, data: { gateways } };
  },
});
