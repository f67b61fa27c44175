// A pricing context as it is sent, and how what was sent reads inside.
import * as Type from 'typebox';
import { countryCode } from '../../base/countries.ts';
import { AppError, errorFromDetails } from '../../base/errors.ts';
import { amountWords, minorUnitsFrom } from '../../base/money.ts';
import { bankAccountProblems, electronicForm } from '../../domain/documents/check-bank-accounts.ts';
import { settlementMethods } from '../../domain/ledger/settle.ts';
import type {
  BankAccount,
  Batch,
  ContextPricing,
  ContextSettings,
  PaymentCode,
} from '../../domain/pricing/context.ts';
import { highFactorDefault, lowFactorDefault } from '../../domain/readings/judge.ts';
import { date, filledText, id, limits, maybe, nullable, oneOf, text } from '../fields.ts';
import {
  archiveFlag,
  assertSmallTables,
  flag,
  maybeDecimal,
  sent,
  wholeNumber,
} from '../pricing-fields.ts';
import {
  type bankAccount,
  type batch,
  definitionArrays,
  definitionSettings,
  ownArrays,
  type paymentCode,
} from './service-item-fields.ts';

export const serviceTypes = ['Sale', 'Purchase', 'Payroll'] as const;
export const chargingTypes = ['Postpaid', 'Prepaid'] as const;
export const postTypes = ['Post Subscription', 'Post Account', 'Post Party'] as const;
export const serviceCode = Type.String({
  pattern: '^[A-Z0-9][A-Z0-9_-]{0,31}$',
  maxLength: 32,
  'x-code': 'INVALID_FORMAT',
  description: 'capital letters, digits, _ and -',
});

const template = maybe(Type.Object({ templateID: nullable(id) }));

/** The fields that a new context must have. */
export const serviceHead = {
  name: filledText({ max: 200 }),
  serviceType: oneOf(serviceTypes),
  chargingType: oneOf(chargingTypes),
  postType: oneOf(postTypes),
  billingCycle: id,
};

export const serviceRest = {
  dueDateOffset: Type.Optional(wholeNumber(0, 365)),
  minimumDaysToPay: Type.Optional(wholeNumber(0, 90)),
  description: maybe(text({ max: limits.description })),
  postBilling: Type.Optional(flag),
  paymentSettlementMethod: Type.Optional(oneOf(settlementMethods)),
  cashAccountID: Type.Optional(id),
  businessUnitID: Type.Optional(id),
  securityDeposit: maybeDecimal,
  requiredDocs: maybe(Type.Array(filledText({ max: 200 }), { maxItems: 100 })),
  archiveStatus: Type.Optional(archiveFlag),
  invoiceTemplate: template,
  emailTemplate: template,
  ...definitionArrays,
  ...definitionSettings,
  ...ownArrays,
};

export const effectiveDate = maybe(date);

const wholeService = Type.Partial(Type.Object({ ...serviceHead, ...serviceRest }));
export type ServiceSent = Type.Static<typeof wholeService>;

/** The invoice template of a workspace that names no other. */
const firstTemplateId = 1;

export function settingsSent(service: ServiceSent, currencyDecimals: number) {
  const { securityDeposit, invoiceTemplate, emailTemplate } = service;
  return sent<ContextSettings>({
    name: service.name?.trim(),
    contextType: service.serviceType,
    chargingType: service.chargingType,
    postType: service.postType,
    billingPeriodId: service.billingCycle,
    dueDateOffset: service.dueDateOffset,
    minimumDaysToPay: service.minimumDaysToPay,
    billsAfterPeriod: service.postBilling === undefined ? undefined : service.postBilling === 1,
    settlementMethod: service.paymentSettlementMethod,
    cashAccountId: service.cashAccountID,
    businessUnitId: service.businessUnitID,
    securityDeposit:
      securityDeposit === undefined || securityDeposit === null
        ? securityDeposit
        : depositFrom(securityDeposit, currencyDecimals),
    description: service.description === null ? '' : service.description,
    requiredDocuments: service.requiredDocs,
    templateId: invoiceTemplate ? (invoiceTemplate.templateID ?? firstTemplateId) : undefined,
    emailTemplateId: emailTemplate ? emailTemplate.templateID : undefined,
    archived: service.archiveStatus === undefined ? undefined : isSet(service.archiveStatus),
  });
}

function depositFrom(amount: string | number, currencyDecimals: number): number {
  const minor = minorUnitsFrom(String(amount), currencyDecimals);
  if (minor !== undefined && minor >= 0) return minor;
  throw new AppError('INVALID_NUMBER', {
    message: `service.securityDeposit is ${amountWords(currencyDecimals)}, not below zero`,
    field: 'service.securityDeposit',
  });
}

