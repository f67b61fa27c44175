// Making and changing pricing contexts.

import { formatDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError, type ErrorDetail, errorFromDetails } from '../../base/errors.ts';
import { assertNotStale } from '../../base/stale.ts';
import type { Stamp } from '../../base/stamp.ts';
import { singleVersion } from '../rating/compile/price-book.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import { listTemplateKinds } from '../tenants/templates-store.ts';
import {
  type BankAccountRow,
  deleteBankAccounts,
  listBankAccounts,
  saveBankAccounts,
} from './bank-accounts-store.ts';
import { type BatchRow, deleteBatches, listBatches, saveBatches } from './batches-store.ts';
import { checkDefinitionsFrom } from './calculator.ts';
import { assertNoneLooksBack, assertNoUsageIsSkipped, assertSound } from './check-definitions.ts';
import {
  type BankAccount,
  type Batch,
  builtInBatch,
  type ContextPricing,
  type ContextSettings,
  type Currency,
  contextDefinition,
} from './context.ts';
import {
  type ContextRow,
  findContext,
  findContextVersion,
  hasBooked,
  hasContextId,
  insertContext,
  insertContextVersion,
  isBilling,
  lockContext,
  takesCash,
  updateContext,
} from './contexts-store.ts';
import { assertDunning } from './dunning-plan.ts';
import { loadDefinitions, wireDate } from './price-books.ts';
import { assertUnused, changeUnique } from './usage.ts';

/** More than a call can bring. */
const batchesMax = 2_000;

export type Workspace = Currency & { tenantId: number };

/** A context with all that belongs to it. */
export type WholeContext = {
  row: ContextRow;
  pricing: ContextPricing;
  effectiveDate: string | null;
  batches: BatchRow[];
  bankAccounts: BankAccountRow[];
};

const inService = { context: 'service', plans: new Map<string, string>() };

export async function getWholeContext(
  tx: Tx,
  tenantId: number,
  row: ContextRow,
): Promise<WholeContext> {
  const key = { contextId: row.context_id, version: row.version };
  const version = await findContextVersion(tx, tenantId, key);
  if (!version) throw new Error(`context ${row.code} has no version ${row.version}`);
  return {
    row,
    pricing: version.definition,
    effectiveDate: wireDate(version.effective_date),
    batches: await batchesOf(tx, tenantId, row.code),
    bankAccounts: await listBankAccounts(tx, tenantId, row.context_id),
  };
}

function batchesOf(tx: Tx, tenantId: number, contextCode: string): Promise<BatchRow[]> {
  return listBatches(tx, tenantId, { contextCode, afterId: 0, limit: batchesMax });
}

export type NewContext = {
  code: string;
  settings: ContextSettings;
  pricing: ContextPricing;
  batches: readonly Batch[];
  bankAccounts: readonly BankAccount[];
};

export async function createContext(
  tx: Tx,
  workspace: Workspace,
  context: NewContext,
  stamp: Stamp,
): Promise<WholeContext> {
  const { tenantId } = workspace;
  const { code, settings, pricing } = context;
  const definition = contextDefinition(code, pricing, workspace);
  const definitions = singleVersion(definition, []);
  const { errors } = await checkDefinitionsFrom(tenantId, definitions, '01/01/0001');
  assertSound(errors, inService);
  await assertTemplates(tx, tenantId, settings);
  await assertDunning(tx, tenantId, pricing);
  await assertCashAccount(tx, tenantId, settings);
  const id = await takeNumbers(tx, tenantId, 'context', 1);
  await insertContext(tx, tenantId, { id, code, settings }, stamp);
  const version = { contextId: id, version: 1, effectiveDate: null, pricing };
  await insertContextVersion(tx, tenantId, version, stamp);
  await replaceBatches(tx, tenantId, { id, code }, context.batches);
  await replaceBankAccounts(tx, tenantId, id, context.bankAccounts);
  return getStored(tx, tenantId, code);
}

async function getStored(tx: Tx, tenantId: number, code: string): Promise<WholeContext> {
  const row = await findContext(tx, tenantId, code);
  if (!row) throw new Error(`no context ${code}`);
  return getWholeContext(tx, tenantId, row);
}

export type ContextChange = {
  code: string;
  /** Sent together with the code by a caller that wants to change the code. */
  contextId: number | undefined;
  newCode: string | undefined;
  /** Absent ones stay as they are. */
  settings: Partial<ContextSettings>;
  pricing: Partial<ContextPricing>;
  /** The complete new lists. */
  batches: readonly Batch[] | undefined;
  bankAccounts: readonly BankAccount[] | undefined;
  effectiveDate: Temporal.PlainDate;
  seenTs: number | undefined;
};

