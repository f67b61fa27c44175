import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { AppError } from '../../base/errors.ts';
import { type Created, createSubscriptions } from '../../domain/subscriptions/create.ts';
import { empty, maybe } from '../fields.ts';
import { operation } from '../operation.ts';
import { connectionOrMany, connectionsSent } from './new-connection-fields.ts';

export const makeConnections = operation({
  path: '/billing/connections/make-connections',
  method: 'Create',
  action: 'Create Subscription',
  access: { permission: 'subscriptions:write' },
  summary: 'Creates a subscription, or with batchUpload up to a thousand, all or none.',
  takesRows: true,
  request: Type.Object({ batchUpload: maybe(Type.Boolean()), connection: connectionOrMany }),
  response: empty,
  errors: [
    'SERVICE_NOT_FOUND',
    'SERVICE_ARCHIVED',
    'PLAN_NOT_FOUND',
    'PLAN_ABSTRACT',
    'PLAN_NOT_BASE',
    'PLAN_NOT_AVAILABLE',
    'BATCH_NOT_FOUND',
    'ADDON_NOT_FOUND',
    'CONNECTION_INPUTS_MISMATCH',
    'POST_TYPE_MISMATCH',
    'OWNER_REQUIRED',
    'PARTY_NOT_FOUND',
    'PARTY_ARCHIVED',
    'PARTY_KEY_MISMATCH',
    'METER_NOT_REGISTERED',
    'METER_ALREADY_ASSIGNED',
    'METER_NOT_ASSIGNABLE',
    'METER_TYPE_NOT_ALLOWED',
    'METER_REQUIRED',
    'METER_BINDING_AMBIGUOUS',
    'REGISTER_REQUIRED',
    'DUPLICATE_ROW',
    'VARIANT_NOT_OVERRIDABLE',
    'DUPLICATE',
    'DATE_TOO_FAR_BACK',
    'DATE_IN_FUTURE',
    'OPENING_BALANCE_NOT_ALLOWED',
    'BATCH_UPLOAD_REQUIRED',
    'DEFINITION_INVALID',
    'ROWS_REJECTED',
  ],
  example: {
    batchUpload: false,
    connection: {
      serviceCode: 'ELEC',
      tariffCode: 'RES-A1',
      batchCode: null,
      addonTariffLabels: [],
      connectionRefNo: 'PLOT-12-B',
      description: null,
      postType: 'Post Subscription',
      paymentMethod: null,
      projectName: null,
      connectionInputs: [{ name: 'load', value: '5' }],
      meteredConnectionInputs: [],
      unmeteredInputs: [],
      meters: [],
      accounts: [],
      users: [{ partyNumber: 100001, role: 'Owner', connectionGroupLabel: 'House 12-B' }],
      variants: [],
      address: { buildingNo: '12-B', block: 'C', society: 'Green Town', city: 'Lahore' },
    },
  },
  async handle(call, body) {
    const { tenant } = call;
    const isBulk = body.batchUpload ?? false;
    const isBatch = Array.isArray(body.connection);
    if (isBatch && !isBulk) {
      throw new AppError('INVALID_TYPE', {
        message: 'connection must be an object unless batchUpload is true',
        field: 'connection',
      });
    }
    const wanted = connectionsSent(body.connection, tenant.currencyDecimals);
    const created = await createSubscriptions(
      call.tx,
      tenant,
      wanted,
      { isBulk, isBatch, today: dateIn(call.now, tenant.timezone) },
      { at: call.now, by: call.principal.name },
    );
    for (const one of created) {
      const subjectId = one.facts.subscription_number;
      call.audit({ subject: 'subscription', subjectId, before: null, after: snapshot(one) });
    }
    const message =
      created.length === 1
        ? `Subscription ${created[0]?.facts.subscription_number} created`
        : `${created.length} subscriptions created`;
    return {
      message,
      data: {},
      ids: {
        resourceIds: created.map(({ facts }) => facts.subscription_id),
        connectionNumbers: created.map(({ facts }) => facts.subscription_number),
      },
    };
  },
});

function snapshot({ facts, draft, meters }: Created) {
  return {
    connectionID: facts.subscription_id,
    connectionNumber: facts.subscription_number,
    connectionRefNo: facts.reference_number,
    serviceCode: draft.context.row.code,
    tariffCode: draft.plan.code,
    batchCode: draft.batch.code,
    partyID: facts.party_id,
    status: facts.status,
    connectionDate: facts.connection_date,
    billedThrough: facts.billed_through,
    connectionInputs: facts.connection_inputs,
    unmeteredInputs: facts.quantities,
    meters: meters.map(({ meter }) => meter.number),
    users: facts.users,
    addOns: draft.wanted.addOns.map(({ label }) => label),
    variants: facts.variants,
    accounts: draft.wanted.balances,
    address: facts.address,
    description: facts.description,
    paymentMethod: facts.payment_method,
    projectName: facts.project_name,
  };
}
