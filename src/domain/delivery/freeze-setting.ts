// The setting of documents: the present one, and the one frozen for the bills of a term.

import { isDeepStrictEqual } from 'node:util';
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../../base/stamp.ts';
import { findReplacedNumbers } from '../bills/cancellations-store.ts';
import { isOwedByWorkspace } from '../ledger/accounts.ts';
import { listBankAccounts, presentBankAccounts } from '../pricing/bank-accounts-store.ts';
import { findSettings } from '../tenants/store.ts';
import { getTerm, type Term } from '../terms/store.ts';
import type { DocumentSetting, RenderSetting } from './document-setting.ts';
import {
  getTemplateVersions,
  type InvoiceText,
  insertSetting,
  listInputLabels,
  listSettings,
  type SettingRow,
} from './settings-store.ts';
import { printedText } from './template-language.ts';

type Current = { setting: DocumentSetting; text: InvoiceText };

/** What a setting takes from its term. */
type TermOfSetting = Pick<
  Term,
  | 'term_id'
  | 'context_id'
  | 'context_code'
  | 'context_name'
  | 'context_type'
  | 'batch_code'
  | 'label'
  | 'start_date'
  | 'end_date'
>;

async function currentSetting(tx: Tx, tenantId: number, term: TermOfSetting): Promise<Current> {
  const context = { contextId: term.context_id, date: term.end_date };
  const [tenant, templates, banks, labels, replaced] = await Promise.all([
    findSettings(tx, tenantId),
    getTemplateVersions(tx, tenantId, term.context_id),
    listBankAccounts(tx, tenantId, term.context_id),
    listInputLabels(tx, tenantId, context),
    findReplacedNumbers(tx, tenantId, [term.term_id]),
  ]);
  const replacesBillNumber = replaced.get(term.term_id);
  const setting: DocumentSetting = {
    organisation: { name: tenant.name, country: tenant.country, letterhead: tenant.letterhead },
    locale: tenant.locale,
    currency: tenant.currency,
    currencyDecimals: tenant.currency_decimals,
    serviceCode: term.context_code,
    serviceLabel: term.context_name,
    batchCode: term.batch_code,
    termID: term.term_id,
    termLabel: term.label,
    startDate: wireDay(term.start_date),
    endDate: wireDay(term.end_date),
    bankAccounts: presentBankAccounts(banks).sort((a, b) => b.isDefault - a.isDefault),
    template: { templateID: templates.template_id, version: templates.template_version },
    ...(labels.length > 0 ? { inputLabels: labelByName(labels) } : {}),
    ...(replacesBillNumber === undefined ? {} : { replacesBillNumber }),
    ...(tenant.e_invoice === null ? {} : { eInvoice: tenant.e_invoice }),
    ...(isOwedByWorkspace(term.context_type) ? { isOwedByWorkspace: true } : {}),
  };
  return { setting, text: templates };
}

function labelByName(labels: readonly { name: string; label: string }[]) {
  return Object.fromEntries(labels.map(({ name, label }) => [name, label]));
}

/** For a bill that is not issued yet. */
export async function previewSetting(
  tx: Tx,
  tenantId: number,
  term: TermOfSetting,
): Promise<RenderSetting> {
  const { setting, text } = await currentSetting(tx, tenantId, term);
  return { ...setting, ...printedText(text, setting.locale), issueDate: null };
}

/**
 * Freezes the setting for documents of bills that are published today. A second attempt on the same
 * day without changes uses the same setting.
 */
export async function freezeSetting(
  tx: Tx,
  tenantId: number,
  term: Term,
  today: Temporal.PlainDate,
  stamp: Stamp,
): Promise<void> {
  const { setting } = await currentSetting(tx, tenantId, term);
  const [newest] = await listSettings(tx, tenantId, term.term_id, 'newest');
  const issueDate = today.toString();
  const plain = JSON.parse(JSON.stringify(setting)) as DocumentSetting;
  if (newest?.issue_date === issueDate && isDeepStrictEqual(newest.setting, plain)) return;
  const version = (newest?.version ?? 0) + 1;
  await insertSetting(tx, tenantId, { termId: term.term_id, version, issueDate, setting }, stamp);
}

export type FrozenSetting = RenderSetting & {
  version: number;
  /** YYYY-MM-DD. */
  issuedOn: string;
};

export async function getNewestSetting(
  tx: Tx,
  tenantId: number,
  termId: number,
): Promise<FrozenSetting> {
  const [newest] = await listSettings(tx, tenantId, termId, 'newest');
  if (!newest) throw new Error(`term ${termId} has no setting of documents`);
  return frozen(newest);
}

export async function settingsByVersion(
  tx: Tx,
  tenantId: number,
  termId: number,
  versions: readonly number[],
): Promise<Map<number, FrozenSetting>> {
  const rows = await listSettings(tx, tenantId, termId, versions);
  return new Map(rows.map((row) => [row.version, frozen(row)]));
}

/** Of a bill: that of its published document, else what would be used if it was published now. */
export async function settingOf(
  tx: Tx,
  tenantId: number,
  termId: number,
  published: { document_id: number; setting_version: number } | undefined,
): Promise<RenderSetting> {
  if (!published) return previewSetting(tx, tenantId, await getTerm(tx, tenantId, termId));
  const { setting_version: version } = published;
  const setting = (await settingsByVersion(tx, tenantId, termId, [version])).get(version);
  if (!setting) throw new Error(`the setting of document ${published.document_id} is gone`);
  return setting;
}

function frozen({ version, issue_date: issuedOn, setting, ...text }: SettingRow): FrozenSetting {
  const printed = printedText(text, setting.locale);
  return { ...setting, ...printed, version, issuedOn, issueDate: wireDay(issuedOn) };
}