export async function changeContext(
  tx: Tx,
  workspace: Workspace,
  change: ContextChange,
  stamp: Stamp,
): Promise<{ before: WholeContext; after: WholeContext }> {
  const { tenantId } = workspace;
  const row = await lockChanged(tx, tenantId, change);
  const before = await getWholeContext(tx, tenantId, row);
  const settings = { ...settingsOf(row), ...change.settings };
  await assertTypesFree(tx, tenantId, row, settings);
  await assertTemplates(tx, tenantId, settings);
  if (settings.cashAccountId !== row.cash_account_id) {
    await assertCashAccount(tx, tenantId, settings);
  }
  const pricing = { ...before.pricing, ...change.pricing };
  await assertDunning(tx, tenantId, pricing);
  await assertPlansHold(tx, workspace, row, { pricing, effectiveDate: change.effectiveDate });
  if (settings.billsAfterPeriod && !row.bills_after_period) {
    assertNoneLooksBack(await loadDefinitions(tx, tenantId, row, workspace));
  }
  const { context_id: id, code } = row;
  const changed = { contextId: id, before: before.pricing, after: pricing };
  await assertUnused(tx, tenantId, changed);
  await changeUnique(tx, tenantId, changed);
  await updateContext(tx, tenantId, { id, code, settings }, stamp);
  const { effectiveDate } = change;
  const version = { contextId: id, version: row.version + 1, effectiveDate, pricing };
  await insertContextVersion(tx, tenantId, version, stamp);
  if (change.batches) await replaceBatches(tx, tenantId, { id, code }, change.batches);
  if (change.bankAccounts) await replaceBankAccounts(tx, tenantId, id, change.bankAccounts);
  return { before, after: await getStored(tx, tenantId, code) };
}

async function lockChanged(tx: Tx, tenantId: number, change: ContextChange): Promise<ContextRow> {
  const { code, contextId, newCode } = change;
  const row = await lockContext(tx, tenantId, code);
  const isOther = contextId !== undefined && contextId !== row?.context_id;
  if (isOther && (row || (await hasContextId(tx, tenantId, contextId)))) {
    throw new AppError('SERVICE_CODE_IMMUTABLE', {
      message: `Pricing context ${contextId} does not have the code ${code}, which cannot change`,
      field: 'service.serviceID',
    });
  }
  if (!row) {
    throw new AppError('SERVICE_NOT_FOUND', {
      message: `No pricing context has the code ${code}`,
      field: 'service.code',
    });
  }
  if (newCode !== undefined && newCode !== code) {
    throw new AppError('SERVICE_CODE_IMMUTABLE', { field: 'service.newCode' });
  }
  assertNotStale(change.seenTs, row, { what: `Pricing context ${code}`, field: 'service.ts' });
  return row;
}

function settingsOf(row: ContextRow): ContextSettings {
  return {
    name: row.name,
    contextType: row.context_type,
    chargingType: row.charging_type,
    postType: row.post_type,
    billingPeriodId: row.billing_period_id,
    dueDateOffset: row.due_date_offset,
    minimumDaysToPay: row.minimum_days_to_pay,
    billsAfterPeriod: row.bills_after_period,
    settlementMethod: row.settlement_method,
    cashAccountId: row.cash_account_id,
    businessUnitId: row.business_unit_id,
    securityDeposit: row.security_deposit,
    description: row.description,
    requiredDocuments: row.required_documents,
    templateId: row.template_id,
    emailTemplateId: row.email_template_id,
    archived: row.archived,
  };
}

/**
 * Refuses to change the types that subscriptions were made with while there are subscriptions, and
 * the side that pays while there are bills: these are reversed on the accounts of that side.
 */
async function assertTypesFree(
  tx: Tx,
  tenantId: number,
  row: ContextRow,
  wanted: ContextSettings,
): Promise<void> {
  const kept = settingsOf(row);
  const fields = [
    ['contextType', 'service.serviceType'],
    ['chargingType', 'service.chargingType'],
    ['postType', 'service.postType'],
  ] as const;
  const changed = fields.find(([name]) => kept[name] !== wanted[name]);
  if (!changed) return;
  const [name, field] = changed;
  const isInUse = await isBilling(tx, tenantId, row.context_id);
  const isBooked = name === 'contextType' && (await hasBooked(tx, tenantId, row.context_id));
  if (!isInUse && !isBooked) return;
  const what = isInUse ? 'subscriptions' : 'posted bills';
  throw new AppError('SERVICE_IN_USE', {
    message: `Pricing context ${row.code} has ${what}; ${field} cannot change`,
    field,
    current: kept[name],
  });
}

async function assertTemplates(
  tx: Tx,
  tenantId: number,
  { templateId, emailTemplateId }: ContextSettings,
): Promise<void> {
  const ids = emailTemplateId === null ? [templateId] : [templateId, emailTemplateId];
  const kinds = await listTemplateKinds(tx, tenantId, ids);
  const wanted = [
    ['Invoice', templateId, 'service.invoiceTemplate.templateID'],
    ['Email', emailTemplateId, 'service.emailTemplate.templateID'],
  ] as const;
  for (const [kind, id, field] of wanted) {
    if (id === null || kinds.get(id) === kind) continue;
    throw new AppError('TEMPLATE_NOT_FOUND', {
      message: `No template of type ${kind} has the id ${id}`,
      field,
    });
  }
}

