// Step 8: posted bills become visible to their customers. The document of each is made once, and
// its file is kept: that is what customers get from then on.

import { dateIn } from '../base/calendar.ts';
import { counted } from '../base/counted.ts';
import type { Tx } from '../base/db/pool.ts';
import { AppError, type ErrorCode } from '../base/errors.ts';
import {
  countBills,
  cutPosted,
  listFailedDocuments,
  listPostedBills,
  type NewDocument,
  publishBills,
  saveDocuments,
  updateIssueDate,
} from '../domain/delivery/documents-store.ts';
import { insertFiles, type NewFile, saveParts } from '../domain/delivery/files-store.ts';
import {
  type FrozenSetting,
  freezeSetting,
  getNewestSetting,
} from '../domain/delivery/freeze-setting.ts';
import { keepFurther, type RenderedFurther } from '../domain/delivery/keep-further.ts';
import type { RenderResult } from '../domain/delivery/render-outcome.ts';
import { chunkEvents, eventsOf, insertEvents } from '../domain/events/events-store.ts';
import { takeNumbers } from '../domain/tenants/numbers-store.ts';
import { getTerm, hasBills, type Term, updateTermStage } from '../domain/terms/store.ts';
import { auditTerm } from '../jobs/audit-step.ts';
import { chunkSizeFor } from '../jobs/chunks.ts';
import type { Chunk, ChunkResult, Finish, Plan, Step, StepJob, StepRequest } from '../jobs/step.ts';
import type { Tools } from '../jobs/tools.ts';
import { assertTimeToPay } from './due-date.ts';
import { wrongState } from './term-state.ts';

/** A few seconds of rendering: what is lost when a worker dies, and done again. */
const chunkSize = 200;
/** Bills that are named when a term cannot be published. */
const namedMax = 100;

export const publishBillsStep: Step = {
  operation: 'publish-bills',
  check,
  prepare,
  work,
  finish,
  setAside,
};

async function check(tx: Tx, request: StepRequest): Promise<void> {
  const { tenantId } = request.tenant;
  const term = await getTerm(tx, tenantId, request.termId ?? 0, { lock: 'update' });
  if (term.status !== 'Posted') {
    throw await wrongState(tx, request, term, {
      operation: 'publish-bills',
      done: 'published',
      next: 'Send its bills with distribute-bills (step 9).',
      allowed: ['Posted'],
    });
  }
  // Once a customer has seen a bill, the due date of the term stays as it is.
  if (await hasBills(tx, tenantId, term.term_id, 'Published')) return;
  await assertTimeToPay(tx, request, term, 'Posted');
}

async function prepare(tx: Tx, job: StepJob): Promise<Plan> {
  const { tenantId, timezone } = job.tenant;
  const stamp = { at: job.now, by: job.requestedBy };
  const term = await getTerm(tx, tenantId, job.termId ?? 0, { lock: 'update' });
  const today = dateIn(job.now, timezone);
  await freezeSetting(tx, tenantId, term, today, stamp);
  await updateIssueDate(tx, tenantId, term.term_id, today.toString());
  await updateTermStage(tx, tenantId, term.term_id, { stage: 'Publishing' }, stamp);
  return cutPosted(tx, tenantId, term.term_id, chunkSizeFor(job, chunkSize));
}

type Outcome = { published: number; failed: number };

async function work(tx: Tx, job: StepJob, chunk: Chunk, tools: Tools): Promise<ChunkResult> {
  const { tenantId } = job.tenant;
  const termId = job.termId ?? 0;
  const setting = await getNewestSetting(tx, tenantId, termId);
  const posted = await listPostedBills(tx, tenantId, termId, chunk);
  // As the customer will see them.
  const bills = posted.map((bill) => ({ ...bill, status: 'Published' }));
  const { results, parts } = await tools.renderer.render(setting, bills);
  const made = bills.map(
    ({ bill_id: id }) => results.get(id) ?? unmade(id, 'Its document was not created'),
  );
  return record(tx, job, { setting, results: made, parts });
}

type Made = {
  setting: FrozenSetting;
  results: readonly RenderResult[];
  parts: ReadonlyMap<string, Uint8Array>;
};

