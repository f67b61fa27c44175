// A service as the form holds it, and what of it was changed.
import type { RequestOf } from '../../../sdk/client.ts';
import type { Service } from '../../api/queries/plans.ts';

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
] as const;
/** Empty becomes null. A text that is not a number is sent as it is: the server names the field. */
const number = (typed: string) => {
  if (typed.trim() === '') return null;
  return Number.isNaN(Number(typed)) ? typed : Number(typed);
};

export function changesOf(service: Service, draft: ServiceDraft): Change {
  const before = draftOf(service);
  const isChanged = (name: keyof ServiceDraft) =>
    JSON.stringify(before[name]) !== JSON.stringify(draft[name]);
  const change: Record<string, unknown> = { code: service.serviceCode, ts: service.ts };
  if (isChanged('name')) change.name = draft.name;
  if (isChanged('description')) change.description = draft.description;
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
  if (isChanged('steps')) {
    const steps = draft.steps.map((step) => ({
      ...step,
      daysAfterDue: number(step.daysAfterDue),
      templateID: number(step.templateID),
    }));
    change.dunning = steps.length === 0 ? null : { ...service.dunning, steps };
  }
  return change as Change;
}
