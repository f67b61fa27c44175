// What comes of rendering bills, for those who have it done and need not load what does it.
import { AppError } from '../../base/errors.ts';

export type RenderError = { code: string; message: string };

export type Rendered = {
  billId: number;
  size: number;
  /** Hexadecimal. */
  sha256: string;
  bytes: Uint8Array | null;
  mail: { subject: string; text: string } | null;
};

export type RenderResult = Rendered | { billId: number; error: RenderError };

export type RenderOutcome = { edition: string; results: RenderResult[] };

/** Rendering reads nothing but the bill and its setting: whatever goes wrong is about this bill. */
export function renderErrorOf(error: unknown): RenderError {
  if (error instanceof AppError) return { code: error.code, message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'DOCUMENT_FAILED', message: `The document could not be created: ${message}` };
}
