// Documents that calls ask for are made in threads, each within a time limit. A workspace has its
// share of them, so that the documents of one keep no other waiting.
import { AppError, type ErrorCode, type ErrorDetail } from '../../base/errors.ts';
import { FairTurns } from '../../base/fair-turns.ts';
import { openThreads, type TaskOptions, TaskTimeout } from '../../base/threads.ts';
import type { MarkedFile } from '../documents/mark.ts';
import type { Paper } from '../documents/paper.ts';
import type { FileFacts, KeptFile } from './document-file.ts';
import type {
  DocumentOutcome,
  DocumentTask,
  MadeDocument,
  MadePreview,
  PaperTask,
  PreviewTask,
  ThreadTask,
} from './document-thread.ts';
import { type PaperOutcome, type RenderError, renderErrorOf } from './render-outcome.ts';

/** Of a workspace one document and one print file are made at a time. */
const places = 2;
const turns = { places, share: 1, waitingMax: 20, waitMs: 20_000 };
export const documentTurns = new FairTurns({ ...turns, what: 'documents' });
export const printFileTurns = new FairTurns({ ...turns, waitingMax: 2, what: 'print files' });

/** A bill takes some hundredths of a second, and a second more with a new thread. */
const documentMs = 15_000;
export type KeptPaper = { file: KeptFile & FileFacts; parts: Map<string, Uint8Array> };

export type DocumentThreads = {
  make(task: DocumentTask): Promise<MadeDocument>;
  print(task: PaperTask): Promise<MadeDocument>;
  /** In the form in which its file is kept. */
  printKept(paper: Paper): Promise<KeptPaper>;
  preview(task: PreviewTask): Promise<MadePreview>;
  /** With a word across each page of a file that is kept. */
  mark(file: MarkedFile): Promise<MadeDocument>;
  checkLetterhead(letterhead: object, field: string): Promise<ErrorDetail[]>;
  close(): Promise<void>;
};

export function openDocumentThreads(options: { limitMs?: number } = {}): DocumentThreads {
  const limitMs = options.limitMs ?? documentMs;
  const file = new URL('./document-thread.ts', import.meta.url);
  // As many threads as turns: a document whose turn it is does not wait for a thread.
  const threads = openThreads({ file, threads: 2 * places });
  const run = <Result>(task: ThreadTask, how: TaskOptions) => threads.run<Result>(task, how);
  return {
    async make(task) {
      return resultOf(await within(limitMs, run<DocumentOutcome>({ document: task }, { limitMs })));
    },
    async print(task) {
      return resultOf(await within(limitMs, run<DocumentOutcome>({ paper: task }, { limitMs })));
    },
    async printKept(paper) {
      const { results, parts } = await within(
        limitMs,
        run<PaperOutcome>({ kept: paper }, { limitMs }),
      );
      const [result] = results;
      if (result === undefined) throw new Error('a paper has no file');
      return { file: resultOf(result), parts };
    },
    async preview(task) {
      type Outcome = MadePreview | { error: RenderError };
      return resultOf(await within(limitMs, run<Outcome>({ preview: task }, { limitMs })));
    },
    async mark(file) {
      return resultOf(await within(limitMs, run<DocumentOutcome>({ marked: file }, { limitMs })));
    },
    async checkLetterhead(letterhead, field) {
      return within(
        limitMs,
        run<ErrorDetail[]>({ letterhead: { letterhead, field } }, { limitMs }),
      );
    },
    close: threads.close,
  };
}

let opened: DocumentThreads | undefined;

/** Those of the process. */
export function documentThreads(): DocumentThreads {
  opened ??= openDocumentThreads();
  return opened;
}

async function within<Result>(limitMs: number, task: Promise<Result>): Promise<Result> {
  try {
    return await task;
  } catch (error) {
    if (error instanceof TaskTimeout) throw tooSlow(limitMs, error);
    if (error instanceof AppError) throw error;
    throw new AppError('DOCUMENT_FAILED', { message: renderErrorOf(error).message, cause: error });
  }
}

function tooSlow(limitMs: number, cause: Error): AppError {
  const what = `The document could not be created within ${limitMs / 1_000} seconds`;
  const message = `${what}. Shorten its texts, above all that of the template, and ask again`;
  return new AppError('DOCUMENT_TOO_SLOW', { message, cause });
}

function resultOf<Made>(outcome: Made | { error: RenderError }): Made {
  if (!isFailed(outcome)) return outcome;
  const { code, message } = outcome.error;
  throw new AppError(code as ErrorCode, { message });
}

function isFailed<Made>(outcome: Made | { error: RenderError }): outcome is { error: RenderError } {
  return typeof outcome === 'object' && outcome !== null && 'error' in outcome;
}
