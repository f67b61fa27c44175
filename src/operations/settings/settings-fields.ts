import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { majorUnits } from '../../base/money.ts';
import type { SettingsRow } from '../../domain/tenants/store.ts';
import { nullable, timestamp, ts } from '../fields.ts';

const eInvoiceView = Type.Object({
  format: Type.String(),
  vatID: Type.String(),
  street: Type.String(),
  city: Type.String(),
  postalCode: Type.String(),
  vat: Type.Array(
    Type.Object({ component: Type.String(), on: nullable(Type.Array(Type.String())) }),
  ),
  untaxed: Type.Array(
    Type.Object({
      on: Type.Array(Type.String()),
      category: Type.String(),
      reason: nullable(Type.String()),
    }),
  ),
});

export const settingsView = Type.Object({
  name: Type.String(),
  timezone: Type.String(),
  currency: Type.String(),
  currencyDecimals: Type.Integer(),
  country: Type.String(),
  locale: Type.String(),
  connectionNumberFormat: Type.String(),
  billNumberFormat: Type.String(),
  deliveryChannels: Type.Array(Type.String()),
  letterhead: Type.Unsafe<object>({ type: 'object', additionalProperties: true }),
  reminders: Type.Array(Type.Unsafe<object>({ type: 'object', additionalProperties: true })),
  mailSender: Type.Object({
    name: nullable(Type.String()),
    replyTo: nullable(Type.String()),
  }),
  accessTokenSeconds: nullable(Type.Integer()),
  idleSeconds: nullable(Type.Integer()),
  separationOfDuty: Type.Boolean(),
  logPartyReads: Type.Boolean(),
  approvalLimit: nullable(Type.Number()),
  documentRetentionYears: Type.Integer(),
  receiptMail: nullable(Type.Object({ templateID: nullable(Type.Integer()) })),
  portalAddress: nullable(Type.String()),
  eInvoice: nullable(eInvoiceView),
  sandbox: Type.Boolean(),
  now: timestamp,
  modifiedAt: timestamp,
  modifiedBy: Type.String(),
  ts,
});

export function presentSettings(row: SettingsRow, now: Temporal.Instant) {
  return {
    name: row.name,
    timezone: row.timezone,
    currency: row.currency,
    currencyDecimals: row.currency_decimals,
    country: row.country,
    locale: row.locale,
    connectionNumberFormat: row.connection_number_format,
    billNumberFormat: row.bill_number_format,
    deliveryChannels: row.delivery_channels,
    letterhead: row.letterhead,
    reminders: row.reminders,
    mailSender: { name: row.mail_sender.name ?? null, replyTo: row.mail_sender.replyTo ?? null },
    accessTokenSeconds: row.access_token_seconds,
    idleSeconds: row.idle_seconds,
    separationOfDuty: row.separates_duties,
    logPartyReads: row.logs_party_reads,
    approvalLimit:
      row.approval_limit === null
        ? null
        : majorUnits(BigInt(row.approval_limit), row.currency_decimals),
    documentRetentionYears: row.document_retention_years,
    receiptMail: row.receipt_mail,
    portalAddress: row.portal_address,
    eInvoice: row.e_invoice && { ...row.e_invoice, untaxed: row.e_invoice.untaxed ?? [] },
    sandbox: row.sandbox,
    now: formatTimestamp(now, row.timezone),
    modifiedAt: formatTimestamp(row.modified_at, row.timezone),
    modifiedBy: row.modified_by,
    ts: row.ts,
  };
}
