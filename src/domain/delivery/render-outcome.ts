// The results of rendering, as types: the process that starts the threads loads no renderer.
import { AppError } from '../../base/errors.ts';
import type { FileFacts, KeptFile } from './document-file.ts';

export type RenderError = { code: string; message: string };

/** Of one bill. */
export type RenderResult =
  | ({ billId: number; eInvoice?: KeptFile & FileFacts } & KeptFile & FileFacts)
  | { billId: number; error: RenderError };

export type RenderOutcome = {
  results: RenderResult[];
  /** Parts of the files, by their hash. */
  parts: Map<string, Uint8Array>;
};

/** The result of a document other than a bill. */
export type PaperResult = (KeptFile & FileFacts) | { error: RenderError };

export type PaperOutcome = { results: PaperResult[]; parts: Map<string, Uint8Array> };

export type MailWords = { subject: string; text: string; html: string };
export type MailResult = ({ billId: number } & MailWords) | { billId: number; error: RenderError };

/** Rendering reads nothing but the bill and its setting: whatever goes wrong is about this bill. */
export function renderErrorOf(error: unknown): RenderError {
  if (error instanceof AppError) return { code: error.code, message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'DOCUMENT_FAILED', message: `The document could not be created: ${message}` };
}
