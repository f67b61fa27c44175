// What a subscription is, in the words of the domain. Its histories are kept as JSON, with dates as
// YYYY-MM-DD: a `fromDate` is the first day on which something holds, a `toDate` the first on which
// it no longer does.
import type { ErrorCode, ErrorDetail } from '../../base/errors.ts';

export const subscriptionStatuses = ['Pending', 'Active', 'Disconnected', 'Closed'] as const;
export type SubscriptionStatus = (typeof subscriptionStatuses)[number];

export const disconnectionKinds = ['Temporary', 'Permanent', 'CustomerRequest'] as const;
export type DisconnectionKind = (typeof disconnectionKinds)[number];

export const userRoles = ['Owner', 'Payer', 'Occupant', 'Contact'] as const;
export type UserRole = (typeof userRoles)[number];

export const paymentMethods = ['Cash', 'Bank', 'Card', 'DirectDebit', 'Wallet', 'Online'] as const;

/** The balances of a subscription, by the titles that people know them by. */
export const balanceTitles = [
  'Receivable',
  'Payable',
  'Advance',
  'Security Deposit',
  'Disputed',
] as const;
export type BalanceTitle = (typeof balanceTitles)[number];

/** What a Pending subscription waits for; Request: until an operator activates it. */
export type PendingKind = 'Date' | 'Documents' | 'Deposit' | 'Request';

export type StatusStep = {
  status: SubscriptionStatus;
  fromDate: string;
  kind?: DisconnectionKind | PendingKind;
  reason?: string;
};
export type PlanStep = { planId: number; fromDate: string };
export type InputValue = { name: string; value: string };
export type Quantity = { name: string; value: string; fromDate: string };
export type AddOn = { planId: number; quantity: string; fromDate: string; toDate?: string };
export type SubscriptionUser = {
  partyId: number;
  role: UserRole;
  fromDate: string;
  toDate?: string;
};

/** One with a name and a value sets a value of the context; others are kept as they came. */
export type Variant = {
  name?: string;
  value?: unknown;
  fromDate?: string;
  toDate?: string;
  createdAt?: string;
  createdBy?: string;
  [key: string]: unknown;
};

export type Transfer = {
  transferId: number;
  transferDate: string;
  fromPartyId: number;
  /** Not known of transfers from before it was kept. */
  fromAccountId?: number;
  toPartyId: number;
  readings: object[];
  balanceHandling: 'StayWithOld' | 'MoveToNew';
  /** Minor units. */
  amountMoved: number;
  reason: string | null;
  createdAt: string;
  createdBy: string;
};

/** The step that holds on a day: the last one that began by then. */
export function statusOn(history: readonly StatusStep[], day: Temporal.PlainDate): StatusStep {
  const found = history.findLast(({ fromDate }) => fromDate <= day.toString());
  const step = found ?? history[0];
  if (!step) throw new Error('a subscription without a status');
  return step;
}

/**
 * The history with a further step. Steps planned from its day on are dropped; a step that only
 * cancels planned steps is not added.
 */
export function withStatus(
  history: readonly StatusStep[],
  step: StatusStep,
  today: Temporal.PlainDate,
): StatusStep[] {
  const isKept = ({ fromDate }: StatusStep) =>
    fromDate < step.fromDate || (fromDate === step.fromDate && fromDate <= today.toString());
  const kept = history.filter(isKept);
  return kept.length < history.length && kept.at(-1)?.status === step.status
    ? kept
    : [...kept, step];
}

/** What the row says of a history on a day: the status, and when it changes next. */
export function statusColumns(history: readonly StatusStep[], today: Temporal.PlainDate) {
  const current = statusOn(history, today);
  const next = history.find(({ fromDate }) => fromDate > today.toString());
  const isDisconnected = current.status === 'Disconnected';
  return {
    status: current.status,
    nextChangeDate: next?.fromDate ?? null,
    disconnectionKind: isDisconnected ? ((current.kind ?? 'Temporary') as DisconnectionKind) : null,
  };
}

/** What a search looks at, one piece a line. */
export function searchText(
  fold: (text: string) => string,
  facts: { number: string; referenceNumber: string | null; projectName: string | null },
): string {
  const pieces = [facts.number, facts.referenceNumber ?? '', facts.projectName ?? ''];
  return pieces.map(fold).join('\n');
}

export function problem(
  field: string,
  code: ErrorCode,
  message: string,
  rejectedValue?: unknown,
): ErrorDetail {
  return { field, code, message, ...(rejectedValue === undefined ? {} : { rejectedValue }) };
}