/** A bill whose document cannot be made stays posted, with the reason; the others are published. */
async function record(tx: Tx, job: StepJob, made: Made): Promise<ChunkResult> {
  const { setting, results, parts } = made;
  const { tenantId } = job.tenant;
  if (results.length === 0) return { done: 0 };
  const good = results.filter((result) => !('error' in result)).map((result) => result.billId);
  const issue = { date: setting.issuedOn, at: job.now, by: job.requestedBy };
  await publishBills(tx, tenantId, good, issue);
  const events = chunkEvents('bill.published', 'billID', good, { termID: job.termId });
  await insertEvents(tx, tenantId, events, job.now);
  const firstId = await takeNumbers(tx, tenantId, 'document', results.length);
  const of = {
    termId: job.termId ?? 0,
    settingVersion: setting.version,
    templateId: setting.template.templateID,
    templateVersion: setting.template.version,
    at: job.now,
  };
  const documents = results.map((result, index): NewDocument => {
    const key = { documentId: firstId + index, billId: result.billId };
    if ('error' in result) return { ...key, size: null, sha256: null, error: result.error };
    return { ...key, size: result.size, sha256: result.sha256, error: null };
  });
  await saveDocuments(tx, tenantId, of, documents);
  const files = results.flatMap((result, index): NewFile[] =>
    'error' in result ? [] : [{ ...result, documentId: firstId + index }],
  );
  await insertFiles(tx, tenantId, files);
  const eInvoices = results.flatMap((result): RenderedFurther[] =>
    'error' in result || !result.eInvoice
      ? []
      : [{ kind: 'EInvoice', subjectId: result.billId, ...result.eInvoice }],
  );
  await keepFurther(tx, tenantId, eInvoices, new Map(), job.now);
  // Last, because others may wait for the same parts.
  await saveParts(tx, tenantId, parts, job.now);
  const outcome: Outcome = { published: good.length, failed: results.length - good.length };
  return { done: results.length, outcome };
}

function unmade(billId: number, message: string): RenderResult {
  return { billId, error: { code: 'DOCUMENT_FAILED', message } };
}

/** Bills over which workers died again and again. */
async function setAside(tx: Tx, job: StepJob, chunk: Chunk, reason: string): Promise<ChunkResult> {
  const { tenantId } = job.tenant;
  const termId = job.termId ?? 0;
  const setting = await getNewestSetting(tx, tenantId, termId);
  const bills = await listPostedBills(tx, tenantId, termId, chunk);
  const results = bills.map((bill) => unmade(bill.bill_id, reason));
  return record(tx, job, { setting, results, parts: new Map() });
}

async function finish(tx: Tx, job: StepJob): Promise<Finish> {
  const { tenantId } = job.tenant;
  const term = await getTerm(tx, tenantId, job.termId ?? 0, { lock: 'update' });
  const { posted, published } = await countBills(tx, tenantId, term.term_id);
  if (posted > 0) throw await notPublished(tx, tenantId, term, { posted, published });
  const stamp = { at: job.now, by: job.requestedBy };
  const end = { stage: 'Published', status: 'Published' } as const;
  await updateTermStage(tx, tenantId, term.term_id, end, stamp);
  await auditTerm(tx, job, term, { ...end, bills: published });
  const events = eventsOf('term.published', 'termID', [term.term_id]);
  await insertEvents(tx, tenantId, events, job.now);
  return { message: `${counted(published, 'bill')} published`, bills: published };
}

async function notPublished(
  tx: Tx,
  tenantId: number,
  term: Term,
  count: { posted: number; published: number },
): Promise<AppError> {
  const failed = await listFailedDocuments(
    tx,
    tenantId,
    { termId: term.term_id, batchId: null },
    { afterBillId: 0, limit: namedMax },
  );
  return new AppError('BILLS_NOT_PUBLISHED', {
    message:
      `Of term ${term.label}, ${counted(count.published, 'bill')} are published. ` +
      `The documents of ${count.posted} could not be created. ` +
      'Correct the cause, named in details, and publish again.',
    details: failed.map(({ bill_id: id, bill_number: number, error }) => ({
      field: `bills[${id}]`,
      code: error.code as ErrorCode,
      message: `${number}: ${error.message}`,
    })),
  });
}