export function pricingSent(service: ServiceSent) {
  assertSmallTables('service.values', service.values, 'default');
  assertHighLow(service.meteredInputs ?? []);
  return sent<ContextPricing>({
    values: service.values ?? undefined,
    components: service.components ?? undefined,
    connectionInputs: service.connectionInputs ?? undefined,
    meteredInputs: service.meteredInputs ?? undefined,
    unmeteredInputs: service.unmeteredInputs ?? undefined,
    billRounding: service.billRounding,
    holdRules: service.holdRules,
    readingGraceDays: service.readingGraceDays,
    graceDays: service.graceDays,
    lateFeeBasis: service.lateFeeBasis,
    dunning: service.dunning,
    prepaid: service.prepaid,
    autoApplyWallet: service.autoApplyWallet,
    requireDeposit: service.requireDeposit,
    reconnectionLimit: service.reconnectionLimit,
    postBilling: service.postBilling,
  } as never);
}

/** Between limits that are the wrong way round lies no reading: every one would wait for review. */
function assertHighLow(inputs: NonNullable<ServiceSent['meteredInputs']>): void {
  const index = inputs.findIndex(({ highLow }) => {
    const { lowFactor = lowFactorDefault, highFactor = highFactorDefault } = highLow ?? {};
    return lowFactor > highFactor;
  });
  if (index === -1) return;
  const [low, high] = [lowFactorDefault, highFactorDefault];
  throw new AppError('DEFINITION_INVALID', {
    message: `lowFactor is above highFactor; where not given they are ${low} and ${high}`,
    field: `service.meteredInputs[${index}].highLow.lowFactor`,
  });
}

/** What a new context has where nothing is said. */
export const settingsDefaults: Omit<
  ContextSettings,
  'name' | 'contextType' | 'chargingType' | 'postType' | 'billingPeriodId'
> = {
  dueDateOffset: 0,
  minimumDaysToPay: 7,
  billsAfterPeriod: true,
  settlementMethod: 'Chronology',
  cashAccountId: 1,
  businessUnitId: 1,
  securityDeposit: null,
  description: '',
  requiredDocuments: null,
  templateId: firstTemplateId,
  emailTemplateId: 2,
  archived: false,
};

export const pricingDefaults: ContextPricing = {
  values: [],
  components: [],
  connectionInputs: [],
  meteredInputs: [],
  unmeteredInputs: [],
  billRounding: null,
  holdRules: null,
  readingGraceDays: 5,
  graceDays: 0,
  lateFeeBasis: 'BillAmount',
  dunning: null,
  prepaid: null,
  autoApplyWallet: 1,
  requireDeposit: 0,
  postBilling: 1,
};

export function batchesSent(batches: readonly Type.Static<typeof batch>[]): Batch[] {
  return batches.map((one) => ({
    code: one.batchCode.trim(),
    label: one.label || one.batchCode.trim(),
    description: one.description ?? null,
    billingPeriodId: one.billingPeriodID ?? null,
    readingDay: one.readingDay ?? null,
    billingDay: one.billingDay ?? null,
    archived: isSet(one.archiveStatus ?? 0),
  }));
}

/** Refused unless every code on the bills of the workspace could be made from them. */
export function bankAccountsSent(
  accounts: readonly Type.Static<typeof bankAccount>[],
  currency: string,
): BankAccount[] {
  const read = accounts.map((one) => ({
    id: one.bankAccountID ?? null,
    title: one.title.trim(),
    bankName: one.bankName ?? null,
    branch: one.branch ?? null,
    accountNumber: one.accountNumber ?? null,
    iban: one.iban ? electronicForm(one.iban) : null,
    swift: one.swift ? electronicForm(one.swift) : null,
    currency: one.currency ?? null,
    isDefault: one.isDefault === 1,
    collectionCode: one.collectionCode ?? null,
    paymentCode: one.paymentCode ? paymentCodeSent(one.paymentCode) : null,
    archived: isSet(one.archiveStatus ?? 0),
  }));
  const problems = read.flatMap((account, index) =>
    bankAccountProblems(account, currency, `service.bankAccounts[${index}]`),
  );
  if (problems.length > 0) throw errorFromDetails(problems);
  return read;
}

export function isSet(archiveStatus: 0 | 1 | '0' | '1' | boolean): boolean {
  return Number(archiveStatus) === 1;
}

function paymentCodeSent({ country, ...code }: Type.Static<typeof paymentCode>): PaymentCode {
  return country ? { ...code, country: countryCode(country) ?? country } : code;
}
