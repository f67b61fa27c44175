// A service as the form holds it, and what of it was changed.
import type { DataOf, RequestOf } from '../../../sdk/client.ts';
import { typedNumber as number } from '../../parts/typed-number.ts';

type Service = DataOf<'getServices'>['services'][number];
type Change = RequestOf<'updateService'>['service'];

const text = (value: unknown) => (value === null || value === undefined ? '' : String(value));

export function draftOf(service: Service) {
  return {
    name: service.serviceLabel,
    description: service.description,
    dueDateOffset: text(service.dueDateOffset),
    minimumDaysToPay: text(service.minimumDaysToPay),
    graceDays: text(service.graceDays),
    readingGraceDays: text(service.readingGraceDays),
    cashAccountID: text(service.cashAccountID),
    chargingType: service.chargingType,
    postType: service.postType,
    billingCycle: text(service.billingCycleLookupID),
    postBilling: text(service.postBilling),
    paymentSettlementMethod: service.paymentSettlementMethod,
    lateFeeBasis: service.lateFeeBasis ?? 'BillAmount',
    securityDeposit: text(service.securityDeposit),
    reconnectionLimit: text(service.reconnectionLimit),
    roundingMode: text(service.billRounding?.mode),
    roundingScale: text(service.billRounding?.scale ?? 0),
    archived: service.archiveStatus === 1,
    autoApplyWallet: service.autoApplyWallet !== 0,
    requireDeposit: service.requireDeposit === 1,
    reconnect: service.dunning?.reconnect === 1,
    prepaidLowBalance: text(service.prepaid?.lowBalance),
    prepaidTemplate: text(service.prepaid?.templateID),
    prepaidGraceDays: text(service.prepaid?.graceDays ?? 0),
    prepaidDisconnect: service.prepaid?.disconnect === 1,
    ownHolds: (service.holdRules ?? null) !== null,
    holdRules: (service.holdRules ?? []).map((rule) => ({ ...rule, reason: text(rule.reason) })),
    invoiceTemplate: text(service.invoiceTemplate?.templateID),
    emailTemplate: text(service.emailTemplate?.templateID),
    batches: (service.batches ?? []).map((batch) => ({
      ...batch,
      readingDay: text(batch.readingDay),
      billingDay: text(batch.billingDay),
    })),
    bankAccounts: (service.bankAccounts ?? []).map((account) => ({
      ...account,
      bankName: text(account.bankName),
      accountNumber: text(account.accountNumber),
      iban: text(account.iban),
    })),
    components: (service.components ?? []).map((one) => ({
      ...one,
      label: text(one.label ?? one.name),
      categories: (one.categories ?? []).join(', '),
      account: text(one.account),
    })),
    meteredInputs: (service.meteredInputs ?? []).map((one) => ({
      ...one,
      label: text(one.label ?? one.name),
      unit: text(one.unit),
      register: text(one.register),
    })),
    unmeteredInputs: (service.unmeteredInputs ?? []).map((one) => ({
      ...one,
      label: text(one.label ?? one.name),
      unit: text(one.unit),
      source: text(one.source ?? 'Subscription'),
    })),
    values: (service.values ?? []).map((one) => ({
      ...one,
      label: text(one.label ?? one.name),
      default: Array.isArray(one.default) ? one.default : text(one.default),
    })),
    steps: (service.dunning?.steps ?? []).map((step) => ({
      ...step,
      daysAfterDue: text(step.daysAfterDue),
      templateID: text(step.templateID),
      component: text(step.component),
      amount: text(step.amount),
    })),
  };
}
export type ServiceDraft = ReturnType<typeof draftOf>;

const numbers = [
  'dueDateOffset',
  'minimumDaysToPay',
  'graceDays',
  'readingGraceDays',
  'cashAccountID',
  'billingCycle',
  'postBilling',
] as const;
const words = [
  'name',
  'description',
  'chargingType',
  'postType',
  'paymentSettlementMethod',
] as const;
const amounts = ['securityDeposit', 'reconnectionLimit'] as const;
const flags = ['autoApplyWallet', 'requireDeposit'] as const;