async function assertCashAccount(
  tx: Tx,
  tenantId: number,
  { cashAccountId }: ContextSettings,
): Promise<void> {
  if (await takesCash(tx, tenantId, cashAccountId)) return;
  throw new AppError('DEFINITION_INVALID', {
    message: `No ledger account that takes cash has the id ${cashAccountId}`,
    field: 'service.cashAccountID',
  });
}

/** Checks the new version with every plan of the context, from its effective date on. */
async function assertPlansHold(
  tx: Tx,
  workspace: Workspace,
  row: ContextRow,
  change: { pricing: ContextPricing; effectiveDate: Temporal.PlainDate },
): Promise<void> {
  const { contexts, plans } = await loadDefinitions(tx, workspace.tenantId, row, workspace);
  const effectiveDate = formatDate(change.effectiveDate);
  const after = contextDefinition(row.code, change.pricing, workspace);
  const before = contexts.at(-1)?.definition ?? after;
  const check = async (definition: typeof after) => {
    const version = { version: row.version + 1, effectiveDate, definition };
    const all = { contexts: [...contexts, version], plans };
    return (await checkDefinitionsFrom(workspace.tenantId, all, effectiveDate)).errors;
  };
  const problems = await check(after);
  await assertNoUsageIsSkipped(problems, { before, after }, check);
  assertSound(problems, inService);
}

/** The complete new list; the built-in batch stays whether it is named or not. */
async function replaceBatches(
  tx: Tx,
  tenantId: number,
  context: { id: number; code: string },
  wanted: readonly Batch[],
): Promise<void> {
  assertOnce(wanted, (batch) => batch.code, 'service.batches', 'batchCode');
  const existing = await batchesOf(tx, tenantId, context.code);
  const idByCode = new Map(existing.map((batch) => [batch.code, batch.batch_id]));
  const isNamed = new Set(wanted.map((batch) => batch.code));
  const needsDefault = !isNamed.has(builtInBatch) && !idByCode.has(builtInBatch);
  const all = needsDefault ? [defaultBatch, ...wanted] : wanted;
  const left = existing.filter(({ code }) => code !== builtInBatch && !isNamed.has(code));
  await deleteBatches(tx, tenantId, left);
  const added = all.filter((batch) => !idByCode.has(batch.code));
  if (added.length > 0) {
    const first = await takeNumbers(tx, tenantId, 'batch', added.length);
    for (const [index, batch] of added.entries()) idByCode.set(batch.code, first + index);
  }
  const rows = all.map((batch) => ({ ...batch, id: idByCode.get(batch.code) ?? 0 }));
  await saveBatches(tx, tenantId, context.id, rows);
}

const defaultBatch: Batch = {
  code: builtInBatch,
  label: 'Default',
  description: null,
  billingPeriodId: null,
  readingDay: null,
  billingDay: null,
  archived: false,
};

/** The complete new list: by id, otherwise by title. */
async function replaceBankAccounts(
  tx: Tx,
  tenantId: number,
  contextId: number,
  wanted: readonly BankAccount[],
): Promise<void> {
  assertOnce(wanted, (account) => account.title, 'service.bankAccounts', 'title');
  const existing = await listBankAccounts(tx, tenantId, contextId);
  const ids = new Set(existing.map((row) => row.bank_account_id));
  const idByTitle = new Map(existing.map((row) => [row.title, row.bank_account_id]));
  const known = wanted.map((account) => account.id ?? idByTitle.get(account.title) ?? null);
  for (const [index, id] of known.entries()) {
    if (id === null || (ids.has(id) && known.indexOf(id) === index)) continue;
    throw new AppError(ids.has(id) ? 'DUPLICATE' : 'BANK_ACCOUNT_NOT_FOUND', {
      message: `The pricing context has ${ids.has(id) ? 'one' : 'no'} bank account with id ${id}`,
      field: `service.bankAccounts[${index}].bankAccountID`,
    });
  }
  await deleteBankAccounts(
    tx,
    tenantId,
    [...ids].filter((id) => !known.includes(id)),
  );
  const added = known.filter((id) => id === null).length;
  let next = added === 0 ? 0 : await takeNumbers(tx, tenantId, 'bank-account', added);
  const rows = wanted.map((account, index) => ({ ...account, id: known[index] ?? next++ }));
  await saveBankAccounts(tx, tenantId, contextId, rows);
}

function assertOnce<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  field: string,
  keyName: string,
): void {
  const keys = items.map(keyOf);
  const details = keys.flatMap((key, index): ErrorDetail[] => {
    if (keys.indexOf(key) === index) return [];
    const message = `${key} appears twice`;
    return [
      { field: `${field}[${index}].${keyName}`, code: 'DUPLICATE', message, rejectedValue: key },
    ];
  });
  if (details.length > 0) throw errorFromDetails(details);
}
