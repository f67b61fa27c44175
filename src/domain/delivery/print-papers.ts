// Renders documents other than bills, divided into own and shared parts as they are stored.
import type { Paper } from '../documents/paper.ts';
import { renderPapers } from '../documents/render-paper.ts';
import { splitFile } from './document-file.ts';
import { type PaperOutcome, renderErrorOf } from './render-outcome.ts';

export function printPapers(papers: readonly Paper[]): PaperOutcome {
  const parts = new Map<string, Uint8Array>();
  const results = renderPapers(papers).map((file) =>
    file instanceof Error ? { error: renderErrorOf(file) } : splitFile(file, parts),
  );
  return { results, parts };
}