export function changesOf(service: Service, draft: ServiceDraft): Change {
  const before = draftOf(service);
  const isChanged = (name: keyof ServiceDraft) =>
    JSON.stringify(before[name]) !== JSON.stringify(draft[name]);
  const change: Record<string, unknown> = { code: service.serviceCode, ts: service.ts };
  for (const name of [...words, 'lateFeeBasis'] as const) {
    if (isChanged(name)) change[name] = draft[name];
  }
  for (const name of amounts) if (isChanged(name)) change[name] = draft[name].trim() || null;
  for (const name of flags) if (isChanged(name)) change[name] = draft[name] ? 1 : 0;
  if (isChanged('archived')) change.archiveStatus = draft.archived ? 1 : 0;
  if (isChanged('roundingMode') || isChanged('roundingScale')) {
    const rounding = { mode: draft.roundingMode, scale: number(draft.roundingScale) };
    change.billRounding = draft.roundingMode === '' ? null : rounding;
  }
  if (prepaidNames.some(isChanged)) change.prepaid = prepaidOf(before, draft);
  if (isChanged('holdRules') || isChanged('ownHolds')) {
    change.holdRules = draft.ownHolds ? draft.holdRules : null;
  }
  for (const name of numbers) if (isChanged(name)) change[name] = number(draft[name]);
  for (const name of ['invoiceTemplate', 'emailTemplate'] as const) {
    if (isChanged(name)) change[name] = { templateID: number(draft[name]) };
  }
  if (isChanged('batches')) {
    change.batches = draft.batches.map((batch) => ({
      ...batch,
      readingDay: number(batch.readingDay),
      billingDay: number(batch.billingDay),
    }));
  }
  if (isChanged('bankAccounts')) {
    change.bankAccounts = draft.bankAccounts.map((account) => ({
      ...account,
      bankName: account.bankName || null,
      accountNumber: account.accountNumber || null,
      iban: account.iban || null,
    }));
  }
  if (isChanged('components')) {
    change.components = draft.components.map((one) => ({
      ...one,
      categories: one.categories
        .split(',')
        .map((word) => word.trim())
        .filter((word) => word !== ''),
      account: one.account || null,
    }));
  }
  for (const name of ['meteredInputs', 'unmeteredInputs'] as const) {
    if (!isChanged(name)) continue;
    change[name] = (draft[name] as Record<string, unknown>[]).map((one) => ({
      ...one,
      unit: one.unit || null,
      ...('register' in one ? { register: one.register || null } : {}),
    }));
  }
  if (isChanged('values')) {
    change.values = draft.values.map((one) => ({
      ...one,
      default: one.default === '' ? null : one.default,
    }));
  }
  if (isChanged('steps') || isChanged('reconnect')) {
    const steps = draft.steps.map((step) => ({
      ...step,
      daysAfterDue: number(step.daysAfterDue),
      templateID: number(step.templateID),
      component: step.component || null,
      amount: step.amount.trim() || null,
    }));
    const reconnect = draft.reconnect ? 1 : 0;
    const isNone = steps.length === 0 && reconnect === 0;
    change.dunning = isNone ? null : { ...service.dunning, steps, reconnect };
  }
  return change as Change;
}

const besideBalance = ['prepaidTemplate', 'prepaidGraceDays', 'prepaidDisconnect'] as const;
const prepaidNames = ['prepaidLowBalance', ...besideBalance] as const;

const draftNames: Record<string, keyof ServiceDraft> = {
  'prepaid.lowBalance': 'prepaidLowBalance',
  'prepaid.templateID': 'prepaidTemplate',
  'prepaid.graceDays': 'prepaidGraceDays',
  'billRounding.scale': 'roundingScale',
};

/** The refused fields of the call under the names that the draft has for them. */
export function placesInDraft(fields: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([field, message]) => [draftNames[field] ?? field, message]),
  );
}

/** Without a balance to watch for, balances are not checked: but then nothing else is to be set. */
function prepaidOf(before: ServiceDraft, draft: ServiceDraft) {
  const { prepaidLowBalance, prepaidTemplate, prepaidGraceDays, prepaidDisconnect } = draft;
  const isSet = besideBalance.some(
    (name) => draft[name] !== before[name] && !['', '0', false].includes(draft[name]),
  );
  if (prepaidLowBalance.trim() === '' && !isSet) return null;
  return {
    lowBalance: prepaidLowBalance.trim() || null,
    templateID: number(prepaidTemplate),
    graceDays: number(prepaidGraceDays),
    disconnect: prepaidDisconnect ? 1 : 0,
  };
}
