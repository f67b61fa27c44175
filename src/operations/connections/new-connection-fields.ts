// A subscription as it is sent to be made.
import * as Type from 'typebox';
import { type ErrorDetail, errorFromDetails } from '../../base/errors.ts';
import { amountWords, minorUnitsFrom } from '../../base/money.ts';
import type {
  OpeningBalance,
  WantedSubscription,
} from '../../domain/subscriptions/new-subscription.ts';
import {
  balanceTitles,
  paymentMethods,
  problem,
  subscriptionStatuses,
} from '../../domain/subscriptions/subscription.ts';
import { address, filledText, id, limits, maybe, oneOf, text } from '../fields.ts';
import {
  bindingOf,
  metersBound,
  metersToInstall,
  meterToInstall,
} from '../meters/installation-fields.ts';
import { decimal } from '../pricing-fields.ts';
import {
  addOnsSent,
  compactDate,
  compactDateOf,
  connectionNumber,
  descriptionText,
  inputsSent,
  quantitiesSent,
  sharedFields,
  trimmed,
  usersSent,
  variantsSent,
} from './connection-fields.ts';

const openingBalance = Type.Object({ title: oneOf(balanceTitles), balance: decimal });

export const connectionFields = Type.Object({
  serviceCode: filledText({ max: 32 }),
  tariffCode: filledText({ max: 64 }),
  postType: filledText({ max: 64 }),
  batchCode: maybe(text({ max: 32 })),
  connectionRefNo: maybe(text({ max: 120 })),
  description: descriptionText,
  paymentMethod: maybe(oneOf(paymentMethods)),
  projectName: maybe(text({ max: 200 })),
  partyID: maybe(id),
  connectionDate: maybe(compactDate),
  address: maybe(address),
  ...sharedFields,
  meteredConnectionInputs: metersBound,
  meters: metersToInstall,
  accounts: maybe(Type.Array(openingBalance, { maxItems: balanceTitles.length * 2 })),
  connectionNumber: maybe(connectionNumber),
  status: maybe(oneOf(subscriptionStatuses)),
  billedThrough: maybe(compactDate),
});
export type ConnectionSent = Type.Static<typeof connectionFields>;

/** One, or with `batchUpload` up to a thousand. */
export const connectionOrMany = Type.Unsafe<ConnectionSent | ConnectionSent[]>({
  ...connectionFields,
  type: ['object', 'array'],
  items: connectionFields,
  minItems: 1,
  maxItems: limits.batch,
  description: 'one subscription; with batchUpload: true, an array of up to 1000',
});

export function connectionsSent(
  sent: ConnectionSent | readonly ConnectionSent[],
  currencyDecimals: number,
): WantedSubscription[] {
  const problems: ErrorDetail[] = [];
  const isArray = Array.isArray(sent);
  const list = isArray ? (sent as readonly ConnectionSent[]) : [sent as ConnectionSent];
  const wanted = list.map((one, index) => {
    const field = isArray ? `connection[${index}]` : 'connection';
    return wantedSubscription(one, field, currencyDecimals, problems);
  });
  if (problems.length > 0) throw errorFromDetails(problems);
  return wanted;
}

function wantedSubscription(
  sent: ConnectionSent,
  field: string,
  currencyDecimals: number,
  problems: ErrorDetail[],
): WantedSubscription {
  return {
    field,
    contextCode: sent.serviceCode.trim(),
    planCode: sent.tariffCode.trim(),
    batchCode: trimmed(sent.batchCode),
    postType: sent.postType,
    referenceNumber: trimmed(sent.connectionRefNo),
    description: sent.description ?? null,
    paymentMethod: sent.paymentMethod ?? null,
    projectName: trimmed(sent.projectName),
    address: sent.address ?? null,
    partyId: sent.partyID ?? null,
    users: usersSent(sent.users),
    addOns: addOnsSent(sent.addonTariffLabels),
    inputs: inputsSent(sent.connectionInputs),
    quantities: quantitiesSent(sent.unmeteredInputs),
    variants: variantsSent(`${field}.variants`, sent.variants),
    meters: (sent.meters ?? []).map((one, index) =>
      meterToInstall(one, `${field}.meters[${index}]`),
    ),
    bindings: (sent.meteredConnectionInputs ?? []).map((one, index) =>
      bindingOf(one, `${field}.meteredConnectionInputs[${index}]`),
    ),
    documents: sent.documents ?? [],
    connectionDate: compactDateOf(sent.connectionDate),
    number: trimmed(sent.connectionNumber),
    status: sent.status ?? null,
    billedThrough: compactDateOf(sent.billedThrough),
    balances: balancesSent(`${field}.accounts`, sent.accounts, currencyDecimals, problems),
  };
}

function balancesSent(
  field: string,
  sent: ConnectionSent['accounts'],
  currencyDecimals: number,
  problems: ErrorDetail[],
): OpeningBalance[] {
  const balances: OpeningBalance[] = [];
  for (const [index, { title, balance }] of (sent ?? []).entries()) {
    const amount = minorUnitsFrom(String(balance), currencyDecimals);
    const place = `${field}[${index}]`;
    if (amount === undefined) {
      const message = `${place}.balance is ${amountWords(currencyDecimals)}`;
      problems.push(problem(`${place}.balance`, 'INVALID_NUMBER', message, balance));
    } else if (amount < 0 && title !== 'Receivable') {
      const message = `${title} is not below zero`;
      problems.push(problem(`${place}.balance`, 'INVALID_NUMBER', message, balance));
    } else if (balances.some((one) => one.title === title)) {
      problems.push(problem(`${place}.title`, 'DUPLICATE', `${title} appears twice`, title));
    } else balances.push({ title, amount });
  }
  return balances;
}
