import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { paymentMethods } from '../../domain/subscriptions/subscription.ts';
import { changeSubscription, type SubscriptionChange } from '../../domain/subscriptions/update.ts';
import { dunningHold, saveHoldSent } from '../dunning/hold-fields.ts';
import { address, empty, filledText, limits, maybe, oneOf, text, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';
import { sent } from '../pricing-fields.ts';
import { assertMayForce, changeDone, changeErrors, force, stampOf } from './change-fields.ts';
import {
  addOnsSent,
  connectionNumber,
  descriptionText,
  inputsSent,
  quantitiesSent,
  sharedFields,
  trimmed,
  usersSent,
  variantsSent,
} from './connection-fields.ts';

const data = Type.Object({
  connectionNumber,
  batchCode: maybe(text({ max: 32 })),
  description: descriptionText,
  connectionRefNo: maybe(text({ max: 120 })),
  paymentMethod: maybe(oneOf(paymentMethods)),
  projectName: maybe(text({ max: 200 })),
  address: maybe(address),
  ...sharedFields,
  connectionGroupLabel: Type.Optional(filledText({ max: limits.accountLabel })),
  activate: maybe(Type.Boolean()),
  dunningHold,
  force,
  ts: tsGuard,
});

export const updateConnection = operation({
  path: '/billing/connections/update-connection',
  method: 'Update',
  action: 'Update Subscription',
  access: { permission: 'subscriptions:write' },
  summary: 'Changes the details of a subscription; with activate, activates one that is Pending.',
  request: Type.Object({ data }),
  response: empty,
  errors: [
    ...changeErrors,
    'BATCH_NOT_FOUND',
    'ADDON_NOT_FOUND',
    'CONNECTION_INPUTS_MISMATCH',
    'VARIANT_NOT_OVERRIDABLE',
    'PARTY_NOT_FOUND',
    'PARTY_ARCHIVED',
    'PARTY_KEY_MISMATCH',
    'OWNER_IMMUTABLE',
    'DUPLICATE',
    'DATE_IN_POSTED_TERM',
    'DEPOSIT_UNPAID',
  ],
  example: {
    data: {
      connectionNumber: 'ELEC-00000001',
      batchCode: 'B01',
      paymentMethod: 'Bank',
      connectionInputs: [{ name: 'load', value: '7' }],
      unmeteredInputs: [{ name: 'lamps', value: '4', fromDate: '01/02/2099' }],
      connectionGroupLabel: 'House 12-B',
    },
  },
  async handle(call, body) {
    const change = changeSent(body.data, dateIn(call.now, call.tenant.timezone));
    const isForced = assertMayForce(call, body.data.force);
    const wanted = { ...change, isForced };
    const done = await changeSubscription(call.tx, call.tenant, wanted, stampOf(call));
    const holder = { kind: 'Subscription', id: done.after.subscription_id } as const;
    await saveHoldSent(call, holder, body.data.dunningHold);
    return changeDone(call, done, 'updated');
  },
});

/** Absent facts stay; null clears those that may be empty, and leaves lists as they are. */
function changeSent(
  given: Type.Static<typeof data>,
  today: Temporal.PlainDate,
): Omit<SubscriptionChange, 'isForced'> {
  const clearable = (value: string | null | undefined) =>
    value === undefined ? undefined : trimmed(value);
  return {
    number: given.connectionNumber.trim(),
    seenTs: given.ts,
    facts: sent<SubscriptionChange['facts']>({
      description: given.description,
      reference_number: clearable(given.connectionRefNo),
      payment_method: given.paymentMethod,
      project_name: clearable(given.projectName),
      address: given.address,
    } as never),
    batchCode: clearable(given.batchCode),
    accountLabel: given.connectionGroupLabel?.trim(),
    inputs: given.connectionInputs ? inputsSent(given.connectionInputs) : undefined,
    quantities: given.unmeteredInputs ? quantitiesSent(given.unmeteredInputs) : undefined,
    users: given.users ? usersSent(given.users) : undefined,
    variants: given.variants ? variantsSent('data.variants', given.variants) : undefined,
    addOns: given.addonTariffLabels ? addOnsSent(given.addonTariffLabels) : undefined,
    documents: given.documents ?? undefined,
    activate: given.activate ?? false,
    today,
  };
}
