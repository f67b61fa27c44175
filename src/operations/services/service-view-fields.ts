// A pricing context as it is shown: the short form of lists, and all of one.
import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { majorUnits } from '../../base/money.ts';
import type { BankAccountRow } from '../../domain/pricing/bank-accounts-store.ts';
import type { BatchRow } from '../../domain/pricing/batches-store.ts';
import type { WholeContext } from '../../domain/pricing/contexts.ts';
import type { ContextRow } from '../../domain/pricing/contexts-store.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { archiveStatus, money, nullable, timestamp, ts } from '../fields.ts';
import { definitionArrays, definitionSettings, paymentCode } from './service-item-fields.ts';

const text = Type.String();
const maybeText = nullable(Type.String());
const integer = Type.Integer();

export const batchView = Type.Object({
  batchID: integer,
  batchCode: text,
  label: text,
  description: maybeText,
  billingPeriodID: nullable(integer),
  readingDay: nullable(integer),
  billingDay: nullable(integer),
  archiveStatus,
});

const bankAccountView = Type.Object({
  bankAccountID: integer,
  title: text,
  bankName: maybeText,
  branch: maybeText,
  accountNumber: maybeText,
  iban: maybeText,
  swift: maybeText,
  currency: maybeText,
  isDefault: integer,
  collectionCode: maybeText,
  paymentCode: nullable(paymentCode),
  archiveStatus,
});

const template = Type.Object({ templateID: nullable(integer) });

export const serviceView = Type.Object({
  serviceID: integer,
  appCode: integer,
  serviceCode: text,
  serviceLabel: text,
  serviceType: text,
  chargingType: text,
  billingCycleLookupID: integer,
  dueDateOffset: integer,
  postBilling: integer,
  postType: text,
  paymentSettlementMethod: text,
  cashAccountID: integer,
  businessUnitID: integer,
  securityDeposit: nullable(money),
  description: text,
  requiredDocs: nullable(Type.Array(text)),
  templateID: integer,
  templateName: text,
  emailTemplateID: nullable(integer),
  emailTemplateName: maybeText,
  archiveStatus,
  ts,
  createdAt: timestamp,
  modifiedAt: timestamp,
  createdBy: text,
  modifiedBy: text,
  ...definitionArrays,
  ...definitionSettings,
  bankAccounts: Type.Optional(Type.Array(bankAccountView)),
  batches: Type.Optional(Type.Array(batchView)),
  invoiceTemplate: Type.Optional(template),
  emailTemplate: Type.Optional(template),
  minimumDaysToPay: Type.Optional(integer),
  version: Type.Optional(integer),
  effectiveDate: Type.Optional(maybeText),
});

/** The one application there is. */
const appCode = 1;

export function presentService(row: ContextRow, tenant: Tenant) {
  const { security_deposit: deposit } = row;
  return {
    serviceID: row.context_id,
    appCode,
    serviceCode: row.code,
    serviceLabel: row.name,
    serviceType: row.context_type,
    chargingType: row.charging_type,
    billingCycleLookupID: row.billing_period_id,
    dueDateOffset: row.due_date_offset,
    postBilling: row.bills_after_period ? 1 : 0,
    postType: row.post_type,
    paymentSettlementMethod: row.settlement_method,
    cashAccountID: row.cash_account_id,
    businessUnitID: row.business_unit_id,
    securityDeposit: deposit === null ? null : majorUnits(BigInt(deposit), tenant.currencyDecimals),
    description: row.description,
    requiredDocs: row.required_documents,
    templateID: row.template_id,
    templateName: row.template_name,
    emailTemplateID: row.email_template_id,
    emailTemplateName: row.email_template_name,
    archiveStatus: row.archived ? 1 : 0,
    ts: row.ts,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    modifiedAt: formatTimestamp(row.modified_at, tenant.timezone),
    createdBy: row.created_by,
    modifiedBy: row.modified_by,
  };
}

export function presentWholeService(whole: WholeContext, tenant: Tenant) {
  const { row } = whole;
  const { postBilling: _shown, ...pricing } = whole.pricing;
  return {
    ...presentService(row, tenant),
    ...(pricing as object),
    bankAccounts: whole.bankAccounts.map(presentBankAccount),
    batches: whole.batches.map(presentBatch),
    invoiceTemplate: { templateID: row.template_id },
    emailTemplate: { templateID: row.email_template_id },
    minimumDaysToPay: row.minimum_days_to_pay,
    version: row.version,
    effectiveDate: whole.effectiveDate,
  };
}

export function presentBatch(row: BatchRow) {
  return {
    batchID: row.batch_id,
    batchCode: row.code,
    label: row.label,
    description: row.description,
    billingPeriodID: row.billing_period_id,
    readingDay: row.reading_day,
    billingDay: row.billing_day,
    archiveStatus: row.archived ? 1 : 0,
  };
}

function presentBankAccount(row: BankAccountRow) {
  return {
    bankAccountID: row.bank_account_id,
    title: row.title,
    bankName: row.bank_name,
    branch: row.branch,
    accountNumber: row.account_number,
    iban: row.iban,
    swift: row.swift,
    currency: row.currency,
    isDefault: row.is_default ? 1 : 0,
    collectionCode: row.collection_code,
    paymentCode: row.payment_code,
    archiveStatus: row.archived ? 1 : 0,
  };
}
